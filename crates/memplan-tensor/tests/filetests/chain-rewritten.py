# test storage-rewrite
# Comments and untouched lines stay.
@T.prim_func(s_tir=True)
def main(E: T.Buffer((64,), "float32"), O: T.Buffer((64,), "float32")):
    A = T.alloc_buffer((8,))
    B = T.alloc_buffer((8,))
    C = T.alloc_buffer((16,))
    for i in range(8):
        A[i] = E[i]
    for i in range(8):
        B[i] = A[i] + T.float32(1.0)
    for i in range(16):
        C[i] = B[i % 8]
    for i in range(8):
        O[i] = C[15 - i]
# expect
#|# test storage-rewrite
#|# Comments and untouched lines stay.
#|@T.prim_func(s_tir=True)
#|def main(E: T.Buffer((64,), "float32"), O: T.Buffer((64,), "float32")):
#|    A = T.alloc_buffer((8,))
#|    C = T.alloc_buffer((16,))
#|    B = T.decl_buffer((8,), data=A.data)
#|    for i in range(8):
#|        A[i] = E[i]
#|    for i in range(8):
#|        B[i] = A[i] + T.float32(1.0)
#|    for i in range(16):
#|        C[i] = B[i % 8]
#|    for i in range(8):
#|        O[i] = C[15 - i]

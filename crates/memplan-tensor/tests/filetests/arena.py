# test storage-rewrite{plan=auto}
# Two small buffers make room for a large one, which entries cannot do.
@T.prim_func(s_tir=True)
def main(E: T.Buffer((64,), "float32"), O: T.Buffer((64,), "float32")):
    A = T.alloc_buffer((16,))
    B = T.alloc_buffer((16,))
    C = T.alloc_buffer((32,))
    for i in range(16):
        A[i] = E[i]
    for i in range(16):
        B[i] = A[15 - i]
    for i in range(16):
        O[i] = A[i] + B[i]
    for i in range(32):
        C[i] = E[i]
    for i in range(32):
        O[i] = C[31 - i] + O[i]
# expect
#|# test storage-rewrite{plan=auto}
#|# Two small buffers make room for a large one, which entries cannot do.
#|@T.prim_func(s_tir=True)
#|def main(E: T.Buffer((64,), "float32"), O: T.Buffer((64,), "float32")):
#|    global_arena = T.alloc_buffer((32,))
#|    A = T.decl_buffer((16,), data=global_arena.data)
#|    B = T.decl_buffer((32,), data=global_arena.data)
#|    C = T.decl_buffer((32,), data=global_arena.data)
#|    for i in range(16):
#|        A[i] = E[i]
#|    for i in range(16):
#|        B[i + 16] = A[15 - i]
#|    for i in range(16):
#|        O[i] = A[i] + B[i + 16]
#|    for i in range(32):
#|        C[i] = E[i]
#|    for i in range(32):
#|        O[i] = C[31 - i] + O[i]

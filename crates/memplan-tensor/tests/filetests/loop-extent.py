# test storage-rewrite
# The allocation cannot leave the loop that defines its size.
@T.prim_func(s_tir=True)
def main(E: T.Buffer((64,), "float32"), O: T.Buffer((64,), "float32")):
    for k in range(4):
        A = T.alloc_buffer((k + 1,))
        B = T.alloc_buffer((k + 1,))
        for j in range(k + 1):
            A[j] = E[j]
        for j in range(k + 1):
            B[j] = A[j] * T.float32(2.0)
        O[k] = B[k]
# expect
#|# test storage-rewrite
#|# The allocation cannot leave the loop that defines its size.
#|@T.prim_func(s_tir=True)
#|def main(E: T.Buffer((64,), "float32"), O: T.Buffer((64,), "float32")):
#|    for k in range(4):
#|        A = T.alloc_buffer((k + 1,))
#|        B = T.decl_buffer((k + 1,), data=A.data)
#|        for j in range(k + 1):
#|            A[j] = E[j]
#|        for j in range(k + 1):
#|            B[j] = A[j] * T.float32(2.0)
#|        O[k] = B[k]

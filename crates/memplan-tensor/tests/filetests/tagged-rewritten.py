# test storage-rewrite
# One block per tagged memory: the second buffer lies behind the first.
@T.prim_func(s_tir=True)
def main(E: T.Buffer((64,), "float32"), O: T.Buffer((64,), "float32")):
    A = T.alloc_buffer((8,), scope="local.L0A")
    B = T.alloc_buffer((9,), "int16", scope="local.L0A")  # counts in its own elements
    for i in range(8):
        A[i] = E[i]
    for i in range(9):
        B[i] = T.Cast("int16", E[i])
    T.call_extern("int32", "memset", B.data, 0, 2)
    for i in range(8):
        O[i] = A[7 - i] + T.Cast("float32", B[i])
# expect
#|# test storage-rewrite
#|# One block per tagged memory: the second buffer lies behind the first.
#|@T.prim_func(s_tir=True)
#|def main(E: T.Buffer((64,), "float32"), O: T.Buffer((64,), "float32")):
#|    A = T.alloc_buffer((13,), scope="local.L0A")
#|    B = T.decl_buffer((25,), "int16", data=A.data, scope="local.L0A")  # counts in its own elements
#|    for i in range(8):
#|        A[i] = E[i]
#|    for i in range(9):
#|        B[i + 16] = T.Cast("int16", E[i])
#|    T.call_extern("int32", "memset", T.address_of(B[16]), 0, 2)
#|    for i in range(8):
#|        O[i] = A[7 - i] + T.Cast("float32", B[i + 16])

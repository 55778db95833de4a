# test storage-rewrite
# The slice has no known length, so `B` starts its allocation.
@T.prim_func(s_tir=True)
def main(E: T.Buffer((64,), "float32"), O: T.Buffer((64,), "float32"), n: T.int32):
    A = T.alloc_buffer((8,), scope="local.L0A")
    B = T.alloc_buffer((9,), scope="local.L0A")
    for i in range(8):
        A[i] = E[i]
    T.evaluate(T.call_extern("int32", "g", B[0:n]))
    for i in range(9):
        B[i] = E[i]
    for i in range(8):
        O[i] = A[7 - i] + B[i]
# expect
#|# test storage-rewrite
#|# The slice has no known length, so `B` starts its allocation.
#|@T.prim_func(s_tir=True)
#|def main(E: T.Buffer((64,), "float32"), O: T.Buffer((64,), "float32"), n: T.int32):
#|    A = T.alloc_buffer((8,), scope="local.L0A")
#|    B = T.alloc_buffer((9,), scope="local.L0A")
#|    for i in range(8):
#|        A[i] = E[i]
#|    T.evaluate(T.call_extern("int32", "g", B[0:n]))
#|    for i in range(9):
#|        B[i] = E[i]
#|    for i in range(8):
#|        O[i] = A[7 - i] + B[i]

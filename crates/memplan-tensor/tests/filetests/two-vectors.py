# test storage-rewrite{flatten}
# The access is to every row with every lane. One subscript cannot say that, so `A` stays as it is.
@T.prim_func(s_tir=True)
def main(O: T.Buffer((64,), "float32")):
    A = T.alloc_buffer((8, 8))
    for i in range(8):
        for j in range(8):
            A[i, j] = T.float32(i * 8 + j)
    T.evaluate(A[T.Ramp(0, 1, 4), T.Ramp(0, 1, 4)])
# expect
#|# test storage-rewrite{flatten}
#|# The access is to every row with every lane. One subscript cannot say that, so `A` stays as it is.
#|@T.prim_func(s_tir=True)
#|def main(O: T.Buffer((64,), "float32")):
#|    A = T.alloc_buffer((8, 8))
#|    for i in range(8):
#|        for j in range(8):
#|            A[i, j] = T.float32(i * 8 + j)
#|    T.evaluate(A[T.Ramp(0, 1, 4), T.Ramp(0, 1, 4)])

# test storage-rewrite{flatten}
# No strides are as good as none said: `A` is flattened.
@T.prim_func(s_tir=True)
def main(O: T.Buffer((64,), "float32")):
    A = T.alloc_buffer((8, 8), strides=())
    for i in range(8):
        for j in range(8):
            A[i, j] = T.float32(i * 8 + j)
    for i in range(8):
        O[i] = A[i, 7 - i]
# expect
#|# test storage-rewrite{flatten}
#|# No strides are as good as none said: `A` is flattened.
#|@T.prim_func(s_tir=True)
#|def main(O: T.Buffer((64,), "float32")):
#|    A = T.alloc_buffer((64,))
#|    for i in range(8):
#|        for j in range(8):
#|            A[i * 8 + j] = T.Cast("float32", i * 8 + j)
#|    for i in range(8):
#|        O[i] = A[i * 8 + (7 - i)]

# test storage-rewrite
# Memory that is only accessed in aligned vectors is allocated as vectors.
@T.prim_func(s_tir=True)
def main(E: T.Buffer((64,), "float32"), O: T.Buffer((64,), "float32")):
    A = T.alloc_buffer((32,))
    for i in range(8):
        A[i * 4:i * 4 + 4] = E[T.Ramp(i * 4, 1, 4)]
    for i in range(8):
        O[i * 4:i * 4 + 4] = A[T.Ramp(28 - i * 4, 1, 4)]
# expect
#|# test storage-rewrite
#|# Memory that is only accessed in aligned vectors is allocated as vectors.
#|@T.prim_func(s_tir=True)
#|def main(E: T.Buffer((64,), "float32"), O: T.Buffer((64,), "float32")):
#|    A = T.alloc_buffer((8,), "float32x4")
#|    for i in range(8):
#|        A[i] = E[T.Ramp(i * 4, 1, 4)]
#|    for i in range(8):
#|        O[i * 4:i * 4 + 4] = A[i * -1 + 7]

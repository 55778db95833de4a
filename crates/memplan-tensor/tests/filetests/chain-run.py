# test run
# Small integers in, the results out.
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
#|E: float32[64] = 0 3 6 1 4 7 2 5 3 6 1 4 7 2 5 0 0 7 6 5 4 3 2 1 7 0 1 2 3 4 5 6 4 5 6 7 0 1 2 3 1 2 3 4 5 6 7 0 5 6 7 0 1 2 3 4 3 6 1 4 7 2 5 0
#|O: float32[64] = 6 3 8 5 2 7 4 1 2 5 0 3 6 1 4 7 1 4 7 2 5 0 3 6 0 7 6 5 4 3 2 1 5 0 3 6 1 4 7 2 0 7 6 5 4 3 2 1 7 0 1 2 3 4 5 6 6 7 0 1 2 3 4 5

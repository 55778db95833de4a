# test storage
# Entries of a parallel loop stand inside it.
@T.prim_func(s_tir=True)
def main(E: T.Buffer((64,), "float32"), O: T.Buffer((64,), "float32")):
    A = T.alloc_buffer((16,))
    for i in range(16):
        A[i] = E[i]
    for p in T.parallel(4):
        B = T.alloc_buffer((16,))
        C = T.alloc_buffer((16,))
        for i in range(16):
            B[i] = A[i]
        for i in range(16):
            C[i] = B[i] * T.float32(2.0)
        for i in range(16):
            O[p * 16 + i] = C[15 - i]
# expect
#|entry 0: global float32 at top, 512 bits: A
#|entry 1: global float32 at parallel for p, 512 bits: B C (in place of B)
#|A float32[16] global at top: A@0
#|B float32[16] global at for:p: B@0 C@0

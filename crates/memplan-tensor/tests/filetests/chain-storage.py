# test storage
# B takes the place of A; C is still needed together with B and gets an entry of its own.
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
#|entry 0: global float32 at top, 256 bits: A B (in place of A)
#|entry 1: global float32 at top, 512 bits: C
#|A float32[8] global at top: A@0 B@0
#|C float32[16] global at top: C@0

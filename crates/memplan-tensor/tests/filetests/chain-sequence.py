# test sequence
# Every loop touches what it uses; the touches stand at its end.
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
#|scopes [1, -1], [1, -1], [1, -1], [1, -1]
#|   0   +1  for i
#|   1   -1  end for i  touches A
#|   2   +1  for i
#|   3   -1  end for i  touches A B
#|   4   +1  for i
#|   5   -1  end for i  touches B C
#|   6   +1  for i
#|   7   -1  end for i  touches C

# test sequence
# A is charged to the loop over k as a whole, B to the statements inside.
@T.prim_func(s_tir=True)
def main(E: T.Buffer((64,), "float32"), O: T.Buffer((64,), "float32")):
    A = T.alloc_buffer((8,))
    for i in range(8):
        A[i] = E[i]
    for k in range(4):
        B = T.alloc_buffer((8,))
        for i in range(8):
            B[i] = A[7 - i]
        for i in range(8):
            O[i] = B[i] + O[i]
# expect
#|scopes [1, -1], [5, [1, -1], [1, -1], -5]
#|   0   +1  for i
#|   1   -1  end for i  touches A
#|   2   +5  for k
#|   3   +1    for i
#|   4   -1    end for i  touches B
#|   5   +1    for i
#|   6   -1    end for i  touches B
#|   7   -5  end for k  touches A

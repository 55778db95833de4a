# test sequence
# The nested scopes of the document. It writes [8, …, -8] for the outer loop; the distance between its two records is 9.
@T.prim_func(s_tir=True)
def main(E: T.Buffer((64,), "float32"), O: T.Buffer((64,), "float32")):
    for i in range(8):
        for j in range(8):
            for k in range(8):
                O[k] = E[k]
        for j in range(8):
            for k in range(8):
                O[k] = E[k]
# expect
#|scopes [9, [3, [1, -1], -3], [3, [1, -1], -3], -9]
#|   0   +9  for i
#|   1   +3    for j
#|   2   +1      for k
#|   3   -1      end for k
#|   4   -3    end for j
#|   5   +3    for j
#|   6   +1      for k
#|   7   -1      end for k
#|   8   -3    end for j
#|   9   -9  end for i

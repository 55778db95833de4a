# test storage-rewrite{compat}
# The second sweep would read what the first one wrote.
@T.prim_func(s_tir=True)
def main(E: T.Buffer((64,), "float32"), O: T.Buffer((64,), "float32")):
    A = T.alloc_buffer((8,))
    B = T.alloc_buffer((8,))
    for i in range(8):
        A[i] = E[i]
    for r, i in T.grid(2, 8):
        B[i] = A[i] + T.float32(1.0)
    for i in range(8):
        O[i] = B[i]
# expect
#|error 9:5: refused for `B`: in-place overwrite: the result would be written over operands that are still needed; without `compat` the function is rewritten correctly

# test program
# What the dataflow check follows.
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
#|space global
#|func @main(%E, %O) {
#|  alloc  alloc %A 32 align 4 space global, at 151..175
#|  alloc  alloc %B 32 align 4 space global, at 180..204
#|  alloc  alloc %C 64 align 4 space global, at 209..234
#|  for  update %A, read %E, at 239..257
#|  for  update %B, read %A, overlay %B over %A, at 282..300
#|  for  update %C, read %B, at 342..361
#|  for  update %O, read %C, at 390..408
#|}

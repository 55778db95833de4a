// Two matrix products with an elementwise layer and a transposition between them.
func.func @p0(%x: tensor<8x16xf32>, %w: tensor<16x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<8x8xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x8xf32>) outs(%f0 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %e1 = tensor.empty() : tensor<8x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<8x8xf32>) outs(%e1 : tensor<8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.maximumf %a, %zero : f32
    linalg.yield %v : f32
  } -> tensor<8x8xf32>
  %e2 = tensor.empty() : tensor<8x8xf32>
  %t = linalg.transpose ins(%r : tensor<8x8xf32>) outs(%e2 : tensor<8x8xf32>) permutation = [1, 0]
  %e3 = tensor.empty() : tensor<8x8xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = linalg.matmul ins(%t, %r : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f3 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %q : tensor<8x8xf32>
}
func.func private @printMemrefF32(tensor<*xf32>)
func.func @main() {
  %x = arith.constant dense<1.5> : tensor<8x16xf32>
  %w = arith.constant dense<-0.25> : tensor<16x8xf32>
  %c3 = arith.constant 3 : index
  %v = arith.constant 2.0 : f32
  %x1 = tensor.insert %v into %x[%c3, %c3] : tensor<8x16xf32>
  %w1 = tensor.insert %v into %w[%c3, %c3] : tensor<16x8xf32>
  %r = call @p0(%x1, %w1) : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %u = tensor.cast %r : tensor<8x8xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}

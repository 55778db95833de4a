// A loop that carries a tensor round, with branches, slices, padding and a window in it and behind it.
func.func @p1(%x: tensor<16x16xf32>, %n: index) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %half = arith.constant 0.5 : f32
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%t = %x) -> (tensor<16x16xf32>) {
    %e = tensor.empty() : tensor<16x16xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
    ^bb0(%a: f32, %o: f32):
      %v = arith.mulf %a, %half : f32
      linalg.yield %v : f32
    } -> tensor<16x16xf32>
    %even = arith.cmpi eq, %k, %c1 : index
    %y = scf.if %even -> (tensor<16x16xf32>) {
      %e2 = tensor.empty() : tensor<16x16xf32>
      %d = linalg.add ins(%s, %t : tensor<16x16xf32>, tensor<16x16xf32>) outs(%e2 : tensor<16x16xf32>) -> tensor<16x16xf32>
      scf.yield %d : tensor<16x16xf32>
    } else {
      %e3 = tensor.empty() : tensor<16x16xf32>
      %d = linalg.sub ins(%s, %t : tensor<16x16xf32>, tensor<16x16xf32>) outs(%e3 : tensor<16x16xf32>) -> tensor<16x16xf32>
      scf.yield %d : tensor<16x16xf32>
    }
    %tile = tensor.extract_slice %y[4, 4] [8, 8] [1, 1] : tensor<16x16xf32> to tensor<8x8xf32>
    %e4 = tensor.empty() : tensor<8x8xf32>
    %neg = linalg.negf ins(%tile : tensor<8x8xf32>) outs(%e4 : tensor<8x8xf32>) -> tensor<8x8xf32>
    %back = tensor.insert_slice %neg into %y[0, 8] [8, 8] [1, 1] : tensor<8x8xf32> into tensor<16x16xf32>
    scf.yield %back : tensor<16x16xf32>
  }
  %z = arith.constant 0.0 : f32
  %padded = tensor.pad %r low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<16x16xf32> to tensor<18x18xf32>
  %e5 = tensor.empty() : tensor<16x16xf32>
  %f5 = linalg.fill ins(%z : f32) outs(%e5 : tensor<16x16xf32>) -> tensor<16x16xf32>
  %win = tensor.empty() : tensor<3x3xf32>
  %pool = linalg.generic {indexing_maps = [affine_map<(i, j, p, q) -> (i + p, j + q)>, affine_map<(i, j, p, q) -> (p, q)>, affine_map<(i, j, p, q) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%padded, %win : tensor<18x18xf32>, tensor<3x3xf32>) outs(%f5 : tensor<16x16xf32>) {
  ^bb0(%a: f32, %w: f32, %o: f32):
    %v = arith.addf %a, %o : f32
    linalg.yield %v : f32
  } -> tensor<16x16xf32>
  return %pool : tensor<16x16xf32>
}
func.func private @printMemrefF32(tensor<*xf32>)
func.func @main() {
  %c5 = arith.constant 5 : index
  %e = tensor.empty() : tensor<16x16xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<16x16xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %ij = arith.muli %i, %j : index
    %n = arith.index_cast %ij : index to i32
    %f = arith.sitofp %n : i32 to f32
    linalg.yield %f : f32
  } -> tensor<16x16xf32>
  %r = call @p1(%x, %c5) : (tensor<16x16xf32>, index) -> tensor<16x16xf32>
  %u = tensor.cast %r : tensor<16x16xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}

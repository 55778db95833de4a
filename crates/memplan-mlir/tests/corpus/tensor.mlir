func.func @values(%t: tensor<4x?xf32>, %i: index, %f: f32, %s: tensor<2xindex>) {
  %0 = tensor.extract %t[%i, %i] : tensor<4x?xf32>
  %1 = tensor.insert %f into %t[%i, %i] : tensor<4x?xf32>
  %2 = tensor.dim %t, %i : tensor<4x?xf32>
  %3 = tensor.empty(%i) : tensor<4x?xf32>
  %4 = tensor.empty() : tensor<4xf32>
  %5 = tensor.from_elements %f, %f : tensor<2xf32>
  %6 = tensor.splat %f[%i] : tensor<4x?xf32>
  %7 = tensor.cast %t : tensor<4x?xf32> to tensor<?x?xf32>
  %8 = tensor.reshape %t(%s) : (tensor<4x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %9 = tensor.rank %t : tensor<4x?xf32>
  %10 = tensor.bitcast %4 : tensor<4xf32> to tensor<4xi32>
  %11 = tensor.cast %t : tensor<4x?xf32> to tensor<*xf32>
  return
}
// -----
func.func @slices(%t: tensor<16x16xf32>, %i: index, %p: tensor<4x4xf32>) {
  %0 = tensor.extract_slice %t[%i, 0] [4, 4] [1, 1] : tensor<16x16xf32> to tensor<4x4xf32>
  %1 = tensor.insert_slice %p into %t[%i, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<16x16xf32>
  %2 = tensor.expand_shape %t [[0, 1], [2]] output_shape [4, 4, 16] : tensor<16x16xf32> into tensor<4x4x16xf32>
  %3 = tensor.collapse_shape %t [[0, 1]] : tensor<16x16xf32> into tensor<256xf32>
  %4 = tensor.concat dim(0) %p, %p : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %5 = tensor.extract_slice %t[%i, %i] [%i, 4] [%i, 1] : tensor<16x16xf32> to tensor<?x4xf32>
  return
}
// -----
func.func @bodies(%t: tensor<4x4xf32>, %n: index, %z: f32, %idx: tensor<3x1xindex>) {
  %0 = tensor.generate %n {
  ^bb0(%i: index, %j: index):
    %x = tensor.extract %t[%i, %j] : tensor<4x4xf32>
    tensor.yield %x : f32
  } : tensor<?x4xf32>
  %1 = tensor.pad %t low[0, %n] high[1, %n] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<4x4xf32> to tensor<5x?xf32>
  %2 = tensor.pad %t nofold low[0, 0] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<4x4xf32> to tensor<5x5xf32>
  %3 = tensor.gather %t[%idx] gather_dims([0]) : (tensor<4x4xf32>, tensor<3x1xindex>) -> tensor<3x1x4xf32>
  return
}
// -----
func.func @encodings(%a: tensor<4xf32, 4096 : i64>, %b: tensor<2xf32, {acme.place = [1, 2]}>, %c: tensor<2xf32, #acme.e<1, [2]>>) -> tensor<4xf32, 4096 : i64> {
  return %a : tensor<4xf32, 4096 : i64>
}

func.func @memory(%m: memref<16x16xf32>, %n: memref<16xf32>, %i: index, %f: f32, %mask: vector<8xi1>, %idx: vector<8xi32>, %v: vector<8xf32>, %t: tensor<16x16xf32>) {
  %0 = vector.load %m[%i, %i] : memref<16x16xf32>, vector<8xf32>
  vector.store %0, %m[%i, %i] : memref<16x16xf32>, vector<8xf32>
  %1 = vector.transfer_read %m[%i, %i], %f : memref<16x16xf32>, vector<8xf32>
  %2 = vector.transfer_read %m[%i, %i], %f, %mask {in_bounds = [true]} : memref<16x16xf32>, vector<8xf32>
  vector.transfer_write %1, %m[%i, %i] {in_bounds = [true]} : vector<8xf32>, memref<16x16xf32>
  vector.transfer_write %1, %m[%i, %i], %mask : vector<8xf32>, memref<16x16xf32>
  %3 = vector.maskedload %n[%i], %mask, %v : memref<16xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.maskedstore %n[%i], %mask, %v : memref<16xf32>, vector<8xi1>, vector<8xf32>
  %4 = vector.gather %n[%i] [%idx], %mask, %v : memref<16xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.scatter %n[%i] [%idx], %mask, %v : memref<16xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32>
  %5 = vector.expandload %n[%i], %mask, %v : memref<16xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.compressstore %n[%i], %mask, %v : memref<16xf32>, vector<8xi1>, vector<8xf32>
  %6 = vector.transfer_read %t[%i, %i], %f {permutation_map = affine_map<(d0, d1) -> (d1, d0)>, in_bounds = [true, true]} : tensor<16x16xf32>, vector<4x4xf32>
  %7 = vector.transfer_write %6, %t[%i, %i] : vector<4x4xf32>, tensor<16x16xf32>
  return
}
// -----
func.func @shapes(%v: vector<8xf32>, %w: vector<4x8xf32>, %f: f32, %i: index, %s: vector<[4]xf32>, %m: memref<4x4xf32>) {
  %0 = vector.broadcast %f : f32 to vector<8xf32>
  %1 = vector.extract %w[1] : vector<8xf32> from vector<4x8xf32>
  %2 = vector.extract %w[1, 2] : f32 from vector<4x8xf32>
  %3 = vector.extract %v[%i] : f32 from vector<8xf32>
  %4 = vector.insert %v, %w[2] : vector<8xf32> into vector<4x8xf32>
  %5 = vector.insert %f, %w[%i, 1] : f32 into vector<4x8xf32>
  %6 = vector.shuffle %v, %v [0, 1, 8, 9] : vector<8xf32>, vector<8xf32>
  %7 = vector.transpose %w, [1, 0] : vector<4x8xf32> to vector<8x4xf32>
  %8 = vector.shape_cast %w : vector<4x8xf32> to vector<32xf32>
  %9 = vector.bitcast %v : vector<8xf32> to vector<8xi32>
  %10 = vector.extract_strided_slice %w {offsets = [1], sizes = [2], strides = [1]} : vector<4x8xf32> to vector<2x8xf32>
  %11 = vector.insert_strided_slice %v, %w {offsets = [0, 0], strides = [1]} : vector<8xf32> into vector<4x8xf32>
  %12 = vector.interleave %v, %v : vector<8xf32> -> vector<16xf32>
  %13, %14 = vector.deinterleave %v : vector<8xf32> -> vector<4xf32>
  %15 = vector.from_elements %f, %f : vector<2xf32>
  %16:8 = vector.to_elements %v : vector<8xf32>
  %17 = vector.step : vector<4xindex>
  %18 = vector.vscale
  %19 = vector.type_cast %m : memref<4x4xf32> to memref<vector<4x4xf32>>
  %20 = vector.constant_mask [2, 3] : vector<4x8xi1>
  %21 = vector.create_mask %i, %i : vector<4x8xi1>
  return
}
// -----
func.func @math(%v: vector<8xf32>, %w: vector<4x8xf32>, %a: vector<4x8xf32>, %b: vector<8x4xf32>, %c: vector<4x4xf32>, %f: f32, %u: vector<4xf32>) {
  %0 = vector.reduction <add>, %v : vector<8xf32> into f32
  %1 = vector.reduction <maximumf>, %v, %f : vector<8xf32> into f32
  %2 = vector.multi_reduction <add>, %w, %u [1] : vector<4x8xf32> to vector<4xf32>
  %3 = vector.fma %v, %v, %v : vector<8xf32>
  %4 = vector.outerproduct %u, %v : vector<4xf32>, vector<8xf32>
  %5 = vector.outerproduct %u, %v, %w {kind = #vector.kind<maxnumf>} : vector<4xf32>, vector<8xf32>
  %6 = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %c : vector<4x8xf32>, vector<8x4xf32> into vector<4x4xf32>
  %7:2 = vector.scan <add>, %w, %v {inclusive = true, reduction_dim = 0 : i64} : vector<4x8xf32>, vector<8xf32>
  vector.print %v : vector<8xf32>
  vector.print str "text"
  vector.print punctuation <newline>
  return
}
// -----
func.func @masks(%m: vector<8xi1>, %v: vector<8xf32>, %a: memref<16xf32>, %i: index, %f: f32) {
  %0 = vector.mask %m { vector.reduction <add>, %v : vector<8xf32> into f32 } : vector<8xi1> -> f32
  %1 = vector.mask %m, %v { vector.transfer_read %a[%i], %f : memref<16xf32>, vector<8xf32> } : vector<8xi1> -> vector<8xf32>
  vector.mask %m { vector.transfer_write %v, %a[%i] : vector<8xf32>, memref<16xf32> } : vector<8xi1>
  return
}

#map = affine_map<(d0, d1) -> (d1, d0)>
module {
  func.func @memory(%arg0: memref<16x16xf32>, %arg1: memref<16xf32>, %arg2: index, %arg3: f32, %arg4: vector<8xi1>, %arg5: vector<8xi32>, %arg6: vector<8xf32>, %arg7: tensor<16x16xf32>) {
    %0 = vector.load %arg0[%arg2, %arg2] : memref<16x16xf32>, vector<8xf32>
    vector.store %0, %arg0[%arg2, %arg2] : memref<16x16xf32>, vector<8xf32>
    %1 = vector.transfer_read %arg0[%arg2, %arg2], %arg3 : memref<16x16xf32>, vector<8xf32>
    %2 = vector.transfer_read %arg0[%arg2, %arg2], %arg3, %arg4 {in_bounds = [true]} : memref<16x16xf32>, vector<8xf32>
    vector.transfer_write %1, %arg0[%arg2, %arg2] {in_bounds = [true]} : vector<8xf32>, memref<16x16xf32>
    vector.transfer_write %1, %arg0[%arg2, %arg2], %arg4 : vector<8xf32>, memref<16x16xf32>
    %3 = vector.maskedload %arg1[%arg2], %arg4, %arg6 : memref<16xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    vector.maskedstore %arg1[%arg2], %arg4, %arg6 : memref<16xf32>, vector<8xi1>, vector<8xf32>
    %4 = vector.gather %arg1[%arg2] [%arg5], %arg4, %arg6 : memref<16xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    vector.scatter %arg1[%arg2] [%arg5], %arg4, %arg6 : memref<16xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32>
    %5 = vector.expandload %arg1[%arg2], %arg4, %arg6 : memref<16xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    vector.compressstore %arg1[%arg2], %arg4, %arg6 : memref<16xf32>, vector<8xi1>, vector<8xf32>
    %6 = vector.transfer_read %arg7[%arg2, %arg2], %arg3 {in_bounds = [true, true], permutation_map = #map} : tensor<16x16xf32>, vector<4x4xf32>
    %7 = vector.transfer_write %6, %arg7[%arg2, %arg2] : vector<4x4xf32>, tensor<16x16xf32>
    return
  }
}

// -----
module {
  func.func @shapes(%arg0: vector<8xf32>, %arg1: vector<4x8xf32>, %arg2: f32, %arg3: index, %arg4: vector<[4]xf32>, %arg5: memref<4x4xf32>) {
    %0 = vector.broadcast %arg2 : f32 to vector<8xf32>
    %1 = vector.extract %arg1[1] : vector<8xf32> from vector<4x8xf32>
    %2 = vector.extract %arg1[1, 2] : f32 from vector<4x8xf32>
    %3 = vector.extract %arg0[%arg3] : f32 from vector<8xf32>
    %4 = vector.insert %arg0, %arg1 [2] : vector<8xf32> into vector<4x8xf32>
    %5 = vector.insert %arg2, %arg1 [%arg3, 1] : f32 into vector<4x8xf32>
    %6 = vector.shuffle %arg0, %arg0 [0, 1, 8, 9] : vector<8xf32>, vector<8xf32>
    %7 = vector.transpose %arg1, [1, 0] : vector<4x8xf32> to vector<8x4xf32>
    %8 = vector.shape_cast %arg1 : vector<4x8xf32> to vector<32xf32>
    %9 = vector.bitcast %arg0 : vector<8xf32> to vector<8xi32>
    %10 = vector.extract_strided_slice %arg1 {offsets = [1], sizes = [2], strides = [1]} : vector<4x8xf32> to vector<2x8xf32>
    %11 = vector.insert_strided_slice %arg0, %arg1 {offsets = [0, 0], strides = [1]} : vector<8xf32> into vector<4x8xf32>
    %12 = vector.interleave %arg0, %arg0 : vector<8xf32> -> vector<16xf32>
    %res1, %res2 = vector.deinterleave %arg0 : vector<8xf32> -> vector<4xf32>
    %13 = vector.from_elements %arg2, %arg2 : vector<2xf32>
    %14:8 = vector.to_elements %arg0 : vector<8xf32>
    %15 = vector.step : vector<4xindex>
    %vscale = vector.vscale
    %16 = vector.type_cast %arg5 : memref<4x4xf32> to memref<vector<4x4xf32>>
    %17 = vector.constant_mask [2, 3] : vector<4x8xi1>
    %18 = vector.create_mask %arg3, %arg3 : vector<4x8xi1>
    return
  }
}

// -----
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
module {
  func.func @math(%arg0: vector<8xf32>, %arg1: vector<4x8xf32>, %arg2: vector<4x8xf32>, %arg3: vector<8x4xf32>, %arg4: vector<4x4xf32>, %arg5: f32, %arg6: vector<4xf32>) {
    %0 = vector.reduction <add>, %arg0 : vector<8xf32> into f32
    %1 = vector.reduction <maximumf>, %arg0, %arg5 : vector<8xf32> into f32
    %2 = vector.multi_reduction <add>, %arg1, %arg6 [1] : vector<4x8xf32> to vector<4xf32>
    %3 = vector.fma %arg0, %arg0, %arg0 : vector<8xf32>
    %4 = vector.outerproduct %arg6, %arg0 : vector<4xf32>, vector<8xf32>
    %5 = vector.outerproduct %arg6, %arg0, %arg1 {kind = #vector.kind<maxnumf>} : vector<4xf32>, vector<8xf32>
    %6 = vector.contract {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %arg2, %arg3, %arg4 : vector<4x8xf32>, vector<8x4xf32> into vector<4x4xf32>
    %dest, %accumulated_value = vector.scan <add>, %arg1, %arg0 {inclusive = true, reduction_dim = 0 : i64} : vector<4x8xf32>, vector<8xf32>
    vector.print %arg0 : vector<8xf32>
    vector.print str "text"
    vector.print
    return
  }
}

// -----
module {
  func.func @masks(%arg0: vector<8xi1>, %arg1: vector<8xf32>, %arg2: memref<16xf32>, %arg3: index, %arg4: f32) {
    %0 = vector.mask %arg0 { vector.reduction <add>, %arg1 : vector<8xf32> into f32 } : vector<8xi1> -> f32
    %1 = vector.mask %arg0, %arg1 { vector.transfer_read %arg2[%arg3], %arg4 : memref<16xf32>, vector<8xf32> } : vector<8xi1> -> vector<8xf32>
    vector.mask %arg0 { vector.transfer_write %arg1, %arg2[%arg3] : vector<8xf32>, memref<16xf32> } : vector<8xi1>
    return
  }
}


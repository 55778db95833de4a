#map = affine_map<(d0, d1) -> (d1)>
#map1 = affine_map<(d0, d1) -> (d1, d0)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
"builtin.module"() ({
  "func.func"() <{function_type = (memref<16x16xf32>, memref<16xf32>, index, f32, vector<8xi1>, vector<8xi32>, vector<8xf32>, tensor<16x16xf32>) -> (), sym_name = "memory"}> ({
  ^bb0(%arg0: memref<16x16xf32>, %arg1: memref<16xf32>, %arg2: index, %arg3: f32, %arg4: vector<8xi1>, %arg5: vector<8xi32>, %arg6: vector<8xf32>, %arg7: tensor<16x16xf32>):
    %0 = "vector.load"(%arg0, %arg2, %arg2) : (memref<16x16xf32>, index, index) -> vector<8xf32>
    "vector.store"(%0, %arg0, %arg2, %arg2) : (vector<8xf32>, memref<16x16xf32>, index, index) -> ()
    %1 = "vector.transfer_read"(%arg0, %arg2, %arg2, %arg3) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 2, 1, 0>, permutation_map = #map}> : (memref<16x16xf32>, index, index, f32) -> vector<8xf32>
    %2 = "vector.transfer_read"(%arg0, %arg2, %arg2, %arg3, %arg4) <{in_bounds = [true], operandSegmentSizes = array<i32: 1, 2, 1, 1>, permutation_map = #map}> : (memref<16x16xf32>, index, index, f32, vector<8xi1>) -> vector<8xf32>
    "vector.transfer_write"(%1, %arg0, %arg2, %arg2) <{in_bounds = [true], operandSegmentSizes = array<i32: 1, 1, 2, 0>, permutation_map = #map}> : (vector<8xf32>, memref<16x16xf32>, index, index) -> ()
    "vector.transfer_write"(%1, %arg0, %arg2, %arg2, %arg4) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 1, 2, 1>, permutation_map = #map}> : (vector<8xf32>, memref<16x16xf32>, index, index, vector<8xi1>) -> ()
    %3 = "vector.maskedload"(%arg1, %arg2, %arg4, %arg6) : (memref<16xf32>, index, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
    "vector.maskedstore"(%arg1, %arg2, %arg4, %arg6) : (memref<16xf32>, index, vector<8xi1>, vector<8xf32>) -> ()
    %4 = "vector.gather"(%arg1, %arg2, %arg5, %arg4, %arg6) : (memref<16xf32>, index, vector<8xi32>, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
    "vector.scatter"(%arg1, %arg2, %arg5, %arg4, %arg6) : (memref<16xf32>, index, vector<8xi32>, vector<8xi1>, vector<8xf32>) -> ()
    %5 = "vector.expandload"(%arg1, %arg2, %arg4, %arg6) : (memref<16xf32>, index, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
    "vector.compressstore"(%arg1, %arg2, %arg4, %arg6) : (memref<16xf32>, index, vector<8xi1>, vector<8xf32>) -> ()
    %6 = "vector.transfer_read"(%arg7, %arg2, %arg2, %arg3) <{in_bounds = [true, true], operandSegmentSizes = array<i32: 1, 2, 1, 0>, permutation_map = #map1}> : (tensor<16x16xf32>, index, index, f32) -> vector<4x4xf32>
    %7 = "vector.transfer_write"(%6, %arg7, %arg2, %arg2) <{in_bounds = [false, false], operandSegmentSizes = array<i32: 1, 1, 2, 0>, permutation_map = #map2}> : (vector<4x4xf32>, tensor<16x16xf32>, index, index) -> tensor<16x16xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (vector<8xf32>, vector<4x8xf32>, f32, index, vector<[4]xf32>, memref<4x4xf32>) -> (), sym_name = "shapes"}> ({
  ^bb0(%arg0: vector<8xf32>, %arg1: vector<4x8xf32>, %arg2: f32, %arg3: index, %arg4: vector<[4]xf32>, %arg5: memref<4x4xf32>):
    %0 = "vector.broadcast"(%arg2) : (f32) -> vector<8xf32>
    %1 = "vector.extract"(%arg1) <{static_position = array<i64: 1>}> : (vector<4x8xf32>) -> vector<8xf32>
    %2 = "vector.extract"(%arg1) <{static_position = array<i64: 1, 2>}> : (vector<4x8xf32>) -> f32
    %3 = "vector.extract"(%arg0, %arg3) <{static_position = array<i64: -9223372036854775808>}> : (vector<8xf32>, index) -> f32
    %4 = "vector.insert"(%arg0, %arg1) <{static_position = array<i64: 2>}> : (vector<8xf32>, vector<4x8xf32>) -> vector<4x8xf32>
    %5 = "vector.insert"(%arg2, %arg1, %arg3) <{static_position = array<i64: -9223372036854775808, 1>}> : (f32, vector<4x8xf32>, index) -> vector<4x8xf32>
    %6 = "vector.shuffle"(%arg0, %arg0) <{mask = array<i64: 0, 1, 8, 9>}> : (vector<8xf32>, vector<8xf32>) -> vector<4xf32>
    %7 = "vector.transpose"(%arg1) <{permutation = array<i64: 1, 0>}> : (vector<4x8xf32>) -> vector<8x4xf32>
    %8 = "vector.shape_cast"(%arg1) : (vector<4x8xf32>) -> vector<32xf32>
    %9 = "vector.bitcast"(%arg0) : (vector<8xf32>) -> vector<8xi32>
    %10 = "vector.extract_strided_slice"(%arg1) <{offsets = [1], sizes = [2], strides = [1]}> : (vector<4x8xf32>) -> vector<2x8xf32>
    %11 = "vector.insert_strided_slice"(%arg0, %arg1) <{offsets = [0, 0], strides = [1]}> : (vector<8xf32>, vector<4x8xf32>) -> vector<4x8xf32>
    %12 = "vector.interleave"(%arg0, %arg0) : (vector<8xf32>, vector<8xf32>) -> vector<16xf32>
    %13:2 = "vector.deinterleave"(%arg0) : (vector<8xf32>) -> (vector<4xf32>, vector<4xf32>)
    %14 = "vector.from_elements"(%arg2, %arg2) : (f32, f32) -> vector<2xf32>
    %15:8 = "vector.to_elements"(%arg0) : (vector<8xf32>) -> (f32, f32, f32, f32, f32, f32, f32, f32)
    %16 = "vector.step"() : () -> vector<4xindex>
    %17 = "vector.vscale"() : () -> index
    %18 = "vector.type_cast"(%arg5) : (memref<4x4xf32>) -> memref<vector<4x4xf32>>
    %19 = "vector.constant_mask"() <{mask_dim_sizes = array<i64: 2, 3>}> : () -> vector<4x8xi1>
    %20 = "vector.create_mask"(%arg3, %arg3) : (index, index) -> vector<4x8xi1>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
"builtin.module"() ({
  "func.func"() <{function_type = (vector<8xf32>, vector<4x8xf32>, vector<4x8xf32>, vector<8x4xf32>, vector<4x4xf32>, f32, vector<4xf32>) -> (), sym_name = "math"}> ({
  ^bb0(%arg0: vector<8xf32>, %arg1: vector<4x8xf32>, %arg2: vector<4x8xf32>, %arg3: vector<8x4xf32>, %arg4: vector<4x4xf32>, %arg5: f32, %arg6: vector<4xf32>):
    %0 = "vector.reduction"(%arg0) <{fastmath = #arith.fastmath<none>, kind = #vector.kind<add>}> : (vector<8xf32>) -> f32
    %1 = "vector.reduction"(%arg0, %arg5) <{fastmath = #arith.fastmath<none>, kind = #vector.kind<maximumf>}> : (vector<8xf32>, f32) -> f32
    %2 = "vector.multi_reduction"(%arg1, %arg6) <{kind = #vector.kind<add>, reduction_dims = array<i64: 1>}> : (vector<4x8xf32>, vector<4xf32>) -> vector<4xf32>
    %3 = "vector.fma"(%arg0, %arg0, %arg0) : (vector<8xf32>, vector<8xf32>, vector<8xf32>) -> vector<8xf32>
    %4 = "vector.outerproduct"(%arg6, %arg0) <{kind = #vector.kind<add>}> : (vector<4xf32>, vector<8xf32>) -> vector<4x8xf32>
    %5 = "vector.outerproduct"(%arg6, %arg0, %arg1) <{kind = #vector.kind<maxnumf>}> : (vector<4xf32>, vector<8xf32>, vector<4x8xf32>) -> vector<4x8xf32>
    %6 = "vector.contract"(%arg2, %arg3, %arg4) <{indexing_maps = [#map, #map1, #map2], iterator_types = [#vector.iterator_type<parallel>, #vector.iterator_type<parallel>, #vector.iterator_type<reduction>], kind = #vector.kind<add>}> : (vector<4x8xf32>, vector<8x4xf32>, vector<4x4xf32>) -> vector<4x4xf32>
    %7:2 = "vector.scan"(%arg1, %arg0) <{inclusive = true, kind = #vector.kind<add>, reduction_dim = 0 : i64}> : (vector<4x8xf32>, vector<8xf32>) -> (vector<4x8xf32>, vector<8xf32>)
    "vector.print"(%arg0) <{punctuation = #vector.punctuation<newline>}> : (vector<8xf32>) -> ()
    "vector.print"() <{punctuation = #vector.punctuation<newline>, stringLiteral = "text"}> : () -> ()
    "vector.print"() <{punctuation = #vector.punctuation<newline>}> : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0) -> (d0)>
"builtin.module"() ({
  "func.func"() <{function_type = (vector<8xi1>, vector<8xf32>, memref<16xf32>, index, f32) -> (), sym_name = "masks"}> ({
  ^bb0(%arg0: vector<8xi1>, %arg1: vector<8xf32>, %arg2: memref<16xf32>, %arg3: index, %arg4: f32):
    %0 = "vector.mask"(%arg0) ({
      %3 = "vector.reduction"(%arg1) <{fastmath = #arith.fastmath<none>, kind = #vector.kind<add>}> : (vector<8xf32>) -> f32
      "vector.yield"(%3) : (f32) -> ()
    }) : (vector<8xi1>) -> f32
    %1 = "vector.mask"(%arg0, %arg1) ({
      %2 = "vector.transfer_read"(%arg2, %arg3, %arg4) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 1, 1, 0>, permutation_map = #map}> : (memref<16xf32>, index, f32) -> vector<8xf32>
      "vector.yield"(%2) : (vector<8xf32>) -> ()
    }) : (vector<8xi1>, vector<8xf32>) -> vector<8xf32>
    "vector.mask"(%arg0) ({
      "vector.transfer_write"(%arg1, %arg2, %arg3) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 1, 1, 0>, permutation_map = #map}> : (vector<8xf32>, memref<16xf32>, index) -> ()
      "vector.yield"() : () -> ()
    }) : (vector<8xi1>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()


#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
"builtin.module"() ({
  "func.func"() <{function_type = (memref<4x8xf32>, memref<4x8xf32>, memref<4xf32>, tensor<4x8xf32>, memref<4xf32>) -> tensor<4x8xf32>, sym_name = "generics"}> ({
  ^bb0(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>, %arg2: memref<4xf32>, %arg3: tensor<4x8xf32>, %arg4: memref<4xf32>):
    "linalg.generic"(%arg0, %arg1) <{indexing_maps = [#map, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg10: f32, %arg11: f32):
      %4 = "arith.addf"(%arg10, %arg10) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%4) : (f32) -> ()
    }) : (memref<4x8xf32>, memref<4x8xf32>) -> ()
    "linalg.generic"(%arg0, %arg2) <{indexing_maps = [#map, #map1], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg8: f32, %arg9: f32):
      %1 = "linalg.index"() <{dim = 0 : i64}> : () -> index
      %2 = "memref.load"(%arg4, %1) : (memref<4xf32>, index) -> f32
      %3 = "arith.addf"(%arg8, %arg9) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%3) : (f32) -> ()
    }) {acme.tag = 1 : i64} : (memref<4x8xf32>, memref<4xf32>) -> ()
    "linalg.generic"(%arg1) <{indexing_maps = [#map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%arg7: f32):
      "linalg.yield"(%arg7) : (f32) -> ()
    }) : (memref<4x8xf32>) -> ()
    %0 = "linalg.generic"(%arg3, %arg3) <{indexing_maps = [#map, #map], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg5: f32, %arg6: f32):
      "linalg.yield"(%arg5) : (f32) -> ()
    }) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    "func.return"(%0) : (tensor<4x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d1)>
#map5 = affine_map<(d0, d1) -> (d0)>
#map6 = affine_map<(d0, d1) -> (d1, d0)>
#map7 = affine_map<(d0) -> (d0)>
#map8 = affine_map<(d0) -> ()>
#map9 = affine_map<(d0, d1, d2) -> (d1, d2)>
"builtin.module"() ({
  "func.func"() <{function_type = (memref<4x8xf32>, memref<8x4xf32>, memref<4x4xf32>, memref<4x8xf32>, memref<8xf32>, memref<4xf32>, f32, memref<f32>) -> (), sym_name = "memrefs"}> ({
  ^bb0(%arg0: memref<4x8xf32>, %arg1: memref<8x4xf32>, %arg2: memref<4x4xf32>, %arg3: memref<4x8xf32>, %arg4: memref<8xf32>, %arg5: memref<4xf32>, %arg6: f32, %arg7: memref<f32>):
    "linalg.fill"(%arg6, %arg2) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg52: f32, %arg53: f32):
      "linalg.yield"(%arg52) : (f32) -> ()
    }) : (f32, memref<4x4xf32>) -> ()
    "linalg.matmul"(%arg0, %arg1, %arg2) <{indexing_maps = [#map, #map1, #map2], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg49: f32, %arg50: f32, %arg51: f32):
      %20 = "arith.mulf"(%arg49, %arg50) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %21 = "arith.addf"(%arg51, %20) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%21) : (f32) -> ()
    }) : (memref<4x8xf32>, memref<8x4xf32>, memref<4x4xf32>) -> ()
    "linalg.copy"(%arg0, %arg3) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg47: f32, %arg48: f32):
      "linalg.yield"(%arg47) : (f32) -> ()
    }) : (memref<4x8xf32>, memref<4x8xf32>) -> ()
    "linalg.add"(%arg0, %arg3, %arg3) <{operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg44: f32, %arg45: f32, %arg46: f32):
      %19 = "arith.addf"(%arg44, %arg45) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%19) : (f32) -> ()
    }) : (memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) -> ()
    "linalg.exp"(%arg0, %arg3) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg42: f32, %arg43: f32):
      %18 = "math.exp"(%arg42) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      "linalg.yield"(%18) : (f32) -> ()
    }) : (memref<4x8xf32>, memref<4x8xf32>) -> ()
    "linalg.max"(%arg0, %arg0, %arg3) <{operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg39: f32, %arg40: f32, %arg41: f32):
      %17 = "arith.maximumf"(%arg39, %arg40) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%17) : (f32) -> ()
    }) : (memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) -> ()
    "linalg.sub"(%arg0, %arg0, %arg3) <{operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg36: f32, %arg37: f32, %arg38: f32):
      %16 = "arith.subf"(%arg36, %arg37) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%16) : (f32) -> ()
    }) : (memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) -> ()
    "linalg.mul"(%arg0, %arg0, %arg3) <{operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg33: f32, %arg34: f32, %arg35: f32):
      %15 = "arith.mulf"(%arg33, %arg34) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%15) : (f32) -> ()
    }) : (memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) -> ()
    "linalg.div"(%arg0, %arg0, %arg3) <{operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg30: f32, %arg31: f32, %arg32: f32):
      %14 = "arith.divf"(%arg30, %arg31) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%14) : (f32) -> ()
    }) : (memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) -> ()
    "linalg.abs"(%arg0, %arg3) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg28: f32, %arg29: f32):
      %13 = "math.absf"(%arg28) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      "linalg.yield"(%13) : (f32) -> ()
    }) : (memref<4x8xf32>, memref<4x8xf32>) -> ()
    "linalg.negf"(%arg0, %arg3) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg26: f32, %arg27: f32):
      %12 = "arith.negf"(%arg26) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      "linalg.yield"(%12) : (f32) -> ()
    }) : (memref<4x8xf32>, memref<4x8xf32>) -> ()
    "linalg.square"(%arg0, %arg3) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg24: f32, %arg25: f32):
      %11 = "arith.mulf"(%arg24, %arg24) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%11) : (f32) -> ()
    }) : (memref<4x8xf32>, memref<4x8xf32>) -> ()
    "linalg.reciprocal"(%arg0, %arg3) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg22: f32, %arg23: f32):
      %9 = "arith.constant"() <{value = 1.000000e+00 : f32}> : () -> f32
      %10 = "arith.divf"(%9, %arg22) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%10) : (f32) -> ()
    }) : (memref<4x8xf32>, memref<4x8xf32>) -> ()
    "linalg.tanh"(%arg0, %arg3) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg20: f32, %arg21: f32):
      %8 = "math.tanh"(%arg20) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      "linalg.yield"(%8) : (f32) -> ()
    }) : (memref<4x8xf32>, memref<4x8xf32>) -> ()
    "linalg.matvec"(%arg0, %arg4, %arg5) <{operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg17: f32, %arg18: f32, %arg19: f32):
      %6 = "arith.mulf"(%arg17, %arg18) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %7 = "arith.addf"(%arg19, %6) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%7) : (f32) -> ()
    }) {linalg.memoized_indexing_maps = [#map3, #map4, #map5]} : (memref<4x8xf32>, memref<8xf32>, memref<4xf32>) -> ()
    "linalg.vecmat"(%arg4, %arg1, %arg5) <{operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg14: f32, %arg15: f32, %arg16: f32):
      %4 = "arith.mulf"(%arg14, %arg15) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %5 = "arith.addf"(%arg16, %4) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%5) : (f32) -> ()
    }) {linalg.memoized_indexing_maps = [#map4, #map6, #map5]} : (memref<8xf32>, memref<8x4xf32>, memref<4xf32>) -> ()
    "linalg.dot"(%arg4, %arg4, %arg7) <{operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg11: f32, %arg12: f32, %arg13: f32):
      %2 = "arith.mulf"(%arg11, %arg12) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %3 = "arith.addf"(%arg13, %2) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%3) : (f32) -> ()
    }) {linalg.memoized_indexing_maps = [#map7, #map7, #map8]} : (memref<8xf32>, memref<8xf32>, memref<f32>) -> ()
    "linalg.matmul"(%arg0, %arg3, %arg2) <{indexing_maps = [#map, #map9, #map2], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg8: f32, %arg9: f32, %arg10: f32):
      %0 = "arith.mulf"(%arg8, %arg9) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %1 = "arith.addf"(%arg10, %0) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%1) : (f32) -> ()
    }) : (memref<4x8xf32>, memref<4x8xf32>, memref<4x4xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
"builtin.module"() ({
  "func.func"() <{function_type = (memref<4x8xf16>, memref<8x4xf16>, memref<4x4xf32>, memref<4x8xi8>, memref<8x4xi8>, memref<4x4xi32>, f16) -> (), sym_name = "mixed"}> ({
  ^bb0(%arg0: memref<4x8xf16>, %arg1: memref<8x4xf16>, %arg2: memref<4x4xf32>, %arg3: memref<4x8xi8>, %arg4: memref<8x4xi8>, %arg5: memref<4x4xi32>, %arg6: f16):
    "linalg.matmul"(%arg0, %arg1, %arg2) <{indexing_maps = [#map, #map1, #map2], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg13: f16, %arg14: f16, %arg15: f32):
      %5 = "arith.extf"(%arg13) : (f16) -> f32
      %6 = "arith.extf"(%arg14) : (f16) -> f32
      %7 = "arith.mulf"(%5, %6) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %8 = "arith.addf"(%arg15, %7) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%8) : (f32) -> ()
    }) : (memref<4x8xf16>, memref<8x4xf16>, memref<4x4xf32>) -> ()
    "linalg.matmul"(%arg3, %arg4, %arg5) <{indexing_maps = [#map, #map1, #map2], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg10: i8, %arg11: i8, %arg12: i32):
      %1 = "arith.extsi"(%arg10) : (i8) -> i32
      %2 = "arith.extsi"(%arg11) : (i8) -> i32
      %3 = "arith.muli"(%1, %2) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      %4 = "arith.addi"(%arg12, %3) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      "linalg.yield"(%4) : (i32) -> ()
    }) : (memref<4x8xi8>, memref<8x4xi8>, memref<4x4xi32>) -> ()
    "linalg.add"(%arg5, %arg5, %arg5) <{operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg7: i32, %arg8: i32, %arg9: i32):
      %0 = "arith.addi"(%arg7, %arg8) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
      "linalg.yield"(%0) : (i32) -> ()
    }) : (memref<4x4xi32>, memref<4x4xi32>, memref<4x4xi32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<8x4xf32>, f32) -> tensor<4x4xf32>, sym_name = "tensors"}> ({
  ^bb0(%arg0: tensor<4x8xf32>, %arg1: tensor<8x4xf32>, %arg2: tensor<4x4xf32>, %arg3: tensor<4xf32>, %arg4: tensor<8x4xf32>, %arg5: f32):
    %0 = "linalg.fill"(%arg5, %arg2) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg26: f32, %arg27: f32):
      "linalg.yield"(%arg26) : (f32) -> ()
    }) : (f32, tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = "linalg.matmul"(%arg0, %arg1, %0) <{indexing_maps = [#map, #map1, #map2], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg23: f32, %arg24: f32, %arg25: f32):
      %16 = "arith.mulf"(%arg23, %arg24) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %17 = "arith.addf"(%arg25, %16) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%17) : (f32) -> ()
    }) : (tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = "linalg.map"(%1, %arg2) ({
    ^bb0(%arg21: f32, %arg22: f32):
      %15 = "math.exp"(%arg21) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      "linalg.yield"(%15) : (f32) -> ()
    }) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %3 = "linalg.map"(%1, %2, %arg2) ({
    ^bb0(%arg18: f32, %arg19: f32, %arg20: f32):
      %13 = "arith.mulf"(%arg18, %arg19) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %14 = "arith.addf"(%13, %arg19) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%14) : (f32) -> ()
    }) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %4 = "linalg.reduce"(%arg0, %arg3) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg16: f32, %arg17: f32):
      %12 = "arith.addf"(%arg17, %arg16) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%12) : (f32) -> ()
    }) : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4xf32>
    %5 = "linalg.reduce"(%arg0, %arg3) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg14: f32, %arg15: f32):
      %10 = "arith.mulf"(%arg14, %arg14) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %11 = "arith.addf"(%10, %arg15) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%11) : (f32) -> ()
    }) : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4xf32>
    %6 = "linalg.transpose"(%arg0, %arg4) <{permutation = array<i64: 1, 0>}> ({
    ^bb0(%arg12: f32, %arg13: f32):
      "linalg.yield"(%arg12) : (f32) -> ()
    }) : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %7 = "linalg.broadcast"(%arg3, %arg2) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg10: f32, %arg11: f32):
      "linalg.yield"(%arg10) : (f32) -> ()
    }) : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %8:2 = "linalg.reduce"(%arg0, %arg0, %arg3, %arg3) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32):
      "linalg.yield"(%arg6, %arg7) : (f32, f32) -> ()
    }) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %9 = "linalg.softmax"(%arg0, %arg0) <{dimension = 1 : i64}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    "func.return"(%3) : (tensor<4x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<4x8xf32>, memref<8x4xf32>, memref<4xf32>, memref<4x4xf32>) -> (), sym_name = "buffers"}> ({
  ^bb0(%arg0: memref<4x8xf32>, %arg1: memref<8x4xf32>, %arg2: memref<4xf32>, %arg3: memref<4x4xf32>):
    "linalg.transpose"(%arg0, %arg1) <{permutation = array<i64: 1, 0>}> ({
    ^bb0(%arg12: f32, %arg13: f32):
      "linalg.yield"(%arg12) : (f32) -> ()
    }) : (memref<4x8xf32>, memref<8x4xf32>) -> ()
    "linalg.broadcast"(%arg2, %arg3) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg10: f32, %arg11: f32):
      "linalg.yield"(%arg10) : (f32) -> ()
    }) : (memref<4xf32>, memref<4x4xf32>) -> ()
    "linalg.map"(%arg3, %arg3, %arg3) ({
    ^bb0(%arg7: f32, %arg8: f32, %arg9: f32):
      %3 = "arith.addf"(%arg7, %arg8) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%3) : (f32) -> ()
    }) : (memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>) -> ()
    "linalg.reduce"(%arg0, %arg2) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg5: f32, %arg6: f32):
      %2 = "arith.maximumf"(%arg6, %arg5) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%2) : (f32) -> ()
    }) : (memref<4x8xf32>, memref<4xf32>) -> ()
    "linalg.map"(%arg3) ({
    ^bb0(%arg4: f32):
      %0 = "linalg.index"() <{dim = 0 : i64}> : () -> index
      %1 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
      "linalg.yield"(%1) : (f32) -> ()
    }) : (memref<4x4xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4, d2 + d5, d6)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4, d2 + d5, d3)>
#map4 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>
#map5 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#map6 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d3)>
"builtin.module"() ({
  "func.func"() <{function_type = (memref<1x16x16x4xf32>, memref<3x3x4x8xf32>, memref<1x14x14x8xf32>, memref<1x15x15x4xf32>, memref<2x2xf32>, memref<3x3x4xf32>, memref<1x14x14x4xf32>) -> (), sym_name = "convolutions"}> ({
  ^bb0(%arg0: memref<1x16x16x4xf32>, %arg1: memref<3x3x4x8xf32>, %arg2: memref<1x14x14x8xf32>, %arg3: memref<1x15x15x4xf32>, %arg4: memref<2x2xf32>, %arg5: memref<3x3x4xf32>, %arg6: memref<1x14x14x4xf32>):
    "linalg.conv_2d_nhwc_hwcf"(%arg0, %arg1, %arg2) <{dilations = dense<1> : tensor<2xi64>, operandSegmentSizes = array<i32: 2, 1>, strides = dense<1> : tensor<2xi64>}> ({
    ^bb0(%arg16: f32, %arg17: f32, %arg18: f32):
      %4 = "arith.mulf"(%arg16, %arg17) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %5 = "arith.addf"(%arg18, %4) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%5) : (f32) -> ()
    }) {linalg.memoized_indexing_maps = [#map, #map1, #map2]} : (memref<1x16x16x4xf32>, memref<3x3x4x8xf32>, memref<1x14x14x8xf32>) -> ()
    "linalg.pooling_nhwc_max"(%arg0, %arg4, %arg3) <{dilations = dense<1> : vector<2xi64>, operandSegmentSizes = array<i32: 2, 1>, strides = dense<1> : vector<2xi64>}> ({
    ^bb0(%arg13: f32, %arg14: f32, %arg15: f32):
      %3 = "arith.maximumf"(%arg15, %arg13) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%3) : (f32) -> ()
    }) {linalg.memoized_indexing_maps = [#map3, #map4, #map5]} : (memref<1x16x16x4xf32>, memref<2x2xf32>, memref<1x15x15x4xf32>) -> ()
    "linalg.pooling_nhwc_sum"(%arg0, %arg4, %arg3) <{operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg10: f32, %arg11: f32, %arg12: f32):
      %2 = "arith.addf"(%arg12, %arg10) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%2) : (f32) -> ()
    }) {linalg.memoized_indexing_maps = [#map3, #map4, #map5]} : (memref<1x16x16x4xf32>, memref<2x2xf32>, memref<1x15x15x4xf32>) -> ()
    "linalg.depthwise_conv_2d_nhwc_hwc"(%arg0, %arg5, %arg6) <{operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg7: f32, %arg8: f32, %arg9: f32):
      %0 = "arith.mulf"(%arg7, %arg8) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %1 = "arith.addf"(%arg9, %0) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%1) : (f32) -> ()
    }) {linalg.memoized_indexing_maps = [#map3, #map6, #map5]} : (memref<1x16x16x4xf32>, memref<3x3x4xf32>, memref<1x14x14x4xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
"builtin.module"() ({
  "func.func"() <{function_type = (memref<2x4x8xf32>, memref<2x8x4xf32>, memref<2x4x4xf32>) -> (), sym_name = "batches"}> ({
  ^bb0(%arg0: memref<2x4x8xf32>, %arg1: memref<2x8x4xf32>, %arg2: memref<2x4x4xf32>):
    "linalg.batch_matmul"(%arg0, %arg1, %arg2) <{indexing_maps = [#map, #map1, #map2], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg3: f32, %arg4: f32, %arg5: f32):
      %0 = "arith.mulf"(%arg3, %arg4) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %1 = "arith.addf"(%arg5, %0) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%1) : (f32) -> ()
    }) : (memref<2x4x8xf32>, memref<2x8x4xf32>, memref<2x4x4xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<128x256xf32>, tensor<16x8x8x32xf32>, f32, index, tensor<16x8x?x32xf32>) -> (), sym_name = "packs"}> ({
  ^bb0(%arg0: tensor<128x256xf32>, %arg1: tensor<16x8x8x32xf32>, %arg2: f32, %arg3: index, %arg4: tensor<16x8x?x32xf32>):
    %0 = "linalg.pack"(%arg0, %arg1) <{inner_dims_pos = array<i64: 0, 1>, operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_inner_tiles = array<i64: 8, 32>}> : (tensor<128x256xf32>, tensor<16x8x8x32xf32>) -> tensor<16x8x8x32xf32>
    %1 = "linalg.pack"(%arg0, %arg4, %arg2, %arg3) <{inner_dims_pos = array<i64: 0, 1>, operandSegmentSizes = array<i32: 1, 1, 1, 1>, outer_dims_perm = array<i64: 0, 1>, static_inner_tiles = array<i64: -9223372036854775808, 32>}> : (tensor<128x256xf32>, tensor<16x8x?x32xf32>, f32, index) -> tensor<16x8x?x32xf32>
    %2 = "linalg.unpack"(%arg4, %arg0, %arg3) <{inner_dims_pos = array<i64: 0, 1>, static_inner_tiles = array<i64: -9223372036854775808, 32>}> : (tensor<16x8x?x32xf32>, tensor<128x256xf32>, index) -> tensor<128x256xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()


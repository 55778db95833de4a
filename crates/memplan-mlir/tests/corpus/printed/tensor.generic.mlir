"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4x?xf32>, index, f32, tensor<2xindex>) -> (), sym_name = "values"}> ({
  ^bb0(%arg0: tensor<4x?xf32>, %arg1: index, %arg2: f32, %arg3: tensor<2xindex>):
    %0 = "tensor.extract"(%arg0, %arg1, %arg1) : (tensor<4x?xf32>, index, index) -> f32
    %1 = "tensor.insert"(%arg2, %arg0, %arg1, %arg1) : (f32, tensor<4x?xf32>, index, index) -> tensor<4x?xf32>
    %2 = "tensor.dim"(%arg0, %arg1) : (tensor<4x?xf32>, index) -> index
    %3 = "tensor.empty"(%arg1) : (index) -> tensor<4x?xf32>
    %4 = "tensor.empty"() : () -> tensor<4xf32>
    %5 = "tensor.from_elements"(%arg2, %arg2) : (f32, f32) -> tensor<2xf32>
    %6 = "tensor.splat"(%arg2, %arg1) : (f32, index) -> tensor<4x?xf32>
    %7 = "tensor.cast"(%arg0) : (tensor<4x?xf32>) -> tensor<?x?xf32>
    %8 = "tensor.reshape"(%arg0, %arg3) : (tensor<4x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
    %9 = "tensor.rank"(%arg0) : (tensor<4x?xf32>) -> index
    %10 = "tensor.bitcast"(%4) : (tensor<4xf32>) -> tensor<4xi32>
    %11 = "tensor.cast"(%arg0) : (tensor<4x?xf32>) -> tensor<*xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<16x16xf32>, index, tensor<4x4xf32>) -> (), sym_name = "slices"}> ({
  ^bb0(%arg0: tensor<16x16xf32>, %arg1: index, %arg2: tensor<4x4xf32>):
    %0 = "tensor.extract_slice"(%arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808, 0>, static_sizes = array<i64: 4, 4>, static_strides = array<i64: 1, 1>}> : (tensor<16x16xf32>, index) -> tensor<4x4xf32>
    %1 = "tensor.insert_slice"(%arg2, %arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808, 0>, static_sizes = array<i64: 4, 4>, static_strides = array<i64: 1, 1>}> : (tensor<4x4xf32>, tensor<16x16xf32>, index) -> tensor<16x16xf32>
    %2 = "tensor.expand_shape"(%arg0) <{reassociation = [[0, 1], [2]], static_output_shape = array<i64: 4, 4, 16>}> : (tensor<16x16xf32>) -> tensor<4x4x16xf32>
    %3 = "tensor.collapse_shape"(%arg0) <{reassociation = [[0, 1]]}> : (tensor<16x16xf32>) -> tensor<256xf32>
    %4 = "tensor.concat"(%arg2, %arg2) <{dim = 0 : i64}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %5 = "tensor.extract_slice"(%arg0, %arg1, %arg1, %arg1, %arg1) <{operandSegmentSizes = array<i32: 1, 2, 1, 1>, static_offsets = array<i64: -9223372036854775808, -9223372036854775808>, static_sizes = array<i64: -9223372036854775808, 4>, static_strides = array<i64: -9223372036854775808, 1>}> : (tensor<16x16xf32>, index, index, index, index) -> tensor<?x4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4x4xf32>, index, f32, tensor<3x1xindex>) -> (), sym_name = "bodies"}> ({
  ^bb0(%arg0: tensor<4x4xf32>, %arg1: index, %arg2: f32, %arg3: tensor<3x1xindex>):
    %0 = "tensor.generate"(%arg1) ({
    ^bb0(%arg8: index, %arg9: index):
      %4 = "tensor.extract"(%arg0, %arg8, %arg9) : (tensor<4x4xf32>, index, index) -> f32
      "tensor.yield"(%4) : (f32) -> ()
    }) : (index) -> tensor<?x4xf32>
    %1 = "tensor.pad"(%arg0, %arg1, %arg1) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_high = array<i64: 1, -9223372036854775808>, static_low = array<i64: 0, -9223372036854775808>}> ({
    ^bb0(%arg6: index, %arg7: index):
      "tensor.yield"(%arg2) : (f32) -> ()
    }) : (tensor<4x4xf32>, index, index) -> tensor<5x?xf32>
    %2 = "tensor.pad"(%arg0) <{nofold, operandSegmentSizes = array<i32: 1, 0, 0>, static_high = array<i64: 1, 1>, static_low = array<i64: 0, 0>}> ({
    ^bb0(%arg4: index, %arg5: index):
      "tensor.yield"(%arg2) : (f32) -> ()
    }) : (tensor<4x4xf32>) -> tensor<5x5xf32>
    %3 = "tensor.gather"(%arg0, %arg3) <{gather_dims = array<i64: 0>}> : (tensor<4x4xf32>, tensor<3x1xindex>) -> tensor<3x1x4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32, 4096 : i64>, tensor<2xf32, {acme.place = [1, 2]}>, tensor<2xf32, #acme.e<1, [2]>>) -> tensor<4xf32, 4096 : i64>, sym_name = "encodings"}> ({
  ^bb0(%arg0: tensor<4xf32, 4096 : i64>, %arg1: tensor<2xf32, {acme.place = [1, 2]}>, %arg2: tensor<2xf32, #acme.e<1, [2]>>):
    "func.return"(%arg0) : (tensor<4xf32, 4096 : i64>) -> ()
  }) : () -> ()
}) : () -> ()


"builtin.module"() ({
  "func.func"() <{function_type = (memref<4xf32>, tensor<4xf32>) -> tensor<4xf32>, sym_name = "borders"}> ({
  ^bb0(%arg0: memref<4xf32>, %arg1: tensor<4xf32>):
    %0 = "bufferization.to_tensor"(%arg0) <{restrict, writable}> : (memref<4xf32>) -> tensor<4xf32>
    %1 = "bufferization.to_buffer"(%arg1) : (tensor<4xf32>) -> memref<4xf32>
    %2 = "bufferization.to_buffer"(%arg1) <{read_only}> : (tensor<4xf32>) -> memref<4xf32, strided<[?], offset: ?>>
    %3 = "bufferization.clone"(%arg0) : (memref<4xf32>) -> memref<4xf32>
    "bufferization.materialize_in_destination"(%arg1, %arg0) <{writable}> : (tensor<4xf32>, memref<4xf32>) -> ()
    %4 = "bufferization.materialize_in_destination"(%arg1, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "func.return"(%0) : (tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (index, tensor<?xf32>) -> (), sym_name = "tensors"}> ({
  ^bb0(%arg0: index, %arg1: tensor<?xf32>):
    %0 = "bufferization.alloc_tensor"(%arg0) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (index) -> tensor<?xf32>
    %1 = "bufferization.alloc_tensor"(%arg1) <{operandSegmentSizes = array<i32: 0, 1, 0>}> : (tensor<?xf32>) -> tensor<?xf32>
    %2 = "bufferization.alloc_tensor"() <{memory_space = 1 : i64, operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> tensor<4xf32>
    %3 = "bufferization.alloc_tensor"(%arg0, %arg0) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (index, index) -> tensor<?xf32>
    "bufferization.dealloc_tensor"(%0) : (tensor<?xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<4xf32>, memref<f32>, i1) -> (), sym_name = "deallocs"}> ({
  ^bb0(%arg0: memref<4xf32>, %arg1: memref<f32>, %arg2: i1):
    "bufferization.dealloc"(%arg0, %arg1, %arg2, %arg2) <{operandSegmentSizes = array<i32: 2, 2, 0>}> : (memref<4xf32>, memref<f32>, i1, i1) -> ()
    %0:2 = "bufferization.dealloc"(%arg0, %arg2, %arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1, 2>}> : (memref<4xf32>, i1, memref<4xf32>, memref<f32>) -> (i1, i1)
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()


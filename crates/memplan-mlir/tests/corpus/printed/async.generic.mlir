"builtin.module"() ({
  "func.func"() <{function_type = (memref<4xf32>, f32) -> f32, sym_name = "executes"}> ({
  ^bb0(%arg0: memref<4xf32>, %arg1: f32):
    %0 = "async.execute"() <{operandSegmentSizes = array<i32: 0, 0>}> ({
      "acme.use"(%arg0) : (memref<4xf32>) -> ()
      "async.yield"() : () -> ()
    }) : () -> !async.token
    %1:2 = "async.execute"() <{operandSegmentSizes = array<i32: 0, 0>}> ({
      "async.yield"(%arg1) : (f32) -> ()
    }) : () -> (!async.token, !async.value<f32>)
    %2:3 = "async.execute"(%0, %1#0, %1#1) <{operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg2: f32):
      %5 = "arith.addf"(%arg2, %arg2) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "async.yield"(%5, %arg0) : (f32, memref<4xf32>) -> ()
    }) : (!async.token, !async.token, !async.value<f32>) -> (!async.token, !async.value<f32>, !async.value<memref<4xf32>>)
    "async.await"(%0) : (!async.token) -> ()
    %3 = "async.await"(%2#1) : (!async.value<f32>) -> f32
    %4 = "async.await"(%2#2) : (!async.value<memref<4xf32>>) -> memref<4xf32>
    "func.return"(%3) : (f32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (index) -> (), sym_name = "groups"}> ({
  ^bb0(%arg0: index):
    %0 = "async.create_group"(%arg0) : (index) -> !async.group
    %1 = "async.execute"() <{operandSegmentSizes = array<i32: 0, 0>}> ({
      "async.yield"() : () -> ()
    }) : () -> !async.token
    %2 = "async.add_to_group"(%1, %0) : (!async.token, !async.group) -> index
    "async.await_all"(%0) : (!async.group) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "async.func"() <{function_type = (f32, memref<4xf32>) -> !async.value<f32>, sym_name = "coroutine"}> ({
  ^bb0(%arg2: f32, %arg3: memref<4xf32>):
    "async.return"(%arg2) : (f32) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (f32, memref<4xf32>) -> f32, sym_name = "calls"}> ({
  ^bb0(%arg0: f32, %arg1: memref<4xf32>):
    %0 = "async.call"(%arg0, %arg1) <{callee = @coroutine}> : (f32, memref<4xf32>) -> !async.value<f32>
    %1 = "async.await"(%0) : (!async.value<f32>) -> f32
    "func.return"(%1) : (f32) -> ()
  }) : () -> ()
}) : () -> ()


"builtin.module"() ({
  "func.func"() <{function_type = (index, index, index, memref<?xf32>, i32) -> f32, sym_name = "loops"}> ({
  ^bb0(%arg0: index, %arg1: index, %arg2: index, %arg3: memref<?xf32>, %arg4: i32):
    "scf.for"(%arg0, %arg1, %arg2) ({
    ^bb0(%arg14: index):
      %6 = "memref.load"(%arg3, %arg14) : (memref<?xf32>, index) -> f32
      "memref.store"(%6, %arg3, %arg14) : (f32, memref<?xf32>, index) -> ()
      "scf.yield"() : () -> ()
    }) : (index, index, index) -> ()
    "scf.for"(%arg4, %arg4, %arg4) ({
    ^bb0(%arg13: i32):
      "acme.use"(%arg13) : (i32) -> ()
      "scf.yield"() : () -> ()
    }) : (i32, i32, i32) -> ()
    %0 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
    %1 = "scf.for"(%arg0, %arg1, %arg2, %0) ({
    ^bb0(%arg11: index, %arg12: f32):
      %4 = "memref.load"(%arg3, %arg11) : (memref<?xf32>, index) -> f32
      %5 = "arith.addf"(%arg12, %4) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "scf.yield"(%5) : (f32) -> ()
    }) : (index, index, index, f32) -> f32
    %2:2 = "scf.for"(%arg0, %arg1, %arg2, %arg3, %arg3) ({
    ^bb0(%arg8: index, %arg9: memref<?xf32>, %arg10: memref<?xf32>):
      "scf.yield"(%arg10, %arg9) : (memref<?xf32>, memref<?xf32>) -> ()
    }) : (index, index, index, memref<?xf32>, memref<?xf32>) -> (memref<?xf32>, memref<?xf32>)
    "scf.for"(%arg0, %arg1, %arg2) <{unsignedCmp}> ({
    ^bb0(%arg7: index):
      "scf.yield"() : () -> ()
    }) {acme.unroll = 4 : i32} : (index, index, index) -> ()
    %3 = "scf.for"(%arg4, %arg4, %arg4, %arg4) ({
    ^bb0(%arg5: i32, %arg6: i32):
      "scf.yield"(%arg5) : (i32) -> ()
    }) : (i32, i32, i32, i32) -> i32
    "func.return"(%1) : (f32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (index, memref<4xf32>) -> (), sym_name = "whiles"}> ({
  ^bb0(%arg0: index, %arg1: memref<4xf32>):
    %0 = "scf.while"(%arg0) ({
    ^bb0(%arg7: index):
      %5 = "acme.test"(%arg7) : (index) -> i1
      "scf.condition"(%5, %arg7) : (i1, index) -> ()
    }, {
    ^bb0(%arg6: index):
      %4 = "arith.addi"(%arg6, %arg6) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      "scf.yield"(%4) : (index) -> ()
    }) : (index) -> index
    "scf.while"() ({
      %3 = "acme.test"() : () -> i1
      "scf.condition"(%3) : (i1) -> ()
    }, {
      "scf.yield"() : () -> ()
    }) {acme.tag = 1 : i64} : () -> ()
    %1:2 = "scf.while"(%arg0, %arg1) ({
    ^bb0(%arg4: index, %arg5: memref<4xf32>):
      %2 = "acme.test"(%arg4) : (index) -> i1
      "scf.condition"(%2, %arg5, %arg4) : (i1, memref<4xf32>, index) -> ()
    }, {
    ^bb0(%arg2: memref<4xf32>, %arg3: index):
      "scf.yield"(%arg3, %arg2) : (index, memref<4xf32>) -> ()
    }) : (index, memref<4xf32>) -> (memref<4xf32>, index)
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i1, memref<4xf32>, memref<4xf32>) -> memref<4xf32>, sym_name = "ifs"}> ({
  ^bb0(%arg0: i1, %arg1: memref<4xf32>, %arg2: memref<4xf32>):
    "scf.if"(%arg0) ({
      "acme.use"(%arg1) : (memref<4xf32>) -> ()
      "scf.yield"() : () -> ()
    }, {
    }) : (i1) -> ()
    "scf.if"(%arg0) ({
      "scf.yield"() : () -> ()
    }, {
      "acme.use"(%arg1) : (memref<4xf32>) -> ()
      "scf.yield"() : () -> ()
    }) {acme.likely} : (i1) -> ()
    %0 = "scf.if"(%arg0) ({
      "scf.yield"(%arg1) : (memref<4xf32>) -> ()
    }, {
      "scf.yield"(%arg2) : (memref<4xf32>) -> ()
    }) : (i1) -> memref<4xf32>
    %1:2 = "scf.if"(%arg0) ({
      "scf.yield"(%arg1, %arg0) : (memref<4xf32>, i1) -> ()
    }, {
      "scf.yield"(%arg2, %arg0) : (memref<4xf32>, i1) -> ()
    }) : (i1) -> (memref<4xf32>, i1)
    "func.return"(%0) : (memref<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (index) -> i32, sym_name = "switches"}> ({
  ^bb0(%arg0: index):
    %0 = "scf.index_switch"(%arg0) <{cases = array<i64: 2, 5>}> ({
      %3 = "arith.constant"() <{value = 30 : i32}> : () -> i32
      "scf.yield"(%3) : (i32) -> ()
    }, {
      %2 = "arith.constant"() <{value = 10 : i32}> : () -> i32
      "scf.yield"(%2) : (i32) -> ()
    }, {
      %1 = "arith.constant"() <{value = 20 : i32}> : () -> i32
      "scf.yield"(%1) : (i32) -> ()
    }) : (index) -> i32
    "scf.index_switch"(%arg0) <{cases = array<i64>}> ({
      "scf.yield"() : () -> ()
    }) : (index) -> ()
    "func.return"(%0) : (i32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i1) -> i32, sym_name = "executes"}> ({
  ^bb0(%arg0: i1):
    %0 = "scf.execute_region"() ({
      "cf.cond_br"(%arg0)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
    ^bb1:  // pred: ^bb0
      %1 = "arith.constant"() <{value = 1 : i32}> : () -> i32
      "cf.br"(%1)[^bb3] : (i32) -> ()
    ^bb2:  // pred: ^bb0
      %2 = "arith.constant"() <{value = 2 : i32}> : () -> i32
      "cf.br"(%2)[^bb3] : (i32) -> ()
    ^bb3(%3: i32):  // 2 preds: ^bb1, ^bb2
      "scf.yield"(%3) : (i32) -> ()
    }) : () -> i32
    "scf.execute_region"() ({
      "acme.thing"() : () -> ()
      "scf.yield"() : () -> ()
    }) : () -> ()
    "func.return"(%0) : (i32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (index, index, index, memref<?x?xf32>, f32) -> (), sym_name = "parallels"}> ({
  ^bb0(%arg0: index, %arg1: index, %arg2: index, %arg3: memref<?x?xf32>, %arg4: f32):
    "scf.parallel"(%arg0, %arg0, %arg1, %arg1, %arg2, %arg2) <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
    ^bb0(%arg13: index, %arg14: index):
      %7 = "memref.load"(%arg3, %arg13, %arg14) : (memref<?x?xf32>, index, index) -> f32
      "memref.store"(%7, %arg3, %arg14, %arg13) : (f32, memref<?x?xf32>, index, index) -> ()
      "scf.reduce"() : () -> ()
    }) : (index, index, index, index, index, index) -> ()
    %0 = "scf.parallel"(%arg0, %arg1, %arg2, %arg4) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}> ({
    ^bb0(%arg10: index):
      %5 = "memref.load"(%arg3, %arg10, %arg10) : (memref<?x?xf32>, index, index) -> f32
      "scf.reduce"(%5) ({
      ^bb0(%arg11: f32, %arg12: f32):
        %6 = "arith.addf"(%arg11, %arg12) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
        "scf.reduce.return"(%6) : (f32) -> ()
      }) : (f32) -> ()
    }) : (index, index, index, f32) -> f32
    %1:2 = "scf.parallel"(%arg0, %arg1, %arg2, %arg4, %arg4) <{operandSegmentSizes = array<i32: 1, 1, 1, 2>}> ({
    ^bb0(%arg5: index):
      %2 = "memref.load"(%arg3, %arg5, %arg5) : (memref<?x?xf32>, index, index) -> f32
      "scf.reduce"(%2, %2) ({
      ^bb0(%arg8: f32, %arg9: f32):
        %4 = "arith.addf"(%arg8, %arg9) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
        "scf.reduce.return"(%4) : (f32) -> ()
      }, {
      ^bb0(%arg6: f32, %arg7: f32):
        %3 = "arith.mulf"(%arg6, %arg7) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
        "scf.reduce.return"(%3) : (f32) -> ()
      }) : (f32, f32) -> ()
    }) : (index, index, index, f32, f32) -> (f32, f32)
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (index, memref<64xf32>, tensor<64xf32>) -> tensor<64xf32>, sym_name = "foralls"}> ({
  ^bb0(%arg0: index, %arg1: memref<64xf32>, %arg2: tensor<64xf32>):
    "scf.forall"(%arg0) <{operandSegmentSizes = array<i32: 0, 1, 0, 0>, staticLowerBound = array<i64: 0, 0>, staticStep = array<i64: 1, 1>, staticUpperBound = array<i64: 4, -9223372036854775808>}> ({
    ^bb0(%arg8: index, %arg9: index):
      %4 = "memref.load"(%arg1, %arg9) : (memref<64xf32>, index) -> f32
      "scf.forall.in_parallel"() ({
      ^bb0:
      }) : () -> ()
    }) : (index) -> ()
    %0 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
    "scf.forall"() <{mapping = [#gpu.block<x>], operandSegmentSizes = array<i32: 0, 0, 0, 0>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 2>, staticUpperBound = array<i64: 16>}> ({
    ^bb0(%arg7: index):
      %3 = "memref.load"(%arg1, %arg7) : (memref<64xf32>, index) -> f32
      "scf.forall.in_parallel"() ({
      ^bb0:
      }) : () -> ()
    }) : () -> ()
    "scf.forall"(%arg0, %arg0, %arg0) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>, staticLowerBound = array<i64: -9223372036854775808, 0>, staticStep = array<i64: -9223372036854775808, 1>, staticUpperBound = array<i64: -9223372036854775808, 16>}> ({
    ^bb0(%arg5: index, %arg6: index):
      "scf.forall.in_parallel"() ({
      ^bb0:
      }) : () -> ()
    }) : (index, index, index) -> ()
    %1 = "scf.forall"(%arg0, %arg2) <{operandSegmentSizes = array<i32: 0, 1, 0, 1>, staticLowerBound = array<i64: 0>, staticStep = array<i64: 1>, staticUpperBound = array<i64: -9223372036854775808>}> ({
    ^bb0(%arg3: index, %arg4: tensor<64xf32>):
      %2 = "tensor.extract_slice"(%arg4, %arg3) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 1>, static_strides = array<i64: 1>}> : (tensor<64xf32>, index) -> tensor<1xf32>
      "scf.forall.in_parallel"() ({
        "tensor.parallel_insert_slice"(%2, %arg4, %arg3) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 1>, static_strides = array<i64: 1>}> : (tensor<1xf32>, tensor<64xf32>, index) -> ()
      }) : () -> ()
    }) : (index, tensor<64xf32>) -> tensor<64xf32>
    "func.return"(%1) : (tensor<64xf32>) -> ()
  }) : () -> ()
}) : () -> ()


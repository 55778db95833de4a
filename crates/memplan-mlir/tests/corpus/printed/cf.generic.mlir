"builtin.module"() ({
  "func.func"() <{function_type = (i1, memref<4xf32>, memref<4xf32>) -> memref<4xf32>, sym_name = "branches"}> ({
  ^bb0(%arg0: i1, %arg1: memref<4xf32>, %arg2: memref<4xf32>):
    "cf.cond_br"(%arg0, %arg1, %arg2)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 2, 0>}> : (i1, memref<4xf32>, memref<4xf32>) -> ()
  ^bb1(%0: memref<4xf32>, %1: memref<4xf32>):  // pred: ^bb0
    "cf.br"(%0)[^bb3] : (memref<4xf32>) -> ()
  ^bb2:  // pred: ^bb0
    "cf.br"(%arg2)[^bb3] : (memref<4xf32>) -> ()
  ^bb3(%2: memref<4xf32>):  // 2 preds: ^bb1, ^bb2
    "func.return"(%2) : (memref<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i1) -> (), sym_name = "weights"}> ({
  ^bb0(%arg0: i1):
    "cf.cond_br"(%arg0)[^bb1, ^bb1] <{branch_weights = array<i32: 10, 90>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
  ^bb1:  // 2 preds: ^bb0, ^bb0
    "cf.assert"(%arg0) <{msg = "must hold ^bb2: \22quoted\22"}> : (i1) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, i32, i32) -> (), sym_name = "switch"}> ({
  ^bb0(%arg0: i32, %arg1: i32, %arg2: i32):
    "cf.switch"(%arg0, %arg1, %arg2)[^bb1, ^bb1, ^bb2] <{case_operand_segments = array<i32: 1, 0>, case_values = dense<[42, 43]> : vector<2xi32>, operandSegmentSizes = array<i32: 1, 1, 1>}> : (i32, i32, i32) -> ()
  ^bb1(%0: i32):  // 2 preds: ^bb0, ^bb0
    "cf.br"()[^bb2] : () -> ()
  ^bb2:  // 2 preds: ^bb0, ^bb1
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (index) -> (), sym_name = "loop"}> ({
  ^bb0(%arg0: index):
    %0 = "arith.constant"() <{value = 0 : index}> : () -> index
    "cf.br"(%0)[^bb1] : (index) -> ()
  ^bb1(%1: index):  // 2 preds: ^bb0, ^bb3
    %2 = "arith.cmpi"(%1, %arg0) <{predicate = 2 : i64}> : (index, index) -> i1
    "cf.cond_br"(%2)[^bb3, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
  ^bb2:  // pred: ^bb1
    "acme.use"(%1) : (index) -> ()
    "func.return"() : () -> ()
  ^bb3:  // pred: ^bb1
    %3 = "arith.addi"(%1, %arg0) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
    "cf.br"(%3)[^bb1] : (index) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i1) -> (), sym_name = "forward"}> ({
  ^bb0(%arg0: i1):
    "cf.br"()[^bb2] : () -> ()
  ^bb1:  // pred: ^bb2
    "acme.use"(%0) : (i32) -> ()
    "func.return"() : () -> ()
  ^bb2:  // pred: ^bb0
    %0 = "acme.make"() : () -> i32
    "cf.br"()[^bb1] : () -> ()
  }) : () -> ()
}) : () -> ()


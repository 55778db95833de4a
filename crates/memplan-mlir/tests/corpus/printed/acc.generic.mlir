"builtin.module"() ({
  "func.func"() <{function_type = (memref<16xi32>) -> (), sym_name = "use", sym_visibility = "private"}> ({
  }) : () -> ()
  "func.func"() <{function_type = (memref<16xi32>, i32) -> (), sym_name = "regions"}> ({
  ^bb0(%arg0: memref<16xi32>, %arg1: i32):
    "acc.parallel"() <{asyncOnly = [#acc.device_type<none>], operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({
      "func.call"(%arg0) <{callee = @use}> : (memref<16xi32>) -> ()
      "acc.yield"() : () -> ()
    }) : () -> ()
    "acc.kernels"(%arg1) <{asyncOperandsDeviceType = [#acc.device_type<none>], operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({
      "acc.terminator"() : () -> ()
    }) : (i32) -> ()
    "acc.serial"() <{operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0, 0>}> ({
      "acc.yield"() : () -> ()
    }) : () -> ()
    "acc.wait"() <{operandSegmentSizes = array<i32: 0, 0, 0, 0>}> : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<16xi32>) -> (), sym_name = "data"}> ({
  ^bb0(%arg0: memref<16xi32>):
    %0 = "acc.copyin"(%arg0) <{dataClause = #acc<data_clause acc_copyin>, implicit = false, modifiers = #acc<data_clause_modifier none>, operandSegmentSizes = array<i32: 1, 0, 0, 0>, structured = true, varType = i32}> : (memref<16xi32>) -> memref<16xi32>
    "acc.data"(%0) <{operandSegmentSizes = array<i32: 0, 0, 0, 1>}> ({
      "acc.terminator"() : () -> ()
    }) : (memref<16xi32>) -> ()
    "acc.copyout"(%0, %arg0) <{dataClause = #acc<data_clause acc_copyout>, implicit = false, modifiers = #acc<data_clause_modifier none>, operandSegmentSizes = array<i32: 1, 1, 0, 0>, structured = true, varType = i32}> : (memref<16xi32>, memref<16xi32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()


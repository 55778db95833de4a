"builtin.module"() ({
  "func.func"() <{function_type = (memref<16xi32>) -> (), sym_name = "use", sym_visibility = "private"}> ({
  }) : () -> ()
  "func.func"() <{function_type = (index, index, index, i32, memref<16xi32>) -> (), sym_name = "teams"}> ({
  ^bb0(%arg0: index, %arg1: index, %arg2: index, %arg3: i32, %arg4: memref<16xi32>):
    "omp.parallel"(%arg3) <{operandSegmentSizes = array<i32: 0, 0, 0, 1, 0, 0>}> ({
      "omp.wsloop"() <{nowait, operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0>}> ({
        "omp.loop_nest"(%arg0, %arg0, %arg1, %arg1, %arg2, %arg2) ({
        ^bb0(%arg5: index, %arg6: index):
          %0 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<16xi32>
          "func.call"(%0) <{callee = @use}> : (memref<16xi32>) -> ()
          "omp.yield"() : () -> ()
        }) : (index, index, index, index, index, index) -> ()
      }) : () -> ()
      "omp.sections"() <{operandSegmentSizes = array<i32: 0, 0, 0, 0>}> ({
        "omp.section"() ({
          "omp.terminator"() : () -> ()
        }) : () -> ()
        "omp.section"() ({
          "func.call"(%arg4) <{callee = @use}> : (memref<16xi32>) -> ()
          "omp.terminator"() : () -> ()
        }) : () -> ()
        "omp.terminator"() : () -> ()
      }) : () -> ()
      "omp.single"() <{nowait, operandSegmentSizes = array<i32: 0, 0, 0, 0>}> ({
        "func.call"(%arg4) <{callee = @use}> : (memref<16xi32>) -> ()
        "omp.terminator"() : () -> ()
      }) : () -> ()
      "omp.master"() ({
        "omp.terminator"() : () -> ()
      }) : () -> ()
      "omp.masked"() ({
        "omp.terminator"() : () -> ()
      }) : () -> ()
      "omp.critical"() ({
        "omp.terminator"() : () -> ()
      }) : () -> ()
      "omp.barrier"() : () -> ()
      "omp.terminator"() : () -> ()
    }) : (i32) -> ()
    "omp.teams"() <{operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0, 0>}> ({
      "omp.terminator"() : () -> ()
    }) : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<16xi32>) -> (), sym_name = "use", sym_visibility = "private"}> ({
  }) : () -> ()
  "func.func"() <{function_type = (index, index, index, memref<16xi32>) -> (), sym_name = "tasks"}> ({
  ^bb0(%arg0: index, %arg1: index, %arg2: index, %arg3: memref<16xi32>):
    "omp.task"() <{operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({
      "func.call"(%arg3) <{callee = @use}> : (memref<16xi32>) -> ()
      "omp.terminator"() : () -> ()
    }) : () -> ()
    "omp.taskwait"() : () -> ()
    "omp.taskgroup"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> ({
      "omp.taskloop"() <{operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({
        "omp.loop_nest"(%arg0, %arg1, %arg2) ({
        ^bb0(%arg5: index):
          "func.call"(%arg3) <{callee = @use}> : (memref<16xi32>) -> ()
          "omp.yield"() : () -> ()
        }) : (index, index, index) -> ()
      }) : () -> ()
      "omp.taskloop"() <{nogroup, operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({
        "omp.loop_nest"(%arg0, %arg1, %arg2) ({
        ^bb0(%arg4: index):
          "func.call"(%arg3) <{callee = @use}> : (memref<16xi32>) -> ()
          "omp.yield"() : () -> ()
        }) : (index, index, index) -> ()
      }) : () -> ()
      "omp.terminator"() : () -> ()
    }) : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<16xi32>) -> (), sym_name = "use", sym_visibility = "private"}> ({
  }) : () -> ()
  "func.func"() <{function_type = (memref<16xi32>) -> (), sym_name = "devices"}> ({
  ^bb0(%arg0: memref<16xi32>):
    %0 = "omp.map.info"(%arg0) <{map_capture_type = #omp<variable_capture_kind(ByRef)>, map_type = #omp<clause_map_flags to|from>, operandSegmentSizes = array<i32: 1, 0, 0, 0>, partial_map = false, var_type = tensor<16xi32>}> : (memref<16xi32>) -> memref<16xi32>
    "omp.target"() <{nowait, operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({
      "omp.terminator"() : () -> ()
    }) : () -> ()
    "omp.target"() <{operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({
      "omp.terminator"() : () -> ()
    }) : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()


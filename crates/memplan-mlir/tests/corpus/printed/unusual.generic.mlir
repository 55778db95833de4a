"builtin.module"() ({
  "func.func"() <{function_type = (index, memref<?x16xf32>, memref<*xf32>, memref<2xindex>, f32) -> (), sym_name = "mem"}> ({
  ^bb0(%arg0: index, %arg1: memref<?x16xf32>, %arg2: memref<*xf32>, %arg3: memref<2xindex>, %arg4: f32):
    %0 = "memref.alloca_scope"() ({
      %1 = "memref.alloca"(%arg0) <{operandSegmentSizes = array<i32: 1, 0>}> : (index) -> memref<?xf32>
      "memref.alloca_scope.return"(%arg4) : (f32) -> ()
    }) : () -> f32
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0, d1) -> (d1 * 16 + d0)>
#map1 = affine_map<(d0, d1) -> (d1, d0)>
"builtin.module"() ({
  "func.func"() <{function_type = (index, memref<?x16xf32>, memref<*xf32>, memref<2xindex>, f32, memref<64xf32>, memref<16xf32>) -> (), sym_name = "mem2"}> ({
  ^bb0(%arg0: index, %arg1: memref<?x16xf32>, %arg2: memref<*xf32>, %arg3: memref<2xindex>, %arg4: f32, %arg5: memref<64xf32>, %arg6: memref<16xf32>):
    %0 = "memref.realloc"(%arg5, %arg0) : (memref<64xf32>, index) -> memref<?xf32>
    %1:6 = "memref.extract_strided_metadata"(%arg1) : (memref<?x16xf32>) -> (memref<f32>, index, index, index, index, index)
    %2 = "memref.reinterpret_cast"(%1#0, %1#1, %1#2, %1#4) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: -9223372036854775808, 4>, static_strides = array<i64: -9223372036854775808, 1>}> : (memref<f32>, index, index, index) -> memref<?x4xf32, strided<[?, 1], offset: ?>>
    %3 = "memref.cast"(%arg2) : (memref<*xf32>) -> memref<?xf32>
    %4 = "memref.reshape"(%arg2, %arg3) : (memref<*xf32>, memref<2xindex>) -> memref<?x?xf32>
    %5 = "memref.transpose"(%arg1) <{permutation = #map1}> : (memref<?x16xf32>) -> memref<16x?xf32, #map>
    %6 = "memref.atomic_rmw"(%arg4, %arg1, %arg0, %arg0) <{kind = 0 : i64}> : (f32, memref<?x16xf32>, index, index) -> f32
    %7 = "memref.generic_atomic_rmw"(%arg1, %arg0, %arg0) ({
    ^bb0(%arg7: f32):
      "memref.atomic_yield"(%arg7) : (f32) -> ()
    }) : (memref<?x16xf32>, index, index) -> f32
    "memref.prefetch"(%arg1, %arg0, %arg0) <{isDataCache = true, isWrite = false, localityHint = 3 : i32}> : (memref<?x16xf32>, index, index) -> ()
    %8 = "memref.dim"(%arg1, %arg0) : (memref<?x16xf32>, index) -> index
    %9 = "memref.rank"(%arg2) : (memref<*xf32>) -> index
    %10 = "memref.assume_alignment"(%arg6) <{alignment = 64 : i32}> : (memref<16xf32>) -> memref<16xf32>
    %11 = "memref.memory_space_cast"(%arg6) : (memref<16xf32>) -> memref<16xf32, 3>
    %12 = "memref.collapse_shape"(%arg1) <{reassociation = [[0, 1]]}> : (memref<?x16xf32>) -> memref<?xf32>
    %13 = "memref.expand_shape"(%arg6) <{reassociation = [[0, 1]], static_output_shape = array<i64: 4, 4>}> : (memref<16xf32>) -> memref<4x4xf32>
    %14 = "memref.extract_aligned_pointer_as_index"(%arg6) : (memref<16xf32>) -> index
    %15:2 = "memref.distinct_objects"(%arg6, %arg5) : (memref<16xf32>, memref<64xf32>) -> (memref<16xf32>, memref<64xf32>)
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (index, memref<16xf32>, memref<16xf32, 1>, memref<1xi32>, memref<64xf32>) -> (), sym_name = "mem3"}> ({
  ^bb0(%arg0: index, %arg1: memref<16xf32>, %arg2: memref<16xf32, 1>, %arg3: memref<1xi32>, %arg4: memref<64xf32>):
    "memref.dma_start"(%arg1, %arg0, %arg2, %arg0, %arg0, %arg3, %arg0) : (memref<16xf32>, index, memref<16xf32, 1>, index, index, memref<1xi32>, index) -> ()
    "memref.dma_wait"(%arg3, %arg0, %arg0) : (memref<1xi32>, index, index) -> ()
    %0:2 = "memref.distinct_objects"(%arg1, %arg4) : (memref<16xf32>, memref<64xf32>) -> (memref<16xf32>, memref<64xf32>)
    %1 = "memref.assume_alignment"(%arg1) <{alignment = 64 : i32}> : (memref<16xf32>) -> memref<16xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "memref.global"() <{alignment = 16 : i64, constant, initial_value = dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<4xf32>, sym_name = "c", sym_visibility = "private", type = memref<4xf32>}> : () -> ()
  "memref.global"() <{initial_value, sym_name = "x", type = memref<4xf32>}> : () -> ()
  "func.func"() <{function_type = () -> memref<4xf32>, sym_name = "gg"}> ({
    %0 = "memref.get_global"() <{name = @c}> : () -> memref<4xf32>
    "func.return"(%0) : (memref<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0)[s0] -> (d0 + 3, s0 * 2)>
#map1 = affine_map<(d0) -> (d0, d0 mod 3)>
#map2 = affine_map<(d0, d1) -> (d0 floordiv 2, d1)>
#map3 = affine_map<(d0) -> (d0, 0)>
#map4 = affine_map<(d0) -> (d0, d0 + 5)>
#map5 = affine_map<(d0) -> (0, d0 - 4)>
#map6 = affine_map<(d0)[s0] -> (d0, s0)>
#map7 = affine_map<(d0, d1) -> (d0, d1)>
#map8 = affine_map<(d0) -> (0, d0, 4)>
#map9 = affine_map<(d0) -> (d0, 100, 50)>
#map10 = affine_map<() -> (0)>
#map11 = affine_map<(d0) -> (d0)>
#map12 = affine_map<(d0)[s0] -> (d0 + s0)>
#map13 = affine_map<(d0)[s0] -> (1000, d0 + 512, s0)>
#set = affine_set<(d0)[s0] : (d0 - 10 >= 0, -d0 + s0 >= 0)>
"builtin.module"() ({
  "func.func"() <{function_type = (index, memref<?x?xf32>, vector<8xf32>) -> f32, sym_name = "aff"}> ({
  ^bb0(%arg0: index, %arg1: memref<?x?xf32>, %arg2: vector<8xf32>):
    %0 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
    %1 = "affine.for"(%arg0, %arg0, %arg0, %0) <{lowerBoundMap = #map5, operandSegmentSizes = array<i32: 1, 2, 1>, step = 2 : index, upperBoundMap = #map6}> ({
    ^bb0(%arg6: index, %arg7: f32):
      %7 = "affine.load"(%arg1, %arg6, %arg0) <{map = #map}> : (memref<?x?xf32>, index, index) -> f32
      %8 = "affine.vector_load"(%arg1, %arg6) <{map = #map1}> : (memref<?x?xf32>, index) -> vector<8xf32>
      "affine.store"(%7, %arg1, %arg6, %arg0) <{map = #map2}> : (f32, memref<?x?xf32>, index, index) -> ()
      "affine.vector_store"(%8, %arg1, %arg6) <{map = #map3}> : (vector<8xf32>, memref<?x?xf32>, index) -> ()
      "affine.prefetch"(%arg1, %arg6) <{isDataCache = true, isWrite = false, localityHint = 3 : i32, map = #map4}> : (memref<?x?xf32>, index) -> ()
      %9 = "affine.if"(%arg6, %arg0) <{condition = #set}> ({
        "affine.yield"(%7) : (f32) -> ()
      }, {
        "affine.yield"(%arg7) : (f32) -> ()
      }) : (index, index) -> f32
      "affine.yield"(%9) : (f32) -> ()
    }) : (index, index, index, f32) -> f32
    "affine.parallel"(%arg0, %arg0) <{lowerBoundsGroups = dense<[1, 2]> : tensor<2xi32>, lowerBoundsMap = #map8, reductions = [], steps = [2, 1], upperBoundsGroups = dense<[2, 1]> : tensor<2xi32>, upperBoundsMap = #map9}> ({
    ^bb0(%arg4: index, %arg5: index):
      "affine.store"(%1, %arg1, %arg4, %arg5) <{map = #map7}> : (f32, memref<?x?xf32>, index, index) -> ()
      "affine.yield"() : () -> ()
    }) : (index, index) -> ()
    %2 = "affine.parallel"(%arg0) <{lowerBoundsGroups = dense<1> : tensor<1xi32>, lowerBoundsMap = #map10, reductions = [0], steps = [1], upperBoundsGroups = dense<1> : tensor<1xi32>, upperBoundsMap = #map11}> ({
    ^bb0(%arg3: index):
      "affine.yield"(%1) : (f32) -> ()
    }) : (index) -> f32
    %3:2 = "affine.delinearize_index"(%arg0, %arg0) <{static_basis = array<i64: 4, -9223372036854775808>}> : (index, index) -> (index, index)
    %4 = "affine.linearize_index"(%3#0, %3#1, %arg0) <{disjoint, operandSegmentSizes = array<i32: 2, 1>, static_basis = array<i64: 4, -9223372036854775808>}> : (index, index, index) -> index
    %5 = "affine.apply"(%arg0, %4) <{map = #map12}> : (index, index) -> index
    %6 = "affine.min"(%arg0, %5) <{map = #map13}> : (index, index) -> index
    "func.return"(%2) : (f32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0 + 3, d1)>
#map2 = affine_map<(d0) -> (d0)>
"builtin.module"() ({
  "func.func"() <{function_type = (index, index, memref<40x128xf32>, memref<2x1024xf32, 1>, memref<1xi32>, index) -> (), sym_name = "dma"}> ({
  ^bb0(%arg0: index, %arg1: index, %arg2: memref<40x128xf32>, %arg3: memref<2x1024xf32, 1>, %arg4: memref<1xi32>, %arg5: index):
    "affine.dma_start"(%arg2, %arg0, %arg1, %arg3, %arg0, %arg1, %arg4, %arg0, %arg5) {dst_map = #map, src_map = #map1, tag_map = #map2} : (memref<40x128xf32>, index, index, memref<2x1024xf32, 1>, index, index, memref<1xi32>, index, index) -> ()
    "affine.dma_wait"(%arg4, %arg0, %arg5) {tag_map = #map2} : (memref<1xi32>, index, index) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
#loop_vectorize = #llvm.loop_vectorize<disable = true>
#loop_annotation = #llvm.loop_annotation<vectorize = #loop_vectorize>
"builtin.module"() ({
  "func.func"() <{function_type = (index, i1, memref<4xf32>, tensor<16xf32>, f32, i32, tensor<4xf32>) -> (), sym_name = "sc"}> ({
  ^bb0(%arg0: index, %arg1: i1, %arg2: memref<4xf32>, %arg3: tensor<16xf32>, %arg4: f32, %arg5: i32, %arg6: tensor<4xf32>):
    %0:2 = "scf.for"(%arg0, %arg0, %arg0, %arg2, %arg4) ({
    ^bb0(%arg11: index, %arg12: memref<4xf32>, %arg13: f32):
      "scf.yield"(%arg12, %arg13) : (memref<4xf32>, f32) -> ()
    }) {llvm.loop_annotation = #loop_annotation} : (index, index, index, memref<4xf32>, f32) -> (memref<4xf32>, f32)
    "scf.for"(%arg5, %arg5, %arg5) <{unsignedCmp}> ({
    ^bb0(%arg10: i32):
      "scf.yield"() : () -> ()
    }) : (i32, i32, i32) -> ()
    %1 = "scf.forall"(%arg0, %arg3) <{mapping = [#gpu.thread<x>, #gpu.thread<y>], operandSegmentSizes = array<i32: 0, 1, 0, 1>, staticLowerBound = array<i64: 0, 1>, staticStep = array<i64: 1, 2>, staticUpperBound = array<i64: -9223372036854775808, 8>}> ({
    ^bb0(%arg7: index, %arg8: index, %arg9: tensor<16xf32>):
      "scf.forall.in_parallel"() ({
        "tensor.parallel_insert_slice"(%arg6, %arg9, %arg7) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 4>, static_strides = array<i64: 1>}> : (tensor<4xf32>, tensor<16xf32>, index) -> ()
      }) : () -> ()
    }) : (index, tensor<16xf32>) -> tensor<16xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (index, i1, memref<4xf32>, tensor<16xf32>, f32, i32, tensor<4xf32>) -> f32, sym_name = "sc2"}> ({
  ^bb0(%arg0: index, %arg1: i1, %arg2: memref<4xf32>, %arg3: tensor<16xf32>, %arg4: f32, %arg5: i32, %arg6: tensor<4xf32>):
    "scf.for"(%arg5, %arg5, %arg5) <{unsignedCmp}> ({
    ^bb0(%arg17: i32):
      "scf.yield"() : () -> ()
    }) : (i32, i32, i32) -> ()
    %0 = "scf.forall"(%arg0, %arg3) <{mapping = [#gpu.thread<x>, #gpu.thread<y>], operandSegmentSizes = array<i32: 0, 1, 0, 1>, staticLowerBound = array<i64: 0, 1>, staticStep = array<i64: 1, 2>, staticUpperBound = array<i64: -9223372036854775808, 8>}> ({
    ^bb0(%arg14: index, %arg15: index, %arg16: tensor<16xf32>):
      "scf.forall.in_parallel"() ({
        "tensor.parallel_insert_slice"(%arg6, %arg16, %arg14) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, static_offsets = array<i64: -9223372036854775808>, static_sizes = array<i64: 4>, static_strides = array<i64: 1>}> : (tensor<4xf32>, tensor<16xf32>, index) -> ()
      }) : () -> ()
    }) : (index, tensor<16xf32>) -> tensor<16xf32>
    %1 = "scf.parallel"(%arg0, %arg0, %arg0, %arg4) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}> ({
    ^bb0(%arg11: index):
      "scf.reduce"(%arg4) ({
      ^bb0(%arg12: f32, %arg13: f32):
        %5 = "arith.addf"(%arg12, %arg13) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
        "scf.reduce.return"(%5) : (f32) -> ()
      }) : (f32) -> ()
    }) : (index, index, index, f32) -> f32
    %2 = "scf.execute_region"() <{no_inline}> ({
      "cf.br"()[^bb1] : () -> ()
    ^bb1:  // pred: ^bb0
      "scf.yield"(%arg2) : (memref<4xf32>) -> ()
    }) : () -> memref<4xf32>
    %3:2 = "scf.index_switch"(%arg0) <{cases = array<i64: 2, -5>}> ({
      "scf.yield"(%arg2, %arg5) : (memref<4xf32>, i32) -> ()
    }, {
      "scf.yield"(%arg2, %arg5) : (memref<4xf32>, i32) -> ()
    }, {
      "scf.yield"(%arg2, %arg5) : (memref<4xf32>, i32) -> ()
    }) : (index) -> (memref<4xf32>, i32)
    %4:2 = "scf.while"(%arg2, %arg5) ({
    ^bb0(%arg9: memref<4xf32>, %arg10: i32):
      "scf.condition"(%arg1, %arg10, %arg9) : (i1, i32, memref<4xf32>) -> ()
    }, {
    ^bb0(%arg7: i32, %arg8: memref<4xf32>):
      "scf.yield"(%arg8, %arg7) : (memref<4xf32>, i32) -> ()
    }) {tag = 1 : i64} : (memref<4xf32>, i32) -> (i32, memref<4xf32>)
    "func.return"(%1) : (f32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, memref<4xi32>, i1, index) -> (), sym_name = "omp"}> ({
  ^bb0(%arg2: i32, %arg3: memref<4xi32>, %arg4: i1, %arg5: index):
    "omp.parallel"(%arg4, %arg2) <{operandSegmentSizes = array<i32: 0, 0, 1, 1, 0, 0>, proc_bind_kind = #omp<procbindkind close>}> ({
      "omp.wsloop"(%arg2) <{nowait, operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 1>, schedule_kind = #omp<schedulekind static>}> ({
        "omp.loop_nest"(%arg5, %arg5, %arg5, %arg5, %arg5, %arg5) <{loop_inclusive}> ({
        ^bb0(%arg7: index, %arg8: index):
          "omp.yield"() : () -> ()
        }) : (index, index, index, index, index, index) -> ()
      }) : (i32) -> ()
      "omp.barrier"() : () -> ()
      "omp.terminator"() : () -> ()
    }) : (i1, i32) -> ()
    "omp.single"(%arg3) <{copyprivate_syms = [@cp], operandSegmentSizes = array<i32: 0, 0, 1, 0>}> ({
      "omp.terminator"() : () -> ()
    }) : (memref<4xi32>) -> ()
    "omp.task"(%arg3, %arg4, %arg2) <{depend_kinds = [#omp<clause_task_depend(taskdependin)>], operandSegmentSizes = array<i32: 0, 0, 1, 1, 0, 0, 1, 0, 0>, untied}> ({
      "omp.terminator"() : () -> ()
    }) : (memref<4xi32>, i1, i32) -> ()
    "omp.critical"() ({
      "omp.terminator"() : () -> ()
    }) : () -> ()
    "omp.master"() ({
      "omp.terminator"() : () -> ()
    }) : () -> ()
    "omp.sections"() <{operandSegmentSizes = array<i32: 0, 0, 0, 0>}> ({
      "omp.section"() ({
        "omp.terminator"() : () -> ()
      }) : () -> ()
      "omp.section"() ({
        "omp.terminator"() : () -> ()
      }) : () -> ()
      "omp.terminator"() : () -> ()
    }) : () -> ()
    "omp.atomic.update"(%arg3) ({
    ^bb0(%arg6: i32):
      "omp.yield"(%arg6) : (i32) -> ()
    }) : (memref<4xi32>) -> ()
    "omp.atomic.write"(%arg3, %arg2) <{hint = 8 : i64}> : (memref<4xi32>, i32) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (memref<4xi32>, memref<4xi32>) -> (), sym_name = "cp"}> ({
  ^bb0(%arg0: memref<4xi32>, %arg1: memref<4xi32>):
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i32, memref<4xi32>, !llvm.ptr, i1, index) -> (), sym_name = "omp2"}> ({
  ^bb0(%arg0: i32, %arg1: memref<4xi32>, %arg2: !llvm.ptr, %arg3: i1, %arg4: index):
    "omp.atomic.write"(%arg2, %arg0) : (!llvm.ptr, i32) -> ()
    "omp.taskgroup"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> ({
      "omp.terminator"() : () -> ()
    }) : () -> ()
    "omp.taskloop"(%arg0) <{operandSegmentSizes = array<i32: 0, 0, 0, 1, 0, 0, 0, 0, 0, 0>}> ({
      "omp.loop_nest"(%arg4, %arg4, %arg4) ({
      ^bb0(%arg6: index):
        "omp.yield"() : () -> ()
      }) : (index, index, index) -> ()
    }) : (i32) -> ()
    "omp.simd"(%arg1) <{alignments = [32], operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0>, safelen = 4 : i64}> ({
      "omp.loop_nest"(%arg4, %arg4, %arg4) ({
      ^bb0(%arg5: index):
        "omp.yield"() : () -> ()
      }) : (index, index, index) -> ()
    }) : (memref<4xi32>) -> ()
    "omp.flush"(%arg1) : (memref<4xi32>) -> ()
    "omp.teams"(%arg0, %arg0, %arg0) <{operandSegmentSizes = array<i32: 0, 0, 0, 1, 1, 0, 0, 1>}> ({
      "omp.terminator"() : () -> ()
    }) : (i32, i32, i32) -> ()
    "omp.taskwait"() : () -> ()
    "omp.ordered.region"() ({
      "omp.terminator"() : () -> ()
    }) : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<10xf32>, i32, index) -> (), sym_name = "acc2"}> ({
  ^bb0(%arg0: memref<10xf32>, %arg1: i32, %arg2: index):
    %0 = "acc.bounds"(%arg2, %arg2, %arg2) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>, strideInBytes = false}> : (index, index, index) -> !acc.data_bounds_ty
    %1 = "acc.create"(%arg0, %0) <{dataClause = #acc<data_clause acc_create>, implicit = false, modifiers = #acc<data_clause_modifier none>, name = "x{", operandSegmentSizes = array<i32: 1, 0, 1, 0>, structured = true, varType = f32}> : (memref<10xf32>, !acc.data_bounds_ty) -> memref<10xf32>
    "acc.data"(%1) <{operandSegmentSizes = array<i32: 0, 0, 0, 1>}> ({
      "acc.serial"() <{operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0, 0>}> ({
        "acc.yield"() : () -> ()
      }) : () -> ()
      "acc.kernels"() <{operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}> ({
        "acc.terminator"() : () -> ()
      }) : () -> ()
      "acc.terminator"() : () -> ()
    }) : (memref<10xf32>) -> ()
    "acc.enter_data"(%1) <{operandSegmentSizes = array<i32: 0, 0, 0, 0, 1>}> : (memref<10xf32>) -> ()
    "acc.exit_data"(%1) <{operandSegmentSizes = array<i32: 0, 0, 0, 0, 1>}> : (memref<10xf32>) -> ()
    "acc.delete"(%1) <{dataClause = #acc<data_clause acc_delete>, implicit = false, modifiers = #acc<data_clause_modifier none>, operandSegmentSizes = array<i32: 1, 0, 0>, structured = true}> : (memref<10xf32>) -> ()
    %2 = "acc.getdeviceptr"(%arg0) <{dataClause = #acc<data_clause acc_update_host>, implicit = false, modifiers = #acc<data_clause_modifier none>, operandSegmentSizes = array<i32: 1, 0, 0, 0>, structured = true, varType = f32}> : (memref<10xf32>) -> memref<10xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<4xf32>, index, !async.value<index>) -> (), sym_name = "async2"}> ({
  ^bb0(%arg1: memref<4xf32>, %arg2: index, %arg3: !async.value<index>):
    %0 = "async.execute"() <{operandSegmentSizes = array<i32: 0, 0>}> ({
      "async.yield"() : () -> ()
    }) : () -> !async.token
    %1:2 = "async.execute"(%0, %arg3) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg4: index):
      "async.yield"(%arg1) : (memref<4xf32>) -> ()
    }) : (!async.token, !async.value<index>) -> (!async.token, !async.value<memref<4xf32>>)
    %2 = "async.await"(%1#1) : (!async.value<memref<4xf32>>) -> memref<4xf32>
    "async.await"(%0) : (!async.token) -> ()
    %3 = "async.create_group"(%arg2) : (index) -> !async.group
    %4 = "async.add_to_group"(%0, %3) : (!async.token, !async.group) -> index
    "async.await_all"(%3) : (!async.group) -> ()
    %5 = "async.runtime.create"() : () -> !async.token
    "async.runtime.set_available"(%5) : (!async.token) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
  "async.func"() <{function_type = (i32) -> !async.value<i32>, sym_name = "af"}> ({
  ^bb0(%arg0: i32):
    "async.return"(%arg0) : (i32) -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4x8xf32>, tensor<8x16xf32>, tensor<4x16xf32>, memref<4x8xf32>, tensor<8xf32>, index, f32, tensor<4xf32>, tensor<1x2x4x4xf32>) -> (), sym_name = "lin2"}> ({
  ^bb0(%arg0: tensor<4x8xf32>, %arg1: tensor<8x16xf32>, %arg2: tensor<4x16xf32>, %arg3: memref<4x8xf32>, %arg4: tensor<8xf32>, %arg5: index, %arg6: f32, %arg7: tensor<4xf32>, %arg8: tensor<1x2x4x4xf32>):
    %0 = "linalg.matmul"(%arg0, %arg1, %arg2) <{indexing_maps = [#map, #map1, #map2], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg23: f32, %arg24: f32, %arg25: f32):
      %14 = "arith.mulf"(%arg23, %arg24) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %15 = "arith.addf"(%arg25, %14) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%15) : (f32) -> ()
    }) : (tensor<4x8xf32>, tensor<8x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %1 = "linalg.contract"(%arg0, %arg1, %arg2) <{indexing_maps = [#map, #map1, #map2], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg20: f32, %arg21: f32, %arg22: f32):
      %12 = "arith.mulf"(%arg20, %arg21) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %13 = "arith.addf"(%arg22, %12) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%13) : (f32) -> ()
    }) : (tensor<4x8xf32>, tensor<8x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
    %2 = "linalg.reduce"(%arg0, %arg7) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg18: f32, %arg19: f32):
      %11 = "arith.addf"(%arg19, %arg18) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%11) : (f32) -> ()
    }) : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4xf32>
    %3 = "linalg.broadcast"(%arg4, %arg0) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg16: f32, %arg17: f32):
      "linalg.yield"(%arg16) : (f32) -> ()
    }) : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %4 = "linalg.elementwise"(%arg0, %arg0) <{indexing_maps = [#map3, #map3], kind = #linalg.elementwise_kind<exp>, operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg14: f32, %arg15: f32):
      %10 = "math.exp"(%arg14) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      "linalg.yield"(%10) : (f32) -> ()
    }) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %5 = "linalg.softmax"(%arg0, %arg0) <{dimension = 1 : i64}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %6 = "linalg.pack"(%arg0, %arg8) <{inner_dims_pos = array<i64: 0, 1>, operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_inner_tiles = array<i64: 4, 4>}> : (tensor<4x8xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
    %7 = "linalg.unpack"(%arg8, %arg0) <{inner_dims_pos = array<i64: 0, 1>, static_inner_tiles = array<i64: 4, 4>}> : (tensor<1x2x4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    "linalg.fill"(%arg6, %arg3) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg12: f32, %arg13: f32):
      "linalg.yield"(%arg12) : (f32) -> ()
    }) : (f32, memref<4x8xf32>) -> ()
    %8 = "linalg.map"(%arg0, %arg0, %arg0) ({
    ^bb0(%arg9: f32, %arg10: f32, %arg11: f32):
      %9 = "arith.addf"(%arg9, %arg10) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%9) : (f32) -> ()
    }) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4x?xf32>, index, f32, tensor<2xindex>, tensor<3x1xindex>, tensor<4x4xf32>) -> (), sym_name = "tens"}> ({
  ^bb0(%arg0: tensor<4x?xf32>, %arg1: index, %arg2: f32, %arg3: tensor<2xindex>, %arg4: tensor<3x1xindex>, %arg5: tensor<4x4xf32>):
    %0 = "tensor.extract_slice"(%arg0, %arg1, %arg1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>, static_offsets = array<i64: -9223372036854775808, 0>, static_sizes = array<i64: 1, -9223372036854775808>, static_strides = array<i64: 1, 2>}> : (tensor<4x?xf32>, index, index) -> tensor<?xf32>
    %1 = "tensor.insert_slice"(%arg5, %arg0, %arg1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, static_offsets = array<i64: 0, -9223372036854775808>, static_sizes = array<i64: 4, 4>, static_strides = array<i64: 1, 1>}> : (tensor<4x4xf32>, tensor<4x?xf32>, index) -> tensor<4x?xf32>
    %2 = "tensor.pad"(%arg0, %arg1, %arg1) <{nofold, operandSegmentSizes = array<i32: 1, 1, 1>, static_high = array<i64: -9223372036854775808, 0>, static_low = array<i64: 1, -9223372036854775808>}> ({
    ^bb0(%arg7: index, %arg8: index):
      "tensor.yield"(%arg2) : (f32) -> ()
    }) : (tensor<4x?xf32>, index, index) -> tensor<?x?xf32>
    %3 = "tensor.generate"(%arg1) ({
    ^bb0(%arg6: index):
      "tensor.yield"(%arg2) : (f32) -> ()
    }) : (index) -> tensor<?xf32>
    %4 = "tensor.reshape"(%arg5, %arg3) : (tensor<4x4xf32>, tensor<2xindex>) -> tensor<?x?xf32>
    %5 = "tensor.expand_shape"(%arg0, %arg1) <{reassociation = [[0], [1, 2]], static_output_shape = array<i64: 4, -9223372036854775808, 2>}> : (tensor<4x?xf32>, index) -> tensor<4x?x2xf32>
    %6 = "tensor.gather"(%arg5, %arg4) <{gather_dims = array<i64: 0>}> : (tensor<4x4xf32>, tensor<3x1xindex>) -> tensor<3x1x4xf32>
    %7 = "tensor.concat"(%arg5, %arg5) <{dim = 0 : i64}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %8 = "tensor.splat"(%arg2, %arg1) : (f32, index) -> tensor<?xf32>
    %9 = "tensor.from_elements"(%arg2, %arg2) : (f32, f32) -> tensor<2xf32>
    %10 = "tensor.empty"(%arg1) : (index) -> tensor<?xf32>
    %11 = "tensor.dim"(%arg0, %arg1) : (tensor<4x?xf32>, index) -> index
    %12 = "tensor.bitcast"(%arg5) : (tensor<4x4xf32>) -> tensor<4x4xi32>
    %13 = "tensor.extract"(%arg5, %arg1, %arg1) : (tensor<4x4xf32>, index, index) -> f32
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<?xf32>, memref<?xf32>, index, i1, memref<8xf32>) -> (), sym_name = "buf2"}> ({
  ^bb0(%arg0: tensor<?xf32>, %arg1: memref<?xf32>, %arg2: index, %arg3: i1, %arg4: memref<8xf32>):
    %0 = "bufferization.alloc_tensor"(%arg2, %arg2) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (index, index) -> tensor<?xf32>
    %1 = "bufferization.alloc_tensor"(%arg0) <{memory_space = 3 : i64, operandSegmentSizes = array<i32: 0, 1, 0>}> : (tensor<?xf32>) -> tensor<?xf32>
    %2 = "bufferization.clone"(%arg1) : (memref<?xf32>) -> memref<?xf32>
    %3 = "bufferization.to_tensor"(%arg1) <{restrict, writable}> : (memref<?xf32>) -> tensor<?xf32>
    %4 = "bufferization.to_buffer"(%arg0) <{read_only}> : (tensor<?xf32>) -> memref<?xf32>
    %5:2 = "bufferization.dealloc"(%arg1, %arg4, %arg3, %arg3, %4, %2) <{operandSegmentSizes = array<i32: 2, 2, 2>}> : (memref<?xf32>, memref<8xf32>, i1, i1, memref<?xf32>, memref<?xf32>) -> (i1, i1)
    "bufferization.dealloc"(%arg1, %arg3) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (memref<?xf32>, i1) -> ()
    %6 = "bufferization.materialize_in_destination"(%arg0, %3) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    "bufferization.materialize_in_destination"(%arg0, %arg1) <{restrict, writable}> : (tensor<?xf32>, memref<?xf32>) -> ()
    "bufferization.dealloc_tensor"(%0) : (tensor<?xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (i1, i32, memref<4xf32>, memref<4xf32>) -> (), sym_name = "cfs"}> ({
  ^bb0(%arg0: i1, %arg1: i32, %arg2: memref<4xf32>, %arg3: memref<4xf32>):
    "cf.switch"(%arg1, %arg2, %arg1, %arg3, %arg1)[^bb1, ^bb1, ^bb2] <{case_operand_segments = array<i32: 2, 0>, case_values = dense<[42, -7]> : vector<2xi32>, operandSegmentSizes = array<i32: 1, 2, 2>}> : (i32, memref<4xf32>, i32, memref<4xf32>, i32) -> ()
  ^bb1(%0: memref<4xf32>, %1: i32):  // 3 preds: ^bb0, ^bb0, ^bb1
    "cf.cond_br"(%arg0, %0, %1)[^bb2, ^bb1] <{branch_weights = array<i32: 90, 10>, operandSegmentSizes = array<i32: 1, 0, 2>}> : (i1, memref<4xf32>, i32) -> ()
  ^bb2:  // 2 preds: ^bb0, ^bb1
    "cf.assert"(%arg0) <{msg = "message {"}> : (i1) -> ()
    %2 = "func.constant"() <{value = @cfs}> : () -> ((i1, i32, memref<4xf32>, memref<4xf32>) -> ())
    "func.call_indirect"(%2, %arg0, %arg1, %arg2, %arg3) : ((i1, i32, memref<4xf32>, memref<4xf32>) -> (), i1, i32, memref<4xf32>, memref<4xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{arg_attrs = [{llvm.noalias}, {}], function_type = (memref<4xf32>, index) -> (memref<4xf32>, index), res_attrs = [{x.y = "->"}, {}], sym_name = "decl", sym_visibility = "private"}> ({
  }) {a = "{"} : () -> ()
  "func.func"() <{function_type = (memref<4xf32>, index) -> (memref<4xf32>, index), sym_name = "use", sym_visibility = "public"}> ({
  ^bb0(%arg0: memref<4xf32>, %arg1: index):
    %0:2 = "func.call"(%arg0, %arg1) <{callee = @decl, no_inline}> : (memref<4xf32>, index) -> (memref<4xf32>, index)
    "func.return"(%0#0, %0#1) : (memref<4xf32>, index) -> ()
  }) : () -> ()
}) : () -> ()


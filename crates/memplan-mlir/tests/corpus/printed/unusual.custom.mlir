module {
  func.func @mem(%arg0: index, %arg1: memref<?x16xf32>, %arg2: memref<*xf32>, %arg3: memref<2xindex>, %arg4: f32) {
    %0 = memref.alloca_scope  -> (f32) {
      %alloca = memref.alloca(%arg0) : memref<?xf32>
      memref.alloca_scope.return %arg4 : f32
    }
    return
  }
}

// -----
#map = affine_map<(d0, d1) -> (d1 * 16 + d0)>
module {
  func.func @mem2(%arg0: index, %arg1: memref<?x16xf32>, %arg2: memref<*xf32>, %arg3: memref<2xindex>, %arg4: f32, %arg5: memref<64xf32>, %arg6: memref<16xf32>) {
    %0 = memref.realloc %arg5(%arg0) : memref<64xf32> to memref<?xf32>
    %base_buffer, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %arg1 : memref<?x16xf32> -> memref<f32>, index, index, index, index, index
    %reinterpret_cast = memref.reinterpret_cast %base_buffer to offset: [%offset], sizes: [%sizes#0, 4], strides: [%strides#0, 1] : memref<f32> to memref<?x4xf32, strided<[?, 1], offset: ?>>
    %cast = memref.cast %arg2 : memref<*xf32> to memref<?xf32>
    %reshape = memref.reshape %arg2(%arg3) : (memref<*xf32>, memref<2xindex>) -> memref<?x?xf32>
    %transpose = memref.transpose %arg1 (d0, d1) -> (d1, d0) : memref<?x16xf32> to memref<16x?xf32, #map>
    %1 = memref.atomic_rmw addf %arg4, %arg1[%arg0, %arg0] : (f32, memref<?x16xf32>) -> f32
    %2 = memref.generic_atomic_rmw %arg1[%arg0, %arg0] : memref<?x16xf32> {
    ^bb0(%arg7: f32):
      memref.atomic_yield %arg7 : f32
    }
    memref.prefetch %arg1[%arg0, %arg0], read, locality<3>, data : memref<?x16xf32>
    %dim = memref.dim %arg1, %arg0 : memref<?x16xf32>
    %3 = memref.rank %arg2 : memref<*xf32>
    %assume_align = memref.assume_alignment %arg6, 64 : memref<16xf32>
    %memspacecast = memref.memory_space_cast %arg6 : memref<16xf32> to memref<16xf32, 3>
    %collapse_shape = memref.collapse_shape %arg1 [[0, 1]] : memref<?x16xf32> into memref<?xf32>
    %expand_shape = memref.expand_shape %arg6 [[0, 1]] output_shape [4, 4] : memref<16xf32> into memref<4x4xf32>
    %intptr = memref.extract_aligned_pointer_as_index %arg6 : memref<16xf32> -> index
    %4:2 = memref.distinct_objects %arg6, %arg5 : memref<16xf32>, memref<64xf32>
    return
  }
}

// -----
module {
  func.func @mem3(%arg0: index, %arg1: memref<16xf32>, %arg2: memref<16xf32, 1>, %arg3: memref<1xi32>, %arg4: memref<64xf32>) {
    memref.dma_start %arg1[%arg0], %arg2[%arg0], %arg0, %arg3[%arg0] : memref<16xf32>, memref<16xf32, 1>, memref<1xi32>
    memref.dma_wait %arg3[%arg0], %arg0 : memref<1xi32>
    %0:2 = memref.distinct_objects %arg1, %arg4 : memref<16xf32>, memref<64xf32>
    %assume_align = memref.assume_alignment %arg1, 64 : memref<16xf32>
    return
  }
}

// -----
module {
  memref.global "private" constant @c : memref<4xf32> = dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00]> {alignment = 16 : i64}
  memref.global @x : memref<4xf32> = uninitialized
  func.func @gg() -> memref<4xf32> {
    %0 = memref.get_global @c : memref<4xf32>
    return %0 : memref<4xf32>
  }
}

// -----
#map = affine_map<(d0) -> (0, d0 - 4)>
#map1 = affine_map<(d0)[s0] -> (d0, s0)>
#map2 = affine_map<(d0)[s0] -> (d0 + s0)>
#map3 = affine_map<(d0)[s0] -> (1000, d0 + 512, s0)>
#set = affine_set<(d0)[s0] : (d0 - 10 >= 0, -d0 + s0 >= 0)>
module {
  func.func @aff(%arg0: index, %arg1: memref<?x?xf32>, %arg2: vector<8xf32>) -> f32 {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = affine.for %arg3 = max #map(%arg0) to min #map1(%arg0)[%arg0] step 2 iter_args(%arg4 = %cst) -> (f32) {
      %6 = affine.load %arg1[%arg3 + 3, symbol(%arg0) * 2] : memref<?x?xf32>
      %7 = affine.vector_load %arg1[%arg3, %arg3 mod 3] : memref<?x?xf32>, vector<8xf32>
      affine.store %6, %arg1[%arg3 floordiv 2, %arg0] : memref<?x?xf32>
      affine.vector_store %7, %arg1[%arg3, 0] : memref<?x?xf32>, vector<8xf32>
      affine.prefetch %arg1[%arg3, %arg3 + 5], read, locality<3>, data : memref<?x?xf32>
      %8 = affine.if #set(%arg3)[%arg0] -> f32 {
        affine.yield %6 : f32
      } else {
        affine.yield %arg4 : f32
      }
      affine.yield %8 : f32
    }
    affine.parallel (%arg3, %arg4) = (0, max(%arg0, 4)) to (min(%arg0, 100), 50) step (2, 1) {
      affine.store %0, %arg1[%arg3, %arg4] : memref<?x?xf32>
    }
    %1 = affine.parallel (%arg3) = (0) to (%arg0) reduce ("addf") -> (f32) {
      affine.yield %0 : f32
    }
    %2:2 = affine.delinearize_index %arg0 into (4, %arg0) : index, index
    %3 = affine.linearize_index disjoint [%2#0, %2#1] by (4, %arg0) : index
    %4 = affine.apply #map2(%arg0)[%3]
    %5 = affine.min #map3(%arg0)[%4]
    return %1 : f32
  }
}

// -----
module {
  func.func @dma(%arg0: index, %arg1: index, %arg2: memref<40x128xf32>, %arg3: memref<2x1024xf32, 1>, %arg4: memref<1xi32>, %arg5: index) {
    affine.dma_start %arg2[%arg0 + 3, %arg1], %arg3[%arg0, %arg1], %arg4[%arg0], %arg5 : memref<40x128xf32>, memref<2x1024xf32, 1>, memref<1xi32>
    affine.dma_wait %arg4[%arg0], %arg5 : memref<1xi32>
    return
  }
}

// -----
#loop_vectorize = #llvm.loop_vectorize<disable = true>
#loop_annotation = #llvm.loop_annotation<vectorize = #loop_vectorize>
module {
  func.func @sc(%arg0: index, %arg1: i1, %arg2: memref<4xf32>, %arg3: tensor<16xf32>, %arg4: f32, %arg5: i32, %arg6: tensor<4xf32>) {
    %0:2 = scf.for %arg7 = %arg0 to %arg0 step %arg0 iter_args(%arg8 = %arg2, %arg9 = %arg4) -> (memref<4xf32>, f32) {
      scf.yield %arg8, %arg9 : memref<4xf32>, f32
    } {llvm.loop_annotation = #loop_annotation}
    scf.for unsigned %arg7 = %arg5 to %arg5 step %arg5  : i32 {
    }
    %1 = scf.forall (%arg7, %arg8) = (0, 1) to (%arg0, 8) step (1, 2) shared_outs(%arg9 = %arg3) -> (tensor<16xf32>) {
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %arg6 into %arg9[%arg7] [4] [1] : tensor<4xf32> into tensor<16xf32>
      }
    } {mapping = [#gpu.thread<x>, #gpu.thread<y>]}
    return
  }
}

// -----
module {
  func.func @sc2(%arg0: index, %arg1: i1, %arg2: memref<4xf32>, %arg3: tensor<16xf32>, %arg4: f32, %arg5: i32, %arg6: tensor<4xf32>) -> f32 {
    scf.for unsigned %arg7 = %arg5 to %arg5 step %arg5  : i32 {
    }
    %0 = scf.forall (%arg7, %arg8) = (0, 1) to (%arg0, 8) step (1, 2) shared_outs(%arg9 = %arg3) -> (tensor<16xf32>) {
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %arg6 into %arg9[%arg7] [4] [1] : tensor<4xf32> into tensor<16xf32>
      }
    } {mapping = [#gpu.thread<x>, #gpu.thread<y>]}
    %1 = scf.parallel (%arg7) = (%arg0) to (%arg0) step (%arg0) init (%arg4) -> f32 {
      scf.reduce(%arg4 : f32) {
      ^bb0(%arg8: f32, %arg9: f32):
        %5 = arith.addf %arg8, %arg9 : f32
        scf.reduce.return %5 : f32
      }
    }
    %2 = scf.execute_region -> memref<4xf32> no_inline {
      cf.br ^bb1
    ^bb1:  // pred: ^bb0
      scf.yield %arg2 : memref<4xf32>
    }
    %3:2 = scf.index_switch %arg0 -> memref<4xf32>, i32 
    case 2 {
      scf.yield %arg2, %arg5 : memref<4xf32>, i32
    }
    case -5 {
      scf.yield %arg2, %arg5 : memref<4xf32>, i32
    }
    default {
      scf.yield %arg2, %arg5 : memref<4xf32>, i32
    }
    %4:2 = scf.while (%arg7 = %arg2, %arg8 = %arg5) : (memref<4xf32>, i32) -> (i32, memref<4xf32>) {
      scf.condition(%arg1) %arg8, %arg7 : i32, memref<4xf32>
    } do {
    ^bb0(%arg7: i32, %arg8: memref<4xf32>):
      scf.yield %arg8, %arg7 : memref<4xf32>, i32
    } attributes {tag = 1 : i64}
    return %1 : f32
  }
}

// -----
module {
  func.func @omp(%arg0: i32, %arg1: memref<4xi32>, %arg2: i1, %arg3: index) {
    omp.parallel if(%arg2) num_threads(%arg0 : i32) proc_bind(close) {
      omp.wsloop nowait schedule(static = %arg0 : i32) {
        omp.loop_nest (%arg4, %arg5) : index = (%arg3, %arg3) to (%arg3, %arg3) inclusive step (%arg3, %arg3) {
          omp.yield
        }
      }
      omp.barrier
      omp.terminator
    }
    omp.single copyprivate(%arg1 -> @cp : memref<4xi32>) {
      omp.terminator
    }
    omp.task depend(taskdependin -> %arg1 : memref<4xi32>) final(%arg2) priority(%arg0 : i32) untied {
      omp.terminator
    }
    omp.critical {
      omp.terminator
    }
    omp.master {
      omp.terminator
    }
    omp.sections {
      omp.section {
        omp.terminator
      }
      omp.section {
        omp.terminator
      }
      omp.terminator
    }
    omp.atomic.update %arg1 : memref<4xi32> {
    ^bb0(%arg4: i32):
      omp.yield(%arg4 : i32)
    }
    omp.atomic.write %arg1 = %arg0 hint(speculative) : memref<4xi32>, i32
    return
  }
  func.func @cp(%arg0: memref<4xi32>, %arg1: memref<4xi32>) {
    return
  }
}

// -----
module {
  func.func @omp2(%arg0: i32, %arg1: memref<4xi32>, %arg2: !llvm.ptr, %arg3: i1, %arg4: index) {
    omp.atomic.write %arg2 = %arg0 : !llvm.ptr, i32
    omp.taskgroup {
      omp.terminator
    }
    omp.taskloop grainsize(%arg0: i32) {
      omp.loop_nest (%arg5) : index = (%arg4) to (%arg4) step (%arg4) {
        omp.yield
      }
    }
    omp.simd aligned(%arg1 : memref<4xi32> -> 32 : i64) safelen(4) {
      omp.loop_nest (%arg5) : index = (%arg4) to (%arg4) step (%arg4) {
        omp.yield
      }
    }
    omp.flush(%arg1 : memref<4xi32>)
    omp.teams num_teams(%arg0 : i32 to %arg0 : i32) thread_limit(%arg0 : i32) {
      omp.terminator
    }
    omp.taskwait
    omp.ordered.region {
      omp.terminator
    }
    return
  }
}

// -----
module {
  func.func @acc2(%arg0: memref<10xf32>, %arg1: i32, %arg2: index) {
    %0 = acc.bounds lowerbound(%arg2 : index) upperbound(%arg2 : index) stride(%arg2 : index)
    %1 = acc.create varPtr(%arg0 : memref<10xf32>) bounds(%0) -> memref<10xf32> {name = "x{"}
    acc.data dataOperands(%1 : memref<10xf32>) {
      acc.serial {
        acc.yield
      }
      acc.kernels {
        acc.terminator
      }
      acc.terminator
    }
    acc.enter_data dataOperands(%1 : memref<10xf32>)
    acc.exit_data dataOperands(%1 : memref<10xf32>)
    acc.delete accPtr(%1 : memref<10xf32>)
    %2 = acc.getdeviceptr varPtr(%arg0 : memref<10xf32>) -> memref<10xf32> {dataClause = #acc<data_clause acc_update_host>}
    return
  }
}

// -----
module {
  func.func @async2(%arg0: memref<4xf32>, %arg1: index, %arg2: !async.value<index>) {
    %token = async.execute {
      async.yield
    }
    %token_0, %bodyResults = async.execute [%token] (%arg2 as %arg3: !async.value<index>) -> !async.value<memref<4xf32>> {
      async.yield %arg0 : memref<4xf32>
    }
    %0 = async.await %bodyResults : !async.value<memref<4xf32>>
    async.await %token : !async.token
    %1 = async.create_group %arg1 : !async.group
    %2 = async.add_to_group %token, %1 : !async.token
    async.await_all %1
    %3 = async.runtime.create : !async.token
    async.runtime.set_available %3 : !async.token
    return
  }
  async.func @af(%arg0: i32) -> !async.value<i32> {
    return %arg0 : i32
  }
}

// -----
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
module {
  func.func @lin2(%arg0: tensor<4x8xf32>, %arg1: tensor<8x16xf32>, %arg2: tensor<4x16xf32>, %arg3: memref<4x8xf32>, %arg4: tensor<8xf32>, %arg5: index, %arg6: f32, %arg7: tensor<4xf32>, %arg8: tensor<1x2x4x4xf32>) {
    %0 = linalg.matmul ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<8x16xf32>) outs(%arg2 : tensor<4x16xf32>) -> tensor<4x16xf32>
    %1 = linalg.contract indexing_maps = [#map, #map1, #map2] ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<8x16xf32>) outs(%arg2 : tensor<4x16xf32>) -> tensor<4x16xf32>
    %reduced = linalg.reduce { arith.addf } ins(%arg0 : tensor<4x8xf32>) outs(%arg7 : tensor<4xf32>) dimensions = [1] 
    %broadcasted = linalg.broadcast ins(%arg4 : tensor<8xf32>) outs(%arg0 : tensor<4x8xf32>) dimensions = [0] 
    %2 = linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%arg0 : tensor<4x8xf32>) outs(%arg0 : tensor<4x8xf32>) -> tensor<4x8xf32>
    %3 = linalg.softmax dimension(1) ins(%arg0 : tensor<4x8xf32>) outs(%arg0 : tensor<4x8xf32>) -> tensor<4x8xf32>
    %pack = linalg.pack %arg0 inner_dims_pos = [0, 1] inner_tiles = [4, 4] into %arg8 : tensor<4x8xf32> -> tensor<1x2x4x4xf32>
    %unpack = linalg.unpack %arg8 inner_dims_pos = [0, 1] inner_tiles = [4, 4] into %arg0 : tensor<1x2x4x4xf32> -> tensor<4x8xf32>
    linalg.fill ins(%arg6 : f32) outs(%arg3 : memref<4x8xf32>)
    %mapped = linalg.map { arith.addf } ins(%arg0, %arg0 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg0 : tensor<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @tens(%arg0: tensor<4x?xf32>, %arg1: index, %arg2: f32, %arg3: tensor<2xindex>, %arg4: tensor<3x1xindex>, %arg5: tensor<4x4xf32>) {
    %extracted_slice = tensor.extract_slice %arg0[%arg1, 0] [1, %arg1] [1, 2] : tensor<4x?xf32> to tensor<?xf32>
    %inserted_slice = tensor.insert_slice %arg5 into %arg0[0, %arg1] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x?xf32>
    %padded = tensor.pad %arg0 nofold low[1, %arg1] high[%arg1, 0] {
    ^bb0(%arg6: index, %arg7: index):
      tensor.yield %arg2 : f32
    } : tensor<4x?xf32> to tensor<?x?xf32>
    %generated = tensor.generate %arg1 {
    ^bb0(%arg6: index):
      tensor.yield %arg2 : f32
    } : tensor<?xf32>
    %reshape = tensor.reshape %arg5(%arg3) : (tensor<4x4xf32>, tensor<2xindex>) -> tensor<?x?xf32>
    %expanded = tensor.expand_shape %arg0 [[0], [1, 2]] output_shape [4, %arg1, 2] : tensor<4x?xf32> into tensor<4x?x2xf32>
    %gather = tensor.gather %arg5[%arg4] gather_dims([0]) : (tensor<4x4xf32>, tensor<3x1xindex>) -> tensor<3x1x4xf32>
    %concat = tensor.concat dim(0) %arg5, %arg5 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %splat = tensor.splat %arg2[%arg1] : tensor<?xf32>
    %from_elements = tensor.from_elements %arg2, %arg2 : tensor<2xf32>
    %0 = tensor.empty(%arg1) : tensor<?xf32>
    %dim = tensor.dim %arg0, %arg1 : tensor<4x?xf32>
    %1 = tensor.bitcast %arg5 : tensor<4x4xf32> to tensor<4x4xi32>
    %extracted = tensor.extract %arg5[%arg1, %arg1] : tensor<4x4xf32>
    return
  }
}

// -----
module {
  func.func @buf2(%arg0: tensor<?xf32>, %arg1: memref<?xf32>, %arg2: index, %arg3: i1, %arg4: memref<8xf32>) {
    %0 = bufferization.alloc_tensor(%arg2) size_hint=%arg2 : tensor<?xf32>
    %1 = bufferization.alloc_tensor() copy(%arg0) {memory_space = 3 : i64} : tensor<?xf32>
    %2 = bufferization.clone %arg1 : memref<?xf32> to memref<?xf32>
    %3 = bufferization.to_tensor %arg1 restrict writable : memref<?xf32> to tensor<?xf32>
    %4 = bufferization.to_buffer %arg0 read_only : tensor<?xf32> to memref<?xf32>
    %5:2 = bufferization.dealloc (%arg1, %arg4 : memref<?xf32>, memref<8xf32>) if (%arg3, %arg3) retain (%4, %2 : memref<?xf32>, memref<?xf32>)
    bufferization.dealloc (%arg1 : memref<?xf32>) if (%arg3)
    %6 = bufferization.materialize_in_destination %arg0 in %3 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    bufferization.materialize_in_destination %arg0 in restrict writable %arg1 : (tensor<?xf32>, memref<?xf32>) -> ()
    bufferization.dealloc_tensor %0 : tensor<?xf32>
    return
  }
}

// -----
module {
  func.func @cfs(%arg0: i1, %arg1: i32, %arg2: memref<4xf32>, %arg3: memref<4xf32>) {
    cf.switch %arg1 : i32, [
      default: ^bb1(%arg2, %arg1 : memref<4xf32>, i32),
      42: ^bb1(%arg3, %arg1 : memref<4xf32>, i32),
      4294967289: ^bb2
    ]
  ^bb1(%0: memref<4xf32>, %1: i32):  // 3 preds: ^bb0, ^bb0, ^bb1
    cf.cond_br %arg0 weights([90, 10]), ^bb2, ^bb1(%0, %1 : memref<4xf32>, i32)
  ^bb2:  // 2 preds: ^bb0, ^bb1
    cf.assert %arg0, "message {"
    %f = constant @cfs : (i1, i32, memref<4xf32>, memref<4xf32>) -> ()
    call_indirect %f(%arg0, %arg1, %arg2, %arg3) : (i1, i32, memref<4xf32>, memref<4xf32>) -> ()
    return
  }
}

// -----
module {
  func.func private @decl(memref<4xf32> {llvm.noalias}, index) -> (memref<4xf32> {x.y = "->"}, index) attributes {a = "{"}
  func.func public @use(%arg0: memref<4xf32>, %arg1: index) -> (memref<4xf32>, index) {
    %0:2 = call @decl(%arg0, %arg1) {no_inline} : (memref<4xf32>, index) -> (memref<4xf32>, index)
    return %0#0, %0#1 : memref<4xf32>, index
  }
}


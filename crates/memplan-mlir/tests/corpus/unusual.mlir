// Unusual forms of ops of the dialects with a table.
func.func @mem(%n: index, %m: memref<?x16xf32>, %u: memref<*xf32>, %s: memref<2xindex>, %f: f32) {
  %0 = memref.alloca_scope -> (f32) {
    %x = memref.alloca(%n) : memref<?xf32>
    memref.alloca_scope.return %f : f32
  }
  return
}
// -----
func.func @mem2(%n: index, %m: memref<?x16xf32>, %u: memref<*xf32>, %s: memref<2xindex>, %f: f32, %r: memref<64xf32>, %g: memref<16xf32>) {
  %1 = memref.realloc %r(%n) : memref<64xf32> to memref<?xf32>
  %b, %o, %sz:2, %st:2 = memref.extract_strided_metadata %m : memref<?x16xf32> -> memref<f32>, index, index, index, index, index
  %2 = memref.reinterpret_cast %b to offset: [%o], sizes: [%sz#0, 4], strides: [%st#0, 1] : memref<f32> to memref<?x4xf32, strided<[?, 1], offset: ?>>
  %3 = memref.cast %u : memref<*xf32> to memref<?xf32>
  %4 = memref.reshape %u(%s) : (memref<*xf32>, memref<2xindex>) -> memref<?x?xf32>
  %5 = memref.transpose %m (i, j) -> (j, i) : memref<?x16xf32> to memref<16x?xf32, affine_map<(d0, d1) -> (d1 * 16 + d0)>>
  %6 = memref.atomic_rmw addf %f, %m[%n, %n] : (f32, memref<?x16xf32>) -> f32
  %7 = memref.generic_atomic_rmw %m[%n, %n] : memref<?x16xf32> {
  ^bb0(%c: f32):
    memref.atomic_yield %c : f32
  }
  memref.prefetch %m[%n, %n], read, locality<3>, data : memref<?x16xf32>
  %8 = memref.dim %m, %n : memref<?x16xf32>
  %9 = memref.rank %u : memref<*xf32>
  memref.assume_alignment %g, 64 : memref<16xf32>
  %10 = memref.memory_space_cast %g : memref<16xf32> to memref<16xf32, 3>
  %11 = memref.collapse_shape %m [[0, 1]] : memref<?x16xf32> into memref<?xf32>
  %12 = memref.expand_shape %g [[0, 1]] output_shape [4, 4] : memref<16xf32> into memref<4x4xf32>
  %13 = memref.extract_aligned_pointer_as_index %g : memref<16xf32> -> index
  %14, %15 = memref.distinct_objects %g, %r : memref<16xf32>, memref<64xf32>
  return
}
// -----
func.func @mem3(%n: index, %g: memref<16xf32>, %h: memref<16xf32, 1>, %t: memref<1xi32>, %r: memref<64xf32>) {
  memref.dma_start %g[%n], %h[%n], %n, %t[%n] : memref<16xf32>, memref<16xf32, 1>, memref<1xi32>
  memref.dma_wait %t[%n], %n : memref<1xi32>
  %14, %15 = memref.distinct_objects %g, %r : memref<16xf32>, memref<64xf32>
  %16 = memref.assume_alignment %g, 64 : memref<16xf32>
  return
}
// -----
memref.global "private" constant @c : memref<4xf32> = dense<[0.0, 1.0, 2.0, 3.0]> {alignment = 16}
memref.global @x : memref<4xf32> = uninitialized
func.func @gg() -> memref<4xf32> {
  %0 = memref.get_global @c : memref<4xf32>
  return %0 : memref<4xf32>
}
// -----
func.func @aff(%n: index, %m: memref<?x?xf32>, %v: vector<8xf32>) -> f32 {
  %c = arith.constant 0.0 : f32
  %r = affine.for %i = max affine_map<(d0) -> (0, d0 - 4)>(%n) to min affine_map<(d0)[s0] -> (d0, s0)>(%n)[%n] step 2 iter_args(%a = %c) -> (f32) {
    %x = affine.load %m[%i + 3, symbol(%n) * 2] : memref<?x?xf32>
    %y = affine.vector_load %m[%i, %i mod 3] : memref<?x?xf32>, vector<8xf32>
    affine.store %x, %m[%i floordiv 2, %n] : memref<?x?xf32>
    affine.vector_store %y, %m[%i, 0] : memref<?x?xf32>, vector<8xf32>
    affine.prefetch %m[%i, %i + 5], read, locality<3>, data : memref<?x?xf32>
    %z = affine.if affine_set<(d0)[s0] : (d0 - 10 >= 0, s0 - d0 >= 0)>(%i)[%n] -> f32 {
      affine.yield %x : f32
    } else {
      affine.yield %a : f32
    }
    affine.yield %z : f32
  }
  affine.parallel (%i, %j) = (0, max(%n, 4)) to (min(%n, 100), 50) step (2, 1) {
    affine.store %r, %m[%i, %j] : memref<?x?xf32>
  }
  %p = affine.parallel (%i) = (0) to (%n) reduce ("addf") -> (f32) {
    affine.yield %r : f32
  }
  %d:2 = affine.delinearize_index %n into (4, %n) : index, index
  %l = affine.linearize_index disjoint [%d#0, %d#1] by (4, %n) : index
  %e = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%n)[%l]
  %mi = affine.min affine_map<(d0)[s0] -> (1000, d0 + 512, s0)>(%n)[%e]
  return %p : f32
}
// -----
func.func @dma(%i: index, %j: index, %a: memref<40x128xf32>, %b: memref<2x1024xf32, 1>, %t: memref<1xi32>, %n: index) {
  affine.dma_start %a[%i + 3, %j], %b[%i, %j], %t[%i], %n : memref<40x128xf32>, memref<2x1024xf32, 1>, memref<1xi32>
  affine.dma_wait %t[%i], %n : memref<1xi32>
  return
}
// -----
func.func @sc(%n: index, %c: i1, %m: memref<4xf32>, %t: tensor<16xf32>, %f: f32, %k: i32, %s: tensor<4xf32>) {
  %0:2 = scf.for %i = %n to %n step %n iter_args(%a = %m, %b = %f) -> (memref<4xf32>, f32) {
    scf.yield %a, %b : memref<4xf32>, f32
  } {llvm.loop_annotation = #llvm.loop_annotation<vectorize = <disable = true>>}
  scf.for unsigned %i = %k to %k step %k : i32 {
  }
  %1 = scf.forall (%i, %j) = (0, 1) to (%n, 8) step (1, 2) shared_outs(%o = %t) -> (tensor<16xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [4] [1] : tensor<4xf32> into tensor<16xf32>
    }
  } {mapping = [#gpu.thread<x>, #gpu.thread<y>]}
  return
}
// -----
func.func @sc2(%n: index, %c: i1, %m: memref<4xf32>, %t: tensor<16xf32>, %f: f32, %k: i32, %s: tensor<4xf32>) -> f32 {
  scf.for unsigned %i = %k to %k step %k : i32 {
  }
  %1 = scf.forall (%i, %j) = (0, 1) to (%n, 8) step (1, 2) shared_outs(%o = %t) -> (tensor<16xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [4] [1] : tensor<4xf32> into tensor<16xf32>
    }
  } {mapping = [#gpu.thread<x>, #gpu.thread<y>]}
  %2 = scf.parallel (%i) = (%n) to (%n) step (%n) init (%f) -> f32 {
    scf.reduce(%f : f32) {
    ^bb0(%a: f32, %b: f32):
      %d = arith.addf %a, %b : f32
      scf.reduce.return %d : f32
    }
  }
  %3 = scf.execute_region -> memref<4xf32> no_inline {
    cf.br ^x
  ^x:
    scf.yield %m : memref<4xf32>
  }
  %4:2 = scf.index_switch %n -> memref<4xf32>, i32
  case 2 {
    scf.yield %m, %k : memref<4xf32>, i32
  }
  case -5 {
    scf.yield %m, %k : memref<4xf32>, i32
  }
  default {
    scf.yield %m, %k : memref<4xf32>, i32
  }
  %5:2 = scf.while (%a = %m, %b = %k) : (memref<4xf32>, i32) -> (i32, memref<4xf32>) {
    scf.condition(%c) %b, %a : i32, memref<4xf32>
  } do {
  ^bb0(%x: i32, %y: memref<4xf32>):
    scf.yield %y, %x : memref<4xf32>, i32
  } attributes {tag = 1}
  return %2 : f32
}
// -----
func.func @omp(%a: i32, %m: memref<4xi32>, %c: i1, %n: index) {
  omp.parallel if(%c) num_threads(%a : i32) proc_bind(close) {
    omp.wsloop schedule(static = %a : i32) nowait {
      omp.loop_nest (%i, %j) : index = (%n, %n) to (%n, %n) inclusive step (%n, %n) {
        omp.yield
      }
    }
    omp.barrier
    omp.terminator
  }
  omp.single copyprivate(%m -> @cp : memref<4xi32>) {
    omp.terminator
  }
  omp.task depend(taskdependin -> %m : memref<4xi32>) final(%c) untied priority(%a : i32) {
    omp.terminator
  }
  omp.critical { omp.terminator }
  omp.master { omp.terminator }
  omp.sections { 
    omp.section { omp.terminator }
    omp.section { omp.terminator }
    omp.terminator
  }
  omp.atomic.update %m : memref<4xi32> {
  ^bb0(%x: i32):
    omp.yield(%x : i32)
  }
  omp.atomic.write %m = %a hint(speculative) : memref<4xi32>, i32
  return
}
func.func @cp(%a: memref<4xi32>, %b: memref<4xi32>) { return }
// -----
func.func @omp2(%a: i32, %m: memref<4xi32>, %p: !llvm.ptr, %c: i1, %n: index) {
  omp.atomic.write %p = %a : !llvm.ptr, i32
  omp.taskgroup { omp.terminator }
  omp.taskloop grainsize(%a: i32) {
    omp.loop_nest (%i) : index = (%n) to (%n) step (%n) {
      omp.yield
    }
  }
  omp.simd safelen(4) aligned(%m : memref<4xi32> -> 32 : i64) {
    omp.loop_nest (%i) : index = (%n) to (%n) step (%n) {
      omp.yield
    }
  }
  omp.flush(%m : memref<4xi32>)
  omp.teams num_teams(%a : i32 to %a : i32) thread_limit(%a : i32) {
    omp.terminator
  }
  omp.taskwait
  omp.ordered.region { omp.terminator }
  return
}
// -----
func.func @acc2(%m: memref<10xf32>, %a: i32, %n: index) {
  %b = acc.bounds lowerbound(%n : index) upperbound(%n : index) stride(%n : index)
  %0 = acc.create varPtr(%m : memref<10xf32>) bounds(%b) -> memref<10xf32> {name = "x{"}
  acc.data dataOperands(%0 : memref<10xf32>) {
    acc.serial { acc.yield }
    acc.kernels { acc.terminator }
    acc.terminator
  }
  acc.enter_data dataOperands(%0 : memref<10xf32>)
  acc.exit_data dataOperands(%0 : memref<10xf32>)
  acc.delete accPtr(%0 : memref<10xf32>)
  %p = acc.getdeviceptr varPtr(%m : memref<10xf32>) -> memref<10xf32> {dataClause = #acc<data_clause acc_update_host>}
  return
}
// -----
func.func @async2(%m: memref<4xf32>, %n: index, %av: !async.value<index>) {
  %t = async.execute {
    async.yield
  }
  %t2, %v = async.execute [%t] (%av as %x : !async.value<index>) -> !async.value<memref<4xf32>> {
    async.yield %m : memref<4xf32>
  }
  %r = async.await %v : !async.value<memref<4xf32>>
  async.await %t : !async.token
  %g = async.create_group %n : !async.group
  %i = async.add_to_group %t, %g : !async.token
  async.await_all %g
  %rt = async.runtime.create : !async.token
  async.runtime.set_available %rt : !async.token
  return
}
async.func @af(%x: i32) -> !async.value<i32> {
  return %x : i32
}
// -----
func.func @lin2(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %c: tensor<4x16xf32>, %m: memref<4x8xf32>, %v: tensor<8xf32>, %n: index, %f: f32, %vb: tensor<4xf32>, %pk: tensor<1x2x4x4xf32>) {
  %0 = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
  %1 = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
  %2 = linalg.reduce { arith.addf } ins(%a : tensor<4x8xf32>) outs(%vb : tensor<4xf32>) dimensions = [1]
  %3 = linalg.broadcast ins(%v : tensor<8xf32>) outs(%a : tensor<4x8xf32>) dimensions = [0]
  %4 = linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = linalg.softmax dimension(1) ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = linalg.pack %a inner_dims_pos = [0, 1] inner_tiles = [4, 4] into %pk : tensor<4x8xf32> -> tensor<1x2x4x4xf32>
  %7 = linalg.unpack %pk inner_dims_pos = [0, 1] inner_tiles = [4, 4] into %a : tensor<1x2x4x4xf32> -> tensor<4x8xf32>
  linalg.fill ins(%f : f32) outs(%m : memref<4x8xf32>)
  %8 = linalg.map ins(%a, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) (%x: f32, %y: f32, %o: f32) {
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  }
  return
}
// -----
func.func @tens(%a: tensor<4x?xf32>, %n: index, %f: f32, %s: tensor<2xindex>, %ix: tensor<3x1xindex>, %e: tensor<4x4xf32>) {
  %0 = tensor.extract_slice %a[%n, 0] [1, %n] [1, 2] : tensor<4x?xf32> to tensor<?xf32>
  %1 = tensor.insert_slice %e into %a[0, %n] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x?xf32>
  %2 = tensor.pad %a nofold low[1, %n] high[%n, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %f : f32
  } : tensor<4x?xf32> to tensor<?x?xf32>
  %3 = tensor.generate %n {
  ^bb0(%i: index):
    tensor.yield %f : f32
  } : tensor<?xf32>
  %4 = tensor.reshape %e(%s) : (tensor<4x4xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %5 = tensor.expand_shape %a [[0], [1, 2]] output_shape [4, %n, 2] : tensor<4x?xf32> into tensor<4x?x2xf32>
  %6 = tensor.gather %e[%ix] gather_dims([0]) : (tensor<4x4xf32>, tensor<3x1xindex>) -> tensor<3x1x4xf32>
  %7 = tensor.concat dim(0) %e, %e : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %8 = tensor.splat %f[%n] : tensor<?xf32>
  %9 = tensor.from_elements %f, %f : tensor<2xf32>
  %10 = tensor.empty(%n) : tensor<?xf32>
  %11 = tensor.dim %a, %n : tensor<4x?xf32>
  %12 = tensor.bitcast %e : tensor<4x4xf32> to tensor<4x4xi32>
  %13 = tensor.extract %e[%n, %n] : tensor<4x4xf32>
  return
}
// -----
func.func @buf2(%t: tensor<?xf32>, %m: memref<?xf32>, %n: index, %c: i1, %m2: memref<8xf32>) {
  %0 = bufferization.alloc_tensor(%n) size_hint=%n : tensor<?xf32>
  %1 = bufferization.alloc_tensor() copy(%t) {memory_space = 3 : i64} : tensor<?xf32>
  %2 = bufferization.clone %m : memref<?xf32> to memref<?xf32>
  %3 = bufferization.to_tensor %m restrict writable : memref<?xf32> to tensor<?xf32>
  %4 = bufferization.to_buffer %t read_only : tensor<?xf32> to memref<?xf32>
  %5:2 = bufferization.dealloc (%m, %m2 : memref<?xf32>, memref<8xf32>) if (%c, %c) retain (%4, %2 : memref<?xf32>, memref<?xf32>)
  bufferization.dealloc (%m : memref<?xf32>) if (%c)
  %6 = bufferization.materialize_in_destination %t in %3 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  bufferization.materialize_in_destination %t in restrict writable %m : (tensor<?xf32>, memref<?xf32>) -> ()
  bufferization.dealloc_tensor %0 : tensor<?xf32>
  return
}
// -----
func.func @cfs(%c: i1, %k: i32, %m: memref<4xf32>, %n: memref<4xf32>) {
  cf.switch %k : i32, [
    default: ^a(%m, %k : memref<4xf32>, i32),
    42: ^a(%n, %k : memref<4xf32>, i32),
    -7: ^b
  ]
^a(%x: memref<4xf32>, %y: i32):
  cf.cond_br %c weights([90, 10]), ^b, ^a(%x, %y : memref<4xf32>, i32)
^b:
  cf.assert %c, "message {"
  %f = func.constant @cfs : (i1, i32, memref<4xf32>, memref<4xf32>) -> ()
  func.call_indirect %f(%c, %k, %m, %n) : (i1, i32, memref<4xf32>, memref<4xf32>) -> ()
  return
}
// -----
func.func private @decl(memref<4xf32> {llvm.noalias}, index) -> (memref<4xf32> {x.y = "->"}, index) attributes {a = "{"}
func.func public @use(%a: memref<4xf32> loc("x":1:2), %b: index) -> (memref<4xf32>, index) {
  %0:2 = call @decl(%a, %b) {no_inline} : (memref<4xf32>, index) -> (memref<4xf32>, index)
  return %0#0, %0#1 : memref<4xf32>, index
}

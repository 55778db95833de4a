// Kernels on pointers and tiles in shared memory, and kernels for matrix units.
tt.func public @kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: i32) attributes {noinline = false} {
  // uses:
  %c = arith.constant 64 : i32
  // uses:
  %0 = tt.get_program_id x : i32
  // uses:
  %1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // uses: %arg0
  %2 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  // uses: %2 %1
  %3 = tt.addptr %2, %1 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // uses: %3 %mask %other
  %4 = tt.load %3, %mask, %other evictionPolicy = evict_last {cache = 1 : i32} : tensor<64x!tt.ptr<f32>>
  // uses: %1
  %5 = tt.expand_dims %1 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // uses: %5
  %6 = tt.broadcast %5 : tensor<1x64xi32> -> tensor<64x64xi32>
  // uses: %a %b %acc
  %7 = tt.dot %a, %b, %acc, inputPrecision = tf32 : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %8 = "tt.reduce"(%4) <{axis = 0 : i32}> ({
  ^bb0(%x: f32, %y: f32):
    // uses: %x %y
    %s = arith.addf %x, %y : f32
    // uses: %s
    tt.reduce.return %s : f32
  }) : (tensor<64xf32>) -> f32
  %9:2 = scf.for %i = %c to %arg1 step %c iter_args(%p = %3, %q = %4) -> (tensor<64x!tt.ptr<f32>>, tensor<64xf32>)  : i32 {
    scf.yield %p, %q : tensor<64x!tt.ptr<f32>>, tensor<64xf32>
  } {tt.num_stages = 3 : i32}
  // uses: %3 %4 %mask
  %10 = tt.atomic_rmw fadd, acq_rel, gpu, %3, %4, %mask : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, tensor<64xi1>) -> tensor<64xf32>
  // uses: %arg0 %x1 %y1
  %11 = tt.atomic_cas acq_rel, gpu, %arg0, %x1, %y1 : (!tt.ptr<f32>, i32, i32) -> i32
  // uses: %arg0 %l %l %l %l %c %c
  %12 = tt.make_tensor_ptr %arg0, [%l, %l], [%l, %l], [%c, %c] {order = array<i32: 1, 0>} : <tensor<64x64xf16>>
  // uses: %12 %c %c
  %13 = tt.advance %12, [%c, %c] : <tensor<64x64xf16>>
  // uses: %arg0 %c %c %l %l
  %14 = tt.make_tensor_descriptor %arg0, [%c, %c], [%l, %l] : !tt.ptr<f32>, !tt.tensordesc<tensor<8x8xf32>>
  // uses: %14 %c %c
  %15 = tt.descriptor_load %14[%c, %c] : !tt.tensordesc<tensor<8x8xf32>> -> tensor<8x8xf32>
  // uses: %14 %c %c %15
  tt.descriptor_store %14[%c, %c], %15 : !tt.tensordesc<tensor<8x8xf32>>, tensor<8x8xf32>
  // uses: %4
  %16 = tt.extern_elementwise %4 {libname = "", libpath = "", pure = true, symbol = "__nv_sinf"} : (tensor<64xf32>) -> tensor<64xf32>
  // uses: %1
  %17 = tt.elementwise_inline_asm "shl.b32 $0, $0, 3;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %1 : tensor<64xi32> -> tensor<64xi32>
  // uses: %4
  tt.print "x" {hex = false, isSigned = array<i32: 0>} : %4 : tensor<64xf32>
  // uses: %mask
  tt.assert %mask, "oops" : tensor<64xi1>
  // uses: %6
  %18 = tt.trans %6 {order = array<i32: 1, 0>} : tensor<64x64xi32> -> tensor<64x64xi32>
  // uses: %arg1
  %19 = tt.call @other(%arg1) : (i32) -> i32
  // uses: %4
  %20 = tt.fp_to_fp %4, rounding = rtne : tensor<64xf32> -> tensor<64xf16>
  // uses: %1 %mask
  %21 = tt.histogram %1, %mask : tensor<64xi32> -> tensor<16xi32>
  // uses: %3 %4 %mask
  tt.store %3, %4, %mask cacheModifier = cs : tensor<64x!tt.ptr<f32>>
  // uses:
  tt.return
}
// -----
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#linear = #ttg.linear<{register = [[0, 1], [8, 0]], lane = [[1, 0], [2, 0]], warp = [[32, 0]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @k(%a: tensor<64x64xf16, #blocked>, %i: i32, %ptr: !tt.ptr<f16>) {
    // uses: %a
    %0 = ttg.local_alloc %a : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // uses:
    %1 = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    // uses: %1 %i
    %2 = ttg.memdesc_index %1[%i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // uses: %1 %i %i %i
    %3 = ttg.memdesc_subview %1[%i, %i, %i] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable, 3x64x64>
    // uses: %p %2 %m %o
    %4 = ttg.async_copy_global_to_local %p, %2 mask %m other %o cacheModifier = cg : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
    // uses: %4
    %5 = ttg.async_commit_group tokens %4
    // uses: %5 %5
    %6 = ttg.async_wait %5, %5 {num = 2 : i32}
    // uses: %2 %6
    %7 = ttg.local_load %2 token %6 : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
    // uses: %a
    %8 = ttg.convert_layout %a : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #mma>
    // uses: %1
    ttg.local_dealloc %1 : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    // uses: %0 %2 %acc
    %9 = ttng.warp_group_dot %0, %2, %acc {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
    // uses: %9 %0 %2
    %10:3 = ttng.warp_group_dot_wait %9, %0, %2 {pendings = 1 : i32} : tensor<64x64xf32, #mma>, !ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.memdesc<64x64xf16, #shared, #smem>
    // uses: %bar
    ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    // uses: %bar %i %pred %0 %2
    ttng.wait_barrier %bar, %i, %pred deps %0, %2 : !ttg.memdesc<1xi64, #shared, #smem, mutable>, !ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.memdesc<64x64xf16, #shared, #smem>
    // uses: %desc %i %i %2 %bar %pred
    ttng.async_tma_copy_global_to_local %desc[%i, %i] %2, %bar, %pred : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<1xi64, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttg.warp_specialize(%0, %i) attributes {requestedRegisters = array<i32: 24>}
    default {
      // uses:
      ttg.warp_yield
    }
    partition0(%arg0: !ttg.memdesc<64x64xf16, #shared, #smem>, %arg1: i32) num_warps(4) {
      // uses:
      ttg.warp_return
    }
    partition1(%arg0: !ttg.memdesc<64x64xf16, #shared, #smem>, %arg1: i32) num_warps(2) {
      // uses:
      ttg.warp_return
    } : (!ttg.memdesc<64x64xf16, #shared, #smem>, i32) -> ()
    // uses: %m2 %i %i %i
    %11 = amdgpu.raw_buffer_load {boundsCheck = true} %m2[%i, %i] sgprOffset %i : memref<64xf32>, i32, i32 -> vector<4xf32>
    // uses: %ptr %off %mask %o %i
    %12 = amdg.buffer_load %ptr[%off], %mask, %o cacheModifier = ca stride = %i : tensor<64xf16, #blocked>
    // uses:
    tt.return
  }
}
// -----
func.func @tpu(%arg0: i32, %arg1: memref<8x128xf32, #tpu.memory_space<vmem>>, %sem: memref<!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>) attributes {dimension_semantics = [#tpu.dimension_semantics<arbitrary>], scalar_prefetch = 0 : i64, window_params = [{transform_indices = @transform_0, window_bounds = array<i64: 8, 128>}]} {
  // uses:
  %c0 = arith.constant 0 : index
  // uses: %arg1 %c0 %c0
  %0 = tpu.load %arg1[%c0, %c0] {sublane_mask = array<i1: true>} : memref<8x128xf32, #tpu.memory_space<vmem>>, vector<8x128xf32>
  // uses: %arg1 %c0 %c0 %0
  tpu.vector_store %arg1[%c0, %c0], %0 {strides = array<i32>} : memref<8x128xf32, #tpu.memory_space<vmem>>, vector<8x128xf32>, vector<8x128xf32>
  // uses: %0 %0 %0
  %1 = tpu.matmul %0, %0, %0 {dimension_numbers = #tpu.dot_dimension_numbers<[1], [0], [0], [1], [0, 0, 1, 1], [], []>} : vector<8x128xf32>, vector<8x128xf32>, vector<8x128xf32> -> vector<8x128xf32>
  // uses: %arg1 %hbm %sem
  tpu.enqueue_dma source(%arg1 : memref<8x128xf32, #tpu.memory_space<vmem>>) target(%hbm : memref<8x128xf32, #tpu.memory_space<any>>) target_semaphore(%sem : memref<!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>)
  // uses: %sem %arg1 %hbm
  tpu.wait_dma2 semaphore(%sem : memref<!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>) src(%arg1 : memref<8x128xf32, #tpu.memory_space<vmem>>) dst(%hbm : memref<8x128xf32, #tpu.memory_space<any>>)
  // uses: %arg1 %c0 %c0
  %2 = tpu.memref_slice %arg1[%c0, %c0] : memref<8x128xf32, #tpu.memory_space<vmem>> -> memref<8x8xf32, #tpu.memory_space<vmem>>
  // uses:
  %3 = tpu.iota {dimensions = array<i32: 0>} : vector<8x128xi32>
  "tpu.region"() ({
    // uses:
    tpu.yield
  }) : () -> ()
  // uses:
  tpu.trace_start {level = 10 : i32, message = "x"}
  return
}

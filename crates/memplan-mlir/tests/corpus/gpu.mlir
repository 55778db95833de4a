func.func @launches(%n: index, %m: memref<16xf32>, %s: i32) {
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    %x = memref.load %m[%tx] : memref<16xf32>
    memref.store %x, %m[%bx] : memref<16xf32>
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) dynamic_shared_memory_size %s {
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) workgroup(%w : memref<32xf32, 3>) private(%p : memref<1xf32, 5>) {
    %x = memref.load %w[%tx] : memref<32xf32, 3>
    gpu.terminator
  }
  %t = gpu.wait async
  %u = gpu.launch async [%t] blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    gpu.terminator
  }
  gpu.wait [%u]
  return
}
// -----
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%a: memref<16xf32>, %b: f32) workgroup(%w : memref<32xf32, 3>) private(%p : memref<1xf32, 5>) kernel {
      %t = gpu.thread_id x
      %b0 = gpu.block_id y
      %d = gpu.block_dim z
      %g = gpu.grid_dim x
      %l = gpu.lane_id
      %gi = gpu.global_id x
      %sg = gpu.subgroup_id : index
      %x = memref.load %a[%t] : memref<16xf32>
      gpu.barrier
      %r = gpu.all_reduce add %x {
      } : (f32) -> f32
      %r2 = gpu.all_reduce %x {
      ^bb0(%l0: f32, %r0: f32):
        %s = arith.addf %l0, %r0 : f32
        "gpu.yield"(%s) : (f32) -> ()
      } : (f32) -> f32
      %q = gpu.subgroup_reduce add %x : (f32) -> f32
      %c = arith.constant 1 : i32
      %v, %p0 = gpu.shuffle xor %x, %c, %c : f32
      gpu.printf "hello %f\n", %x : f32
      %dyn = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      gpu.return
    }
    gpu.func @other() {
      gpu.return
    }
  }
  func.func @host(%a: memref<16xf32>, %b: f32, %n: index, %s: i32) {
    gpu.launch_func @kernels::@kernel blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%a : memref<16xf32>, %b : f32)
    %t0 = gpu.wait async
    %t1 = gpu.launch_func async [%t0] @kernels::@kernel blocks in (%n, %n, %n) threads in (%n, %n, %n) dynamic_shared_memory_size %s args(%a : memref<16xf32>, %b : f32)
    %m, %t2 = gpu.alloc async [%t1] () : memref<13xf32, 1>
    %m2 = gpu.alloc (%n) : memref<?xf32, 1>
    %m3, %t3 = gpu.alloc async [%t2] (%n) {acme.tag} : memref<?xf32, 1>
    %t4 = gpu.memcpy async [%t3] %a, %a : memref<16xf32>, memref<16xf32>
    gpu.memcpy %a, %a : memref<16xf32>, memref<16xf32>
    %t5 = gpu.memset async [%t4] %a, %b : memref<16xf32>, f32
    %t6 = gpu.dealloc async [%t5] %m : memref<13xf32, 1>
    gpu.dealloc %m2 : memref<?xf32, 1>
    %u = memref.cast %a : memref<16xf32> to memref<*xf32>
    gpu.host_register %u : memref<*xf32>
    gpu.host_unregister %u : memref<*xf32>
    gpu.set_default_device %s
    return
  }
}
// -----
func.func @matrices(%a: memref<32x32xf16>, %i: index) {
  %0 = gpu.subgroup_mma_load_matrix %a[%i, %i] {leadDimension = 32 : index} : memref<32x32xf16> -> !gpu.mma_matrix<16x16xf16, "AOp">
  %1 = gpu.subgroup_mma_load_matrix %a[%i, %i] {leadDimension = 32 : index} : memref<32x32xf16> -> !gpu.mma_matrix<16x16xf16, "BOp">
  %2 = gpu.subgroup_mma_load_matrix %a[%i, %i] {leadDimension = 32 : index} : memref<32x32xf16> -> !gpu.mma_matrix<16x16xf16, "COp">
  %3 = gpu.subgroup_mma_compute %0, %1, %2 : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp"> -> !gpu.mma_matrix<16x16xf16, "COp">
  gpu.subgroup_mma_store_matrix %3, %a[%i, %i] {leadDimension = 32 : index} : !gpu.mma_matrix<16x16xf16, "COp">, memref<32x32xf16>
  return
}
// -----
func.func @warps(%l: index, %v: vector<4xf32>) {
  %0 = gpu.warp_execute_on_lane_0(%l)[32] -> (vector<1xf32>) {
    %1 = "acme.make"() : () -> vector<32xf32>
    gpu.yield %1 : vector<32xf32>
  }
  gpu.warp_execute_on_lane_0(%l)[32] args(%v : vector<4xf32>) {
  ^bb0(%x: vector<128xf32>):
    "acme.use"(%x) : (vector<128xf32>) -> ()
  }
  return
}

module {
  func.func @launches(%arg0: index, %arg1: memref<16xf32>, %arg2: i32) {
    gpu.launch blocks(%arg3, %arg4, %arg5) in (%arg9 = %arg0, %arg10 = %arg0, %arg11 = %arg0) threads(%arg6, %arg7, %arg8) in (%arg12 = %arg0, %arg13 = %arg0, %arg14 = %arg0) {
      %2 = memref.load %arg1[%arg6] : memref<16xf32>
      memref.store %2, %arg1[%arg3] : memref<16xf32>
      gpu.terminator
    }
    gpu.launch blocks(%arg3, %arg4, %arg5) in (%arg9 = %arg0, %arg10 = %arg0, %arg11 = %arg0) threads(%arg6, %arg7, %arg8) in (%arg12 = %arg0, %arg13 = %arg0, %arg14 = %arg0) dynamic_shared_memory_size %arg2 {
      gpu.terminator
    }
    gpu.launch blocks(%arg3, %arg4, %arg5) in (%arg9 = %arg0, %arg10 = %arg0, %arg11 = %arg0) threads(%arg6, %arg7, %arg8) in (%arg12 = %arg0, %arg13 = %arg0, %arg14 = %arg0) workgroup(%arg15 : memref<32xf32, 3>) private(%arg16 : memref<1xf32, 5>) {
      %2 = memref.load %arg15[%arg6] : memref<32xf32, 3>
      gpu.terminator
    }
    %0 = gpu.wait async
    %1 = gpu.launch async [%0] blocks(%arg3, %arg4, %arg5) in (%arg9 = %arg0, %arg10 = %arg0, %arg11 = %arg0) threads(%arg6, %arg7, %arg8) in (%arg12 = %arg0, %arg13 = %arg0, %arg14 = %arg0) {
      gpu.terminator
    }
    gpu.wait [%1]
    return
  }
}

// -----
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%arg0: memref<16xf32>, %arg1: f32) workgroup(%arg2 : memref<32xf32, 3>) private(%arg3 : memref<1xf32, 5>) kernel {
      %thread_id_x = gpu.thread_id  x
      %block_id_y = gpu.block_id  y
      %block_dim_z = gpu.block_dim  z
      %grid_dim_x = gpu.grid_dim  x
      %0 = gpu.lane_id
      %global_id_x = gpu.global_id  x
      %1 = gpu.subgroup_id : index
      %2 = memref.load %arg0[%thread_id_x] : memref<16xf32>
      gpu.barrier
      %3 = gpu.all_reduce  add %2 {
      } : (f32) -> f32
      %4 = gpu.all_reduce  %2 {
      ^bb0(%arg4: f32, %arg5: f32):
        %7 = arith.addf %arg4, %arg5 : f32
        gpu.yield %7 : f32
      } : (f32) -> f32
      %5 = gpu.subgroup_reduce  add %2 : (f32) -> f32
      %c1_i32 = arith.constant 1 : i32
      %shuffleResult, %valid = gpu.shuffle  xor %2, %c1_i32, %c1_i32 : f32
      gpu.printf "hello %f\0A", %2 : f32
      %6 = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      gpu.return
    }
    gpu.func @other() {
      gpu.return
    }
  }
  func.func @host(%arg0: memref<16xf32>, %arg1: f32, %arg2: index, %arg3: i32) {
    gpu.launch_func  @kernels::@kernel blocks in (%arg2, %arg2, %arg2) threads in (%arg2, %arg2, %arg2)  args(%arg0 : memref<16xf32>, %arg1 : f32)
    %0 = gpu.wait async
    %1 = gpu.launch_func async [%0] @kernels::@kernel blocks in (%arg2, %arg2, %arg2) threads in (%arg2, %arg2, %arg2)  dynamic_shared_memory_size %arg3 args(%arg0 : memref<16xf32>, %arg1 : f32)
    %memref, %asyncToken = gpu.alloc async [%1] () : memref<13xf32, 1>
    %memref_0 = gpu.alloc  (%arg2) : memref<?xf32, 1>
    %memref_1, %asyncToken_2 = gpu.alloc async [%asyncToken] (%arg2) {acme.tag} : memref<?xf32, 1>
    %2 = gpu.memcpy async [%asyncToken_2] %arg0, %arg0 : memref<16xf32>, memref<16xf32>
    gpu.memcpy  %arg0, %arg0 : memref<16xf32>, memref<16xf32>
    %3 = gpu.memset async [%2] %arg0, %arg1 : memref<16xf32>, f32
    %4 = gpu.dealloc async [%3] %memref : memref<13xf32, 1>
    gpu.dealloc  %memref_0 : memref<?xf32, 1>
    %cast = memref.cast %arg0 : memref<16xf32> to memref<*xf32>
    gpu.host_register %cast : memref<*xf32>
    gpu.host_unregister %cast : memref<*xf32>
    gpu.set_default_device %arg3
    return
  }
}

// -----
module {
  func.func @matrices(%arg0: memref<32x32xf16>, %arg1: index) {
    %0 = gpu.subgroup_mma_load_matrix %arg0[%arg1, %arg1] {leadDimension = 32 : index} : memref<32x32xf16> -> !gpu.mma_matrix<16x16xf16, "AOp">
    %1 = gpu.subgroup_mma_load_matrix %arg0[%arg1, %arg1] {leadDimension = 32 : index} : memref<32x32xf16> -> !gpu.mma_matrix<16x16xf16, "BOp">
    %2 = gpu.subgroup_mma_load_matrix %arg0[%arg1, %arg1] {leadDimension = 32 : index} : memref<32x32xf16> -> !gpu.mma_matrix<16x16xf16, "COp">
    %3 = gpu.subgroup_mma_compute %0, %1, %2 : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp"> -> !gpu.mma_matrix<16x16xf16, "COp">
    gpu.subgroup_mma_store_matrix %3, %arg0[%arg1, %arg1] {leadDimension = 32 : index} : !gpu.mma_matrix<16x16xf16, "COp">, memref<32x32xf16>
    return
  }
}

// -----
module {
  func.func @warps(%arg0: index, %arg1: vector<4xf32>) {
    %0 = gpu.warp_execute_on_lane_0(%arg0)[32] -> (vector<1xf32>) {
      %1 = "acme.make"() : () -> vector<32xf32>
      gpu.yield %1 : vector<32xf32>
    }
    gpu.warp_execute_on_lane_0(%arg0)[32] args(%arg1 : vector<4xf32>) {
    ^bb0(%arg2: vector<128xf32>):
      "acme.use"(%arg2) : (vector<128xf32>) -> ()
    }
    return
  }
}


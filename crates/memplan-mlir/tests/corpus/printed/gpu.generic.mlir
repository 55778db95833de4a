"builtin.module"() ({
  "func.func"() <{function_type = (index, memref<16xf32>, i32) -> (), sym_name = "launches"}> ({
  ^bb0(%arg0: index, %arg1: memref<16xf32>, %arg2: i32):
    "gpu.launch"(%arg0, %arg0, %arg0, %arg0, %arg0, %arg0) <{operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0>}> ({
    ^bb0(%arg41: index, %arg42: index, %arg43: index, %arg44: index, %arg45: index, %arg46: index, %arg47: index, %arg48: index, %arg49: index, %arg50: index, %arg51: index, %arg52: index):
      %3 = "memref.load"(%arg1, %arg44) : (memref<16xf32>, index) -> f32
      "memref.store"(%3, %arg1, %arg41) : (f32, memref<16xf32>, index) -> ()
      "gpu.terminator"() : () -> ()
    }) {workgroup_attributions = 0 : i64} : (index, index, index, index, index, index) -> ()
    "gpu.launch"(%arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg2) <{operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1>}> ({
    ^bb0(%arg29: index, %arg30: index, %arg31: index, %arg32: index, %arg33: index, %arg34: index, %arg35: index, %arg36: index, %arg37: index, %arg38: index, %arg39: index, %arg40: index):
      "gpu.terminator"() : () -> ()
    }) {workgroup_attributions = 0 : i64} : (index, index, index, index, index, index, i32) -> ()
    "gpu.launch"(%arg0, %arg0, %arg0, %arg0, %arg0, %arg0) <{operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0>}> ({
    ^bb0(%arg15: index, %arg16: index, %arg17: index, %arg18: index, %arg19: index, %arg20: index, %arg21: index, %arg22: index, %arg23: index, %arg24: index, %arg25: index, %arg26: index, %arg27: memref<32xf32, 3>, %arg28: memref<1xf32, 5>):
      %2 = "memref.load"(%arg27, %arg18) : (memref<32xf32, 3>, index) -> f32
      "gpu.terminator"() : () -> ()
    }) {workgroup_attributions = 1 : i64} : (index, index, index, index, index, index) -> ()
    %0 = "gpu.wait"() : () -> !gpu.async.token
    %1 = "gpu.launch"(%0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0>}> ({
    ^bb0(%arg3: index, %arg4: index, %arg5: index, %arg6: index, %arg7: index, %arg8: index, %arg9: index, %arg10: index, %arg11: index, %arg12: index, %arg13: index, %arg14: index):
      "gpu.terminator"() : () -> ()
    }) {workgroup_attributions = 0 : i64} : (!gpu.async.token, index, index, index, index, index, index) -> !gpu.async.token
    "gpu.wait"(%1) : (!gpu.async.token) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "gpu.module"() <{sym_name = "kernels"}> ({
    "gpu.func"() <{function_type = (memref<16xf32>, f32) -> ()}> ({
    ^bb0(%arg4: memref<16xf32>, %arg5: f32, %arg6: memref<32xf32, 3>, %arg7: memref<1xf32, 5>):
      %9 = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
      %10 = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
      %11 = "gpu.block_dim"() <{dimension = #gpu<dim z>}> : () -> index
      %12 = "gpu.grid_dim"() <{dimension = #gpu<dim x>}> : () -> index
      %13 = "gpu.lane_id"() : () -> index
      %14 = "gpu.global_id"() <{dimension = #gpu<dim x>}> : () -> index
      %15 = "gpu.subgroup_id"() : () -> index
      %16 = "memref.load"(%arg4, %9) : (memref<16xf32>, index) -> f32
      "gpu.barrier"() : () -> ()
      %17 = "gpu.all_reduce"(%16) <{op = #gpu<all_reduce_op add>}> ({
      }) : (f32) -> f32
      %18 = "gpu.all_reduce"(%16) ({
      ^bb0(%arg8: f32, %arg9: f32):
        %23 = "arith.addf"(%arg8, %arg9) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
        "gpu.yield"(%23) : (f32) -> ()
      }) : (f32) -> f32
      %19 = "gpu.subgroup_reduce"(%16) <{cluster_stride = 1 : i32, op = #gpu<all_reduce_op add>}> : (f32) -> f32
      %20 = "arith.constant"() <{value = 1 : i32}> : () -> i32
      %21:2 = "gpu.shuffle"(%16, %20, %20) <{mode = #gpu<shuffle_mode xor>}> : (f32, i32, i32) -> (f32, i1)
      "gpu.printf"(%16) <{format = "hello %f\0A"}> : (f32) -> ()
      %22 = "gpu.dynamic_shared_memory"() : () -> memref<?xi8, #gpu.address_space<workgroup>>
      "gpu.return"() : () -> ()
    }) {gpu.kernel, sym_name = "kernel", workgroup_attributions = 1 : i64} : () -> ()
    "gpu.func"() <{function_type = () -> ()}> ({
      "gpu.return"() : () -> ()
    }) {sym_name = "other", workgroup_attributions = 0 : i64} : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (memref<16xf32>, f32, index, i32) -> (), sym_name = "host"}> ({
  ^bb0(%arg0: memref<16xf32>, %arg1: f32, %arg2: index, %arg3: i32):
    "gpu.launch_func"(%arg2, %arg2, %arg2, %arg2, %arg2, %arg2, %arg0, %arg1) <{kernel = @kernels::@kernel, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<16xf32>, f32) -> ()
    %0 = "gpu.wait"() : () -> !gpu.async.token
    %1 = "gpu.launch_func"(%0, %arg2, %arg2, %arg2, %arg2, %arg2, %arg2, %arg3, %arg0, %arg1) <{kernel = @kernels::@kernel, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 2, 0>}> : (!gpu.async.token, index, index, index, index, index, index, i32, memref<16xf32>, f32) -> !gpu.async.token
    %2:2 = "gpu.alloc"(%1) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!gpu.async.token) -> (memref<13xf32, 1>, !gpu.async.token)
    %3 = "gpu.alloc"(%arg2) <{operandSegmentSizes = array<i32: 0, 1, 0>}> : (index) -> memref<?xf32, 1>
    %4:2 = "gpu.alloc"(%2#1, %arg2) <{operandSegmentSizes = array<i32: 1, 1, 0>}> {acme.tag} : (!gpu.async.token, index) -> (memref<?xf32, 1>, !gpu.async.token)
    %5 = "gpu.memcpy"(%4#1, %arg0, %arg0) : (!gpu.async.token, memref<16xf32>, memref<16xf32>) -> !gpu.async.token
    "gpu.memcpy"(%arg0, %arg0) : (memref<16xf32>, memref<16xf32>) -> ()
    %6 = "gpu.memset"(%5, %arg0, %arg1) : (!gpu.async.token, memref<16xf32>, f32) -> !gpu.async.token
    %7 = "gpu.dealloc"(%6, %2#0) : (!gpu.async.token, memref<13xf32, 1>) -> !gpu.async.token
    "gpu.dealloc"(%3) : (memref<?xf32, 1>) -> ()
    %8 = "memref.cast"(%arg0) : (memref<16xf32>) -> memref<*xf32>
    "gpu.host_register"(%8) : (memref<*xf32>) -> ()
    "gpu.host_unregister"(%8) : (memref<*xf32>) -> ()
    "gpu.set_default_device"(%arg3) : (i32) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) {gpu.container_module} : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (memref<32x32xf16>, index) -> (), sym_name = "matrices"}> ({
  ^bb0(%arg0: memref<32x32xf16>, %arg1: index):
    %0 = "gpu.subgroup_mma_load_matrix"(%arg0, %arg1, %arg1) <{leadDimension = 32 : index}> : (memref<32x32xf16>, index, index) -> !gpu.mma_matrix<16x16xf16, "AOp">
    %1 = "gpu.subgroup_mma_load_matrix"(%arg0, %arg1, %arg1) <{leadDimension = 32 : index}> : (memref<32x32xf16>, index, index) -> !gpu.mma_matrix<16x16xf16, "BOp">
    %2 = "gpu.subgroup_mma_load_matrix"(%arg0, %arg1, %arg1) <{leadDimension = 32 : index}> : (memref<32x32xf16>, index, index) -> !gpu.mma_matrix<16x16xf16, "COp">
    %3 = "gpu.subgroup_mma_compute"(%0, %1, %2) : (!gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp">, !gpu.mma_matrix<16x16xf16, "COp">) -> !gpu.mma_matrix<16x16xf16, "COp">
    "gpu.subgroup_mma_store_matrix"(%3, %arg0, %arg1, %arg1) <{leadDimension = 32 : index}> : (!gpu.mma_matrix<16x16xf16, "COp">, memref<32x32xf16>, index, index) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
"builtin.module"() ({
  "func.func"() <{function_type = (index, vector<4xf32>) -> (), sym_name = "warps"}> ({
  ^bb0(%arg0: index, %arg1: vector<4xf32>):
    %0 = "gpu.warp_execute_on_lane_0"(%arg0) <{warp_size = 32 : i64}> ({
      %1 = "acme.make"() : () -> vector<32xf32>
      "gpu.yield"(%1) : (vector<32xf32>) -> ()
    }) : (index) -> vector<1xf32>
    "gpu.warp_execute_on_lane_0"(%arg0, %arg1) <{warp_size = 32 : i64}> ({
    ^bb0(%arg2: vector<128xf32>):
      "acme.use"(%arg2) : (vector<128xf32>) -> ()
      "gpu.yield"() : () -> ()
    }) : (index, vector<4xf32>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()


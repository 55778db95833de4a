// Attributes of modules, functions and arguments, keywords behind groups, text over several lines.
// run: plan-memory
#map = affine_map<()[s0] -> (s0 * 64)>
#map1 = affine_map<(d0)[s0] -> (d0 + s0, 64)>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"NPU" : #hacc.target_device_spec<#dlti.dl_entry<"AI_CORE_COUNT", 24 : i32>, #dlti.dl_entry<"UB_SIZE", 1572864 : i32>, #dlti.dl_entry<"L1_SIZE", 4194304 : i32>, #dlti.dl_entry<"L0A_SIZE", 524288 : i32>, #dlti.dl_entry<"L0B_SIZE", 524288 : i32>, #dlti.dl_entry<"L0C_SIZE", 1048576 : i32>, #dlti.dl_entry<"UB_ALIGN_SIZE", 256 : i32>, #dlti.dl_entry<"L1_ALIGN_SIZE", 256 : i32>, #dlti.dl_entry<"L0C_ALIGN_SIZE", 4096 : i32>>>, hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @everything(%arg0: i64 {hacc.arg_type = #hacc.arg_type<ffts_base_address>}, %arg1: memref<?xi8, #hivm.address_space<gm>> {hacc.arg_type = #hacc.arg_type<sync_block_lock>}, %arg2: memref<?xi8, #hivm.address_space<gm>> {hacc.arg_type = #hacc.arg_type<workspace>}, %arg3: memref<?xf32, #hivm.address_space<gm>> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32}, %arg4: i32, %arg5: index, %arg6: memref<16x16x16xf16, #hivm.address_space<gm>>) attributes {SyncBlockLockArgIdx = 0 : i64, WorkspaceArgIdx = 1 : i64, hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hivm.func_core_type = #hivm.func_core_type<AIV>, hivm.storage_aligned, mix_mode = "aiv", parallel_mode = "simd"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c0_i32 = arith.constant 0 : i32
    %c16_i32 = arith.constant 16 : i32
    %c1_i32 = arith.constant 1 : i32
    %neg = arith.constant 0xFF8000 : i32
    %inf = arith.constant 0xFF800000 : f32
    %cst = arith.constant 0.000000e+00 : f32
    %true = arith.constant true
    hivm.hir.set_mask_norm
    hivm.hir.set_ffts_base_addr %arg0
    %0 = hivm.hir.get_block_idx -> i64
    %1 = arith.trunci %0 : i64 to i32
    %b2 = hivm.hir.get_sub_block_idx -> i64
    %2 = arith.index_cast %1 : i32 to index
    %3 = affine.apply #map()[%2]
    %4 = affine.min #map1(%3)[%2]
    annotation.mark %1 {logical_block_num} : i32
    %reinterpret_cast = memref.reinterpret_cast %arg3 to offset: [%3], sizes: [64], strides: [1] : memref<?xf32, #hivm.address_space<gm>> to memref<64xf32, strided<[1], offset: ?>, #hivm.address_space<gm>>
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<64xf32, #hivm.address_space<ub>>
    scf.if %true {
      hivm.hir.vbrc ins(%cst : f32) outs(%alloc : memref<64xf32, #hivm.address_space<ub>>)
    } {hivm.unlikely_condition}
    %subview = memref.subview %reinterpret_cast[0] [%4] [1] : memref<64xf32, strided<[1], offset: ?>, #hivm.address_space<gm>> to memref<?xf32, strided<[1], offset: ?>, #hivm.address_space<gm>>
    %subview_0 = memref.subview %alloc[0] [%4] [1] : memref<64xf32, #hivm.address_space<ub>> to memref<?xf32, strided<[1]>, #hivm.address_space<ub>>
    hivm.hir.load ins(%subview : memref<?xf32, strided<[1], offset: ?>, #hivm.address_space<gm>>)
                  outs(%subview_0 : memref<?xf32, strided<[1]>, #hivm.address_space<ub>>)
                  {may_implicit_transpose_with_last_axis = false}
                  pad_mode = <PadValue> pad_value = %cst : f32 left_padding_num = %c0 : index
                  init_out_buffer = true right_padding_num = %c0 : index init_condition = %true : i1
                  may_implicit_transpose_with_last_axis = false eviction_policy = <EvictFirst> core_type = <VECTOR>
    %alloc_1 = memref.alloc() : memref<64xi32, #hivm.address_space<ub>>
    %alloc_2 = memref.alloc() : memref<64xi32, #hivm.address_space<ub>>
    hivm.hir.vcast ins(%alloc : memref<64xf32, #hivm.address_space<ub>>) outs(%alloc_1 : memref<64xi32, #hivm.address_space<ub>>) temp_buffer (%alloc_2 : memref<64xi32, #hivm.address_space<ub>>) round_mode = #hivm.round_mode<trunc> cast = <cast_signed>
    %alloc_3 = memref.alloc() : memref<64xi32, #hivm.address_space<ub>>
    hivm.hir.vmax ins(%alloc_1, %c16_i32 : memref<64xi32, #hivm.address_space<ub>>, i32) outs(%alloc_3 : memref<64xi32, #hivm.address_space<ub>>) is_signed = true
    %alloc_4 = memref.alloc() : memref<64xi1, #hivm.address_space<ub>>
    hivm.hir.vcmp ins(%alloc_3, %alloc_1 : memref<64xi32, #hivm.address_space<ub>>, memref<64xi32, #hivm.address_space<ub>>) outs(%alloc_4 : memref<64xi1, #hivm.address_space<ub>>) compare_mode = <lt> is_signed : true
    %alloc_5 = memref.alloc() : memref<64xi32, #hivm.address_space<ub>>
    hivm.hir.vsel ins(%alloc_4, %alloc_3, %c1_i32 : memref<64xi1, #hivm.address_space<ub>>, memref<64xi32, #hivm.address_space<ub>>, i32) outs(%alloc_5 : memref<64xi32, #hivm.address_space<ub>>)
    %alloc_6 = memref.alloc() : memref<64xi32, #hivm.address_space<ub>>
    hivm.hir.vshr ins(%alloc_5, %c1_i32 : memref<64xi32, #hivm.address_space<ub>>, i32) outs(%alloc_6 : memref<64xi32, #hivm.address_space<ub>>) round : false is_signed : true
    hivm.hir.debug {debugtype = "print", hex = false, prefix = " x: ", tcoretype = #hivm.tcore_type<CUBE_OR_VECTOR>} %alloc_6 : memref<64xi32, #hivm.address_space<ub>>
    hivm.hir.pipe_barrier[<PIPE_ALL>]
    hivm.hir.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    hivm.hir.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    %alloc_7 = memref.alloc() : memref<32xi32, #hivm.address_space<ub>>
    hivm.hir.vdeinterleave ins(%alloc_6 : memref<64xi32, #hivm.address_space<ub>>) outs(%alloc_7 : memref<32xi32, #hivm.address_space<ub>>) channel_num = 2 index_mode = <CHANNEL_0>
    %gm_i = hivm.hir.bitcast %reinterpret_cast : memref<64xf32, strided<[1], offset: ?>, #hivm.address_space<gm>> -> memref<64xi32, strided<[1], offset: ?>, #hivm.address_space<gm>>
    %sv = memref.subview %gm_i[0] [32] [1] : memref<64xi32, strided<[1], offset: ?>, #hivm.address_space<gm>> to memref<32xi32, strided<[1], offset: ?>, #hivm.address_space<gm>>
    hivm.hir.store ins(%alloc_7 : memref<32xi32, #hivm.address_space<ub>>) outs(%sv : memref<32xi32, strided<[1], offset: ?>, #hivm.address_space<gm>>) {tag = "x"} atomic = <add>
    scf.for %arg7 = %c0_i32 to %c16_i32 step %c1_i32  : i32 {
      %alloc_8 = memref.alloc() : memref<16x16x16xf16, #hivm.address_space<ub>>
      annotation.mark %alloc_8 {
        hivm.multi_buffer = 2 : i32
      } : memref<16x16x16xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%arg6 : memref<16x16x16xf16, #hivm.address_space<gm>>) outs(%alloc_8 : memref<16x16x16xf16, #hivm.address_space<ub>>) init_out_buffer = false
      %collapse_shape = memref.collapse_shape %alloc_8 [[0], [1, 2]] : memref<16x16x16xf16, #hivm.address_space<ub>> into memref<16x256xf16, #hivm.address_space<ub>>
      %expand_shape = memref.expand_shape %collapse_shape [[0], [1, 2]] output_shape [16, 16, 16] : memref<16x256xf16, #hivm.address_space<ub>> into memref<16x16x16xf16, #hivm.address_space<ub>>
      %base_buffer, %offset, %sizes:3, %strides:3 = memref.extract_strided_metadata %expand_shape : memref<16x16x16xf16, #hivm.address_space<ub>> -> memref<f16, #hivm.address_space<ub>>, index, index, index, index, index, index, index
      %dim = memref.dim %expand_shape, %c1 : memref<16x16x16xf16, #hivm.address_space<ub>>
      hivm.hir.store ins(%expand_shape : memref<16x16x16xf16, #hivm.address_space<ub>>) outs(%arg6 : memref<16x16x16xf16, #hivm.address_space<gm>>)
    } {map_for_to_forall, mapping = [#hivm.block], hivm.loop_core_type = #hivm.tcore_type<VECTOR>}
    hivm.hir.dcci <ALL_CACHE_LINES, CACHELINE_OUT> : ()
    return
  }
}

// -----

// The form that every op has.
// run: plan-memory
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @generic(%arg0: memref<16xf16, #hivm.address_space<gm>>, %arg1: memref<16xf16, #hivm.address_space<gm>>) {
    %0 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<16xf16, #hivm.address_space<ub>>
    "hivm.hir.load"(%arg0, %0) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>}> : (memref<16xf16, #hivm.address_space<gm>>, memref<16xf16, #hivm.address_space<ub>>) -> ()
    %1 = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<16xf16, #hivm.address_space<ub>>
    "annotation.mark"(%1) {hivm.multi_buffer = 2 : i32} : (memref<16xf16, #hivm.address_space<ub>>) -> ()
    "hivm.hir.vadd"(%0, %0, %1) <{operandSegmentSizes = array<i32: 2, 1, 0>}> : (memref<16xf16, #hivm.address_space<ub>>, memref<16xf16, #hivm.address_space<ub>>, memref<16xf16, #hivm.address_space<ub>>) -> ()
    "hivm.hir.store"(%1, %arg1) : (memref<16xf16, #hivm.address_space<ub>>, memref<16xf16, #hivm.address_space<gm>>) -> ()
    return
  }
}

// -----

// Reductions, sorts, gathers, ops by other names, ops that nobody knows; host functions and declarations.
// run: plan-memory
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @shuffle_and_more(%arg0: memref<8x8xf32, #hivm.address_space<gm>>, %arg1: memref<8xi64, #hivm.address_space<gm>>, %arg2: memref<8x8xf8E4M3FN, #hivm.address_space<gm>>, %c: i1, %z: f32) attributes {hacc.function_kind = #hacc.function_kind<DEVICE>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c1 = arith.constant 1 : index
    %a = memref.alloc() : memref<8x8xf32, #hivm.address_space<ub>>
    hivm.hir.load ins(%arg0 : memref<8x8xf32, #hivm.address_space<gm>>) outs(%a : memref<8x8xf32, #hivm.address_space<ub>>)
    %r = memref.alloc() : memref<1x8xf32, #hivm.address_space<ub>>
    %i = memref.alloc() : memref<1x8xi32, #hivm.address_space<ub>>
    %t = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
    hivm.hir.vreduce {already_initialize_init} <max_with_index> ins(%a : memref<8x8xf32, #hivm.address_space<ub>>) indices(%i : memref<1x8xi32, #hivm.address_space<ub>>) outs(%r, %i : memref<1x8xf32, #hivm.address_space<ub>>, memref<1x8xi32, #hivm.address_space<ub>>) temp_buffer(%t : memref<64xf32, #hivm.address_space<ub>>) unsigned_src = false tie_break_left = true reduce_dims = [0]
    %cum = memref.alloc() : memref<8x8xf32, #hivm.address_space<ub>>
    hivm.hir.vcumsum ins(%a : memref<8x8xf32, #hivm.address_space<ub>>) outs(%cum : memref<8x8xf32, #hivm.address_space<ub>>) cum_dims = [0] reverse = false
    %so = memref.alloc() : memref<8x8xf32, #hivm.address_space<ub>>
    hivm.hir.vsort ins(%cum : memref<8x8xf32, #hivm.address_space<ub>>) outs(%so : memref<8x8xf32, #hivm.address_space<ub>>) descending = true sort_axis = 1
    %tr = memref.alloc() : memref<8x8xf32, #hivm.address_space<ub>>
    hivm.hir.vtranspose ins(%so : memref<8x8xf32, #hivm.address_space<ub>>) outs(%tr : memref<8x8xf32, #hivm.address_space<ub>>) permutation = [1, 0]
    %g = memref.alloc() : memref<8x8xf32, #hivm.address_space<ub>>
    hivm.hir.vgather ins(%tr : memref<8x8xf32, #hivm.address_space<ub>>) indices(%i : memref<1x8xi32, #hivm.address_space<ub>>) outs(%g : memref<8x8xf32, #hivm.address_space<ub>>)
    %custom = memref.alloc() : memref<8x8xf32, #hivm.address_space<ub>>
    hivm.hir.custom {hivm.tcore_type = #hivm.tcore_type<VECTOR>, symbol = "my_op"} "my_func" ins(%g : memref<8x8xf32, #hivm.address_space<ub>>) outs(%custom : memref<8x8xf32, #hivm.address_space<ub>>)
    %pw = memref.alloc() : memref<8x8xf32, #hivm.address_space<ub>>
    hivm.hir.vpow ins(%custom, %g : memref<8x8xf32, #hivm.address_space<ub>>, memref<8x8xf32, #hivm.address_space<ub>>) outs(%pw : memref<8x8xf32, #hivm.address_space<ub>>)
    %dv = memref.alloc() : memref<8x8xf32, #hivm.address_space<ub>>
    hivm.hir.vdiv ins(%pw, %z : memref<8x8xf32, #hivm.address_space<ub>>, f32) outs(%dv : memref<8x8xf32, #hivm.address_space<ub>>) isSigned = true isHP = false
    %il = memref.alloc() : memref<8x16xf32, #hivm.address_space<ub>>
    hivm.hir.vinterleave ins(%dv, %pw : memref<8x8xf32, #hivm.address_space<ub>>, memref<8x8xf32, #hivm.address_space<ub>>) outs(%il : memref<8x16xf32, #hivm.address_space<ub>>) interleave_channel_nums = 2
    %ex = memref.alloc() : memref<8x8xf32, #hivm.address_space<ub>>
    linalg.fill ins(%z : f32) outs(%ex : memref<8x8xf32, #hivm.address_space<ub>>)
    memref.store %z, %ex[%c0, %c1] : memref<8x8xf32, #hivm.address_space<ub>>
    %v = memref.load %ex[%c0, %c0] : memref<8x8xf32, #hivm.address_space<ub>>
    %il2 = memref.subview %il[0, 0] [8, 8] [1, 2] : memref<8x16xf32, #hivm.address_space<ub>> to memref<8x8xf32, strided<[16, 2]>, #hivm.address_space<ub>>
    %cp = memref.alloc() : memref<8x8xf32, #hivm.address_space<ub>>
    hivm.hir.copy ins(%il2 : memref<8x8xf32, strided<[16, 2]>, #hivm.address_space<ub>>) outs(%cp : memref<8x8xf32, #hivm.address_space<ub>>) pad_mode = <PadNull> collapse_reassociation = [[0, 1]]
    %ar = memref.alloc() : memref<8xi32, #hivm.address_space<ub>>
    hivm.hir.varange offset[%c0] strides[%c1] outs(%ar : memref<8xi32, #hivm.address_space<ub>>)
    hivm.hir.store ins(%cp : memref<8x8xf32, #hivm.address_space<ub>>) outs(%arg0 : memref<8x8xf32, #hivm.address_space<gm>>) atomic = <max>
    %al = memref.alloc() : memref<8xi64, #hivm.address_space<ub>>
    hivm.hir.load ins(%arg1 : memref<8xi64, #hivm.address_space<gm>>) outs(%al : memref<8xi64, #hivm.address_space<ub>>)
    %sl = arith.select %c, %a, %ex : memref<8x8xf32, #hivm.address_space<ub>>
    hivm.hir.store ins(%sl : memref<8x8xf32, #hivm.address_space<ub>>) outs(%arg0 : memref<8x8xf32, #hivm.address_space<gm>>)
    %f8 = memref.alloc() : memref<8x8xf8E4M3FN, #hivm.address_space<ub>>
    hivm.hir.load ins(%arg2 : memref<8x8xf8E4M3FN, #hivm.address_space<gm>>) outs(%f8 : memref<8x8xf8E4M3FN, #hivm.address_space<ub>>)
    %alive = hivm.hir.some_unknown_op %f8, %al {x = 1} : memref<8x8xf8E4M3FN, #hivm.address_space<ub>>, memref<8xi64, #hivm.address_space<ub>> -> i32
    hivm.hir.another[<PIPE_S>] ins(%f8 : memref<8x8xf8E4M3FN, #hivm.address_space<ub>>)
    unknown.thing %al : memref<8xi64, #hivm.address_space<ub>> {
      ^bb0(%q: index):
      unknown.yield %q : index
    }
    return
  }
  func.func @host(%arg0: memref<8x8xf32>) attributes {hacc.function_kind = #hacc.function_kind<HOST>} {
    %a = memref.alloc() : memref<8x8xf32>
    memref.copy %arg0, %a : memref<8x8xf32> to memref<8x8xf32>
    return
  }
  func.func private @declared(memref<8x8xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, llvm.emit_c_interface}
}

// -----

// The matrix unit.
// run: plan-memory
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @cube(%arg0: memref<16x16xf16, #hivm.address_space<gm>>, %arg1: memref<16x16xf16, #hivm.address_space<gm>>, %arg2: memref<16x16xf32, #hivm.address_space<gm>>, %b: memref<16xf32, #hivm.address_space<gm>>, %q: memref<16xi64, #hivm.address_space<gm>>) attributes {hivm.func_core_type = #hivm.func_core_type<AIC>} {
    %c16 = arith.constant 16 : index
    %true = arith.constant true
    %cst = arith.constant 0.000000e+00 : f16
    %c0_i64 = arith.constant 0 : i64
    %alloc = memref.alloc() : memref<1x1x16x16xf16, #hivm.address_space<cbuf>>
    hivm.hir.nd2nz {dst_continuous} ins(%arg0 : memref<16x16xf16, #hivm.address_space<gm>>) outs(%alloc : memref<1x1x16x16xf16, #hivm.address_space<cbuf>>) init_out_buffer = true pad_value = %cst : f16 init_condition = %true : i1
    %alloc_0 = memref.alloc() : memref<1x1x16x16xf16, #hivm.address_space<cbuf>>
    hivm.hir.nd2nz {dst_continuous} ins(%arg1 : memref<16x16xf16, #hivm.address_space<gm>>) outs(%alloc_0 : memref<1x1x16x16xf16, #hivm.address_space<cbuf>>)
    %alloc_1 = memref.alloc() : memref<1x1x16x16xf32, #hivm.address_space<cc>>
    hivm.hir.mmadL1 {a_transpose, b_transpose, enable_HF32} ins(%alloc, %alloc_0, %true, %c16, %c16, %c16 : memref<1x1x16x16xf16, #hivm.address_space<cbuf>>, memref<1x1x16x16xf16, #hivm.address_space<cbuf>>, i1, index, index, index) outs(%alloc_1 : memref<1x1x16x16xf32, #hivm.address_space<cc>>) sync_related_args(%c0_i64, %c0_i64, %c0_i64, %c0_i64, %c0_i64, %c0_i64, %c0_i64 : i64, i64, i64, i64, i64, i64, i64) unit_flag_mode([#hivm.unit_flag<ENABLED_WITH_UPDATE>]) unit_flag_cond(%true)
    hivm.hir.fixpipe {enable_nz2nd, pre_quant = #hivm.fixpipe_pre_quant_mode<NO_QUANT>, pre_relu = #hivm.fixpipe_pre_relu_mode<NO_RELU>} ins(%alloc_1 : memref<1x1x16x16xf32, #hivm.address_space<cc>>) outs(%arg2 : memref<16x16xf32, #hivm.address_space<gm>>) quant_scale = %cst : f16 dual_dst_mode = <NO_DUAL> unit_flag_mode([#hivm.unit_flag<ENABLED_WITH_UPDATE>]) unit_flag_cond(%true)
    hivm.hir.sync_block_set[<CUBE>, <PIPE_FIX>, <PIPE_MTE2>] flag = 0
    hivm.hir.sync_block_wait[<CUBE>, <PIPE_MTE3>, <PIPE_MTE2>] flag = 1
    return
  }
}

// -----

// Vector functions with masks, scopes with and without results, marks with keys.
// run: plan-memory
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @vf_mask(%arg0: memref<100xf32, #hivm.address_space<ub>>, %arg1: memref<100xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c100 = arith.constant 100 : index
    %cst = arith.constant 0.000000e+00 : f32
    scf.for %i = %c0 to %c100 step %c64 {
      %n = affine.min affine_map<(d0) -> (-d0 + 100, 64)>(%i)
      %s = memref.subview %arg0[%i] [%n] [1] : memref<100xf32, #hivm.address_space<ub>> to memref<?xf32, strided<[1], offset: ?>, #hivm.address_space<ub>>
      %d = memref.subview %arg1[%i] [%n] [1] : memref<100xf32, #hivm.address_space<ub>> to memref<?xf32, strided<[1], offset: ?>, #hivm.address_space<ub>>
      %m = vector.create_mask %n : vector<64xi1>
      %v = vector.mask %m { vector.transfer_read %s[%c0], %cst {in_bounds = [true]} : memref<?xf32, strided<[1], offset: ?>, #hivm.address_space<ub>>, vector<64xf32> } : vector<64xi1> -> vector<64xf32>
      %e = math.exp %v : vector<64xf32>
      vector.mask %m { vector.transfer_write %e, %d[%c0] {in_bounds = [true]} : vector<64xf32>, memref<?xf32, strided<[1], offset: ?>, #hivm.address_space<ub>> } : vector<64xi1>
    }
    return
  }
  func.func @with_scope(%arg0: memref<100xf32, #hivm.address_space<gm>>, %arg1: memref<?xi8, #hivm.address_space<gm>>, %n: index) attributes {hacc.entry, hivm.vf_mode = #hivm.vf_mode<SIMD>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %r:2 = scope.scope : () -> (memref<100xf32, #hivm.address_space<ub>>, index) {
        %a = memref.alloc() : memref<100xf32, #hivm.address_space<ub>>
        annotation.mark %a {hivm.multi_buffer = 2 : i32, hivm.preload_local_buffer = 1 : i32} keys = ["k"] values = [%c0 : index] : memref<100xf32, #hivm.address_space<ub>>
        hivm.hir.load ins(%arg0 : memref<100xf32, #hivm.address_space<gm>>) outs(%a : memref<100xf32, #hivm.address_space<ub>>)
        scope.return %a, %c0 : memref<100xf32, #hivm.address_space<ub>>, index
      } {hivm.loop_core_type = #hivm.tcore_type<VECTOR>, hivm.preload_num = 2 : i32, no_inline}
      scope.scope : () -> () {
        %b = memref.alloc() : memref<100xf32, #hivm.address_space<ub>>
        func.call @vf_mask(%r#0, %b) {hivm.vector_function, no_inline} : (memref<100xf32, #hivm.address_space<ub>>, memref<100xf32, #hivm.address_space<ub>>) -> ()
        hivm.hir.store ins(%b : memref<100xf32, #hivm.address_space<ub>>) outs(%arg0 : memref<100xf32, #hivm.address_space<gm>>)
        scope.return
      } {hivm.loop_core_type = #hivm.tcore_type<VECTOR>, no_inline}
      call @vf_mask2(%r#0) {hivm.vector_function, no_inline} : (memref<100xf32, #hivm.address_space<ub>>) -> ()
    } {hivm.parallel_loop}
    return
  }
  func.func private @vf_mask2(memref<100xf32, #hivm.address_space<ub>>)
  func.func @ssbuf(%arg0: i64, %c: i1) {
    %c1_i8 = arith.constant 1 : i8
    %p = hivm.hir.pointer_cast(%arg0) : memref<i8, #hivm.address_space<ssbuf>>
    scf.if %c {
      %x = memref.load %p[] : memref<i8, #hivm.address_space<ssbuf>>
      memref.store %c1_i8, %p[] : memref<i8, #hivm.address_space<ssbuf>>
    }
    return
  }
}

// -----

// Workspaces as tensors, in the older form of `to_tensor`; slots; on-chip buffers beside them.
// run: plan-memory{mem-plan-mode=global-work-space-plan}
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @ws(%arg0: memref<?xi8> {hacc.arg_type = #hacc.arg_type<workspace>}, %arg1: memref<16x16xf16>, %arg2: tensor<16x16xf32>, %arg3: i32, %arg4: tensor<256xi8>) attributes {hacc.entry, hivm.func_core_type = #hivm.func_core_type<MIX>} {
    %c0 = arith.constant 0 : index
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %0 = memref_ext.alloc_workspace() from %arg0 : from memref<?xi8> to memref<65536xi8>
    annotation.mark %0 {hivm.multi_buffer = 2 : i32} : memref<65536xi8>
    %view = memref.view %0[%c0][] : memref<65536xi8> to memref<16x16xf32>
    %1 = bufferization.to_tensor %view restrict writable : memref<16x16xf32>
    %2 = hivm.hir.fixpipe {enable_nz2nd} ins(%arg2 : tensor<16x16xf32>) outs(%1 : tensor<16x16xf32>) -> tensor<16x16xf32>
    %3:2 = scf.for %i = %c0_i32 to %arg3 step %c1_i32 iter_args(%a = %2, %k = %c0) -> (tensor<16x16xf32>, index)  : i32 {
      %4 = memref_ext.alloc_workspace() from %arg0 : from memref<?xi8> to memref<65536xi8>
      %view_0 = memref.view %4[%c0][] : memref<65536xi8> to memref<16x16xf32>
      %5 = bufferization.to_tensor %view_0 restrict writable : memref<16x16xf32>
      %6 = tensor.empty() : tensor<16x16xf32>
      %7 = hivm.hir.load ins(%a : tensor<16x16xf32>) outs(%6 : tensor<16x16xf32>) init_out_buffer = false -> tensor<16x16xf32>
      %8 = hivm.hir.vadd ins(%7, %7 : tensor<16x16xf32>, tensor<16x16xf32>) outs(%6 : tensor<16x16xf32>) -> tensor<16x16xf32>
      %9 = hivm.hir.store ins(%8 : tensor<16x16xf32>) outs(%5 : tensor<16x16xf32>) -> tensor<16x16xf32>
      scf.yield %9, %k : tensor<16x16xf32>, index
    }
    %10 = memref_ext.alloc_workspace() : memref<100xi8>
    %11 = bufferization.to_tensor %10 restrict writable : memref<100xi8>
    %12 = tensor.extract_slice %arg4[0] [100] [1] : tensor<256xi8> to tensor<100xi8>
    %13 = hivm.hir.store ins(%12 : tensor<100xi8>) outs(%11 : tensor<100xi8>) -> tensor<100xi8>
    %alloc = memref.alloc() : memref<16x16xf32, #hivm.address_space<ub>>
    annotation.mark %alloc {mem_unique} : memref<16x16xf32, #hivm.address_space<ub>>
    return
  }
}

// -----

// Other loops and branches, copies and reads that the original does not know; what is freed was never allocated.
// run: plan-memory
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @other_loops(%arg0: memref<16xf16, #hivm.address_space<gm>>, %n: index, %k: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    affine.for %i = 0 to 10 {
      %0 = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%arg0 : memref<16xf16, #hivm.address_space<gm>>) outs(%0 : memref<16xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%0 : memref<16xf16, #hivm.address_space<ub>>) outs(%arg0 : memref<16xf16, #hivm.address_space<gm>>)
    }
    %r = scf.index_switch %k -> memref<16xf16, #hivm.address_space<ub>>
    case 0 {
      %1 = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%arg0 : memref<16xf16, #hivm.address_space<gm>>) outs(%1 : memref<16xf16, #hivm.address_space<ub>>)
      scf.yield %1 : memref<16xf16, #hivm.address_space<ub>>
    }
    default {
      %2 = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%arg0 : memref<16xf16, #hivm.address_space<gm>>) outs(%2 : memref<16xf16, #hivm.address_space<ub>>)
      scf.yield %2 : memref<16xf16, #hivm.address_space<ub>>
    }
    hivm.hir.store ins(%r : memref<16xf16, #hivm.address_space<ub>>) outs(%arg0 : memref<16xf16, #hivm.address_space<gm>>)
    %e = scf.execute_region -> memref<16xf16, #hivm.address_space<ub>> {
      %3 = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%arg0 : memref<16xf16, #hivm.address_space<gm>>) outs(%3 : memref<16xf16, #hivm.address_space<ub>>)
      scf.yield %3 : memref<16xf16, #hivm.address_space<ub>>
    }
    %4 = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
    memref.copy %e, %4 : memref<16xf16, #hivm.address_space<ub>> to memref<16xf16, #hivm.address_space<ub>>
    %z = arith.constant 0.0 : f16
    %v = vector.transfer_read %4[%c0], %z {in_bounds = [true]} : memref<16xf16, #hivm.address_space<ub>>, vector<16xf16>
    hivm.hir.store ins(%4 : memref<16xf16, #hivm.address_space<ub>>) outs(%arg0 : memref<16xf16, #hivm.address_space<gm>>)
    memref.dealloc %4 : memref<16xf16, #hivm.address_space<ub>>
    return
  }
}

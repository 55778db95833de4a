// Structured ops with bodies, layouts and tile sizes in attributes; scripts of transformations.
func.func @ext(%a: tensor<?x4xf32>, %b: tensor<?xi32>, %c: tensor<f32>, %i: index, %m: memref<4x4xf32>) {
  %0 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%a, %b : tensor<?x4xf32>, tensor<?xi32>) outs(%a : tensor<?x4xf32>) {
  ^bb0(%arg4: f32, %arg5: f32):
    // uses: %arg4
    iree_linalg_ext.yield %arg4 : f32
  } -> tensor<?x4xf32>
  %1:2 = iree_linalg_ext.sort dimension(0) outs(%a, %b : tensor<?x4xf32>, tensor<?xi32>) {
  ^bb0(%x: f32, %y: f32, %z: i32, %w: i32):
    // uses: %x %y
    %lt = arith.cmpf ogt, %x, %y : f32
    // uses: %lt
    iree_linalg_ext.yield %lt : i1
  } -> tensor<?x4xf32>, tensor<?xi32>
  // uses: %i %b %b %a %a
  %2:2 = iree_linalg_ext.fft ins(%i, %b, %b : index, tensor<?xi32>, tensor<?xi32>) outs(%a, %a : tensor<?x4xf32>, tensor<?x4xf32>) : tensor<?x4xf32>, tensor<?x4xf32>
  %3:2 = iree_linalg_ext.scan dimension(0) inclusive(true) ins(%a : tensor<?x4xf32>) outs(%a, %c : tensor<?x4xf32>, tensor<f32>) {
  ^bb0(%x: f32, %y: f32):
    // uses: %x
    iree_linalg_ext.yield %x : f32
  } -> tensor<?x4xf32>, tensor<f32>
  %4:2 = iree_linalg_ext.topk dimension(1) ins(%a, %b : tensor<?x4xf32> , tensor<?xi32>) outs(%a, %b : tensor<?x4xf32>, tensor<?xi32>) {
  ^bb0(%x: f32, %y: f32):
    // uses: %true
    iree_linalg_ext.yield %true : i1
  } -> tensor<?x4xf32>, tensor<?xi32>
  %5 = iree_linalg_ext.attention {indexing_maps = [affine_map<(d0) -> (d0)>]} ins(%a, %a, %a, %c : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<f32>) outs(%a : tensor<?x4xf32>) {
  ^bb0(%score: f32):
    // uses: %score
    iree_linalg_ext.yield %score : f32
  } -> tensor<?x4xf32>
  // uses: %i %a %a
  %6 = iree_linalg_ext.im2col strides = [1, 1] dilations = [1, 1] kernel_size = [3, 3] m_offset = [0] * [1] k_offset = [%i] * [1] batch_pos = [0] m_pos = [1, 2] k_pos = [3] input_k_perm = [0, 1, 2] ins(%a : tensor<?x4xf32>) outs(%a : tensor<?x4xf32>) -> tensor<?x4xf32>
  // uses: %a %a
  %7 = iree_linalg_ext.winograd.input_transform output_tile_size(6) kernel_size(3) image_dimensions([1, 2]) ins(%a : tensor<?x4xf32>) outs(%a : tensor<?x4xf32>) -> tensor<?x4xf32>
  // uses: %a %f %i %a
  %8 = iree_linalg_ext.pack %a padding_value(%f : f32) outer_dims_perm = [0, 1] inner_dims_pos = [0, 1] inner_tiles = [2, %i] into %a : (tensor<?x4xf32> tensor<?x?x2x2xf32>) -> tensor<?x?x2x2xf32>
  // uses: %a %b %a
  %9 = iree_linalg_ext.gather dimension_map = [0] ins(%a, %b : tensor<?x4xf32>, tensor<?xi32>) outs(%a : tensor<?x4xf32>) -> tensor<?x4xf32>
  %10 = iree_linalg_ext.custom_op{indexing_maps = [affine_map<(d0)[s0] -> (d0)>], iterator_types = [#iree_linalg_ext.iterator_type<parallel>]} ins(%a : tensor<?x4xf32>) outs(%a : tensor<?x4xf32>) {
    ^bb0(%b0 : tensor<?xf32>, %b1 : tensor<?xf32>):
      // uses: %b0
      iree_linalg_ext.yield %b0 : tensor<?xf32>
  } -> tensor<?x4xf32>
  %11 = iree_linalg_ext.map_scatter %a into %a {
  ^bb0(%idx0: index, %idx1: index):
    // uses: %idx0 %idx1 %mask
    iree_linalg_ext.yield %idx0, %idx1, %mask : index, index, i1
  } : tensor<?x4xf32> into tensor<?x4xf32> -> tensor<?x4xf32>
  // uses: %a
  %12 = iree_encoding.set_encoding %a : tensor<?x4xf32> -> tensor<?x4xf32, #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul, element_types = [f32, f32, f32]>>
  // uses: %a %i %a %i %c
  %13 = iree_codegen.ukernel.generic "foo" ins(%a, %i : tensor<?x4xf32>, index) outs(%a : tensor<?x4xf32>) (%i, %c : index, tensor<f32>) fn_def_attrs {hal.import.bitcode = true} strided_outer_dims(0) -> tensor<?x4xf32>
  // uses: %a %a %c
  %14 = iree_codegen.multi_mma ins(%a, %a) outs(%c) {indexing_maps = []} : tensor<?x4xf32>, tensor<?x4xf32> into tensor<f32>
  // uses: %a %a %c
  %15 = iree_codegen.inner_tiled ins(%a, %a) outs(%c) {indexing_maps = [#map], kind = #iree_gpu.mma_layout<MFMA_F32_16x16x16_F16>} : tensor<?x4xf32>, tensor<?x4xf32> into tensor<f32>
  // uses: %m
  %16 = iree_codegen.extract_strided_metadata %m : memref<4x4xf32> -> memref<f32>, index, index, index, index, index
  // uses: %m
  %17 = iree_codegen.swizzle_hint %m[#iree_codegen.rotate_rows<16, 4>] : memref<4x4xf32>
  // uses: %m
  %18 = iree_codegen.load_from_buffer %m : memref<4x4xf32> -> tensor<4x4xf32>
  // uses: %18 %m
  iree_codegen.store_to_buffer %18, %m : tensor<4x4xf32> into memref<4x4xf32>
  // uses: %a
  iree_codegen.fusion_barrier %a : tensor<?x4xf32>
  %19 = iree_gpu.barrier_region ins(%a, %a : tensor<?x4xf32>, tensor<?x4xf32>) {
  ^bb0(%intermediate: tensor<?x4xf32>, %i2: tensor<?x4xf32>):
    // uses: %intermediate
    iree_gpu.yield %intermediate : tensor<?x4xf32>
  } : tensor<?x4xf32>
  // uses: %a
  %20 = iree_gpu.value_barrier %a : tensor<?x4xf32>
  // uses: %a %i
  %21 = iree_gpu.buffer_resource_cast %a cacheSwizzleStride(%i) : tensor<?x4xf32>
  // uses: %v
  %22 = iree_vector_ext.to_layout %v to layout(#iree_vector_ext.nested_layout<subgroup_tile = [1, 1], batch_tile = [1, 1], outer_tile = [1, 1], thread_tile = [1, 1], element_tile = [1, 1], subgroup_strides = [0, 0], thread_strides = [0, 0]>) {shared_memory_conversion} : vector<32x32xf16>
  // uses: %a %i %i %b %f %mask
  %23 = iree_vector_ext.transfer_gather %a[%i, %i] [None, %b: tensor<?xi32>], %f, %mask {in_bounds = [true, true]} : tensor<?x4xf32>, vector<4x4xf32>, vector<4x4xi1>
  // uses: %v
  %24 = iree_vector_ext.to_simd %v : vector<4x4x4xf16> -> vector<64x64xf16>
  // uses: %i
  %25 = iree_tensor_ext.dispatch.workload.ordinal %i, 0 : index
  // uses: %a %i %i
  %26 = iree_tensor_ext.bitcast %a : tensor<?x4xf32>{%i} -> tensor<?x8xi16>{%i}
  // uses: %a %b %i %i
  %27:2 = iree_tensor_ext.compute_barrier.start %a, %b : tensor<?x4xf32>{%i}, tensor<?xi32>{%i} -> tensor<?x4xf32>, tensor<?xi32>
  // uses: %x %i %i
  iree_input.buffer_view.to_tensor %x : !iree_input.buffer_view -> tensor<?x?xf32>{%i, %i}
  // uses: %a %b %a %i
  %28 = iree_gpu.coalesced_gather_dma %a[%b] into %a lane(%i) : tensor<?x4xf32>, tensor<?xi32>, tensor<?x4xf32>, index
  return
}
// -----
#executable_target = #hal.executable.target<"rocm", "rocm-hsaco-fb", {abi = "hip", iree.gpu.target = #iree_gpu.target<arch = "gfx942", features = "", wgp = <compute = fp64|fp32, storage = b64|b32, subgroup = shuffle|arithmetic, mma = [<MFMA_F32_16x16x16_F16>], subgroup_size_choices = [64], max_workgroup_sizes = [1024, 1024, 1024], max_thread_count_per_workgroup = 1024>>}>
#config = #iree_codegen.lowering_config<tile_sizes = [[32, 32], [8, 8, 0], {sizes = [0, 0, [16]], interchange = [0, 2, 1]}]>
#translation = #iree_codegen.translation_info<pipeline = LLVMGPUTileAndFuse workgroup_size = [64, 1, 1] subgroup_size = 64, {gpu_pipeline_options = #iree_gpu.pipeline_options<prefetch_shared_memory = true>}>
func.func @m(%a: tensor<4x4xf32>) attributes {hal.executable.target = #executable_target, translation_info = #translation} {
  // uses: %a %a %a
  %0 = linalg.matmul {lowering_config = #config} ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  // uses: %a %a %a
  %1 = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>] {lowering_config = #iree_gpu.lowering_config<{mma_kind = #iree_gpu.mma_layout<MFMA_F32_16x16x16_F16>, promote_operands = [0, 1]}>} ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
// -----
module attributes {transform.with_named_sequence} {
  transform.named_sequence @match_mm(%root: !transform.any_op {transform.readonly}) -> (!transform.any_op) {
    %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %root {
    ^bb0(%lhs: tensor<?x?xf16>, %rhs: tensor<?x?xf16>):
      // uses: %lhs %rhs %lhs
      %8 = linalg.matmul ins(%lhs, %rhs : tensor<?x?xf16>, tensor<?x?xf16>) outs(%lhs : tensor<?x?xf16>) -> tensor<?x?xf16>
    } : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
    // uses: %root
    transform.match.operation_name %root ["linalg.generic", "linalg.fill"] : !transform.any_op
    // uses: %root
    transform.yield %root : !transform.any_op
  }
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.consumed}) {
    transform.foreach_match in %m
      @match_mm -> @apply_op_config,
      @match_attention -> @apply_attention
      : (!transform.any_op) -> !transform.any_op
    %f = transform.structured.match ops{["func.func"]} attributes{foo} in %m : (!transform.any_op) -> !transform.any_op
    // uses: %f
    %tiled, %loops:2 = transform.structured.tile_using_for %f tile_sizes [8, [4], 0] interchange = [1, 0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    // uses: %f %x
    %t2, %fa = transform.structured.tile_using_forall %f num_threads [%x, 2 : !transform.param<i64>] ( mapping = [#gpu.thread<x>] ) : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.apply_patterns to %f {
      // uses:
      transform.apply_patterns.canonicalization
      // uses:
      transform.apply_patterns.vector.lower_contraction lowering_strategy = "outerproduct"
    } : !transform.any_op
    // uses: %p %f
    %0 = transform.apply_registered_pass "canonicalize" with options = {"top-down" = true, "x" = %p} to %f : (!transform.any_op, !transform.any_param) -> !transform.any_op
    // uses: %f
    transform.include @other failures(propagate) (%f) : (!transform.any_op) -> ()
    // uses:
    %p = transform.param.constant 4 -> !transform.param<i64>
    // uses: %f %p
    transform.annotate %f "lowering_config" = %p : !transform.any_op, !transform.any_param
    transform.alternatives %f : !transform.any_op {
    ^bb1(%arg: !transform.any_op):
      // uses:
      transform.yield
    }, {
    ^bb1(%arg: !transform.any_op):
      // uses:
      transform.yield
    }
    // uses: %f
    %h:3 = transform.split_handle %f {overflow_result = 1} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.foreach %f : !transform.any_op {
    ^bb2(%arg: !transform.any_op):
      // uses: %arg
      transform.debug.emit_remark_at %arg, "x" : !transform.any_op
    }
    // uses:
    transform.yield
  }
}

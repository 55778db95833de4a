// Forms of NPU dialects that no table knows, with line breaks where they like.
module attributes {hacc.target = #hacc.target<"Ascend910B1">, dlti.target_system_spec = #dlti.target_system_spec<"NPU" : #dlti.target_device_spec<#dlti.dl_entry<"UB_SIZE", 1572864 : i32>>>} {
  func.func @kernel(%src: memref<16x16xf16, #hivm.address_space<gm>> {hacc.arg_type = #hacc.arg_type<workspace>}, %n: index, %c: i1) attributes {hacc.entry, hacc.function_kind = #hacc.function_kind<DEVICE>, hivm.func_core_type = #hivm.func_core_type<AIV>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : i32
    %pad = arith.constant 0.000000e+00 : f16
    %ub = memref.alloc() : memref<16x16xf16, #hivm.address_space<ub>>
    %out = memref.alloc() {alignment = 64 : i64} : memref<16x16xf16, #hivm.address_space<ub>>
    %tmp = memref.alloc() : memref<256xf16, #hivm.address_space<ub>>
    annotation.mark %ub {hivm.multi_buffer = 2 : i32} : memref<16x16xf16, #hivm.address_space<ub>>
    annotation.mark %out {
      mem_unique,
      hivm.stride = [1, 2]
    } keys = ["k"] values = [%c1 : i32] : memref<16x16xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%src : memref<16x16xf16, #hivm.address_space<gm>>)
                  outs(%ub : memref<16x16xf16, #hivm.address_space<ub>>) {attr} pad_mode = <PadValue> pad_value = %pad : f16
                  left_padding_num = %c0 : index init_out_buffer = true
    hivm.hir.vadd ins(%ub, %ub : memref<16x16xf16, #hivm.address_space<ub>>, memref<16x16xf16, #hivm.address_space<ub>>) outs(%out : memref<16x16xf16, #hivm.address_space<ub>>) temp_buffer(%tmp : memref<256xf16, #hivm.address_space<ub>>) broadcast = [0]
    hivm.hir.vcast ins(%ub : memref<16x16xf16, #hivm.address_space<ub>>) outs(%out : memref<16x16xf16, #hivm.address_space<ub>>) temp_buffer (%tmp : memref<256xf16, #hivm.address_space<ub>>) round_mode = <rint>
    hivm.hir.vcmp ins(%ub, %ub : memref<16x16xf16, #hivm.address_space<ub>>, memref<16x16xf16, #hivm.address_space<ub>>) outs(%out : memref<16x16xf16, #hivm.address_space<ub>>) compare_mode = <eq> is_signed : false
    hivm.hir.fixpipe {enable_nz2nd, pre_quant = #hivm.fixpipe_pre_quant_mode<NO_QUANT>} ins(%ub : memref<16x16xf16, #hivm.address_space<ub>>) outs(%src : memref<16x16xf16, #hivm.address_space<gm>>) dual_dst_mode = <x>
    hivm.hir.mmadL1 {a_transpose} ins(%ub, %ub, %c, %n, %n, %n : memref<16x16xf16, #hivm.address_space<ub>>, memref<16x16xf16, #hivm.address_space<ub>>, i1, index, index, index) outs(%out : memref<16x16xf16, #hivm.address_space<ub>>) unit_flag_mode(<m>)
    hivm.hir.debug {debugtype = "print", hex = false, prefix = " x: ", tcoretype = #hivm.tcore_type<CUBE_OR_VECTOR>} %n : index
    hivm.hir.set_mask_norm
    %blk = hivm.hir.get_block_idx -> i64
    %p = hivm.hir.pointer_cast(%blk, %blk) [%n] {attr} : memref<?xf16, #hivm.address_space<ub>>
    %ws = memref_ext.alloc_workspace() from %src offset = [%c0] : from memref<16x16xf16, #hivm.address_space<gm>> to memref<16xf16>
    %r:2 = scope.scope : () -> (index, memref<256xf16, #hivm.address_space<ub>>) {
      hivm.hir.vadd ins(%ub, %pad : memref<16x16xf16, #hivm.address_space<ub>>, f16) outs(%out : memref<16x16xf16, #hivm.address_space<ub>>)
      scope.return %n, %tmp : index, memref<256xf16, #hivm.address_space<ub>>
    } {no_inline, hivm.loop_core_type = #hivm.tcore_type<VECTOR>}
    scf.for %i = %c1 to %c1 step %c1 : i32 {
      hivm.hir.store ins(%out : memref<16x16xf16, #hivm.address_space<ub>>) outs(%src : memref<16x16xf16, #hivm.address_space<gm>>) atomic = <add>
    } {hivm.preload_num = 2 : i32}
    func.call @vf(%r#1) {hivm.vector_function, no_inline} : (memref<256xf16, #hivm.address_space<ub>>) -> ()
    %t = hivm.hir.vbrc ins(%pad : f16) outs(%out : memref<16x16xf16, #hivm.address_space<ub>>) broadcast_dims = [0] -> tensor<16x16xf16>
    return
  }
  func.func private @vf(memref<256xf16, #hivm.address_space<ub>>)
}

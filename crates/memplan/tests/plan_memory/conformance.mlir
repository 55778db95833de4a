// Every result dies into the next: one address for all.
// record: plan-memory.mlir 0
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_mem_allocate_basic(%gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<4096xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %copy_in = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    %dst1 = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    %dst2 = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    %copy_out = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<4096xf16, #hivm.address_space<gm>>) outs(%copy_in : memref<4096xf16, #hivm.address_space<ub>>)
    hivm.hir.vadd ins(%copy_in, %copy_in : memref<4096xf16, #hivm.address_space<ub>>, memref<4096xf16, #hivm.address_space<ub>>) outs(%dst1 : memref<4096xf16, #hivm.address_space<ub>>)
    hivm.hir.vadd ins(%dst1, %dst1 : memref<4096xf16, #hivm.address_space<ub>>, memref<4096xf16, #hivm.address_space<ub>>) outs(%dst2 : memref<4096xf16, #hivm.address_space<ub>>)
    hivm.hir.vadd ins(%dst2, %dst2 : memref<4096xf16, #hivm.address_space<ub>>, memref<4096xf16, #hivm.address_space<ub>>) outs(%copy_out : memref<4096xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%copy_out : memref<4096xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<4096xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// A cast with a temporary buffer is never in place; all of the memory, side by side.
// record: plan-memory.mlir 1
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_mem_noreuse_max(%gm0: memref<16384xi64, #hivm.address_space<gm>>, %gm1: memref<16384xi32, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %wide = memref.alloc() : memref<16384xi64, #hivm.address_space<ub>>
    %narrow = memref.alloc() : memref<16384xi32, #hivm.address_space<ub>>
    %none = memref.alloc() : memref<0xi32, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<16384xi64, #hivm.address_space<gm>>) outs(%wide : memref<16384xi64, #hivm.address_space<ub>>)
    hivm.hir.vcast ins(%wide : memref<16384xi64, #hivm.address_space<ub>>) outs(%narrow : memref<16384xi32, #hivm.address_space<ub>>) temp_buffer(%none : memref<0xi32, #hivm.address_space<ub>>) round_mode = <trunc>
    hivm.hir.store ins(%narrow : memref<16384xi32, #hivm.address_space<ub>>) outs(%gm1 : memref<16384xi32, #hivm.address_space<gm>>)
    return
  }
}

// -----

// More than fits, no loops: Level0, and the sum in place of its first operand.
// record: plan-memory.mlir 2
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_mem_specalloc_max(%gm0: memref<16384xi64, #hivm.address_space<gm>>, %gm1: memref<16384xi32, #hivm.address_space<gm>>, %gm2: memref<16384xi32, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %wide = memref.alloc() : memref<16384xi64, #hivm.address_space<ub>>
    %narrow = memref.alloc() : memref<16384xi32, #hivm.address_space<ub>>
    %none = memref.alloc() : memref<0xi32, #hivm.address_space<ub>>
    %other = memref.alloc() : memref<16384xi32, #hivm.address_space<ub>>
    %sum = memref.alloc() : memref<16384xi32, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<16384xi64, #hivm.address_space<gm>>) outs(%wide : memref<16384xi64, #hivm.address_space<ub>>)
    hivm.hir.vcast ins(%wide : memref<16384xi64, #hivm.address_space<ub>>) outs(%narrow : memref<16384xi32, #hivm.address_space<ub>>) temp_buffer(%none : memref<0xi32, #hivm.address_space<ub>>)
    hivm.hir.load ins(%gm1 : memref<16384xi32, #hivm.address_space<gm>>) outs(%other : memref<16384xi32, #hivm.address_space<ub>>)
    hivm.hir.vadd ins(%narrow, %other : memref<16384xi32, #hivm.address_space<ub>>, memref<16384xi32, #hivm.address_space<ub>>) outs(%sum : memref<16384xi32, #hivm.address_space<ub>>)
    hivm.hir.store ins(%sum : memref<16384xi32, #hivm.address_space<ub>>) outs(%gm2 : memref<16384xi32, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Each chain in place, the chains apart.
// record: plan-memory.mlir 3
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_infer_mem_allocate_loop_conflict(%gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<4096xf16, #hivm.address_space<gm>>, %gm2: memref<4096xf16, #hivm.address_space<gm>>, %gm3: memref<4096xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %a = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<4096xf16, #hivm.address_space<gm>>) outs(%a : memref<4096xf16, #hivm.address_space<ub>>)
      %b = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
      hivm.hir.vadd ins(%a, %a : memref<4096xf16, #hivm.address_space<ub>>, memref<4096xf16, #hivm.address_space<ub>>) outs(%b : memref<4096xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%b : memref<4096xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<4096xf16, #hivm.address_space<gm>>)
      %c = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm2 : memref<4096xf16, #hivm.address_space<gm>>) outs(%c : memref<4096xf16, #hivm.address_space<ub>>)
      %d = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
      hivm.hir.vadd ins(%c, %c : memref<4096xf16, #hivm.address_space<ub>>, memref<4096xf16, #hivm.address_space<ub>>) outs(%d : memref<4096xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%d : memref<4096xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<4096xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// In place would chain the load to the store: refused.
// record: plan-memory.mlir 4
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_multi_buffer_loadstore_not_inplace(%gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<4096xf16, #hivm.address_space<gm>>, %gm2: memref<4096xf16, #hivm.address_space<gm>>, %gm3: memref<4096xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %in0 = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
      annotation.mark %in0 {hivm.multi_buffer = 2 : i32} : memref<4096xf16, #hivm.address_space<ub>>
      %out0 = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
      annotation.mark %out0 {hivm.multi_buffer = 2 : i32} : memref<4096xf16, #hivm.address_space<ub>>
      %in1 = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
      annotation.mark %in1 {hivm.multi_buffer = 2 : i32} : memref<4096xf16, #hivm.address_space<ub>>
      %out1 = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
      annotation.mark %out1 {hivm.multi_buffer = 2 : i32} : memref<4096xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<4096xf16, #hivm.address_space<gm>>) outs(%in0 : memref<4096xf16, #hivm.address_space<ub>>)
      hivm.hir.vadd ins(%in0, %in0 : memref<4096xf16, #hivm.address_space<ub>>, memref<4096xf16, #hivm.address_space<ub>>) outs(%out0 : memref<4096xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%out0 : memref<4096xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<4096xf16, #hivm.address_space<gm>>)
      hivm.hir.load ins(%gm2 : memref<4096xf16, #hivm.address_space<gm>>) outs(%in1 : memref<4096xf16, #hivm.address_space<ub>>)
      hivm.hir.vadd ins(%in1, %in1 : memref<4096xf16, #hivm.address_space<ub>>, memref<4096xf16, #hivm.address_space<ub>>) outs(%out1 : memref<4096xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%out1 : memref<4096xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<4096xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// Memory is short: the refused pair is taken after all.
// record: plan-memory.mlir 5
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_multi_buffer_loadstore_level0_inplace(%gm0: memref<49152xf16, #hivm.address_space<gm>>, %gm1: memref<49152xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %in0 = memref.alloc() : memref<49152xf16, #hivm.address_space<ub>>
      annotation.mark %in0 {hivm.multi_buffer = 2 : i32} : memref<49152xf16, #hivm.address_space<ub>>
      %out0 = memref.alloc() : memref<49152xf16, #hivm.address_space<ub>>
      annotation.mark %out0 {hivm.multi_buffer = 2 : i32} : memref<49152xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<49152xf16, #hivm.address_space<gm>>) outs(%in0 : memref<49152xf16, #hivm.address_space<ub>>)
      hivm.hir.vadd ins(%in0, %in0 : memref<49152xf16, #hivm.address_space<ub>>, memref<49152xf16, #hivm.address_space<ub>>) outs(%out0 : memref<49152xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%out0 : memref<49152xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<49152xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// A single result takes both slots of the load; the store's buffer stays apart.
// record: plan-memory.mlir 6
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_infer_not_inplace_loadstore_under_loop(%gm0: memref<16xf16, #hivm.address_space<gm>>, %gm1: memref<16xf16, #hivm.address_space<gm>>, %gm2: memref<16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %a = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
      annotation.mark %a {hivm.multi_buffer = 2 : i32} : memref<16xf16, #hivm.address_space<ub>>
      %t = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
      %b = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
      annotation.mark %b {hivm.multi_buffer = 2 : i32} : memref<16xf16, #hivm.address_space<ub>>
      %d = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
      annotation.mark %d {hivm.multi_buffer = 2 : i32} : memref<16xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<16xf16, #hivm.address_space<gm>>) outs(%a : memref<16xf16, #hivm.address_space<ub>>)
      hivm.hir.load ins(%gm1 : memref<16xf16, #hivm.address_space<gm>>) outs(%b : memref<16xf16, #hivm.address_space<ub>>)
      hivm.hir.vabs ins(%a : memref<16xf16, #hivm.address_space<ub>>) outs(%t : memref<16xf16, #hivm.address_space<ub>>)
      hivm.hir.vadd ins(%t, %b : memref<16xf16, #hivm.address_space<ub>>, memref<16xf16, #hivm.address_space<ub>>) outs(%d : memref<16xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%d : memref<16xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<16xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// The first of two dying operands is the donor.
// record: plan-memory.mlir 7
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @vadd_inplace(%gm0: memref<256xf16, #hivm.address_space<gm>>, %gm1: memref<256xf16, #hivm.address_space<gm>>, %gm2: memref<256xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %l = memref.alloc() : memref<256xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<256xf16, #hivm.address_space<gm>>) outs(%l : memref<256xf16, #hivm.address_space<ub>>)
    %r = memref.alloc() : memref<256xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<256xf16, #hivm.address_space<gm>>) outs(%r : memref<256xf16, #hivm.address_space<ub>>)
    %s = memref.alloc() : memref<256xf16, #hivm.address_space<ub>>
    hivm.hir.vadd ins(%l, %r : memref<256xf16, #hivm.address_space<ub>>, memref<256xf16, #hivm.address_space<ub>>) outs(%s : memref<256xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%s : memref<256xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<256xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// The donor is too small.
// record: plan-memory.mlir 8
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @vcast_inplace_2d_small_to_large_invalid(%gm0: memref<16x16xf16, #hivm.address_space<gm>>, %gm1: memref<16x16xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %x = memref.alloc() : memref<16x16xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<16x16xf16, #hivm.address_space<gm>>) outs(%x : memref<16x16xf16, #hivm.address_space<ub>>)
    %y = memref.alloc() : memref<16x16xf32, #hivm.address_space<ub>>
    hivm.hir.vcast ins(%x : memref<16x16xf16, #hivm.address_space<ub>>) outs(%y : memref<16x16xf32, #hivm.address_space<ub>>)
    hivm.hir.store ins(%y : memref<16x16xf32, #hivm.address_space<ub>>) outs(%gm1 : memref<16x16xf32, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Same width: in place.
// record: plan-memory.mlir 9
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @vcast_inplace_2d_equal_valid(%gm0: memref<16x16xf16, #hivm.address_space<gm>>, %gm1: memref<16x16xi16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %x = memref.alloc() : memref<16x16xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<16x16xf16, #hivm.address_space<gm>>) outs(%x : memref<16x16xf16, #hivm.address_space<ub>>)
    %y = memref.alloc() : memref<16x16xi16, #hivm.address_space<ub>>
    hivm.hir.vcast ins(%x : memref<16x16xf16, #hivm.address_space<ub>>) outs(%y : memref<16x16xi16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%y : memref<16x16xi16, #hivm.address_space<ub>>) outs(%gm1 : memref<16x16xi16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Narrowing needs one dimension.
// record: plan-memory.mlir 10
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @vcast_inplace_2d_large_to_small_invalid(%gm0: memref<16x16xf32, #hivm.address_space<gm>>, %gm1: memref<16x16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %x = memref.alloc() : memref<16x16xf32, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<16x16xf32, #hivm.address_space<gm>>) outs(%x : memref<16x16xf32, #hivm.address_space<ub>>)
    %y = memref.alloc() : memref<16x16xf16, #hivm.address_space<ub>>
    hivm.hir.vcast ins(%x : memref<16x16xf32, #hivm.address_space<ub>>) outs(%y : memref<16x16xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%y : memref<16x16xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<16x16xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Widening: refused.
// record: plan-memory.mlir 11
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @vcast_inplace_1d_small_to_large_invalid(%gm0: memref<1024xf16, #hivm.address_space<gm>>, %gm1: memref<1024xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %x = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<1024xf16, #hivm.address_space<gm>>) outs(%x : memref<1024xf16, #hivm.address_space<ub>>)
    %y = memref.alloc() : memref<1024xf32, #hivm.address_space<ub>>
    hivm.hir.vcast ins(%x : memref<1024xf16, #hivm.address_space<ub>>) outs(%y : memref<1024xf32, #hivm.address_space<ub>>)
    hivm.hir.store ins(%y : memref<1024xf32, #hivm.address_space<ub>>) outs(%gm1 : memref<1024xf32, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Same width: in place.
// record: plan-memory.mlir 12
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @vcast_inplace_1d_equal_valid(%gm0: memref<1024xf16, #hivm.address_space<gm>>, %gm1: memref<1024xi16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %x = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<1024xf16, #hivm.address_space<gm>>) outs(%x : memref<1024xf16, #hivm.address_space<ub>>)
    %y = memref.alloc() : memref<1024xi16, #hivm.address_space<ub>>
    hivm.hir.vcast ins(%x : memref<1024xf16, #hivm.address_space<ub>>) outs(%y : memref<1024xi16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%y : memref<1024xi16, #hivm.address_space<ub>>) outs(%gm1 : memref<1024xi16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Narrowing one contiguous dimension: in place.
// record: plan-memory.mlir 13
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @vcast_inplace_1d_large_to_small_valid(%gm0: memref<1024xf32, #hivm.address_space<gm>>, %gm1: memref<1024xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %x = memref.alloc() : memref<1024xf32, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<1024xf32, #hivm.address_space<gm>>) outs(%x : memref<1024xf32, #hivm.address_space<ub>>)
    %y = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
    hivm.hir.vcast ins(%x : memref<1024xf32, #hivm.address_space<ub>>) outs(%y : memref<1024xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%y : memref<1024xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<1024xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Widening: refused, whatever the stride. The bytes between the elements count.
// record: plan-memory.mlir 14
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @vcast_inplace_1d_s2l_stride2_invalid(%gm0: memref<1024xf16, strided<[2]>, #hivm.address_space<gm>>, %gm1: memref<1024xf32, strided<[2]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %arg0_ub = memref.alloc() : memref<1024xf16, strided<[2]>, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<1024xf16, strided<[2]>, #hivm.address_space<gm>>) outs(%arg0_ub : memref<1024xf16, strided<[2]>, #hivm.address_space<ub>>)
    %vcast_res_ub = memref.alloc() : memref<1024xf32, strided<[2]>, #hivm.address_space<ub>>
    hivm.hir.vcast ins(%arg0_ub : memref<1024xf16, strided<[2]>, #hivm.address_space<ub>>) outs(%vcast_res_ub : memref<1024xf32, strided<[2]>, #hivm.address_space<ub>>)
    hivm.hir.store ins(%vcast_res_ub : memref<1024xf32, strided<[2]>, #hivm.address_space<ub>>) outs(%gm1 : memref<1024xf32, strided<[2]>, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Same width and stride: in place. The bytes between the elements count.
// record: plan-memory.mlir 15
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @vcast_inplace_1d_equal_stride2_valid(%gm0: memref<1024xf16, strided<[2]>, #hivm.address_space<gm>>, %gm1: memref<1024xi16, strided<[2]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %arg0_ub = memref.alloc() : memref<1024xf16, strided<[2]>, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<1024xf16, strided<[2]>, #hivm.address_space<gm>>) outs(%arg0_ub : memref<1024xf16, strided<[2]>, #hivm.address_space<ub>>)
    %vcast_res_ub = memref.alloc() : memref<1024xi16, strided<[2]>, #hivm.address_space<ub>>
    hivm.hir.vcast ins(%arg0_ub : memref<1024xf16, strided<[2]>, #hivm.address_space<ub>>) outs(%vcast_res_ub : memref<1024xi16, strided<[2]>, #hivm.address_space<ub>>)
    hivm.hir.store ins(%vcast_res_ub : memref<1024xi16, strided<[2]>, #hivm.address_space<ub>>) outs(%gm1 : memref<1024xi16, strided<[2]>, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Narrowing needs elements without gaps. The bytes between the elements count.
// record: plan-memory.mlir 16
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @vcast_inplace_1d_l2s_stride2_invalid(%gm0: memref<1024xf32, strided<[2]>, #hivm.address_space<gm>>, %gm1: memref<1024xf16, strided<[2]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %arg0_ub = memref.alloc() : memref<1024xf32, strided<[2]>, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<1024xf32, strided<[2]>, #hivm.address_space<gm>>) outs(%arg0_ub : memref<1024xf32, strided<[2]>, #hivm.address_space<ub>>)
    %vcast_res_ub = memref.alloc() : memref<1024xf16, strided<[2]>, #hivm.address_space<ub>>
    hivm.hir.vcast ins(%arg0_ub : memref<1024xf32, strided<[2]>, #hivm.address_space<ub>>) outs(%vcast_res_ub : memref<1024xf16, strided<[2]>, #hivm.address_space<ub>>)
    hivm.hir.store ins(%vcast_res_ub : memref<1024xf16, strided<[2]>, #hivm.address_space<ub>>) outs(%gm1 : memref<1024xf16, strided<[2]>, #hivm.address_space<gm>>)
    return
  }
}

// -----

// What either branch yields gets one address.
// record: plan-memory.mlir 17
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_infer_plan_memory_if_yield(%c: i1, %gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<4096xf16, #hivm.address_space<gm>>, %gm2: memref<4096xf16, #hivm.address_space<gm>>, %gm3: memref<4096xf16, #hivm.address_space<gm>>, %gm4: memref<4096xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %alloc1 = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    %alloc3 = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    %alloc5 = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    %alloc7 = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    %alloc9 = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    %alloc10 = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<4096xf16, #hivm.address_space<gm>>) outs(%alloc1 : memref<4096xf16, #hivm.address_space<ub>>)
    hivm.hir.load ins(%gm1 : memref<4096xf16, #hivm.address_space<gm>>) outs(%alloc5 : memref<4096xf16, #hivm.address_space<ub>>)
    hivm.hir.load ins(%gm2 : memref<4096xf16, #hivm.address_space<gm>>) outs(%alloc9 : memref<4096xf16, #hivm.address_space<ub>>)
    hivm.hir.load ins(%gm3 : memref<4096xf16, #hivm.address_space<gm>>) outs(%alloc10 : memref<4096xf16, #hivm.address_space<ub>>)
    %r = scf.if %c -> (memref<4096xf16, #hivm.address_space<ub>>) {
      hivm.hir.vadd ins(%alloc1, %alloc5 : memref<4096xf16, #hivm.address_space<ub>>, memref<4096xf16, #hivm.address_space<ub>>) outs(%alloc3 : memref<4096xf16, #hivm.address_space<ub>>)
      scf.yield %alloc3 : memref<4096xf16, #hivm.address_space<ub>>
    } else {
      hivm.hir.vadd ins(%alloc9, %alloc10 : memref<4096xf16, #hivm.address_space<ub>>, memref<4096xf16, #hivm.address_space<ub>>) outs(%alloc7 : memref<4096xf16, #hivm.address_space<ub>>)
      scf.yield %alloc7 : memref<4096xf16, #hivm.address_space<ub>>
    }
    hivm.hir.store ins(%r : memref<4096xf16, #hivm.address_space<ub>>) outs(%gm4 : memref<4096xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// The initial value and the yielded one are one buffer; the result is returned.
// record: plan-memory.mlir 18
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_plan_memory_for_result(%gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<4096xf16, #hivm.address_space<gm>>, %gm2: memref<4096xf16, #hivm.address_space<gm>>, %gm3: memref<4096xf16, #hivm.address_space<gm>>) -> memref<4096xf16, #hivm.address_space<ub>> attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %0 = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    %1 = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    %2 = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    %3 = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    %4 = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<4096xf16, #hivm.address_space<gm>>) outs(%0 : memref<4096xf16, #hivm.address_space<ub>>)
    hivm.hir.load ins(%gm1 : memref<4096xf16, #hivm.address_space<gm>>) outs(%1 : memref<4096xf16, #hivm.address_space<ub>>)
    hivm.hir.load ins(%gm2 : memref<4096xf16, #hivm.address_space<gm>>) outs(%4 : memref<4096xf16, #hivm.address_space<ub>>)
    hivm.hir.vadd ins(%0, %1 : memref<4096xf16, #hivm.address_space<ub>>, memref<4096xf16, #hivm.address_space<ub>>) outs(%2 : memref<4096xf16, #hivm.address_space<ub>>)
    %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%x = %4) -> (memref<4096xf16, #hivm.address_space<ub>>) {
      hivm.hir.vadd ins(%x, %0 : memref<4096xf16, #hivm.address_space<ub>>, memref<4096xf16, #hivm.address_space<ub>>) outs(%3 : memref<4096xf16, #hivm.address_space<ub>>)
      scf.yield %3 : memref<4096xf16, #hivm.address_space<ub>>
    }
    hivm.hir.store ins(%2 : memref<4096xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<4096xf16, #hivm.address_space<gm>>)
    return %r : memref<4096xf16, #hivm.address_space<ub>>
  }
}

// -----

// A part is stored later; the whole lives until then.
// record: plan-memory.mlir 19
// differs: which of two dying operands is the donor depends on random numbers there; here it is the first
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_plan_memory_subview(%gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<4096xf16, #hivm.address_space<gm>>, %gm2: memref<2048xf16, strided<[1]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<4096xf16, #hivm.address_space<gm>>) outs(%a : memref<4096xf16, #hivm.address_space<ub>>)
    %b = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<4096xf16, #hivm.address_space<gm>>) outs(%b : memref<4096xf16, #hivm.address_space<ub>>)
    %s = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    hivm.hir.vadd ins(%a, %b : memref<4096xf16, #hivm.address_space<ub>>, memref<4096xf16, #hivm.address_space<ub>>) outs(%s : memref<4096xf16, #hivm.address_space<ub>>)
    %v = memref.subview %s[0] [2048] [1] : memref<4096xf16, #hivm.address_space<ub>> to memref<2048xf16, strided<[1]>, #hivm.address_space<ub>>
    hivm.hir.store ins(%v : memref<2048xf16, strided<[1]>, #hivm.address_space<ub>>) outs(%gm2 : memref<2048xf16, strided<[1]>, #hivm.address_space<gm>>)
    return
  }
}

// -----

// The store is reached through a view: three double buffers stay apart.
// record: plan-memory.mlir 20
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_plan_memory_subview_in_loop(%gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<4096xf16, #hivm.address_space<gm>>, %gm2: memref<2048xf16, strided<[1]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %a = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
      annotation.mark %a {hivm.multi_buffer = 2 : i32} : memref<4096xf16, #hivm.address_space<ub>>
      %b = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
      annotation.mark %b {hivm.multi_buffer = 2 : i32} : memref<4096xf16, #hivm.address_space<ub>>
      %s = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
      annotation.mark %s {hivm.multi_buffer = 2 : i32} : memref<4096xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<4096xf16, #hivm.address_space<gm>>) outs(%a : memref<4096xf16, #hivm.address_space<ub>>)
      hivm.hir.load ins(%gm1 : memref<4096xf16, #hivm.address_space<gm>>) outs(%b : memref<4096xf16, #hivm.address_space<ub>>)
      hivm.hir.vadd ins(%a, %b : memref<4096xf16, #hivm.address_space<ub>>, memref<4096xf16, #hivm.address_space<ub>>) outs(%s : memref<4096xf16, #hivm.address_space<ub>>)
      %v = memref.subview %s[0] [2048] [1] : memref<4096xf16, #hivm.address_space<ub>> to memref<2048xf16, strided<[1]>, #hivm.address_space<ub>>
      hivm.hir.store ins(%v : memref<2048xf16, strided<[1]>, #hivm.address_space<ub>>) outs(%gm2 : memref<2048xf16, strided<[1]>, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// Another shape of the same bytes.
// record: plan-memory.mlir 21
// differs: which of two dying operands is the donor depends on random numbers there; here it is the first
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_plan_memory_collapse_shape(%gm0: memref<64x64xf16, #hivm.address_space<gm>>, %gm1: memref<64x64xf16, #hivm.address_space<gm>>, %gm2: memref<4096xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<64x64xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<64x64xf16, #hivm.address_space<gm>>) outs(%a : memref<64x64xf16, #hivm.address_space<ub>>)
    %b = memref.alloc() : memref<64x64xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<64x64xf16, #hivm.address_space<gm>>) outs(%b : memref<64x64xf16, #hivm.address_space<ub>>)
    %s = memref.alloc() : memref<64x64xf16, #hivm.address_space<ub>>
    hivm.hir.vadd ins(%a, %b : memref<64x64xf16, #hivm.address_space<ub>>, memref<64x64xf16, #hivm.address_space<ub>>) outs(%s : memref<64x64xf16, #hivm.address_space<ub>>)
    %v = memref.collapse_shape %s [[0, 1]] : memref<64x64xf16, #hivm.address_space<ub>> into memref<4096xf16, #hivm.address_space<ub>>
    hivm.hir.store ins(%v : memref<4096xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<4096xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Another shape of the same bytes.
// record: plan-memory.mlir 22
// differs: which of two dying operands is the donor depends on random numbers there; here it is the first
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_plan_memory_expand_shape(%gm0: memref<64x64xf16, #hivm.address_space<gm>>, %gm1: memref<64x64xf16, #hivm.address_space<gm>>, %gm2: memref<64x8x8xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<64x64xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<64x64xf16, #hivm.address_space<gm>>) outs(%a : memref<64x64xf16, #hivm.address_space<ub>>)
    %b = memref.alloc() : memref<64x64xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<64x64xf16, #hivm.address_space<gm>>) outs(%b : memref<64x64xf16, #hivm.address_space<ub>>)
    %s = memref.alloc() : memref<64x64xf16, #hivm.address_space<ub>>
    hivm.hir.vadd ins(%a, %b : memref<64x64xf16, #hivm.address_space<ub>>, memref<64x64xf16, #hivm.address_space<ub>>) outs(%s : memref<64x64xf16, #hivm.address_space<ub>>)
    %v = memref.expand_shape %s [[0], [1, 2]] output_shape [64, 8, 8] : memref<64x64xf16, #hivm.address_space<ub>> into memref<64x8x8xf16, #hivm.address_space<ub>>
    hivm.hir.store ins(%v : memref<64x8x8xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<64x8x8xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// A temporary lives only during its op; 20 bytes take 32.
// record: plan-memory.mlir 23
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_plan_memory_temp_buffer(%gm0: memref<5x1xf32, #hivm.address_space<gm>>, %gm1: memref<5x8xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %row = memref.alloc() : memref<5x1xf32, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<5x1xf32, #hivm.address_space<gm>>) outs(%row : memref<5x1xf32, #hivm.address_space<ub>>)
    %all = memref.alloc() : memref<5x8xf32, #hivm.address_space<ub>>
    %t = memref.alloc() : memref<40xf32, #hivm.address_space<ub>>
    hivm.hir.vbrc ins(%row : memref<5x1xf32, #hivm.address_space<ub>>) outs(%all : memref<5x8xf32, #hivm.address_space<ub>>) temp_buffer(%t : memref<40xf32, #hivm.address_space<ub>>) broadcast_dims = [1]
    hivm.hir.store ins(%all : memref<5x8xf32, #hivm.address_space<ub>>) outs(%gm1 : memref<5x8xf32, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Manual double buffering: six buffers, all in use in the loop.
// record: plan-memory.mlir 24
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_plan_memory_select(%gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<4096xf16, #hivm.address_space<gm>>, %gm2: memref<4096xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %a0 = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    %a1 = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    %b0 = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    %b1 = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    %s0 = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    %s1 = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    scf.for %i = %c0 to %c8 step %c1 {
      %two = arith.constant 2 : index
      %odd = arith.remui %i, %two : index
      %c = arith.cmpi eq, %odd, %c0 : index
      %a = arith.select %c, %a0, %a1 : memref<4096xf16, #hivm.address_space<ub>>
      %b = arith.select %c, %b0, %b1 : memref<4096xf16, #hivm.address_space<ub>>
      %s = arith.select %c, %s0, %s1 : memref<4096xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<4096xf16, #hivm.address_space<gm>>) outs(%a : memref<4096xf16, #hivm.address_space<ub>>)
      hivm.hir.load ins(%gm1 : memref<4096xf16, #hivm.address_space<gm>>) outs(%b : memref<4096xf16, #hivm.address_space<ub>>)
      hivm.hir.vadd ins(%a, %b : memref<4096xf16, #hivm.address_space<ub>>, memref<4096xf16, #hivm.address_space<ub>>) outs(%s : memref<4096xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%s : memref<4096xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<4096xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// An arena of bytes with a view of another type.
// record: plan-memory.mlir 25
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_plan_memory_memref_view_and_reinterpret_cast(%n: index, %gm0: memref<?xf16, strided<[1]>, #hivm.address_space<gm>>, %gm1: memref<?xf16, strided<[1]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %arena = memref.alloc() : memref<2048xi8, #hivm.address_space<ub>>
    %v = memref.view %arena[%c0][%n] : memref<2048xi8, #hivm.address_space<ub>> to memref<?xf16, #hivm.address_space<ub>>
    %w = memref.reinterpret_cast %v to offset: [0], sizes: [%n], strides: [1] : memref<?xf16, #hivm.address_space<ub>> to memref<?xf16, strided<[1]>, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<?xf16, strided<[1]>, #hivm.address_space<gm>>) outs(%w : memref<?xf16, strided<[1]>, #hivm.address_space<ub>>)
    hivm.hir.store ins(%w : memref<?xf16, strided<[1]>, #hivm.address_space<ub>>) outs(%gm1 : memref<?xf16, strided<[1]>, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Everything fits: nothing is shared.
// record: plan-memory.mlir 26
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_mem_plan_pipe_opt(%gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<4096xf16, #hivm.address_space<gm>>, %gm2: memref<4096xf16, #hivm.address_space<gm>>, %gm3: memref<4096xf16, #hivm.address_space<gm>>, %gm4: memref<4096xf16, #hivm.address_space<gm>>, %gm5: memref<4096xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<4096xf16, #hivm.address_space<gm>>) outs(%a : memref<4096xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%a : memref<4096xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<4096xf16, #hivm.address_space<gm>>)
    %b = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm2 : memref<4096xf16, #hivm.address_space<gm>>) outs(%b : memref<4096xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%b : memref<4096xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<4096xf16, #hivm.address_space<gm>>)
    %c = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm4 : memref<4096xf16, #hivm.address_space<gm>>) outs(%c : memref<4096xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%c : memref<4096xf16, #hivm.address_space<ub>>) outs(%gm5 : memref<4096xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// A double buffer has two addresses.
// record: plan-memory.mlir 27
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_mem_plan_db_two_address(%gm0: memref<16xf16, #hivm.address_space<gm>>, %gm1: memref<16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %s = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
      annotation.mark %s {hivm.multi_buffer = 2 : i32} : memref<16xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<16xf16, #hivm.address_space<gm>>) outs(%s : memref<16xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%s : memref<16xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<16xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// A single result in place of a double buffer has both addresses.
// record: plan-memory.mlir 28
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_inplace_single_and_db(%gm0: memref<16xf16, #hivm.address_space<gm>>, %gm1: memref<16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %s = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
      annotation.mark %s {hivm.multi_buffer = 2 : i32} : memref<16xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<16xf16, #hivm.address_space<gm>>) outs(%s : memref<16xf16, #hivm.address_space<ub>>)
      %d = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
      hivm.hir.vabs ins(%s : memref<16xf16, #hivm.address_space<ub>>) outs(%d : memref<16xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%d : memref<16xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<16xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// Load and store stay apart.
// record: plan-memory.mlir 29
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_mem_inplace_db_and_db(%gm0: memref<16xf16, #hivm.address_space<gm>>, %gm1: memref<16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %in0 = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
      annotation.mark %in0 {hivm.multi_buffer = 2 : i32} : memref<16xf16, #hivm.address_space<ub>>
      %out0 = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
      annotation.mark %out0 {hivm.multi_buffer = 2 : i32} : memref<16xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<16xf16, #hivm.address_space<gm>>) outs(%in0 : memref<16xf16, #hivm.address_space<ub>>)
      hivm.hir.vadd ins(%in0, %in0 : memref<16xf16, #hivm.address_space<ub>>, memref<16xf16, #hivm.address_space<ub>>) outs(%out0 : memref<16xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%out0 : memref<16xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<16xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// The mark is on a view; it speaks of the allocation.
// record: plan-memory.mlir 30
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_multi_buffer_not_on_alloc(%gm0: memref<256xf16, #hivm.address_space<gm>>, %gm1: memref<256xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %s = memref.alloc() : memref<256xf16, #hivm.address_space<ub>>
      %v = memref.subview %s[0] [128] [1] : memref<256xf16, #hivm.address_space<ub>> to memref<128xf16, strided<[1]>, #hivm.address_space<ub>>
      annotation.mark %v {hivm.multi_buffer = 2 : i32} : memref<128xf16, strided<[1]>, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<256xf16, #hivm.address_space<gm>>) outs(%s : memref<256xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%s : memref<256xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<256xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// Four slots, four addresses.
// record: plan-memory.mlir 31
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_mem_plan_multi_address(%gm0: memref<16xf16, #hivm.address_space<gm>>, %gm1: memref<16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %s = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
      annotation.mark %s {hivm.multi_buffer = 4 : i32} : memref<16xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<16xf16, #hivm.address_space<gm>>) outs(%s : memref<16xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%s : memref<16xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<16xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// ... of four slots, all four.
// record: plan-memory.mlir 32
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_inplace_single_and_mb(%gm0: memref<16xf16, #hivm.address_space<gm>>, %gm1: memref<16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %s = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
      annotation.mark %s {hivm.multi_buffer = 4 : i32} : memref<16xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<16xf16, #hivm.address_space<gm>>) outs(%s : memref<16xf16, #hivm.address_space<ub>>)
      %d = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
      hivm.hir.vabs ins(%s : memref<16xf16, #hivm.address_space<ub>>) outs(%d : memref<16xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%d : memref<16xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<16xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// First slots first, then the others buffer by buffer.
// record: plan-memory.mlir 33
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_mem_inplace_mb_and_mb(%gm0: memref<16xf16, #hivm.address_space<gm>>, %gm1: memref<16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %in0 = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
      annotation.mark %in0 {hivm.multi_buffer = 4 : i32} : memref<16xf16, #hivm.address_space<ub>>
      %out0 = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
      annotation.mark %out0 {hivm.multi_buffer = 4 : i32} : memref<16xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<16xf16, #hivm.address_space<gm>>) outs(%in0 : memref<16xf16, #hivm.address_space<ub>>)
      hivm.hir.vadd ins(%in0, %in0 : memref<16xf16, #hivm.address_space<ub>>, memref<16xf16, #hivm.address_space<ub>>) outs(%out0 : memref<16xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%out0 : memref<16xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<16xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// Level1: a single pair on a buffer of four slots gets all four.
// record: plan-memory.mlir 34
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_mem_level1_single_buffer_reuse(%gm0: memref<12288xf16, #hivm.address_space<gm>>, %gm1: memref<12288xf16, #hivm.address_space<gm>>, %gm2: memref<12288xf16, #hivm.address_space<gm>>, %gm3: memref<12288xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %src1 = memref.alloc() : memref<12288xf16, #hivm.address_space<ub>>
      annotation.mark %src1 {hivm.multi_buffer = 4 : i32} : memref<12288xf16, #hivm.address_space<ub>>
      %dst1 = memref.alloc() : memref<12288xf16, #hivm.address_space<ub>>
      annotation.mark %dst1 {hivm.multi_buffer = 4 : i32} : memref<12288xf16, #hivm.address_space<ub>>
      %src2 = memref.alloc() : memref<12288xf16, #hivm.address_space<ub>>
      %dst2 = memref.alloc() : memref<12288xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<12288xf16, #hivm.address_space<gm>>) outs(%src1 : memref<12288xf16, #hivm.address_space<ub>>)
      hivm.hir.vabs ins(%src1 : memref<12288xf16, #hivm.address_space<ub>>) outs(%dst1 : memref<12288xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%dst1 : memref<12288xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<12288xf16, #hivm.address_space<gm>>)
      hivm.hir.load ins(%gm2 : memref<12288xf16, #hivm.address_space<gm>>) outs(%src2 : memref<12288xf16, #hivm.address_space<ub>>)
      hivm.hir.vabs ins(%src2 : memref<12288xf16, #hivm.address_space<ub>>) outs(%dst2 : memref<12288xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%dst2 : memref<12288xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<12288xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// Four slots over four slots.
// record: plan-memory.mlir 35
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_mem_level0_equal_multi_buffers_reuse(%gm0: memref<10240xf16, #hivm.address_space<gm>>, %gm1: memref<10240xf16, #hivm.address_space<gm>>, %gm2: memref<10240xf16, #hivm.address_space<gm>>, %gm3: memref<10240xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %src1_ub = memref.alloc() : memref<10240xf16, #hivm.address_space<ub>>
      annotation.mark %src1_ub {hivm.multi_buffer = 4 : i32} : memref<10240xf16, #hivm.address_space<ub>>
      %src2_ub = memref.alloc() : memref<10240xf16, #hivm.address_space<ub>>
      annotation.mark %src2_ub {hivm.multi_buffer = 4 : i32} : memref<10240xf16, #hivm.address_space<ub>>
      %dst1_ub = memref.alloc() : memref<10240xf16, #hivm.address_space<ub>>
      annotation.mark %dst1_ub {hivm.multi_buffer = 4 : i32} : memref<10240xf16, #hivm.address_space<ub>>
      %dst2_ub = memref.alloc() : memref<10240xf16, #hivm.address_space<ub>>
      annotation.mark %dst2_ub {hivm.multi_buffer = 4 : i32} : memref<10240xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<10240xf16, #hivm.address_space<gm>>) outs(%src1_ub : memref<10240xf16, #hivm.address_space<ub>>)
      hivm.hir.vabs ins(%src1_ub : memref<10240xf16, #hivm.address_space<ub>>) outs(%dst1_ub : memref<10240xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%dst1_ub : memref<10240xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<10240xf16, #hivm.address_space<gm>>)
      hivm.hir.load ins(%gm2 : memref<10240xf16, #hivm.address_space<gm>>) outs(%src2_ub : memref<10240xf16, #hivm.address_space<ub>>)
      hivm.hir.vabs ins(%src2_ub : memref<10240xf16, #hivm.address_space<ub>>) outs(%dst2_ub : memref<10240xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%dst2_ub : memref<10240xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<10240xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// Two slots over four: widened where a whole buffer is free.
// record: plan-memory.mlir 36
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_mem_level0_less_multi_buffers_reuse(%gm0: memref<10240xf16, #hivm.address_space<gm>>, %gm1: memref<10240xf16, #hivm.address_space<gm>>, %gm2: memref<10240xf16, #hivm.address_space<gm>>, %gm3: memref<10240xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %src1_ub = memref.alloc() : memref<10240xf16, #hivm.address_space<ub>>
      annotation.mark %src1_ub {hivm.multi_buffer = 4 : i32} : memref<10240xf16, #hivm.address_space<ub>>
      %src2_ub = memref.alloc() : memref<10240xf16, #hivm.address_space<ub>>
      annotation.mark %src2_ub {hivm.multi_buffer = 2 : i32} : memref<10240xf16, #hivm.address_space<ub>>
      %dst1_ub = memref.alloc() : memref<10240xf16, #hivm.address_space<ub>>
      annotation.mark %dst1_ub {hivm.multi_buffer = 4 : i32} : memref<10240xf16, #hivm.address_space<ub>>
      %dst2_ub = memref.alloc() : memref<10240xf16, #hivm.address_space<ub>>
      annotation.mark %dst2_ub {hivm.multi_buffer = 2 : i32} : memref<10240xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<10240xf16, #hivm.address_space<gm>>) outs(%src1_ub : memref<10240xf16, #hivm.address_space<ub>>)
      hivm.hir.vabs ins(%src1_ub : memref<10240xf16, #hivm.address_space<ub>>) outs(%dst1_ub : memref<10240xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%dst1_ub : memref<10240xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<10240xf16, #hivm.address_space<gm>>)
      hivm.hir.load ins(%gm2 : memref<10240xf16, #hivm.address_space<gm>>) outs(%src2_ub : memref<10240xf16, #hivm.address_space<ub>>)
      hivm.hir.vabs ins(%src2_ub : memref<10240xf16, #hivm.address_space<ub>>) outs(%dst2_ub : memref<10240xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%dst2_ub : memref<10240xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<10240xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// Written in the loop, allocated outside: alive all through it.
// record: plan-memory.mlir 37
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_infer_mem_allocate_loop_conflict(%gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<4096xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %out = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    scf.for %i = %c0 to %c8 step %c1 {
      %in = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<4096xf16, #hivm.address_space<gm>>) outs(%in : memref<4096xf16, #hivm.address_space<ub>>)
      hivm.hir.vabs ins(%in : memref<4096xf16, #hivm.address_space<ub>>) outs(%out : memref<4096xf16, #hivm.address_space<ub>>)
    }
    hivm.hir.store ins(%out : memref<4096xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<4096xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Another shape of the same bytes, known at run time.
// record: plan-memory.mlir 38
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_plan_memory_memref_reshape(%gm0: memref<16xf16, #hivm.address_space<gm>>, %shape: memref<2xi32>, %gm1: memref<4x4xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<16xf16, #hivm.address_space<gm>>) outs(%a : memref<16xf16, #hivm.address_space<ub>>)
    %v = memref.reshape %a(%shape) : (memref<16xf16, #hivm.address_space<ub>>, memref<2xi32>) -> memref<4x4xf16, #hivm.address_space<ub>>
    hivm.hir.store ins(%v : memref<4x4xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<4x4xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Loads and stores of single numbers.
// record: plan-memory.mlir 39
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_mem_memref_load_store(%gm0: memref<512xf32, #hivm.address_space<gm>>, %gm1: memref<512xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %a = memref.alloc() : memref<512xf32, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<512xf32, #hivm.address_space<gm>>) outs(%a : memref<512xf32, #hivm.address_space<ub>>)
    %b = memref.alloc() : memref<512xf32, #hivm.address_space<ub>>
    scf.for %i = %c0 to %c8 step %c1 {
      %x = memref.load %a[%i] : memref<512xf32, #hivm.address_space<ub>>
      memref.store %x, %b[%i] : memref<512xf32, #hivm.address_space<ub>>
    }
    hivm.hir.store ins(%b : memref<512xf32, #hivm.address_space<ub>>) outs(%gm1 : memref<512xf32, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Four bytes take thirty-two.
// record: plan-memory.mlir 40
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_mem_enough(%gm0: memref<1xf32, #hivm.address_space<gm>>, %gm1: memref<1xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %a0 = memref.alloc() : memref<1xf32, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<1xf32, #hivm.address_space<gm>>) outs(%a0 : memref<1xf32, #hivm.address_space<ub>>)
    %a1 = memref.alloc() : memref<1xf32, #hivm.address_space<ub>>
    %x1 = memref.load %a0[%c0] : memref<1xf32, #hivm.address_space<ub>>
    memref.store %x1, %a1[%c0] : memref<1xf32, #hivm.address_space<ub>>
    %a2 = memref.alloc() : memref<1xf32, #hivm.address_space<ub>>
    %x2 = memref.load %a1[%c0] : memref<1xf32, #hivm.address_space<ub>>
    memref.store %x2, %a2[%c0] : memref<1xf32, #hivm.address_space<ub>>
    %a3 = memref.alloc() : memref<1xf32, #hivm.address_space<ub>>
    %x3 = memref.load %a2[%c0] : memref<1xf32, #hivm.address_space<ub>>
    memref.store %x3, %a3[%c0] : memref<1xf32, #hivm.address_space<ub>>
    %a4 = memref.alloc() : memref<1xf32, #hivm.address_space<ub>>
    %x4 = memref.load %a3[%c0] : memref<1xf32, #hivm.address_space<ub>>
    memref.store %x4, %a4[%c0] : memref<1xf32, #hivm.address_space<ub>>
    hivm.hir.store ins(%a4 : memref<1xf32, #hivm.address_space<ub>>) outs(%gm1 : memref<1xf32, #hivm.address_space<gm>>)
    return
  }
}

// -----

// L1 and L0C are memories of their own.
// record: plan-memory.mlir 41
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_mem_for_cube(%t: i1, %gm0: memref<32xf16, #hivm.address_space<gm>>, %gm1: memref<32xf16, #hivm.address_space<gm>>, %gm2: memref<256xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %a = memref.alloc() : memref<32xf16, #hivm.address_space<cbuf>>
    hivm.hir.nd2nz ins(%gm0 : memref<32xf16, #hivm.address_space<gm>>) outs(%a : memref<32xf16, #hivm.address_space<cbuf>>)
    %b = memref.alloc() : memref<32xf16, #hivm.address_space<cbuf>>
    hivm.hir.nd2nz ins(%gm1 : memref<32xf16, #hivm.address_space<gm>>) outs(%b : memref<32xf16, #hivm.address_space<cbuf>>)
    %c = memref.alloc() : memref<256xf32, #hivm.address_space<cc>>
    hivm.hir.mmadL1 ins(%a, %b, %t, %c1, %c1, %c1 : memref<32xf16, #hivm.address_space<cbuf>>, memref<32xf16, #hivm.address_space<cbuf>>, i1, index, index, index) outs(%c : memref<256xf32, #hivm.address_space<cc>>)
    hivm.hir.fixpipe ins(%c : memref<256xf32, #hivm.address_space<cc>>) outs(%gm2 : memref<256xf32, #hivm.address_space<gm>>)
    return
  }
}

// -----

// One entry: it takes its own size.
// record: plan-memory.mlir 42
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_one_mem_not_enough(%gm0: memref<80000xf32, #hivm.address_space<gm>>, %gm1: memref<80000xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<80000xf32, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<80000xf32, #hivm.address_space<gm>>) outs(%a : memref<80000xf32, #hivm.address_space<ub>>)
    %b = memref.alloc() : memref<80000xf32, #hivm.address_space<ub>>
    hivm.hir.vadd ins(%a, %a : memref<80000xf32, #hivm.address_space<ub>>, memref<80000xf32, #hivm.address_space<ub>>) outs(%b : memref<80000xf32, #hivm.address_space<ub>>)
    hivm.hir.store ins(%b : memref<80000xf32, #hivm.address_space<ub>>) outs(%gm1 : memref<80000xf32, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Several entries: what sharing by lives takes.
// record: plan-memory.mlir 43
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_two_mem_not_enough(%gm0: memref<74352xf16, #hivm.address_space<gm>>, %gm1: memref<148704xi8, #hivm.address_space<gm>>, %gm2: memref<148704xi8, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<74352xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<74352xf16, #hivm.address_space<gm>>) outs(%a : memref<74352xf16, #hivm.address_space<ub>>)
    %b = memref.alloc() : memref<148704xi8, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<148704xi8, #hivm.address_space<gm>>) outs(%b : memref<148704xi8, #hivm.address_space<ub>>)
    hivm.hir.vcast ins(%a : memref<74352xf16, #hivm.address_space<ub>>) outs(%b : memref<148704xi8, #hivm.address_space<ub>>)
    hivm.hir.store ins(%b : memref<148704xi8, #hivm.address_space<ub>>) outs(%gm2 : memref<148704xi8, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Then and else reuse each other; one result is never read.
// record: plan-memory.mlir 44
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_if_else(%c: i1, %gm0: memref<144x160xf16, #hivm.address_space<gm>>, %gm1: memref<144x160xf16, #hivm.address_space<gm>>, %gm2: memref<144x160xf32, #hivm.address_space<gm>>, %gm3: memref<144x160xf16, #hivm.address_space<gm>>, %gm4: memref<144x160xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %alloc_0 = memref.alloc() : memref<144x160xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<144x160xf16, #hivm.address_space<gm>>) outs(%alloc_0 : memref<144x160xf16, #hivm.address_space<ub>>)
    %alloc_1 = memref.alloc() : memref<144x160xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<144x160xf16, #hivm.address_space<gm>>) outs(%alloc_1 : memref<144x160xf16, #hivm.address_space<ub>>)
    %alloc_2 = memref.alloc() : memref<144x160xf16, #hivm.address_space<ub>>
    hivm.hir.vadd ins(%alloc_0, %alloc_1 : memref<144x160xf16, #hivm.address_space<ub>>, memref<144x160xf16, #hivm.address_space<ub>>) outs(%alloc_2 : memref<144x160xf16, #hivm.address_space<ub>>)
    scf.if %c {
      %alloc_3 = memref.alloc() : memref<144x160xf32, #hivm.address_space<ub>>
      hivm.hir.vcast ins(%alloc_2 : memref<144x160xf16, #hivm.address_space<ub>>) outs(%alloc_3 : memref<144x160xf32, #hivm.address_space<ub>>)
      hivm.hir.store ins(%alloc_3 : memref<144x160xf32, #hivm.address_space<ub>>) outs(%gm2 : memref<144x160xf32, #hivm.address_space<gm>>)
    } else {
      %alloc_4 = memref.alloc() : memref<144x160xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm3 : memref<144x160xf16, #hivm.address_space<gm>>) outs(%alloc_4 : memref<144x160xf16, #hivm.address_space<ub>>)
      %alloc_5 = memref.alloc() : memref<160x144xf16, #hivm.address_space<ub>>
      hivm.hir.vtranspose ins(%alloc_4 : memref<144x160xf16, #hivm.address_space<ub>>) outs(%alloc_5 : memref<160x144xf16, #hivm.address_space<ub>>) permutation = [1, 0]
      %alloc_6 = memref.alloc() : memref<144x160xf32, #hivm.address_space<ub>>
      hivm.hir.vcast ins(%alloc_2 : memref<144x160xf16, #hivm.address_space<ub>>) outs(%alloc_6 : memref<144x160xf32, #hivm.address_space<ub>>)
      hivm.hir.store ins(%alloc_6 : memref<144x160xf32, #hivm.address_space<ub>>) outs(%gm4 : memref<144x160xf32, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// Only ever read: planned, with a warning.
// differs: the original gives up on it
// record: plan-memory.mlir 45
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_ub_memory_without_load(%gm0: memref<10xf16, #hivm.address_space<gm>>, %gm1: memref<10xf16, #hivm.address_space<gm>>, %gm2: memref<20xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<20xf16, #hivm.address_space<ub>>
    %b = memref.alloc() : memref<10xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<10xf16, #hivm.address_space<gm>>) outs(%b : memref<10xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%b : memref<10xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<10xf16, #hivm.address_space<gm>>)
    hivm.hir.store ins(%a : memref<20xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<20xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// A row is stretched: the operand of the same shape is the donor.
// record: plan-memory.mlir 46
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_vsub_inline_broadcast_inplace(%gm0: memref<128x128xf16, #hivm.address_space<gm>>, %gm1: memref<128x1xf16, #hivm.address_space<gm>>, %gm2: memref<128x128xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %l = memref.alloc() : memref<128x128xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<128x128xf16, #hivm.address_space<gm>>) outs(%l : memref<128x128xf16, #hivm.address_space<ub>>)
    %r = memref.alloc() : memref<128x1xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<128x1xf16, #hivm.address_space<gm>>) outs(%r : memref<128x1xf16, #hivm.address_space<ub>>)
    %o = memref.alloc() : memref<128x128xf16, #hivm.address_space<ub>>
    %t = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
    hivm.hir.vsub ins(%l, %r : memref<128x128xf16, #hivm.address_space<ub>>, memref<128x1xf16, #hivm.address_space<ub>>) outs(%o : memref<128x128xf16, #hivm.address_space<ub>>) temp_buffer(%t : memref<1024xf16, #hivm.address_space<ub>>) broadcast = [1]
    hivm.hir.store ins(%o : memref<128x128xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<128x128xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// ... the second one here.
// record: plan-memory.mlir 47
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_vsub_inline_brc_inplace_second_src(%gm0: memref<128x1xf16, #hivm.address_space<gm>>, %gm1: memref<128x128xf16, #hivm.address_space<gm>>, %gm2: memref<128x128xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %l = memref.alloc() : memref<128x1xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<128x1xf16, #hivm.address_space<gm>>) outs(%l : memref<128x1xf16, #hivm.address_space<ub>>)
    %r = memref.alloc() : memref<128x128xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<128x128xf16, #hivm.address_space<gm>>) outs(%r : memref<128x128xf16, #hivm.address_space<ub>>)
    %o = memref.alloc() : memref<128x128xf16, #hivm.address_space<ub>>
    %t = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
    hivm.hir.vsub ins(%l, %r : memref<128x1xf16, #hivm.address_space<ub>>, memref<128x128xf16, #hivm.address_space<ub>>) outs(%o : memref<128x128xf16, #hivm.address_space<ub>>) temp_buffer(%t : memref<1024xf16, #hivm.address_space<ub>>) broadcast = [1]
    hivm.hir.store ins(%o : memref<128x128xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<128x128xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Rows broadcast.
// record: plan-memory.mlir 48
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_vsub_inline_brc_inplace_dim0(%gm0: memref<64x256xf16, #hivm.address_space<gm>>, %gm1: memref<1x256xf16, #hivm.address_space<gm>>, %gm2: memref<64x256xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %l = memref.alloc() : memref<64x256xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<64x256xf16, #hivm.address_space<gm>>) outs(%l : memref<64x256xf16, #hivm.address_space<ub>>)
    %r = memref.alloc() : memref<1x256xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<1x256xf16, #hivm.address_space<gm>>) outs(%r : memref<1x256xf16, #hivm.address_space<ub>>)
    %o = memref.alloc() : memref<64x256xf16, #hivm.address_space<ub>>
    %t = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
    hivm.hir.vsub ins(%l, %r : memref<64x256xf16, #hivm.address_space<ub>>, memref<1x256xf16, #hivm.address_space<ub>>) outs(%o : memref<64x256xf16, #hivm.address_space<ub>>) temp_buffer(%t : memref<1024xf16, #hivm.address_space<ub>>) broadcast = [0]
    hivm.hir.store ins(%o : memref<64x256xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<64x256xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// One number broadcast.
// record: plan-memory.mlir 49
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_vadd_inline_broadcast_inplace(%gm0: memref<128xf32, #hivm.address_space<gm>>, %gm1: memref<1xf32, #hivm.address_space<gm>>, %gm2: memref<128xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %l = memref.alloc() : memref<128xf32, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<128xf32, #hivm.address_space<gm>>) outs(%l : memref<128xf32, #hivm.address_space<ub>>)
    %r = memref.alloc() : memref<1xf32, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<1xf32, #hivm.address_space<gm>>) outs(%r : memref<1xf32, #hivm.address_space<ub>>)
    %o = memref.alloc() : memref<128xf32, #hivm.address_space<ub>>
    %t = memref.alloc() : memref<128xf32, #hivm.address_space<ub>>
    hivm.hir.vadd ins(%l, %r : memref<128xf32, #hivm.address_space<ub>>, memref<1xf32, #hivm.address_space<ub>>) outs(%o : memref<128xf32, #hivm.address_space<ub>>) temp_buffer(%t : memref<128xf32, #hivm.address_space<ub>>) broadcast = [0]
    hivm.hir.store ins(%o : memref<128xf32, #hivm.address_space<ub>>) outs(%gm2 : memref<128xf32, #hivm.address_space<gm>>)
    return
  }
}

// -----

// The middle axis broadcast.
// record: plan-memory.mlir 50
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_vmul_inline_broadcast_inplace(%gm0: memref<16x64x64xf16, #hivm.address_space<gm>>, %gm1: memref<16x1x64xf16, #hivm.address_space<gm>>, %gm2: memref<16x64x64xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %l = memref.alloc() : memref<16x64x64xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<16x64x64xf16, #hivm.address_space<gm>>) outs(%l : memref<16x64x64xf16, #hivm.address_space<ub>>)
    %r = memref.alloc() : memref<16x1x64xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<16x1x64xf16, #hivm.address_space<gm>>) outs(%r : memref<16x1x64xf16, #hivm.address_space<ub>>)
    %o = memref.alloc() : memref<16x64x64xf16, #hivm.address_space<ub>>
    %t = memref.alloc() : memref<8192xf16, #hivm.address_space<ub>>
    hivm.hir.vmul ins(%l, %r : memref<16x64x64xf16, #hivm.address_space<ub>>, memref<16x1x64xf16, #hivm.address_space<ub>>) outs(%o : memref<16x64x64xf16, #hivm.address_space<ub>>) temp_buffer(%t : memref<8192xf16, #hivm.address_space<ub>>) broadcast = [1]
    hivm.hir.store ins(%o : memref<16x64x64xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<16x64x64xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// vmax.
// record: plan-memory.mlir 51
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_vmax_inline_broadcast_inplace(%gm0: memref<128x128xf16, #hivm.address_space<gm>>, %gm1: memref<128x1xf16, #hivm.address_space<gm>>, %gm2: memref<128x128xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %l = memref.alloc() : memref<128x128xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<128x128xf16, #hivm.address_space<gm>>) outs(%l : memref<128x128xf16, #hivm.address_space<ub>>)
    %r = memref.alloc() : memref<128x1xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<128x1xf16, #hivm.address_space<gm>>) outs(%r : memref<128x1xf16, #hivm.address_space<ub>>)
    %o = memref.alloc() : memref<128x128xf16, #hivm.address_space<ub>>
    %t = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
    hivm.hir.vmax ins(%l, %r : memref<128x128xf16, #hivm.address_space<ub>>, memref<128x1xf16, #hivm.address_space<ub>>) outs(%o : memref<128x128xf16, #hivm.address_space<ub>>) temp_buffer(%t : memref<1024xf16, #hivm.address_space<ub>>) broadcast = [1]
    hivm.hir.store ins(%o : memref<128x128xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<128x128xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// vdiv.
// record: plan-memory.mlir 52
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_vdiv_inline_brc_inplace(%gm0: memref<128x128xf16, #hivm.address_space<gm>>, %gm1: memref<128x1xf16, #hivm.address_space<gm>>, %gm2: memref<128x128xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %l = memref.alloc() : memref<128x128xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<128x128xf16, #hivm.address_space<gm>>) outs(%l : memref<128x128xf16, #hivm.address_space<ub>>)
    %r = memref.alloc() : memref<128x1xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<128x1xf16, #hivm.address_space<gm>>) outs(%r : memref<128x1xf16, #hivm.address_space<ub>>)
    %o = memref.alloc() : memref<128x128xf16, #hivm.address_space<ub>>
    %t = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
    hivm.hir.vdiv ins(%l, %r : memref<128x128xf16, #hivm.address_space<ub>>, memref<128x1xf16, #hivm.address_space<ub>>) outs(%o : memref<128x128xf16, #hivm.address_space<ub>>) temp_buffer(%t : memref<1024xf16, #hivm.address_space<ub>>) broadcast = [1]
    hivm.hir.store ins(%o : memref<128x128xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<128x128xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// The temporary holds the broadcast number: in place is fine.
// record: plan-memory.mlir 53
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_vdiv_tempbuffer_vs_inplace(%x: f16, %gm0: memref<16384xf16, #hivm.address_space<gm>>, %gm1: memref<16384xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<16384xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<16384xf16, #hivm.address_space<gm>>) outs(%a : memref<16384xf16, #hivm.address_space<ub>>)
    %o = memref.alloc() : memref<16384xf16, #hivm.address_space<ub>>
    %t = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
    hivm.hir.vdiv ins(%a, %x : memref<16384xf16, #hivm.address_space<ub>>, f16) outs(%o : memref<16384xf16, #hivm.address_space<ub>>) temp_buffer(%t : memref<32xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%o : memref<16384xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<16384xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// All of one size; the temporary is still nobody's donor.
// record: plan-memory.mlir 54
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_vdiv_tempbuffer_samesize_inplace_diff(%x: f16, %gm0: memref<32xf16, #hivm.address_space<gm>>, %gm1: memref<32xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<32xf16, #hivm.address_space<gm>>) outs(%a : memref<32xf16, #hivm.address_space<ub>>)
    %o = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
    %t = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
    hivm.hir.vdiv ins(%a, %x : memref<32xf16, #hivm.address_space<ub>>, f16) outs(%o : memref<32xf16, #hivm.address_space<ub>>) temp_buffer(%t : memref<32xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%o : memref<32xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<32xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// No operand is large enough.
// record: plan-memory.mlir 55
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_vmul_inline_brc_bigger_not_inplace(%gm0: memref<1x512xf16, #hivm.address_space<gm>>, %gm1: memref<512x1xf16, #hivm.address_space<gm>>, %gm2: memref<512x64xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %l = memref.alloc() : memref<1x512xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<1x512xf16, #hivm.address_space<gm>>) outs(%l : memref<1x512xf16, #hivm.address_space<ub>>)
    %r = memref.alloc() : memref<512x1xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<512x1xf16, #hivm.address_space<gm>>) outs(%r : memref<512x1xf16, #hivm.address_space<ub>>)
    %o = memref.alloc() : memref<512x64xf16, #hivm.address_space<ub>>
    %t = memref.alloc() : memref<8192xf16, #hivm.address_space<ub>>
    hivm.hir.vmul ins(%l, %r : memref<1x512xf16, #hivm.address_space<ub>>, memref<512x1xf16, #hivm.address_space<ub>>) outs(%o : memref<512x64xf16, #hivm.address_space<ub>>) temp_buffer(%t : memref<8192xf16, #hivm.address_space<ub>>) broadcast = [0, 1]
    hivm.hir.store ins(%o : memref<512x64xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<512x64xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Sizes only known at run time, the same values: in place.
// record: plan-memory.mlir 56
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_vmul_dyn_same_shape_inplace(%n: index, %m: index, %gm0: memref<?xf16, strided<[1]>, #hivm.address_space<gm>>, %gm1: memref<?xf16, strided<[1]>, #hivm.address_space<gm>>, %gm2: memref<?xf16, strided<[1]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %l = memref.alloc() : memref<256xf16, #hivm.address_space<ub>>
    %lv = memref.subview %l[0] [%n] [1] : memref<256xf16, #hivm.address_space<ub>> to memref<?xf16, strided<[1]>, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<?xf16, strided<[1]>, #hivm.address_space<gm>>) outs(%lv : memref<?xf16, strided<[1]>, #hivm.address_space<ub>>)
    %r = memref.alloc() : memref<256xf16, #hivm.address_space<ub>>
    %rv = memref.subview %r[0] [%n] [1] : memref<256xf16, #hivm.address_space<ub>> to memref<?xf16, strided<[1]>, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<?xf16, strided<[1]>, #hivm.address_space<gm>>) outs(%rv : memref<?xf16, strided<[1]>, #hivm.address_space<ub>>)
    %o = memref.alloc() : memref<256xf16, #hivm.address_space<ub>>
    %ov = memref.subview %o[0] [%n] [1] : memref<256xf16, #hivm.address_space<ub>> to memref<?xf16, strided<[1]>, #hivm.address_space<ub>>
    %t = memref.alloc() : memref<256xf16, #hivm.address_space<ub>>
    hivm.hir.vmul ins(%lv, %rv : memref<?xf16, strided<[1]>, #hivm.address_space<ub>>, memref<?xf16, strided<[1]>, #hivm.address_space<ub>>) outs(%ov : memref<?xf16, strided<[1]>, #hivm.address_space<ub>>) temp_buffer(%t : memref<256xf16, #hivm.address_space<ub>>) broadcast = [0]
    hivm.hir.store ins(%ov : memref<?xf16, strided<[1]>, #hivm.address_space<ub>>) outs(%gm2 : memref<?xf16, strided<[1]>, #hivm.address_space<gm>>)
    return
  }
}

// -----

// ... in two dimensions.
// record: plan-memory.mlir 57
// differs: which of two dying operands is the donor depends on random numbers there; here it is the first
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_vmul_dyn_same_2d_shape_inplace(%n: index, %m: index, %gm0: memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>, %gm1: memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>, %gm2: memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %l = memref.alloc() : memref<64x64xf16, #hivm.address_space<ub>>
    %lv = memref.subview %l[0, 0] [%n, %m] [1, 1] : memref<64x64xf16, #hivm.address_space<ub>> to memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>) outs(%lv : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>)
    %r = memref.alloc() : memref<64x64xf16, #hivm.address_space<ub>>
    %rv = memref.subview %r[0, 0] [%n, %m] [1, 1] : memref<64x64xf16, #hivm.address_space<ub>> to memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>) outs(%rv : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>)
    %o = memref.alloc() : memref<64x64xf16, #hivm.address_space<ub>>
    %ov = memref.subview %o[0, 0] [%n, %m] [1, 1] : memref<64x64xf16, #hivm.address_space<ub>> to memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>
    %t = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
    hivm.hir.vmul ins(%lv, %rv : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>, memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>) outs(%ov : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>) temp_buffer(%t : memref<1024xf16, #hivm.address_space<ub>>) broadcast = [0]
    hivm.hir.store ins(%ov : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>) outs(%gm2 : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Only the second allocation is large enough.
// record: plan-memory.mlir 58
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_vmul_dyn_same_2d_shape_inplace_one(%n: index, %m: index, %gm0: memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>, %gm1: memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>, %gm2: memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %l = memref.alloc() : memref<4x64xf16, #hivm.address_space<ub>>
    %lv = memref.subview %l[0, 0] [%n, %m] [1, 1] : memref<4x64xf16, #hivm.address_space<ub>> to memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>) outs(%lv : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>)
    %r = memref.alloc() : memref<64x64xf16, #hivm.address_space<ub>>
    %rv = memref.subview %r[0, 0] [%n, %m] [1, 1] : memref<64x64xf16, #hivm.address_space<ub>> to memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>) outs(%rv : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>)
    %o = memref.alloc() : memref<64x64xf16, #hivm.address_space<ub>>
    %ov = memref.subview %o[0, 0] [%n, %m] [1, 1] : memref<64x64xf16, #hivm.address_space<ub>> to memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>
    %t = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
    hivm.hir.vmul ins(%lv, %rv : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>, memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>) outs(%ov : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>) temp_buffer(%t : memref<1024xf16, #hivm.address_space<ub>>) broadcast = [0]
    hivm.hir.store ins(%ov : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>) outs(%gm2 : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Neither is.
// record: plan-memory.mlir 59
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_vmul_dyn_diff_2d_shape_not_inplace(%n: index, %m: index, %gm0: memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>, %gm1: memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>, %gm2: memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %l = memref.alloc() : memref<4x64xf16, #hivm.address_space<ub>>
    %lv = memref.subview %l[0, 0] [%n, %m] [1, 1] : memref<4x64xf16, #hivm.address_space<ub>> to memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>) outs(%lv : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>)
    %r = memref.alloc() : memref<4x64xf16, #hivm.address_space<ub>>
    %rv = memref.subview %r[0, 0] [%n, %m] [1, 1] : memref<4x64xf16, #hivm.address_space<ub>> to memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>) outs(%rv : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>)
    %o = memref.alloc() : memref<64x64xf16, #hivm.address_space<ub>>
    %ov = memref.subview %o[0, 0] [%n, %m] [1, 1] : memref<64x64xf16, #hivm.address_space<ub>> to memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>
    %t = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
    hivm.hir.vmul ins(%lv, %rv : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>, memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>) outs(%ov : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>) temp_buffer(%t : memref<1024xf16, #hivm.address_space<ub>>) broadcast = [0]
    hivm.hir.store ins(%ov : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>) outs(%gm2 : memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>)
    return
  }
}

// -----

// One size known, one not: the donor is the operand of the same pattern.
// record: plan-memory.mlir 60
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_vmul_one_dyn_same_2d_shape_inplace_one(%n: index, %m: index, %gm0: memref<4x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>, %gm1: memref<?x64xf16, strided<[64, 1]>, #hivm.address_space<gm>>, %gm2: memref<4x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %alloc = memref.alloc() : memref<4x64xf16, #hivm.address_space<ub>>
    %lhs = memref.subview %alloc[0, 0] [4, %m] [1, 1] : memref<4x64xf16, #hivm.address_space<ub>> to memref<4x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<4x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>) outs(%lhs : memref<4x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>)
    %alloc_0 = memref.alloc() : memref<4x64xf16, #hivm.address_space<ub>>
    %rhs = memref.subview %alloc_0[0, 0] [%n, 64] [1, 1] : memref<4x64xf16, #hivm.address_space<ub>> to memref<?x64xf16, strided<[64, 1]>, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<?x64xf16, strided<[64, 1]>, #hivm.address_space<gm>>) outs(%rhs : memref<?x64xf16, strided<[64, 1]>, #hivm.address_space<ub>>)
    %alloc_1 = memref.alloc() : memref<4x64xf16, #hivm.address_space<ub>>
    %out = memref.subview %alloc_1[0, 0] [4, %m] [1, 1] : memref<4x64xf16, #hivm.address_space<ub>> to memref<4x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>
    %alloc_2 = memref.alloc() : memref<256xf16, #hivm.address_space<ub>>
    hivm.hir.vmul ins(%lhs, %rhs : memref<4x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>, memref<?x64xf16, strided<[64, 1]>, #hivm.address_space<ub>>) outs(%out : memref<4x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>) temp_buffer(%alloc_2 : memref<256xf16, #hivm.address_space<ub>>) broadcast = [0]
    hivm.hir.store ins(%out : memref<4x?xf16, strided<[64, 1]>, #hivm.address_space<ub>>) outs(%gm2 : memref<4x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>)
    return
  }
}

// -----

// What a loop carries stays one buffer although a select chooses it as well.
// record: plan-memory.mlir 61
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_select_cond_alias_not_inplace(%c: i1, %gm0: memref<64xf16, #hivm.address_space<gm>>, %gm1: memref<64xf16, #hivm.address_space<gm>>, %gm2: memref<64xf16, #hivm.address_space<gm>>, %gm3: memref<64xf16, #hivm.address_space<gm>>, %gm4: memref<64xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %alloc_0 = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<64xf16, #hivm.address_space<gm>>) outs(%alloc_0 : memref<64xf16, #hivm.address_space<ub>>)
    %alloc_1 = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<64xf16, #hivm.address_space<gm>>) outs(%alloc_1 : memref<64xf16, #hivm.address_space<ub>>)
    %r:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%x = %alloc_0, %y = %alloc_1) -> (memref<64xf16, #hivm.address_space<ub>>, memref<64xf16, #hivm.address_space<ub>>) {
      %alloc_2 = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm2 : memref<64xf16, #hivm.address_space<gm>>) outs(%alloc_2 : memref<64xf16, #hivm.address_space<ub>>)
      %sel = arith.select %c, %x, %alloc_2 : memref<64xf16, #hivm.address_space<ub>>
      %alloc_3 = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
      hivm.hir.vadd ins(%sel, %alloc_2 : memref<64xf16, #hivm.address_space<ub>>, memref<64xf16, #hivm.address_space<ub>>) outs(%alloc_3 : memref<64xf16, #hivm.address_space<ub>>)
      %alloc_4 = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
      hivm.hir.vadd ins(%y, %alloc_2 : memref<64xf16, #hivm.address_space<ub>>, memref<64xf16, #hivm.address_space<ub>>) outs(%alloc_4 : memref<64xf16, #hivm.address_space<ub>>)
      scf.yield %alloc_3, %alloc_4 : memref<64xf16, #hivm.address_space<ub>>, memref<64xf16, #hivm.address_space<ub>>
    }
    hivm.hir.store ins(%r#0 : memref<64xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<64xf16, #hivm.address_space<gm>>)
    hivm.hir.store ins(%r#1 : memref<64xf16, #hivm.address_space<ub>>) outs(%gm4 : memref<64xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Allocated outside, written in the body: alive all through the loop.
// record: plan-memory.mlir 62
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_scfwhileop(%n: index, %gm0: memref<32xf16, #hivm.address_space<gm>>, %gm1: memref<32xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %alloc_1 = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
    %last = scf.while (%i = %c0) : (index) -> index {
      %more = arith.cmpi slt, %i, %n : index
      scf.condition(%more) %i : index
    } do {
      ^bb0(%j: index):
      %alloc_0 = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<32xf16, #hivm.address_space<gm>>) outs(%alloc_0 : memref<32xf16, #hivm.address_space<ub>>)
      hivm.hir.vabs ins(%alloc_0 : memref<32xf16, #hivm.address_space<ub>>) outs(%alloc_1 : memref<32xf16, #hivm.address_space<ub>>)
      %next = arith.addi %j, %c1 : index
      scf.yield %next : index
    }
    hivm.hir.store ins(%alloc_1 : memref<32xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<32xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// The initial value and the yielded one are one buffer; what the condition hands over is another.
// record: plan-memory.mlir 63
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_scfwhileop_yield_inplace(%c: i1, %gm0: memref<32xf16, #hivm.address_space<gm>>, %gm1: memref<32xf16, #hivm.address_space<gm>>, %gm2: memref<32xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %alloc = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<32xf16, #hivm.address_space<gm>>) outs(%alloc : memref<32xf16, #hivm.address_space<ub>>)
    %r = scf.while (%x = %alloc) : (memref<32xf16, #hivm.address_space<ub>>) -> memref<32xf16, #hivm.address_space<ub>> {
      %alloc_0 = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
      hivm.hir.vabs ins(%x : memref<32xf16, #hivm.address_space<ub>>) outs(%alloc_0 : memref<32xf16, #hivm.address_space<ub>>)
      scf.condition(%c) %alloc_0 : memref<32xf16, #hivm.address_space<ub>>
    } do {
      ^bb0(%y: memref<32xf16, #hivm.address_space<ub>>):
      %alloc_1 = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm1 : memref<32xf16, #hivm.address_space<gm>>) outs(%alloc_1 : memref<32xf16, #hivm.address_space<ub>>)
      %alloc_2 = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
      hivm.hir.vabs ins(%alloc_1 : memref<32xf16, #hivm.address_space<ub>>) outs(%alloc_2 : memref<32xf16, #hivm.address_space<ub>>)
      %alloc_3 = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
      hivm.hir.vadd ins(%alloc_2, %y : memref<32xf16, #hivm.address_space<ub>>, memref<32xf16, #hivm.address_space<ub>>) outs(%alloc_3 : memref<32xf16, #hivm.address_space<ub>>)
      scf.yield %alloc_3 : memref<32xf16, #hivm.address_space<ub>>
    }
    hivm.hir.store ins(%r : memref<32xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<32xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// ... with the work in the first region.
// record: plan-memory.mlir 64
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_dowhile_yield_inplace(%c: i1, %gm0: memref<32xf16, #hivm.address_space<gm>>, %gm1: memref<32xf16, #hivm.address_space<gm>>, %gm2: memref<32xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %alloc = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<32xf16, #hivm.address_space<gm>>) outs(%alloc : memref<32xf16, #hivm.address_space<ub>>)
    %r = scf.while (%x = %alloc) : (memref<32xf16, #hivm.address_space<ub>>) -> memref<32xf16, #hivm.address_space<ub>> {
      %alloc_0 = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
      hivm.hir.vabs ins(%x : memref<32xf16, #hivm.address_space<ub>>) outs(%alloc_0 : memref<32xf16, #hivm.address_space<ub>>)
      %alloc_1 = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm1 : memref<32xf16, #hivm.address_space<gm>>) outs(%alloc_1 : memref<32xf16, #hivm.address_space<ub>>)
      %alloc_2 = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
      hivm.hir.vabs ins(%alloc_1 : memref<32xf16, #hivm.address_space<ub>>) outs(%alloc_2 : memref<32xf16, #hivm.address_space<ub>>)
      %alloc_3 = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
      hivm.hir.vadd ins(%alloc_0, %alloc_2 : memref<32xf16, #hivm.address_space<ub>>, memref<32xf16, #hivm.address_space<ub>>) outs(%alloc_3 : memref<32xf16, #hivm.address_space<ub>>)
      scf.condition(%c) %alloc_3 : memref<32xf16, #hivm.address_space<ub>>
    } do {
      ^bb0(%y: memref<32xf16, #hivm.address_space<ub>>):
      scf.yield %y : memref<32xf16, #hivm.address_space<ub>>
    }
    hivm.hir.store ins(%r : memref<32xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<32xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// The marked cast moves to the front of the after region.
// record: plan-memory.mlir 65
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @move_pointer_casts_to_after_region_front(%n: index, %gm0: memref<16xf16, #hivm.address_space<gm>>, %gm1: memref<16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %last = scf.while (%i = %c0) : (index) -> index {
      %more = arith.cmpi slt, %i, %n : index
      scf.condition(%more) %i : index
    } do {
      ^bb0(%j: index):
      %next = arith.addi %j, %c1 : index
      %t = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
      annotation.mark %t {hivm.multi_buffer = 2 : i32} : memref<16xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<16xf16, #hivm.address_space<gm>>) outs(%t : memref<16xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%t : memref<16xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<16xf16, #hivm.address_space<gm>>)
      scf.yield %next : index
    }
    return
  }
}

// -----

// The marked cast moves to the front of the before region.
// record: plan-memory.mlir 66
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @move_pointer_casts_to_before_region_front(%n: index, %gm0: memref<16xf16, #hivm.address_space<gm>>, %gm1: memref<16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %last = scf.while (%i = %c0) : (index) -> index {
      %more = arith.cmpi slt, %i, %n : index
      %t = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
      annotation.mark %t {hivm.multi_buffer = 2 : i32} : memref<16xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<16xf16, #hivm.address_space<gm>>) outs(%t : memref<16xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%t : memref<16xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<16xf16, #hivm.address_space<gm>>)
      scf.condition(%more) %i : index
    } do {
      ^bb0(%j: index):
      %next = arith.addi %j, %c1 : index
      scf.yield %next : index
    }
    return
  }
}

// -----

// Block arguments are one buffer or the other; the one that dies is a donor.
// record: plan-memory.mlir 67
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_branchop(%c: i1, %gm0: memref<16xf16, #hivm.address_space<gm>>, %gm1: memref<16xf16, #hivm.address_space<gm>>, %gm2: memref<16xf16, #hivm.address_space<gm>>, %gm3: memref<16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %alloc = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<16xf16, #hivm.address_space<gm>>) outs(%alloc : memref<16xf16, #hivm.address_space<ub>>)
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    %alloc_0 = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<16xf16, #hivm.address_space<gm>>) outs(%alloc_0 : memref<16xf16, #hivm.address_space<ub>>)
    %alloc_1 = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
    hivm.hir.vadd ins(%alloc, %alloc_0 : memref<16xf16, #hivm.address_space<ub>>, memref<16xf16, #hivm.address_space<ub>>) outs(%alloc_1 : memref<16xf16, #hivm.address_space<ub>>)
    cf.br ^bb3(%alloc_1 : memref<16xf16, #hivm.address_space<ub>>)
  ^bb2:
    %alloc_2 = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm2 : memref<16xf16, #hivm.address_space<gm>>) outs(%alloc_2 : memref<16xf16, #hivm.address_space<ub>>)
    %alloc_3 = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
    hivm.hir.vabs ins(%alloc_2 : memref<16xf16, #hivm.address_space<ub>>) outs(%alloc_3 : memref<16xf16, #hivm.address_space<ub>>)
    cf.br ^bb3(%alloc_3 : memref<16xf16, #hivm.address_space<ub>>)
  ^bb3(%x: memref<16xf16, #hivm.address_space<ub>>):
    %alloc_4 = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
    hivm.hir.vadd ins(%x, %x : memref<16xf16, #hivm.address_space<ub>>, memref<16xf16, #hivm.address_space<ub>>) outs(%alloc_4 : memref<16xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%alloc_4 : memref<16xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<16xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// ... with an argument that keeps the first buffer alive.
// record: plan-memory.mlir 68
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_branchop_inplace(%c: i1, %gm0: memref<16xf16, #hivm.address_space<gm>>, %gm1: memref<16xf16, #hivm.address_space<gm>>, %gm2: memref<16xf16, #hivm.address_space<gm>>, %gm3: memref<16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %alloc = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<16xf16, #hivm.address_space<gm>>) outs(%alloc : memref<16xf16, #hivm.address_space<ub>>)
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    %alloc_0 = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<16xf16, #hivm.address_space<gm>>) outs(%alloc_0 : memref<16xf16, #hivm.address_space<ub>>)
    %alloc_1 = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
    hivm.hir.vadd ins(%alloc, %alloc_0 : memref<16xf16, #hivm.address_space<ub>>, memref<16xf16, #hivm.address_space<ub>>) outs(%alloc_1 : memref<16xf16, #hivm.address_space<ub>>)
    cf.br ^bb3(%alloc_1, %alloc : memref<16xf16, #hivm.address_space<ub>>, memref<16xf16, #hivm.address_space<ub>>)
  ^bb2:
    %alloc_2 = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm2 : memref<16xf16, #hivm.address_space<gm>>) outs(%alloc_2 : memref<16xf16, #hivm.address_space<ub>>)
    %alloc_3 = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
    hivm.hir.vabs ins(%alloc_2 : memref<16xf16, #hivm.address_space<ub>>) outs(%alloc_3 : memref<16xf16, #hivm.address_space<ub>>)
    cf.br ^bb3(%alloc_3, %alloc : memref<16xf16, #hivm.address_space<ub>>, memref<16xf16, #hivm.address_space<ub>>)
  ^bb3(%x: memref<16xf16, #hivm.address_space<ub>>, %y: memref<16xf16, #hivm.address_space<ub>>):
    %alloc_4 = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
    hivm.hir.vadd ins(%x, %y : memref<16xf16, #hivm.address_space<ub>>, memref<16xf16, #hivm.address_space<ub>>) outs(%alloc_4 : memref<16xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%alloc_4 : memref<16xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<16xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// A 64-bit select does not overwrite its condition.
// record: plan-memory.mlir 69
// differs: which of two dying operands is the donor depends on random numbers there; here it is the first
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_vsel_i64_reuse(%gm0: memref<16xi64, #hivm.address_space<gm>>, %gm1: memref<16xi64, #hivm.address_space<gm>>, %gm2: memref<16xi1, #hivm.address_space<gm>>, %gm3: memref<16xi64, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %x = memref.alloc() : memref<16xi64, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<16xi64, #hivm.address_space<gm>>) outs(%x : memref<16xi64, #hivm.address_space<ub>>)
    %y = memref.alloc() : memref<16xi64, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<16xi64, #hivm.address_space<gm>>) outs(%y : memref<16xi64, #hivm.address_space<ub>>)
    %m = memref.alloc() : memref<16xi1, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm2 : memref<16xi1, #hivm.address_space<gm>>) outs(%m : memref<16xi1, #hivm.address_space<ub>>)
    %o = memref.alloc() : memref<16xi64, #hivm.address_space<ub>>
    hivm.hir.vsel ins(%m, %x, %y : memref<16xi1, #hivm.address_space<ub>>, memref<16xi64, #hivm.address_space<ub>>, memref<16xi64, #hivm.address_space<ub>>) outs(%o : memref<16xi64, #hivm.address_space<ub>>)
    hivm.hir.store ins(%o : memref<16xi64, #hivm.address_space<ub>>) outs(%gm3 : memref<16xi64, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Only the condition is large enough: no donor.
// record: plan-memory.mlir 70
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_vsel_i64_no_reuse(%z: i64, %gm0: memref<2048xi1, #hivm.address_space<gm>>, %gm1: memref<16xi64, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %m = memref.alloc() : memref<2048xi1, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<2048xi1, #hivm.address_space<gm>>) outs(%m : memref<2048xi1, #hivm.address_space<ub>>)
    %o = memref.alloc() : memref<16xi64, #hivm.address_space<ub>>
    %mv = memref.subview %m[0] [16] [1] : memref<2048xi1, #hivm.address_space<ub>> to memref<16xi1, strided<[1]>, #hivm.address_space<ub>>
    hivm.hir.vsel ins(%mv, %z, %z : memref<16xi1, strided<[1]>, #hivm.address_space<ub>>, i64, i64) outs(%o : memref<16xi64, #hivm.address_space<ub>>)
    hivm.hir.store ins(%o : memref<16xi64, #hivm.address_space<ub>>) outs(%gm1 : memref<16xi64, #hivm.address_space<gm>>)
    return
  }
}

// -----

// A 32-bit select may.
// record: plan-memory.mlir 71
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_vsel_i32_reuse_cond(%z: i32, %gm0: memref<2048xi1, #hivm.address_space<gm>>, %gm1: memref<16xi32, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %m = memref.alloc() : memref<2048xi1, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<2048xi1, #hivm.address_space<gm>>) outs(%m : memref<2048xi1, #hivm.address_space<ub>>)
    %o = memref.alloc() : memref<16xi32, #hivm.address_space<ub>>
    %mv = memref.subview %m[0] [16] [1] : memref<2048xi1, #hivm.address_space<ub>> to memref<16xi1, strided<[1]>, #hivm.address_space<ub>>
    hivm.hir.vsel ins(%mv, %z, %z : memref<16xi1, strided<[1]>, #hivm.address_space<ub>>, i32, i32) outs(%o : memref<16xi32, #hivm.address_space<ub>>)
    hivm.hir.store ins(%o : memref<16xi32, #hivm.address_space<ub>>) outs(%gm1 : memref<16xi32, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Views at different places of their buffers: not in place.
// record: plan-memory.mlir 72
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_vabs_offset_unequal_not_inplace(%gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<1024xf16, strided<[1]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<4096xf16, #hivm.address_space<gm>>) outs(%a : memref<4096xf16, #hivm.address_space<ub>>)
    %o = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    %av = memref.subview %a[16] [1024] [1] : memref<4096xf16, #hivm.address_space<ub>> to memref<1024xf16, strided<[1], offset: 16>, #hivm.address_space<ub>>
    %ov = memref.subview %o[0] [1024] [1] : memref<4096xf16, #hivm.address_space<ub>> to memref<1024xf16, strided<[1]>, #hivm.address_space<ub>>
    hivm.hir.vabs ins(%av : memref<1024xf16, strided<[1], offset: 16>, #hivm.address_space<ub>>) outs(%ov : memref<1024xf16, strided<[1]>, #hivm.address_space<ub>>)
    hivm.hir.store ins(%ov : memref<1024xf16, strided<[1]>, #hivm.address_space<ub>>) outs(%gm1 : memref<1024xf16, strided<[1]>, #hivm.address_space<gm>>)
    return
  }
}

// -----

// A preloaded buffer is in use during its whole loop.
// record: plan-memory.mlir 73
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_preload_buffer_expand_lifetime(%gm0: memref<16384xf16, #hivm.address_space<gm>>, %gm1: memref<24576xf16, #hivm.address_space<gm>>, %gm2: memref<24576xf16, #hivm.address_space<gm>>, %gm3: memref<24576xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %p = memref.alloc() : memref<16384xf16, #hivm.address_space<ub>>
      annotation.mark %p {hivm.multi_buffer = 4 : i32} : memref<16384xf16, #hivm.address_space<ub>>
      annotation.mark %p {hivm.preload_local_buffer = 1 : i32} : memref<16384xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<16384xf16, #hivm.address_space<gm>>) outs(%p : memref<16384xf16, #hivm.address_space<ub>>)
      %q = memref.alloc() : memref<24576xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm1 : memref<24576xf16, #hivm.address_space<gm>>) outs(%q : memref<24576xf16, #hivm.address_space<ub>>)
      %o = memref.alloc() : memref<24576xf16, #hivm.address_space<ub>>
      %pv = memref.subview %p[0] [1024] [1] : memref<16384xf16, #hivm.address_space<ub>> to memref<1024xf16, strided<[1]>, #hivm.address_space<ub>>
      %ov = memref.subview %o[0] [1024] [1] : memref<24576xf16, #hivm.address_space<ub>> to memref<1024xf16, strided<[1]>, #hivm.address_space<ub>>
      hivm.hir.vcast ins(%pv : memref<1024xf16, strided<[1]>, #hivm.address_space<ub>>) outs(%ov : memref<1024xf16, strided<[1]>, #hivm.address_space<ub>>)
      hivm.hir.store ins(%o : memref<24576xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<24576xf16, #hivm.address_space<gm>>)
      hivm.hir.store ins(%q : memref<24576xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<24576xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// What branches and a loop hand on, beside a buffer that is still read.
// record: plan-memory.mlir 74
// unsound: the first buffer is read again after the others were written
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_dead_after_op_nested_if_in_for(%c: i1, %d: i1, %gm0: memref<256xf16, #hivm.address_space<gm>>, %gm1: memref<256xf16, #hivm.address_space<gm>>, %gm2: memref<256xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %alloc = memref.alloc() : memref<256xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<256xf16, #hivm.address_space<gm>>) outs(%alloc : memref<256xf16, #hivm.address_space<ub>>)
    %first = scf.if %c -> (memref<256xf16, #hivm.address_space<ub>>) {
      %tmp0 = memref.alloc() : memref<256xf16, #hivm.address_space<ub>>
      hivm.hir.vabs ins(%alloc : memref<256xf16, #hivm.address_space<ub>>) outs(%tmp0 : memref<256xf16, #hivm.address_space<ub>>)
      scf.yield %tmp0 : memref<256xf16, #hivm.address_space<ub>>
    } else {
      scf.yield %alloc : memref<256xf16, #hivm.address_space<ub>>
    }
    %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%x = %first) -> (memref<256xf16, #hivm.address_space<ub>>) {
      %q = scf.if %c -> (memref<256xf16, #hivm.address_space<ub>>) {
        %local = memref.alloc() : memref<256xf16, #hivm.address_space<ub>>
        hivm.hir.vexp ins(%x : memref<256xf16, #hivm.address_space<ub>>) outs(%local : memref<256xf16, #hivm.address_space<ub>>)
        scf.yield %local : memref<256xf16, #hivm.address_space<ub>>
      } else {
        scf.yield %x : memref<256xf16, #hivm.address_space<ub>>
      }
      %p = scf.if %d -> (memref<256xf16, #hivm.address_space<ub>>) {
        %tmp2 = memref.alloc() : memref<256xf16, #hivm.address_space<ub>>
        hivm.hir.vadd ins(%q, %alloc : memref<256xf16, #hivm.address_space<ub>>, memref<256xf16, #hivm.address_space<ub>>) outs(%tmp2 : memref<256xf16, #hivm.address_space<ub>>)
        scf.yield %tmp2 : memref<256xf16, #hivm.address_space<ub>>
      } else {
        scf.yield %q : memref<256xf16, #hivm.address_space<ub>>
      }
      scf.yield %p : memref<256xf16, #hivm.address_space<ub>>
    }
    hivm.hir.store ins(%r : memref<256xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<256xf16, #hivm.address_space<gm>>)
    hivm.hir.store ins(%alloc : memref<256xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<256xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Loops in a loop, all carrying one buffer.
// record: plan-memory.mlir 75
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_plan_memory_for_alias(%gm0: memref<64xf32, #hivm.address_space<gm>>, %gm1: memref<64xf32, #hivm.address_space<gm>>, %gm2: memref<64xf32, #hivm.address_space<gm>>, %gm3: memref<1xf32, #hivm.address_space<gm>>, %gm4: memref<64xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %alloc = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<64xf32, #hivm.address_space<gm>>) outs(%alloc : memref<64xf32, #hivm.address_space<ub>>)
    %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%x = %alloc) -> (memref<64xf32, #hivm.address_space<ub>>) {
      %r1 = scf.for %j = %c0 to %c8 step %c1 iter_args(%y = %x) -> (memref<64xf32, #hivm.address_space<ub>>) {
        %alloc_0 = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
        hivm.hir.load ins(%gm1 : memref<64xf32, #hivm.address_space<gm>>) outs(%alloc_0 : memref<64xf32, #hivm.address_space<ub>>)
        %alloc_1 = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
        hivm.hir.vadd ins(%y, %alloc_0 : memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>) outs(%alloc_1 : memref<64xf32, #hivm.address_space<ub>>)
        scf.yield %alloc_1 : memref<64xf32, #hivm.address_space<ub>>
      }
      %r2 = scf.for %k = %c0 to %c8 step %c1 iter_args(%z = %r1) -> (memref<64xf32, #hivm.address_space<ub>>) {
        %alloc_0 = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
        hivm.hir.load ins(%gm2 : memref<64xf32, #hivm.address_space<gm>>) outs(%alloc_0 : memref<64xf32, #hivm.address_space<ub>>)
        %alloc_1 = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
        hivm.hir.vadd ins(%z, %alloc_0 : memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>) outs(%alloc_1 : memref<64xf32, #hivm.address_space<ub>>)
        scf.yield %alloc_1 : memref<64xf32, #hivm.address_space<ub>>
      }
      %alloc_0 = memref.alloc() : memref<1xf32, #hivm.address_space<ub>>
      hivm.hir.vreduce <sum> ins(%r2 : memref<64xf32, #hivm.address_space<ub>>) outs(%alloc_0 : memref<1xf32, #hivm.address_space<ub>>) reduce_dims = [0]
      hivm.hir.store ins(%alloc_0 : memref<1xf32, #hivm.address_space<ub>>) outs(%gm3 : memref<1xf32, #hivm.address_space<gm>>)
      scf.yield %r2 : memref<64xf32, #hivm.address_space<ub>>
    }
    hivm.hir.store ins(%r : memref<64xf32, #hivm.address_space<ub>>) outs(%gm4 : memref<64xf32, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Two loops, each with its preloaded buffer: lives of their own.
// record: plan-memory.mlir 76
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_preload_local_buffer_lifetime_is_per_enclosing_loop(%gm0: memref<40960xf16, #hivm.address_space<gm>>, %gm1: memref<40960xf16, #hivm.address_space<gm>>, %gm2: memref<40960xf16, #hivm.address_space<gm>>, %gm3: memref<40960xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i0 = %c0 to %c8 step %c1 {
      %buf0 = memref.alloc() : memref<40960xf16, #hivm.address_space<ub>>
      annotation.mark %buf0 {hivm.multi_buffer = 2 : i32} : memref<40960xf16, #hivm.address_space<ub>>
      annotation.mark %buf0 {hivm.preload_local_buffer = 1 : i32} : memref<40960xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<40960xf16, #hivm.address_space<gm>>) outs(%buf0 : memref<40960xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%buf0 : memref<40960xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<40960xf16, #hivm.address_space<gm>>)
    }
    scf.for %i1 = %c0 to %c8 step %c1 {
      %buf1 = memref.alloc() : memref<40960xf16, #hivm.address_space<ub>>
      annotation.mark %buf1 {hivm.multi_buffer = 2 : i32} : memref<40960xf16, #hivm.address_space<ub>>
      annotation.mark %buf1 {hivm.preload_local_buffer = 1 : i32} : memref<40960xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm2 : memref<40960xf16, #hivm.address_space<gm>>) outs(%buf1 : memref<40960xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%buf1 : memref<40960xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<40960xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// L0C with double buffers in two loops: slots of two buffers that meet are apart.
// record: plan-memory.mlir 77
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_reuse_l0C(%t: i1, %gm0: memref<16384xf16, #hivm.address_space<gm>>, %gm1: memref<16384xf16, #hivm.address_space<gm>>, %gm2: memref<8192xf32, #hivm.address_space<gm>>, %gm3: memref<8192xf32, #hivm.address_space<gm>>, %gm4: memref<8192xf32, #hivm.address_space<gm>>, %gm5: memref<8192xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %alloc = memref.alloc() : memref<16384xf16, #hivm.address_space<cbuf>>
    hivm.hir.nd2nz ins(%gm0 : memref<16384xf16, #hivm.address_space<gm>>) outs(%alloc : memref<16384xf16, #hivm.address_space<cbuf>>)
    %alloc_0 = memref.alloc() : memref<16384xf16, #hivm.address_space<cbuf>>
    hivm.hir.nd2nz ins(%gm1 : memref<16384xf16, #hivm.address_space<gm>>) outs(%alloc_0 : memref<16384xf16, #hivm.address_space<cbuf>>)
    scf.for %i = %c0 to %c8 step %c1 {
      scf.if %t {
        %alloc_2 = memref.alloc() : memref<8192xf32, #hivm.address_space<cc>>
        annotation.mark %alloc_2 {hivm.multi_buffer = 2 : i32} : memref<8192xf32, #hivm.address_space<cc>>
        hivm.hir.mmadL1 ins(%alloc, %alloc_0, %t, %c1, %c1, %c1 : memref<16384xf16, #hivm.address_space<cbuf>>, memref<16384xf16, #hivm.address_space<cbuf>>, i1, index, index, index) outs(%alloc_2 : memref<8192xf32, #hivm.address_space<cc>>)
        hivm.hir.fixpipe ins(%alloc_2 : memref<8192xf32, #hivm.address_space<cc>>) outs(%gm2 : memref<8192xf32, #hivm.address_space<gm>>)
      } else {
        %alloc_2 = memref.alloc() : memref<8192xf32, #hivm.address_space<cc>>
        annotation.mark %alloc_2 {hivm.multi_buffer = 2 : i32} : memref<8192xf32, #hivm.address_space<cc>>
        hivm.hir.mmadL1 ins(%alloc, %alloc_0, %t, %c1, %c1, %c1 : memref<16384xf16, #hivm.address_space<cbuf>>, memref<16384xf16, #hivm.address_space<cbuf>>, i1, index, index, index) outs(%alloc_2 : memref<8192xf32, #hivm.address_space<cc>>)
        hivm.hir.fixpipe ins(%alloc_2 : memref<8192xf32, #hivm.address_space<cc>>) outs(%gm3 : memref<8192xf32, #hivm.address_space<gm>>)
      }
    }
    scf.for %j = %c0 to %c8 step %c1 {
      %alloc_1 = memref.alloc() : memref<8192xf32, #hivm.address_space<cc>>
      annotation.mark %alloc_1 {hivm.multi_buffer = 2 : i32} : memref<8192xf32, #hivm.address_space<cc>>
      hivm.hir.mmadL1 ins(%alloc, %alloc_0, %t, %c1, %c1, %c1 : memref<16384xf16, #hivm.address_space<cbuf>>, memref<16384xf16, #hivm.address_space<cbuf>>, i1, index, index, index) outs(%alloc_1 : memref<8192xf32, #hivm.address_space<cc>>)
      hivm.hir.fixpipe ins(%alloc_1 : memref<8192xf32, #hivm.address_space<cc>>) outs(%gm4 : memref<8192xf32, #hivm.address_space<gm>>)
      %alloc_2 = memref.alloc() : memref<8192xf32, #hivm.address_space<cc>>
      annotation.mark %alloc_2 {hivm.multi_buffer = 2 : i32} : memref<8192xf32, #hivm.address_space<cc>>
      hivm.hir.mmadL1 ins(%alloc, %alloc_0, %t, %c1, %c1, %c1 : memref<16384xf16, #hivm.address_space<cbuf>>, memref<16384xf16, #hivm.address_space<cbuf>>, i1, index, index, index) outs(%alloc_2 : memref<8192xf32, #hivm.address_space<cc>>)
      hivm.hir.fixpipe ins(%alloc_2 : memref<8192xf32, #hivm.address_space<cc>>) outs(%gm5 : memref<8192xf32, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// Two DMA buffers on one address: a warning.
// record: plan-memory.mlir 78
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_reuse_dma_buffer_warning(%gm0: memref<65536xf16, #hivm.address_space<gm>>, %gm1: memref<65536xf16, #hivm.address_space<gm>>, %gm2: memref<65536xf16, #hivm.address_space<gm>>, %gm3: memref<65536xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<65536xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<65536xf16, #hivm.address_space<gm>>) outs(%a : memref<65536xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%a : memref<65536xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<65536xf16, #hivm.address_space<gm>>)
    %b = memref.alloc() : memref<65536xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm2 : memref<65536xf16, #hivm.address_space<gm>>) outs(%b : memref<65536xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%b : memref<65536xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<65536xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Vector buffers share; the default order.
// record: plan-memory.mlir 79
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @test_change_mem_plan_order(%z: f16) attributes {hacc.entry} {
    %a = memref.alloc() : memref<8192xf16, #hivm.address_space<ub>>
    hivm.hir.vbrc ins(%z : f16) outs(%a : memref<8192xf16, #hivm.address_space<ub>>)
    %av = memref.subview %a[0] [64] [1] : memref<8192xf16, #hivm.address_space<ub>> to memref<64xf16, strided<[1]>, #hivm.address_space<ub>>
    %b = memref.alloc() : memref<65536xf16, #hivm.address_space<ub>>
    %bv = memref.subview %b[0] [64] [1] : memref<65536xf16, #hivm.address_space<ub>> to memref<64xf16, strided<[1]>, #hivm.address_space<ub>>
    hivm.hir.vbrc ins(%av : memref<64xf16, strided<[1]>, #hivm.address_space<ub>>) outs(%b : memref<65536xf16, #hivm.address_space<ub>>)
    %c = memref.alloc() : memref<24576xf16, #hivm.address_space<ub>>
    hivm.hir.vbrc ins(%bv : memref<64xf16, strided<[1]>, #hivm.address_space<ub>>) outs(%c : memref<24576xf16, #hivm.address_space<ub>>)
    %cv = memref.subview %c[0] [64] [1] : memref<24576xf16, #hivm.address_space<ub>> to memref<64xf16, strided<[1]>, #hivm.address_space<ub>>
    hivm.hir.vcumsum ins(%cv : memref<64xf16, strided<[1]>, #hivm.address_space<ub>>) outs(%cv : memref<64xf16, strided<[1]>, #hivm.address_space<ub>>)
    %d = memref.alloc() : memref<24576xf16, #hivm.address_space<ub>>
    hivm.hir.vbrc ins(%bv : memref<64xf16, strided<[1]>, #hivm.address_space<ub>>) outs(%d : memref<24576xf16, #hivm.address_space<ub>>)
    %dv = memref.subview %d[0] [64] [1] : memref<24576xf16, #hivm.address_space<ub>> to memref<64xf16, strided<[1]>, #hivm.address_space<ub>>
    hivm.hir.vcumsum ins(%dv : memref<64xf16, strided<[1]>, #hivm.address_space<ub>>) outs(%dv : memref<64xf16, strided<[1]>, #hivm.address_space<ub>>)
    hivm.hir.vcumsum ins(%bv : memref<64xf16, strided<[1]>, #hivm.address_space<ub>>) outs(%bv : memref<64xf16, strided<[1]>, #hivm.address_space<ub>>)
    return
  }
}

// -----

// MIX leaves 216 KiB; SIMD all 248.
// record: plan-memory-regbase.mlir 0
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @invalid_alloc_for_mix(%gm0: memref<61440xf16, #hivm.address_space<gm>>, %gm1: memref<61440xf16, #hivm.address_space<gm>>, %gm2: memref<61440xf16, #hivm.address_space<gm>>, %gm3: memref<61440xf16, #hivm.address_space<gm>>) attributes {hivm.vf_mode = #hivm.vf_mode<MIX>} {
    %a = memref.alloc() : memref<61440xf16, #hivm.address_space<ub>>
    %b = memref.alloc() : memref<61440xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<61440xf16, #hivm.address_space<gm>>) outs(%a : memref<61440xf16, #hivm.address_space<ub>>)
    hivm.hir.load ins(%gm1 : memref<61440xf16, #hivm.address_space<gm>>) outs(%b : memref<61440xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%a : memref<61440xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<61440xf16, #hivm.address_space<gm>>)
    hivm.hir.store ins(%b : memref<61440xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<61440xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// MIX leaves 216 KiB; SIMD all 248.
// record: plan-memory-regbase.mlir 1
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @valid_alloc_for_simd(%gm0: memref<61440xf16, #hivm.address_space<gm>>, %gm1: memref<61440xf16, #hivm.address_space<gm>>, %gm2: memref<61440xf16, #hivm.address_space<gm>>, %gm3: memref<61440xf16, #hivm.address_space<gm>>) attributes {hivm.vf_mode = #hivm.vf_mode<SIMD>} {
    %a = memref.alloc() : memref<61440xf16, #hivm.address_space<ub>>
    %b = memref.alloc() : memref<61440xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<61440xf16, #hivm.address_space<gm>>) outs(%a : memref<61440xf16, #hivm.address_space<ub>>)
    hivm.hir.load ins(%gm1 : memref<61440xf16, #hivm.address_space<gm>>) outs(%b : memref<61440xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%a : memref<61440xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<61440xf16, #hivm.address_space<gm>>)
    hivm.hir.store ins(%b : memref<61440xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<61440xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Both cores see a coupled buffer at its owner's address: UB belongs to the vector core, L1 to the cube core.
// record: plan-memory-regbase.mlir 2
// record: RegBase/plan-memory-vf.mlir 9
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @test_tightly_coupled_buffer_in_AIC(%gm0: memref<16x16xf32, #hivm.address_space<gm>>, %gm1: memref<16x16xf32, #hivm.address_space<gm>>) attributes {hivm.func_core_type = #hivm.func_core_type<AIC>} {
    %alloc_1 = memref.alloc() : memref<16x16xf32, #hivm.address_space<cbuf>>
    hivm.hir.nd2nz ins(%gm0 : memref<16x16xf32, #hivm.address_space<gm>>) outs(%alloc_1 : memref<16x16xf32, #hivm.address_space<cbuf>>)
    %alloc_2 = memref.alloc() : memref<128xf32, #hivm.address_space<cbuf>>
    annotation.mark %alloc_2 {hivm.tightly_coupled_buffer = #hivm.tightly_coupled_buffer<2>} : memref<128xf32, #hivm.address_space<cbuf>>
    %alloc_3 = memref.alloc() : memref<16x16xf32, #hivm.address_space<cc>>
    hivm.hir.load ins(%gm1 : memref<16x16xf32, #hivm.address_space<gm>>) outs(%alloc_3 : memref<16x16xf32, #hivm.address_space<cc>>)
    %alloc_4 = memref.alloc() : memref<16x16xf32, #hivm.address_space<ub>>
    annotation.mark %alloc_4 {hivm.tightly_coupled_buffer = #hivm.tightly_coupled_buffer<4>} : memref<16x16xf32, #hivm.address_space<ub>>
    hivm.hir.fixpipe {l0c_to_ub} ins(%alloc_3 : memref<16x16xf32, #hivm.address_space<cc>>) outs(%alloc_4 : memref<16x16xf32, #hivm.address_space<ub>>)
    return
  }
  func.func @test_tightly_coupled_buffer_in_AIV(%gm0: memref<128xf32, #hivm.address_space<gm>>) attributes {hivm.func_core_type = #hivm.func_core_type<AIV>} {
    %alloc = memref.alloc() : memref<128xf32, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<128xf32, #hivm.address_space<gm>>) outs(%alloc : memref<128xf32, #hivm.address_space<ub>>)
    %alloc_2 = memref.alloc() : memref<128xf32, #hivm.address_space<cbuf>>
    annotation.mark %alloc_2 {hivm.tightly_coupled_buffer = #hivm.tightly_coupled_buffer<2>} : memref<128xf32, #hivm.address_space<cbuf>>
    hivm.hir.copy ins(%alloc : memref<128xf32, #hivm.address_space<ub>>) outs(%alloc_2 : memref<128xf32, #hivm.address_space<cbuf>>)
    %alloc_3 = memref.alloc() : memref<16x16xf32, #hivm.address_space<ub>>
    annotation.mark %alloc_3 {hivm.tightly_coupled_buffer = #hivm.tightly_coupled_buffer<4>} : memref<16x16xf32, #hivm.address_space<ub>>
    return
  }
}

// -----

// A buffer of its own does not become one with another.
// record: plan-memory-regbase.mlir 3
// record: RegBase/plan-memory-vf.mlir 11
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @test_unique_memory_if_reuse(%c: i1, %gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<4096xf16, #hivm.address_space<gm>>, %gm2: memref<4096xf16, #hivm.address_space<gm>>, %gm3: memref<4096xf16, #hivm.address_space<gm>>, %gm4: memref<4096xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<4096xf16, #hivm.address_space<gm>>) outs(%a : memref<4096xf16, #hivm.address_space<ub>>)
    %r = scf.if %c -> (memref<4096xf16, #hivm.address_space<ub>>) {
      %t = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
      annotation.mark %t {mem_unique} : memref<4096xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm1 : memref<4096xf16, #hivm.address_space<gm>>) outs(%t : memref<4096xf16, #hivm.address_space<ub>>)
      scf.yield %t : memref<4096xf16, #hivm.address_space<ub>>
    } else {
      %u = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm2 : memref<4096xf16, #hivm.address_space<gm>>) outs(%u : memref<4096xf16, #hivm.address_space<ub>>)
      scf.yield %u : memref<4096xf16, #hivm.address_space<ub>>
    }
    hivm.hir.store ins(%r : memref<4096xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<4096xf16, #hivm.address_space<gm>>)
    hivm.hir.store ins(%a : memref<4096xf16, #hivm.address_space<ub>>) outs(%gm4 : memref<4096xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// ... nor does it share in time.
// record: plan-memory-regbase.mlir 4
// record: RegBase/plan-memory-vf.mlir 12
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @test_unique_memory_time_reuse(%gm0: memref<65536xf16, #hivm.address_space<gm>>, %gm1: memref<65536xf16, #hivm.address_space<gm>>, %gm2: memref<65536xf16, #hivm.address_space<gm>>, %gm3: memref<65536xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<65536xf16, #hivm.address_space<ub>>
    annotation.mark %a {mem_unique} : memref<65536xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<65536xf16, #hivm.address_space<gm>>) outs(%a : memref<65536xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%a : memref<65536xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<65536xf16, #hivm.address_space<gm>>)
    %b = memref.alloc() : memref<65536xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm2 : memref<65536xf16, #hivm.address_space<gm>>) outs(%b : memref<65536xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%b : memref<65536xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<65536xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// ... with all its slots.
// record: plan-memory-regbase.mlir 5
// record: RegBase/plan-memory-vf.mlir 13
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @test_unique_memory_with_multi_buffer(%gm0: memref<32768xf16, #hivm.address_space<gm>>, %gm1: memref<32768xf16, #hivm.address_space<gm>>, %gm2: memref<32768xf16, #hivm.address_space<gm>>, %gm3: memref<32768xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<32768xf16, #hivm.address_space<ub>>
    annotation.mark %a {mem_unique} : memref<32768xf16, #hivm.address_space<ub>>
    annotation.mark %a {hivm.multi_buffer = 2 : i32} : memref<32768xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<32768xf16, #hivm.address_space<gm>>) outs(%a : memref<32768xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%a : memref<32768xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<32768xf16, #hivm.address_space<gm>>)
    %b = memref.alloc() : memref<32768xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm2 : memref<32768xf16, #hivm.address_space<gm>>) outs(%b : memref<32768xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%b : memref<32768xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<32768xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// A coupled buffer becomes one with another, as any buffer does.
// record: plan-memory-regbase.mlir 6
// record: RegBase/plan-memory-vf.mlir 10
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @test_tightly_coupled_buffer_in_AIC(%gm0: memref<128xf32, #hivm.address_space<gm>>) attributes {hivm.func_core_type = #hivm.func_core_type<AIC>} {
    %alloc_3 = memref.alloc() : memref<128xf32, #hivm.address_space<cc>>
    hivm.hir.load ins(%gm0 : memref<128xf32, #hivm.address_space<gm>>) outs(%alloc_3 : memref<128xf32, #hivm.address_space<cc>>)
    %alloc_4 = memref.alloc() : memref<128xf32, #hivm.address_space<ub>>
    annotation.mark %alloc_4 {hivm.tightly_coupled_buffer = #hivm.tightly_coupled_buffer<4>} : memref<128xf32, #hivm.address_space<ub>>
    hivm.hir.fixpipe {l0c_to_ub} ins(%alloc_3 : memref<128xf32, #hivm.address_space<cc>>) outs(%alloc_4 : memref<128xf32, #hivm.address_space<ub>>)
    return
  }
  func.func @test_unique_memory_for_CV_tightly_coupled_buffer(%c: i1, %gm0: memref<128xf32, #hivm.address_space<gm>>) attributes {hivm.func_core_type = #hivm.func_core_type<AIV>} {
    %alloc = memref.alloc() : memref<128xf32, #hivm.address_space<ub>>
    annotation.mark %alloc {hivm.tightly_coupled_buffer = #hivm.tightly_coupled_buffer<4>} : memref<128xf32, #hivm.address_space<ub>>
    %r = scf.if %c -> (memref<128xf32, #hivm.address_space<ub>>) {
      %alloc_1 = memref.alloc() : memref<128xf32, #hivm.address_space<ub>>
      hivm.hir.vabs ins(%alloc : memref<128xf32, #hivm.address_space<ub>>) outs(%alloc_1 : memref<128xf32, #hivm.address_space<ub>>)
      scf.yield %alloc_1 : memref<128xf32, #hivm.address_space<ub>>
    } else {
      scf.yield %alloc : memref<128xf32, #hivm.address_space<ub>>
    }
    hivm.hir.store ins(%r : memref<128xf32, #hivm.address_space<ub>>) outs(%gm0 : memref<128xf32, #hivm.address_space<gm>>)
    return
  }
}

// -----

// A vector function that reads each input once and writes its result once: in place.
// record: plan-memory-vf.mlir 1
// record: RegBase/plan-memory-vf.mlir 1
// differs: which of two dying operands is the donor depends on random numbers there; here it is the first
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @add_vf(%a: memref<64xf32, #hivm.address_space<ub>>, %b: memref<64xf32, #hivm.address_space<ub>>, %o: memref<64xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.000000e+00 : f32
    %x = vector.transfer_read %a[%c0], %pad {in_bounds = [true]} : memref<64xf32, #hivm.address_space<ub>>, vector<64xf32>
    %y = vector.transfer_read %b[%c0], %pad {in_bounds = [true]} : memref<64xf32, #hivm.address_space<ub>>, vector<64xf32>
    %s = arith.addf %x, %y : vector<64xf32>
    vector.transfer_write %s, %o[%c0] {in_bounds = [true]} : vector<64xf32>, memref<64xf32, #hivm.address_space<ub>>
    return
  }
  func.func @plan_memory_vf_read_once_and_write_once_0() attributes {hacc.entry} {
    %alloc = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
    %alloc_0 = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
    %alloc_1 = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
    func.call @add_vf(%alloc, %alloc_0, %alloc_1) {hivm.vector_function, no_inline} : (memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>) -> ()
    return
  }
}

// -----

// Two results, one donor: the larger takes it.
// record: plan-memory-vf.mlir 2
// record: RegBase/plan-memory-vf.mlir 2
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @split_vf(%a: memref<31744xf32, #hivm.address_space<ub>>, %small: memref<31744xi8, #hivm.address_space<ub>>, %large: memref<31744xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.000000e+00 : f32
    %x = vector.transfer_read %a[%c0], %pad {in_bounds = [true]} : memref<31744xf32, #hivm.address_space<ub>>, vector<31744xf32>
    %b = arith.fptosi %x : vector<31744xf32> to vector<31744xi8>
    vector.transfer_write %b, %small[%c0] {in_bounds = [true]} : vector<31744xi8>, memref<31744xi8, #hivm.address_space<ub>>
    vector.transfer_write %x, %large[%c0] {in_bounds = [true]} : vector<31744xf32>, memref<31744xf32, #hivm.address_space<ub>>
    return
  }
  func.func @plan_memory_vf_best_inplace_pair(%gm0: memref<31744xf32, #hivm.address_space<gm>>, %gm1: memref<31744xi8, #hivm.address_space<gm>>) attributes {hivm.func_core_type = #hivm.func_core_type<AIV>} {
    %alloc_0 = memref.alloc() : memref<31744xf32, #hivm.address_space<ub>>
    %alloc_1 = memref.alloc() : memref<31744xi8, #hivm.address_space<ub>>
    %alloc_2 = memref.alloc() : memref<31744xf32, #hivm.address_space<ub>>
    func.call @split_vf(%alloc_0, %alloc_1, %alloc_2) {hivm.vector_function, no_inline} : (memref<31744xf32, #hivm.address_space<ub>>, memref<31744xi8, #hivm.address_space<ub>>, memref<31744xf32, #hivm.address_space<ub>>) -> ()
    hivm.hir.store ins(%alloc_2 : memref<31744xf32, #hivm.address_space<ub>>) outs(%gm0 : memref<31744xf32, #hivm.address_space<gm>>)
    hivm.hir.store ins(%alloc_1 : memref<31744xi8, #hivm.address_space<ub>>) outs(%gm1 : memref<31744xi8, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Row by row: the donor is read through the same slices.
// record: plan-memory-vf.mlir 3
// record: RegBase/plan-memory-vf.mlir 3
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @scale_rows_vf(%row: memref<64xf32, #hivm.address_space<ub>>, %a: memref<64x64xf32, #hivm.address_space<ub>>, %o: memref<64x64xf16, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.000000e+00 : f32
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %w = vector.transfer_read %row[%c0], %pad {in_bounds = [true]} : memref<64xf32, #hivm.address_space<ub>>, vector<64xf32>
    %w2 = vector.shape_cast %w : vector<64xf32> to vector<1x64xf32>
    scf.for %i = %c0 to %c64 step %c1 {
      %p = memref.subview %a[%i, 0] [1, 64] [1, 1] : memref<64x64xf32, #hivm.address_space<ub>> to memref<1x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<ub>>
      %q = memref.subview %o[%i, 0] [1, 64] [1, 1] : memref<64x64xf16, #hivm.address_space<ub>> to memref<1x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<ub>>
      %x = vector.transfer_read %p[%c0, %c0], %pad {in_bounds = [true, true]} : memref<1x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<ub>>, vector<1x64xf32>
      %m = arith.mulf %x, %w2 : vector<1x64xf32>
      %y = arith.truncf %m : vector<1x64xf32> to vector<1x64xf16>
      vector.transfer_write %y, %q[%c0, %c0] {in_bounds = [true, true]} : vector<1x64xf16>, memref<1x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<ub>>
    }
    return
  }
  func.func @plan_memory_vf_read_once_and_write_once_subview_0() attributes {hacc.entry} {
    %alloc = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
    %alloc_0 = memref.alloc() : memref<64x64xf32, #hivm.address_space<ub>>
    %alloc_1 = memref.alloc() : memref<64x64xf16, #hivm.address_space<ub>>
    func.call @scale_rows_vf(%alloc, %alloc_0, %alloc_1) {hivm.vector_function, no_inline} : (memref<64xf32, #hivm.address_space<ub>>, memref<64x64xf32, #hivm.address_space<ub>>, memref<64x64xf16, #hivm.address_space<ub>>) -> ()
    return
  }
}

// -----

// Into a wider type: refused, although the donor is large enough.
// record: plan-memory-vf.mlir 4
// record: RegBase/plan-memory-vf.mlir 4
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @widen_vf(%a: memref<32xf16, #hivm.address_space<ub>>, %o: memref<8xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %pad_f16 = arith.constant 0.000000e+00 : f16
    %x = vector.transfer_read %a[%c0], %pad_f16 {in_bounds = [true]} : memref<32xf16, #hivm.address_space<ub>>, vector<8xf16>
    %y = arith.extf %x : vector<8xf16> to vector<8xf32>
    vector.transfer_write %y, %o[%c0] {in_bounds = [true]} : vector<8xf32>, memref<8xf32, #hivm.address_space<ub>>
    return
  }
  func.func @plan_memory_vf_no_inplace_reuse_widening_0() attributes {hacc.entry} {
    %alloc = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
    %alloc_0 = memref.alloc() : memref<8xf32, #hivm.address_space<ub>>
    func.call @widen_vf(%alloc, %alloc_0) {hivm.vector_function, no_inline} : (memref<32xf16, #hivm.address_space<ub>>, memref<8xf32, #hivm.address_space<ub>>) -> ()
    return
  }
}

// -----

// Only written.
// record: plan-memory-vf.mlir 5
// record: RegBase/plan-memory-vf.mlir 5
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @fill_vf(%o: memref<4096xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.000000e+00> : vector<4096xf32>
    vector.transfer_write %zero, %o[%c0] {in_bounds = [true]} : vector<4096xf32>, memref<4096xf32, #hivm.address_space<ub>>
    return
  }
  func.func @plan_memory_vf_write_only_once_0() attributes {hacc.entry} {
    %alloc = memref.alloc() : memref<4096xf32, #hivm.address_space<ub>>
    func.call @fill_vf(%alloc) {hivm.vector_function, no_inline} : (memref<4096xf32, #hivm.address_space<ub>>) -> ()
    return
  }
}

// -----

// The donor is read in the block that writes the result; reads in other blocks do not count.
// record: plan-memory-vf.mlir 6
// record: RegBase/plan-memory-vf.mlir 6
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @blocks_vf(%a: memref<64xf32, #hivm.address_space<ub>>, %b: memref<64xf32, #hivm.address_space<ub>>, %d: memref<64xf32, #hivm.address_space<ub>>, %m: memref<16x64xf32, #hivm.address_space<ub>>, %o: memref<64xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.000000e+00 : f32
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %u = vector.transfer_read %b[%c0], %pad {in_bounds = [true]} : memref<64xf32, #hivm.address_space<ub>>, vector<64xf32>
    %w = vector.transfer_read %d[%c0], %pad {in_bounds = [true]} : memref<64xf32, #hivm.address_space<ub>>, vector<64xf32>
    %s = arith.addf %u, %w : vector<64xf32>
    %sum = scf.for %i = %c0 to %c16 step %c1 iter_args(%acc = %s) -> (vector<64xf32>) {
      %p = memref.subview %m[%i, 0] [1, 64] [1, 1] : memref<16x64xf32, #hivm.address_space<ub>> to memref<1x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<ub>>
      %x = vector.transfer_read %p[%c0, %c0], %pad {in_bounds = [true, true]} : memref<1x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<ub>>, vector<1x64xf32>
      %y = vector.shape_cast %x : vector<1x64xf32> to vector<64xf32>
      %next = arith.addf %acc, %y : vector<64xf32>
      scf.yield %next : vector<64xf32>
    }
    %c64 = arith.constant 64 : index
    scf.for %j = %c0 to %c1 step %c1 {
      %pa = memref.subview %a[%j] [64] [1] : memref<64xf32, #hivm.address_space<ub>> to memref<64xf32, strided<[1], offset: ?>, #hivm.address_space<ub>>
      %po = memref.subview %o[%j] [64] [1] : memref<64xf32, #hivm.address_space<ub>> to memref<64xf32, strided<[1], offset: ?>, #hivm.address_space<ub>>
      %k = vector.transfer_read %pa[%c0], %pad {in_bounds = [true]} : memref<64xf32, strided<[1], offset: ?>, #hivm.address_space<ub>>, vector<64xf32>
      %t = arith.addf %k, %sum : vector<64xf32>
      vector.transfer_write %t, %po[%c0] {in_bounds = [true]} : vector<64xf32>, memref<64xf32, strided<[1], offset: ?>, #hivm.address_space<ub>>
    }
    return
  }
  func.func @plan_memory_vf_read_write_diff_blocks_0() attributes {hacc.entry} {
    %alloc = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
    %alloc_0 = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
    %alloc_1 = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
    %alloc_2 = memref.alloc() : memref<16x64xf32, #hivm.address_space<ub>>
    %alloc_3 = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
    func.call @blocks_vf(%alloc, %alloc_0, %alloc_1, %alloc_2, %alloc_3) {hivm.vector_function, no_inline} : (memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>, memref<16x64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>) -> ()
    return
  }
}

// -----

// Reads rows and writes columns: refused.
// record: plan-memory-vf.mlir 7
// record: RegBase/plan-memory-vf.mlir 7
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @turn_vf(%a: memref<128x128xf32, #hivm.address_space<ub>>, %o: memref<128x128xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.000000e+00 : f32
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    scf.for %i = %c0 to %c128 step %c1 {
      %p = memref.subview %a[%i, 0] [1, 128] [1, 1] : memref<128x128xf32, #hivm.address_space<ub>> to memref<1x128xf32, strided<[128, 1], offset: ?>, #hivm.address_space<ub>>
      %q = memref.subview %o[0, %i] [128, 1] [1, 1] : memref<128x128xf32, #hivm.address_space<ub>> to memref<128x1xf32, strided<[128, 1], offset: ?>, #hivm.address_space<ub>>
      %x = vector.transfer_read %p[%c0, %c0], %pad {in_bounds = [true, true]} : memref<1x128xf32, strided<[128, 1], offset: ?>, #hivm.address_space<ub>>, vector<1x128xf32>
      %y = vector.transpose %x, [1, 0] : vector<1x128xf32> to vector<128x1xf32>
      vector.transfer_write %y, %q[%c0, %c0] {in_bounds = [true, true]} : vector<128x1xf32>, memref<128x1xf32, strided<[128, 1], offset: ?>, #hivm.address_space<ub>>
    }
    return
  }
  func.func @plan_memory_vf_not_inplace_reuse_transpose_read_write_0() attributes {hacc.entry} {
    %alloc = memref.alloc() : memref<128x128xf32, #hivm.address_space<ub>>
    %alloc_0 = memref.alloc() : memref<128x128xf32, #hivm.address_space<ub>>
    func.call @turn_vf(%alloc, %alloc_0) {hivm.vector_function, no_inline} : (memref<128x128xf32, #hivm.address_space<ub>>, memref<128x128xf32, #hivm.address_space<ub>>) -> ()
    return
  }
}

// -----

// Without a loop, from load to store in one buffer; a function that reads what it writes has no donor.
// record: plan-memory-vf.mlir 8
// record: RegBase/plan-memory-vf.mlir 8
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @neg_vf(%a: memref<128xf32, #hivm.address_space<ub>>, %o: memref<128xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.000000e+00 : f32
    %x = vector.transfer_read %a[%c0], %pad {in_bounds = [true]} : memref<128xf32, #hivm.address_space<ub>>, vector<128xf32>
    %s = arith.negf %x : vector<128xf32>
    vector.transfer_write %s, %o[%c0] {in_bounds = [true]} : vector<128xf32>, memref<128xf32, #hivm.address_space<ub>>
    return
  }
  func.func @update_vf(%a: memref<128xf32, #hivm.address_space<ub>>, %o: memref<128xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.000000e+00 : f32
    %x = vector.transfer_read %a[%c0], %pad {in_bounds = [true]} : memref<128xf32, #hivm.address_space<ub>>, vector<128xf32>
    %y = vector.transfer_read %o[%c0], %pad {in_bounds = [true]} : memref<128xf32, #hivm.address_space<ub>>, vector<128xf32>
    %s = arith.addf %x, %y : vector<128xf32>
    vector.transfer_write %s, %o[%c0] {in_bounds = [true]} : vector<128xf32>, memref<128xf32, #hivm.address_space<ub>>
    return
  }
  func.func @not_inplace_reuse_when_reach_load_and_store_0(%gm0: memref<128xf32, #hivm.address_space<gm>>, %gm1: memref<128xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %alloc_0 = memref.alloc() : memref<128xf32, #hivm.address_space<ub>>
    %alloc_1 = memref.alloc() : memref<128xf32, #hivm.address_space<ub>>
    %alloc_2 = memref.alloc() : memref<128xf32, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<128xf32, #hivm.address_space<gm>>) outs(%alloc_0 : memref<128xf32, #hivm.address_space<ub>>)
    func.call @neg_vf(%alloc_0, %alloc_1) {hivm.vector_function, no_inline} : (memref<128xf32, #hivm.address_space<ub>>, memref<128xf32, #hivm.address_space<ub>>) -> ()
    func.call @neg_vf(%alloc_1, %alloc_2) {hivm.vector_function, no_inline} : (memref<128xf32, #hivm.address_space<ub>>, memref<128xf32, #hivm.address_space<ub>>) -> ()
    hivm.hir.store ins(%alloc_2 : memref<128xf32, #hivm.address_space<ub>>) outs(%gm1 : memref<128xf32, #hivm.address_space<gm>>)
    return
  }
  func.func @can_inplace_reuse_when_not_reach_load_or_store_0(%gm0: memref<128xf32, #hivm.address_space<gm>>, %gm1: memref<128xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %alloc_0 = memref.alloc() : memref<128xf32, #hivm.address_space<ub>>
    %alloc_1 = memref.alloc() : memref<128xf32, #hivm.address_space<ub>>
    %alloc_2 = memref.alloc() : memref<128xf32, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<128xf32, #hivm.address_space<gm>>) outs(%alloc_0 : memref<128xf32, #hivm.address_space<ub>>)
    func.call @neg_vf(%alloc_0, %alloc_1) {hivm.vector_function, no_inline} : (memref<128xf32, #hivm.address_space<ub>>, memref<128xf32, #hivm.address_space<ub>>) -> ()
    func.call @update_vf(%alloc_1, %alloc_2) {hivm.vector_function, no_inline} : (memref<128xf32, #hivm.address_space<ub>>, memref<128xf32, #hivm.address_space<ub>>) -> ()
    hivm.hir.store ins(%alloc_2 : memref<128xf32, #hivm.address_space<ub>>) outs(%gm1 : memref<128xf32, #hivm.address_space<gm>>)
    return
  }
}

// -----

// A copy to L1 is a store: in a loop its source stays apart from what was loaded.
// record: plan-memory-vf.mlir 9
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @neg_vf(%a: memref<64xf32, #hivm.address_space<ub>>, %o: memref<64xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.000000e+00 : f32
    %x = vector.transfer_read %a[%c0], %pad {in_bounds = [true]} : memref<64xf32, #hivm.address_space<ub>>, vector<64xf32>
    %s = arith.negf %x : vector<64xf32>
    vector.transfer_write %s, %o[%c0] {in_bounds = [true]} : vector<64xf32>, memref<64xf32, #hivm.address_space<ub>>
    return
  }
  func.func @test_tightly_coupled_buffer_in_AIC(%gm0: memref<64xf32, #hivm.address_space<gm>>) attributes {hivm.func_core_type = #hivm.func_core_type<AIC>} {
    %alloc_2 = memref.alloc() : memref<64xf32, #hivm.address_space<cbuf>>
    annotation.mark %alloc_2 {hivm.tightly_coupled_buffer = #hivm.tightly_coupled_buffer<2>} : memref<64xf32, #hivm.address_space<cbuf>>
    hivm.hir.store ins(%alloc_2 : memref<64xf32, #hivm.address_space<cbuf>>) outs(%gm0 : memref<64xf32, #hivm.address_space<gm>>)
    return
  }
  func.func @test_tightly_coupled_buffer_in_AIV(%gm0: memref<64xf32, #hivm.address_space<gm>>) attributes {hivm.func_core_type = #hivm.func_core_type<AIV>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %alloc = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<64xf32, #hivm.address_space<gm>>) outs(%alloc : memref<64xf32, #hivm.address_space<ub>>)
      %alloc_1 = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
      func.call @neg_vf(%alloc, %alloc_1) {hivm.vector_function, no_inline} : (memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>) -> ()
      %alloc_2 = memref.alloc() : memref<64xf32, #hivm.address_space<cbuf>>
      annotation.mark %alloc_2 {hivm.tightly_coupled_buffer = #hivm.tightly_coupled_buffer<2>} : memref<64xf32, #hivm.address_space<cbuf>>
      hivm.hir.copy ins(%alloc_1 : memref<64xf32, #hivm.address_space<ub>>) outs(%alloc_2 : memref<64xf32, #hivm.address_space<cbuf>>)
    }
    return
  }
}

// -----

// Two donors, one result: it takes one. The buffer of the store stays apart from the load.
// record: plan-memory-vf.mlir 10
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @add_vf(%a: memref<64xf32, #hivm.address_space<ub>>, %b: memref<64xf32, #hivm.address_space<ub>>, %o: memref<64xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.000000e+00 : f32
    %x = vector.transfer_read %a[%c0], %pad {in_bounds = [true]} : memref<64xf32, #hivm.address_space<ub>>, vector<64xf32>
    %y = vector.transfer_read %b[%c0], %pad {in_bounds = [true]} : memref<64xf32, #hivm.address_space<ub>>, vector<64xf32>
    %s = arith.addf %x, %y : vector<64xf32>
    vector.transfer_write %s, %o[%c0] {in_bounds = [true]} : vector<64xf32>, memref<64xf32, #hivm.address_space<ub>>
    return
  }
  func.func @neg_vf(%a: memref<64xf32, #hivm.address_space<ub>>, %o: memref<64xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.000000e+00 : f32
    %x = vector.transfer_read %a[%c0], %pad {in_bounds = [true]} : memref<64xf32, #hivm.address_space<ub>>, vector<64xf32>
    %s = arith.negf %x : vector<64xf32>
    vector.transfer_write %s, %o[%c0] {in_bounds = [true]} : vector<64xf32>, memref<64xf32, #hivm.address_space<ub>>
    return
  }
  func.func @kernel_two_kill(%gm0: memref<64xf32, #hivm.address_space<gm>>, %gm1: memref<64xf32, #hivm.address_space<gm>>, %gm2: memref<64xf32, #hivm.address_space<gm>>) attributes {hivm.func_core_type = #hivm.func_core_type<AIV>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %kill_1 = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
      %kill_2 = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
      %gen = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
      %store = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<64xf32, #hivm.address_space<gm>>) outs(%kill_1 : memref<64xf32, #hivm.address_space<ub>>)
      hivm.hir.load ins(%gm1 : memref<64xf32, #hivm.address_space<gm>>) outs(%kill_2 : memref<64xf32, #hivm.address_space<ub>>)
      func.call @add_vf(%kill_1, %kill_2, %gen) {hivm.vector_function, no_inline} : (memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>) -> ()
      func.call @neg_vf(%gen, %store) {hivm.vector_function, no_inline} : (memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>) -> ()
      hivm.hir.store ins(%store : memref<64xf32, #hivm.address_space<ub>>) outs(%gm2 : memref<64xf32, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// ... with one donor.
// record: plan-memory-vf.mlir 11
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @neg_vf(%a: memref<64xf32, #hivm.address_space<ub>>, %o: memref<64xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.000000e+00 : f32
    %x = vector.transfer_read %a[%c0], %pad {in_bounds = [true]} : memref<64xf32, #hivm.address_space<ub>>, vector<64xf32>
    %s = arith.negf %x : vector<64xf32>
    vector.transfer_write %s, %o[%c0] {in_bounds = [true]} : vector<64xf32>, memref<64xf32, #hivm.address_space<ub>>
    return
  }
  func.func @kernel_one_kill(%gm0: memref<64xf32, #hivm.address_space<gm>>, %gm1: memref<64xf32, #hivm.address_space<gm>>) attributes {hivm.func_core_type = #hivm.func_core_type<AIV>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %kill_1 = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
      %gen = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
      %store = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<64xf32, #hivm.address_space<gm>>) outs(%kill_1 : memref<64xf32, #hivm.address_space<ub>>)
      func.call @neg_vf(%kill_1, %gen) {hivm.vector_function, no_inline} : (memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>) -> ()
      func.call @neg_vf(%gen, %store) {hivm.vector_function, no_inline} : (memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>) -> ()
      hivm.hir.store ins(%store : memref<64xf32, #hivm.address_space<ub>>) outs(%gm1 : memref<64xf32, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// ... and large.
// record: plan-memory-vf.mlir 12
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @neg_vf(%a: memref<30720xf32, #hivm.address_space<ub>>, %o: memref<30720xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.000000e+00 : f32
    %x = vector.transfer_read %a[%c0], %pad {in_bounds = [true]} : memref<30720xf32, #hivm.address_space<ub>>, vector<30720xf32>
    %s = arith.negf %x : vector<30720xf32>
    vector.transfer_write %s, %o[%c0] {in_bounds = [true]} : vector<30720xf32>, memref<30720xf32, #hivm.address_space<ub>>
    return
  }
  func.func @test_no_reachable_check(%gm0: memref<30720xf32, #hivm.address_space<gm>>, %gm1: memref<30720xf32, #hivm.address_space<gm>>) attributes {hivm.func_core_type = #hivm.func_core_type<AIV>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %kill_1 = memref.alloc() : memref<30720xf32, #hivm.address_space<ub>>
      %gen = memref.alloc() : memref<30720xf32, #hivm.address_space<ub>>
      %store = memref.alloc() : memref<30720xf32, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<30720xf32, #hivm.address_space<gm>>) outs(%kill_1 : memref<30720xf32, #hivm.address_space<ub>>)
      func.call @neg_vf(%kill_1, %gen) {hivm.vector_function, no_inline} : (memref<30720xf32, #hivm.address_space<ub>>, memref<30720xf32, #hivm.address_space<ub>>) -> ()
      func.call @neg_vf(%gen, %store) {hivm.vector_function, no_inline} : (memref<30720xf32, #hivm.address_space<ub>>, memref<30720xf32, #hivm.address_space<ub>>) -> ()
      hivm.hir.store ins(%store : memref<30720xf32, #hivm.address_space<ub>>) outs(%gm1 : memref<30720xf32, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// Slots of one buffer at different levels; placements are taken back twice.
// record: RegBase/plan-memory.mlir 0
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @mb_other_rollback_level0_retry(%gm0: memref<27728xf16, #hivm.address_space<gm>>, %gm1: memref<28800xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %in = memref.alloc() : memref<27728xf16, #hivm.address_space<ub>>
    annotation.mark %in {hivm.multi_buffer = 2 : i32} : memref<27728xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<27728xf16, #hivm.address_space<gm>>) outs(%in : memref<27728xf16, #hivm.address_space<ub>>)
    %m0 = memref.alloc() : memref<23940xf16, #hivm.address_space<ub>>
    %inv = memref.subview %in[0] [23940] [1] : memref<27728xf16, #hivm.address_space<ub>> to memref<23940xf16, strided<[1]>, #hivm.address_space<ub>>
    hivm.hir.vabs ins(%inv : memref<23940xf16, strided<[1]>, #hivm.address_space<ub>>) outs(%m0 : memref<23940xf16, #hivm.address_space<ub>>)
    %m1 = memref.alloc() : memref<26000xf16, #hivm.address_space<ub>>
    %m1v = memref.subview %m1[0] [23940] [1] : memref<26000xf16, #hivm.address_space<ub>> to memref<23940xf16, strided<[1]>, #hivm.address_space<ub>>
    hivm.hir.vbrc ins(%m0 : memref<23940xf16, #hivm.address_space<ub>>) outs(%m1v : memref<23940xf16, strided<[1]>, #hivm.address_space<ub>>)
    hivm.hir.vcumsum ins(%m1 : memref<26000xf16, #hivm.address_space<ub>>) outs(%m1 : memref<26000xf16, #hivm.address_space<ub>>)
    %out = memref.alloc() : memref<28800xf16, #hivm.address_space<ub>>
    annotation.mark %out {hivm.multi_buffer = 2 : i32} : memref<28800xf16, #hivm.address_space<ub>>
    hivm.hir.vbrc ins(%m1 : memref<26000xf16, #hivm.address_space<ub>>) outs(%out : memref<28800xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%out : memref<28800xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<28800xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Two loops, each with its preloaded buffer: lives of their own.
// record: RegBase/plan-memory-preload.mlir 0
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @test_preload_local_buffer_lifetime_is_per_enclosing_loop(%gm0: memref<40960xf16, #hivm.address_space<gm>>, %gm1: memref<40960xf16, #hivm.address_space<gm>>, %gm2: memref<20480xf16, #hivm.address_space<gm>>, %gm3: memref<20480xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %buf0 = memref.alloc() : memref<40960xf16, #hivm.address_space<ub>>
      annotation.mark %buf0 {hivm.multi_buffer = 2 : i32} : memref<40960xf16, #hivm.address_space<ub>>
      annotation.mark %buf0 {hivm.preload_local_buffer = 1 : i32} : memref<40960xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<40960xf16, #hivm.address_space<gm>>) outs(%buf0 : memref<40960xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%buf0 : memref<40960xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<40960xf16, #hivm.address_space<gm>>)
    }
    scf.for %i = %c0 to %c8 step %c1 {
      %buf1 = memref.alloc() : memref<20480xf16, #hivm.address_space<ub>>
      annotation.mark %buf1 {hivm.multi_buffer = 4 : i32} : memref<20480xf16, #hivm.address_space<ub>>
      annotation.mark %buf1 {hivm.preload_local_buffer = 1 : i32} : memref<20480xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm2 : memref<20480xf16, #hivm.address_space<gm>>) outs(%buf1 : memref<20480xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%buf1 : memref<20480xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<20480xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// Twice 240 KiB, in the mode MIX.
// record: RegBase/plan-memory-vf.mlir 14
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @invalid_alloc_for_mix(%gm0: memref<122880xf16, #hivm.address_space<gm>>, %gm1: memref<122880xf16, #hivm.address_space<gm>>, %gm2: memref<122880xf16, #hivm.address_space<gm>>, %gm3: memref<122880xf16, #hivm.address_space<gm>>) attributes {hivm.vf_mode = #hivm.vf_mode<MIX>} {
    %alloc = memref.alloc() : memref<122880xf16, #hivm.address_space<ub>>
    %alloc_0 = memref.alloc() : memref<122880xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<122880xf16, #hivm.address_space<gm>>) outs(%alloc : memref<122880xf16, #hivm.address_space<ub>>)
    hivm.hir.load ins(%gm1 : memref<122880xf16, #hivm.address_space<gm>>) outs(%alloc_0 : memref<122880xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%alloc : memref<122880xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<122880xf16, #hivm.address_space<gm>>)
    hivm.hir.store ins(%alloc_0 : memref<122880xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<122880xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Twice 240 KiB, in the mode SIMD.
// record: RegBase/plan-memory-vf.mlir 15
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @valid_alloc_for_simd(%gm0: memref<122880xf16, #hivm.address_space<gm>>, %gm1: memref<122880xf16, #hivm.address_space<gm>>, %gm2: memref<122880xf16, #hivm.address_space<gm>>, %gm3: memref<122880xf16, #hivm.address_space<gm>>) attributes {hivm.vf_mode = #hivm.vf_mode<SIMD>} {
    %alloc = memref.alloc() : memref<122880xf16, #hivm.address_space<ub>>
    %alloc_0 = memref.alloc() : memref<122880xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<122880xf16, #hivm.address_space<gm>>) outs(%alloc : memref<122880xf16, #hivm.address_space<ub>>)
    hivm.hir.load ins(%gm1 : memref<122880xf16, #hivm.address_space<gm>>) outs(%alloc_0 : memref<122880xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%alloc : memref<122880xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<122880xf16, #hivm.address_space<gm>>)
    hivm.hir.store ins(%alloc_0 : memref<122880xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<122880xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Load and store are reached through views of views; what the call is given and nobody writes counts as written by it.
// record: RegBase/plan-memory-vf.mlir 16
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @scale_vf(%a: memref<10240xf32, #hivm.address_space<ub>>, %w: memref<32xf32, #hivm.address_space<ub>>, %o: memref<10240xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.000000e+00 : f32
    %k = vector.transfer_read %w[%c0], %pad {in_bounds = [true]} : memref<32xf32, #hivm.address_space<ub>>, vector<32xf32>
    %x = vector.transfer_read %a[%c0], %pad {in_bounds = [true]} : memref<10240xf32, #hivm.address_space<ub>>, vector<10240xf32>
    %s = vector.extract %k[0] : f32 from vector<32xf32>
    %b = vector.broadcast %s : f32 to vector<10240xf32>
    %y = arith.mulf %x, %b : vector<10240xf32>
    vector.transfer_write %y, %o[%c0] {in_bounds = [true]} : vector<10240xf32>, memref<10240xf32, #hivm.address_space<ub>>
    return
  }
  func.func @vfreuse_store_subview_collapseshape(%gm0: memref<10240xf32, strided<[1]>, #hivm.address_space<gm>>, %gm1: memref<10240xf32, strided<[1]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %alloc = memref.alloc() : memref<1x10240xf32, #hivm.address_space<ub>>
      %part = memref.subview %alloc[0, 0] [1, 10240] [1, 1] : memref<1x10240xf32, #hivm.address_space<ub>> to memref<1x10240xf32, strided<[10240, 1]>, #hivm.address_space<ub>>
      %flat = memref.collapse_shape %part [[0, 1]] : memref<1x10240xf32, strided<[10240, 1]>, #hivm.address_space<ub>> into memref<10240xf32, strided<[1]>, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<10240xf32, strided<[1]>, #hivm.address_space<gm>>) outs(%flat : memref<10240xf32, strided<[1]>, #hivm.address_space<ub>>)
      %a = memref.collapse_shape %alloc [[0, 1]] : memref<1x10240xf32, #hivm.address_space<ub>> into memref<10240xf32, #hivm.address_space<ub>>
      %alloc_3 = memref.alloc() : memref<32xf32, #hivm.address_space<ub>>
      %alloc_6 = memref.alloc() : memref<1x10240xf32, #hivm.address_space<ub>>
      %o = memref.collapse_shape %alloc_6 [[0, 1]] : memref<1x10240xf32, #hivm.address_space<ub>> into memref<10240xf32, #hivm.address_space<ub>>
      func.call @scale_vf(%a, %alloc_3, %o) {hivm.vector_function, no_inline} : (memref<10240xf32, #hivm.address_space<ub>>, memref<32xf32, #hivm.address_space<ub>>, memref<10240xf32, #hivm.address_space<ub>>) -> ()
      %part2 = memref.subview %alloc_6[0, 0] [1, 10240] [1, 1] : memref<1x10240xf32, #hivm.address_space<ub>> to memref<1x10240xf32, strided<[10240, 1]>, #hivm.address_space<ub>>
      %flat2 = memref.collapse_shape %part2 [[0, 1]] : memref<1x10240xf32, strided<[10240, 1]>, #hivm.address_space<ub>> into memref<10240xf32, strided<[1]>, #hivm.address_space<ub>>
      hivm.hir.store ins(%flat2 : memref<10240xf32, strided<[1]>, #hivm.address_space<ub>>) outs(%gm1 : memref<10240xf32, strided<[1]>, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// Two operands that are one buffer, as it is or in another shape: no donors.
// record: RegBase/plan-memory-vf.mlir 17
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @scale_vf(%w: memref<32xf32, #hivm.address_space<ub>>, %a: memref<10240xf32, #hivm.address_space<ub>>, %o: memref<10240xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.000000e+00 : f32
    %k = vector.transfer_read %w[%c0], %pad {in_bounds = [true]} : memref<32xf32, #hivm.address_space<ub>>, vector<32xf32>
    %x = vector.transfer_read %a[%c0], %pad {in_bounds = [true]} : memref<10240xf32, #hivm.address_space<ub>>, vector<10240xf32>
    %s = vector.extract %k[0] : f32 from vector<32xf32>
    %b = vector.broadcast %s : f32 to vector<10240xf32>
    %y = arith.mulf %x, %b : vector<10240xf32>
    vector.transfer_write %y, %o[%c0] {in_bounds = [true]} : vector<10240xf32>, memref<10240xf32, #hivm.address_space<ub>>
    return
  }
  func.func @plan_memory_no_inplace_reuse_vf_args_same_alloc() attributes {hacc.entry} {
    %alloc_3 = memref.alloc() : memref<32xf32, #hivm.address_space<ub>>
    %alloc = memref.alloc() : memref<10240xf32, #hivm.address_space<ub>>
    func.call @scale_vf(%alloc_3, %alloc, %alloc) {hivm.vector_function, no_inline} : (memref<32xf32, #hivm.address_space<ub>>, memref<10240xf32, #hivm.address_space<ub>>, memref<10240xf32, #hivm.address_space<ub>>) -> ()
    return
  }
  func.func @plan_memory_no_inplace_reuse_vf_args_reshape_share_alloc() attributes {hacc.entry} {
    %alloc_3 = memref.alloc() : memref<32xf32, #hivm.address_space<ub>>
    %alloc_b = memref.alloc() : memref<320x32xf32, #hivm.address_space<ub>>
    %one = memref.collapse_shape %alloc_b [[0, 1]] : memref<320x32xf32, #hivm.address_space<ub>> into memref<10240xf32, #hivm.address_space<ub>>
    %two = memref.collapse_shape %alloc_b [[0, 1]] : memref<320x32xf32, #hivm.address_space<ub>> into memref<10240xf32, #hivm.address_space<ub>>
    func.call @scale_vf(%alloc_3, %one, %two) {hivm.vector_function, no_inline} : (memref<32xf32, #hivm.address_space<ub>>, memref<10240xf32, #hivm.address_space<ub>>, memref<10240xf32, #hivm.address_space<ub>>) -> ()
    return
  }
}

// -----

// Another shape of the input hides neither the load nor the store.
// record: RegBase/plan-memory-vf.mlir 18
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @neg_vf(%a: memref<64xf32, #hivm.address_space<ub>>, %o: memref<64xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.000000e+00 : f32
    %x = vector.transfer_read %a[%c0], %pad {in_bounds = [true]} : memref<64xf32, #hivm.address_space<ub>>, vector<64xf32>
    %s = arith.negf %x : vector<64xf32>
    vector.transfer_write %s, %o[%c0] {in_bounds = [true]} : vector<64xf32>, memref<64xf32, #hivm.address_space<ub>>
    return
  }
  func.func @plan_memory_vf_no_inplace_reuse_with_reshape_user(%gm0: memref<64xf32, #hivm.address_space<gm>>, %gm1: memref<64xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %input = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
      %square = memref.expand_shape %input [[0, 1]] output_shape [8, 8] : memref<64xf32, #hivm.address_space<ub>> into memref<8x8xf32, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<64xf32, #hivm.address_space<gm>>) outs(%input : memref<64xf32, #hivm.address_space<ub>>)
      %output = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
      func.call @neg_vf(%input, %output) {hivm.vector_function, no_inline} : (memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>) -> ()
      hivm.hir.store ins(%output : memref<64xf32, #hivm.address_space<ub>>) outs(%gm1 : memref<64xf32, #hivm.address_space<gm>>)
    }
    return
  }
}

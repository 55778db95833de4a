// Every result dies into the next: one address for all.
// run: plan-memory
// expect: %copy_in=[0] %dst1=[0] %dst2=[0] %copy_out=[0]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @chain(%gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<4096xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %wide=[0] %narrow=[131072] %none=[196608]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @cast_with_empty_temporary(%gm0: memref<16384xi64, #hivm.address_space<gm>>, %gm1: memref<16384xi32, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %wide=[0] %narrow=[131072] %none=[0] %other=[0] %sum=[131072]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @cast_then_add(%gm0: memref<16384xi64, #hivm.address_space<gm>>, %gm1: memref<16384xi32, #hivm.address_space<gm>>, %gm2: memref<16384xi32, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %a=[0] %b=[0] %c=[8192] %d=[8192]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @two_chains_in_a_loop(%gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<4096xf16, #hivm.address_space<gm>>, %gm2: memref<4096xf16, #hivm.address_space<gm>>, %gm3: memref<4096xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %out1=[24576, 57344] %in1=[16384, 49152] %out0=[8192, 40960] %in0=[0, 32768]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @double_buffers_not_in_place(%gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<4096xf16, #hivm.address_space<gm>>, %gm2: memref<4096xf16, #hivm.address_space<gm>>, %gm3: memref<4096xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %out0=[0, 98304] %in0=[0, 98304]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @double_buffers_in_place_at_level0(%gm0: memref<49152xf16, #hivm.address_space<gm>>, %gm1: memref<49152xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %d=[64, 160] %b=[32, 128] %a=[0, 96] %t=[0, 96]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @single_joins_a_double_buffer(%gm0: memref<16xf16, #hivm.address_space<gm>>, %gm1: memref<16xf16, #hivm.address_space<gm>>, %gm2: memref<16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %l=[0] %r=[512] %s=[0]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @add_in_place(%gm0: memref<256xf16, #hivm.address_space<gm>>, %gm1: memref<256xf16, #hivm.address_space<gm>>, %gm2: memref<256xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %x=[0] %y=[512]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @cast_2d_wider(%gm0: memref<16x16xf16, #hivm.address_space<gm>>, %gm1: memref<16x16xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %x=[0] %y=[0]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @cast_2d_same(%gm0: memref<16x16xf16, #hivm.address_space<gm>>, %gm1: memref<16x16xi16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %x=[0] %y=[1024]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @cast_2d_narrower(%gm0: memref<16x16xf32, #hivm.address_space<gm>>, %gm1: memref<16x16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %x=[0] %y=[2048]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @cast_1d_wider(%gm0: memref<1024xf16, #hivm.address_space<gm>>, %gm1: memref<1024xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %x=[0] %y=[0]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @cast_1d_same(%gm0: memref<1024xf16, #hivm.address_space<gm>>, %gm1: memref<1024xi16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %x=[0] %y=[0]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @cast_1d_narrower(%gm0: memref<1024xf32, #hivm.address_space<gm>>, %gm1: memref<1024xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %x = memref.alloc() : memref<1024xf32, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<1024xf32, #hivm.address_space<gm>>) outs(%x : memref<1024xf32, #hivm.address_space<ub>>)
    %y = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
    hivm.hir.vcast ins(%x : memref<1024xf32, #hivm.address_space<ub>>) outs(%y : memref<1024xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%y : memref<1024xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<1024xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Widening: refused, whatever the stride.
// run: plan-memory
// expect: %x=[0] %y=[2048]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @cast_stride2_wider(%gm0: memref<512xf16, strided<[2]>, #hivm.address_space<gm>>, %gm1: memref<512xf32, strided<[2]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %x = memref.alloc() : memref<512xf16, strided<[2]>, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<512xf16, strided<[2]>, #hivm.address_space<gm>>) outs(%x : memref<512xf16, strided<[2]>, #hivm.address_space<ub>>)
    %y = memref.alloc() : memref<512xf32, strided<[2]>, #hivm.address_space<ub>>
    hivm.hir.vcast ins(%x : memref<512xf16, strided<[2]>, #hivm.address_space<ub>>) outs(%y : memref<512xf32, strided<[2]>, #hivm.address_space<ub>>)
    hivm.hir.store ins(%y : memref<512xf32, strided<[2]>, #hivm.address_space<ub>>) outs(%gm1 : memref<512xf32, strided<[2]>, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Same width and stride: in place.
// run: plan-memory
// expect: %x=[0] %y=[0]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @cast_stride2_same(%gm0: memref<512xf16, strided<[2]>, #hivm.address_space<gm>>, %gm1: memref<512xi16, strided<[2]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %x = memref.alloc() : memref<512xf16, strided<[2]>, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<512xf16, strided<[2]>, #hivm.address_space<gm>>) outs(%x : memref<512xf16, strided<[2]>, #hivm.address_space<ub>>)
    %y = memref.alloc() : memref<512xi16, strided<[2]>, #hivm.address_space<ub>>
    hivm.hir.vcast ins(%x : memref<512xf16, strided<[2]>, #hivm.address_space<ub>>) outs(%y : memref<512xi16, strided<[2]>, #hivm.address_space<ub>>)
    hivm.hir.store ins(%y : memref<512xi16, strided<[2]>, #hivm.address_space<ub>>) outs(%gm1 : memref<512xi16, strided<[2]>, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Narrowing needs elements without gaps.
// run: plan-memory
// expect: %x=[0] %y=[4096]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @cast_stride2_narrower(%gm0: memref<512xf32, strided<[2]>, #hivm.address_space<gm>>, %gm1: memref<512xf16, strided<[2]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %x = memref.alloc() : memref<512xf32, strided<[2]>, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<512xf32, strided<[2]>, #hivm.address_space<gm>>) outs(%x : memref<512xf32, strided<[2]>, #hivm.address_space<ub>>)
    %y = memref.alloc() : memref<512xf16, strided<[2]>, #hivm.address_space<ub>>
    hivm.hir.vcast ins(%x : memref<512xf32, strided<[2]>, #hivm.address_space<ub>>) outs(%y : memref<512xf16, strided<[2]>, #hivm.address_space<ub>>)
    hivm.hir.store ins(%y : memref<512xf16, strided<[2]>, #hivm.address_space<ub>>) outs(%gm1 : memref<512xf16, strided<[2]>, #hivm.address_space<gm>>)
    return
  }
}

// -----

// What either branch yields gets one address.
// run: plan-memory
// expect: %a=[0] %b=[8192] %d=[16384] %e=[24576] %t=[32768] %u=[32768]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @branches_yield_one_buffer(%c: i1, %gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<4096xf16, #hivm.address_space<gm>>, %gm2: memref<4096xf16, #hivm.address_space<gm>>, %gm3: memref<4096xf16, #hivm.address_space<gm>>, %gm4: memref<4096xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<4096xf16, #hivm.address_space<gm>>) outs(%a : memref<4096xf16, #hivm.address_space<ub>>)
    %b = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<4096xf16, #hivm.address_space<gm>>) outs(%b : memref<4096xf16, #hivm.address_space<ub>>)
    %d = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm2 : memref<4096xf16, #hivm.address_space<gm>>) outs(%d : memref<4096xf16, #hivm.address_space<ub>>)
    %e = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm3 : memref<4096xf16, #hivm.address_space<gm>>) outs(%e : memref<4096xf16, #hivm.address_space<ub>>)
    %r = scf.if %c -> (memref<4096xf16, #hivm.address_space<ub>>) {
      %t = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
      hivm.hir.vadd ins(%a, %b : memref<4096xf16, #hivm.address_space<ub>>, memref<4096xf16, #hivm.address_space<ub>>) outs(%t : memref<4096xf16, #hivm.address_space<ub>>)
      scf.yield %t : memref<4096xf16, #hivm.address_space<ub>>
    } else {
      %u = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
      hivm.hir.vadd ins(%d, %e : memref<4096xf16, #hivm.address_space<ub>>, memref<4096xf16, #hivm.address_space<ub>>) outs(%u : memref<4096xf16, #hivm.address_space<ub>>)
      scf.yield %u : memref<4096xf16, #hivm.address_space<ub>>
    }
    hivm.hir.store ins(%r : memref<4096xf16, #hivm.address_space<ub>>) outs(%gm4 : memref<4096xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// The initial value and the yielded one are one buffer; the result is returned.
// run: plan-memory
// expect: %zero=[0] %one=[8192] %start=[16384] %two=[8192] %next=[16384]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @loop_carries_a_sum(%gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<4096xf16, #hivm.address_space<gm>>, %gm2: memref<4096xf16, #hivm.address_space<gm>>, %gm3: memref<4096xf16, #hivm.address_space<gm>>) -> memref<4096xf16, #hivm.address_space<ub>> attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %zero = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<4096xf16, #hivm.address_space<gm>>) outs(%zero : memref<4096xf16, #hivm.address_space<ub>>)
    %one = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<4096xf16, #hivm.address_space<gm>>) outs(%one : memref<4096xf16, #hivm.address_space<ub>>)
    %start = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm2 : memref<4096xf16, #hivm.address_space<gm>>) outs(%start : memref<4096xf16, #hivm.address_space<ub>>)
    %two = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
    hivm.hir.vadd ins(%one, %one : memref<4096xf16, #hivm.address_space<ub>>, memref<4096xf16, #hivm.address_space<ub>>) outs(%two : memref<4096xf16, #hivm.address_space<ub>>)
    %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%x = %start) -> (memref<4096xf16, #hivm.address_space<ub>>) {
      %next = memref.alloc() : memref<4096xf16, #hivm.address_space<ub>>
      hivm.hir.vadd ins(%x, %zero : memref<4096xf16, #hivm.address_space<ub>>, memref<4096xf16, #hivm.address_space<ub>>) outs(%next : memref<4096xf16, #hivm.address_space<ub>>)
      scf.yield %next : memref<4096xf16, #hivm.address_space<ub>>
    }
    hivm.hir.store ins(%two : memref<4096xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<4096xf16, #hivm.address_space<gm>>)
    return %r : memref<4096xf16, #hivm.address_space<ub>>
  }
}

// -----

// A part is stored later; the whole lives until then.
// run: plan-memory
// expect: %a=[0] %b=[8192] %s=[0]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @subview_keeps_its_parent(%gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<4096xf16, #hivm.address_space<gm>>, %gm2: memref<2048xf16, strided<[1]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %s=[16384, 40960] %b=[8192, 32768] %a=[0, 24576]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @subview_in_loop(%gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<4096xf16, #hivm.address_space<gm>>, %gm2: memref<2048xf16, strided<[1]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %a=[0] %b=[8192] %s=[0]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @collapse_shape(%gm0: memref<64x64xf16, #hivm.address_space<gm>>, %gm1: memref<64x64xf16, #hivm.address_space<gm>>, %gm2: memref<4096xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %a=[0] %b=[8192] %s=[0]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @expand_shape(%gm0: memref<64x64xf16, #hivm.address_space<gm>>, %gm1: memref<64x64xf16, #hivm.address_space<gm>>, %gm2: memref<64x8x8xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %row=[0] %all=[32] %t=[192]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @temporary_buffer(%gm0: memref<5x1xf32, #hivm.address_space<gm>>, %gm1: memref<5x8xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %a0=[0] %a1=[8192] %b0=[16384] %b1=[24576] %s0=[32768] %s1=[40960]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @selects_by_hand(%gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<4096xf16, #hivm.address_space<gm>>, %gm2: memref<4096xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %arena=[0]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @view_of_bytes(%n: index, %gm0: memref<?xf16, strided<[1]>, #hivm.address_space<gm>>, %gm1: memref<?xf16, strided<[1]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %a=[0] %b=[8192] %c=[16384]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @three_pipelines(%gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<4096xf16, #hivm.address_space<gm>>, %gm2: memref<4096xf16, #hivm.address_space<gm>>, %gm3: memref<4096xf16, #hivm.address_space<gm>>, %gm4: memref<4096xf16, #hivm.address_space<gm>>, %gm5: memref<4096xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %s=[0, 32]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @two_addresses(%gm0: memref<16xf16, #hivm.address_space<gm>>, %gm1: memref<16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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

// Four slots, four addresses.
// run: plan-memory
// expect: %s=[0, 32, 64, 96]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @four_addresses(%gm0: memref<16xf16, #hivm.address_space<gm>>, %gm1: memref<16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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

// A single result in place of a double buffer has both addresses.
// run: plan-memory
// expect: %s=[0, 32] %d=[0, 32]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @single_in_double(%gm0: memref<16xf16, #hivm.address_space<gm>>, %gm1: memref<16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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

// ... and of four slots, all four.
// run: plan-memory
// expect: %s=[0, 32, 64, 96] %d=[0, 32, 64, 96]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @single_in_four(%gm0: memref<16xf16, #hivm.address_space<gm>>, %gm1: memref<16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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

// Load and store stay apart.
// run: plan-memory
// expect: %out0=[32, 96] %in0=[0, 64]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @double_and_double(%gm0: memref<16xf16, #hivm.address_space<gm>>, %gm1: memref<16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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

// First slots first, then the others buffer by buffer.
// run: plan-memory
// expect: %out0=[32, 160, 192, 224] %in0=[0, 64, 96, 128]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @four_and_four(%gm0: memref<16xf16, #hivm.address_space<gm>>, %gm1: memref<16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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

// The mark is on a view; it speaks of the allocation.
// run: plan-memory
// expect: %s=[0, 512]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @mark_on_a_view(%gm0: memref<256xf16, #hivm.address_space<gm>>, %gm1: memref<256xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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

// Level1: a single pair on a buffer of four slots gets all four.
// run: plan-memory
// expect: %dst1=[98304, 122880, 147456, 172032] %src1=[0, 24576, 49152, 73728] %src2=[0, 24576, 49152, 73728] %dst2=[0, 24576, 49152, 73728]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @level1_upgrade(%gm0: memref<12288xf16, #hivm.address_space<gm>>, %gm1: memref<12288xf16, #hivm.address_space<gm>>, %gm2: memref<12288xf16, #hivm.address_space<gm>>, %gm3: memref<12288xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %dst2=[81920, 102400, 122880, 143360] %src2=[163840, 0, 20480, 40960] %dst1=[81920, 102400, 122880, 143360] %src1=[0, 20480, 40960, 61440]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @level0_equal_slots(%gm0: memref<10240xf16, #hivm.address_space<gm>>, %gm1: memref<10240xf16, #hivm.address_space<gm>>, %gm2: memref<10240xf16, #hivm.address_space<gm>>, %gm3: memref<10240xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %src1 = memref.alloc() : memref<10240xf16, #hivm.address_space<ub>>
      annotation.mark %src1 {hivm.multi_buffer = 4 : i32} : memref<10240xf16, #hivm.address_space<ub>>
      %dst1 = memref.alloc() : memref<10240xf16, #hivm.address_space<ub>>
      annotation.mark %dst1 {hivm.multi_buffer = 4 : i32} : memref<10240xf16, #hivm.address_space<ub>>
      %src2 = memref.alloc() : memref<10240xf16, #hivm.address_space<ub>>
      annotation.mark %src2 {hivm.multi_buffer = 4 : i32} : memref<10240xf16, #hivm.address_space<ub>>
      %dst2 = memref.alloc() : memref<10240xf16, #hivm.address_space<ub>>
      annotation.mark %dst2 {hivm.multi_buffer = 4 : i32} : memref<10240xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<10240xf16, #hivm.address_space<gm>>) outs(%src1 : memref<10240xf16, #hivm.address_space<ub>>)
      hivm.hir.vabs ins(%src1 : memref<10240xf16, #hivm.address_space<ub>>) outs(%dst1 : memref<10240xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%dst1 : memref<10240xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<10240xf16, #hivm.address_space<gm>>)
      hivm.hir.load ins(%gm2 : memref<10240xf16, #hivm.address_space<gm>>) outs(%src2 : memref<10240xf16, #hivm.address_space<ub>>)
      hivm.hir.vabs ins(%src2 : memref<10240xf16, #hivm.address_space<ub>>) outs(%dst2 : memref<10240xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%dst2 : memref<10240xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<10240xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// Two slots over four: widened where a whole buffer is free.
// run: plan-memory
// expect: %dst2=[81920, 102400, 122880, 143360] %src2=[163840, 0] %dst1=[81920, 102400, 122880, 143360] %src1=[0, 20480, 40960, 61440]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @level0_fewer_slots(%gm0: memref<10240xf16, #hivm.address_space<gm>>, %gm1: memref<10240xf16, #hivm.address_space<gm>>, %gm2: memref<10240xf16, #hivm.address_space<gm>>, %gm3: memref<10240xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %src1 = memref.alloc() : memref<10240xf16, #hivm.address_space<ub>>
      annotation.mark %src1 {hivm.multi_buffer = 4 : i32} : memref<10240xf16, #hivm.address_space<ub>>
      %dst1 = memref.alloc() : memref<10240xf16, #hivm.address_space<ub>>
      annotation.mark %dst1 {hivm.multi_buffer = 4 : i32} : memref<10240xf16, #hivm.address_space<ub>>
      %src2 = memref.alloc() : memref<10240xf16, #hivm.address_space<ub>>
      annotation.mark %src2 {hivm.multi_buffer = 2 : i32} : memref<10240xf16, #hivm.address_space<ub>>
      %dst2 = memref.alloc() : memref<10240xf16, #hivm.address_space<ub>>
      annotation.mark %dst2 {hivm.multi_buffer = 2 : i32} : memref<10240xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<10240xf16, #hivm.address_space<gm>>) outs(%src1 : memref<10240xf16, #hivm.address_space<ub>>)
      hivm.hir.vabs ins(%src1 : memref<10240xf16, #hivm.address_space<ub>>) outs(%dst1 : memref<10240xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%dst1 : memref<10240xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<10240xf16, #hivm.address_space<gm>>)
      hivm.hir.load ins(%gm2 : memref<10240xf16, #hivm.address_space<gm>>) outs(%src2 : memref<10240xf16, #hivm.address_space<ub>>)
      hivm.hir.vabs ins(%src2 : memref<10240xf16, #hivm.address_space<ub>>) outs(%dst2 : memref<10240xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%dst2 : memref<10240xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<10240xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// Written in the loop, allocated outside: alive all through it.
// run: plan-memory
// expect: %out=[0] %in=[8192]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @outside_the_loop(%gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<4096xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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

// memref.reshape is the same memory.
// run: plan-memory
// expect: %a=[0]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @reshape(%gm0: memref<16xf16, #hivm.address_space<gm>>, %shape: memref<2xi32>, %gm1: memref<4x4xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<16xf16, #hivm.address_space<gm>>) outs(%a : memref<16xf16, #hivm.address_space<ub>>)
    %v = memref.reshape %a(%shape) : (memref<16xf16, #hivm.address_space<ub>>, memref<2xi32>) -> memref<4x4xf16, #hivm.address_space<ub>>
    hivm.hir.store ins(%v : memref<4x4xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<4x4xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Loads and stores of single numbers.
// run: plan-memory
// expect: %a=[0] %b=[2048]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @numbers(%gm0: memref<512xf32, #hivm.address_space<gm>>, %gm1: memref<512xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %a0=[0] %a1=[32] %a2=[64] %a3=[96] %a4=[128]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @tiny_buffers(%gm0: memref<1xf32, #hivm.address_space<gm>>, %gm1: memref<1xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %a=[0] %b=[64] %c=[0]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @matrices(%t: i1, %gm0: memref<32xf16, #hivm.address_space<gm>>, %gm1: memref<32xf16, #hivm.address_space<gm>>, %gm2: memref<256xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: ub overflow, requires 2560000 bits while 1572864 bits available! (possible reason: tiling basic block is too large or block number is more than what user expect due to multi-buffer feature is enabled and some ops need extra local buffer.)
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @one_too_large(%gm0: memref<80000xf32, #hivm.address_space<gm>>, %gm1: memref<80000xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: ub overflow, requires 2379264 bits while 1572864 bits available! (possible reason: tiling basic block is too large or block number is more than what user expect due to multi-buffer feature is enabled and some ops need extra local buffer.)
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @two_too_large(%gm0: memref<74352xf16, #hivm.address_space<gm>>, %gm1: memref<148704xi8, #hivm.address_space<gm>>, %gm2: memref<148704xi8, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %a=[0] %b=[46080] %s=[0] %w=[92160] %p=[46080] %dead=[46080] %q=[46080]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @branches_share(%c: i1, %gm0: memref<23040xf16, #hivm.address_space<gm>>, %gm1: memref<23040xf16, #hivm.address_space<gm>>, %gm2: memref<23040xf32, #hivm.address_space<gm>>, %gm3: memref<23040xf16, #hivm.address_space<gm>>, %gm4: memref<23040xf32, #hivm.address_space<gm>>, %gm5: memref<23040xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<23040xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<23040xf16, #hivm.address_space<gm>>) outs(%a : memref<23040xf16, #hivm.address_space<ub>>)
    %b = memref.alloc() : memref<23040xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<23040xf16, #hivm.address_space<gm>>) outs(%b : memref<23040xf16, #hivm.address_space<ub>>)
    %s = memref.alloc() : memref<23040xf16, #hivm.address_space<ub>>
    hivm.hir.vadd ins(%a, %b : memref<23040xf16, #hivm.address_space<ub>>, memref<23040xf16, #hivm.address_space<ub>>) outs(%s : memref<23040xf16, #hivm.address_space<ub>>)
    scf.if %c {
      %w = memref.alloc() : memref<23040xf32, #hivm.address_space<ub>>
      hivm.hir.vcast ins(%s : memref<23040xf16, #hivm.address_space<ub>>) outs(%w : memref<23040xf32, #hivm.address_space<ub>>)
      hivm.hir.store ins(%w : memref<23040xf32, #hivm.address_space<ub>>) outs(%gm2 : memref<23040xf32, #hivm.address_space<gm>>)
    } else {
      %p = memref.alloc() : memref<23040xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm3 : memref<23040xf16, #hivm.address_space<gm>>) outs(%p : memref<23040xf16, #hivm.address_space<ub>>)
      %dead = memref.alloc() : memref<23040xf16, #hivm.address_space<ub>>
      hivm.hir.vcast ins(%p : memref<23040xf16, #hivm.address_space<ub>>) outs(%dead : memref<23040xf16, #hivm.address_space<ub>>)
      %q = memref.alloc() : memref<23040xf32, #hivm.address_space<ub>>
      hivm.hir.vcast ins(%s : memref<23040xf16, #hivm.address_space<ub>>) outs(%q : memref<23040xf32, #hivm.address_space<ub>>)
      hivm.hir.store ins(%q : memref<23040xf32, #hivm.address_space<ub>>) outs(%gm4 : memref<23040xf32, #hivm.address_space<gm>>)
    }
    hivm.hir.store ins(%s : memref<23040xf16, #hivm.address_space<ub>>) outs(%gm5 : memref<23040xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Only ever read: refused, as the original does.
// run: plan-memory
// expect: 'memref.alloc' op error: read before first write
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @never_written(%gm0: memref<10xf16, #hivm.address_space<gm>>, %gm1: memref<10xf16, #hivm.address_space<gm>>, %gm2: memref<20xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<20xf16, #hivm.address_space<ub>>
    %b = memref.alloc() : memref<10xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<10xf16, #hivm.address_space<gm>>) outs(%b : memref<10xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%b : memref<10xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<10xf16, #hivm.address_space<gm>>)
    hivm.hir.store ins(%a : memref<20xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<20xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Only the operand of the result's shape is a donor.
// run: plan-memory
// expect: %l=[0] %r=[32768] %o=[0] %t=[33024]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @sub_broadcast(%gm0: memref<128x128xf16, #hivm.address_space<gm>>, %gm1: memref<128x1xf16, #hivm.address_space<gm>>, %gm2: memref<128x128xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %l=[0] %r=[256] %o=[256] %t=[33024]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @sub_broadcast_second(%gm0: memref<128x1xf16, #hivm.address_space<gm>>, %gm1: memref<128x128xf16, #hivm.address_space<gm>>, %gm2: memref<128x128xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %l=[0] %r=[32768] %o=[0] %t=[33280]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @sub_broadcast_rows(%gm0: memref<64x256xf16, #hivm.address_space<gm>>, %gm1: memref<1x256xf16, #hivm.address_space<gm>>, %gm2: memref<64x256xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %l=[0] %r=[512] %o=[0] %t=[544]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @add_broadcast(%gm0: memref<128xf32, #hivm.address_space<gm>>, %gm1: memref<1xf32, #hivm.address_space<gm>>, %gm2: memref<128xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %l=[0] %r=[131072] %o=[0] %t=[133120]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @mul_broadcast_middle(%gm0: memref<16x64x64xf16, #hivm.address_space<gm>>, %gm1: memref<16x1x64xf16, #hivm.address_space<gm>>, %gm2: memref<16x64x64xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %l=[0] %r=[32768] %o=[0] %t=[33024]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @max_broadcast(%gm0: memref<128x128xf16, #hivm.address_space<gm>>, %gm1: memref<128x1xf16, #hivm.address_space<gm>>, %gm2: memref<128x128xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %l=[0] %r=[32768] %o=[0] %t=[33024]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @div_broadcast(%gm0: memref<128x128xf16, #hivm.address_space<gm>>, %gm1: memref<128x1xf16, #hivm.address_space<gm>>, %gm2: memref<128x128xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %a=[0] %o=[0] %t=[32768]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @div_by_number(%x: f16, %gm0: memref<16384xf16, #hivm.address_space<gm>>, %gm1: memref<16384xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %a=[0] %o=[0] %t=[64]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @div_by_number_small(%x: f16, %gm0: memref<32xf16, #hivm.address_space<gm>>, %gm1: memref<32xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %l=[0] %r=[1024] %o=[2048] %t=[67584]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @both_broadcast(%gm0: memref<1x512xf16, #hivm.address_space<gm>>, %gm1: memref<512x1xf16, #hivm.address_space<gm>>, %gm2: memref<512x64xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %l=[0] %r=[512] %o=[0] %t=[1024]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @dynamic_same(%n: index, %m: index, %gm0: memref<?xf16, strided<[1]>, #hivm.address_space<gm>>, %gm1: memref<?xf16, strided<[1]>, #hivm.address_space<gm>>, %gm2: memref<?xf16, strided<[1]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %l=[0] %r=[8192] %o=[0] %t=[16384]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @dynamic_same_2d(%n: index, %m: index, %gm0: memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>, %gm1: memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>, %gm2: memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %l=[0] %r=[512] %o=[512] %t=[8704]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @dynamic_one_fits(%n: index, %m: index, %gm0: memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>, %gm1: memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>, %gm2: memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %l=[0] %r=[512] %o=[1024] %t=[9216]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @dynamic_none_fits(%n: index, %m: index, %gm0: memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>, %gm1: memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>, %gm2: memref<?x?xf16, strided<[64, 1]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
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

// What a loop carries stays one buffer although selects choose among others.
// run: plan-memory
// expect: %x=[0] %y=[128] %init=[256] %next=[256]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @select_beside_a_loop(%c: i1, %gm0: memref<64xf16, #hivm.address_space<gm>>, %gm1: memref<64xf16, #hivm.address_space<gm>>, %gm2: memref<64xf16, #hivm.address_space<gm>>, %gm3: memref<64xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %x = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<64xf16, #hivm.address_space<gm>>) outs(%x : memref<64xf16, #hivm.address_space<ub>>)
    %y = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<64xf16, #hivm.address_space<gm>>) outs(%y : memref<64xf16, #hivm.address_space<ub>>)
    %sel = arith.select %c, %x, %y : memref<64xf16, #hivm.address_space<ub>>
    %init = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm2 : memref<64xf16, #hivm.address_space<gm>>) outs(%init : memref<64xf16, #hivm.address_space<ub>>)
    %res = scf.for %i = %c0 to %c8 step %c1 iter_args(%acc = %init) -> (memref<64xf16, #hivm.address_space<ub>>) {
      %next = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
      hivm.hir.vadd ins(%acc, %sel : memref<64xf16, #hivm.address_space<ub>>, memref<64xf16, #hivm.address_space<ub>>) outs(%next : memref<64xf16, #hivm.address_space<ub>>)
      scf.yield %next : memref<64xf16, #hivm.address_space<ub>>
    }
    hivm.hir.store ins(%res : memref<64xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<64xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Allocated outside, written in the body: alive all through the loop.
// run: plan-memory
// expect: %a=[0] %b=[64]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @while_loop(%n: index, %gm0: memref<32xf16, #hivm.address_space<gm>>, %gm1: memref<32xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %a = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
    %b = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
    %last = scf.while (%i = %c0) : (index) -> index {
      %more = arith.cmpi slt, %i, %n : index
      scf.condition(%more) %i : index
    } do {
      ^bb0(%j: index):
      hivm.hir.load ins(%gm0 : memref<32xf16, #hivm.address_space<gm>>) outs(%b : memref<32xf16, #hivm.address_space<ub>>)
      hivm.hir.vabs ins(%b : memref<32xf16, #hivm.address_space<ub>>) outs(%a : memref<32xf16, #hivm.address_space<ub>>)
      %next = arith.addi %j, %c1 : index
      scf.yield %next : index
    }
    hivm.hir.store ins(%a : memref<32xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<32xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// The initial value and the yielded one are one buffer.
// run: plan-memory
// expect: %a=[0] %t=[0]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @while_carries(%n: index, %gm0: memref<32xf16, #hivm.address_space<gm>>, %gm1: memref<32xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %a = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<32xf16, #hivm.address_space<gm>>) outs(%a : memref<32xf16, #hivm.address_space<ub>>)
    %r:2 = scf.while (%i = %c0, %x = %a) : (index, memref<32xf16, #hivm.address_space<ub>>) -> (index, memref<32xf16, #hivm.address_space<ub>>) {
      %more = arith.cmpi slt, %i, %n : index
      scf.condition(%more) %i, %x : index, memref<32xf16, #hivm.address_space<ub>>
    } do {
      ^bb0(%j: index, %y: memref<32xf16, #hivm.address_space<ub>>):
      %t = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
      hivm.hir.vadd ins(%y, %y : memref<32xf16, #hivm.address_space<ub>>, memref<32xf16, #hivm.address_space<ub>>) outs(%t : memref<32xf16, #hivm.address_space<ub>>)
      %next = arith.addi %j, %c1 : index
      scf.yield %next, %t : index, memref<32xf16, #hivm.address_space<ub>>
    }
    hivm.hir.store ins(%r#1 : memref<32xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<32xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// ... with the work in the first region.
// run: plan-memory
// expect: %a=[0] %t=[0]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @do_while_carries(%n: index, %gm0: memref<32xf16, #hivm.address_space<gm>>, %gm1: memref<32xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %a = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<32xf16, #hivm.address_space<gm>>) outs(%a : memref<32xf16, #hivm.address_space<ub>>)
    %r:2 = scf.while (%i = %c0, %x = %a) : (index, memref<32xf16, #hivm.address_space<ub>>) -> (index, memref<32xf16, #hivm.address_space<ub>>) {
      %more = arith.cmpi slt, %i, %n : index
      %t = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
      hivm.hir.vadd ins(%x, %x : memref<32xf16, #hivm.address_space<ub>>, memref<32xf16, #hivm.address_space<ub>>) outs(%t : memref<32xf16, #hivm.address_space<ub>>)
      scf.condition(%more) %i, %t : index, memref<32xf16, #hivm.address_space<ub>>
    } do {
      ^bb0(%j: index, %y: memref<32xf16, #hivm.address_space<ub>>):
      %next = arith.addi %j, %c1 : index
      scf.yield %next, %y : index, memref<32xf16, #hivm.address_space<ub>>
    }
    hivm.hir.store ins(%r#1 : memref<32xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<32xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// The marked cast moves to the front of the after region.
// run: plan-memory
// expect: %t=[0, 32]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @cast_to_after_region(%n: index, %gm0: memref<16xf16, #hivm.address_space<gm>>, %gm1: memref<16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %t=[0, 32]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @cast_to_before_region(%n: index, %gm0: memref<16xf16, #hivm.address_space<gm>>, %gm1: memref<16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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

// Block arguments are one buffer or the other; addresses across blocks.
// run: plan-memory
// expect: %a=[0] %b=[32] %l=[0] %r=[32] %o=[64]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @blocks(%c: i1, %gm0: memref<16xf16, #hivm.address_space<gm>>, %gm1: memref<16xf16, #hivm.address_space<gm>>, %gm2: memref<16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<16xf16, #hivm.address_space<gm>>) outs(%a : memref<16xf16, #hivm.address_space<ub>>)
    %b = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<16xf16, #hivm.address_space<gm>>) outs(%b : memref<16xf16, #hivm.address_space<ub>>)
    cf.cond_br %c, ^left, ^right
    ^left:
    %l = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
    hivm.hir.vabs ins(%a : memref<16xf16, #hivm.address_space<ub>>) outs(%l : memref<16xf16, #hivm.address_space<ub>>)
    cf.br ^join(%l : memref<16xf16, #hivm.address_space<ub>>)
    ^right:
    %r = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
    hivm.hir.vabs ins(%b : memref<16xf16, #hivm.address_space<ub>>) outs(%r : memref<16xf16, #hivm.address_space<ub>>)
    cf.br ^join(%r : memref<16xf16, #hivm.address_space<ub>>)
    ^join(%m: memref<16xf16, #hivm.address_space<ub>>):
    %o = memref.alloc() : memref<16xf16, #hivm.address_space<ub>>
    hivm.hir.vabs ins(%m : memref<16xf16, #hivm.address_space<ub>>) outs(%o : memref<16xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%o : memref<16xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<16xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// A 64-bit select does not overwrite its condition.
// run: plan-memory
// expect: %x=[0] %y=[128] %m=[256] %o=[0]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @select_i64(%gm0: memref<16xi64, #hivm.address_space<gm>>, %gm1: memref<16xi64, #hivm.address_space<gm>>, %gm2: memref<16xi1, #hivm.address_space<gm>>, %gm3: memref<16xi64, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %m=[0] %o=[256]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @select_i64_condition_only(%z: i64, %gm0: memref<2048xi1, #hivm.address_space<gm>>, %gm1: memref<16xi64, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %m=[0] %o=[0]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @select_i32_condition(%z: i32, %gm0: memref<2048xi1, #hivm.address_space<gm>>, %gm1: memref<16xi32, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: %a=[0] %o=[8192]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @different_offsets(%gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<1024xf16, strided<[1]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
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
// run: plan-memory
// expect: ub overflow, requires 1835008 bits while 1572864 bits available! (possible reason: tiling basic block is too large or block number is more than what user expect due to multi-buffer feature is enabled and some ops need extra local buffer.)
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @preload_too_large(%gm0: memref<16384xf16, #hivm.address_space<gm>>, %gm1: memref<24576xf16, #hivm.address_space<gm>>, %gm2: memref<24576xf16, #hivm.address_space<gm>>, %gm3: memref<24576xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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

// Two loops, each with its preloaded buffer: lives of their own.
// run: plan-memory
// expect: %buf0=[0, 81920] %buf1=[0, 81920]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @preload_per_loop(%gm0: memref<40960xf16, #hivm.address_space<gm>>, %gm1: memref<40960xf16, #hivm.address_space<gm>>, %gm2: memref<40960xf16, #hivm.address_space<gm>>, %gm3: memref<40960xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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

// L0C with double buffers: slots of two buffers that meet are apart.
// run: plan-memory
// expect: %a=[0] %b=[32768] %c3x=[0, 32768] %c2x=[0, 32768] %c1x=[65536, 98304] %c0x=[0, 32768]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @reuse_of_l0c(%t: i1, %gm0: memref<16384xf16, #hivm.address_space<gm>>, %gm1: memref<16384xf16, #hivm.address_space<gm>>, %gm2: memref<8192xf32, #hivm.address_space<gm>>, %gm3: memref<8192xf32, #hivm.address_space<gm>>, %gm4: memref<8192xf32, #hivm.address_space<gm>>, %gm5: memref<8192xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %a = memref.alloc() : memref<16384xf16, #hivm.address_space<cbuf>>
    hivm.hir.nd2nz ins(%gm0 : memref<16384xf16, #hivm.address_space<gm>>) outs(%a : memref<16384xf16, #hivm.address_space<cbuf>>)
    %b = memref.alloc() : memref<16384xf16, #hivm.address_space<cbuf>>
    hivm.hir.nd2nz ins(%gm1 : memref<16384xf16, #hivm.address_space<gm>>) outs(%b : memref<16384xf16, #hivm.address_space<cbuf>>)
    scf.for %i = %c0 to %c8 step %c1 {
      %c0x = memref.alloc() : memref<8192xf32, #hivm.address_space<cc>>
      annotation.mark %c0x {hivm.multi_buffer = 2 : i32} : memref<8192xf32, #hivm.address_space<cc>>
      hivm.hir.mmadL1 ins(%a, %b, %t, %c1, %c1, %c1 : memref<16384xf16, #hivm.address_space<cbuf>>, memref<16384xf16, #hivm.address_space<cbuf>>, i1, index, index, index) outs(%c0x : memref<8192xf32, #hivm.address_space<cc>>)
      hivm.hir.fixpipe ins(%c0x : memref<8192xf32, #hivm.address_space<cc>>) outs(%gm2 : memref<8192xf32, #hivm.address_space<gm>>)
      %c1x = memref.alloc() : memref<8192xf32, #hivm.address_space<cc>>
      annotation.mark %c1x {hivm.multi_buffer = 2 : i32} : memref<8192xf32, #hivm.address_space<cc>>
      hivm.hir.mmadL1 ins(%a, %b, %t, %c1, %c1, %c1 : memref<16384xf16, #hivm.address_space<cbuf>>, memref<16384xf16, #hivm.address_space<cbuf>>, i1, index, index, index) outs(%c1x : memref<8192xf32, #hivm.address_space<cc>>)
      hivm.hir.fixpipe ins(%c1x : memref<8192xf32, #hivm.address_space<cc>>) outs(%gm3 : memref<8192xf32, #hivm.address_space<gm>>)
      %c2x = memref.alloc() : memref<8192xf32, #hivm.address_space<cc>>
      annotation.mark %c2x {hivm.multi_buffer = 2 : i32} : memref<8192xf32, #hivm.address_space<cc>>
      hivm.hir.mmadL1 ins(%a, %b, %t, %c1, %c1, %c1 : memref<16384xf16, #hivm.address_space<cbuf>>, memref<16384xf16, #hivm.address_space<cbuf>>, i1, index, index, index) outs(%c2x : memref<8192xf32, #hivm.address_space<cc>>)
      hivm.hir.fixpipe ins(%c2x : memref<8192xf32, #hivm.address_space<cc>>) outs(%gm4 : memref<8192xf32, #hivm.address_space<gm>>)
      %c3x = memref.alloc() : memref<8192xf32, #hivm.address_space<cc>>
      annotation.mark %c3x {hivm.multi_buffer = 2 : i32} : memref<8192xf32, #hivm.address_space<cc>>
      hivm.hir.mmadL1 ins(%a, %b, %t, %c1, %c1, %c1 : memref<16384xf16, #hivm.address_space<cbuf>>, memref<16384xf16, #hivm.address_space<cbuf>>, i1, index, index, index) outs(%c3x : memref<8192xf32, #hivm.address_space<cc>>)
      hivm.hir.fixpipe ins(%c3x : memref<8192xf32, #hivm.address_space<cc>>) outs(%gm5 : memref<8192xf32, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// Two DMA buffers on one address: a warning.
// run: plan-memory
// expect: %a=[0] %b=[0]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @dma_buffers_share(%gm0: memref<65536xf16, #hivm.address_space<gm>>, %gm1: memref<65536xf16, #hivm.address_space<gm>>, %gm2: memref<65536xf16, #hivm.address_space<gm>>, %gm3: memref<65536xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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

// MIX leaves 216 KiB; SIMD all 248.
// run: plan-memory
// expect: ub overflow, requires 1966080 bits while 1769472 bits available! (possible reason: tiling basic block is too large or block number is more than what user expect due to multi-buffer feature is enabled and some ops need extra local buffer.)
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @mix_mode(%gm0: memref<61440xf16, #hivm.address_space<gm>>, %gm1: memref<61440xf16, #hivm.address_space<gm>>, %gm2: memref<61440xf16, #hivm.address_space<gm>>, %gm3: memref<61440xf16, #hivm.address_space<gm>>) attributes {hivm.vf_mode = #hivm.vf_mode<MIX>} {
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
// run: plan-memory
// expect: %a=[0] %b=[122880]
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @simd_mode(%gm0: memref<61440xf16, #hivm.address_space<gm>>, %gm1: memref<61440xf16, #hivm.address_space<gm>>, %gm2: memref<61440xf16, #hivm.address_space<gm>>, %gm3: memref<61440xf16, #hivm.address_space<gm>>) attributes {hivm.vf_mode = #hivm.vf_mode<SIMD>} {
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

// mem_unique: not even the other branch's buffer.
// run: plan-memory
// expect: %a=[0] %t=[8192] %u=[16384]
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @unique_branch(%c: i1, %gm0: memref<4096xf16, #hivm.address_space<gm>>, %gm1: memref<4096xf16, #hivm.address_space<gm>>, %gm2: memref<4096xf16, #hivm.address_space<gm>>, %gm3: memref<4096xf16, #hivm.address_space<gm>>, %gm4: memref<4096xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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

// mem_unique: no reuse over time, and so too much.
// run: plan-memory
// expect: ub overflow, requires 2097152 bits while 2031616 bits available! (possible reason: tiling basic block is too large or block number is more than what user expect due to multi-buffer feature is enabled and some ops need extra local buffer.)
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @unique_in_time(%gm0: memref<65536xf16, #hivm.address_space<gm>>, %gm1: memref<65536xf16, #hivm.address_space<gm>>, %gm2: memref<65536xf16, #hivm.address_space<gm>>, %gm3: memref<65536xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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

// mem_unique with two slots, outside of any loop.
// run: plan-memory
// expect: %a=[0, 131072] %b=[65536]
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @unique_multi_buffer(%gm0: memref<32768xf16, #hivm.address_space<gm>>, %gm1: memref<32768xf16, #hivm.address_space<gm>>, %gm2: memref<32768xf16, #hivm.address_space<gm>>, %gm3: memref<32768xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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

// Slots of one buffer at different levels; placements are taken back twice.
// run: plan-memory{profile=regbase}
// expect: %in=[0, 55456] %m0=[0, 55456] %m1=[115200] %out=[0, 57600]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @rollback(%gm0: memref<27728xf16, #hivm.address_space<gm>>, %gm1: memref<28800xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
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

// Vector buffers share; the default order.
// run: plan-memory
// expect: %a=[0] %b=[16384] %c=[147456] %d=[147456]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @order_of_placement(%z: f16) attributes {hacc.entry} {
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

// The largest first.
// run: plan-memory{plan-memory-strategy=largest-first}
// expect: %a=[131072] %b=[0] %c=[131072] %d=[131072]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @order_largest_first(%z: f16) attributes {hacc.entry} {
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

// A vector function that reads each input once and writes its result once: in place.
// run: plan-memory
// expect: %a=[0] %b=[256] %o=[0]
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @add_vf(%a: memref<64xf32, #hivm.address_space<ub>>, %b: memref<64xf32, #hivm.address_space<ub>>, %o: memref<64xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %pad = arith.constant 0.000000e+00 : f32
    %padh = arith.constant 0.000000e+00 : f16
    %x = vector.transfer_read %a[%c0], %pad {in_bounds = [true]} : memref<64xf32, #hivm.address_space<ub>>, vector<64xf32>
    %y = vector.transfer_read %b[%c0], %pad {in_bounds = [true]} : memref<64xf32, #hivm.address_space<ub>>, vector<64xf32>
    %s = arith.addf %x, %y : vector<64xf32>
    vector.transfer_write %s, %o[%c0] {in_bounds = [true]} : vector<64xf32>, memref<64xf32, #hivm.address_space<ub>>
    return
  }
  func.func @vf_add() attributes {hacc.entry} {
    %a = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
    %b = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
    %o = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
    func.call @add_vf(%a, %b, %o) {hivm.vector_function, no_inline} : (memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>) -> ()
    return
  }
}

// -----

// Row by row through equal slices, into a narrower type: in place.
// run: plan-memory
// expect: %a=[0] %o=[0]
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @rows_vf(%a: memref<64x64xf32, #hivm.address_space<ub>>, %o: memref<64x64xf16, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %pad = arith.constant 0.000000e+00 : f32
    %padh = arith.constant 0.000000e+00 : f16
    scf.for %i = %c0 to %c64 step %c1 {
      %p = memref.subview %a[%i, 0] [1, 64] [1, 1] : memref<64x64xf32, #hivm.address_space<ub>> to memref<1x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<ub>>
      %q = memref.subview %o[%i, 0] [1, 64] [1, 1] : memref<64x64xf16, #hivm.address_space<ub>> to memref<1x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<ub>>
      %x = vector.transfer_read %p[%c0, %c0], %pad {in_bounds = [true, true]} : memref<1x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<ub>>, vector<1x64xf32>
      %y = arith.truncf %x : vector<1x64xf32> to vector<1x64xf16>
      vector.transfer_write %y, %q[%c0, %c0] {in_bounds = [true, true]} : vector<1x64xf16>, memref<1x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<ub>>
    }
    return
  }
  func.func @vf_rows_narrower() attributes {hacc.entry} {
    %a = memref.alloc() : memref<64x64xf32, #hivm.address_space<ub>>
    %o = memref.alloc() : memref<64x64xf16, #hivm.address_space<ub>>
    func.call @rows_vf(%a, %o) {hivm.vector_function, no_inline} : (memref<64x64xf32, #hivm.address_space<ub>>, memref<64x64xf16, #hivm.address_space<ub>>) -> ()
    return
  }
}

// -----

// Into a wider type: refused, although the donor is large enough.
// run: plan-memory
// expect: %a=[0] %o=[8192]
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @rows_vf(%a: memref<64x64xf16, #hivm.address_space<ub>>, %o: memref<64x64xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %pad = arith.constant 0.000000e+00 : f32
    %padh = arith.constant 0.000000e+00 : f16
    scf.for %i = %c0 to %c64 step %c1 {
      %p = memref.subview %a[%i, 0] [1, 64] [1, 1] : memref<64x64xf16, #hivm.address_space<ub>> to memref<1x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<ub>>
      %q = memref.subview %o[%i, 0] [1, 64] [1, 1] : memref<64x64xf32, #hivm.address_space<ub>> to memref<1x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<ub>>
      %x = vector.transfer_read %p[%c0, %c0], %padh {in_bounds = [true, true]} : memref<1x64xf16, strided<[64, 1], offset: ?>, #hivm.address_space<ub>>, vector<1x64xf16>
      %y = arith.extf %x : vector<1x64xf16> to vector<1x64xf32>
      vector.transfer_write %y, %q[%c0, %c0] {in_bounds = [true, true]} : vector<1x64xf32>, memref<1x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<ub>>
    }
    return
  }
  func.func @vf_rows_wider() attributes {hacc.entry} {
    %a = memref.alloc() : memref<64x64xf16, #hivm.address_space<ub>>
    %o = memref.alloc() : memref<64x64xf32, #hivm.address_space<ub>>
    func.call @rows_vf(%a, %o) {hivm.vector_function, no_inline} : (memref<64x64xf16, #hivm.address_space<ub>>, memref<64x64xf32, #hivm.address_space<ub>>) -> ()
    return
  }
}

// -----

// Reads rows and writes columns: refused.
// run: plan-memory
// expect: %a=[0] %o=[16384]
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @turn_vf(%a: memref<64x64xf32, #hivm.address_space<ub>>, %o: memref<64x64xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %pad = arith.constant 0.000000e+00 : f32
    %padh = arith.constant 0.000000e+00 : f16
    scf.for %i = %c0 to %c64 step %c1 {
      %p = memref.subview %a[%i, 0] [1, 64] [1, 1] : memref<64x64xf32, #hivm.address_space<ub>> to memref<1x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<ub>>
      %q = memref.subview %o[0, %i] [64, 1] [1, 1] : memref<64x64xf32, #hivm.address_space<ub>> to memref<64x1xf32, strided<[64, 1], offset: ?>, #hivm.address_space<ub>>
      %x = vector.transfer_read %p[%c0, %c0], %pad {in_bounds = [true, true]} : memref<1x64xf32, strided<[64, 1], offset: ?>, #hivm.address_space<ub>>, vector<1x64xf32>
      %y = vector.shape_cast %x : vector<1x64xf32> to vector<64x1xf32>
      vector.transfer_write %y, %q[%c0, %c0] {in_bounds = [true, true]} : vector<64x1xf32>, memref<64x1xf32, strided<[64, 1], offset: ?>, #hivm.address_space<ub>>
    }
    return
  }
  func.func @vf_transposes() attributes {hacc.entry} {
    %a = memref.alloc() : memref<64x64xf32, #hivm.address_space<ub>>
    %o = memref.alloc() : memref<64x64xf32, #hivm.address_space<ub>>
    func.call @turn_vf(%a, %o) {hivm.vector_function, no_inline} : (memref<64x64xf32, #hivm.address_space<ub>>, memref<64x64xf32, #hivm.address_space<ub>>) -> ()
    return
  }
}

// -----

// An input that is read twice is no donor.
// run: plan-memory
// expect: %a=[0] %o=[256]
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @twice_vf(%a: memref<64xf32, #hivm.address_space<ub>>, %o: memref<64xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %pad = arith.constant 0.000000e+00 : f32
    %padh = arith.constant 0.000000e+00 : f16
    %x = vector.transfer_read %a[%c0], %pad {in_bounds = [true]} : memref<64xf32, #hivm.address_space<ub>>, vector<64xf32>
    %y = vector.transfer_read %a[%c0], %pad {in_bounds = [true]} : memref<64xf32, #hivm.address_space<ub>>, vector<64xf32>
    %s = arith.addf %x, %y : vector<64xf32>
    vector.transfer_write %s, %o[%c0] {in_bounds = [true]} : vector<64xf32>, memref<64xf32, #hivm.address_space<ub>>
    return
  }
  func.func @vf_reads_twice() attributes {hacc.entry} {
    %a = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
    %o = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
    func.call @twice_vf(%a, %o) {hivm.vector_function, no_inline} : (memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>) -> ()
    return
  }
}

// -----

// Two operands that are one buffer: no donors.
// run: plan-memory
// expect: %a=[0] %o=[256]
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @add_vf(%a: memref<64xf32, #hivm.address_space<ub>>, %b: memref<64xf32, #hivm.address_space<ub>>, %o: memref<64xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %pad = arith.constant 0.000000e+00 : f32
    %padh = arith.constant 0.000000e+00 : f16
    %x = vector.transfer_read %a[%c0], %pad {in_bounds = [true]} : memref<64xf32, #hivm.address_space<ub>>, vector<64xf32>
    %y = vector.transfer_read %b[%c0], %pad {in_bounds = [true]} : memref<64xf32, #hivm.address_space<ub>>, vector<64xf32>
    %s = arith.addf %x, %y : vector<64xf32>
    vector.transfer_write %s, %o[%c0] {in_bounds = [true]} : vector<64xf32>, memref<64xf32, #hivm.address_space<ub>>
    return
  }
  func.func @vf_same_argument() attributes {hacc.entry} {
    %a = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
    %o = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
    func.call @add_vf(%a, %a, %o) {hivm.vector_function, no_inline} : (memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>) -> ()
    return
  }
}

// -----

// Without a loop, from load to store in one buffer.
// run: plan-memory
// expect: %load=[0] %mid=[0] %store=[0]
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @neg_vf(%a: memref<64xf32, #hivm.address_space<ub>>, %o: memref<64xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %pad = arith.constant 0.000000e+00 : f32
    %padh = arith.constant 0.000000e+00 : f16
    %x = vector.transfer_read %a[%c0], %pad {in_bounds = [true]} : memref<64xf32, #hivm.address_space<ub>>, vector<64xf32>
    %s = arith.negf %x : vector<64xf32>
    vector.transfer_write %s, %o[%c0] {in_bounds = [true]} : vector<64xf32>, memref<64xf32, #hivm.address_space<ub>>
    return
  }
  func.func @vf_chain(%gm0: memref<64xf32, #hivm.address_space<gm>>, %gm1: memref<64xf32, #hivm.address_space<gm>>) attributes {hivm.func_core_type = #hivm.func_core_type<AIV>} {
    %load = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
    %mid = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
    %store = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<64xf32, #hivm.address_space<gm>>) outs(%load : memref<64xf32, #hivm.address_space<ub>>)
    func.call @neg_vf(%load, %mid) {hivm.vector_function, no_inline} : (memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>) -> ()
    func.call @neg_vf(%mid, %store) {hivm.vector_function, no_inline} : (memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>) -> ()
    hivm.hir.store ins(%store : memref<64xf32, #hivm.address_space<ub>>) outs(%gm1 : memref<64xf32, #hivm.address_space<gm>>)
    return
  }
}

// -----

// In a loop the store's buffer stays apart from the load's.
// run: plan-memory
// expect: %load=[0] %mid=[0] %store=[256]
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @neg_vf(%a: memref<64xf32, #hivm.address_space<ub>>, %o: memref<64xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %pad = arith.constant 0.000000e+00 : f32
    %padh = arith.constant 0.000000e+00 : f16
    %x = vector.transfer_read %a[%c0], %pad {in_bounds = [true]} : memref<64xf32, #hivm.address_space<ub>>, vector<64xf32>
    %s = arith.negf %x : vector<64xf32>
    vector.transfer_write %s, %o[%c0] {in_bounds = [true]} : vector<64xf32>, memref<64xf32, #hivm.address_space<ub>>
    return
  }
  func.func @vf_chain_in_a_loop(%gm0: memref<64xf32, #hivm.address_space<gm>>, %gm1: memref<64xf32, #hivm.address_space<gm>>) attributes {hivm.func_core_type = #hivm.func_core_type<AIV>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %load = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
      %mid = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
      %store = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<64xf32, #hivm.address_space<gm>>) outs(%load : memref<64xf32, #hivm.address_space<ub>>)
      func.call @neg_vf(%load, %mid) {hivm.vector_function, no_inline} : (memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>) -> ()
      func.call @neg_vf(%mid, %store) {hivm.vector_function, no_inline} : (memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>) -> ()
      hivm.hir.store ins(%store : memref<64xf32, #hivm.address_space<ub>>) outs(%gm1 : memref<64xf32, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// ... unless told otherwise.
// run: plan-memory{disable-vf-reachable-check=true}
// expect: %load=[0] %mid=[0] %store=[0]
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @neg_vf(%a: memref<64xf32, #hivm.address_space<ub>>, %o: memref<64xf32, #hivm.address_space<ub>>) attributes {hivm.vector_function, no_inline} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %pad = arith.constant 0.000000e+00 : f32
    %padh = arith.constant 0.000000e+00 : f16
    %x = vector.transfer_read %a[%c0], %pad {in_bounds = [true]} : memref<64xf32, #hivm.address_space<ub>>, vector<64xf32>
    %s = arith.negf %x : vector<64xf32>
    vector.transfer_write %s, %o[%c0] {in_bounds = [true]} : vector<64xf32>, memref<64xf32, #hivm.address_space<ub>>
    return
  }
  func.func @vf_chain_in_a_loop_unchecked(%gm0: memref<64xf32, #hivm.address_space<gm>>, %gm1: memref<64xf32, #hivm.address_space<gm>>) attributes {hivm.func_core_type = #hivm.func_core_type<AIV>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %load = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
      %mid = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
      %store = memref.alloc() : memref<64xf32, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<64xf32, #hivm.address_space<gm>>) outs(%load : memref<64xf32, #hivm.address_space<ub>>)
      func.call @neg_vf(%load, %mid) {hivm.vector_function, no_inline} : (memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>) -> ()
      func.call @neg_vf(%mid, %store) {hivm.vector_function, no_inline} : (memref<64xf32, #hivm.address_space<ub>>, memref<64xf32, #hivm.address_space<ub>>) -> ()
      hivm.hir.store ins(%store : memref<64xf32, #hivm.address_space<ub>>) outs(%gm1 : memref<64xf32, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// Both cores see a coupled buffer at its owner's address: UB belongs to the vector core, L1 to the cube core.
// run: plan-memory
// expect: %acc=[0] %ub=[512] %l1=[0] %a=[0] %ub=[512] %l1=[0]
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @cube_side(%gm0: memref<128xf32, #hivm.address_space<gm>>, %gm1: memref<128xf32, #hivm.address_space<gm>>) attributes {hivm.func_core_type = #hivm.func_core_type<AIC>} {
    %acc = memref.alloc() : memref<128xf32, #hivm.address_space<cc>>
    hivm.hir.load ins(%gm0 : memref<128xf32, #hivm.address_space<gm>>) outs(%acc : memref<128xf32, #hivm.address_space<cc>>)
    %ub = memref.alloc() : memref<128xf32, #hivm.address_space<ub>>
    annotation.mark %ub {hivm.tightly_coupled_buffer = #hivm.tightly_coupled_buffer<4>} : memref<128xf32, #hivm.address_space<ub>>
    hivm.hir.fixpipe {l0c_to_ub} ins(%acc : memref<128xf32, #hivm.address_space<cc>>) outs(%ub : memref<128xf32, #hivm.address_space<ub>>)
    %l1 = memref.alloc() : memref<128xf32, #hivm.address_space<cbuf>>
    annotation.mark %l1 {hivm.tightly_coupled_buffer = #hivm.tightly_coupled_buffer<2>} : memref<128xf32, #hivm.address_space<cbuf>>
    hivm.hir.store ins(%l1 : memref<128xf32, #hivm.address_space<cbuf>>) outs(%gm1 : memref<128xf32, #hivm.address_space<gm>>)
    return
  }
  func.func @vector_side(%gm0: memref<128xf32, #hivm.address_space<gm>>, %gm1: memref<128xf32, #hivm.address_space<gm>>) attributes {hivm.func_core_type = #hivm.func_core_type<AIV>} {
    %a = memref.alloc() : memref<128xf32, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<128xf32, #hivm.address_space<gm>>) outs(%a : memref<128xf32, #hivm.address_space<ub>>)
    %ub = memref.alloc() : memref<128xf32, #hivm.address_space<ub>>
    annotation.mark %ub {hivm.tightly_coupled_buffer = #hivm.tightly_coupled_buffer<4>} : memref<128xf32, #hivm.address_space<ub>>
    %l1 = memref.alloc() : memref<128xf32, #hivm.address_space<cbuf>>
    annotation.mark %l1 {hivm.tightly_coupled_buffer = #hivm.tightly_coupled_buffer<2>} : memref<128xf32, #hivm.address_space<cbuf>>
    hivm.hir.copy ins(%a : memref<128xf32, #hivm.address_space<ub>>) outs(%l1 : memref<128xf32, #hivm.address_space<cbuf>>)
    hivm.hir.store ins(%ub : memref<128xf32, #hivm.address_space<ub>>) outs(%gm1 : memref<128xf32, #hivm.address_space<gm>>)
    return
  }
}

// -----

// ... and nobody else shares with it.
// run: plan-memory{disable-tightly-coupled-buffer-reuse=true profile=regbase}
// expect: %acc=[0] %ub=[512] %l1=[0] %a=[0] %ub=[512] %l1=[0]
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @cube_side(%gm0: memref<128xf32, #hivm.address_space<gm>>, %gm1: memref<128xf32, #hivm.address_space<gm>>) attributes {hivm.func_core_type = #hivm.func_core_type<AIC>} {
    %acc = memref.alloc() : memref<128xf32, #hivm.address_space<cc>>
    hivm.hir.load ins(%gm0 : memref<128xf32, #hivm.address_space<gm>>) outs(%acc : memref<128xf32, #hivm.address_space<cc>>)
    %ub = memref.alloc() : memref<128xf32, #hivm.address_space<ub>>
    annotation.mark %ub {hivm.tightly_coupled_buffer = #hivm.tightly_coupled_buffer<4>} : memref<128xf32, #hivm.address_space<ub>>
    hivm.hir.fixpipe {l0c_to_ub} ins(%acc : memref<128xf32, #hivm.address_space<cc>>) outs(%ub : memref<128xf32, #hivm.address_space<ub>>)
    %l1 = memref.alloc() : memref<128xf32, #hivm.address_space<cbuf>>
    annotation.mark %l1 {hivm.tightly_coupled_buffer = #hivm.tightly_coupled_buffer<2>} : memref<128xf32, #hivm.address_space<cbuf>>
    hivm.hir.store ins(%l1 : memref<128xf32, #hivm.address_space<cbuf>>) outs(%gm1 : memref<128xf32, #hivm.address_space<gm>>)
    return
  }
  func.func @vector_side(%gm0: memref<128xf32, #hivm.address_space<gm>>, %gm1: memref<128xf32, #hivm.address_space<gm>>) attributes {hivm.func_core_type = #hivm.func_core_type<AIV>} {
    %a = memref.alloc() : memref<128xf32, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<128xf32, #hivm.address_space<gm>>) outs(%a : memref<128xf32, #hivm.address_space<ub>>)
    %ub = memref.alloc() : memref<128xf32, #hivm.address_space<ub>>
    annotation.mark %ub {hivm.tightly_coupled_buffer = #hivm.tightly_coupled_buffer<4>} : memref<128xf32, #hivm.address_space<ub>>
    %l1 = memref.alloc() : memref<128xf32, #hivm.address_space<cbuf>>
    annotation.mark %l1 {hivm.tightly_coupled_buffer = #hivm.tightly_coupled_buffer<2>} : memref<128xf32, #hivm.address_space<cbuf>>
    hivm.hir.copy ins(%a : memref<128xf32, #hivm.address_space<ub>>) outs(%l1 : memref<128xf32, #hivm.address_space<cbuf>>)
    hivm.hir.store ins(%ub : memref<128xf32, #hivm.address_space<ub>>) outs(%gm1 : memref<128xf32, #hivm.address_space<gm>>)
    return
  }
}

// -----

// A pointer cast that is there already survives.
// run: plan-memory
// expect: %s=[]
module attributes {hacc.target = #hacc.target<"Ascend950PR_950z">} {
  func.func @ssbuf_is_left_alone(%p: i64, %c: i1) {
    %s = hivm.hir.pointer_cast(%p) : memref<i8, #hivm.address_space<ssbuf>>
    scf.if %c {
      %x = memref.load %s[] : memref<i8, #hivm.address_space<ssbuf>>
      memref.store %x, %s[] : memref<i8, #hivm.address_space<ssbuf>>
    }
    return
  }
}

// -----

// L0A, L0B, BT and FP are planned, too.
// run: plan-memory
// expect: %a=[0] %b=[0] %t=[0] %f=[0]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @all_scopes(%gm0: memref<1024xf16, #hivm.address_space<gm>>, %gm1: memref<1024xf16, #hivm.address_space<gm>>, %gm2: memref<16xf32, #hivm.address_space<gm>>, %gm3: memref<16xf32, #hivm.address_space<gm>>, %gm4: memref<1024xf16, #hivm.address_space<gm>>, %gm5: memref<1024xf16, #hivm.address_space<gm>>, %gm6: memref<16xf32, #hivm.address_space<gm>>, %gm7: memref<16xf32, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<1024xf16, #hivm.address_space<ca>>
    %b = memref.alloc() : memref<1024xf16, #hivm.address_space<cb>>
    %t = memref.alloc() : memref<16xf32, #hivm.address_space<bt>>
    %f = memref.alloc() : memref<16xf32, #hivm.address_space<fp>>
    hivm.hir.load ins(%gm0 : memref<1024xf16, #hivm.address_space<gm>>) outs(%a : memref<1024xf16, #hivm.address_space<ca>>)
    hivm.hir.load ins(%gm1 : memref<1024xf16, #hivm.address_space<gm>>) outs(%b : memref<1024xf16, #hivm.address_space<cb>>)
    hivm.hir.load ins(%gm2 : memref<16xf32, #hivm.address_space<gm>>) outs(%t : memref<16xf32, #hivm.address_space<bt>>)
    hivm.hir.load ins(%gm3 : memref<16xf32, #hivm.address_space<gm>>) outs(%f : memref<16xf32, #hivm.address_space<fp>>)
    hivm.hir.store ins(%a : memref<1024xf16, #hivm.address_space<ca>>) outs(%gm4 : memref<1024xf16, #hivm.address_space<gm>>)
    hivm.hir.store ins(%b : memref<1024xf16, #hivm.address_space<cb>>) outs(%gm5 : memref<1024xf16, #hivm.address_space<gm>>)
    hivm.hir.store ins(%t : memref<16xf32, #hivm.address_space<bt>>) outs(%gm6 : memref<16xf32, #hivm.address_space<gm>>)
    hivm.hir.store ins(%f : memref<16xf32, #hivm.address_space<fp>>) outs(%gm7 : memref<16xf32, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Only single instructions work in place: vadd does, vexp does not.
// run: plan-memory{restrict-inplace-as-isa=true}
// expect: %a=[0] %e=[128] %s=[128]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @restricted(%gm0: memref<64xf16, #hivm.address_space<gm>>, %gm1: memref<64xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<64xf16, #hivm.address_space<gm>>) outs(%a : memref<64xf16, #hivm.address_space<ub>>)
    %e = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
    hivm.hir.vexp ins(%a : memref<64xf16, #hivm.address_space<ub>>) outs(%e : memref<64xf16, #hivm.address_space<ub>>)
    %s = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
    hivm.hir.vadd ins(%e, %e : memref<64xf16, #hivm.address_space<ub>>, memref<64xf16, #hivm.address_space<ub>>) outs(%s : memref<64xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%s : memref<64xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<64xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// A scope hands a buffer out; a call and a copy keep theirs.
// run: plan-memory
// expect: %a=[0] %t=[128]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @scoped(%gm0: memref<64xf16, #hivm.address_space<gm>>, %gm1: memref<64xf16, #hivm.address_space<gm>>, %gm2: memref<64xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<64xf16, #hivm.address_space<gm>>) outs(%a : memref<64xf16, #hivm.address_space<ub>>)
    %r = scope.scope : () -> memref<64xf16, #hivm.address_space<ub>> {
      %t = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
      hivm.hir.vexp ins(%a : memref<64xf16, #hivm.address_space<ub>>) outs(%t : memref<64xf16, #hivm.address_space<ub>>)
      scope.return %t : memref<64xf16, #hivm.address_space<ub>>
    } {hivm.loop_core_type = #hivm.tcore_type<VECTOR>, no_inline}
    hivm.hir.store ins(%r : memref<64xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<64xf16, #hivm.address_space<gm>>)
    hivm.hir.store ins(%a : memref<64xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<64xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Every memory that is too small is named.
// run: plan-memory
// expect: ub overflow, requires 2097152 bits while 1572864 bits available! (possible reason: tiling basic block is too large or block number is more than what user expect due to multi-buffer feature is enabled and some ops need extra local buffer.) | cbuf overflow, requires 8388608 bits while 4194304 bits available! (possible reason: tiling basic block is too large or block number is more than what user expect due to multi-buffer feature is enabled and some ops need extra local buffer.)
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @two_scopes_too_small(%gm0: memref<131072xf16, #hivm.address_space<gm>>, %gm1: memref<131072xf16, #hivm.address_space<gm>>, %gm2: memref<524288xf16, #hivm.address_space<gm>>, %gm3: memref<524288xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<131072xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<131072xf16, #hivm.address_space<gm>>) outs(%a : memref<131072xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%a : memref<131072xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<131072xf16, #hivm.address_space<gm>>)
    %b = memref.alloc() : memref<524288xf16, #hivm.address_space<cbuf>>
    hivm.hir.load ins(%gm2 : memref<524288xf16, #hivm.address_space<gm>>) outs(%b : memref<524288xf16, #hivm.address_space<cbuf>>)
    hivm.hir.store ins(%b : memref<524288xf16, #hivm.address_space<cbuf>>) outs(%gm3 : memref<524288xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// A loop-carried workspace keeps its place.
// run: plan-memory{mem-plan-mode=global-work-space-plan}
// expect: %a=[0] %b=[0]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @workspace_in_a_loop(%ws: memref<?xi8, #hivm.address_space<gm>>, %x: tensor<16x16xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %a = memref_ext.alloc_workspace() from %ws : from memref<?xi8, #hivm.address_space<gm>> to memref<65536xi8>
    %av = memref.view %a[%c0][] : memref<65536xi8> to memref<16x16xf32>
    %at = bufferization.to_tensor %av restrict writable : memref<16x16xf32> to tensor<16x16xf32>
    %f = hivm.hir.fixpipe {enable_nz2nd} ins(%x : tensor<16x16xf32>) outs(%at : tensor<16x16xf32>) -> tensor<16x16xf32>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %f) -> (tensor<16x16xf32>) {
      %b = memref_ext.alloc_workspace() from %ws : from memref<?xi8, #hivm.address_space<gm>> to memref<65536xi8>
      %bv = memref.view %b[%c0][] : memref<65536xi8> to memref<16x16xf32>
      %bt = bufferization.to_tensor %bv restrict writable : memref<16x16xf32> to tensor<16x16xf32>
      %s = hivm.hir.store ins(%acc : tensor<16x16xf32>) outs(%bt : tensor<16x16xf32>) -> tensor<16x16xf32>
      scf.yield %s : tensor<16x16xf32>
    }
    return
  }
}

// -----

// One behind the other.
// run: plan-memory{mem-plan-mode=global-work-space-plan}
// expect: %a=[0] %b=[65536]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @workspaces_in_a_row(%ws: memref<?xi8, #hivm.address_space<gm>>, %x: tensor<16x16xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %a = memref_ext.alloc_workspace() from %ws : from memref<?xi8, #hivm.address_space<gm>> to memref<65536xi8>
    %av = memref.view %a[%c0][] : memref<65536xi8> to memref<16x16xf32>
    %at = bufferization.to_tensor %av restrict writable : memref<16x16xf32> to tensor<16x16xf32>
    %f = hivm.hir.fixpipe {enable_nz2nd} ins(%x : tensor<16x16xf32>) outs(%at : tensor<16x16xf32>) -> tensor<16x16xf32>
    %y = tensor.empty() : tensor<16x16xf32>
    %z = hivm.hir.load ins(%f : tensor<16x16xf32>) outs(%y : tensor<16x16xf32>) -> tensor<16x16xf32>
    %b = memref_ext.alloc_workspace() from %ws : from memref<?xi8, #hivm.address_space<gm>> to memref<65536xi8>
    %bv = memref.view %b[%c0][] : memref<65536xi8> to memref<16x16xf32>
    %bt = bufferization.to_tensor %bv restrict writable : memref<16x16xf32> to tensor<16x16xf32>
    %s = hivm.hir.store ins(%z : tensor<16x16xf32>) outs(%bt : tensor<16x16xf32>) -> tensor<16x16xf32>
    %u = hivm.hir.load ins(%s : tensor<16x16xf32>) outs(%y : tensor<16x16xf32>) -> tensor<16x16xf32>
    return
  }
}

// -----

// Lives are apart: shared if asked for.
// run: plan-memory{mem-plan-mode=global-work-space-plan enable-global-workspace-reuse=true}
// expect: %a=[0] %b=[0]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @workspaces_share(%ws: memref<?xi8, #hivm.address_space<gm>>, %x: tensor<16x16xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %a = memref_ext.alloc_workspace() from %ws : from memref<?xi8, #hivm.address_space<gm>> to memref<65536xi8>
    %av = memref.view %a[%c0][] : memref<65536xi8> to memref<16x16xf32>
    %at = bufferization.to_tensor %av restrict writable : memref<16x16xf32> to tensor<16x16xf32>
    %f = hivm.hir.fixpipe {enable_nz2nd} ins(%x : tensor<16x16xf32>) outs(%at : tensor<16x16xf32>) -> tensor<16x16xf32>
    %y = tensor.empty() : tensor<16x16xf32>
    %z = hivm.hir.load ins(%f : tensor<16x16xf32>) outs(%y : tensor<16x16xf32>) -> tensor<16x16xf32>
    %b = memref_ext.alloc_workspace() from %ws : from memref<?xi8, #hivm.address_space<gm>> to memref<65536xi8>
    %bv = memref.view %b[%c0][] : memref<65536xi8> to memref<16x16xf32>
    %bt = bufferization.to_tensor %bv restrict writable : memref<16x16xf32> to tensor<16x16xf32>
    %s = hivm.hir.store ins(%z : tensor<16x16xf32>) outs(%bt : tensor<16x16xf32>) -> tensor<16x16xf32>
    %u = hivm.hir.load ins(%s : tensor<16x16xf32>) outs(%y : tensor<16x16xf32>) -> tensor<16x16xf32>
    return
  }
}

// -----

// Never written: refused.
// run: plan-memory{mem-plan-mode=global-work-space-plan}
// expect: 'memref_ext.alloc_workspace' op error: read before first write
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @workspace_only_read(%ws: memref<?xi8, #hivm.address_space<gm>>, %x: tensor<16x16xf32>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %a = memref_ext.alloc_workspace() from %ws : from memref<?xi8, #hivm.address_space<gm>> to memref<65536xi8>
    %av = memref.view %a[%c0][] : memref<65536xi8> to memref<16x16xf32>
    %at = bufferization.to_tensor %av restrict writable : memref<16x16xf32> to tensor<16x16xf32>
    %y = tensor.empty() : tensor<16x16xf32>
    %z = hivm.hir.load ins(%at : tensor<16x16xf32>) outs(%y : tensor<16x16xf32>) -> tensor<16x16xf32>
    return
  }
}

// -----

// On-chip buffers are not the workspace mode's business.
// run: plan-memory{mem-plan-mode=global-work-space-plan}
// expect: nothing to plan
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @workspace_mode_leaves_buffers(%gm0: memref<64xf16, #hivm.address_space<gm>>, %gm1: memref<64xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
    annotation.mark %a {mem_unique} : memref<64xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<64xf16, #hivm.address_space<gm>>) outs(%a : memref<64xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%a : memref<64xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<64xf16, #hivm.address_space<gm>>)
    return
  }
}

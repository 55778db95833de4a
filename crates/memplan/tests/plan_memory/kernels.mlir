// The loop of the document: op1 fills A by DMA, op2 and op3 use B and C on the vector pipe, op4 sends D off. All fits: side by side.
// run: plan-memory
// expect: %d=[73760, 122912] %a=[0, 98336] %b=[24576] %s=[49152] %c=[49184]
// no note: across pipes
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @loop_with_room(%z: f16, %gm0: memref<64x192xf16, #hivm.address_space<gm>>, %gm1: memref<64x192xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %a = memref.alloc() : memref<64x192xf16, #hivm.address_space<ub>>
      annotation.mark %a {hivm.multi_buffer = 2 : i32} : memref<64x192xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<64x192xf16, #hivm.address_space<gm>>) outs(%a : memref<64x192xf16, #hivm.address_space<ub>>)
      %b = memref.alloc() : memref<192x64xf16, #hivm.address_space<ub>>
      hivm.hir.vtranspose ins(%a : memref<64x192xf16, #hivm.address_space<ub>>) outs(%b : memref<192x64xf16, #hivm.address_space<ub>>) permutation = [1, 0]
      %s = memref.alloc() : memref<1xf16, #hivm.address_space<ub>>
      hivm.hir.vreduce <max> ins(%b : memref<192x64xf16, #hivm.address_space<ub>>) outs(%s : memref<1xf16, #hivm.address_space<ub>>) reduce_dims = [0, 1]
      %c = memref.alloc() : memref<192x64xf16, #hivm.address_space<ub>>
      hivm.hir.vbrc ins(%s : memref<1xf16, #hivm.address_space<ub>>) outs(%c : memref<192x64xf16, #hivm.address_space<ub>>) broadcast_dims = [0]
      %d = memref.alloc() : memref<64x192xf16, #hivm.address_space<ub>>
      annotation.mark %d {hivm.multi_buffer = 2 : i32} : memref<64x192xf16, #hivm.address_space<ub>>
      hivm.hir.vtranspose ins(%c : memref<192x64xf16, #hivm.address_space<ub>>) outs(%d : memref<64x192xf16, #hivm.address_space<ub>>) permutation = [1, 0]
      hivm.hir.store ins(%d : memref<64x192xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<64x192xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// Level2: short of memory, C reuses B, since both belong to the vector pipe; nobody waits.
// run: plan-memory
// expect: %d=[73728, 110592] %a=[0, 36864] %b=[147456] %s=[184320] %c=[147456]
// no note: across pipes
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @loop_level2(%z: f16, %gm0: memref<96x192xf16, #hivm.address_space<gm>>, %gm1: memref<96x192xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %a = memref.alloc() : memref<96x192xf16, #hivm.address_space<ub>>
      annotation.mark %a {hivm.multi_buffer = 2 : i32} : memref<96x192xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<96x192xf16, #hivm.address_space<gm>>) outs(%a : memref<96x192xf16, #hivm.address_space<ub>>)
      %b = memref.alloc() : memref<192x96xf16, #hivm.address_space<ub>>
      hivm.hir.vtranspose ins(%a : memref<96x192xf16, #hivm.address_space<ub>>) outs(%b : memref<192x96xf16, #hivm.address_space<ub>>) permutation = [1, 0]
      %s = memref.alloc() : memref<1xf16, #hivm.address_space<ub>>
      hivm.hir.vreduce <max> ins(%b : memref<192x96xf16, #hivm.address_space<ub>>) outs(%s : memref<1xf16, #hivm.address_space<ub>>) reduce_dims = [0, 1]
      %c = memref.alloc() : memref<192x96xf16, #hivm.address_space<ub>>
      hivm.hir.vbrc ins(%s : memref<1xf16, #hivm.address_space<ub>>) outs(%c : memref<192x96xf16, #hivm.address_space<ub>>) broadcast_dims = [0]
      %d = memref.alloc() : memref<96x192xf16, #hivm.address_space<ub>>
      annotation.mark %d {hivm.multi_buffer = 2 : i32} : memref<96x192xf16, #hivm.address_space<ub>>
      hivm.hir.vtranspose ins(%c : memref<192x96xf16, #hivm.address_space<ub>>) outs(%d : memref<96x192xf16, #hivm.address_space<ub>>) permutation = [1, 0]
      hivm.hir.store ins(%d : memref<96x192xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<96x192xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// Level1: B is read as long as C, so C takes the bytes of A, and is upgraded to both of its slots.
// run: plan-memory
// expect: %d=[73728, 110592] %a=[0, 36864] %b=[147456] %c=[0, 36864]
// note: @loop_level1/%c (placed at level1) waits for @loop_level1/%a
// note: ub: 1 sharings across pipes
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @loop_level1(%z: f16, %gm0: memref<96x192xf16, #hivm.address_space<gm>>, %gm1: memref<96x192xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %a = memref.alloc() : memref<96x192xf16, #hivm.address_space<ub>>
      annotation.mark %a {hivm.multi_buffer = 2 : i32} : memref<96x192xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<96x192xf16, #hivm.address_space<gm>>) outs(%a : memref<96x192xf16, #hivm.address_space<ub>>)
      %b = memref.alloc() : memref<192x96xf16, #hivm.address_space<ub>>
      hivm.hir.vtranspose ins(%a : memref<96x192xf16, #hivm.address_space<ub>>) outs(%b : memref<192x96xf16, #hivm.address_space<ub>>) permutation = [1, 0]
      %c = memref.alloc() : memref<192x96xf16, #hivm.address_space<ub>>
      hivm.hir.vbrc ins(%z : f16) outs(%c : memref<192x96xf16, #hivm.address_space<ub>>)
      %d = memref.alloc() : memref<96x192xf16, #hivm.address_space<ub>>
      annotation.mark %d {hivm.multi_buffer = 2 : i32} : memref<96x192xf16, #hivm.address_space<ub>>
      hivm.hir.vadd ins(%b, %c : memref<192x96xf16, #hivm.address_space<ub>>, memref<192x96xf16, #hivm.address_space<ub>>) outs(%d : memref<96x192xf16, #hivm.address_space<ub>>) transpose = [1, 0]
      hivm.hir.store ins(%d : memref<96x192xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<96x192xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// Level0: without double buffers there are no slots to take; lives are apart, and that is all that counts.
// run: plan-memory
// expect: %a=[0] %b=[131072] %c=[0] %d=[65536]
// note: @loop_level0/%c (placed at level0) waits for @loop_level0/%a
// note: There reused some dma buffers in ub address space
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @loop_level0(%z: f16, %gm0: memref<128x256xf16, #hivm.address_space<gm>>, %gm1: memref<128x256xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %a = memref.alloc() : memref<128x256xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<128x256xf16, #hivm.address_space<gm>>) outs(%a : memref<128x256xf16, #hivm.address_space<ub>>)
      %b = memref.alloc() : memref<256x128xf16, #hivm.address_space<ub>>
      hivm.hir.vtranspose ins(%a : memref<128x256xf16, #hivm.address_space<ub>>) outs(%b : memref<256x128xf16, #hivm.address_space<ub>>) permutation = [1, 0]
      %c = memref.alloc() : memref<256x128xf16, #hivm.address_space<ub>>
      hivm.hir.vbrc ins(%z : f16) outs(%c : memref<256x128xf16, #hivm.address_space<ub>>)
      %d = memref.alloc() : memref<128x256xf16, #hivm.address_space<ub>>
      hivm.hir.vadd ins(%b, %c : memref<256x128xf16, #hivm.address_space<ub>>, memref<256x128xf16, #hivm.address_space<ub>>) outs(%d : memref<128x256xf16, #hivm.address_space<ub>>) transpose = [1, 0]
      hivm.hir.store ins(%d : memref<128x256xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<128x256xf16, #hivm.address_space<gm>>)
    }
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

// -----

// Slots of workspaces, one behind the other; the halves of a mixed kernel report one size.
// run: plan-memory{mem-plan-mode=global-work-space-plan profile=regbase}
// expect: %a=[0, 256] %a=[0, 256, 512, 768] %a=[0, 100] %a=[0]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @one(%arg0: memref<?xi8>, %x: tensor<256xi8>) {
    %a = memref_ext.alloc_workspace() from %arg0 : from memref<?xi8> to memref<256xi8>
    annotation.mark %a {hivm.multi_buffer = 2 : i32} : memref<256xi8>
    %t = bufferization.to_tensor %a restrict writable : memref<256xi8>
    %s = hivm.hir.store ins(%x : tensor<256xi8>) outs(%t : tensor<256xi8>) -> tensor<256xi8>
    %e = tensor.empty() : tensor<256xi8>
    %l = hivm.hir.load ins(%s : tensor<256xi8>) outs(%e : tensor<256xi8>) -> tensor<256xi8>
    return
  }
  func.func @two(%arg0: memref<?xi8>, %x: tensor<256xi8>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
    %a = memref_ext.alloc_workspace() from %arg0 : from memref<?xi8> to memref<256xi8>
    annotation.mark %a {hivm.multi_buffer = 4 : i32} : memref<256xi8>
    %t = bufferization.to_tensor %a restrict writable : memref<256xi8>
    %s = hivm.hir.store ins(%x : tensor<256xi8>) outs(%t : tensor<256xi8>) -> tensor<256xi8>
    %e = tensor.empty() : tensor<256xi8>
    %l = hivm.hir.load ins(%s : tensor<256xi8>) outs(%e : tensor<256xi8>) -> tensor<256xi8>
    }
    return
  }
  func.func @k_mix_aic(%arg0: memref<?xi8>) {
    %c0 = arith.constant 0 : index
    %c100 = arith.constant 100 : index
    %a = memref_ext.alloc_workspace() from %arg0 offset = [%c0, %c100] : from memref<?xi8> to memref<50xi8>
    return
  }
  func.func @k_mix_aiv(%arg0: memref<?xi8>) {
    %c0 = arith.constant 0 : index
    %a = memref_ext.alloc_workspace() from %arg0 offset = [%c0] : from memref<?xi8> to memref<64xi8>
    return
  }
}

// -----

// A preloaded buffer is in use during its own loop, not during the loop around it.
// run: plan-memory
// expect: %inner=[0, 81920] %outer=[0]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @preload_in_an_inner_loop(%gm0: memref<40960xf16, #hivm.address_space<gm>>, %gm1: memref<40960xf16, #hivm.address_space<gm>>, %gm2: memref<32768xf16, #hivm.address_space<gm>>, %gm3: memref<32768xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      scf.for %j = %c0 to %c8 step %c1 {
        %inner = memref.alloc() : memref<40960xf16, #hivm.address_space<ub>>
        annotation.mark %inner {hivm.multi_buffer = 2 : i32} : memref<40960xf16, #hivm.address_space<ub>>
        annotation.mark %inner {hivm.preload_local_buffer = 1 : i32} : memref<40960xf16, #hivm.address_space<ub>>
        hivm.hir.load ins(%gm0 : memref<40960xf16, #hivm.address_space<gm>>) outs(%inner : memref<40960xf16, #hivm.address_space<ub>>)
        hivm.hir.store ins(%inner : memref<40960xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<40960xf16, #hivm.address_space<gm>>)
      }
      %outer = memref.alloc() : memref<32768xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm2 : memref<32768xf16, #hivm.address_space<gm>>) outs(%outer : memref<32768xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%outer : memref<32768xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<32768xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// One from outside the loop is in use during all of it, preloaded or not.
// run: plan-memory
// expect: %buffer=[0, 128]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @preload_of_a_buffer_from_outside(%gm0: memref<64xf16, #hivm.address_space<gm>>, %gm1: memref<64xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %buffer = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
    scf.for %i = %c0 to %c8 step %c1 {
      annotation.mark %buffer {hivm.multi_buffer = 2 : i32} : memref<64xf16, #hivm.address_space<ub>>
      annotation.mark %buffer {hivm.preload_local_buffer = 1 : i32} : memref<64xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm0 : memref<64xf16, #hivm.address_space<gm>>) outs(%buffer : memref<64xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%buffer : memref<64xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<64xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// %a and %late have addresses already: %b goes beside them.
// run: plan-memory
// expect: %a=[0] %late=[64] %b=[128]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @beside_a_fixed_buffer(%in: memref<32xf16, #hivm.address_space<gm>>, %out: memref<32xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : i64
    %c64 = arith.constant 64 : i64
    %a = hivm.hir.pointer_cast(%c0) : memref<32xf16, #hivm.address_space<ub>>
    %late = hivm.hir.pointer_cast(%c64) : memref<32xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%in : memref<32xf16, #hivm.address_space<gm>>) outs(%a : memref<32xf16, #hivm.address_space<ub>>)
    %b = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%in : memref<32xf16, #hivm.address_space<gm>>) outs(%b : memref<32xf16, #hivm.address_space<ub>>)
    hivm.hir.vadd ins(%a, %b : memref<32xf16, #hivm.address_space<ub>>, memref<32xf16, #hivm.address_space<ub>>) outs(%b : memref<32xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%b : memref<32xf16, #hivm.address_space<ub>>) outs(%out : memref<32xf16, #hivm.address_space<gm>>)
    hivm.hir.load ins(%in : memref<32xf16, #hivm.address_space<gm>>) outs(%late : memref<32xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%late : memref<32xf16, #hivm.address_space<ub>>) outs(%out : memref<32xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// The content of %a comes from elsewhere, and the function that is called has bytes of its own: %b avoids both.
// run: plan-memory
// expect: %other=[128] %a=[0] %b=[64]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @other(%in: memref<32xf16, #hivm.address_space<gm>>) {
    %c128 = arith.constant 128 : i64
    %other = hivm.hir.pointer_cast(%c128) : memref<32xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%in : memref<32xf16, #hivm.address_space<gm>>) outs(%other : memref<32xf16, #hivm.address_space<ub>>)
    return
  }
  func.func @calls_one_with_fixed_bytes(%in: memref<32xf16, #hivm.address_space<gm>>, %out: memref<32xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : i64
    %a = hivm.hir.pointer_cast(%c0) : memref<32xf16, #hivm.address_space<ub>>
    %b = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%in : memref<32xf16, #hivm.address_space<gm>>) outs(%b : memref<32xf16, #hivm.address_space<ub>>)
    func.call @other(%in) : (memref<32xf16, #hivm.address_space<gm>>) -> ()
    hivm.hir.store ins(%b : memref<32xf16, #hivm.address_space<ub>>) outs(%out : memref<32xf16, #hivm.address_space<gm>>)
    hivm.hir.store ins(%a : memref<32xf16, #hivm.address_space<ub>>) outs(%out : memref<32xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Read, but never written: any address will do, and a warning says so.
// run: plan-memory
// expect: %a=[0] %b=[0]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @read_but_never_written(%out: memref<64xf16, #hivm.address_space<gm>>) {
    %a = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
    %b = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
    hivm.hir.vexp ins(%a : memref<64xf16, #hivm.address_space<ub>>) outs(%b : memref<64xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%b : memref<64xf16, #hivm.address_space<ub>>) outs(%out : memref<64xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// A tensor made of a buffer in a loop is that buffer: %b is filled while the tensor of %a is still read.
// run: plan-memory
// expect: %a=[0] %b=[128] %c=[256]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @tensor_of_a_buffer_in_a_loop(%in: memref<64xf16, #hivm.address_space<gm>>, %out: memref<64xf16, #hivm.address_space<gm>>, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%in : memref<64xf16, #hivm.address_space<gm>>) outs(%a : memref<64xf16, #hivm.address_space<ub>>)
      %t = bufferization.to_tensor %a restrict writable : memref<64xf16, #hivm.address_space<ub>> to tensor<64xf16>
      %b = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%in : memref<64xf16, #hivm.address_space<gm>>) outs(%b : memref<64xf16, #hivm.address_space<ub>>)
      %half = tensor.extract_slice %t[0] [32] [1] : tensor<64xf16> to tensor<32xf16>
      hivm.hir.store ins(%b : memref<64xf16, #hivm.address_space<ub>>) outs(%out : memref<64xf16, #hivm.address_space<gm>>)
      %c = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%in : memref<64xf16, #hivm.address_space<gm>>) outs(%c : memref<64xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%c : memref<64xf16, #hivm.address_space<ub>>) outs(%out : memref<64xf16, #hivm.address_space<gm>>)
      %sub = memref.subview %out[0] [32] [1] : memref<64xf16, #hivm.address_space<gm>> to memref<32xf16, strided<[1]>, #hivm.address_space<gm>>
      bufferization.materialize_in_destination %half in writable %sub : (tensor<32xf16>, memref<32xf16, strided<[1]>, #hivm.address_space<gm>>) -> ()
    }
    return
  }
}

// -----

// A last tile that is cut short: as many bytes as a whole one.
// run: plan-memory
// expect: %a=[0] %b=[512] %c=[1024]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @bounded_sizes(%in: memref<?xf16, #hivm.address_space<gm>>, %out: memref<?xf16, #hivm.address_space<gm>>, %n: index, %m: index) {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    scf.for %i = %c0 to %n step %c256 {
      %left = arith.subi %n, %i : index
      %size = arith.minsi %left, %c256 : index
      %a = memref.alloc(%size) : memref<?xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%in : memref<?xf16, #hivm.address_space<gm>>) outs(%a : memref<?xf16, #hivm.address_space<ub>>)
      %rows = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 128)>(%i)[%n]
      %b = memref.alloc(%rows) : memref<?x2xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%in : memref<?xf16, #hivm.address_space<gm>>) outs(%b : memref<?x2xf16, #hivm.address_space<ub>>)
      %c = memref.alloc(%m) : memref<?xf16, #hivm.address_space<ub>>
      annotation.mark %c {buffer_size_in_byte = 1024 : i64} : memref<?xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%in : memref<?xf16, #hivm.address_space<gm>>) outs(%c : memref<?xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%a : memref<?xf16, #hivm.address_space<ub>>) outs(%out : memref<?xf16, #hivm.address_space<gm>>)
      hivm.hir.store ins(%b : memref<?x2xf16, #hivm.address_space<ub>>) outs(%out : memref<?xf16, #hivm.address_space<gm>>)
      hivm.hir.store ins(%c : memref<?xf16, #hivm.address_space<ub>>) outs(%out : memref<?xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// More ways to say how large a size can become: a select, a remainder, the number of an iteration, a difference, a condition.
// run: plan-memory
// expect: %a=[0] %b=[128] %c=[256] %d=[384] %e=[512] %f=[640]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @bounds_in_other_words(%in: memref<?xf16, #hivm.address_space<gm>>, %out: memref<?xf16, #hivm.address_space<gm>>, %n: index, %m: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c65 = arith.constant 65 : index
    %fits = arith.cmpi sle, %m, %c64 : index
    scf.if %fits {
      scf.for %i = %c1 to %c32 step %c1 {
        %small = arith.cmpi slt, %n, %c64 : index
        %chosen = arith.select %small, %n, %c64 : index
        %a = memref.alloc(%chosen) : memref<?xf16, #hivm.address_space<ub>>
        hivm.hir.load ins(%in : memref<?xf16, #hivm.address_space<gm>>) outs(%a : memref<?xf16, #hivm.address_space<ub>>)
        %rest = arith.remui %n, %c65 : index
        %b = memref.alloc(%rest) : memref<?xf16, #hivm.address_space<ub>>
        hivm.hir.load ins(%in : memref<?xf16, #hivm.address_space<gm>>) outs(%b : memref<?xf16, #hivm.address_space<ub>>)
        %twice = arith.muli %i, %c2 : index
        %even = arith.addi %twice, %c2 : index
        %c = memref.alloc(%even) : memref<?xf16, #hivm.address_space<ub>>
        hivm.hir.load ins(%in : memref<?xf16, #hivm.address_space<gm>>) outs(%c : memref<?xf16, #hivm.address_space<ub>>)
        %start = arith.muli %n, %m : index
        %stop = arith.addi %start, %c64 : index
        %most = arith.maxsi %start, %n : index
        %end = arith.minsi %stop, %most : index
        %length = arith.subi %end, %start : index
        %d = memref.alloc(%length) : memref<?xf16, #hivm.address_space<ub>>
        hivm.hir.load ins(%in : memref<?xf16, #hivm.address_space<gm>>) outs(%d : memref<?xf16, #hivm.address_space<ub>>)
        %e = memref.alloc(%m) : memref<?xf16, #hivm.address_space<ub>>
        hivm.hir.load ins(%in : memref<?xf16, #hivm.address_space<gm>>) outs(%e : memref<?xf16, #hivm.address_space<ub>>)
        %natural = arith.maxsi %m, %c0 : index
        %part = arith.ceildivui %natural, %c2 : index
        %f = memref.alloc(%part) : memref<?x2xf16, #hivm.address_space<ub>>
        hivm.hir.load ins(%in : memref<?xf16, #hivm.address_space<gm>>) outs(%f : memref<?x2xf16, #hivm.address_space<ub>>)
        hivm.hir.store ins(%a : memref<?xf16, #hivm.address_space<ub>>) outs(%out : memref<?xf16, #hivm.address_space<gm>>)
        hivm.hir.store ins(%b : memref<?xf16, #hivm.address_space<ub>>) outs(%out : memref<?xf16, #hivm.address_space<gm>>)
        hivm.hir.store ins(%c : memref<?xf16, #hivm.address_space<ub>>) outs(%out : memref<?xf16, #hivm.address_space<gm>>)
        hivm.hir.store ins(%d : memref<?xf16, #hivm.address_space<ub>>) outs(%out : memref<?xf16, #hivm.address_space<gm>>)
        hivm.hir.store ins(%e : memref<?xf16, #hivm.address_space<ub>>) outs(%out : memref<?xf16, #hivm.address_space<gm>>)
        hivm.hir.store ins(%f : memref<?x2xf16, #hivm.address_space<ub>>) outs(%out : memref<?xf16, #hivm.address_space<gm>>)
      }
    }
    return
  }
}

// -----

// A condition that says nothing about the size where the allocation runs.
// run: plan-memory
// expect: the size of @bounded_in_the_other_branch/%a is only known when the kernel runs, and addresses are given out before: bound it by arith.minsi or affine.min with a constant, or say how large it may become with annotation.mark {buffer_size_in_byte = N : i64}
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @bounded_in_the_other_branch(%in: memref<?xf16, #hivm.address_space<gm>>, %n: index) {
    %c64 = arith.constant 64 : index
    %fits = arith.cmpi sle, %n, %c64 : index
    scf.if %fits {
    } else {
      %a = memref.alloc(%n) : memref<?xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%in : memref<?xf16, #hivm.address_space<gm>>) outs(%a : memref<?xf16, #hivm.address_space<ub>>)
    }
    return
  }
}

// -----

// A tile that is cut short, rounded up to whole blocks by a map and by a mask.
// run: plan-memory
// expect: %a=[0] %b=[8192]
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @rounded_up_sizes(%x: memref<?xf16, #hivm.address_space<gm>>, %y: memref<?xf16, #hivm.address_space<gm>>, %n: index) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c15 = arith.constant 15 : index
    %mask = arith.constant -16 : index
    %c4096 = arith.constant 4096 : index
    scf.for %i = %c0 to %n step %c4096 {
      %length = affine.min affine_map<(d0)[s0] -> (4096, -d0 + s0)>(%i)[%n]
      %blocks = affine.apply affine_map<()[s0] -> (s0 ceildiv 16 * 16)>()[%length]
      %a = memref.alloc(%blocks) : memref<?xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%x : memref<?xf16, #hivm.address_space<gm>>) outs(%a : memref<?xf16, #hivm.address_space<ub>>)
      %more = arith.addi %length, %c15 : index
      %rounded = arith.andi %more, %mask : index
      %b = memref.alloc(%rounded) : memref<?xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%y : memref<?xf16, #hivm.address_space<gm>>) outs(%b : memref<?xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%a : memref<?xf16, #hivm.address_space<ub>>) outs(%x : memref<?xf16, #hivm.address_space<gm>>)
      hivm.hir.store ins(%b : memref<?xf16, #hivm.address_space<ub>>) outs(%y : memref<?xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// A size without a bound: refused, with what would help.
// run: plan-memory
// expect: the size of @unbounded_size/%a is only known when the kernel runs, and addresses are given out before: bound it by arith.minsi or affine.min with a constant, or say how large it may become with annotation.mark {buffer_size_in_byte = N : i64}
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @unbounded_size(%in: memref<?xf16, #hivm.address_space<gm>>, %n: index) {
    %a = memref.alloc(%n) : memref<?xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%in : memref<?xf16, #hivm.address_space<gm>>) outs(%a : memref<?xf16, #hivm.address_space<ub>>)
    return
  }
}

// Branches: what one yields is still read afterwards.
// section: 1
// run: plan-memory
// original: %a=[0] %t=[0]
// caught by: dataflow::overwritten
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @yielded_and_still_read(%c: i1, %gm0: memref<1024xf16, #hivm.address_space<gm>>, %gm1: memref<1024xf16, #hivm.address_space<gm>>, %gm2: memref<1024xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<1024xf16, #hivm.address_space<gm>>) outs(%a : memref<1024xf16, #hivm.address_space<ub>>)
    %r = scf.if %c -> (memref<1024xf16, #hivm.address_space<ub>>) {
      %t = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
      hivm.hir.vabs ins(%a : memref<1024xf16, #hivm.address_space<ub>>) outs(%t : memref<1024xf16, #hivm.address_space<ub>>)
      scf.yield %t : memref<1024xf16, #hivm.address_space<ub>>
    } else {
      scf.yield %a : memref<1024xf16, #hivm.address_space<ub>>
    }
    hivm.hir.store ins(%r : memref<1024xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<1024xf16, #hivm.address_space<gm>>)
    hivm.hir.store ins(%a : memref<1024xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<1024xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// A loop fills what it yields while the last one is still read.
// section: 1
// run: plan-memory
// original: %a=[0] %b=[0] %s=[2048]
// caught by: dataflow::overwritten
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @carried_and_overwritten(%gm0: memref<1024xf16, #hivm.address_space<gm>>, %gm1: memref<1024xf16, #hivm.address_space<gm>>, %gm2: memref<1024xf16, #hivm.address_space<gm>>, %gm3: memref<1024xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %a = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<1024xf16, #hivm.address_space<gm>>) outs(%a : memref<1024xf16, #hivm.address_space<ub>>)
    %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%x = %a) -> (memref<1024xf16, #hivm.address_space<ub>>) {
      %b = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm1 : memref<1024xf16, #hivm.address_space<gm>>) outs(%b : memref<1024xf16, #hivm.address_space<ub>>)
      %s = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
      hivm.hir.vadd ins(%x, %b : memref<1024xf16, #hivm.address_space<ub>>, memref<1024xf16, #hivm.address_space<ub>>) outs(%s : memref<1024xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%s : memref<1024xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<1024xf16, #hivm.address_space<gm>>)
      scf.yield %b : memref<1024xf16, #hivm.address_space<ub>>
    }
    hivm.hir.store ins(%r : memref<1024xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<1024xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// What is returned lives to the end.
// section: 2
// run: plan-memory
// original: %a=[0] %b=[0] %d=[65536]
// caught by: dataflow::overwritten
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @returned(%gm0: memref<32768xf16, #hivm.address_space<gm>>, %gm1: memref<32768xf16, #hivm.address_space<gm>>, %gm2: memref<32768xf16, #hivm.address_space<gm>>, %gm3: memref<32768xf16, #hivm.address_space<gm>>, %gm4: memref<32768xf16, #hivm.address_space<gm>>) -> memref<32768xf16, #hivm.address_space<ub>> attributes {hacc.entry} {
    %a = memref.alloc() : memref<32768xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<32768xf16, #hivm.address_space<gm>>) outs(%a : memref<32768xf16, #hivm.address_space<ub>>)
    %b = memref.alloc() : memref<32768xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<32768xf16, #hivm.address_space<gm>>) outs(%b : memref<32768xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%b : memref<32768xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<32768xf16, #hivm.address_space<gm>>)
    %d = memref.alloc() : memref<32768xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm3 : memref<32768xf16, #hivm.address_space<gm>>) outs(%d : memref<32768xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%d : memref<32768xf16, #hivm.address_space<ub>>) outs(%gm4 : memref<32768xf16, #hivm.address_space<gm>>)
    return %a : memref<32768xf16, #hivm.address_space<ub>>
  }
}

// -----

// A loop of blocks: what it reads again lives all through it.
// section: 2
// run: plan-memory
// original: %a=[0] %b=[0]
// caught by: dataflow::overwritten
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @around_a_back_edge(%c: i1, %gm0: memref<32768xf16, #hivm.address_space<gm>>, %gm1: memref<32768xf16, #hivm.address_space<gm>>, %gm2: memref<32768xf16, #hivm.address_space<gm>>, %gm3: memref<32768xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<32768xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<32768xf16, #hivm.address_space<gm>>) outs(%a : memref<32768xf16, #hivm.address_space<ub>>)
    cf.br ^head
    ^head:
    hivm.hir.store ins(%a : memref<32768xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<32768xf16, #hivm.address_space<gm>>)
    %b = memref.alloc() : memref<32768xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm2 : memref<32768xf16, #hivm.address_space<gm>>) outs(%b : memref<32768xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%b : memref<32768xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<32768xf16, #hivm.address_space<gm>>)
    cf.cond_br %c, ^head, ^out
    ^out:
    return
  }
}

// -----

// A slot behind the end of the memory.
// section: 3
// run: plan-memory
// original: %a=[0, 204800] %b=[204800] %d=[0, 614400]
// caught by: dataflow::out-of-memory
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @out_of_range(%gm0: memref<102400xf16, #hivm.address_space<gm>>, %gm1: memref<102400xf16, #hivm.address_space<gm>>, %gm2: memref<102400xf16, #hivm.address_space<gm>>, %gm3: memref<102400xf16, #hivm.address_space<gm>>, %gm4: memref<102400xf16, #hivm.address_space<gm>>, %gm5: memref<102400xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %a = memref.alloc() : memref<102400xf16, #hivm.address_space<cbuf>>
      annotation.mark %a {hivm.multi_buffer = 2 : i32} : memref<102400xf16, #hivm.address_space<cbuf>>
      hivm.hir.nd2nz ins(%gm0 : memref<102400xf16, #hivm.address_space<gm>>) outs(%a : memref<102400xf16, #hivm.address_space<cbuf>>)
      hivm.hir.store ins(%a : memref<102400xf16, #hivm.address_space<cbuf>>) outs(%gm1 : memref<102400xf16, #hivm.address_space<gm>>)
      %b = memref.alloc() : memref<102400xf16, #hivm.address_space<cbuf>>
      hivm.hir.nd2nz ins(%gm2 : memref<102400xf16, #hivm.address_space<gm>>) outs(%b : memref<102400xf16, #hivm.address_space<cbuf>>)
      hivm.hir.store ins(%b : memref<102400xf16, #hivm.address_space<cbuf>>) outs(%gm3 : memref<102400xf16, #hivm.address_space<gm>>)
      %d = memref.alloc() : memref<102400xf16, #hivm.address_space<cbuf>>
      hivm.hir.nd2nz ins(%gm4 : memref<102400xf16, #hivm.address_space<gm>>) outs(%d : memref<102400xf16, #hivm.address_space<cbuf>>)
      hivm.hir.store ins(%d : memref<102400xf16, #hivm.address_space<cbuf>>) outs(%gm5 : memref<102400xf16, #hivm.address_space<gm>>)
    }
    return
  }
}

// -----

// Two views at places only known at run time.
// section: 5
// run: plan-memory
// original: %a=[0] %o=[0]
// caught by: dataflow::own-input
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @offsets_known_at_run_time(%o1: index, %o2: index, %gm0: memref<1024xf16, #hivm.address_space<gm>>, %gm1: memref<1024xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<1024xf16, #hivm.address_space<gm>>) outs(%a : memref<1024xf16, #hivm.address_space<ub>>)
    %o = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
    %av = memref.subview %a[%o1] [64] [1] : memref<1024xf16, #hivm.address_space<ub>> to memref<64xf16, strided<[1], offset: ?>, #hivm.address_space<ub>>
    %ov = memref.subview %o[%o2] [64] [1] : memref<1024xf16, #hivm.address_space<ub>> to memref<64xf16, strided<[1], offset: ?>, #hivm.address_space<ub>>
    hivm.hir.vabs ins(%av : memref<64xf16, strided<[1], offset: ?>, #hivm.address_space<ub>>) outs(%ov : memref<64xf16, strided<[1], offset: ?>, #hivm.address_space<ub>>)
    hivm.hir.store ins(%o : memref<1024xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<1024xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// mem_unique, and yet a donor.
// section: 9
// run: plan-memory
// original: %a=[0] %o=[0]
// caught by: dataflow::exclusive-shared
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @unique_but_shared(%gm0: memref<1024xf16, #hivm.address_space<gm>>, %gm1: memref<1024xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
    annotation.mark %a {mem_unique} : memref<1024xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<1024xf16, #hivm.address_space<gm>>) outs(%a : memref<1024xf16, #hivm.address_space<ub>>)
    %o = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
    hivm.hir.vabs ins(%a : memref<1024xf16, #hivm.address_space<ub>>) outs(%o : memref<1024xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%o : memref<1024xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<1024xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// A select's result is carried round while a temporary is filled.
// section: 6
// run: plan-memory
// original: %p=[0] %q=[2048] %t=[0] %n=[4096]
// caught by: dataflow::overwritten
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @selected_and_carried(%c: i1, %gm0: memref<1024xf16, #hivm.address_space<gm>>, %gm1: memref<1024xf16, #hivm.address_space<gm>>, %gm2: memref<1024xf16, #hivm.address_space<gm>>, %gm3: memref<1024xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %p = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<1024xf16, #hivm.address_space<gm>>) outs(%p : memref<1024xf16, #hivm.address_space<ub>>)
    %q = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<1024xf16, #hivm.address_space<gm>>) outs(%q : memref<1024xf16, #hivm.address_space<ub>>)
    %sel = arith.select %c, %p, %q : memref<1024xf16, #hivm.address_space<ub>>
    %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%x = %sel) -> (memref<1024xf16, #hivm.address_space<ub>>) {
      %t = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm2 : memref<1024xf16, #hivm.address_space<gm>>) outs(%t : memref<1024xf16, #hivm.address_space<ub>>)
      %n = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
      hivm.hir.vadd ins(%x, %t : memref<1024xf16, #hivm.address_space<ub>>, memref<1024xf16, #hivm.address_space<ub>>) outs(%n : memref<1024xf16, #hivm.address_space<ub>>)
      scf.yield %n : memref<1024xf16, #hivm.address_space<ub>>
    }
    hivm.hir.store ins(%r : memref<1024xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<1024xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Strides count: the second half of a buffer with gaps is not free.
// section: 11
// run: plan-memory
// original: %a=[0] %b=[1024]
// caught by: dataflow::overwritten
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @padded_size(%gm0: memref<512xf16, strided<[2]>, #hivm.address_space<gm>>, %gm1: memref<512xf16, #hivm.address_space<gm>>, %gm2: memref<512xf16, #hivm.address_space<gm>>, %gm3: memref<512xf16, strided<[2]>, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<512xf16, strided<[2]>, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<512xf16, strided<[2]>, #hivm.address_space<gm>>) outs(%a : memref<512xf16, strided<[2]>, #hivm.address_space<ub>>)
    %b = memref.alloc() : memref<512xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<512xf16, #hivm.address_space<gm>>) outs(%b : memref<512xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%b : memref<512xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<512xf16, #hivm.address_space<gm>>)
    hivm.hir.store ins(%a : memref<512xf16, strided<[2]>, #hivm.address_space<ub>>) outs(%gm3 : memref<512xf16, strided<[2]>, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Branches hand out a small buffer, or a part of a large one that is in use beyond it.
// section: 10
// run: plan-memory
// original: %l=[0] %s=[0] %m=[2048]
// caught by: dataflow::overwritten
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @large_on_small(%c: i1, %gm0: memref<2048xf16, #hivm.address_space<gm>>, %gm1: memref<1024xf16, #hivm.address_space<gm>>, %gm2: memref<1024xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %l = memref.alloc() : memref<2048xf16, #hivm.address_space<ub>>
    %s = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
    %r = scf.if %c -> (memref<1024xf16, #hivm.address_space<ub>>) {
      hivm.hir.load ins(%gm1 : memref<1024xf16, #hivm.address_space<gm>>) outs(%s : memref<1024xf16, #hivm.address_space<ub>>)
      scf.yield %s : memref<1024xf16, #hivm.address_space<ub>>
    } else {
      hivm.hir.load ins(%gm0 : memref<2048xf16, #hivm.address_space<gm>>) outs(%l : memref<2048xf16, #hivm.address_space<ub>>)
      %m = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
      hivm.hir.load ins(%gm1 : memref<1024xf16, #hivm.address_space<gm>>) outs(%m : memref<1024xf16, #hivm.address_space<ub>>)
      hivm.hir.store ins(%m : memref<1024xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<1024xf16, #hivm.address_space<gm>>)
      hivm.hir.store ins(%l : memref<2048xf16, #hivm.address_space<ub>>) outs(%gm0 : memref<2048xf16, #hivm.address_space<gm>>)
      %v = memref.subview %l[0] [1024] [1] : memref<2048xf16, #hivm.address_space<ub>> to memref<1024xf16, #hivm.address_space<ub>>
      scf.yield %v : memref<1024xf16, #hivm.address_space<ub>>
    }
    hivm.hir.store ins(%r : memref<1024xf16, #hivm.address_space<ub>>) outs(%gm2 : memref<1024xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// An alignment that the kernel asks for.
// section: 11
// run: plan-memory
// original: %a=[0] %b=[32]
// caught by: dataflow::misaligned
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @asked_to_be_aligned(%gm0: memref<16xf16, #hivm.address_space<gm>>, %gm1: memref<16xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() {alignment = 64 : i64} : memref<16xf16, #hivm.address_space<ub>>
    %b = memref.alloc() {alignment = 128 : i64} : memref<16xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<16xf16, #hivm.address_space<gm>>) outs(%a : memref<16xf16, #hivm.address_space<ub>>)
    hivm.hir.load ins(%gm1 : memref<16xf16, #hivm.address_space<gm>>) outs(%b : memref<16xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%a : memref<16xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<16xf16, #hivm.address_space<gm>>)
    hivm.hir.store ins(%b : memref<16xf16, #hivm.address_space<ub>>) outs(%gm0 : memref<16xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// A select over its condition, because another input has elements of the same width.
// section: 14
// run: plan-memory{profile=regbase}
// original: %t=[0] %f=[1024] %c=[2048] %o=[2048]
// caught by: dataflow::own-input
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @wider_than_its_donor(%gm0: memref<512xf16, #hivm.address_space<gm>>, %gm1: memref<512xf16, #hivm.address_space<gm>>, %gm2: memref<8192xi1, #hivm.address_space<gm>>, %gm3: memref<512xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %t = memref.alloc() : memref<512xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<512xf16, #hivm.address_space<gm>>) outs(%t : memref<512xf16, #hivm.address_space<ub>>)
    %f = memref.alloc() : memref<512xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm1 : memref<512xf16, #hivm.address_space<gm>>) outs(%f : memref<512xf16, #hivm.address_space<ub>>)
    %c = memref.alloc() : memref<8192xi1, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm2 : memref<8192xi1, #hivm.address_space<gm>>) outs(%c : memref<8192xi1, #hivm.address_space<ub>>)
    %v = memref.subview %c[0] [512] [1] : memref<8192xi1, #hivm.address_space<ub>> to memref<512xi1, #hivm.address_space<ub>>
    %o = memref.alloc() : memref<512xf16, #hivm.address_space<ub>>
    hivm.hir.vsel ins(%v, %t, %f : memref<512xi1, #hivm.address_space<ub>>, memref<512xf16, #hivm.address_space<ub>>, memref<512xf16, #hivm.address_space<ub>>) outs(%o : memref<512xf16, #hivm.address_space<ub>>)
    hivm.hir.store ins(%o : memref<512xf16, #hivm.address_space<ub>>) outs(%gm3 : memref<512xf16, #hivm.address_space<gm>>)
    hivm.hir.store ins(%t : memref<512xf16, #hivm.address_space<ub>>) outs(%gm0 : memref<512xf16, #hivm.address_space<gm>>)
    hivm.hir.store ins(%f : memref<512xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<512xf16, #hivm.address_space<gm>>)
    return
  }
}

// -----

// Views with equal offsets and different strides.
// section: 5
// run: plan-memory
// original: %a=[0] %o=[0]
// caught by: dataflow::own-input
module attributes {hacc.target = #hacc.target<"Ascend910B1">} {
  func.func @strides_differ(%gm0: memref<1024xf16, #hivm.address_space<gm>>, %gm1: memref<1024xf16, #hivm.address_space<gm>>) attributes {hacc.entry} {
    %a = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
    hivm.hir.load ins(%gm0 : memref<1024xf16, #hivm.address_space<gm>>) outs(%a : memref<1024xf16, #hivm.address_space<ub>>)
    %o = memref.alloc() : memref<1024xf16, #hivm.address_space<ub>>
    %av = memref.subview %a[0] [64] [1] : memref<1024xf16, #hivm.address_space<ub>> to memref<64xf16, strided<[1]>, #hivm.address_space<ub>>
    %ov = memref.subview %o[0] [64] [4] : memref<1024xf16, #hivm.address_space<ub>> to memref<64xf16, strided<[4]>, #hivm.address_space<ub>>
    hivm.hir.vabs ins(%av : memref<64xf16, strided<[1]>, #hivm.address_space<ub>>) outs(%ov : memref<64xf16, strided<[4]>, #hivm.address_space<ub>>)
    hivm.hir.store ins(%o : memref<1024xf16, #hivm.address_space<ub>>) outs(%gm1 : memref<1024xf16, #hivm.address_space<gm>>)
    return
  }
}

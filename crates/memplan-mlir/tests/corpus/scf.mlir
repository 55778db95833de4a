func.func @loops(%lo: index, %hi: index, %st: index, %a: memref<?xf32>, %l32: i32) -> f32 {
  scf.for %i = %lo to %hi step %st {
    %x = memref.load %a[%i] : memref<?xf32>
    memref.store %x, %a[%i] : memref<?xf32>
  }
  scf.for %i = %l32 to %l32 step %l32 : i32 {
    "acme.use"(%i) : (i32) -> ()
  }
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %lo to %hi step %st iter_args(%acc = %zero) -> (f32) {
    %x = memref.load %a[%i] : memref<?xf32>
    %s = arith.addf %acc, %x : f32
    scf.yield %s : f32
  }
  %pair:2 = scf.for %i = %lo to %hi step %st iter_args(%p = %a, %q = %a) -> (memref<?xf32>, memref<?xf32>) {
    scf.yield %q, %p : memref<?xf32>, memref<?xf32>
  }
  scf.for unsigned %i = %lo to %hi step %st {
  } {acme.unroll = 4 : i32}
  %iv = scf.for %i = %l32 to %l32 step %l32 iter_args(%c = %l32) -> (i32) : i32 {
    scf.yield %i : i32
  }
  return %sum : f32
}
// -----
func.func @whiles(%n: index, %a: memref<4xf32>) {
  %0 = scf.while (%i = %n) : (index) -> index {
    %c = "acme.test"(%i) : (index) -> i1
    scf.condition(%c) %i : index
  } do {
  ^bb0(%j: index):
    %k = arith.addi %j, %j : index
    scf.yield %k : index
  }
  scf.while : () -> () {
    %c = "acme.test"() : () -> i1
    scf.condition(%c)
  } do {
    scf.yield
  } attributes {acme.tag = 1 : i64}
  %1:2 = scf.while (%i = %n, %m = %a) : (index, memref<4xf32>) -> (memref<4xf32>, index) {
    %c = "acme.test"(%i) : (index) -> i1
    scf.condition(%c) %m, %i : memref<4xf32>, index
  } do {
  ^bb0(%m: memref<4xf32>, %j: index):
    scf.yield %j, %m : index, memref<4xf32>
  }
  return
}
// -----
func.func @ifs(%c: i1, %a: memref<4xf32>, %b: memref<4xf32>) -> memref<4xf32> {
  scf.if %c {
    "acme.use"(%a) : (memref<4xf32>) -> ()
  }
  scf.if %c {
  } else {
    "acme.use"(%a) : (memref<4xf32>) -> ()
  } {acme.likely}
  %0 = scf.if %c -> (memref<4xf32>) {
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %b : memref<4xf32>
  }
  %1:2 = scf.if %c -> (memref<4xf32>, i1) {
    scf.yield %a, %c : memref<4xf32>, i1
  } else {
    scf.yield %b, %c : memref<4xf32>, i1
  }
  return %0 : memref<4xf32>
}
// -----
func.func @switches(%i: index) -> i32 {
  %0 = scf.index_switch %i -> i32
  case 2 {
    %1 = arith.constant 10 : i32
    scf.yield %1 : i32
  }
  case 5 {
    %2 = arith.constant 20 : i32
    scf.yield %2 : i32
  }
  default {
    %3 = arith.constant 30 : i32
    scf.yield %3 : i32
  }
  scf.index_switch %i
  default {
    scf.yield
  }
  return %0 : i32
}
// -----
func.func @executes(%c: i1) -> i32 {
  %0 = scf.execute_region -> i32 {
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    %1 = arith.constant 1 : i32
    cf.br ^bb3(%1 : i32)
  ^bb2:
    %2 = arith.constant 2 : i32
    cf.br ^bb3(%2 : i32)
  ^bb3(%x: i32):
    scf.yield %x : i32
  }
  scf.execute_region {
    "acme.thing"() : () -> ()
    scf.yield
  }
  return %0 : i32
}
// -----
func.func @parallels(%lo: index, %hi: index, %st: index, %a: memref<?x?xf32>, %z: f32) {
  scf.parallel (%i, %j) = (%lo, %lo) to (%hi, %hi) step (%st, %st) {
    %x = memref.load %a[%i, %j] : memref<?x?xf32>
    memref.store %x, %a[%j, %i] : memref<?x?xf32>
    scf.reduce
  }
  %0 = scf.parallel (%i) = (%lo) to (%hi) step (%st) init (%z) -> f32 {
    %x = memref.load %a[%i, %i] : memref<?x?xf32>
    scf.reduce(%x : f32) {
    ^bb0(%l: f32, %r: f32):
      %s = arith.addf %l, %r : f32
      scf.reduce.return %s : f32
    }
  }
  %1:2 = scf.parallel (%i) = (%lo) to (%hi) step (%st) init (%z, %z) -> (f32, f32) {
    %x = memref.load %a[%i, %i] : memref<?x?xf32>
    scf.reduce(%x, %x : f32, f32) {
    ^bb0(%l: f32, %r: f32):
      %s = arith.addf %l, %r : f32
      scf.reduce.return %s : f32
    }, {
    ^bb0(%l: f32, %r: f32):
      %s = arith.mulf %l, %r : f32
      scf.reduce.return %s : f32
    }
  }
  return
}
// -----
func.func @foralls(%n: index, %a: memref<64xf32>, %t: tensor<64xf32>) -> tensor<64xf32> {
  scf.forall (%i, %j) in (4, %n) {
    %x = memref.load %a[%j] : memref<64xf32>
  }
  %f = arith.constant 0.0 : f32
  scf.forall (%i) = (0) to (16) step (2) {
    %x = memref.load %a[%i] : memref<64xf32>
  } {mapping = [#gpu.block<x>]}
  scf.forall (%i, %j) = (%n, 0) to (%n, 16) step (%n, 1) {
  }
  %0 = scf.forall (%i) in (%n) shared_outs(%o = %t) -> (tensor<64xf32>) {
    %s = tensor.extract_slice %o[%i] [1] [1] : tensor<64xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<64xf32>
    }
  }
  return %0 : tensor<64xf32>
}

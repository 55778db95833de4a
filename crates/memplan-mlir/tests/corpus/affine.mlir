#map = affine_map<(d0)[s0] -> (d0 + s0)>
#set = affine_set<(d0)[s0] : (d0 - 1 >= 0, -d0 + s0 >= 0, d0 == 3)>
func.func @loops(%n: index, %a: memref<64x64xf32>, %init: f32) {
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to %n step 4 {
      %x = affine.load %a[%i, %j] : memref<64x64xf32>
      affine.store %x, %a[%j + 1, %i * 2 + 3] : memref<64x64xf32>
    }
  }
  affine.for %i = max affine_map<(d0) -> (d0, 0)>(%n) to min affine_map<(d0)[s0] -> (d0 + s0, 10)>(%n)[%n] {
  }
  affine.for %i = #map(%n)[%n] to 100 {
    affine.if #set(%i)[%n] {
      "acme.use"(%i) : (index) -> ()
    } else {
    }
    %r = affine.if affine_set<(d0) : (d0 >= 0)>(%i) -> f32 {
      affine.yield %init : f32
    } else {
      affine.yield %init : f32
    }
    affine.if affine_set<() : (1 == 0)>() {
    }
  } {acme.tag}
  %s = affine.for %i = 0 to 10 iter_args(%acc = %init) -> (f32) {
    %t = arith.addf %acc, %acc : f32
    affine.yield %t : f32
  }
  return
}
// -----
func.func @accesses(%a: memref<64x64xf32>, %n: index, %f: f32) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      %0 = affine.load %a[%i + %j, %i - symbol(%n)] : memref<64x64xf32>
      %1 = affine.load %a[symbol(%n) + %j, %j + %i] : memref<64x64xf32>
      %2 = affine.vector_load %a[%i, %j * 8] : memref<64x64xf32>, vector<8xf32>
      affine.vector_store %2, %a[%i, %j * 8] : memref<64x64xf32>, vector<8xf32>
      affine.store %f, %a[(%i + %j) floordiv 2, %j mod 4] : memref<64x64xf32>
      affine.prefetch %a[%i, %j + 5], read, locality<3>, data : memref<64x64xf32>
    }
  }
  return
}
// -----
func.func @applies(%i: index, %j: index) {
  %0 = affine.apply affine_map<(d0, d1)[s0] -> (d0 + d1 * s0)>(%i, %j)[%i]
  %1 = affine.min affine_map<(d0) -> (d0, 4)>(%i)
  %2 = affine.max affine_map<(d0)[s0] -> (d0, s0)>(%i)[%j]
  %3:3 = affine.delinearize_index %i into (4, %j, 8) : index, index, index
  %4 = affine.linearize_index [%i, %j] by (%i, 8) : index
  %5 = affine.linearize_index disjoint [%i, %j] by (2, 8) : index
  return
}
// -----
func.func @parallels(%n: index, %m: index, %a: memref<64xf32>) {
  affine.parallel (%i, %j) = (0, %n) to (10, symbol(%m) + 5) step (1, 2) {
    %x = affine.load %a[%i] : memref<64xf32>
  }
  affine.parallel (%i) = (max(%n, 3)) to (min(%m, %n + %m, 7)) {
  }
  %0 = affine.parallel (%i) = (0) to (10) reduce ("addf") -> (f32) {
    %x = affine.load %a[%i] : memref<64xf32>
    affine.yield %x : f32
  }
  return
}
// -----
func.func @dma(%a: memref<64xf32>, %b: memref<64xf32, 1>, %t: memref<1xi32>, %n: index, %z: index) {
  affine.for %i = 0 to 8 {
    affine.dma_start %a[%i], %b[%i * 2], %t[%z], %n : memref<64xf32>, memref<64xf32, 1>, memref<1xi32>
    affine.dma_wait %t[%z], %n : memref<1xi32>
  }
  return
}

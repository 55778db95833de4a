func.func @allocations(%n: index, %m: index) {
  %0 = memref.alloc() : memref<4x8xf32>
  %1 = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
  %2 = memref.alloc(%n) : memref<?x4xf32>
  %3 = memref.alloc(%n)[%m] : memref<?xf32, affine_map<(d0)[s0] -> (d0 + s0)>>
  %4 = memref.alloca() : memref<4xf32, 3>
  %5 = memref.alloca(%n, %m) {alignment = 8 : i64} : memref<?x?xi8>
  %6 = memref.alloc() : memref<4xf32, #gpu.address_space<workgroup>>
  %7 = memref.alloc() : memref<8x4xf32, strided<[4, 1], offset: 2>>
  %8 = memref.realloc %1 : memref<4xf32> to memref<8xf32>
  %9 = memref.alloc() : memref<f32>
  %10 = memref.alloc() : memref<2xcomplex<f32>>
  %11 = memref.alloc() : memref<2xvector<4xf32>>
  %12 = memref.alloc() : memref<2xindex>
  %13 = memref.alloc() : memref<0x4xf32>
  memref.dealloc %0 : memref<4x8xf32>
  return
}
// -----
#layout = affine_map<(d0, d1) -> (d1, d0)>
#layout2 = affine_map<(d0)[s0] -> (d0 * s0)>
!buffer = memref<4x4xf32, #layout>
func.func @aliases(%a: !buffer, %s: index) -> !buffer {
  %0 = memref.alloc() : !buffer
  memref.copy %a, %0 : !buffer to !buffer
  %1 = memref.alloc()[%s] : memref<4xf32, #layout2, 2 : i32>
  return %0 : !buffer
}
// -----
func.func @accesses(%a: memref<4x4xf32>, %z: memref<f32>, %i: index, %j: index, %v: f32) {
  %0 = memref.load %a[%i, %j] : memref<4x4xf32>
  %1 = memref.load %z[] : memref<f32>
  memref.store %v, %a[%i, %j] : memref<4x4xf32>
  memref.store %v, %z[] {nontemporal = true} : memref<f32>
  %2 = memref.load %a[%i, %j] {nontemporal = true} : memref<4x4xf32>
  memref.prefetch %a[%i, %j], read, locality<3>, data : memref<4x4xf32>
  %3 = memref.atomic_rmw addf %v, %a[%i, %j] : (f32, memref<4x4xf32>) -> f32
  %4 = memref.generic_atomic_rmw %a[%i, %j] : memref<4x4xf32> {
  ^bb0(%current: f32):
    %5 = arith.addf %current, %v : f32
    memref.atomic_yield %5 : f32
  }
  return
}
// -----
func.func @views(%a: memref<16x16xf32>, %b: memref<1024xi8>, %i: index, %n: index) {
  %0 = memref.subview %a[0, %i][4, 4][1, 1] : memref<16x16xf32> to memref<4x4xf32, strided<[16, 1], offset: ?>>
  %1 = memref.subview %a[%i, %i][%n, 4][%n, 1] : memref<16x16xf32> to memref<?x4xf32, strided<[?, 1], offset: ?>>
  %2 = memref.view %b[%i][] : memref<1024xi8> to memref<16xf32>
  %3 = memref.view %b[%i][%n] : memref<1024xi8> to memref<?x4xf32>
  %4 = memref.cast %a : memref<16x16xf32> to memref<?x?xf32>
  %5 = memref.cast %a : memref<16x16xf32> to memref<*xf32>
  %6 = memref.reinterpret_cast %a to offset: [%i], sizes: [4, %n], strides: [%n, 1] : memref<16x16xf32> to memref<4x?xf32, strided<[?, 1], offset: ?>>
  %7 = memref.expand_shape %a [[0, 1], [2]] output_shape [4, 4, 16] : memref<16x16xf32> into memref<4x4x16xf32>
  %8 = memref.collapse_shape %a [[0, 1]] : memref<16x16xf32> into memref<256xf32>
  %9 = memref.transpose %a (d0, d1) -> (d1, d0) : memref<16x16xf32> to memref<16x16xf32, strided<[1, 16]>>
  %10 = memref.memory_space_cast %a : memref<16x16xf32> to memref<16x16xf32, 1>
  %11 = memref.assume_alignment %a, 64 : memref<16x16xf32>
  return
}
// -----
func.func @shapes(%a: memref<?x4xf32>, %u: memref<*xf32>, %s: memref<2xindex>, %i: index, %x: memref<4xf32>, %y: memref<4xf32>) {
  %0 = memref.dim %a, %i : memref<?x4xf32>
  %1 = memref.rank %u : memref<*xf32>
  %2 = memref.reshape %a(%s) : (memref<?x4xf32>, memref<2xindex>) -> memref<?x?xf32>
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %a : memref<?x4xf32> -> memref<f32>, index, index, index, index, index
  %3 = memref.extract_aligned_pointer_as_index %a : memref<?x4xf32> -> index
  %4:2 = memref.distinct_objects %x, %y : memref<4xf32>, memref<4xf32>
  return
}
// -----
memref.global "private" constant @weights : memref<2x2xf32> = dense<[[1.0, 2.0], [3.0, 4.0]]> {alignment = 64 : i64}
memref.global @uninit : memref<4xi32> = uninitialized
memref.global "private" @decl : memref<4xf32>
func.func @globals() -> memref<2x2xf32> {
  %0 = memref.get_global @weights : memref<2x2xf32>
  return %0 : memref<2x2xf32>
}
// -----
func.func @scopes(%c: i1) {
  memref.alloca_scope {
    %0 = memref.alloca() : memref<4xf32>
    "acme.use"(%0) : (memref<4xf32>) -> ()
  }
  %1 = memref.alloca_scope -> (f32) {
    %2 = "acme.make"() : () -> f32
    memref.alloca_scope.return %2 : f32
  }
  return
}
// -----
func.func @dma(%a: memref<64xf32>, %b: memref<64xf32, 1>, %t: memref<1xi32>, %i: index, %n: index) {
  memref.dma_start %a[%i], %b[%i], %n, %t[%i] : memref<64xf32>, memref<64xf32, 1>, memref<1xi32>
  memref.dma_wait %t[%i], %n : memref<1xi32>
  return
}

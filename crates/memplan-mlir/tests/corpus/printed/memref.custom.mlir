#map = affine_map<(d0)[s0] -> (d0 + s0)>
module {
  func.func @allocations(%arg0: index, %arg1: index) {
    %alloc = memref.alloc() : memref<4x8xf32>
    %alloc_0 = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
    %alloc_1 = memref.alloc(%arg0) : memref<?x4xf32>
    %alloc_2 = memref.alloc(%arg0)[%arg1] : memref<?xf32, #map>
    %alloca = memref.alloca() : memref<4xf32, 3>
    %alloca_3 = memref.alloca(%arg0, %arg1) {alignment = 8 : i64} : memref<?x?xi8>
    %alloc_4 = memref.alloc() : memref<4xf32, #gpu.address_space<workgroup>>
    %alloc_5 = memref.alloc() : memref<8x4xf32, strided<[4, 1], offset: 2>>
    %0 = memref.realloc %alloc_0 : memref<4xf32> to memref<8xf32>
    %alloc_6 = memref.alloc() : memref<f32>
    %alloc_7 = memref.alloc() : memref<2xcomplex<f32>>
    %alloc_8 = memref.alloc() : memref<2xvector<4xf32>>
    %alloc_9 = memref.alloc() : memref<2xindex>
    %alloc_10 = memref.alloc() : memref<0x4xf32>
    memref.dealloc %alloc : memref<4x8xf32>
    return
  }
}

// -----
#map = affine_map<(d0, d1) -> (d1, d0)>
#map1 = affine_map<(d0)[s0] -> (d0 * s0)>
module {
  func.func @aliases(%arg0: memref<4x4xf32, #map>, %arg1: index) -> memref<4x4xf32, #map> {
    %alloc = memref.alloc() : memref<4x4xf32, #map>
    memref.copy %arg0, %alloc : memref<4x4xf32, #map> to memref<4x4xf32, #map>
    %alloc_0 = memref.alloc()[%arg1] : memref<4xf32, #map1, 2 : i32>
    return %alloc : memref<4x4xf32, #map>
  }
}

// -----
module {
  func.func @accesses(%arg0: memref<4x4xf32>, %arg1: memref<f32>, %arg2: index, %arg3: index, %arg4: f32) {
    %0 = memref.load %arg0[%arg2, %arg3] : memref<4x4xf32>
    %1 = memref.load %arg1[] : memref<f32>
    memref.store %arg4, %arg0[%arg2, %arg3] : memref<4x4xf32>
    memref.store %arg4, %arg1[] {nontemporal = true} : memref<f32>
    %2 = memref.load %arg0[%arg2, %arg3] {nontemporal = true} : memref<4x4xf32>
    memref.prefetch %arg0[%arg2, %arg3], read, locality<3>, data : memref<4x4xf32>
    %3 = memref.atomic_rmw addf %arg4, %arg0[%arg2, %arg3] : (f32, memref<4x4xf32>) -> f32
    %4 = memref.generic_atomic_rmw %arg0[%arg2, %arg3] : memref<4x4xf32> {
    ^bb0(%arg5: f32):
      %5 = arith.addf %arg5, %arg4 : f32
      memref.atomic_yield %5 : f32
    }
    return
  }
}

// -----
module {
  func.func @views(%arg0: memref<16x16xf32>, %arg1: memref<1024xi8>, %arg2: index, %arg3: index) {
    %subview = memref.subview %arg0[0, %arg2] [4, 4] [1, 1] : memref<16x16xf32> to memref<4x4xf32, strided<[16, 1], offset: ?>>
    %subview_0 = memref.subview %arg0[%arg2, %arg2] [%arg3, 4] [%arg3, 1] : memref<16x16xf32> to memref<?x4xf32, strided<[?, 1], offset: ?>>
    %view = memref.view %arg1[%arg2][] : memref<1024xi8> to memref<16xf32>
    %view_1 = memref.view %arg1[%arg2][%arg3] : memref<1024xi8> to memref<?x4xf32>
    %cast = memref.cast %arg0 : memref<16x16xf32> to memref<?x?xf32>
    %cast_2 = memref.cast %arg0 : memref<16x16xf32> to memref<*xf32>
    %reinterpret_cast = memref.reinterpret_cast %arg0 to offset: [%arg2], sizes: [4, %arg3], strides: [%arg3, 1] : memref<16x16xf32> to memref<4x?xf32, strided<[?, 1], offset: ?>>
    %expand_shape = memref.expand_shape %arg0 [[0, 1], [2]] output_shape [4, 4, 16] : memref<16x16xf32> into memref<4x4x16xf32>
    %collapse_shape = memref.collapse_shape %arg0 [[0, 1]] : memref<16x16xf32> into memref<256xf32>
    %transpose = memref.transpose %arg0 (d0, d1) -> (d1, d0) : memref<16x16xf32> to memref<16x16xf32, strided<[1, 16]>>
    %memspacecast = memref.memory_space_cast %arg0 : memref<16x16xf32> to memref<16x16xf32, 1>
    %assume_align = memref.assume_alignment %arg0, 64 : memref<16x16xf32>
    return
  }
}

// -----
module {
  func.func @shapes(%arg0: memref<?x4xf32>, %arg1: memref<*xf32>, %arg2: memref<2xindex>, %arg3: index, %arg4: memref<4xf32>, %arg5: memref<4xf32>) {
    %dim = memref.dim %arg0, %arg3 : memref<?x4xf32>
    %0 = memref.rank %arg1 : memref<*xf32>
    %reshape = memref.reshape %arg0(%arg2) : (memref<?x4xf32>, memref<2xindex>) -> memref<?x?xf32>
    %base_buffer, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %arg0 : memref<?x4xf32> -> memref<f32>, index, index, index, index, index
    %intptr = memref.extract_aligned_pointer_as_index %arg0 : memref<?x4xf32> -> index
    %1:2 = memref.distinct_objects %arg4, %arg5 : memref<4xf32>, memref<4xf32>
    return
  }
}

// -----
module {
  memref.global "private" constant @weights : memref<2x2xf32> = dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> {alignment = 64 : i64}
  memref.global @uninit : memref<4xi32> = uninitialized
  memref.global "private" @decl : memref<4xf32>
  func.func @globals() -> memref<2x2xf32> {
    %0 = memref.get_global @weights : memref<2x2xf32>
    return %0 : memref<2x2xf32>
  }
}

// -----
module {
  func.func @scopes(%arg0: i1) {
    memref.alloca_scope  {
      %alloca = memref.alloca() : memref<4xf32>
      "acme.use"(%alloca) : (memref<4xf32>) -> ()
    }
    %0 = memref.alloca_scope  -> (f32) {
      %1 = "acme.make"() : () -> f32
      memref.alloca_scope.return %1 : f32
    }
    return
  }
}

// -----
module {
  func.func @dma(%arg0: memref<64xf32>, %arg1: memref<64xf32, 1>, %arg2: memref<1xi32>, %arg3: index, %arg4: index) {
    memref.dma_start %arg0[%arg3], %arg1[%arg3], %arg4, %arg2[%arg3] : memref<64xf32>, memref<64xf32, 1>, memref<1xi32>
    memref.dma_wait %arg2[%arg3], %arg4 : memref<1xi32>
    return
  }
}


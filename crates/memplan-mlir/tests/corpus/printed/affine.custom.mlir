#map = affine_map<(d0) -> (d0, 0)>
#map1 = affine_map<(d0)[s0] -> (d0 + s0, 10)>
#map2 = affine_map<(d0)[s0] -> (d0 + s0)>
#set = affine_set<(d0)[s0] : (d0 - 1 >= 0, -d0 + s0 >= 0, d0 - 3 == 0)>
#set1 = affine_set<(d0) : (d0 >= 0)>
#set2 = affine_set<() : (1 == 0)>
module {
  func.func @loops(%arg0: index, %arg1: memref<64x64xf32>, %arg2: f32) {
    affine.for %arg3 = 0 to 64 {
      affine.for %arg4 = 0 to %arg0 step 4 {
        %1 = affine.load %arg1[%arg3, %arg4] : memref<64x64xf32>
        affine.store %1, %arg1[%arg4 + 1, %arg3 * 2 + 3] : memref<64x64xf32>
      }
    }
    affine.for %arg3 = max #map(%arg0) to min #map1(%arg0)[%arg0] {
    }
    affine.for %arg3 = #map2(%arg0)[%arg0] to 100 {
      affine.if #set(%arg3)[%arg0] {
        "acme.use"(%arg3) : (index) -> ()
      } else {
      }
      %1 = affine.if #set1(%arg3) -> f32 {
        affine.yield %arg2 : f32
      } else {
        affine.yield %arg2 : f32
      }
      affine.if #set2() {
      }
    } {acme.tag}
    %0 = affine.for %arg3 = 0 to 10 iter_args(%arg4 = %arg2) -> (f32) {
      %1 = arith.addf %arg4, %arg4 : f32
      affine.yield %1 : f32
    }
    return
  }
}

// -----
module {
  func.func @accesses(%arg0: memref<64x64xf32>, %arg1: index, %arg2: f32) {
    affine.for %arg3 = 0 to 8 {
      affine.for %arg4 = 0 to 8 {
        %0 = affine.load %arg0[%arg3 + %arg4, %arg3 - symbol(%arg1)] : memref<64x64xf32>
        %1 = affine.load %arg0[%arg4 + symbol(%arg1), %arg4 + %arg3] : memref<64x64xf32>
        %2 = affine.vector_load %arg0[%arg3, %arg4 * 8] : memref<64x64xf32>, vector<8xf32>
        affine.vector_store %2, %arg0[%arg3, %arg4 * 8] : memref<64x64xf32>, vector<8xf32>
        affine.store %arg2, %arg0[(%arg3 + %arg4) floordiv 2, %arg4 mod 4] : memref<64x64xf32>
        affine.prefetch %arg0[%arg3, %arg4 + 5], read, locality<3>, data : memref<64x64xf32>
      }
    }
    return
  }
}

// -----
#map = affine_map<(d0, d1)[s0] -> (d0 + d1 * s0)>
#map1 = affine_map<(d0) -> (d0, 4)>
#map2 = affine_map<(d0)[s0] -> (d0, s0)>
module {
  func.func @applies(%arg0: index, %arg1: index) {
    %0 = affine.apply #map(%arg0, %arg1)[%arg0]
    %1 = affine.min #map1(%arg0)
    %2 = affine.max #map2(%arg0)[%arg1]
    %3:3 = affine.delinearize_index %arg0 into (4, %arg1, 8) : index, index, index
    %4 = affine.linearize_index [%arg0, %arg1] by (%arg0, 8) : index
    %5 = affine.linearize_index disjoint [%arg0, %arg1] by (2, 8) : index
    return
  }
}

// -----
module {
  func.func @parallels(%arg0: index, %arg1: index, %arg2: memref<64xf32>) {
    affine.parallel (%arg3, %arg4) = (0, %arg0) to (10, symbol(%arg1) + 5) step (1, 2) {
      %1 = affine.load %arg2[%arg3] : memref<64xf32>
    }
    affine.parallel (%arg3) = (max(%arg0, 3)) to (min(%arg1, %arg1 + %arg0, 7)) {
    }
    %0 = affine.parallel (%arg3) = (0) to (10) reduce ("addf") -> (f32) {
      %1 = affine.load %arg2[%arg3] : memref<64xf32>
      affine.yield %1 : f32
    }
    return
  }
}

// -----
module {
  func.func @dma(%arg0: memref<64xf32>, %arg1: memref<64xf32, 1>, %arg2: memref<1xi32>, %arg3: index, %arg4: index) {
    affine.for %arg5 = 0 to 8 {
      affine.dma_start %arg0[%arg5], %arg1[%arg5 * 2], %arg2[%arg4], %arg3 : memref<64xf32>, memref<64xf32, 1>, memref<1xi32>
      affine.dma_wait %arg2[%arg4], %arg3 : memref<1xi32>
    }
    return
  }
}


#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0 + 1, d1 * 2 + 3)>
#map2 = affine_map<() -> (0)>
#map3 = affine_map<()[s0] -> (s0)>
#map4 = affine_map<() -> (64)>
#map5 = affine_map<(d0) -> (d0, 0)>
#map6 = affine_map<(d0)[s0] -> (d0 + s0, 10)>
#map7 = affine_map<(d0)[s0] -> (d0 + s0)>
#map8 = affine_map<() -> (100)>
#map9 = affine_map<() -> (10)>
#set = affine_set<(d0)[s0] : (d0 - 1 >= 0, -d0 + s0 >= 0, d0 - 3 == 0)>
#set1 = affine_set<(d0) : (d0 >= 0)>
#set2 = affine_set<() : (1 == 0)>
"builtin.module"() ({
  "func.func"() <{function_type = (index, memref<64x64xf32>, f32) -> (), sym_name = "loops"}> ({
  ^bb0(%arg0: index, %arg1: memref<64x64xf32>, %arg2: f32):
    "affine.for"() <{lowerBoundMap = #map2, operandSegmentSizes = array<i32: 0, 0, 0>, step = 1 : index, upperBoundMap = #map4}> ({
    ^bb0(%arg7: index):
      "affine.for"(%arg0) <{lowerBoundMap = #map2, operandSegmentSizes = array<i32: 0, 1, 0>, step = 4 : index, upperBoundMap = #map3}> ({
      ^bb0(%arg8: index):
        %3 = "affine.load"(%arg1, %arg7, %arg8) <{map = #map}> : (memref<64x64xf32>, index, index) -> f32
        "affine.store"(%3, %arg1, %arg8, %arg7) <{map = #map1}> : (f32, memref<64x64xf32>, index, index) -> ()
        "affine.yield"() : () -> ()
      }) : (index) -> ()
      "affine.yield"() : () -> ()
    }) : () -> ()
    "affine.for"(%arg0, %arg0, %arg0) <{lowerBoundMap = #map5, operandSegmentSizes = array<i32: 1, 2, 0>, step = 1 : index, upperBoundMap = #map6}> ({
    ^bb0(%arg6: index):
      "affine.yield"() : () -> ()
    }) : (index, index, index) -> ()
    "affine.for"(%arg0, %arg0) <{lowerBoundMap = #map7, operandSegmentSizes = array<i32: 2, 0, 0>, step = 1 : index, upperBoundMap = #map8}> ({
    ^bb0(%arg5: index):
      "affine.if"(%arg5, %arg0) <{condition = #set}> ({
        "acme.use"(%arg5) : (index) -> ()
        "affine.yield"() : () -> ()
      }, {
        "affine.yield"() : () -> ()
      }) : (index, index) -> ()
      %2 = "affine.if"(%arg5) <{condition = #set1}> ({
        "affine.yield"(%arg2) : (f32) -> ()
      }, {
        "affine.yield"(%arg2) : (f32) -> ()
      }) : (index) -> f32
      "affine.if"() <{condition = #set2}> ({
        "affine.yield"() : () -> ()
      }, {
      }) : () -> ()
      "affine.yield"() : () -> ()
    }) {acme.tag} : (index, index) -> ()
    %0 = "affine.for"(%arg2) <{lowerBoundMap = #map2, operandSegmentSizes = array<i32: 0, 0, 1>, step = 1 : index, upperBoundMap = #map9}> ({
    ^bb0(%arg3: index, %arg4: f32):
      %1 = "arith.addf"(%arg4, %arg4) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "affine.yield"(%1) : (f32) -> ()
    }) : (f32) -> f32
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0, d1)[s0] -> (d0 + d1, d0 - s0)>
#map1 = affine_map<(d0, d1)[s0] -> (d0 + s0, d0 + d1)>
#map2 = affine_map<(d0, d1) -> (d0, d1 * 8)>
#map3 = affine_map<(d0, d1) -> ((d0 + d1) floordiv 2, d1 mod 4)>
#map4 = affine_map<(d0, d1) -> (d0, d1 + 5)>
#map5 = affine_map<() -> (0)>
#map6 = affine_map<() -> (8)>
"builtin.module"() ({
  "func.func"() <{function_type = (memref<64x64xf32>, index, f32) -> (), sym_name = "accesses"}> ({
  ^bb0(%arg0: memref<64x64xf32>, %arg1: index, %arg2: f32):
    "affine.for"() <{lowerBoundMap = #map5, operandSegmentSizes = array<i32: 0, 0, 0>, step = 1 : index, upperBoundMap = #map6}> ({
    ^bb0(%arg3: index):
      "affine.for"() <{lowerBoundMap = #map5, operandSegmentSizes = array<i32: 0, 0, 0>, step = 1 : index, upperBoundMap = #map6}> ({
      ^bb0(%arg4: index):
        %0 = "affine.load"(%arg0, %arg3, %arg4, %arg1) <{map = #map}> : (memref<64x64xf32>, index, index, index) -> f32
        %1 = "affine.load"(%arg0, %arg4, %arg3, %arg1) <{map = #map1}> : (memref<64x64xf32>, index, index, index) -> f32
        %2 = "affine.vector_load"(%arg0, %arg3, %arg4) <{map = #map2}> : (memref<64x64xf32>, index, index) -> vector<8xf32>
        "affine.vector_store"(%2, %arg0, %arg3, %arg4) <{map = #map2}> : (vector<8xf32>, memref<64x64xf32>, index, index) -> ()
        "affine.store"(%arg2, %arg0, %arg3, %arg4) <{map = #map3}> : (f32, memref<64x64xf32>, index, index) -> ()
        "affine.prefetch"(%arg0, %arg3, %arg4) <{isDataCache = true, isWrite = false, localityHint = 3 : i32, map = #map4}> : (memref<64x64xf32>, index, index) -> ()
        "affine.yield"() : () -> ()
      }) : () -> ()
      "affine.yield"() : () -> ()
    }) : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0, d1)[s0] -> (d0 + d1 * s0)>
#map1 = affine_map<(d0) -> (d0, 4)>
#map2 = affine_map<(d0)[s0] -> (d0, s0)>
"builtin.module"() ({
  "func.func"() <{function_type = (index, index) -> (), sym_name = "applies"}> ({
  ^bb0(%arg0: index, %arg1: index):
    %0 = "affine.apply"(%arg0, %arg1, %arg0) <{map = #map}> : (index, index, index) -> index
    %1 = "affine.min"(%arg0) <{map = #map1}> : (index) -> index
    %2 = "affine.max"(%arg0, %arg1) <{map = #map2}> : (index, index) -> index
    %3:3 = "affine.delinearize_index"(%arg0, %arg1) <{static_basis = array<i64: 4, -9223372036854775808, 8>}> : (index, index) -> (index, index, index)
    %4 = "affine.linearize_index"(%arg0, %arg1, %arg0) <{disjoint = false, operandSegmentSizes = array<i32: 2, 1>, static_basis = array<i64: -9223372036854775808, 8>}> : (index, index, index) -> index
    %5 = "affine.linearize_index"(%arg0, %arg1) <{disjoint, operandSegmentSizes = array<i32: 2, 0>, static_basis = array<i64: 2, 8>}> : (index, index) -> index
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0) -> (0, d0)>
#map2 = affine_map<()[s0] -> (10, s0 + 5)>
#map3 = affine_map<(d0) -> (d0, 3)>
#map4 = affine_map<(d0, d1) -> (d0, d0 + d1, 7)>
#map5 = affine_map<() -> (0)>
#map6 = affine_map<() -> (10)>
"builtin.module"() ({
  "func.func"() <{function_type = (index, index, memref<64xf32>) -> (), sym_name = "parallels"}> ({
  ^bb0(%arg0: index, %arg1: index, %arg2: memref<64xf32>):
    "affine.parallel"(%arg0, %arg1) <{lowerBoundsGroups = dense<1> : tensor<2xi32>, lowerBoundsMap = #map1, reductions = [], steps = [1, 2], upperBoundsGroups = dense<1> : tensor<2xi32>, upperBoundsMap = #map2}> ({
    ^bb0(%arg5: index, %arg6: index):
      %2 = "affine.load"(%arg2, %arg5) <{map = #map}> : (memref<64xf32>, index) -> f32
      "affine.yield"() : () -> ()
    }) : (index, index) -> ()
    "affine.parallel"(%arg0, %arg1, %arg0) <{lowerBoundsGroups = dense<2> : tensor<1xi32>, lowerBoundsMap = #map3, reductions = [], steps = [1], upperBoundsGroups = dense<3> : tensor<1xi32>, upperBoundsMap = #map4}> ({
    ^bb0(%arg4: index):
      "affine.yield"() : () -> ()
    }) : (index, index, index) -> ()
    %0 = "affine.parallel"() <{lowerBoundsGroups = dense<1> : tensor<1xi32>, lowerBoundsMap = #map5, reductions = [0], steps = [1], upperBoundsGroups = dense<1> : tensor<1xi32>, upperBoundsMap = #map6}> ({
    ^bb0(%arg3: index):
      %1 = "affine.load"(%arg2, %arg3) <{map = #map}> : (memref<64xf32>, index) -> f32
      "affine.yield"(%1) : (f32) -> ()
    }) : () -> f32
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

// -----
#map = affine_map<(d0) -> (d0 * 2)>
#map1 = affine_map<(d0) -> (d0)>
#map2 = affine_map<() -> (0)>
#map3 = affine_map<() -> (8)>
"builtin.module"() ({
  "func.func"() <{function_type = (memref<64xf32>, memref<64xf32, 1>, memref<1xi32>, index, index) -> (), sym_name = "dma"}> ({
  ^bb0(%arg0: memref<64xf32>, %arg1: memref<64xf32, 1>, %arg2: memref<1xi32>, %arg3: index, %arg4: index):
    "affine.for"() <{lowerBoundMap = #map2, operandSegmentSizes = array<i32: 0, 0, 0>, step = 1 : index, upperBoundMap = #map3}> ({
    ^bb0(%arg5: index):
      "affine.dma_start"(%arg0, %arg5, %arg1, %arg5, %arg2, %arg4, %arg3) {dst_map = #map, src_map = #map1, tag_map = #map1} : (memref<64xf32>, index, memref<64xf32, 1>, index, memref<1xi32>, index, index) -> ()
      "affine.dma_wait"(%arg2, %arg4, %arg3) {tag_map = #map1} : (memref<1xi32>, index, index) -> ()
      "affine.yield"() : () -> ()
    }) : () -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()


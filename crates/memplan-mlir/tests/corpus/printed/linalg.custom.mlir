#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
module {
  func.func @generics(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>, %arg2: memref<4xf32>, %arg3: tensor<4x8xf32>, %arg4: memref<4xf32>) -> tensor<4x8xf32> {
    linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : memref<4x8xf32>) outs(%arg1 : memref<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = arith.addf %in, %in : f32
      linalg.yield %1 : f32
    }
    linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : memref<4x8xf32>) outs(%arg2 : memref<4xf32>) attrs =  {acme.tag = 1 : i64} {
    ^bb0(%in: f32, %out: f32):
      %1 = linalg.index 0 : index
      %2 = memref.load %arg4[%1] : memref<4xf32>
      %3 = arith.addf %in, %out : f32
      linalg.yield %3 : f32
    }
    linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%arg1 : memref<4x8xf32>) {
    ^bb0(%out: f32):
      linalg.yield %out : f32
    }
    %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg3 : tensor<4x8xf32>) outs(%arg3 : tensor<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}

// -----
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
module {
  func.func @memrefs(%arg0: memref<4x8xf32>, %arg1: memref<8x4xf32>, %arg2: memref<4x4xf32>, %arg3: memref<4x8xf32>, %arg4: memref<8xf32>, %arg5: memref<4xf32>, %arg6: f32, %arg7: memref<f32>) {
    linalg.fill ins(%arg6 : f32) outs(%arg2 : memref<4x4xf32>)
    linalg.matmul ins(%arg0, %arg1 : memref<4x8xf32>, memref<8x4xf32>) outs(%arg2 : memref<4x4xf32>)
    linalg.copy ins(%arg0 : memref<4x8xf32>) outs(%arg3 : memref<4x8xf32>)
    linalg.add ins(%arg0, %arg3 : memref<4x8xf32>, memref<4x8xf32>) outs(%arg3 : memref<4x8xf32>)
    linalg.exp ins(%arg0 : memref<4x8xf32>) outs(%arg3 : memref<4x8xf32>)
    linalg.max ins(%arg0, %arg0 : memref<4x8xf32>, memref<4x8xf32>) outs(%arg3 : memref<4x8xf32>)
    linalg.sub ins(%arg0, %arg0 : memref<4x8xf32>, memref<4x8xf32>) outs(%arg3 : memref<4x8xf32>)
    linalg.mul ins(%arg0, %arg0 : memref<4x8xf32>, memref<4x8xf32>) outs(%arg3 : memref<4x8xf32>)
    linalg.div ins(%arg0, %arg0 : memref<4x8xf32>, memref<4x8xf32>) outs(%arg3 : memref<4x8xf32>)
    linalg.abs ins(%arg0 : memref<4x8xf32>) outs(%arg3 : memref<4x8xf32>)
    linalg.negf ins(%arg0 : memref<4x8xf32>) outs(%arg3 : memref<4x8xf32>)
    linalg.square ins(%arg0 : memref<4x8xf32>) outs(%arg3 : memref<4x8xf32>)
    linalg.reciprocal ins(%arg0 : memref<4x8xf32>) outs(%arg3 : memref<4x8xf32>)
    linalg.tanh ins(%arg0 : memref<4x8xf32>) outs(%arg3 : memref<4x8xf32>)
    linalg.matvec ins(%arg0, %arg4 : memref<4x8xf32>, memref<8xf32>) outs(%arg5 : memref<4xf32>)
    linalg.vecmat ins(%arg4, %arg1 : memref<8xf32>, memref<8x4xf32>) outs(%arg5 : memref<4xf32>)
    linalg.dot ins(%arg4, %arg4 : memref<8xf32>, memref<8xf32>) outs(%arg7 : memref<f32>)
    linalg.matmul indexing_maps = [#map, #map1, #map2] ins(%arg0, %arg3 : memref<4x8xf32>, memref<4x8xf32>) outs(%arg2 : memref<4x4xf32>)
    return
  }
}

// -----
module {
  func.func @mixed(%arg0: memref<4x8xf16>, %arg1: memref<8x4xf16>, %arg2: memref<4x4xf32>, %arg3: memref<4x8xi8>, %arg4: memref<8x4xi8>, %arg5: memref<4x4xi32>, %arg6: f16) {
    linalg.matmul ins(%arg0, %arg1 : memref<4x8xf16>, memref<8x4xf16>) outs(%arg2 : memref<4x4xf32>)
    linalg.matmul ins(%arg3, %arg4 : memref<4x8xi8>, memref<8x4xi8>) outs(%arg5 : memref<4x4xi32>)
    linalg.add ins(%arg5, %arg5 : memref<4x4xi32>, memref<4x4xi32>) outs(%arg5 : memref<4x4xi32>)
    return
  }
}

// -----
module {
  func.func @tensors(%arg0: tensor<4x8xf32>, %arg1: tensor<8x4xf32>, %arg2: tensor<4x4xf32>, %arg3: tensor<4xf32>, %arg4: tensor<8x4xf32>, %arg5: f32) -> tensor<4x4xf32> {
    %0 = linalg.fill ins(%arg5 : f32) outs(%arg2 : tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = linalg.matmul ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<8x4xf32>) outs(%0 : tensor<4x4xf32>) -> tensor<4x4xf32>
    %mapped = linalg.map { math.exp } ins(%1 : tensor<4x4xf32>) outs(%arg2 : tensor<4x4xf32>)
    %mapped_0 = linalg.map ins(%1, %mapped : tensor<4x4xf32>, tensor<4x4xf32>) outs(%arg2 : tensor<4x4xf32>)
      (%in: f32, %in_3: f32, %init: f32) {
        %3 = arith.mulf %in, %in_3 : f32
        %4 = arith.addf %3, %in_3 : f32
        linalg.yield %4 : f32
      }
    %reduced = linalg.reduce { arith.addf } ins(%arg0 : tensor<4x8xf32>) outs(%arg3 : tensor<4xf32>) dimensions = [1] 
    %reduced_1 = linalg.reduce ins(%arg0 : tensor<4x8xf32>) outs(%arg3 : tensor<4xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %3 = arith.mulf %in, %in : f32
        %4 = arith.addf %3, %init : f32
        linalg.yield %4 : f32
      }
    %transposed = linalg.transpose ins(%arg0 : tensor<4x8xf32>) outs(%arg4 : tensor<8x4xf32>) permutation = [1, 0] 
    %broadcasted = linalg.broadcast ins(%arg3 : tensor<4xf32>) outs(%arg2 : tensor<4x4xf32>) dimensions = [1] 
    %reduced_2:2 = linalg.reduce ins(%arg0, %arg0 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%arg3, %arg3 : tensor<4xf32>, tensor<4xf32>) dimensions = [1] 
      (%in: f32, %in_3: f32, %init: f32, %init_4: f32) {
        linalg.yield %in, %in_3 : f32, f32
      }
    %2 = linalg.softmax dimension(1) ins(%arg0 : tensor<4x8xf32>) outs(%arg0 : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %mapped_0 : tensor<4x4xf32>
  }
}

// -----
module {
  func.func @buffers(%arg0: memref<4x8xf32>, %arg1: memref<8x4xf32>, %arg2: memref<4xf32>, %arg3: memref<4x4xf32>) {
    linalg.transpose ins(%arg0 : memref<4x8xf32>) outs(%arg1 : memref<8x4xf32>) permutation = [1, 0] 
    linalg.broadcast ins(%arg2 : memref<4xf32>) outs(%arg3 : memref<4x4xf32>) dimensions = [1] 
    linalg.map { arith.addf } ins(%arg3, %arg3 : memref<4x4xf32>, memref<4x4xf32>) outs(%arg3 : memref<4x4xf32>)
    linalg.reduce { arith.maximumf } ins(%arg0 : memref<4x8xf32>) outs(%arg2 : memref<4xf32>) dimensions = [1] 
    linalg.map outs(%arg3 : memref<4x4xf32>)
      (%init: f32) {
        %0 = linalg.index 0 : index
        %cst = arith.constant 0.000000e+00 : f32
        linalg.yield %cst : f32
      }
    return
  }
}

// -----
module {
  func.func @convolutions(%arg0: memref<1x16x16x4xf32>, %arg1: memref<3x3x4x8xf32>, %arg2: memref<1x14x14x8xf32>, %arg3: memref<1x15x15x4xf32>, %arg4: memref<2x2xf32>, %arg5: memref<3x3x4xf32>, %arg6: memref<1x14x14x4xf32>) {
    linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1 : memref<1x16x16x4xf32>, memref<3x3x4x8xf32>) outs(%arg2 : memref<1x14x14x8xf32>)
    linalg.pooling_nhwc_max {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%arg0, %arg4 : memref<1x16x16x4xf32>, memref<2x2xf32>) outs(%arg3 : memref<1x15x15x4xf32>)
    linalg.pooling_nhwc_sum ins(%arg0, %arg4 : memref<1x16x16x4xf32>, memref<2x2xf32>) outs(%arg3 : memref<1x15x15x4xf32>)
    linalg.depthwise_conv_2d_nhwc_hwc ins(%arg0, %arg5 : memref<1x16x16x4xf32>, memref<3x3x4xf32>) outs(%arg6 : memref<1x14x14x4xf32>)
    return
  }
}

// -----
module {
  func.func @batches(%arg0: memref<2x4x8xf32>, %arg1: memref<2x8x4xf32>, %arg2: memref<2x4x4xf32>) {
    linalg.batch_matmul ins(%arg0, %arg1 : memref<2x4x8xf32>, memref<2x8x4xf32>) outs(%arg2 : memref<2x4x4xf32>)
    return
  }
}

// -----
module {
  func.func @packs(%arg0: tensor<128x256xf32>, %arg1: tensor<16x8x8x32xf32>, %arg2: f32, %arg3: index, %arg4: tensor<16x8x?x32xf32>) {
    %pack = linalg.pack %arg0 inner_dims_pos = [0, 1] inner_tiles = [8, 32] into %arg1 : tensor<128x256xf32> -> tensor<16x8x8x32xf32>
    %pack_0 = linalg.pack %arg0 padding_value(%arg2 : f32) outer_dims_perm = [0, 1] inner_dims_pos = [0, 1] inner_tiles = [%arg3, 32] into %arg4 : tensor<128x256xf32> -> tensor<16x8x?x32xf32>
    %unpack = linalg.unpack %arg4 inner_dims_pos = [0, 1] inner_tiles = [%arg3, 32] into %arg0 : tensor<16x8x?x32xf32> -> tensor<128x256xf32>
    return
  }
}


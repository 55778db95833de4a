module {
  func.func @exp(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>) {
    linalg.exp ins(%arg0 : memref<4x8xf32>) outs(%arg1 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @log(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>) {
    linalg.log ins(%arg0 : memref<4x8xf32>) outs(%arg1 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @abs(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>) {
    linalg.abs ins(%arg0 : memref<4x8xf32>) outs(%arg1 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @ceil(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>) {
    linalg.ceil ins(%arg0 : memref<4x8xf32>) outs(%arg1 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @floor(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>) {
    linalg.floor ins(%arg0 : memref<4x8xf32>) outs(%arg1 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @negf(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>) {
    linalg.negf ins(%arg0 : memref<4x8xf32>) outs(%arg1 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @reciprocal(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>) {
    linalg.reciprocal ins(%arg0 : memref<4x8xf32>) outs(%arg1 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @round(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>) {
    linalg.round ins(%arg0 : memref<4x8xf32>) outs(%arg1 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @sqrt(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>) {
    linalg.sqrt ins(%arg0 : memref<4x8xf32>) outs(%arg1 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @rsqrt(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>) {
    linalg.rsqrt ins(%arg0 : memref<4x8xf32>) outs(%arg1 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @square(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>) {
    linalg.square ins(%arg0 : memref<4x8xf32>) outs(%arg1 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @tanh(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>) {
    linalg.tanh ins(%arg0 : memref<4x8xf32>) outs(%arg1 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @erf(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>) {
    linalg.erf ins(%arg0 : memref<4x8xf32>) outs(%arg1 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @add(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>, %arg2: memref<4x8xf32>) {
    linalg.add ins(%arg0, %arg1 : memref<4x8xf32>, memref<4x8xf32>) outs(%arg2 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @sub(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>, %arg2: memref<4x8xf32>) {
    linalg.sub ins(%arg0, %arg1 : memref<4x8xf32>, memref<4x8xf32>) outs(%arg2 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @mul(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>, %arg2: memref<4x8xf32>) {
    linalg.mul ins(%arg0, %arg1 : memref<4x8xf32>, memref<4x8xf32>) outs(%arg2 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @div(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>, %arg2: memref<4x8xf32>) {
    linalg.div ins(%arg0, %arg1 : memref<4x8xf32>, memref<4x8xf32>) outs(%arg2 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @max(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>, %arg2: memref<4x8xf32>) {
    linalg.max ins(%arg0, %arg1 : memref<4x8xf32>, memref<4x8xf32>) outs(%arg2 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @min(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>, %arg2: memref<4x8xf32>) {
    linalg.min ins(%arg0, %arg1 : memref<4x8xf32>, memref<4x8xf32>) outs(%arg2 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @powf(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>, %arg2: memref<4x8xf32>) {
    linalg.powf ins(%arg0, %arg1 : memref<4x8xf32>, memref<4x8xf32>) outs(%arg2 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @add_int(%arg0: memref<4x8xi32>, %arg1: memref<4x8xi32>, %arg2: memref<4x8xi32>) {
    linalg.add ins(%arg0, %arg1 : memref<4x8xi32>, memref<4x8xi32>) outs(%arg2 : memref<4x8xi32>)
    return
  }
}

// -----
module {
  func.func @sub_int(%arg0: memref<4x8xi32>, %arg1: memref<4x8xi32>, %arg2: memref<4x8xi32>) {
    linalg.sub ins(%arg0, %arg1 : memref<4x8xi32>, memref<4x8xi32>) outs(%arg2 : memref<4x8xi32>)
    return
  }
}

// -----
module {
  func.func @mul_int(%arg0: memref<4x8xi32>, %arg1: memref<4x8xi32>, %arg2: memref<4x8xi32>) {
    linalg.mul ins(%arg0, %arg1 : memref<4x8xi32>, memref<4x8xi32>) outs(%arg2 : memref<4x8xi32>)
    return
  }
}

// -----
module {
  func.func @div_int(%arg0: memref<4x8xi32>, %arg1: memref<4x8xi32>, %arg2: memref<4x8xi32>) {
    linalg.div ins(%arg0, %arg1 : memref<4x8xi32>, memref<4x8xi32>) outs(%arg2 : memref<4x8xi32>)
    return
  }
}

// -----
module {
  func.func @div_unsigned_int(%arg0: memref<4x8xi32>, %arg1: memref<4x8xi32>, %arg2: memref<4x8xi32>) {
    linalg.div_unsigned ins(%arg0, %arg1 : memref<4x8xi32>, memref<4x8xi32>) outs(%arg2 : memref<4x8xi32>)
    return
  }
}

// -----
module {
  func.func @max_int(%arg0: memref<4x8xi32>, %arg1: memref<4x8xi32>, %arg2: memref<4x8xi32>) {
    linalg.max ins(%arg0, %arg1 : memref<4x8xi32>, memref<4x8xi32>) outs(%arg2 : memref<4x8xi32>)
    return
  }
}

// -----
module {
  func.func @min_int(%arg0: memref<4x8xi32>, %arg1: memref<4x8xi32>, %arg2: memref<4x8xi32>) {
    linalg.min ins(%arg0, %arg1 : memref<4x8xi32>, memref<4x8xi32>) outs(%arg2 : memref<4x8xi32>)
    return
  }
}

// -----
module {
  func.func @select(%arg0: memref<4x8xi1>, %arg1: memref<4x8xf32>, %arg2: memref<4x8xf32>, %arg3: memref<4x8xf32>) {
    linalg.select ins(%arg0, %arg1, %arg2 : memref<4x8xi1>, memref<4x8xf32>, memref<4x8xf32>) outs(%arg3 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @batch_matvec(%arg0: memref<2x4x8xf32>, %arg1: memref<2x8xf32>, %arg2: memref<2x4xf32>) {
    linalg.batch_matvec ins(%arg0, %arg1 : memref<2x4x8xf32>, memref<2x8xf32>) outs(%arg2 : memref<2x4xf32>)
    return
  }
}

// -----
module {
  func.func @batch_vecmat(%arg0: memref<2x8xf32>, %arg1: memref<2x8x4xf32>, %arg2: memref<2x4xf32>) {
    linalg.batch_vecmat ins(%arg0, %arg1 : memref<2x8xf32>, memref<2x8x4xf32>) outs(%arg2 : memref<2x4xf32>)
    return
  }
}

// -----
module {
  func.func @mmt4d(%arg0: memref<2x3x4x5xf32>, %arg1: memref<6x3x7x5xf32>, %arg2: memref<2x6x4x7xf32>) {
    linalg.mmt4d ins(%arg0, %arg1 : memref<2x3x4x5xf32>, memref<6x3x7x5xf32>) outs(%arg2 : memref<2x6x4x7xf32>)
    return
  }
}

// -----
module {
  func.func @batch_mmt4d(%arg0: memref<1x2x3x4x5xf32>, %arg1: memref<1x6x3x7x5xf32>, %arg2: memref<1x2x6x4x7xf32>) {
    linalg.batch_mmt4d ins(%arg0, %arg1 : memref<1x2x3x4x5xf32>, memref<1x6x3x7x5xf32>) outs(%arg2 : memref<1x2x6x4x7xf32>)
    return
  }
}

// -----
module {
  func.func @batch_reduce_matmul(%arg0: memref<2x4x8xf32>, %arg1: memref<2x8x4xf32>, %arg2: memref<4x4xf32>) {
    linalg.batch_reduce_matmul ins(%arg0, %arg1 : memref<2x4x8xf32>, memref<2x8x4xf32>) outs(%arg2 : memref<4x4xf32>)
    return
  }
}

// -----
module {
  func.func @conv_1d(%arg0: memref<8xf32>, %arg1: memref<3xf32>, %arg2: memref<6xf32>) {
    linalg.conv_1d ins(%arg0, %arg1 : memref<8xf32>, memref<3xf32>) outs(%arg2 : memref<6xf32>)
    return
  }
}

// -----
module {
  func.func @conv_2d(%arg0: memref<8x8xf32>, %arg1: memref<3x3xf32>, %arg2: memref<6x6xf32>) {
    linalg.conv_2d ins(%arg0, %arg1 : memref<8x8xf32>, memref<3x3xf32>) outs(%arg2 : memref<6x6xf32>)
    return
  }
}

// -----
module {
  func.func @conv_3d(%arg0: memref<8x8x8xf32>, %arg1: memref<3x3x3xf32>, %arg2: memref<6x6x6xf32>) {
    linalg.conv_3d ins(%arg0, %arg1 : memref<8x8x8xf32>, memref<3x3x3xf32>) outs(%arg2 : memref<6x6x6xf32>)
    return
  }
}

// -----
module {
  func.func @conv_1d_nwc_wcf(%arg0: memref<1x8x4xf32>, %arg1: memref<3x4x5xf32>, %arg2: memref<1x6x5xf32>) {
    linalg.conv_1d_nwc_wcf ins(%arg0, %arg1 : memref<1x8x4xf32>, memref<3x4x5xf32>) outs(%arg2 : memref<1x6x5xf32>)
    return
  }
}

// -----
module {
  func.func @conv_1d_ncw_fcw(%arg0: memref<1x4x8xf32>, %arg1: memref<5x4x3xf32>, %arg2: memref<1x5x6xf32>) {
    linalg.conv_1d_ncw_fcw ins(%arg0, %arg1 : memref<1x4x8xf32>, memref<5x4x3xf32>) outs(%arg2 : memref<1x5x6xf32>)
    return
  }
}

// -----
module {
  func.func @conv_2d_nchw_fchw(%arg0: memref<1x4x8x8xf32>, %arg1: memref<5x4x3x3xf32>, %arg2: memref<1x5x6x6xf32>) {
    linalg.conv_2d_nchw_fchw ins(%arg0, %arg1 : memref<1x4x8x8xf32>, memref<5x4x3x3xf32>) outs(%arg2 : memref<1x5x6x6xf32>)
    return
  }
}

// -----
module {
  func.func @conv_2d_nhwc_fhwc(%arg0: memref<1x8x8x4xf32>, %arg1: memref<5x3x3x4xf32>, %arg2: memref<1x6x6x5xf32>) {
    linalg.conv_2d_nhwc_fhwc ins(%arg0, %arg1 : memref<1x8x8x4xf32>, memref<5x3x3x4xf32>) outs(%arg2 : memref<1x6x6x5xf32>)
    return
  }
}

// -----
module {
  func.func @conv_3d_ndhwc_dhwcf(%arg0: memref<1x8x8x8x4xf32>, %arg1: memref<3x3x3x4x5xf32>, %arg2: memref<1x6x6x6x5xf32>) {
    linalg.conv_3d_ndhwc_dhwcf ins(%arg0, %arg1 : memref<1x8x8x8x4xf32>, memref<3x3x3x4x5xf32>) outs(%arg2 : memref<1x6x6x6x5xf32>)
    return
  }
}

// -----
module {
  func.func @depthwise_conv_1d_nwc_wc(%arg0: memref<1x8x4xf32>, %arg1: memref<3x4xf32>, %arg2: memref<1x6x4xf32>) {
    linalg.depthwise_conv_1d_nwc_wc ins(%arg0, %arg1 : memref<1x8x4xf32>, memref<3x4xf32>) outs(%arg2 : memref<1x6x4xf32>)
    return
  }
}

// -----
module {
  func.func @depthwise_conv_2d_nchw_chw(%arg0: memref<1x4x8x8xf32>, %arg1: memref<4x3x3xf32>, %arg2: memref<1x4x6x6xf32>) {
    linalg.depthwise_conv_2d_nchw_chw ins(%arg0, %arg1 : memref<1x4x8x8xf32>, memref<4x3x3xf32>) outs(%arg2 : memref<1x4x6x6xf32>)
    return
  }
}

// -----
module {
  func.func @depthwise_conv_2d_nhwc_hwcm(%arg0: memref<1x8x8x4xf32>, %arg1: memref<3x3x4x2xf32>, %arg2: memref<1x6x6x4x2xf32>) {
    linalg.depthwise_conv_2d_nhwc_hwcm ins(%arg0, %arg1 : memref<1x8x8x4xf32>, memref<3x3x4x2xf32>) outs(%arg2 : memref<1x6x6x4x2xf32>)
    return
  }
}

// -----
module {
  func.func @pooling_nhwc_max(%arg0: memref<1x8x8x4xi32>, %arg1: memref<2x2xi32>, %arg2: memref<1x7x7x4xi32>) {
    linalg.pooling_nhwc_max ins(%arg0, %arg1 : memref<1x8x8x4xi32>, memref<2x2xi32>) outs(%arg2 : memref<1x7x7x4xi32>)
    return
  }
}

// -----
module {
  func.func @pooling_nhwc_max_unsigned(%arg0: memref<1x8x8x4xi32>, %arg1: memref<2x2xi32>, %arg2: memref<1x7x7x4xi32>) {
    linalg.pooling_nhwc_max_unsigned ins(%arg0, %arg1 : memref<1x8x8x4xi32>, memref<2x2xi32>) outs(%arg2 : memref<1x7x7x4xi32>)
    return
  }
}

// -----
module {
  func.func @pooling_nhwc_min(%arg0: memref<1x8x8x4xf32>, %arg1: memref<2x2xf32>, %arg2: memref<1x7x7x4xf32>) {
    linalg.pooling_nhwc_min ins(%arg0, %arg1 : memref<1x8x8x4xf32>, memref<2x2xf32>) outs(%arg2 : memref<1x7x7x4xf32>)
    return
  }
}

// -----
module {
  func.func @pooling_nchw_max(%arg0: memref<1x4x8x8xf32>, %arg1: memref<2x2xf32>, %arg2: memref<1x4x7x7xf32>) {
    linalg.pooling_nchw_max ins(%arg0, %arg1 : memref<1x4x8x8xf32>, memref<2x2xf32>) outs(%arg2 : memref<1x4x7x7xf32>)
    return
  }
}

// -----
module {
  func.func @pooling_nchw_sum(%arg0: memref<1x4x8x8xf32>, %arg1: memref<2x2xf32>, %arg2: memref<1x4x7x7xf32>) {
    linalg.pooling_nchw_sum ins(%arg0, %arg1 : memref<1x4x8x8xf32>, memref<2x2xf32>) outs(%arg2 : memref<1x4x7x7xf32>)
    return
  }
}

// -----
module {
  func.func @pooling_nwc_sum(%arg0: memref<1x8x4xf32>, %arg1: memref<2xf32>, %arg2: memref<1x7x4xf32>) {
    linalg.pooling_nwc_sum ins(%arg0, %arg1 : memref<1x8x4xf32>, memref<2xf32>) outs(%arg2 : memref<1x7x4xf32>)
    return
  }
}

// -----
module {
  func.func @pooling_ndhwc_max(%arg0: memref<1x8x8x8x4xf32>, %arg1: memref<2x2x2xf32>, %arg2: memref<1x7x7x7x4xf32>) {
    linalg.pooling_ndhwc_max ins(%arg0, %arg1 : memref<1x8x8x8x4xf32>, memref<2x2x2xf32>) outs(%arg2 : memref<1x7x7x7x4xf32>)
    return
  }
}

// -----
module {
  func.func @quantized(%arg0: memref<4x8xi8>, %arg1: memref<8x4xi8>, %arg2: memref<4x4xi32>, %arg3: i32) {
    linalg.quantized_matmul ins(%arg0, %arg1, %arg3, %arg3 : memref<4x8xi8>, memref<8x4xi8>, i32, i32) outs(%arg2 : memref<4x4xi32>)
    return
  }
}

// -----
module {
  func.func @copy_cast(%arg0: memref<4xf32>, %arg1: memref<4xf16>) {
    linalg.copy ins(%arg0 : memref<4xf32>) outs(%arg1 : memref<4xf16>)
    return
  }
}

// -----
module {
  func.func @unsigned_matmul(%arg0: memref<4x8xi8>, %arg1: memref<8x4xi8>, %arg2: memref<4x4xi32>) {
    linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%arg0, %arg1 : memref<4x8xi8>, memref<8x4xi8>) outs(%arg2 : memref<4x4xi32>)
    return
  }
}

// -----
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
module {
  func.func @contract(%arg0: memref<4x8xf32>, %arg1: memref<8x4xf32>, %arg2: memref<4x4xf32>) {
    linalg.contract indexing_maps = [#map, #map1, #map2] ins(%arg0, %arg1 : memref<4x8xf32>, memref<8x4xf32>) outs(%arg2 : memref<4x4xf32>)
    return
  }
}

// -----
module {
  func.func @elementwise(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>) {
    linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%arg0 : memref<4x8xf32>) outs(%arg1 : memref<4x8xf32>)
    linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%arg0, %arg0 : memref<4x8xf32>, memref<4x8xf32>) outs(%arg1 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @softmax(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>) {
    linalg.softmax dimension(1) ins(%arg0 : memref<4x8xf32>) outs(%arg1 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @complex(%arg0: memref<4x4xcomplex<f32>>, %arg1: memref<4x4xcomplex<f32>>) {
    linalg.matmul ins(%arg0, %arg0 : memref<4x4xcomplex<f32>>, memref<4x4xcomplex<f32>>) outs(%arg1 : memref<4x4xcomplex<f32>>)
    linalg.add ins(%arg0, %arg0 : memref<4x4xcomplex<f32>>, memref<4x4xcomplex<f32>>) outs(%arg1 : memref<4x4xcomplex<f32>>)
    return
  }
}

// -----
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0) -> ()>
module {
  func.func @trait(%arg0: memref<4xf32>, %arg1: memref<4xf32>, %arg2: index) {
    linalg.generic {doc = "x", indexing_maps = [#map, #map], iterator_types = ["parallel"], library_call = "some_func"} ins(%arg0 : memref<4xf32>) outs(%arg1 : memref<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    }
    linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel"]} ins(%arg0, %arg2 : memref<4xf32>, index) outs(%arg1 : memref<4xf32>) {
    ^bb0(%in: f32, %in_0: index, %out: f32):
      linalg.yield %in : f32
    }
    return
  }
}

// -----
module {
  func.func @winograd(%arg0: tensor<2x3x3x5xf32>, %arg1: tensor<6x6x5x2xf32>) {
    %0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%arg0 : tensor<2x3x3x5xf32>) outs(%arg1 : tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32>
    return
  }
}


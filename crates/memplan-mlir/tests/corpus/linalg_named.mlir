func.func @exp(%i0: memref<4x8xf32>, %o: memref<4x8xf32>) {
  linalg.exp ins(%i0 : memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  return
}
// -----
func.func @log(%i0: memref<4x8xf32>, %o: memref<4x8xf32>) {
  linalg.log ins(%i0 : memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  return
}
// -----
func.func @abs(%i0: memref<4x8xf32>, %o: memref<4x8xf32>) {
  linalg.abs ins(%i0 : memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  return
}
// -----
func.func @ceil(%i0: memref<4x8xf32>, %o: memref<4x8xf32>) {
  linalg.ceil ins(%i0 : memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  return
}
// -----
func.func @floor(%i0: memref<4x8xf32>, %o: memref<4x8xf32>) {
  linalg.floor ins(%i0 : memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  return
}
// -----
func.func @negf(%i0: memref<4x8xf32>, %o: memref<4x8xf32>) {
  linalg.negf ins(%i0 : memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  return
}
// -----
func.func @reciprocal(%i0: memref<4x8xf32>, %o: memref<4x8xf32>) {
  linalg.reciprocal ins(%i0 : memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  return
}
// -----
func.func @round(%i0: memref<4x8xf32>, %o: memref<4x8xf32>) {
  linalg.round ins(%i0 : memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  return
}
// -----
func.func @sqrt(%i0: memref<4x8xf32>, %o: memref<4x8xf32>) {
  linalg.sqrt ins(%i0 : memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  return
}
// -----
func.func @rsqrt(%i0: memref<4x8xf32>, %o: memref<4x8xf32>) {
  linalg.rsqrt ins(%i0 : memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  return
}
// -----
func.func @square(%i0: memref<4x8xf32>, %o: memref<4x8xf32>) {
  linalg.square ins(%i0 : memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  return
}
// -----
func.func @tanh(%i0: memref<4x8xf32>, %o: memref<4x8xf32>) {
  linalg.tanh ins(%i0 : memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  return
}
// -----
func.func @erf(%i0: memref<4x8xf32>, %o: memref<4x8xf32>) {
  linalg.erf ins(%i0 : memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  return
}
// -----
func.func @add(%i0: memref<4x8xf32>, %i1: memref<4x8xf32>, %o: memref<4x8xf32>) {
  linalg.add ins(%i0, %i1 : memref<4x8xf32>, memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  return
}
// -----
func.func @sub(%i0: memref<4x8xf32>, %i1: memref<4x8xf32>, %o: memref<4x8xf32>) {
  linalg.sub ins(%i0, %i1 : memref<4x8xf32>, memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  return
}
// -----
func.func @mul(%i0: memref<4x8xf32>, %i1: memref<4x8xf32>, %o: memref<4x8xf32>) {
  linalg.mul ins(%i0, %i1 : memref<4x8xf32>, memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  return
}
// -----
func.func @div(%i0: memref<4x8xf32>, %i1: memref<4x8xf32>, %o: memref<4x8xf32>) {
  linalg.div ins(%i0, %i1 : memref<4x8xf32>, memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  return
}
// -----
func.func @max(%i0: memref<4x8xf32>, %i1: memref<4x8xf32>, %o: memref<4x8xf32>) {
  linalg.max ins(%i0, %i1 : memref<4x8xf32>, memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  return
}
// -----
func.func @min(%i0: memref<4x8xf32>, %i1: memref<4x8xf32>, %o: memref<4x8xf32>) {
  linalg.min ins(%i0, %i1 : memref<4x8xf32>, memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  return
}
// -----
func.func @powf(%i0: memref<4x8xf32>, %i1: memref<4x8xf32>, %o: memref<4x8xf32>) {
  linalg.powf ins(%i0, %i1 : memref<4x8xf32>, memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  return
}
// -----
func.func @add_int(%i0: memref<4x8xi32>, %i1: memref<4x8xi32>, %o: memref<4x8xi32>) {
  linalg.add ins(%i0, %i1 : memref<4x8xi32>, memref<4x8xi32>) outs(%o : memref<4x8xi32>)
  return
}
// -----
func.func @sub_int(%i0: memref<4x8xi32>, %i1: memref<4x8xi32>, %o: memref<4x8xi32>) {
  linalg.sub ins(%i0, %i1 : memref<4x8xi32>, memref<4x8xi32>) outs(%o : memref<4x8xi32>)
  return
}
// -----
func.func @mul_int(%i0: memref<4x8xi32>, %i1: memref<4x8xi32>, %o: memref<4x8xi32>) {
  linalg.mul ins(%i0, %i1 : memref<4x8xi32>, memref<4x8xi32>) outs(%o : memref<4x8xi32>)
  return
}
// -----
func.func @div_int(%i0: memref<4x8xi32>, %i1: memref<4x8xi32>, %o: memref<4x8xi32>) {
  linalg.div ins(%i0, %i1 : memref<4x8xi32>, memref<4x8xi32>) outs(%o : memref<4x8xi32>)
  return
}
// -----
func.func @div_unsigned_int(%i0: memref<4x8xi32>, %i1: memref<4x8xi32>, %o: memref<4x8xi32>) {
  linalg.div_unsigned ins(%i0, %i1 : memref<4x8xi32>, memref<4x8xi32>) outs(%o : memref<4x8xi32>)
  return
}
// -----
func.func @max_int(%i0: memref<4x8xi32>, %i1: memref<4x8xi32>, %o: memref<4x8xi32>) {
  linalg.max ins(%i0, %i1 : memref<4x8xi32>, memref<4x8xi32>) outs(%o : memref<4x8xi32>)
  return
}
// -----
func.func @min_int(%i0: memref<4x8xi32>, %i1: memref<4x8xi32>, %o: memref<4x8xi32>) {
  linalg.min ins(%i0, %i1 : memref<4x8xi32>, memref<4x8xi32>) outs(%o : memref<4x8xi32>)
  return
}
// -----
func.func @select(%i0: memref<4x8xi1>, %i1: memref<4x8xf32>, %i2: memref<4x8xf32>, %o: memref<4x8xf32>) {
  linalg.select ins(%i0, %i1, %i2 : memref<4x8xi1>, memref<4x8xf32>, memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  return
}
// -----
func.func @batch_matvec(%i0: memref<2x4x8xf32>, %i1: memref<2x8xf32>, %o: memref<2x4xf32>) {
  linalg.batch_matvec ins(%i0, %i1 : memref<2x4x8xf32>, memref<2x8xf32>) outs(%o : memref<2x4xf32>)
  return
}
// -----
func.func @batch_vecmat(%i0: memref<2x8xf32>, %i1: memref<2x8x4xf32>, %o: memref<2x4xf32>) {
  linalg.batch_vecmat ins(%i0, %i1 : memref<2x8xf32>, memref<2x8x4xf32>) outs(%o : memref<2x4xf32>)
  return
}
// -----
func.func @mmt4d(%i0: memref<2x3x4x5xf32>, %i1: memref<6x3x7x5xf32>, %o: memref<2x6x4x7xf32>) {
  linalg.mmt4d ins(%i0, %i1 : memref<2x3x4x5xf32>, memref<6x3x7x5xf32>) outs(%o : memref<2x6x4x7xf32>)
  return
}
// -----
func.func @batch_mmt4d(%i0: memref<1x2x3x4x5xf32>, %i1: memref<1x6x3x7x5xf32>, %o: memref<1x2x6x4x7xf32>) {
  linalg.batch_mmt4d ins(%i0, %i1 : memref<1x2x3x4x5xf32>, memref<1x6x3x7x5xf32>) outs(%o : memref<1x2x6x4x7xf32>)
  return
}
// -----
func.func @batch_reduce_matmul(%i0: memref<2x4x8xf32>, %i1: memref<2x8x4xf32>, %o: memref<4x4xf32>) {
  linalg.batch_reduce_matmul ins(%i0, %i1 : memref<2x4x8xf32>, memref<2x8x4xf32>) outs(%o : memref<4x4xf32>)
  return
}
// -----
func.func @conv_1d(%i0: memref<8xf32>, %i1: memref<3xf32>, %o: memref<6xf32>) {
  linalg.conv_1d ins(%i0, %i1 : memref<8xf32>, memref<3xf32>) outs(%o : memref<6xf32>)
  return
}
// -----
func.func @conv_2d(%i0: memref<8x8xf32>, %i1: memref<3x3xf32>, %o: memref<6x6xf32>) {
  linalg.conv_2d ins(%i0, %i1 : memref<8x8xf32>, memref<3x3xf32>) outs(%o : memref<6x6xf32>)
  return
}
// -----
func.func @conv_3d(%i0: memref<8x8x8xf32>, %i1: memref<3x3x3xf32>, %o: memref<6x6x6xf32>) {
  linalg.conv_3d ins(%i0, %i1 : memref<8x8x8xf32>, memref<3x3x3xf32>) outs(%o : memref<6x6x6xf32>)
  return
}
// -----
func.func @conv_1d_nwc_wcf(%i0: memref<1x8x4xf32>, %i1: memref<3x4x5xf32>, %o: memref<1x6x5xf32>) {
  linalg.conv_1d_nwc_wcf ins(%i0, %i1 : memref<1x8x4xf32>, memref<3x4x5xf32>) outs(%o : memref<1x6x5xf32>)
  return
}
// -----
func.func @conv_1d_ncw_fcw(%i0: memref<1x4x8xf32>, %i1: memref<5x4x3xf32>, %o: memref<1x5x6xf32>) {
  linalg.conv_1d_ncw_fcw ins(%i0, %i1 : memref<1x4x8xf32>, memref<5x4x3xf32>) outs(%o : memref<1x5x6xf32>)
  return
}
// -----
func.func @conv_2d_nchw_fchw(%i0: memref<1x4x8x8xf32>, %i1: memref<5x4x3x3xf32>, %o: memref<1x5x6x6xf32>) {
  linalg.conv_2d_nchw_fchw ins(%i0, %i1 : memref<1x4x8x8xf32>, memref<5x4x3x3xf32>) outs(%o : memref<1x5x6x6xf32>)
  return
}
// -----
func.func @conv_2d_nhwc_fhwc(%i0: memref<1x8x8x4xf32>, %i1: memref<5x3x3x4xf32>, %o: memref<1x6x6x5xf32>) {
  linalg.conv_2d_nhwc_fhwc ins(%i0, %i1 : memref<1x8x8x4xf32>, memref<5x3x3x4xf32>) outs(%o : memref<1x6x6x5xf32>)
  return
}
// -----
func.func @conv_3d_ndhwc_dhwcf(%i0: memref<1x8x8x8x4xf32>, %i1: memref<3x3x3x4x5xf32>, %o: memref<1x6x6x6x5xf32>) {
  linalg.conv_3d_ndhwc_dhwcf ins(%i0, %i1 : memref<1x8x8x8x4xf32>, memref<3x3x3x4x5xf32>) outs(%o : memref<1x6x6x6x5xf32>)
  return
}
// -----
func.func @depthwise_conv_1d_nwc_wc(%i0: memref<1x8x4xf32>, %i1: memref<3x4xf32>, %o: memref<1x6x4xf32>) {
  linalg.depthwise_conv_1d_nwc_wc ins(%i0, %i1 : memref<1x8x4xf32>, memref<3x4xf32>) outs(%o : memref<1x6x4xf32>)
  return
}
// -----
func.func @depthwise_conv_2d_nchw_chw(%i0: memref<1x4x8x8xf32>, %i1: memref<4x3x3xf32>, %o: memref<1x4x6x6xf32>) {
  linalg.depthwise_conv_2d_nchw_chw ins(%i0, %i1 : memref<1x4x8x8xf32>, memref<4x3x3xf32>) outs(%o : memref<1x4x6x6xf32>)
  return
}
// -----
func.func @depthwise_conv_2d_nhwc_hwcm(%i0: memref<1x8x8x4xf32>, %i1: memref<3x3x4x2xf32>, %o: memref<1x6x6x4x2xf32>) {
  linalg.depthwise_conv_2d_nhwc_hwcm ins(%i0, %i1 : memref<1x8x8x4xf32>, memref<3x3x4x2xf32>) outs(%o : memref<1x6x6x4x2xf32>)
  return
}
// -----
func.func @pooling_nhwc_max(%i0: memref<1x8x8x4xi32>, %i1: memref<2x2xi32>, %o: memref<1x7x7x4xi32>) {
  linalg.pooling_nhwc_max ins(%i0, %i1 : memref<1x8x8x4xi32>, memref<2x2xi32>) outs(%o : memref<1x7x7x4xi32>)
  return
}
// -----
func.func @pooling_nhwc_max_unsigned(%i0: memref<1x8x8x4xi32>, %i1: memref<2x2xi32>, %o: memref<1x7x7x4xi32>) {
  linalg.pooling_nhwc_max_unsigned ins(%i0, %i1 : memref<1x8x8x4xi32>, memref<2x2xi32>) outs(%o : memref<1x7x7x4xi32>)
  return
}
// -----
func.func @pooling_nhwc_min(%i0: memref<1x8x8x4xf32>, %i1: memref<2x2xf32>, %o: memref<1x7x7x4xf32>) {
  linalg.pooling_nhwc_min ins(%i0, %i1 : memref<1x8x8x4xf32>, memref<2x2xf32>) outs(%o : memref<1x7x7x4xf32>)
  return
}
// -----
func.func @pooling_nchw_max(%i0: memref<1x4x8x8xf32>, %i1: memref<2x2xf32>, %o: memref<1x4x7x7xf32>) {
  linalg.pooling_nchw_max ins(%i0, %i1 : memref<1x4x8x8xf32>, memref<2x2xf32>) outs(%o : memref<1x4x7x7xf32>)
  return
}
// -----
func.func @pooling_nchw_sum(%i0: memref<1x4x8x8xf32>, %i1: memref<2x2xf32>, %o: memref<1x4x7x7xf32>) {
  linalg.pooling_nchw_sum ins(%i0, %i1 : memref<1x4x8x8xf32>, memref<2x2xf32>) outs(%o : memref<1x4x7x7xf32>)
  return
}
// -----
func.func @pooling_nwc_sum(%i0: memref<1x8x4xf32>, %i1: memref<2xf32>, %o: memref<1x7x4xf32>) {
  linalg.pooling_nwc_sum ins(%i0, %i1 : memref<1x8x4xf32>, memref<2xf32>) outs(%o : memref<1x7x4xf32>)
  return
}
// -----
func.func @pooling_ndhwc_max(%i0: memref<1x8x8x8x4xf32>, %i1: memref<2x2x2xf32>, %o: memref<1x7x7x7x4xf32>) {
  linalg.pooling_ndhwc_max ins(%i0, %i1 : memref<1x8x8x8x4xf32>, memref<2x2x2xf32>) outs(%o : memref<1x7x7x7x4xf32>)
  return
}
// -----
func.func @quantized(%a: memref<4x8xi8>, %b: memref<8x4xi8>, %o: memref<4x4xi32>, %z: i32) {
  linalg.quantized_matmul ins(%a, %b, %z, %z : memref<4x8xi8>, memref<8x4xi8>, i32, i32) outs(%o : memref<4x4xi32>)
  return
}
// -----
func.func @copy_cast(%a: memref<4xf32>, %o: memref<4xf16>) {
  linalg.copy ins(%a : memref<4xf32>) outs(%o : memref<4xf16>)
  return
}
// -----
func.func @unsigned_matmul(%a: memref<4x8xi8>, %b: memref<8x4xi8>, %o: memref<4x4xi32>) {
  linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%a, %b : memref<4x8xi8>, memref<8x4xi8>) outs(%o : memref<4x4xi32>)
  return
}
// -----
func.func @contract(%a: memref<4x8xf32>, %b: memref<8x4xf32>, %o: memref<4x4xf32>) {
  linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : memref<4x8xf32>, memref<8x4xf32>) outs(%o : memref<4x4xf32>)
  return
}
// -----
func.func @elementwise(%a: memref<4x8xf32>, %o: memref<4x8xf32>) {
  linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%a : memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  return
}
// -----
func.func @softmax(%a: memref<4x8xf32>, %o: memref<4x8xf32>) {
  linalg.softmax dimension(1) ins(%a : memref<4x8xf32>) outs(%o : memref<4x8xf32>)
  return
}
// -----
func.func @complex(%a: memref<4x4xcomplex<f32>>, %o: memref<4x4xcomplex<f32>>) {
  linalg.matmul ins(%a, %a : memref<4x4xcomplex<f32>>, memref<4x4xcomplex<f32>>) outs(%o : memref<4x4xcomplex<f32>>)
  linalg.add ins(%a, %a : memref<4x4xcomplex<f32>>, memref<4x4xcomplex<f32>>) outs(%o : memref<4x4xcomplex<f32>>)
  return
}
// -----
func.func @trait(%a: memref<4xf32>, %b: memref<4xf32>, %n: index) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], library_call = "some_func", doc = "x"} ins(%a : memref<4xf32>) outs(%b : memref<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a, %n : memref<4xf32>, index) outs(%b : memref<4xf32>) {
  ^bb0(%x: f32, %k: index, %y: f32):
    linalg.yield %x : f32
  }
  return
}
// -----
func.func @winograd(%a: tensor<2x3x3x5xf32>, %o: tensor<6x6x5x2xf32>) {
  %0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%a : tensor<2x3x3x5xf32>) outs(%o : tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32>
  return
}

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @generics(%a: memref<4x8xf32>, %b: memref<4x8xf32>, %c: memref<4xf32>, %t: tensor<4x8xf32>, %captured: memref<4xf32>) -> tensor<4x8xf32> {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : memref<4x8xf32>) outs(%b : memref<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : memref<4x8xf32>) outs(%c : memref<4xf32>) attrs = {acme.tag = 1 : i64} {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %x = memref.load %captured[%i] : memref<4xf32>
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%b : memref<4x8xf32>) {
  ^bb0(%out: f32):
    linalg.yield %out : f32
  }
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<4x8xf32>) outs(%t : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
// -----
func.func @memrefs(%a: memref<4x8xf32>, %b: memref<8x4xf32>, %c: memref<4x4xf32>, %x: memref<4x8xf32>, %v: memref<8xf32>, %w: memref<4xf32>, %f: f32, %s: memref<f32>) {
  linalg.fill ins(%f : f32) outs(%c : memref<4x4xf32>)
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x4xf32>) outs(%c : memref<4x4xf32>)
  linalg.copy ins(%a : memref<4x8xf32>) outs(%x : memref<4x8xf32>)
  linalg.add ins(%a, %x : memref<4x8xf32>, memref<4x8xf32>) outs(%x : memref<4x8xf32>)
  linalg.exp ins(%a : memref<4x8xf32>) outs(%x : memref<4x8xf32>)
  linalg.max ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%x : memref<4x8xf32>)
  linalg.sub ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%x : memref<4x8xf32>)
  linalg.mul ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%x : memref<4x8xf32>)
  linalg.div ins(%a, %a : memref<4x8xf32>, memref<4x8xf32>) outs(%x : memref<4x8xf32>)
  linalg.abs ins(%a : memref<4x8xf32>) outs(%x : memref<4x8xf32>)
  linalg.negf ins(%a : memref<4x8xf32>) outs(%x : memref<4x8xf32>)
  linalg.square ins(%a : memref<4x8xf32>) outs(%x : memref<4x8xf32>)
  linalg.reciprocal ins(%a : memref<4x8xf32>) outs(%x : memref<4x8xf32>)
  linalg.tanh ins(%a : memref<4x8xf32>) outs(%x : memref<4x8xf32>)
  linalg.matvec ins(%a, %v : memref<4x8xf32>, memref<8xf32>) outs(%w : memref<4xf32>)
  linalg.vecmat ins(%v, %b : memref<8xf32>, memref<8x4xf32>) outs(%w : memref<4xf32>)
  linalg.dot ins(%v, %v : memref<8xf32>, memref<8xf32>) outs(%s : memref<f32>)
  linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%a, %x : memref<4x8xf32>, memref<4x8xf32>) outs(%c : memref<4x4xf32>)
  return
}
// -----
func.func @mixed(%a: memref<4x8xf16>, %b: memref<8x4xf16>, %c: memref<4x4xf32>, %i: memref<4x8xi8>, %j: memref<8x4xi8>, %k: memref<4x4xi32>, %f: f16) {
  linalg.matmul ins(%a, %b : memref<4x8xf16>, memref<8x4xf16>) outs(%c : memref<4x4xf32>)
  linalg.matmul ins(%i, %j : memref<4x8xi8>, memref<8x4xi8>) outs(%k : memref<4x4xi32>)
  linalg.add ins(%k, %k : memref<4x4xi32>, memref<4x4xi32>) outs(%k : memref<4x4xi32>)
  return
}
// -----
func.func @tensors(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %c: tensor<4x4xf32>, %v: tensor<4xf32>, %o: tensor<8x4xf32>, %f: f32) -> tensor<4x4xf32> {
  %0 = linalg.fill ins(%f : f32) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = linalg.map { math.exp } ins(%1 : tensor<4x4xf32>) outs(%c : tensor<4x4xf32>)
  %3 = linalg.map ins(%1, %2 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) (%l: f32, %r: f32, %init: f32) {
    %p = arith.mulf %l, %r : f32
    %q = arith.addf %p, %r : f32
    linalg.yield %q : f32
  }
  %4 = linalg.reduce { arith.addf } ins(%a : tensor<4x8xf32>) outs(%v : tensor<4xf32>) dimensions = [1]
  %5 = linalg.reduce ins(%a : tensor<4x8xf32>) outs(%v : tensor<4xf32>) dimensions = [1] (%in: f32, %init: f32) {
    %p = arith.mulf %in, %in : f32
    %q = arith.addf %p, %init : f32
    linalg.yield %q : f32
  }
  %6 = linalg.transpose ins(%a : tensor<4x8xf32>) outs(%o : tensor<8x4xf32>) permutation = [1, 0]
  %7 = linalg.broadcast ins(%v : tensor<4xf32>) outs(%c : tensor<4x4xf32>) dimensions = [1]
  %8:2 = linalg.reduce ins(%a, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%v, %v : tensor<4xf32>, tensor<4xf32>) dimensions = [1] (%i0: f32, %i1: f32, %o0: f32, %o1: f32) {
    linalg.yield %i0, %i1 : f32, f32
  }
  %9 = linalg.softmax dimension(1) ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x4xf32>
}
// -----
func.func @buffers(%a: memref<4x8xf32>, %o: memref<8x4xf32>, %v: memref<4xf32>, %c: memref<4x4xf32>) {
  linalg.transpose ins(%a : memref<4x8xf32>) outs(%o : memref<8x4xf32>) permutation = [1, 0]
  linalg.broadcast ins(%v : memref<4xf32>) outs(%c : memref<4x4xf32>) dimensions = [1]
  linalg.map { arith.addf } ins(%c, %c : memref<4x4xf32>, memref<4x4xf32>) outs(%c : memref<4x4xf32>)
  linalg.reduce { arith.maximumf } ins(%a : memref<4x8xf32>) outs(%v : memref<4xf32>) dimensions = [1]
  linalg.map outs(%c : memref<4x4xf32>) (%init: f32) {
    %i = linalg.index 0 : index
    %f = arith.constant 0.0 : f32
    linalg.yield %f : f32
  }
  return
}
// -----
func.func @convolutions(%i: memref<1x16x16x4xf32>, %k: memref<3x3x4x8xf32>, %o: memref<1x14x14x8xf32>, %p: memref<1x15x15x4xf32>, %w: memref<2x2xf32>, %dk: memref<3x3x4xf32>, %do: memref<1x14x14x4xf32>) {
  linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%i, %k : memref<1x16x16x4xf32>, memref<3x3x4x8xf32>) outs(%o : memref<1x14x14x8xf32>)
  linalg.pooling_nhwc_max {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%i, %w : memref<1x16x16x4xf32>, memref<2x2xf32>) outs(%p : memref<1x15x15x4xf32>)
  linalg.pooling_nhwc_sum ins(%i, %w : memref<1x16x16x4xf32>, memref<2x2xf32>) outs(%p : memref<1x15x15x4xf32>)
  linalg.depthwise_conv_2d_nhwc_hwc ins(%i, %dk : memref<1x16x16x4xf32>, memref<3x3x4xf32>) outs(%do : memref<1x14x14x4xf32>)
  return
}
// -----
func.func @batches(%a: memref<2x4x8xf32>, %b: memref<2x8x4xf32>, %c: memref<2x4x4xf32>) {
  linalg.batch_matmul ins(%a, %b : memref<2x4x8xf32>, memref<2x8x4xf32>) outs(%c : memref<2x4x4xf32>)
  return
}
// -----
func.func @packs(%s: tensor<128x256xf32>, %d: tensor<16x8x8x32xf32>, %p: f32, %t: index, %e: tensor<16x8x?x32xf32>) {
  %0 = linalg.pack %s inner_dims_pos = [0, 1] inner_tiles = [8, 32] into %d : tensor<128x256xf32> -> tensor<16x8x8x32xf32>
  %1 = linalg.pack %s padding_value(%p : f32) outer_dims_perm = [0, 1] inner_dims_pos = [0, 1] inner_tiles = [%t, 32] into %e : tensor<128x256xf32> -> tensor<16x8x?x32xf32>
  %2 = linalg.unpack %e inner_dims_pos = [0, 1] inner_tiles = [%t, 32] into %s : tensor<16x8x?x32xf32> -> tensor<128x256xf32>
  return
}

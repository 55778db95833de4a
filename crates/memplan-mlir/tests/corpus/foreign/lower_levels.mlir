// Code generation: vectors, matrices, layouts, transform scripts, other front ends.
func.func @codegen(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %n: index, %x: f32, %v: vector<4xf32>, %m: memref<4x8xf32>, %p: !tt.ptr<f32>) {
  // uses: %a %n %b ; types: tensor<?x?xf32>
  %0 = iree_linalg_ext.pack %a outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [%n, 8] into %b : (tensor<?x?xf32> tensor<?x?xf32>) -> tensor<?x?xf32>
  // uses: %a %b ; regions: 1
  %1:2 = iree_linalg_ext.sort dimension(0) outs(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) {
  ^bb0(%s: f32, %t: f32, %u: f32, %w: f32):
    iree_linalg_ext.yield %s : f32
  } -> tensor<?x?xf32>, tensor<?x?xf32>
  // uses: %a %b %x %b ; types: tensor<?x?xf32>
  %2 = iree_linalg_ext.attention {indexing_maps = [affine_map<(d0) -> (d0)>]} ins(%a, %b, %x : tensor<?x?xf32>, tensor<?x?xf32>, f32) outs(%b : tensor<?x?xf32>) -> tensor<?x?xf32>
  // uses: %v ; types: vector<4xf32>
  %3 = iree_vector_ext.to_layout %v to layout(#layout) : vector<4xf32>
  // uses: %m %n %n %v %x
  %4 = iree_vector_ext.transfer_gather %m[%n, %n] [None, %v : vector<4xindex>], %x {in_bounds = [true, true]} : memref<4x8xf32>, vector<4x8xf32>
  // uses: %a %b %v ; types: vector<4xf32>
  %5 = iree_codegen.inner_tiled ins(%a, %b) outs(%v) {kind = #iree_gpu.mma_layout<MFMA_F32_16x16x16_F16>, semantics = #s<a = false>} : tensor<?x?xf32>, tensor<?x?xf32> into vector<4xf32>
  // uses: %a
  %6 = iree_encoding.set_encoding %a : tensor<?x?xf32> -> tensor<?x?xf32, #iree_encoding.encoding<operand_index = 0 : index, op_type = matmul>>
  // uses: %a %n %n %n %n
  %7 = iree_tensor_ext.dispatch.tensor.load %a, offsets = [0, %n], sizes = [4, %n], strides = [1, 1] : !iree_tensor_ext.dispatch.tensor<readonly:tensor<?x?xf32>>{%n, %n} -> tensor<4x?xf32>
  // uses: %7 %a %n %n %n %n
  iree_tensor_ext.dispatch.tensor.store %7, %a, offsets = [0, %n], sizes = [4, %n], strides = [1, 1] : tensor<4x?xf32> -> !iree_tensor_ext.dispatch.tensor<writeonly:tensor<?x?xf32>>{%n, %n}
  // uses: %p %n
  %8 = tt.addptr %p, %n : !tt.ptr<f32>, index
  // uses: %8 %v %x
  %9 = tt.load %8, %v, %x evictionPolicy = evict_last cacheModifier = ca {isVolatile = true} : !tt.ptr<f32>
  // uses: %a ; regions: 1 ; types: tensor<?xf32>
  %10 = "tt.reduce"(%a) <{axis = 1 : i32}> ({
  ^bb0(%s: f32, %t: f32):
    tt.reduce.return %s : f32
  }) : (tensor<?x?xf32>) -> tensor<?xf32>
  // uses: %a %b %v ; types: tensor<?x?xf32>
  %11 = tt.dot %a, %b, %v, inputPrecision = tf32 : tensor<?x?xf32> * tensor<?x?xf32> -> tensor<?x?xf32>
  // uses: %p %n %n %n %n ; types: !tt.tensordesc<tensor<4x8xf32>>
  %12 = tt.make_tensor_descriptor %p, [%n, %n], [%n, %n] : !tt.ptr<f32>, !tt.tensordesc<tensor<4x8xf32>>
  // uses: %a %b ; types: !torch.vtensor<[2,?],f32>
  %13 = torch.aten.mul.Tensor %a, %b : !torch.vtensor<[2,?],f32>, !torch.vtensor<[2,?],f32> -> !torch.vtensor<[2,?],f32>
  // uses: %n %x %a ; regions: 1 ; arguments: %k %acc
  %14 = torch.prim.Loop %n, %x, init(%a) {
  ^bb0(%k: !torch.int, %acc: !torch.vtensor<[2,?],f32>):
    torch.prim.Loop.condition %x, iter(%acc : !torch.vtensor<[2,?],f32>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[2,?],f32>) -> !torch.vtensor<[2,?],f32>
  // uses: %a %b %b ; regions: 1 ; types: tensor<?x?xf32>
  %15 = "stablehlo.scatter"(%a, %b, %b) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%s: tensor<f32>, %t: tensor<f32>):
    stablehlo.return %t : tensor<f32>
  }) : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  // uses: %a %b ; types: tensor<?x?xf32>
  %16 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  // uses: %a %b ; types: tensor<?x?xf32>
  %17 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [1, 1]], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  // uses: %a
  %18 = stablehlo.slice %a [0:4:2, 1:8] : (tensor<?x?xf32>) -> tensor<2x7xf32>
  // uses: %a %b ; types: tensor<?x?xi1>
  %19 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xi1>
  // uses: %n %n %n ; regions: 1 ; arguments: %iv
  fir.do_loop %iv = %n to %n step %n unordered {
    // uses: %iv
    fir.result %iv : index
  }
  // uses: %m %n %n %n ; types: !fir.ref<f32>
  %20 = fir.array_coor %m(%n) %n, %n : (!fir.ref<!fir.array<?xf32>>, !fir.shape<1>, index, index) -> !fir.ref<f32>
  // uses: %a %b %n %n
  hw.instance "bar" @Bar<width: i32 = 4>(in: %a: i8, clk: %b: i1) -> (out: i8, %n: i4, %n: i2)
  // uses: %n %x
  sv.assign %n, %x : i8
  // uses: %n %n ; types: i8
  %21 = comb.add bin %n, %n : i8
  // uses: %n %n %x %x ; types: i8
  %22 = seq.compreg %n, %n reset %x, %x : i8
  // uses: %v %n
  %23 = spirv.CompositeInsert %v, %n[1 : i32] : i32 into !spirv.struct<(i32)>
  // uses: %m %n %n %n
  %24 = amdgpu.raw_buffer_load {boundsCheck = true} %m[%n, %n] sgprOffset %n : memref<4x8xf32>, index, index -> f32
  // uses: %m %n %n %m %n %n %n
  %25 = nvgpu.device_async_copy %m[%n, %n], %m[%n, %n], 4, %n {bypassL1} : memref<4x8xf32> to memref<4x8xf32>
  // uses: %n %n ; regions: 1
  acc.parallel num_gangs({%n : index, %n : index}) {
    // uses:
    acc.yield
  }
  // uses: %n %n ; regions: 1
  acc.kernels async(%n : index) wait({%n : index}) {
    acc.terminator
  }
  return
}
// -----
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    // uses: %root ; types: !transform.any_op
    %f = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    // uses: %f
    %tiled, %loops:2 = transform.structured.tile_using_for %f tile_sizes [4, [8]] interchange = [1, 0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    // uses: %root ; regions: 1 ; arguments: %arg0
    transform.foreach %root : !transform.any_op {
    ^bb0(%arg0: !transform.any_op):
      transform.yield
    }
    // uses: %root
    transform.apply_patterns to %root {
      transform.apply_patterns.canonicalization
    } : !transform.any_op
    // uses: %root ; types: !transform.any_op
    %g = transform.apply_registered_pass "canonicalize" with options = {"top-down" = false} to %root : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
// -----
// Quantised types, maps, sets and sparse encodings between brackets.
#CSR = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed), posWidth = 64 }>
func.func @types(%a: tensor<4x!quant.uniform<i8:f32, 0.5:3>>, %s: tensor<8x8xf32, #CSR>, %n: index) {
  // uses: %a ; types: tensor<4xi8>
  %0 = quant.scast %a : tensor<4x!quant.uniform<i8<-8:7>:f32:1, {2.0:1, 3.0}>> to tensor<4xi8>
  // uses: %s ; types: memref<?xindex>
  %1 = sparse_tensor.positions %s {level = 1 : index} : tensor<8x8xf32, #CSR> to memref<?xindex>
  // uses: %s ; regions: 1
  sparse_tensor.foreach in %s : tensor<8x8xf32, #CSR> do {
  ^bb0(%i: index, %j: index, %v: f32):
  }
  // uses: %n %n ; types: index
  %2 = affine.apply affine_map<(d0)[s0] -> (d0 floordiv 4 + s0 mod 3 - 1)>(%n)[%n]
  // uses: %n %n
  affine.if affine_set<(d0)[s0] : (d0 - 1 >= 0, s0 - d0 == 0)>(%n)[%n] {
  }
  // uses: %n ; types: index
  %3 = acme.shift %n >> 3 : index
  // uses: %n %n
  %4 = acme.ge %n >= %n : index
  // uses: %n
  %5 = acme.fn %n : () -> (i32 -> f32)
  // uses: %n ; types: tuple<>
  %6 = acme.mixed(%n) @sym::@inner #acme.attr<"a>b", [1, -2, 0x1F, 1.5e-3]> {k = #loc} : tuple<>
  return
}
#loc = loc(fused<"x">["a.py":1:2, callsite("f" at "b.py":3:4)])

// Networks as frameworks hand them over.
func.func @torch(%arg0: !torch.vtensor<[?,3],f32>, %arg1: !torch.vtensor<[3],si64>) -> !torch.vtensor<[?],f32> attributes {torch.onnx_meta.opset_version = 17 : si64} {
  // uses:
  %int1 = torch.constant.int 1
  // uses:
  %none = torch.constant.none
  // uses:
  %true = torch.constant.bool true
  // uses:
  %str = torch.constant.str "sum"
  // uses:
  %float = torch.constant.float 1.000000e+00
  // uses: %int1 %int1
  %l = torch.prim.ListConstruct %int1, %int1 : (!torch.int, !torch.int) -> !torch.list<int>
  // uses: %arg0 %arg0 %int1
  %0 = torch.aten.add.Tensor %arg0, %arg0, %int1 : !torch.vtensor<[?,3],f32>, !torch.vtensor<[?,3],f32>, !torch.int -> !torch.vtensor<[?,3],f32>
  // uses: %arg0 %arg1
  %1 = torch.operator "onnx.Conv"(%arg0, %arg1) {torch.onnx.dilations = [1 : si64, 1 : si64]} : (!torch.vtensor<[?,3],f32>, !torch.vtensor<[3],si64>) -> !torch.vtensor<[?],f32>
  // uses:
  %2 = torch.vtensor.literal(dense<1.0> : tensor<2xf32>) : !torch.vtensor<[2],f32>
  // uses: %arg0 %s0
  torch.bind_symbolic_shape %arg0, [%s0], affine_map<()[s0] -> (s0, 3)> : !torch.vtensor<[?,3],f32>
  // uses:
  %s0 = torch.symbolic_int "s0" {min_val = 5, max_val = 10} : !torch.int
  %3:2 = torch.prim.If %true -> (!torch.int, !torch.int) {
    // uses: %int1 %int1
    torch.prim.If.yield %int1, %int1 : !torch.int, !torch.int
  } else {
    // uses: %int1 %int1
    torch.prim.If.yield %int1, %int1 : !torch.int, !torch.int
  }
  %4 = torch.prim.Loop %int1, %true, init(%arg0) {
  ^bb0(%i: !torch.int, %x: !torch.vtensor<[?,3],f32>):
    // uses: %true %x
    torch.prim.Loop.condition %true, iter(%x : !torch.vtensor<[?,3],f32>)
  } : (!torch.int, !torch.bool, !torch.vtensor<[?,3],f32>) -> !torch.vtensor<[?,3],f32>
  // uses: %t
  %5 = torch.copy.to_vtensor %t : !torch.vtensor<*,f32>
  // uses: %m
  %6 = torch.prim.GetAttr %m["w"] : !torch.nn.Module<"M"> -> !torch.tensor
  torch.initialize.global_slots [
    @a(%int1 : !torch.int)
    @b(%int1 : !torch.int)
  ]
  // uses: %0 %t
  torch.overwrite.tensor.contents %0 overwrites %t : !torch.vtensor<[?,3],f32>, !torch.tensor
  return %1 : !torch.vtensor<[?],f32>
}
// -----
torch.class_type @M {
  // uses:
  torch.attr "w" : !torch.tensor
  // uses:
  torch.method "forward", @forward
}
// uses:
torch.global_slot "private" @a : !torch.int
// uses:
%w = torch.tensor.literal(dense<1> : tensor<1xi64>) : !torch.tensor<[1],si64>
torch.nn_module {
  // uses: %w
  torch.slot "w", %w : !torch.tensor<[1],si64>
} : !torch.nn.Module<"M">
// -----
func.func @sh(%a: tensor<2x3xf32>, %b: tensor<?xi32>, %p: tensor<i1>, %t: !stablehlo.token) {
  // uses: %a %a
  %0 = stablehlo.dot_general %a, %a, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, HIGHEST] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>
  // uses: %a %c
  %1 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %2:2 = stablehlo.reduce(%a init: %c), (%b init: %d) across dimensions = [0] : (tensor<2x3xf32>, tensor<?xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
   reducer(%x: tensor<f32>, %y: tensor<f32>) (%z: tensor<i32>, %w: tensor<i32>)  {
    // uses: %x %z
    stablehlo.return %x, %z : tensor<f32>, tensor<i32>
  }
  // uses: %a %a
  %3 = stablehlo.convolution(%a, %a) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // uses: %a %b
  %4 = stablehlo.custom_call @foo(%a, %b) {backend_config = "", api_version = 4 : i32, called_computations = [@bar]} : (tensor<2x3xf32>, tensor<?xi32>) -> tensor<2xf32>
  // uses: %a
  %5 = stablehlo.slice %a [0:2:1, 1:3] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  // uses: %a %c
  %6 = stablehlo.pad %a, %c, low = [0, 1], high = [1, 0], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x4xf32>
  // uses: %a
  %7 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // uses: %a %a
  %8 = stablehlo.compare  GT, %a, %a,  FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  // uses: %a %a
  %9 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  // uses: %s
  %10 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> tensor<2xui64>
  // uses: %a
  %11 = stablehlo.exponential %a {result_accuracy = #stablehlo.result_accuracy<mode = HIGHEST>} : tensor<2x3xf32>
  // uses: %b %s0 %l0 %st
  %12 = stablehlo.real_dynamic_slice %b, %s0, %l0, %st : (tensor<?xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xi32>
  // uses: %a
  %13 = stablehlo.convert %a : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32, 0.1:-10>>
  // uses: %tu
  %14 = stablehlo.get_tuple_element %tu[0] : (tuple<tensor<f32>, tuple<tensor<i32>>>) -> tensor<f32>
  // uses: %z
  %15 = stablehlo.fft %z, type =  RFFT, length = [16] : (tensor<16xf32>) -> tensor<9xcomplex<f32>>
  %16 = "stablehlo.sort"(%a) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    // uses: %p
    stablehlo.return %p : tensor<i1>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // uses: %a
  %17 = sdy.sharding_constraint %a <@mesh, [{"x"}, {?}], replicated={"y"}> : tensor<2x3xf32>
  %18 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", ?}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x"} (%arg9: tensor<2x3xf32>) {
    // uses: %arg9
    sdy.return %arg9 : tensor<2x3xf32>
  } : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // uses:
  sdy.mesh @mesh = <["x"=2, "y"=4], device_ids=[1, 0]>
  // uses: %a %b
  %19 = chlo.broadcast_add %a, %b : (tensor<2x3xf32>, tensor<?xi32>) -> tensor<?x?xf32>
  // uses: %a
  %20 = mhlo.fusion(%a) {x}
  // uses: %a %a
  %21 = vhlo.add_v1(%a, %a) : (!vhlo.tensor_v1<2x3x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x3x!vhlo.f32_v1>
  return
}

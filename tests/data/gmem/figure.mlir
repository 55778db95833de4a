// The picture of the GMEM document: V0 has two readers, and V1 may take its block after the second.
#loc = loc(unknown)
module @figure attributes {module.chip = "bm1684x", module.state = "TPU_DIVIDED"} {
  module @figure attributes {module.device_id = 0 : i64} {
    func.func @main(%arg0: tensor<1x1024xf32> loc(unknown)) -> tensor<1x1024xf32> {
      %none = "top.None"() : () -> none loc(#loc)
      %weight = "top.Weight"() : () -> tensor<1024x1024xi8> loc("weight")
      %bias = "top.Weight"() : () -> tensor<1xf32> loc("bias")
      %in = "top.Input"(%arg0) : (tensor<1x1024xf32>) -> tensor<1x1024xf32> loc("in")
      %V0 = "tpu.MatMul"(%in, %weight, %bias, %none) : (tensor<1x1024xf32>, tensor<1024x1024xi8>, tensor<1xf32>, none) -> tensor<1x1024xf32> loc("V0")
      %A = "tpu.Active"(%V0) : (tensor<1x1024xf32>) -> tensor<1x1024xf32> loc("A")
      %B = "tpu.Active"(%A) : (tensor<1x1024xf32>) -> tensor<1x1024xf32> loc("B")
      %C = "tpu.Add"(%V0, %B) : (tensor<1x1024xf32>, tensor<1x1024xf32>) -> tensor<1x1024xf32> loc("C")
      %V1 = "tpu.Active"(%C) : (tensor<1x1024xf32>) -> tensor<1x1024xf32> loc("V1")
      return %V1 : tensor<1x1024xf32> loc(#loc)
    } loc(#loc)
  } loc(#loc)
} loc(#loc)

"""Makes batch.onnx: a layer with a residual connection, its batch size a name."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 8])
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 8])
nodes = [
    helper.make_node("MatMul", ["x", "w"], ["product"]),
    helper.make_node("Relu", ["product"], ["active"]),
    helper.make_node("Add", ["active", "x"], ["y"]),
]
weights = [numpy_helper.from_array(np.eye(8, dtype=np.float32), "w")]
model = helper.make_model(helper.make_graph(nodes, "residual", [x], [y], weights), opset_imports=[helper.make_opsetid("", 21)])
save(model, "batch.onnx")

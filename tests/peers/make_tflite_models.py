"""Makes the small .tflite models in tests/data/tflite.

Run once, the results are committed:

    python tests/peers/make_tflite_models.py tests/data/tflite

Weights are random numbers from a fixed seed. Only the `flatbuffers` and `ai-edge-litert` packages are needed: the models are
written through the schema, not converted, so there is no TensorFlow anywhere.
"""

import pathlib
import sys

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as fb

Op = fb.BuiltinOperator
Type = fb.TensorType
ELEMENTS = {Type.INT8: np.int8, Type.INT32: np.int32, Type.FLOAT32: np.float32, Type.INT16: np.int16, Type.BOOL: np.bool_}


class Maker:
    """Collects the tensors and operators of one subgraph of a model."""

    def __init__(self, name, model=None):
        self.random = np.random.default_rng(7)
        self.model = model or fb.ModelT()
        if model is None:
            self.model.version = 3
            self.model.description = b"memplan test model"
            self.model.buffers = [fb.BufferT()]
            self.model.operatorCodes = []
            self.model.subgraphs = []
            self.model.metadata = []
        self.graph = fb.SubGraphT()
        self.graph.name = name
        self.graph.tensors = []
        self.graph.operators = []
        self.model.subgraphs.append(self.graph)

    def tensor(self, name, shape, kind=Type.INT8, data=None, scale=0.05, zero=0, scales=None, axis=0, variable=False, plain=False):
        tensor = fb.TensorT()
        tensor.name = name
        tensor.shape = list(shape)
        tensor.type = kind
        tensor.isVariable = variable
        if kind in (Type.INT8, Type.INT16, Type.INT32) and not plain:
            quantization = fb.QuantizationParametersT()
            quantization.scale = [scale] if scales is None else list(scales)
            quantization.zeroPoint = [zero] * len(quantization.scale)
            quantization.quantizedDimension = axis
            tensor.quantization = quantization
        if data is not None:
            buffer = fb.BufferT()
            buffer.data = np.ascontiguousarray(data).view(np.uint8).reshape(-1)
            self.model.buffers.append(buffer)
            tensor.buffer = len(self.model.buffers) - 1
        else:
            tensor.buffer = 0
        self.graph.tensors.append(tensor)
        return len(self.graph.tensors) - 1

    def shape(self, tensor):
        return self.graph.tensors[tensor].shape

    def weights(self, name, shape, channels, axis=0):
        data = self.random.integers(-127, 128, shape, dtype=np.int8)
        return self.tensor(name, shape, data=data, scales=[0.002] * channels, axis=axis)

    def bias(self, name, channels, scale=0.05 * 0.002):
        data = self.random.integers(-500, 500, channels, dtype=np.int32)
        return self.tensor(name, [channels], Type.INT32, data=data, scales=[scale] * channels)

    def op(self, code, inputs, outputs, options=None, options_type=0, version=1):
        for index, known in enumerate(self.model.operatorCodes):
            if known.builtinCode == code and known.version == version:
                break
        else:
            known = fb.OperatorCodeT()
            known.builtinCode = code
            known.deprecatedBuiltinCode = min(code, 127)
            known.version = version
            self.model.operatorCodes.append(known)
            index = len(self.model.operatorCodes) - 1
        operator = fb.OperatorT()
        operator.opcodeIndex = index
        operator.inputs = list(inputs)
        operator.outputs = list(outputs)
        operator.builtinOptions = options
        operator.builtinOptionsType = options_type
        self.graph.operators.append(operator)
        return outputs[0] if outputs else None

    def input(self, name, shape, kind=Type.INT8, **rest):
        tensor = self.tensor(name, shape, kind, **rest)
        self.graph.inputs = (self.graph.inputs or []) + [tensor]
        return tensor

    def conv(self, name, x, channels, size=3, stride=1):
        _, height, width, depth = self.shape(x)
        weights = self.weights(name + "/w", [channels, size, size, depth], channels)
        options = fb.Conv2DOptionsT()
        options.padding, options.strideH, options.strideW = fb.Padding.SAME, stride, stride
        options.dilationHFactor = options.dilationWFactor = 1
        options.fusedActivationFunction = fb.ActivationFunctionType.RELU
        out = self.tensor(name, [1, -(-height // stride), -(-width // stride), channels])
        inputs = [x, weights, self.bias(name + "/b", channels)]
        return self.op(Op.CONV_2D, inputs, [out], options, fb.BuiltinOptions.Conv2DOptions, 3)

    def depthwise(self, name, x, stride=1):
        _, height, width, depth = self.shape(x)
        weights = self.weights(name + "/w", [1, 3, 3, depth], depth, axis=3)
        options = fb.DepthwiseConv2DOptionsT()
        options.padding, options.strideH, options.strideW = fb.Padding.SAME, stride, stride
        options.depthMultiplier, options.dilationHFactor, options.dilationWFactor = 1, 1, 1
        out = self.tensor(name, [1, -(-height // stride), -(-width // stride), depth])
        inputs = [x, weights, self.bias(name + "/b", depth)]
        return self.op(Op.DEPTHWISE_CONV_2D, inputs, [out], options, fb.BuiltinOptions.DepthwiseConv2DOptions, 3)

    def transpose_conv(self, name, x, channels):
        _, height, width, depth = self.shape(x)
        shape = [1, 2 * height, 2 * width, channels]
        weights = self.weights(name + "/w", [channels, 2, 2, depth], channels)
        size = self.tensor(name + "/shape", [4], Type.INT32, data=np.array(shape, np.int32))
        options = fb.TransposeConvOptionsT()
        options.padding, options.strideH, options.strideW = fb.Padding.SAME, 2, 2
        out = self.tensor(name, shape)
        inputs = [size, weights, x, self.bias(name + "/b", channels)]
        return self.op(Op.TRANSPOSE_CONV, inputs, [out], options, fb.BuiltinOptions.TransposeConvOptions, 3)

    def pool(self, name, x, code=Op.MAX_POOL_2D):
        _, height, width, depth = self.shape(x)
        options = fb.Pool2DOptionsT()
        options.padding, options.strideH, options.strideW = fb.Padding.VALID, 2, 2
        options.filterHeight = options.filterWidth = 2
        out = self.tensor(name, [1, height // 2, width // 2, depth])
        return self.op(code, [x], [out], options, fb.BuiltinOptions.Pool2DOptions, 2)

    def add(self, name, x, y):
        plain = self.graph.tensors[x].quantization is None
        out = self.tensor(name, self.shape(x), self.graph.tensors[x].type, plain=plain)
        return self.op(Op.ADD, [x, y], [out], fb.AddOptionsT(), fb.BuiltinOptions.AddOptions, 2)

    def concat(self, name, tensors):
        shape = list(self.shape(tensors[0]))
        shape[3] = sum(self.shape(tensor)[3] for tensor in tensors)
        options = fb.ConcatenationOptionsT()
        options.axis = 3
        out = self.tensor(name, shape)
        return self.op(Op.CONCATENATION, tensors, [out], options, fb.BuiltinOptions.ConcatenationOptions, 2)

    def unary(self, name, code, x, **rest):
        kind = self.graph.tensors[x].type
        out = self.tensor(name, self.shape(x), kind, **rest)
        return self.op(code, [x], [out], version=2 if code in (Op.LOGISTIC, Op.TANH) else 1)

    def mean(self, name, x):
        axes = self.tensor(name + "/axes", [2], Type.INT32, data=np.array([1, 2], np.int32))
        options = fb.ReducerOptionsT()
        options.keepDims = True
        out = self.tensor(name, [1, 1, 1, self.shape(x)[3]])
        return self.op(Op.MEAN, [x, axes], [out], options, fb.BuiltinOptions.ReducerOptions, 2)

    def reshape(self, name, x, shape):
        size = self.tensor(name + "/shape", [len(shape)], Type.INT32, data=np.array(shape, np.int32))
        options = fb.ReshapeOptionsT()
        options.newShape = list(shape)
        out = self.tensor(name, shape, self.graph.tensors[x].type)
        return self.op(Op.RESHAPE, [x, size], [out], options, fb.BuiltinOptions.ReshapeOptions)

    def dense(self, name, x, channels):
        kind = self.graph.tensors[x].type
        depth = self.shape(x)[-1]
        if kind == Type.FLOAT32:
            weights = self.tensor(name + "/w", [channels, depth], kind, data=self.normal([channels, depth]))
            bias = self.tensor(name + "/b", [channels], kind, data=self.normal([channels]))
        else:
            weights = self.weights(name + "/w", [channels, depth], 1)
            data = self.random.integers(-500, 500, channels, dtype=np.int32)
            bias = self.tensor(name + "/b", [channels], Type.INT32, data=data, scale=0.05 * 0.002)
        rows = int(np.prod(self.shape(x))) // depth
        out = self.tensor(name, [rows, channels], kind)
        options = fb.FullyConnectedOptionsT()
        return self.op(Op.FULLY_CONNECTED, [x, weights, bias], [out], options, fb.BuiltinOptions.FullyConnectedOptions, 4)

    def softmax(self, name, x):
        options = fb.SoftmaxOptionsT()
        options.beta = 1.0
        quantized = dict(scale=1 / 256, zero=-128)
        out = self.tensor(name, self.shape(x), self.graph.tensors[x].type, **quantized)
        return self.op(Op.SOFTMAX, [x], [out], options, fb.BuiltinOptions.SoftmaxOptions, 2)

    def normal(self, shape):
        return (0.3 * self.random.standard_normal(shape)).astype(np.float32)

    def lstm(self, name, x, units):
        batch, _, depth = self.shape(x)
        weights = lambda what, shape: self.tensor(f"{name}/{what}", shape, Type.FLOAT32, data=self.normal(shape))
        state = lambda what: self.tensor(f"{name}/{what}", [batch, units], Type.FLOAT32, variable=True)
        inputs = [x]
        inputs += [weights(f"w{gate}", [units, depth]) for gate in "ifco"]
        inputs += [weights(f"r{gate}", [units, units]) for gate in "ifco"]
        inputs += [-1] * 3
        inputs += [weights(f"b{gate}", [units]) for gate in "ifco"]
        inputs += [-1] * 2
        inputs += [state("hidden"), state("cell")]
        inputs += [-1] * 4
        options = fb.UnidirectionalSequenceLSTMOptionsT()
        options.fusedActivationFunction = fb.ActivationFunctionType.TANH
        options.cellClip, options.projClip, options.timeMajor = 10.0, 0.0, False
        out = self.tensor(name, [batch, self.shape(x)[1], units], Type.FLOAT32)
        kind = fb.BuiltinOptions.UnidirectionalSequenceLSTMOptions
        return self.op(Op.UNIDIRECTIONAL_SEQUENCE_LSTM, inputs, [out], options, kind, 1)

    def bytes(self, *outputs):
        self.graph.outputs = list(outputs)
        builder = flatbuffers.Builder(1 << 16)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def classifier():
    """Convolutions with a residual connection, mean, fully connected, softmax."""
    m = Maker("main")
    x = m.conv("stem", m.input("image", [1, 32, 32, 3]), 8, stride=2)
    y = m.depthwise("depthwise", x)
    y = m.conv("pointwise", y, 8, size=1)
    x = m.add("residual", x, y)
    x = m.conv("wide", x, 24, size=1)
    x = m.depthwise("down", x, stride=2)
    x = m.conv("narrow", x, 12, size=1)
    x = m.mean("mean", x)
    x = m.reshape("flat", x, [1, 12])
    return m.bytes(m.softmax("class", m.dense("logits", x, 10)))


def unet():
    """Down, up with TRANSPOSE_CONV, and connections across."""
    m = Maker("main")
    a = m.conv("a", m.input("image", [1, 32, 32, 2]), 4)
    b = m.conv("b", m.pool("half", a), 8)
    c = m.conv("c", m.pool("quarter", b), 12)
    c = m.conv("bottom", c, 12)
    up = m.concat("join_b", [m.transpose_conv("up_b", c, 8), b])
    up = m.conv("merge_b", up, 8)
    up = m.concat("join_a", [m.transpose_conv("up_a", up, 4), a])
    up = m.conv("merge_a", up, 4)
    return m.bytes(m.conv("mask", up, 1, size=1))


def branches():
    """Branches of different widths: what runs first decides how much is alive."""
    m = Maker("main")
    x = m.conv("stem", m.input("image", [1, 16, 16, 4]), 8)
    wide = [m.conv(f"wide{i}", x, 24, size=1) for i in range(3)]
    narrow = [m.conv(f"narrow{i}", wide[i], 2, size=3, stride=2) for i in range(3)]
    x = m.concat("join", narrow)
    x = m.unary("squash", Op.LOGISTIC, x, scale=1 / 256, zero=-128)
    return m.bytes(x)


def puzzle():
    """Long connections over layers of changing size: the largest first is not the best."""
    m = Maker("main")
    x = m.input("image", [1, 16, 16, 4])
    kept = []
    for index, channels in enumerate([10, 6, 14, 4, 9, 13, 5, 11]):
        x = m.conv(f"layer{index}", x, channels, size=1)
        kept.append(x)
        if index % 3 == 2:
            x = m.concat(f"join{index}", [kept[-3], kept[-1]])
    x = m.concat("last", [kept[1], kept[4], x])
    return m.bytes(m.mean("mean", x))


def elementwise():
    """Ops whose output may lie on their input."""
    m = Maker("main")
    x = m.input("signal", [1, 16, 16, 4])
    y = m.unary("relu", Op.RELU, m.conv("conv", x, 4))
    y = m.add("sum", y, m.conv("other", x, 4))
    y = m.reshape("flat", y, [1, 1024])
    y = m.unary("squash", Op.LOGISTIC, y, scale=1 / 256, zero=-128)
    return m.bytes(y)


def lstm():
    """A recurrent layer with its state in variables."""
    m = Maker("main")
    x = m.input("sequence", [1, 6, 8], Type.FLOAT32)
    x = m.lstm("lstm", x, 16)
    x = m.reshape("rows", x, [6, 16])
    return m.bytes(m.dense("out", x, 4))


def choice():
    """An IF with two subgraphs."""
    m = Maker("main")
    condition = m.input("condition", [1], Type.BOOL)
    x = m.conv("conv", m.input("image", [1, 8, 8, 4]), 4)
    then = Maker("then", m.model)
    then_in = then.input("then_in", [1, 8, 8, 4])
    then.graph.outputs = [then.conv("then_out", then.conv("then_mid", then_in, 8), 4)]
    other = Maker("else", m.model)
    else_in = other.input("else_in", [1, 8, 8, 4])
    other.graph.outputs = [other.depthwise("else_out", else_in)]
    options = fb.IfOptionsT()
    options.thenSubgraphIndex, options.elseSubgraphIndex = 1, 2
    out = m.tensor("chosen", [1, 8, 8, 4])
    m.op(Op.IF, [condition, x], [out], options, fb.BuiltinOptions.IfOptions)
    return m.bytes(m.add("total", out, x))


def countdown():
    """A WHILE: as long as a counter is below a limit, convolutions are applied again."""
    m = Maker("main")
    start = m.input("start", [1], Type.INT32, plain=True)
    x = m.conv("conv", m.input("image", [1, 8, 8, 4]), 4)
    test = Maker("test", m.model)
    counter = test.input("test_counter", [1], Type.INT32, plain=True)
    test.input("test_image", [1, 8, 8, 4])
    limit = test.tensor("limit", [1], Type.INT32, data=np.array([3], np.int32), plain=True)
    go_on = test.tensor("go_on", [1], Type.BOOL)
    test.op(Op.LESS, [counter, limit], [go_on], fb.LessOptionsT(), fb.BuiltinOptions.LessOptions)
    test.graph.outputs = [go_on]
    body = Maker("body", m.model)
    counter = body.input("body_counter", [1], Type.INT32, plain=True)
    image = body.input("body_image", [1, 8, 8, 4])
    one = body.tensor("one", [1], Type.INT32, data=np.array([1], np.int32), plain=True)
    image = body.add("body_sum", body.conv("body_out", body.conv("body_mid", image, 8), 4), image)
    body.graph.outputs = [body.add("body_next", counter, one), image]
    options = fb.WhileOptionsT()
    options.condSubgraphIndex, options.bodySubgraphIndex = 1, 2
    end = m.tensor("end", [1], Type.INT32, plain=True)
    out = m.tensor("looped", [1, 8, 8, 4])
    m.op(Op.WHILE, [start, x], [end, out], options, fb.BuiltinOptions.WhileOptions)
    return m.bytes(m.add("total", out, x))


def custom():
    """A convolution and an operator that nobody knows."""
    m = Maker("main")
    x = m.conv("conv", m.input("image", [1, 8, 8, 4]), 4)
    x = m.op(Op.CUSTOM, [x], [m.tensor("out", m.shape(x))])
    m.model.operatorCodes[-1].customCode = "mystery"
    return m.bytes(m.conv("last", x, 2))


def external():
    """The classifier with its larger weights behind the tables, as in files of more than 2 GB."""
    model = fb.ModelT.InitFromPackedBuf(classifier(), 0)
    outside = [buffer for buffer in model.buffers if buffer.data is not None and len(buffer.data) >= 64]
    contents = [bytes(np.asarray(buffer.data, np.uint8)) for buffer in outside]
    for buffer, content in zip(outside, contents):
        buffer.data, buffer.offset, buffer.size = None, 2, len(content)

    def pack():
        builder = flatbuffers.Builder(1 << 16)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())

    padded = lambda content: content + bytes(-len(content) % 16)
    end = len(padded(pack()))
    for buffer, content in zip(outside, contents):
        buffer.offset = end
        end += len(padded(content))
    return padded(pack()) + b"".join(padded(content) for content in contents)


MODELS = [classifier, unet, branches, puzzle, elementwise, lstm, choice, countdown, custom, external]

if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    for make in MODELS:
        path = folder / f"{make.__name__}.tflite"
        path.write_bytes(make())
        print(path, path.stat().st_size)

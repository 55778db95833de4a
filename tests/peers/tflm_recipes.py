"""Models with one operator, for every operator that TensorFlow Lite Micro registers.

    for case in cases("CONV_2D"):
        case.model      # the bytes of a .tflite file

A recipe gives shapes, element types and options that a kernel may accept; which of them it does accept, the runtime decides. Shapes are
chosen so that no two counts (elements, dimensions, ranks) are the same in all cases of a kernel: what a kernel asks for then tells which of them it counts.
"""

import dataclasses
import itertools

import numpy as np
from flatbuffers import flexbuffers
from make_tflite_models import Maker, fb

Op = fb.BuiltinOperator
Type = fb.TensorType
F32, I8, I16, I32, U8, I64, BOOL, U32, I4, F16, F64, U64, RESOURCE = (
    getattr(Type, name)
    for name in "FLOAT32 INT8 INT16 INT32 UINT8 INT64 BOOL UINT32 INT4 FLOAT16 FLOAT64 UINT64 RESOURCE".split()
)
NUMBERS = [F32, I8, I16, I32, U8, I64, BOOL, U32]
ELEMENTS = {
    F32: np.float32, I8: np.int8, I16: np.int16, I32: np.int32, U8: np.uint8, I64: np.int64, BOOL: np.bool_, U32: np.uint32,
    F16: np.float16, F64: np.float64, U64: np.uint64,
}  # fmt: skip
NAMES = {number: name for name, number in vars(Type).items() if not name.startswith("_")}
OPERATORS = {name: number for name, number in vars(Op).items() if not name.startswith("_")}
SHAPES = [[1, 5, 7, 3], [2, 9, 4, 11], [1, 6, 13, 2], [1, 17], [37], [2, 3, 5]]
IMAGES = [[1, 12, 10, 3], [1, 8, 14, 5], [2, 10, 6, 7], [1, 9, 8, 1]]


@dataclasses.dataclass
class T:
    """A tensor of a case."""

    shape: list
    type: int
    data: object = None
    const: bool = False
    variable: bool = False
    scale: float = 0.05
    zero: int = 0
    channels: int = 0
    axis: int = 0
    plain: bool = False

    @property
    def is_constant(self):
        return self.const or self.data is not None

    @property
    def is_given(self):
        """Whether it is an input of the network."""
        return not (self.is_constant or self.variable or self.type == RESOURCE)

    @property
    def is_quantized(self):
        return not self.plain and (self.type in (I8, I16, U8, I4) or self.type in (I32, I64) and self.channels > 0)

    def add(self, maker, name):
        data = self.data
        if data is not None:
            data = np.asarray(data, ELEMENTS[self.type])
        elif self.const:
            size = int(np.prod(self.shape))
            data = np.ones((size + 1) // 2, np.uint8) if self.type == I4 else np.ones(size, ELEMENTS[self.type])
        scales = [self.scale] * self.channels if self.channels else [self.scale]
        tensor = maker.tensor(name, self.shape, self.type, data=data, variable=self.variable, plain=True)
        if self.is_quantized:
            quantization = fb.QuantizationParametersT()
            quantization.scale, quantization.zeroPoint = scales, [self.zero] * len(scales)
            quantization.quantizedDimension = self.axis
            maker.graph.tensors[tensor].quantization = quantization
        return tensor


@dataclasses.dataclass
class Case:
    """A model with one operator."""

    op: str
    inputs: list
    outputs: list
    options: object = None
    version: int = 1
    custom: bytes = None
    # Shapes, element types and numbers in the options, to tell cases apart.
    label: str = ""
    bodies: list = dataclasses.field(default_factory=list)

    @property
    def model(self):
        return network([self])

    def add(self, maker, name):
        """Adds the operator to a graph; returns its results."""
        places = [-1 if tensor is None else tensor.add(maker, f"{name}in{index}") for index, tensor in enumerate(self.inputs)]
        results = [tensor.add(maker, f"{name}out{index}") for index, tensor in enumerate(self.outputs)]
        maker.graph.inputs += [place for place, tensor in zip(places, self.inputs) if tensor is not None and tensor.is_given]
        # A resource is the result of an operator of its own.
        for place, tensor in zip(places, self.inputs):
            if tensor is not None and tensor.type == RESOURCE:
                maker.op(Op.VAR_HANDLE, [], [place], HANDLE, fb.BuiltinOptions.VarHandleOptions)
        kind = 0 if self.options is None else getattr(fb.BuiltinOptions, type(self.options).__name__[:-1])
        is_custom = self.op.startswith("CUSTOM ")
        code = Op.CUSTOM if is_custom else OPERATORS[self.op]
        maker.op(code, places, results, self.options, kind, self.version)
        if is_custom:
            # A custom operator has a code of its own.
            custom_code = fb.OperatorCodeT()
            custom_code.builtinCode = custom_code.deprecatedBuiltinCode = Op.CUSTOM
            custom_code.version, custom_code.customCode = 1, self.op.split(" ", 1)[1]
            maker.model.operatorCodes.append(custom_code)
            maker.graph.operators[-1].opcodeIndex = len(maker.model.operatorCodes) - 1
            maker.graph.operators[-1].customOptions = list(self.custom or b"")
        for body in self.bodies:
            body(maker)
        return results


def network(cases):
    """A model of independent operators: all of them read inputs and write outputs of the network."""
    maker = Maker("main")
    maker.graph.inputs = []
    results = []
    for index, case in enumerate(cases):
        results += case.add(maker, f"op{index}/" if len(cases) > 1 else "")
    return maker.bytes(*results)


def use_other_shapes():
    """Replaces the shapes that the table was made with by others."""
    SHAPES[:] = [[1, 4, 9, 6], [3, 8, 5, 2], [1, 10, 3, 7], [1, 29], [23], [4, 7, 3]]
    IMAGES[:] = [[1, 16, 6, 4], [2, 6, 12, 9], [1, 10, 14, 1]]


def options(name, **fields):
    value = getattr(fb, name + "OptionsT")()
    for field, number in fields.items():
        setattr(value, field, number)
    return value


def ints(*numbers, type=I32):
    """A constant list."""
    return T([len(numbers)], type, data=list(numbers), plain=True)


def plain(shape, kind):
    """A tensor without scale and zero point."""
    return T(shape, kind, plain=True)


HANDLE = options("VarHandle", container="", sharedName="state")

RECIPES = {}


def recipe(*names):
    def register(function):
        for name in names:
            RECIPES[name] = function
        return function

    return register


def cases(name):
    """All cases of an operator, as its recipe gives them, and with inputs constant or not."""
    seen = set()
    for case in RECIPES[name](name):
        for variant in with_constants(case):
            label = repr((variant.inputs, variant.outputs, vars(variant.options) if variant.options else 0, variant.custom))
            if label not in seen:
                seen.add(label)
                variant.label = label
                yield variant


def with_constants(case):
    """A case as it is, and with each of its inputs but the first made a constant."""
    yield case
    for place, tensor in enumerate(case.inputs[1:4], 1):
        if tensor is not None and tensor.is_given and not case.bodies:
            inputs = list(case.inputs)
            inputs[place] = dataclasses.replace(tensor, const=True)
            yield dataclasses.replace(case, inputs=inputs)


UNARY = {
    "ABS": "Abs", "CEIL": None, "COS": "Cos", "ELU": None, "EXP": "Exp", "FLOOR": None, "HARD_SWISH": "HardSwish", "LOG": None,
    "LOGICAL_NOT": "LogicalNot", "LOGISTIC": None, "NEG": "Neg", "RELU": None, "RELU6": None, "ROUND": None, "RSQRT": None,
    "SIN": None, "SQRT": None, "SQUARE": "Square", "TANH": None, "ZEROS_LIKE": "ZerosLike", "L2_NORMALIZATION": "L2Norm",
    "LOG_SOFTMAX": "LogSoftmax",
}  # fmt: skip
# Kernels of these functions ask for one scale and zero point of their outputs.
SQUASHED = {"LOGISTIC": {I8: (1 / 256, -128), I16: (1 / 32768, 0)}, "TANH": {I8: (1 / 128, 0), I16: (1 / 32768, 0)},
            "L2_NORMALIZATION": {I8: (1 / 128, 0)}, "LOG_SOFTMAX": {I8: (16 / 256, 127)}}  # fmt: skip


@recipe(*UNARY)
def unary(name):
    for kind, shape in itertools.product(NUMBERS, SHAPES):
        scale, zero = SQUASHED.get(name, {}).get(kind, (0.05, 0))
        made = options(UNARY[name]) if UNARY[name] else None
        source = 2**-12 if name in ("LOGISTIC", "TANH") and kind == I16 else 0.05
        yield Case(name, [T(shape, kind, scale=source)], [T(shape, kind, scale=scale, zero=zero)], made)


@recipe("LEAKY_RELU")
def leaky(name):
    for kind, shape in itertools.product(NUMBERS, SHAPES):
        yield Case(name, [T(shape, kind)], [T(shape, kind)], options("LeakyRelu", alpha=0.1))


@recipe("SOFTMAX")
def softmax(name):
    outputs = {I8: [(I8, 1 / 256, -128), (I16, 1 / 65536, -32768)], I16: [(I16, 1 / 32768, 0)], F32: [(F32, 1, 0)]}
    for kind, shape in itertools.product(NUMBERS, SHAPES):
        for to, scale, zero in outputs.get(kind, [(kind, 0.05, 0)]):
            yield Case(name, [T(shape, kind)], [T(shape, to, scale=scale, zero=zero)], options("Softmax", beta=1.0))


@recipe("CAST", "QUANTIZE", "DEQUANTIZE")
def converted(name):
    made = {"CAST": "Cast", "QUANTIZE": "Quantize", "DEQUANTIZE": "Dequantize"}[name]
    for source, target, shape in itertools.product([*NUMBERS, F16, F64, I4], [*NUMBERS, F16, F64, I4], SHAPES[:3]):
        if name == "CAST" or source != target:
            quantized = dict(channels=0, plain=False)
            yield Case(name, [T(shape, source)], [T(shape, target, **quantized)], options(made))
    for kind in (I8, I16, I32) if name == "QUANTIZE" else ():
        for shape in SHAPES[:3]:
            yield Case(name, [T(shape, kind, channels=1)], [T(shape, kind, scale=0.07, channels=1)], options(made))
    for source, target, shape in itertools.product((I8, I16, I32, F32), (I8, I16, I32), SHAPES[:3]):
        if name == "QUANTIZE":
            yield Case(name, [T(shape, source, channels=1)], [T(shape, target, scale=0.07, channels=1)], options(made))


BINARY = {
    "ADD": "Add", "SUB": "Sub", "MUL": "Mul", "DIV": "Div", "MAXIMUM": "MaximumMinimum", "MINIMUM": "MaximumMinimum",
    "FLOOR_DIV": "FloorDiv", "FLOOR_MOD": "FloorMod", "SQUARED_DIFFERENCE": "SquaredDifference", "PRELU": None,
    "LESS": "Less", "LESS_EQUAL": "LessEqual", "GREATER": "Greater", "GREATER_EQUAL": "GreaterEqual", "EQUAL": "Equal",
    "NOT_EQUAL": "NotEqual", "LOGICAL_AND": "LogicalAnd", "LOGICAL_OR": "LogicalOr",
}  # fmt: skip
COMPARES = {"LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL"}


@recipe(*BINARY)
def binary(name):
    pairs = [(shape, shape) for shape in SHAPES] + [([2, 3, 4, 5], [1, 1, 1, 5]), ([1, 6, 5, 3], [1])]
    for kind, (one, other) in itertools.product(NUMBERS, pairs):
        made = options(BINARY[name]) if BINARY[name] else None
        result = T(one, BOOL if name in COMPARES else kind)
        yield Case(name, [T(one, kind), T(other, kind)], [result], made)


@recipe("CONV_2D")
def conv(name):
    for (kind, weight, bias), image in itertools.product(CONVOLUTIONS, IMAGES):
        for channels, size, stride, dilation in ((4, 3, 1, 1), (9, 1, 2, 1), (6, 2, 1, 2)):
            batch, height, width, depth = image
            out = [batch, -(-height // stride), -(-width // stride), channels]
            made = options("Conv2D", padding=fb.Padding.SAME, strideH=stride, strideW=stride,
                           dilationHFactor=dilation, dilationWFactor=dilation)  # fmt: skip
            for scales in (channels, 1):
                weights = T([channels, size, size, depth], weight, const=True, channels=scales, scale=0.002)
                inputs = [T(image, kind), weights, biases(bias, channels, scales)]
                yield Case(name, inputs, [T(out, kind)], made, 3)
                if bias is None:
                    yield Case(name, inputs[:2], [T(out, kind)], made, 3)


CONVOLUTIONS = [(F32, F32, F32), (F32, F32, None), (I8, I8, I32), (I8, I8, None), (I8, I4, I32), (I8, I4, None), (I16, I8, I64),
                (I16, I8, I32), (I16, I8, None), (U8, U8, I32), (F32, I8, F32), (I16, I4, I64)]  # fmt: skip


def biases(kind, channels, scales):
    return None if kind is None else T([channels], kind, const=True, channels=0 if kind == F32 else scales, scale=0.0001)


@recipe("DEPTHWISE_CONV_2D")
def depthwise(name):
    for (kind, weight, bias), image in itertools.product(CONVOLUTIONS, IMAGES):
        for multiplier, size, stride, dilation in ((1, 3, 1, 1), (2, 2, 2, 1), (1, 3, 1, 2)):
            batch, height, width, depth = image
            channels = depth * multiplier
            out = [batch, -(-height // stride), -(-width // stride), channels]
            made = options("DepthwiseConv2D", padding=fb.Padding.SAME, strideH=stride, strideW=stride,
                           depthMultiplier=multiplier, dilationHFactor=dilation, dilationWFactor=dilation)  # fmt: skip
            for scales in (channels, 1):
                weights = T([1, size, size, channels], weight, const=True, channels=scales, axis=3, scale=0.002)
                inputs = [T(image, kind), weights] + ([biases(bias, channels, scales)] if bias is not None else [])
                yield Case(name, inputs, [T(out, kind)], made, 3)


@recipe("TRANSPOSE_CONV")
def transpose_conv(name):
    for (kind, weight, bias), image in itertools.product(CONVOLUTIONS, IMAGES):
        for channels, stride in ((4, 2), (9, 1)):
            batch, height, width, depth = image
            out = [batch, height * stride, width * stride, channels]
            made = options("TransposeConv", padding=fb.Padding.SAME, strideH=stride, strideW=stride)
            for scales in (channels, 1):
                weights = T([channels, 2, 2, depth], weight, const=True, channels=scales, scale=0.002)
                inputs = [ints(*out), weights, T(image, kind)] + ([biases(bias, channels, scales)] if bias is not None else [])
                yield Case(name, inputs, [T(out, kind)], made, 3)


@recipe("FULLY_CONNECTED")
def dense(name):
    for (kind, weight, bias), (rows, depth, channels) in itertools.product(CONVOLUTIONS, ((1, 12, 5), (3, 10, 8), (2, 34, 21))):
        for per_channel in (False, True):
            weights = T([channels, depth], weight, const=True, channels=channels if per_channel else 0, scale=0.002)
            bias_tensor = biases(bias, channels, channels if per_channel else 1)
            inputs = [T([rows, depth], kind), weights, bias_tensor]
            result = [T([rows, channels], kind)]
            yield Case(name, inputs, result, options("FullyConnected"), 4)
            if bias is None:
                yield Case(name, inputs[:2], result, options("FullyConnected"), 4)
            if not per_channel:
                # Weights that another operator writes.
                inputs = [inputs[0], dataclasses.replace(weights, const=False), bias_tensor]
                yield Case(name, inputs, result, options("FullyConnected"), 4)


@recipe("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D")
def pool(name):
    for kind, (batch, height, width, depth) in itertools.product(NUMBERS, IMAGES):
        made = options("Pool2D", padding=fb.Padding.VALID, strideH=2, strideW=2, filterHeight=2, filterWidth=2)
        yield Case(name, [T([batch, height, width, depth], kind)], [T([batch, height // 2, width // 2, depth], kind)], made, 2)


@recipe("CONCATENATION")
def concatenation(name):
    for kind, widths in itertools.product(NUMBERS, ((3, 5), (2, 7, 4), (6,), (1, 2, 3, 4, 5))):
        inputs = [T([1, 4, 3, width], kind) for width in widths]
        yield Case(name, inputs, [T([1, 4, 3, sum(widths)], kind)], options("Concatenation", axis=3), 2)


@recipe("PACK")
def pack(name):
    for kind, (count, shape) in itertools.product(NUMBERS, ((2, [3, 5]), (3, [7]), (5, [2, 4]))):
        yield Case(name, [T(shape, kind)] * count, [T([count, *shape], kind)], options("Pack", valuesCount=count, axis=0))


@recipe("UNPACK")
def unpack(name):
    for kind, (count, shape) in itertools.product(NUMBERS, ((2, [3, 5]), (3, [7]), (5, [2, 4]))):
        yield Case(name, [T([count, *shape], kind)], [T(shape, kind)] * count, options("Unpack", num=count, axis=0))


@recipe("SPLIT")
def split(name):
    for kind, (count, width) in itertools.product(NUMBERS, ((2, 3), (3, 5), (5, 2))):
        outputs = [T([1, 4, width], kind)] * count
        axis = T([], I32, data=[2], plain=True)
        yield Case(name, [axis, T([1, 4, width * count], kind)], outputs, options("Split", numSplits=count))


@recipe("SPLIT_V")
def split_v(name):
    for kind, widths in itertools.product(NUMBERS, ((3, 5), (2, 7, 4), (1, 2, 3, 4))):
        outputs = [T([1, 4, width], kind) for width in widths]
        inputs = [T([1, 4, sum(widths)], kind), ints(*widths), T([], I32, data=[2], plain=True)]
        yield Case(name, inputs, outputs, options("SplitV", numSplits=len(widths)))


@recipe("ADD_N")
def add_n(name):
    for kind, count, shape in itertools.product(NUMBERS, (2, 3, 5), SHAPES[:3]):
        yield Case(name, [T(shape, kind)] * count, [T(shape, kind)], options("AddN"))


@recipe("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_ALL")
def reduced(name):
    plans = (([1, 5, 7, 3], [1, 2]), ([2, 9, 4, 11], [3]), ([6, 13], [1]), ([2, 3, 5], [0, 1, 2]), ([1, 4, 6, 5], [1, 2, 3]), ([1, 5, 7, 3], []))
    for kind, (shape, axes), keep in itertools.product(NUMBERS, plans, (True, False)):
        out = [1 if axis in axes else size for axis, size in enumerate(shape) if keep or axis not in axes]
        for same in (True, False):
            result = T(out, kind, scale=0.05 if same else 0.07)
            yield Case(name, [T(shape, kind), ints(*axes)], [result], options("Reducer", keepDims=keep), 2)


@recipe("ARG_MAX", "ARG_MIN")
def arg(name):
    made = "ArgMax" if name == "ARG_MAX" else "ArgMin"
    for kind, to, shape in itertools.product(NUMBERS, (I32, I64), SHAPES[:3]):
        axis = T([], I32, data=[3], plain=True)
        yield Case(name, [T(shape, kind), axis], [T(shape[:3], to, plain=True)], options(made, outputType=to))


@recipe("RESHAPE", "SQUEEZE")
def reshaped(name):
    for kind, (shape, out) in itertools.product(NUMBERS, (([1, 5, 7, 3], [5, 7, 3]), ([1, 9, 4], [9, 4]), ([1, 6, 1, 2], [6, 2]))):
        if name == "SQUEEZE":
            dims = [axis for axis, size in enumerate(shape) if size == 1]
            yield Case(name, [T(shape, kind)], [T(out, kind)], options("Squeeze", squeezeDims=dims))
        else:
            yield Case(name, [T(shape, kind), ints(*out)], [T(out, kind)], options("Reshape", newShape=out))
            yield Case(name, [T(shape, kind)], [T(out, kind)], options("Reshape", newShape=out))


@recipe("EXPAND_DIMS")
def expand(name):
    for kind, shape in itertools.product(NUMBERS, ([5, 7, 3], [9, 4], [13])):
        yield Case(name, [T(shape, kind), ints(0)], [T([1, *shape], kind)], options("ExpandDims"))


@recipe("PAD", "PADV2", "MIRROR_PAD")
def padded(name):
    plans = (([1, 5, 7, 3], [[0, 0], [1, 2], [2, 1], [0, 0]]), ([2, 9, 4], [[0, 0], [1, 1], [1, 1]]), ([6, 13], [[2, 2], [1, 3]]))
    made = {"PAD": "Pad", "PADV2": "PadV2", "MIRROR_PAD": "MirrorPad"}[name]
    for kind, wide, (shape, pads) in itertools.product(NUMBERS, (I32, I64), plans):
        out = [size + before + after for size, (before, after) in zip(shape, pads)]
        table = T([len(shape), 2], wide, data=pads, plain=True)
        value = [T([1], kind, const=True)] if name == "PADV2" else []
        yield Case(name, [T(shape, kind), table, *value], [T(out, kind)], options(made))


@recipe("GATHER")
def gather(name):
    for kind, at, (count, shape) in itertools.product(NUMBERS, (I32, I64), ((6, [5, 7]), (5, [9, 2, 3]), (7, [6]), (9, [4, 3]))):
        inputs = [T(shape, kind), T([count], at, plain=True)]
        yield Case(name, inputs, [T([count, *shape[1:]], kind)], options("Gather", axis=0, batchDims=0))


@recipe("GATHER_ND")
def gather_nd(name):
    for kind, at, (count, shape) in itertools.product(NUMBERS, (I32, I64), ((3, [5, 7]), (4, [9, 2, 3]), (2, [6]), (7, [2, 3, 4, 5]))):
        inputs = [T(shape, kind), T([count, 1], at, plain=True)]
        yield Case(name, inputs, [T([count, *shape[1:]], kind)], options("GatherNd"))


@recipe("EMBEDDING_LOOKUP")
def embedding(name):
    for kind, to, (count, rows, width) in itertools.product(NUMBERS, (F32, I8, I16), ((3, 9, [7]), (2, 5, [4, 3]), (4, 8, [2, 3, 5]))):
        table = T([rows, *width], kind, const=True, channels=rows if kind == I8 and to == F32 else 0)
        yield Case(name, [T([count], I32, plain=True), table], [T([count, *width], to)])


@recipe("BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND")
def space_to_batch(name):
    to_batch = name == "SPACE_TO_BATCH_ND"
    for kind, (height, width, depth) in itertools.product(NUMBERS, ((4, 6, 3), (2, 8, 5), (6, 2, 7))):
        spread, packed = [1, height, width, depth], [4, height // 2, width // 2, depth]
        table = T([2, 2], I32, data=[[0, 0], [0, 0]], plain=True)
        one, other = (spread, packed) if to_batch else (packed, spread)
        made = options("SpaceToBatchND" if to_batch else "BatchToSpaceND")
        yield Case(name, [T(one, kind), ints(2, 2), table], [T(other, kind)], made)


@recipe("DEPTH_TO_SPACE", "SPACE_TO_DEPTH")
def depth_to_space(name):
    to_depth = name == "SPACE_TO_DEPTH"
    for kind, (height, width, depth) in itertools.product(NUMBERS, ((4, 6, 3), (2, 8, 5), (6, 2, 7))):
        spread, packed = [1, height, width, depth], [1, height // 2, width // 2, depth * 4]
        one, other = (spread, packed) if to_depth else (packed, spread)
        yield Case(name, [T(one, kind)], [T(other, kind)], options("SpaceToDepth" if to_depth else "DepthToSpace", blockSize=2))


@recipe("TRANSPOSE")
def transpose(name):
    for kind, shape in itertools.product(NUMBERS, SHAPES):
        order = list(reversed(range(len(shape))))
        yield Case(name, [T(shape, kind), ints(*order)], [T(shape[::-1], kind)], options("Transpose"))


@recipe("SLICE")
def sliced(name):
    for kind, at, shape in itertools.product(NUMBERS, (I32, I64), SHAPES):
        out = [max(1, size - 1) for size in shape]
        inputs = [T(shape, kind), ints(*[0] * len(shape), type=at), ints(*out, type=at)]
        yield Case(name, inputs, [T(out, kind)], options("Slice"))


@recipe("STRIDED_SLICE")
def strided(name):
    for kind, shape in itertools.product(NUMBERS, SHAPES):
        out = [-(-size // 2) for size in shape]
        begin, end, stride = [0] * len(shape), shape, [2] * len(shape)
        inputs = [T(shape, kind), ints(*begin), ints(*end), ints(*stride)]
        zero = dict(beginMask=0, endMask=0, ellipsisMask=0, newAxisMask=0, shrinkAxisMask=0)
        yield Case(name, inputs, [T(out, kind)], options("StridedSlice", **zero))


@recipe("REVERSE_V2")
def reverse(name):
    for kind, shape in itertools.product(NUMBERS, SHAPES):
        yield Case(name, [T(shape, kind), ints(0)], [T(shape, kind)], options("ReverseV2"))


@recipe("CUMSUM")
def cumsum(name):
    for kind, shape in itertools.product(NUMBERS, SHAPES):
        axis = T([], I32, data=[0], plain=True)
        yield Case(name, [T(shape, kind), axis], [T(shape, kind)], options("Cumsum", exclusive=False, reverse=False))


@recipe("SHAPE")
def shape_of(name):
    for kind, to, shape in itertools.product(NUMBERS, (I32, I64), SHAPES):
        yield Case(name, [T(shape, kind)], [T([len(shape)], to, plain=True)], options("Shape", outType=to))


@recipe("FILL")
def fill(name):
    for kind, at, shape in itertools.product(NUMBERS, (I32, I64), SHAPES):
        yield Case(name, [ints(*shape, type=at), T([], kind)], [T(shape, kind)], options("Fill"))


@recipe("BROADCAST_TO")
def broadcast_to(name):
    for kind, at, shape in itertools.product(NUMBERS, (I32, I64), SHAPES):
        source = [1] * (len(shape) - 1) + [shape[-1]]
        yield Case(name, [T(source, kind), ints(*shape, type=at)], [T(shape, kind)], options("BroadcastTo"))


@recipe("BROADCAST_ARGS")
def broadcast_args(name):
    for kind, rank in itertools.product(NUMBERS, (2, 3, 4)):
        yield Case(name, [T([rank], kind, plain=True), T([rank], kind, plain=True)], [T([rank], kind, plain=True)])


@recipe("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR")
def resized(name):
    made = "ResizeBilinear" if name == "RESIZE_BILINEAR" else "ResizeNearestNeighbor"
    for kind, (batch, height, width, depth) in itertools.product(NUMBERS, IMAGES):
        out = [batch, height * 2, width * 3, depth]
        inputs = [T([batch, height, width, depth], kind), ints(*out[1:3])]
        yield Case(name, inputs, [T(out, kind)], options(made, alignCorners=False, halfPixelCenters=False))


@recipe("SELECT_V2")
def select(name):
    for kind, shape in itertools.product(NUMBERS, SHAPES):
        yield Case(name, [T(shape, BOOL), T(shape, kind), T(shape, kind)], [T(shape, kind)], options("SelectV2"))


@recipe("BATCH_MATMUL")
def matmul(name):
    plans = (([], 3, 5, 7), ([2], 4, 9, 6), ([3], 2, 11, 13), ([2, 3], 5, 4, 8))
    for (kind, other, to), (batch, m, k, n), x, y in itertools.product(
        [*[(kind, kind, kind) for kind in NUMBERS], (F32, I8, F32), (I8, I8, I32), (I16, I8, I16)], plans, (False, True), (False, True)
    ):
        one = T([*batch, k, m] if x else [*batch, m, k], kind)
        two = T([*batch, n, k] if y else [*batch, k, n], other)
        yield Case(name, [one, two], [T([*batch, m, n], to)], options("BatchMatMul", adjX=x, adjY=y))


@recipe("DYNAMIC_UPDATE_SLICE")
def update_slice(name):
    for kind, at, shape in itertools.product(NUMBERS, (I32, I64), SHAPES):
        update = [max(1, size - 1) for size in shape]
        inputs = [T(shape, kind), T(update, kind), T([len(shape)], at, plain=True)]
        yield Case(name, inputs, [T(shape, kind)])


@recipe("SVDF")
def svdf(name):
    kinds = ((F32, F32, F32, F32, F32), (I8, I8, I16, I32, I16), (I8, I8, I8, I32, I8), (F32, I8, I8, F32, F32))
    for (kind, feature, time, bias, state), (batch, depth, units, memory, rank), with_bias in itertools.product(
        kinds, ((1, 5, 4, 3, 1), (2, 7, 6, 9, 2), (1, 11, 10, 5, 1), (3, 4, 5, 7, 1), (2, 6, 13, 4, 1), (5, 3, 7, 2, 3)), (True, False)
    ):
        filters = units * rank
        inputs = [
            T([batch, depth], kind),
            T([filters, depth], feature, const=True, scale=0.01),
            T([filters, memory], time, const=True, scale=0.01),
            T([units], bias, const=True, channels=0 if bias == F32 else 1, scale=0.02 * 0.01) if with_bias else None,
            T([batch, filters * memory], state, variable=True, scale=0.02),
        ]
        made = options("SVDF", rank=rank, fusedActivationFunction=1)
        yield Case(name, inputs, [T([batch, units], kind)], made, 2)


@recipe("UNIDIRECTIONAL_SEQUENCE_LSTM")
def lstm(name):
    kinds = ((F32, F32, F32, F32, F32), (I8, I8, I32, I8, I16), (I16, I8, I64, I16, I16), (I16, I8, I32, I16, I16))
    for (kind, weight, bias, hidden, cell), (batch, steps, depth, units), major in itertools.product(
        kinds, ((1, 4, 5, 3), (2, 3, 7, 6), (3, 5, 9, 10)), (False, True)
    ):
        gates = range(4)
        inputs = [T([steps, batch, depth] if major else [batch, steps, depth], kind, scale=2**-7)]
        inputs += [T([units, depth], weight, const=True, scale=0.01) for _ in gates]
        inputs += [T([units, units], weight, const=True, scale=0.01) for _ in gates]
        inputs += [None] * 3
        inputs += [T([units], bias, const=True, channels=0 if bias == F32 else 1, scale=0.01 * 2**-7) for _ in gates]
        inputs += [None] * 2
        inputs += [T([batch, units], hidden, variable=True, scale=2**-7), T([batch, units], cell, variable=True, scale=2**-11)]
        inputs += [None] * 4
        made = options("UnidirectionalSequenceLSTM", fusedActivationFunction=4, cellClip=10.0, projClip=0.0, timeMajor=major)
        out = [steps, batch, units] if major else [batch, steps, units]
        yield Case(name, inputs, [T(out, hidden, scale=2**-7)], made)


def body(made):
    """A graph without operators: its inputs are its outputs."""

    def add(maker):
        graph = Maker(f"body{len(maker.model.subgraphs)}", maker.model)
        results = [tensor.add(graph, f"body_in{index}") for index, tensor in enumerate(made)]
        graph.graph.inputs = results
        graph.graph.outputs = results

    return add


@recipe("IF")
def choice(name):
    for kind, count, shape in itertools.product((F32, I8, I16, I32), (1, 2, 3), SHAPES[:3]):
        tensors = [T(shape, kind) for _ in range(count)]
        made = options("If", thenSubgraphIndex=1, elseSubgraphIndex=2)
        yield Case(name, [T([1], BOOL), *tensors], tensors, made, bodies=[body(tensors), body(tensors)])


@recipe("WHILE")
def loop(name):
    for kind, count, shape in itertools.product((F32, I8, I16, I32), (1, 2, 3), SHAPES[:3]):
        tensors = [T([1], BOOL), *[T(shape, kind) for _ in range(count)]]

        def condition(maker):
            graph = Maker("condition", maker.model)
            results = [tensor.add(graph, f"test_in{index}") for index, tensor in enumerate(tensors)]
            graph.graph.inputs, graph.graph.outputs = results, results[:1]

        made = options("While", condSubgraphIndex=1, bodySubgraphIndex=2)
        yield Case(name, tensors, tensors, made, bodies=[condition, body(tensors)])


@recipe("CALL_ONCE")
def call_once(name):
    made = options("CallOnce", initSubgraphIndex=1)
    yield Case(name, [], [], made, bodies=[body([])])


@recipe("VAR_HANDLE")
def var_handle(name):
    yield Case(name, [], [plain([1], RESOURCE)], HANDLE)


@recipe("READ_VARIABLE")
def read_variable(name):
    for kind, shape in itertools.product(NUMBERS, SHAPES):
        yield Case(name, [plain([1], RESOURCE)], [T(shape, kind)], options("ReadVariable"))


@recipe("ASSIGN_VARIABLE")
def assign_variable(name):
    for kind, shape in itertools.product(NUMBERS, SHAPES):
        yield Case(name, [plain([1], RESOURCE), T(shape, kind)], [], options("AssignVariable"))


def custom(**fields):
    """Options of a custom operator: a map of numbers."""
    builder = flexbuffers.Builder()
    with builder.Map():
        for name, value in sorted(fields.items()):
            builder.Key(name)
            if isinstance(value, bool):
                builder.Bool(value)
            elif isinstance(value, float):
                builder.Float(value)
            else:
                builder.Int(value)
    return bytes(builder.Finish())


@recipe("CUSTOM SignalRfft", "CUSTOM SignalIrfft")
def rfft(name):
    for kind, (rows, length), short in itertools.product((I16, I32, F32), ((1, 64), (3, 128), (2, 512), (1, 256)), (0, 24)):
        time, frequency = plain([rows, length - short], kind), plain([rows, length + 2], kind)
        made = custom(T=kind, fft_length=length)
        if name.endswith("SignalRfft"):
            yield Case(name, [time], [frequency], custom=made)
        elif not short:
            yield Case(name, [frequency], [time], custom=made)


@recipe("CUSTOM SignalWindow")
def window(name):
    for shape in ([40], [3, 64], [2, 3, 16]):
        yield Case(name, [plain(shape, I16), T(shape[-1:], I16, const=True, plain=True)], [plain(shape, I16)], custom=custom(shift=12))


@recipe("CUSTOM SignalEnergy")
def energy(name):
    for length in (34, 66, 130):
        made = custom(start_index=2, end_index=length // 2 - 3)
        yield Case(name, [plain([length], I16)], [plain([length // 2], U32)], custom=made)


@recipe("CUSTOM SignalFftAutoScale")
def auto_scale(name):
    for shape in ([40], [64], [16]):
        yield Case(name, [plain(shape, I16)], [plain(shape, I16), plain([], I32)])


@recipe("CUSTOM SignalFilterBank")
def filter_bank(name):
    for channels, length in ((5, 65), (8, 33), (13, 129)):
        starts = [T([channels + 1], I16, const=True, plain=True) for _ in range(3)]
        weights = [T([length + channels], I16, const=True, plain=True) for _ in range(2)]
        inputs = [plain([length], U32), *weights, *starts]
        yield Case(name, inputs, [plain([channels], U64)], custom=custom(num_channels=channels))


@recipe("CUSTOM SignalFilterBankSquareRoot")
def filter_root(name):
    for channels in (5, 8, 13):
        yield Case(name, [plain([channels], U64), plain([], I32)], [plain([channels], U32)])


@recipe("CUSTOM SignalFilterBankLog")
def filter_log(name):
    for channels in (5, 8, 13):
        made = custom(input_correction_bits=3, output_scale=1600)
        yield Case(name, [plain([channels], U32)], [plain([channels], I16)], custom=made)


@recipe("CUSTOM SignalFilterBankSpectralSubtraction")
def subtraction(name):
    for channels in (5, 8, 13):
        made = custom(num_channels=channels, smoothing=10, one_minus_smoothing=20, alternate_smoothing=10, smoothing_bits=10,
                      alternate_one_minus_smoothing=10, min_signal_remaining=1, spectral_subtraction_bits=14, clamping=False)  # fmt: skip
        yield Case(name, [plain([channels], U32)], [plain([channels], U32), plain([channels], U32)], custom=made)


@recipe("CUSTOM SignalPCAN")
def pcan(name):
    for channels in (5, 8, 13):
        inputs = [plain([channels], U32), plain([channels], U32), T([125], I16, const=True, plain=True)]
        yield Case(name, inputs, [plain([channels], U32)], custom=custom(snr_shift=6))


@recipe("CUSTOM SignalFramer")
def framer(name):
    for step, size, frames, rows in ((16, 32, 1, 1), (20, 28, 2, 1), (24, 60, 3, 2)):
        made = custom(frame_size=size, frame_step=step, prefill=True)
        outputs = [plain([rows, frames, size], I16), plain([], BOOL)]
        yield Case(name, [plain([rows, frames * step], I16)], outputs, custom=made)


@recipe("CUSTOM SignalStacker")
def stacker(name):
    for channels, left, right in ((5, 1, 1), (8, 2, 1), (13, 3, 0)):
        made = custom(num_channels=channels, stacker_left_context=left, stacker_right_context=right, stacker_step=2)
        outputs = [plain([channels * (left + right + 1)], I16), plain([], BOOL)]
        yield Case(name, [plain([channels], I16)], outputs, custom=made)


@recipe("CUSTOM SignalDelay")
def delay(name):
    for rows, size, length in ((1, 8, 3), (2, 6, 10), (3, 10, 5)):
        yield Case(name, [plain([rows, size], I16)], [plain([rows, size], I16)], custom=custom(delay_length=length))


@recipe("CUSTOM SignalOverlapAdd")
def overlap_add(name):
    for kind, (rows, frames, size, step) in itertools.product((F32, I16), ((1, 1, 12, 8), (2, 3, 20, 5), (3, 2, 9, 4))):
        made = custom(T=kind, frame_step=step)
        yield Case(name, [plain([rows, frames, size], kind)], [plain([rows, frames * step], kind)], custom=made)


@recipe("CUSTOM CIRCULAR_BUFFER")
def circular_buffer(name):
    for kind, (slots, depth) in itertools.product((I8, I16, F32), ((4, 3), (6, 10), (5, 7))):
        yield Case(name, [T([1, 1, 1, depth], kind)], [T([1, slots, 1, depth], kind)], custom=custom(cycles_max=1))


@recipe("CUSTOM TFLite_Detection_PostProcess")
def detection(name):
    for kind, (boxes, classes, most) in itertools.product((F32, I8), ((6, 2, 3), (11, 4, 5), (20, 3, 7))):
        made = custom(max_detections=most, max_classes_per_detection=1, detections_per_class=2, num_classes=classes,
                      nms_score_threshold=0.1, nms_iou_threshold=0.5, x_scale=10.0, y_scale=10.0, w_scale=5.0, h_scale=5.0,
                      use_regular_nms=False)  # fmt: skip
        inputs = [T([1, boxes, 4], kind), T([1, boxes, classes + 1], kind), T([boxes, 4], kind, const=True)]
        outputs = [plain([1, most, 4], F32), plain([1, most], F32), plain([1, most], F32), plain([1], F32)]
        yield Case(name, inputs, outputs, custom=made)

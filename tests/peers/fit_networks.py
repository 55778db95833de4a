"""Networks for `memplan fit`, with random weights, as .tflite files.

    fit_networks.py FOLDER [NAME ...]     writes NAME.tflite, or all of them, and prints their names

Weights are scaled by the number of products they are summed over, so that activations neither vanish nor saturate on their
way through a deep network: two outputs that are equal shall not be equal because everything is zero.
"""

import pathlib
import sys

import numpy as np
from ai_edge_litert import schema_py_generated as fb
from make_tflite_models import Maker, Op, Type

Same, Valid = fb.Padding.SAME, fb.Padding.VALID
Relu, NoActivation = fb.ActivationFunctionType.RELU, fb.ActivationFunctionType.NONE
ZERO = -5


class Network(Maker):
    """A maker of images, of one element type."""

    def __init__(self, name, kind=Type.INT8):
        super().__init__(name)
        self.kind = kind

    def image(self, name, shape):
        """An activation; its zero point is not zero, so that a border of zeros would be wrong."""
        return self.tensor(name, shape, self.kind, zero=ZERO)

    def start(self, *shape):
        return self.input("image", [1, *shape], self.kind, zero=ZERO)

    def filter(self, name, shape, channels, axis):
        products = int(np.prod(shape)) // channels
        if self.kind == Type.FLOAT32:
            data = (self.random.standard_normal(shape) / np.sqrt(products)).astype(np.float32)
            bias = (0.1 * self.random.standard_normal(channels)).astype(np.float32)
            return self.tensor(name + "/w", shape, self.kind, data=data), self.tensor(name + "/b", [channels], self.kind, data=bias)
        scales = [1.2 / (73 * np.sqrt(products)) * (1 + 0.1 * (channel % 5)) for channel in range(channels)]
        data = self.random.integers(-127, 128, shape, dtype=np.int8)
        weights = self.tensor(name + "/w", shape, data=data, scales=scales, axis=axis)
        data = self.random.integers(-300, 300, channels, dtype=np.int32)
        return weights, self.tensor(name + "/b", [channels], Type.INT32, data=data, scales=[0.05 * scale for scale in scales])

    def reach(self, length, size, stride, padding, dilation=1):
        size = (size - 1) * dilation + 1
        return -(-length // stride) if padding == Same else (length - size) // stride + 1

    def conv(self, name, x, channels, size=3, stride=1, padding=Same, activation=Relu, dilation=1):
        _, height, width, depth = self.shape(x)
        weights, bias = self.filter(name, [channels, size, size, depth], channels, 0)
        options = fb.Conv2DOptionsT()
        options.padding, options.strideH, options.strideW = padding, stride, stride
        options.dilationHFactor = options.dilationWFactor = dilation
        options.fusedActivationFunction = activation
        out = self.image(name, [1, *(self.reach(n, size, stride, padding, dilation) for n in (height, width)), channels])
        return self.op(Op.CONV_2D, [x, weights, bias], [out], options, fb.BuiltinOptions.Conv2DOptions, 3)

    def depthwise(self, name, x, size=3, stride=1, padding=Same):
        _, height, width, depth = self.shape(x)
        weights, bias = self.filter(name, [1, size, size, depth], depth, 3)
        options = fb.DepthwiseConv2DOptionsT()
        options.padding, options.strideH, options.strideW = padding, stride, stride
        options.depthMultiplier, options.dilationHFactor, options.dilationWFactor = 1, 1, 1
        options.fusedActivationFunction = Relu
        out = self.image(name, [1, *(self.reach(n, size, stride, padding) for n in (height, width)), depth])
        return self.op(Op.DEPTHWISE_CONV_2D, [x, weights, bias], [out], options, fb.BuiltinOptions.DepthwiseConv2DOptions, 3)

    def pool(self, name, x, size=2, stride=2, padding=Valid, code=Op.MAX_POOL_2D):
        _, height, width, depth = self.shape(x)
        options = fb.Pool2DOptionsT()
        options.padding, options.strideH, options.strideW = padding, stride, stride
        options.filterHeight = options.filterWidth = size
        out = self.image(name, [1, *(self.reach(n, size, stride, padding) for n in (height, width)), depth])
        return self.op(code, [x], [out], options, fb.BuiltinOptions.Pool2DOptions, 2)

    def border(self, name, x, top=0, bottom=1, left=0, right=1):
        """Zeros around an image, as Keras writes them in front of convolutions with a stride."""
        _, height, width, depth = self.shape(x)
        sides = np.array([[0, 0], [top, bottom], [left, right], [0, 0]], np.int32)
        sides = self.tensor(name + "/sides", [4, 2], Type.INT32, data=sides, plain=True)
        out = self.image(name, [1, height + top + bottom, width + left + right, depth])
        return self.op(Op.PAD, [x, sides], [out], fb.PadOptionsT(), fb.BuiltinOptions.PadOptions, 2)

    def add(self, name, x, y):
        out = self.image(name, self.shape(x))
        return self.op(Op.ADD, [x, y], [out], fb.AddOptionsT(), fb.BuiltinOptions.AddOptions, 2)

    def concat(self, name, tensors):
        shape = list(self.shape(tensors[0]))
        shape[3] = sum(self.shape(tensor)[3] for tensor in tensors)
        options = fb.ConcatenationOptionsT()
        options.axis = 3
        return self.op(Op.CONCATENATION, tensors, [self.image(name, shape)], options, fb.BuiltinOptions.ConcatenationOptions, 2)

    def larger(self, name, x, factor=2):
        """The nearest neighbour, so many times as high and wide."""
        _, height, width, depth = self.shape(x)
        shape = [1, factor * height, factor * width, depth]
        size = self.tensor(name + "/size", [2], Type.INT32, data=np.array(shape[1:3], np.int32), plain=True)
        options = fb.ResizeNearestNeighborOptionsT()
        return self.op(Op.RESIZE_NEAREST_NEIGHBOR, [x, size], [self.image(name, shape)], options, fb.BuiltinOptions.ResizeNearestNeighborOptions, 2)

    def transpose_conv(self, name, x, channels):
        _, height, width, depth = self.shape(x)
        shape = [1, 2 * height, 2 * width, channels]
        weights, bias = self.filter(name, [channels, 2, 2, depth], channels, 0)
        size = self.tensor(name + "/shape", [4], Type.INT32, data=np.array(shape, np.int32), plain=True)
        options = fb.TransposeConvOptionsT()
        options.padding, options.strideH, options.strideW = Same, 2, 2
        return self.op(Op.TRANSPOSE_CONV, [size, weights, x, bias], [self.image(name, shape)], options, fb.BuiltinOptions.TransposeConvOptions, 3)

    def head(self, x, classes=10):
        """The mean over all positions, and a score for each class."""
        axes = self.tensor("mean/axes", [2], Type.INT32, data=np.array([1, 2], np.int32), plain=True)
        options = fb.ReducerOptionsT()
        options.keepDims = True
        depth = self.shape(x)[3]
        scale = dict(scale=0.005) if self.kind == Type.INT8 else {}
        out = self.tensor("mean", [1, 1, 1, depth], self.kind, **scale)
        x = self.op(Op.MEAN, [x, axes], [out], options, fb.BuiltinOptions.ReducerOptions, 2)
        weights, bias = self.filter("scores", [classes, 1, 1, depth], classes, 0)
        options = fb.Conv2DOptionsT()
        options.padding, options.strideH, options.strideW = Valid, 1, 1
        options.dilationHFactor = options.dilationWFactor = 1
        out = self.tensor("scores", [1, 1, 1, classes], self.kind, **scale)
        return self.op(Op.CONV_2D, [x, weights, bias], [out], options, fb.BuiltinOptions.Conv2DOptions, 3)


def mobilenet_v1(size, width=0.25, depth=3, kind=Type.INT8, blocks=13):
    m = Network("mobilenet_v1", kind)
    wide = lambda channels: max(8, int(channels * width))
    x = m.conv("conv0", m.start(size, size, depth), wide(32), stride=2)
    plan = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + [(1024, 2), (1024, 1)]
    for number, (channels, stride) in enumerate(plan[:blocks], 1):
        x = m.depthwise(f"dw{number}", x, stride=stride)
        x = m.conv(f"pw{number}", x, wide(channels), size=1)
    return m.bytes(m.head(x))


def mobilenet_v2(size, width=0.35, kind=Type.INT8, depth=3, stages=7):
    m = Network("mobilenet_v2", kind)
    wide = lambda channels: max(8, int(channels * width + 4) // 8 * 8)
    x = m.conv("conv0", m.start(size, size, depth), wide(32), stride=2)
    plan = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    number = 0
    for expand, channels, repeat, first_stride in plan[:stages]:
        for index in range(repeat):
            number += 1
            stride = first_stride if index == 0 else 1
            y = x if expand == 1 else m.conv(f"expand{number}", x, expand * m.shape(x)[3], size=1)
            y = m.depthwise(f"dw{number}", y, stride=stride)
            y = m.conv(f"project{number}", y, wide(channels), size=1, activation=NoActivation)
            x = m.add(f"add{number}", x, y) if stride == 1 and m.shape(x) == m.shape(y) else y
    return m.bytes(m.head(x))


def keras_mobilenet(size, width=0.35, kind=Type.INT8):
    """The first stages of a MobileNet v2 as Keras makes it: explicit borders, convolutions without."""
    m = Network("keras_mobilenet", kind)
    wide = lambda channels: max(8, int(channels * width + 4) // 8 * 8)
    x = m.conv("conv0", m.border("border0", m.start(size, size, 3)), wide(32), stride=2, padding=Valid)
    number = 0
    for channels, repeat, first_stride in [(16, 1, 1), (24, 2, 2), (32, 3, 2), (64, 2, 2)]:
        for index in range(repeat):
            number += 1
            y = m.conv(f"expand{number}", x, 6 * m.shape(x)[3], size=1)
            if index == 0 and first_stride == 2:
                y = m.depthwise(f"dw{number}", m.border(f"border{number}", y), stride=2, padding=Valid)
            else:
                y = m.depthwise(f"dw{number}", y)
            y = m.conv(f"project{number}", y, wide(channels), size=1, activation=NoActivation)
            x = m.add(f"add{number}", x, y) if m.shape(x) == m.shape(y) else y
    return m.bytes(m.head(x))


def resnet(size=32, width=16, kind=Type.INT8):
    m = Network("resnet", kind)
    x = m.conv("conv0", m.start(size, size, 3), width)
    for stage, channels in enumerate([width, 2 * width, 4 * width]):
        for block in range(2):
            name = f"s{stage}b{block}"
            stride = 2 if stage > 0 and block == 0 else 1
            y = m.conv(name + "a", x, channels, stride=stride)
            y = m.conv(name + "b", y, channels, activation=NoActivation)
            short = m.conv(name + "s", x, channels, size=1, stride=stride, activation=NoActivation) if stride > 1 else x
            x = m.add(name, short, y)
    return m.bytes(m.head(x))


def unet(size=48, width=8, kind=Type.INT8, up="transpose"):
    m = Network("unet", kind)
    x = m.start(size, size, 3)
    skips = []
    for level in range(3):
        x = m.conv(f"down{level}", x, width << level)
        skips.append(x)
        x = m.pool(f"pool{level}", x)
    x = m.conv("bottom", x, width << 3)
    for level in reversed(range(3)):
        x = m.transpose_conv(f"up{level}", x, width << level) if up == "transpose" else m.larger(f"up{level}", x)
        x = m.concat(f"join{level}", [skips[level], x])
        x = m.conv(f"out{level}", x, width << level)
    return m.bytes(m.conv("mask", x, 2, size=1, activation=NoActivation))


def branching(size=40, kind=Type.INT8):
    """Inception-like: branches with windows of several sizes, joined, and pools with and without a border."""
    m = Network("branching", kind)
    x = m.conv("stem", m.start(size, size, 3), 8, stride=2)
    for number in range(2):
        name = f"mix{number}"
        one = m.conv(name + "/1", x, 8, size=1)
        three = m.conv(name + "/3", m.conv(name + "/3r", x, 6, size=1), 8)
        five = m.conv(name + "/5", m.conv(name + "/5r", x, 4, size=1), 8, size=5)
        pool = m.conv(name + "/p", m.pool(name + "/max", x, size=3, stride=1, padding=Same), 4, size=1)
        x = m.concat(name, [one, three, five, pool])
    x = m.conv("wide", x, 12, dilation=2)
    x = m.pool("average", x, code=Op.AVERAGE_POOL_2D)
    return m.bytes(m.head(x))


def keywords(kind=Type.INT8):
    """A depthwise-separable network on 49 frames of 10 features."""
    m = Network("keywords", kind)
    x = m.conv("conv0", m.start(49, 10, 1), 64, size=4, stride=2)
    for number in range(1, 5):
        x = m.conv(f"pw{number}", m.depthwise(f"dw{number}", x), 64, size=1)
    return m.bytes(m.head(x, 12))


def micro_speech():
    """The layers of TensorFlow Lite Micro's example: 49 frames of 40 features, one convolution, one fully connected layer."""
    m = Network("micro_speech")
    x = m.start(49 * 40)
    frames = m.image("frames", [1, 49, 40, 1])
    size = m.tensor("frames/shape", [4], Type.INT32, data=np.array([1, 49, 40, 1], np.int32), plain=True)
    options = fb.ReshapeOptionsT()
    options.newShape = [1, 49, 40, 1]
    x = m.op(Op.RESHAPE, [x, size], [frames], options, fb.BuiltinOptions.ReshapeOptions)
    weights, bias = m.filter("conv", [1, 10, 8, 8], 8, 3)
    options = fb.DepthwiseConv2DOptionsT()
    options.padding, options.strideH, options.strideW = Same, 2, 2
    options.depthMultiplier, options.dilationHFactor, options.dilationWFactor = 8, 1, 1
    options.fusedActivationFunction = Relu
    out = m.image("conv", [1, 25, 20, 8])
    x = m.op(Op.DEPTHWISE_CONV_2D, [x, weights, bias], [out], options, fb.BuiltinOptions.DepthwiseConv2DOptions, 3)
    # The kernels take an image here and read it as one row.
    data = m.random.integers(-127, 128, [4, 4000], dtype=np.int8)
    weights = m.tensor("scores/w", [4, 4000], data=data, scale=0.0005)
    bias = m.tensor("scores/b", [4], Type.INT32, data=m.random.integers(-300, 300, 4, dtype=np.int32), scale=0.05 * 0.0005)
    scores = m.tensor("scores", [1, 4])
    x = m.op(Op.FULLY_CONNECTED, [x, weights, bias], [scores], fb.FullyConnectedOptionsT(), fb.BuiltinOptions.FullyConnectedOptions, 4)
    return m.bytes(m.softmax("labels", x))


def valid(size=36, kind=Type.INT8):
    """Windows without borders, odd strides and sizes."""
    m = Network("valid", kind)
    x = m.conv("a", m.start(size, size - 5, 2), 6, padding=Valid)
    x = m.conv("b", x, 8, size=5, stride=3, padding=Same)
    x = m.depthwise("c", x, size=4, padding=Same)
    x = m.pool("d", x, size=3, stride=2, padding=Valid)
    return m.bytes(m.conv("e", x, 4, size=2))


def several_outputs(size=32):
    """Three outputs: the input itself, an image on the way and the last one."""
    m = Network("several_outputs")
    image = m.start(size, size, 3)
    early = m.conv("early", image, 8)
    late = m.conv("late", m.conv("wide", early, 32), 4)
    return m.bytes(image, early, late)


def numbers_of_16_bits(size=32):
    """Convolutions and a pool on int16, with weights of 8 bits and biases of 64."""
    m = Network("int16")

    def conv(name, x, channels):
        _, height, width, depth = m.shape(x)
        scales = [0.002 * (1 + channel % 3) for channel in range(channels)]
        data = m.random.integers(-127, 128, [channels, 3, 3, depth], dtype=np.int8)
        weights = m.tensor(name + "/w", [channels, 3, 3, depth], data=data, scales=scales, axis=0)
        data = m.random.integers(-300, 300, channels).astype(np.int64)
        bias = m.tensor(name + "/b", [channels], Type.INT64, data=data, scales=[0.05 * scale for scale in scales])
        options = fb.Conv2DOptionsT()
        options.padding, options.strideH, options.strideW = Same, 1, 1
        options.dilationHFactor = options.dilationWFactor = 1
        out = m.tensor(name, [1, height, width, channels], Type.INT16)
        return m.op(Op.CONV_2D, [x, weights, bias], [out], options, fb.BuiltinOptions.Conv2DOptions, 4)

    x = conv("wide", m.input("image", [1, size, size, 3], Type.INT16), 32)
    options = fb.Pool2DOptionsT()
    options.padding, options.strideH, options.strideW = Valid, 2, 2
    options.filterHeight = options.filterWidth = 2
    out = m.tensor("pool", [1, size // 2, size // 2, 32], Type.INT16)
    x = m.op(Op.MAX_POOL_2D, [x], [out], options, fb.BuiltinOptions.Pool2DOptions, 3)
    return m.bytes(conv("narrow", x, 4))


def any_batch(size=32):
    """How many images come in is known only when the network runs."""
    m = Network("any_batch")
    image = m.start(size, size, 3)
    x = m.conv("narrow", m.conv("wide", image, 32), 4)
    m.graph.tensors[image].shape = [-1, size, size, 3]
    return m.bytes(x)


def infinite(size=32):
    """The first convolution has a weight that is infinite: zero times that weight is no number, so that no border of zeros stands for its padding."""
    m = Network("infinite", Type.FLOAT32)
    x = m.conv("endless", m.start(size, size, 3), 16)
    weights = m.model.buffers[m.graph.tensors[m.graph.operators[0].inputs[1]].buffer]
    weights.data = np.frombuffer(np.array([np.inf], np.float32).tobytes() + bytes(weights.data)[4:], np.uint8)
    x = m.conv("wide", x, 24, size=1)
    x = m.conv("narrow", x, 4, size=1)
    return m.bytes(m.head(x))


NETWORKS = {
    "person": lambda: mobilenet_v1(96, 0.25, depth=1),
    "v1_128": lambda: mobilenet_v1(128, 0.25),
    "v1_224": lambda: mobilenet_v1(224, 0.25),
    "v2_96": lambda: mobilenet_v2(96),
    "v2_144": lambda: mobilenet_v2(144),
    "v2_224": lambda: mobilenet_v2(224),
    "v2_full_224": lambda: mobilenet_v2(224, 1.0),
    "keras": lambda: keras_mobilenet(96),
    "resnet": resnet,
    "unet": unet,
    "unet_nearest": lambda: unet(up="nearest"),
    "branching": branching,
    "keywords": keywords,
    "micro_speech": micro_speech,
    "valid": valid,
    "several_outputs": several_outputs,
    "int16": numbers_of_16_bits,
    "any_batch": any_batch,
    "float_v1": lambda: mobilenet_v1(64, 0.25, kind=Type.FLOAT32, blocks=5),
    "float_resnet": lambda: resnet(24, 8, Type.FLOAT32),
    "float_unet": lambda: unet(24, 4, Type.FLOAT32, "nearest"),
    "infinite": infinite,
    "float_branching": lambda: branching(24, Type.FLOAT32),
}

if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    for name in sys.argv[2:] or NETWORKS:
        (folder / f"{name}.tflite").write_bytes(NETWORKS[name]())
        print(name)

"""Small random networks as .tflite files, of which no two are alike.

    generate_networks.py FOLDER COUNT [FIRST]     writes FIRST.tflite, … and prints their paths as one JSON value

Chains, residual connections, branches that join, pools, depthwise and pointwise convolutions, strides, both kinds of padding,
dilation, odd sizes, a head of fully connected layers or none; int8, and a quarter of them float. The number of a network decides
everything about it.
"""

import json
import os
import sys

import numpy as np
from ai_edge_litert import schema_py_generated as fb
from make_tflite_models import Maker, Op, Type

ACTIVATIONS = [fb.ActivationFunctionType.NONE, fb.ActivationFunctionType.RELU, fb.ActivationFunctionType.RELU6]


def out_size(places, size, stride, dilation, padding):
    reach = (size - 1) * dilation + 1
    return -(-places // stride) if padding == fb.Padding.SAME else (places - reach) // stride + 1


class Network(Maker):
    """A network that grows layer by layer."""

    def __init__(self, number):
        super().__init__("main")
        self.random = np.random.default_rng(number)
        self.is_float = bool(self.random.random() < 0.25)
        self.kind = Type.FLOAT32 if self.is_float else Type.INT8
        self.count = 0

    def pick(self, values):
        return values[int(self.random.integers(len(values)))]

    def name(self, word):
        self.count += 1
        return f"{word}{self.count}"

    def image(self, name, shape):
        """A tensor that an op writes: every one has a zero point of its own."""
        zero = 0 if self.is_float else int(self.random.integers(-20, 20))
        return self.tensor(name, shape, self.kind, zero=zero)

    def parameters(self, name, shape, channels, axis):
        if self.is_float:
            weights = self.tensor(name + "/w", shape, Type.FLOAT32, data=self.normal(shape))
            return [weights, self.tensor(name + "/b", [channels], Type.FLOAT32, data=self.normal([channels]))]
        data = self.random.integers(-127, 128, shape, dtype=np.int8)
        scales = (0.001 + 0.004 * self.random.random(channels)).astype(np.float32)
        weights = self.tensor(name + "/w", shape, data=data, scales=scales, axis=axis)
        bias = self.random.integers(-500, 500, channels, dtype=np.int32)
        return [weights, self.tensor(name + "/b", [channels], Type.INT32, data=bias, scales=scales * np.float32(0.05))]

    def convolution(self, x, channels=None):
        """A convolution, or a depthwise one where no number of channels is given."""
        _, height, width, depth = self.shape(x)
        size = (self.pick([1, 1, 2, 3, 3, 5]), self.pick([1, 2, 3, 3])) if self.random.random() < 0.3 else (self.pick([1, 3, 3, 5]),) * 2
        dilation = 2 if self.random.random() < 0.1 else 1
        stride = self.pick([1, 1, 2]) if dilation == 1 else 1
        padding = self.pick([fb.Padding.SAME, fb.Padding.SAME, fb.Padding.VALID])
        if min(height - (size[0] - 1) * dilation, width - (size[1] - 1) * dilation) < 1:
            size, padding = (1, 1), fb.Padding.SAME
        rows, columns = (out_size(n, k, stride, dilation, padding) for n, k in zip((height, width), size))
        is_depthwise = channels is None
        options = fb.DepthwiseConv2DOptionsT() if is_depthwise else fb.Conv2DOptionsT()
        options.padding, options.strideH, options.strideW = padding, stride, stride
        options.dilationHFactor = options.dilationWFactor = dilation
        options.fusedActivationFunction = self.pick(ACTIVATIONS)
        name = self.name("depthwise" if is_depthwise else "conv")
        if is_depthwise:
            options.depthMultiplier = 1
            inputs = [x] + self.parameters(name, [1, *size, depth], depth, 3)
            out = self.image(name, [1, rows, columns, depth])
            return self.op(Op.DEPTHWISE_CONV_2D, inputs, [out], options, fb.BuiltinOptions.DepthwiseConv2DOptions, 3)
        inputs = [x] + self.parameters(name, [channels, *size, depth], channels, 0)
        out = self.image(name, [1, rows, columns, channels])
        return self.op(Op.CONV_2D, inputs, [out], options, fb.BuiltinOptions.Conv2DOptions, 3)

    def pooling(self, x):
        _, height, width, depth = self.shape(x)
        size, stride = self.pick([(2, 2), (3, 2), (3, 1), (2, 1)])
        padding = self.pick([fb.Padding.SAME, fb.Padding.VALID])
        if min(height, width) < size:
            return x
        options = fb.Pool2DOptionsT()
        options.padding, options.strideH, options.strideW = padding, stride, stride
        options.filterHeight = options.filterWidth = size
        rows, columns = (out_size(n, size, stride, 1, padding) for n in (height, width))
        # A pool has the quantisation of what it reads.
        out = self.like(self.name("pool"), x, [1, rows, columns, depth])
        code = self.pick([Op.MAX_POOL_2D, Op.AVERAGE_POOL_2D])
        return self.op(code, [x], [out], options, fb.BuiltinOptions.Pool2DOptions, 2)

    def like(self, name, x, shape):
        out = self.tensor(name, shape, self.kind)
        self.graph.tensors[out].quantization = self.graph.tensors[x].quantization
        return out

    def sum(self, x, y):
        out = self.image(self.name("add"), self.shape(x))
        options = fb.AddOptionsT()
        options.fusedActivationFunction = self.pick(ACTIVATIONS)
        return self.op(Op.ADD, [x, y], [out], options, fb.BuiltinOptions.AddOptions, 2)

    def residual(self, x):
        """Convolutions that keep the shape, added to what they read."""
        depth = self.shape(x)[3]
        name = self.name("branch")
        wide = self.keep(x, depth * self.pick([1, 2, 3]), 1, name + "a")
        return self.sum(x, self.keep(wide, depth, 3, name + "b"))

    def keep(self, x, channels, size, name):
        _, height, width, depth = self.shape(x)
        options = fb.Conv2DOptionsT()
        options.padding, options.strideH, options.strideW = fb.Padding.SAME, 1, 1
        options.dilationHFactor = options.dilationWFactor = 1
        inputs = [x] + self.parameters(name, [channels, size, size, depth], channels, 0)
        out = self.image(name, [1, height, width, channels])
        return self.op(Op.CONV_2D, inputs, [out], options, fb.BuiltinOptions.Conv2DOptions, 3)

    def branches(self, x):
        """Two ways from the same tensor, joined along channels."""
        name = self.name("way")
        ways = [self.keep(x, self.pick([2, 3, 5]), self.pick([1, 3]), f"{name}{letter}") for letter in "ab"]
        # A concatenation has the quantisation of all that it joins.
        for way in ways[1:]:
            self.graph.tensors[way].quantization = self.graph.tensors[ways[0]].quantization
        out = self.like(self.name("join"), ways[0], self.shape(ways[0])[:3] + [sum(self.shape(way)[3] for way in ways)])
        options = fb.ConcatenationOptionsT()
        options.axis = 3
        return self.op(Op.CONCATENATION, ways, [out], options, fb.BuiltinOptions.ConcatenationOptions, 2)

    def activation(self, x):
        code = self.pick([Op.RELU, Op.LOGISTIC, Op.TANH])
        if code == Op.RELU or self.is_float:
            out = self.like(self.name("act"), x, self.shape(x))
        elif code == Op.LOGISTIC:
            out = self.tensor(self.name("act"), self.shape(x), self.kind, scale=1 / 256, zero=-128)
        else:
            out = self.tensor(self.name("act"), self.shape(x), self.kind, scale=1 / 128, zero=0)
        return self.op(code, [x], [out], version=1 if code == Op.RELU else 2)

    def head(self, x):
        _, height, width, depth = self.shape(x)
        flat = self.like(self.name("flat"), x, [1, height * width * depth])
        size = self.tensor(self.name("size"), [2], Type.INT32, data=np.array([1, height * width * depth], np.int32), plain=True)
        options = fb.ReshapeOptionsT()
        options.newShape = [1, height * width * depth]
        self.op(Op.RESHAPE, [x, size], [flat], options, fb.BuiltinOptions.ReshapeOptions)
        return self.dense(self.name("dense"), flat, 5)


def network(number):
    m = Network(number)
    height, width = (int(n) for n in m.random.integers(8, 45, 2))
    zero = 0 if m.is_float else int(m.random.integers(-128, 128))
    x = m.input("image", [1, height, width, m.pick([1, 2, 3])], m.kind, zero=zero)
    x = m.convolution(x, m.pick([4, 8, 12]))
    for _ in range(int(m.random.integers(2, 9))):
        layer = m.pick(["conv", "conv", "depthwise", "depthwise", "pool", "residual", "branches", "activation"])
        if layer == "conv":
            x = m.convolution(x, m.pick([2, 4, 6, 9]))
        elif layer == "depthwise":
            x = m.convolution(x)
        else:
            x = {"pool": m.pooling, "residual": m.residual, "branches": m.branches, "activation": m.activation}[layer](x)
    if m.random.random() < 0.3:
        x = m.head(x)
    return m.bytes(x)


def main(folder, count, first=0):
    os.makedirs(folder, exist_ok=True)
    paths = []
    for number in range(int(first), int(first) + int(count)):
        paths.append(os.path.join(folder, f"{number}.tflite"))
        with open(paths[-1], "wb") as file:
            file.write(network(number))
    print(json.dumps(paths))


if __name__ == "__main__":
    main(*sys.argv[1:])

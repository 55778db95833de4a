"""Networks as .onnx files, and whether onnxruntime computes the same with a changed one.

    fit_onnx.py networks FOLDER NAME ...           writes NAME.onnx; a number is the seed of a random network
    fit_onnx.py same ORIGINAL CHANGED ...          prints a JSON list with, for each two:

    same       every output has the same bits for every input, without optimisations of the graph
    fast       the same with onnxruntime's default optimisations
    apart      the largest difference between outputs in any of them, divided by the largest output

Inputs are random numbers, a checkerboard, and tensors that hold the least, the greatest and the middle number everywhere.
"""

import json
import os
import sys

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save, shape_inference

OPSET = 21


class Network:
    """A network that grows node by node; images are [1, channels, height, width]."""

    def __init__(self, name, seed=0):
        self.name, self.random = name, np.random.default_rng(seed)
        self.nodes, self.constants, self.shapes = [], [], {}

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def start(self, channels, height, width, kind=TensorProto.FLOAT):
        self.input = helper.make_tensor_value_info("image", kind, [1, channels, height, width])
        self.shapes["image"] = (channels, height, width)
        return "image"

    def node(self, kind, inputs, name, shape, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        self.shapes[name] = shape
        return name

    def weights(self, name, shape):
        data = self.random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))
        return self.constant(name, data.astype(np.float32))

    def windows(self, x, size, stride, pads, dilation=1):
        _, height, width = self.shapes[x]
        reach = (size - 1) * dilation + 1
        return [(n + before + after - reach) // stride + 1 for n, before, after in zip((height, width), pads[:2], pads[2:])]

    def conv(self, name, x, channels, size=3, stride=1, pads=None, group=1, dilation=1, relu=True, auto=None):
        depth = self.shapes[x][0]
        pads = [(size - 1) * dilation // 2] * 4 if pads is None else pads
        rows, columns = self.windows(x, size, stride, pads, dilation)
        inputs = [x, self.weights(name + "/w", [channels, depth // group, size, size])]
        inputs.append(self.constant(name + "/b", (0.1 * self.random.standard_normal(channels)).astype(np.float32)))
        padding = {"auto_pad": auto} if auto else {"pads": pads}
        if auto:
            rows, columns = (-(-n // stride) for n in self.shapes[x][1:])
        attributes = dict(kernel_shape=[size] * 2, strides=[stride] * 2, group=group, dilations=[dilation] * 2, **padding)
        y = self.node("Conv", inputs, name, (channels, rows, columns), **attributes)
        return self.node("Relu", [y], name + "/relu", self.shapes[y]) if relu else y

    def pool(self, name, x, kind="MaxPool", size=2, stride=2, pads=(0, 0, 0, 0), **attributes):
        rows, columns = self.windows(x, size, stride, pads)
        shape = (self.shapes[x][0], rows, columns)
        return self.node(kind, [x], name, shape, kernel_shape=[size] * 2, strides=[stride] * 2, pads=list(pads), **attributes)

    def join(self, name, images):
        shape = (sum(self.shapes[image][0] for image in images), *self.shapes[images[0]][1:])
        return self.node("Concat", images, name, shape, axis=1)

    def add(self, name, x, y):
        return self.node("Add", [x, y], name, self.shapes[x])

    def larger(self, name, x, factor=2, by_size=False):
        channels, height, width = self.shapes[x]
        shape = (channels, height * factor, width * factor)
        how = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        if by_size:
            sizes = self.constant(name + "/sizes", np.array([1, *shape], np.int64))
            return self.node("Resize", [x, "", "", sizes], name, shape, **how)
        scales = self.constant(name + "/scales", np.array([1, 1, factor, factor], np.float32))
        return self.node("Resize", [x, "", scales], name, shape, **how)

    def head(self, x, classes=10):
        channels = self.shapes[x][0]
        x = self.node("GlobalAveragePool", [x], "pooled", (channels, 1, 1))
        x = self.node("Flatten", [x], "flat", (channels,))
        return self.node("Gemm", [x, self.weights("dense/w", [classes, channels])], "classes", (classes,), transB=1)

    def model(self, output, kind=TensorProto.FLOAT):
        shape = [1, *self.shapes[output]]
        outputs = [helper.make_tensor_value_info(output, kind, shape)]
        graph = helper.make_graph(self.nodes, self.name, [self.input], outputs, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
        checker.check_model(model, full_check=True)
        # How much a resize makes larger is a list of floats, which memplan does not look at: shapes belong into the file.
        return shape_inference.infer_shapes(model)


def mobilenet(size=64, width=8):
    m = Network("mobilenet")
    x = m.conv("stem", m.start(3, size, size), 2 * width, stride=2)
    for number, (channels, stride) in enumerate([(width, 1), (2 * width, 2), (2 * width, 1), (4 * width, 2)]):
        wide = 6 * m.shapes[x][0]
        y = m.conv(f"expand{number}", x, wide, size=1)
        y = m.conv(f"dw{number}", y, wide, stride=stride, group=wide)
        y = m.conv(f"project{number}", y, channels, size=1, relu=False)
        x = m.add(f"add{number}", x, y) if m.shapes[x] == m.shapes[y] else y
    return m.model(m.head(x))


def resnet(size=32, width=8):
    m = Network("resnet")
    x = m.conv("stem", m.start(3, size, size), width)
    for number, (channels, stride) in enumerate([(width, 1), (2 * width, 2), (2 * width, 1)]):
        y = m.conv(f"a{number}", x, channels, stride=stride)
        y = m.conv(f"b{number}", y, channels, relu=False)
        short = x if stride == 1 else m.conv(f"s{number}", x, channels, size=1, stride=stride, relu=False)
        x = m.node("Relu", [m.add(f"sum{number}", short, y)], f"out{number}", m.shapes[y])
    return m.model(m.head(x))


def unet(size=32, width=4):
    m = Network("unet")
    x, skips = m.start(3, size, size), []
    for level in range(2):
        x = m.conv(f"down{level}", x, width << level)
        skips.append(x)
        x = m.pool(f"pool{level}", x)
    x = m.conv("bottom", x, width << 2)
    for level in reversed(range(2)):
        x = m.join(f"join{level}", [skips[level], m.larger(f"up{level}", x, by_size=level == 0)])
        x = m.conv(f"out{level}", x, width << level)
    return m.model(m.conv("mask", x, 2, size=1, relu=False))


def branching(size=30):
    """Branches, pools with padding that counts and that does not, padding by name, dilation, blocks of channels."""
    m = Network("branching")
    x = m.conv("stem", m.start(3, size, size), 8, stride=2, auto="SAME_UPPER")
    one = m.conv("one", x, 8, size=1)
    three = m.conv("three", m.conv("reduce", x, 4, size=1), 8, dilation=2)
    most = m.pool("most", x, size=3, stride=1, pads=(1, 1, 1, 1))
    left = m.pool("left", x, "AveragePool", size=3, stride=1, pads=(1, 1, 1, 1))
    counted = m.pool("counted", x, "AveragePool", size=3, stride=1, pads=(1, 1, 1, 1), count_include_pad=1)
    x = m.join("mix", [one, three, most, left, counted])
    x = m.node("HardSwish", [x], "swish", m.shapes[x])
    x = m.conv("narrow", x, 4, size=1)
    blocks = m.node("DepthToSpace", [x], "blocks", (1, 2 * m.shapes[x][1], 2 * m.shapes[x][2]), blocksize=2)
    return m.model(m.conv("last", blocks, 3, relu=False))


def late(size=32):
    """A wide image that is read at the start and at the end: to compute it again is cheaper than to keep it."""
    m = Network("late")
    x = m.start(1, size, size)
    wide = m.conv("wide", x, 24, size=1)
    y = m.conv("narrow", wide, 2, size=1)
    for number in range(3):
        y = m.conv(f"up{number}", m.conv(f"deep{number}", y, 20), 2)
    return m.model(m.conv("end", m.join("both", [wide, y]), 2, size=1, relu=False))


def quantized(size=40):
    """Convolutions on bytes, as quantisation tools write them: QLinearConv, then pairs of QuantizeLinear and DequantizeLinear."""
    m = Network("quantized")
    x = m.start(3, size, size, TensorProto.UINT8)
    for number, (channels, stride) in enumerate([(16, 1), (16, 2), (8, 1)]):
        name, depth = f"q{number}", m.shapes[x][0]
        scalars = lambda word: [
            m.constant(f"{name}/{word}s", np.array(0.02, np.float32)),
            m.constant(f"{name}/{word}z", np.array(120 + number, np.uint8)),
        ]
        weights = m.constant(name + "/w", m.random.integers(-60, 60, [channels, depth, 3, 3]).astype(np.int8))
        scales = [
            m.constant(name + "/ws", (0.001 + 0.001 * m.random.random(channels)).astype(np.float32)),
            m.constant(name + "/wz", np.zeros(channels, np.int8)),
        ]
        bias = m.constant(name + "/b", m.random.integers(-99, 99, channels).astype(np.int32))
        rows, columns = m.windows(x, 3, stride, [1] * 4)
        inputs = [x, *scalars("x"), weights, *scales, *scalars("y"), bias]
        x = m.node("QLinearConv", inputs, name, (channels, rows, columns), kernel_shape=[3, 3], strides=[stride] * 2, pads=[1] * 4)
    scale, zero = m.constant("s", np.array(0.02, np.float32)), m.constant("z", np.array(122, np.uint8))
    for number in range(2):
        x = m.node("DequantizeLinear", [x, scale, zero], f"float{number}", m.shapes[x])
        x = m.conv(f"conv{number}", x, 24 >> number, relu=True)
        x = m.node("QuantizeLinear", [x, scale, zero], f"bytes{number}", m.shapes[x])
    return m.model(x, TensorProto.UINT8)


def generated(seed):
    """A random network; its number decides everything about it."""
    m = Network(f"generated{seed}", seed)
    pick = lambda values: values[int(m.random.integers(len(values)))]
    x = m.start(pick([1, 2, 3]), *(int(n) for n in m.random.integers(10, 40, 2)))
    x = m.conv("first", x, pick([4, 8, 12]))
    for number in range(int(m.random.integers(2, 8))):
        name, (depth, height, width) = f"n{number}", m.shapes[x]
        size = pick([1, 3, 3, 5])
        layer = pick(["conv", "conv", "depthwise", "pool", "residual", "branches", "act", "up"])
        if min(height, width) < 6 and layer in ("conv", "depthwise", "pool"):
            layer = "act"
        pads = [int(n) for n in m.random.integers(0, (size + 1) // 2, 4)]
        if layer == "conv":
            x = m.conv(name, x, pick([2, 4, 7]), size, pick([1, 1, 2]), pads)
        elif layer == "depthwise":
            x = m.conv(name, x, depth, size, pick([1, 2]), pads, group=depth)
        elif layer == "pool":
            kind, pads = pick(["MaxPool", "AveragePool"]), [int(n) for n in m.random.integers(0, 2, 4)]
            more = {"count_include_pad": pick([0, 1])} if kind == "AveragePool" else {}
            x = m.pool(name, x, kind, pick([2, 3]), pick([1, 2]), pads, **more)
        elif layer == "residual":
            x = m.add(name, x, m.conv(name + "b", m.conv(name + "a", x, 2 * depth, 1), depth, relu=False))
        elif layer == "branches":
            x = m.join(name, [m.conv(name + "a", x, 3, 1), m.conv(name + "b", x, 5)])
        elif layer == "up" and height * width < 500:
            x = m.larger(name, x, pick([2, 3]), bool(m.random.integers(2)))
        else:
            x = m.node(pick(["Sigmoid", "Tanh", "LeakyRelu"]), [x], name, m.shapes[x])
    return m.model(m.head(x) if m.random.random() < 0.3 else x)


NETWORKS = {
    "mobilenet": mobilenet,
    "resnet": resnet,
    "unet": unet,
    "branching": branching,
    "late": late,
    "quantized": quantized,
}


def networks(folder, names):
    for name in names:
        model = generated(int(name)) if name.isdigit() else NETWORKS[name]()
        save(model, os.path.join(folder, f"{name}.onnx"))
    return names


def inputs_of(session, seed):
    """One set of inputs for each run."""
    random = np.random.default_rng(seed)

    def fill(argument, how):
        shape = [n if isinstance(n, int) else 1 for n in argument.shape]
        kind = {"tensor(uint8)": np.uint8, "tensor(int8)": np.int8}.get(argument.type, np.float32)
        low, high = (-1, 1) if kind == np.float32 else (np.iinfo(kind).min, np.iinfo(kind).max)
        if how == "random":
            values = random.standard_normal(shape) if kind == np.float32 else random.integers(low, high + 1, shape)
        elif how == "checkerboard":
            values = np.where(np.indices(shape).sum(axis=0) % 2 == 0, low, high)
        else:
            values = np.full(shape, {"least": low, "greatest": high}.get(how, 0))
        return values.astype(kind)

    kinds = ("random", "random", "checkerboard", "least", "greatest", "middle")
    return [{argument.name: fill(argument, how) for argument in session.get_inputs()} for how in kinds]


def same(pairs):
    import onnxruntime

    levels = onnxruntime.GraphOptimizationLevel

    def session(path, level):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = level
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def compare(original, changed, level):
        sessions = [session(path, level) for path in (original, changed)]
        is_same, apart = True, 0.0
        for values in inputs_of(sessions[0], 7):
            for one, other in zip(*(session.run(None, values) for session in sessions)):
                is_same &= one.shape == other.shape and one.dtype == other.dtype and one.tobytes() == other.tobytes()
                one, other = one.astype(np.float64), other.astype(np.float64)
                largest = max(float(np.max(np.abs(one), initial=0)), 1e-30)
                apart = max(apart, float(np.max(np.abs(one - other), initial=0)) / largest)
        return is_same, apart

    answers = []
    for original, changed in pairs:
        plain, plain_apart = compare(original, changed, levels.ORT_DISABLE_ALL)
        fast, fast_apart = compare(original, changed, levels.ORT_ENABLE_ALL)
        answers.append({"same": plain, "fast": fast, "apart": max(plain_apart, fast_apart)})
    return answers


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    result = networks(rest[0], rest[1:]) if command == "networks" else same(list(zip(rest[::2], rest[1::2])))
    print("\n" + json.dumps(result))

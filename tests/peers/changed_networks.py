"""Generated networks that are computed tile by tile, rightly and with a mistake.

    changed_networks.py FOLDER COUNT [FIRST]      prints a JSON list of [original, changed, mistake]; no mistake is null

The tiles are made here, as simply as can be: every output is computed tile by tile all the way from the inputs, and nothing
is kept between tiles. So this is a second opinion on models that `memplan fit` makes, and on the check that judges them.
"""

import copy
import json
import os
import sys

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as fb
from generate_networks import network

Op = fb.BuiltinOperator
POINTWISE = (Op.ADD, Op.RELU, Op.LOGISTIC, Op.TANH)
WINDOWS = (Op.CONV_2D, Op.DEPTHWISE_CONV_2D, Op.MAX_POOL_2D, Op.AVERAGE_POOL_2D)
# Networks that become larger than this when nothing is kept between tiles are left out.
MOST_OPS = 250


class TooLarge(Exception):
    pass


class Tiler:
    def __init__(self, content, random):
        self.model = fb.ModelT.InitFromPackedBuf(bytearray(content))
        self.random = random
        self.graph = self.model.subgraphs[0]
        self.old = self.graph.operators
        self.graph.operators = []
        self.count = len(self.graph.tensors)
        self.writer = {operator.outputs[0]: operator for operator in self.old}
        self.whole = {tensor: tensor for tensor in self.graph.inputs}

    def code(self, number, version):
        for index, code in enumerate(self.model.operatorCodes):
            if (code.builtinCode, code.version) == (number, version):
                return index
        code = fb.OperatorCodeT()
        code.builtinCode, code.deprecatedBuiltinCode, code.version = number, min(number, 127), version
        self.model.operatorCodes.append(code)
        return len(self.model.operatorCodes) - 1

    def kind(self, operator):
        return self.model.operatorCodes[operator.opcodeIndex].builtinCode

    def shape(self, tensor):
        return [int(n) for n in self.graph.tensors[tensor].shape]

    def like(self, tensor, shape, word):
        new = copy.copy(self.graph.tensors[tensor])
        new.shape, new.name, new.buffer = list(shape), f"{word}{len(self.graph.tensors)}", 0
        self.graph.tensors.append(new)
        return len(self.graph.tensors) - 1

    def constant(self, values, kind, numpy_kind, like=None):
        buffer = fb.BufferT()
        buffer.data = np.ascontiguousarray(values, numpy_kind).view(np.uint8).reshape(-1)
        self.model.buffers.append(buffer)
        tensor = fb.TensorT()
        tensor.name, tensor.shape, tensor.type = f"c{len(self.graph.tensors)}", list(np.shape(values)), kind
        tensor.buffer = len(self.model.buffers) - 1
        if like is not None:
            tensor.quantization = self.graph.tensors[like].quantization
        self.graph.tensors.append(tensor)
        return len(self.graph.tensors) - 1

    def integers(self, values):
        return self.constant(values, fb.TensorType.INT32, np.int32)

    def append(self, number, version, inputs, output, options=None, options_type=0):
        if len(self.graph.operators) > MOST_OPS:
            raise TooLarge()
        operator = fb.OperatorT()
        operator.opcodeIndex, operator.inputs, operator.outputs = self.code(number, version), inputs, [output]
        operator.builtinOptions, operator.builtinOptionsType = options, options_type
        self.graph.operators.append(operator)
        return output

    def run(self):
        outputs = []
        for output in self.graph.outputs:
            is_image = len(self.shape(output)) == 4
            outputs.append(self.image(output) if is_image else self.all_of(output))
        self.graph.outputs = outputs
        # Callers know outputs by their names.
        for new, old in zip(outputs, [operator.outputs[0] for operator in self.old][-1:]):
            self.graph.tensors[new].name = self.graph.tensors[old].name
        return self.model

    def all_of(self, tensor):
        """A tensor as a whole. Images are still made of tiles, so that a head is behind a tiled body."""
        if tensor in self.whole or tensor not in self.writer:
            return self.whole.get(tensor, tensor)
        operator = self.writer[tensor]
        inputs = []
        for input in operator.inputs:
            is_image = input in self.writer and len(self.shape(input)) == 4 and len(self.shape(tensor)) != 4
            inputs.append(self.image(input) if is_image else self.all_of(input))
        new = copy.copy(operator)
        new.inputs, new.outputs = inputs, [self.like(tensor, self.shape(tensor), "all")]
        if len(self.graph.operators) > MOST_OPS:
            raise TooLarge()
        self.graph.operators.append(new)
        self.whole[tensor] = new.outputs[0]
        return new.outputs[0]

    def image(self, tensor):
        _, height, width, _ = self.shape(tensor)
        cuts = lambda extent: sorted({0, extent, int(self.random.integers(extent))})
        rows, columns = cuts(height), cuts(width) if self.random.random() < 0.4 else [0, width]
        bands = []
        for band in zip(rows, rows[1:]):
            tiles = [self.part(tensor, band, tile) for tile in zip(columns, columns[1:])]
            bands.append(tiles[0] if len(tiles) == 1 else self.concat(tiles, 2))
        return bands[0] if len(bands) == 1 else self.concat(bands, 1)

    def concat(self, tensors, axis):
        shape = self.shape(tensors[0])
        shape[axis] = sum(self.shape(tensor)[axis] for tensor in tensors)
        options = fb.ConcatenationOptionsT()
        options.axis = axis
        out = self.like(tensors[0], shape, "join")
        return self.append(Op.CONCATENATION, 2, tensors, out, options, fb.BuiltinOptions.ConcatenationOptions)

    def cut(self, tensor, rows, columns):
        whole = self.all_of(tensor)
        depth = self.shape(tensor)[3]
        begin, shape = [0, rows[0], columns[0], 0], [1, rows[1] - rows[0], columns[1] - columns[0], depth]
        out = self.like(tensor, shape, "cut")
        return self.append(Op.SLICE, 2, [whole, self.integers(begin), self.integers(shape)], out)

    def part(self, tensor, rows, columns):
        operator = self.writer.get(tensor)
        kind = self.kind(operator) if operator else None
        shape = [1, rows[1] - rows[0], columns[1] - columns[0], self.shape(tensor)[3]]
        if kind in POINTWISE or kind == Op.CONCATENATION:
            inputs = [self.part(input, rows, columns) for input in operator.inputs]
            new = copy.copy(operator)
            new.inputs, new.outputs = inputs, [self.like(tensor, shape, "tile")]
            self.graph.operators.append(new)
            return new.outputs[0]
        if kind in WINDOWS:
            tile = self.window(operator, kind, rows, columns, shape)
            if tile is not None:
                return tile
        return self.cut(tensor, rows, columns)

    def window(self, operator, kind, rows, columns, shape):
        """An op on the part of its input that it needs; None if its border cannot be made of elements."""
        options, image = operator.builtinOptions, operator.inputs[0]
        is_pool = kind in (Op.MAX_POOL_2D, Op.AVERAGE_POOL_2D)
        size = (options.filterHeight, options.filterWidth) if is_pool else self.shape(operator.inputs[1])[1:3]
        dilation = (1, 1) if is_pool else (options.dilationHFactor, options.dilationWFactor)
        stride = (options.strideH, options.strideW)
        inside, borders = [], []
        for axis, span in enumerate((rows, columns)):
            places, results = self.shape(image)[axis + 1], self.shape(operator.outputs[0])[axis + 1]
            reach = (size[axis] - 1) * dilation[axis] + 1
            missing = max(0, (results - 1) * stride[axis] + reach - places)
            before = missing // 2 if options.padding == fb.Padding.SAME else 0
            low, high = span[0] * stride[axis] - before, (span[1] - 1) * stride[axis] - before + reach
            inside.append((min(max(low, 0), places - 1), min(max(high, 1), places)))
            borders.append([inside[-1][0] - low, high - inside[-1][1]])
        has_border = any(any(border) for border in borders)
        if any(n < 0 for border in borders for n in border) or (has_border and kind == Op.AVERAGE_POOL_2D):
            return None
        tile = self.part(image, *inside)
        if has_border:
            tile = self.bordered(tile, borders, kind)
        new = copy.copy(operator)
        new.builtinOptions = copy.copy(options)
        new.builtinOptions.padding = fb.Padding.VALID
        new.inputs = [tile] + list(operator.inputs[1:])
        new.outputs = [self.like(operator.outputs[0], shape, "tile")]
        self.graph.operators.append(new)
        return new.outputs[0]

    def bordered(self, tile, borders, kind):
        shape = self.shape(tile)
        shape[1] += sum(borders[0])
        shape[2] += sum(borders[1])
        inputs = [tile, self.integers([[0, 0], borders[0], borders[1], [0, 0]])]
        out = self.like(tile, shape, "border")
        if kind != Op.MAX_POOL_2D:
            return self.append(Op.PAD, 2, inputs, out)
        is_float = self.graph.tensors[tile].type == fb.TensorType.FLOAT32
        least = np.finfo(np.float32).min if is_float else -128
        inputs.append(self.constant(least, self.graph.tensors[tile].type, np.float32 if is_float else np.int8, like=tile))
        return self.append(Op.PADV2, 2, inputs, out)


def pack(model):
    builder = flatbuffers.Builder(1 << 16)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def of_kind(tiler, *kinds):
    return [operator for operator in tiler.graph.operators if tiler.kind(operator) in kinds]


def changed_constant(tiler, tensor, change):
    """Another constant in the place of one, which may have other readers."""
    old = tiler.model.buffers[tiler.graph.tensors[tensor].buffer].data
    buffer, new = fb.BufferT(), copy.copy(tiler.graph.tensors[tensor])
    buffer.data = change(np.array(old, np.uint8))
    tiler.model.buffers.append(buffer)
    new.buffer = len(tiler.model.buffers) - 1
    tiler.graph.tensors.append(new)
    return len(tiler.graph.tensors) - 1


def add_to(index, by):
    def change(data):
        values = data.view(np.int32).copy()
        values[index] += by
        return values.view(np.uint8)

    return change


def mistake_in_slice(tiler, random):
    operator = random.choice(of_kind(tiler, Op.SLICE))
    operator.inputs = [operator.inputs[0], changed_constant(tiler, operator.inputs[1], add_to(int(random.integers(1, 3)), int(random.choice([-1, 1])))), operator.inputs[2]]


def mistake_in_border(tiler, random):
    operator = random.choice(of_kind(tiler, Op.PAD, Op.PADV2))
    axis, by = int(random.integers(1, 3)), int(random.choice([-1, 1]))
    change = lambda data: add_to(2 * axis + 1, -by)(add_to(2 * axis, by)(data))
    operator.inputs = [operator.inputs[0], changed_constant(tiler, operator.inputs[1], change)] + list(operator.inputs[2:])


def mistake_in_border_value(tiler, random):
    operator = random.choice(of_kind(tiler, Op.PAD))
    operator.opcodeIndex = tiler.code(Op.PADV2, 2)
    tensor = operator.inputs[0]
    is_float = tiler.graph.tensors[tensor].type == fb.TensorType.FLOAT32
    value = tiler.constant(int(random.integers(-128, 128)), tiler.graph.tensors[tensor].type, np.float32 if is_float else np.int8, like=tensor)
    operator.inputs = list(operator.inputs) + [value]


def mistake_in_concat(tiler, random):
    operator = random.choice(of_kind(tiler, Op.CONCATENATION))
    operator.inputs = list(operator.inputs)[::-1]


def mistake_in_weights(tiler, random):
    operator = random.choice(of_kind(tiler, Op.CONV_2D, Op.DEPTHWISE_CONV_2D))

    def change(data):
        data = data.copy()
        data[int(random.integers(len(data)))] ^= 1
        return data

    operator.inputs = [operator.inputs[0], changed_constant(tiler, operator.inputs[1], change), operator.inputs[2]]


def mistake_in_activation(tiler, random):
    operator = random.choice(of_kind(tiler, Op.CONV_2D, Op.DEPTHWISE_CONV_2D, Op.ADD))
    operator.builtinOptions = copy.copy(operator.builtinOptions)
    operator.builtinOptions.fusedActivationFunction = (int(operator.builtinOptions.fusedActivationFunction) + 1) % 2


def mistake_in_padding(tiler, random):
    operator = random.choice(of_kind(tiler, Op.CONV_2D, Op.DEPTHWISE_CONV_2D, Op.MAX_POOL_2D))
    operator.builtinOptions = copy.copy(operator.builtinOptions)
    operator.builtinOptions.padding = fb.Padding.SAME


def mistake_in_order(tiler, random):
    at = int(random.integers(len(tiler.graph.operators) - 1))
    operators = tiler.graph.operators
    operators[at], operators[at + 1] = operators[at + 1], operators[at]


def mistake_in_operand(tiler, random):
    operator = random.choice(tiler.graph.operators)
    old = tiler.graph.tensors[operator.inputs[0]]
    same = [i for i, t in enumerate(tiler.graph.tensors) if list(t.shape) == list(old.shape) and t.type == old.type and i != operator.inputs[0] and not t.buffer]
    operator.inputs = [random.choice(same)] + list(operator.inputs[1:])


def mistake_in_zero_point(tiler, random):
    operator = random.choice([o for o in tiler.graph.operators if tiler.graph.tensors[o.outputs[0]].quantization is not None])
    tensor = tiler.graph.tensors[operator.outputs[0]]
    tensor.quantization = copy.copy(tensor.quantization)
    tensor.quantization.zeroPoint = [int(tensor.quantization.zeroPoint[0]) + 1]


MISTAKES = {name[len("mistake_in_") :]: make for name, make in sorted(globals().items()) if name.startswith("mistake_in_")}


def main(folder, count, first=0):
    os.makedirs(folder, exist_ok=True)
    found, number = [], int(first)

    def write(name, content):
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    made = 0
    while made < int(count):
        original = network(number)
        number += 1
        try:
            path = None
            for mistake in [None, *MISTAKES]:
                random = np.random.default_rng(number)
                tiler = Tiler(original, random)
                tiler.run()
                if mistake:
                    try:
                        MISTAKES[mistake](tiler, random)
                    except ValueError:
                        continue  # The model has no op of that kind.
                path = path or write(f"{number}.tflite", original)
                found.append([path, write(f"{number}.{mistake}.tflite", pack(tiler.model)), mistake])
            made += 1
        except TooLarge:
            continue
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])

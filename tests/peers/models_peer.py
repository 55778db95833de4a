"""Real runtimes and compilers that the tests of models compare with.

    models_peer.py tflite ORIGINAL PLANNED ...    TensorFlow Lite Micro and LiteRT, with and without a plan
    models_peer.py kernels FOLDER                 models with one operator of every kind, and with several, and what the runtime's arena needs for each
    models_peer.py arena MODEL ...                what the runtime's arena needs
    models_peer.py starts BYTES MODEL             whether the interpreter starts in an arena of so many bytes
    models_peer.py networks FOLDER NAME ...       networks of fit_networks.py
    models_peer.py fitted ORIGINAL CHANGED ...    both interpreters on random and extreme inputs, and what the arena of each model needs
    models_peer.py litert ORIGINAL PLANNED ...    LiteRT alone
    models_peer.py light                          the folder of the topologies in the onnx wheel
    models_peer.py shapes MODEL ...               bytes of every tensor by onnx's own shape inference
    models_peer.py nodes FOLDER                   the models of the onnx package with a node of every kind, and the bytes that onnx infers
    models_peer.py onnx ORIGINAL CHANGED ...      whether onnxruntime computes the same
    models_peer.py vela PROBLEM.json ...          what ethos-u-vela's allocator needs for the same live ranges
    models_peer.py xla FOLDER                     dumps of a transformer and a ResNet train step

Every command prints one JSON value.
"""

import json
import os
import sys
import tempfile


def tflm_run(path, inputs):
    """The arena's head and the outputs of the interpreter of TensorFlow Lite Micro."""
    import re

    from tflite_micro.python.tflite_micro import runtime

    interpreter = runtime.Interpreter.from_file(path, arena_size=4_000_000)
    # The report is written by C++ to the process's own streams.
    with tempfile.TemporaryFile() as report:
        saved = [os.dup(1), os.dup(2)]
        os.dup2(report.fileno(), 1), os.dup2(report.fileno(), 2)
        interpreter.print_allocations()
        os.dup2(saved[0], 1), os.dup2(saved[1], 2)
        report.seek(0)
        head = int(re.search(rb"head (\d+)", report.read()).group(1))
    outputs = []
    for values in inputs:
        for index, value in enumerate(values):
            interpreter.set_input(value, index)
        interpreter.invoke()
        outputs.append(interpreter.get_output(0).copy())
    return head, outputs


def litert_run(path, inputs):
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_path=path)
    interpreter.allocate_tensors()
    outputs = []
    for values in inputs:
        for detail, value in zip(interpreter.get_input_details(), values):
            interpreter.set_tensor(detail["index"], value)
        interpreter.invoke()
        outputs.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).copy())
        interpreter.reset_all_variables()
    return outputs


def random_inputs(path, count=3):
    import numpy as np
    from ai_edge_litert.interpreter import Interpreter

    random = np.random.default_rng(5)
    interpreter = Interpreter(model_path=path)

    def value(detail):
        if detail["dtype"] == np.float32:
            return random.standard_normal(detail["shape"]).astype(np.float32)
        if detail["dtype"] == np.bool_:
            return random.integers(0, 2, detail["shape"]).astype(np.bool_)
        if detail["dtype"] == np.int32:
            return random.integers(0, 3, detail["shape"]).astype(np.int32)
        return random.integers(-128, 128, detail["shape"]).astype(detail["dtype"])

    return [[value(detail) for detail in interpreter.get_input_details()] for _ in range(count)]


def tflite(pairs):
    import numpy as np

    def same(one, other):
        return all(np.array_equal(a, b) and np.unique(a).size > 1 for a, b in zip(one, other))

    results = []
    for original, planned in pairs:
        inputs = random_inputs(original)
        head, outputs = tflm_run(original, inputs)
        planned_head, planned_outputs = tflm_run(planned, inputs)
        results.append(
            {
                "planned": planned,
                "head": head,
                "planned_head": planned_head,
                "tflm_same": same(outputs, planned_outputs),
                "litert_same": same(litert_run(original, inputs), litert_run(planned, inputs)),
            }
        )
    return results


def litert(pairs):
    import numpy as np

    def same(original, planned):
        inputs = random_inputs(original)
        outputs = zip(litert_run(original, inputs), litert_run(planned, inputs))
        return all(np.array_equal(one, other) for one, other in outputs)

    return [same(original, planned) for original, planned in pairs]


def kernels(folder):
    """A model for every kernel of TensorFlow Lite Micro, in shapes other than those it was measured in, and networks of several."""
    import random

    import tflm_recipes
    from measure_tflm import registered, signature
    from tflm_arena import observe

    tflm_recipes.use_other_shapes()
    os.makedirs(folder, exist_ok=True)
    results, alone = [], []

    def record(op, content):
        observed = observe(content)
        if "error" not in observed:
            path = os.path.join(folder, f"{len(results)}.tflite")
            with open(path, "wb") as file:
                file.write(content)
            results.append({"op": op, "path": path, "head": observed["head"], "tail": observed["tail"]})
        return "error" not in observed

    for op in sorted(tflm_recipes.RECIPES):
        seen = set()
        for case in tflm_recipes.cases(op):
            key = (signature(case, range(len(case.inputs))), str(vars(case.options)) if case.options else "")
            if key not in seen and record(op, case.model):
                seen.add(key)
                if not case.bodies and op not in ("VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"):
                    alone.append(case)
    # Kernels ask for memory when they are made or when they are prepared. Two operators tell which: one of them asks when it is made. A third one
    # makes the gap before the first request another one.
    maker = next(case for case in alone if case.op == "LESS")
    firsts = {case.op: case for case in reversed(alone)}
    for op, case in sorted(firsts.items()):
        for makers in ([maker], [maker, maker]):
            record(f"{op} with others", tflm_recipes.network([case, *makers]))
    choose = random.Random(11)
    for _ in range(60):
        record("several", tflm_recipes.network(choose.sample(alone, choose.randint(2, 12))))
    return {"registered": registered(), "models": results}


def arena(paths):
    from tflm_arena import observe

    def one(path):
        with open(path, "rb") as file:
            return observe(file.read())

    return [{name: observed[name] for name in ("head", "tail")} for observed in map(one, paths)]


def networks(folder, names):
    from fit_networks import NETWORKS

    for name in names:
        with open(os.path.join(folder, f"{name}.tflite"), "wb") as file:
            file.write(NETWORKS[name]())
    return names


def extreme_inputs(path):
    """Everything as small as it can be, everything as large, and a checkerboard of both."""
    import numpy as np
    from ai_edge_litert.interpreter import Interpreter

    def values(detail):
        is_float = detail["dtype"] == np.float32
        low, high = (-4.0, 4.0) if is_float else (np.iinfo(detail["dtype"]).min, np.iinfo(detail["dtype"]).max)
        full = lambda value: np.full(detail["shape"], value, detail["dtype"])
        board = np.where(np.indices(detail["shape"]).sum(axis=0) % 2 == 0, full(low), full(high))
        return [full(low), full(high), board]

    return [list(one) for one in zip(*map(values, Interpreter(model_path=path).get_input_details()))]


def fitted(pairs):
    import numpy as np
    from tflm_arena import observe

    def taken(path):
        with open(path, "rb") as file:
            return observe(file.read())

    def same(one, other):
        return all(np.array_equal(a, b) for a, b in zip(one, other)) and any(np.unique(a).size > 1 for a in one)

    def one(original, changed):
        inputs = random_inputs(original) + extreme_inputs(original)
        before, after = taken(original), taken(changed)
        return {
            "arena": before["head"] + before["tail"],
            "fitted_arena": after["head"] + after["tail"],
            "fitted_tensors": after["head"],
            "tflm_same": same(tflm_run(original, inputs)[1], tflm_run(changed, inputs)[1]),
            "litert_same": same(litert_run(original, inputs), litert_run(changed, inputs)),
        }

    return [one(original, changed) for original, changed in pairs]


def starts(size, path):
    from tflm_arena import observe

    with open(path, "rb") as file:
        return "error" not in observe(file.read(), int(size))


def light():
    import onnx

    return os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data", "light")


def shapes(paths):
    import onnx

    return [inferred_bytes(onnx.load(path)) for path in paths]


def inferred_bytes(model):
    """The bytes of every tensor whose shape onnx infers."""
    from onnx import helper, shape_inference

    model = shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    known = {}
    for info in [*model.graph.value_info, *model.graph.output, *model.graph.input]:
        tensor = info.type.tensor_type
        dims = [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim]
        if None in dims or not tensor.HasField("shape"):
            continue
        size = helper.tensor_dtype_to_np_dtype(tensor.elem_type).itemsize
        for dim in dims:
            size *= dim
        known[info.name] = size
    return known


def nodes(folder):
    import warnings

    import onnx
    from onnx.backend.test.case.node import collect_testcases

    warnings.simplefilter("ignore")
    os.makedirs(folder, exist_ok=True)
    found = []
    for case in collect_testcases(None):
        path = os.path.join(folder, f"{case.name}.onnx")
        onnx.save(case.model, path)
        try:
            known = inferred_bytes(case.model)
        except Exception:
            known = {}
        graph = case.model.graph
        given = {entry.name for entry in graph.initializer}
        results = [name for node in graph.node for name in node.output if name]
        inputs = [entry.name for entry in graph.input if entry.name not in given]
        is_inferred = all(name in known for name in results + inputs)
        found.append({"name": case.name, "path": path, "known": known, "is_inferred": is_inferred})
    return found


def onnx_same(pairs):
    import numpy as np
    import onnxruntime

    def run(path):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        random = np.random.default_rng(3)
        given = {
            entry.name: random.standard_normal([d if isinstance(d, int) else 1 for d in entry.shape]).astype(np.float32)
            for entry in session.get_inputs()
            if entry.type == "tensor(float)"
        }
        return session.run(None, given)

    def same(one, other):
        return all(np.array_equal(a, b) for a, b in zip(run(one), run(other)))

    return [same(one, other) for one, other in pairs]


def vela(paths):
    from ethosu.vela.hillclimb_allocation import HillClimbAllocator

    class Range:
        def __init__(self, size, start, end, alignment):
            self.size, self.start_time, self.end_time, self.alignment = size, start, end, alignment

        def get_alignment(self):
            return self.alignment

    def extent(path):
        with open(path) as file:
            buffers = json.load(file)["buffers"]
        ranges = [
            Range(b["size"], b["lifetime"][0][0], b["lifetime"][-1][1] - 1, b.get("alignment", 1)) for b in buffers if b["size"]
        ]
        addresses = HillClimbAllocator(ranges, 2000, 1 << 62).allocate()
        return max(address + each.size for address, each in zip(addresses, ranges))

    return [extent(path) for path in paths]


def xla(folder):
    os.environ["XLA_FLAGS"] = f"--xla_dump_to={folder} --xla_dump_hlo_as_text"
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import jax.numpy as jnp

    def block(p, x):
        q, k, v = (x @ p[name] for name in "qkv")
        x = x + jax.nn.softmax(q @ k.swapaxes(-1, -2) / 8.0) @ v
        return x + jax.nn.gelu(x @ p["u"]) @ p["d"]

    def transformer(ps, x):
        for p in ps:
            x = block(p, x)
        return (x**2).mean()

    shapes = {"q": (64, 64), "k": (64, 64), "v": (64, 64), "u": (64, 256), "d": (256, 64)}
    layers = [{name: jax.ShapeDtypeStruct(shape, jnp.float32) for name, shape in shapes.items()} for _ in range(3)]
    jax.jit(jax.grad(transformer)).lower(layers, jax.ShapeDtypeStruct((2, 32, 64), jnp.float32)).compile()

    def conv(x, w, stride=1):
        return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def resnet(ws, x):
        x = jax.nn.relu(conv(x, ws["stem"]))
        for index in range(3):
            y = jax.nn.relu(conv(x, ws[f"a{index}"]))
            x = jax.nn.relu(x + conv(y, ws[f"b{index}"]))
            if index < 2:
                x = x[:, ::2, ::2, :]
        return (x.mean((1, 2)) @ ws["head"]).sum()

    def train_step(ws, x):
        gradients = jax.grad(resnet)(ws, x)
        return jax.tree.map(lambda w, g: w - 0.1 * g, ws, gradients)

    kernels = {"stem": (3, 3, 3, 16), "head": (16, 10)}
    kernels.update({f"{side}{index}": (3, 3, 16, 16) for side in "ab" for index in range(3)})
    ws = {name: jax.ShapeDtypeStruct(shape, jnp.float32) for name, shape in kernels.items()}
    jax.jit(train_step).lower(ws, jax.ShapeDtypeStruct((4, 32, 32, 3), jnp.float32)).compile()
    return sorted(
        os.path.join(folder, name)
        for name in os.listdir(folder)
        if name.endswith("-buffer-assignment.txt") and ("transformer" in name or "train_step" in name)
    )


def pairs(paths):
    return list(zip(paths[::2], paths[1::2]))


COMMANDS = {
    "tflite": lambda rest: tflite(pairs(rest)),
    "kernels": lambda rest: kernels(rest[0]),
    "arena": arena,
    "networks": lambda rest: networks(rest[0], rest[1:]),
    "fitted": lambda rest: fitted(pairs(rest)),
    "starts": lambda rest: starts(*rest),
    "litert": lambda rest: litert(pairs(rest)),
    "light": lambda rest: light(),
    "shapes": shapes,
    "nodes": lambda rest: nodes(rest[0]),
    "onnx": lambda rest: onnx_same(pairs(rest)),
    "vela": vela,
    "xla": lambda rest: xla(rest[0]),
}

if __name__ == "__main__":
    result = COMMANDS[sys.argv[1]](sys.argv[2:])
    print("\n" + json.dumps(result))

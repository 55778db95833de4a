"""Whether a changed model computes what the original computes, in TensorFlow Lite Micro and in LiteRT.

    changed_peer.py ORIGINAL CHANGED ARENA ...    prints a JSON list with, for each three:

    tflm, litert     every output has the same bits for every input, with the reference kernels
    fast             the same for LiteRT with its default kernels and delegate
    apart            the largest difference between outputs, in any of them
    arena            what the interpreter of the changed model takes from its arena, head and tail
    starts, less     whether it starts in an arena of so many bytes, and of 32 bytes less; null where ARENA is 0
    error            why a runtime refused one of the two models, instead of all that

Inputs are random numbers, and tensors that hold the least, the greatest and the middle number everywhere.
"""

import json
import os
import sys

import numpy as np
from tflm_arena import observe, streams_into


def inputs_of(details, seed):
    """One list of tensors for each run."""
    random = np.random.default_rng(seed)

    def fill(detail, how):
        shape, kind = detail["shape"], detail["dtype"]
        if kind == np.float32:
            return {"random": random.standard_normal(shape), "least": -np.ones(shape), "greatest": np.ones(shape)}.get(
                how, np.zeros(shape)
            ).astype(kind)
        range = np.iinfo(kind)
        if how == "random":
            return random.integers(range.min, range.max + 1, shape).astype(kind)
        return np.full(shape, {"least": range.min, "greatest": range.max}.get(how, 0), kind)

    return [[fill(detail, how) for detail in details] for how in ("random", "random", "least", "greatest", "middle")]


def litert(path, is_fast):
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    kernels = OpResolverType.AUTO if is_fast else OpResolverType.BUILTIN_REF
    interpreter = Interpreter(model_path=path, experimental_op_resolver_type=kernels)
    interpreter.allocate_tensors()
    return interpreter


def run_litert(interpreter, runs):
    outputs = []
    for values in runs:
        for detail, value in zip(interpreter.get_input_details(), values):
            interpreter.set_tensor(detail["index"], value)
        interpreter.invoke()
        outputs += [interpreter.get_tensor(detail["index"]).copy() for detail in interpreter.get_output_details()]
    return outputs


def run_tflm(path, runs, outputs):
    from tflite_micro.python.tflite_micro import runtime

    interpreter = runtime.Interpreter.from_file(path, arena_size=4_000_000)
    found = []
    for values in runs:
        for index, value in enumerate(values):
            interpreter.set_input(value, index)
        interpreter.invoke()
        found += [interpreter.get_output(index).copy() for index in range(outputs)]
    return found


def compare(one, other):
    same = all(a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in zip(one, other)) and len(one) == len(other)
    # What is no number in both is the same if its bits are.
    differences = [np.nan_to_num(np.abs(a.astype(np.float64) - b.astype(np.float64)), nan=0.0) for a, b in zip(one, other)]
    apart = max((float(np.max(difference, initial=0)) for difference in differences), default=0)
    return same, apart


def judge(original, changed, arena):
    first = litert(original, False)
    runs = inputs_of(first.get_input_details(), 5)
    outputs = len(first.get_output_details())
    plain, plain_apart = compare(run_litert(first, runs), run_litert(litert(changed, False), runs))
    fast, fast_apart = compare(*(run_litert(litert(path, True), runs) for path in (original, changed)))
    tflm, tflm_apart = compare(run_tflm(original, runs, outputs), run_tflm(changed, runs, outputs))
    answer = {"tflm": tflm, "litert": plain, "fast": fast, "apart": max(plain_apart, fast_apart, tflm_apart)}
    if arena == 0:
        return answer | {"arena": None, "starts": None, "less": None}
    with open(changed, "rb") as file:
        content = file.read()
    observed = observe(content)
    starts = ["error" not in observe(content, size) for size in (arena, arena - 32)]
    return answer | {"arena": observed["head"] + observed["tail"], "starts": starts[0], "less": starts[1]}


def judged(original, changed, arena):
    """The judgement of a process of its own: kernels may abort the process on a model they do not like."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "w") as pipe, open(os.devnull, "w") as nowhere:
            try:
                with streams_into(nowhere):
                    answer = judge(original, changed, int(arena))
            except Exception as error:
                answer = {"error": str(error)}
            pipe.write(json.dumps(answer))
            pipe.flush()
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    return json.loads(answer) if answer else {"error": f"a runtime ended the process ({status})"}


if __name__ == "__main__":
    paths = sys.argv[1:]
    print(json.dumps([judged(*three) for three in zip(paths[::3], paths[1::3], paths[2::3])]))

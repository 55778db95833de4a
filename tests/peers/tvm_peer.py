"""Answers questions about TVMScript texts with a real TVM, one JSON object a line.

    {"op": "parse", "text": …}                          -> {"ok": true}
    {"op": "rewrite", "text": …}                        -> {"ok": true, "before": …, "text": … or "error": …}
                                                           (printed before and after TVM's own StorageRewrite)
    {"op": "compare", "programs": [{"texts": […], "symbols": {…}}, …]} -> {"ok": true, "different": [[program, text], …]}
    {"op": "time", "text": …}                           -> {"ok": true, "seconds": …}  (StorageRewrite alone, best of three)

`compare` compiles the texts of all programs with LLVM as one module, TVM's own storage rewrite switched off, runs them on the same
small integers, and names the texts of a program that do not compute what its first one computes.
"""

import json
import re
import sys
import time

import numpy as np
import tvm
from tvm import tirx

UNKNOWN_CALL = re.compile(r'^(\s*)T\.call_extern\("int32", "f".*$', re.MULTILINE)

# A parameter: name, and shape and type if it is a buffer.
PARAMETER = re.compile(r'(\w+): T\.(?:Buffer\(\(([\d, ]+)\), "(\w+)"\)|int32)')


def last_line(error):
    return str(error).strip().split("\n")[-1][:300] or type(error).__name__


def read(text):
    return tvm.script.from_source(text)


def rewrite(text):
    function = read(text)
    reply = {"ok": True, "before": function.script()}
    try:
        module = tirx.transform.StorageRewrite()(tvm.IRModule.from_expr(function))
        reply["text"] = module["main"].script()
    except Exception as error:
        reply["error"] = last_line(error)
    return reply


def compile_all(texts):
    functions = {}
    for position, text in enumerate(texts):
        name = f"f{position}"
        function = read(UNKNOWN_CALL.sub(r"\1T.evaluate(0)", text))
        functions[name] = function.with_attr("global_symbol", name)
    with tvm.transform.PassContext(config={"tirx.disable_storage_rewrite": True}):
        return tvm.compile(tvm.IRModule(functions), target="llvm")


def run(function, text, symbols):
    arguments, outputs = [], []
    for position, (name, shape, dtype) in enumerate(PARAMETER.findall(text.split("):\n")[0])):
        if not shape:
            arguments.append(symbols.get(name, 4))
            continue
        count = int(np.prod([int(extent) for extent in shape.split(",") if extent.strip()]))
        values = ((np.arange(count) * 5 + position * 3) % 8).astype(dtype)
        outputs.append(tvm.runtime.tensor(values))
        arguments.append(outputs[-1])
    function(*arguments)
    return [tensor.numpy().tobytes() for tensor in outputs]


def compare(programs):
    compiled = compile_all([text for program in programs for text in program["texts"]])
    different, position = [], 0
    for number, program in enumerate(programs):
        results = []
        for text in program["texts"]:
            results.append(run(compiled[f"f{position}"], text, program["symbols"]))
            position += 1
        different += [[number, place] for place, result in enumerate(results) if result != results[0]]
    return {"ok": True, "different": different}


def answer(question):
    kind = question["op"]
    if kind == "parse":
        read(question["text"])
        return {"ok": True}
    if kind == "rewrite":
        return rewrite(question["text"])
    if kind == "compare":
        return compare(question["programs"])
    module = tvm.IRModule.from_expr(read(question["text"]))
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        tirx.transform.StorageRewrite()(module)
        best = min(best, time.perf_counter() - start)
    return {"ok": True, "seconds": best}


def main():
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except Exception as error:  # every failure is an answer
            reply = {"ok": False, "error": last_line(error)}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()

"""Answers questions about TVMScript texts with a real TVM, one JSON object a line.

    {"op": "parse", "text": …}                          -> {"ok": true}
    {"op": "rewrite", "text": …}                        -> {"ok": true, "before": …, "text": … or "error": …}
                                                           (printed before and after TVM's own StorageRewrite)
    {"op": "compare", "before": …, "after": …, "symbols": {…}} -> {"ok": true, "equal": …}
    {"op": "time", "text": …}                           -> {"ok": true, "seconds": …}  (StorageRewrite alone, best of three)

`compare` compiles both texts with LLVM, TVM's own storage rewrite switched off, and runs them on the same small integers.
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


def run(text, symbols):
    function = read(UNKNOWN_CALL.sub(r"\1T.evaluate(0)", text))
    with tvm.transform.PassContext(config={"tirx.disable_storage_rewrite": True}):
        compiled = tvm.compile(function, target="llvm")
    arguments, outputs = [], []
    for position, (name, shape, dtype) in enumerate(PARAMETER.findall(text.split("):\n")[0])):
        if not shape:
            arguments.append(symbols.get(name, 4))
            continue
        count = int(np.prod([int(extent) for extent in shape.split(",") if extent.strip()]))
        values = ((np.arange(count) * 5 + position * 3) % 8).astype(dtype)
        outputs.append(tvm.runtime.tensor(values))
        arguments.append(outputs[-1])
    compiled["main"](*arguments)
    return [tensor.numpy().tobytes() for tensor in outputs]


def answer(question):
    kind = question["op"]
    if kind == "parse":
        read(question["text"])
        return {"ok": True}
    if kind == "rewrite":
        return rewrite(question["text"])
    if kind == "compare":
        symbols = question.get("symbols", {})
        return {"ok": True, "equal": run(question["before"], symbols) == run(question["after"], symbols)}
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

"""The tables of docs/fit.md: what 2, 4 and 8 times less memory costs, each version confirmed by both interpreters.

    fit_table.py MEMPLAN [NETWORK ...]        prints a row for each network, way of counting and factor

Three ways of counting: the whole arena; tensors and scratch memory; the same without the network's input, as MCUNetV2 counts.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from fit_networks import NETWORKS
from models_peer import fitted
from tflm_arena import observe

NAMES = ["v2_full_224", "v2_224", "v2_144", "v2_96", "keras", "v1_224", "person", "unet", "resnet", "branching", "keywords"]


def fit(memplan, path, out, count, capacity):
    command = [memplan, "fit", path, "--count", count, "--capacity", str(capacity), "--json", "-o", out]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode != 0:
        return None
    report = json.loads(ran.stdout)
    return report["versions"][0], report["versions"][report["chosen"]]


def rows(memplan, name, folder):
    path, out = str(folder / f"{name}.tflite"), str(folder / f"{name}.fitted.tflite")
    pathlib.Path(path).write_bytes(NETWORKS[name]())
    alone = observe(pathlib.Path(path).read_bytes())
    whole, tensors = alone["head"] + alone["tail"], alone["head"]
    image = input_bytes(path)
    for words, count, total, apart in [("arena", "arena", whole, 0), ("tensors", "tensors", tensors, 0), ("without input", "tensors", tensors - image, image)]:
        for times in (2, 4, 8):
            found = fit(memplan, path, out, count, total // times + apart)
            if found is None:
                yield name, words, times, total, None
                continue
            before, after = found
            needs = (after["arena"] if count == "arena" else max(after["tensors"], after["start"])) - apart
            more = 100 * (after["multiply_adds"] / before["multiply_adds"] - 1)
            [ran] = fitted([(path, out)])
            confirmed = ran["tflm_same"] and ran["litert_same"] and ran["fitted_tensors"] == after["tensors"] and ran["fitted_arena"] == after["tensors"] + after["records"]
            yield name, words, times, total, (needs, f"{more:.1f} %", after["ops"], "confirmed" if confirmed else f"NOT CONFIRMED {ran} {after}")


def input_bytes(path):
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_path=path)
    return sum(int(detail["shape"].prod()) * detail["dtype"]().itemsize for detail in interpreter.get_input_details())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[2:] or NAMES:
            for row in rows(sys.argv[1], name, pathlib.Path(folder)):
                print(*row, flush=True)

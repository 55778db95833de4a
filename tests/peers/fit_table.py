"""The tables of docs/fit.md: what less memory costs. Both interpreters run every version that is in them.

    fit_table.py MEMPLAN [NETWORK ...]        prints the tables, of all networks if none is named, and in the last line their rows as JSON

Rows go to stderr as they come.

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

NAMES = {
    "v2_full_224": "MobileNet v2 1.0, 224x224",
    "v2_224": "MobileNet v2 0.35, 224x224",
    "v2_144": "MobileNet v2 0.35, 144x144",
    "v2_96": "MobileNet v2 0.35, 96x96",
    "keras": "MobileNet v2 as Keras writes it, 96x96",
    "v1_224": "MobileNet v1 0.25, 224x224",
    "v1_128": "MobileNet v1 0.25, 128x128",
    "person": "MobileNet v1 0.25, 96x96x1 (person detection)",
    "unet": "U-Net, 48x48",
    "resnet": "ResNet, 32x32",
    "branching": "Inception-like, 40x40",
    "keywords": "keyword spotting, 49x10 (depthwise separable)",
    "micro_speech": "keyword spotting, 49x40 (one convolution)",
}
TIMES = (2, 4, 8)


class Model:
    """A network, and what `memplan fit` makes of it."""

    def __init__(self, memplan, name, folder):
        self.memplan, self.name = memplan, name
        self.path, self.out = str(folder / f"{name}.tflite"), str(folder / f"{name}.fitted.tflite")
        content = NETWORKS[name]()
        pathlib.Path(self.path).write_bytes(content)
        alone = observe(content)
        self.tensors, self.arena = alone["head"], alone["head"] + alone["tail"]
        self.image = input_bytes(self.path)

    def fit(self, count, *options):
        """The answer of the command, whose last version both interpreters have run; `None` if nothing fits."""
        command = [self.memplan, "fit", self.path, "--count", count, "--json", "-o", self.out, *options]
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode not in (0, 1):
            raise SystemExit(f"{command}: {ran.stderr}")
        if ran.returncode == 1:
            return None
        answer = json.loads(ran.stdout)
        version = answer["versions"][answer["chosen"]]
        [seen] = fitted([(self.path, self.out)])
        foreseen = (version["tensors"], version["tensors"] + version["records"])
        if not (seen["tflm_same"] and seen["litert_same"]) or (seen["fitted_tensors"], seen["fitted_arena"]) != foreseen:
            raise SystemExit(f"{self.name}: not confirmed: {seen} {version}")
        return answer

    def less(self, count, total, apart, floor):
        """What 2, 4 and 8 times less costs; `out` where no change can go so low, `-` where none was found."""
        for times in TIMES:
            capacity = total // times + apart
            if capacity < floor:
                yield "out"
                continue
            answer = self.fit(count, "--capacity", str(capacity))
            yield more(answer["versions"][0], answer["versions"][answer["chosen"]]) if answer else "-"


def more(before, after):
    return f"{100 * (after['multiply_adds'] / before['multiply_adds'] - 1):.1f} %"


def input_bytes(path):
    from ai_edge_litert.interpreter import Interpreter

    details = Interpreter(model_path=path).get_input_details()
    return sum(int(detail["shape"].prod()) * detail["dtype"]().itemsize for detail in details)


def rows(model):
    """The rows of one network, one for each way of counting."""
    smallest = model.fit("arena")
    before, least = smallest["versions"][0], smallest["versions"][-1]
    floor = smallest["floor"]
    arena = model.less("arena", model.arena, 0, floor)
    times = f"{model.arena / least['arena']:.1f}"
    yield [f"{model.arena:,}", *arena, f"{least['arena']:,}", times, more(before, least), f"{floor:,}"]
    floor = model.fit("tensors")["floor"]
    yield [f"{model.tensors:,}", *model.less("tensors", model.tensors, 0, floor), f"{floor:,}"]
    without = model.tensors - model.image
    yield [f"{without:,}", *model.less("tensors", without, model.image, floor)]


def curve(model):
    """How far down a network goes: a row for every fifth less."""
    versions = model.fit("tensors")["versions"]
    shown = [versions[0]]
    for version in versions[1:-1]:
        if shown[-1]["tensors"] > 1.25 * version["tensors"] > 1.25 * 1.1 * versions[-1]["tensors"]:
            shown.append(version)
    for version in [*shown, versions[-1]]:
        tensors = version["tensors"]
        times = f"{versions[0]['tensors'] / tensors:.1f}"
        yield [f"{tensors:,}", f"{tensors - model.image:,}", times, more(versions[0], version), f"{version['ops']:,}"]


def line(cells):
    return "| " + " | ".join(cells) + " |"


def table(heading, rows):
    print(line(heading), "|---" + "|--:" * (len(heading) - 1) + "|", *map(line, rows), "", sep="\n", flush=True)


if __name__ == "__main__":
    names = sys.argv[2:] or list(NAMES)
    arenas, tensors, curves = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            model = Model(sys.argv[1], name, pathlib.Path(folder))
            arena, all_tensors, without = rows(model)
            print(name, arena, all_tensors, without, file=sys.stderr, flush=True)
            arenas.append([NAMES[name], *arena])
            tensors.append([NAMES[name], *all_tensors, *without])
        if "v2_full_224" in names:
            curves = list(curve(Model(sys.argv[1], "v2_full_224", pathlib.Path(folder))))
    table(["network", "alone", *map(str, TIMES), "least", "times less", "more multiply-adds", "floor"], arenas)
    table(["network", "tensors", *map(str, TIMES), "floor", "without the input", *map(str, TIMES)], tensors)
    if curves:
        table(["tensors", "without the input", "times less", "more multiply-adds", "ops"], curves)
    print(json.dumps([line(row) for row in [*arenas, *tensors, *curves]]))

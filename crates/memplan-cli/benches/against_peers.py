"""Every goal for speed and memory, measured in one run, with the peers' side where there is a peer.

    python crates/memplan-cli/benches/against_peers.py            everything, 10^6 included: about five minutes
    python crates/memplan-cli/benches/against_peers.py --small    nothing above 10^5: about two minutes

Builds the release command, the generators and two benches, makes the inputs in a temporary folder, and prints one table: the
time and the peak memory of each process, the growth from the size before, the peer's time and memory, the ratio to ours,
and the goal. Runs alternate between the two sides and the least time counts, so that a busy machine spoils neither
side. Times are processor time (user), except where a row says otherwise.

mlir-opt-22 must be on the path, and MEMPLAN_PYTHON (or .venv/bin/python) must have apache-tvm; what is missing is said, and
its columns stay empty.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[3]
RELEASE = ROOT / "target" / "release"
LARGE_MODULE = RELEASE / "examples" / "large_module"
GENERATE = RELEASE / "examples" / "generate"
RUNS = 3

MERGE = ["opt", "IN", "--pass", "merge-alloc", "-o", "OUT"]
PLAN_MEMORY = ["opt", "IN", "--pass", "plan-memory", "--target", "Ascend910B1", "-o", "OUT"]
GMEM = ["opt", "IN", "--pass", "assign-gmem", "-o", "OUT"]
MLIR_OPT = ["mlir-opt-22", "IN", "-o", "/dev/null"]


@dataclass
class Case:
    """Whole processes on generated inputs of growing size."""

    title: str
    make: list  # the generator and its arguments up to the size
    ours: list
    sizes: list
    rest: tuple = ()  # the generator's arguments behind the size
    peer: list | None = None
    suffix: str = ".mlir"
    most_time: float | None = None  # goal: this part of the peer's time
    most_memory: float | None = None  # goal: this part of the peer's memory
    most_growth: float | None = None  # goal: this much for ten times the input
    most_seconds: float | None = None  # goal, on the clock
    most_megabytes: float | None = None


CASES = [
    Case(
        "merge-alloc, ops", [LARGE_MODULE], MERGE, [10**4, 10**5, 10**6],
        peer=MLIR_OPT, most_time=0.25, most_memory=1.0, most_growth=11,
    ),
    Case("merge-alloc, functions", [GENERATE, "functions"], MERGE, [10**4, 10**5], peer=MLIR_OPT, most_growth=11),
    Case("merge-alloc, blocks", [GENERATE, "blocks"], MERGE, [10**4, 10**5], peer=MLIR_OPT, most_growth=11),
    Case("merge-alloc, regions", [GENERATE, "regions"], MERGE, [10**4, 10**5], peer=MLIR_OPT, most_growth=11),
    Case("merge-alloc, carried values", [GENERATE, "carried"], MERGE, [10**4, 10**5], peer=MLIR_OPT, most_growth=11),
    Case("plan-memory, buffers", [GENERATE, "kernel"], PLAN_MEMORY, [10**4, 10**5, 10**6], most_growth=11),
    Case("assign-gmem, ops", [GENERATE, "network"], GMEM, [10**4, 10**5, 10**6], most_growth=11),
    Case(
        "storage-rewrite, statements", [GENERATE, "script"],
        ["opt", "IN", "--pass", "storage-rewrite", "-o", "OUT"], [10**4, 10**5, 10**6], suffix=".py", most_growth=11,
    ),
    Case(
        "plan first-fit, buffers", [GENERATE, "random"], ["plan", "IN", "-s", "first-fit"], [10**4, 10**5, 10**6],
        rest=("100", "2024"), suffix=".csv", most_growth=11,
    ),
    Case(
        "plan shared objects, buffers", [GENERATE, "random"], ["plan", "IN", "-s", "greedy-in-order", "--assign", "objects"],
        [10**4, 10**5, 10**6], rest=("100", "2024"), suffix=".csv", most_growth=11,
    ),
    Case(
        "plan, buffers (clock)", [GENERATE, "random"], ["plan", "IN"], [10**6],
        rest=("100", "2024"), suffix=".csv", most_seconds=3.0, most_megabytes=400,
    ),
]

COLUMNS = ["work", "size", "memplan", "memory", "growth, time", "growth, memory", "peer", "peer's memory", "ratio", "goal"]


def cargo(*arguments, **options):
    return subprocess.run(["cargo", *arguments], cwd=ROOT, check=True, **options)


def build():
    """Makes the command, the generators and the two benches, each once."""
    cargo("build", "--release", "--quiet", "-p", "memplan-cli")
    cargo("build", "--release", "--quiet", "-p", "memplan-mlir", "--example", "large_module")
    cargo("build", "--release", "--quiet", "-p", "memplan-testkit", "--example", "generate")


@dataclass
class Cost:
    user: float
    clock: float
    memory: float


def measure(command):
    """What a process that must end well costs: seconds and peak megabytes."""
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {child.returncode}")
    return Cost(usage.ru_utime, time.monotonic() - start, usage.ru_maxrss / 1024)


def least(costs):
    return Cost(*(min(getattr(cost, name) for cost in costs) for name in ("user", "clock", "memory")))


def both_sides(ours, theirs, runs):
    """Both sides in turn."""
    results = ([], [])
    for _ in range(runs):
        results[0].append(measure(ours))
        if theirs:
            results[1].append(measure(theirs))
    return least(results[0]), least(results[1]) if theirs else None


def generated(folder, make, suffix):
    """A file with what a generator prints."""
    source = (folder / "in").with_suffix(suffix)
    with open(source, "wb") as file:
        subprocess.run([str(part) for part in make], stdout=file, check=True)
    return source


def goal(bounds):
    """A cell for measured values and the most they may be: (what, measured, most)."""
    parts = []
    for what, measured, most in bounds:
        if most is not None and measured is not None:
            verdict = "met" if measured <= most else f"missed, {measured:.2f}"
            parts.append(f"{what} ≤ {most:g}: {verdict}")
    return "; ".join(parts)


def rows(case, folder, largest):
    """One row of the table a size."""
    peer = case.peer
    if peer and not shutil.which(peer[0]):
        print(f"without the peer: {peer[0]} is not installed", file=sys.stderr)
        peer = None
    before = None
    for size in (size for size in case.sizes if size <= largest):
        source = generated(folder, [*case.make, size, *case.rest], case.suffix)
        files = {"IN": source, "OUT": (folder / "out").with_suffix(case.suffix)}
        fill = lambda arguments: [files.get(argument, argument) for argument in arguments]
        runs = RUNS if size <= 10**5 else 1
        ours, theirs = both_sides([RELEASE / "memplan", *fill(case.ours)], fill(peer) if peer else None, runs)
        # A run of less than ten milliseconds is mostly the start of the process.
        growth = (ours.user / max(before.user, 0.01), ours.memory / before.memory) if before else (None, None)
        ratio = ours.user / theirs.user if theirs else None
        judged = case.most_seconds is not None
        bounds = [
            ("time ratio", ratio, case.most_time),
            ("memory ratio", ours.memory / theirs.memory if theirs else None, case.most_memory),
            ("growth", max(growth) if before else None, case.most_growth),
            ("seconds", ours.clock, case.most_seconds),
            ("MB", ours.memory, case.most_megabytes),
        ]
        yield [
            case.title,
            f"{size}",
            f"{ours.clock if judged else ours.user:.2f} s",
            f"{ours.memory:.0f} MB",
            *(f"{value:.1f}x" if value else "" for value in growth),
            f"{theirs.user:.2f} s" if theirs else "",
            f"{theirs.memory:.0f} MB" if theirs else "",
            f"{ratio:.2f}" if ratio else "",
            goal(bounds),
        ]
        before = ours


def python_with_tvm():
    for python in (os.environ.get("MEMPLAN_PYTHON"), ROOT / ".venv" / "bin" / "python"):
        if python and subprocess.run([python, "-c", "import tvm"], capture_output=True).returncode == 0:
            return str(python)
    print("without the peer: no Python with apache-tvm (MEMPLAN_PYTHON)", file=sys.stderr)
    return None


def tensor_rows():
    """The storage rewrite with its check against TVM's own pass, and reading TVMScript, on the clock.

    Both sides are measured inside of one process, from a function in memory to another one, with the first left as it is:
    neither the start of a process, nor reading, nor printing counts. Ours includes lowering and the dataflow check.
    """
    python = python_with_tvm()
    environment = {**os.environ, **({"MEMPLAN_PYTHON": python} if python else {})}
    bench = ["bench", "--quiet", "-p", "memplan-tensor", "--bench", "scaling"]
    output = cargo(*bench, env=environment, stdout=subprocess.PIPE, text=True).stdout
    read_before = None
    for line in output.splitlines()[1:]:
        number = lambda text: None if text == "-" else float(text)
        statements, read, _rewrite, checked, _print, tvm = (number(cell) for cell in line.split()[:6])
        size = f"{statements:.0f}"
        # The goal is a bound from below.
        faster = tvm / checked if tvm else None
        met = f"TVM's time ≥ 10 times ours: {'met' if faster >= 10 else f'missed, {faster:.1f}'}" if faster else ""
        peer, ratio = (f"{tvm:.2f} ms", f"{1 / faster:.2f}") if faster else ("", "")
        yield ["storage rewrite with the check (clock)", size, f"{checked:.2f} ms", "", "", "", peer, "", ratio, met]
        growth = read / read_before if read_before else None
        bound = goal([("growth", growth, 10.0 if statements > 10**4 else None)])
        grown = f"{growth:.1f}x" if growth else ""
        yield ["reading TVMScript (clock)", size, f"{read:.2f} ms", "", grown, "", "", "", "", bound]
        read_before = read


def packing_row():
    """The packing check of a million buffers."""
    bench = ["bench", "--quiet", "-p", "memplan-verify", "--bench", "packing", "--", "--quick", "packing/valid/1000000"]
    cargo(*bench, stdout=subprocess.DEVNULL)
    estimates = ROOT / "target" / "criterion" / "packing" / "valid" / "1000000" / "new" / "estimates.json"
    seconds = json.loads(estimates.read_text())["mean"]["point_estimate"] / 1e9
    bound = goal([("seconds", seconds, 0.5)])
    return ["packing check, buffers (clock)", "1000000", f"{seconds:.2f} s", "", "", "", "", "", "", bound]


def main():
    largest = 10**5 if "--small" in sys.argv[1:] else 10**6
    build()
    say = lambda cells: print(f"| {' | '.join(cells)} |", flush=True)
    say(COLUMNS)
    say(["---"] * len(COLUMNS))
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            for row in rows(case, pathlib.Path(folder), largest):
                say(row)
    for row in tensor_rows():
        say(row)
    if largest >= 10**6:
        say(packing_row())


if __name__ == "__main__":
    main()

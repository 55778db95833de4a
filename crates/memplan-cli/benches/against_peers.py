"""Whole processes, ours and those of other tools, on the same inputs in one run.

    python crates/memplan-cli/benches/against_peers.py            10^4 and 10^5, a minute or two
    python crates/memplan-cli/benches/against_peers.py --million  also 10^6
    python crates/memplan-cli/benches/against_peers.py --limits   how late a time limit and Ctrl-C are

Builds the release command and the generators, makes the inputs in a temporary folder, and prints one
table: processor time (user) and peak memory of each process, the ratio to the peer's, and the
growth from the size before. Runs alternate between the two sides and the least time counts, so
that a busy machine spoils neither side.
"""

import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
RELEASE = ROOT / "target" / "release"
RUNS = 3

# What is measured: title, generator with its arguments before and after the size, our arguments, the peer's command.
MERGE = ["opt", "IN", "--pass", "merge-alloc", "-o", "OUT"]
MLIR_OPT = ["mlir-opt-22", "IN", "-o", "/dev/null"]
GENERATE = RELEASE / "examples" / "generate"
CASES = [
    ("merge-alloc, ops", [RELEASE / "examples" / "large_module"], [], MERGE, MLIR_OPT),
    ("merge-alloc, functions", [GENERATE, "functions"], [], MERGE, MLIR_OPT),
    ("merge-alloc, blocks", [GENERATE, "blocks"], [], MERGE, MLIR_OPT),
    ("merge-alloc, carried values", [GENERATE, "carried"], [], MERGE, MLIR_OPT),
    (
        "plan-memory, buffers",
        [GENERATE, "kernel"],
        [],
        ["opt", "IN", "--pass", "plan-memory", "--target", "Ascend910B1", "-o", "OUT"],
        None,
    ),
    ("plan first-fit, buffers", [GENERATE, "random"], ["100", "2024"], ["plan", "IN", "-s", "first-fit"], None),
]


def build():
    cargo = ["cargo", "build", "--release", "--quiet"]
    subprocess.run(cargo + ["-p", "memplan-cli"], cwd=ROOT, check=True)
    subprocess.run(cargo + ["-p", "memplan-mlir", "--example", "large_module"], cwd=ROOT, check=True)
    subprocess.run(cargo + ["-p", "memplan-testkit", "--example", "generate"], cwd=ROOT, check=True)


def measure(command):
    """User seconds and peak megabytes of a process that must end well."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {child.returncode}")
    return usage.ru_utime, usage.ru_maxrss / 1024


def least(results):
    """The least time and the least memory of several runs."""
    return min(seconds for seconds, _ in results), min(memory for _, memory in results)


def compare(ours, theirs, runs):
    """Both sides in turn."""
    results = ([], [])
    for _ in range(runs):
        results[0].append(measure(ours))
        if theirs:
            results[1].append(measure(theirs))
    return least(results[0]), least(results[1]) if theirs else None


def has(program):
    return subprocess.run(["which", program], stdout=subprocess.DEVNULL).returncode == 0


def rows(folder, title, make, rest, ours, theirs, sizes):
    if theirs and not has(theirs[0]):
        print(f"without the peer: {theirs[0]} is not installed", file=sys.stderr)
        theirs = None
    before = None
    for size in sizes:
        source, target = folder / "in", folder / "out"
        suffix = ".csv" if "random" in make else ".mlir"
        source, target = source.with_suffix(suffix), target.with_suffix(suffix)
        with open(source, "wb") as file:
            subprocess.run([*make, str(size), *rest], stdout=file, check=True)
        fill = lambda arguments: [{"IN": source, "OUT": target}.get(argument, argument) for argument in arguments]
        runs = RUNS if size <= 100_000 else 1
        (seconds, memory), peer = compare([RELEASE / "memplan", *fill(ours)], fill(theirs) if theirs else None, runs)
        growth = f"{seconds / before:.1f}x" if before else ""
        against = f"{peer[0]:.2f} s | {peer[1]:.0f} MB | {seconds / peer[0]:.2f} | {memory / peer[1]:.2f}" if peer else " | | | "
        yield f"| {title} | {size} | {seconds:.2f} s | {memory:.0f} MB | {growth} | {against} |"
        before = max(seconds, 0.01)


# Inputs that used to run away: what makes them, and our arguments.
RUNAWAYS = [
    ("10^5 nested lives", lambda: csv(((i, 200001 - i, 64 + i * 7919 % 1000) for i in range(100_000))), ["plan", "IN"]),
    ("a chain of 160,000", lambda: csv(((i, i + 2, 64 + i * 7919 % 1000) for i in range(160_000))), ["plan", "IN"]),
    ("10^6 random, 100 alive", [GENERATE, "random", "1000000", "100", "1"], ["plan", "IN"]),
    ("20,000 random, 2,000 alive", [GENERATE, "random", "20000", "2000", "1"], ["plan", "IN"]),
    ("50,000 ties in one group", lambda: ties(50_000), ["plan", "IN"]),
    ("256 buffers with 4,096 slots", lambda: slots(256, 4096), ["plan", "IN"]),
    ("10^5 functions, planned", [GENERATE, "functions", "100000"], ["plan", "IN"]),
    ("10^5 functions, merge-alloc", [GENERATE, "functions", "100000"], MERGE),
    ("50,000 blocks, merge-alloc", [GENERATE, "blocks", "50000"], MERGE),
    ("10^6 ops, merge-alloc", [RELEASE / "examples" / "large_module", "1000000"], MERGE),
]


def csv(rows):
    lines = (f"{number},{start},{end},{size}" for number, (start, end, size) in enumerate(rows))
    return ".csv", "\n".join(["id,lower,upper,size", *lines, ""])


def ties(count):
    buffer = lambda i: {"id": str(i), "size": 64, "lifetime": [[i, i + 2]], "tie": {"group": "g", "at": 64 * i}}
    return ".json", json.dumps({"buffers": [buffer(i) for i in range(count)]})


def slots(count, each):
    buffer = lambda i: {"id": str(i), "size": 64 + i, "lifetime": [[i, i + 2]], "slots": each}
    return ".json", json.dumps({"buffers": [buffer(i) for i in range(count)]})


def ended(command, interrupt_after=None):
    """Seconds on the clock until a process ends, its processor time, and its exit code."""
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if interrupt_after:
        try:
            child.wait(interrupt_after)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGINT)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    child.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - start, busy, child.returncode


def limits(folder):
    """How long each input takes, on the clock and on the processor: as it is, with a limit of half a second, and when
    Ctrl-C comes after half a second. On a busy machine the clock runs away from the processor."""
    print("| input | without a limit | --time-limit 500ms | Ctrl-C after 500 ms |")
    print("|---|---|---|---|")
    for title, make, arguments in RUNAWAYS:
        if callable(make):
            suffix, text = make()
            source = (folder / "in").with_suffix(suffix)
            source.write_text(text)
        else:
            suffix = ".csv" if "random" in make else ".mlir"
            source = (folder / "in").with_suffix(suffix)
            with open(source, "wb") as file:
                subprocess.run(make, stdout=file, check=True)
        fill = {"IN": source, "OUT": (folder / "out").with_suffix(suffix)}
        command = [RELEASE / "memplan", *(fill.get(argument, argument) for argument in arguments)]
        whole = ended(command)
        results = [whole, ended([*command, "--time-limit", "500ms"]), ended(command, 0.5)]
        cells = " | ".join(f"{clock:.2f} s, {busy:.2f} s (exit {code})" for clock, busy, code in results)
        print(f"| {title} | {cells} |", flush=True)


def main():
    if "--limits" in sys.argv[1:]:
        build()
        with tempfile.TemporaryDirectory() as folder:
            limits(pathlib.Path(folder))
        return
    sizes = [10_000, 100_000] + ([1_000_000] if "--million" in sys.argv[1:] else [])
    build()
    print("| work | size | memplan | memory | growth | peer | memory | time ratio | memory ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            for row in rows(pathlib.Path(folder), *case, sizes):
                print(row, flush=True)


if __name__ == "__main__":
    main()

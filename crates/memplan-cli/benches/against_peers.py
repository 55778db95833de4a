"""Whole processes, ours and those of other tools, on the same inputs in one run.

    python crates/memplan-cli/benches/against_peers.py            10^4 and 10^5, a minute or two
    python crates/memplan-cli/benches/against_peers.py --million  also 10^6

Builds the release command and the generators, makes the inputs in a temporary folder, and prints one
table: processor time (user) and peak memory of each process, the ratio to the peer's, and the
growth from the size before. Runs alternate between the two sides and the least time counts, so
that a busy machine spoils neither side.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

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
    return min(time for time, _ in results), min(memory for _, memory in results)


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
        (time, memory), peer = compare([RELEASE / "memplan", *fill(ours)], fill(theirs) if theirs else None, runs)
        growth = f"{time / before:.1f}x" if before else ""
        against = f"{peer[0]:.2f} s | {peer[1]:.0f} MB | {time / peer[0]:.2f} | {memory / peer[1]:.2f}" if peer else " | | | "
        yield f"| {title} | {size} | {time:.2f} s | {memory:.0f} MB | {growth} | {against} |"
        before = max(time, 0.01)


def main():
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

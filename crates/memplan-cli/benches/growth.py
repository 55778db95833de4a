"""How time and memory grow with the input, for all five systems.

    python crates/memplan-cli/benches/growth.py

Makes inputs of 10^4, 10^5 and 10^6 parts, runs the release command on each with all checks on, and prints seconds on the
processor and peak megabytes, and how many times more each step takes. Ends with an error if memory grows more than
eleven times in a step. Seconds are printed and not judged: they grow faster than the work wherever the data outgrow the
caches. Instructions, which do not, are judged by the tests (`instructions.rs`).
"""

import pathlib
import sys
import tempfile

from against_peers import GENERATE, GMEM, LARGE_MODULE, MERGE, PLAN_MEMORY, RELEASE, build, generated, measure

SIZES = [10_000, 100_000, 1_000_000]
MOST_GROWTH = 11.0

# What makes an input of a size, its suffix, and our arguments.
SYSTEMS = [
    ("merge-alloc, ops", [LARGE_MODULE], ".mlir", MERGE),
    ("plan-memory, buffers", [GENERATE, "kernel"], ".mlir", PLAN_MEMORY),
    ("assign-gmem, tensors", [GENERATE, "network"], ".mlir", GMEM),
    ("storage-rewrite, statements", [GENERATE, "script"], ".py", ["opt", "IN", "--pass", "storage-rewrite", "-o", "OUT"]),
    ("plan, buffers", [GENERATE, "random"], ".csv", ["plan", "IN", "--effort", "quick", "--work", "1"]),
    ("plan --assign objects, buffers", [GENERATE, "random"], ".csv", ["plan", "IN", "-s", "greedy-by-breadth", "--assign", "objects"]),
]


def command_for(make, size, suffix, arguments, folder):
    # Random buffers have two more numbers: how many are alive at once, and the seed.
    more = ["100", "1"] if make[-1] == "random" else []
    source = generated(folder, [*make, str(size), *more], suffix)
    files = {"IN": source, "OUT": source.with_name("out" + suffix)}
    return [RELEASE / "memplan", *(files.get(part, part) for part in arguments)]


def main():
    build()
    print("| work | parts | seconds | growth | MB | growth |")
    print("|---|---|---|---|---|---|")
    too_much = []
    with tempfile.TemporaryDirectory() as folder:
        for title, make, suffix, arguments in SYSTEMS:
            before = None
            for size in SIZES:
                cost = measure(command_for(make, size, suffix, arguments, pathlib.Path(folder)))
                growth = ("", "") if before is None else (f"{cost.user / before.user:.1f}x", f"{cost.memory / before.memory:.1f}x")
                if before is not None and cost.memory > MOST_GROWTH * before.memory:
                    too_much.append(f"{title}, {size}")
                print(f"| {title} | {size:,} | {cost.user:.2f} | {growth[0]} | {cost.memory:.0f} | {growth[1]} |", flush=True)
                before = cost
    if too_much:
        sys.exit(f"memory grows more than {MOST_GROWTH:g} times: {too_much}")


if __name__ == "__main__":
    main()

"""How late a time limit and Ctrl-C are, on inputs that used to run away.

    python crates/memplan-cli/benches/limits.py [--moments 0.2,0.5,1,2,4] [a part of a row's title]

Every input is run by the release command: as it is, with the least work (`--effort quick --work 1 -v`), and then, for
each moment (in seconds; without `--moments` it is 1), with `--time-limit` and with Ctrl-C at that moment. Several
moments find stages that one moment passes by. The promise to users: a time limit ends the command half a second after
the limit or, if that is later, half a second after the first plan is made and checked; Ctrl-C ends it within half a
second. The run with the least work says when its plan was checked (0 where there is none).

Prints, for each run, the seconds on the clock and on the processor and the exit code, by how much the limits were
passed, and the verdict. On a busy machine the clock runs away from the processor, so the lesser of the two overruns
counts; and because other programs only ever make a command later, a row that is late is measured up to three times.
Ends with an error if a row is late every time.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

from against_peers import GENERATE, GMEM, LARGE_MODULE, MERGE, PLAN_MEMORY, RELEASE, build, generated

# What users are promised.
MOST_LATE = 0.5

# Other programs can make a command late, but not early.
ATTEMPTS = 3

PLAN = ["plan", "IN", "-o", "PLAN"]
LEAST_WORK = ["--effort", "quick", "--work", "1", "-v"]


def csv(rows):
    lines = (f"{number},{start},{end},{size}" for number, (start, end, size) in enumerate(rows))
    return ".csv", "\n".join(["id,lower,upper,size", *lines, ""])


def problem(count, buffer):
    return ".json", json.dumps({"buffers": [{"id": str(i), **buffer(i)} for i in range(count)]})


def nests(count):
    return csv((i, 2 * count + 1 - i, 64 + i * 7919 % 1000) for i in range(count))


def chain(count):
    return csv((i, i + 2, 64 + i * 7919 % 1000) for i in range(count))


def identical(count):
    return csv((0, 1, 64) for _ in range(count))


def ties(count):
    return problem(count, lambda i: {"size": 64, "lifetime": [[i, i + 2]], "tie": {"group": "g", "at": 64 * i}})


def slots(count, each):
    return problem(count, lambda i: {"size": 64 + i, "lifetime": [[i, i + 2]], "slots": each})


# What makes each input, and our arguments.
INPUTS = [
    ("10^5 nested lives", lambda: nests(100_000), PLAN),
    ("a chain of 160,000", lambda: chain(160_000), PLAN),
    ("50,000 ties in one group", lambda: ties(50_000), PLAN),
    ("10^5 functions, planned", [GENERATE, "functions", "100000"], PLAN),
    ("20 buffers with 4,096 slots", lambda: slots(20, 4096), PLAN),
    ("256 buffers with 4,096 slots", lambda: slots(256, 4096), PLAN),
    ("20,000 random, 2,000 alive", [GENERATE, "random", "20000", "2000", "1"], PLAN),
    ("10^5 identical, compared", lambda: identical(100_000), ["compare", "IN"]),
    ("10^5 functions, merge-alloc", [GENERATE, "functions", "100000"], MERGE),
    ("50,000 blocks, merge-alloc", [GENERATE, "blocks", "50000"], MERGE),
    ("5,000 random, --work 20000", [GENERATE, "random", "5000", "500", "1"], [*PLAN, "--work", "20000"]),
    ("10^6 random, 100 alive", [GENERATE, "random", "1000000", "100", "1"], PLAN),
    ("10^6 ops, merge-alloc", [LARGE_MODULE, "1000000"], MERGE),
    ("10^5 statements, storage-rewrite", [GENERATE, "script", "100000"], ["opt", "IN", "--pass", "storage-rewrite", "-o", "OUT"]),
    ("10^5 buffers, plan-memory", [GENERATE, "kernel", "100000"], PLAN_MEMORY),
    ("10^5 tensors, assign-gmem", [GENERATE, "network", "100000"], GMEM),
]


class Run:
    """A process from its start to its end; what it still does after `moment` seconds is what comes too late."""

    def __init__(self, command, moment=None, interrupt=False):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.monotonic()
        said = tempfile.TemporaryFile()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
        busy_then = None
        try:
            child.wait(moment)
        except subprocess.TimeoutExpired:
            busy_then = busy_so_far(child.pid)
            if interrupt:
                child.send_signal(signal.SIGINT)
            child.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.clock = time.monotonic() - start
        self.busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.code = child.returncode
        said.seek(0)
        self.said = said.read().decode()
        # Neither the clock of a busy machine nor two threads at once are to be held against the command.
        self.late = 0.0 if busy_then is None else max(0.0, min(self.clock - moment, self.busy - busy_then))

    def checked(self):
        """When the plan was checked, as `-v` says it; 0 if there was none."""
        moments = re.findall(r"checking the plan until ([0-9.]+) s", self.said)
        return float(moments[-1]) if moments else 0.0

    def __str__(self):
        return f"{self.clock:.2f} s, {self.busy:.2f} s (exit {self.code})"


def busy_so_far(pid):
    """Processor time of a running process, in seconds."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def source_of(make, folder):
    if not callable(make):
        suffix = {"random": ".csv", "script": ".py"}.get(str(make[1]), ".mlir")
        return generated(folder, make, suffix)
    suffix, text = make()
    source = (folder / "in").with_suffix(suffix)
    source.write_text(text)
    return source


class Input:
    """A file, our command for it, and when its first plan is checked."""

    def __init__(self, arguments, source):
        files = {"IN": source, "OUT": source.with_name("out" + source.suffix), "PLAN": source.with_name("plan.csv")}
        self.command = [RELEASE / "memplan", *(files.get(part, part) for part in arguments)]
        self.whole = Run(self.command)
        # `compare` has a plan almost at once, and no `-v`.
        self.has_moments = arguments[0] != "compare"

    def first_plan(self):
        """When a run with the least work has checked its plan, in seconds after its start."""
        command = self.command
        without_work = command[: command.index("--work")] if "--work" in command else command
        return Run([*without_work, *LEAST_WORK]).checked() if self.has_moments else 0.0


class Row:
    """What is measured of one input with limits at one moment."""

    def __init__(self, of, moment):
        self.of, self.moment = of, moment
        self.first = of.first_plan()
        limited = [*of.command, "--time-limit", f"{moment:g}s"]
        self.limited = Run(limited, max(moment, self.first))
        if self.limited.code != 0:
            # There is no plan that could have been waited for.
            self.limited = Run(limited, moment)
        self.interrupted = Run(of.command, moment, interrupt=True)

    def late(self):
        return max(self.limited.late, self.interrupted.late)

    def cells(self):
        verdict = "**late**" if self.late() > MOST_LATE else "holds"
        limited, interrupted = self.limited, self.interrupted
        first = f"{self.first:.2f} s" if self.of.has_moments else "not known"
        moment = f"{self.moment:g} s"
        return [self.of.whole, first, moment, limited, f"{limited.late:.2f} s", interrupted, f"{interrupted.late:.2f} s", verdict]


def measured(of, moment):
    """The best of a few attempts; one that is not late is good enough."""
    best = Row(of, moment)
    for _ in range(1, ATTEMPTS):
        if best.late() > MOST_LATE:
            best = min(best, Row(of, moment), key=Row.late)
    return best


def arguments():
    parser = argparse.ArgumentParser(description="How late a time limit and Ctrl-C are.")
    parser.add_argument("--moments", default="1", help="seconds at which limits are set, separated by commas")
    parser.add_argument("title", nargs="*", help="a part of the title of the rows to measure")
    return parser.parse_args()


def main():
    wanted = arguments()
    moments = [float(moment) for moment in wanted.moments.split(",")]
    build()
    print("| input | without a limit | first plan checked | moment | `--time-limit` | late by | Ctrl-C | late by | verdict |")
    print("|---|---|---|---|---|---|---|---|---|")
    late = []
    with tempfile.TemporaryDirectory() as folder:
        for title, make, ours in INPUTS:
            if " ".join(wanted.title) not in title:
                continue
            of = Input(ours, source_of(make, pathlib.Path(folder)))
            for moment in moments:
                row = measured(of, moment)
                late += [f"{title}, {moment:g} s"] if row.late() > MOST_LATE else []
                print(f"| {' | '.join(map(str, [title, *row.cells()]))} |", flush=True)
                # A command that has ended by itself at one moment has done so at all later ones.
                if max(of.whole.clock, row.first) < moment:
                    break
    if late:
        sys.exit(f"more than {MOST_LATE} s late: {late}")


if __name__ == "__main__":
    main()

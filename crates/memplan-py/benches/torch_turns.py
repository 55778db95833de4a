"""How long a step takes on one allocator, over the time that it takes on another.

    python crates/memplan-py/benches/torch_turns.py [--workloads a,b] [--settings a,b] [--steps N] [--rounds N] [--starts N]
                                                    [--scale N] [--out FILE]

A machine has neighbours, clocks and temperatures: the same program takes now 3 % more and now 3 % less from one minute
to the next, which is more than an allocator costs. So both allocators run at the same time, each in a process of its
own on the same device, and take turns step by step. Only one of them has work at a time:

    caching   step 18 ........ ........ step 19 step 20 ........
    replay    ........ step 18 step 19 ........ ........ step 20

Nothing is learnt (the rate is 0), so that a step with the same number does exactly the same in every round. Whatever
else happens on the machine only ever makes a step slower. So of each step the fastest round counts, and the two sums
over all steps are compared; the ratio of the sums of medians stands beside it. Two processes of the same program differ
for as long as they live, by where they lie in memory and on which cores. So both are bound to the same cores and are
started anew ``--starts`` times; a row shows the ratio of every start. On a machine whose processors have much other work
few rounds are undisturbed: there, few ``--steps`` with many rounds each say more than many steps with few.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import torch_gpu

# Steps that are measured by default. Where sizes vary, each has its own.
STEPS = 16
# The processes share every second core of the machine: Python's thread, that of the backward pass, and those of the
# driver. Two neighbours are often two halves of one core, and a thread that waits in one half slows down the other. The
# first core also serves the devices' interrupts.
CORES = slice(1, None, 2)


def shared(cores):
    """The cores that the processes share, of those that they may use; the only one if there is one."""
    return sorted(cores)[CORES] or sorted(cores)


def serve(setting, workload, scale):
    """Runs the steps whose numbers stand on the input, and prints how long each took and its loss."""
    import torch

    os.sched_setaffinity(0, shared(os.sched_getaffinity(0)))
    prepared = torch_gpu.prepare(setting, workload, 0, scale, rate=0.0)
    data = {}
    print("ready", flush=True)
    for number in map(int, sys.stdin):
        if number not in data:
            data[number] = prepared.load(number)
        seconds, loss = torch_gpu.timed(prepared, data[number], torch)
        moved = sum(lane["moved"] for lane in prepared.replayer.report()["lanes"]) if prepared.replayer else 0
        print(seconds, loss.hex(), moved, flush=True)


class Process:
    """One workload on one allocator."""

    def __init__(self, setting, workload, scale):
        command = [sys.executable, os.path.abspath(__file__), "--serve", setting, "--workloads", workload, "--scale", str(scale)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, env=torch_gpu.environment(setting), **pipes)
        self.losses, self.moved = [], []

    def wait_until_ready(self):
        assert self.process.stdout.readline() == "ready\n", "the process died"

    def step(self, number):
        self.process.stdin.write(f"{number}\n")
        self.process.stdin.flush()
        seconds, loss, moved = self.process.stdout.readline().split()
        self.losses.append(loss)
        self.moved.append(int(moved))
        return float(seconds)

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def take_turns(settings, workload, scale, steps, rounds):
    """One start of all: the times of every step, a list of rounds for each setting."""
    processes = [Process(setting, workload, scale) for setting in settings]
    for process in processes:
        process.wait_until_ready()
    before = torch_gpu.BEFORE_VARYING if workload in torch_gpu.VARYING else torch_gpu.BEFORE
    times = [[[] for _ in range(steps)] for _ in processes]
    # In the first round allocators meet sizes that they have not met before, and ask the driver for memory, once.
    warm = range(before + steps)
    measured = [before + turn % steps for turn in range(rounds * steps)]
    for turn, number in enumerate([*warm, *measured]):
        if turn == len(warm):
            moved = [process.moved[-1] for process in processes]
        # Which of them goes first changes with every step, and with every round; so does the direction.
        order = [(turn + turn // steps + place) % len(processes) for place in range(len(processes))]
        for place in order if turn // len(processes) % 2 else reversed(order):
            seconds = processes[place].step(number)
            if turn >= len(warm):
                times[place][number - before].append(seconds)
    for process in processes:
        process.end()
    equal = [process.losses == processes[0].losses for process in processes]
    moved = [process.moved[-1] - earlier for process, earlier in zip(processes, moved)]
    return {"times": times, "losses_equal": equal, "moved": moved}


def total(starts, place, kind):
    """The time of one setting: of each step one figure of all its rounds, then the sum over all steps."""
    steps = len(starts[0]["times"][place])
    return sum(kind([seconds for start in starts for seconds in start["times"][place][step]]) for step in range(steps))


def ratio(starts, place, kind):
    """The time of one setting over that of the first."""
    return total(starts, place, kind) / total(starts, 0, kind)


def lines(row):
    """A row as people read it, a line for each setting after the first."""
    starts = row["starts"]
    steps = len(starts[0]["times"][0])
    milliseconds = 1e3 * total(starts, 0, min) / steps
    for place, setting in enumerate(row["settings"][1:], 1):
        each = ", ".join(f"{ratio([start], place, min):.4f}" for start in starts)
        ratios = f"fastest {ratio(starts, place, min):.4f} (by start {each}), medians {ratio(starts, place, statistics.median):.4f}"
        losses = "equal" if all(start["losses_equal"][place] for start in starts) else "DIFFER"
        moved = sum(start["moved"][place] for start in starts) >> 20
        names = f"{setting}/{row['settings'][0]}"
        yield f"{row['workload']:20} {names}, {steps} steps of {milliseconds:.1f} ms: {ratios}; losses {losses}, {moved} MiB moved"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", default="gpt_350m_accum_var,unet_sizes,moe_8,moe_8_ckpt")
    parser.add_argument("--settings", default="default,replay")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--starts", type=int, default=4)
    parser.add_argument("--scale", type=int, default=1, metavar="N", help="batches so many times as large")
    parser.add_argument("--limit", type=float, default=540.0, metavar="SECONDS", help="begin nothing after so long")
    parser.add_argument("--out", default="torch_turns.json")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve, options.workloads, options.scale)
    settings = options.settings.split(",")
    if len(settings) < 2:
        parser.error("at least two settings take turns")
    started = time.monotonic()
    rows = []
    for workload in options.workloads.split(","):
        row = {"workload": workload, "settings": settings, "scale": options.scale, "starts": []}
        for _ in range(options.starts):
            if time.monotonic() - started < options.limit:
                row["starts"].append(take_turns(settings, workload, options.scale, options.steps, options.rounds))
        if row["starts"]:
            rows.append(row)
            print("\n".join(lines(row)), f"[{time.monotonic() - started:.0f} s]", flush=True)
        with open(options.out, "w", encoding="utf-8") as out:
            json.dump(rows, out)
    return 0


if __name__ == "__main__":
    sys.exit(main())

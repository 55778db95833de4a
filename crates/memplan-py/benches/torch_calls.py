"""What the requests of a step cost by themselves, with PyTorch's caching allocator and with memplan's.

    python crates/memplan-py/benches/torch_calls.py [--workloads a,b] [--scale N]

The time of a whole step scatters by a tenth and more on a machine with neighbours, far more than what an allocator
costs. So some steps of a workload of torch_gpu.py are recorded, and then only their requests are played, as tensors that
nobody fills, in a process for each allocator; the fastest of ten rounds counts. The difference, over the time of a
step, is what the allocator adds to it.
"""

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time

import torch_gpu

# Steps that are recorded, after so many that are not, and rounds over all of them.
RECORDED, BEFORE, ROUNDS = 4, 12, 10


def record(workload, scale, file):
    """Writes what some steps ask for, and how long the fastest of them takes."""
    import torch

    prepared = torch_gpu.prepare("pool", workload, 0, scale)
    times, steps = [], []
    for number in range(BEFORE + RECORDED):
        seconds, _ = torch_gpu.timed(prepared, prepared.load(number), torch)
        times.append(seconds)
        steps.append(prepared.replayer.library.recording(0))
    with open(file, "w", encoding="utf-8") as out:
        json.dump({"steps": steps[-RECORDED:], "time": min(times[-RECORDED:])}, out)


def play(ours, file):
    """Seconds for the requests of all recorded steps: of each the fastest round."""
    import torch

    mark = contextlib.nullcontext
    if ours:
        import memplan.torch

        mark = memplan.torch.enable(names=False, varying="pool").step
    with open(file, encoding="utf-8") as text:
        steps = json.load(text)["steps"]
    device = torch.device("cuda")
    fastest = [float("inf")] * len(steps)
    for _ in range(ROUNDS):
        for position, events in enumerate(steps):
            alive = {}
            with mark():
                started = time.perf_counter()
                for kind, number, size in events:
                    if kind == 0:
                        alive[number] = torch.empty(size, dtype=torch.uint8, device=device)
                    elif kind == 1:
                        del alive[number]
                fastest[position] = min(fastest[position], time.perf_counter() - started)
            alive.clear()
    return sum(fastest)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", default="gpt_350m_accum_var,unet_sizes,moe_8,moe_8_ckpt")
    parser.add_argument("--scale", type=int, default=4, metavar="N")
    parser.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        kind, *arguments = options.part
        if kind == "record":
            record(arguments[0], options.scale, arguments[1])
        else:
            print(play(kind == "memplan", arguments[0]))
        return
    for workload in options.workloads.split(","):
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            own = [sys.executable, __file__, "--scale", str(options.scale), "--part"]
            subprocess.run([*own, "record", workload, file.name], check=True)
            taken = {"caching": [], "memplan": []}
            # By turns, so that both meet the same neighbours.
            for kind in ["caching", "memplan"] * 2:
                ran = subprocess.run([*own, kind, file.name], check=True, capture_output=True, text=True)
                taken[kind].append(float(ran.stdout.split()[-1]))
            with open(file.name, encoding="utf-8") as text:
                recorded = json.load(text)
        requests = sum(1 for events in recorded["steps"] for event in events if event[0] == 0)
        caching, ours = (min(taken[kind]) for kind in ("caching", "memplan"))
        added = (ours - caching) / len(recorded["steps"]) / recorded["time"]
        facts = f"{requests // len(recorded['steps'])} requests a step of {recorded['time'] * 1e3:.0f} ms"
        each = f"{caching / requests * 1e9:.0f} ns each with the caching allocator, {ours / requests * 1e9:.0f} with memplan's"
        print(f"{workload}: {facts}; {each}: {added:+.2%} of the step", flush=True)


if __name__ == "__main__":
    main()

"""What a GPU's memory costs with PyTorch's allocators, and with a replayed plan.

    python crates/memplan-py/benches/torch_gpu.py [--workloads a,b] [--settings a,b] [--repeat N] [--scale N]
                                                  [--batches GIB] [--out FILE]

Each workload runs in each setting in a process of its own: PyTorch's caching allocator, the same with expandable
segments, cudaMallocAsync, and the replay, also with a plan wherever sizes vary. A row says what the driver has given
away (``reserved``), what was in use at the peak, the median time of a step, and the losses. ``--repeat`` runs the first
and the last setting so many times, by turns; of each step the fastest run counts, since whatever else happens on the
machine only ever makes a step slower. ``--scale`` multiplies the batch of every workload: with a small one the processor
is late with work for the GPU, and the time of a step says more about the processor's neighbours than about memory.
``--batches`` looks for the largest batch on a device of which all but so many
GiB are taken.
"""

import argparse
import contextlib
import ctypes
import gc
import inspect
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, NamedTuple

SETTINGS = {
    "default": "",
    "expandable": "expandable_segments:True",
    "async": "backend:cudaMallocAsync",
    "union": "",
    "pool": "",
    "replay": "",
    "bare": "",
}
# Settings that run on memplan's allocator; the first plans sizes that vary in any case, the second never does.
OURS = {"union": "plan", "pool": "pool", "replay": "auto"}
# Steps before anything is measured: one to warm up, two that the replay records, one to settle. Where sizes vary,
# eight are recorded, and after eighteen every workload has met its largest size: an allocator that meets a size for the
# first time takes memory from the driver, once, which is not what a step costs.
BEFORE = 4
BEFORE_VARYING = 18
VARYING = ("moe_8", "moe_8_ckpt", "unet_sizes", "gpt_350m_accum_var")
# Workloads whose largest batch is looked for, with the first batch that is tried.
BATCHES = {"gpt_350m_ckpt": 12, "gpt_350m_accum_var": 4}


def prepare(setting, workload, batch, scale=1, **options):
    """Builds one workload in this process; without a batch with its own one, multiplied."""
    import torch

    replayer = None
    if setting in OURS:
        import memplan.torch

        replayer = memplan.torch.enable(names=False, varying=OURS[setting])
    if setting == "bare":
        allocator = torch.cuda.memory.CUDAPluggableAllocator(bare_library(), "bare_malloc", "bare_free")
        torch.cuda.memory.change_current_allocator(allocator)
    import torch_workloads

    torch.manual_seed(0)
    # Losses are compared bit for bit. Only the U-Net has an operator without a deterministic form, if at all.
    torch.use_deterministic_algorithms(True, warn_only=workload.startswith("unet"))
    torch.utils.deterministic.fill_uninitialized_memory = False
    torch.backends.cuda.enable_cudnn_sdp(False)
    free, _ = torch.cuda.mem_get_info()
    build = torch_workloads.WORKLOADS[workload]
    batch = batch or scale * inspect.signature(build).parameters["batch"].default
    load, step = build(batch, **options)
    mark = replayer.step if replayer else lambda name: contextlib.nullcontext()
    # The collector of Python would run now in this step and now in that one.
    gc.disable()
    return Prepared(load, step, mark, batch, free, replayer)


def bare_library():
    """Compiles the allocator that does next to nothing."""
    folder = os.path.dirname(os.path.abspath(__file__))
    library = os.path.join(tempfile.gettempdir(), f"torch_bare-{os.getpid()}.so")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, os.path.join(folder, "torch_bare.c"), "-ldl", "-lpthread"], check=True)
    return library


class Prepared(NamedTuple):
    """A workload that was built."""

    load: Callable
    step: Callable
    mark: Callable
    batch: int
    # Bytes that the device had left before it was built.
    free: int
    # Only on memplan's allocator.
    replayer: Any


def timed(prepared, data, torch):
    """How long a step took, and its loss."""
    gc.collect()
    torch.cuda.synchronize()
    started = time.perf_counter()
    loss = prepared.step(data, prepared.mark)
    torch.cuda.synchronize()
    return time.perf_counter() - started, loss


def measure(setting, workload, steps, batch, scale=1):
    """Runs one workload in this process."""
    import torch

    prepared = prepare(setting, workload, batch, scale)
    replayer = prepared.replayer
    before = BEFORE_VARYING if workload in VARYING else BEFORE
    times, losses, moved = [], [], []
    for number in range(before + steps):
        if number == before:
            restart_peak(setting, torch)
        seconds, loss = timed(prepared, prepared.load(number), torch)
        times.append(seconds)
        losses.append(loss)
        if replayer:
            moved.append(sum(lane["moved"] for lane in replayer.report()["lanes"]))
    free, total = torch.cuda.mem_get_info()
    row = {"workload": workload, "setting": setting, "batch": prepared.batch, "total": total, "driver": prepared.free - free}
    row |= {"step": statistics.median(times[before:]), "before": before, "times": times, "losses": [loss.hex() for loss in losses]}
    if replayer:
        report = replayer.report()
        device = report["devices"][0]
        row |= {"reserved": device["reserved_peak"], "peak": device["peak"], "moved": moved, "report": report}
    else:
        row |= {"reserved": torch.cuda.max_memory_reserved(), "peak": torch.cuda.max_memory_allocated()}
    return row


def restart_peak(setting, torch):
    if setting in OURS:
        import memplan.torch

        memplan.torch.current().library.restart_peaks()
    else:
        torch.cuda.reset_peak_memory_stats()


def take_all_but(gib):
    """Takes the device's memory with a plain allocation, so that every setting meets the same limit."""
    cuda = ctypes.CDLL("libcuda.so.1")
    device, context = ctypes.c_int(), ctypes.c_void_p()
    free, total, ballast = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_uint64()
    cuda.cuInit(0)
    cuda.cuDeviceGet(ctypes.byref(device), 0)
    cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    cuda.cuCtxSetCurrent(context)
    cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
    code = cuda.cuMemAlloc_v2(ctypes.byref(ballast), ctypes.c_size_t(free.value - int(gib * 2**30)))
    assert code == 0, f"cuMemAlloc: {code}"


def serve(setting):
    """Imports torch once and forks a child for each job: ``workload steps batch scale gib file``."""
    import torch  # noqa: F401

    for line in sys.stdin:
        workload, steps, batch, scale, gib, file = line.split()
        child = os.fork()
        if child == 0:
            try:
                if float(gib):
                    take_all_but(float(gib))
                row = measure(setting, workload, int(steps), int(batch), int(scale))
            except BaseException as error:  # noqa: BLE001
                row = {"workload": workload, "setting": setting, "batch": int(batch), "error": f"{type(error).__name__}: {error}"[:2000]}
            with open(file, "w", encoding="utf-8") as out:
                json.dump(row, out)
            os._exit(0)
        os.waitpid(child, 0)
        print("done", flush=True)


def environment(setting):
    """What a process of a setting finds around it."""
    return {**os.environ, "CUBLAS_WORKSPACE_CONFIG": ":4096:8", "PYTORCH_CUDA_ALLOC_CONF": SETTINGS[setting]}


class Servers:
    """A process for each setting; jobs run one at a time, so that they do not disturb each other."""

    def __init__(self, settings, folder):
        self.folder = folder
        self.processes = {}
        for setting in settings:
            command = [sys.executable, os.path.abspath(__file__), "--serve", setting]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            self.processes[setting] = subprocess.Popen(command, env=environment(setting), **pipes)

    def run(self, setting, workload, steps, batch=0, gib=0.0, scale=1):
        file = os.path.join(self.folder, f"row-{setting}.json")
        if os.path.exists(file):
            os.unlink(file)
        process = self.processes[setting]
        process.stdin.write(f"{workload} {steps} {batch} {scale} {gib} {file}\n")
        process.stdin.flush()
        process.stdout.readline()
        if not os.path.exists(file):
            return {"workload": workload, "setting": setting, "batch": batch, "error": "the process died"}
        with open(file, encoding="utf-8") as text:
            return json.load(text)


def largest_batch(servers, setting, workload, first, gib, in_time):
    """Doubles until it fails, then halves the interval until it is a sixteenth."""
    fits, fails, batch = 0, 0, first
    while in_time() and (not fails or (fails - fits) * 16 > fails):
        row = servers.run(setting, workload, 2, batch, gib)
        print(f"  {setting} {workload} batch {batch}: {row.get('error', 'fits')[:300]}", flush=True)
        if "error" in row:
            fails = batch
        else:
            fits = batch
        batch = 2 * batch if not fails else (fits + fails) // 2
        if fails - fits == 1:
            break
    return fits


def step_ratio(row, base):
    """How long a step takes over one of another run.

    Steps that are all alike are compared by their fastest; where they differ in size, it is the sum over all steps.
    """
    mine, others = row["times"][row["before"] :], base["times"][base["before"] :]
    kind = sum if row["workload"] in VARYING else min
    return kind(mine) / kind(others)


def fastest(row, again):
    """A row whose every step took as long as in its fastest run."""
    times = [min(pair) for pair in zip(row["times"], again["times"])] if row else again["times"]
    return {**(row or again), "times": times, "step": statistics.median(times[again["before"] :])}


def line(row, base):
    """A row as people read it."""
    if "error" in row:
        return f"{row['workload']:20} {row['setting']:11} {row['error'][:300]}"
    gib = 2.0**30
    ratio = row["reserved"] / row["peak"]
    count = 0 if base is None else min(len(row["losses"]), len(base["losses"]))
    same = "" if base is None else f"{count} losses " + ("equal" if row["losses"][:count] == base["losses"][:count] else "DIFFER")
    speed = "" if base is None else f"{step_ratio(row, base):.3f}x"
    facts = f"reserved {row['reserved'] / gib:7.3f} GiB, peak {row['peak'] / gib:7.3f}, ratio {ratio:.4f}"
    return f"{row['workload']:20} {row['setting']:11} {facts}, driver {row['driver'] / gib:7.3f}, {row['step'] * 1e3:7.1f} ms {speed} {same}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workloads", default="")
    parser.add_argument("--settings", default="default,expandable,async,union,replay")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=1, metavar="N")
    parser.add_argument("--scale", type=int, default=1, metavar="N")
    parser.add_argument("--batches", type=float, default=0.0, metavar="GIB")
    parser.add_argument("--fits", default="", metavar="SETTING:WORKLOAD:BATCH,…", help="only try these batches")
    parser.add_argument("--limit", type=float, default=540.0, metavar="SECONDS", help="begin nothing after so long")
    parser.add_argument("--out", default="torch_gpu.json")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve)
    started = time.monotonic()
    settings = options.settings.split(",")
    servers = Servers(settings, os.path.dirname(os.path.abspath(options.out)))
    result = {"rows": [], "batches": {}}

    def write():
        with open(options.out, "w", encoding="utf-8") as out:
            json.dump(result, out, indent=1)

    names = "gpt_350m,gpt_350m_ckpt,gpt_350m_accum_var,gpt_1b_ckpt,moe_8,moe_8_ckpt,unet,unet_sizes,generate"
    workloads = options.workloads or names
    for workload in workloads.split(",") if workloads != "none" else []:
        best = {}
        # The first and the last setting take turns, so that both meet the same neighbours on the machine.
        for setting in settings + (options.repeat - 1) * [settings[0], settings[-1]]:
            if time.monotonic() - started > options.limit:
                continue
            # Losses are compared between the first setting and the last; the others only need a time.
            asked = options.steps if setting in (settings[0], settings[-1]) else min(options.steps, 3)
            row = servers.run(setting, workload, asked, scale=options.scale)
            result["rows"].append(row)
            if "error" not in row:
                best[setting] = row = fastest(best.get(setting), row)
            base = best.get(settings[0]) if setting != settings[0] else None
            print(line(row, base), f"[{time.monotonic() - started:.0f} s]", flush=True)
            write()
    for job in filter(None, options.fits.split(",")):
        setting, workload, batch = job.split(":")
        if time.monotonic() - started < options.limit:
            row = servers.run(setting, workload, 2, int(batch), options.batches)
            result["batches"].setdefault(workload, {}).setdefault(setting, {})[batch] = "error" not in row
            print(f"{job}: {row.get('error', 'fits')[:400]} [{time.monotonic() - started:.0f} s]", flush=True)
            write()
    for workload, first in BATCHES.items() if options.batches and not options.fits else []:
        found = result["batches"].setdefault(workload, {"gib": options.batches})
        in_time = lambda: time.monotonic() - started < options.limit  # noqa: E731
        for setting in [setting for setting in settings if setting != "async"]:
            if in_time():
                found[setting] = largest_batch(servers, setting, workload, first, options.batches, in_time)
                print(f"{workload}: {setting} largest batch {found[setting]} [{time.monotonic() - started:.0f} s]", flush=True)
                write()
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Memory snapshots of PyTorch: pickles that Python writes are read, as data, and ours are read by PyTorch's own tools.

The latter needs torch, gigabytes: ./test --full.
"""

import os
import pathlib
import pickle
import subprocess
import sys

import pytest
import drop_in_rows

import memplan

RECORDS = "id,lower,upper,size\na,0,2,64\nb,1,3,32\nc,2,4,48\nd,3,5,16\n"


def test_pytorch_reads_a_snapshot(tmp_path):
    if "MEMPLAN_REQUIRE_EXECUTORCH" not in os.environ:
        pytest.importorskip("torch.cuda._memory_viz")
    from torch.cuda import _memory_viz

    (tmp_path / "records.csv").write_text(RECORDS)
    command = [sys.executable, "-m", "memplan", "show", "records.csv", "-o", "snapshot.pickle"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    snapshot = pickle.loads((tmp_path / "snapshot.pickle").read_bytes())
    trace = _memory_viz.trace(snapshot)
    assert trace.count(" = cudaMalloc(") == 1 and trace.count("# free completed for") == 4, trace
    assert all(f":{size}]" in trace for size in ("64.0B", "32.0B", "48.0B", "16.0B")), trace
    assert "total_reserved: 96.0B" in _memory_viz.segsum(snapshot)
    for plot in (_memory_viz.trace_plot(snapshot), _memory_viz.segment_plot(snapshot)):
        assert plot.lstrip().startswith("<!DOCTYPE html>")


FRAMES = [
    {"name": "linear", "filename": "/usr/lib/site-packages/torch/nn/functional.py", "line": 9},
    {"name": "forward", "filename": "/home/me/net.py", "line": 17},
]


def event(action, addr, size, stream=0, frames=()):
    facts = {"action": action, "addr": addr, "size": size, "stream": stream, "time_us": 1794786235090635}
    return {**facts, "frames": list(frames)}


def small_snapshot():
    """Two segments; a weight from before the recording, two allocations that take turns, one on another stream."""
    base, other = 0x7F0000000000, 0x7F0000400000
    weight = {"address": base, "size": 1024, "requested_size": 1000, "state": "active_allocated", "frames": []}
    rest = {"address": base + 1024, "size": (2 << 20) - 1024, "requested_size": 0, "state": "inactive", "frames": []}
    segments = [
        {"device": 0, "stream": 0, "address": base, "total_size": 2 << 20, "blocks": [weight, rest]},
        {"device": 0, "stream": 77, "address": other, "total_size": 2 << 20, "blocks": []},
    ]
    trace = [
        event("alloc", base + 1024, 700, frames=FRAMES),
        event("free_requested", base + 1024, 700),
        event("free_completed", base + 1024, 700),
        event("alloc", base + 1024, 4096, frames=FRAMES),
        event("segment_alloc", other, 2 << 20, stream=77),
        event("alloc", other, 512, stream=77),
        event("free_completed", base + 1024, 4096),
        event("free_completed", other, 512, stream=77),
    ]
    return {"segments": segments, "device_traces": [trace], "allocator_settings": {"ratio": 0.5, "on": True, "x": None}}


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_every_protocol_is_read(tmp_path, protocol):
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(pickle.dumps(small_snapshot(), protocol))
    problem = memplan.read(path)
    lives = {buffer["id"]: (buffer["size"], buffer["lifetime"][0], buffer["space"]) for buffer in problem.buffers}
    assert lives == {
        "before recording": (1024, [0, 9], ["cuda:0"]),
        "forward net.py:17": (1024, [1, 3], ["cuda:0"]),
        "forward net.py:17#2": (4096, [4, 7], ["cuda:0"]),
        "no frame": (512, [6, 8], ["cuda:0 stream 1"]),
    }
    assert problem.notes[0] == "PyTorch's caching allocator reserved 4.000 MiB (4194304 bytes) at most"
    assert memplan.plan(problem).extent == 1024 + 4096 + 512
    rows = {entry.strategy: entry.extent for entry in memplan.compare(problem)}
    assert rows["pytorch"] == 4 << 20


class Hostile:
    """Makes a folder when it is loaded in Python."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return (os.mkdir, (self.path,))


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_code_in_a_pickle_is_refused_and_never_run(tmp_path, protocol):
    trap = tmp_path / "trap"
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(pickle.dumps({"segments": Hostile(trap), "device_traces": [[]]}, protocol))
    with pytest.raises(memplan.ReadError, match="calls Python code") as caught:
        memplan.read(path)
    assert caught.value.code == "pickle::code" and not trap.exists()
    pickle.loads(path.read_bytes())
    assert trap.exists(), "Python itself runs it"


def test_other_pickles_are_errors(tmp_path):
    path = tmp_path / "snapshot.pickle"
    for value in ([], {}, {"segments": []}, "text", 7, {"segments": 1, "device_traces": 2}):
        path.write_bytes(pickle.dumps(value))
        with pytest.raises(memplan.ReadError, match="no memory snapshot of PyTorch"):
            memplan.read(path)
    path.write_bytes(pickle.dumps(small_snapshot(), 0))
    with pytest.raises(memplan.ReadError, match="protocol 2 or later"):
        memplan.read(path)
    path.write_bytes(pickle.dumps(small_snapshot())[:-40])
    with pytest.raises(memplan.ReadError, match="ends too early"):
        memplan.read(path)


DATA = pathlib.Path(__file__).resolve().parents[3] / "tests" / "data" / "torch"


def test_the_rows_of_the_readme_are_measured():
    rows = []
    for name, words in (("convnet", "convnet, training step"), ("inference", "transformer, inference")):
        problem = memplan.read(DATA / f"{name}.pickle")
        (reserved,) = [entry.extent for entry in memplan.compare(problem, effort="quick") if entry.strategy == "pytorch"]
        plan = memplan.plan(problem)
        rows.append(drop_in_rows.row("PyTorch's caching allocator", words, reserved, plan.extent, plan.lower_bound))
    drop_in_rows.check("PyTorch's caching allocator", rows)


def test_our_own_snapshot_comes_back(tmp_path):
    problem = memplan.Problem([(1024, 0, 2), (512, 1, 3), (2048, 2, 4)], alignment=512)
    (tmp_path / "records.csv").write_text(problem.to_csv())
    command = [sys.executable, "-m", "memplan", "show", "records.csv", "-o", "snapshot.pickle"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    again = memplan.read(tmp_path / "snapshot.pickle")
    assert [buffer["size"] for buffer in again.buffers] == [1024, 512, 2048]
    assert memplan.plan(again).extent == memplan.plan(problem).extent


def test_real_snapshots_in_python_agree():
    """Python's own reader and ours see the same allocations; the folder is described in its README."""
    for path in sorted(DATA.glob("*.pickle")):
        snapshot = pickle.loads(path.read_bytes())
        (trace,) = snapshot["device_traces"]
        opened, sizes = {}, []
        for one in trace:
            if one["action"] == "alloc":
                opened[one["addr"]] = one["size"]
            if one["action"] == "free_completed":
                sizes.append(opened.pop(one["addr"], one["size"]))
        for segment in snapshot["segments"]:
            blocks = [block for block in segment["blocks"] if block["state"].startswith("active")]
            sizes += [block["requested_size"] for block in blocks if block["address"] not in opened]
        sizes += opened.values()
        expected = sorted(-(-size // 512) * 512 for size in sizes)
        assert sorted(buffer["size"] for buffer in memplan.read(path).buffers) == expected, path.name

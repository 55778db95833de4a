"""Snapshots in PyTorch's own memory tools. Gigabytes: only where torch is installed (./test --full)."""

import os
import pickle
import subprocess
import sys

import pytest

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

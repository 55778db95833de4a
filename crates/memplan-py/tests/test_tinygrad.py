"""tinygrad with our planner in it: the same results bit for bit, never a larger arena, and the arena that was planned.

Runs with the release of tinygrad that tests/peers/package-requirements.txt names. Its CPU device compiles with clang.
"""

import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

import framework_planners
import pytest
import drop_in_rows

if "MEMPLAN_REQUIRE_PEERS" not in os.environ:
    pytest.importorskip("tinygrad", reason="skipped: needs tinygrad")
CLANG = next((name for name in ("clang-22", "clang") if shutil.which(name)), None)
# tinygrad reads these once, when it is imported. Without a cache on disk, every run compiles what it runs.
os.environ.setdefault("CC", CLANG or "clang")
os.environ.setdefault("CACHELEVEL", "0")

import tinygrad.engine.jit  # noqa: E402
import tinygrad.schedule  # noqa: E402
import tinygrad.tensor  # noqa: E402
from tinygrad import Tensor, dtypes  # noqa: E402
from tinygrad.device import Buffer  # noqa: E402
from tinygrad.helpers import Context  # noqa: E402
from tinygrad.uop.ops import Ops  # noqa: E402
from tinygrad_networks import NETWORKS  # noqa: E402

import memplan  # noqa: E402
import memplan.tinygrad as dropin  # noqa: E402

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "tinygrad.md"

# tinygrad's own assembler is ten times as quick as a compiler for every kernel, where there is one.
CPU = "CPU:X86" if platform.machine() in ("x86_64", "AMD64") else "CPU"


@pytest.fixture(autouse=True)
def uninstalled():
    """Every test starts and ends with tinygrad's own planner. NULL is the device that plans and executes nothing."""
    with Context(DEV="NULL", NOOPT=1):
        yield
    dropin.uninstall()


def run(network, device, size, monkeypatch):
    """The outputs of a network, and the sizes of all arenas (byte buffers with no base) that tinygrad allocates."""
    arenas = []
    allocate = Buffer.allocate

    def watched(self, *args, **kwargs):
        if self._base is None and self.dtype == dtypes.int8:
            arenas.append(self.nbytes)
        return allocate(self, *args, **kwargs)

    with monkeypatch.context() as patch, Context(DEV=device):
        Tensor.manual_seed(7)
        patch.setattr(Buffer, "allocate", watched)
        outputs = NETWORKS[network](size)
    return outputs, arenas


def scheduled(network, size, monkeypatch):
    """The arenas in a network's schedules, which are made for the NULL device and neither compiled nor run."""
    arenas = []

    def read(linear, *_, **__):
        buffers = [buffer for buffer in linear.toposort() if buffer.op is Ops.BUFFER and buffer.dtype == dtypes.int8]
        arenas.extend(buffer.nbytes() for buffer in buffers)

    with monkeypatch.context() as patch, Context(DEV="NULL", JIT=0):
        Tensor.manual_seed(7)
        patch.setattr(tinygrad.tensor, "run_linear", read)
        NETWORKS[network](size)
    return arenas


@pytest.mark.parametrize("network", NETWORKS)
def test_same_results_and_the_planned_arena_on_the_cpu(network, monkeypatch):
    assert CLANG or "MEMPLAN_REQUIRE_PEERS" not in os.environ, "tinygrad's CPU device needs clang"
    if not CLANG:
        pytest.skip("skipped: needs clang")
    expected, own_arenas = run(network, CPU, 1, monkeypatch)
    with dropin.install() as hook:
        outputs, arenas = run(network, CPU, 1, monkeypatch)
    assert outputs == expected and all(outputs)
    compare_with_what_was_allocated(hook.report(), own_arenas, arenas)


def test_never_a_larger_arena_and_the_table_of_the_page_is_measured(monkeypatch):
    """Every network eight times as wide, only planned; MEMPLAN_BLESS=1 writes the table anew."""
    rows = ["| network | buffers | bound | tinygrad | memplan |", "|---|---|---|---|---|"]
    about = []
    for network in NETWORKS:
        own_arenas = scheduled(network, 8, monkeypatch)
        with dropin.install() as hook:
            arenas = scheduled(network, 8, monkeypatch)
        compare_with_what_was_allocated(hook.report(), own_arenas, arenas)
        step = hook.report().largest
        buffers, bound, own, extent = (step.total(what) for what in ("buffers", "lower_bound", "own", "extent"))
        cells = [f"{bound:,}", f"{own:,} ({own / bound:.3f})", f"{extent:,} ({extent / bound:.3f})"]
        rows.append(f"| {network} | {buffers} | {' | '.join(cells)} |")
        about.append(drop_in_rows.row("tinygrad", network, own, extent, bound))
    drop_in_rows.check("tinygrad", about)
    mark = "<!-- measured: test_tinygrad.py -->\n\n"
    head, rest = PAGE.read_text(encoding="utf-8").split(mark)
    page = head + mark + "\n".join(rows) + "\n" + rest[rest.index("\n## ") :]
    if os.environ.get("MEMPLAN_BLESS"):
        PAGE.write_text(page, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page, "run with MEMPLAN_BLESS=1"


def test_the_recorded_transformer_is_what_tinygrad_schedules(monkeypatch):
    """Its lives are a file, so that other frameworks' planners can be asked about them; MEMPLAN_BLESS=1 writes it."""
    with dropin.install() as hook:
        scheduled("transformer inference", 8, monkeypatch)
    rows = ["id,lower,upper,size"]
    for buffer in hook.report().largest.plan.problem.buffers:
        ((lower, upper),) = buffer["lifetime"]
        rows.append(f"{buffer['id'].split(' ')[0]},{lower},{upper},{buffer['size']}")
    text = "\n".join(rows) + "\n"
    if os.environ.get("MEMPLAN_BLESS"):
        framework_planners.TRANSFORMER.parent.mkdir(exist_ok=True)
        framework_planners.TRANSFORMER.write_text(text, encoding="utf-8")
    assert framework_planners.TRANSFORMER.read_text(encoding="utf-8") == text, "run with MEMPLAN_BLESS=1"


def test_the_page_runs_in_an_empty_folder(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    (tmp_path / "page.py").write_text("\n".join(blocks), encoding="utf-8")
    environment = {**os.environ, "DEV": "NULL"}
    ran = subprocess.run([sys.executable, "page.py"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("arena") and (tmp_path / "map.html").exists()


def compare_with_what_was_allocated(report, own_arenas, arenas):
    """tinygrad allocates what the report says, with its planner (``own``) and with ours (``extent``)."""
    lanes = [lane for schedule in report.schedules for lane in schedule.lanes]
    assert lanes
    for lane in lanes:
        assert lane.lower_bound <= lane.extent <= lane.own <= lane.separate
    assert set(arenas) == {lane.extent for lane in lanes}
    assert set(own_arenas) == {lane.own for lane in lanes}


def test_a_worse_strategy_falls_back_to_tinygrads_own_offsets(monkeypatch):
    own_arenas = scheduled("transformer inference", 1, monkeypatch)
    with dropin.install("naive") as hook:
        arenas = scheduled("transformer inference", 1, monkeypatch)
    assert arenas == own_arenas
    lanes = [lane for schedule in hook.report().schedules for lane in schedule.lanes]
    assert any(lane.own < lane.separate for lane in lanes)
    assert all(lane.extent == lane.own >= lane.lower_bound for lane in lanes)


def test_held_buffers_stay_and_a_schedule_is_planned_once():
    held = Tensor.empty(64, 64).realize()
    with dropin.install() as hook:
        for _ in range(3):
            ((held @ held).relu() @ held).realize()
    (schedule,) = hook.report().schedules
    assert schedule.times == 3
    assert schedule.total("separate") == 64 * 64 * 4, "inputs and outputs are held; only the first product is planned"


def test_copies_have_an_arena_of_their_own_and_twice_the_life():
    with dropin.install() as hook:
        a = (Tensor.empty(64, 64, device="NULL") + 1).to("NULL:1") + 1
        b = (Tensor.empty(64, 64, device="NULL") + 2).to("NULL:1") + 2
        (a.contiguous() + b.contiguous()).realize()
    lanes = [lane for schedule in hook.report().schedules for lane in schedule.lanes]
    copies = [lane for lane in lanes if lane.copies]
    assert {lane.device for lane in copies} == {"NULL", "NULL:1"}
    for schedule in hook.report().schedules:
        for buffer in schedule.plan.problem.buffers:
            (lower, upper) = buffer["lifetime"][0]
            # The device's half of a copied buffer lives from the kernel that makes it to the copy: two steps, doubled.
            if "copies" in str(buffer["space"]):
                assert (upper - lower) % 2 == 0


def test_install_and_uninstall_leave_no_trace():
    original = tinygrad.schedule.memory_plan_rewrite
    places = (tinygrad.schedule, tinygrad.schedule.memory, tinygrad.engine.jit)
    dropin.install()
    assert all(place.memory_plan_rewrite is not original for place in places)
    with pytest.raises(memplan.RefusedError, match="already"):
        dropin.install()
    dropin.uninstall()
    dropin.uninstall()
    assert all(place.memory_plan_rewrite is original for place in places)


def test_a_report_can_be_read_and_drawn(tmp_path, monkeypatch):
    with dropin.install() as hook:
        with pytest.raises(memplan.RefusedError, match="planned nothing"):
            hook.report().save(str(tmp_path / "map.html"))
        scheduled("U-Net", 1, monkeypatch)
    assert str(dropin.report()) == str(hook.report())
    head, *rows = str(dropin.report()).splitlines()
    assert head.split()[:4] == ["arena", "buffers", "separate", "tinygrad"] and rows
    dropin.report().save(str(tmp_path / "map.html"))
    assert (tmp_path / "map.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_other_versions_are_refused(monkeypatch):
    monkeypatch.setattr(dropin, "TESTED", {"0.9.9": ""})
    with pytest.raises(memplan.RefusedError, match=r"tinygrad 0\.14\.0 is not known to memplan; tested: 0\.9\.9"):
        dropin.install()
    monkeypatch.setattr(dropin, "TESTED", {"0.14.0": "another text"})
    with pytest.raises(memplan.RefusedError, match="not the released one"):
        dropin.install()

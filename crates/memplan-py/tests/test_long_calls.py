"""Progress, interruption, threads, memory."""

import os
import resource
import signal
import threading
import time

import pytest

import memplan
from conftest import hard_records, puzzle


def test_progress_is_told():
    heard = []
    plan = memplan.plan(puzzle(), "search", work=20_000, progress=lambda best, bound: heard.append((best, bound)))
    assert heard, "at least the last state is told"
    best, bound = heard[-1]
    assert best >= plan.extent >= bound


def test_an_error_in_the_callback_ends_the_search_and_is_raised():
    def broken(best, bound):
        raise RuntimeError("broken callback")

    with pytest.raises(RuntimeError, match="broken callback"):
        memplan.plan(puzzle(), "search", time_limit=60, progress=broken)


@pytest.fixture
def interruptible():
    """A test run in the background of a shell inherits that Ctrl-C is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_gives_the_best_plan_so_far(interruptible):
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    start = time.monotonic()
    timer.start()
    plan = memplan.plan(puzzle(), "search", time_limit=120)
    assert time.monotonic() - start < 60
    assert plan.stop == "interrupted" and plan.extent >= plan.lower_bound
    assert memplan.verify(plan.problem, plan) == []


def test_ctrl_c_ends_the_reading_of_a_file(interruptible, tmp_path):
    path = tmp_path / "many.mlir"
    body = "  %a = memref.alloc() : memref<64xf32>\n  memref.copy %in, %a : memref<64xf32> to memref<64xf32>\n"
    functions = (f"func.func @f{n}(%in: memref<64xf32>) {{\n{body}  return\n}}\n" for n in range(60_000))
    path.write_text("".join(functions))

    def seconds():
        start = time.monotonic()
        try:
            memplan.read(path)
        except KeyboardInterrupt:
            return time.monotonic() - start, True
        return time.monotonic() - start, False

    whole, interrupted = seconds()
    assert not interrupted
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    cut, interrupted = seconds()
    # Whatever is not a search has a moment to come to its end. Reading to the end takes longer than that.
    assert interrupted and cut < max(1.0, whole / 2), f"{cut} s of {whole} s"


def test_other_threads_run_meanwhile():
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.01)

    thread = threading.Thread(target=tick)
    thread.start()
    memplan.plan(puzzle(), "search", time_limit=0.5)
    done.set()
    thread.join()
    assert len(ticks) >= 5


def test_many_threads_plan_at_once():
    expected = list(memplan.plan(hard_records(60), work=500).offsets)
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(list(memplan.plan(hard_records(60), work=500).offsets)))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 6


def test_ten_thousand_calls_leak_nothing():
    records = [(64, 0, 2), (32, 1, 3), (48, 2, 4)]

    def calls(count):
        for _ in range(count):
            plan = memplan.plan(records, "first-fit")
            plan.to_dict()
            plan.offsets
            memplan.verify(plan.problem, [0, 0, 0])
            with pytest.raises(memplan.ProblemError):
                memplan.Problem([(1, 2, 1)])

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    calls(1_000)
    before = resident()
    calls(9_000)
    # A leak of a hundred bytes a call would show as a megabyte.
    assert resident() - before < 1_000_000

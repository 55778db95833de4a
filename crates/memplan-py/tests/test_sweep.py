"""Sweeps: the same table on local processes and on a Dask cluster; a dead worker loses nothing."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import memplan

STRATEGIES = ["first-fit", "greedy-by-size"]


def facts(table):
    return [{key: value for key, value in row.items() if key != "seconds"} for row in table]


def test_local_processes(inputs):
    heard = []
    table = memplan.sweep(inputs, STRATEGIES, workers=2, progress=lambda done, all_: heard.append((done, all_)))
    assert len(table) == 8 and heard[-1] == (8, 8)
    by_input = {os.path.basename(row["input"]): row for row in table if row["strategy"] == "first-fit"}
    assert set(by_input) == {"a.csv", "b.mlir", "c.csv", "d.csv"}
    assert by_input["a.csv"]["extent"] == 96 and by_input["a.csv"]["status"] == "optimal"
    assert by_input["d.csv"]["status"] == "error" and "uppr" in by_input["d.csv"]["error"]
    assert len(table.best()) == 3
    assert "first-fit" in repr(table)


def test_pandas(inputs):
    pandas = pytest.importorskip("pandas")
    frame = memplan.sweep(inputs / "a.csv", "first-fit", workers=1).to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame["extent"]) == [96]


def test_a_sweep_goes_on_where_it_stopped(inputs, tmp_path):
    journal = tmp_path / "journal.jsonl"
    first = memplan.sweep(inputs, STRATEGIES, workers=1, journal=journal)
    lines = journal.read_text().splitlines()
    assert len(lines) == 8
    journal.write_text("\n".join(lines[:5]) + "\n" + lines[5][: len(lines[5]) // 2])
    heard = []
    second = memplan.sweep(inputs, STRATEGIES, workers=1, journal=journal, progress=lambda *news: heard.append(news))
    assert heard[0] == (5, 8) and heard[-1] == (8, 8)
    assert facts(second) == facts(first)
    assert [json.loads(line) for line in journal.read_text().splitlines() if line.endswith("}}")]
    third = memplan.sweep(inputs, STRATEGIES, workers=1, journal=journal, progress=lambda *news: heard.append(news))
    assert heard[-1] == (8, 8) and facts(third) == facts(first)


def test_an_input_that_changed_is_done_again(inputs, tmp_path):
    journal = tmp_path / "journal.jsonl"
    memplan.sweep(inputs / "a.csv", "first-fit", workers=1, journal=journal)
    (inputs / "a.csv").write_text("id,lower,upper,size\na,0,2,640\n")
    [row] = memplan.sweep(inputs / "a.csv", "first-fit", workers=1, journal=journal)
    assert row["extent"] == 640


def kill_a_worker_soon(seconds=20):
    """Kills the first worker process that appears below this one."""

    def children():
        found = set()
        for task in os.listdir("/proc/self/task"):
            try:
                with open(f"/proc/self/task/{task}/children") as file:
                    found |= {int(child) for child in file.read().split()}
            except OSError:
                # The thread has ended since the threads were listed.
                continue
        return found

    def hunt():
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for child in children():
                try:
                    with open(f"/proc/{child}/cmdline") as file:
                        is_worker = "_serve()" in file.read()
                    if is_worker:
                        os.kill(child, signal.SIGKILL)
                        killed.append(child)
                        return
                except OSError:
                    continue
            time.sleep(0.001)

    killed = []
    thread = threading.Thread(target=hunt)
    thread.start()
    return thread, killed


def test_a_killed_worker_loses_nothing(inputs):
    expected = facts(memplan.sweep(inputs, STRATEGIES, workers=2))
    # Several times, for it matters what the worker and its siblings are just doing.
    for _ in range(8):
        thread, killed = kill_a_worker_soon()
        found = facts(memplan.sweep(inputs, STRATEGIES, workers=2))
        thread.join()
        assert killed, "no worker was there to kill"
        assert found == expected


def test_a_dask_cluster_gives_the_same_table(inputs):
    distributed = pytest.importorskip("distributed")
    expected = facts(memplan.sweep(inputs, STRATEGIES, workers=1))
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        assert facts(memplan.sweep(inputs, STRATEGIES, client=client)) == expected
        # A worker that dies is replaced by its nanny, and its jobs go to others.
        pids = list(client.run(os.getpid).values())
        timer = threading.Timer(0.05, os.kill, (pids[0], signal.SIGKILL))
        timer.start()
        assert facts(memplan.sweep([inputs] * 5, STRATEGIES, client=client)) == expected * 5
        timer.join()


def test_spaces_are_those_of_plan(inputs):
    spaces = ["fast=64:16", "slow=1KiB"]
    [row] = memplan.sweep(inputs / "a.csv", workers=1, spaces=spaces)
    expected = memplan.plan(memplan.read(inputs / "a.csv"), spaces=spaces)
    assert (row["status"], row["extent"]) == (expected.status, expected.extent)
    [row] = memplan.sweep(inputs / "a.csv", workers=1, spaces=memplan.Space("only", "8B"))
    assert row["status"] == "infeasible"


GUIDE = """
import memplan

table = memplan.sweep(["a.csv"], ["greedy-by-size", "auto"], workers=2, journal="sweep.jsonl")
print([row["extent"] for row in table])
"""


def test_a_script_needs_no_guard(inputs):
    """Workers that import the script would run it again, and start workers, and so on."""
    (inputs / "script.py").write_text(GUIDE)
    ran = subprocess.run([sys.executable, "script.py"], cwd=inputs, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == "[96, 96]\n" and len((inputs / "sweep.jsonl").read_text().splitlines()) == 2


def test_a_lost_row_is_tried_again(inputs, tmp_path, monkeypatch):
    journal = tmp_path / "journal.jsonl"
    monkeypatch.setattr("memplan._sweep._WORKER", "import os; os._exit(3)")
    [row] = memplan.sweep(inputs / "a.csv", workers=1, journal=journal)
    assert (row["status"], row["extent"]) == ("lost", None) and "died" in row["error"]
    monkeypatch.undo()
    [row] = memplan.sweep(inputs / "a.csv", workers=1, journal=journal)
    assert (row["status"], row["extent"]) == ("optimal", 96)
    # Another version of memplan may plan otherwise.
    monkeypatch.setattr("memplan._sweep._native.version", lambda: "0.0.1")
    heard = []
    memplan.sweep(inputs / "a.csv", workers=1, journal=journal, progress=lambda *news: heard.append(news))
    assert heard[0] == (0, 1)


def test_any_executor(inputs):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(2) as pool:
        assert len(memplan.sweep(inputs, "first-fit", client=pool)) == 4


def test_what_cannot_be_swept(tmp_path):
    with pytest.raises(memplan.ArgumentError, match="no file"):
        memplan.sweep(tmp_path / "no-such")
    (tmp_path / "a.csv").write_text("id,lower,upper,size\na,0,2,64\n")
    with pytest.raises(memplan.ArgumentError, match="client"):
        memplan.sweep(tmp_path, client=3)
    assert len(memplan.sweep(tmp_path / "a.csv", [])) == 0

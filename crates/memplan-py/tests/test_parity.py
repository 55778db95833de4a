"""What the command line can do, Python can, too; and what it is given in Python's own forms means the same."""

import copy
import json
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import memplan
from conftest import SMALL, hard_records

DATA = pathlib.Path(__file__).resolve().parents[3] / "tests" / "data"


def test_a_target_is_set_while_planning():
    records = [(64, 0, 2), (32, 1, 3)]
    assert memplan.plan(records, capacity=90).status == "infeasible"
    assert memplan.plan(records, capacity="1KiB").status == "optimal"
    assert all(offset % 48 == 0 for offset in memplan.plan(records, align=48).offsets)
    two = memplan.plan(records, spaces=["fast=64", memplan.Space("slow", alignment=16)]).to_dict()
    assert {buffer["space"] for buffer in two["buffers"]} == {"fast", "slow"}
    assert memplan.compare(records, capacity=90, work=10).best.extent is None
    with pytest.raises(memplan.ArgumentError, match="base"):
        memplan.plan(records, spaces=[memplan.Space("slow", base=4096)])


def test_sizes_may_have_units():
    buffer = memplan.Buffer("a", "1.5KiB", (0, 2), alignment="1KiB")
    problem = memplan.Problem([buffer], [memplan.Space("sram", "4KiB", "64B", "8KiB")])
    [facts] = problem.to_dict()["buffers"]
    assert (facts["size"], facts["alignment"]) == (1536, 1024)
    [space] = problem.to_dict()["spaces"]
    assert (space["capacity"], space["alignment"], space["base"]) == (4096, 64, 8192)
    assert memplan.plan([("1KiB", 0, 2), ("2kB", 1, 2)]).extent == 3024
    # Digits alone are a number that somebody forgot to convert.
    for wrong in ("64", "", "1 parsec"):
        with pytest.raises(memplan.ProblemError, match="size of buffer 'a'"):
            memplan.Problem([memplan.Buffer("a", wrong, (0, 1))])


def test_data_frames_are_problems():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": ["a", "b"], "lower": [0, 1], "upper": [2, 3], "size": [64, 32]})
    assert memplan.plan(frame).by_name == memplan.plan(memplan.Problem.from_csv(frame.to_csv(index=False))).by_name
    # TensorFlow's convention: the last task is alive.
    closed = pandas.DataFrame({"first_task": [0, 2], "last_task": [2, 3], "size": [64, 32]})
    assert memplan.Problem(closed).lower_bound == 96
    missing = frame.assign(alignment=[16, None], size=["1KiB", "32"])
    with pytest.raises(memplan.ProblemError):
        memplan.Problem(missing)
    assert memplan.Problem(frame.assign(alignment=[16.0, None])).buffers[0]["alignment"] == 16
    assert memplan.plan(memplan.Problem(frame, capacity=95)).status == "infeasible"
    with pytest.raises(memplan.ProblemError, match="uppr"):
        memplan.Problem(frame.rename(columns={"upper": "uppr"}))


def test_offsets_by_name():
    plan = memplan.plan([memplan.Buffer("x", 64, (0, 2)), memplan.Buffer("y", 32, (1, 3))])
    assert plan.by_name == {"x": plan["x"], "y": plan["y"]} and plan.problem.ids == ["x", "y"]
    assert sorted(plan.by_name.values()) in ([0, 64], [0, 32])
    with pytest.raises(KeyError):
        plan["z"]


def test_shared_objects_have_no_offsets():
    plan = memplan.plan([(64, 0, 2), (32, 1, 3), (64, 2, 4)], "greedy-by-size", assign="objects")
    with pytest.raises(memplan.RefusedError, match="objects"):
        plan.offsets
    assert plan.objects[0] == plan.objects[2] != plan.objects[1]
    assert sum(plan.object_sizes) == plan.extent and len(plan.object_sizes) == 2
    with pytest.raises(memplan.RefusedError, match="offsets"):
        memplan.plan([(64, 0, 2)]).objects


@pytest.mark.parametrize(
    "arguments",
    [{}, {"capacity": 90}, {"strategy": "greedy-by-size", "assign": "objects"}, {"strategy": "search", "work": 200}],
    ids=str,
)
def test_plans_can_be_pickled_and_copied(arguments):
    records = hard_records(60) if "work" in arguments else [(64, 0, 2), (32, 1, 3), (64, 2, 4)]
    plan = memplan.plan(records, **arguments)
    for again in (pickle.loads(pickle.dumps(plan)), copy.deepcopy(plan)):
        expected, found = plan.to_dict(), again.to_dict()
        expected["seconds"] = found["seconds"] = 0
        assert found == expected
        assert (again.stop, again.witness, repr(again)) == (plan.stop, plan.witness, repr(plan))


def test_a_pickle_that_was_tampered_with_is_rejected():
    plan = memplan.plan([(64, 0, 2), (32, 1, 3)])
    restore, (problem, text, facts) = plan.__reduce__()
    moved = json.loads(text)
    for buffer in moved["buffers"]:
        buffer["offset"], buffer["offsets"] = 0, [0]
    with pytest.raises(memplan.MemplanError, match="does not verify"):
        restore(problem, json.dumps(moved), facts)


def test_what_stands_in_the_way():
    explanation = memplan.explain([(64, 0, 2), (32, 1, 3), (16, 5, 6)], capacity=90)
    assert (explanation.status, explanation.extent) == ("infeasible", None)
    obstacle = explanation.obstacle
    assert (obstacle.buffers, obstacle.step, obstacle.needed, obstacle.capacity) == (["0", "1"], 1, 96, 90)
    assert set(obstacle.single) == {"0", "1"}
    assert memplan.explain([(64, 0, 2)]).extent == 64


def test_a_warm_plan_moves_little():
    records = [(64, 0, 3), (32, 1, 3), (48, 2, 4)]
    old = memplan.plan(records)
    new = memplan.plan([*records, (16, 5, 6)], warm=old)
    assert new.kept == 3 and list(new.offsets)[:3] == list(old.offsets)
    assert memplan.plan(records, warm=old.to_json()).kept == 3 and old.kept is None
    with pytest.raises(memplan.ArgumentError, match="warm"):
        memplan.plan(records, "greedy-by-size", assign="objects", warm=old)


def test_models_are_changed_until_they_fit(tmp_path):
    model = DATA / "tflite" / "mobile.tflite"
    found = memplan.fit(model, capacity="128KiB", out=tmp_path / "fitted.tflite")
    assert found.chosen == 1 and found.version.arena <= 128 << 10 < found.versions[0].arena
    assert "`expand1`" in found.version.changes[0]
    # The floor is what the command line prints; no version is below it, and no capacity below it can be reached.
    command = [sys.executable, "-m", "memplan", "fit", str(model), "--capacity", "128KiB", "--json"]
    printed = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    assert found.floor == printed["floor"] and 0 < found.floor <= min(one.arena for one in found.versions)
    with pytest.raises(memplan.RefusedError, match="no change of these kinds"):
        memplan.fit(model, capacity=found.floor - 1)
    # What was written fits as it is.
    again = memplan.fit(tmp_path / "fitted.tflite", capacity="128KiB")
    assert again.chosen == 0 and again.version.arena == found.version.arena
    table = memplan.fit(model, count="tensors", forbid="patches")
    assert all(one.tensors > other.tensors for one, other in zip(table.versions, table.versions[1:]))
    with pytest.raises(memplan.RefusedError, match="is not split"):
        memplan.fit(model, capacity="20KiB")
    with pytest.raises(memplan.ArgumentError, match="tiles"):
        memplan.fit(model, forbid=["tiles"])
    with pytest.raises(memplan.ArgumentError, match="count"):
        memplan.fit(model, count="all")


def test_models_are_reordered(tmp_path):
    [model] = sorted((DATA / "tflite").glob("unet.tflite"))
    found = memplan.reorder(model, tmp_path / "new.tflite")
    assert found.peak_after <= found.peak_before and sorted(found.order) == list(range(len(found.order)))
    again = memplan.reorder(tmp_path / "new.tflite")
    assert again.peak_before == found.peak_after
    with pytest.raises(memplan.MemplanError, match="no network"):
        (tmp_path / "a.csv").write_text(SMALL)
        memplan.reorder(tmp_path / "a.csv")


def test_traces_and_snapshots(tmp_path):
    plan = memplan.plan([(64, 0, 2), (32, 1, 3)])
    plan.save(tmp_path / "run.trace.json")
    assert json.loads((tmp_path / "run.trace.json").read_text())["traceEvents"]
    plan.save(tmp_path / "run.pickle")
    assert pickle.loads((tmp_path / "run.pickle").read_bytes())["segments"]
    assert max(map(len, plan.to_text(60, 12).splitlines())) <= 60


def test_a_notebook_is_not_flooded():
    few = memplan.plan([(64, index, index + 1) for index in range(100)], "first-fit")
    assert few._repr_html_().startswith("<iframe")
    size = np.full(100_000, 64)
    many = memplan.plan(memplan.Problem.from_arrays(size, np.arange(100_000), np.arange(100_000) + 1), "first-fit")
    shown = many._repr_html_()
    assert len(shown) < 100_000 and "save(" in shown


def test_dictionaries_have_the_fields_of_buffers():
    given = {"id": "a", "size": np.int64(64), "lifetime": (0, 2), "tie": ("g", 0), "space": ("default",)}
    assert memplan.Problem([given]).buffers[0]["lifetime"] == [[0, 2]]
    with pytest.raises(memplan.ProblemError, match="lifetim"):
        memplan.Problem([{"id": "a", "size": 64, "lifetim": (0, 2)}])


def test_numbers_of_numpy():
    assert memplan.plan([(np.float32(64), np.int8(0), np.uint16(2))]).extent == 64
    with pytest.raises(memplan.ProblemError, match="whole number"):
        memplan.plan([(np.float32(64.5), 0, 2)])


def test_an_alignment_is_at_least_one():
    with pytest.raises(memplan.ProblemError, match="at least 1"):
        memplan.Problem([(64, 0, 2)], alignment=0)
    with pytest.raises(memplan.ProblemError, match="at least 1"):
        memplan.Problem.from_arrays([64], [0], [2], alignment=[0])


@pytest.mark.parametrize("name", ["work", "seed", "threads"])
@pytest.mark.parametrize("value", [-1, "x", 2**64])
def test_limits_that_are_none_are_arguments_that_make_no_sense(name, value):
    with pytest.raises(memplan.ArgumentError, match=name):
        memplan.plan([(1, 0, 1)], **{name: value})


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        memplan.read(tmp_path / "nope.csv")
    assert "nope.csv" in str(caught.value) and caught.value.filename == str(tmp_path / "nope.csv")

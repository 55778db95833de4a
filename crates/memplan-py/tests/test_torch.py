"""memplan.torch without torch and without a GPU: the real allocator over host memory, and a stand-in for PyTorch's calls."""

import contextlib
import csv
import ctypes
import gc
import json
import logging
import os
import pathlib
import random
import subprocess
import sys
import threading
import types
import weakref

import pytest

import memplan
import memplan.torch
from memplan.torch import Event, Recording, Replayer, _replayer, plan_step, read_recording
from memplan.torch.__main__ import main
from memplan.torch._recording import plan_file

ROOT = pathlib.Path(__file__).resolve().parents[3]
STEP = ROOT / "tests" / "data" / "cuda" / "gpt_350m.csv"


class StandIn:
    """PyTorch's side: it asks for memory, writes to all of it, and looks whether somebody else has."""

    def __init__(self, replayer):
        self.library = replayer.library
        self.alive = {}
        self.mark = 0

    def malloc(self, size, stream=0, device=0):
        address = self.library.malloc(size, device, stream)
        assert address and address not in self.alive, "two allocations that are alive have one address"
        self.mark = self.mark % 250 + 1
        ctypes.memset(address, self.mark, size)
        self.alive[address] = (size, stream, device, self.mark)
        return address

    def free(self, address):
        size, stream, device, mark = self.alive.pop(address)
        assert ctypes.string_at(address, size) == bytes([mark]) * size, "somebody has written to these bytes"
        self.library.free(address, size, device, stream)


@pytest.fixture
def replayer():
    made = Replayer(host=1 << 26)
    yield made
    made.close()


@pytest.fixture
def planner_of_unions(monkeypatch):
    """Plans steps whose sizes vary, and judges steps of a few kilobytes as those of gigabytes."""
    monkeypatch.setattr(_replayer, "SLACK", 0)
    made = Replayer(host=1 << 26, varying="plan")
    yield made
    made.close()


def lane(replayer, number=0):
    return replayer.report()["lanes"][number]


def train(replayer, stand_in, sizes, gradients):
    """A step like training: gradients of the step before go, activations come and go, gradients come."""
    with replayer.step("train"):
        while gradients:
            stand_in.free(gradients.pop())
        activations = [stand_in.malloc(size) for size in sizes]
        for size in reversed(sizes):
            gradients.append(stand_in.malloc(size // 4))
            stand_in.free(activations.pop())


def test_neither_the_package_nor_this_module_imports_torch():
    code = "import sys, memplan, memplan.torch; assert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_step_is_recorded_planned_and_replayed(replayer):
    stand_in, gradients = StandIn(replayer), []
    parameters = [stand_in.malloc(10_000) for _ in range(5)]
    for _ in range(3):
        train(replayer, stand_in, [40_000, 20_000, 300_000], gradients)
    [made] = replayer.plans("train")
    # 1000, 5000 and 75,000 bytes of gradients are alive with the activations that are left.
    recording = made.recording
    assert made.plan.status == "optimal" and made.extent == made.plan.lower_bound == recording.peak()
    for _ in range(4):
        train(replayer, stand_in, [40_000, 20_000, 300_000], gradients)
    facts = lane(replayer)
    assert facts["exact_steps"] == 4 and facts["planned"] == 24 and not any(facts["deviations"].values())
    # Parameters in one page of the pool, the step in the fewest pages that hold it.
    page = 1 << 16
    assert facts["reserved"] == {"arena": -(-made.extent // page) * page, "large": 0, "small": page}
    for address in parameters + gradients:
        stand_in.free(address)


def test_names_are_the_frames_of_the_program(replayer, tmp_path):
    stand_in, gradients = StandIn(replayer), []
    for _ in range(3):
        train(replayer, stand_in, [1000, 2000], gradients)
    names = replayer.plans("train")[0].recording.names
    assert all(name.startswith("test_torch.py:") and name.endswith(" in malloc") for name in names.values())
    assert len(names) == 4
    replayer.plans("train")[0].plan.save(tmp_path / "step.html")
    assert "test_torch.py:" in (tmp_path / "step.html").read_text()


def test_sizes_that_vary_fit_up_to_the_largest_and_then_the_plan_grows(planner_of_unions):
    replayer = planner_of_unions
    stand_in, gradients = StandIn(replayer), []
    # One run to warm up; then sizes differ, so that eight are recorded.
    for length in (3, 5, 4, 2, 3, 4, 4, 5, 4):
        train(replayer, stand_in, [length * 4096, length * 8192], gradients)
    assert lane(replayer)["planned"] == 0 and len(replayer.plans("train")) == 1
    for length in (4, 5, 2, 5, 1):
        train(replayer, stand_in, [length * 4096, length * 8192], gradients)
    assert lane(replayer)["exact_steps"] == 5
    train(replayer, stand_in, [9 * 4096, 9 * 8192], gradients)
    assert lane(replayer)["deviations"]["size"] == 4, "nothing as large was recorded"
    assert replayer.report()["steps"]["train"]["plannings"] == 2
    train(replayer, stand_in, [9 * 4096, 9 * 8192], gradients)
    train(replayer, stand_in, [7 * 4096, 7 * 8192], gradients)
    assert lane(replayer)["deviations"]["size"] == 4
    [made] = replayer.plans("train")
    assert made.extent == made.recording.peak()


def test_a_plan_for_sizes_that_vary_too_much_is_left_alone(planner_of_unions, caplog):
    """Two experts share 100,000 bytes, now one has them and now the other: a plan would have to hold them twice."""
    replayer = planner_of_unions
    stand_in = StandIn(replayer)
    with caplog.at_level(logging.WARNING, logger="memplan.torch"):
        for run in range(12):
            with replayer.step("experts"):
                share = 90_000 if run % 2 else 10_000
                for address in [stand_in.malloc(share), stand_in.malloc(100_000 - share)]:
                    stand_in.free(address)
    assert "left to the pool" in caplog.text
    assert lane(replayer)["planned"] == 0 and replayer.plans("experts") == []


def test_sizes_that_vary_are_left_to_the_pool(replayer, caplog):
    stand_in, gradients = StandIn(replayer), []
    with caplog.at_level(logging.WARNING, logger="memplan.torch"):
        for length in (3, 5, 4, 2, 3, 4, 4, 5, 4, 4, 5, 3):
            train(replayer, stand_in, [length * 4096, length * 8192], gradients)
    facts = replayer.report()["steps"]["train"]
    assert (facts["plannings"], facts["extent"]) == (0, 0)
    assert lane(replayer)["planned"] == 0 and lane(replayer)["reserved"]["arena"] == 0
    assert caplog.text.count("left to the pool: its sizes vary") == 1
    # Nobody plans it, so its requests are not written down any more; recorded again, they are.
    assert replayer.library.recording(0) == []
    replayer.record_again("train")
    train(replayer, stand_in, [4096, 8192], gradients)
    assert len(replayer.library.recording(0)) > 0


def test_sizes_that_vary_are_planned_where_the_pool_wastes(replayer, monkeypatch):
    monkeypatch.setattr(_replayer, "SLACK", 0)
    stand_in, gradients = StandIn(replayer), []
    # Pages of 64 KiB for requests of a few: the pool holds much more than is in use.
    for length in (3, 5, 4, 2, 3, 4, 4, 5, 4, 4, 5, 3):
        train(replayer, stand_in, [length * 4096, length * 8192], gradients)
    assert lane(replayer)["exact_steps"] == 3 and len(replayer.plans("train")) == 1


def test_sizes_that_begin_to_vary_end_the_plan_and_a_single_odd_run_does_not(replayer, caplog):
    stand_in, gradients = StandIn(replayer), []
    with caplog.at_level(logging.WARNING, logger="memplan.torch"):
        for _ in range(5):
            train(replayer, stand_in, [40_960, 81_920], gradients)
        train(replayer, stand_in, [4096, 8192], gradients)
        for _ in range(_replayer.CALM + 1):
            train(replayer, stand_in, [40_960, 81_920], gradients)
        assert len(replayer.plans("train")) == 1 and "left to the pool" not in caplog.text
        for length in (4, 9, 6):
            train(replayer, stand_in, [length * 4096, length * 8192], gradients)
    assert "left to the pool: its sizes vary" in caplog.text and replayer.plans("train") == []
    train(replayer, stand_in, [40_960, 81_920], gradients)
    assert lane(replayer)["reserved"]["arena"] == 0 or gradients, "what the last run has left may lie there"


def one_step(replayer, stand_in, name, sizes):
    with replayer.step(name):
        for address in [stand_in.malloc(size) for size in sizes]:
            stand_in.free(address)


@pytest.mark.parametrize("varying, kept", [(4_000_000, False), (40_000, True)])
def test_an_arena_in_the_way_of_a_larger_step_that_varies_is_given_up(replayer, varying, kept):
    """A step of a megabyte has a plan; it keeps it beside a small step that varies, and not beside a large one."""
    stand_in = StandIn(replayer)
    for run in range(14):
        one_step(replayer, stand_in, "update", [600_000, 400_000])
        one_step(replayer, stand_in, "part", [varying - 5_000 * (run % 3)])
    assert len(replayer.plans("update")) == int(kept) and replayer.plans("part") == []
    assert (lane(replayer)["reserved"]["arena"] > 0) == kept


def test_a_wrong_word_for_varying_is_an_error():
    with pytest.raises(memplan.ArgumentError, match="auto, pool, plan"):
        Replayer(host=1 << 20, varying="union")


def test_a_plan_that_holds_more_than_the_pool_did_is_given_up(planner_of_unions, caplog):
    """A plan of a megabyte; then every run asks for something else, so that its bytes are held for nothing."""
    replayer = planner_of_unions
    stand_in, gradients = StandIn(replayer), []
    for _ in range(4):
        train(replayer, stand_in, [600_000, 400_000], gradients)
    assert lane(replayer)["reserved"]["arena"] > 1_000_000 and lane(replayer)["exact_steps"] == 1
    with caplog.at_level(logging.WARNING, logger="memplan.torch"):
        for _ in range(4):
            # As many requests, so that it is not taken for another sequence, and smaller ones, so that no plan grows.
            train(replayer, stand_in, [590_000, 390_000], gradients)
    assert "left to the pool: plan and pool together" in caplog.text
    assert replayer.plans("train") == []
    for _ in range(2):
        train(replayer, stand_in, [600_000, 400_000], gradients)
    replayer.library.trim()
    assert lane(replayer)["reserved"]["arena"] == 0 and lane(replayer)["state"] == "no plan"


def test_enough_kept_deviations_end_the_observation(replayer):
    stand_in, gradients = StandIn(replayer), []
    for _ in range(4):
        train(replayer, stand_in, [4096] * 20, gradients)
    for _ in range(3):
        train(replayer, stand_in, [8192] * 20, gradients)
    assert len(replayer.deviations("train")) == _replayer.KEPT_DEVIATIONS
    assert sum(lane(replayer)["deviations"].values()) > _replayer.KEPT_DEVIATIONS


def test_lives_that_vary_are_merged():
    """The first micro-batch makes the gradients, the others add to them: what the first one keeps, others drop at once."""
    keeps = [Event(0, 0, 512), Event(0, 1, 1024), Event(1, 0, 512)]
    drops = [Event(0, 0, 512), Event(0, 1, 1024), Event(1, 1, 1024), Event(1, 0, 512)]
    made = plan_step([Recording("s", 0, 0, keeps), Recording("s", 0, 0, drops), Recording("s", 0, 0, drops)])
    assert [offset for offset, _, _ in made.slots] == [0, None], "it lives on after the next run: the pool has it"
    late = [Event(0, 0, 512), Event(1, 0, 512), Event(0, 1, 1024), Event(1, 1, 1024)]
    made = plan_step([Recording("s", 0, 0, late), Recording("s", 0, 0, drops)])
    assert made.moments == [(0, 0), (0, 1), (1, 0), (1, 1)] and made.extent == 1536


def test_another_sequence_is_reported_with_its_frame_and_recorded_again(replayer, caplog):
    stand_in, gradients = StandIn(replayer), []
    for _ in range(5):
        train(replayer, stand_in, [4096, 8192], gradients)
    with caplog.at_level(logging.WARNING, logger="memplan.torch"):
        for _ in range(3):
            train(replayer, stand_in, [4096, 8192, 3000], gradients)
    deviated = replayer.report()["steps"]["train"]
    assert "deviations; " in caplog.text and "test_torch.py:" in caplog.text
    assert deviated["plannings"] == 1
    for _ in range(2):
        train(replayer, stand_in, [4096, 8192, 3000], gradients)
    before = lane(replayer)["exact_steps"]
    for _ in range(3):
        train(replayer, stand_in, [4096, 8192, 3000], gradients)
    assert lane(replayer)["exact_steps"] == before + 3


def test_without_adapting_it_says_how_to_record_again(caplog):
    replayer = Replayer(host=1 << 24, adapt=False)
    try:
        stand_in, gradients = StandIn(replayer), []
        for _ in range(4):
            train(replayer, stand_in, [4096], gradients)
        with caplog.at_level(logging.WARNING, logger="memplan.torch"):
            for _ in range(4):
                train(replayer, stand_in, [9000], gradients)
        assert "record_again('train')" in caplog.text
        assert any(deviated.kind == "size" and deviated.bytes == 9000 for deviated in replayer.deviations("train"))
        replayer.record_again("train")
        for _ in range(4):
            train(replayer, stand_in, [9000], gradients)
        assert lane(replayer)["state"] == "lockstep"
    finally:
        replayer.close()


def test_exceptions_nested_steps_and_a_second_step_function(replayer):
    stand_in = StandIn(replayer)

    @replayer.step
    def inner(fail=False):
        address = stand_in.malloc(5000)
        if fail:
            raise KeyError("in the middle")
        stand_in.free(address)

    @replayer.step("outer")
    def outer():
        address = stand_in.malloc(70_000)
        inner()
        stand_in.free(address)

    for _ in range(6):
        outer()
    for _ in range(6):
        inner()
    for _ in range(2):
        with pytest.raises(KeyError):
            inner(fail=True)
    outer()
    facts = replayer.report()
    names = list(facts["steps"])
    assert names[0] == "outer" and names[1].endswith("inner") and facts["nested"] == 7
    assert [len(replayer.plans(name)) for name in names] == [1, 1]
    assert len(stand_in.alive) == 2, "what the exceptions have left is still there, and untouched"
    for address in list(stand_in.alive):
        stand_in.free(address)


def test_a_run_that_an_exception_has_cut_off_is_not_planned(replayer):
    stand_in = StandIn(replayer)
    for run in range(6):
        addresses = []
        with contextlib.suppress(KeyError), replayer.step("train"):
            addresses.append(stand_in.malloc(5000))
            if run == 2:
                raise KeyError("in the middle of the last run that is recorded")
            addresses.append(stand_in.malloc(70_000))
            while addresses:
                stand_in.free(addresses.pop())
        for address in addresses:
            stand_in.free(address)
    assert len(replayer.plans("train")[0].slots) == 2 and lane(replayer)["exact_steps"] == 2
    assert len(replayer.plans("train")[0].recording.names) == 2


def test_a_second_stream_has_a_plan_of_its_own(replayer):
    stand_in = StandIn(replayer)
    rng = random.Random(1)
    for _ in range(7):
        with replayer.step("train"):
            addresses = [stand_in.malloc(size, stream) for size, stream in [(4000, 0), (9000, 7), (500, 0), (0, 7)]]
            rng.shuffle(addresses)
            for address in addresses:
                stand_in.free(address)
    assert [lane(replayer, number)["stream"] for number in (0, 1)] == [0, 7]
    assert all(lane(replayer, number)["planned"] == 8 for number in (0, 1))


def test_every_device_has_plans_of_its_own(replayer):
    """One step on two devices, as a model that is spread over them makes it; what deviates on one disturbs no other."""
    stand_in = StandIn(replayer)
    for run in range(8):
        with replayer.step("train"):
            grown = 20_000 if run == 7 else 0
            first = [stand_in.malloc(size, device=0) for size in (40_000, 9000)]
            second = [stand_in.malloc(size + grown, device=1) for size in (30_000, 30_000)]
            for address in [*second, *first]:
                stand_in.free(address)
    facts = replayer.report()
    assert [device["device"] for device in facts["devices"]] == [0, 1]
    planned = {(plan.recording.device, plan.recording.lane): plan.extent for plan in replayer.plans("train")}
    assert planned == {(0, 0): 40_448 + 9216, (1, 0): 2 * 30_208}, "one odd run changes no plan"
    one, other = facts["lanes"]
    assert one["device"] == 0 and one["exact_steps"] == 5 and not any(one["deviations"].values())
    assert other["device"] == 1 and other["exact_steps"] == 4 and other["deviations"]["size"] == 2
    said = replayer.summary()
    assert "device 0: " in said and "device 1: " in said


def test_plans_outlive_the_process(replayer, tmp_path):
    stand_in, gradients = StandIn(replayer), []
    for _ in range(3):
        train(replayer, stand_in, [4096, 8192], gradients)
    replayer.save(tmp_path / "plans")
    replayer.close()
    again = Replayer(host=1 << 24)
    again.load(tmp_path / "plans")
    stand_in, gradients = StandIn(again), []
    for _ in range(3):
        train(again, stand_in, [4096, 8192], gradients)
    assert lane(again)["exact_steps"] == 3
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "plans").read_bytes(), "what was loaded is saved again"
    with pytest.raises(memplan.ReadError):
        again.load(STEP)
    again.close()
    Replayer(host=1 << 20)  # the fixture closes it


def test_a_plan_that_does_not_fit_is_a_warning_and_a_full_device_a_message(caplog):
    replayer = Replayer(host=1 << 20)
    try:
        stand_in = StandIn(replayer)
        keep = stand_in.malloc(600_000)
        with caplog.at_level(logging.WARNING, logger="memplan.torch"):
            for _ in range(4):
                with replayer.step():
                    first = stand_in.malloc(200_000)
                    stand_in.free(first)
                    second = stand_in.malloc(200_000)
                    stand_in.free(second)
        assert lane(replayer)["exact_steps"] == 1 and not caplog.text
        assert not replayer.library.malloc(900_000, 0, 0)
        assert "900000 bytes asked for" in replayer.library.message()
        stand_in.free(keep)
    finally:
        replayer.close()


MIB = 1 << 20


def two_streams(stand_in, first, second):
    """Three requests of so many bytes on stream 0, then as many on stream 7."""
    for size, stream in ((first, 0), (second, 7)):
        for address in [stand_in.malloc(size, stream) for _ in range(3)]:
            stand_in.free(address)


def test_plans_that_fit_on_some_streams_only_are_not_adopted(caplog):
    """Each of two streams needs 30 of 48 MiB, one after the other: there is room for one arena, and then for no step."""
    replayer = Replayer(host=48 * MIB)
    try:
        stand_in = StandIn(replayer)
        with caplog.at_level(logging.WARNING, logger="memplan.torch"):
            for _ in range(3):
                with replayer.step("train"):
                    two_streams(stand_in, 10 * MIB, 10 * MIB)
        assert "left to the pool: memplan: the plan needs 31457280 bytes" in caplog.text
        assert replayer.plans("train") == []
        for _ in range(9):
            with replayer.step("train"):
                two_streams(stand_in, 10 * MIB + MIB // 2, 10 * MIB)
        for found in replayer.report()["lanes"]:
            assert (found["extent"], found["reserved"]["arena"], found["planned"]) == (0, 0, 0)
            assert not any(found["deviations"].values())
    finally:
        replayer.close()


def test_a_stream_that_a_step_no_longer_uses_keeps_no_plan(replayer):
    stand_in = StandIn(replayer)
    for _ in range(4):
        with replayer.step("train"):
            two_streams(stand_in, MIB, MIB)
    replayer.record_again("train")
    for _ in range(3):
        with replayer.step("train"):
            two_streams(stand_in, MIB, MIB)
    assert [found["extent"] for found in replayer.report()["lanes"]] == [3 * MIB, 3 * MIB], "the same plans again"
    replayer.record_again("train")
    for _ in range(3):
        one_step(replayer, stand_in, "train", [MIB])
    assert [found["extent"] for found in replayer.report()["lanes"]] == [MIB, 0]


def test_a_run_without_requests_has_no_shape(replayer):
    stand_in = StandIn(replayer)
    for _ in range(3):
        one_step(replayer, stand_in, "train", [5000])
    step = replayer._steps["train"]
    assert replayer._same_shape(step, replayer._recorded(step)) and not replayer._same_shape(step, {})


def test_a_step_that_runs_unrecorded_is_recorded_from_its_next_run_on(replayer):
    """Sizes that vary were left to the pool, so that the running step was not written down when it was asked for."""
    stand_in, gradients = StandIn(replayer), []
    for length in (3, 5, 4, 2, 3, 4, 4, 5, 4):
        train(replayer, stand_in, [length * 4096, length * 8192], gradients)
    with replayer.step("train"):
        replayer.record_again("train")
        one_step(replayer, stand_in, "inner", [4096])
    assert replayer.recordings("train") == []
    train(replayer, stand_in, [4096, 8192], gradients)
    assert len(replayer.recordings("train")) == 1 and replayer.plans("train") == []
    train(replayer, stand_in, [4096, 8192], gradients)
    assert len(replayer.plans("train")) == 1


def test_a_plan_serves_while_its_step_is_recorded_again(replayer):
    stand_in = StandIn(replayer)
    for _ in range(4):
        one_step(replayer, stand_in, "train", [5000, 9000])
    replayer.record_again("train")
    one_step(replayer, stand_in, "train", [5000, 9000])
    assert lane(replayer)["exact_steps"] == 2 and len(replayer.plans("train")) == 1
    assert len(replayer.recordings("train")) == 1


def test_a_step_that_has_not_run_is_an_error_that_names_those_that_have(replayer):
    with pytest.raises(memplan.ArgumentError, match="no step has run"):
        replayer.record_again("nothing")
    for name in ("train", "eval"):
        with replayer.step(name):
            pass
    for ask in (replayer.record_again, replayer.recordings, replayer.plans, replayer.deviations):
        with pytest.raises(memplan.ArgumentError, match="no step is called 'nothing'; .*'train', 'eval'"):
            ask("nothing")


def recorded_step(scale=512):
    """The recorded step of a GPT with 350 million parameters as events, its sizes divided."""
    with open(STEP, newline="") as file:
        rows = [(int(row["lower"]), int(row["upper"]), int(row["size"])) for row in csv.DictReader(file)]
    end = max(upper for _, upper, _ in rows)
    moments = [(lower, 1, number) for number, (lower, _, _) in enumerate(rows)]
    moments += [(upper, 0, number) for number, (_, upper, _) in enumerate(rows) if upper < end]
    return [(kind, number, max(1, rows[number][2] // scale)) for _, kind, number in sorted(moments)]


def test_a_real_step_is_replayed_in_its_peak(replayer):
    events = recorded_step()
    stand_in = StandIn(replayer)
    for _ in range(6):
        with replayer.step("gpt"):
            places = {}
            for kind, number, size in events:
                if kind == 1:
                    places[number] = stand_in.malloc(size)
                else:
                    stand_in.free(places.pop(number))
            rest = list(places.values())
            for address in rest:
                stand_in.free(address)
    [made] = replayer.plans("gpt")
    assert made.extent == made.plan.lower_bound == made.recording.peak()
    facts = lane(replayer)
    assert facts["exact_steps"] == 3 and not any(facts["deviations"].values())


def test_recordings_are_read_again_and_nonsense_is_refused(tmp_path, capsys):
    events = [Event(0, 0, 1000), Event(0, 1, 64), Event(1, 0, 1000), Event(2, 1, 64)]
    recording = Recording("train", 0, 0, events, {0: "train.py:3 in forward"})
    (tmp_path / "0.json").write_text(recording.to_json())
    assert read_recording(tmp_path / "0.json") == recording
    assert main(["plan", str(tmp_path / "0.json"), "-o", str(tmp_path / "map.svg")]) == 0
    assert "2 allocations, 1 of which outlive it" in capsys.readouterr().out
    assert (tmp_path / "map.svg").read_text().startswith("<svg")
    facts = json.loads(recording.to_json())
    for wrong in ([[0, 1, 5]], [[1, 0, 5]], [[0, 0, 5], [1, 0, 5], [1, 0, 5]], [[7, 0, 5]], [[0, 0]], [[0, 0, -1]], "x"):
        (tmp_path / "wrong.json").write_text(json.dumps({**facts, "events": wrong}))
        with pytest.raises(memplan.ReadError):
            read_recording(tmp_path / "wrong.json")
        assert main(["plan", str(tmp_path / "wrong.json")]) == 2


def test_what_is_carried_far_into_the_next_step_has_two_lives():
    # The second allocation is dropped after the first one of the next step has been made.
    step = [Event(0, 0, 512), Event(2, 1, 1024), Event(0, 1, 1024), Event(1, 0, 512)]
    made = plan_step([Recording("s", 0, 0, step), Recording("s", 0, 0, step)])
    assert made.moments == [(0, 0), (1, 1), (0, 1), (1, 0)]
    assert made.plan.problem.buffers[1]["lifetime"] == [[0, 1], [1, 2]]
    assert made.extent == 1536
    with pytest.raises(memplan.ProblemError):
        plan_step([])


def test_random_steps_keep_their_bytes(replayer):
    rng = random.Random(3)
    stand_in = StandIn(replayer)
    script = [(rng.randrange(60_000), rng.randrange(1, 40)) for _ in range(200)]
    for run in range(12):
        with replayer.step("random"):
            due = {}
            for position, (size, life) in enumerate(script):
                for address in due.pop(position, []):
                    stand_in.free(address)
                deviates = run > 5 and rng.random() < 0.02
                address = stand_in.malloc(size + rng.randrange(9000) if deviates else size)
                due.setdefault(position + life + (rng.randrange(30) if deviates else 0), []).append(address)
            for addresses in due.values():
                for address in addresses:
                    stand_in.free(address)
    facts = lane(replayer)
    assert facts["planned"] > 1000 and sum(facts["deviations"].values()) > 10 and facts["in_use"] == 0


# As much of torch as memplan.torch touches; tensors are bytes that the pluggable allocator hands out.
TORCH = """
import ctypes, types

class CUDAPluggableAllocator:
    def __init__(self, path, malloc, free):
        library = ctypes.CDLL(path)
        self.malloc, self.free = getattr(library, malloc), getattr(library, free)
        self.malloc.restype = ctypes.c_void_p
        self.malloc.argtypes = [ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
        self.free.argtypes = [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
    def allocator(self):
        return types.SimpleNamespace(set_record_stream_fn=lambda pointer: None)

chosen = []

class Tensor:
    def __init__(self, size):
        self.size, self.address = size, chosen[0].malloc(size, 0, None)
    def __del__(self):
        chosen[0].free(self.address, self.size, 0, None)

class CUDAGraph:
    def capture_begin(self):
        pass

class Optimizer:
    def __init__(self, parameters):
        self.parameters = parameters
    def zero_grad(self):
        for parameter in self.parameters:
            parameter.grad = None

def memory_stats(device=None):
    raise RuntimeError("CUDAPluggableAllocator does not yet support getDeviceStats")

def max_memory_allocated(device=None):
    return memory.memory_stats(device=device).get("allocated_bytes.all.peak", 0)

memory = types.SimpleNamespace(CUDAPluggableAllocator=CUDAPluggableAllocator, change_current_allocator=chosen.append)
memory.memory_stats = memory.reset_peak_memory_stats = memory_stats
memory.max_memory_allocated = max_memory_allocated
cuda = types.SimpleNamespace(is_initialized=lambda: bool(chosen), memory=memory, CUDAGraph=CUDAGraph)
cuda.memory_stats = cuda.reset_peak_memory_stats = memory_stats
cuda.max_memory_allocated = max_memory_allocated
cuda.current_device = lambda: 0
optim = types.SimpleNamespace(Optimizer=Optimizer)
"""

TRAIN = """
import torch

parameters = [torch.Tensor(40_000) for _ in range(4)]
optimizer = torch.optim.Optimizer(parameters)
for batch in range(8):
    activations = [torch.Tensor(100_000) for _ in parameters]
    optimizer.zero_grad()
    for parameter in parameters:
        parameter.grad = torch.Tensor(40_000)
        del activations[-1]
try:
    torch.cuda.CUDAGraph().capture_begin()
except Exception as error:
    print(type(error).__name__)
"""


def stand_in_for_torch(folder):
    """Installs it where a package would be, and answers the environment that finds it."""
    package = folder / "site-packages" / "torch"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(TORCH)
    found = os.pathsep.join([str(package.parent), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": found}


def test_a_script_runs_without_a_change(tmp_path):
    environment = stand_in_for_torch(tmp_path)
    (tmp_path / "train.py").write_text(TRAIN)
    command = [sys.executable, "-m", "memplan.torch", "run", "train.py"]
    command[4:4] = ["--host", str(1 << 24), "--report", "report.json", "--page", "step.html", "--save", "plans"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "RefusedError\n"
    [facts] = json.loads((tmp_path / "report.json").read_text())["lanes"]
    # Eight drops of gradients mark seven whole steps: one to warm up, two recorded, four replayed (the last goes on).
    assert facts["planned"] >= 4 * 8 and not any(facts["deviations"].values()), facts
    assert "train.py:" in (tmp_path / "step.html").read_text() and (tmp_path / "plans").stat().st_size > 100
    assert "exact steps, 0 deviations" in ran.stderr
    again = [*command[:4], "--host", str(1 << 24), "--plan", "plans", "--report", "report.json", "train.py"]
    ran = subprocess.run(again, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert ran.returncode == 0 and json.loads((tmp_path / "report.json").read_text())["lanes"][0]["steps"] == 7, ran.stderr


ASKS = """
import torch

weights = torch.Tensor(40_000)
for _ in range(2):
    more = torch.Tensor(100_000)
    del more
    now = torch.cuda.memory_stats()
    print(torch.cuda.max_memory_allocated(), now["allocated_bytes.all.current"], now["num_ooms"])
    assert now["reserved_bytes.all.peak"] >= now["reserved_bytes.all.current"] >= 40_000
    torch.cuda.reset_peak_memory_stats()
print(torch.cuda.max_memory_allocated(0), torch.cuda.max_memory_allocated(1))
"""


def test_a_script_may_ask_how_much_memory_is_in_use(tmp_path):
    environment = stand_in_for_torch(tmp_path)
    (tmp_path / "train.py").write_text(ASKS)
    command = [sys.executable, "-m", "memplan.torch", "run", "--host", str(1 << 24), "train.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stderr
    first, second, last = (list(map(int, line.split())) for line in ran.stdout.splitlines())
    # Sizes are rounded up to a few hundred bytes. The peaks that were forgotten come again.
    assert 140_000 <= first[0] < 142_000 and 40_000 <= first[1] < 41_000 and first[2] == 0
    assert second == first and last == [first[1], 0]


def test_a_script_that_fails_still_gets_its_report(tmp_path):
    environment = stand_in_for_torch(tmp_path)
    (tmp_path / "train.py").write_text(TRAIN.replace("activations[-1]", "activations[-9]"))
    command = [sys.executable, "-m", "memplan.torch", "run", "--host", str(1 << 24), "--report", "report.json", "train.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert ran.returncode == 1 and "IndexError" in ran.stderr
    assert "automatic" in json.loads((tmp_path / "report.json").read_text())["steps"]


def ended(folder, script, end):
    """Runs a script that goes on for ever, waits until it has plans, ends it, and answers how and what it said."""
    environment = stand_in_for_torch(folder)
    (folder / "train.py").write_text(script)
    command = [sys.executable, "-u", "-m", "memplan.torch", "run", "--host", str(1 << 24), "--report", "report.json"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([*command, "train.py"], cwd=folder, env=environment, **pipes) as process:
        assert process.stdout.readline() == "planned\n"
        end(process)
        try:
            said = process.communicate(timeout=60)[1]
        finally:
            # Nobody else would ever end it.
            process.kill()
    return process.returncode, said


# Trains without an end, and says when its step runs on a plan.
FOR_EVER = TRAIN.replace("range(8)", "__import__('itertools').count()").replace(
    "    optimizer.zero_grad()\n",
    "    optimizer.zero_grad()\n"
    "    if batch == 6:\n"
    "        import memplan.torch\n"
    "        memplan.torch.current().save('plans')\n"
    "        print('planned')\n",
)


def test_a_script_that_is_terminated_still_gets_its_report(tmp_path):
    code, said = ended(tmp_path, FOR_EVER, lambda process: process.terminate())
    assert code == 128 + 15 and "exact steps, 0 deviations" in said, said
    assert json.loads((tmp_path / "report.json").read_text())["steps"]["automatic"]["runs"] >= 6


def test_a_script_that_is_killed_leaves_whole_plans(tmp_path):
    code, said = ended(tmp_path, FOR_EVER, lambda process: process.kill())
    assert code == -9 and "Traceback" not in said and not (tmp_path / "report.json").exists()
    assert not list(tmp_path.glob("*.tmp"))
    again = Replayer(host=1 << 24)
    try:
        again.load(tmp_path / "plans")
    finally:
        again.close()


def test_a_script_that_exits_inside_of_a_step_ends_with_its_own_code(tmp_path):
    environment = stand_in_for_torch(tmp_path)
    (tmp_path / "train.py").write_text(TRAIN.replace("        del", "        if batch == 5: raise SystemExit(7)\n        del"))
    command = [sys.executable, "-m", "memplan.torch", "run", "--host", str(1 << 24), "--report", "report.json", "train.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert ran.returncode == 7 and "Traceback" not in ran.stderr and "0 deviations" in ran.stderr, ran.stderr
    assert json.loads((tmp_path / "report.json").read_text())["steps"]["automatic"]["runs"] >= 4


@pytest.mark.parametrize(("bench", "option"), [("torch_gpu.py", "--batches"), ("torch_calls.py", "--scale"), ("torch_turns.py", "--rounds")])
def test_the_benchmarks_say_what_they_take(bench, option):
    """They need a GPU; here they only have to load."""
    file = ROOT / "crates" / "memplan-py" / "benches" / bench
    ran = subprocess.run([sys.executable, str(file), "--help"], capture_output=True, text=True)
    assert ran.returncode == 0 and option in ran.stdout, ran.stderr



def test_processes_that_take_turns_share_every_second_core_or_the_only_one():
    code = "import torch_turns; print(torch_turns.shared([7]), torch_turns.shared([3, 0, 1, 2]))"
    benches = ROOT / "crates" / "memplan-py" / "benches"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=benches)
    assert ran.stdout == "[7] [1, 3]\n", ran.stderr


def test_a_planner_that_fails_leaves_the_step_to_the_pool(replayer, monkeypatch, caplog):
    def failing(*_, **__):
        raise memplan.ProblemError("nothing was found", code="torch::plan")

    monkeypatch.setattr(_replayer, "plan_shape", failing)
    stand_in = StandIn(replayer)
    with caplog.at_level(logging.WARNING, logger="memplan.torch"):
        for _ in range(5):
            one_step(replayer, stand_in, "train", [5000])
    assert caplog.text.count("left to the pool: nothing was found") == 1
    assert replayer.report()["steps"]["train"]["runs"] == 5 and replayer.plans("train") == []


def test_a_strategy_that_does_not_exist_is_an_error_at_once():
    with pytest.raises(memplan.ArgumentError, match="no strategy called `nonsense`"):
        Replayer(host=1 << 20, strategy="nonsense")
    Replayer(host=1 << 20).close()


def test_a_step_of_which_nothing_has_a_place_has_an_empty_plan(replayer):
    stand_in = StandIn(replayer)
    for _ in range(5):
        with replayer.step("grow"):
            stand_in.malloc(5000)
        with replayer.step("nothing"):
            pass
    assert lane(replayer)["exact_steps"] >= 2 and not any(lane(replayer)["deviations"].values())


def asked_by_first(library):
    return library.malloc(5000, 0, 0)


def asked_by_second(library):
    return library.malloc(5000, 0, 0)


def test_each_step_has_names_of_its_own(replayer):
    library = replayer.library
    for _ in range(3):
        for name, ask in (("first", asked_by_first), ("second", asked_by_second)):
            with replayer.step(name):
                library.free(ask(library), 5000, 0, 0)
    for name in ("first", "second"):
        [found] = replayer.plans(name)[0].recording.names.values()
        assert found.endswith(f"in asked_by_{name}")


def test_a_step_that_is_recorded_again_has_the_names_of_what_it_does_now(replayer):
    library = replayer.library
    for ask in (asked_by_first, asked_by_second):
        for _ in range(3):
            with replayer.step("train"):
                library.free(ask(library), 5000, 0, 0)
        replayer.record_again("train")
    [found] = replayer.plans("train")[0].recording.names.values()
    assert found.endswith("in asked_by_second")


def test_a_step_that_another_thread_begins_waits_for_the_planner(replayer, monkeypatch):
    planned, threads, is_over = _replayer.plan_shape, [], threading.Event()

    def other():
        with replayer.step("other"):
            is_over.wait(2)

    def slow(*arguments, **options):
        threads.append(threading.Thread(target=other))
        threads[-1].start()
        threads[-1].join(0.3)
        return planned(*arguments, **options)

    monkeypatch.setattr(_replayer, "plan_shape", slow)
    stand_in = StandIn(replayer)
    for _ in range(4):
        one_step(replayer, stand_in, "train", [5000])
        if threads:
            is_over.set()
            threads[0].join()
    assert len(threads) == 1 and len(replayer.plans("train")) == 1 and lane(replayer)["exact_steps"] == 1
    assert replayer.report()["steps"]["other"]["runs"] == 1


def test_a_replayer_that_nobody_keeps_still_hears_of_requests():
    """The allocator calls it until it is closed, so that it must not be collected before."""
    replayer = Replayer(host=1 << 20)
    seen, library = weakref.ref(replayer), replayer.library
    del replayer
    gc.collect()
    assert seen() is not None
    seen().close()
    gc.collect()
    assert seen() is None
    del library


def fake_torch(change=lambda allocator: None):
    """As much of torch as `enable` touches, in this process."""
    allocator = types.SimpleNamespace(set_record_stream_fn=lambda pointer: None)
    made = types.SimpleNamespace(allocator=lambda: allocator)
    memory = types.SimpleNamespace(CUDAPluggableAllocator=lambda *names: made, change_current_allocator=change)
    graph = type("CUDAGraph", (), {"capture_begin": None})
    optimizer = type("Optimizer", (), {"zero_grad": lambda self: None})
    cuda = types.SimpleNamespace(is_initialized=lambda: False, memory=memory, CUDAGraph=graph)
    return types.SimpleNamespace(cuda=cuda, optim=types.SimpleNamespace(Optimizer=optimizer), __file__=__file__)


def test_nothing_marks_steps_once_it_is_disabled(monkeypatch):
    torch = fake_torch()
    monkeypatch.setitem(sys.modules, "torch", torch)
    replayer = memplan.torch.enable(host=1 << 20, automatic=True)
    try:
        optimizer = torch.optim.Optimizer()
        for _ in range(3):
            optimizer.zero_grad()
        assert replayer.is_running()
        memplan.torch.disable()
        assert not replayer.is_running() and memplan.torch.current() is None
        optimizer.zero_grad()
        assert not replayer.is_running() and replayer.report()["steps"]["automatic"]["runs"] == 3
        with pytest.raises(memplan.MemplanError, match="an allocator is open already"):
            memplan.torch.enable(host=1 << 20)
    finally:
        memplan.torch.disable()
        replayer.close()


def test_what_could_not_be_enabled_can_be_tried_again(monkeypatch):
    def refusing(_):
        raise RuntimeError("the allocator is in use")

    monkeypatch.setitem(sys.modules, "torch", fake_torch(refusing))
    with pytest.raises(RuntimeError, match="in use"):
        memplan.torch.enable(host=1 << 20)
    assert memplan.torch.current() is None
    monkeypatch.setitem(sys.modules, "torch", fake_torch())
    replayer = memplan.torch.enable(host=1 << 20)
    memplan.torch.disable()
    replayer.close()


@pytest.mark.parametrize("head", [
    b'{"memplan.torch": 1, "steps": {"train": Infinity}}',
    b"[" * 100_000,
    b'{"memplan.torch": 2, "steps": {}}',
    b"\xff\xfe",
])
def test_a_file_of_plans_with_a_wrong_head_is_refused(replayer, tmp_path, head):
    (tmp_path / "plans").write_bytes(head + b"\n" + plan_file([]))
    with pytest.raises(memplan.ReadError, match="plans"):
        replayer.load(tmp_path / "plans")


def test_a_file_with_plans_of_unknown_steps_is_refused(replayer, tmp_path):
    stand_in = StandIn(replayer)
    for _ in range(3):
        one_step(replayer, stand_in, "train", [5000])
    replayer.save(tmp_path / "plans")
    head, _, plans = (tmp_path / "plans").read_bytes().partition(b"\n")
    replayer.close()
    again = Replayer(host=1 << 24)
    try:
        (tmp_path / "plans").write_bytes(head.replace(b'{"train": 0}', b"{}") + b"\n" + plans)
        with pytest.raises(memplan.ReadError, match="a plan for a step that it does not name"):
            again.load(tmp_path / "plans")
        stand_in = StandIn(again)
        one_step(again, stand_in, "other", [5000])
        assert lane(again)["planned"] == 0 and again.plans("other") == []
    finally:
        again.close()
        Replayer(host=1 << 20)  # the fixture closes it


# A process that the script starts by a fork, in the middle of a step: one that is terminated, and one that ends.
FORKS = """
        if batch == 5:
            import multiprocessing, os, sys, time
            child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
            child.start()
            time.sleep(0.5)
            child.terminate()
            child.join(20)
            print(child.exitcode, flush=True)
            child.kill()
            ends = os.fork()
            if ends == 0:
                sys.exit(3)
            print(os.waitstatus_to_exitcode(os.waitpid(ends, 0)[1]))
            sys.stdout.flush()
        del"""


def test_a_forked_process_ends_when_it_is_terminated_and_writes_no_report(tmp_path):
    environment = stand_in_for_torch(tmp_path)
    (tmp_path / "train.py").write_text(TRAIN.replace("range(4)", "range(1)").replace("\n        del", FORKS))
    command = [sys.executable, "-m", "memplan.torch", "run", "--host", str(1 << 24), "--report", "report.json", "train.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["-15", "3", "RefusedError"]
    assert ran.stderr.count("exact steps") == 1, ran.stderr

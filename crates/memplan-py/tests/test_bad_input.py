"""Bad input ends in an exception that says what is wrong, never in a crash."""

import math

import numpy as np
import pytest

import memplan

NOT_RECORDS = [
    None,
    "records",
    b"records",
    [None],
    [()],
    [(1, 2)],
    [(1, 2, 3, 4)],
    [(None, 0, 1)],
    [("64", 0, 1)],
    [(math.nan, 0, 1)],
    [(math.inf, 0, 1)],
    [(0.5, 0, 1)],
    [(-1, 0, 1)],
    [(1, -1, 1)],
    [(1, 3, 2)],
    [(2**63, 0, 1)],
    [(2**200, 0, 1)],
    [(1, 0, 2**64)],
    [(2**62, 0, 1), (2**62, 0, 1), (2**62, 0, 1)],
    np.zeros(3),
    np.zeros((2, 2)),
    np.zeros((2, 3, 1)),
    np.full((2, 3), np.nan),
    np.full((2, 3), np.inf),
    np.full((2, 3), -1),
    np.full((2, 3), 2**63, dtype=np.uint64),
    np.array([["a", "b", "c"]]),
    np.array([[1, 2, None]], dtype=object),
    [memplan.Buffer("a", -1, (0, 1))],
    [memplan.Buffer("a", 1, None)],
    [memplan.Buffer("a", 1, (0,))],
    [memplan.Buffer("a", 1, (2, 1))],
    [memplan.Buffer("a", 1, (0, 1)), memplan.Buffer("a", 1, (0, 1))],
    [memplan.Buffer("a", 1, (0, 1), alignment=2, offset=1)],
    [memplan.Buffer("a", 1, (0, 1), slots=0)],
    [memplan.Buffer("a", 1, (0, 1), slots=2**40)],
    [{"id": "a"}],
    [{"id": "a", "size": object(), "lifetime": [[0, 1]]}],
]


@pytest.mark.parametrize("records", NOT_RECORDS, ids=lambda records: repr(records)[:60].replace("\n", " "))
def test_records_that_are_none(records):
    with pytest.raises((memplan.MemplanError, TypeError)) as caught:
        memplan.Problem(records)
    assert str(caught.value)


def test_columns_of_different_lengths():
    with pytest.raises(memplan.ProblemError, match="different lengths"):
        memplan.Problem.from_arrays([1, 2], [0, 0], [1])
    with pytest.raises(memplan.ProblemError, match="different lengths"):
        memplan.Problem.from_arrays([1], [0], [1], ids=["a", "b"])


@pytest.mark.parametrize(
    "arguments",
    [
        {"strategy": "no-such"},
        {"assign": "no-such"},
        {"time_limit": -1},
        {"time_limit": math.nan},
        {"time_limit": math.inf},
        {"seed": -1},
        {"work": -1},
        {"threads": -1},
        {"seed": "x"},
    ],
    ids=str,
)
def test_arguments_that_make_no_sense(arguments):
    with pytest.raises(memplan.ArgumentError):
        memplan.plan([(1, 0, 1)], **arguments)


def test_a_file_with_a_mistake_says_where(inputs):
    with pytest.raises(memplan.ReadError) as caught:
        memplan.read(inputs / "d.csv")
    error = caught.value
    assert error.code.startswith("csv::") and error.line == 1 and error.file.endswith("d.csv")
    assert isinstance(error, memplan.MemplanError) and "uppr" in str(error)
    with pytest.raises(FileNotFoundError):
        memplan.read(inputs / "no-such.csv")
    with pytest.raises(memplan.ArgumentError, match="no-such"):
        memplan.read(inputs / "a.csv", format="no-such")


def test_programs_and_passes_that_are_none():
    with pytest.raises(memplan.ReadError) as caught:
        memplan.opt("func.func @f( {", "merge-alloc")
    assert caught.value.line == 1
    for pass_, options in [("no-such", {}), ("merge-alloc", {"alignment": 0}), ("merge-alloc", {"no_such": 1})]:
        with pytest.raises(memplan.ArgumentError):
            memplan.opt("", pass_, **options)
    with pytest.raises(memplan.ArgumentError, match="6 4"):
        memplan.opt("", "merge-alloc", alignment="6 4")
    with pytest.raises(memplan.ArgumentError, match="braces"):
        memplan.opt("", "merge-alloc", alignment="64} x{")


def test_a_strategy_that_does_not_take_the_problem():
    with pytest.raises(memplan.RefusedError, match="naive"):
        memplan.plan([memplan.Buffer("a", 1, (0, 1), slots=2)], "naive")


def test_capacity_and_spaces_contradict_each_other():
    with pytest.raises(memplan.ArgumentError):
        memplan.Problem([(1, 0, 1)], [memplan.Space("a")], capacity=3)


def test_nothing_is_a_problem_too():
    plan = memplan.plan([])
    assert plan.status == "optimal" and plan.extent == 0 and list(plan.offsets) == []
    assert memplan.plan(np.zeros((0, 3), dtype=np.int64)).extent == 0


def test_a_space_that_is_not_among_the_given():
    with pytest.raises(memplan.ProblemError, match="nowhere"):
        memplan.Problem([memplan.Buffer("a", 1, (0, 1), space="nowhere")], [memplan.Space("sram")])

"""`strict`, and MEMPLAN_STRICT in the environment: a result that a check rejects is an error, and nothing is repaired.

Every call of the package that takes ``strict`` goes the same way: Python puts it at the end of what limits a search, and
the native half takes it from there or from the environment, in one place for all calls. So these tests ask of every call
that it hands ``strict`` on, and of one call, on a model whose first change is rejected, what that does.
"""

import inspect
import os
import pathlib
import subprocess
import sys

import memplan
import pytest
from conftest import MLIR
from memplan import _native

MODEL = pathlib.Path(__file__).resolve().parents[3] / "tests" / "data" / "tflite" / "infinite.tflite"

CALLS = {
    "plan": lambda **strict: memplan.plan([(64, 0, 2), (32, 1, 3)], **strict),
    "compare": lambda **strict: memplan.compare([(64, 0, 2), (32, 1, 3)], **strict),
    "explain": lambda **strict: memplan.explain([(64, 0, 2), (32, 1, 3)], capacity=90, **strict),
    "opt": lambda **strict: memplan.opt(MLIR, "merge-alloc", **strict),
    # The rows of a sweep are planned by `plan`, in another process.
    "fit": lambda **strict: memplan.fit(MODEL.with_name("mobile.tflite"), **strict),
}


def test_no_call_that_takes_strict_is_left_out():
    functions = [(name, value) for name, value in vars(memplan).items() if inspect.isfunction(value)]
    taking = {name for name, function in functions if "strict" in inspect.signature(function).parameters}
    assert taking == {*CALLS, "sweep"}


@pytest.mark.parametrize("name", CALLS)
def test_strict_is_handed_on(name, monkeypatch):
    heard = []
    native = getattr(_native, name)

    def listening(*arguments):
        (limits,) = [argument for argument in arguments if isinstance(argument, tuple) and len(argument) == 6]
        heard.append(limits[-1])
        return native(*arguments)

    monkeypatch.setattr(_native, name, listening)
    for asked in ({}, {"strict": False}, {"strict": True}):
        CALLS[name](**asked)
    assert heard == [False, False, True]


FIT = """
import sys
import memplan

try:
    fitted = memplan.fit(sys.argv[1], strict=sys.argv[2] == "strict")
except memplan.MemplanError as error:
    print("refused:", error)
else:
    print(len(fitted.versions), *fitted.notes)
"""


def fit(argument, **environment):
    """What `fit` says about the model in a process with this environment."""
    inherited = {key: value for key, value in os.environ.items() if key != "MEMPLAN_STRICT"}
    command = [sys.executable, "-c", FIT, str(MODEL), argument]
    done = subprocess.run(command, env=inherited | environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_a_rejected_change_is_passed_over_or_an_error():
    """Tiles of the first convolution cannot be proved, because one of its weights is infinite."""
    assert fit("lenient").startswith("2 ")
    assert "does not verify" in fit("strict")
    assert fit("lenient", MEMPLAN_STRICT="1") == fit("strict"), "the environment asks for the same"

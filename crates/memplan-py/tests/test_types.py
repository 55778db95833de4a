"""What type checkers make of the package and of those who use it."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

PACKAGE = pathlib.Path(__file__).resolve().parents[1] / "python" / "memplan"

USER = """
import memplan

plan = memplan.plan([(64, 0, 2)], capacity="1KiB", spaces=[memplan.Space("sram", "64KiB")])
reveal_type(plan.extent)
reveal_type(plan.by_name)
reveal_type(memplan.explain([(64, 0, 2)]).obstacle)
memplan.Buffer("a", "64KiB", (0, 2), slots="two")
"""


@pytest.fixture(scope="module")
def mypy():
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("needs mypy")
    return lambda *arguments: subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", *map(str, arguments)], capture_output=True, text=True
    )


def test_the_package_is_consistent(mypy):
    # Modules for other frameworks import them, and the frameworks need not be there.
    ran = mypy("--check-untyped-defs", "--ignore-missing-imports", PACKAGE)
    assert ran.returncode == 0, ran.stdout


def test_users_get_types(mypy, tmp_path):
    (tmp_path / "user.py").write_text(USER)
    said = mypy(tmp_path / "user.py").stdout
    assert '"int | None"' in said and '"dict[str, int]"' in said and "memplan._explain.Obstacle | None" in said, said
    assert said.count("error:") == 1 and 'Argument "slots"' in said, said

"""Every example and every Python block of the documentation runs."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(encoding="utf-8"), re.S)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example, tmp_path):
    ran = subprocess.run([sys.executable, str(example)], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout


def test_the_command_line_is_in_the_package(tmp_path):
    ran = subprocess.run([sys.executable, "-m", "memplan", "plan"], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "map written to memplan-map.html" in ran.stdout
    assert (tmp_path / "memplan-map.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_tutorial_runs_from_top_to_bottom(tmp_path, monkeypatch):
    assert len(BLOCKS) >= 6
    monkeypatch.chdir(tmp_path)
    # One script in a process of its own: the sweep starts processes that import it.
    body = "\n".join(BLOCKS)
    script = "def main():\n" + "".join(f"    {line}\n" if line else "\n" for line in body.splitlines())
    (tmp_path / "tutorial.py").write_text(script + "\nif __name__ == '__main__':\n    main()\n")
    ran = subprocess.run([sys.executable, "tutorial.py"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr

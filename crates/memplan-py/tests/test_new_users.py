"""Pages of the book, tried as new users would: a fresh virtual environment, an empty folder, the page's own lines.

`pip install .` on a page is the wheel here, which ./test has built from this checkout before (MEMPLAN_WHEEL). What a
page installs besides comes from the package index. The pages about PyTorch's graphs need gigabytes: ./test --full.
"""

import os
import pathlib
import re
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
WHEEL = os.environ.get("MEMPLAN_WHEEL")
if "MEMPLAN_REQUIRE_PEERS" not in os.environ and not WHEEL:
    pytest.skip("skipped: needs MEMPLAN_WHEEL, a wheel of this checkout", allow_module_level=True)


class NewUser:
    """Somebody with an empty folder and a virtual environment of their own."""

    def __init__(self, folder):
        self.folder = folder / "project"
        self.folder.mkdir()
        self.programs = folder / "environment" / "bin"
        # Only memplan's own variables and those of the tests' Python are kept from the new user.
        hidden = ("MEMPLAN_", "PYTHON", "VIRTUAL_ENV")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
        self.environment["PATH"] = f"{self.programs}{os.pathsep}{os.environ['PATH']}"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "environment")], check=True)

    def install(self, *packages):
        """What `pip install` does in the new environment, with the pip of this one: a pip of its own takes seconds."""
        wanted = [WHEEL if package == "." else package for package in packages]
        pip = [sys.executable, "-m", "pip", "--python", str(self.programs / "python"), "install", "--quiet"]
        subprocess.run([*pip, "--disable-pip-version-check", *wanted], check=True)

    def run(self, *command):
        ran = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True)
        assert ran.returncode == 0, f"{command}\n{ran.stdout}\n{ran.stderr}"
        # Notes about an input go to the second stream.
        return ran.stdout + ran.stderr

    def play(self, page):
        """Installs what a page says, and runs its Python blocks as one script; returns what they print."""
        text = (DOCS / page).read_text(encoding="utf-8")
        for line in re.findall(r"^\$ pip install ([^#\n]*)", text, re.M):
            self.install(*line.split())
        script = "\n".join(re.findall(r"```python\n(.*?)```", text, re.S))
        (self.folder / "page.py").write_text(script, encoding="utf-8")
        return self.run("python", "page.py")


@pytest.fixture
def user(tmp_path):
    return NewUser(tmp_path)


def test_the_wheel_is_small_and_needs_nothing():
    assert os.path.getsize(WHEEL) < 10_000_000
    with zipfile.ZipFile(WHEEL) as wheel:
        (metadata,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
        lines = wheel.read(metadata).decode("utf-8").split("\n\n")[0].splitlines()
        assert not any(name.startswith("memplan/tests") for name in wheel.namelist())
    needed = [line for line in lines if line.startswith("Requires-Dist:") and "extra ==" not in line]
    assert needed == []


def test_python(user):
    printed = user.play("python.md")
    assert "Plan(optimal, extent=96" in printed and "memref.view" in printed
    said = user.run("python", "-m", "memplan", "plan")
    assert "map written to memplan-map.html" in said and (user.folder / "memplan-map.html").exists()
    assert user.run("memplan", "--version").startswith("memplan ")


def test_tinygrad(user):
    printed = user.play("tinygrad.md")
    assert printed.startswith("arena") and (user.folder / "map.html").exists()


def test_snapshots_and_traces_without_pytorch(user):
    user.install(".")
    data = ROOT / "tests" / "data" / "torch"
    for name in ("convnet.pickle", "profile_cuda.json"):
        said = user.run("memplan", "plan", str(data / name))
        assert "PyTorch's caching allocator reserved" in said and "optimal" in said, said
        user.run("memplan", "show", str(data / name), "-o", "map.html")
    assert "aten::conv2d" in (user.folder / "map.html").read_text(encoding="utf-8")


def test_pages_that_need_a_package_say_so_without_it(user):
    user.install(".")
    for words, wanted in (
        ("import memplan.tinygrad as it; it.install()", "tinygrad is not installed (pip install tinygrad==0.14.0)"),
        ("import memplan.inductor as it; it.install()", "torch is not installed (pip install torch==2.15.*)"),
        ("import memplan.torch as it; it.enable()", "torch is not installed"),
    ):
        command = ["python", "-c", words]
        ran = subprocess.run(command, cwd=user.folder, env=user.environment, capture_output=True, text=True)
        assert ran.returncode == 1 and wanted in ran.stderr, ran.stderr


@pytest.mark.skipif("MEMPLAN_REQUIRE_TORCH" not in os.environ, reason="skipped: needs PyTorch, gigabytes")
@pytest.mark.parametrize("page", ["fx.md", "inductor.md"])
def test_pytorch(user, page):
    user.play(page)
    assert (user.folder / "map.html").read_text(encoding="utf-8").startswith("<!doctype html>")

"""The package stays small, and brings in nothing that was not asked for."""

import os
import pathlib
import re
import subprocess
import sys
import zlib

import memplan

FOLDER = pathlib.Path(memplan.__file__).parent
DROP_INS = ("executorch", "fx", "inductor", "tinygrad", "torch")
FOREIGN = ("executorch", "numpy", "pandas", "tinygrad", "torch")


def test_importing_memplan_and_its_drop_ins_imports_no_other_package():
    drop_ins = ", ".join(f"memplan.{name}" for name in DROP_INS)
    code = f"import sys, memplan, {drop_ins}; print([name for name in {FOREIGN} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_a_wheel_has_less_than_ten_megabytes():
    """A wheel is an archive of these files, each deflated."""
    files = [path for path in FOLDER.rglob("*") if path.is_file() and path.suffix in (".py", ".pyi", ".so", ".pyd")]
    assert any(path.name.startswith("_native") for path in files)
    assert sum(len(zlib.compress(path.read_bytes())) for path in files) < 10_000_000


def test_drop_ins_can_be_imported_where_nothing_else_is_installed(tmp_path):
    """In an interpreter that sees memplan and nothing else, they say what to install."""
    (tmp_path / "memplan").symlink_to(FOLDER)
    for name, package in (("tinygrad", "tinygrad==0.14.0"), ("inductor", "torch==2.15.*")):
        code = f"import sys; sys.path[:0] = [{str(tmp_path)!r}]; import memplan.{name} as drop_in; drop_in.install()"
        ran = subprocess.run(
            [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, env={"PATH": os.environ["PATH"]}
        )
        expected = f"RefusedError: {package.split('=')[0]} is not installed (pip install {package})"
        assert expected in ran.stderr, ran.stderr


LONG_DESCRIPTION = pathlib.Path(__file__).resolve().parents[1] / "README.md"


def test_the_long_description_needs_no_files_beside_it(tmp_path):
    """A package index shows this text alone: pictures and links into the sources would be dead there."""
    text = LONG_DESCRIPTION.read_text(encoding="utf-8")
    assert "](" not in text and "<img" not in text
    settings = (LONG_DESCRIPTION.parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert 'readme = "crates/memplan-py/README.md"' in settings
    (program,) = re.findall(r"```python\n(.*?)```", text, re.S)
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("Plan(optimal, extent=96") and (tmp_path / "map.html").exists()

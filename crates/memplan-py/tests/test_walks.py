"""The chapters about Rust and C, played from an empty folder: their files, their commands, what they print.

The chapters about Python are played in test_new_users.py, those about pictures by the tests of the command line.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tarfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
CAPI = os.environ.get("MEMPLAN_CAPI")

# All that the core, the planner and the packing check need, what builds `thiserror` included.
ALLOWED = {"memplan-core", "memplan-planner", "memplan-verify", "smallvec", "smol_str", "thiserror"}
BUILDS_THISERROR = {"thiserror-impl", "proc-macro2", "quote", "syn", "unicode-ident"}


def section(page, title):
    """The part of a page from a heading to the next one."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def write_files(text, folder):
    """Blocks that have a name become files of that name."""
    for name, body in re.findall(r"```\w+ ([\w/]+\.\w+)\n(.*?)```", text, re.S):
        (folder / name).write_text(body, encoding="utf-8")


def play(text, folder, **variables):
    """Runs the commands of the console blocks; lines below a command are what it prints. Returns where it ended up."""
    for block in re.findall(r"```console elsewhere\n(.*?)```", text, re.S):
        for command, printed in re.findall(r"^\$ (.*)\n((?:[^$].*\n)*)", block, re.M):
            if command.startswith("cd "):
                folder = folder / command[3:]
                continue
            environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
            ran = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
            assert ran.returncode == 0, f"{command}\n{ran.stdout}\n{ran.stderr}"
            assert not printed or ran.stdout == printed, command
    return folder


def crates(*arguments, folder):
    """The names of all crates in a tree of dependencies."""
    command = ["cargo", "tree", "--offline", "--edges", "normal", "--prefix", "none", *arguments]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return {line.split(" ")[0] for line in ran.stdout.splitlines() if line}


def test_core_planner_and_packing_check_pull_in_nothing_else():
    parts = ["-p", "memplan-core"], ["-p", "memplan-planner"], ["-p", "memplan-verify", "--no-default-features"]
    found = set().union(*(crates(*part, folder=ROOT) for part in parts))
    assert found == ALLOWED | BUILDS_THISERROR
    assert {"memplan-program", "rayon"} <= crates("-p", "memplan-verify", folder=ROOT), "the feature brings them"


def test_rust(tmp_path):
    """Only with the parts: they are built in seconds, and kept for the next run."""
    text = section("rust.md", "Only the core")
    before, after = text.split("As `src/main.rs`:")
    # The versions that the checkout has, so that nothing is asked for over the network.
    settings = {"CARGO_NET_OFFLINE": "true", "CARGO_TARGET_DIR": ROOT / "target" / "walk", "CHECKOUT": ROOT}
    folder = play(before, tmp_path, **settings)
    shutil.copy(ROOT / "Cargo.lock", folder)
    (program,) = re.findall(r"```rust\n(.*?)```", after, re.S)
    (folder / "src" / "main.rs").write_text(program, encoding="utf-8")
    play(after, folder, **settings)
    assert crates(folder=folder) == {"arena"} | ALLOWED | BUILDS_THISERROR


def test_c(tmp_path):
    if "MEMPLAN_REQUIRE_PEERS" not in os.environ and not (CAPI and shutil.which("cmake") and shutil.which("cc")):
        pytest.skip("skipped: needs MEMPLAN_CAPI, the built library for C, and cmake")
    prefix, folder = tmp_path / "prefix", tmp_path / "project"
    install = [ROOT / "crates" / "memplan-capi" / "install", "--prefix", prefix, "--from", pathlib.Path(CAPI).parent]
    subprocess.run(install, check=True, capture_output=True)
    folder.mkdir()
    text = section("cpp.md", "From an empty folder")
    write_files(text, folder)
    assert sorted(path.name for path in folder.iterdir()) == ["CMakeLists.txt", "network.c"]
    play(text, folder, PREFIX=prefix)


def test_the_packed_command_runs_in_an_empty_folder(tmp_path):
    built = pathlib.Path(CAPI).parent if CAPI else None
    if "MEMPLAN_REQUIRE_PEERS" not in os.environ and not (built and (built / "memplan").exists()):
        pytest.skip("skipped: needs MEMPLAN_CAPI, with the built command beside it")
    for folder in ("one", "two"):
        pack = [ROOT / "crates" / "memplan-cli" / "pack", "--out", tmp_path / folder, "--from", built]
        subprocess.run(pack, check=True, capture_output=True)
    (archive,) = (tmp_path / "one").iterdir()
    assert archive.read_bytes() == (tmp_path / "two" / archive.name).read_bytes(), "the same program, the same archive"
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.glob("memplan-*-linux")
    command = folder / "bin" / "memplan"
    ran = subprocess.run([command, "plan"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "optimal" in ran.stdout and (tmp_path / "memplan-map.html").exists()
    assert (folder / "share" / "man" / "man1" / "memplan.1").read_text().count(".SH") > 3
    # Nothing but the C library and what compilers bring for it.
    needed = subprocess.run(["readelf", "-d", command], capture_output=True, text=True, check=True).stdout
    libraries = set(re.findall(r"\(NEEDED\).*\[(.*)\]", needed))
    assert libraries <= {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}

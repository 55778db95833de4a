"""The README's table of frameworks: each test that measures one checks its rows, or writes them with MEMPLAN_BLESS=1."""

import os
import pathlib

README = pathlib.Path(__file__).resolve().parents[3] / "README.md"


def row(framework, program, own, extent, bound):
    """A row: what the framework's own planner needs, what memplan needs, and what no plan can beat."""
    numbers = [f"{size / bound:.3f} ({size:,} B)" for size in (own, extent)]
    return f"| {framework} | {program} | {numbers[0]} | **{numbers[1].split(' ')[0]}** ({extent:,} B) | {bound:,} B |"


def check(framework, rows):
    """The README has exactly these rows about a framework, in one place."""
    lines = README.read_text(encoding="utf-8").split("\n")
    about = [index for index, line in enumerate(lines) if line.startswith(f"| {framework} |")]
    assert about == list(range(about[0], about[-1] + 1)), "the rows stand together"
    if os.environ.get("MEMPLAN_BLESS"):
        lines[about[0] : about[-1] + 1] = rows
        README.write_text("\n".join(lines), encoding="utf-8")
        return
    assert [lines[index] for index in about] == rows, "run with MEMPLAN_BLESS=1"

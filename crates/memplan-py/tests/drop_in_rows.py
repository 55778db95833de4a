"""The table of drop-ins in docs/benchmarks.md: each test that measures one checks its rows.

Set MEMPLAN_BLESS=1 to write them anew.
"""

import os
import pathlib

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "benchmarks.md"


def row(framework, program, own, extent, bound):
    """A row: what the framework's own planner needs, what memplan needs, and what no plan can beat."""
    numbers = [f"{size / bound:.3f} ({size:,} B)" for size in (own, extent)]
    return f"| {framework} | {program} | {numbers[0]} | **{numbers[1].split(' ')[0]}** ({extent:,} B) | {bound:,} B |"


def check(framework, rows):
    """The page has exactly these rows about a framework, in one place."""
    lines = PAGE.read_text(encoding="utf-8").split("\n")
    about = [index for index, line in enumerate(lines) if line.startswith(f"| {framework} |")]
    assert about == list(range(about[0], about[-1] + 1)), "the rows stand together"
    if os.environ.get("MEMPLAN_BLESS"):
        lines[about[0] : about[-1] + 1] = rows
        PAGE.write_text("\n".join(lines), encoding="utf-8")
        return
    assert [lines[index] for index in about] == rows, "run with MEMPLAN_BLESS=1"

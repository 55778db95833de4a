"""Planners of other frameworks on the same lives as ours: the tables in the README and in docs/benchmarks.md.

Set MEMPLAN_BLESS=1 to write them anew.
"""

import json
import os
import pathlib

import framework_planners
import pytest

import memplan

if "MEMPLAN_REQUIRE_PEERS" not in os.environ:
    pytest.importorskip("tinygrad", reason="skipped: needs tinygrad")

ROOT = pathlib.Path(__file__).resolve().parents[3]
MARK = "<!-- measured: crates/memplan-py/tests/test_frameworks.py -->\n\n"
INDUCTOR = json.loads((ROOT / "tests" / "data" / "torch" / "inductor_pools.json").read_text(encoding="utf-8"))

# What Inductor and XLA align buffers to. ggml aligns to 32 bytes and tinygrad to 256.
ALIGNMENT = 64


def measured(path):
    """Buffers, the lower bound, and the extents of all planners over it; no plan can go below 1."""
    lives = framework_planners.read_lives(path)
    plan = memplan.plan(lives, align=ALIGNMENT)
    assert memplan.verify(plan.problem, plan) == []
    bound = plan.lower_bound
    theirs = [framework_planners.tinygrad_extent(lives), INDUCTOR[path.stem], framework_planners.ggml_extent(lives)]
    assert all(plan.extent <= extent for extent in theirs), "never more than anybody else"
    return len(lives), bound, [extent / bound for extent in [*theirs, plan.extent]]


def row(cells, ratios):
    """A row of a table, ours in bold."""
    *theirs, ours = [f"{ratio:.3f}" for ratio in ratios]
    return f"| {' | '.join([*cells, *theirs])} | **{ours}** |"


def check(page, table):
    """The table below the mark is this one."""
    head, rest = page.read_text(encoding="utf-8").split(MARK)
    text = head + MARK + "\n".join(table) + "\n" + rest[rest.index("\n\n") + 1 :]
    if os.environ.get("MEMPLAN_BLESS"):
        page.write_text(text, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == text, f"{page.name}: run with MEMPLAN_BLESS=1"


def test_the_tables_of_other_frameworks_planners_are_measured():
    found = {program: measured(path) for program, path in framework_planners.PROGRAMS.items()}
    all_rows = [
        "| program | buffers | lower bound | tinygrad | Inductor's pools | ggml | memplan |",
        "|---|---|---|---|---|---|---|",
        *(row([program, str(count), f"{bound:,} B"], ratios) for program, (count, bound, ratios) in found.items()),
    ]
    check(ROOT / "docs" / "benchmarks.md", all_rows)
    worst = [max(ratios) for ratios in zip(*(ratios for _, _, ratios in found.values()))]
    *theirs, ours = [f"{ratio:.3f}" for ratio in worst]
    names = ["tinygrad", "Inductor's pools", "ggml"]
    others = ", ".join(f"{name} {ratio}" for name, ratio in zip(names, theirs, strict=True))
    summary = f"| each planner's worst of {len(found)} recorded programs | | | {others} | **{ours}** |"
    assert summary in (ROOT / "README.md").read_text(encoding="utf-8").splitlines(), f"README.md: wanted {summary}"


def test_ggml_by_hand():
    """Three blocks are free when the last two come: of 64, of 32, and the end. 32 bytes take the smallest that fits."""
    lives = [(64, 0, 2), (32, 0, 4), (32, 0, 2), (32, 0, 4), (32, 2, 4), (96, 3, 4)]
    assert framework_planners.ggml_extent(lives) == 64 + 32 + 32 + 32 + 96
    assert framework_planners.ggml_extent(lives[:5]) == 64 + 32 + 32 + 32
    assert framework_planners.ggml_extent([(33, 0, 1), (1, 0, 1)]) == 64 + 32

"""memplan: where every buffer lives, decided and proved before the program runs.

>>> import memplan
>>> plan = memplan.plan([(64, 0, 2), (32, 1, 3), (64, 2, 4)])
>>> plan.status, plan.extent
('optimal', 96)
"""

from __future__ import annotations

from . import _native
from ._errors import ArgumentError, BugError, MemplanError, ProblemError, ReadError, RefusedError
from ._explain import Explanation, Obstacle, Reordered, explain, reorder
from ._fit import Fitted, ModelVersion, fit
from ._opt import Rewritten, Saving, opt
from ._plan import Comparison, Entry, Finding, Plan, compare, plan, verify
from ._problem import Buffer, Problem, Space, read
from ._sweep import Sweep, sweep

__version__: str = _native.version()

__all__ = [
    "ArgumentError",
    "Buffer",
    "BugError",
    "Comparison",
    "Entry",
    "Explanation",
    "Finding",
    "Fitted",
    "MemplanError",
    "ModelVersion",
    "Obstacle",
    "Plan",
    "Problem",
    "ProblemError",
    "ReadError",
    "RefusedError",
    "Reordered",
    "Rewritten",
    "Saving",
    "Space",
    "Sweep",
    "compare",
    "explain",
    "fit",
    "formats",
    "opt",
    "passes",
    "plan",
    "read",
    "reorder",
    "strategies",
    "sweep",
    "verify",
]


def strategies() -> dict[str, str]:
    """Every strategy with a line about it."""
    return dict(_native.strategies())


def passes() -> dict[str, str]:
    """Every pass with a line about it."""
    return dict(_native.passes())


def formats() -> dict[str, str]:
    """Every format that can be read, with a line about it."""
    return dict(_native.formats())

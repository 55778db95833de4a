"""What stands in the way of a smaller plan, and in which order a model needs less."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Iterable

from . import _native
from ._arrays import argument
from ._plan import _limits, as_problem, write_whole
from ._problem import Size, Space


@dataclass(frozen=True)
class Obstacle:
    """Buffers that cannot be arranged in less.

    ``step`` is one at which all are alive, or None if the proof is not that simple; ``needed`` bytes are more than
    ``capacity``. Without any one of those in ``single``, everything else would fit.
    """

    space: str
    buffers: list[str]
    step: int | None
    needed: int
    capacity: int
    single: list[str]


@dataclass(frozen=True)
class Explanation:
    """What planning came to, and the obstacle, if one is known."""

    status: str
    extent: int | None
    obstacle: Obstacle | None


def explain(
    problem: Any,
    *,
    time_limit: float | None = None,
    work: int | None = None,
    seed: int = 0,
    effort: str = "normal",
    threads: int | None = None,
    strict: bool = False,
    capacity: Size | None = None,
    align: Size | None = None,
    spaces: Iterable[str | Space] = (),
) -> Explanation:
    """Says what keeps a problem from fitting or, if it fits, from a smaller plan; arguments as for :func:`plan`.

    >>> explain([(64, 0, 2), (32, 1, 3), (16, 5, 6)]).obstacle.buffers
    ['0', '1']
    """
    problem = as_problem(problem).on(capacity=capacity, align=align, spaces=spaces)
    limits = _limits(time_limit, work, seed, effort, threads, strict)
    status, extent, obstacle = _native.explain(problem._native, limits)
    return Explanation(status, extent, None if obstacle is None else Obstacle(**obstacle))


@dataclass(frozen=True)
class Reordered:
    """An order of execution for a model, and the most bytes that are alive at once before and after.

    ``exact`` means that no order needs less. ``order`` has the positions of the ops in the file.
    """

    peak_before: int
    peak_after: int
    exact: bool
    order: list[int]


def reorder(
    path: str | os.PathLike[str], output: str | os.PathLike[str] | None = None, *, width: int | None = None
) -> Reordered:
    """Finds an order of a model's ops in which less is alive at once; ``output`` gets the model in that order.

    ``path`` is a ``.tflite`` or an ``.onnx`` file, ``width`` how many orders are followed at once.
    """
    before, after, exact, order, model = _native.reorder(os.fspath(path), output is not None, argument(width, "width"))
    if output is not None and model is not None:
        write_whole(output, model)
    return Reordered(before, after, exact, order)

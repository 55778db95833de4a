"""Models that are changed until they fit."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Iterable

from . import _native
from ._arrays import in_bytes
from ._errors import ArgumentError
from ._plan import _limits, write_whole
from ._problem import Size

#: The kinds of change that :func:`fit` may make.
CHANGES = ("reorder", "recompute", "patches", "input-reuse")


@dataclass(frozen=True)
class ModelVersion:
    """One version of a model: what was changed, what it needs and what it costs.

    ``arena`` is all that TensorFlow Lite Micro needs, ``tensors`` what of it tensors and scratch memory take; for an
    ``.onnx`` model both are the planned tensors. ``start`` bytes are needed where the tensors are while the runtime
    starts, and ``records`` is what it keeps. ``exact`` means that nothing comes on top. ``copied`` bytes are moved
    by slices, borders and concatenations, and ``file`` is the size of the model.
    """

    changes: list[str]
    arena: int
    tensors: int
    start: int
    records: int
    exact: bool
    multiply_adds: int
    copied: int
    ops: int
    file: int


@dataclass(frozen=True)
class Fitted:
    """Versions of a model from cheap to dear, the first of them the model as it is, and which one was chosen.

    No version that these kinds of change can make needs less than ``floor`` bytes of what is counted, whatever the
    order and the tiles: inputs, outputs and everything that an op can only read whole are in memory at some time.
    """

    versions: list[ModelVersion]
    chosen: int
    floor: int
    notes: list[str] = field(default_factory=list)

    @property
    def version(self) -> ModelVersion:
        """The version that was chosen."""
        return self.versions[self.chosen]


def fit(
    path: str | os.PathLike[str],
    *,
    capacity: Size | None = None,
    out: str | os.PathLike[str] | None = None,
    forbid: Iterable[str] = (),
    count: str = "arena",
    time_limit: float | None = None,
    work: int | None = None,
    seed: int = 0,
    effort: str = "normal",
    threads: int | None = None,
    strict: bool = False,
) -> Fitted:
    """Changes a ``.tflite`` or ``.onnx`` model until it fits into ``capacity``; ``out`` gets the changed model.

    Without a capacity the whole trade-off is returned, and ``out`` gets the smallest version. It is proved that the
    written model computes the same. ``forbid`` names changes that are not to be made: ``"reorder"``, ``"recompute"``,
    ``"patches"``, ``"input-reuse"``. ``count`` says what counts: all of the ``"arena"``, or ``"tensors"`` alone. If
    nothing fits, :class:`RefusedError` says what is in the way.
    """
    forbidden = [forbid] if isinstance(forbid, str) else list(forbid)
    unknown = [change for change in forbidden if change not in CHANGES]
    if unknown:
        raise ArgumentError(f"forbid has {unknown[0]!r}; changes are {', '.join(CHANGES)}")
    if count not in ("arena", "tensors"):
        raise ArgumentError(f"count is {count!r}; it is 'arena' or 'tensors'")
    text, model, notes = _native.fit(
        os.fspath(path),
        out is not None,
        None if capacity is None else in_bytes(capacity, "capacity"),
        [change for change in CHANGES if change not in forbidden],
        count == "tensors",
        _limits(time_limit, work, seed, effort, threads, strict),
    )
    if out is not None and model is not None:
        write_whole(out, model)
    found = json.loads(text)
    versions = [ModelVersion(**version) for version in found["versions"]]
    return Fitted(versions, found["chosen"], found["floor"], notes)

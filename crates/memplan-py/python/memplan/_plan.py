"""Planning and what comes of it."""

from __future__ import annotations

import html
import json
import math
import os
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Sequence

from . import _native
from ._arrays import argument, column, unpack
from ._errors import ArgumentError, RefusedError
from ._problem import Problem, Size, Space

# Called with the bytes of the best plan so far (None before the first) and with the lower bound.
Progress = Callable[["int | None", int], None]

# A notebook stores what it shows. A page of this many buffers has about two megabytes; for more buffers a picture in
# characters is shown instead.
_PICTURED = 20_000


@dataclass(frozen=True)
class Finding:
    """Something that is wrong with a plan.

    ``buffers`` are the names of those concerned, and ``step`` says when it happens. ``bytes`` is the range
    ``(first, one past the last)`` in ``space``. What does not apply is None.
    """

    code: str
    message: str
    buffers: list[str]
    step: int | None = None
    space: str | None = None
    bytes: tuple[int, int] | None = None


class Plan:
    """What came of planning.

    ``status`` is ``"optimal"`` (proved), ``"feasible"``, ``"infeasible"`` (``witness`` names buffers that
    cannot fit together) or ``"exhausted"`` (nothing found, nothing ruled out). Only the first two have offsets.
    A plan is true if there is one: ``if memplan.plan(problem): …``.
    """

    def __init__(self, native: _native.Plan, problem: Problem) -> None:
        self._native = native
        self.problem = problem

    @property
    def status(self) -> str:
        return self._native.status

    @property
    def strategy(self) -> str:
        return self._native.strategy

    @property
    def extent(self) -> int | None:
        """Bytes the plan needs, summed over the spaces."""
        return self._native.extent

    @property
    def lower_bound(self) -> int:
        """No plan needs fewer."""
        return self._native.lower_bound

    @property
    def cost(self) -> int | None:
        """What the reuse of memory costs in this plan; none where the problem has no ``reuse_costs``, or there is no plan."""
        cost = self._native.cost
        return None if cost is None else cost[0]

    @property
    def cost_lower_bound(self) -> int | None:
        """No plan within the capacities costs less."""
        cost = self._native.cost
        return None if cost is None else cost[1]

    @property
    def active_pairs(self) -> list[tuple[str, str, int]]:
        """The pairs of ``reuse_costs`` that have a byte in common, each with its weight."""
        return self._native.active_pairs()

    @property
    def seconds(self) -> float:
        """Time the strategy took."""
        return self._native.seconds

    @property
    def stop(self) -> str | None:
        """What ended a search that could have gone on: "time limit", "work limit", "interrupted"."""
        return self._native.stop

    @property
    def repairs(self) -> list[str]:
        """What had to be planned again because a check rejected the first plan.

        Every entry is a mistake in memplan that did not reach the result; please report it.
        """
        return self._native.repairs

    @property
    def witness(self) -> list[str] | None:
        """Buffers that cannot fit together, if it is infeasible."""
        return self._native.witness

    @property
    def offsets(self) -> Sequence[int]:
        """An offset per buffer, in input order: a numpy array, or a list without numpy."""
        if self._native.assign == "objects":
            raise RefusedError("a plan made of shared objects has no offsets; see Plan.objects", code="refused")
        return unpack(self._native.offsets())

    @property
    def objects(self) -> list[int]:
        """The shared object of each buffer, in input order, in a plan made with ``assign="objects"``."""
        if self._native.assign != "objects":
            raise RefusedError("a plan made of offsets has no shared objects; see Plan.offsets", code="refused")
        return self._native.objects()

    @property
    def object_sizes(self) -> list[Any]:
        """The size of each shared object: bytes, a list of components, or a symbol."""
        return [entry["size"] for entry in self.to_dict()["objects"]]

    @property
    def by_name(self) -> dict[str, int]:
        """The offset of each buffer by its name, in input order."""
        return {name: int(offset) for name, offset in zip(self.problem.ids, self.offsets)}

    def __getitem__(self, name: str) -> int:
        """The offset of the buffer of that name."""
        if not hasattr(self, "_by_name"):
            self._by_name = self.by_name
        return self._by_name[name]

    @property
    def kept(self) -> int | None:
        """After ``plan(…, warm=old)``: how many buffers are where they were."""
        return self._native.kept

    def to_json(self) -> str:
        """The documented JSON form, as ``memplan plan --json`` prints it."""
        return self._native.to_json()

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form as a dictionary."""
        return json.loads(self.to_json())

    def to_csv(self) -> str:
        """The records with an ``offset`` column."""
        return self._native.to_csv()

    def to_header(self, name: str = "plan") -> str:
        """Constants for C and C++."""
        return self._native.to_header(name)

    def to_model(self) -> bytes:
        """A copy of the ``.tflite`` model with the plan inside, as TensorFlow Lite Micro takes it."""
        return self._native.to_model()

    def to_html(self) -> str:
        """The memory map as a self-contained page."""
        return self._native.to_html()

    def to_svg(self) -> str:
        """The memory map as a picture."""
        return self._native.to_svg()

    def to_text(self, columns: int = 100, rows: int = 32) -> str:
        """The memory map in characters, no larger than that."""
        return self._native.to_text(columns, rows)

    def to_trace(self) -> str:
        """A timeline for Perfetto, in the JSON of Chrome's tracing."""
        return self._native.to_trace()

    def to_snapshot(self) -> bytes:
        """A snapshot for PyTorch's memory viewer, as ``memory_viz`` reads it."""
        return self._native.to_snapshot()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the form that the file's extension names.

        They are ``.json``, ``.csv``, ``.h``, ``.html``, ``.svg``, ``.trace.json`` (Perfetto), ``.pickle`` (PyTorch's
        memory viewer) and, for a model, ``.tflite``.
        """
        stem, extension = os.path.splitext(os.path.basename(os.fspath(path)))
        forms: dict[str, Callable[[], str | bytes]] = {
            ".json": self.to_json,
            ".csv": self.to_csv,
            ".h": lambda: self.to_header(stem),
            ".html": self.to_html,
            ".svg": self.to_svg,
            ".tflite": self.to_model,
            ".trace.json": self.to_trace,
            ".pickle": self.to_snapshot,
        }
        if os.fspath(path).lower().endswith(".trace.json"):
            extension = ".trace.json"
        if extension.lower() not in forms:
            known = ", ".join(forms)
            raise ArgumentError(f"cannot tell how to write {os.fspath(path)}; the extensions are {known}")
        content = forms[extension.lower()]()
        write_whole(path, content if isinstance(content, bytes) else content.encode())

    def __reduce__(self) -> Any:
        # How pickle keeps a plan: the function that makes it again, and its arguments. `facts` are what the JSON form
        # does not have, such as the strategy and what ended the search.
        return (_restored, (self.problem, self.to_json(), self._native.facts()))

    def __bool__(self) -> bool:
        return self.extent is not None

    def __repr__(self) -> str:
        if self.extent is None:
            why = f", witness={self.witness!r}" if self.witness is not None else ""
            return f"Plan({self.status}, strategy={self.strategy!r}, lower_bound={self.lower_bound}{why})"
        stop = f", stop={self.stop!r}" if self.stop else ""
        facts = f"extent={self.extent}, lower_bound={self.lower_bound}, strategy={self.strategy!r}"
        return f"Plan({self.status}, {facts}, {len(self.problem)} buffers{stop})"

    def _repr_html_(self) -> str:
        if self.extent is None:
            return f"<pre>{html.escape(repr(self))}</pre>"
        if len(self.problem) > _PICTURED:
            # The page would be too large to keep in a notebook.
            advice = f"{len(self.problem)} buffers are too many for a notebook; save(&quot;map.html&quot;) writes the page"
            return f"<pre>{html.escape(self.to_text())}</pre><p>{advice}</p>"
        # The page has scripts of its own. In a sandboxed frame they cannot reach the notebook.
        page = html.escape(self.to_html(), quote=True)
        style = "width:100%;height:640px;border:0"
        return f'<iframe srcdoc="{page}" sandbox="allow-scripts" style="{style}" title="memory map"></iframe>'


def plan(
    problem: Any,
    strategy: str = "auto",
    *,
    assign: str = "offsets",
    time_limit: float | None = None,
    work: int | None = None,
    seed: int = 0,
    effort: str = "normal",
    threads: int | None = None,
    strict: bool = False,
    progress: Progress | None = None,
    capacity: Size | None = None,
    align: Size | None = None,
    spaces: Iterable[str | Space] = (),
    warm: Plan | str | None = None,
) -> Plan:
    """Plans a problem; the plan has been checked.

    ``problem`` is a :class:`Problem` or whatever :class:`Problem` takes; ``capacity``, ``align`` and ``spaces`` set it on
    a target, as :meth:`Problem.on` does. With ``warm``, an old plan or its text, as many buffers as possible stay where
    they were (``Plan.kept`` says how many). ``effort`` is
    ``quick``, ``normal`` or ``thorough``, ``work`` a number of units of work instead: the same plan on every machine.
    ``time_limit``, in seconds, only ever cuts a search short. ``progress(best, lower_bound)`` hears every improvement.
    If a check rejects a plan, memplan plans again with the buffers it names kept apart (``Plan.repairs`` says so);
    ``strict``, or ``MEMPLAN_STRICT`` in the environment, makes that an error. Ctrl-C ends a search with the best plan so
    far (``stop == "interrupted"``).

    >>> plan([(64, 0, 2), (32, 1, 3), (64, 2, 4)]).extent
    96
    """
    problem = as_problem(problem).on(capacity=capacity, align=align, spaces=spaces)
    old = warm.to_json() if isinstance(warm, Plan) else warm
    limits = _limits(time_limit, work, seed, effort, threads, strict)
    return Plan(_native.plan(problem._native, strategy, assign, limits, progress, old), problem)


def _restored(problem: Problem, text: str, facts: dict[str, Any]) -> Plan:
    """A plan out of a pickle; it is checked again."""
    return Plan(_native.restore(problem._native, text, facts), problem)


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Writes a file whole or not at all: a draft next to it takes its place once it is complete."""
    draft = f"{os.fspath(path)}.{os.getpid()}.tmp"
    try:
        with open(draft, "wb") as file:
            file.write(content)
        os.replace(draft, path)
    except BaseException:
        if os.path.exists(draft):
            os.unlink(draft)
        raise


def as_problem(problem: Any) -> Problem:
    """A problem as it is; anything else becomes one, as :class:`Problem` takes it."""
    return problem if isinstance(problem, Problem) else Problem(problem)


# Seconds, units of work, seed, effort, threads, and whether a rejected plan is an error instead of planned again.
Limits = tuple["float | None", "int | None", int, str, "int | None", bool]


def _limits(time_limit: Any, work: Any, seed: Any, effort: str, threads: Any, strict: bool) -> Limits:
    """What limits a search, in the order in which the native half takes it."""
    seed = argument(seed, "seed") or 0
    return _seconds(time_limit), argument(work, "work"), seed, effort, argument(threads, "threads"), bool(strict)


def _seconds(time_limit: float | None) -> float | None:
    """A limit in seconds, finite and not negative; None stands for no limit."""
    if time_limit is None:
        return None
    seconds = float(time_limit)
    if not math.isfinite(seconds) or seconds < 0:
        raise ArgumentError(f"time_limit is {time_limit!r}; expected seconds")
    return seconds


def verify(problem: Any, plan: Any) -> list[Finding]:
    """Everything that is wrong with a plan; an empty list means that it is right.

    ``plan`` is a :class:`Plan`, a dictionary or a text in the forms of plan files, or offsets in input order.
    """
    problem = as_problem(problem)
    if isinstance(plan, Plan):
        found = _native.verify(problem._native, text=plan.to_json())
    elif isinstance(plan, str):
        found = _native.verify(problem._native, text=plan)
    elif isinstance(plan, dict):
        found = _native.verify(problem._native, text=json.dumps(plan))
    else:
        offsets = column(plan, "offset")
        # Each offset is a number of eight bytes.
        if len(offsets) != 8 * len(problem):
            raise ArgumentError(f"{len(offsets) // 8} offsets for {len(problem)} buffers")
        found = _native.verify(problem._native, offsets=offsets)
    return [Finding(**facts) for facts in found]


@dataclass(frozen=True)
class Entry:
    """What one strategy made of a problem.

    ``objects`` is the number of shared objects in a plan made of them, and None in a plan made of offsets.
    ``extent`` is None if there is no plan.
    """

    strategy: str
    assign: str
    status: str
    extent: int | None
    objects: int | None
    seconds: float


class Comparison:
    """Every strategy on one problem, smallest extent first.

    ``refused`` says for each strategy that does not apply to the problem why it does not.
    """

    def __init__(self, entries: Iterable[Entry], refused: dict[str, str], lower_bound: int) -> None:
        self.entries = list(entries)
        self.refused = refused
        self.lower_bound = lower_bound

    @property
    def best(self) -> Entry:
        return self.entries[0]

    def __iter__(self):
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, index: int) -> Entry:
        return self.entries[index]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Rows for ``pandas.DataFrame``."""
        return [vars(entry).copy() for entry in self.entries]

    def _rows(self) -> list[list[str]]:
        """The table as texts, its heading first. The ratio is the extent over the lower bound."""
        rows = [["strategy", "assign", "extent", "ratio", "status", "ms"]]
        for entry in self.entries:
            extent = "-" if entry.extent is None else str(entry.extent)
            ratio = "-" if entry.extent is None or not self.lower_bound else f"{entry.extent / self.lower_bound:.4f}"
            rows.append([entry.strategy, entry.assign, extent, ratio, entry.status, f"{entry.seconds * 1e3:.2f}"])
        return rows

    def __repr__(self) -> str:
        rows = self._rows()
        widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head, *body = self._rows()
        cells = lambda row, tag: "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)  # noqa: E731
        rows = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in body)
        return f"<table><thead><tr>{cells(head, 'th')}</tr></thead><tbody>{rows}</tbody></table>"


def compare(
    problem: Any,
    *,
    assign: str | None = None,
    time_limit: float | None = None,
    work: int | None = None,
    seed: int = 0,
    effort: str = "normal",
    threads: int | None = None,
    strict: bool = False,
    capacity: Size | None = None,
    align: Size | None = None,
    spaces: Iterable[str | Space] = (),
) -> Comparison:
    """Runs every strategy that applies; the target is set as in :func:`plan`.

    ``time_limit`` is one for all strategies. Those that were not tried in time are among the refused.
    """
    problem = as_problem(problem).on(capacity=capacity, align=align, spaces=spaces)
    limits = _limits(time_limit, work, seed, effort, threads, strict)
    rows, refused, bound = _native.compare(problem._native, assign, limits)
    return Comparison([Entry(**row) for row in rows], dict(refused), bound)

"""tinygrad: the same program with a smaller arena.

    import memplan.tinygrad

    memplan.tinygrad.install()
    ...                                # tinygrad as always: realize(), TinyJit, training
    print(memplan.tinygrad.report())   # what tinygrad would have taken, what it takes now, what no plan can beat
    memplan.tinygrad.report().save("map.html")

One function of tinygrad places buffers, ``memory_plan_rewrite``; ``install()`` puts ours in its place, ``uninstall()``
puts it back, and ``with install():`` does both. Ours keeps tinygrad's rules:

- Buffers that somebody outside of the schedule holds are not touched.
- Sizes and offsets are multiples of 256 bytes.
- Every device has an arena for kernels and another one for copies (the *lanes*), so that no kernel waits for a copy
  only because both use the same bytes. A buffer in the lane of copies is kept for twice its life, as tinygrad does.

An arena is never larger than tinygrad's: where its own planner needs less, its offsets are used.
A plan is made once per schedule; the same sizes and lives later get the same offsets without planning again.
"""

from __future__ import annotations

import importlib
import sys
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Callable

from ._dropin import fingerprint, ratio, require, table
from ._errors import RefusedError
from ._plan import Plan, plan
from ._problem import Buffer, Problem, Space

__all__ = ["Hook", "Lane", "Report", "Schedule", "install", "report", "uninstall"]

# Releases of tinygrad with which the tests have run, and the fingerprint of the planner that ours replaces.
TESTED = {"0.14.0": "b694b44ed27f87a4"}

# Modules of tinygrad that have imported its planner by name, so that each has to be changed.
PLACES = ("tinygrad.schedule.memory", "tinygrad.schedule", "tinygrad.engine.jit")

# tinygrad's allocator hands out multiples of this many bytes, at multiples of it.
BLOCK = 256

# A program that makes a new schedule at every step would otherwise fill the memory with old plans.
REMEMBERED = 256


@dataclass(frozen=True)
class Lane:
    """One arena of a schedule: the buffers of kernels on a device, or of copies to and from it.

    ``separate`` is what the buffers take without any sharing, ``own`` the arena that tinygrad's planner makes,
    ``extent`` the arena now, and ``lower_bound`` what no plan can beat. All are bytes.
    """

    device: str
    copies: bool
    buffers: int
    separate: int
    own: int
    extent: int
    lower_bound: int


@dataclass
class Schedule:
    """One schedule that was planned; ``times`` says how often tinygrad asked for it."""

    lanes: list[Lane]
    plan: Plan
    times: int = 1

    def total(self, what: str) -> int:
        """The sum of ``buffers``, ``separate``, ``own``, ``extent`` or ``lower_bound`` over the lanes."""
        return sum(getattr(lane, what) for lane in self.lanes)


class Report:
    """What was planned since ``install()``: the schedules, the one with the most memory first."""

    def __init__(self, schedules: list[Schedule]) -> None:
        self.schedules = sorted(schedules, key=lambda one: -one.total("own"))

    @property
    def largest(self) -> Schedule | None:
        """The schedule with the most memory, or nothing if nothing was planned."""
        return self.schedules[0] if self.schedules else None

    def save(self, path: str) -> None:
        """Writes the memory map of the largest schedule (or its plan: the extension says which)."""
        if self.largest is None:
            raise RefusedError("tinygrad has planned nothing since install()", code="tinygrad::nothing-planned")
        self.largest.plan.save(path)

    def __len__(self) -> int:
        return len(self.schedules)

    def __str__(self) -> str:
        rows = [["arena", "buffers", "separate", "tinygrad", "memplan", "bound", "tinygrad/bound", "memplan/bound"]]
        for schedule in self.schedules:
            for lane in schedule.lanes:
                name = f"{lane.device}{' copies' if lane.copies else ''}"
                numbers = [lane.buffers, lane.separate, lane.own, lane.extent, lane.lower_bound]
                above = [ratio(lane.own, lane.lower_bound), ratio(lane.extent, lane.lower_bound)]
                rows.append([name, *map(str, numbers), *above])
        return table(rows)

    __repr__ = __str__


class Hook:
    """Our planner in tinygrad's place; leaving the ``with`` block uninstalls it."""

    def __init__(self, planner: _Planner) -> None:
        self._planner = planner

    def report(self) -> Report:
        """What was planned with this hook."""
        return Report(list(self._planner.known.values()))

    def __enter__(self) -> Hook:
        return self

    def __exit__(self, *_: object) -> None:
        if _state.hook is self:
            uninstall()


class _State:
    """The hook that is installed, tinygrad's own function, and the hook of the last report."""

    hook: Hook | None = None
    original: Callable[..., Any] | None = None
    latest: Hook | None = None


_state = _State()


def install(
    strategy: str = "auto",
    *,
    effort: str = "normal",
    work: int | None = None,
    time_limit: float | None = None,
    seed: int = 0,
) -> Hook:
    """Puts our planner in the place of tinygrad's. The options are those of :func:`memplan.plan`."""
    if _state.hook is not None:
        message = "memplan is installed in tinygrad already"
        raise RefusedError(message, code="tinygrad::installed", help="call uninstall() first")
    version = require("tinygrad", list(TESTED))
    modules = [importlib.import_module(name) for name in PLACES]
    original = modules[0].memory_plan_rewrite
    # A working copy of tinygrad's sources carries the number of the release before it.
    if fingerprint(original, modules[0]._can_plan, modules[0]._collect_bufs) != TESTED[version]:
        message = f"the memory planner of this tinygrad {version} is not the released one"
        raise RefusedError(message, code="dropin::version", help=f"tested: {', '.join(TESTED)} from pip")
    for module in modules:
        if module.memory_plan_rewrite is not original:
            raise RefusedError(f"{module.__name__} has another planner already", code="tinygrad::replaced")
    options = {"strategy": strategy, "effort": effort, "work": work, "time_limit": time_limit, "seed": seed}
    hook = Hook(_Planner(options))
    _rebind(original, hook._planner.rewrite)
    _state.hook, _state.latest, _state.original = hook, hook, original
    return hook


def uninstall() -> None:
    """Gives tinygrad its own planner back. Without an ``install()`` before, nothing happens."""
    if _state.hook is not None and _state.original is not None:
        _rebind(_state.hook._planner.rewrite, _state.original)
    _state.hook = _state.original = None


def report() -> Report:
    """What was planned since the last ``install()``; also after ``uninstall()``."""
    return Report([]) if _state.latest is None else _state.latest.report()


def _rebind(old: Callable[..., Any], new: Callable[..., Any]) -> None:
    """Puts one function in another's place in every module of tinygrad that is loaded."""
    for name, module in list(sys.modules.items()):
        if name.startswith("tinygrad.") and getattr(module, "memory_plan_rewrite", None) == old:
            module.memory_plan_rewrite = new  # type: ignore[attr-defined]


@dataclass(frozen=True)
class _Life:
    """A buffer of tinygrad's: its lane, its bytes as blocks take them, and the steps [first, end)."""

    device: Any
    copies: bool
    size: int
    first: int
    end: int

    @property
    def lane(self) -> tuple[Any, bool]:
        """The arena that the buffer is in: kernels and copies of a device have one each."""
        return self.device, self.copies


class _Planner:
    """Does what tinygrad's ``memory_plan_rewrite`` does, with offsets from memplan."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        # Plans by what they depend on: lanes, sizes and lives.
        self.known: OrderedDict[tuple[_Life, ...], Schedule] = OrderedDict()

    def rewrite(self, linear: Any, held_bufs: Any = None) -> Any:
        """The same list of calls with every buffer replaced by a part of an arena.

        ``linear`` is tinygrad's list of kernels and copies in the order in which they run. ``held_bufs`` are buffers
        that somebody outside still uses; they stay as they are.
        """
        from tinygrad.dtype import dtypes
        from tinygrad.helpers import DEBUG, NO_MEMORY_PLANNER
        from tinygrad.uop.ops import UOp

        if NO_MEMORY_PLANNER:
            return linear
        lives = _lives(linear, held_bufs or set())
        if not lives:
            return linear
        schedule = self.schedule(tuple(lives.values()))
        sizes = {(lane.device, lane.copies): lane.extent for lane in schedule.lanes}
        # Every buffer becomes a part of its lane's arena, by the same expression that tinygrad uses.
        arenas = {}
        for life in lives.values():
            if life.lane not in arenas:
                size = sizes[(_device_name(life.device), life.copies)]
                arenas[life.lane] = UOp.new_buffer(life.device, size, dtypes.int8)
        replacement = {}
        for (buffer, life), offset in zip(lives.items(), schedule.plan.offsets):
            start = int(offset)
            replacement[buffer] = arenas[life.lane][start : start + buffer.nbytes()].bitcast(buffer.dtype)
        if DEBUG >= 1 and schedule.total("separate") != schedule.total("extent"):
            before, after = schedule.total("separate") / 1e6, schedule.total("extent") / 1e6
            counts = f"{len(lives)} -> {len(arenas)} bufs"
            print(f"memory reduced from {before:.2f} MB -> {after:.2f} MB, {counts} (memplan)")
        return linear.substitute(replacement, name="memory plan", walk=True)

    def schedule(self, lives: tuple[_Life, ...]) -> Schedule:
        """The plan for these lives, from memory if they were planned before."""
        found = self.known.get(lives)
        if found is not None:
            found.times += 1
            self.known.move_to_end(lives)
            return found
        made = self.known[lives] = _planned(lives, self.options)
        if len(self.known) > REMEMBERED:
            self.known.popitem(last=False)
        return made


def _lives(linear: Any, held: set[Any]) -> dict[Any, _Life]:
    """The buffers that may be placed, in the order of their first use, each with its life."""
    from tinygrad.helpers import round_up
    from tinygrad.schedule.memory import _can_plan, _collect_bufs
    from tinygrad.uop.ops import Ops

    first: dict[Any, int] = {}
    last: dict[Any, int] = {}
    copied = set()
    for step, call in enumerate(linear.src):
        used = [buffer for source in call.src[1:] for buffer in _collect_bufs(source) if _can_plan(buffer, held)]
        for buffer in used:
            first.setdefault(buffer, step)
            last[buffer] = step
        if call.src[0].op is Ops.COPY:
            copied.update(used)
    lives = {}
    for buffer, start in first.items():
        end = last[buffer] + 1
        # tinygrad keeps a buffer that is copied for as long again, so that the next copy need not wait for this one.
        if buffer in copied:
            end += end - start
        size = round_up(buffer.max_numel() * buffer.dtype.itemsize, BLOCK)
        lives[buffer] = _Life(buffer.device, buffer in copied, size, start, end)
    return lives


def _device_name(device: Any) -> str:
    """A device, or the devices over which a tensor is spread."""
    return device if isinstance(device, str) else "+".join(device)


def _space(life: _Life) -> str:
    """The name of the space that stands for the buffer's lane in the problem."""
    return _device_name(life.device) + (" copies" if life.copies else "")


def _planned(lives: tuple[_Life, ...], options: dict[str, Any]) -> Schedule:
    """The plan for these lives, and beside it what tinygrad's own planner makes of each lane."""
    own_offsets = _own_offsets(lives)
    own = {name: 0 for name in dict.fromkeys(map(_space, lives))}
    for life, offset in zip(lives, own_offsets):
        own[_space(life)] = max(own[_space(life)], offset + life.size)
    made = _plan(lives, options, {})
    extents = _by_space(made, "extent") if made else {}
    bounds = _by_space(made, "lower_bound")
    # A short search may end above what tinygrad's planner finds, or without a plan at all if the time is up.
    # tinygrad's offsets are then fixed in that lane, and the plan with them is checked like any other.
    worse = {name for name in own if name not in extents or extents[name] > own[name]}
    if worse:
        fixed = {index: own_offsets[index] for index, life in enumerate(lives) if _space(life) in worse}
        made = _plan(lives, {"seed": options["seed"]}, fixed)
        extents = _by_space(made, "extent")
    lanes = []
    for name in own:
        mine = [life for life in lives if _space(life) == name]
        separate = sum(life.size for life in mine)
        device, copies = _device_name(mine[0].device), mine[0].copies
        lanes.append(Lane(device, copies, len(mine), separate, own[name], extents[name], bounds[name]))
    return Schedule(lanes, made)


def _plan(lives: tuple[_Life, ...], options: dict[str, Any], fixed: dict[int, int]) -> Plan:
    """A plan with a space for each lane. ``fixed`` has offsets that are given, by the position of the buffer."""
    buffers = []
    for index, life in enumerate(lives):
        name = f"{index} (step {life.first})"
        buffers.append(Buffer(name, life.size, (life.first, life.end), space=_space(life), offset=fixed.get(index)))
    spaces = [Space(name, None, BLOCK) for name in dict.fromkeys(map(_space, lives))]
    return plan(Problem(buffers, spaces, name="tinygrad"), **options)


def _by_space(made: Plan, what: str) -> dict[str, int]:
    """A number that the plan has for each space, ``extent`` or ``lower_bound``, by the name of the space."""
    return {space["name"]: space[what] for space in made.to_dict()["spaces"]}


def _own_offsets(lives: tuple[_Life, ...]) -> list[int]:
    """The offsets that tinygrad's planner gives: its allocator, with the same events in the same order."""
    from tinygrad.runtime.support.memory import TLSFAllocator

    opens = [(life.first, True, index) for index, life in enumerate(lives)]
    closes = [(life.end, False, index) for index, life in enumerate(lives)]
    total = 2 * sum(life.size for life in lives)
    allocators: dict[tuple[Any, bool], Any] = {}
    offsets = [0] * len(lives)
    for _, is_open, index in sorted(opens + closes, key=lambda event: event[:2]):
        lane = lives[index].lane
        if lane not in allocators:
            allocators[lane] = TLSFAllocator(total, block_size=BLOCK, lv2_cnt=32)
        if is_open:
            offsets[index] = allocators[lane].alloc(lives[index].size)
        else:
            allocators[lane].free(offsets[index])
    return offsets

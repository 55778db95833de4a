"""PyTorch Inductor: its buffers in one pool that memplan has planned.

    import memplan.inductor

    memplan.inductor.install()
    compiled = torch.compile(model)
    compiled(x)
    print(memplan.inductor.report())

Inductor has a memory planner of its own, off by default (``torch._inductor.config.memory_planning``). It puts the
intermediate buffers of a graph into pools and outputs into memory of their own. ``install()`` switches it on and
replaces the one step of it that decides where in a pool a buffer lies, ``MemoryPlanner.allocate_groups``. Lives,
in-place reuse, the code that is generated, and outputs stay Inductor's. The pool is never larger than Inductor's own
pools together.

Inductor plans inference only; ``install(training=True)`` plans the graphs of training as well. Graphs with sizes that
are not known when they are compiled, and pools other than ``config.memory_pool == "intermediates"``, are left to
Inductor.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Callable, Sequence

from ._dropin import fingerprint, ratio, require, table
from ._errors import RefusedError
from ._plan import Plan, plan
from ._problem import Buffer, Problem

__all__ = ["Hook", "Pool", "Report", "install", "report", "uninstall"]

# Releases of PyTorch (2.15 stands for every 2.15.x) with which the tests have run, each with the fingerprint of the
# classes that the hook works with.
TESTED = {"2.15": "5ff8a22c6b75e511"}

# Inductor aligns buffers in a pool to this many bytes.
ALIGNMENT = 64

# Plans are kept for the report; a program that compiles for days should not fill its memory with them.
REMEMBERED = 256


@dataclass(frozen=True)
class Pool:
    """The intermediate buffers of one graph on one device; all numbers but ``buffers`` are bytes.

    ``separate`` is their sum, ``own`` what Inductor's pools for them take, ``extent`` the pool now, and ``lower_bound``
    what no plan can beat. ``plan`` is nothing if Inductor's own offsets were kept, because they need less.
    """

    device: str
    buffers: int
    separate: int
    own: int
    extent: int
    lower_bound: int
    plan: Plan | None


class Report:
    """What was planned since ``install()``, the largest pool first."""

    def __init__(self, pools: Sequence[Pool], left_alone: Sequence[str]) -> None:
        self.pools = sorted(pools, key=lambda pool: -pool.own)
        self.left_alone = list(left_alone)

    def save(self, path: str) -> None:
        """Writes the memory map of the largest pool (or its plan: the extension says which)."""
        planned = [pool.plan for pool in self.pools if pool.plan is not None]
        if not planned:
            raise RefusedError("Inductor has planned nothing since install()", code="inductor::nothing-planned")
        planned[0].save(path)

    def __len__(self) -> int:
        return len(self.pools)

    def __str__(self) -> str:
        rows = [["pool", "buffers", "separate", "inductor", "memplan", "bound", "inductor/bound", "memplan/bound"]]
        for pool in self.pools:
            numbers = [pool.buffers, pool.separate, pool.own, pool.extent, pool.lower_bound]
            above = [ratio(pool.own, pool.lower_bound), ratio(pool.extent, pool.lower_bound)]
            rows.append([pool.device, *map(str, numbers), *above])
        return "\n".join([table(rows), *(f"left to Inductor: {reason}" for reason in self.left_alone)])

    __repr__ = __str__


@dataclass(frozen=True)
class Life:
    """An intermediate buffer of Inductor's: its name, bytes and live range, whose end is exclusive."""

    name: str
    size: int
    begin: int
    end: int


def plan_pool(lives: Sequence[Life], **options: Any) -> Plan:
    """A checked plan for the buffers of one pool, with Inductor's alignment."""
    buffers = []
    for index, life in enumerate(lives):
        # A buffer that no kernel uses begins and ends at once; it keeps its bytes for one step all the same.
        interval = (life.begin, max(life.end, life.begin + 1))
        buffers.append(Buffer(f"{index} {life.name}", life.size, interval, alignment=ALIGNMENT))
    return plan(Problem(buffers, alignment=ALIGNMENT, name="inductor"), **options)


class Hook:
    """Our placement inside of Inductor; leaving the ``with`` block uninstalls it."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self.pools: list[Pool] = []
        self.left_alone: list[str] = []
        # What uninstall() puts back: the object, the name of its attribute, and the value.
        self.replaced: list[tuple[Any, str, Any]] = []

    def report(self) -> Report:
        """What was planned with this hook."""
        return Report(self.pools, self.left_alone)

    def replace(self, owner: Any, name: str, value: Any) -> Any:
        self.replaced.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def restore(self) -> None:
        for owner, name, value in reversed(self.replaced):
            setattr(owner, name, value)
        self.replaced.clear()

    def __enter__(self) -> Hook:
        return self

    def __exit__(self, *_: object) -> None:
        if _state.hook is self:
            uninstall()


class _State:
    hook: Hook | None = None
    latest: Hook | None = None


_state = _State()


def install(
    strategy: str = "auto",
    *,
    training: bool = False,
    effort: str = "normal",
    work: int | None = None,
    time_limit: float | None = None,
    seed: int = 0,
) -> Hook:
    """Has Inductor put its buffers where memplan says. Except for ``training`` the options are :func:`memplan.plan`'s.

    Graphs that this process has compiled before keep what they have: ``torch.compiler.reset()`` compiles them anew.
    While memplan is installed, Inductor's caches of compiled graphs on disk are off.
    """
    if _state.hook is not None:
        message = "memplan is installed in Inductor already"
        raise RefusedError(message, code="inductor::installed", help="call uninstall() first")
    version = require("torch", list(TESTED), series=True)
    planning = importlib.import_module("torch._inductor.codegen.memory_planning")
    wrapper = importlib.import_module("torch._inductor.codegen.wrapper").PythonWrapperCodegen
    config = importlib.import_module("torch._inductor.config")
    seen = fingerprint(planning.MemoryPlanner, planning.AllocationPool, planning.AllocationPools, planning.Allocation)
    if seen != TESTED[".".join(version.split(".")[:2])]:
        message = f"the memory planner of this PyTorch {version} is not the released one"
        raise RefusedError(message, code="dropin::version", help=f"tested: {', '.join(TESTED)}")
    hook = Hook({"strategy": strategy, "effort": effort, "work": work, "time_limit": time_limit, "seed": seed})
    original = planning.MemoryPlanner.allocate_groups
    replacement = lambda planner: _allocate(hook, planning, planner, original)  # noqa: E731
    hook.replace(planning.MemoryPlanner, "allocate_groups", replacement)
    hook.replace(config, "memory_planning", True)
    # The caches of compiled graphs know nothing of the hook. A graph from the cache would not be planned, and a graph
    # that memplan planned would be used by programs that have not installed memplan.
    hook.replace(config, "fx_graph_cache", False)
    hook.replace(importlib.import_module("torch._functorch.config"), "enable_autograd_cache", False)
    if training:
        passes = wrapper.run_wrapper_ir_passes
        hook.replace(wrapper, "run_wrapper_ir_passes", lambda self, is_inference: passes(self, True))
    _state.hook = _state.latest = hook
    return hook


def uninstall() -> None:
    """Gives Inductor its own planner and configuration back. Without an ``install()`` before, nothing happens."""
    if _state.hook is not None:
        _state.hook.restore()
    _state.hook = None


def report() -> Report:
    """What was planned since the last ``install()``; also after ``uninstall()``."""
    return Report([], []) if _state.latest is None else _state.latest.report()


def _allocate(hook: Hook, planning: Any, planner: Any, original: Callable[[Any], None]) -> None:
    """Stands in for ``MemoryPlanner.allocate_groups``."""
    reason = _obstacle(planning, planner)
    if reason is not None:
        if reason not in hook.left_alone:
            hook.left_alone.append(reason)
        original(planner)
        return
    for group in planner.buffer_groups:
        group.make_allocation()
    blocks = [group.allocation for group in planner.buffer_groups if not group.is_output]
    for block in sorted(_outputs(planner), key=lambda one: (one.size_hint, -len(one.live_range))):
        planner.pools.allocate_output(block)
    # A pool is for one device; Inductor's order of devices is that of their first buffers.
    for device in dict.fromkeys(block.device for block in blocks):
        mine = [block for block in blocks if block.device == device]
        pools = _pools(hook, planning, device, mine)
        planner.pools.device_to_pools.setdefault(device, []).extend(pools)
    planner.pools.finalize()


def _obstacle(planning: Any, planner: Any) -> str | None:
    """Why a graph is left to Inductor, if it is."""
    kind = planning.config.memory_pool
    if kind != "intermediates":
        return f"config.memory_pool is {kind!r}"
    for group in planner.buffer_groups:
        if not getattr(group.sym_nbytes(), "is_Integer", isinstance(group.sym_nbytes(), int)):
            return "a graph has sizes that are not known when it is compiled"
    return None


def _outputs(planner: Any) -> list[Any]:
    return [group.allocation for group in planner.buffer_groups if group.is_output]


def _pools(hook: Hook, planning: Any, device: Any, blocks: list[Any]) -> list[Any]:
    """The pools for the intermediate buffers of a device: one of ours or, if they take less, Inductor's own."""
    own = _own_pools(planning, device, blocks)
    own_size = sum(int(pool.root.get_size_hint()) for pool in own)
    lives = [Life(b.node.get_name(), int(b.size_hint), int(b.live_range.begin), int(b.live_range.end)) for b in blocks]
    made = plan_pool(lives, **hook.options)
    is_better = bool(made) and made.extent is not None and made.extent <= own_size
    extent = made.extent if is_better and made.extent is not None else own_size
    separate = sum(life.size for life in lives)
    kept = made if is_better else None
    hook.pools.append(Pool(str(device), len(lives), separate, own_size, extent, made.lower_bound, kept))
    del hook.pools[:-REMEMBERED]
    if not is_better:
        return own
    root = _planned_root(planning)(blocks, [int(offset) for offset in made.offsets], extent)
    return [planning.AllocationPool(device, root, can_expand=False)]


def _own_pools(planning: Any, device: Any, blocks: list[Any]) -> list[Any]:
    """What Inductor's planner makes of the same blocks."""
    pools = planning.AllocationPools()
    for block in sorted(blocks, key=lambda one: (-one.size_hint, -len(one.live_range))):
        pools.allocate(block)
    return pools.device_to_pools.get(device, [])


def _planned_root(planning: Any) -> Any:
    """A tree of allocations, as Inductor's pools have one, whose leaves are where a plan puts them."""
    import sympy

    class Planned(planning.TemporalSplit):
        def __init__(self, blocks: list[Any], offsets: list[int], extent: int) -> None:
            super().__init__(list(blocks))
            self.offsets, self.extent = offsets, extent

        def get_live_ranges(self) -> Any:
            return planning.LiveRanges([block.live_range for block in self.allocations])

        def get_size_hint(self) -> int:
            return self.extent

        def get_symbolic_size(self) -> Any:
            return sympy.Integer(self.extent)

        def finalize(self, pool: Any, offset: Any) -> Any:
            for block, place in zip(self.allocations, self.offsets):
                block.finalize(pool, sympy.Integer(place) + offset)
            return self

    return Planned

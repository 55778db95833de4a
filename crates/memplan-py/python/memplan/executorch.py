"""ExecuTorch: a memory planning algorithm for ``MemoryPlanningAlgorithmSuite``.

    from executorch.exir.memory_planning import MemoryPlanningAlgorithmSuite
    from executorch.exir.passes import MemoryPlanningPass
    import memplan.executorch

    suite = MemoryPlanningAlgorithmSuite(algo_list=[memplan.executorch.algorithm()])
    program = edge.to_executorch(ExecutorchBackendConfig(memory_planning_pass=MemoryPlanningPass(suite)))

ExecuTorch does not check what an algorithm outside of it returns. Ours has been checked before it is handed over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

from ._errors import ProblemError
from ._plan import plan, verify
from ._problem import Buffer, Problem, Space

__all__ = ["algorithm"]


@dataclass
class SpecAllocResult:
    """Stands in for ExecuTorch's class of the same name where that is not installed."""

    mem_id: int
    mem_obj_id: int
    mem_offset: int


@dataclass
class MemoryAlgoResult:
    """Stands in for ExecuTorch's class of the same name where that is not installed."""

    spec_dict: dict[Any, SpecAllocResult]
    bufsizes: list[int]


def _result_classes() -> tuple[Any, Any]:
    """The two classes that an answer is made of: ExecuTorch's, or their stand-ins where it is not installed."""
    try:
        from executorch.exir import memory_planning
    except ImportError:
        return MemoryAlgoResult, SpecAllocResult
    return memory_planning.MemoryAlgoResult, memory_planning.SpecAllocResult


def algorithm(
    strategy: str = "auto",
    *,
    time_limit: float | None = None,
    work: int | None = None,
    seed: int = 0,
    capacities: dict[int, int] | None = None,
) -> Callable[..., Any]:
    """The callable that ``MemoryPlanningAlgorithmSuite(algo_list=[…])`` takes.

    ``capacities`` gives the bytes of each ``mem_id``; what does not fit then fails here and not on the device.
    """

    def memplan_algorithm(
        alignment: int,
        specs: Any,
        graph_module: Any,
        graph_signature: Any = None,
        extra_padding: int = 0,
    ) -> Any:
        algo_result, alloc_result = _result_classes()
        ordered = _in_order(specs, alignment)
        if not ordered:
            return algo_result({}, [0, 0])
        reserved = getattr(graph_module, "input_mem_buffer_sizes", None) or []
        problem, ids = _problem(ordered, alignment, reserved, capacities or {}, extra_padding)
        planned = plan(problem, strategy, time_limit=time_limit, work=work, seed=seed)
        if not planned:
            raise ProblemError(f"the tensors do not fit: {planned!r}", code="executorch::does-not-fit")
        findings = verify(problem, planned)
        if findings:
            raise AssertionError(f"a plan that does not verify: {findings[0].message}")
        return _result(planned, ordered, ids, reserved, extra_padding, algo_result, alloc_result)

    # The suite tells its algorithms apart by their names.
    memplan_algorithm.__name__ = f"memplan_{strategy.replace('-', '_')}"
    return memplan_algorithm


def _in_order(specs: Any, alignment: int) -> list[Any]:
    """The specs in an order that does not depend on where Python keeps them, aligned as the suite wants them."""
    for spec in specs:
        spec.realign(alignment)
    return sorted(specs, key=lambda spec: (_mem_id(spec), *_lifetime(spec), spec.allocated_memory))


def _mem_id(spec: Any) -> int:
    """The number of the memory that a tensor is to be in; ExecuTorch counts memories from 1."""
    return 1 if spec.mem_id is None else spec.mem_id


def _lifetime(spec: Any) -> tuple[int, int]:
    """First and last use, both inclusive; last before first if it is never used."""
    first, last = spec.lifetime
    if first is None or last is None:
        raise ProblemError(f"a tensor has no lifetime: {spec!r}", code="executorch::no-lifetime")
    return first, last


def _root(spec: Any) -> tuple[Any, int]:
    """The tensor whose storage this one lives in, and where in it."""
    inner, seen = 0, {id(spec)}
    while (base := getattr(spec, "storage_base", None) or getattr(spec, "inplace_base", None)) is not None:
        inner += getattr(spec, "storage_base_offset", 0)
        if id(base) in seen:
            raise ProblemError("tensors are each other's storage", code="executorch::cycle")
        seen.add(id(base))
        spec = base
    return spec, inner


def _space(mem_id: int) -> str:
    """The name of the space that stands for a memory in the problem."""
    return f"mem{mem_id}"


def _problem(
    specs: list[Any], alignment: int, reserved: list[int], capacities: dict[int, int], extra_padding: int
) -> tuple[Problem, dict[int, str]]:
    """The problem of these tensors, and the name of each one's buffer, by the ``id()`` of the tensor.

    A tensor that lives in the storage of another one is tied to it: both form a group in which each has a fixed place.
    ``reserved`` are bytes of each memory that are in use already, by the number of the memory.
    """
    ids = {id(spec): str(index) for index, spec in enumerate(specs)}
    roots = [_root(spec) for spec in specs]
    shared = {id(root) for spec, (root, _) in zip(specs, roots) if root is not spec}
    for root, _ in roots:
        if id(root) not in ids:
            raise ProblemError("the storage of a tensor is not planned", code="executorch::unplanned-storage")
    buffers = []
    for spec, (root, inner) in zip(specs, roots):
        first, last = _lifetime(spec)
        # Whether the tensor is in the storage of another one, or another one in its storage.
        tied = id(root) in shared
        buffers.append(
            Buffer(
                ids[id(spec)],
                spec.allocated_memory,
                (first, last + 1) if first <= last else (),
                alignment=1 if tied and inner else alignment,
                space=_space(_mem_id(root)),
                tie=(ids[id(root)], inner) if tied else None,
            )
        )
    spaces = []
    for mem_id in sorted({_mem_id(root) for root, _ in roots}):
        used = (reserved[mem_id] if mem_id < len(reserved) else 0) + extra_padding
        capacity = capacities.get(mem_id)
        spaces.append(Space(_space(mem_id), None if capacity is None else max(capacity - used, 0), alignment))
    return Problem(buffers, spaces, name="executorch"), ids


def _result(
    planned: Any,
    specs: list[Any],
    ids: dict[int, str],
    reserved: list[int],
    extra_padding: int,
    algo_result: Any,
    alloc_result: Any,
) -> Any:
    """Offsets start behind the inputs that have memory already. One object per memory: all may share bytes."""
    facts = planned.to_dict()
    extents = {space["name"]: space["extent"] for space in facts["spaces"]}
    offsets = {buffer["id"]: buffer["offset"] for buffer in facts["buffers"]}
    spec_dict = {}
    largest = 0
    for spec in specs:
        mem_id = _mem_id(_root(spec)[0])
        largest = max(largest, mem_id)
        start = reserved[mem_id] if mem_id < len(reserved) else 0
        spec_dict[spec] = alloc_result(mem_id, 0, start + offsets[ids[id(spec)]])
    sizes = [0] * (largest + 1)
    for mem_id in range(largest + 1):
        if _space(mem_id) in extents:
            start = reserved[mem_id] if mem_id < len(reserved) else 0
            sizes[mem_id] = start + extents[_space(mem_id)] + extra_padding
    return algo_result(spec_dict, sizes)

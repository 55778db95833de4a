"""From what a step asked for to a plan of it.

A recording is a list of events: allocation n (in bytes), free of allocation n, and "free old n": the step drops what
the n-th allocation of the step before it was. The time of an event is its position. ::

    alloc 0 (64)   alloc 1 (32)   free 0   alloc 2 (64)   free 2        1 is still alive at the end:
    free old 1     alloc 0 …                                            the next step drops it

Allocation 1 is *carried*: its life goes from event 1 to the end and, in the next step, from the beginning to its
"free old". What nobody drops in the recorded steps lives longer than a step and gets no place: the pool has it.

Several recordings of the same sequence are planned together, with the largest size that each allocation had. So a
step whose sizes vary (sequences of different lengths, routing to experts) fits the plan up to the largest seen.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from dataclasses import dataclass, field
from typing import Any, Iterable, NamedTuple, Optional, Sequence

from .._errors import ProblemError, ReadError
from .._plan import Plan, plan
from .._problem import Buffer, Problem

ALIGNMENT = 512
ALLOC, FREE, FREE_OLD = 0, 1, 2

_MAGIC, _VERSION = b"MPREPLAY", 1
_ELSEWHERE, _FREED = (1 << 64) - 1, 1 << 31


class Event(NamedTuple):
    """A request: ``kind`` 0 is an allocation, 1 a free, 2 a free of what the step before has left."""

    kind: int
    number: int
    bytes: int


@dataclass
class Recording:
    """What one run of a step asked for on one lane; ``names`` are the frames of its allocations."""

    step: str
    device: int
    lane: int
    events: list[Event]
    names: dict[int, str] = field(default_factory=dict)

    def structure(self) -> list[tuple[int, int]]:
        """The sequence without sizes and without what older steps have left."""
        return [(event.kind, event.number) for event in self.events if event.kind != FREE_OLD]

    def sizes(self) -> list[int]:
        """Bytes of each allocation, as they are handed out."""
        return [rounded(event.bytes) for event in self.events if event.kind == ALLOC]

    def peak(self) -> int:
        """The most bytes that are in use at once, of all that is allocated in the step."""
        live = most = 0
        for event in self.events:
            if event.kind != FREE_OLD:
                live += rounded(event.bytes) * (1 if event.kind == ALLOC else -1)
            most = max(most, live)
        return most

    def problem(self) -> Problem:
        """The step as a problem: one buffer for each allocation that is freed inside of it."""
        return _Merged([self]).problem()

    def to_json(self) -> str:
        """The recording as a text that :func:`read_recording` reads."""
        names = {str(number): name for number, name in self.names.items()}
        facts = {"step": self.step, "device": self.device, "lane": self.lane, "names": names}
        return json.dumps({**facts, "events": [list(event) for event in self.events]})


def read_recording(path: str | os.PathLike[str]) -> Recording:
    """Reads a file that holds :meth:`Recording.to_json`, and refuses what cannot have happened."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        facts = json.loads(text)
        events = [Event(*(int(part) for part in event)) for event in facts["events"]]
        names = {int(number): str(name) for number, name in facts.get("names", {}).items()}
        recording = Recording(str(facts["step"]), int(facts["device"]), int(facts["lane"]), events, names)
    except (ValueError, TypeError, KeyError) as error:
        raise ReadError(f"not a recording: {error}", code="torch::recording", file=os.fspath(path)) from None
    problem = _nonsense(recording.events)
    if problem:
        raise ReadError(problem, code="torch::recording", file=os.fspath(path))
    return recording


def _nonsense(events: Sequence[Event]) -> Optional[str]:
    """What cannot have happened, or nothing."""
    alive: set[int] = set()
    allocations = 0
    for position, (kind, number, size) in enumerate(events):
        if kind not in (ALLOC, FREE, FREE_OLD) or size < 0 or number < 0:
            return f"event {position} is no event: {kind}, {number}, {size}"
        if kind == ALLOC:
            if number != allocations:
                return f"event {position} is allocation {number}; expected {allocations}"
            allocations += 1
            alive.add(number)
        elif kind == FREE:
            if number not in alive:
                return f"event {position} frees allocation {number}, which is not alive"
            alive.remove(number)
    return None


def rounded(size: int) -> int:
    """Bytes as the allocator hands them out: even nothing gets bytes of its own."""
    return -(-max(1, size) // ALIGNMENT) * ALIGNMENT


class _Merged:
    """Recordings of one sequence, as one: the largest sizes, and what is carried from step to step."""

    def __init__(self, recordings: Sequence[Recording]) -> None:
        last = recordings[-1]
        structure = last.structure()
        same = [recording for recording in recordings if recording.structure() == structure]
        self.last = last
        sizes = list(zip(*(recording.sizes() for recording in same)))
        self.most = [max(column) for column in sizes]
        self.least = [min(column) for column in sizes]
        self.dropped = _dropped(recordings, structure)
        self._arrange(structure)

    def _arrange(self, structure: list[tuple[int, int]]) -> None:
        """Puts all moments in order: what is carried over goes before the event that it preceded."""
        freed = {number for kind, number in structure if kind == FREE}
        carried: dict[int, list[int]] = {}
        for number, position in sorted(self.dropped.items()):
            if number not in freed and number < len(self.most):
                carried.setdefault(position, []).append(number)
        self.moments: list[tuple[int, int]] = []
        for position in range(len(structure) + 1):
            self.moments += [(FREE, number) for number in carried.get(position, ())]
            self.moments += structure[position : position + 1]
        self.allocated = {number: time for time, (kind, number) in enumerate(self.moments) if kind == ALLOC}
        self.freed = {number: time for time, (kind, number) in enumerate(self.moments) if kind == FREE}
        # A drop after the next allocation of the same number would be two lives at once.
        late = {number for number, time in self.freed.items() if number not in freed and time > self.allocated[number]}
        if late:
            self.dropped = {number: at for number, at in self.dropped.items() if number not in late}
            self._arrange(structure)

    def lives(self, number: int) -> list[tuple[int, int]]:
        """When an allocation is alive: one interval, or two if it is carried over."""
        start, end = self.allocated[number], self.freed[number]
        if end > start:
            return [(start, end)]
        # Nothing is allocated before the first allocation: a drop up to there leaves no second life.
        first = self.allocated[0]
        return [(start, len(self.moments))] if end <= first else [(0, end), (start, len(self.moments))]

    def placed(self) -> list[int]:
        """Allocations that do not outlive the next step."""
        return [number for number in range(len(self.most)) if number in self.freed]

    def problem(self) -> Problem:
        placed = self.placed()
        lives = [self.lives(number) for number in placed]
        names = self.last.names
        ids = [f"{number} {names[number]}" if number in names else str(number) for number in placed]
        if any(len(life) > 1 for life in lives):
            rows = zip(ids, placed, lives)
            buffers = [Buffer(name, self.most[number], life, alignment=ALIGNMENT) for name, number, life in rows]
            return Problem(buffers, name=self.last.step)
        columns = [[self.most[number] for number in placed], [life[0][0] for life in lives]]
        columns.append([life[0][1] for life in lives])
        return Problem.from_arrays(
            *columns, alignment=[ALIGNMENT] * len(placed), ids=ids, space_alignment=ALIGNMENT, name=self.last.step
        )


def _dropped(recordings: Sequence[Recording], structure: list[tuple[int, int]]) -> dict[int, int]:
    """Where a step drops what the one before has left: the number of events before it, the latest of all."""
    dropped: dict[int, int] = {}
    for before, recording in zip(recordings, recordings[1:]):
        if before.structure() != structure:
            continue
        position = 0
        for event in recording.events:
            if event.kind == FREE_OLD:
                # A step that was cut short has fewer events than the sequence.
                dropped[event.number] = max(dropped.get(event.number, 0), min(position, len(structure)))
            else:
                position += 1
    return dropped


@dataclass
class StepPlan:
    """A plan of a step on one lane, as the allocator takes it."""

    recording: Recording
    plan: Plan
    slots: list[tuple[Optional[int], int, int]]
    moments: list[tuple[int, int]]

    @property
    def extent(self) -> int:
        """Bytes of the step's arena."""
        return self.plan.extent or 0

    def to_bytes(self, step: int) -> bytes:
        """The plan as a part of a plan file, for the step with this number."""
        key = (step, self.recording.device, self.recording.lane, len(self.slots), len(self.moments), 0)
        parts = [struct.pack("<6I", *key)]
        for offset, most, least in self.slots:
            parts.append(struct.pack("<3Q", _ELSEWHERE if offset is None else offset, most, least))
        words = [number | (_FREED if kind == FREE else 0) for kind, number in self.moments]
        parts.append(struct.pack(f"<{len(words)}I", *words))
        return b"".join(parts)


def plan_step(recordings: Sequence[Recording], strategy: str = "auto", **options: Any) -> StepPlan:
    """Plans a step from recordings of it on one lane, the newest last; options are those of :func:`memplan.plan`.

    One recording is enough for a plan. Two, one after the other, also show what the next step drops.
    """
    if not recordings:
        raise ProblemError("no step was recorded", code="torch::recording")
    merged = _Merged(recordings)
    made = plan(merged.problem(), strategy, **options)
    if not made:
        raise ProblemError(f"the step could not be planned: {made!r}", code="torch::plan")
    offsets: dict[int, int] = dict(zip(merged.placed(), (int(offset) for offset in made.offsets)))
    sizes = enumerate(zip(merged.most, merged.least))
    slots = [(offsets.get(number), most, least) for number, (most, least) in sizes]
    return StepPlan(merged.last, made, slots, merged.moments)


def plan_file(plans: Iterable[tuple[int, StepPlan]]) -> bytes:
    """Plans with the numbers of their steps as a file for the allocator, which verifies them again."""
    parts = [made.to_bytes(step) for step, made in plans]
    body = _MAGIC + struct.pack("<2I", _VERSION, len(parts)) + b"".join(parts)
    return body + struct.pack("<Q", zlib.crc32(body))


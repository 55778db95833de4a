"""From what a step asked for to a plan of it.

A recording is a list of events: allocation n (in bytes), free of allocation n, and "free old n": the step drops what
the n-th allocation of the step before it was. The time of an event is its position. ::

    alloc 0 (64)   alloc 1 (32)   free 0   alloc 2 (64)   free 2        1 is still alive at the end:
    free old 1     alloc 0 …                                            the next step drops it

Allocation 1 is *carried*: its life goes from event 1 to the end and, in the next step, from the beginning to its
"free old". What nobody drops in the recorded steps lives longer than a step and gets no place: the pool has it.

Several recordings of a step are planned together (:class:`Shape`), with the largest size and the longest life that
each allocation had. So a step whose sizes vary (sequences of different lengths, routing to experts) fits the plan up
to the largest seen.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from dataclasses import dataclass, field
from typing import Any, Iterable, Iterator, NamedTuple, Optional, Sequence, Union

from .._errors import ProblemError, ReadError
from .._plan import Plan, plan
from .._problem import Buffer, Problem

# The allocator hands out multiples of this many bytes, at multiples of it.
ALIGNMENT = 512
ALLOC, FREE, FREE_OLD = 0, 1, 2

# How a file of plans begins.
_MAGIC, _VERSION = b"MPREPLAY", 1
# In such a file: the offset of an allocation that has no place in the plan, and the bit that makes the number of an
# allocation a free of it.
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
        return Shape(self).problem()

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


class Shape:
    """Runs of one step on one lane, merged: how large each allocation gets, and how long it lives.

    Two runs belong together if they make the same number of allocations. Time counts allocations: a life ``(n, k)`` begins
    with allocation n and ends before allocation k. Merged lives end with the latest of their ends.
    """

    def __init__(self, first: Recording) -> None:
        # The newest run.
        self.last = first
        # The most that one run has needed; merged sizes may need more.
        self.peak = first.peak()
        # The largest and the smallest size of each allocation, by its number.
        self.most = first.sizes()
        self.least = list(self.most)
        # When an allocation ends that is freed in its own run.
        self.ends: dict[int, int] = {}
        # For an allocation that the next run drops: how many allocations that run makes before.
        self.dropped: dict[int, int] = {}
        # Allocations that some next run did not drop.
        self.lasting: set[int] = set()
        # Allocations that were alive at the end of some run.
        self.kept: set[int] = set()
        # Allocations that were alive at the end of the last run.
        self._open: set[int] = set()
        self._lives(first)

    def __len__(self) -> int:
        return len(self.most)

    def varies(self) -> bool:
        """Whether runs have asked for different sizes."""
        return self.least != self.most

    def add(self, recording: Recording, follows: bool = True) -> bool:
        """Merges a run; ``follows`` says that it came directly after the last one. False if it is of another shape."""
        sizes = recording.sizes()
        if len(sizes) != len(self.most):
            return False
        self.most = list(map(max, self.most, sizes))
        self.least = list(map(min, self.least, sizes))
        self.last = recording
        self.peak = max(self.peak, recording.peak())
        if follows:
            dropped = _times(recording, FREE_OLD)
            for number in self._open:
                if number in dropped:
                    self.dropped[number] = max(self.dropped.get(number, 0), dropped[number])
                else:
                    self.lasting.add(number)
        self._lives(recording)
        return True

    def _lives(self, recording: Recording) -> None:
        """Merges the lives of one run."""
        ends = _times(recording, FREE)
        for number, end in ends.items():
            self.ends[number] = max(self.ends.get(number, 0), end)
        self._open = {number for number in range(len(self)) if number not in ends}
        self.kept |= self._open

    def life(self, number: int) -> Optional[list[tuple[int, int]]]:
        """When an allocation is alive: one interval, two if it is carried into the next run, or nothing if it lasts."""
        if number not in self.kept:
            return [(number, self.ends[number])]
        end = self.dropped.get(number)
        # If the next run drops the allocation only after it has made its successor, two of them are alive at once, and
        # one place is not enough.
        if number in self.lasting or end is None or end > number:
            return None
        rest = (number, len(self))
        return [(0, end), rest] if end > 0 else [rest]

    def placed(self) -> list[int]:
        """Allocations that do not outlive the next run."""
        return [number for number in range(len(self)) if self.life(number) is not None]

    def moments(self) -> list[tuple[int, int]]:
        """Allocations and frees in order, as the allocator follows them."""
        freed: dict[int, list[int]] = {}
        for number in self.placed():
            end = self.dropped[number] if number in self.kept else self.ends[number]
            freed.setdefault(end, []).append(number)
        moments: list[tuple[int, int]] = []
        for time in range(len(self) + 1):
            moments += [(FREE, number) for number in freed.get(time, ())]
            moments += [(ALLOC, time)] if time < len(self) else []
        return moments

    def problem(self) -> Problem:
        """One buffer for each allocation that has a place."""
        placed = self.placed()
        lives = [self.life(number) or [] for number in placed]
        names = self.last.names
        ids = [f"{number} {names[number]}" if number in names else str(number) for number in placed]
        sizes = [self.most[number] for number in placed]
        if any(len(life) > 1 for life in lives):
            rows = zip(ids, sizes, lives)
            buffers = [Buffer(name, size, life, alignment=ALIGNMENT) for name, size, life in rows]
            return Problem(buffers, name=self.last.step)
        lower, upper = ([life[0][end] for life in lives] for end in (0, 1))
        alignment = [ALIGNMENT] * len(placed)
        return Problem.from_arrays(
            sizes, lower, upper, alignment=alignment, ids=ids, space_alignment=ALIGNMENT, name=self.last.step
        )


def _times(recording: Recording, kind: int) -> dict[int, int]:
    """How many allocations come before the events of a kind, by the number of what they free."""
    times: dict[int, int] = {}
    allocations = 0
    for event in recording.events:
        if event.kind == ALLOC:
            allocations += 1
        elif event.kind == kind:
            times[event.number] = allocations
    return times


@dataclass
class StepPlan:
    """A plan of a step on one lane, as the allocator takes it.

    ``slots`` has for each allocation its offset (None if the pool has it), its largest size and its smallest.
    ``moments`` are the allocations and frees in their order, as (kind, number of the allocation).
    """

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

    One recording is enough for a plan. Two, one after the other, also show what the next run drops.
    """
    if not recordings:
        raise ProblemError("no step was recorded", code="torch::recording")
    shape = Shape(recordings[0])
    for recording in recordings[1:]:
        if not shape.add(recording):
            shape = Shape(recording)
    return plan_shape(shape, strategy, **options)


def plan_shape(shape: Shape, strategy: str = "auto", **options: Any) -> StepPlan:
    """Plans merged runs of a step."""
    made = plan(shape.problem(), strategy, **options)
    if not made:
        raise ProblemError(f"the step could not be planned: {made!r}", code="torch::plan")
    offsets: dict[int, int] = dict(zip(shape.placed(), (int(offset) for offset in made.offsets)))
    sizes = enumerate(zip(shape.most, shape.least))
    slots = [(offsets.get(number), most, least) for number, (most, least) in sizes]
    return StepPlan(shape.last, made, slots, shape.moments())


def plan_file(plans: Iterable[tuple[int, Union[StepPlan, bytes]]]) -> bytes:
    """Plans with the numbers of their steps as a file for the allocator, which verifies them again.

    A plan may be a part of an earlier file, as :func:`plan_parts` gives it; the number of its step is in it.
    """
    parts = [made if isinstance(made, bytes) else made.to_bytes(step) for step, made in plans]
    body = _MAGIC + struct.pack("<2I", _VERSION, len(parts)) + b"".join(parts)
    return body + struct.pack("<Q", zlib.crc32(body))


def plan_parts(file: bytes) -> Iterator[tuple[int, bytes]]:
    """The plans in a file that the allocator has accepted, each with the number of its step."""
    start = len(_MAGIC) + 4
    (count,) = struct.unpack_from("<I", file, start)
    start += 4
    for _ in range(count):
        step, _, _, slots, moments, _ = struct.unpack_from("<6I", file, start)
        end = start + 24 + 24 * slots + 4 * moments
        yield step, file[start:end]
        start = end

"""Records, plans and replays the steps of a program that runs."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import json
import logging
import os
import threading
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Optional, Union

from .._errors import ArgumentError, MemplanError, ReadError, RefusedError
from .._plan import plan
from ._frames import program_frame
from ._library import OBSERVER, Library
from ._recording import ALIGNMENT, Event, Recording, Shape, StepPlan, plan_file, plan_parts, plan_shape
from ._statistics import answer_questions

log = logging.getLogger("memplan.torch")

# Values of the argument `varying`: what serves a step whose sizes differ from run to run.
VARYING = ("auto", "pool", "plan")
# The kinds of deviations, by the numbers that the allocator gives them.
KINDS = {0: "size", 1: "order", 2: "held", 3: "extra", 4: "survived"}
# Answers of the allocator at the end of a step: an outer step is still running; the step ran without a plan.
NESTED, UNPLANNED = -3, -2
# The name of the step between two moments at which an optimizer drops its gradients.
AUTOMATIC = "automatic"

# If this many runs in a row ask for another sequence than the plan has, the step is recorded again.
PATIENCE = 3
# How many deviations are kept with their frames, for each step function.
KEPT_DEVIATIONS = 32
# If a plan for the largest of all recorded sizes needs more than this many times the bytes of any recorded run, the
# step is left to the pool.
WORTH = 1.03
# If the pool alone held more than this many times the bytes in use while runs were recorded, a step whose sizes vary is
# worth a plan.
POOR_POOL = 1.06
# If plan and pool together hold more than this many times what the pool alone held, a plan from which runs deviate is
# given up.
WORSE = 1.05
# Bytes that do not count as waste: pages that are used in part.
SLACK = 32 << 20
# After this many runs in a row that were as planned, the pool gives back what the last deviating run needed.
CALM = 16
# The largest number of runs that are recorded before the first plan, while their sizes differ.
VARYING_RECORDINGS = 8


@dataclass(frozen=True)
class Deviated:
    """A request that was not as planned: what was expected, what came, and from where in the program."""

    kind: str
    number: int
    expected: int
    bytes: int
    frame: str

    def __str__(self) -> str:
        return f"{self.kind}: request {self.number} of {self.bytes} bytes, planned {self.expected}, at {self.frame}"


# A stream of a device: the number of the device, and the number of the stream among those of the device.
Lane = tuple[int, int]


@dataclass
class _Step:
    """A step function and what is known about it."""

    name: str
    # By which the allocator knows the step; step functions are counted from 0.
    number: int
    # How many runs have ended, and how many of them were recorded.
    runs: int = 0
    recorded: int = 0
    # The last two recordings of each lane, and all of them merged.
    recordings: dict[Lane, list[Recording]] = field(default_factory=dict)
    shapes: dict[Lane, Shape] = field(default_factory=dict)
    # The program's frame of each allocation, by the device and the handle of its stream, then by its number.
    frames: dict[tuple[int, int], dict[int, str]] = field(default_factory=dict)
    # The plans that serve the step; empty if the pool serves it.
    plans: dict[Lane, StepPlan] = field(default_factory=dict)
    # Plans of an earlier process that serve the step, as they stood in its file.
    loaded: list[bytes] = field(default_factory=list)
    # Whether recording is over: the step has been planned, or it has been left to the pool.
    has_plan: bool = False
    # Whether the requests of the run that began last are written down.
    is_recorded: bool = False
    # Whether a plan was made that no run has used yet.
    is_fresh: bool = False
    # How often the step was planned.
    plannings: int = 0
    # The step is not planned again before this run.
    wait_until: int = 0
    # The number of the last run that was merged into `shapes`; -1 if there is none.
    last_recorded: int = -1
    # How many runs in a row have deviated.
    in_a_row: int = 0
    # How many runs were as planned since the last one that deviated.
    calm: int = CALM
    # The most bytes that a run had in use.
    peak: int = 0
    # What the pool alone held while runs were recorded, as a multiple of `peak`.
    pool: float = 1.0
    # How many runs since the last planning held too much.
    wasteful: int = 0
    # How many runs had the planned sequence with other sizes.
    varied: int = 0
    deviations: list[Deviated] = field(default_factory=list)


class Replayer:
    """The allocator of this process with the steps that run on it.

    A step runs ``warmup`` times without being looked at (optimizer state appears in the first step), is recorded
    ``record`` times, planned with ``strategy`` and the other ``options`` of :func:`memplan.plan`, and replayed from then on.
    Where sizes differ from run to run, eight runs are recorded on the pool. If the pool has held much more than was in
    use, and this is the only step function, they are planned together; otherwise the step is left to the pool
    (``varying="plan"`` and ``"pool"`` say so in any case). With ``adapt``, a step that deviates is planned again, at
    most ``plannings`` times and ever more rarely: for larger sizes, or, after three deviating runs in a row, for another
    sequence. ``names`` keeps the program's frame of every allocation.
    ``host`` runs it over host memory of so many bytes, for tests; nothing of torch is used then.
    """

    def __init__(
        self,
        *,
        warmup: int = 1,
        record: int = 2,
        strategy: str = "auto",
        adapt: bool = True,
        varying: str = "auto",
        plannings: int = 16,
        names: bool = True,
        host: int = 0,
        library: Optional[str] = None,
        options: Optional[dict[str, Any]] = None,
    ) -> None:
        if warmup < 0 or record < 1:
            raise ArgumentError(f"warmup is {warmup} and record is {record}; at least 0 and 1")
        if varying not in VARYING:
            raise ArgumentError(f"varying is {varying!r}; it is one of {', '.join(VARYING)}")
        # A strategy or an option that does not exist is an error now, not in the middle of the program.
        plan([(ALIGNMENT, 0, 1)], strategy, **(options or {}))
        self.library = Library(library)
        self.warmup, self.record, self.strategy, self.adapt, self.varying = warmup, record, strategy, adapt, varying
        self.plannings, self.names, self.options = plannings, names, dict(options or {})
        self._steps: dict[str, _Step] = {}
        self._running: Optional[_Step] = None
        # Set by a signal: the program ends with it at the end of the running step.
        self.exit_code: Optional[int] = None
        self._automatic = False
        # Held while a step begins or ends. So other threads begin no step while the last one is planned. A thread may
        # take it twice, because the step that is marked automatically ends where the program's own first step begins.
        self._lock = threading.RLock()
        self._is_watching = False
        self._observer = OBSERVER(self._observed)
        self.library.checked(self.library.open(host), "torch::open")
        self._watch(every=False)
        # Threads of PyTorch still allocate when the interpreter ends, and may not call it any more. This also keeps the
        # replayer alive as long as the allocator calls it.
        atexit.register(self._stop_watching)

    def close(self) -> None:
        """Forgets all plans and gives all memory back. Nothing that was allocated may be used any more."""
        self._stop_watching()
        atexit.unregister(self._stop_watching)
        self.library.close()

    # What happens while a step runs.

    def begin(self, name: str = "step") -> None:
        """A step begins; :meth:`step` is the convenient form."""
        with self._lock:
            self._begin(name)

    def _begin(self, name: str) -> None:
        if self._automatic and name != AUTOMATIC:
            # The program marks its steps itself, so steps are no longer marked at the optimizer.
            self._automatic = False
            if self._running is not None:
                self.end()
        step = self._steps.setdefault(name, _Step(name, len(self._steps)))
        if self._running is None:
            # The observer takes Python's lock at every request that it hears of. Once enough deviations are kept, it is
            # switched off.
            if step.has_plan and len(step.deviations) >= KEPT_DEVIATIONS:
                self._stop_watching()
            else:
                # The first run that is recorded from its beginning shows where its requests come from.
                is_first = not step.has_plan and step.runs >= self.warmup and not step.frames
                self._watch(every=self.names and is_first)
        # A step that is left to the pool is not planned again, so nobody needs its requests.
        recorded = not step.has_plan or bool(step.plans or step.loaded)
        if self.library.checked(self.library.begin(step.number, int(recorded)), "torch::closed") == 1:
            self._running = step
            step.is_recorded = recorded

    def end(self, failed: bool = False) -> None:
        """The innermost step ends; ``failed`` says that an exception has ended it early."""
        with self._lock:
            self._end(failed)

    def _end(self, failed: bool) -> None:
        deviations = self.library.end()
        if deviations == NESTED or self._running is None:
            return
        step, self._running = self._running, None
        step.runs += 1
        if step.is_fresh:
            # This was the first run on a new plan. What the last recorded run left in the pool has been freed by now,
            # so its pages are given back.
            step.is_fresh = False
            self.library.trim()
        if not step.has_plan:
            if failed and step.runs > self.warmup:
                # What an exception has cut off is no pattern for other runs.
                self._watch(every=False)
                step.frames = {}
            # If it is to be recorded again since it began, nobody may have written this run down.
            elif step.is_recorded:
                self._record(step)
        elif deviations > 0:
            step.calm = 0
            self._deviated(step, deviations)
        elif (step.plans or step.loaded) and deviations == UNPLANNED:
            log.warning("step %r: the device was full, and the plan gave its bytes to the pool", step.name)
            step.plans, step.loaded = {}, []
        else:
            step.in_a_row = 0
            step.calm += 1
            if step.calm == CALM:
                step.varied = 0
                self.library.trim()
        if self.exit_code is not None:
            raise SystemExit(self.exit_code)

    def is_running(self) -> bool:
        """Whether a step is running."""
        return self._running is not None

    def step(self, name: Union[str, Callable[..., Any]] = "step") -> Any:
        """Marks a step: ``with replayer.step("train"):``, ``@replayer.step`` or ``@replayer.step("train")``."""
        if callable(name):
            return _Marked(self, name.__qualname__)(name)
        return _Marked(self, name)

    def _watch(self, every: bool) -> None:
        """Lets :meth:`_observed` hear of requests: of every one, or of those that deviate."""
        self._is_watching = every
        self.library.observe(ctypes.cast(self._observer, ctypes.c_void_p), int(every))

    def _stop_watching(self) -> None:
        """Lets nobody hear of requests."""
        self.library.observe(None, 0)

    def _observed(self, kind: int, number: int, slot: int, expected: int, size: int, device: int, stream: int) -> None:
        """Hears of one request; see ``OBSERVER`` for the arguments. It keeps the frame of the program that made it."""
        # An exception in here could not be raised anywhere: the caller is C.
        with contextlib.suppress(Exception):
            step, frame = self._running, program_frame()
            if step is None:
                return
            # While a step is recorded again, its old plan serves it, and requests may deviate from that.
            if self._is_watching:
                step.frames.setdefault((device, stream), {})[number] = frame
            # 100 is a request that is as it should be. All other kinds are deviations.
            if kind == 100:
                return
            if len(step.deviations) < KEPT_DEVIATIONS:
                step.deviations.append(Deviated(KINDS.get(kind, "?"), number, expected, size, frame))
            elif not self._is_watching:
                self._stop_watching()

    # What happens between steps.

    def _recorded(self, step: _Step) -> dict[Lane, Recording]:
        """What the last step asked for, by lane; lanes without a request are left out."""
        recordings = {}
        for position, (device, lane, stream) in enumerate(self.library.lanes()):
            events = [Event(*event) for event in self.library.recording(position)]
            if any(event.kind == 0 for event in events):
                names = step.frames.get((device, stream), {})
                recordings[device, lane] = Recording(step.name, device, lane, events, names)
        return recordings

    def _record(self, step: _Step) -> None:
        """After a run without a plan: keeps what it asked for, and plans once enough runs are known."""
        self._watch(every=False)
        if step.runs <= self.warmup:
            if step.runs == self.warmup:
                # Pages that only the first runs needed are given back, so that they do not count as waste of the pool.
                self.library.trim()
            return
        self._merge(step, self._recorded(step))
        step.recorded += 1
        step.pool = self._held(step)
        varies = any(shape.varies() for shape in step.shapes.values())
        if step.recorded < (max(self.record, VARYING_RECORDINGS) if varies and self.varying != "pool" else self.record):
            return
        if varies and not self._plans_unions(step):
            self._leave_to_pool(step, "its sizes vary")
        else:
            self._plan(step)

    def _plans_unions(self, step: _Step) -> bool:
        """Whether a step whose sizes vary is worth a plan."""
        if self.varying == "auto":
            # With several step functions, the memory that one of them leaves free serves the others. An arena that is
            # reserved for one of them would be idle while the others run.
            return len(self._steps) == 1 and step.pool > POOR_POOL
        return self.varying == "plan"

    def _merge(self, step: _Step, recorded: dict[Lane, Recording]) -> bool:
        """Merges a run with what is known of the step. False if it is of another shape, which then replaces the old one."""
        follows = step.last_recorded + 1 == step.runs
        step.last_recorded = step.runs
        same = True
        for lane, recording in recorded.items():
            # The last two recordings are kept as they are, for `recordings()`.
            step.recordings[lane] = [*step.recordings.get(lane, [])[-1:], recording]
            known = step.shapes.get(lane)
            if known is None or not known.add(recording, follows):
                same = False
                step.shapes[lane] = Shape(recording)
        return same

    def _plan(self, step: _Step) -> None:
        """Plans a step from its recordings and hands the plans over; without room for them it is left to the pool."""
        step.plannings += 1
        step.in_a_row = step.wasteful = 0
        # Even if no plan is adopted below, the step is not recorded any further.
        step.has_plan = True
        # Each planning doubles the number of runs before the next one, up to 1024: planning takes longer than a run.
        step.wait_until = step.runs + 2 ** min(step.plannings - 1, 10)
        try:
            made = {lane: plan_shape(shape, self.strategy, **self.options) for lane, shape in step.shapes.items()}
        except MemplanError as error:
            # The program goes on: it has asked for memory, not for a plan.
            self._leave_to_pool(step, str(error))
            return
        if any(plan.extent > WORTH * step.shapes[lane].peak for lane, plan in made.items()):
            self._leave_to_pool(step, "its sizes vary so much that a plan would need more")
            return
        if step.loaded or step.plans.keys() - made.keys():
            # The old plan of a lane that has no new one would stay for ever.
            self.library.checked(self.library.withdraw(step.number), "torch::plan")
        file = plan_file((step.number, plan) for plan in made.values())
        if self.library.adopt(file, len(file)) == -1:
            self._leave_to_pool(step, self.library.message())
            return
        step.plans, step.loaded, step.is_fresh = made, [], True
        extent = sum(plan.extent for plan in made.values())
        requests = sum(len(plan.slots) for plan in made.values())
        log.info("step %r: %d allocations in %d bytes", step.name, requests, extent)
        self._withdraw_idle_arenas()

    def _leave_to_pool(self, step: _Step, why: str) -> None:
        """No plan from here on; what an old one held is given back."""
        log.warning("step %r is left to the pool: %s", step.name, why)
        step.has_plan = True
        if step.plans or step.loaded:
            self.library.checked(self.library.withdraw(step.number), "torch::plan")
            step.plans, step.loaded = {}, []
        self._withdraw_idle_arenas()

    def _withdraw_idle_arenas(self) -> None:
        """Gives plans up whose arena is in the way of a larger step that the pool serves.

        An arena stays mapped while other steps run. That is waste, as much as such a step needs beside what outlives
        steps. The pool alone wastes less than ``POOR_POOL``, so beyond that it is better off without the plan.
        """
        planned = [step for step in self._steps.values() if step.plans]
        pooled = max((step.peak for step in self._steps.values() if step.has_plan and not step.plans), default=0)
        arena = max((sum(plan.extent for plan in step.plans.values()) for step in planned), default=0)
        if pooled == 0 or pooled + arena <= POOR_POOL * max(step.peak for step in self._steps.values()):
            return
        # `_leave_to_pool` calls this function again, which may take the plans of the other steps. So each is looked at
        # once more.
        for step in planned:
            if step.plans:
                self._leave_to_pool(step, "a step without a plan needs more, and would find this one's arena in its way")

    def _deviated(self, step: _Step, deviations: int) -> None:
        """After a run that deviated: says so, and plans again if it makes sense."""
        step.in_a_row += 1
        if step.in_a_row == 1 or step.in_a_row == PATIENCE:
            first = step.deviations[0] if step.deviations else "something survived the step"
            log.warning("step %r, run %d: %d deviations; %s", step.name, step.runs, deviations, first)
        if self.adapt and self._plans_unions(step) and self._is_wasteful(step):
            self._leave_to_pool(step, "plan and pool together hold more than the pool alone did")
            return
        if step.plannings >= self.plannings:
            return
        if not self.adapt:
            if step.in_a_row == PATIENCE:
                log.warning("step %r keeps deviating; Replayer.record_again(%r) records it again", step.name, step.name)
            return
        if not self._plans_unions(step) and self._same_shape(step, self._recorded(step)):
            step.varied += 1
            if step.varied == PATIENCE:
                self._leave_to_pool(step, "its sizes vary")
            return
        due = step.runs >= step.wait_until
        recorded = self._recorded(step) if due or step.in_a_row == 1 else {}
        if recorded and self._is_grown(step, recorded, due):
            self._merge(step, recorded)
            self._plan(step)
        elif step.in_a_row == PATIENCE and not self._same_shape(step, recorded or self._recorded(step)):
            self.record_again(step.name)

    def _held(self, step: _Step) -> float:
        """What the allocator holds after a run of a step, over the most that its runs had in use."""
        lanes = self.library.report()["lanes"]
        step.peak = max(step.peak, sum(lane["step_peak"] for lane in lanes))
        reserved = sum(sum(lane["reserved"].values()) for lane in lanes)
        return max(0, reserved - SLACK) / max(1, step.peak)

    def _is_wasteful(self, step: _Step) -> bool:
        """Whether plan and pool together have held more than the pool alone did, in several runs that deviated."""
        step.wasteful += self._held(step) > max(WORTH, WORSE * step.pool)
        return step.wasteful >= PATIENCE

    @staticmethod
    def _same_shape(step: _Step, recorded: dict[Lane, Recording]) -> bool:
        """Whether a run has made as many allocations on each lane as the runs that were planned."""
        shapes = step.shapes
        # Of a run without requests nothing is known: nobody may have written it down.
        return bool(recorded) and all(lane in shapes and len(shapes[lane]) == len(run.sizes()) for lane, run in recorded.items())

    def _is_grown(self, step: _Step, recorded: dict[Lane, Recording], due: bool) -> bool:
        """Whether a run is the known sequence with larger sizes; before it is due, only if it is much larger."""
        if not self._same_shape(step, recorded):
            return False
        known = sum(sum(shape.most) for shape in step.shapes.values())
        grown = sum(sum(map(max, step.shapes[lane].most, run.sizes())) for lane, run in recorded.items())
        return grown > known * (1.0 if due else 1.02)

    def record_again(self, name: str = "step") -> None:
        """Forgets what was recorded of a step; its next runs are recorded and planned. An old plan serves it until then.

        A run that is under way counts as one of them only if it is written down, as it is if it has a plan. A step that
        was left to the pool is recorded from its next run on.
        """
        step = self._known(name)
        step.recordings.clear()
        step.shapes.clear()
        step.deviations.clear()
        # Plans keep the names that they were made with.
        step.frames = {}
        step.has_plan, step.recorded, step.in_a_row = False, 0, 0

    # What is known.

    def _known(self, name: str) -> _Step:
        """The step of that name."""
        if name not in self._steps:
            known = f"known are {', '.join(map(repr, self._steps))}" if self._steps else "no step has run"
            raise ArgumentError(f"no step is called {name!r}; {known}", code="torch::step")
        return self._steps[name]

    def recordings(self, name: str = "step") -> list[Recording]:
        """The last recordings of a step, at most two for each lane."""
        return [recording for found in self._known(name).recordings.values() for recording in found]

    def plans(self, name: str = "step") -> list[StepPlan]:
        """The plans of a step, one for each lane; ``plans()[0].plan.save("step.html")`` draws the map."""
        return list(self._known(name).plans.values())

    def deviations(self, name: str = "step") -> list[Deviated]:
        """The first deviations of a step, with frames."""
        return list(self._known(name).deviations)

    def report(self) -> dict[str, Any]:
        """The allocator's state: bytes by device, requests and deviations by lane, and the steps."""
        facts = self.library.report()
        facts["steps"] = {
            step.name: {
                "runs": step.runs,
                "plannings": step.plannings,
                "extent": sum(plan.extent for plan in step.plans.values()),
                "deviations": [str(deviated) for deviated in step.deviations],
            }
            for step in self._steps.values()
        }
        return facts

    def summary(self) -> str:
        """The report in sentences."""
        facts = self.report()
        lines = []
        for device in facts["devices"]:
            lanes = [lane for lane in facts["lanes"] if lane["device"] == device["device"]]
            reserved = sum(sum(lane["reserved"].values()) for lane in lanes)
            planned, exact = (sum(lane[key] for lane in lanes) for key in ("planned", "exact_steps"))
            deviations = sum(sum(lane["deviations"].values()) for lane in lanes)
            lines.append(
                f"device {device['device']}: {reserved} bytes reserved, {device['peak']} in use at the peak; "
                f"{planned} requests at planned addresses, {exact} exact steps, {deviations} deviations"
            )
        for name, step in facts["steps"].items():
            lines.append(f"step {name!r}: {step['runs']} runs, {step['extent']} bytes planned")
            lines += [f"  {deviated}" for deviated in step["deviations"][:5]]
        return "\n".join(lines)

    # Plans that outlive the process.

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes all plans to a file for :meth:`load`."""
        head = json.dumps({"memplan.torch": 1, "steps": {step.name: step.number for step in self._steps.values()}})
        every: list[tuple[int, Union[StepPlan, bytes]]] = []
        for step in self._steps.values():
            every += [(step.number, plan) for plan in step.plans.values()]
            every += [(step.number, part) for part in step.loaded]
        plans = plan_file(every)
        # If the process is killed while it writes, the old file or the new one is left, never half of one.
        unfinished = f"{os.fspath(path)}.{os.getpid()}.tmp"
        with open(unfinished, "wb") as file:
            file.write(head.encode() + b"\n" + plans)
        os.replace(unfinished, path)

    def load(self, path: Union[str, os.PathLike[str]]) -> None:
        """Takes plans of an earlier process over, which are verified again; call it before the first step."""
        with open(path, "rb") as file:
            head, _, plans = file.read().partition(b"\n")
        try:
            facts = json.loads(head)
            steps = {str(name): int(number) for name, number in facts["steps"].items()}
            known = facts["memplan.torch"]
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            raise ReadError("not a file of plans", code="torch::plan", file=os.fspath(path)) from None
        if known != 1 or sorted(steps.values()) != list(range(len(steps))) or self._steps:
            raise ReadError("plans of another version, or not the first thing", code="torch::plan", file=os.fspath(path))
        self.library.checked(self.library.adopt(plans, len(plans)), "torch::plan")
        parts = list(plan_parts(plans))
        unknown = {number for number, _ in parts} - set(steps.values())
        if unknown:
            # A step of this program would get the number, and the plan with it.
            for number in unknown | set(steps.values()):
                self.library.checked(self.library.withdraw(number), "torch::plan")
            message = "not a file of plans: it has a plan for a step that it does not name"
            raise ReadError(message, code="torch::plan", file=os.fspath(path))
        self._steps = {name: _Step(name, number, has_plan=True) for name, number in steps.items()}
        by_number = {step.number: step for step in self._steps.values()}
        for number, part in parts:
            by_number[number].loaded.append(part)


class _Marked(contextlib.ContextDecorator):
    """A marked step, as a context manager and as a decorator. An exception ends the step, too."""

    def __init__(self, replayer: Optional[Replayer], name: str) -> None:
        self._replayer, self._name = replayer, name

    def __enter__(self) -> "_Marked":
        self._entered = self._replayer or _current
        if self._entered is not None:
            self._entered.begin(self._name)
        return self

    def __exit__(self, kind: Any = None, *_: Any) -> None:
        if self._entered is not None:
            self._entered.end(failed=kind is not None)


_current: Optional[Replayer] = None


def current() -> Optional[Replayer]:
    """The replayer that :func:`enable` has made, if there is one."""
    return _current


def step(name: Union[str, Callable[..., Any]] = "step") -> Any:
    """Marks a step of the program: a decorator or a context manager, with or without a name.

    Without :func:`enable` it does nothing, so that a program may keep its marks.
    """
    if callable(name):
        return _Marked(None, name.__qualname__)(name)
    return _Marked(None, name)


def report() -> dict[str, Any]:
    """The state of the replayer that :func:`enable` has made."""
    if _current is None:
        raise MemplanError("memplan.torch.enable() was not called", code="torch::closed")
    return _current.report()


def enable(*, automatic: bool = False, **options: Any) -> Replayer:
    """Makes PyTorch allocate through memplan; call it before the first use of CUDA.

    ``automatic`` marks steps by itself: one ends where an optimizer has dropped its gradients. Other arguments
    are those of :class:`Replayer`. CUDA graphs are refused: they keep addresses that the plan gives to others.
    """
    global _current
    if _current is not None:
        raise RefusedError("memplan.torch is enabled already", code="torch::enabled")
    try:
        import torch
    except ModuleNotFoundError:
        raise RefusedError("torch is not installed", code="dropin::missing", help="pip install torch") from None
    if torch.cuda.is_initialized():
        message = "PyTorch has used CUDA already; call memplan.torch.enable() at the beginning of the program"
        raise RefusedError(message, code="torch::late")
    replayer = Replayer(**options)
    try:
        _install(torch, replayer.library)
    except BaseException:
        replayer.close()
        raise
    _refuse_graphs(torch)
    answer_questions(torch, replayer.library)
    if automatic:
        _mark_optimizer_steps(torch, replayer)
    _current = replayer
    return replayer


def disable() -> None:
    """Forgets the replayer. PyTorch keeps the allocator until the process ends; steps are no longer marked.

    A step that runs by itself (``automatic``) ends here; one that the program has marked ends where it says.
    """
    global _current
    replayer, _current = _current, None
    if replayer is not None and replayer._automatic:
        replayer._automatic = False
        if replayer.is_running():
            replayer.end()


def _install(torch: Any, library: Library) -> None:
    """Makes PyTorch call the allocator's functions."""
    names = ("memplan_replay_malloc", "memplan_replay_free")
    allocator = torch.cuda.memory.CUDAPluggableAllocator(library.path, *names)
    handle = allocator.allocator()
    if hasattr(handle, "set_record_stream_fn"):
        handle.set_record_stream_fn(library.address_of("record_stream"))
    else:
        log.warning("this PyTorch does not tell allocators about record_stream: use one stream only")
    # PyTorch takes a null pointer for an address. Its own function for failed checks throws instead.
    with contextlib.suppress(OSError, AttributeError):
        core = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libc10.so"))
        library.failure(ctypes.cast(core["_ZN3c106detail14torchCheckFailEPKcS2_jS2_"], ctypes.c_void_p))
    # Last, because it cannot be taken back: if anything above fails, PyTorch allocates as before.
    torch.cuda.memory.change_current_allocator(allocator)


def _refuse_graphs(torch: Any) -> None:
    """Makes the recording of a CUDA graph an error."""
    def refused(*_: Any, **__: Any) -> None:
        message = "CUDA graphs keep addresses that the plan gives to others; memplan.torch does not support them"
        raise RefusedError(message, code="torch::graph")

    torch.cuda.CUDAGraph.capture_begin = refused


def _mark_optimizer_steps(torch: Any, replayer: Replayer) -> None:
    """Lets a step end, and the next one begin, where the first optimizer has dropped its gradients.

    Few bytes are alive there. Where a program drops them does not matter: what is alive across the mark is carried.
    """
    dropped = torch.optim.Optimizer.zero_grad
    first: list[Any] = []
    replayer._automatic = True

    def zero_grad(self: Any, *arguments: Any, **options: Any) -> Any:
        answer = dropped(self, *arguments, **options)
        first[:] = first or [self]
        if replayer._automatic and first[0] is self:
            if replayer._running is not None:
                replayer.end()
            replayer.begin(AUTOMATIC)
        return answer

    torch.optim.Optimizer.zero_grad = zero_grad


"""Many inputs, several strategies: one table.

A sweep is a list of jobs, one for each input and strategy. Jobs run on local processes, or on a cluster that the
caller brings: a Dask client, the ``ray`` module, or any ``concurrent.futures`` executor. Each finished row is
appended to a journal, so that a sweep that was cut off goes on where it stopped.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator

from . import _native
from ._errors import ArgumentError, MemplanError
from ._plan import plan as plan_problem
from ._problem import Size, Space, read, space_text

# A row has every key of _COLUMNS; what is not known is None. A job has "input", "strategy" and the options of `sweep`.
# Both can be written as JSON, because jobs and rows travel between processes.
Row = dict[str, Any]
Job = dict[str, Any]

_COLUMNS = ("input", "strategy", "buffers", "status", "extent", "lower_bound", "ratio", "seconds", "error")

# How often a job is begun. If its worker dies every time, the job itself is taken to be the cause.
_ATTEMPTS = 3


class Sweep:
    """The table of a sweep: a row for each input and strategy, in the order they were given."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)

    def to_pandas(self) -> Any:
        """The table as a ``pandas.DataFrame``."""
        import pandas

        return pandas.DataFrame(self.rows, columns=list(_COLUMNS))

    def best(self) -> dict[str, Row]:
        """The smallest plan for each input."""
        best: dict[str, Row] = {}
        for row in self.rows:
            known = best.get(row["input"])
            if row["extent"] is not None and (known is None or row["extent"] < known["extent"]):
                best[row["input"]] = row
        return best

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Row:
        return self.rows[index]

    def __repr__(self) -> str:
        shown = ("input", "strategy", "buffers", "status", "extent", "ratio", "error")
        table = [list(shown)] + [[_cell(row[key]) for key in shown] for row in self.rows]
        widths = [max(len(row[index]) for row in table) for index in range(len(shown))]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in table)

    def _repr_html_(self) -> str:
        return self.to_pandas()._repr_html_()


def _cell(value: Any) -> str:
    """A value in the printed table."""
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def sweep(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    strategies: str | Iterable[str] = ("auto",),
    *,
    assign: str = "offsets",
    time_limit: float | None = None,
    work: int | None = None,
    seed: int = 0,
    effort: str = "normal",
    strict: bool = False,
    capacity: Size | None = None,
    align: Size | None = None,
    spaces: Iterable[str | Space] = (),
    client: Any = None,
    workers: int | None = None,
    journal: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Sweep:
    """Plans every input with every strategy.

    ``paths`` is a folder (every file in it that memplan can read by its name), a file, or several of either.
    ``client`` is a Dask client, the ``ray`` module or an executor; without one, ``workers`` local processes do the
    work; they import nothing of the caller's. ``capacity``, ``align`` and ``spaces`` set every input on a target, as
    for :func:`plan`. With ``journal``, a file, finished rows are kept there and not done again, by this version of
    memplan. ``progress(done, all)`` hears every finished row. What goes wrong with an input is in its row's ``error``;
    it stops nobody else. A row whose worker died again and again is ``"lost"`` and not kept in the journal.
    """
    names = [strategies] if isinstance(strategies, str) else list(strategies)
    options = {
        "assign": assign,
        "time_limit": time_limit,
        "work": work,
        "seed": seed,
        "effort": effort,
        "strict": strict,
        "capacity": capacity,
        "align": align,
        "spaces": [space_text(space) for space in ([spaces] if isinstance(spaces, (str, Space)) else spaces)],
    }
    jobs = [{"input": path, "strategy": name, **options} for path in _inputs(paths) for name in names]
    record = _Journal(journal)
    # The rows by the position of their job. First those that an earlier sweep has left in the journal.
    found: dict[int, Row] = {}
    for index, job in enumerate(jobs):
        if (row := record.row(job)) is not None:
            found[index] = row
    if progress:
        progress(len(found), len(jobs))
    waiting = {index: job for index, job in enumerate(jobs) if index not in found}
    for index, row in _run(waiting, client, workers):
        if row["status"] != "lost":
            record.add(jobs[index], row)
        found[index] = row
        if progress:
            progress(len(found), len(jobs))
    return Sweep(found[index] for index in range(len(jobs)))


def _inputs(paths: Any) -> list[str]:
    """The files to plan. Of a folder these are the files with an extension that memplan knows."""
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    files: list[str] = []
    for path in map(Path, paths):
        if path.is_dir():
            files.extend(str(file) for file in sorted(path.rglob("*")) if file.is_file() and _is_known(file))
        elif path.exists():
            files.append(str(path))
        else:
            raise ArgumentError(f"there is no file or folder {path}")
    return files


def _is_known(file: Path) -> bool:
    """Whether memplan reads files with this extension."""
    return file.suffix[1:].lower() in _native.extensions()


class _Journal:
    """Finished rows in a file, a JSON object a line; the last line may be torn and then does not count."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._path = path
        self._rows: dict[str, Row] = {}
        if path is not None and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    try:
                        entry = json.loads(line)
                        self._rows[entry["job"]] = entry["row"]
                    except (ValueError, KeyError, TypeError):
                        continue

    @staticmethod
    def _key(job: Job) -> str:
        """What a row is found by: a hash of everything that the row depends on."""
        # An input that has changed since is another input, and another version may plan it otherwise.
        stat = os.stat(job["input"])
        facts = json.dumps([_native.version(), job, stat.st_size, stat.st_mtime_ns], sort_keys=True)
        return hashlib.sha256(facts.encode()).hexdigest()

    def row(self, job: Job) -> Row | None:
        """The row of a job that an earlier sweep has finished."""
        return self._rows.get(self._key(job)) if self._rows else None

    def add(self, job: Job, row: Row) -> None:
        """Keeps a finished row."""
        if self._path is None:
            return
        with open(self._path, "a", encoding="utf-8") as file:
            # If the last line was cut off, the new row begins on a line of its own, so that it can be read.
            if file.tell() and not _ends_with_newline(self._path):
                file.write("\n")
            file.write(json.dumps({"job": self._key(job), "row": row}) + "\n")
            file.flush()


def _ends_with_newline(path: str | os.PathLike[str]) -> bool:
    """Whether the last byte of a file, which is not empty, ends a line."""
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def run_job(job: Job) -> Row:
    """Does one job; runs wherever the workers are. Errors are part of the answer."""
    row: Row = dict.fromkeys(_COLUMNS)
    row.update(input=job["input"], strategy=job["strategy"])
    start = time.perf_counter()
    try:
        problem = read(job["input"]).on(capacity=job["capacity"], align=job["align"], spaces=job["spaces"])
        row["buffers"] = len(problem)
        limits = {key: job[key] for key in ("assign", "time_limit", "work", "seed", "effort", "strict")}
        plan = plan_problem(problem, job["strategy"], **limits)
        row.update(status=plan.status, extent=plan.extent, lower_bound=plan.lower_bound)
        if plan.extent is not None and plan.lower_bound:
            row["ratio"] = plan.extent / plan.lower_bound
    except (MemplanError, OSError) as error:
        row.update(status="error", error=str(error))
    row["seconds"] = time.perf_counter() - start
    return row


def _run(jobs: dict[int, Job], client: Any, workers: int | None) -> Iterator[tuple[int, Row]]:
    """Runs jobs wherever the caller wants them, and yields the number of each with its row, in the order they finish.

    What kind of client it is can be told by its attributes, without importing the package that it comes from.
    """
    if not jobs:
        return iter(())
    if client is None:
        return _run_locally(jobs, workers)
    if getattr(client, "__name__", None) == "ray":
        return _run_on_ray(jobs, client)
    if hasattr(client, "scheduler_info"):
        return _run_on_dask(jobs, client)
    if hasattr(client, "submit"):
        return _run_on_executor(jobs, client)
    raise ArgumentError(f"client is {client!r}; expected a Dask client, the ray module or an executor")


def _run_on_executor(jobs: dict[int, Job], executor: Any) -> Iterator[tuple[int, Row]]:
    """Runs jobs on an executor of ``concurrent.futures``."""
    futures = {executor.submit(run_job, job): index for index, job in jobs.items()}
    for future in concurrent.futures.as_completed(futures):
        yield futures[future], future.result()


# What a worker runs. It has the caller's search path, in which memplan was found, and nothing else of the caller's:
# a script need not protect itself from being imported by its workers.
_WORKER = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from memplan._sweep import _serve; _serve()"


class _Worker:
    """A process that does one job after the other, a line of JSON each.

    ``ProcessPoolExecutor`` and ``multiprocessing`` are not for this. They import the caller's main module into every
    worker, and when a worker dies while another one is being started the former may wait forever.
    """

    def __init__(self) -> None:
        command = [sys.executable, "-c", _WORKER, json.dumps(sys.path)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, job: Job) -> Row:
        """Hands over one job and waits for its row; ``EOFError`` or ``OSError`` if the process has died."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(job).encode() + b"\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer.endswith(b"\n"):
            raise EOFError
        return json.loads(answer)

    def end(self) -> None:
        """Ends the process, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            try:
                if pipe:
                    pipe.close()
            except OSError:
                # What was not yet written is not wanted any more.
                pass


def _serve() -> None:
    """What a worker does: it reads jobs from standard input, and writes their rows, until the input ends."""
    # Ctrl-C is left to the caller, which ends its workers. The answers go to the original standard output; anything
    # else that is printed goes to standard error, so that it does not mix with the answers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        answers.write(json.dumps(run_job(json.loads(line))).encode() + b"\n")
        answers.flush()


def _run_locally(jobs: dict[int, Job], workers: int | None) -> Iterator[tuple[int, Row]]:
    """Each thread has a worker; one that dies is replaced, and its job begins again."""
    # The worker of the current thread is `own.worker`. `all_workers` are those of all threads, also dead ones.
    own = threading.local()
    all_workers: list[_Worker] = []
    is_over = threading.Event()

    def run(job: Job) -> Row:
        for _ in range(_ATTEMPTS):
            if is_over.is_set():
                break
            try:
                if getattr(own, "worker", None) is None:
                    own.worker = _Worker()
                    all_workers.append(own.worker)
                return own.worker.run(job)
            except (EOFError, OSError):
                own.worker = None
        return _lost(job)

    with concurrent.futures.ThreadPoolExecutor(workers or os.cpu_count() or 1) as threads:
        futures = {threads.submit(run, job): index for index, job in jobs.items()}
        try:
            for future in concurrent.futures.as_completed(futures):
                yield futures[future], future.result()
        finally:
            # Threads that still wait for an answer of their worker get an error when the worker is killed.
            is_over.set()
            for future in futures:
                future.cancel()
            for worker in list(all_workers):
                worker.end()


def _lost(job: Job) -> Row:
    """The row of a job whose worker has died every time."""
    row: Row = dict.fromkeys(_COLUMNS)
    message = f"its worker died {_ATTEMPTS} times"
    row.update(input=job["input"], strategy=job["strategy"], status="lost", error=message)
    return row


def _run_on_dask(jobs: dict[int, Job], client: Any) -> Iterator[tuple[int, Row]]:
    """Runs jobs on a Dask cluster."""
    from distributed import as_completed

    # Dask takes a function to be pure, and then runs two jobs with the same arguments only once. Here the file behind
    # an argument may have changed since the last sweep.
    futures = {
        client.submit(run_job, job, pure=False, retries=_ATTEMPTS - 1): index for index, job in jobs.items()
    }
    for future in as_completed(list(futures)):
        index = futures[future]
        yield index, _lost(jobs[index]) if future.status == "error" else future.result()


def _run_on_ray(jobs: dict[int, Job], ray: Any) -> Iterator[tuple[int, Row]]:
    """Runs jobs on a Ray cluster."""
    remote = ray.remote(max_retries=_ATTEMPTS - 1)(run_job)
    futures = {remote.remote(job): index for index, job in jobs.items()}
    waiting = list(futures)
    while waiting:
        [done], waiting = ray.wait(waiting, num_returns=1)
        index = futures[done]
        try:
            yield index, ray.get(done)
        except ray.exceptions.RayError:
            yield index, _lost(jobs[index])

"""``python -m memplan.torch``: runs a training script on planned memory, and plans recorded steps."""

from __future__ import annotations

import argparse
import json
import logging
import os
import runpy
import signal
import sys
from typing import Optional, Sequence

from .._errors import MemplanError
from ._recording import plan_step, read_recording
from ._replayer import Replayer, enable


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m memplan.torch", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run a script; its steps are recorded, planned and replayed")
    run.add_argument("--warmup", type=int, default=1, metavar="N", help="runs of a step before it is recorded (1)")
    run.add_argument("--record", type=int, default=2, metavar="N", help="runs of a step that are recorded (2)")
    run.add_argument("--strategy", default="auto", metavar="NAME", help="the strategy that plans (auto)")
    run.add_argument("--no-adapt", action="store_true", help="do not plan again when a step deviates")
    run.add_argument("--plan", metavar="FILE", help="plans of an earlier run, written by --save")
    run.add_argument("--save", metavar="FILE", help="write the plans")
    run.add_argument("--page", metavar="FILE", help="write the memory map of the first planned step (.html, .svg)")
    run.add_argument("--recordings", metavar="FOLDER", help="write what the steps asked for")
    run.add_argument("--report", metavar="FILE", help="write what happened, as JSON")
    run.add_argument("--host", type=int, default=0, metavar="BYTES", help="host memory instead of a GPU's, for a try")
    run.add_argument("script", help="the program")
    run.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    plan = commands.add_parser("plan", help="plan recorded steps, without a GPU")
    plan.add_argument("recordings", nargs="+", metavar="RECORDING", help="recordings of one step, the newest last")
    plan.add_argument("--strategy", default="auto", metavar="NAME", help="the strategy that plans (auto)")
    plan.add_argument("-o", "--output", metavar="FILE", help="write the plan or its map (.html, .svg, .json, .csv)")
    return top


def main(arguments: Optional[Sequence[str]] = None) -> int:
    options = parser().parse_args(arguments)
    logging.basicConfig(format="memplan: %(message)s")
    logging.getLogger("memplan.torch").setLevel(logging.INFO)
    try:
        return _plan(options) if options.command == "plan" else _run(options)
    except MemplanError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _plan(options: argparse.Namespace) -> int:
    recordings = [read_recording(path) for path in options.recordings]
    made = plan_step(recordings, options.strategy)
    lasting = sum(1 for offset, _, _ in made.slots if offset is None)
    print(f"step {made.recording.step!r}: {len(made.slots)} allocations, {lasting} of which outlive it")
    print(f"{made.extent} bytes, lower bound {made.plan.lower_bound}: {made.plan.status}")
    if options.output:
        made.plan.save(options.output)
    return 0


def _run(options: argparse.Namespace) -> int:
    """Runs the script as the main program; what was asked for is written also if it fails."""
    replayer = enable(
        automatic=True,
        warmup=options.warmup,
        record=options.record,
        strategy=options.strategy,
        adapt=not options.no_adapt,
        host=options.host,
    )
    if options.plan:
        replayer.load(options.plan)
    _exit_when_terminated(replayer)
    sys.argv = [options.script, *options.arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(options.script)))
    process = os.getpid()
    try:
        runpy.run_path(options.script, run_name="__main__")
    finally:
        # A process that the script has forked comes here, too, if it ends like a script. The files are not its own.
        if os.getpid() == process:
            _write(options, replayer)
    return 0


def _exit_when_terminated(replayer: Replayer) -> None:
    """SIGTERM, as schedulers send it, ends the script like ``sys.exit()``, so that what was asked for is written.

    A running step is finished first: in the middle of it the signal may come where Python drops exceptions. A second
    signal does not wait. A script that installs a handler of its own replaces this one.
    """

    process = os.getpid()

    def terminated(number: int, _frame: object) -> None:
        if os.getpid() != process:
            # In a forked process no step will ever end. It ends as it would without this function.
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        is_second = replayer.exit_code is not None
        replayer.exit_code = 128 + number
        if is_second or not replayer.is_running():
            sys.exit(replayer.exit_code)

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, terminated)


def _write(options: argparse.Namespace, replayer: Replayer) -> None:
    print(replayer.summary(), file=sys.stderr)
    steps = list(replayer.report()["steps"])
    if options.save:
        replayer.save(options.save)
    if options.report:
        with open(options.report, "w", encoding="utf-8") as file:
            json.dump(replayer.report(), file, indent=1)
    planned = [plan for step in steps for plan in replayer.plans(step)]
    if options.page and planned:
        planned[0].plan.save(options.page)
    if options.recordings:
        os.makedirs(options.recordings, exist_ok=True)
        recordings = [recording for step in steps for recording in replayer.recordings(step)]
        for index, recording in enumerate(recordings):
            with open(os.path.join(options.recordings, f"{index}.json"), "w", encoding="utf-8") as file:
                file.write(recording.to_json())


if __name__ == "__main__":
    sys.exit(main())

"""PyTorch on a GPU: record a step, plan it, replay it.

    import memplan.torch

    memplan.torch.enable()              # before the first CUDA call

    @memplan.torch.step                 # or: with memplan.torch.step("train"):
    def train(batch): ...

The first runs of a step are recorded. Then the step is planned, and from there on its n-th allocation gets its
planned address; what lives longer, and what deviates, comes from a pool. ``python -m memplan.torch run train.py``
does the same for a script that marks nothing: a step then ends where the optimizer drops the gradients.

Importing this module does not import torch; :func:`enable` does.
"""

from __future__ import annotations

from ._recording import Event, Recording, StepPlan, plan_step, read_recording
from ._replayer import Replayer, current, disable, enable, report, step

__all__ = [
    "Event",
    "Recording",
    "Replayer",
    "StepPlan",
    "current",
    "disable",
    "enable",
    "plan_step",
    "read_recording",
    "report",
    "step",
]

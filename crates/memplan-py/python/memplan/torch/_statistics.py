"""What PyTorch's questions about memory are answered with while memplan allocates.

PyTorch asks its own allocator how many bytes are in use, and raises an error if another one has taken its place. So
a script that prints ``torch.cuda.max_memory_allocated()`` would end there. The functions below take the place of
the two that all others are made of: one that reads the counters, and one that forgets the peaks.
"""

from __future__ import annotations

from typing import Any, Callable

from ._library import Library

# PyTorch's names for bytes in use and bytes taken from the driver, and ours, now and at most.
COUNTERS = {
    "allocated_bytes": ("live", "peak"),
    "active_bytes": ("live", "peak"),
    "requested_bytes": ("live", "peak"),
    "reserved_bytes": ("reserved", "reserved_peak"),
}


class Statistics(dict[str, int]):
    """The counters of one device, under PyTorch's names. A counter that memplan does not keep is 0."""

    def __missing__(self, key: str) -> int:
        return 0


def statistics(report: dict[str, Any], device: int) -> Statistics:
    """The counters of a device in a report of the allocator; all are 0 if it was not asked for memory yet."""
    facts = next((facts for facts in report["devices"] if facts["device"] == device), None)
    counters = Statistics()
    for name, (current, peak) in COUNTERS.items():
        if facts is not None:
            counters[f"{name}.all.current"] = facts[current]
            counters[f"{name}.all.peak"] = facts[peak]
    return counters


def answer_questions(torch: Any, library: Library) -> None:
    """Lets ``torch.cuda.memory_allocated()`` and the like answer for memplan's allocator."""

    def memory_stats(device: Any = None) -> Statistics:
        return statistics(library.report(), _number_of(torch, device))

    def forget_peaks(device: Any = None) -> None:
        # Peaks of all devices begin anew: the allocator keeps one moment for them.
        library.checked(library.restart_peaks(), "torch::closed")

    replaced: dict[str, Callable[..., Any]] = {
        "memory_stats": memory_stats,
        "reset_peak_memory_stats": forget_peaks,
        # Sums over the whole run, which memplan does not keep.
        "reset_accumulated_memory_stats": lambda device=None: None,
    }
    # The functions are made in one module and handed on by the other. Those that ask further, such as
    # `max_memory_allocated`, find them in the first.
    for module in (torch.cuda.memory, torch.cuda):
        for name, function in replaced.items():
            if hasattr(module, name):
                setattr(module, name, function)


def _number_of(torch: Any, device: Any) -> int:
    """The number of a device as PyTorch's functions take it: a number, a name, a device, or ``None`` for the current one."""
    if isinstance(device, int):
        return device
    index = None if device is None else torch.device(device).index
    return int(torch.cuda.current_device()) if index is None else int(index)

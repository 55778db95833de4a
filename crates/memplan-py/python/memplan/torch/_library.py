"""The allocator's C functions, through ctypes."""

from __future__ import annotations

import ctypes
import json
import os
import struct
from typing import Any, Callable, Optional

from .._errors import MemplanError

# The function that hears of requests. Its arguments: kind, number of the request in the step, expected slot, bytes of
# that slot, bytes asked for, device, stream.
OBSERVER = ctypes.CFUNCTYPE(
    None,
    ctypes.c_uint32,
    ctypes.c_uint32,
    ctypes.c_uint32,
    ctypes.c_uint64,
    ctypes.c_uint64,
    ctypes.c_int,
    ctypes.c_uint64,
)

# The version of the C functions that this module expects.
VERSION = 3

# One recorded request: kind, number, bytes.
EVENT = struct.Struct("<IIQ")


def library_path() -> str:
    """The file that holds the allocator: the package's native module, or ``MEMPLAN_REPLAY_LIBRARY``."""
    chosen = os.environ.get("MEMPLAN_REPLAY_LIBRARY")
    if chosen:
        return chosen
    from .. import _native

    return _native.__file__


class Library:
    """The functions of the allocator; there is one allocator in a process."""

    def __init__(self, path: Optional[str] = None) -> None:
        self.path = path or library_path()
        self._functions = ctypes.CDLL(self.path)
        try:
            version = self._functions.memplan_replay_version()
        except AttributeError:
            raise MemplanError(f"{self.path} has no allocator in it", code="torch::library") from None
        if version != VERSION:
            raise MemplanError(f"{self.path} speaks version {version}; expected {VERSION}", code="torch::library")
        self._declare()

    def _declare(self) -> None:
        """Tells ctypes what each function answers and takes."""
        number, pointer, size, signed = ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_ssize_t
        answers = {
            "open": (ctypes.c_int64, [number]),
            "close": (None, []),
            "message": (ctypes.c_char_p, []),
            "malloc": (pointer, [signed, ctypes.c_int, pointer]),
            "free": (None, [pointer, signed, ctypes.c_int, pointer]),
            "record_stream": (None, [pointer, pointer]),
            "begin": (ctypes.c_int64, [ctypes.c_uint32, ctypes.c_int]),
            "end": (ctypes.c_int64, []),
            "adopt": (ctypes.c_int64, [ctypes.c_char_p, size]),
            "withdraw": (ctypes.c_int64, [ctypes.c_uint32]),
            "lanes": (ctypes.c_int64, [pointer, size]),
            "recording": (ctypes.c_int64, [size, pointer, size]),
            "report": (ctypes.c_int64, [pointer, size]),
            "trim": (ctypes.c_int64, []),
            "restart_peaks": (ctypes.c_int64, []),
            "observe": (None, [pointer, ctypes.c_int]),
            "failure": (None, [pointer]),
        }
        for name, (answer, arguments) in answers.items():
            function = getattr(self._functions, f"memplan_replay_{name}")
            function.restype, function.argtypes = answer, arguments

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._functions, f"memplan_replay_{name}")

    def address_of(self, name: str) -> Optional[int]:
        """Where a function of the allocator is, for somebody else who calls it."""
        return ctypes.cast(self._functions[f"memplan_replay_{name}"], ctypes.c_void_p).value

    def message(self) -> str:
        """What went wrong in this thread's last call."""
        return self._functions.memplan_replay_message().decode()

    def checked(self, answer: int, code: str) -> int:
        """The answer of a call, or its message as an exception."""
        if answer == -1:
            raise MemplanError(self.message(), code=code)
        return answer

    def report(self) -> dict[str, Any]:
        """The allocator's state."""
        room = 1 << 12
        while True:
            text = ctypes.create_string_buffer(room)
            length = self.checked(self._functions.memplan_replay_report(text, room), "torch::closed")
            if length < room:
                return json.loads(text.value)
            room = length + 1

    def lanes(self) -> list[tuple[int, int, int]]:
        """Lanes as (device, number, stream)."""
        count = self.checked(self._functions.memplan_replay_lanes(None, 0), "torch::closed")
        numbers = (ctypes.c_uint64 * (3 * count))()
        self._functions.memplan_replay_lanes(numbers, count)
        return [(numbers[first], numbers[first + 1], numbers[first + 2]) for first in range(0, 3 * count, 3)]

    def recording(self, lane: int) -> list[tuple[int, int, int]]:
        """The requests of the last step on a lane, as (kind, number, bytes)."""
        count = self.checked(self._functions.memplan_replay_recording(lane, None, 0), "torch::closed")
        block = ctypes.create_string_buffer(max(1, count * EVENT.size))
        written = self._functions.memplan_replay_recording(lane, block, count)
        return list(EVENT.iter_unpack(block.raw[: min(count, written) * EVENT.size]))

"""Where in the program an allocation comes from."""

from __future__ import annotations

import os
import sys
from typing import Optional

_HERE = os.path.dirname(os.path.abspath(__file__))


def _is_program(file: str) -> bool:
    """Whether a file is the user's: neither ours nor torch's nor the interpreter's."""
    parts = file.replace("\\", "/").split("/")
    inside = "torch" in parts and ("site-packages" in parts or "dist-packages" in parts)
    return not (inside or file.startswith((_HERE, "<")) or "contextlib" in file or "functools" in file)


def program_frame() -> str:
    """The innermost frame of the user's program, as ``train.py:12 in forward``.

    A thread of the autograd engine has no such frame: what it allocates belongs to the backward pass.
    """
    frame: Optional[object] = sys._getframe(1)
    while frame is not None:
        code = frame.f_code  # type: ignore[attr-defined]
        if _is_program(code.co_filename):
            return f"{os.path.basename(code.co_filename)}:{frame.f_lineno} in {code.co_name}"  # type: ignore[attr-defined]
        frame = frame.f_back  # type: ignore[attr-defined]
    return "backward"

"""What the drop-ins for other packages have in common: they say clearly when a package is not what they know.

A drop-in replaces or calls functions of another package that are not its public interface. Such functions change from
release to release, so each drop-in lists the releases that its tests have run with and refuses all others.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import inspect
from typing import Any, Sequence

from ._errors import RefusedError


def require(package: str, tested: Sequence[str], series: bool = False) -> str:
    """The version of an installed package, if it is one of those that were tested.

    With ``series``, "2.11" stands for every release 2.11.x and for local builds such as 2.11.0+cpu.
    """
    names = ", ".join(tested)
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        wanted = f"pip install {package}=={tested[-1]}{'.*' if series else ''}"
        raise RefusedError(f"{package} is not installed", code="dropin::missing", help=wanted) from None
    compared = ".".join(version.split("+")[0].split(".")[:2]) if series else version
    if compared not in tested:
        message = f"{package} {version} is not known to memplan; tested: {names}"
        raise RefusedError(message, code="dropin::version", help=f"pip install {package}=={tested[-1]}")
    return version


def fingerprint(*functions: Any) -> str:
    """A short hash of the functions' source texts, to tell a release from a working copy with the same number."""
    text = "".join(inspect.getsource(function) for function in functions)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of text as a table: the first column to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        padded = zip(row, widths)
        cells = [cell.rjust(width) if column else cell.ljust(width) for column, (cell, width) in enumerate(padded)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def ratio(extent: int, bound: int) -> str:
    """How far an extent is above its lower bound."""
    return f"{extent / bound:.3f}" if bound else "1.000"

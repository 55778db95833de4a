"""What can go wrong, as exceptions.

    MemplanError
    ├── ReadError      an input with something wrong in it; knows file, line and column
    ├── ProblemError   a problem that contradicts itself (also a ValueError)
    ├── ArgumentError  an argument that makes no sense (also a ValueError)
    ├── RefusedError   a strategy or a pass that does not take the input
    └── BugError       a bug in memplan: please report it with the input

That something does not fit is an answer, not an error: see ``Plan.status``.
"""

from __future__ import annotations


class MemplanError(Exception):
    """Base of all errors of memplan."""

    def __init__(
        self,
        message: str,
        code: str = "memplan",
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        help: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.file = file
        self.line = line
        self.column = column
        self.help = help

    def __str__(self) -> str:
        place = [str(part) for part in (self.file, self.line, self.column) if part is not None]
        text = f"{':'.join(place)}: {self.message}" if place else self.message
        return f"{text} ({self.help})" if self.help else text

    def __reduce__(self):
        facts = (self.message, self.code, self.file, self.line, self.column, self.help)
        return (type(self), facts)


class ReadError(MemplanError):
    """An input with something wrong in it."""


class ProblemError(MemplanError, ValueError):
    """A problem that contradicts itself."""


class ArgumentError(MemplanError, ValueError):
    """An argument that makes no sense."""


class RefusedError(MemplanError):
    """A strategy or a pass does not take the input."""


class BugError(MemplanError):
    """A bug in memplan."""

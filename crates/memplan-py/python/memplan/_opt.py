"""Rewriting programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import _native
from ._errors import ArgumentError
from ._plan import _limits


@dataclass(frozen=True)
class Saving:
    """Bytes of one scope before and after."""

    function: str
    scope: str
    buffers: int
    before: int
    after: int
    lower_bound: int


@dataclass(frozen=True)
class Rewritten:
    """A rewritten program; its ``str`` is the text."""

    text: str
    notes: list[str] = field(default_factory=list)
    savings: list[Saving] = field(default_factory=list)

    def __str__(self) -> str:
        return self.text


def opt(
    text: str,
    pass_: str,
    *,
    strategy: str | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    effort: str = "normal",
    strict: bool = False,
    name: str = "program",
    **options: Any,
) -> Rewritten:
    """Runs a pass over a program's text; the result has been checked against the original.

    Options of the pass are keywords, with underscores for hyphens:
    ``opt(text, "merge-alloc", planner_options="size-first", alignment=64)``. A value may be a list with commas:
    ``opt(text, "assign-gmem", same_addr="0:0,1:2")``. See :func:`memplan.passes`.
    """
    spec = pass_ + (f"{{{' '.join(_option(key, value) for key, value in options.items())}}}" if options else "")
    limits = _limits(time_limit, None, seed, effort, None, strict)
    new, notes, savings = _native.opt(text, spec, name, strategy, limits)
    return Rewritten(new, notes, [Saving(**facts) for facts in savings])


def _option(key: str, value: Any) -> str:
    key = key.replace("_", "-")
    if value is True:
        return key
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if not text or any(c in text for c in "{}\"'"):
        raise ArgumentError(f"option {key} is {value!r}; it cannot be empty or hold braces or quotes")
    # Outside of quotes, a blank or a comma would end the option.
    return f'{key}="{text}"' if any(c in text for c in " \t\n,") else f"{key}={text}"

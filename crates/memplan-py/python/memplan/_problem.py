"""What has to be placed: buffers, spaces, problems."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping, Sequence, Union

from . import _native
from ._arrays import argument, column, columns, in_bytes, integer, is_array
from ._errors import ArgumentError, ProblemError, ReadError

# A number of bytes: a whole number, or a text with a unit such as "64KiB".
Size = Union[int, str]


@dataclass(frozen=True)
class Space:
    """A memory: an SRAM arena, a scratchpad, device DRAM. Sizes are numbers of bytes or texts such as ``"256KiB"``."""

    name: str
    capacity: Size | None = None
    alignment: Size = 1
    base: Size = 0

    def _to_dict(self) -> dict[str, Any]:
        """The space as the documented JSON form has it."""
        return {
            "name": self.name,
            "capacity": None if self.capacity is None else in_bytes(self.capacity, f"capacity of space {self.name!r}"),
            "alignment": in_bytes(self.alignment, f"alignment of space {self.name!r}"),
            "base": in_bytes(self.base, f"base of space {self.name!r}"),
        }


def space_text(space: str | Space) -> str:
    """A space as the command line writes it: ``"sram=256KiB:16"``."""
    if isinstance(space, str):
        return space
    facts = space._to_dict()
    if facts["base"]:
        raise ArgumentError(f"space {space.name!r} has a base; give it to Problem(…, spaces=…)")
    return f"{space.name}={'' if facts['capacity'] is None else facts['capacity']}:{facts['alignment']}"


@dataclass(frozen=True)
class Buffer:
    """Something that needs memory for a while.

    ``size`` is a number of bytes or a text such as ``"64KiB"``.
    ``lifetime`` is ``(lower, upper)``, half-open, or a list of such intervals for a buffer with gaps.
    ``space`` is a name, or a list of names, best first. ``tie`` is ``(group, inner offset)``.
    """

    id: str
    size: Size
    lifetime: Any
    alignment: Size = 1
    space: str | Sequence[str] | None = None
    slots: int = 1
    offset: int | None = None
    exclusive: bool = False
    pipe: str | None = None
    loop: str | None = None
    tie: tuple[str, int] | None = None

    def _to_dict(self) -> dict[str, Any]:
        """The buffer as the documented JSON form has it."""
        return _buffer_facts({name: getattr(self, name) for name in self.__dataclass_fields__})


def _buffer_facts(given: Mapping[str, Any]) -> dict[str, Any]:
    """A buffer as JSON has it. Fields that JSON does not know stay, for its reader to complain about."""
    what = f"buffer {given.get('id')!r}"
    facts = {key: value for key, value in given.items() if value is not None}
    numbers = {"alignment": in_bytes, "slots": integer, "offset": in_bytes}
    for key, number in numbers.items():
        if key in facts:
            facts[key] = number(facts[key], f"{key} of {what}")
    if "id" in facts:
        facts["id"] = str(facts["id"])
    # A size may also be a list of components or an object with a symbol.
    if "size" in facts and not isinstance(facts["size"], (list, tuple, Mapping)):
        facts["size"] = in_bytes(facts["size"], f"size of {what}")
    if "lifetime" in given:
        facts["lifetime"] = _intervals(given["lifetime"], what)
    if "space" in facts and not isinstance(facts["space"], str):
        facts["space"] = list(facts["space"])
    if "tie" in facts and not isinstance(facts["tie"], Mapping):
        group, at = facts["tie"]
        facts["tie"] = {"group": str(group), "at": integer(at, f"tie of {what}")}
    return facts


def _intervals(lifetime: Any, what: str) -> list[list[int]]:
    """A lifetime as JSON has it, a list of intervals. It is given as such a list, or as one interval.

    An interval is ``(lower, upper)``. One of four numbers also says which bytes of the buffer are alive in it:
    ``(lower, upper, first byte, one past the last byte)``.
    """
    try:
        # The first part of one interval is a number; the first part of a list is an interval, which has a length.
        parts = list(lifetime)
        intervals = [list(part) for part in parts] if parts and hasattr(parts[0], "__len__") else [parts]
    except TypeError:
        raise ProblemError(f"lifetime of {what} is {lifetime!r}; expected (lower, upper)") from None
    if lifetime is not None and not parts:
        return []
    if any(len(interval) not in (2, 4) for interval in intervals):
        raise ProblemError(f"lifetime of {what} is {lifetime!r}; expected (lower, upper)")
    return [[integer(number, f"lifetime of {what}") for number in interval] for interval in intervals]


class Problem:
    """Buffers and memory spaces, checked when it is made.

    ``buffers`` are :class:`Buffer` objects, dictionaries with the same fields, plain records
    ``(size, lower, upper)`` (a list of triples or an n × 3 numpy array), or a data frame with the columns of a CSV
    file: ``id``, ``lower``, ``upper``, ``size`` and what else :meth:`from_csv` knows. Sizes are numbers of bytes or
    texts such as ``"64KiB"``. ``reuse_costs`` are pairs of buffers with a weight: what it costs if they share bytes.

    >>> problem = Problem([(64, 0, 2), (32, 1, 3)])
    >>> len(problem), problem.lower_bound
    (2, 96)
    """

    def __init__(
        self,
        buffers: Any = (),
        spaces: Iterable[Space | Mapping[str, Any]] | None = None,
        *,
        may_overlay: Iterable[Mapping[str, str]] = (),
        must_share: Iterable[Sequence[str]] = (),
        must_not_share: Iterable[Sequence[str]] = (),
        reuse_costs: Iterable[tuple[str, str, int]] = (),
        capacity: Size | None = None,
        alignment: Size = 1,
        name: str = "problem",
    ) -> None:
        # Only a data frame has an attribute of that name; arrays and lists have none.
        if hasattr(buffers, "columns"):
            relations_or_spaces = (spaces, *may_overlay, *must_share, *must_not_share, *reuse_costs)
            if any(part is not None for part in relations_or_spaces):
                raise ArgumentError("a data frame has its spaces in a column and no relations; use buffers for those")
            self._native = _from_frame(buffers, capacity, alignment, name)
            return
        if buffers is None or isinstance(buffers, (str, bytes)):
            raise ProblemError(f"buffers is {buffers!r}; expected buffers or (size, lower, upper) records")
        if not is_array(buffers):
            buffers = list(buffers)
        # Plain records without anything else go to Rust as three columns of numbers, which is quick. Everything else
        # goes as JSON.
        named = not is_array(buffers) and any(isinstance(buffer, (Buffer, Mapping)) for buffer in buffers)
        relations: dict[str, list[Any]] = {
            "may_overlay": list(may_overlay),
            "must_share": list(must_share),
            "must_not_share": list(must_not_share),
            "reuse_costs": list(reuse_costs),
        }
        if named or spaces is not None or any(relations.values()):
            self._native = _from_parts(buffers, spaces, relations, capacity, alignment, name)
        else:
            self._native = _from_columns(*columns(buffers), None, None, capacity, alignment, name)

    @classmethod
    def from_arrays(
        cls,
        size: Any,
        lower: Any,
        upper: Any,
        *,
        alignment: Any = None,
        ids: Iterable[str] | None = None,
        capacity: Size | None = None,
        space_alignment: Size = 1,
        name: str = "problem",
    ) -> Problem:
        """A problem from columns; quickest with numpy arrays of int64."""
        return cls._of(_from_columns(size, lower, upper, alignment, ids, capacity, space_alignment, name))

    @classmethod
    def from_csv(cls, text: str, name: str = "problem") -> Problem:
        """A problem from a CSV text, as files have it: ``id,lower,upper,size`` and optional columns."""
        return cls._of(_native.Problem.from_csv(text, name))

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any], name: str = "problem") -> Problem:
        """A problem from the documented JSON form as a dictionary."""
        return cls._of(_native.Problem.from_json(json.dumps(facts), name))

    @classmethod
    def from_json(cls, text: str, name: str = "problem") -> Problem:
        """A problem from the documented JSON form."""
        return cls._of(_native.Problem.from_json(text, name))

    @classmethod
    def _of(cls, native: _native.Problem) -> Problem:
        """A problem that Rust has made already, without going through ``__init__``."""
        problem = cls.__new__(cls)
        problem._native = native
        return problem

    @property
    def name(self) -> str:
        """What it is called in pictures."""
        return self._native.name

    @property
    def notes(self) -> list[str]:
        """What the reader ignored, assumed or left alone."""
        return self._native.notes

    @property
    def ids(self) -> list[str]:
        """The names of the buffers, in input order."""
        return self._native.ids()

    @property
    def lower_bound(self) -> int:
        """No plan needs fewer bytes."""
        return self._native.lower_bound

    @property
    def has_program(self) -> bool:
        """Whether plans are also checked against the program's own reads and writes."""
        return self._native.has_program

    @property
    def buffers(self) -> list[dict[str, Any]]:
        """The buffers as dictionaries."""
        return self.to_dict()["buffers"]

    def on(
        self,
        *,
        capacity: Size | None = None,
        align: Size | None = None,
        spaces: Iterable[str | Space] = (),
    ) -> Problem:
        """The same problem on a target; spaces are :class:`Space` objects or as on the command line, ``"sram=256KiB:16"``."""
        spaces = [spaces] if isinstance(spaces, (str, Space)) else list(spaces)
        if capacity is None and align is None and not spaces:
            return self
        capacity = argument(capacity, "capacity", in_bytes)
        align = argument(align, "align", in_bytes)
        return Problem._of(self._native.on_target(capacity, align, [space_text(space) for space in spaces]))

    def to_json(self) -> str:
        """The documented JSON form."""
        return self._native.to_json()

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form as a dictionary."""
        return json.loads(self.to_json())

    def to_csv(self) -> str:
        """MiniMalloc's CSV form, half-open."""
        return self._native.to_csv()

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"Problem({self.name!r}, {len(self)} buffers, lower_bound={self.lower_bound})"

    def __reduce__(self):
        # The JSON form is the problem alone. A problem that was read out of a program comes back without the program.
        return (_unpickled, (self.to_json(), self.name))


def _unpickled(text: str, name: str) -> Problem:
    """A problem out of a pickle, where its JSON form and its name are kept."""
    return Problem.from_json(text, name)


def _from_columns(
    size: Any, lower: Any, upper: Any, alignment: Any, ids: Any, capacity: Any, space_alignment: Any, name: str
) -> _native.Problem:
    """A problem from columns: one number per buffer in each, and one name per buffer in ``ids``.

    ``alignment`` and ``ids`` may be None. ``capacity`` and ``space_alignment`` are those of the only space.
    """
    # A packed column has eight bytes per number.
    packed = column(size, "size"), column(lower, "lower"), column(upper, "upper")
    optional = None if alignment is None else column(alignment, "alignment")
    names = None if ids is None else [str(one) for one in ids]
    lengths = {len(part) // 8 for part in packed}
    lengths |= {len(optional) // 8} if optional is not None else set()
    lengths |= {len(names)} if names is not None else set()
    if len(lengths) != 1:
        raise ProblemError(f"the columns have different lengths: {sorted(lengths)}", code="problem::shape")
    return _native.Problem.from_arrays(
        *packed,
        optional,
        names,
        None if capacity is None else in_bytes(capacity, "capacity"),
        in_bytes(space_alignment, "alignment"),
        name,
    )


def _from_frame(frame: Any, capacity: Any, alignment: Any, name: str) -> _native.Problem:
    """A data frame as the CSV text that it would be in a file, so that its columns mean the same."""
    if hasattr(frame, "write_csv"):
        text = frame.write_csv()
    else:
        # pandas turns a column with missing values into floats. Where all values are whole, they become integers again.
        text = frame.convert_dtypes().to_csv(index=False)
    try:
        native = _native.Problem.from_csv(text, name)
    except ReadError as error:
        raise ProblemError(error.message, code=error.code, help=error.help) from None
    if capacity is None and alignment == 1:
        return native
    return native.on_target(argument(capacity, "capacity", in_bytes), argument(alignment, "alignment", in_bytes), [])


def _from_parts(
    buffers: Any, spaces: Any, relations: dict[str, list[Any]], capacity: Any, alignment: Any, name: str
) -> _native.Problem:
    """A problem from buffers of any kind, spaces and relations, through the documented JSON form.

    ``relations`` has a list for each of the four names below. Without ``spaces`` there is one space, with this
    ``capacity`` and ``alignment``.
    """
    facts: dict[str, Any] = {"buffers": [_described(buffer, index) for index, buffer in enumerate(buffers)]}
    if spaces is not None:
        if capacity is not None or alignment != 1:
            raise ArgumentError("capacity and alignment are those of the spaces when spaces are given")
        facts["spaces"] = [space._to_dict() if isinstance(space, Space) else dict(space) for space in spaces]
    elif capacity is not None or alignment != 1:
        facts["spaces"] = [Space("default", capacity, alignment)._to_dict()]
    facts["must_share"] = [list(pair) for pair in relations["must_share"]]
    facts["must_not_share"] = [list(pair) for pair in relations["must_not_share"]]
    facts["reuse_costs"] = [list(pair) for pair in relations["reuse_costs"]]
    facts["may_overlay"] = [dict(overlay) for overlay in relations["may_overlay"]]
    try:
        return _native.Problem.from_json(json.dumps(facts), name)
    except ReadError as error:
        # The error has a place in the JSON text that was made above. The user has never seen that text, so the place is
        # left out.
        raise ProblemError(error.message, code=error.code, help=error.help) from None
    except TypeError as error:
        raise ProblemError(str(error)) from None


def _described(buffer: Any, index: int) -> dict[str, Any]:
    """A buffer as JSON has it. A plain record ``(size, lower, upper)`` is called by its ``index``, counted from 0."""
    if isinstance(buffer, Buffer):
        return buffer._to_dict()
    if isinstance(buffer, Mapping):
        return _buffer_facts(buffer)
    try:
        size, lower, upper = buffer
    except (TypeError, ValueError):
        message = f"buffer {index} is {buffer!r}; expected a Buffer, a dictionary or (size, lower, upper)"
        raise ProblemError(message, code="problem::shape") from None
    return Buffer(str(index), size, (lower, upper))._to_dict()


def read(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    dims: Mapping[str, int] | None = None,
    reuse_inputs: bool = False,
    in_place: bool = False,
    scratch: str | None = None,
) -> Problem:
    """Reads any file memplan knows: records, MLIR, TVMScript, models. See :func:`memplan.formats`.

    For models: ``dims`` gives values to symbolic dimensions, ``reuse_inputs`` and ``in_place`` allow more
    sharing, and ``scratch`` is a TOML text with the operators' scratch memory ("" for none).
    """
    numbers = {str(name): integer(value, f"dimension {name}") for name, value in (dims or {}).items()}
    return Problem._of(_native.Problem.read(os.fspath(path), format, numbers, reuse_inputs, in_place, scratch))

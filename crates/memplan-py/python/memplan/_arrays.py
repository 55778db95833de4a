"""Numbers from Python on their way to Rust: checked, 64-bit, contiguous.

numpy is used where it is there and never required.
"""

from __future__ import annotations

import array
import operator
from typing import Any, Iterable, Sequence

from . import _native
from ._errors import ArgumentError, MemplanError, ProblemError

# Sizes, steps and offsets are less than this, so that they also fit into signed numbers of 64 bits.
_LIMIT = 2**63


def numpy() -> Any | None:
    """The numpy module, or None."""
    try:
        import numpy as module
    except ImportError:
        return None
    return module


def is_array(value: Any) -> bool:
    """Whether this is a numpy array (without importing numpy for those who have none)."""
    return hasattr(value, "__array_interface__") and hasattr(value, "dtype")


def integer(value: Any, what: str) -> int:
    """A whole number from 0 below 2^63. NaN, None, text and fractions are none."""
    # Floats of numpy are no Python floats, but they have the method `is_integer`, too.
    if not isinstance(value, int) and getattr(value, "is_integer", bool)():
        value = int(value)
    try:
        number = operator.index(value)
    except TypeError:
        raise ProblemError(f"{what} is {value!r}; expected a whole number", code="problem::number") from None
    if not 0 <= number < _LIMIT:
        raise ProblemError(f"{what} is {number}; expected 0 or more, below 2^63", code="problem::number")
    return number


def in_bytes(value: Any, what: str) -> int:
    """A number of bytes: a whole number, or a text with a unit such as "64KiB"."""
    if not isinstance(value, str):
        return integer(value, what)
    # A text of digits alone is probably a number that the caller forgot to convert, and its unit is not known.
    if not value or value[-1].isdigit():
        message = f"{what} is {value!r}; expected a whole number, or a text with a unit such as '64KiB'"
        raise ProblemError(message, code="problem::number")
    try:
        return _native.parse_bytes(value)
    except ValueError as error:
        raise ProblemError(f"{what} is {value!r}: {error}", code="problem::number") from None


def argument(value: Any, what: str, number: Any = integer) -> int | None:
    """A number that a caller may leave out. ``number`` reads it; its error becomes one about an argument."""
    if value is None:
        return None
    try:
        return number(value, what)
    except MemplanError as error:
        raise ArgumentError(error.message, code="argument") from None


def column(values: Iterable[Any], what: str) -> bytes:
    """A column of numbers as the bytes of 64-bit integers."""
    if is_array(values):
        return _array_column(values, what)
    number = in_bytes if what in ("size", "alignment") else integer
    numbers = [number(value, f"{what} of buffer {index}") for index, value in enumerate(values)]
    return array.array("q", numbers).tobytes()


def _array_column(values: Any, what: str) -> bytes:
    """The same for a numpy array, with a few operations on the whole of it instead of one per number."""
    np: Any = numpy()
    if values.ndim != 1:
        raise ProblemError(f"{what} has {values.ndim} dimensions; expected one", code="problem::shape")
    if values.dtype.kind == "f":
        whole = np.isfinite(values) & (values == np.floor(values)) & (np.abs(values) < float(_LIMIT))
        if not whole.all():
            # The smallest of False and True is False, so this is the first number that is not whole.
            index = int(np.argmin(whole))
            message = f"{what} of buffer {index} is {values[index]!r}; expected a whole number"
            raise ProblemError(message, code="problem::number")
    elif values.dtype.kind == "u":
        if len(values) and int(values.max()) >= _LIMIT:
            raise ProblemError(f"{what} passes 2^63", code="problem::number")
    elif values.dtype.kind != "i":
        raise ProblemError(f"{what} is an array of {values.dtype}; expected whole numbers", code="problem::number")
    numbers = np.ascontiguousarray(values, dtype=np.int64)
    if len(numbers) and int(numbers.min()) < 0:
        index = int(np.argmin(numbers))
        message = f"{what} of buffer {index} is {numbers[index]}; expected 0 or more"
        raise ProblemError(message, code="problem::number")
    return numbers.tobytes()


def columns(records: Any) -> tuple[Any, Any, Any]:
    """The three columns of an n × 3 array or of a sequence of triples (size, lower, upper)."""
    if is_array(records):
        if records.ndim != 2 or records.shape[1] != 3:
            shape = " × ".join(map(str, records.shape))
            message = f"the array is {shape}; expected n × 3: size, lower, upper"
            raise ProblemError(message, code="problem::shape")
        return records[:, 0], records[:, 1], records[:, 2]
    size, lower, upper = [], [], []
    for index, record in enumerate(records):
        try:
            one, two, three = record
        except (TypeError, ValueError):
            message = f"buffer {index} is {record!r}; expected (size, lower, upper)"
            raise ProblemError(message, code="problem::shape") from None
        size.append(one)
        lower.append(two)
        upper.append(three)
    return size, lower, upper


def unpack(data: bytes) -> Sequence[int]:
    """64-bit numbers from Rust: a numpy array, or a list without numpy."""
    np = numpy()
    if np is not None:
        return np.frombuffer(data, dtype=np.int64)
    numbers = array.array("q")
    numbers.frombytes(data)
    return numbers.tolist()

# SPDX-License-Identifier: Apache-2.0
"""Sweep axes, as they are written: `N=16,64..256`, `pes=1x1..8x8`, `NI,NJ,NK=16,32` (docs/explore.md).

`A..B` doubles from A while it is at most B, `A..B+S` adds S. Between pairs such as `1x1..4x8` both numbers go through
their own range, and every row is combined with every column. Names that share an axis take each of its values together.
Values stay texts: what they mean is for the parameter, the option or the machine to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from operator import index
from typing import Any, Final, SupportsIndex, cast

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError

MOST: Final = 1_000_000
"""Values of one axis, and points of one sweep."""
_RANGE: Final = re.compile(r"([0-9]{1,9}(?:x[0-9]{1,9})*)\.\.([0-9]{1,9}(?:x[0-9]{1,9})*)(?:\+([0-9]{1,9}))?")
_EXAMPLE: Final = "write for instance N=16,64, N=16..256, N=16..64+16, pes=1x1..8x8 or NI,NJ=16,32"


@dataclass(frozen=True, slots=True)
class Axis:
    """`names` take each of `values` together."""

    names: tuple[str, ...]
    values: tuple[str, ...]

    def __str__(self) -> str:
        return f"{','.join(self.names)}={','.join(self.values)}"


def parse_axis(text: str) -> Axis:
    """Axis of `NAME[,NAME...]=VALUE[,VALUE...]`. Errors: PL1401, PL1402."""
    head, equals, tail = text.partition("=")
    names = tuple(name.strip() for name in head.split(","))
    if not equals or not all(names):
        raise range_error(f"'{text}' is no axis of a sweep")
    return _check_values(names, _values(tail))


def parse_axes(given: Mapping[str, Any] | Sequence[str] | None) -> tuple[Axis, ...]:
    """Texts of the command line, or in Python a mapping: a value, several in a sequence, or the text of either.
    Errors: PL1401, PL1402."""
    if not isinstance(given, Mapping):
        return tuple(map(parse_axis, given or ()))
    return tuple(
        _check_values(tuple(n.strip() for n in names.split(",")), _axis_values(v)) for names, v in given.items()
    )


def _axis_values(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from _values(value)
    elif isinstance(value, Iterable):
        for item in cast("Iterable[Any]", value):
            yield _item(item)
    else:
        yield _item(value)


def _item(value: Any) -> str:
    """A number, or (rows, columns). Errors: PL1401."""
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return "x".join(_item(part) for part in cast("Sequence[Any]", value))
    # bool is a subclass of int, and would become 1 or 0: options want it as a word.
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        if isinstance(value, bool | float):
            return str(value)
        raise range_error(f"{value!r} is no value of a sweep")
    return str(index(value))


def _check_values(names: tuple[str, ...], values: Iterable[str]) -> Axis:
    found = tuple(dict.fromkeys(_check_count(values, f"the axis {','.join(names)}")))
    if not found or not all(found):
        raise range_error(
            f"the axis {','.join(names)} has an empty value" if found else f"{','.join(names)} has no value"
        )
    if len(set(names)) < len(names):
        raise range_error(f"the axis {','.join(names)} names something twice")
    return Axis(names, found)


def _values(text: str) -> Iterator[str]:
    for part in text.split(","):
        part = part.strip()
        match = _RANGE.fullmatch(part)
        if match is None:
            if ".." in part:
                raise range_error(f"'{part}' is no range")
            yield part
            continue
        first, last = ([int(n) for n in match[n].split("x")] for n in (1, 2))
        if len(first) != len(last):
            raise range_error(f"'{part}' leads from {len(first)} numbers to {len(last)}")
        step = None if match[3] is None else int(match[3])
        ranges = [_check_count(_range(a, b, step, part), f"'{part}'") for a, b in zip(first, last, strict=True)]
        for numbers in product(*ranges):
            yield "x".join(map(str, numbers))


def _range(first: int, last: int, step: int | None, text: str) -> Iterator[int]:
    if first > last:
        raise range_error(f"the range '{text}' is empty")
    if step == 0 or (step is None and first == 0):
        raise range_error(f"the range '{text}' never ends", "add a positive number, for instance 0..64+16")
    while first <= last:
        yield first
        first = 2 * first if step is None else first + step


def _check_count(values: Iterable[str] | Iterable[int], what: str) -> list[Any]:
    """Errors: PL1402 beyond `MOST`."""
    found = list[Any]()
    for value in values:
        # Counted while they are made: the range `1..999999999+1` must not be in memory before it is refused.
        if len(found) == MOST:
            raise count_error(what)
        found.append(value)
    return found


def count_error(what: str) -> PolyloomError:
    help = "take a coarser range, or sweep fewer names at a time"
    return PolyloomError(Diagnostic("PL1402", f"{what} has more than {MOST} values", USAGE, help=help))


def range_error(message: str, help: str = _EXAMPLE) -> PolyloomError:
    return PolyloomError(Diagnostic("PL1401", message, USAGE, help=help))

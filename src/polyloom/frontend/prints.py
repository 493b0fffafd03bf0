# SPDX-License-Identifier: Apache-2.0
"""Observation points: `print` of kernels and `printf` of C, which are no code of the program.

A front end takes them out of what it compiles, so that the program has the same bytes with and without them. For
debuggers it reads the function once more, with an assignment to a local name for each value that is printed: the nest
of that says when and what is printed (`Observed`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from polyloom.diagnostics import Span
from polyloom.ir.nest import Nest
from polyloom.recursion import with_deep_stack

_NAME: Final = re.compile(r"__polyloom_print_(\d+)_(\d+)(?:_\d+)?")
CONVERSION: Final = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\d*)(?P<precision>\.\d+)?(?:hh|ll|[hlzjt])?(?P<kind>.?)", re.DOTALL
)
"""Conversion of `printf` (C17, section 7.21.6.1); the kind is empty where the text ends."""
_UNSIGNED: Final = "uxXoc"
_INT: Final = 32
"""Bits of what is narrower: arguments of `printf` are promoted (C17, section 6.5.2.2)."""


@dataclass(frozen=True, slots=True)
class Print:
    """Observation point: its place, what it prints of text, `format` in the form of Python's `%`, and the expressions
    as they are written.
    """

    span: Span
    format: str
    expressions: tuple[str, ...]

    @property
    def line(self) -> int:
        return self.span.line

    def text(self, values: Sequence[Any]) -> str:
        """What is printed for these values."""
        rest = iter(values)
        return CONVERSION.sub(lambda found: _shown_text(found, rest), self.format)


@dataclass(frozen=True, slots=True)
class Observed:
    """Function with its observation points: a nest that assigns each printed value to a name of its own, and the one
    without them, which has the same other statements.
    """

    nest: Nest
    without: Nest
    prints: tuple[Print, ...]


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer | np.bool_)


def _shown_text(found: re.Match[str], values: Iterator[Any]) -> str:
    """Text of the next value by a conversion. A float where C wants an integer, which C leaves undefined, is shown as
    the number that it is.
    """
    kind, form = found["kind"], found[0]
    if kind == "%":
        return "%"
    value: Any = next(values)
    if kind == "s" or (kind in "di" + _UNSIGNED and not _is_integer(value)):
        return str(value)
    if kind in _UNSIGNED:
        # Two's complement, in as many bits as the argument has; a character is converted to `unsigned char`.
        bits = 8 if kind == "c" else max(_INT, 8 * int(getattr(value, "itemsize", 4)))
        return form % (int(value) & (1 << bits) - 1)
    return form % value


def check_accesses(nest: Nest) -> Nest:
    """Nest with prints whose accesses are within their arrays for all sizes. Errors: PL024x."""
    # Imported when used: most programs print nothing.
    from polyloom.analysis import nest_check

    return with_deep_stack(nest_check.check_with_least_sizes)(nest)


def local_name(number: int, value: int) -> str:
    """Name that a printed value is assigned to."""
    return f"__polyloom_print_{number}_{value}"


def printed_value(name: str) -> tuple[int, int] | None:
    """Print and value that a name stands for; None of other names. Front ends may add a number to make it unique."""
    found = _NAME.fullmatch(name)
    return None if found is None else (int(found[1]), int(found[2]))

# SPDX-License-Identifier: Apache-2.0
"""Observation points: `print` of kernels and `printf` of C, which are no code of the program.

A front end takes them out of what it compiles, so that the program has the same bytes with and without them. For
debuggers it reads the function once more, with an assignment to a local name for each value that is printed: the nest
of that says when and what is printed (`Observed`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from polyloom.diagnostics import Span
from polyloom.ir.nest import Nest

_NAME: Final = re.compile(r"__polyloom_print_(\d+)_(\d+)(?:_\d+)?")
CONVERSION: Final = re.compile(r"%(?P<flags>[-+ #0]*)(?P<width>\d*)(?P<precision>\.\d+)?(?:hh|ll|[hlzjt])?(?P<kind>.)")
"""Conversion of `printf` (C17, section 7.21.6.1)."""


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
        return self.format % tuple(values)


@dataclass(frozen=True, slots=True)
class Observed:
    """Function with its observation points: a nest that assigns each printed value to a name of its own, and the one
    without them, which has the same other statements.
    """

    nest: Nest
    without: Nest
    prints: tuple[Print, ...]


def local_name(number: int, value: int) -> str:
    """Name that a printed value is assigned to."""
    return f"__polyloom_print_{number}_{value}"


def printed_value(name: str) -> tuple[int, int] | None:
    """Print and value that a name stands for; None of other names. Front ends may add a number to make it unique."""
    found = _NAME.fullmatch(name)
    return None if found is None else (int(found[1]), int(found[2]))

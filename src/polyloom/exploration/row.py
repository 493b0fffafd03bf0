# SPDX-License-Identifier: Apache-2.0
"""Row of the result table: what is known of one point, as data.

A row that could not be computed has a `code` and says why; it is a result like any other. Nothing in a row depends on
when or where it was computed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any, Final, Literal

from polyloom.diagnostics import PolyloomError, input_error

Level = Literal["predict", "run", "verify"]
LEVELS: Final[tuple[Level, ...]] = ("predict", "run", "verify")
"""What is done for a row, each more than the one before."""
OBJECTIVES: Final = ("cycles", "elements")


@dataclass(frozen=True, slots=True)
class Row:
    """`cycles` are what the run took, or what is predicted; unless they are `exact`, at most so many. `verified` and
    `verdict` are None where nothing was compared; `error` and `bound` are as `run --json` has them."""

    point: Mapping[str, Any]
    level: Level
    code: str | None = None
    message: str | None = None
    verified: bool | None = None
    cycles: int | None = None
    predicted_cycles: int | None = None
    exact: bool | None = None
    elements: int | None = None
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    verdict: str | None = None
    error: Any = None
    bound: Any = None

    @property
    def is_ok(self) -> bool:
        return self.code is None

    def columns(self) -> dict[str, Any]:
        """Every column by its name. A parameter that has the name of a figure hides it."""
        figures = {
            "elements": self.elements,
            "cycles": self.cycles,
            "predicted_cycles": self.predicted_cycles,
            "exact": self.exact,
            **self.facts,
            "level": self.level,
            "verified": self.verified,
            "verdict": self.verdict,
            "error": self.error,
            "bound": self.bound,
            "code": self.code,
            "message": self.message,
        }
        return {**self.point, **{name: value for name, value in figures.items() if self.point.get(name) is None}}


_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    **dict.fromkeys(("level", "code", "message", "verdict"), (str,)),
    **dict.fromkeys(("verified", "exact"), (bool,)),
    **dict.fromkeys(("cycles", "predicted_cycles", "elements"), (int,)),
    **dict.fromkeys(("error", "bound"), (int, float, str)),  # "inf" and "nan" are no numbers of JSON
    "facts": (dict,),
}
_MOST: Final = 1 << 63
_STORED: Final = tuple(f.name for f in fields(Row) if f.name != "point")


def encode(row: Row) -> str:
    """Stored form of a row (JSON; RFC 8259), without the point, which whoever asks for it knows."""
    own = ((name, getattr(row, name)) for name in _STORED)
    return json.dumps({name: value for name, value in own if value not in (None, {})}, separators=(",", ":"))


def decode(point: Mapping[str, Any], text: str) -> Row:
    """Row of a stored text. Errors: PL1407 for a text that is no row."""
    try:
        made = json.loads(text, parse_int=_integer, parse_float=_number, parse_constant=_number)
        # Exact types: `true` is an int for isinstance, and would be taken for a number of cycles.
        if any(type(value) not in _TYPES[name] for name, value in made.items()):
            raise ValueError
        row = Row(point, **made)
        if row.level not in LEVELS:
            raise ValueError
        return row
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        help = "remove the folder, and explore again"
        raise input_error("PL1407", "a row of the sweep cannot be read", help=help) from None


def _integer(text: str) -> int:
    """Errors: ValueError for a number that no figure has."""
    found = int(text)
    if abs(found) >= _MOST:
        raise ValueError
    return found


def _number(text: str) -> float:
    """Errors: ValueError for what is infinite, or no number."""
    found = float(text)
    if not isfinite(found):
        raise ValueError
    return found


def refusal_row(point: Mapping[str, Any], level: Level, error: PolyloomError) -> Row:
    """The row of a point that was refused, is infeasible, or differs."""
    first = error.diagnostics[0]
    return Row(point, level, first.code, first.message)

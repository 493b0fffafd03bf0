# SPDX-License-Identifier: Apache-2.0
"""Stated figures: what the author of a machine file states of a machine that Polyloom cannot know, its clock, and
energy per event (docs/machines.md).

The table `[stated]` of a file of the user's; no shipped member has one. Figures that follow from it are named as the
user's wherever they are shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Final

from polyloom.diagnostics import input_error
from polyloom.files import read_regular
from polyloom.machine.table import Table, parse

KEY: Final = "stated"
_FILE: Final = re.compile(r"(.*?\.toml)(?::.*)?")
_MOST: Final = 1e12


@dataclass(frozen=True, slots=True)
class Stated:
    """Figures of a user: the clock in MHz, picojoules per issued operation and per byte at the boundary; None where
    nothing is stated."""

    clock_mhz: float | None = None
    operation_pj: float | None = None
    byte_pj: float | None = None


def read_stated(text: str) -> Stated:
    """Stated figures of the machine file in a place such as `mine.toml:4x4`; nothing for a shipped member."""
    found = _FILE.fullmatch(text)
    if found is None:
        return Stated()
    return parse_stated(parse(read_regular(found[1]).decode("utf-8-sig"), found[1]))


def parse_stated(table: Table) -> Stated:
    """Stated figures of the root table of a machine file. Errors: PL0303, PL0304, PL0306."""
    if KEY not in table.content:
        return Stated()
    section = table.table(KEY)
    section.reject_unknown(names := [f.name for f in fields(Stated)])
    return Stated(**{name: positive_number(section, name) for name in names if name in section.content})


def positive_number(section: Table, key: str) -> float:
    """Positive number of a key; PL0304, PL0306."""
    value = section.content[key]
    # In Python a bool is an int: `true` would pass as 1.
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise section.type_error(key, "a number")
    if not 0 < value <= _MOST:
        message = f"'{key}' is {value}, outside 0 to {_MOST:g}"
        raise input_error("PL0306", message, span=section.value_span(key), help="write a number greater than 0")
    return float(value)

# SPDX-License-Identifier: Apache-2.0
"""Target place: where a program runs, as a machine and a region of rows x columns elements of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from operator import index
from typing import Any, Final

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, input_error
from polyloom.targets.tcpa import machine_file

DEFAULT_MEMBER: Final = "wide"
REGION: Final = (4, 4)
"""Rows and columns where none are given."""
_REGION: Final = re.compile(r"([0-9]{1,9})x([0-9]{1,9})")
# A part that begins like a number but is no region is a mistake to report, not the name of a machine; a path to a
# description may begin with a digit.
_LIKE_REGION: Final = re.compile(r"(?!.*\.toml$)([-+]?[0-9].*|[xX*][-+]?[0-9]*)")


@dataclass(frozen=True, slots=True)
class Place:
    """A machine (a shipped member's name or a description's path) and a region; `text` is what was written."""

    member: str
    rows: int
    columns: int
    text: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.text

    @property
    def region(self) -> tuple[int, int]:
        return self.rows, self.columns


def parse_place(text: str) -> Place:
    """Place from `[MEMBER or FILE.toml][:RxC]`; a part that begins like a number is a region. Errors: PL0805, PL0806
    and those of `machine_file.load`.
    """
    member, region = text, ""
    head, _, tail = text.rpartition(":")
    if _LIKE_REGION.fullmatch(tail):
        member, region = head, tail
    rows, columns = parse_region(region) if region else REGION
    name = member or DEFAULT_MEMBER
    # Loaded here for its errors: an unknown machine is reported before anything is compiled.
    machine_file.load(name)
    return Place(name, rows, columns, text)


def region(pes: Any) -> tuple[int, int]:
    """(rows, columns) as a caller in Python gives them. Errors: PL0805; what is in range, the target says."""
    try:
        rows, columns = map(index, pes)
    except (TypeError, ValueError):
        help = "give (rows, columns), for instance pes=(4, 4)"
        raise PolyloomError(Diagnostic("PL0805", f"pes = {pes!r} is not a region", USAGE, help=help)) from None
    return rows, columns


def parse_region(text: str) -> tuple[int, int]:
    """`RxC`: rows and columns, at least 1 each."""
    match = _REGION.fullmatch(text)
    if match is None:
        help = "write rows x columns, for instance 4x4 or 1x16"
        raise PolyloomError(Diagnostic("PL0805", f"'{text}' is not a region", USAGE, help=help))
    rows, columns = int(match[1]), int(match[2])
    if rows == 0 or columns == 0:
        raise input_error("PL0806", f"the region {text} has no processing element", help="write at least 1x1")
    return rows, columns

# SPDX-License-Identifier: Apache-2.0
"""Scheduling and allocation together: both orders are tried, and the one with fewer words is taken.

A schedule over variables knows no register twice, and moves more; but values live longer by it. One over registers
keeps what allocation found.
"""

from __future__ import annotations

from collections.abc import Iterator

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix.isa import Member
from polyloom.targets.tensix.sfpi.allocate import allocate
from polyloom.targets.tensix.sfpi.code import Code
from polyloom.targets.tensix.sfpi.nops import insert_nops
from polyloom.targets.tensix.sfpi.schedule import schedule
from polyloom.targets.tensix.sfpi.words import Word, encode


def fit(code: Code, member: Member, has_schedule: bool) -> Code:
    """The code over registers. Errors: PL1280."""
    if not has_schedule:
        return allocate(code)
    return min(_ways(code, member), key=lambda found: _words(found, member))


def _ways(code: Code, member: Member) -> Iterator[Code]:
    plain = schedule(allocate(code), member)
    yield plain
    try:
        yield schedule(allocate(schedule(code, member)), member)
    except PolyloomError:
        return  # values live too long in that order


def _words(code: Code, member: Member) -> int:
    listing = insert_nops(encode(code, member))
    return sum(isinstance(line, Word) for lines in listing.lines for line in lines)

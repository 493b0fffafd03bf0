# SPDX-License-Identifier: Apache-2.0
"""Out of SSA form, scheduling and allocation together: of several ways the one with the fewest words is taken.

A schedule over variables knows no register twice, and moves more; but values live longer by it. One over registers
keeps what allocation found. A kernel that fits neither way is tried with literals loaded where they are used and with
lives as short as the order allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Function
from polyloom.targets.tensix.isa import Member
from polyloom.targets.tensix.sfpi.allocate import allocate
from polyloom.targets.tensix.sfpi.code import Code
from polyloom.targets.tensix.sfpi.interference import ALLOCATED
from polyloom.targets.tensix.sfpi.nops import insert_nops
from polyloom.targets.tensix.sfpi.place import sweep
from polyloom.targets.tensix.sfpi.relieve import compact, rematerialize
from polyloom.targets.tensix.sfpi.schedule import schedule
from polyloom.targets.tensix.sfpi.variables import leave_ssa
from polyloom.targets.tensix.sfpi.words import Word, encode


def fit(function: Function, member: Member, has_schedule: bool) -> Code:
    """The code over registers. Errors: PL1280."""
    code = leave_ssa(function, member)

    def again(found: Code) -> Code:
        return schedule(found, member) if has_schedule else found

    found = list(_fitting((lambda: again(allocate(code)), *((lambda: again(allocate(again(code))),) * has_schedule))))
    if not found:
        own = leave_ssa(sweep(rematerialize(function, False)), member)
        reloaded = leave_ssa(sweep(rematerialize(function, True)), member)
        ways = (
            lambda: again(allocate(own)),
            lambda: again(allocate(compact(code, member, ALLOCATED))),
            lambda: again(allocate(compact(own, member, ALLOCATED))),
            lambda: again(allocate(compact(reloaded, member, ALLOCATED))),
        )
        # the first that fits: those behind it have more words as a rule
        found = [way for way in (next(_fitting(ways), None),) if way is not None]
    return min(found, key=lambda each: _words(each, member)) if found else allocate(code)


def _fitting(ways: Sequence[Callable[[], Code]]) -> Iterator[Code]:
    for way in ways:
        try:
            yield way()
        except PolyloomError:
            continue  # values live too long in that order


def _words(code: Code, member: Member) -> int:
    listing = insert_nops(encode(code, member))
    return sum(isinstance(line, Word) for lines in listing.lines for line in lines)

# SPDX-License-Identifier: Apache-2.0
"""Fitting: leaving SSA form, scheduling and allocation together: of several ways the one with the fewest words is
taken, and of equals the one that repeats most.

A schedule over variables knows no register twice, and moves more; but values live longer by it. One over registers
keeps what allocation found (the phase-ordering problem, Goodman and Hsu 1988). Equal instructions are shared where that
is shorter. A kernel that fits neither way is tried
with literals loaded where they are used, with lives as short as the order allows, and with Dst read again. What does
not fit then is spilled, or refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from polyloom.ir.ssa import Function
from polyloom.targets.tensix.source.allocate.allocate import allocate_registers
from polyloom.targets.tensix.source.allocate.code import EXIT, Code, Op
from polyloom.targets.tensix.source.allocate.interference import ALLOCATED, max_pressure
from polyloom.targets.tensix.source.allocate.match_copies import match_copies
from polyloom.targets.tensix.source.allocate.nops import insert_nops
from polyloom.targets.tensix.source.allocate.pressure import pressure_error
from polyloom.targets.tensix.source.allocate.reduce_pressure import rematerialize, shorten_live_ranges
from polyloom.targets.tensix.source.allocate.replay import insert_replays
from polyloom.targets.tensix.source.allocate.schedule import schedule_code
from polyloom.targets.tensix.source.allocate.spill import start_spilling
from polyloom.targets.tensix.source.allocate.variables import leave_ssa
from polyloom.targets.tensix.source.allocate.words import Listing, Word, encode
from polyloom.targets.tensix.source.lower.place import eliminate_dead_code
from polyloom.targets.tensix.source.lower.share import share_values
from polyloom.targets.tensix.words.isa import Member

Way = Callable[[], Code | None]
_HOPE: Final = 4
"""By how much another order is hoped to lower the number of live values; where more are too many, one is spilled."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """Options of fitting: `rows` of Dst are free for spilling, `variables` the source's names by names of values;
    `shares` says that equal instructions may be shared.
    """

    member: Member
    has_schedule: bool = True
    rows: range = range(0)
    shares: bool = True
    variables: Mapping[str, str] = field(default_factory=dict[str, str])

    def order(self, code: Code, apart: bool = False) -> Code:
        return schedule_code(code, self.member, apart) if self.has_schedule else code

    def allocate_and_schedule(self, code: Code, apart: bool = False) -> Code | None:
        found = allocate_registers(code)
        return None if found is None else self.order(found, apart)


def fit_registers(function: Function, fitting: Fitting) -> Code:
    """Code over registers. Errors: PL1280."""
    code = leave_ssa(function, fitting.member)
    found = _fit_as_written(code, fitting)
    shared = share_values(function) if fitting.shares else function
    if shared is not function:
        found += _fit_as_written(leave_ssa(eliminate_dead_code(shared), fitting.member), fitting)
    if found:
        best = _shortest_code(found, fitting.member)
        leaves_values = any(isinstance(i, Op) and i.shape.name == EXIT for items in code.items for i in items)
        return _shortest_code([best, match_copies(best, leaves_values)], fitting.member)
    relieved = next(_reduce_pressure(function, code, fitting), None)
    if relieved is not None:
        return relieved  # the first that fits: those behind it have more words as a rule
    spilled = next(_spill_until_fit(code, fitting), None)
    if spilled is None:
        raise pressure_error(code, fitting.variables)
    return spilled


def _fit_as_written(code: Code, fitting: Fitting) -> list[Code]:
    """Ways that fit without less pressure: scheduling before and after allocation."""
    plain = [fitting.allocate_and_schedule(code)]
    if fitting.has_schedule:
        ordered = fitting.order(code)
        # Schedules that keep words of the source as barriers repeat more, which replay rewards.
        apart = fitting.order(code, True)
        # Neither order is better for all kernels, so that both are tried.
        plain += [
            fitting.allocate_and_schedule(code, True),
            fitting.allocate_and_schedule(ordered),
            fitting.allocate_and_schedule(apart, True),
        ]
    return [each for each in plain if each is not None]


def _reduce_pressure(function: Function, code: Code, fitting: Fitting) -> Iterator[Code]:
    """Ways with lower register pressure, from the cheapest on."""
    member = fitting.member

    def rematerialized_code(with_loads: bool) -> Code:
        return leave_ssa(eliminate_dead_code(rematerialize(function, with_loads)), member)

    ways: Sequence[Way] = (
        lambda: fitting.allocate_and_schedule(rematerialized_code(False)),
        lambda: fitting.allocate_and_schedule(shorten_live_ranges(code, member, ALLOCATED)),
        lambda: fitting.allocate_and_schedule(shorten_live_ranges(rematerialized_code(False), member, ALLOCATED)),
        lambda: fitting.allocate_and_schedule(shorten_live_ranges(rematerialized_code(True), member, ALLOCATED)),
    )
    return (found for way in ways if (found := way()) is not None)


def _spill_until_fit(code: Code, fitting: Fitting) -> Iterator[Code]:
    """Spilling with one variable more in Dst each time, until the kernel fits or the rows are full."""
    state = start_spilling(code, fitting.member, fitting.rows)
    tried = None
    while state.more():
        if (found := fitting.allocate_and_schedule(state.code)) is not None:
            yield found
        # The search for an order takes time, and is only tried where it may suffice.
        if max_pressure(state.code) <= ALLOCATED + _HOPE:
            tried = state.code
            yield from _allocate_compacted(state.code, fitting)
    if tried is not state.code and state.places:
        yield from _allocate_compacted(state.code, fitting)


def _allocate_compacted(code: Code, fitting: Fitting) -> Iterator[Code]:
    found = fitting.allocate_and_schedule(shorten_live_ranges(code, fitting.member, ALLOCATED))
    if found is not None:
        yield found


def _shortest_code(found: Sequence[Code], member: Member) -> Code:
    """Code with the fewest words that are executed once; of equals, that the program has if what repeats is
    replayed."""
    # NOPs count, since a schedule is worth what it saves of them.
    listings = [insert_nops(encode(code, member)) for code in found]
    counts = [_count_words(listing) for listing in listings]
    least = [k for k, count in enumerate(counts) if count == min(counts)]
    differing = [k for at, k in enumerate(least) if all(listings[k] != listings[other] for other in least[:at])]
    if len(differing) == 1:
        return found[differing[0]]
    return found[min(differing, key=lambda k: _count_words(insert_replays(listings[k])))]


def _count_words(listing: Listing) -> int:
    return sum(isinstance(line, Word) for lines in listing.lines for line in lines)

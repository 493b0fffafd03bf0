# SPDX-License-Identifier: Apache-2.0
"""Frame of compiled programs as assembly text: start-up, barriers between all harts that take part, and the end.

All harts start at one entry in machine mode. Hart 1 of a minion ends at once where a program uses hart 0 only, and
otherwise waits until hart 0 has set the mode of the L1 that they share. A barrier counts arrivals in each shire (FLB);
the last of a shire tells hart 0 of minion 0. When all shires have told it, credits go down a tree of shires.

Registers: s0 holds the minion's number, s1 the worker's; t0 to t6 belong to this module between lines of others.
Sources: the programmer's reference manual, "FLB", "FCC", "Cache control".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from polyloom.diagnostics import Span
from polyloom.ir.ssa import Place
from polyloom.targets.minion.machine import MINIONS_PER_SHIRE

Mode = Literal["shared", "split", "scratchpad"]
"""Of the L1: both harts share 4 KiB; 2 KiB and 512 bytes; 512 bytes each and 48 lines of L1Scp."""
# The value by which the vendor's tests and emulator know that a hart has passed.
PASS: Final = 0x1FEED000
CREDITS: Final = 0x1_0034_00C0
"""CREDINC0 of shire 0: 8 bytes further stands the next counter, `_SHIRE` further the next shire."""
_SHIRE: Final = 1 << 22
# Shire 0xFF in an ESR's address is the shire of the hart that writes.
_OWN_CREDITS: Final = CREDITS + (0xFF << 22)
_FLOATS_ON: Final = 0x6000
"""mstatus.FS."""
# Scratchpad mode is reached from split mode only: other transitions are ignored (manual, chapter 8).
_MODES: Final[dict[Mode, tuple[int, ...]]] = {"shared": (0,), "split": (1,), "scratchpad": (1, 3)}
_START: Final = Place(reason="starts the hart")
_BARRIER: Final = Place(reason="waits at a barrier until all have come")
_END: Final = Place(reason="ends the program")
_GIVEN: Final = 1
"""The credit counter in which a shire's last arrival tells minion 0; counter 0 is everyone's."""
_CHILDREN: Final = 3
"""Shires to which each shire passes a barrier on."""


@dataclass(frozen=True, slots=True)
class Team:
    """Team of a program: so many minions, 1 or 2 harts of each, with the L1 in a mode."""

    minions: int
    harts: int = 1
    mode: Mode = "scratchpad"

    @property
    def workers(self) -> int:
        """Harts; the number of one is minion · harts + thread."""
        return self.minions * self.harts

    @property
    def shires(self) -> int:
        return -(-self.minions // MINIONS_PER_SHIRE)

    @property
    def shire_minions(self) -> int:
        """Minions in each shire; all shires have as many."""
        return min(self.minions, MINIONS_PER_SHIRE)


@dataclass(frozen=True, slots=True)
class Part:
    """Lines of assembly that come from one place of the source, or have one reason."""

    lines: tuple[str, ...]
    place: Place


def span_place(span: Span | None, reason: str = "") -> Place:
    """Place of lines that are written for something of the source."""
    return Place(reason=reason) if span is None else Place(span.source.name, span.line, 0, reason)


def start_code(team: Team, given: int = 0) -> Part:
    """Start-up of every hart: s0, s1, m0 = 0xFF, the L1's mode (manual, chapter 8). What follows runs on every
    worker; of the `given` minions, those that are not in the team end.
    """
    # mhartid is shire · 64 + minion · 2 + hart: shifted right by one, it is the minion's number in the chip.
    lines = ["start:", "csrr s1, mhartid", "srli s0, s1, 1", f"li t0, {_FLOATS_ON:#x}"]
    # Without mstatus.FS, floating-point and SIMD instructions are illegal at reset (RISC-V privileged manual, mstatus).
    # A jump reaches further than a branch.
    away = ["j end", "start.part:"]
    lines += [f"li t1, {team.minions}", "bltu s0, t1, start.part", *away] if team.minions < given else []
    lines += ["csrs mstatus, t0", "andi t0, s1, 1"]
    alone = ["beqz t0, start.first", "j end", "start.first:"]
    lines += ["bnez t0, start.second"] if team.harts == 2 else alone
    for mode in _MODES[team.mode]:
        # Only hart 0 writes the mode: a second write would empty the cache again.
        lines += [f"li t0, {mode}", "csrw mcache_control, t0"]
    if team.harts == 1:
        return Part((*lines, "mv s1, s0", *_enable_lanes()), _START)
    # The second hart must not touch memory before the mode is set, so it takes a credit that the first one gives it.
    told = [f"li t0, {_OWN_CREDITS + 16:#x}", "andi t1, s0, 31", "li t2, 1", "sll t1, t2, t1", "sd t1, 0(t0)"]
    lines += [*told, "j start.ready", "start.second:", "csrw fcc, zero", "start.ready:", *_enable_lanes()]
    return Part(tuple(lines), _START)


def _enable_lanes() -> list[str]:
    """Mask of all eight lanes: SIMD instructions write only lanes that mask m0 has (manual, chapters 3 to 6)."""
    return ["mov.m.x m0, zero, 255"]


def barrier(team: Team, name: str, number: int = 0) -> Part:
    """Barrier of all workers, by counters (FLB) and credits (FCC): nobody leaves before all have come (manual, chapters
    10 and 11).

    What each hart wrote has to be visible before: see the flushes of its writer. `name` makes labels, and is no other
    barrier's; `number` is that of the FLB, of 32.
    """
    if team.workers == 1:
        return Part((), _BARRIER)
    arrivals = team.shire_minions * team.harts
    # csrrw on flb counts an arrival and returns 1 to the last one, whereupon the counter is 0 again: a barrier can be
    # used at once for the next join.
    lines = [f"li t0, {arrivals - 1 << 5 | number}", "csrrw t1, flb, t0", f"beqz t1, {name}.wait"]
    if team.shires == 1:
        lines += [f"li t0, {_OWN_CREDITS:#x}", f"li t1, {(1 << team.shire_minions) - 1:#x}", *_credit_stores(team)]
        return Part((*lines, f"{name}.wait:", "csrw fcc, zero"), _BARRIER)
    # FLBs count within a shire only, so the last arrivals of the shires meet at minion 0, in a second credit counter.
    lines += [f"li t0, {_arrival_credits(team):#x}", "li t1, 1", "sd t1, 0(t0)", f"{name}.wait:"]
    lines += [f"andi t0, s1, {MINIONS_PER_SHIRE * team.harts - 1}", f"addi t0, t0, {1 - team.harts}"]
    lines += [f"bnez t0, {name}.go"]
    return Part((*lines, *_release_tree(team, name), f"{name}.go:", "csrw fcc, zero"), _BARRIER)


def _arrival_credits(team: Team) -> int:
    """The credit counter of minion 0 in shire 0 for arrivals of shires: that of the last hart of a minion, since first
    harts have other credits in theirs while they stage operands.
    """
    return CREDITS + 8 * (_GIVEN + 2 * (team.harts - 1))


def _release_tree(team: Team, name: str) -> list[str]:
    """Broadcast tree of credits over the shires, by minion 0 of each: a hart's writes of ESRs go one at a time, so that
    one hart alone would take longer than a tree whose nodes have three children each.
    """
    lines = ["li t1, 1", f"srli t2, s0, {MINIONS_PER_SHIRE.bit_length() - 1}", "mv t3, t1", f"bnez t2, {name}.told"]
    lines += [f"li t3, {team.shires}", f"{name}.told:", "csrw fcc, t1", "addi t3, t3, -1", f"bnez t3, {name}.told"]
    # Shire n gives to 3n + 1 to 3n + 3, and then to all of its own harts.
    lines += ["slli t3, t2, 1", "add t3, t3, t2", f"addi t4, t3, {_CHILDREN}", f"li t5, {team.shires - 1}"]
    lines += [f"{name}.child:", f"bgeu t3, t4, {name}.own", f"bgeu t3, t5, {name}.own", "addi t3, t3, 1"]
    lines += [f"li t0, {_arrival_credits(team):#x}", f"slli t6, t3, {_SHIRE.bit_length() - 1}", "add t0, t0, t6"]
    lines += ["sd t1, 0(t0)", f"j {name}.child", f"{name}.own:"]
    return [*lines, f"li t0, {_OWN_CREDITS:#x}", f"li t1, {(1 << MINIONS_PER_SHIRE) - 1:#x}", *_credit_stores(team)]


def _credit_stores(team: Team) -> list[str]:
    """Stores of credits for counter 0 of hart 0, and of hart 1 where it takes part, in the shire whose CREDINC0 is at
    t0.
    """
    return ["sd t1, 0(t0)", *(["sd t1, 16(t0)"] if team.harts == 2 else [])]


def end_code() -> Part:
    """End of every hart, also of those that take no part: validation0 is written, then the hart stays where it is."""
    return Part(("end:", f"li t0, {PASS:#x}", "csrw validation0, t0", "end.stop:", "j end.stop"), _END)

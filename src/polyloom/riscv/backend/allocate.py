# SPDX-License-Identifier: Apache-2.0
"""Register allocation by linear scan over live intervals with holes (Poletto and Sarkar, 1999; Traub, Holloway and
Smith, 1998; Wimmer and Mössenböck, 2005).

First the two registers of a move are coalesced where their intervals do not overlap. Intervals then get, in order of
their beginning, a register that is free for all of theirs. Where there is none, the cheapest in use is spilled: each of
its uses and definitions gets a short interval of its own beside an access to the frame, and the scan begins anew. The
result is validated by `check.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.riscv.backend.abi import SAVED, TEMPORARY_F, TEMPORARY_X
from polyloom.riscv.backend.code import Bank, Block, Code, Op, Reg, defs_and_uses, is_move, rename_registers
from polyloom.riscv.backend.live import Segments, live_intervals, loop_depths, merge_intervals, overlap, position_bits

NEAR_SLOTS = 255
"""As many slots have offsets that fit loads and stores; with more, t6 is kept free to reach them."""
FAR = Reg("x", 31)
BANKS: Final[tuple[Bank, ...]] = ("x", "f")
_UNSPILLABLE = float("inf")


@dataclass(slots=True)
class Interval:
    """Live interval of coalesced registers: its members, its segments, and its spill cost."""

    members: list[Reg]
    segments: Segments
    cost: float = 0.0
    hints: list[Reg] = field(default_factory=list[Reg])
    bits: int = 0
    """Of `segments`, and the cost by position: both are filled in when all are joined."""
    weight: float = 0.0


def allocate(code: Code) -> Code:
    """Allocation: the code over the machine's registers, and the spill slots that it needs. Moves from a register to
    itself are left in; `expand` drops them.
    """
    # Registers of reloads, which live for one instruction. They are infinite in cost, so that each round spills
    # something longer, and the rounds end.
    short: set[Reg] = set()
    while True:
        found = live_intervals(code)
        fixed = {register: segments for register, segments in found.items() if not register.is_virtual}
        assigned, spilled = _linear_scan(_coalesce(code, found, short), fixed, code)
        if not spilled:
            return _substitute_registers(
                code, {member: register for interval, register in assigned for member in interval.members}
            )
        code = _insert_spills(code, spilled, short)


def _substitute_registers(code: Code, names: Mapping[Reg, Reg]) -> Code:
    return replace(
        code,
        blocks=tuple(
            Block(b.name, tuple(rename_registers(op, lambda r: names.get(r, r)) for op in b.ops)) for b in code.blocks
        ),
    )


def _coalesce(code: Code, alone: Mapping[Reg, Segments], short: set[Reg]) -> list[Interval]:
    """Coalesced intervals of virtual registers, in order of their beginning, with spill costs (Chaitin 1982: uses and
    definitions weighted by 10 to the power of the loop depth).
    """
    found = {r: Interval([r], s) for r, s in alone.items() if r.is_virtual}
    moves: list[tuple[int, Reg, Reg]] = []
    for block, depth in zip(code.blocks, loop_depths(code), strict=True):
        for op in block.ops:
            defined, used = defs_and_uses(op, code.isa)
            for register in (*defined, *used):
                if register in found:
                    # Chaitin's estimate: an access counts ten times more in each loop around it. Registers of reloads
                    # must not be spilled again, or this would not end.
                    found[register].cost += _UNSPILLABLE if register in short else 10.0**depth
            if is_move(op) and defined and used:
                moves.append((-depth, defined[0], used[0]))
    # Moves in the deepest loops are coalesced first, before longer intervals can overlap.
    for _, target, source in sorted(moves, key=lambda move: move[0]):
        _coalesce_move(found, target, source)
    classes = {id(interval): interval for interval in found.values()}
    for interval in classes.values():
        interval.bits = position_bits(interval.segments)
        # Cost per position: a long interval with few accesses frees a register for long, at little cost.
        interval.weight = interval.cost / max(1, interval.bits.bit_count())
    return sorted(classes.values(), key=lambda interval: (interval.segments[0], interval.members[0]))


def _coalesce_move(found: dict[Reg, Interval], target: Reg, source: Reg) -> None:
    """Coalescing of one move, if the intervals do not overlap; a machine register becomes a hint instead (biased
    coloring: Briggs et al. 1994).
    """
    # A register of the machine is not joined but wished for: joining would keep it busy for the whole interval.
    if not (target.is_virtual and source.is_virtual):
        for register, other in ((target, source), (source, target)):
            if register in found:
                found[register].hints.append(other)
        return
    a, b = found.get(target), found.get(source)
    if a is None or b is None or a is b or overlap(a.segments, b.segments):
        return
    joined = Interval(
        [*a.members, *b.members], merge_intervals(a.segments, b.segments), a.cost + b.cost, [*a.hints, *b.hints]
    )
    for member in joined.members:
        found[member] = joined


@dataclass(slots=True)
class _Taken:
    """Occupation of a register: the intervals that may still interfere with later ones, and their positions as bits."""

    held: list[Interval] = field(default_factory=list[Interval])
    bits: int = 0

    def add(self, interval: Interval) -> None:
        """Adds an interval. Intervals come by beginning: what ends before is in the way of no later one."""
        begin = interval.segments[0][0]
        self.held = [*(other for other in self.held if other.segments[-1][1] > begin), interval]
        self.bits |= interval.bits

    def remove(self, gone: Sequence[Interval]) -> None:
        for interval in gone:
            self.bits &= ~interval.bits
        self.held = [other for other in self.held if other not in gone]


def _linear_scan(
    classes: Sequence[Interval], fixed: dict[Reg, Segments], code: Code
) -> tuple[list[tuple[Interval, Reg]], list[Interval]]:
    """One linear scan: registers for intervals, and the intervals to be spilled. `fixed` has the positions at which the
    machine's registers are used themselves (precolored).
    """
    taken: defaultdict[Reg, _Taken] = defaultdict(_Taken)
    own = {register: position_bits(segments) for register, segments in fixed.items()}
    every: dict[Bank, tuple[Reg, ...]] = {bank: tuple(_usable(bank, code)) for bank in BANKS}
    assigned: list[tuple[Interval, Reg]] = []
    spilled: list[Interval] = []
    for interval in classes:
        # A hint comes first: taking it turns the move into a copy to itself, which is dropped.
        choices = _choices(interval, every)
        possible = [r for r in choices if not own.get(r, 0) & interval.bits]
        free = next((r for r in possible if not taken[r].bits & interval.bits), None)
        if free is None:
            free = _evict(interval, possible, taken, spilled)
        if free is not None:
            taken[free].add(interval)
            assigned.append((interval, free))
    return assigned, spilled


def _usable(bank: Bank, code: Code) -> Iterator[Reg]:
    """Allocatable registers of a bank. Caller-saved ones first: a callee-saved register must be stored in the
    prologue."""
    for number in (*(TEMPORARY_X if bank == "x" else TEMPORARY_F), *SAVED):
        # t6 is given out as long as every slot is within 2 KiB of sp.
        if Reg(bank, number) != FAR or code.slots + code.outgoing // 8 <= NEAR_SLOTS:
            yield Reg(bank, number)


def _choices(interval: Interval, every: Mapping[Bank, tuple[Reg, ...]]) -> Sequence[Reg]:
    """Register preferences: those that the interval is moved from or to first, then the rest of its bank."""
    # Hints with numbers up to 2 are zero, ra and sp, which are never allocated.
    hints = [hint for hint in interval.hints if hint.number > 2]
    usable = every[interval.members[0].bank]
    return list(dict.fromkeys((*hints, *usable))) if hints else usable


def _evict(
    interval: Interval, possible: Sequence[Reg], taken: Mapping[Reg, _Taken], spilled: list[Interval]
) -> Reg | None:
    """Spill choice: the register whose interfering intervals are the cheapest to spill, which are then spilled; None
    where the interval itself is cheaper (Poletto and Sarkar 1999, with weights instead of the furthest end).
    """
    in_the_way = {r: [other for other in taken[r].held if other.bits & interval.bits] for r in possible}
    best = min(possible, key=lambda r: sum(other.weight for other in in_the_way[r]), default=None)
    if best is None or sum(other.weight for other in in_the_way[best]) >= interval.weight:
        assert interval.cost < _UNSPILLABLE, "an instruction needs more registers than there are"
        spilled.append(interval)
        return None
    spilled += in_the_way[best]
    taken[best].remove(in_the_way[best])
    return best


def _insert_spills(code: Code, spilled: Sequence[Interval], short: set[Reg]) -> Code:
    """Spill code: the code with these intervals in frame slots, which intervals that do not overlap share (slot
    coloring).
    """
    slots: list[int] = []
    place: dict[Reg, int] = {}
    for interval in spilled:
        # First fit over the slots of this round: intervals of earlier rounds have slots of their own below.
        number = next((k for k, bits in enumerate(slots) if not bits & interval.bits), len(slots))
        slots[number:] = [(slots[number] if number < len(slots) else 0) | interval.bits, *slots[number + 1 :]]
        place.update(dict.fromkeys(interval.members, code.slots + number))
    fresh = _numbers(code)
    blocks = tuple(
        Block(b.name, tuple(made for op in b.ops for made in _with_accesses(op, code, place, fresh, short)))
        for b in code.blocks
    )
    return replace(code, blocks=blocks, slots=code.slots + len(slots))


def _numbers(code: Code) -> Iterator[int]:
    """Fresh register numbers."""
    start = max((o.number for b in code.blocks for op in b.ops for o in op.operands if isinstance(o, Reg)), default=0)
    return iter(range(start + 1, 1 << 62))


def _with_accesses(op: Op, code: Code, place: dict[Reg, int], fresh: Iterator[int], short: set[Reg]) -> Iterator[Op]:
    """The instruction with a new register for each spilled one: reloaded before, stored behind (spill everywhere,
    Chaitin 1982).
    """
    defined, used = defs_and_uses(op, code.isa)
    new = {r: Reg(r.bank, next(fresh)) for r in dict.fromkeys((*used, *defined)) if r in place}
    # These live from a reload to its use: spilling one would gain nothing.
    short.update(new.values())
    yield from (Op("reload", (new[r], place[r])) for r in dict.fromkeys(used) if r in place)
    yield rename_registers(op, lambda r: new.get(r, r))
    yield from (Op("spill", (new[r], place[r])) for r in defined if r in place)

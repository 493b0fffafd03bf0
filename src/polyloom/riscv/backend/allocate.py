# SPDX-License-Identifier: Apache-2.0
"""Register allocation by linear scan over intervals with holes (Poletto and Sarkar, 1999; Wimmer and Moessenboeck,
2005).

First the two registers of a move become one where their intervals do not overlap. Intervals then get, in order of their
beginning, a register that is free for all of theirs. Where there is none, the cheapest in use is spilled: each of its
uses and definitions gets a short interval of its own beside an access to the frame, and the scan begins anew.
`check.py` does not believe the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from polyloom.riscv.backend.abi import SAVED, TEMPORARY_F, TEMPORARY_X
from polyloom.riscv.backend.code import Block, Code, Op, Reg, is_move, registers, renamed
from polyloom.riscv.backend.live import Segments, depths, intervals, overlap, united

NEAR_SLOTS = 255
"""As many slots have offsets that fit loads and stores; with more, t6 is kept free to reach them."""
FAR = Reg("x", 31)
_UNSPILLABLE = float("inf")


@dataclass(slots=True)
class Interval:
    """The registers that became one, where one of them is live, and what an access to the frame would cost for each
    position."""

    members: list[Reg]
    segments: Segments
    cost: float = 0.0
    hints: list[Reg] = field(default_factory=list[Reg])

    @property
    def weight(self) -> float:
        return self.cost / max(1, sum(end - start for start, end in self.segments))


def allocate(code: Code) -> Code:
    """The code with the machine's registers, moves from a register to itself left in, and the slots that it needs."""
    short: set[Reg] = set()
    while True:
        # Everything is done anew after spilling: reloads are intervals of their own, and what was in the way is shorter
        # now.
        classes = _joined(code, short)
        assigned, spilled = _scan(classes, _fixed(code), code)
        if not spilled:
            return _named(code, {member: register for interval, register in assigned for member in interval.members})
        code = _spilled(code, spilled, short)


def _named(code: Code, names: Mapping[Reg, Reg]) -> Code:
    return replace(
        code,
        blocks=tuple(Block(b.name, tuple(renamed(op, lambda r: names.get(r, r)) for op in b.ops)) for b in code.blocks),
    )


def _fixed(code: Code) -> dict[Reg, Segments]:
    """Where the machine's registers are in use themselves."""
    return {register: segments for register, segments in intervals(code).items() if not register.is_virtual}


def _joined(code: Code, short: set[Reg]) -> list[Interval]:
    """The intervals of virtual registers, by beginning."""
    found = {r: Interval([r], s) for r, s in intervals(code).items() if r.is_virtual}
    moves: list[tuple[int, Reg, Reg]] = []
    for block, depth in zip(code.blocks, depths(code), strict=True):
        for op in block.ops:
            defined, used = registers(op, code.isa)
            for register in (*defined, *used):
                if register in found:
                    # Chaitin's estimate: an access counts ten times more in each loop around it. Registers of reloads
                    # must not be spilled again, or this would not end.
                    found[register].cost += _UNSPILLABLE if register in short else 10.0**depth
            if is_move(op) and defined and used:
                moves.append((-depth, defined[0], used[0]))
    # Moves in the deepest loops are coalesced first, before longer intervals can overlap.
    for _, target, source in sorted(moves, key=lambda move: move[0]):
        _join(found, target, source)
    classes = {id(interval): interval for interval in found.values()}
    return sorted(classes.values(), key=lambda interval: (interval.segments[0], interval.members[0]))


def _join(found: dict[Reg, Interval], target: Reg, source: Reg) -> None:
    # A register of the machine is not joined but wished for: joining would keep it busy for the whole interval.
    if not (target.is_virtual and source.is_virtual):
        for register, other in ((target, source), (source, target)):
            if register in found:
                found[register].hints.append(other)
        return
    a, b = found.get(target), found.get(source)
    if a is None or b is None or a is b or overlap(a.segments, b.segments):
        return
    joined = Interval([*a.members, *b.members], united(a.segments, b.segments), a.cost + b.cost, [*a.hints, *b.hints])
    for member in joined.members:
        found[member] = joined


def _scan(
    classes: Sequence[Interval], fixed: dict[Reg, Segments], code: Code
) -> tuple[list[tuple[Interval, Reg]], list[Interval]]:
    """Registers for intervals, and the intervals that have to be spilled. What ends before an interval begins is in the
    way of no later one."""
    taken: dict[Reg, list[Interval]] = {}
    assigned: list[tuple[Interval, Reg]] = []
    spilled: list[Interval] = []
    for interval in classes:
        choices = list(_choices(interval, code))
        free = next((r for r in choices if _is_free(r, interval, taken, fixed)), None)
        if free is None:
            free = _evict(interval, choices, taken, fixed, spilled)
        if free is not None:
            begin = interval.segments[0][0]
            # Intervals come by their beginnings: what has ended can be forgotten.
            taken[free] = [*(other for other in taken.get(free, ()) if other.segments[-1][1] > begin), interval]
            assigned.append((interval, free))
    return assigned, spilled


def _choices(interval: Interval, code: Code) -> Iterator[Reg]:
    """What it is moved from or to first, then what need not be saved, then the rest."""
    # x0, ra and sp are moved from or to, too, and are no choice.
    yield from (hint for hint in interval.hints if hint.number > 2)
    bank = interval.members[0].bank
    for number in (*(TEMPORARY_X if bank == "x" else TEMPORARY_F), *SAVED):
        # t6 is given out as long as every slot is within 2 KiB of sp.
        if Reg(bank, number) != FAR or code.slots + code.outgoing // 8 <= NEAR_SLOTS:
            yield Reg(bank, number)


def _is_free(register: Reg, interval: Interval, taken: dict[Reg, list[Interval]], fixed: dict[Reg, Segments]) -> bool:
    if register in fixed and overlap(fixed[register], interval.segments):
        return False
    return not any(overlap(other.segments, interval.segments) for other in taken.get(register, ()))


def _evict(
    interval: Interval,
    choices: Sequence[Reg],
    taken: dict[Reg, list[Interval]],
    fixed: dict[Reg, Segments],
    spilled: list[Interval],
) -> Reg | None:
    """The register whose intervals in the way are the cheapest to spill; None where this one is."""
    possible = [r for r in dict.fromkeys(choices) if r not in fixed or not overlap(fixed[r], interval.segments)]
    in_the_way = {
        r: [other for other in taken.get(r, ()) if overlap(other.segments, interval.segments)] for r in possible
    }
    # Cost per position: a long interval with few accesses frees most for least.
    best = min(possible, key=lambda r: sum(other.weight for other in in_the_way[r]), default=None)
    if best is None or sum(other.weight for other in in_the_way[best]) >= interval.weight:
        assert interval.cost < _UNSPILLABLE, "an instruction needs more registers than there are"
        spilled.append(interval)
        return None
    spilled += in_the_way[best]
    taken[best] = [other for other in taken[best] if other not in in_the_way[best]]
    return best


def _spilled(code: Code, spilled: Sequence[Interval], short: set[Reg]) -> Code:
    """The code with these intervals in slots, which those that do not overlap share."""
    slots: list[list[Interval]] = []
    place: dict[Reg, int] = {}
    for interval in spilled:
        number = next(
            (k for k, held in enumerate(slots) if not any(overlap(o.segments, interval.segments) for o in held)),
            len(slots),
        )
        # Slots are coloured greedily, as registers are.
        slots[number:] = [[*(slots[number] if number < len(slots) else ()), interval], *slots[number + 1 :]]
        place.update(dict.fromkeys(interval.members, code.slots + number))
    fresh = _numbers(code)
    blocks = tuple(
        Block(b.name, tuple(made for op in b.ops for made in _with_accesses(op, code, place, fresh, short)))
        for b in code.blocks
    )
    return replace(code, blocks=blocks, slots=code.slots + len(slots))


def _numbers(code: Code) -> Iterator[int]:
    start = max((o.number for b in code.blocks for op in b.ops for o in op.operands if isinstance(o, Reg)), default=0)
    return iter(range(start + 1, 1 << 62))


def _with_accesses(op: Op, code: Code, place: dict[Reg, int], fresh: Iterator[int], short: set[Reg]) -> Iterator[Op]:
    """The instruction with a new register for each that is spilled: reloaded before, stored behind."""
    defined, used = registers(op, code.isa)
    new = {r: Reg(r.bank, next(fresh)) for r in dict.fromkeys((*used, *defined)) if r in place}
    # These live from a reload to its use: spilling one would gain nothing.
    short.update(new.values())
    yield from (Op("reload", (new[r], place[r])) for r in dict.fromkeys(used) if r in place)
    yield renamed(op, lambda r: new.get(r, r))
    yield from (Op("spill", (new[r], place[r])) for r in defined if r in place)

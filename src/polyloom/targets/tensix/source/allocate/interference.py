# SPDX-License-Identifier: Apache-2.0
"""Interference graph and liveness: which registers and variables are live at once, and where how many are.

Two interfere where one is written while the other is live, other than by a copy of it (Chaitin et al. 1981, section 2).
Constant registers are never written, and interfere with nothing. Sets are bit masks by register.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from polyloom.analysis.liveness import block_successors, live
from polyloom.targets.tensix.source.allocate.code import FIRST_VARIABLE, Code, Item, Op, Register

Bits = int
ALLOCATED: Final = 8
"""L0 to L7 are given to variables."""
_CONSTANT: Final[Bits] = (1 << FIRST_VARIABLE) - (1 << ALLOCATED)


@dataclass(frozen=True, slots=True)
class Interference:
    """Interference graph: by register the set of those that it interferes with, and every copy."""

    neighbours: list[Bits]
    copies: tuple[tuple[Register, Register], ...]


def live_out_sets(code: Code) -> list[Bits]:
    """Live-out sets: by block what is live at its end, by backward data flow (Muchnick 1997, section 14.1)."""
    follow = block_successors(code.function)
    used, defined = zip(*(_upward_exposed_uses(items) for items in code.items), strict=True)
    entering = live(follow, used, defined)
    found: list[Bits] = []
    for successors in follow:
        union = 0
        for successor in successors:
            union |= entering[successor]
        found.append(union)
    return found


def walk_backwards(items: Sequence[Item], after: Bits) -> Iterator[tuple[int, Op, Bits]]:
    """Walk over instructions from the last to the first, each with its position and what is live behind it."""
    alive = after
    for at in range(len(items) - 1, -1, -1):
        item = items[at]
        if isinstance(item, Op):
            yield at, item, alive
            alive = transfer_liveness(item, alive)


def transfer_liveness(op: Op, alive: Bits) -> Bits:
    """Transfer function of liveness: what is live before an instruction, given what is live behind it."""
    # Writes end lives before reads begin them: an instruction may read what it overwrites.
    for register in op.writes:
        alive &= ~(1 << register)
    for register in op.reads:
        alive |= 1 << register
    # Constant registers are always there and take part in no allocation.
    return alive & ~_CONSTANT


def max_pressure(code: Code) -> int:
    """Register pressure: as many as are live behind an instruction at most."""
    live = zip(code.items, live_out_sets(code), strict=True)
    return max((alive.bit_count() for items, after in live for _, _, alive in walk_backwards(items, after)), default=0)


def live_in_set(items: Sequence[Item], after: Bits) -> Bits:
    """Live-in set: what is live before all of the items."""
    for _, op, alive in walk_backwards(items, after):
        after = transfer_liveness(op, alive)
    return after


def build_interference_graph(code: Code) -> Interference:
    """Interference graph of the code (Chaitin et al. 1981)."""
    neighbours = [0] * code.variables
    copies: list[tuple[Register, Register]] = []
    for items, after in zip(code.items, live_out_sets(code), strict=True):
        for _, op, alive in walk_backwards(items, after):
            written = 0
            for register in op.writes:
                written |= 1 << register
            others = alive | written
            if op.is_copy:
                # The two sides of a copy hold one value and may share a register.
                others &= ~(1 << op.operands[0])
                copies.append((op.results[0], op.operands[0]))
            for register in op.writes:
                neighbours[register] |= others & ~(1 << register)
    _make_symmetric(neighbours)
    return Interference(neighbours, tuple(copies))


def _make_symmetric(neighbours: list[Bits]) -> None:
    for register, others in enumerate(neighbours):
        for other in members(others):
            neighbours[other] |= 1 << register


def members(bits: Bits) -> Iterator[int]:
    while bits:
        # Isolates the lowest set bit (Hacker's Delight, section 2-1), so that sparse sets are walked quickly.
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def _upward_exposed_uses(items: Sequence[Item]) -> tuple[Bits, Bits]:
    """Upward-exposed uses and definitions of a block."""
    used = defined = 0
    for item in items:
        if isinstance(item, Op):
            for register in item.reads:
                used |= (1 << register) & ~defined
            for register in item.writes:
                defined |= 1 << register
    return used & ~_CONSTANT, defined

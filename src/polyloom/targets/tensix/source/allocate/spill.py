# SPDX-License-Identifier: Apache-2.0
"""Spilling of variables to rows of a 32-bit Dst, for kernels that do not fit otherwise and whose user allows it.

A spilled variable is stored where it is written and loaded where it is read (Chaitin 1982). Mode 10 of SFPLOAD and
SFPSTORE takes all lanes, whatever is enabled, and all 32 bits; of the counter that `dst_reg++` moves it adds the two
low bits, so 0 or 2, of which 2 changes between even and odd columns (ISA documentation, page of `SFPLOAD`). Where a
word of the source may move the counter, a variable is so stored three times, two before and two behind its place as
well: it is at its place whatever the counter was and is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.ir.ssa import Constant, Instruction
from polyloom.ir.ssa_types import I32
from polyloom.targets.tensix.source.allocate.code import FIRST_VARIABLE, RAW, Code, Item, Op, Register
from polyloom.targets.tensix.source.allocate.interference import (
    ALLOCATED,
    Bits,
    build_interference_graph,
    live_out_sets,
    members,
    walk_backwards,
)
from polyloom.targets.tensix.source.lower.shapes import shape_table
from polyloom.targets.tensix.source.operations import called_operation
from polyloom.targets.tensix.words.decode import decode
from polyloom.targets.tensix.words.isa import Member

_ROWS: Final = 4
"""Those of an access."""
SPILLED: Final = "spilled"
"""The note of a word that stores or loads what is spilled."""
_ALL_LANES, _OTHER_HALF = 10, 2
_STILL: Final = {"wormhole": 3, "blackhole": 7}
"""The mode of addressing that adds nothing, by the contract of entry."""


@dataclass(slots=True)
class Spilling:
    """Spilling in work. Mutable: the code, and what is in Dst. Variables that are never live at once share a place
    (`places`: those of each); `small` are what spilling adds, which is not worth it. `neighbours` is of the code as it
    was first.
    """

    code: Code
    member: Member
    rows: range
    neighbours: Sequence[Bits]
    places: list[Bits] = field(default_factory=list[Bits])
    small: frozenset[Register] = frozenset()

    def more(self) -> bool:
        """Spilling of one more variable; whether there was one, and a place."""
        chosen, code = _spill_candidate(self.code, self.small), self.code
        row = None if chosen is None else self._assign_row(chosen)
        if chosen is None or row is None:
            return False
        writer = _Writer(chosen, row, self.member, _may_move_counter(code, self.member), code.variables)
        items = tuple(tuple(new for item in found for new in writer.item(item)) for found in code.items)
        # The short lives that spilling makes would be chosen again and again.
        self.small |= frozenset(range(code.variables, writer.next))
        self.code = replace(code, items=items, variables=writer.next)
        return True

    def _assign_row(self, chosen: Register) -> int | None:
        """First row of the variable's place; None where rows are full."""
        size = rows_per_variable(self.code, self.member)
        first = -(-self.rows.start // _ROWS) * _ROWS  # the two low bits of an address choose columns
        at = next((k for k, held in enumerate(self.places) if not held & self.neighbours[chosen]), len(self.places))
        row = first + at * size
        if row + size > self.rows.stop:
            return None
        if at == len(self.places):
            self.places.append(0)
        self.places[at] |= 1 << chosen
        return row


def start_spilling(code: Code, member: Member, rows: range) -> Spilling:
    """Start of spilling: nothing is spilled yet."""
    return Spilling(code, member, rows, build_interference_graph(code).neighbours)


def rows_per_variable(code: Code, member: Member) -> int:
    """As many rows as a variable takes."""
    return 3 * _ROWS if _may_move_counter(code, member) else _ROWS


def _spill_candidate(code: Code, small: frozenset[Register]) -> Register | None:
    """Spill candidate: that with the fewest uses for the length of its life, of those that live where the most do
    (Chaitin 1982: cost over degree).
    """
    uses = Counter(r for items in code.items for i in items if isinstance(i, Op) for r in (*i.reads, *i.writes))
    lengths: Counter[Register] = Counter()
    crowd: tuple[int, Bits] = (0, 0)
    for items, after in zip(code.items, live_out_sets(code), strict=True):
        for _, op, alive in walk_backwards(items, after):
            for register in op.writes:
                alive |= 1 << register
            lengths.update(members(alive))
            crowd = max(crowd, (alive.bit_count(), alive), key=lambda found: found[0])
    left = [r for r in members(crowd[1]) if r >= FIRST_VARIABLE and r not in small]
    if crowd[0] <= ALLOCATED:  # what does not fit is elsewhere: any will do
        left = [r for r in lengths if r >= FIRST_VARIABLE and r not in small]
    return min(left, key=lambda r: (uses[r] / lengths[r], r), default=None)


def _may_move_counter(code: Code, member: Member) -> bool:
    """Whether a word may move the counter of Dst."""
    return any(_item_may_move(item, member) for items in code.items for item in items)


def _item_may_move(item: Item, member: Member) -> bool:
    if isinstance(item, Instruction):
        row = called_operation(item)
        return row is not None and row.name == "word"
    if item.shape is not RAW:
        return item.immediate("sfpu_addr_mode") not in (None, 3, 7)
    bits = item.immediates[0]
    found = decode(bits.value & 0xFFFFFFFF, member) if isinstance(bits, Constant) else None
    return found is None or found.row.unit != "vector"


class _Writer:
    """Rewriting of one spilled variable. Mutable: the number of the next variable."""

    def __init__(self, chosen: Register, row: int, member: Member, moves: bool, variables: int) -> None:
        self.chosen, self.mode, self.next = chosen, _STILL[member], variables
        self.row = row + _ROWS if moves else row
        self.stored = (-_OTHER_HALF, 0, _OTHER_HALF) if moves else (0,)

    def item(self, item: Item) -> Iterator[Item]:
        if not isinstance(item, Op) or self.chosen not in (*item.reads, *item.writes):
            yield item
            return
        # Each access has a variable of its own, so that the lives that are left are as short as can be.
        own, self.next = self.next, self.next + 1
        if self.chosen in item.reads:
            yield Op(shape_table()["SFPLOAD"], (own,), (), self._access_fields(0), (), item.place, SPILLED)
        yield replace(
            item,
            results=_substitute(item.results, self.chosen, own),
            operands=_substitute(item.operands, self.chosen, own),
            kept=_substitute(item.kept, self.chosen, own),
        )
        for half in self.stored if self.chosen in item.writes else ():
            yield Op(shape_table()["SFPSTORE"], (), (own,), self._access_fields(half), (), item.place, SPILLED)

    def _access_fields(self, half: int) -> tuple[Constant, ...]:
        return tuple(Constant(I32, number) for number in (_ALL_LANES, self.mode, self.row + half))


def _substitute(registers: Sequence[Register], old: Register, new: Register) -> tuple[Register, ...]:
    return tuple(new if r == old else r for r in registers)

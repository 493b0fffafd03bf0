# SPDX-License-Identifier: Apache-2.0
"""Local search (hill climbing) for an order of a block in which few enough values are live at once.

Instructions move down to what needs them first, or up to what they need last, together with what only they need, as
long as that lowers the excess: by how much, summed over the block, more values are live than there may be. It ends,
since each move lowers a natural number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.targets.tensix.source.allocate.code import Item, Op
from polyloom.targets.tensix.source.allocate.interference import Bits, transfer_liveness, walk_backwards
from polyloom.targets.tensix.source.allocate.schedule import dependence_edges
from polyloom.targets.tensix.words.isa import Member

_GREATEST: Final = 10
"""Instructions that move as one."""
LONGEST: Final = 300
"""Instructions of a block that is searched: each move looks at what stands between its two places."""


def search_order(items: Sequence[Item], after: Bits, member: Member, most: int) -> list[Item]:
    """Order found; the given one where there is no better."""
    order = list(items)
    while True:
        lives = _live_ranges(order, after, most)
        moves = _candidate_moves(order, member, lives.crowd) if any(lives.excess) else ()
        # First improvement, not the best one: each move is checked over the span that it reorders, and there are many
        # moves.
        found = next((move for move in moves if lives.is_better(move)), None)
        if found is None:
            return order
        order[found.first : found.first + len(found.positions)] = [order[k] for k in found.positions]


@dataclass(frozen=True, slots=True)
class _Move:
    """A move: from `first` on, the instructions at `positions` stand in this order; outside of them nothing changes."""

    first: int
    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Lives:
    """Live ranges of an order: by position what an instruction writes and reads, what is live behind it, and how many
    more than there may be; `crowd` is what is live where too many are.
    """

    most: int
    is_op: list[bool]
    writes: list[Bits]
    reads: list[Bits]
    behind: list[Bits]
    excess: list[int]
    crowd: Bits

    def is_better(self, move: _Move) -> bool:
        """Whether a move lowers the excess. What is live before and behind the instructions that a move reorders stays
        the same, since all that use a register keep their order.
        """
        last = move.first + len(move.positions)
        # The sum may stop as soon as the new order has used up what the old one had.
        budget = sum(self.excess[move.first : last])
        alive = self.behind[last - 1]
        for at in reversed(move.positions):
            if budget <= 0:
                return False
            if self.is_op[at]:
                budget -= max(0, (alive | self.writes[at]).bit_count() - self.most)
                alive = alive & ~self.writes[at] | self.reads[at]
        return budget > 0


def _live_ranges(order: Sequence[Item], after: Bits, most: int) -> _Lives:
    count = len(order)
    found = _Lives(most, [False] * count, [0] * count, [0] * count, [0] * count, [0] * count, 0)
    crowd, alive = 0, after
    for at in range(count - 1, -1, -1):
        item = order[at]
        found.behind[at] = alive
        if isinstance(item, Op):
            found.is_op[at] = True
            found.writes[at] = written = sum(1 << register for register in set(item.writes))
            found.reads[at] = transfer_liveness(item, 0)
            found.excess[at] = max(0, (alive | written).bit_count() - most)
            crowd |= alive | written if found.excess[at] else 0
            alive = alive & ~written | found.reads[at]
    return replace(found, crowd=crowd)


def peak_pressure(items: Sequence[Item], after: Bits) -> int:
    """Peak register pressure, counting what an instruction writes beside what lives on."""
    return max(_live(items, after), default=0)


def excess_pressure(items: Sequence[Item], after: Bits, most: int) -> int:
    """Excess pressure, summed over the block."""
    return sum(max(0, count - most) for count in _live(items, after))


def _live(items: Sequence[Item], after: Bits) -> Iterator[int]:
    for _, op, alive in walk_backwards(items, after):
        for register in op.writes:
            alive |= 1 << register
        yield alive.bit_count()


def _candidate_moves(order: Sequence[Item], member: Member, crowd: Bits) -> Iterator[_Move]:
    """Candidate moves of an instruction that has to do with the crowd."""
    earlier = dependence_edges(order, member)
    behind: list[set[int]] = [set() for _ in order]
    for at, found in enumerate(earlier):
        for other in found:
            behind[other].add(at)
    users = _readers(order)
    for at, item in enumerate(order):
        # Moves of instructions whose registers are not crowded cannot lower the excess.
        if not isinstance(item, Op) or not any(crowd >> r & 1 for r in (*item.writes, *item.reads)):
            continue
        for group in _movable_groups(at, users):
            inside = set(group)
            down = min((k for g in group for k in behind[g] if k not in inside), default=len(order))
            up = max((k for g in group for k in earlier[g] if k not in inside), default=-1) + 1
            for target in dict.fromkeys((down, up)):
                if target < group[0] or target > group[-1] + 1:
                    yield _make_move(group, target)


def _movable_groups(at: int, users: Sequence[set[int]]) -> Iterator[list[int]]:
    """Movable groups: an instruction, then with what only it needs, and so on: pieces of an expression that can move as
    one.
    """
    group = [at]
    yield group
    while len(group) < _GREATEST:
        inside = set(group)
        more = [k for k in range(group[-1]) if k not in inside and users[k] and users[k] <= inside]
        if not more:
            return
        group = sorted({*group, more[-1]})
        yield group


def _readers(order: Sequence[Item]) -> list[set[int]]:
    """Readers by position of what an instruction writes."""
    found: list[set[int]] = [set() for _ in order]
    writer: dict[int, int] = {}
    for at, item in enumerate(order):
        if isinstance(item, Op):
            for register in item.reads:
                if register in writer:
                    found[writer[register]].add(at)
            writer |= dict.fromkeys(item.writes, at)
    return found


def _make_move(group: Sequence[int], target: int) -> _Move:
    inside = set(group)
    if target < group[0]:
        return _Move(target, (*group, *(k for k in range(target, group[-1]) if k not in inside)))
    return _Move(group[0], (*(k for k in range(group[0], target) if k not in inside), *group))

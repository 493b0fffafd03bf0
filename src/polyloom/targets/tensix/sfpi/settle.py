# SPDX-License-Identifier: Apache-2.0
"""A local search for an order of a block in which few enough values are live at once.

Instructions move down to what needs them first, or up to what they need last, together with what only they need, as
long as that lowers the excess: by how much, summed over the block, more values are live than there may be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from polyloom.targets.tensix.isa import Member
from polyloom.targets.tensix.sfpi.code import Item, Op
from polyloom.targets.tensix.sfpi.interference import Bits, backwards
from polyloom.targets.tensix.sfpi.schedule import ordering

_GREATEST: Final = 10
"""Instructions that move as one."""
LONGEST: Final = 300
"""Instructions of a block that is searched: each move is tried on the whole block."""


def settle(items: Sequence[Item], after: Bits, member: Member, most: int) -> list[Item]:
    """The order found; the given one where there is no better."""
    order = list(items)
    cost = excess(order, after, most)
    improved = True
    while cost and improved:
        improved = False
        for found in _moves(order, member, _crowd(order, after, most)):
            new = excess(found, after, most)
            if new < cost:
                order, cost, improved = found, new, True
                break
    return order


def peak(items: Sequence[Item], after: Bits) -> int:
    """As many values as are live at once, counting what an instruction writes beside what lives on."""
    return max(_live(items, after), default=0)


def excess(items: Sequence[Item], after: Bits, most: int) -> int:
    return sum(max(0, count - most) for count in _live(items, after))


def _live(items: Sequence[Item], after: Bits) -> Iterator[int]:
    for _, op, alive in backwards(items, after):
        for register in op.writes:
            alive |= 1 << register
        yield alive.bit_count()


def _crowd(items: Sequence[Item], after: Bits, most: int) -> Bits:
    """What is live where too many are."""
    found = 0
    for _, op, alive in backwards(items, after):
        for register in op.writes:
            alive |= 1 << register
        if alive.bit_count() > most:
            found |= alive
    return found


def _moves(order: Sequence[Item], member: Member, crowd: Bits) -> Iterator[list[Item]]:
    """Orders that differ by one move of an instruction that has to do with the crowd."""
    before = ordering(order, member)
    behind: list[set[int]] = [set() for _ in order]
    for at, found in enumerate(before):
        for other in found:
            behind[other].add(at)
    users = _users(order)
    for at, item in enumerate(order):
        if not isinstance(item, Op) or not any(crowd >> r & 1 for r in (*item.writes, *item.reads)):
            continue
        for group in _groups(at, users):
            inside = set(group)
            down = min((k for g in group for k in behind[g] if k not in inside), default=len(order))
            up = max((k for g in group for k in before[g] if k not in inside), default=-1) + 1
            for target in dict.fromkeys((down, up)):
                if target < group[0] or target > group[-1] + 1:
                    yield _moved(order, group, target)


def _groups(at: int, users: Sequence[set[int]]) -> Iterator[list[int]]:
    """An instruction, then with what only it needs, and so on: pieces of an expression that can move as one."""
    group = [at]
    yield group
    while len(group) < _GREATEST:
        inside = set(group)
        more = [k for k in range(group[-1]) if k not in inside and users[k] and users[k] <= inside]
        if not more:
            return
        group = sorted({*group, more[-1]})
        yield group


def _users(order: Sequence[Item]) -> list[set[int]]:
    """By position those that read what it writes."""
    found: list[set[int]] = [set() for _ in order]
    writer: dict[int, int] = {}
    for at, item in enumerate(order):
        if isinstance(item, Op):
            for register in item.reads:
                if register in writer:
                    found[writer[register]].add(at)
            writer |= dict.fromkeys(item.writes, at)
    return found


def _moved(order: Sequence[Item], group: Sequence[int], target: int) -> list[Item]:
    inside = set(group)
    moved = [order[k] for k in group]
    head = [order[k] for k in range(target) if k not in inside]
    return [*head, *moved, *(order[k] for k in range(target, len(order)) if k not in inside)]

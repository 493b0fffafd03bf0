# SPDX-License-Identifier: Apache-2.0
"""What a hart has to evict from its caches behind a work, and where harts have to wait for each other.

What a work writes and a later one touches is evicted by its writer, who so makes it visible and forgets it. What it
reads, and a later work writes, and one later still touches, is evicted by its reader: its copy would be old. A
barrier stands where a work touches what one since the last barrier writes, or writes what that one touches. Works
inside a loop that all harts go through come after themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from polyloom.ir.nest import Loop, accesses, assignments
from polyloom.ir.pla import Reference
from polyloom.sets import Affine
from polyloom.targets.minion.loops.simd.memory import Memory
from polyloom.targets.minion.loops.simd.phases import Alike, Item, Work, works
from polyloom.targets.minion.loops.simd.ranges import Range

FIRST, LAST = "@first", "@last"
"""The ends of a hart's block, in the forms of extents."""


class Order:
    """Of the works of a nest: which can come after which."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.after: dict[Work, list[Work]] = {}
        self._follow(list(items), [])

    def _follow(self, items: list[Item], later: list[Work]) -> None:
        for n, item in enumerate(items):
            rest = [*works(items[n + 1 :]), *later]
            if isinstance(item, Work):
                self.after[item] = rest
            else:
                again = list(works([item])) if isinstance(item.node, Loop) else []
                self._follow(list(item.body), [*again, *rest])
                self._follow(list(item.orelse), [*again, *rest])

    def evicted(self, work: Work) -> frozenset[str]:
        """The arrays whose lines the harts of a work do not keep."""
        written = {
            name
            for later in self.after[work]
            for name in later.touched() & work.written()
            if not same_hart(work, later, name)
        }
        read = {
            name
            for later in self.after[work]
            for name in later.written() & work.touched()
            if not same_hart(work, later, name) and any(name in last.touched() for last in self.after[later])
        }
        return frozenset(written | read)


def same_hart(one: Work, other: Work, name: str) -> bool:
    """Whether each hart touches the same part of an array in both: hart 0 alone in both, or blocks that are cut alike
    and that one subscript chooses, whatever the iteration of loops around."""
    if one.loop is None or other.loop is None:
        return one.loop is other.loop
    if (one.blocks, one.loop.lower, one.loop.upper) != (other.blocks, other.loop.lower, other.loop.upper):
        return False
    if any(not end.is_constant for end in (*one.loop.lower, *one.loop.upper)):
        return False
    common = Affine.symbol(FIRST)
    indices = [
        tuple(i.substitute({work.loop.name: common}) for i in reference.index)
        for work in (one, other)
        if work.loop is not None
        for assign in assignments(work.nodes)
        for reference in (assign.target, *accesses(assign.value))
        if reference.name == name
    ]
    return any(len(set(along)) == 1 and along[0].symbols == {FIRST} for along in zip(*indices, strict=True))


def conflict(one: Work, other: Work) -> bool:
    """Whether harts may not go on to one while others are at the other."""
    shared = one.written() & other.touched() | other.written() & one.touched()
    return any(not same_hart(one, other, name) for name in shared)


@dataclass(frozen=True, slots=True)
class Extent:
    """Bytes of an array that a hart touches, from `first` up to and with `last`: forms of loops around the work, and of
    the first and last iteration of its block."""

    first: Affine
    last: Affine


def extents(work: Work, names: frozenset[str], memory: Memory, known: Mapping[str, Range]) -> list[Extent]:
    """Of arrays, those that overlap or nearly do joined."""
    found: dict[tuple[str, tuple[Affine, Affine]], tuple[int, int]] = {}
    for assign in assignments(work.nodes):
        for reference in (assign.target, *accesses(assign.value)):
            if reference.name in names:
                shape, ends = _extent(work, reference, memory, known)
                low, high = found.get((reference.name, shape), ends)
                found[reference.name, shape] = min(low, ends[0]), max(high, ends[1])
    return [Extent(first + low, last + high) for (_, (first, last)), (low, high) in sorted(found.items(), key=_order)]


def _order(item: tuple[tuple[str, tuple[Affine, Affine]], tuple[int, int]]) -> tuple[str, str, tuple[int, int]]:
    (name, shape), ends = item
    return name, str(shape), ends


def _extent(
    work: Work, reference: Reference, memory: Memory, known: Mapping[str, Range]
) -> tuple[tuple[Affine, Affine], tuple[int, int]]:
    """The parts of both ends that depend on loops, and the numbers to be added."""
    form = memory.address(reference)
    shared = work.loop.name if work.loop is not None else ""
    first = last = Affine()
    low = form.constant
    high = form.constant + memory.placed[reference.name].dtype.itemsize - 1
    for name, factor in form.terms:
        if name in work.outer:
            first, last = first + Affine.symbol(name) * factor, last + Affine.symbol(name) * factor
        elif name == shared:
            ends = (FIRST, LAST) if factor > 0 else (LAST, FIRST)
            first, last = first + Affine.symbol(ends[0]) * factor, last + Affine.symbol(ends[1]) * factor
        else:
            values = [factor * end for end in known[name]]
            low, high = low + min(values), high + max(values)
    return (first, last), (low, high)


def barriers(items: Sequence[Item]) -> frozenset[Item | tuple[Alike, str]]:
    """In front of which items harts wait for each other; (loop, "end"): behind each of its iterations."""
    made: set[Item | tuple[Alike, str]] = set()
    _waits(items, [], made)
    return frozenset(made)


def _waits(items: Sequence[Item], pending: list[Work], made: set[Item | tuple[Alike, str]]) -> list[Work]:
    """Works that are not behind a barrier, after `items`."""
    for item in items:
        inside = [item] if isinstance(item, Work) else list(works([item]))
        if any(conflict(one, other) for one in pending for other in inside):
            made.add(item)
            pending = []
        if isinstance(item, Work):
            pending = [*pending, item]
        elif isinstance(item.node, Loop):
            left = _waits(item.body, list(pending), made)
            if any(conflict(one, other) for one in left for other in inside):
                made.add((item, "end"))
                left = []
            pending = [*pending, *(work for work in left if work not in pending)]
        else:
            branches = [_waits(branch, list(pending), made) for branch in (item.body, item.orelse)]
            pending = list(dict.fromkeys([*branches[0], *branches[1]]))
    return pending

# SPDX-License-Identifier: Apache-2.0
"""Control signals as few as a machine has: a branch is a function of any signals, where `control` gives every bit of a
code one.

Steps that no transition set tells apart are one atom. Branches are coded one after another, those of most successors
first, then those that meet fewest atoms. In an atom that a branch meets, a signal may be 1, 0 or still free. Of all
choices of at most `branch_flags` signals the one with the fewest new ones is taken, then the smallest, then the first,
for which some table from codes to successors gives each atom its successor, the most frequent ones by codes of few
ones. Codes that the table has to spare lead
where a neighbour does, the most frequent one; what was free and matters is then 1 or 0. A signal that would get too
many convex sets grows no more for this branch. Two atoms of different successors must differ in a chosen signal or have
a free one: the last signal of a choice is looked for only among those that tell apart what the others do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from tests.targets.tcpa.instantiate.oracle import cells

from polyloom.targets.tcpa.words.concrete import ConvexSet, Domain
from polyloom.targets.tcpa.words.symbolic import Limits

_SIGNALS = 64
"""Never more: sets of signals are then one machine word."""
_FLAGS = 6
"""Never more: as many codes."""
_WORK = 1 << 26
"""Cells times transition sets: where they are more, nothing is shared."""


class Branching(NamedTuple):
    """Of one kernel: the global signals that it reads, ascending, and the successor of every code that it meets."""

    signals: tuple[int, ...]
    targets: dict[int, int]


class _Column(NamedTuple):
    """Atoms of one successor in which the same signals are 1 and the same are 0."""

    successor: int
    ones: int
    zeros: int


class _Need(NamedTuple):
    """A code whose bits in `free` do not matter, and the successor that it has to lead to."""

    free: int
    code: int
    successor: int


def share(
    branches: Sequence[Mapping[int, Domain]], limits: Limits
) -> tuple[tuple[Domain, ...], list[Branching]] | None:
    """The one-domains, and the branching of every branch, given by its transition sets; None where the signals do not
    suffice."""
    sets = list(dict.fromkeys(s for b in branches for d in b.values() for s in d))
    if cells.count(sets) * len(sets) > _WORK:
        return None
    palette = _Palette(sets, limits)
    found: dict[int, tuple[int, ...]] = {}
    for b in sorted(range(len(branches)), key=lambda b: (-len(branches[b]), palette.met(branches[b]))):
        signals = palette.code(branches[b])
        if signals is None:
            return None
        found[b] = signals
    return tuple(palette.domain(s) for s in range(palette.count)), [
        palette.settled(branches[b], found[b]) for b in range(len(branches))
    ]


class _Palette:
    """The signals so far: in which atoms each is 1 and in which 0."""

    def __init__(self, sets: Sequence[ConvexSet], limits: Limits) -> None:
        self.count = 0
        self._limit = min(_SIGNALS if limits.control_signals is None else limits.control_signals, _SIGNALS)
        self._flags, self._sets = limits.branch_flags, limits.signal_sets
        parts = cells.partition([[s] for s in sets])
        self._parts = list(parts.values())
        self._number = {s: i for i, s in enumerate(sets)}
        self._keys = list(parts)
        self._ones, self._zeros = [0] * len(parts), [0] * len(parts)

    def domain(self, signal: int) -> Domain:
        return cells.union(
            s for atom, ones in enumerate(self._ones) if ones >> signal & 1 for s in self._parts[atom].sets
        )

    def _exceeds(self, signal: int) -> bool:
        return self._sets is not None and len(self.domain(signal)) > self._sets

    def met(self, edges: Mapping[int, Domain]) -> int:
        """How many atoms a branch meets."""
        return sum(len(atoms) for atoms in self._columns(edges).values())

    def code(self, edges: Mapping[int, Domain]) -> tuple[int, ...] | None:
        """The signals of a branch, fixed where they matter to it."""
        columns, full = self._columns(edges), set[int]()
        count = _frequencies(columns)
        rank = {w: n for n, w in enumerate(sorted(count, key=lambda w: (-count[w], w)))}
        for signals in _choices(columns, self.count, min(self._flags, self._limit, _FLAGS), self._limit):
            needs = sorted({_need(c, signals) for c in columns}, key=lambda n: (*_freedom(n), rank[n.successor]))
            table = _table(needs, len(signals))
            if table and self._extend(columns, signals, _filled(table, columns, len(signals)), full):
                return signals
        return None

    def settled(self, edges: Mapping[int, Domain], signals: tuple[int, ...]) -> Branching:
        """The codes that a branch meets, once all signals are known."""
        meeting = (
            (sum((c.ones >> s & 1) << i for i, s in enumerate(signals)), c.successor) for c in self._columns(edges)
        )
        return Branching(signals, dict(meeting))

    def _columns(self, edges: Mapping[int, Domain]) -> dict[_Column, list[int]]:
        """The atoms that a branch meets."""
        columns: dict[_Column, list[int]] = {}
        for successor, domain in edges.items():
            members = sum(1 << self._number[s] for s in domain)
            for atom, key in enumerate(self._keys):
                if key & members:
                    columns.setdefault(_Column(successor, self._ones[atom], self._zeros[atom]), []).append(atom)
        return columns

    def _extend(
        self, columns: Mapping[_Column, list[int]], signals: tuple[int, ...], table: Mapping[int, int], full: set[int]
    ) -> bool:
        """Fix `signals` where they matter to the branch, unless one then has more convex sets than the machine's: it is
        `full`."""
        count, before = self.count, (self._ones.copy(), self._zeros.copy())
        self.count = max(self.count, signals[-1] + 1)
        grown = 0
        for column, atoms in columns.items():
            free, code, _ = _widest(_need(column, signals), table, len(signals))
            ones = sum(1 << s for i, s in enumerate(signals) if code >> i & 1)
            zeros = sum(1 << s for i, s in enumerate(signals) if not (code | free) >> i & 1)
            grown |= ones & ~column.ones
            for atom in atoms:
                self._ones[atom] |= ones
                self._zeros[atom] |= zeros
        rising = [s for s in signals if grown >> s & 1]
        if full.isdisjoint(rising):
            full.update(next(([s] for s in rising if self._exceeds(s)), ()))
            if full.isdisjoint(rising):
                return True
        self.count, (self._ones, self._zeros) = count, before
        return False


def _choices(columns: Iterable[_Column], count: int, flags: int, limit: int) -> Iterator[tuple[int, ...]]:
    """Signals, ascending: `count` are in use, later ones are new."""
    least = (len({c.successor for c in columns}) - 1).bit_length()
    clashes = sorted(
        {(a.ones & b.ones) | (a.zeros & b.zeros) for a, b in combinations(columns, 2) if a.successor != b.successor},
        key=int.bit_count,
    )[::-1]
    for new in range(min(flags, limit - count) + 1):
        fresh = tuple(range(count, count + new))
        for old in range(max(least - new, 0), flags - new + 1):
            for chosen in combinations(range(count), old) if new else _separating(clashes, count, old):
                yield (*chosen, *fresh)


def _separating(clashes: Sequence[int], count: int, size: int) -> Iterator[tuple[int, ...]]:
    """Choices that tell each pair of columns apart; of a pair, `clashes` has the signals that do not."""
    for first in combinations(range(count), size - 1):
        chosen = sum(1 << s for s in first)
        last = (1 << count) - (1 << (first[-1] + 1 if first else 0))
        for same in clashes:
            if not chosen & ~same:
                last &= ~same
                if not last:
                    break
        yield from ((*first, s) for s in range(count) if last >> s & 1)


def _need(column: _Column, signals: tuple[int, ...]) -> _Need:
    fixed = column.ones | column.zeros
    free = sum(1 << i for i, s in enumerate(signals) if not fixed >> s & 1)
    return _Need(free, sum(1 << i for i, s in enumerate(signals) if column.ones >> s & 1), column.successor)


def _freedom(need: _Need) -> tuple[int, int, int]:
    return need.free.bit_count(), need.free, need.code


def _frequencies(columns: Mapping[_Column, list[int]]) -> dict[int, int]:
    """How many atoms lead to each successor."""
    count: dict[int, int] = {}
    for column, atoms in columns.items():
        count[column.successor] = count.get(column.successor, 0) + len(atoms)
    return count


def _weight(code: int) -> tuple[int, int]:
    return code.bit_count(), code


def _filled(table: Mapping[int, int], columns: Mapping[_Column, list[int]], bits: int) -> dict[int, int]:
    """The table with the codes that are to spare, each where the most frequent successor of a neighbour is; the first
    code comes first."""
    count = _frequencies(columns)
    filled = dict(table)
    while len(filled) < 1 << bits:
        open_to = [
            (c, filled[c ^ 1 << k])
            for c in range(1 << bits)
            if c not in filled
            for k in range(bits)
            if c ^ 1 << k in filled
        ]
        code, successor = max(open_to, key=lambda o: count[o[1]])
        filled[code] = successor
    return filled


def _widest(need: _Need, table: Mapping[int, int], bits: int) -> _Need:
    """The same need with the fewest bits that matter."""
    codes = sorted(range(1 << bits), key=_weight)
    cubes = (
        (free, c)
        for free in reversed(codes)
        if not free & ~need.free
        for c in codes
        if not c & free and c & ~need.free == need.code
    )
    free, code = next(
        (free, c) for free, c in cubes if all(table[x] == need.successor for x in codes if x & ~free == c)
    )
    return _Need(free, code, need.successor)


def _table(needs: Sequence[_Need], bits: int) -> dict[int, int] | None:
    """A table that has a code for each need, the needs in this order and codes of few ones first; depth-first."""
    codes = sorted(range(1 << bits), key=_weight)
    table: dict[int, int] = {}

    def serve(at: int) -> bool:
        while at < len(needs) and any(
            table.get(c) == needs[at].successor for c in codes if c & ~needs[at].free == needs[at].code
        ):
            at += 1
        if at == len(needs):
            return True
        for c in codes:
            if c & ~needs[at].free == needs[at].code and c not in table:
                table[c] = needs[at].successor
                if serve(at + 1):
                    return True
                del table[c]
        return False

    return table if serve(0) else None

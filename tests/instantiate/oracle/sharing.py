# SPDX-License-Identifier: Apache-2.0
"""Control signals as few as a machine has: a branch is a function of any signals, where `control` gives every bit of a code one.

Steps that no transition set tells apart are one atom. Branches are coded one after another, those of most successors first. In
an atom that a branch meets, a signal may be 1, 0 or still free. Of all choices of at most `branch_flags` signals the one with
the fewest new ones is taken, then the smallest, then the first, for which some table from codes to successors gives each atom
its successor; what was free is then 1 or 0. Two atoms of different successors must differ in a chosen signal or have a free
one: the last signal of a choice is looked for only among those that tell apart what the others do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from tests.instantiate.oracle import cells

from polyloom.targets.tcpa.concrete import ConvexSet, Domain
from polyloom.targets.tcpa.symbolic import Limits

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


def share(branches: Sequence[Mapping[int, Domain]], limits: Limits) -> tuple[tuple[Domain, ...], list[Branching]] | None:
    """The one-domains, and the branching of every branch, given by its transition sets; None where the signals do not suffice."""
    sets = list(dict.fromkeys(s for b in branches for d in b.values() for s in d))
    if cells.count(sets) * len(sets) > _WORK:
        return None
    palette = _Palette(sets, limits)
    found: dict[int, Branching] = {}
    for b in sorted(range(len(branches)), key=lambda b: -len(branches[b])):
        branching = palette.code(branches[b])
        if branching is None:
            return None
        found[b] = branching
    return tuple(palette.domain(s) for s in range(palette.count)), [found[b] for b in range(len(branches))]


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
        return cells.union(s for atom, ones in enumerate(self._ones) if ones >> signal & 1 for s in self._parts[atom].sets)

    def code(self, edges: Mapping[int, Domain]) -> Branching | None:
        columns = self._columns(edges)
        for signals in _choices(columns, self.count, min(self._flags, self._limit, _FLAGS), self._limit):
            table = _table(sorted({_need(c, signals) for c in columns}, key=_freedom), len(signals))
            if table and self._extend(columns, signals, table):
                return Branching(signals, table)
        return None

    def _columns(self, edges: Mapping[int, Domain]) -> dict[_Column, list[int]]:
        """The atoms that a branch meets."""
        columns: dict[_Column, list[int]] = {}
        for successor, domain in edges.items():
            members = sum(1 << self._number[s] for s in domain)
            for atom, key in enumerate(self._keys):
                if key & members:
                    columns.setdefault(_Column(successor, self._ones[atom], self._zeros[atom]), []).append(atom)
        return columns

    def _extend(self, columns: Mapping[_Column, list[int]], signals: tuple[int, ...], table: Mapping[int, int]) -> bool:
        """Fix `signals` in all atoms of the branch, unless one then has more convex sets than the machine's."""
        count, before = self.count, (self._ones.copy(), self._zeros.copy())
        self.count = max(count, signals[-1] + 1)
        grown = 0
        for column, atoms in columns.items():
            free, wanted, _ = _need(column, signals)
            code = min((c for c, w in table.items() if w == column.successor and c & ~free == wanted), key=_weight)
            ones = sum(1 << s for i, s in enumerate(signals) if code >> i & 1)
            grown |= ones & ~column.ones
            for atom in atoms:
                self._ones[atom] |= ones
                self._zeros[atom] |= sum(1 << s for s in signals) & ~ones
        if self._sets is None or all(len(self.domain(s)) <= self._sets for s in signals if grown >> s & 1):
            return True
        self.count, (self._ones, self._zeros) = count, before
        return False


def _choices(columns: Iterable[_Column], count: int, flags: int, limit: int) -> Iterator[tuple[int, ...]]:
    """Signals, ascending: `count` are in use, later ones are new."""
    least = (len({c.successor for c in columns}) - 1).bit_length()
    clashes = sorted({(a.ones & b.ones) | (a.zeros & b.zeros) for a, b in combinations(columns, 2) if a.successor != b.successor}, key=int.bit_count)[::-1]
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


def _freedom(need: _Need) -> tuple[int, _Need]:
    return need.free.bit_count(), need


def _weight(code: int) -> tuple[int, int]:
    return code.bit_count(), code


def _table(needs: Sequence[_Need], bits: int) -> dict[int, int] | None:
    """A table that has a code for each need, the needs in this order and codes of few ones first; depth-first."""
    codes = sorted(range(1 << bits), key=_weight)
    table: dict[int, int] = {}

    def serve(at: int) -> bool:
        while at < len(needs) and any(table.get(c) == needs[at].successor for c in codes if c & ~needs[at].free == needs[at].code):
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

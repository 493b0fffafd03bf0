# SPDX-License-Identifier: Apache-2.0
"""Cycle account of a run (cycle stack; Eyerman, Eeckhout, Karkhanis and Smith 2006): every unit-cycle in one class, so
that the classes sum to units times cycles (docs/account.md).

What it is made of is what a model counted while it read words; debugging information says which line a word is of.
A machine that models no time is accounted by instructions, each of which is one unit-cycle of its hart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final, Literal, TypeVar, get_args

Category = Literal[
    "work",
    "dependence",
    "full unit",
    "memory",
    "synchronisation",
    "front",
    "imbalance",
    "fill and drain",
    "configuration",
]
K = TypeVar("K")
CATEGORIES: Final[tuple[Category, ...]] = get_args(Category)
"""Classes of unit-cycles, in the order in which they are shown: work first, then what keeps a unit from it."""


@dataclass(frozen=True, slots=True)
class Row:
    """Row of an account: so many unit-cycles of a unit, or of units that are alike, in one class. `detail` says which
    operation, edge, unit, level, semaphore; `line` is that of the source, 0 where none is known, `loop` the innermost
    loop around it.
    """

    category: Category
    detail: str
    line: int
    loop: str
    unit: str
    unit_cycles: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """Account over time: `slices[n]` are the unit-cycles by class of the cycles from `n * step` on."""

    step: int
    slices: tuple[Mapping[Category, int], ...]


@dataclass(frozen=True, slots=True)
class Account:
    """Account of a run: `units` of `cycles` each. `counts` names what passes: cycles, or instructions where no time is
    modelled. `advice` is a sentence that names what to change. Raises ValueError where rows do not sum to units times
    cycles, or a timeline does not to its classes.
    """

    units: int
    cycles: int
    rows: tuple[Row, ...]
    counts: Literal["cycles", "instructions"] = "cycles"
    timeline: Timeline | None = None
    advice: str = ""
    file: str = ""

    def __post_init__(self) -> None:
        # Here rather than in a pass: no account without this property ever exists.
        if wrong := [row for row in self.rows if row.unit_cycles < 0 or row.category not in CATEGORIES]:
            raise ValueError(f"no unit-cycles are less than none: {wrong[0]}")
        total = sum(row.unit_cycles for row in self.rows)
        if total != self.units * self.cycles:
            raise ValueError(f"rows have {total} unit-cycles, and {self.units} units x {self.cycles} is another number")
        if self.timeline is not None:
            whole = Counter[Category]()
            for each in self.timeline.slices:
                whole.update(each)
            # The sign drops zeros: a class without unit-cycles may stand in one of both.
            if +whole != +Counter(self.categories):
                raise ValueError("the account over time is another one than the account")

    @property
    def unit_cycles(self) -> int:
        return self.units * self.cycles

    @property
    def categories(self) -> dict[Category, int]:
        """Unit-cycles by class, those without any left out, in the order of `CATEGORIES`."""
        return _fold(self.rows, lambda row: row.category, CATEGORIES)

    @property
    def lines(self) -> dict[int, int]:
        """Unit-cycles by line of the source; 0 has what belongs to none."""
        found = _fold(self.rows, lambda row: row.line)
        return dict(sorted(found.items()))

    @property
    def loops(self) -> dict[str, int]:
        """Unit-cycles by innermost loop, the greatest first; what is in none is left out."""
        found = _fold(self.rows, lambda row: row.loop)
        return {loop: n for loop, n in sorted(found.items(), key=lambda pair: -pair[1]) if loop}

    @property
    def unit_totals(self) -> dict[str, int]:
        return _fold(self.rows, lambda row: row.unit)

    @property
    def hottest(self) -> int:
        """Line with the most unit-cycles, the first one of several; 0 where no line is known."""
        lines = {line: n for line, n in self.lines.items() if line}
        return max(lines, key=lambda line: (lines[line], -line)) if lines else 0

    @property
    def hottest_loop(self) -> str:
        """Loop with the most unit-cycles; empty where the source has none, or its text is not known."""
        return next(iter(self.loops), "")

    @property
    def hot_lines(self) -> frozenset[int]:
        """Lines of the hottest loop, or without loops the hottest line: 0, that of all code, where none is known."""
        loop = self.hottest_loop
        return frozenset(row.line for row in self.rows if row.loop == loop) if loop else frozenset({self.hottest})

    def details(self, category: Category) -> dict[str, int]:
        """Unit-cycles of a class by what they are of, the greatest first."""
        found = _fold((row for row in self.rows if row.category == category), lambda row: row.detail)
        # Names decide between equal ones: reports are compared as text.
        return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))

    def share(self, unit_cycles: int) -> float:
        """Share of all unit-cycles; 0 of an account that has none."""
        return unit_cycles / self.unit_cycles if self.unit_cycles else 0.0

    def with_loops(self, loops: Mapping[int, str]) -> Account:
        """Account whose rows tell their loops, by line."""
        return replace(self, rows=tuple(replace(row, loop=loops.get(row.line, row.loop)) for row in self.rows))


def merge_rows(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Rows of which no two are alike but for their unit-cycles, in the order of their first occurrence."""
    found = dict[tuple[Category, str, int, str, str], int]()
    for row in rows:
        key = row.category, row.detail, row.line, row.loop, row.unit
        found[key] = found.get(key, 0) + row.unit_cycles
    return tuple(Row(*key, unit_cycles) for key, unit_cycles in found.items() if unit_cycles)


def join_accounts(accounts: Sequence[Account]) -> Account:
    """Account of runs of the same units, one after another. Raises ValueError where units differ."""
    return reduce(_join, accounts)


def _join(a: Account, b: Account) -> Account:
    if a.units != b.units:
        raise ValueError(f"accounts of {a.units} and of {b.units} units are not of one machine")
    # Slices of two runs have steps of their own: together there is no timeline.
    return Account(a.units, a.cycles + b.cycles, merge_rows((*a.rows, *b.rows)), a.counts, None, a.advice or b.advice)


def _fold(rows: Iterable[Row], key: Callable[[Row], K], order: Iterable[K] = ()) -> dict[K, int]:
    """Unit-cycles by a key; keys of `order` come first, and those without any are left out."""
    found = dict[K, int](dict.fromkeys(order, 0))
    for row in rows:
        at = key(row)
        found[at] = found.get(at, 0) + row.unit_cycles
    return {at: n for at, n in found.items() if n}


def spread(total: int, parts: Sequence[tuple[Row, int]]) -> Iterator[Row]:
    """Apportionment of `total` unit-cycles to rows by their weights, in integers that sum to it exactly: each gets what
    is left, times its share of the weights that are left. Rows' own unit-cycles do not count; without a weight all go
    to the first one.
    """
    left, weight = total, sum(w for _, w in parts)
    for n, (row, own) in enumerate(parts):
        # For the last row with a weight this is all that is left, so that no rounding is lost.
        given = left * own // weight if weight else (left if n == 0 else 0)
        yield replace(row, unit_cycles=given)
        left, weight = left - given, weight - own

# SPDX-License-Identifier: Apache-2.0
"""Results of an exploration: its rows, the best of them, and the columns that they have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, nearest
from polyloom.exploration.front import cost_vector, pareto_front
from polyloom.exploration.row import Row

_LAST: Final = ("level", "verified", "verdict", "error", "bound", "code", "message")
"""Columns that stand behind all others."""


@dataclass(frozen=True)
class Results:
    """`rows` are in the order of the points. `problem` names the values that decide what is computed: fronts are of
    rows that agree in them. `computed` counts the rows that no folder had."""

    title: str
    rows: tuple[Row, ...]
    objectives: tuple[str, ...]
    problem: tuple[str, ...]
    computed: int = 0

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all columns that some row has."""
        names = dict.fromkeys(name for row in self.rows for name in row.columns())
        last = [name for name in _LAST if name in names]
        return (*(name for name in names if name not in last), *last)

    def front(self, *objectives: str) -> tuple[Row, ...]:
        """Pareto front: the rows that none of the same problem beats in all `objectives`, columns to be small
        (`-column`: to be large). Errors: PL1404.
        """
        wanted = objectives or self.objectives
        self._check(wanted)
        return tuple(pareto_front(self.rows, wanted, self.problem))

    def best(self, objective: str | None = None, /, **values: Any) -> Row | None:
        """The row with the least `objective`, of those with these values of columns; the first one of several. None
        where there is none. Errors: PL1404."""
        wanted = (objective or self.objectives[0],)
        self._check((*wanted, *values))
        found = [
            (own, row)
            for row in self.rows
            if (own := cost_vector(row, wanted)) is not None and values.items() <= row.columns().items()
        ]
        return min(found, key=lambda pair: pair[0])[1] if found else None

    def _check(self, names: Sequence[str]) -> None:
        known = self.columns
        for name in names:
            if name.removeprefix("-") not in known and self.rows:
                help = nearest(name, known, "column")
                raise PolyloomError(Diagnostic("PL1404", f"the sweep has no column '{name}'", USAGE, help=help))

    def records(self) -> list[dict[str, Any]]:
        """The rows with every column; what a row lacks is None."""
        columns = self.columns
        return [{name: own.get(name) for name in columns} for own in (row.columns() for row in self.rows)]

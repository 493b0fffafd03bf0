# SPDX-License-Identifier: Apache-2.0
"""What an exploration gives: its rows, the best of them, and the same as a table for other tools."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, nearest
from polyloom.exploration import page, told
from polyloom.exploration.front import cost, front
from polyloom.exploration.row import Row
from polyloom.report import notebook
from polyloom.targets.report import Table


@dataclass(frozen=True)
class Sweep:
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
        """The rows that none of the same problem beats in all `objectives`, columns to be small (`-column`: to be
        large). Errors: PL1404."""
        wanted = objectives or self.objectives
        self._check(wanted)
        return tuple(front(self.rows, wanted, self.problem))

    def best(self, objective: str | None = None, /, **values: Any) -> Row | None:
        """The row with the least `objective`, of those with these values of columns; the first one of several. None
        where there is none. Errors: PL1404."""
        wanted = (objective or self.objectives[0],)
        self._check((*wanted, *values))
        found = [
            (own, row)
            for row in self.rows
            if (own := cost(row, wanted)) is not None and values.items() <= row.columns().items()
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

    def csv(self) -> str:
        """The table as comma-separated values; what a row lacks is empty."""
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.records())
        return text.getvalue()

    def to_pandas(self) -> Any:
        """A pandas.DataFrame. Errors: ImportError where pandas is not installed."""
        return _installed("pandas").DataFrame(self.records(), columns=list(self.columns))

    def to_polars(self) -> Any:
        """A polars.DataFrame. Errors: ImportError where Polars is not installed."""
        return _installed("polars").DataFrame(self.records(), infer_schema_length=None)

    def report(self) -> str:
        """The text that `polyloom explore` prints."""
        return told.report(self)

    def page(self) -> str:
        """The HTML page that `polyloom explore --report` writes."""
        return page.page(self)

    def show(self) -> notebook.Embedded:
        """The page as notebooks embed it: the last expression of a cell shows it."""
        return notebook.Embedded(self.page(), f"the sweep of {self.title}")

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        rows = told.of_front(self)
        cells = tuple(tuple(map(told.cell, row.values())) for row in rows)
        front = Table(told.heading(self), tuple(rows[0]) if rows else (), cells)
        return notebook.bundle(
            repr(self), notebook.table(self.title, front, [("points", told.outcome(self))]), include, exclude
        )

    def __repr__(self) -> str:
        refused = sum(not row.is_ok for row in self.rows)
        verified = sum(row.verified is True for row in self.rows)
        return f"<sweep of {self.title}: {len(self.rows)} rows, {verified} verified, {refused} without a result>"


def _installed(name: str) -> Any:
    """The user's own package: none of them is a dependency of this one."""
    try:
        return import_module(name)
    except ImportError:
        message = f"{name} is not installed: `pip install {name}`, or take `.records()` or `.csv()`"
        raise ImportError(message, name=name) from None


_LAST = ("level", "verified", "verdict", "error", "bound", "code", "message")

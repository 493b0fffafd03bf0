# SPDX-License-Identifier: Apache-2.0
"""Sweep results for people: as text, as a page, and as a table for other tools (docs/explore.md)."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from polyloom.exploration import page, sweep_text
from polyloom.exploration.results import Results
from polyloom.report import notebook
from polyloom.targets.report import Table


@dataclass(frozen=True)
class Sweep(Results):
    """Results that print and draw themselves."""

    def csv(self) -> str:
        """The table as comma-separated values; what a row lacks is empty."""
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.records())
        return text.getvalue()

    def to_pandas(self) -> Any:
        """A pandas.DataFrame. Errors: ImportError where pandas is not installed."""
        return _import_installed("pandas").DataFrame(self.records(), columns=list(self.columns))

    def to_polars(self) -> Any:
        """A polars.DataFrame. Errors: ImportError where Polars is not installed."""
        # All rows decide a column's type: an `error` may be a number in one row and a text in a later one.
        return _import_installed("polars").DataFrame(self.records(), infer_schema_length=None)

    def report(self) -> str:
        """The text that `polyloom explore` prints."""
        return sweep_text.report(self)

    def page(self) -> str:
        """The HTML page that `polyloom explore --report` writes."""
        return page.page(self)

    def show(self) -> notebook.Embedded:
        """The page as notebooks embed it: the last expression of a cell shows it."""
        return notebook.Embedded(self.page(), f"the sweep of {self.title}")

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        rows = sweep_text.front_rows(self)
        cells = tuple(tuple(map(sweep_text.cell_text, row.values())) for row in rows)
        front = Table(sweep_text.heading(self), tuple(rows[0]) if rows else (), cells)
        return notebook.bundle(
            repr(self), notebook.table(self.title, front, [("points", sweep_text.outcome(self))]), include, exclude
        )

    def __repr__(self) -> str:
        refused = sum(not row.is_ok for row in self.rows)
        verified = sum(row.verified is True for row in self.rows)
        return f"<sweep of {self.title}: {len(self.rows)} rows, {verified} verified, {refused} without a result>"


def _import_installed(name: str) -> Any:
    """The user's own package: none of them is a dependency of this one."""
    try:
        return import_module(name)
    except ImportError:
        message = f"{name} is not installed: `pip install {name}`, or take `.records()` or `.csv()`"
        raise ImportError(message, name=name) from None

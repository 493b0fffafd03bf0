# SPDX-License-Identifier: Apache-2.0
"""Tables, as a target gives them, and rows of names and values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Final

from polyloom.report.page.document import wrap_scrolling
from polyloom.targets.report import Table

_NUMBER: Final = re.compile(r"[-+]?\d[\d,.]*%?|–|")


def table_section(given: Table) -> str:
    """Table under a heading of its own within a section."""
    return f"<h3>{escape(given.title)}</h3>{wrap_scrolling(grid(given))}"


def grid(given: Table) -> str:
    """The table alone; columns of numbers stand to the right."""
    # By the column, not the cell: a dash among numbers stands with them.
    right = [all(_NUMBER.fullmatch(row[n]) for row in given.rows) for n in range(len(given.columns))]
    head = "".join(f"<th>{escape(column)}</th>" for column in given.columns)
    rows = ("<tr>" + "".join(_cell(cell, right[n]) for n, cell in enumerate(row)) + "</tr>" for row in given.rows)
    return f'<table class="grid"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def _cell(cell: str, right: bool) -> str:
    return f'<td class="n">{escape(cell)}</td>' if right else f"<td>{escape(cell)}</td>"


def rows(pairs: Iterable[tuple[str, str]]) -> str:
    """Names and values, as text."""
    lines = "".join(f"<tr><th>{escape(a)}</th><td>{escape(b)}</td></tr>" for a, b in pairs)
    return f"<table>{lines}</table>" if lines else ""

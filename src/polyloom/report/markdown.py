# SPDX-License-Identifier: Apache-2.0
"""Rows as an aligned Markdown table, which can stand in a document as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def table(rows: Sequence[Mapping[str, object]]) -> str:
    """Of rows of equal keys, the heads."""
    if not rows:
        return ""
    cells = [list(rows[0])] + [[_cell(value) for value in row.values()] for row in rows]
    widths = [max(3, *(len(line[n]) for line in cells)) for n in range(len(cells[0]))]
    lines = [
        "| " + " | ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)) + " |" for line in cells
    ]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return "–" if value is None else "yes" if value is True else "no" if value is False else str(value)

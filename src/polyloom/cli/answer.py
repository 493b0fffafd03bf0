# SPDX-License-Identifier: Apache-2.0
"""What a verb answers: data for machines, text for people, and what went wrong although there is an answer."""

from __future__ import annotations

from dataclasses import dataclass

from polyloom.diagnostics import Diagnostic


@dataclass(frozen=True, slots=True)
class Answer:
    """`data` is printed under `--json`, else `text`; `printed`, what the program printed, and `diagnostics` go to
    stderr, and the first of these gives the exit code."""

    data: object
    text: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    printed: str = ""


def table(rows: list[dict[str, object]]) -> str:
    """Rows of equal keys as an aligned Markdown table, so that it can stand in a document as it is."""
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

# SPDX-License-Identifier: Apache-2.0
"""Markdown tables (GitHub Flavored Markdown, 2017), aligned, which can stand in a document as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence


def table(rows: Sequence[Mapping[str, object]]) -> str:
    """Of rows of equal keys, the heads."""
    if not rows:
        return ""
    cells = [list(rows[0])] + [[_cell(value) for value in row.values()] for row in rows]
    widths = [max(3, *(len(line[n]) for line in cells)) for n in range(len(cells[0]))]
    return "\n".join([*_head(cells[0], widths), *(_line(line, widths) for line in cells[1:])])


def stream_table(rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """Streamed table: the lines of a table whose rows are not known yet, each line with its row. Columns are as wide as
    what came so far; rows with other heads begin another table.
    """
    heads, widths = list[str](), list[int]()
    for row in rows:
        cells = [_cell(value) for value in row.values()]
        if list(row) != heads:
            gap, heads = "\n" if heads else "", list(row)
            widths = [max(3, len(head), len(cell)) for head, cell in zip(heads, cells, strict=True)]
            named, rule = _head(heads, widths)
            yield from (gap + named, rule)
        widths = [max(width, len(cell)) for width, cell in zip(widths, cells, strict=True)]
        yield _line(cells, widths)


def _head(heads: Sequence[str], widths: Sequence[int]) -> tuple[str, str]:
    return _line(heads, widths), "|" + "|".join("-" * (width + 2) for width in widths) + "|"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "| " + " | ".join(text.ljust(width) for text, width in zip(cells, widths, strict=True)) + " |"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return "–" if value is None else "yes" if value is True else "no" if value is False else str(value)

# SPDX-License-Identifier: Apache-2.0
"""Heat map of the array: how busy each element is, the links that carry values, the banks and the arrays in them.

Elements are squares, darker where they start more operations; each names its program. Arrows are links that carry
values, small squares at the border are banks. The data beside the picture let the script tell what is under the pointer
or the arrow keys: the program and its FIFO depths, the arrays of a bank and where their elements go.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Final

from polyloom.report.page.embedding import embed_json
from polyloom.report.page.svg import picture
from polyloom.targets.activity import Activity
from polyloom.targets.report import Grid

_LEVELS: Final = 12
"""Shades of the heat map."""
_LABELLED: Final = 16
"""Rows and columns whose squares have room for text."""
NOTE: Final = (
    "Stronger colour: the element starts more operations. Arrows are links that carry values, small squares banks at "
    "the border. Point at an element or a bank, or use the arrow keys; Enter opens an element's units in the activity."
)


def array(grid: Grid, activity: Activity | None, program: str = "") -> str:
    """The picture, and its data for the script. `program` is the one of several that the elements belong to."""
    busy = _busy(grid, activity, f"{program} " if program else "")
    rows, columns = len(grid.labels), max(map(len, grid.labels), default=0)
    cell = 78 if max(rows, columns) <= 4 else 58 if max(rows, columns) <= _LABELLED else 30
    box = cell * 2 // 3
    most = max(busy.values(), default=0.0)
    parts = [_squares(grid, busy, most, cell, box)]
    parts.append(f'<path class="edge" d="{"".join(_arrow(*wire, cell, box) for wire in grid.wires)}"/>')
    parts.append(f'<path class="bank" d="{"".join(_bank(r, c, cell) for r, c in grid.banks)}"/>')
    # Larger maps have the same texts under the pointer.
    if max(rows, columns) <= _LABELLED:
        parts += [_bank_label(place, names, cell) for place, names in _arrays(grid).items()]
        parts += [_words(r, c, label, busy, cell) for r, row in enumerate(grid.labels) for c, label in enumerate(row)]
    label = f"{rows} x {columns} elements" + (f", at most {most:.0%} busy" if busy else "")
    drawn = _crop_margins(picture((columns + 2) * cell, (rows + 2) * cell, "".join(parts), label, "array"), grid, cell)
    of = f' data-program="{escape(program)}"' if program else ""
    legend = f'<p class="note">Busiest: {most:.1%} of its units in all cycles.</p>' if busy else ""
    return f'<div class="map" tabindex="0" data-cell="{cell}"{of}>{drawn}{_data(grid, busy)}</div>{legend}'


def _crop_margins(drawn: str, grid: Grid, cell: int) -> str:
    """Without the sides that have no banks, of which a narrow margin is left."""
    rows, columns = len(grid.labels), max(map(len, grid.labels), default=0)
    margin = cell * 3 // 4
    north, west = (0 if any(place[n] < 0 for place in grid.banks) else margin for n in (0, 1))
    south = 0 if any(r >= rows for r, _ in grid.banks) else margin
    east = 0 if any(c >= columns for _, c in grid.banks) else margin
    width, height = (columns + 2) * cell, (rows + 2) * cell
    inner = f"{west} {north} {width - west - east} {height - north - south}"
    size = f'width="{width - west - east}" height="{height - north - south}"'
    return drawn.replace(
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"', f'{size} viewBox="{inner}"'
    )


def _busy(grid: Grid, activity: Activity | None, before: str) -> dict[tuple[int, int], float]:
    """The share of bits by element, where groups of the activity are elements of the grid."""
    if activity is None:
        return {}
    names = {(r, c): f"{before}element ({r}, {c})" for r, row in enumerate(grid.labels) for c, _ in enumerate(row)}
    known = activity.counts
    return {place: activity.utilization(name) if name in known else 0.0 for place, name in names.items()}


def _squares(grid: Grid, busy: Mapping[tuple[int, int], float], most: float, cell: int, box: int) -> str:
    """One path per shade."""
    paths: dict[int, list[str]] = {}
    idle = list[str]()
    for r, row in enumerate(grid.labels):
        for c, label in enumerate(row):
            d = f"M{_offset(c, cell, box)} {_offset(r, cell, box)}h{box}v{box}h-{box}z"
            (paths.setdefault(_level(busy.get((r, c), 0.0), most), []) if label else idle).append(d)
    # Shades are translucent: below them all elements have one ground, in both colour schemes.
    ground = "".join(d for drawn in paths.values() for d in drawn)
    shades = "".join(
        f'<path class="heat" fill-opacity="{level / _LEVELS:.2f}" d="{"".join(drawn)}"/>'
        for level, drawn in sorted(paths.items())
        if level
    )
    return f'<path class="box" d="{ground}"/>{shades}<path class="idle" d="{"".join(idle)}"/>'


def _level(value: float, most: float) -> int:
    return 0 if not value else max(1, round(_LEVELS * value / most))


def _offset(index: int, cell: int, box: int) -> int:
    return (index + 1) * cell + (cell - box) // 2


def _words(row: int, column: int, label: str, busy: Mapping[tuple[int, int], float], cell: int) -> str:
    x, y = (column + 1.5) * cell, (row + 1.5) * cell
    share = busy.get((row, column))
    if not label or share is None:
        return f'<text x="{x:.0f}" y="{y + 4:.0f}" text-anchor="middle">{escape(label)}</text>'
    return (
        f'<text x="{x:.0f}" y="{y - 1:.0f}" text-anchor="middle">{share:.0%}</text>'
        f'<text x="{x:.0f}" y="{y + 12:.0f}" text-anchor="middle">{escape(label)}</text>'
    )


def _bank(row: int, column: int, cell: int) -> str:
    """Near the border that it serves."""
    x, y = (column + 1) * cell + cell // 2, (row + 1) * cell + cell // 2
    return f"M{x - 5} {y - 5}h10v10h-10z"


def _arrays(grid: Grid) -> Mapping[tuple[int, int], tuple[str, ...]]:
    """The arrays of each bank."""
    found: dict[tuple[int, int], dict[str, None]] = {}
    for route in grid.routes:
        for place in (route.path[0], route.path[-1]):
            if place in grid.banks:
                found.setdefault(place, {})[route.name] = None
    return {place: tuple(names) for place, names in found.items()}


def _bank_label(place: tuple[int, int], names: tuple[str, ...], cell: int) -> str:
    """Beyond the bank: above or below it, or under it where it is beside the array."""
    row, column = place
    shown = " ".join(names)
    room = cell // 7
    if len(shown) > room:
        shown = shown[: room - 1] + "…"
    y = (row + 1.5) * cell + (-11 if row < 0 else 20)
    return f'<text class="dim" x="{(column + 1.5) * cell:.0f}" y="{y:.0f}" text-anchor="middle">{escape(shown)}</text>'


def _arrow(start: tuple[int, int], end: tuple[int, int], cell: int, box: int) -> str:
    """From edge to edge, beside the middle, so that a pair of opposite arrows stays apart."""
    down, right = end[0] - start[0], end[1] - start[1]
    gap, side = cell - box - 4, max(cell // 9, 3)
    x = (start[1] + 1) * cell + cell // 2 + right * (box // 2 + 2) + down * side
    y = (start[0] + 1) * cell + cell // 2 + down * (box // 2 + 2) - right * side
    if right:
        return f"M{x} {y}h{right * gap}m{-3 * right} -3l{3 * right} 3l{-3 * right} 3"
    return f"M{x} {y}v{down * gap}m-3 {-3 * down}l3 {3 * down}l3 {-3 * down}"


def _data(grid: Grid, busy: Mapping[tuple[int, int], float]) -> str:
    """Shares in thousandths; routes as (array, bank, element)."""
    names = list(dict.fromkeys(route.name for route in grid.routes))
    data = {
        "labels": grid.labels,
        "notes": dict(grid.notes),
        # Thousandths as integers: a third of the bytes of decimal fractions.
        "busy": [[round(1000 * busy[r, c]) for c, _ in enumerate(row)] for r, row in enumerate(grid.labels)]
        if busy
        else [],
        "arrays": names,
        "routes": sorted({(names.index(w.name), *w.path[0], *w.path[-1]) for w in grid.routes if w.path}),
    }
    return f'<script type="application/json">{embed_json(data)}</script>'

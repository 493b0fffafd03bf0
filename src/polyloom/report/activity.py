# SPDX-License-Identifier: Apache-2.0
"""Activity picture (utilization over time), without a script: one row per element (or per group of lanes), or per row
of elements where there are many; one column per span of cycles, darker where more is issued.

The wavefront that fills the array, the steady state and the way out are seen at a glance. Columns of one shade are one
path, and there are fewer columns where the picture would be larger than it may be.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from polyloom.report.page.axis import Scale, draw_horizontal
from polyloom.report.page.svg import decimal
from polyloom.targets.activity import Activity

_COLUMNS: Final = 480
_LEVELS: Final = 6
"""Shades beside white: enough to tell, few enough that equal neighbours become one rectangle."""
_LABELLED: Final = 32
"""Groups that have room for their names."""
_ROWS: Final = 64
"""Of a picture, at most."""
_MARGIN: Final = 110
_WIDTH: Final = 720
_STYLE: Final = (
    "<style>svg{color-scheme:light dark;color:#1b2430}@media(prefers-color-scheme:dark){svg{color:#e4e9ef}}</style>"
)


def picture(activity: Activity | None, *, largest: int = 20_000, alone: bool = False) -> str:
    """An SVG drawing in the colour of the text around it, of about `largest` bytes at most; `alone` it is a file. Empty
    where nothing happened."""
    if activity is None or not activity.cycles:
        return ""
    columns = _COLUMNS
    while len(drawn := _picture(activity, columns, alone)) > largest and columns > 30:
        # The size is not known before the runs of equal shades are: halving ends after a few attempts.
        columns //= 2
    return drawn


def _picture(activity: Activity, columns: int, alone: bool) -> str:
    rows = utilization_rows(activity, columns)
    # Relative to the busiest span: a run that uses a tenth of all units still shows its course.
    most = max(float(row.max()) for row in rows.values()) or 1.0
    height = 16 if len(rows) <= _LABELLED else 5
    count = len(next(iter(rows.values())))
    scale = Scale(0, activity.cycles, _MARGIN, _MARGIN + _WIDTH)
    paths: dict[int, list[str]] = {}
    names = list[str]()
    for n, (name, row) in enumerate(rows.items()):
        top = n * height
        if height > 10:
            names.append(f'<text x="{_MARGIN - 8}" y="{top + 12}" text-anchor="end">{escape(name)}</text>')
        for level, first, end in _runs(np.ceil(row * _LEVELS / most).astype(int)):
            if level:
                x, width = _MARGIN + _WIDTH * first / count, _WIDTH * (end - first) / count
                paths.setdefault(level, []).append(
                    f"M{decimal(x)} {top}h{decimal(width)}v{height - 1}h-{decimal(width)}z"
                )
    shades = "".join(
        f'<path fill="#14a08c" fill-opacity="{level / _LEVELS:.2f}" d="{"".join(drawn)}"/>'
        for level, drawn in sorted(paths.items())
    )
    below = len(rows) * height + 4
    axis = draw_horizontal(scale, below, "cycle").replace('class="axis"', 'stroke="currentColor" fill="none"')
    wide, high = _MARGIN + _WIDTH + 24, below + 36
    space = ' xmlns="http://www.w3.org/2000/svg"' if alone else ""
    label = f"Activity of {len(rows)} rows over {activity.cycles} cycles"
    return (
        f'<svg{space} role="img" aria-label="{label}" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" '
        f'font-family="ui-monospace,monospace" font-size="11" fill="currentColor">{_STYLE if alone else ""}'
        f"{shades}{''.join(names)}{axis}</svg>"
    )


def utilization_rows(activity: Activity, columns: int) -> Mapping[str, NDArray[np.float64]]:
    """Utilization by row of the picture: the share of bits that are set, in each span of cycles."""
    names = _names([g.name for g in activity.groups])
    bits = -(-activity.cycles // activity.step)
    # Spans differ by a bit where they do not divide the run, so that each one is divided by its own length.
    edges = np.unique(np.arange(min(columns, bits)) * bits // min(columns, bits))
    lengths = np.diff(np.append(edges, bits))
    sums: dict[str, NDArray[np.int64]] = {}
    lanes: dict[str, int] = {}
    at = 0
    for group in activity.groups:
        # One bit per lane and step, the first one lowest, as `Activity` packs them.
        own = np.unpackbits(activity.rows[at : at + len(group.lanes)], axis=1, count=bits, bitorder="little")
        at += len(group.lanes)
        found = np.add.reduceat(own.sum(axis=0, dtype=np.int64), edges)
        name = names[group.name]
        sums[name] = sums[name] + found if name in sums else found
        lanes[name] = lanes.get(name, 0) + len(group.lanes)
    return {name: total / (lanes[name] * lengths) for name, total in sums.items()}


def _names(groups: Sequence[str]) -> Mapping[str, str]:
    """What the row of each group is called: where they are many, those with the same first number, `element (3, 0)` and
    so on, share `element (3, …)`; where there are many rows then, neighbours share one: `minion 32 …`."""
    if len(groups) <= _LABELLED:
        return {g: g for g in groups}
    found = {g: re.sub(r"([0-9]+), [0-9]+", r"\1, …", g) for g in groups}
    rows = list(dict.fromkeys(found.values()))
    size = -(-len(rows) // _ROWS)
    shared = {row: rows[n - n % size] + (" …" if size > 1 else "") for n, row in enumerate(rows)}
    return {g: shared[row] for g, row in found.items()}


def _runs(levels: NDArray[np.int64]) -> list[tuple[int, int, int]]:
    """(level, first column, column after the last) of equal neighbours."""
    edges = [0, *(np.flatnonzero(np.diff(levels)) + 1).tolist(), len(levels)]
    return [(int(levels[a]), a, b) for a, b in pairwise(edges)]

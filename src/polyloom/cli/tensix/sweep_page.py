# SPDX-License-Identifier: Apache-2.0
"""Report page of `polyloom sweep`: the error over the domain as a picture, one column per group of neighbouring values,
and the counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from math import log2
from typing import Any, Final

import numpy as np

from polyloom.report.page.axis import format_tick
from polyloom.report.page.document import document, section, wrap_scrolling
from polyloom.report.page.svg import decimal, picture, text
from polyloom.targets.tensix.run import ulp
from polyloom.targets.tensix.run.sweep import Swept
from polyloom.targets.tensix.run.ulp import Distances

_COLUMNS, _HEIGHT, _TOP, _LEFT, _BELOW, _RIGHT = 800, 262, 32, 64, 56, 28
_VALUES: Final = 9
"""Numbers below the picture."""
_STYLE: Final = "rect.worst{fill:var(--heat)}rect.wrong{fill:var(--bad)}"
_NOTE: Final = (
    "A column is a group of neighbouring values, and as high as its largest error, on a logarithmic scale. Red below "
    "it: not finite on one side only."
)


def sweep_report(title: str, swept: Swept, found: Distances, data: Mapping[str, Any]) -> str:
    """The whole page."""
    names = ("values", "max_ulp", "at", "got", "expected", "nonfinite_mismatches", "instructions")
    known = {name.replace("_", " "): data[name] for name in names}
    known["cycles per vector"] = f"{data['cycles_per_vector']:.4g}"
    counts = {error_range(each): each["count"] for each in data["histogram"]}
    body = (
        f"<main><h1>{escape(title)} <small>sweep</small></h1>"
        f"{section('Error over the domain', wrap_scrolling(_error_picture(swept, found)), note=_NOTE)}"
        f"{section('Errors', _table(counts))}{section('Figures', _table(known))}</main>"
    )
    return document(title, _STYLE, body)


def error_range(entry: Mapping[str, Any]) -> str:
    """The errors that an entry of the histogram counts."""
    low, high = entry["from"], entry["to"]
    return f"{low} ulp" if low == high else f"{low} to {high} ulp"


def _table(rows: Mapping[str, object]) -> str:
    cells = (
        f'<tr><th scope="row">{escape(name)}</th><td class="n">{escape(_cell_text(value))}</td></tr>'
        for name, value in rows.items()
    )
    return f'<table class="grid">{"".join(cells)}</table>'


def _cell_text(value: object) -> str:
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _error_picture(swept: Swept, found: Distances) -> str:
    """Picture of the largest error per group of values."""
    numbers = ulp.to_doubles(swept.values, swept.form)
    # Values in ascending order of numbers, not of bit patterns, whose negative half runs backwards.
    order = np.argsort(numbers, kind="stable")
    groups = np.array_split(order, min(_COLUMNS, len(order)))
    worst = max(1, int(found.ulp.max(initial=0)))
    bars: list[str] = []
    for column, group in enumerate(groups):
        top = _error_height(max(0, int(found.ulp[group].max(initial=0))), worst)
        if top < _HEIGHT:
            bars.append(_bar("worst", column, top, _HEIGHT - top))
        if (found.ulp[group] < 0).any():
            bars.append(_bar("wrong", column, _HEIGHT + 1, 6))
    axes = _value_axis(numbers[order], len(groups)) + _error_axis(worst)
    width = _LEFT + len(groups) + _RIGHT
    return picture(width, _HEIGHT + _BELOW, "".join(bars) + axes, "Largest error of neighbouring values", natural=True)


def _bar(kind: str, column: int, y: float, height: float) -> str:
    return f'<rect class="{kind}" x="{_LEFT + column}" y="{decimal(y)}" width="1" height="{decimal(height)}"/>'


def _error_height(error: int, worst: int) -> float:
    """Height of an error in pixels from above, on a logarithmic scale: from 1 ulp to the whole range of the format in
    one picture.
    """
    return _HEIGHT - (_HEIGHT - _TOP) * log2(1 + error) / log2(1 + worst)


def _value_axis(numbers: Any, columns: int) -> str:
    """Axis of values: numbers at equal distances among the values, which need not have equal distances."""
    places = sorted({k * (columns - 1) // (_VALUES - 1) for k in range(_VALUES)})
    marks = "".join(f"M{_LEFT + place} {_HEIGHT + 8}v4" for place in places)
    names = (
        text(_LEFT + place, _HEIGHT + 24, f"{numbers[place * (len(numbers) - 1) // max(1, columns - 1)]:.3g}", "middle")
        for place in places
    )
    line = f'<path class="axis" d="M{_LEFT} {_HEIGHT + 8}h{columns}{marks}"/>'
    return line + "".join(names) + text(_LEFT + columns, _HEIGHT + 42, "value", "end")


def _error_axis(worst: int) -> str:
    """Axis of errors: 0 and powers of two."""
    step = max(1, (worst + 1).bit_length() // 6)
    errors = [0, *(1 << n for n in range(0, worst.bit_length(), step))]
    marks = "".join(f"M{_LEFT - 4} {decimal(_error_height(error, worst))}h-4" for error in errors)
    names = "".join(text(_LEFT - 12, _error_height(error, worst) + 4, format_tick(error), "end") for error in errors)
    line = f'<path class="axis" d="M{_LEFT - 4} {_HEIGHT}V{_TOP}{marks}"/>'
    return line + names + text(4, _TOP - 16, "error in ulp")

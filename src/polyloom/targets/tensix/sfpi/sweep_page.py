# SPDX-License-Identifier: Apache-2.0
"""The page of a sweep: error over the domain as a picture, one column per group of neighbouring values, and the counts.
It needs no network."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from math import log2
from typing import Any, Final

import numpy as np

from polyloom.targets.tensix.sfpi import ulp
from polyloom.targets.tensix.sfpi.sweep import Swept
from polyloom.targets.tensix.sfpi.ulp import Distances

_COLUMNS, _HEIGHT, _LEFT, _BELOW = 800, 240, 48, 36
_STYLE: Final = (
    "body { font: 14px/1.5 system-ui, sans-serif; color: #223; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }"
    " h1 { font-size: 1.3rem } svg text { font: 11px ui-monospace, monospace; fill: #223 }"
    " td { padding: .1rem 1rem .1rem 0 }"
)


def page(title: str, swept: Swept, found: Distances, data: Mapping[str, Any]) -> str:
    """The whole page."""
    rows = [(name, data[name]) for name in ("values", "max_ulp", "at", "got", "expected", "nonfinite_mismatches")]
    rows += [("instructions", data["instructions"]), ("cycles per vector", f"{data['cycles_per_vector']:.4g}")]
    rows += [(f"{e['from']} to {e['to']} ulp", e["count"]) for e in data["histogram"]]
    table = "".join(f"<tr><td>{escape(str(name))}</td><td>{escape(str(value))}</td></tr>" for name, value in rows)
    head = (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    )
    legend = "The largest error of neighbouring values, in ulp; red: not finite on one side only."
    body = f"<h1>{escape(title)}</h1>{_picture(swept, found)}<p>{legend}</p><table>{table}</table>"
    return f"{head}\n<body>{body}</body></html>\n"


def _picture(swept: Swept, found: Distances) -> str:
    """Values in ascending order of numbers, not of patterns."""
    numbers = ulp.values(swept.values, swept.form)
    order = np.argsort(numbers, kind="stable")
    groups = np.array_split(order, min(_COLUMNS, len(order)))
    top = max(1.0, log2(1 + max(0, int(found.ulp.max(initial=0)))))
    parts: list[str] = []
    for column, group in enumerate(groups):
        worst = int(found.ulp[group].max(initial=0))
        height = _HEIGHT * log2(1 + max(0, worst)) / top
        wrong = bool((found.ulp[group] < 0).any())
        if height:
            parts.append(_bar(column, height, "#5b8"))
        if wrong:
            parts.append(f'<rect x="{_LEFT + column}" y="{_HEIGHT}" width="1" height="6" fill="#b22"/>')
    marks = _marks(numbers[order], len(groups), top)
    width, height = _LEFT + len(groups) + 8, _HEIGHT + _BELOW
    return f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}">{"".join(parts)}{marks}</svg>'


def _bar(column: int, height: float, colour: str) -> str:
    return f'<rect x="{_LEFT + column}" y="{_HEIGHT - height:.1f}" width="1" height="{height:.1f}" fill="{colour}"/>'


def _marks(numbers: Any, columns: int, top: float) -> str:
    """Numbers below, errors at the left."""
    parts: list[str] = []
    for k in range(9):
        at = k * (len(numbers) - 1) // 8
        x = _LEFT + k * (columns - 1) / 8
        parts.append(f'<text x="{x:.0f}" y="{_HEIGHT + 20}" text-anchor="middle">{numbers[at]:.3g}</text>')
    for k in range(5):
        y = _HEIGHT - k * (_HEIGHT - 12) / 4
        parts.append(f'<text x="{_LEFT - 6}" y="{y:.0f}" text-anchor="end">{2 ** (top * k / 4) - 1:.3g}</text>')
    return "".join(parts)

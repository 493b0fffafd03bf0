# SPDX-License-Identifier: Apache-2.0
"""Processor classes of one symbolic configuration on three regions: more elements, the same programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from tests.docs.drawn import svg

import polyloom as pl

_FILE: Final = Path(__file__).parents[3] / "examples" / "kernels" / "syrk.py"
_SIDES: Final = (4, 8, 16)
_WIDTH, _GAP, _TOP = 200, 36, 28


def draw() -> str:
    compiled = pl.compile(_FILE, on="tcpa:ideal")
    parts: list[str] = []
    for n, side in enumerate(_SIDES):
        made: Any = compiled.instantiate(N=8 * side - 1, M=16, pes=(side, side))
        parts.append(_region(made.concrete["phases"][0]["configuration"]["element_class"], 8 + n * (_WIDTH + _GAP)))
    label = "Elements of 4 x 4, 8 x 8 and 16 x 16 arrays, coloured by the program that they run"
    return svg.drawing(len(_SIDES) * (_WIDTH + _GAP), _TOP + _WIDTH + 12, "".join(parts), label)


def _region(element_class: tuple[tuple[int, ...], ...], left: float) -> str:
    """A square per element, with the number of its class where there is room."""
    side = len(element_class)
    cell = _WIDTH / side
    kinds = {c for row in element_class for c in row if c >= 0}
    parts = [svg.text(left, 16, f"{side} x {side} elements, {len(kinds)} programs")]
    for r, row in enumerate(element_class):
        for c, kind in enumerate(row):
            if kind < 0:
                continue
            x, y = left + c * cell, _TOP + r * cell
            parts.append(svg.box(x + 1, y + 1, cell - 2, cell - 2, kind))
            if side < 16:
                parts.append(svg.text(x + cell / 2, y + cell / 2 + 4, f"P{kind + 1}", "middle"))
    return "".join(parts)

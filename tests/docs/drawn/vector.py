# SPDX-License-Identifier: Apache-2.0
"""Pictures of the units of a Tensix tile: lanes on Dst, curves that kernels compute, and the phases of a product."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from tests.docs.drawn import svg

import polyloom as pl
from polyloom.frontend import Options
from polyloom.report.page.axis import Scale, draw_horizontal, draw_vertical

_KERNELS: Final = Path(__file__).parents[3] / "examples" / "sfpi"
_CELL: Final = 26
_TENTH: Final = 0x3DCCCCCD
"""0.1 as an f32."""


def lanes() -> str:
    """The datums of Dst that one SFPSTORE writes."""
    tile = pl.tensix.Tile()
    before = tile.dst.copy()
    tile.push("t1", pl.tensix.assemble("SFPLOADI L0, 0x3f80, 0\nSFPSTORE L0, 0, 2, 0").words)
    assert tile.run().stop == "idle"
    written = [(int(row), int(column)) for row, column in np.argwhere(tile.dst != before)]
    parts = [svg.box(60 + c * _CELL, 30 + r * _CELL, _CELL - 2, _CELL - 2) for r in range(6) for c in range(16)]
    parts += [_lane(n, *place) for n, place in enumerate(written)]
    parts += [svg.text(52, 47 + r * _CELL, f"row {r}" if not r else str(r), "end") for r in range(6)]
    parts += [svg.text(72 + c * _CELL, 20, str(c), "middle") for c in range(16)]
    label = f"{len(written)} lanes lie on every other column of four rows of Dst"
    return svg.drawing(60 + 16 * _CELL + 12, 36 + 6 * _CELL, "".join(parts), label)


def _lane(number: int, row: int, column: int) -> str:
    x, y = 60 + column * _CELL, 30 + row * _CELL
    return svg.box(x, y, _CELL - 2, _CELL - 2, 0) + svg.text(x + 12, y + 16, str(number), "middle")


def error() -> str:
    """tanh by a table of three lines, beside tanh."""
    options = Options(function="tanh_table<8>")
    compiled = pl.compile(_KERNELS / "tanh.h", on="tensix", options=options, init="tanh_init")
    x, y = _ran(compiled, {})
    return _curves(x, {"tanh(x)": np.tanh(x), "the kernel": y}, "tanh, and what a kernel with a table computes")


def condition() -> str:
    """leaky_relu: below zero, only the lanes under the condition are multiplied."""
    compiled = pl.compile(f"{_KERNELS / 'kernels.py'}:leaky_relu", on="tensix")
    x, y = _ran(compiled, {"slope": _TENTH})
    return _curves(x, {"x": x, "leaky_relu(x), slope 0.1": y}, "What leaky_relu makes of numbers from -4 to 4")


def _ran(compiled: Any, values: dict[str, Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    x = np.linspace(-4, 4, 1024, dtype=np.float32).reshape(32, 32)
    result = compiled.run({"dst:bf16": x, **values})
    assert result.verified
    return x.reshape(-1)[::8], result.outputs["dst:bf16"].reshape(-1)[::8]


def _curves(x: NDArray[Any], curves: dict[str, NDArray[Any]], label: str) -> str:
    low, high = (float(pick([pick(y) for y in curves.values()])) for pick in (min, max))
    across, height = Scale(float(x[0]), float(x[-1]), 60, 600), Scale(low, high, 240, 30)
    parts: list[str] = []
    for n, (name, y) in enumerate(curves.items()):
        points = [
            f"{svg.decimal(across.at(float(a)))} {svg.decimal(height.at(float(b)))}" for a, b in zip(x, y, strict=True)
        ]
        kept = [points[0], *(b for a, b in pairwise(points) if a != b)]
        parts.append(svg.line("M" + "L".join(kept), None if n == 0 else 1, dashed=n == 0))
        parts.append(svg.line(f"M80 {42 + 20 * n}h24", None if n == 0 else 1, dashed=n == 0))
        parts.append(svg.text(112, 46 + 20 * n, name))
    axes = draw_horizontal(across, 246, "x") + draw_vertical(height, 54)
    drawn = axes.replace('class="axis"', 'stroke="currentColor" fill="none"')
    return svg.drawing(620, 284, "".join(parts) + drawn, label)


def fidelity() -> str:
    """Which bits of the mantissas each phase multiplies, hidden bits included (docs/targets/tensix-matrix.md)."""
    cell, left, top = 22, 150, 60
    of_b, of_a = {0: (0, 7), 1: (7, 11)}, {0: (0, 5), 1: (5, 10)}
    parts = [svg.text(left, 16, "the right factor's mantissa (SrcA), hidden bit first")]
    parts += [svg.text(8, top + (4 + k) * 18, words) for k, words in enumerate(("the left", "factor's (SrcB)"))]
    parts += [svg.text(left + (k + 0.5) * cell, top - 10, str(k), "middle") for k in range(11)]
    parts += [svg.text(left - 8, top + (k + 0.7) * cell, str(k), "end") for k in range(11)]
    for phase in range(4):
        (y, y_end), (x, x_end) = of_b[phase >> 1], of_a[phase & 1]
        width, height = (x_end - x) * cell, (y_end - y) * cell
        parts.append(svg.box(left + x * cell + 1, top + y * cell + 1, width - 2, height - 2, phase))
        parts.append(
            svg.text(left + x * cell + width / 2, top + y * cell + height / 2 + 4, f"phase {phase + 1}", "middle")
        )
    parts.append(svg.box(left + 10 * cell + 1, top + 1, cell - 2, 11 * cell - 2))
    parts.append(svg.text(left + 11 * cell + 12, top + 5.5 * cell, "no phase reads the last bit"))
    label = "Four fidelity phases multiply four parts of the two mantissas"
    return svg.drawing(left + 11 * cell + 230, top + 11 * cell + 10, "".join(parts), label)

# SPDX-License-Identifier: Apache-2.0
"""Bars of figures that a table of a page has, which a benchmark printed."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.docs.drawn import svg

from polyloom.report.page.axis import Scale, draw_horizontal

_DOCS: Final = Path(__file__).parents[3] / "docs"
_LEFT, _WIDTH, _ROW = 120, 560, 17


def utilization() -> str:
    """How busy the arithmetic units of 4x4 elements are, kernel by kernel."""
    rows = _read("kernels.md", "polybench")
    shares = {row["kernel"]: float(row["utilization"]) * 100 for row in rows}
    label = "Share of the arithmetic units of 4 x 4 elements that issue in a cycle, by kernel"
    return _bars(shares, "per cent of the arithmetic units' cycles", label)


def riscv() -> str:
    """Executed instructions over those of clang -O2."""
    rows = [row for row in _read("targets/riscv.md", "riscv") if row["to clang -O2"] != "–"]
    rows = [row for row in rows if row["unit"] == "instructions executed"]
    ratios = {row["what"]: float(row["to clang -O2"]) for row in rows if row["isa"] == "rv64gc"}
    label = "Executed instructions on rv64gc over those of the code of clang -O2, by function"
    return _bars(ratios, "executed instructions / those of clang -O2", label, mark=1.0)


def _read(page: str, bench: str) -> list[dict[str, str]]:
    """The rows of the table that `polyloom bench NAME` printed."""
    text = (_DOCS / page).read_text(encoding="utf-8").split(f"<!-- polyloom bench {bench} -->\n")[1]
    lines = text.split("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]


def _bars(figures: dict[str, float], axis: str, label: str, mark: float | None = None) -> str:
    scale = Scale(0, max(figures.values()), _LEFT, _LEFT + _WIDTH)
    parts: list[str] = []
    for n, (name, figure) in enumerate(figures.items()):
        y = 6 + n * _ROW
        parts.append(svg.text(_LEFT - 8, y + 12, name, "end"))
        parts.append(svg.box(_LEFT, y + 2, scale.at(figure) - _LEFT, _ROW - 4, 0))
        parts.append(svg.text(scale.at(figure) + 5, y + 12, f"{figure:.3g}"))
    below = 10 + len(figures) * _ROW
    if mark is not None:
        parts.append(svg.line(f"M{svg.decimal(scale.at(mark))} 4V{below}", dashed=True))
    drawn = draw_horizontal(scale, below, axis).replace('class="axis"', 'stroke="currentColor" fill="none"')
    return svg.drawing(_LEFT + _WIDTH + 60, below + 38, "".join(parts) + drawn, label)

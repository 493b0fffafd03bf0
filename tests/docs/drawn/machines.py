# SPDX-License-Identifier: Apache-2.0
"""Machines: the processor array as a program uses it, the blocks of a Tensix tile, and the chip around a Minion."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from tests.docs.drawn import svg

import polyloom as pl
from polyloom.targets.report import Grid

_ROOT: Final = Path(__file__).parents[3]
Place = tuple[int, int]


def tcpa() -> str:
    """gemm on 4x4 elements: programs, links and banks."""
    compiled = pl.compile(_ROOT / "examples" / "kernels" / "gemm.py", on="tcpa:4x4")
    grid = compiled.instantiate(NI=20, NJ=25, NK=30, pes=(4, 4)).run().views[0].grid
    assert grid is not None
    parts = [_element(grid, r, c) for r, row in enumerate(grid.labels) for c, _ in enumerate(row)]
    parts += [_link(start, end, len(grid.labels)) for start, end in grid.wires]
    arrays: dict[Place, set[str]] = {}
    for route in grid.routes:
        for place in {route.path[0], route.path[-1]} & set(grid.banks):
            arrays.setdefault(place, set()).add(route.name.removesuffix("_in"))
    parts += [_bank(place, " ".join(sorted(arrays.get(place, ()))), len(grid.labels)) for place in grid.banks]
    side = (len(grid.labels) + 2) * _CELL
    return svg.drawing(
        side + 40, side, "".join(parts), "16 elements with their programs, links, and banks at the border"
    )


_CELL: Final = 84
_BOX: Final = 50
_BANK: Final = 20
_ASIDE: Final = 20


def _corner(index: int, size: int) -> float:
    return (index + 1) * _CELL + (_CELL - size) / 2


def _element(grid: Grid, row: int, column: int) -> str:
    name = grid.labels[row][column]
    kind = int(name[1:]) - 1 if name else None
    x, y = _corner(column, _BOX) + _ASIDE, _corner(row, _BOX)
    return svg.box(x, y, _BOX, _BOX, kind) + svg.text(x + _BOX / 2, y + _BOX / 2 + 4, name, "middle")


def _link(start: Place, end: Place, inside: int) -> str:
    """From edge to edge; banks are smaller than elements."""
    down, right = end[0] - start[0], end[1] - start[1]
    first, last = (_BOX / 2 if min(p) >= 0 and max(p) < inside else _BANK / 2 for p in (start, end))
    x = (start[1] + 1.5) * _CELL + _ASIDE + right * (first + 1) + down * 6
    y = (start[0] + 1.5) * _CELL + down * (first + 1) - right * 6
    gap = _CELL - first - last - 3
    return svg.arrow(f"M{svg.decimal(x)} {svg.decimal(y)}l{svg.decimal(right * gap)} {svg.decimal(down * gap)}")


def _bank(place: Place, arrays: str, inside: int) -> str:
    """With the names of its arrays above it, or below it where values come from above."""
    x, y = _corner(place[1], _BANK) + _ASIDE, _corner(place[0], _BANK)
    return svg.box(x, y, _BANK, _BANK, 1) + svg.text(
        x + _BANK / 2, y + (_BANK + 14 if place[0] >= inside else -5), arrays, "middle"
    )


def tensix() -> str:
    """Cores push words, which pass expanders and wait gates on their way to the units (docs/targets/tensix-tile.md)."""
    parts = [_named(20, 20, 640, 30, "L1: 16 banks of 16 bytes")]
    parts += [
        _named(20 + 130 * n, 84, 110, 30, f"core {name}", 2) for n, name in enumerate(("B", "T0", "T1", "T2", "NC"))
    ]
    for n in range(3):
        x = 150 + 130 * n
        parts.append(_named(x, 148, 110, 62, "", 0))
        parts += [
            svg.text(x + 55, 166 + 18 * k, words, "middle") for k, words in enumerate(("MOP", "Replay", "wait gate"))
        ]
        parts.append(svg.arrow(f"M{x + 55} 114V147"))
        parts.append(svg.arrow(f"M{x + 55} 210V243"))
    parts += [
        svg.arrow(f"M{75 + 130 * n} 51V83").replace("marker-end", 'marker-start="url(#tip)" marker-end')
        for n in range(5)
    ]
    parts.append(_named(20, 244, 640, 26, "one word per thread and one per unit in a cycle"))
    units = ("sync", "scalar", "config", "unpackers", "matrix", "vector", "packers")
    for n, name in enumerate(units):
        x = 20 + 92 * n
        parts.append(svg.arrow(f"M{x + 43} 270V301"))
        parts.append(_named(x, 302, 87, 30, name, 1))
    parts.append(_named(296, 366, 87, 26, "SrcA SrcB"))
    parts.append(_named(388, 366, 180, 26, "Dst"))
    parts += [svg.arrow("M339 332V365"), svg.arrow("M383 372L412 333"), svg.arrow("M440 332V365")]
    parts += [svg.arrow("M510 332V365"), svg.arrow("M555 366L600 333")]
    return svg.drawing(682, 406, "".join(parts), "The blocks of a Tensix tile, from L1 and cores to the units")


def _named(x: float, y: float, width: float, height: float, name: str, accent: int | None = None) -> str:
    return svg.box(x, y, width, height, accent) + svg.text(x + width / 2, y + height / 2 + 4, name, "middle")


def minion() -> str:
    """The mesh as the model has it (native/minion/mesh.hpp), a shire, and a minion."""
    rows = _mesh()
    parts = [svg.text(8, 16, "chip")]
    for r, row in enumerate(rows):
        for c, shire in enumerate(row):
            if shire >= 0:
                parts.append(_named(8 + 40 * c, 26 + 34 * r, 36, 30, str(shire), 0))
    below = 26 + 34 * len(rows) + 12
    parts.append(svg.text(8, below + 4, "compute shires on a mesh"))
    parts.append(svg.text(290, 16, "shire: 32 minions"))
    for n in range(4):
        parts.append(_named(290, 26 + 30 * n, 170, 26, "8 minions", 2))
    parts.append(_named(290, 150, 170, 38, "4 MiB in 4 banks", 1))
    parts.append(svg.text(375, 206, "L2, L3, scratchpad", "middle"))
    parts.append(svg.text(500, 16, "minion"))
    blocks = ("hart 0, hart 1", "vectors, 256 bits", "tensor coprocessor", "L1, L1 scratchpad")
    parts += [_named(500, 26 + 36 * n, 170, 30, words, 3 if n < 3 else 1) for n, words in enumerate(blocks)]
    parts += [svg.line("M468 39L496 30", dashed=True), svg.line("M252 41L286 30", dashed=True)]
    return svg.drawing(
        682, below + 14, "".join(parts), "The mesh of shires, the parts of a shire, and those of a minion"
    )


def _mesh() -> list[list[int]]:
    text = (_ROOT / "native" / "minion" / "mesh.hpp").read_text(encoding="utf-8")
    found = re.search(r"MESH\[\d\]\[\d\] = \{(.*?)\};", text, re.DOTALL)
    assert found is not None
    return [[int(n) for n in re.findall(r"-?\d+", row)] for row in re.findall(r"\{([^{}]*)\}", found[1])]

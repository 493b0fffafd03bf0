# SPDX-License-Identifier: Apache-2.0
"""Pipelined loops: units in rows, cycles in columns, each iteration in a colour of its own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from tests.docs.drawn import svg

import polyloom as pl
from polyloom.cli.loop_json import read_loop
from polyloom.frontend import Options
from polyloom.modulo.solve import solve

_ROOT: Final = Path(__file__).parents[3]
_LEFT, _TOP, _ROW = 84, 28, 26
Start = tuple[str, int, str]
"""An operation of iteration 0: its unit, its cycle and its name."""


def schedule() -> str:
    """The schedule of examples/biquad.json."""
    loop = read_loop(str(_ROOT / "examples" / "biquad.json"))
    found = solve(loop.problem).schedule
    starts = [
        (loop.problem.resources[operation.choices[choice].uses[0].resource].name, start, operation.name)
        for operation, choice, start in zip(loop.problem.operations, found.choice, found.start, strict=True)
    ]
    return _overlapped(starts, found.interval, 3, 44)


def belt() -> str:
    """The loop of docs/targets/belt.md: strcpy on the member silver."""
    compiled = pl.compile(_ROOT / "examples" / "loops" / "search.c", on="belt:silver", options=Options(function="copy"))
    table = compiled.run(n=20).views[0].reservation
    assert table is not None
    starts = [
        (unit, row + int(stage) * len(table.rows), operation)
        for row, cells in enumerate(table.rows)
        for unit, cell in zip(table.units, cells, strict=True)
        for operation, stage in re.findall(r"(\w+)(?: \S+)? \[(\d+)\]", cell)
    ]
    return _overlapped(starts, len(table.rows), 6, 66)


def _overlapped(starts: list[Start], interval: int, iterations: int, cell: int) -> str:
    units = list(dict.fromkeys(unit for unit, _, _ in starts))
    cycles = max(start for _, start, _ in starts) + 1 + interval * (iterations - 1)
    parts = [svg.text(_LEFT - 8, _TOP + row * _ROW + 17, unit, "end") for row, unit in enumerate(units)]
    for n in range(iterations):
        for unit, start, name in starts:
            x, y = _LEFT + (start + interval * n) * cell, _TOP + units.index(unit) * _ROW
            parts.append(svg.box(x + 1, y + 2, cell - 2, _ROW - 4, n))
            parts.append(svg.text(x + cell / 2, y + 17, name, "middle"))
    below = _TOP + len(units) * _ROW
    edges = "".join(f"M{_LEFT + t * cell} {_TOP - 4}V{below + 4}" for t in range(0, cycles + 1, interval))
    parts.append(svg.line(edges, dashed=True).replace("1.4", ".5"))
    parts += [svg.text(_LEFT + t * cell + cell / 2, below + 18, str(t), "middle") for t in range(cycles)]
    parts += [svg.text(_LEFT - 8, 16, "iteration", "end"), svg.text(_LEFT - 8, below + 18, "cycle", "end")]
    parts += [svg.text(_LEFT + n * interval * cell + 4, 16, str(n)) for n in range(iterations)]
    label = f"{iterations} iterations overlap: one starts every {interval} cycles"
    if interval == 1:
        label = f"{iterations} iterations overlap: one starts in every cycle"
    return svg.drawing(_LEFT + cycles * cell + 12, below + 28, "".join(parts), label)

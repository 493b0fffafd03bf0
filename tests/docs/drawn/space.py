# SPDX-License-Identifier: Apache-2.0
"""The iteration space of trisolv: which equations hold where, and how far their operands come from."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.docs.drawn import svg

from polyloom.frontend import load
from polyloom.ir.pla import Equation, Program, Reference

_FILE: Final = Path(__file__).parents[3] / "examples" / "kernels" / "trisolv.py"
_SIZE, _CELL, _LEFT, _TOP = 6, 62, 56, 34


def draw() -> str:
    program = load(str(_FILE)).plan.phases[0].program
    points = [(i, j) for i in range(_SIZE) for j in range(_SIZE) if _inside(program, i, j)]
    arrows = dict.fromkeys(found for point in points for e in program.equations for found in _uses(program, e, point))
    parts = [_way(*source, *sink, accent) for source, sink, accent in arrows]
    parts += [_point(i, j, any(e.operation == "div" and _holds(e, i, j) for e in program.equations)) for i, j in points]
    parts += [svg.text(_LEFT - 34, _y(i) + 4, f"i = {i}" if not i else str(i), "middle") for i in range(_SIZE)]
    parts += [svg.text(_x(j), 16, f"j = {j}" if not j else str(j), "middle") for j in range(_SIZE)]
    parts += _legend()
    label = f"The iterations of trisolv for N = {_SIZE}: a triangle with divisions on its diagonal"
    return svg.drawing(_x(_SIZE) + 220, _y(_SIZE) - 10, "".join(parts), label)


def _inside(program: Program, i: int, j: int) -> bool:
    return program.space.contains({"i": i, "j": j, "N": _SIZE})


def _holds(equation: Equation, i: int, j: int) -> bool:
    return equation.condition.contains({"i": i, "j": j, "N": _SIZE})


Use = tuple[tuple[int, int], tuple[int, int], int]


def _uses(program: Program, equation: Equation, point: tuple[int, int]) -> list[Use]:
    """From the iterations of the operands to this one; teal for partial sums, orange for x."""
    if not _holds(equation, *point):
        return []
    inner = {v.name for v in program.variables}
    found: list[Use] = []
    for operand in equation.operands:
        if isinstance(operand, Reference) and operand.name in inner and any(program.distance(operand)):
            di, dj = program.distance(operand)
            found.append(((point[0] - di, point[1] - dj), point, 1 if di else 0))
    return found


def _x(j: int) -> float:
    return _LEFT + (j + 0.5) * _CELL


def _y(i: int) -> float:
    return _TOP + (i + 0.3) * _CELL * 0.8


def _point(i: int, j: int, divides: bool) -> str:
    x, y = _x(j), _y(i)
    shape = svg.box(x - 13, y - 13, 26, 26, 1) if divides else svg.box(x - 13, y - 13, 26, 26, 0)
    return shape + svg.text(x, y + 4, "/" if divides else "-*", "middle")


def _way(i: int, j: int, to_i: int, to_j: int, accent: int) -> str:
    down, right = to_i - i, to_j - j
    return svg.arrow(
        f"M{svg.decimal(_x(j) + 14 * right)} {svg.decimal(_y(i) + 14 * down)}"
        f"L{svg.decimal(_x(to_j) - 15 * right)} {svg.decimal(_y(to_i) - 15 * down)}",
        accent,
    )


def _legend() -> list[str]:
    x = _x(_SIZE) - 20
    rows = [
        (svg.box(x, 40, 18, 18, 0), "x[i] - L[i, j] * x[j]"),
        (svg.box(x, 70, 18, 18, 1), "x[i] / L[i, i]"),
        (svg.arrow(f"M{x} 109h18", 0), "partial sums, along j"),
        (svg.arrow(f"M{x + 9} 129v18", 1), "x[j], passed along i"),
    ]
    return [shape + svg.text(x + 28, 53 + 30 * n, words) for n, (shape, words) in enumerate(rows)]

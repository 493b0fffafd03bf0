# SPDX-License-Identifier: Apache-2.0
"""Two litmus tests of docs/memory-model.md: memory operations, the order that the model preserves, and who reads from
whom in the outcome that is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.docs.drawn import svg

from polyloom.diagnostics import Source
from polyloom.riscv.rvwmo.check import judge
from polyloom.riscv.rvwmo.path import Operation
from polyloom.riscv.rvwmo.ppo import preserved_program_order
from polyloom.riscv.rvwmo.reader import read_litmus
from polyloom.riscv.rvwmo.unfold import Hart

_FOLDER: Final = Path(__file__).parents[3] / "examples" / "litmus"
_PLACES: Final = frozenset({"x", "y"})
_WIDE, _HIGH, _PANEL = 92, 30, 340


def draw() -> str:
    panels = "".join(_panel(name, 20 + n * _PANEL) for n, name in enumerate(("lb-branch", "lb-czero")))
    legend = [
        svg.arrow("M20 226h30", 0),
        svg.text(58, 230, "preserved program order"),
        svg.arrow("M270 226h30", 1),
        svg.text(308, 230, "the load reads this store"),
        svg.line("M510 226h30", dashed=True),
        svg.text(548, 230, "no order"),
    ]
    label = (
        "With a branch, the four arrows form a cycle and the outcome is forbidden; with czero, one of them is missing"
    )
    return svg.drawing(2 * _PANEL, 244, panels + "".join(legend), label)


def _panel(name: str, left: float) -> str:
    """A column per hart, with its load above its store."""
    file = _FOLDER / f"{name}.litmus"
    test = read_litmus(Source(file.name, file.read_text(encoding="utf-8")))
    verdict = judge(test)
    answer = "both loads read 1: allowed" if verdict.positive else "both loads read 1: forbidden"
    parts = [svg.text(left, 16, test.name), svg.text(left, 34, answer)]
    for hart in range(2):
        path = next(iter(Hart(test, hart, _PLACES).paths(lambda _: 1)))
        x = left + hart * 190
        parts.append(svg.text(x + _WIDE / 2, 62, f"hart {hart}", "middle"))
        parts += [_event(operation, x, 70 + 84 * k) for k, operation in enumerate(path.operations)]
        way = f"M{x + _WIDE / 2} 101v51"
        parts.append(svg.arrow(way, 0) if preserved_program_order(path)[1] & 1 else svg.line(way, dashed=True))
    near, far = left + _WIDE + 1, left + 189
    parts.append(svg.arrow(f"M{near} 169L{far} 87", 1))
    parts.append(svg.arrow(f"M{far} 169L{near} 87", 1))
    return "".join(parts)


def _event(operation: Operation, x: float, y: float) -> str:
    words = f"{'load' if operation.reads else 'store'} {operation.location}"
    return svg.box(x, y, _WIDE, _HIGH, None) + svg.text(x + _WIDE / 2, y + 19, words, "middle")

# SPDX-License-Identifier: Apache-2.0
"""Short forward branches: selects for cores that execute a branch over one simple instruction without speculating
(SiFive 7 series; LLVM review D135814, 2022).

Such a pair, `bnez c, 8` and the instruction in its shadow, stays one pseudo-instruction, whose result is tied to the
value that is kept, so that nothing is ever put between the two. It remains a branch: what the memory model orders by it
stays ordered. GCC and LLVM call this tuning sfb, or short-forward-branch-opt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from polyloom.riscv.names import Isa
from polyloom.riscv.selects.expression import Expression, Node
from polyloom.riscv.selects.select import Selection, select_expression
from polyloom.riscv.selects.table import Line

_BRANCHES: Final = {"<": ("blt", "bge"), "<u": ("bltu", "bgeu"), "^": ("bne", "beq"), "": ("bnez", "beqz")}
"""By operator of the condition: the branches that are taken where it holds, and where it does not."""

_CONSTANT: Final = "t"
_LONG: Final = ("mul",)
"""No core is known to shadow it."""


@dataclass(frozen=True, slots=True)
class ShortForward:
    """Pair of a branch and its shadow: `line` is executed unless the branch is taken; before, rd holds the value that
    is kept.
    """

    branch: str
    operands: tuple[str, ...]
    line: Line

    def expand(self) -> tuple[Line, Line]:
        """The two instructions."""
        return Line(self.branch, (*self.operands, "8")), self.line


def best_sequence(expression: Expression, isa: Isa) -> tuple[Line | ShortForward, ...]:
    """Shortest sequence of lines with at most one pair, which comes last."""
    plain = select_expression(expression, isa)
    best = min(_pairs(expression, isa), key=sequence_length, default=plain.lines)
    return best if sequence_length(best) < plain.length else plain.lines


def sequence_length(lines: tuple[Line | ShortForward, ...]) -> int:
    """Number of instructions, without moves but for the one in a shadow."""
    return sum(2 if isinstance(line, ShortForward) else line.mnemonic != "mv" for line in lines)


def _pairs(expression: Expression, isa: Isa) -> Iterator[tuple[Line | ShortForward, ...]]:
    match expression:
        case Node("?", (condition, a, b)):
            yield from _pair(condition, 0, a, b, isa)
            yield from _pair(condition, 1, b, a, isa)
        case _:
            pass


def _pair(
    condition: Expression, sense: int, kept: Expression, other: Expression, isa: Isa
) -> Iterator[tuple[Line | ShortForward, ...]]:
    """Sequence with `kept` in rd, then `other` in the shadow of a branch that is taken where rd is kept."""
    shadow, before = select_expression(other, isa), select_expression(kept, isa)
    operator, operands = _comparison_operands(condition)
    compared = [_operand_register(operand) for operand in operands]
    # The core handles exactly one simple instruction in the shadow (LLVM: short-forward-branch-opt).
    if len(shadow.lines) == 1 and shadow.lines[0].mnemonic not in _LONG and None not in compared:
        constants = [
            Line("li", (name, str(value))) for name, value in zip(compared, operands, strict=True) if name == _CONSTANT
        ]
        yield (
            *constants,
            *before.lines,
            ShortForward(_BRANCHES[operator][sense], tuple(name for name in compared if name), shadow.lines[0]),
        )


def _operand_register(operand: Expression) -> str | None:
    """Register of a compared name, or of a number that one instruction makes; a comparison has one number at most."""
    if isinstance(operand, int):
        return "zero" if operand == 0 else _CONSTANT if operand in range(-2048, 2048) else None
    return operand if isinstance(operand, str) else None


def _comparison_operands(condition: Expression) -> tuple[str, tuple[Expression, ...]]:
    match condition:
        case Node("<" | "<u" | "^", (a, b)):
            return condition.operator, (a, b)
        case _:
            return "", (condition,)


def expand_pairs(expression: Expression, isa: Isa) -> Selection:
    """As `select`, with pairs expanded; where one is there, nothing is known about shorter sequences."""
    lines = best_sequence(expression, isa)
    plain = tuple(each for line in lines for each in (line.expand() if isinstance(line, ShortForward) else (line,)))
    return Selection(plain, None) if len(plain) != len(lines) else select_expression(expression, isa)

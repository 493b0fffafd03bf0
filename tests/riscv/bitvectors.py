# SPDX-License-Identifier: Apache-2.0
"""Expressions and lines as z3 bit vectors, so that a sequence is proved for all inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from polyloom.riscv.selects.expression import Expression
from polyloom.riscv.selects.notation import parse_expression
from polyloom.riscv.selects.search import MEANINGS
from polyloom.riscv.selects.table import Line

z3: Any = import_module("z3")
"""Without types: it has none for terms."""
Term = Any


def _bit(condition: Term, xlen: int) -> Term:
    return z3.If(condition, z3.BitVecVal(1, xlen), z3.BitVecVal(0, xlen))


_TERMS: Mapping[str, Callable[[int, Term, Term], Term]] = {
    "+": lambda x, a, b: a + b,
    "-": lambda x, a, b: a - b,
    "*": lambda x, a, b: a * b,
    "&": lambda x, a, b: a & b,
    "|": lambda x, a, b: a | b,
    "^": lambda x, a, b: a ^ b,
    "<<": lambda x, a, b: a << (b & x - 1),
    ">>": lambda x, a, b: a >> (b & x - 1),
    ">>u": lambda x, a, b: z3.LShR(a, b & x - 1),
    "<": lambda x, a, b: _bit(a < b, x),
    "<u": lambda x, a, b: _bit(z3.ULT(a, b), x),
    "neg": lambda x, a, b: -a,
    "~": lambda x, a, b: ~a,
}


def term(expression: Expression, values: Mapping[str, Term], xlen: int) -> Term:
    """The value of `expression` over the terms of its names."""
    if isinstance(expression, str):
        return values[expression]
    if isinstance(expression, int):
        return z3.BitVecVal(expression, xlen)
    operands = [term(operand, values, xlen) for operand in expression.operands]
    if expression.operator == "?":
        return z3.If(operands[0] != 0, operands[1], operands[2])
    return _TERMS[expression.operator](xlen, operands[0], operands[-1])


def result(lines: Sequence[Line], values: Mapping[str, Term], xlen: int) -> Term:
    """What the lines leave in rd; `values` has their names and symbolic constants."""
    known: dict[str, Term] = {"zero": z3.BitVecVal(0, xlen), "XLEN-1": z3.BitVecVal(xlen - 1, xlen), **values}
    for line in lines:
        operands = [known[o] if o in known else z3.BitVecVal(int(o), xlen) for o in line.operands[1:]]
        known[line.operands[0]] = term(
            parse_expression(MEANINGS[line.mnemonic]), dict(zip("ab", operands, strict=False)), xlen
        )
    return known["rd"]


def refute(claim: Term, *assumptions: Term) -> str:
    """A counterexample to `claim`, or nothing."""
    solver = z3.Solver()
    solver.add(*assumptions, z3.Not(claim))
    answer = solver.check()
    assert answer != z3.unknown
    return "" if answer == z3.unsat else str(solver.model())

# SPDX-License-Identifier: Apache-2.0
"""Constant expressions: integers exactly, floating point as C's double computes it, f32 rounded once at the end."""

from __future__ import annotations

from collections.abc import Callable

from polyloom.frontend.c.affine import Scope, affine
from polyloom.frontend.c.tree import Node, strip
from polyloom.ir.numbers import constant_in
from polyloom.ir.pla import Constant

_FOLD: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}


def folded(node: Node, scope: Scope) -> float | int | None:
    """The value of a constant expression, None of others."""
    node = strip(node)
    form = affine(node, scope)
    if form is not None:
        return form.constant if form.is_constant else None
    match node.kind:
        case "FloatingLiteral":
            number = float(node.data["value"])
            # C folds in the type of the expression: a float literal has been rounded before it is added.
            return number if node.ctype == "double" else constant_in(number, "f32")
        case "ImplicitCastExpr" | "CStyleCastExpr" if (
            node.data["castKind"] in ("IntegralToFloating", "FloatingCast") and node.ctype == "double"
        ):
            number = folded(node.inner[0], scope)
            return None if number is None else float(number)
        case "UnaryOperator" if node.opcode == "-":
            number = folded(node.inner[0], scope)
            return None if number is None else -number
        case "BinaryOperator" if node.ctype == "double" and node.opcode in _FOLD:
            a, b = (folded(child, scope) for child in node.inner)
            return None if a is None or b is None or (node.opcode == "/" and not b) else _FOLD[node.opcode](a, b)
        case _:
            return None


def single_constant(number: float | int, node: Node) -> Constant:
    """`number` rounded to single precision."""
    rounded = constant_in(number, "f32")
    return Constant(number if rounded is None else rounded, "f32", node.span)

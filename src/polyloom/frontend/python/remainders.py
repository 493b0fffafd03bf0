# SPDX-License-Identifier: Apache-2.0
"""Quotients, remainders, minima and maxima in indices that are affine piece by piece, and loops that are two in one:
what `frontend.c.remainders` is for C, with Python's rounding."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from math import lcm
from typing import Final

from polyloom.frontend.known import quotient_border
from polyloom.frontend.python.affine import Scope, affine, condition
from polyloom.sets import Affine, Condition, Polyhedron

_LARGEST: Final = 1 << 12
"""Of a divisor that makes two loops of one."""


def border(node: ast.expr, scope: Scope) -> Condition | None:
    """A condition that decides more of an index; None where it is decided, or has too many pieces."""
    return next((where for part in ast.walk(node) if (where := _decides(part, scope)) is not None), None)


def _decides(node: ast.AST, scope: Scope) -> Condition | None:
    if not isinstance(node, ast.expr) or affine(node, scope) is not None:
        return None
    match node:
        case ast.BinOp(op=ast.FloorDiv() | ast.Mod()):
            found = _operands(node, scope)
            return None if found is None else quotient_border(*found, scope.domain, 0)
        case ast.Call(func=called, args=[left, right], keywords=[]) if scope.value(called) in (min, max):
            a, b = affine(left, scope), affine(right, scope)
            return None if a is None or b is None else Condition((Polyhedron((b - a,)),))
        case ast.IfExp(test=test):
            return condition(test, scope)
        case _:
            return None


def _operands(node: ast.BinOp, scope: Scope) -> tuple[Affine, Affine] | None:
    """What is divided, and by what."""
    a, b = affine(node.left, scope), affine(node.right, scope)
    return None if a is None or b is None or (b.is_constant and b.constant <= 0) else (a, b)


def stride(body: Sequence[ast.stmt], name: str, scope: Scope) -> int | None:
    """The size of the inner one of two loops that make the divisions in a loop's body affine; `name` is its symbol."""
    sizes = [by for node in body for by in _sizes(node, name, scope)]
    found = lcm(*sizes) if sizes else 1
    return found if 1 < found <= _LARGEST else None


def _sizes(body: ast.stmt, name: str, scope: Scope) -> Iterator[int]:
    for node in ast.walk(body):
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.FloorDiv | ast.Mod):
            continue
        found = _operands(node, scope)
        if found is None or affine(node, scope) is not None or _decides(node, scope) is not None:
            continue
        if found[1].is_constant and found[0].coefficient(name):
            yield found[1].constant

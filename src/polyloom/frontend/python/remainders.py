# SPDX-License-Identifier: Apache-2.0
"""Quotients, remainders, minima and maxima in indices that are affine piece by piece, and loops that are two in one:
what `frontend.c.remainders` is for C, with Python's rounding."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeGuard

from polyloom.frontend.known import quotient_border
from polyloom.frontend.python.affine import Scope, affine, condition
from polyloom.frontend.strips import Period, Size, sized
from polyloom.names import hidden
from polyloom.sets import Affine, Condition, Polyhedron


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


def stride(body: Sequence[ast.stmt], name: str, scope: Scope) -> Size | None:
    """The strips of a loop that make the divisions in its body affine; `name` is the loop's symbol."""
    return sized(period for statement in body for period in _periods(statement, name, scope))


def _periods(node: ast.AST, name: str, scope: Scope, indexes: bool = False) -> Iterator[Period]:
    """The periods of the divisions in a statement that no condition decides; only an index must be affine."""
    if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
        yield from _periods(node.iter, name, scope)
        inside = scope.having(node.target.id, _varying(node, scope))
        for statement in node.body:
            yield from _periods(statement, name, inside)
        return
    if _divides(node) and (found := _period(node, name, scope)) is not None:
        if (found.length > 1 or (indexes and found.open)) and border(node, scope) is None:
            yield found if indexes else replace(found, open=frozenset())
        return
    for child in ast.iter_child_nodes(node):
        yield from _periods(child, name, scope, indexes or isinstance(node, ast.Subscript))


def _divides(node: ast.AST) -> TypeGuard[ast.BinOp]:
    """Whether an expression is a quotient or a remainder."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv | ast.Mod)


def _varying(loop: ast.For, scope: Scope) -> Affine:
    """An inner loop's variable: a number that nothing is known of, apart from where it begins if it counts by more than
    one."""
    assert isinstance(loop.target, ast.Name)
    turn = Affine.symbol(hidden(loop.target.id))
    match loop.iter:
        case ast.Call(func=called, args=[start, _, by]) if scope.value(called) is range:
            first, step = affine(start, scope), affine(by, scope)
            if first is not None and step is not None and step.is_constant:
                return first + turn * step.constant
        case _:
            pass
    return turn


def _period(node: ast.expr, name: str, scope: Scope) -> Period | None:
    """The period of an integer expression of loops; None where it is none."""
    form = affine(node, scope)
    if form is not None:
        return Period.of(form, name)
    match node:
        case ast.BinOp(left=left, op=ast.FloorDiv() | ast.Mod() as operator, right=right):
            value, by = _period(left, name, scope), affine(right, scope)
            if value is None or by is None or not by.is_constant or by.constant <= 0:
                return None
            return value.remainder(by.constant) if isinstance(operator, ast.Mod) else value.quotient(by.constant)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as operator, right=right):
            a, b = _period(left, name, scope), _period(right, name, scope)
            if a is None or b is None:
                return None
            return a.plus(b if isinstance(operator, ast.Add) else b.times(-1))
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            for one, other in ((left, right), (right, left)):
                factor, value = affine(one, scope), _period(other, name, scope)
                if factor is not None and factor.is_constant and value is not None:
                    return value.times(factor.constant)
            return None
        case _:
            return None

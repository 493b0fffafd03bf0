# SPDX-License-Identifier: Apache-2.0
"""Which parts of a test are affine, and what a test comes to once some of them are known.

A `Place` is where an expression stands: its scope, and the outcomes of the affine tests around it (of a condition,
whatever its text, as loops have names of their own).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from polyloom.frontend.python.affine import Scope, affine, condition, decided
from polyloom.frontend.python.remainders import border
from polyloom.ir.nest import negate
from polyloom.sets import Condition

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """See the module."""

    scope: Scope
    outcomes: Mapping[Condition, bool] = field(default_factory=dict[Condition, bool])

    def knowing(self, where: Condition, outcome: bool) -> Place:
        scope = self.scope.within(where if outcome else negate(where))
        return replace(self, scope=scope, outcomes={**self.outcomes, where: outcome})


def outcome(test: ast.expr, place: Place) -> bool | None:
    """What a test comes to, or None where that depends on data or on loops."""
    where = condition(test, place.scope)
    if where is not None:
        return place.outcomes.get(where, decided(where))
    match test:
        case ast.BoolOp(op=operator, values=values):
            parts = [outcome(value, place) for value in values]
            absorbing = isinstance(operator, ast.Or)
            if absorbing in parts:
                return absorbing
            return None if None in parts else not absorbing
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = outcome(operand, place)
            return None if inner is None else not inner
        case _:
            return None


def affine_part(test: ast.expr, place: Place) -> ast.expr | None:
    """The first affine part of a test whose outcome is not known, as large as possible."""
    if outcome(test, place) is not None:
        return None
    if condition(test, place.scope) is not None:
        return test
    match test:
        case ast.BoolOp(values=values):
            return _first(affine_part(value, place) for value in values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return affine_part(operand, place)
        case _:
            return None


def affine_test(value: ast.expr, place: Place) -> ast.expr | Condition | None:
    """The first such part of the tests of conditional expressions within a value, or a condition that decides a
    quotient, a remainder, a minimum or a maximum in one of its indices."""
    if affine(value, place.scope) is not None:
        return None
    if isinstance(value, ast.Subscript) and (where := border(value.slice, place.scope)) is not None:
        return where
    if not isinstance(value, ast.IfExp):
        return _first(affine_test(child, place) for child in ast.iter_child_nodes(value) if isinstance(child, ast.expr))
    known = outcome(value.test, place)
    if known is not None:
        return affine_test(value.body if known else value.orelse, place)
    return affine_part(value.test, place) or _first(
        affine_test(child, place) for child in (value.test, value.body, value.orelse)
    )


def _first(found: Iterable[T | None]) -> T | None:
    return next((node for node in found if node is not None), None)

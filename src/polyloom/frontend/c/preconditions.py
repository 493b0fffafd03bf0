# SPDX-License-Identifier: Apache-2.0
"""Preconditions of a C function, whatever else it does: what `assert` (C17, section 7.2) and `__builtin_assume` at its
head say of integer parameters.

The head ends at the first statement that may have an effect, or that is neither one of these nor a declaration: up to
there parameters have the values that the caller passes. Conditions are affine, as for loops on the array (function.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from polyloom.frontend.c.library import lower_tree
from polyloom.frontend.loops.affine import Scope, affine_condition, callee_name
from polyloom.frontend.loops.roles import assumption
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.types import COUNTING, NARROW
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.normal_form import conjunction

FAILED: Final = "__assert_fail"
"""What `assert` calls where its condition does not hold."""
_SAYS: Final = (FAILED, "__builtin_assume")


@dataclass(frozen=True, slots=True)
class Preconditions:
    """Preconditions: what holds for the parameters, and the lines and columns, in bytes, of the assertions that say no
    more.
    """

    condition: Condition = field(default_factory=Condition)
    asserted: frozenset[tuple[int, int]] = frozenset()


def find_preconditions(function: Node) -> Preconditions:
    """Preconditions of a function with a body."""
    scope, held, said = _parameter_scope(function), Condition(), set[int]()
    for statement in _head_statements(function):
        asserted = assumption(statement)
        where = None if asserted is None else affine_condition(lower_tree(asserted, {}, ()), scope)
        if where is not None:
            # Each condition holds in those behind it, where it may decide a quotient.
            scope, held = scope.restrict_domain(where), conjunction(held, where)
            said.update(map(id, statement))
    calls = [n for n in function if n.kind == "call" and callee_name(n) == FAILED]
    # A macro may have several assertions, all at one place: where one of them says more, none is left out.
    others = {_line_and_column(call) for call in calls if id(call) not in said}
    return Preconditions(held, frozenset(map(_line_and_column, calls)) - others)


def _parameter_scope(function: Node) -> Scope:
    """Integer parameters; those without a sign are at least 0."""
    found = [p for p in function.inner if p.kind == "parameter" and p.ctype in (*COUNTING, *NARROW)]
    unsigned = tuple(Affine.symbol(p.name) for p in found if p.ctype.startswith(("unsigned", "_Bool")))
    return Scope({p.symbol: Affine.symbol(p.name) for p in found}, {}, {}, domain=Condition((Polyhedron(unsigned),)))


def _head_statements(function: Node) -> Iterator[Node]:
    for statement in function.inner[-1].inner:
        if not (statement.kind in ("declare", "nothing") or assumption(statement) is not None):
            return
        if any(map(_has_effect, statement)):
            return
        yield statement


def _has_effect(node: Node) -> bool:
    assigns = node.opcode in ("=", "++", "--") or node.kind in ("update", "statements")
    return assigns or (node.kind == "call" and callee_name(node) not in _SAYS)


def _line_and_column(call: Node) -> tuple[int, int]:
    """Line and column of a call as debug information has them: of a macro's expansion."""
    before = call.span.source.text[: call.span.start].rpartition("\n")[2]
    return call.span.line, len(before.encode()) + 1

# SPDX-License-Identifier: Apache-2.0
"""Gathers: indices and bounds that are data; each is held by an integer scalar, assigned before what reads it
(`ir.nest.data`).

An expression with such an index is evaluated only where its language does (C17, sections 6.5.13 to 6.5.15; Python
language reference, section 6.11): the operands of a conditional one become branches.
"""

from __future__ import annotations

from collections.abc import Callable

from polyloom.diagnostics import Span
from polyloom.ir.nest import Assign, Expression, If
from polyloom.ir.nest import Node as NestNode
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Reference
from polyloom.sets import Affine, Condition, Polyhedron

Nodes = tuple[NestNode, ...]
Value = Callable[[], Expression]


class Gathers:
    """Gathers of a function: `local` makes a scalar of a name and a type; `before` are the nodes that come before what
    is being read.
    """

    def __init__(self, local: Callable[[str, ElementType], str]) -> None:
        self.local, self.before = local, list[NestNode]()

    def take_nodes(self) -> Nodes:
        """The nodes that must come before what was read since the last call."""
        found, self.before = tuple(self.before), []
        return found

    def symbol(self, value: Expression, span: Span) -> Affine:
        """An index, as the name of a scalar that holds it."""
        held = self.make_temporary("at", "i32", span)
        self.before.append(Assign("", held, value, span))
        return Affine.symbol(held.name)

    def make_temporary(self, name: str, dtype: ElementType, span: Span) -> Reference:
        return Reference(self.local(name, dtype), (), span)

    def conditional(self, test: Expression, dtype: ElementType, sides: tuple[Value, Value], span: Span) -> Expression:
        """Conditional evaluation: one of two values, of which only that is evaluated (the other may read outside of an
        array).
        """
        tested, found = self.make_temporary("test", "i32", span), self.make_temporary("value", dtype, span)
        first, second = [self._branch(found, side) for side in sides]
        self.before += Assign("", tested, test, span), If(nonzero_condition(tested), first, second, span)
        return found

    def short_circuit(self, first: Expression, second: Value, is_and: bool, span: Span) -> Expression:
        """Short-circuit evaluation: `and` and `or` whose second operand is evaluated only where the first has not
        decided.
        """
        found = self.make_temporary("test", "i32", span)
        self.before.append(Assign("", found, first, span))
        inner = self._branch(found, second)
        # In a branch: where the first operand has decided, the second may read outside of its array.
        self.before.append(If(nonzero_condition(found), *((inner, ()) if is_and else ((), inner)), span))
        return found

    def _branch(self, held: Reference, value: Value) -> Nodes:
        # Nodes of an operand go into its branch, not before the whole expression.
        around, self.before = self.before, []
        found = value()
        inner, self.before = self.take_nodes(), around
        return (*inner, Assign("", held, found, held.span))


def nonzero_condition(held: Reference) -> Condition:
    """Condition that a scalar, which is data, is not 0."""
    value = Affine.symbol(held.name)
    return Condition((Polyhedron((value - 1,)), Polyhedron((-value - 1,))))

# SPDX-License-Identifier: Apache-2.0
"""Choices between a value and nothing: `t = select(c, value, t)`, where no earlier instance assigned to the local t, is
`t = value`.

Front ends turn an assignment under a data-dependent `if` into such a choice. Where t has no value yet, a program that
uses it later must have met the condition, or assigns in the other branch; so the first assignment may as well be
unconditional.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from polyloom.diagnostics import PolyloomError
from polyloom.ir.nest import Apply, Assign, Expression, If, Nest, Node, Statement
from polyloom.ir.nest_rewrite import Rewriter
from polyloom.ir.pla import Reference
from polyloom.names import dotted_name, fresh_name
from polyloom.sets import Condition
from polyloom.transform.writers import Writers


def remove_undefined_choices(nest: Nest) -> Nest:
    """The same nest, except that a local's first assignment does not choose the value that it does not have."""
    writers = Writers.from_nest(nest)
    first = {s.assign.name: found for s in writers.statements if (found := _initial_assignment(writers, s)) is not None}
    taken = {s.assign.name for s in writers.statements}
    return replace(nest, body=_Replacement(first, taken).nodes(nest.body)) if first else nest


def _initial_assignment(writers: Writers, statement: Statement) -> tuple[Assign, Condition | None] | None:
    """The assignment without the choice, and where it holds, if not everywhere."""
    assign = statement.assign
    chosen = _defined_branch(assign.value, assign.target)
    if writers.nest[assign.target.name].role != "local" or chosen is None or chosen is assign.value:
        return None
    points, unwritten = writers.pieces.set(statement.domain, assign.name), writers.unwritten(statement, assign.target)
    if unwritten.is_empty():
        return None
    if points.is_subset(unwritten):
        return replace(assign, value=chosen), None
    # A stride is no condition: the choice stays.
    with suppress(PolyloomError):
        return replace(assign, value=chosen), writers.pieces.condition(unwritten)
    return None


def _defined_branch(value: Expression, target: Reference) -> Expression | None:
    """`value` without the branches that are `target` itself; None if nothing is left."""
    if isinstance(value, Reference):
        # `t = c ? x : t` with t never written before: where c does not hold t has no value, so that whoever reads it
        # there is wrong anyway, and x will do.
        return None if (value.name, value.index) == (target.name, target.index) else value
    if not isinstance(value, Apply) or value.operation != "select":
        return value
    condition, *branches = value.operands
    left, right = (_defined_branch(b, target) for b in branches)
    if left is None or right is None:
        return right if left is None else left
    return value if (left, right) == tuple(branches) else replace(value, operands=(condition, left, right))


class _Replacement(Rewriter):
    """Rewriter of first assignments: unconditional where nothing was written, by a condition where something may have
    been.
    """

    def __init__(self, first: Mapping[str, tuple[Assign, Condition | None]], taken: set[str]) -> None:
        self.first, self.taken = first, taken

    def assign(self, node: Assign) -> Iterable[Node]:
        if node.name not in self.first:
            return (node,)
        assign, where = self.first[node.name]
        if where is None:
            return (assign,)
        made = replace(assign, name=fresh_name(dotted_name(node.name, 0), self.taken, dotted_name))
        return (If(where, (made,), (node,), node.span),)

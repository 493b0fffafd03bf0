# SPDX-License-Identifier: Apache-2.0
"""Function body as nodes of a nest: copies of scalars that are assigned, assumptions, statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polyloom.frontend.loops import refusals
from polyloom.frontend.loops.affine import Scope, affine_condition
from polyloom.frontend.loops.roles import Roles, assumption
from polyloom.frontend.loops.statements import Nodes, Statements, count_uses
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.tree_form import FORM
from polyloom.frontend.loops.types import is_pointer
from polyloom.frontend.loops.values import gather_index
from polyloom.ir.nest import Assign, If, Loop, Storage, assignments
from polyloom.ir.nest import Node as NestNode
from polyloom.ir.pla import Reference
from polyloom.names import fresh_name
from polyloom.passes import Watch
from polyloom.sets import Condition
from polyloom.sets.normal_form import conjunction


def lower_body(
    nodes: Sequence[Node],
    parameters: Sequence[Node],
    found: Roles,
    scope: Scope,
    names: Sequence[str] = (),
    *,
    indirect: bool = False,
) -> tuple[Nodes, Condition, tuple[Storage, ...]]:
    """Lowering of a function's body: its nodes, what the function assumes, and all storage."""
    builder = Statements(found, scope.storage.values(), (*(p.name for p in parameters), *names), indirect=indirect)
    if builder.gathers is not None:
        scope = replace(scope, gathers=builder.gathers, gather=gather_index)
    # The statement tree is a form between passes: `--print-after tree` prints it, and tests verify it.
    Watch().observe("tree", nodes, FORM)
    # Counted over the whole body: a variable of one branch alone occurs nowhere else.
    builder.uses = count_uses(nodes)
    initial: Nodes = ()
    for parameter in parameters:
        # Scalars by value that the function changes.
        if parameter.symbol in found.assigned and parameter.symbol in scope.storage and not is_pointer(parameter):
            argument = scope.storage[parameter.symbol]
            # Scalars are passed by value: an assignment to the parameter must not be seen outside.
            copy = builder.keep(replace(argument, name=builder.fresh(argument.name), role="local", writable=True))
            initial = (
                *initial,
                *builder.store(
                    Reference(copy.name, (), parameter.span), Reference(argument.name, (), parameter.span), parameter
                ),
            )
            scope = replace(scope, storage={**scope.storage, parameter.symbol: copy})
    assumptions = Condition()
    for asserted in filter(None, map(assumption, nodes)):
        where = affine_condition(asserted, scope)
        if where is None:
            raise refusals.refuse_assertion(asserted)
        assumptions = conjunction(assumptions, where)
    made = builder.block([n for n in nodes if assumption(n) is None], scope.restrict_domain(assumptions))
    return number_statements((*initial, *made), builder.taken), assumptions, tuple(builder.storage.values())


def number_statements(nodes: Sequence[NestNode], taken: set[str]) -> Nodes:
    """Statements named S1, S2, ... in the order of the text; they have other names than what the text has names for."""
    names = (fresh_name(f"S{n}", taken) for n in range(1, len(list(assignments(nodes))) + 1))

    def number(node: NestNode) -> NestNode:
        match node:
            case Assign():
                return replace(node, name=next(names))
            case Loop(body=inner):
                return replace(node, body=tuple([number(each) for each in inner]))
            case If(body=inner, orelse=orelse):
                first = tuple([number(each) for each in inner])
                return replace(node, body=first, orelse=tuple([number(each) for each in orelse]))

    return tuple([number(node) for node in nodes])

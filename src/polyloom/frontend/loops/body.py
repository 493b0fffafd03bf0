# SPDX-License-Identifier: Apache-2.0
"""Function body as nodes of a nest: copies of scalars that are assigned, assumptions, statements."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from polyloom.frontend.loops import refusals
from polyloom.frontend.loops.affine import Scope, affine_condition
from polyloom.frontend.loops.counters import count_uses
from polyloom.frontend.loops.lowering.statements import Statements
from polyloom.frontend.loops.lowering.stores import Nodes
from polyloom.frontend.loops.lowering.turns import with_parts
from polyloom.frontend.loops.lowering.wrap_preconditions import wrap_preconditions
from polyloom.frontend.loops.remainders import divided_parameter
from polyloom.frontend.loops.roles import Roles, assumption
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.tree_form import FORM
from polyloom.frontend.loops.types import is_pointer
from polyloom.frontend.loops.values import gather_index
from polyloom.frontend.strip_mining import Parted
from polyloom.ir.nest import Assign, If, Loop, Storage, accesses, assignments
from polyloom.ir.nest import Node as NestNode
from polyloom.ir.pla import Reference
from polyloom.names import fresh_name
from polyloom.passes import Watch
from polyloom.sets import Affine, Condition
from polyloom.sets.normal_form import conjunction, fixed_symbols


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
        # A parameter of one value is a constant: its products are affine, and it may be a step.
        fixed = {name: Affine((), value) for name, value in fixed_symbols(where).items()}
        scope = replace(scope, symbols={name: form.substitute(fixed) for name, form in scope.symbols.items()})
    own = [n for n in nodes if assumption(n) is None]
    assumptions = conjunction(
        assumptions, wrap_preconditions(own, found, scope.drop_gathers().restrict_domain(assumptions))
    )
    made = _lower_body(own, scope.restrict_domain(assumptions), builder)
    lowered = eliminate_dead_counters((*initial, *made), builder.counted)
    unread = builder.counted - _read(lowered)
    kept = tuple([s for s in builder.storage.values() if s.name not in unread])
    return number_statements(lowered, builder.taken), assumptions, kept


def eliminate_dead_counters(nodes: Nodes, counters: Collection[str]) -> Nodes:
    """Dead store elimination (Muchnick 1997, section 18.10) of counters that no data depend on, until all are read."""
    unread = set(counters) - _read(nodes)
    found = tuple(_remove_assignments(nodes, unread))
    stores = [{a.target.name for a in assignments(each)} for each in (nodes, found)]
    return found if stores[0] == stores[1] else eliminate_dead_counters(found, counters)


def _read(nodes: Nodes) -> set[str]:
    return {reference.name for assign in assignments(nodes) for reference in accesses(assign.value)}


def _remove_assignments(nodes: Iterable[NestNode], unread: Collection[str]) -> Iterator[NestNode]:
    for node in nodes:
        match node:
            case Assign() if node.target.name in unread:
                pass
            case Assign():
                yield node
            case Loop():
                if inner := tuple(_remove_assignments(node.body, unread)):
                    yield replace(node, body=inner)
            case If():
                first, second = (
                    tuple(_remove_assignments(node.body, unread)),
                    tuple(_remove_assignments(node.orelse, unread)),
                )
                if first or second:
                    yield replace(node, body=first, orelse=second)


def _lower_body(nodes: Sequence[Node], scope: Scope, builder: Statements) -> Nodes:
    """Lowering of the body; around it, loops that take parameters apart whose quotients are bounds."""
    names = {
        form.terms[0][0] for name, form in scope.symbols.items() if name in builder.roles.parameters and form.terms
    }
    found = divided_parameter(nodes, scope, names - scope.parted.keys(), builder.roles)
    if found is None:
        return builder.block(nodes, scope)
    name, size = found
    parted = Parted(name, size, builder.fresh(name), builder.fresh(name))
    return parted.loops(
        lambda f, w: _lower_body(nodes, with_parts(scope, name, f).restrict_domain(w), builder), nodes[0].span
    )


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

# SPDX-License-Identifier: Apache-2.0
"""Verifier of nests, as a list of rules; each is local to names and types and needs no integer sets.

Front ends make well-formed nests of what they accept; the rules find mistakes in nests made by hand or by a
transformation. What must hold for all parameter values is checked by `analysis.nest_check`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from polyloom.diagnostics import Diagnostic, Span, enforce
from polyloom.ir.nest import (
    Apply,
    Assign,
    If,
    Index,
    Loop,
    Nest,
    Node,
    accesses,
    data_symbols,
    expression_type,
    subexpressions,
)
from polyloom.ir.numbers import is_constant
from polyloom.ir.operations import BY_NAME
from polyloom.ir.pla import Constant, Reference
from polyloom.sets import Affine

Rule = Callable[[Nest], Iterator[Diagnostic]]


def verify(nest: Nest) -> None:
    """Raise every violation of the first rule that is violated."""
    enforce(RULES, nest)


@dataclass(frozen=True, slots=True)
class _Place:
    """A node and the loops around it."""

    node: Node
    loops: tuple[str, ...]


def _places(nodes: tuple[Node, ...], loops: tuple[str, ...] = ()) -> Iterator[_Place]:
    for node in nodes:
        yield _Place(node, loops)
        match node:
            case Loop():
                yield from _places(node.body, (*loops, node.name))
            case If():
                yield from _places((*node.body, *node.orelse), loops)
            case Assign():
                pass


def _assigns(nest: Nest) -> Iterator[Assign]:
    return (p.node for p in _places(nest.body) if isinstance(p.node, Assign))


def names_are_unique(nest: Nest) -> Iterator[Diagnostic]:
    loops = [(p.node.name, p.node.span) for p in _places(nest.body) if isinstance(p.node, Loop)]
    items: list[tuple[str, Span | None]] = [(n, nest.span) for n in nest.parameters]
    # Statements have a name space of their own: no symbol can be one.
    for group in (
        [*items, *((s.name, s.span) for s in nest.storage), *loops],
        [(a.name, a.span) for a in _assigns(nest)],
    ):
        seen: set[str] = set()
        for name, span in group:
            if name in seen:
                yield Diagnostic("PL0202", f"`{name}` is defined twice", span=span, help="choose another name")
            seen.add(name)


def symbols_are_known(nest: Nest) -> Iterator[Diagnostic]:
    parameters = frozenset(nest.parameters)
    # Indices that are data are well formed; targets that cannot have them say so.
    scalars = parameters | data_symbols(nest)
    yield from _unknown(nest.assumptions.symbols, parameters, nest.span)
    for storage in nest.storage:
        yield from _unknown(_form_symbols(storage.shape), parameters, storage.span)
    for place in _places(nest.body):
        yield from _unknown(_node_symbols(place.node), scalars.union(place.loops), place.node.span)


def _node_symbols(node: Node) -> frozenset[str]:
    """The symbols of a node itself, without those of the nodes in it."""
    match node:
        case Loop():
            return _form_symbols((*node.lower, *node.upper))
        case If():
            return node.condition.symbols
        case Assign():
            indices = [a for r in (node.target, *accesses(node.value)) for a in r.index]
            return _form_symbols((*indices, *(e.value for e in subexpressions(node.value) if isinstance(e, Index))))


def loops_have_bounds(nest: Nest) -> Iterator[Diagnostic]:
    for place in _places(nest.body):
        if isinstance(place.node, Loop) and not (place.node.lower and place.node.upper):
            help = "give a lower and an upper bound"
            yield Diagnostic("PL0215", f"the loop `{place.node.name}` is unbounded", span=place.node.span, help=help)


def references_are_known(nest: Nest) -> Iterator[Diagnostic]:
    ranks = {s.name: len(s.shape) for s in nest.storage}
    for assign in _assigns(nest):
        for reference in (assign.target, *accesses(assign.value)):
            if reference.name not in ranks:
                yield Diagnostic("PL0204", f"unknown name `{reference.name}`", span=reference.span)
            elif len(reference.index) != ranks[reference.name]:
                message = (
                    f"`{reference.name}` has {ranks[reference.name]} dimensions, but {len(reference.index)} subscripts"
                )
                yield Diagnostic("PL0210", message, span=reference.span, help="give one subscript for each dimension")


def operations_are_known(nest: Nest) -> Iterator[Diagnostic]:
    for assign in _assigns(nest):
        for expression in subexpressions(assign.value):
            if not isinstance(expression, Apply):
                continue
            operation = BY_NAME.get(expression.operation)
            if operation is None:
                yield Diagnostic("PL0211", f"unknown operation `{expression.operation}`", span=expression.span)
            elif len(expression.operands) != operation.arity:
                message = f"{operation.name} takes {operation.arity} operands, not {len(expression.operands)}"
                yield Diagnostic("PL0210", message, span=expression.span)
            elif not operation.accepts_type(expression.dtype):
                help = f"{operation.name} is defined for {', '.join(operation.types)}"
                yield Diagnostic(
                    "PL0208", f"{operation.name} has no meaning for {expression.dtype}", span=expression.span, help=help
                )


def types_agree(nest: Nest) -> Iterator[Diagnostic]:
    for assign in _assigns(nest):
        for expression in subexpressions(assign.value):
            if isinstance(expression, Apply):
                yield from _operands_agree(expression, nest)
            elif isinstance(expression, Constant) and not is_constant(expression.value, expression.dtype):
                yield Diagnostic(
                    "PL0207", f"{expression.value} is not a value of type {expression.dtype}", span=expression.span
                )
        wanted, found = nest[assign.target.name].dtype, expression_type(assign.value, nest)
        if wanted != found:
            yield Diagnostic(
                "PL0208", f"`{assign.target.name}` is {wanted}, but its new value is {found}", span=assign.span
            )


def _operands_agree(expression: Apply, nest: Nest) -> Iterator[Diagnostic]:
    for n, operand in enumerate(expression.operands):
        # The condition of a select is i32, whatever is selected.
        wanted = "i32" if expression.operation == "select" and n == 0 else expression.dtype
        found = expression_type(operand, nest)
        if found != wanted:
            what = f"`{operand.name}`" if isinstance(operand, Reference) else "an operand"
            yield Diagnostic(
                "PL0208",
                f"{expression.operation} needs {wanted} here, but {what} is {found}",
                span=operand.span or expression.span,
            )


def targets_are_writable(nest: Nest) -> Iterator[Diagnostic]:
    for assign in _assigns(nest):
        if not nest[assign.target.name].writable:
            help = "copy it to a variable of the function, and assign to that"
            yield Diagnostic(
                "PL0241",
                f"`{assign.target.name}` is passed by value and is assigned to",
                span=assign.target.span,
                help=help,
            )


# Later rules rely on earlier ones: types are those of names that are known by then.
RULES: tuple[Rule, ...] = (
    names_are_unique,
    symbols_are_known,
    loops_have_bounds,
    references_are_known,
    operations_are_known,
    types_agree,
    targets_are_writable,
)


def _unknown(used: frozenset[str], known: frozenset[str], span: Span | None) -> Iterator[Diagnostic]:
    for name in sorted(used - known):
        yield Diagnostic("PL0204", f"`{name}` is neither a parameter nor a loop around this", span=span)


def _form_symbols(affines: tuple[Affine, ...]) -> frozenset[str]:
    return frozenset[str]().union(*(a.symbols for a in affines))

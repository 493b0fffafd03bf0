# SPDX-License-Identifier: Apache-2.0
"""Conditions on data: both branches are executed, and every assignment selects between the new value and the old one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from polyloom.ir.nest import Apply, Assign, Expression, If, Loop, Node, accesses
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Reference

TypeOf = Callable[[str], ElementType]


def choose(test: Reference, then: Sequence[Node], orelse: Sequence[Node], free: Collection[str], dtype: TypeOf) -> tuple[Node, ...]:
    """The statements of two branches, of which `test` chooses one; variables that are `free` matter within their branch only."""
    pairs = list(zip(then, orelse, strict=False))
    if pairs and len(then) == len(orelse) and all(isinstance(a, Assign) and isinstance(b, Assign) and same(a.target, b.target) for a, b in pairs):
        return tuple(replace(a, value=_select(test, a.value, b.value, a, dtype)) for a, b in pairs if isinstance(a, Assign) and isinstance(b, Assign))
    return (*(_guard(test, node, True, free, dtype) for node in then), *(_guard(test, node, False, free, dtype) for node in orelse))


def same(a: Reference, b: Reference) -> bool:
    """Whether two references are to the same element, as they stand."""
    return (a.name, a.index) == (b.name, b.index)


def _guard(test: Reference, node: Node, holds: bool, free: Collection[str], dtype: TypeOf) -> Node:
    match node:
        case Assign(target=target, value=value):
            old = Reference(target.name, target.index, target.span)
            return node if target.name in free else replace(node, value=_select(test, value if holds else old, old if holds else value, node, dtype))
        case Loop(body=body):
            return replace(node, body=tuple(_guard(test, inner, holds, free, dtype) for inner in body))
        case If(body=body, orelse=orelse):
            branches = [tuple(_guard(test, inner, holds, free, dtype) for inner in branch) for branch in (body, orelse)]
            return replace(node, body=branches[0], orelse=branches[1])


def _select(test: Reference, a: Expression, b: Expression, node: Assign, dtype: TypeOf) -> Expression:
    return Apply("select", dtype(node.target.name), (test, a, b), node.span)


def inlined(nodes: tuple[Node, ...], name: str, test: Expression) -> tuple[Node, ...] | None:
    """The one assignment that `nodes` are with the one use of the variable `name` replaced by what it holds, else None."""
    match nodes:
        case (Assign(target=target, value=value) as only,) if target.name != name and [r.name for r in accesses(value)].count(name) == 1:
            return (replace(only, value=_substitute(value, name, test)),)
        case _:
            return None


def _substitute(value: Expression, name: str, test: Expression) -> Expression:
    match value:
        case Reference(name=found) if found == name:
            return test
        case Apply(operands=operands):
            return replace(value, operands=tuple(_substitute(operand, name, test) for operand in operands))
        case _:
            return value


def assignments(nodes: Sequence[Node]) -> Iterator[Assign]:
    """All assignments, in the order of the text."""
    for node in nodes:
        match node:
            case Assign():
                yield node
            case Loop(body=body):
                yield from assignments(body)
            case If(body=body, orelse=orelse):
                yield from assignments((*body, *orelse))

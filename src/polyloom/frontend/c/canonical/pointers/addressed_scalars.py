# SPDX-License-Identifier: Apache-2.0
"""Arrays of one element for scalars that pointers point to: a pointer to an object behaves like one to the only element
of an array of length one (C17, section 6.5.6, paragraph 7), and pointers to arrays are followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from polyloom.frontend.c.canonical.pointers.sources import list_assignments
from polyloom.frontend.loops import make
from polyloom.frontend.loops.substatements import Statements, map_statements
from polyloom.frontend.loops.tree import Node, strip_casts
from polyloom.frontend.loops.types import TYPES


def index_addressed_scalars(body: Node) -> Node:
    """A body in which the scalars of its own whose addresses pointers are given are arrays."""
    scalars = {n.symbol: n for n in body if n.kind == "variable" and n.ctype in TYPES and n.storage != "static"}
    addressed = {name for _, value in list_assignments(body) if (name := _addressed_variable(value)) in scalars}
    arrays = {
        name: replace(scalars[name], ctype=f"{scalars[name].ctype}[1]", initial=False, inner=()) for name in addressed
    }
    if not arrays:
        return body
    declared = map_statements(body, lambda node: _rewrite_statement(node, arrays))
    return make.replace_nodes(declared, lambda part: _rewrite_name(part, arrays))


def _addressed_variable(value: Node) -> str:
    """The identity of the variable in `&x`, or ""."""
    value = strip_casts(value)
    place = strip_casts(value.inner[0]) if value.kind == "unary" and value.opcode == "&" else value
    return place.symbol if place is not value and place.kind == "name" else ""


def _rewrite_statement(node: Node, arrays: Mapping[str, Node]) -> Statements:
    if node.kind == "declare":
        return tuple([s for d in node.inner for s in _declare(d, node, arrays)])
    return (map_statements(node, lambda child: _rewrite_statement(child, arrays)),)


def _declare(declaration: Node, at: Node, arrays: Mapping[str, Node]) -> Iterator[Node]:
    array = arrays.get(declaration.symbol)
    if array is None:
        yield replace(at, inner=(declaration,))
        return
    yield replace(at, inner=(replace(array, qualified=array.ctype),))
    if declaration.initial:
        yield make.assignment(make.variable_reference(declaration, at), declaration.inner[-1], declaration)


def _rewrite_name(node: Node, arrays: Mapping[str, Node]) -> Node | None:
    if (name := _addressed_variable(node)) in arrays:
        return make.variable_reference(arrays[name], node)
    if node.kind == "name" and node.symbol in arrays:
        return _single_element(arrays[node.symbol], node)
    return None


def _single_element(array: Node, at: Node) -> Node:
    return make.element(make.variable_reference(array, at), make.number(0, at), at)

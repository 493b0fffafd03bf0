# SPDX-License-Identifier: Apache-2.0
"""Scalar replacement of aggregates (Muchnick 1997, section 12.2): a local structure of scalars as its members. `s.re`
is a variable `s_re`, and `s = t` one assignment per member.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from polyloom.frontend.loops import make
from polyloom.frontend.loops.substatements import Statements, map_statements
from polyloom.frontend.loops.tree import Node, strip_casts

Fields = tuple[tuple[str, str], ...]
"""The names and types of members."""


def replace_aggregates(body: Node, records: Mapping[str, Fields]) -> Node:
    """Scalar replacement of local structures; `records` are the fields of those of the file whose members are scalars,
    by type.
    """
    # Static ones keep their values between calls, and stay what they are.
    found = {
        n.symbol: n
        for n in body
        if n.kind == "variable" and n.ctype in records and not n.storage and _has_simple_initializer(n)
    }
    whole = _escaping_variables(body, found)
    parts = {name: n for name, n in found.items() if name not in whole}
    if not parts:
        return body
    fields = {name: records[n.ctype] for name, n in parts.items()}
    body = map_statements(body, lambda node: _rewrite_statement(node, fields))
    return make.replace_nodes(body, lambda node: _replace_member(node, fields))


def _has_simple_initializer(declaration: Node) -> bool:
    return not declaration.initial or strip_casts(declaration.inner[-1]).kind in ("list", "name")


def _escaping_variables(body: Node, found: Mapping[str, Node]) -> set[str]:
    """Escaping structures: variables that are used otherwise than by member and in assignments to each other."""
    taken = {id(strip_casts(n.inner[0])) for n in body if n.kind == "member"}
    for node in body:
        sides = node.inner if node.kind == "binary" and node.opcode == "=" else ()
        sides = node.inner[-1:] if node.kind == "variable" and node.initial else sides
        if all(_referenced_symbol(side) in found for side in sides):
            taken.update(id(strip_casts(side)) for side in sides)
    return {n.symbol for n in body if n.kind == "name" and id(n) not in taken}


def _referenced_symbol(node: Node) -> str:
    node = strip_casts(node)
    return node.symbol if node.kind == "name" else ""


def _rewrite_statement(node: Node, fields: Mapping[str, Fields]) -> Statements:
    if node.kind == "declare" and any(d.symbol in fields for d in node.inner):
        return tuple([s for d in node.inner for s in _declare_members(d, node, fields)])
    if node.opcode == "=" and node.kind == "binary" and (to := _referenced_symbol(node.inner[0])) in fields:
        # Member by member is the same as at once: the two structures do not overlap (C17, section 6.5.16.1).
        source = strip_casts(node.inner[1])
        return tuple(
            [
                make.assignment(
                    _member_reference(to, _variable_name(node.inner[0]), f, node),
                    _member_reference(_referenced_symbol(source), _variable_name(source), f, node),
                    node,
                )
                for f in fields[to]
            ]
        )
    return (map_statements(node, lambda child: _rewrite_statement(child, fields)),)


def _variable_name(node: Node) -> str:
    return strip_casts(node).name


def _declare_members(declaration: Node, node: Node, fields: Mapping[str, Fields]) -> Iterator[Node]:
    if declaration.symbol not in fields:
        yield replace(node, inner=(declaration,))
        return
    initial = strip_casts(declaration.inner[-1]) if declaration.initial else None
    for n, field in enumerate(fields[declaration.symbol]):
        name, ctype = field
        value: Node | None = None
        if initial is not None and initial.kind == "list":
            given = initial.inner[n] if n < len(initial.inner) else None
            # Members without an initializer are zero (C17, section 6.7.9, paragraph 21).
            zero = given is None or given.kind == "zero"
            value = make.zero_value(ctype, declaration) if zero else given
        elif initial is not None:
            value = _member_reference(_referenced_symbol(initial), _variable_name(initial), field, declaration)
        identity = f"{declaration.symbol}.{name}"
        yield make.declare_variable(f"{declaration.name}_{name}", ctype, identity, declaration, value)


def _member_reference(identity: str, name: str, field: tuple[str, str], at: Node) -> Node:
    """A reference to the variable of a member."""
    identity, name = f"{identity}.{field[0]}", f"{name}_{field[0]}"
    return make.variable_reference(Node("variable", at.span, field[1], name=name, symbol=identity), at)


def _replace_member(node: Node, fields: Mapping[str, Fields]) -> Node | None:
    if node.kind != "member" or node.arrow or _referenced_symbol(node.inner[0]) not in fields:
        return None
    return _member_reference(
        _referenced_symbol(node.inner[0]), _variable_name(node.inner[0]), (node.name, node.ctype), node
    )

# SPDX-License-Identifier: Apache-2.0
"""Scalar replacement of aggregates (Muchnick 1997, section 12.2): a local structure of scalars as its members. `s.re`
is a variable `s_re`, and `s = t` one assignment per member.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from polyloom.frontend.loops import make
from polyloom.frontend.loops.shape import Statements, with_statements
from polyloom.frontend.loops.tree import Node, strip

Fields = tuple[tuple[str, str], ...]
"""The names and types of members."""


def taken_apart(body: Node, records: Mapping[str, Fields]) -> Node:
    """Scalar replacement of local structures; `records` are the fields of those of the file whose members are scalars,
    by type.
    """
    # Static ones keep their values between calls, and stay what they are.
    found = {n.symbol: n for n in body if n.kind == "variable" and n.ctype in records and not n.storage and _plain(n)}
    whole = _whole(body, found)
    parts = {name: n for name, n in found.items() if name not in whole}
    if not parts:
        return body
    fields = {name: records[n.ctype] for name, n in parts.items()}
    body = with_statements(body, lambda node: _inside(node, fields))
    return make.changed(body, lambda node: _member(node, fields))


def _plain(declaration: Node) -> bool:
    return not declaration.initial or strip(declaration.inner[-1]).kind in ("list", "name")


def _whole(body: Node, found: Mapping[str, Node]) -> set[str]:
    """Escaping structures: variables that are used otherwise than by member and in assignments to each other."""
    taken = {id(strip(n.inner[0])) for n in body if n.kind == "member"}
    for node in body:
        sides = node.inner if node.kind == "binary" and node.opcode == "=" else ()
        sides = node.inner[-1:] if node.kind == "variable" and node.initial else sides
        if all(_named(side) in found for side in sides):
            taken.update(id(strip(side)) for side in sides)
    return {n.symbol for n in body if n.kind == "name" and id(n) not in taken}


def _named(node: Node) -> str:
    node = strip(node)
    return node.symbol if node.kind == "name" else ""


def _inside(node: Node, fields: Mapping[str, Fields]) -> Statements:
    if node.kind == "declare" and any(d.symbol in fields for d in node.inner):
        return tuple([s for d in node.inner for s in _declared(d, node, fields)])
    if node.opcode == "=" and node.kind == "binary" and (to := _named(node.inner[0])) in fields:
        # Member by member is the same as at once: the two structures do not overlap (C17, section 6.5.16.1).
        source = strip(node.inner[1])
        return tuple(
            [
                make.assignment(
                    _part(to, _text(node.inner[0]), f, node), _part(_named(source), _text(source), f, node), node
                )
                for f in fields[to]
            ]
        )
    return (with_statements(node, lambda child: _inside(child, fields)),)


def _text(node: Node) -> str:
    return strip(node).name


def _declared(declaration: Node, node: Node, fields: Mapping[str, Fields]) -> Iterator[Node]:
    if declaration.symbol not in fields:
        yield replace(node, inner=(declaration,))
        return
    initial = strip(declaration.inner[-1]) if declaration.initial else None
    for n, field in enumerate(fields[declaration.symbol]):
        name, ctype = field
        value: Node | None = None
        if initial is not None and initial.kind == "list":
            given = initial.inner[n] if n < len(initial.inner) else None
            # Members without an initializer are zero (C17, section 6.7.9, paragraph 21).
            zero = given is None or given.kind == "zero"
            value = make.zero(ctype, declaration) if zero else given
        elif initial is not None:
            value = _part(_named(initial), _text(initial), field, declaration)
        identity = f"{declaration.symbol}.{name}"
        yield make.variable(f"{declaration.name}_{name}", ctype, identity, declaration, value)


def _part(identity: str, name: str, field: tuple[str, str], at: Node) -> Node:
    """A reference to the variable of a member."""
    identity, name = f"{identity}.{field[0]}", f"{name}_{field[0]}"
    return make.named(Node("variable", at.span, field[1], name=name, symbol=identity), at)


def _member(node: Node, fields: Mapping[str, Fields]) -> Node | None:
    if node.kind != "member" or node.arrow or _named(node.inner[0]) not in fields:
        return None
    return _part(_named(node.inner[0]), _text(node.inner[0]), (node.name, node.ctype), node)

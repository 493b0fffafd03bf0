# SPDX-License-Identifier: Apache-2.0
"""A local structure of scalars as its members: `s.re` is a variable `s_re`, and `s = t` one assignment per member."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from polyloom.frontend.loops import make
from polyloom.frontend.loops.shape import Statements, with_statements
from polyloom.frontend.loops.tree import Node, strip

Fields = tuple[tuple[str, str], ...]
"""The names and types of members."""


def taken_apart(body: Node, records: Mapping[str, Fields]) -> Node:
    """Without local structures; `records` are the fields of those of the file whose members are scalars, by type."""
    found = {
        n.id: n
        for n in body
        if n.kind == "VarDecl" and n.ctype in records and not n.data.get("storageClass") and _plain(n)
    }
    whole = _whole(body, found)
    parts = {name: n for name, n in found.items() if name not in whole}
    if not parts:
        return body
    fields = {name: records[n.ctype] for name, n in parts.items()}
    body = with_statements(body, lambda node: _inside(node, fields))
    return make.changed(body, lambda node: _member(node, fields))


def _plain(declaration: Node) -> bool:
    return "init" not in declaration.data or strip(declaration.inner[-1]).kind in ("InitListExpr", "DeclRefExpr")


def _whole(body: Node, found: Mapping[str, Node]) -> set[str]:
    """The variables that are used otherwise than by member and in assignments to each other."""
    taken = {id(strip(n.inner[0])) for n in body if n.kind == "MemberExpr"}
    for node in body:
        sides = node.inner if node.kind == "BinaryOperator" and node.opcode == "=" else ()
        sides = node.inner[-1:] if node.kind == "VarDecl" and "init" in node.data else sides
        if all(_named(side) in found for side in sides):
            taken.update(id(strip(side)) for side in sides)
    return {n.declaration for n in body if n.kind == "DeclRefExpr" and id(n) not in taken}


def _named(node: Node) -> str:
    node = strip(node)
    return node.declaration if node.kind == "DeclRefExpr" else ""


def _inside(node: Node, fields: Mapping[str, Fields]) -> Statements:
    if node.kind == "DeclStmt" and any(d.id in fields for d in node.inner):
        return tuple([s for d in node.inner for s in _declared(d, node, fields)])
    if node.opcode == "=" and node.kind == "BinaryOperator" and (to := _named(node.inner[0])) in fields:
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
    return strip(node).data["referencedDecl"]["name"]


def _declared(declaration: Node, node: Node, fields: Mapping[str, Fields]) -> Iterator[Node]:
    if declaration.id not in fields:
        yield replace(node, inner=(declaration,))
        return
    initial = strip(declaration.inner[-1]) if "init" in declaration.data else None
    for n, field in enumerate(fields[declaration.id]):
        name, ctype = field
        value: Node | None = None
        if initial is not None and initial.kind == "InitListExpr":
            given = initial.inner[n] if n < len(initial.inner) else None
            zero = given is None or given.kind == "ImplicitValueInitExpr"
            value = make.zero(ctype, declaration) if zero else given
        elif initial is not None:
            value = _part(_named(initial), _text(initial), field, declaration)
        identity = f"{declaration.id}.{name}"
        yield make.variable(f"{declaration.name}_{name}", ctype, identity, declaration, value)


def _part(identity: str, name: str, field: tuple[str, str], at: Node) -> Node:
    """A reference to the variable of a member."""
    data = {"id": f"{identity}.{field[0]}", "name": f"{name}_{field[0]}"}
    return make.named(Node("VarDecl", at.span, at.macro, field[1], "", data, ()), at)


def _member(node: Node, fields: Mapping[str, Fields]) -> Node | None:
    if node.kind != "MemberExpr" or node.data.get("isArrow") or _named(node.inner[0]) not in fields:
        return None
    return _part(_named(node.inner[0]), _text(node.inner[0]), (node.name, node.ctype), node)

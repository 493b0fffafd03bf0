# SPDX-License-Identifier: Apache-2.0
"""Array initializers as assignments (C17, section 6.7.9): `const int taps[4] = {3, -1, 4, 2}` is an array and four
assignments; of the file's tables, those that a function uses become its own.

What reads an element then finds the constant (transform.forward).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from polyloom.frontend.loops import make
from polyloom.frontend.loops.substatements import Statements, map_statements
from polyloom.frontend.loops.tree import Node


def expand_initializers(body: Node, tables: Mapping[str, Node]) -> Node:
    """Expansion of lists of initial values into assignments; `tables` are the file's, by identity."""
    used = {n.symbol: n for n in body if n.kind == "name" and n.symbol in tables}
    if body.kind != "block":
        return body
    own = tuple([s for name, at in used.items() for s in _expand_initializer(_local_declaration(tables[name], at))])
    body = map_statements(body, _rewrite_statement)
    return replace(body, inner=(*own, *body.inner)) if own else body


def _local_declaration(table: Node, at: Node) -> Node:
    """The file's declaration as one of the function, whose text is elsewhere."""
    return replace(table, span=at.span, storage="")


def _rewrite_statement(node: Node) -> Statements:
    if node.kind != "declare" or not any(_is_list(d) for d in node.inner):
        return (map_statements(node, _rewrite_statement),)
    return tuple(
        [s for d in node.inner for s in (_expand_initializer(d) if _is_list(d) else (replace(node, inner=(d,)),))]
    )


def _is_list(declaration: Node) -> bool:
    return declaration.initial and "[" in declaration.ctype and declaration.inner[-1].kind == "list"


def _expand_initializer(declaration: Node) -> Statements:
    """The declaration without values, and an assignment per element."""
    bare = replace(declaration, initial=False, inner=())
    statement = replace(declaration, kind="declare", ctype="", inner=(bare,))
    # A static table that nobody can write is the same in every call; one without `const` keeps values between calls.
    if declaration.storage == "static" and "const" in declaration.qualified:
        bare = replace(bare, storage="")
        statement = replace(statement, inner=(bare,))
    array = make.variable_reference(bare, declaration)
    return (statement, *_element_assignments(array, declaration.inner[-1], _constant_extents(bare.ctype), declaration))


def _constant_extents(ctype: str) -> list[int]:
    parts = [part.rstrip("] ") for part in ctype.split("[")[1:]]
    return [int(part) if part.isdigit() else 0 for part in parts]


def _element_assignments(array: Node, values: Node, extents: list[int], at: Node) -> Iterator[Node]:
    # A list around a scalar is its value in braces, which clang has taken off except for zeros.
    if not extents:
        given = values.kind not in ("zero", "list")
        yield make.assignment(array, values if given else make.zero_value(array.ctype, at), at)
        return
    given = values.inner if values.kind == "list" else ()
    for n in range(extents[0]):
        # Elements behind the list are zero (C17, section 6.7.9, paragraph 21).
        value = given[n] if n < len(given) else replace(values, kind="zero", inner=())
        yield from _element_assignments(make.element(array, make.number(n, at), at), value, extents[1:], at)

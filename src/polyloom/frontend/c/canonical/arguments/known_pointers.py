# SPDX-License-Identifier: Apache-2.0
"""Constant folding of null tests (Muchnick 1997, section 12.1), and pointers of the file that are a function's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from polyloom.frontend.c.canonical.arguments.access_paths import Roots
from polyloom.frontend.loops import make
from polyloom.frontend.loops.substatements import flatten_blocks
from polyloom.frontend.loops.tree import Node, strip_casts


def localize_pointers(body: Node, variables: Mapping[str, Node]) -> tuple[Node, Mapping[str, Node]]:
    """Pointers of the file that a function sets before it uses them, as its own: what they point to then is no data,
    and so no result. The other variables are given back.
    """
    pointers = {name: node for name, node in variables.items() if node.ctype.endswith("*")}
    statements = flatten_blocks(body) if pointers else ()
    names = {node.name: node for node in pointers.values()}
    own = {
        name: node
        for name, node in names.items()
        if any(_sets_variable(s, name) for s in statements)
        and next(n for s in statements for n in s if n.kind == "name" and n.name == name and n.symbol in pointers)
        in [n for s in statements if _sets_variable(s, name) for n in s.inner[0]]
    }
    # A pointer that is read first has the caller's value, which no run passes.
    if not own or body.kind != "block":
        return body, variables
    first = [make.declare_variable(node.name, node.ctype, node.symbol, body) for node in own.values()]

    def rename_pointer(node: Node) -> Node | None:
        found = own.get(node.name) if node.kind == "name" and node.symbol in pointers else None
        return None if found is None else replace(node, symbol=found.symbol)

    changed = make.replace_nodes(body, rename_pointer)
    kept = {name: node for name, node in variables.items() if node.name not in own}
    return replace(changed, inner=(*first, *changed.inner)), kept


def _sets_variable(statement: Node, name: str) -> bool:
    return statement.kind == "binary" and statement.opcode == "=" and strip_casts(statement.inner[0]).name == name


def fold_null_tests(body: Node, roots: Roots, parameters: Sequence[Node]) -> Node:
    """Comparisons of structures and of pointer parameters with the null pointer: what a run passes is never null."""
    assigned = {strip_casts(n.inner[0]).symbol for n in body if n.kind == "binary" and n.opcode == "="}
    arrays = {p.symbol for p in parameters if p.ctype.endswith("*")} - assigned

    def is_known(node: Node) -> bool:
        return node.ctype.endswith("*") and (roots.access(node) is not None or strip_casts(node).symbol in arrays)

    def fold_test(node: Node) -> Node | None:
        if node.opcode in ("==", "!=") and len(node.inner) == 2:
            known = any(map(is_known, node.inner))
            nulls = [side for side in node.inner if side.ctype.endswith("*") and _is_null(side)]
            return make.number(int(node.opcode == "!="), node) if known and nulls else None
        if node.opcode == "!" and is_known(node.inner[0]):
            return make.number(0, node)
        if node.opcode == "PointerToBoolean" and is_known(node.inner[0]):
            return make.number(1, node)
        return None

    return make.replace_nodes(body, fold_test)


def _is_null(node: Node) -> bool:
    while node.kind in ("convert", "cast", "parentheses"):
        node = node.inner[0]
    return node.kind == "integer" and node.value in ("0", 0)

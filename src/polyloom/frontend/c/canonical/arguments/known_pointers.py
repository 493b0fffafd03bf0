# SPDX-License-Identifier: Apache-2.0
"""Constant folding of null tests (Muchnick 1997, section 12.1), and pointers of the file that are a function's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from polyloom.frontend.c.canonical.arguments.access_paths import Roots
from polyloom.frontend.c.canonical.pointers.sources import list_assignments
from polyloom.frontend.loops import make
from polyloom.frontend.loops.substatements import flatten_blocks
from polyloom.frontend.loops.tree import CASTS, Node, strip_casts
from polyloom.frontend.loops.types import integer_constant


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
    """Tests of pointers against null (C17, section 6.3.2.3), and the branches that they leave: what a run passes is
    never null, nor is a pointer that is only given such ones, or places in arrays.
    """
    known = _nullness(body, roots, parameters)

    def decide(node: Node) -> bool | None:
        return _decide_pointer(node, roots, known)

    def fold_test(node: Node) -> Node | None:
        if node.opcode in ("==", "!=") and len(node.inner) == 2:
            first, second = map(decide, node.inner)
            if first is None or second is None or (first and second):
                return None
            return make.number(int((first == second) == (node.opcode == "==")), node)
        if node.opcode == "PointerToBoolean" and (found := decide(node.inner[0])) is not None:
            return make.number(int(found), node)
        tests = {n: found for n in _truth_operands(node) if (found := decide(node.inner[n])) is not None}
        inner = tuple(
            [
                make.number(int(tests[n]), child) if n in tests else make.replace_nodes(child, fold_test)
                for n, child in enumerate(node.inner)
            ]
        )
        same = all(a is b for a, b in zip(inner, node.inner, strict=True))
        return node if same else _fold_constant_test(replace(node, inner=inner))

    return make.replace_nodes(body, fold_test)


def _truth_operands(node: Node) -> tuple[int, ...]:
    """Operands of which only their truth counts (C17, sections 6.5.3.3, 6.5.13 to 6.5.15, 6.8.4.1 and 6.8.5)."""
    if node.opcode in ("&&", "||"):
        return (0, 1)
    return (0,) if node.opcode == "!" else _TESTS.get(node.kind, ())


_TESTS: Final = {"if": (0,), "while": (0,), "do": (1,), "for": (2,), "choose": (0,)}


def _decide_pointer(node: Node, roots: Roots, known: Mapping[str, bool]) -> bool | None:
    """Whether a pointer points to something; None for what is not known, and for other expressions."""
    if _is_null(node):
        return False if node.ctype.endswith("*") else None
    while node.kind in ("parentheses", "constant", *CASTS) and "*" in node.ctype:
        node = node.inner[0]
    node = strip_casts(node)
    if not node.ctype.endswith("*") and "[" not in node.ctype:
        return None
    if node.kind == "choose":
        first, second = (_decide_pointer(arm, roots, known) for arm in node.inner[1:])
        return first if first == second else None
    if node.kind == "binary" and node.opcode in ("+", "-"):
        # Of a null pointer there are no sums (C17, section 6.5.6, paragraph 8).
        return True if any(_decide_pointer(side, roots, known) for side in node.inner) else None
    if node.symbol in known:
        return known[node.symbol]
    is_place = "[" in node.ctype or (node.kind == "unary" and node.opcode == "&")
    return True if is_place or roots.access(node) is not None else None


def _nullness(body: Node, roots: Roots, parameters: Sequence[Node]) -> dict[str, bool]:
    """Nullness analysis (flow-insensitive): pointers of a function that always point to something, or never."""
    given = dict[str, list[Node]]()
    for name, value in list_assignments(body):
        given.setdefault(name, []).append(value)
    passed = {p.symbol for p in parameters if p.ctype.endswith("*")}
    local = {n.symbol for n in body if n.kind == "variable" and n.ctype.endswith("*") and n.symbol in given}
    addressed = {strip_casts(n.inner[0]).symbol for n in body if n.kind == "unary" and n.opcode == "&"}
    nulls = {name for name in local if all(map(_is_null, given[name]))}
    # Optimistic: a pointer may be given itself, or one that is given it.
    known = {name: name not in nulls for name in (passed | local) - addressed}
    while wrong := [
        name
        for name, is_set in known.items()
        if any(_decide_pointer(value, roots, known) is not is_set for value in given.get(name, ()))
    ]:
        known = {name: is_set for name, is_set in known.items() if name not in wrong}
    return known


def _fold_constant_test(node: Node) -> Node:
    """A branch or an expression whose test is a constant as what is left of it (C17, section 6.6)."""
    values = [integer_constant(child) for child in node.inner[:2]]
    match node.kind, node.opcode, values:
        case "if", _, [int(test), *_]:
            kept = node.inner[1:2] if test else node.inner[2:]
            return kept[0] if kept else replace(node, kind="block", inner=())
        case "choose", _, [int(test), *_]:
            return node.inner[1 if test else 2]
        case _, "!", [int(test)]:
            return make.number(int(not test), node)
        case _, "&&" | "||", [int(test), _]:
            decides = bool(test) == (node.opcode == "||")
            return make.number(int(decides == (node.opcode == "||")), node) if decides else node.inner[1]
        case _, "&&" | "||", [_, int(test)] if bool(test) != (node.opcode == "||"):
            return node.inner[0]
        case _:
            return node


def _is_null(node: Node) -> bool:
    while node.kind in ("convert", "cast", "parentheses"):
        node = node.inner[0]
    return node.kind == "integer" and node.value in ("0", 0)

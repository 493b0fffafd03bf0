# SPDX-License-Identifier: Apache-2.0
"""Separation of side effects, one per statement: `a = b = c` becomes `b = c; a = b`, `x[k++] = y` becomes `x[k] = y;
k++`, and the comma becomes a semicolon.

C leaves open when `k++` happens within its statement, but for what the comma, `&&`, `||` and `?:` order (C17, section
6.5, paragraph 2), and an effect that another part of the statement reads is undefined. So an effect may come before or
behind the statement as a whole; of one that is conditional, nothing is known here, and it stays where it is.
"""

from __future__ import annotations

from dataclasses import replace

from polyloom.frontend.loops.substatements import Statements, map_statements
from polyloom.frontend.loops.tree import Node, strip_casts

_ASSIGNS = ("binary", "update")
_ORDERED = ("choose", "statements", "sizeof")


def separate_effects(body: Node) -> Node:
    """Separation of side effects in a function's body."""
    return map_statements(body, _rewrite_statement)


def _rewrite_statement(node: Node) -> Statements:
    if node.kind == "declare":
        return _separate_declarations(node)
    if strip_casts(node).kind in (*_ASSIGNS, "unary"):
        return _effect_statements(strip_casts(node))
    return (map_statements(node, _rewrite_statement),)


def _separate_declarations(node: Node) -> Statements:
    """Declarations with what their initial values do besides; each stands for itself once one does."""
    before, after, found = list[Node](), list[Node](), list[Node]()
    for declaration in node.inner:
        if not declaration.initial:
            found.append(declaration)
            continue
        value, first, last = _separate_value(declaration.inner[-1])
        before.extend(first)
        after.extend(last)
        found.append(replace(declaration, inner=(*declaration.inner[:-1], value)))
    # Several declarations with effects are left: their order would change.
    if (before or after) and len(found) > 1:
        return (node,)
    return (*before, replace(node, inner=tuple(found)) if before or after else node, *after)


def _effect_statements(node: Node) -> Statements:
    """The statements that an expression is whose value is not used."""
    node = strip_casts(node)
    if node.opcode == "," and node.kind == "binary":
        return (*_effect_statements(node.inner[0]), *_effect_statements(node.inner[1]))
    if not _is_assignment(node):
        return (node,)
    if node.kind == "unary":
        target, before, after = _separate_value(node.inner[0])
        return (*before, replace(node, inner=(target,)), *after) if before or after else (node,)
    target, before, after = _separate_value(node.inner[0])
    value, first, last = _separate_value(node.inner[1])
    if not (before or after or first or last):
        return (node,)
    return (*before, *first, replace(node, inner=(target, value)), *after, *last)


def _is_assignment(node: Node) -> bool:
    if node.kind == "unary":
        return node.opcode in ("++", "--")
    return node.kind == "update" or (node.kind == "binary" and node.opcode == "=")


def _separate_value(node: Node) -> tuple[Node, Statements, Statements]:
    """Value and effects of an expression: the expression without effects, and those that come before and behind its
    statement.
    """
    if node.kind in _ORDERED or node.opcode in ("&&", "||", ","):
        return node, (), ()
    if _is_assignment(node):
        if node.kind == "unary" and node.postfix:
            return node.inner[0], (), (node,)
        effects = _effect_statements(node)
        # What has been assigned is read again: its address must not move by what comes with it.
        alone = len(effects) == 1 or effects[-1].inner[0] is node.inner[0]
        return (node.inner[0], effects, ()) if alone else (node, (), ())
    parts = [_separate_value(child) for child in node.inner]
    before = tuple([s for _, first, _ in parts for s in first])
    after = tuple([s for _, _, last in parts for s in last])
    return (replace(node, inner=tuple([p[0] for p in parts])), before, after) if before or after else (node, (), ())

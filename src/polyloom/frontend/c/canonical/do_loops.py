# SPDX-License-Identifier: Apache-2.0
"""Effects in the tests of loops: `do S while (--n > 0)` counts at the end of its body, `while (--n) S` before the loop,
too, and `for (; c; s) S` without a first part is `while (c) { S; s }` (C17, section 6.8.5).

This comes behind the rewriting of `continue`, which would jump over what moves to the end of a body.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polyloom.frontend.loops import make
from polyloom.frontend.loops.substatements import Statements, block, flatten_blocks, map_statements
from polyloom.frontend.loops.tree import Node, strip_casts


def hoist_test_effects(body: Node) -> Node:
    """Loops of a body with tests that change nothing, and first parts in every `for`."""
    return map_statements(body, _rewrite_statement)


def _rewrite_statement(node: Node) -> Statements:
    node = map_statements(node, _rewrite_statement)
    if any(part.kind == "continue" for part in node):
        return (node,)
    if node.kind == "do":
        steps = list(_steps(node.inner[1]))
        if not steps:
            return (node,)
        test = make.replace_nodes(node.inner[1], _stepped_value)
        return (replace(node, inner=(block((*flatten_blocks(node.inner[0]), *steps), node.inner[0]), test)),)
    if node.kind == "while" and (steps := list(_steps(node.inner[0]))) and not any(step.postfix for step in steps):
        # Tested once before each turn, and so counted there.
        test = make.replace_nodes(node.inner[0], _stepped_value)
        turns = block((*flatten_blocks(node.inner[-1]), *steps), node.inner[-1])
        return (*steps, replace(node, inner=(test, turns)))
    if node.kind == "for" and not node.inner[0].kind and node.inner[2].kind and node.inner[3].kind:
        turns = block((*flatten_blocks(node.inner[4]), strip_casts(node.inner[3])), node.inner[4])
        return (replace(node, kind="while", inner=(node.inner[2], turns)),)
    return (node,)


def _steps(test: Node) -> Iterator[Node]:
    """The steps in a test, all of which are executed: not those behind `&&`, `||` and `?:`."""
    if test.opcode in ("++", "--") and strip_casts(test.inner[0]).kind == "name":
        yield test
    elif test.kind in ("parentheses", "convert", "cast") or (test.kind == "binary" and test.opcode in _COMPARISONS):
        for child in test.inner:
            yield from _steps(child)


_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def _stepped_value(node: Node) -> Node | None:
    """The value of a step in a test, where the variable has already changed."""
    if node.opcode not in ("++", "--") or strip_casts(node.inner[0]).kind != "name":
        return None
    if not node.postfix:
        return node.inner[0]
    # In the variable's own type, in which it also wraps back.
    one = replace(make.number(1, node), ctype=node.ctype)
    return make.binary("-" if node.opcode == "++" else "+", node.inner[0], one, node.ctype, node)

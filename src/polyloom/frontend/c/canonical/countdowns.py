# SPDX-License-Identifier: Apache-2.0
"""Countdown loops: `for (i = n; i-- > 0;)` and `while (n--)` test and count at once (C17, section 6.5.2.4); they become
`while (i > 0) { i--; ... }`.

Behind such a loop the variable is one less than behind the one that it becomes; where it is read there, nothing is
rewritten.
"""

from __future__ import annotations

from dataclasses import replace

from polyloom.frontend.loops import make
from polyloom.frontend.loops.substatements import Statements, block, map_statements
from polyloom.frontend.loops.tree import Node, strip_casts


def rewrite_countdowns(body: Node) -> Node:
    """Rewriting of countdown loops into loops that test first."""
    return map_statements(body, lambda node: _rewrite_statement(node, body))


def _rewrite_statement(node: Node, function: Node) -> Statements:
    node = map_statements(node, lambda child: _rewrite_statement(child, function))
    test = strip_casts(node.inner[0 if node.kind == "while" else 2]) if node.kind in ("while", "for") else None
    step = _decrement(test) if test is not None and test.kind else None
    if test is None or step is None or _is_live_at_exit(node, step, function):
        return (node,)
    # Two steps per turn: the test's and the header's; such a loop is left to be refused.
    if node.kind == "for" and node.inner[3].kind:
        return (node,)
    variable = strip_casts(step.inner[0])
    # `i != 0` becomes `i > 0`: a negative start would count through all integers, which is no loop to map.
    positive = make.binary(">", variable, make.number(0, test), "int", test)
    turns = block((replace(step, postfix=True), node.inner[-1]), node.inner[-1])
    made = replace(node, kind="while", inner=(positive, turns))
    if node.kind == "while" or not node.inner[0].kind:
        return (made,)
    return (block((node.inner[0], made), node),)


def _decrement(test: Node) -> Node | None:
    """The `i--` of `i--`, `i-- > 0` and `i-- != 0`."""
    if test.opcode in (">", "!=") and _strip_integer_casts(test.inner[1]).value in ("0", 0):
        test = test.inner[0]
    test = _strip_integer_casts(test)
    counts = test.kind == "unary" and test.opcode == "--" and test.postfix
    return test if counts and strip_casts(test.inner[0]).kind == "name" else None


def _strip_integer_casts(node: Node) -> Node:
    """Without conversions of integers."""
    node = strip_casts(node)
    while node.kind == "convert" and node.opcode in ("IntegralCast", "IntegralToBoolean"):
        node = strip_casts(node.inner[0])
    return node


def _is_live_at_exit(node: Node, step: Node, function: Node) -> bool:
    """Liveness of the loop's variable behind the loop, by its position in the text: whether a name of it follows."""
    name = strip_casts(step.inner[0]).symbol
    return any(n.kind == "name" and n.symbol == name and n.span.start >= node.span.end for n in function)

# SPDX-License-Identifier: Apache-2.0
"""Structured jumps: `continue` as a condition; what stands behind `if (c) continue;` in a loop's body moves under
`else`.

Structured code has such a form always, with what follows written twice where neither branch always continues (Böhm and
Jacopini, CACM 1966).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polyloom.frontend.loops.substatements import Statements, block, child_statements, flatten_blocks, map_statements
from polyloom.frontend.loops.tree import Node

_LOOPS = ("for", "while", "do")


def remove_continue(body: Node) -> Node:
    """Rewriting of `continue` into conditions."""
    return map_statements(body, _rewrite_statement)


def _rewrite_statement(node: Node) -> Statements:
    node = map_statements(node, _rewrite_statement)
    if node.kind not in _LOOPS or not any(_has_jump(s, "continue") for s in child_statements(node)):
        return (node,)
    return (map_statements(node, lambda body: structure_jumps(flatten_blocks(body), "continue")),)


def _omit_jump(node: Node) -> Statements:
    del node
    return ()


def structure_jumps(
    statements: Statements, jump: str, instead: Callable[[Node], Statements] = _omit_jump
) -> Statements:
    """Structured form of statements of which a `jump` ends the rest, with `instead` of it (Böhm and Jacopini 1966)."""
    for n, node in enumerate(statements):
        if node.kind == jump:
            return (*statements[:n], *instead(node))
        if _has_jump(node, jump):
            rest = statements[n + 1 :]
            # Only an `if` has branches to move into; what else holds a jump is refused later, at its place.
            made = (_move_into_branches(node, rest, jump, instead),) if node.kind == "if" else statements[n:]
            return (*statements[:n], *made)
    return statements


def _move_into_branches(node: Node, rest: Statements, jump: str, instead: Callable[[Node], Statements]) -> Node:
    """The `if` with what follows it in the branches that come to it."""
    sides = [flatten_blocks(side) for side in node.inner[1:]] or [()]
    first, second = sides[0], sides[1] if len(sides) > 1 else ()
    taken = [block(structure_jumps(_append_rest(side, rest, jump), jump, instead), node) for side in (first, second)]
    return replace(node, inner=(node.inner[0], *taken))


def _append_rest(side: Statements, rest: Statements, jump: str) -> Statements:
    return side if side and side[-1].kind == jump else (*side, *rest)


def _has_jump(node: Node, jump: str) -> bool:
    """Whether a statement has the jump in it, for the loop around."""
    if node.kind == jump:
        return True
    within = node.kind not in _LOOPS or jump != "continue"
    return within and any(_has_jump(child, jump) for child in child_statements(node))

# SPDX-License-Identifier: Apache-2.0
"""Substatements: where statements stand in others, for rewritings that go through all of them (C17, section 6.8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from polyloom.frontend.loops.tree import Node

Statements = tuple[Node, ...]
_BODIES = {
    "block": slice(0, None),
    "if": slice(1, None),
    "for": slice(4, None),
    "while": slice(-1, None),
    "do": slice(0, 1),
    "label": slice(-1, None),
    "attributed": slice(-1, None),
}
"""Which children of a statement are statements."""


def child_statements(node: Node) -> Statements:
    """The statements directly in a statement."""
    return node.inner[_BODIES[node.kind]] if node.kind in _BODIES else ()


def map_statements(node: Node, within: Callable[[Node], Statements]) -> Node:
    """Rewriting of the statements directly in a statement: each becomes what `within` gives of it; in a block those,
    else one block.
    """
    if node.kind not in _BODIES:
        return node
    children = list(node.inner)
    if node.kind == "block":
        return replace(node, inner=tuple([made for child in children for made in within(child)]))
    for n in range(*_BODIES[node.kind].indices(len(children))):
        children[n] = block(within(children[n]), children[n])
    return replace(node, inner=tuple(children))


def block(statements: Iterable[Node], at: Node) -> Node:
    """Block of several statements, or the only one itself; it stands where `at` did."""
    found = tuple(statements)
    return found[0] if len(found) == 1 else replace(at, kind="block", ctype="", inner=found)


def flatten_blocks(node: Node) -> Statements:
    """The statements of a block, and of blocks directly in it; names are identities, so that none hides another."""
    return tuple([s for child in node.inner for s in flatten_blocks(child)]) if node.kind == "block" else (node,)

# SPDX-License-Identifier: Apache-2.0
"""Loop headers of several variables: `for (i = 0, k = 1; i < n; i++, k += 2)` becomes a loop over the variable that its
condition compares.

What else the header sets stands before the loop, what else it counts at the end of the body, which no `continue` leaves
by now (C17, section 6.8.5.3).
"""

from __future__ import annotations

from dataclasses import replace

from polyloom.frontend.loops.substatements import Statements, block, flatten_blocks, map_statements
from polyloom.frontend.loops.tree import Node, strip_casts


def split_headers(body: Node) -> Node:
    """Rewriting of loop headers into headers of one variable."""
    return map_statements(body, _rewrite_statement)


def _rewrite_statement(node: Node) -> Statements:
    node = map_statements(node, _rewrite_statement)
    if node.kind != "for" or not node.inner[2].kind or any(part.kind == "continue" for part in node.inner[4]):
        return (node,)
    compared = {n.symbol for n in node.inner[2] if n.kind == "name"}
    first, counts = _header_parts(node.inner[0]), _header_parts(node.inner[3])
    if len(first) < 2 and len(counts) < 2:
        return (node,)
    # The step that the condition depends on is the loop's; with none or several there is no such loop.
    own = [part for part in counts if _part_variable(part) in compared]
    begins = [part for part in first if own and _part_variable(part) == _part_variable(own[0])]
    if len(own) != 1 or len(begins) != 1:
        return (node,)
    others = [part for part in first if part is not begins[0]]
    turns = block((*flatten_blocks(node.inner[4]), *(part for part in counts if part is not own[0])), node.inner[4])
    loop = replace(node, inner=(begins[0], node.inner[1], node.inner[2], own[0], turns))
    return (block((*others, loop), node),) if others else (loop,)


def _header_parts(node: Node) -> list[Node]:
    """The assignments of a header's part, or its declarations one by one."""
    if node.kind == "declare":
        return [replace(node, inner=(declaration,)) for declaration in node.inner]
    bare = strip_casts(node) if node.kind else node
    if bare.kind == "binary" and bare.opcode == ",":
        return [part for child in bare.inner for part in _header_parts(child)]
    return [bare] if bare.kind else []


def _part_variable(node: Node) -> str:
    """Variable that a part of a header declares or assigns, by its identity."""
    if node.kind == "declare":
        return node.inner[0].symbol
    left = strip_casts(node.inner[0]) if node.inner else node
    return left.symbol if left.kind == "name" else ""

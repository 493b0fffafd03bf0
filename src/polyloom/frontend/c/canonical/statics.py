# SPDX-License-Identifier: Apache-2.0
"""Static variables that never change: one with a constant initial value that nothing stores to has this value in every
call (C17, section 6.2.4, paragraph 3), as an automatic one has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polyloom.frontend.loops import make
from polyloom.frontend.loops.tree import Node, strip_casts


def automatic(body: Node) -> Node:
    """Rewriting of the static variables of a body that keep their initial values."""
    changed = set(_changed_variables(body))

    def rewritten(node: Node) -> Node | None:
        is_constant = node.kind == "variable" and node.storage == "static" and node.symbol not in changed
        return replace(node, storage="") if is_constant and node.initial else None

    return make.replace_nodes(body, rewritten)


def _changed_variables(body: Node) -> Iterator[str]:
    """Variables that are assigned, or whose address may be known elsewhere: an array's is, unless an element is read
    of it.
    """
    bases = {id(strip_casts(n.inner[0])) for n in body if n.kind in ("element", "member")}
    for node in body:
        if (node.opcode in ("=", "++", "--", "&") and len(node.inner) in (1, 2)) or node.kind == "update":
            # `a & b` stores nothing, but it costs little to take it for an address.
            yield _root(node.inner[0]).symbol
        elif node.kind == "name" and "[" in node.ctype and id(node) not in bases:
            yield node.symbol


def _root(node: Node) -> Node:
    """The variable that an element or a member is of."""
    node = strip_casts(node)
    while node.kind in ("element", "member") and node.inner:
        node = strip_casts(node.inner[0])
    return node

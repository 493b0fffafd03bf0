# SPDX-License-Identifier: Apache-2.0
"""Subscripts in modular arithmetic: `state[taps - 1U + i]` over `unsigned` is read as if nothing wrapped.

Sums, differences and products of residues modulo 2^32 are the residues of those of the integers (a ring homomorphism).
Where the integer is an element's number, the residue is the same; where it is negative, the residue is beyond every
array of 32-bit subscripts, as the integer is below it: the check of subscripts finds both. Quotients and comparisons
are no such homomorphisms, and stay as they are.
"""

from __future__ import annotations

from dataclasses import replace

from polyloom.frontend.loops import make
from polyloom.frontend.loops.tree import Node, strip_casts

_RING = ("+", "-", "*")


def unwrap_subscripts(body: Node) -> Node:
    """Rewriting of subscripts and of offsets of pointers."""
    return make.replace_nodes(body, _subscript)


def _subscript(node: Node) -> Node | None:
    is_offset = node.kind == "binary" and node.opcode in ("+", "-") and node.ctype.endswith("*")
    if node.kind != "element" and not is_offset:
        return None
    inner = tuple([make.replace_nodes(side, _subscript) for side in node.inner])
    return replace(node, inner=tuple([side if "*" in side.ctype else _integer(side) for side in inner]))


def _integer(node: Node) -> Node:
    """The part of an expression around which only sums and products are, over integers that do not wrap."""
    node = strip_casts(node)
    if node.ctype != "unsigned int":
        return node
    if node.kind in ("convert", "cast") and node.opcode == "IntegralCast" and node.inner[0].ctype == "int":
        return _integer(node.inner[0])
    if node.kind == "binary" and node.opcode in _RING:
        return replace(node, ctype="int", inner=tuple([_integer(child) for child in node.inner]))
    return node

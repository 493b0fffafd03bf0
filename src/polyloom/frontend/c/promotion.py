# SPDX-License-Identifier: Apache-2.0
"""In which element type C's integer expressions can be compared: their elements' own, if it is one."""

from __future__ import annotations

from polyloom.frontend.c import refusals
from polyloom.frontend.c.affine import COMPARISONS, Scope, affine
from polyloom.frontend.c.signature import TYPES
from polyloom.frontend.c.tree import Node, strip
from polyloom.ir.numbers import WIDTH
from polyloom.ir.operations import ElementType


def common_type(nodes: tuple[Node, ...], scope: Scope) -> ElementType:
    """The element type in which operands that C converted to one type are compared."""
    if any(node.ctype in ("double", "long double") for node in nodes):
        raise refusals.double_precision(next(node for node in nodes if node.ctype in ("double", "long double")))
    if any(node.ctype == "float" for node in nodes):
        return "f32"
    found: dict[ElementType, None] = dict.fromkeys(dtype for node in nodes for dtype in _loaded(node, scope))
    if len(found) > 1:
        raise refusals.conversion(nodes[-1], f"this compares elements of the types {' and '.join(found)}")
    if found:
        return next(iter(found))
    return "i32"


def _loaded(node: Node, scope: Scope) -> list[ElementType]:
    """The types of the elements that an integer expression is made of."""
    node = strip(node)
    if affine(node, scope) is not None or node.opcode in (*COMPARISONS, "&&", "||", "!"):
        return []
    if node.kind == "DeclRefExpr" and node.declaration in scope.values:
        return [scope.values[node.declaration][1]]
    if node.kind in ("DeclRefExpr", "ArraySubscriptExpr") or (node.opcode == "*" and node.kind == "UnaryOperator"):
        return [TYPES[node.ctype]] if node.ctype in TYPES else []
    if node.kind == "CStyleCastExpr" and node.ctype in TYPES:
        return [TYPES[node.ctype]] if WIDTH[TYPES[node.ctype]] < 32 else _loaded(node.inner[0], scope)
    if node.kind == "CallExpr":
        return [TYPES[node.ctype]] if node.ctype in TYPES else []
    children = node.inner[1:] if node.kind == "ConditionalOperator" else node.inner
    return [dtype for child in children for dtype in _loaded(child, scope)]

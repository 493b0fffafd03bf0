# SPDX-License-Identifier: Apache-2.0
"""Obstacles to affine forms: why an expression is not affine, by the innermost part that is not, and what to write
instead.
"""

from __future__ import annotations

from dataclasses import dataclass

from polyloom.frontend.loops.affine import DIVISIONS, Scope, affine_form
from polyloom.frontend.loops.tree import CASTS, Node, source_text
from polyloom.frontend.loops.types import INTEGER


@dataclass(frozen=True, slots=True)
class Obstacle:
    """The innermost part that keeps an expression from being affine, what is the matter with it, and what to do."""

    part: Node
    reason: str
    help: str


def find_obstacle(node: Node, scope: Scope) -> Obstacle:
    """Obstacle of an expression that is not affine: its first innermost part that is not, in the order of the text."""
    node = node.inner[0] if node.kind == "exact" else node
    is_extreme = node.kind == "operation" and node.opcode in ("min", "max")
    if is_extreme and all(affine_form(child, scope) is not None for child in node.inner):
        return Obstacle(node, f"is a minimum or a maximum: `{source_text(node)}`", _SELECT)
    if node.kind == "call" or (node.kind == "operation" and not is_extreme):
        return Obstacle(node, f"depends on a function's result: `{source_text(node)}`", _SUMS)
    if node.kind in ("element", "member") or (node.kind == "unary" and node.opcode == "*"):
        return Obstacle(node, f"depends on data: `{source_text(node)}`", _DATA)
    if node.kind == "name" and node.symbol in scope.storage and node.symbol not in scope.counters:
        return Obstacle(node, f"depends on data: `{source_text(node)}`", _VARIABLE)
    if node.kind == "name":
        return Obstacle(node, f"depends on the value of the variable `{source_text(node)}`", _VARIABLE)
    for child in node.inner:
        if child.kind and affine_form(child, scope) is None:
            return find_obstacle(child, scope)
    if node.opcode == "-" and node.ctype.startswith("unsigned"):
        return Obstacle(node, f"may be below 0, where `{node.ctype}` wraps: `{source_text(node)}`", _SUMS)
    if node.opcode == "*":
        reason = f"has a product of two variables: `{source_text(node)}`"
        return Obstacle(node, reason, f"multiply by integer constants only{_fixed_value_help(node, scope)}")
    if node.opcode in DIVISIONS:
        return Obstacle(node, f"has a quotient or a remainder: `{source_text(node)}`", "pass its value as an argument")
    return Obstacle(node, f"is not affine: `{source_text(node)}`", _SUMS)


def _fixed_value_help(product: Node, scope: Scope) -> str:
    """How to compile a C function for one value of a parameter, which is then a constant factor."""
    factors = [] if product.ctype == INTEGER else [_strip_conversions(factor) for factor in product.inner]
    named = [
        factor.name
        for factor in factors
        if factor.kind == "name" and factor.symbol not in scope.loops and factor.name in scope.named
    ]
    return f", or compile for one value of `{named[-1]}`: --set {named[-1]}=8" if named else ""


def _strip_conversions(node: Node) -> Node:
    while node.kind in CASTS:
        node = node.inner[0]
    return node


_SUMS = "write sums of loops, sizes and integer parameters times integer constants"
_VARIABLE = "use loops, sizes, integer parameters and constants; a loop has a value only in its body"
_SELECT = "select between two accesses, each with an index of its own, or write two loops"
_DATA = (
    "which iterations run and which elements they access must be known before data is: access a fixed range and "
    "select, or run the function as it is on a processor, `--on riscv`"
)

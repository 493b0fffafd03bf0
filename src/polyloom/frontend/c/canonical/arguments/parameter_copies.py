# SPDX-License-Identifier: Apache-2.0
"""Copies of integer parameters that a function assigns: arguments are passed by value (C17, section 6.5.2.2, paragraph
4), so that what is assigned is a variable of the function, and the parameter keeps the size that it stands for.
"""

from __future__ import annotations

from dataclasses import replace

from polyloom.frontend.loops import make
from polyloom.frontend.loops.counters import assigned_symbol
from polyloom.frontend.loops.tree import Node, strip_casts
from polyloom.frontend.loops.types import COUNTING, SHORT


def copy_parameters(function: Node) -> Node:
    """A function with variables in the place of the integer parameters that it assigns."""
    *parameters, body = function.inner
    assigned = {assigned_symbol(node) or _address(node) for node in body}
    copied = {
        p.symbol: f"{p.symbol}@copy"
        for p in parameters
        if p.kind == "parameter" and p.ctype in (*COUNTING, *SHORT) and p.symbol in assigned
    }
    # A parameter that keeps its value stays a size, of which more is known.
    if not copied or body.kind != "block":
        return function

    def rename_parameter(node: Node) -> Node | None:
        return replace(node, symbol=copied[node.symbol]) if node.kind == "name" and node.symbol in copied else None

    first = [
        make.declare_variable(p.name, p.ctype, copied[p.symbol], p, make.variable_reference(p, p))
        for p in parameters
        if p.symbol in copied
    ]
    changed = make.replace_nodes(body, rename_parameter)
    return replace(function, inner=(*parameters, replace(changed, inner=(*first, *changed.inner))))


def _address(node: Node) -> str:
    """The identity of a variable whose address is taken, which may be assigned elsewhere."""
    inner = strip_casts(node.inner[0]) if node.kind == "unary" and node.opcode == "&" else node
    return inner.symbol if inner is not node and inner.kind == "name" else ""

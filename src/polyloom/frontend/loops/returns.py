# SPDX-License-Identifier: Apache-2.0
"""Single exit: `return` as an assignment to a variable of the result (C17, section 6.8.6.4); what stands behind one
that is conditional moves under `else`.
"""

from __future__ import annotations

from dataclasses import replace

from polyloom.frontend.loops import make
from polyloom.frontend.loops.jumps import structure_jumps
from polyloom.frontend.loops.substatements import Statements, block, flatten_blocks
from polyloom.frontend.loops.tree import CASTS, Node, strip_casts

_RETURN = "return"
_LOOPS = ("for", "while", "do")


def replace_returns(body: Node, result: Node | None) -> Node | None:
    """A function's body that assigns the variable `result` instead of returning it; None where a loop returns."""
    if loop_return(body) is not None:
        return None
    if not any(node.kind == _RETURN for node in body):
        return body
    found = structure_jumps(flatten_blocks(body), _RETURN, lambda node: _assign_result(node, result))
    made = block(found, body)
    return made if made.kind == "block" else replace(body, inner=(made,))


def loop_return(body: Node) -> Node | None:
    """The first `return` within a loop."""
    return next((part for node in body if node.kind in _LOOPS for part in node if part.kind == _RETURN), None)


def has_no_outputs(function: Node) -> bool:
    """Whether nothing that a function does is seen outside of it, if the pointer that it returns is not: it stores to
    no element, and passes no pointer on."""
    return not any(
        (node.kind == "call" and any("*" in argument.ctype for argument in node.inner[1:]))
        or ((node.opcode in ("=", "++", "--") or node.kind == "update") and strip_casts(node.inner[0]).kind != "name")
        for node in function
    )


def _assign_result(node: Node, result: Node | None) -> Statements:
    if not node.inner:
        return ()
    if result is not None:
        return (make.assignment(make.variable_reference(result, node), node.inner[0], node),)
    value = node.inner[0]
    while value.kind in ("parentheses", *CASTS):
        value = value.inner[0]
    # A value that nobody takes: what it does besides is done.
    acts = any(n.kind in ("call", "update", "statements") or n.opcode in ("=", "++", "--") for n in value)
    return (value,) if acts else ()

# SPDX-License-Identifier: Apache-2.0
"""Quotients of sizes in bounds: `n / 4`, `n >> 2` and `n % 4` are affine once n is 4 q + r (index-set splitting: Wolfe
1996), which two loops around the function's body make it, of whose iterations one has the value of n.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import lcm

from polyloom.frontend.loops.affine import Scope, affine
from polyloom.frontend.loops.remainders import border, division
from polyloom.frontend.loops.roles import Roles
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.strips import COPIES


def divided_parameter(
    nodes: Sequence[Node], scope: Scope, parameters: Collection[str], roles: Roles
) -> tuple[str, int] | None:
    """Parameter that quotients in bounds leave open, and the least common multiple of what they divide it by; None
    where there is none, or too many rests.
    """
    found = dict[str, int]()
    for node in nodes:
        for bound in _bounds(node, roles):
            for part in bound:
                for name, by in _open(part, scope):
                    found[name] = lcm(found.get(name, 1), by)
    known = [(name, by) for name, by in sorted(found.items()) if name in parameters and by <= COPIES]
    return known[0] if known else None


def _bounds(node: Node, roles: Roles) -> Iterator[Node]:
    """The expressions that loops begin and end with, and values of variables that these may use."""
    for part in node:
        match part.kind:
            case "for":
                yield from (part.inner[0], part.inner[2])
            case "while":
                yield part.inner[0]
            case "do":
                yield part.inner[1]
            case "variable" if part.initial and part.symbol in roles.sized:
                yield part.inner[-1]
            case "binary" if part.opcode == "=" and part.inner[0].symbol in roles.sized:
                yield part.inner[1]
            case _:
                pass


def _open(node: Node, scope: Scope) -> Iterator[tuple[str, int]]:
    """The symbols of which a quotient needs a rest."""
    found = division(node, scope)
    if found is None or affine(node, scope) is not None or border(node, scope) is not None:
        return
    value, by = found
    if by.is_constant and by.constant > 1:
        yield from ((name, by.constant) for name, c in value.terms if c % by.constant)

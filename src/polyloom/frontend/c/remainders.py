# SPDX-License-Identifier: Apache-2.0
"""Divisions and remainders that are affine piece by piece: wrap-around at a border, and loops that are two in one.

`(i + 1) % n` is `i + 1` or `i + 1 - n`: an assignment that contains it is written once for each, under the condition
that decides. `t / 5` and `t % 5` need as many pieces as `t` has fives; there the loop becomes two, t = 5 q + r.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import lcm
from typing import Final

from polyloom.frontend.c.affine import Scope, affine, condition
from polyloom.frontend.c.tree import Node
from polyloom.frontend.known import never, nonnegative, quotient_border
from polyloom.sets import Affine, Condition, Polyhedron

_LARGEST: Final = 1 << 12
"""Of a divisor that makes two loops of one."""


def divides(node: Node) -> bool:
    """Whether an expression is a quotient or a remainder, of powers of two also by shift and mask."""
    return node.kind == "BinaryOperator" and node.opcode in ("/", "%", ">>", "&") and node.ctype not in _FLOATS


_FLOATS = ("float", "double", "long double")


def _operands(node: Node, scope: Scope) -> tuple[Affine, Affine] | None:
    """What is divided, and by what."""
    a, b = (affine(child, scope) for child in node.inner)
    if a is None or b is None:
        return None
    if node.opcode in ("/", "%"):
        return (a, b) if not b.is_constant or b.constant > 0 else None
    if not b.is_constant or not 0 <= b.constant < _LARGEST:
        return None
    by = 1 << b.constant if node.opcode == ">>" and b.constant < 12 else b.constant + 1
    return (a, Affine((), by)) if by & (by - 1) == 0 else None


def border(node: Node, scope: Scope) -> Condition | None:
    """A condition that decides more of a quotient or a remainder; None where it is decided, or has too many pieces."""
    found = _operands(node, scope) if divides(node) and affine(node, scope) is None else None
    if found is None:
        return None
    value, by = found
    if not nonnegative(value, scope.domain):
        below = Polyhedron((-value - 1,))
        return None if never(Polyhedron((value,)), scope.domain) else _outside(below)
    return quotient_border(value, by, scope.domain, 1)


def _outside(piece: Polyhedron) -> Condition:
    return Condition((Polyhedron((-piece.constraints[0] - 1,)),))


def stride(body: Node, name: str, scope: Scope) -> int | None:
    """The size of the inner one of two loops that make the divisions in a loop's body affine; `name` is its symbol."""
    sizes = [by for node in _divisions(body, scope) if (by := _size(node, name, scope)) is not None]
    found = lcm(*sizes) if sizes else 1
    return found if 1 < found <= _LARGEST else None


def _divisions(body: Node, scope: Scope) -> Iterator[Node]:
    return (node for node in body if divides(node) and border(node, scope) is None and affine(node, scope) is None)


def _size(node: Node, name: str, scope: Scope) -> int | None:
    found = _operands(node, scope)
    if found is None or not found[1].is_constant or not found[0].coefficient(name):
        return None
    return found[1].constant


def undecided(node: Node, scope: Scope) -> Iterator[tuple[Node, Condition]]:
    """The parts of an expression that an affine condition decides, outermost first: conditional operators and
    divisions, but not those in operands that are not chosen."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        chosen = scope.chosen(node)
        if chosen is not None:
            waiting.append(chosen)
            continue
        if node.kind == "ConditionalOperator":
            where = condition(node.inner[0], scope)
            if where is not None:
                yield node, where
        elif (where := border(node, scope)) is not None:
            yield node, where
        waiting.extend(reversed(node.inner))

# SPDX-License-Identifier: Apache-2.0
"""Sums that are taken the other way round, where the source's order keeps values from being passed along.

    for j = i + 1 .. n - 1: s = s - u[i, j] * x[j]

needs x[n - 1] first if x is computed from its end: the loop may as well count down. What is added to an integer may
come in any order; of f32 the user allows it. A loop is reversed where all that it does is one such accumulation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Final

from polyloom.ir.nest import Apply, Assign, Expression, If, Loop, Nest, Node, accesses
from polyloom.ir.operations import FLOATS, STORED
from polyloom.ir.pla import Reference
from polyloom.transform.accumulation import ASSOCIATIVE

_MOST: Final = 4
"""Loops that are tried; every set of them is."""


def reversals(nest: Nest, reassociate: bool) -> Iterator[Nest]:
    """The nest with other orders of its accumulations, the fewest loops first."""
    loops = [loop.name for loop in _accumulating(nest.body, nest, reassociate)][:_MOST]
    for count in range(1, len(loops) + 1):
        for chosen in combinations(loops, count):
            yield replace(nest, body=_reversed(nest.body, frozenset(chosen)))


def _accumulating(nodes: tuple[Node, ...], nest: Nest, reassociate: bool) -> Iterator[Loop]:
    for node in nodes:
        if isinstance(node, Loop):
            if _accumulates(node.body, node.name, nest, reassociate):
                yield node
            yield from _accumulating(node.body, nest, reassociate)
        elif isinstance(node, If):
            yield from _accumulating((*node.body, *node.orelse), nest, reassociate)


def _accumulates(body: tuple[Node, ...], loop: str, nest: Nest, reassociate: bool) -> bool:
    """Whether a loop's body is one accumulation into what does not depend on the loop."""
    while len(body) == 1 and isinstance(body[0], If) and not body[0].orelse:
        body = body[0].body
    if len(body) != 1 or not isinstance(body[0], Assign):
        return False
    target, value = body[0].target, body[0].value
    if not isinstance(value, Apply) or any(loop in index.symbols for index in target.index):
        return False
    family = "add" if value.operation == "sub" else value.operation
    allowed = family in ASSOCIATIVE and (nest[target.name].dtype not in (*FLOATS, *STORED) or reassociate)
    return allowed and _terms(value, family, target) == 1


def _terms(value: Expression, family: str, target: Reference, subtracted: bool = False) -> int:
    """How often the accumulator stands in a tree of one operation; elsewhere, or subtracted, it counts as many."""
    if isinstance(value, Apply) and (value.operation == family or (family, value.operation) == ("add", "sub")):
        left, right = value.operands
        return _terms(left, family, target, subtracted) + _terms(
            right, family, target, subtracted != (value.operation == "sub")
        )
    if isinstance(value, Reference) and (value.name, value.index) == (target.name, target.index):
        return _MOST if subtracted else 1
    return _MOST * any(read.name == target.name for read in accesses(value))


def _reversed(nodes: tuple[Node, ...], chosen: frozenset[str]) -> tuple[Node, ...]:
    return tuple([_turned(node, chosen) for node in nodes])


def _turned(node: Node, chosen: frozenset[str]) -> Node:
    match node:
        case Loop(name=name, body=body, step=step):
            return replace(node, body=_reversed(body, chosen), step=-step if name in chosen else step)
        case If(body=body, orelse=orelse):
            return replace(node, body=_reversed(body, chosen), orelse=_reversed(orelse, chosen))
        case _:
            return node

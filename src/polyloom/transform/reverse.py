# SPDX-License-Identifier: Apache-2.0
"""Sums that are taken the other way round, where the source's order keeps values from being passed along.

    for j = i + 1 .. n - 1: s = s - u[i, j] * x[j]

needs x[n - 1] first if x is computed from its end: the loop may as well count down. What is added to an integer may
come in any order, and so may its minima and maxima; floats keep theirs unless the user allows another one: sums round
differently, and of two zeros min and max give the first. A loop is reversed where all that it does is one such
accumulation, and what it reads is computed in the other order: along the loop, later iterations read what earlier ones
of the loop around it have made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polyloom.ir.nest import Apply, Assign, Expression, If, Loop, Nest, Node, accesses
from polyloom.ir.operations import FLOATS, STORED
from polyloom.ir.pla import Reference
from polyloom.ir.recurrence import Produced, Recurrence, System
from polyloom.transform.accumulation import ASSOCIATIVE


def reversal(nest: Nest, system: System, reassociate: bool) -> Nest | None:
    """Loop reversal of reductions (Allen, Kennedy 2001): the nest with its accumulations in the order in
    which what they read is computed; None if they are already. `system` is its dataflow.
    """
    against = {loop for e in system.equations for loop in _opposed_loops(system, e)}
    chosen = against.intersection(loop.name for loop in _reduction_loops(nest.body, nest, reassociate))
    return replace(nest, body=_with_reversed_loops(nest.body, frozenset(chosen))) if chosen else None


def _opposed_loops(system: System, equation: Recurrence) -> Iterator[str]:
    """The loops of an equation along which it reads what is computed in the other order."""
    directions = _directions(equation)
    for origin in (piece.origin for read in equation.reads for piece in read):
        if not isinstance(origin, Produced):
            continue
        writer = system[origin.statement]
        made = _directions(writer)
        for loop in equation.loops:
            # The outermost loop that moves decides which of two values is made first.
            moves = ((made[k], a.coefficient(loop)) for k, a in zip(writer.loops, origin.index, strict=True))
            sign = next((direction * a for direction, a in moves if a), 0)
            if sign * directions[loop] < 0:
                yield loop


def _directions(equation: Recurrence) -> dict[str, int]:
    """Of every loop, 1 or -1."""
    return {loop: direction for _, loop, direction in equation.statement.order if loop}


def _reduction_loops(nodes: tuple[Node, ...], nest: Nest, reassociate: bool) -> Iterator[Loop]:
    for node in nodes:
        if isinstance(node, Loop):
            if _accumulates(node.body, node.name, nest, reassociate):
                yield node
            yield from _reduction_loops(node.body, nest, reassociate)
        elif isinstance(node, If):
            yield from _reduction_loops((*node.body, *node.orelse), nest, reassociate)


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
    # Types that are only stored are computed as floats.
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
        return 2 if subtracted else 1
    # An accumulator inside of another operation makes a recurrence that has no other order.
    return 2 * any(read.name == target.name for read in accesses(value))


def _with_reversed_loops(nodes: tuple[Node, ...], chosen: frozenset[str]) -> tuple[Node, ...]:
    return tuple([_with_reversed_loop(node, chosen) for node in nodes])


def _with_reversed_loop(node: Node, chosen: frozenset[str]) -> Node:
    match node:
        case Loop(name=name, body=body, step=step):
            return replace(node, body=_with_reversed_loops(body, chosen), step=-step if name in chosen else step)
        case If(body=body, orelse=orelse):
            return replace(node, body=_with_reversed_loops(body, chosen), orelse=_with_reversed_loops(orelse, chosen))
        case _:
            return node

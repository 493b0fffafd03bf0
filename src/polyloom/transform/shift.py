# SPDX-License-Identifier: Apache-2.0
"""Loops whose counter may be negative, counted from 0 instead: counters of steps are parameters, which never are."""

from __future__ import annotations

from dataclasses import replace

from polyloom.ir.nest import Apply, Assign, Expression, If, Index, Loop, Nest, Node
from polyloom.ir.pla import Reference
from polyloom.sets import Affine, Condition
from polyloom.transform.space import Space


def not_negative(loop: Loop, nest: Nest) -> Loop:
    """`loop`, with other values of its counter if some may be negative; `nest` says what is known around it."""
    space = Space((loop.name,), nest.parameters, nest.assumptions)
    (here,) = space.here
    values = space.where(*(here - low for low in loop.lower), *(high - here - 1 for high in loop.upper))
    if values.intersect(space.where(-here - 1)).is_empty():
        return loop
    # Any lower bound will do: no value of the counter is below it.
    first, moved = loop.lower[0], {loop.name: here + loop.lower[0]}
    return replace(
        loop,
        lower=tuple(low - first for low in loop.lower),
        upper=tuple(high - first for high in loop.upper),
        body=substituted(loop.body, moved),
    )


def substituted(nodes: tuple[Node, ...], moved: dict[str, Affine]) -> tuple[Node, ...]:
    """Nodes with affine forms in the place of symbols."""
    return tuple([_node(node, moved) for node in nodes])


def _node(node: Node, moved: dict[str, Affine]) -> Node:
    match node:
        case Assign(target=target, value=value):
            return replace(node, target=_reference(target, moved), value=_value(value, moved))
        case Loop(lower=lower, upper=upper, body=body):
            return replace(
                node, lower=_affine(lower, moved), upper=_affine(upper, moved), body=substituted(body, moved)
            )
        case If(condition=condition, body=body, orelse=orelse):
            pieces = tuple(piece.substitute(moved) for piece in condition.pieces)
            return replace(
                node, condition=Condition(pieces), body=substituted(body, moved), orelse=substituted(orelse, moved)
            )


def _value(value: Expression, moved: dict[str, Affine]) -> Expression:
    match value:
        case Reference():
            return _reference(value, moved)
        case Index(value=affine):
            return replace(value, value=affine.substitute(moved))
        case Apply(operands=operands):
            return replace(value, operands=tuple(_value(o, moved) for o in operands))
        case _:
            return value


def _reference(reference: Reference, moved: dict[str, Affine]) -> Reference:
    return replace(reference, index=_affine(reference.index, moved))


def _affine(values: tuple[Affine, ...], moved: dict[str, Affine]) -> tuple[Affine, ...]:
    return tuple(value.substitute(moved) for value in values)

# SPDX-License-Identifier: Apache-2.0
"""Loop variables as data: iterations do not know their place, so a variable counts along with them.

An affine expression a(P) of the dimensions changes by a constant along every direction u, so V[P] = V[P - u] + (a(P) -
a(P - u)) where P - u counts too. Where no such point is, at a corner, a(P) depends on the parameters alone: it is a
constant, or a scalar that is known when the parameters are. Points with other corners are counted in the whole of their
bounding box.
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from polyloom.ir.pla import Reference
from polyloom.sets import Affine
from polyloom.transform.order import Order
from polyloom.transform.share import directions, spread
from polyloom.transform.space import Space, eliminate


@dataclass(frozen=True, slots=True)
class Step:
    """On `points`, what stands at `before` plus the constant `value`; or without it `value`, free of dimensions."""

    points: isl.Set
    before: Reference | None
    value: Affine


def count(space: Space, name: str, points: isl.Set, value: Affine, order: Order) -> list[Step] | None:
    """Induction variable as data: how the variable `name` gets `value` on all `points`, in few steps; None where no
    corner has a value.
    """
    # In the bounding box second: counting where nobody looks does no harm, and boxes have corners where other sets have
    # none.
    return _steps(space, name, points, value, order) or _steps(space, name, space.bounding_box(points), value, order)


def _steps(space: Space, name: str, points: isl.Set, value: Affine, order: Order) -> list[Step] | None:
    found: list[Step] = []
    for transfer in spread(space, name, points, Reference(""), directions(space, space.equalities(points), order)):
        if transfer.reference.name:
            found.append(
                Step(transfer.points, transfer.reference, value - _at_predecessor(space, transfer.reference, value))
            )
            continue
        corners: list[isl.Set] = []
        transfer.points.make_disjoint().foreach_basic_set(
            # One corner per convex piece, because a value is one affine expression on each of them.
            lambda piece, corners=corners: corners.append(isl.Set.from_basic_set(piece))
        )
        for corner in corners:
            here = _corner(space, corner, value)
            if here is None:
                return None
            found.append(Step(corner, None, here))
    return found


def _at_predecessor(space: Space, reference: Reference, value: Affine) -> Affine:
    """`value` at the point where a variable is read."""
    return value.substitute(dict(zip(space.dims, reference.index, strict=True)))


def _corner(space: Space, points: isl.Set, value: Affine) -> Affine | None:
    """`value` without the dimensions, which the points' equalities determine."""
    for dim in space.dims:
        value = eliminate(value, dim, space.equalities(points))
    return None if value.symbols & set(space.dims) else value

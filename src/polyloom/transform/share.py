# SPDX-License-Identifier: Apache-2.0
"""Lets each array element enter once: points that read the same element pass it on among themselves.

Reads f(P) of one array that differ by a constant offset are reads, at constant distances, of one variable V[P] =
A[f(P)]. Points that share an element differ by vectors of the kernel of f (within the affine hull of the points that
read): V[P] = V[P - u] where P - u reads too, along the first direction u that applies, and V[P] = A[f(P)] at the points
that are left. An access that shares nothing stays what it is, a read of the array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import islpy as isl

from polyloom.ir.pla import Reference
from polyloom.sets import Affine
from polyloom.transform.carry import Transfer, Use
from polyloom.transform.order import Order, Vector, positive
from polyloom.transform.space import Point, Space, kernel, union

FAR = 4
"""Offsets up to this distance are served by one variable; farther reads enter on their own."""


@dataclass(frozen=True, slots=True)
class Element:
    """What the array element `name[index]` holds; `index` is affine in the reader's coordinates."""

    name: str
    index: Point


@dataclass(slots=True)
class _Group:
    """Reads of one element up to constant offsets: demand n reads element.index at P - distances[n]."""

    element: Element
    distances: dict[int, Vector]


@dataclass(frozen=True, slots=True)
class _Shared:
    """An element that is needed at `points`, and at the distances of its demands from them; it may be passed along
    `ways`."""

    element: Element
    distances: dict[int, Vector]
    points: isl.Set
    ways: list[Vector]


def share(
    space: Space,
    demands: Sequence[tuple[isl.Set, Element]],
    order: Order,
    fresh: Callable[[str], str],
    moving: Iterable[Vector] = (),
) -> tuple[list[Use], list[Transfer]]:
    """Data reuse by broadcast removal (Wong, Delosme, "Broadcast removal in systolic algorithms", 1988; Wolf, Lam 1991
    for reuse as a kernel): for each demand where its element is found, and the equations that bring it; `order` orients
    the directions, `moving` are the distances of other values.
    """
    uses: dict[int, Use] = {}
    transfers: list[Transfer] = []
    groups = [_shared_element(space, group, demands, order) for group in _groups(space, demands)]
    others = [u for g in groups for u in (*g.distances.values(), *(() if _is_scalar(space, g) else g.ways))]
    # Along these dimensions elements have links already, which a scalar can use as well.
    busy = {n for vector in (*moving, *others) for n, step in enumerate(vector) if step}
    for group in groups:
        element, distances, points = group.element, group.distances, group.points
        ways = _free(space, group, busy) if _is_scalar(space, group) else group.ways
        # Nothing is shared: a variable would only add a move between the array and its reader.
        if not ways and _has_single_reads([demands[n][0] for n in distances], distances.values()):
            uses |= {n: (demands[n][0], Reference(element.name, element.index)) for n in distances}
            continue
        name = fresh(element.name)
        transfers += spread(space, name, points, Reference(element.name, element.index), ways)
        for n, distance in distances.items():
            uses[n] = demands[n][0], space.reference(name, distance)
    return [uses[n] for n in range(len(demands))], transfers


def _shared_element(space: Space, group: _Group, demands: Sequence[tuple[isl.Set, Element]], order: Order) -> _Shared:
    element, distances = _seen_from_corner(space, group, order)
    points = union([space.shift(demands[n][0], tuple(-d for d in distance)) for n, distance in distances.items()])
    return _Shared(element, distances, points, directions(space, (*element.index, *space.equalities(points)), order))


def _is_scalar(space: Space, shared: _Shared) -> bool:
    return not any(index.symbols & {*space.dims} for index in shared.element.index)


def _free(space: Space, shared: _Shared, busy: set[int]) -> list[Vector]:
    """The ways of a scalar: those along which other values move, too, and of several others one, if possible such that
    what is left is a face."""
    axes = [[n for n, step in enumerate(u) if step] for u in shared.ways]
    # Diagonal directions: dropping one of them would leave points that no other way reaches.
    if any(len(axis) > 1 for axis in axes):
        return shared.ways
    alone = [u for u, (axis,) in zip(shared.ways, axes, strict=True) if axis not in busy]
    kept = min(alone, key=lambda u: not _leaves_face(space, shared.points, u)) if len(alone) > 1 else None
    return [u for u in shared.ways if u not in alone or u == kept]


def _leaves_face(space: Space, points: isl.Set, way: Vector) -> bool:
    """Whether the points without a predecessor along `way` have one coordinate there."""
    equalities = space.equalities(points.subtract(space.shift(points, way)))
    (axis,) = (n for n, step in enumerate(way) if step)
    return any(e.symbols.intersection(space.dims) == frozenset({space.dims[axis]}) for e in equalities)


def _has_single_reads(sets: Sequence[isl.Set], distances: Iterable[Vector]) -> bool:
    """Whether each point reads once, at no distance."""
    return not any(map(any, distances)) and all(a.is_disjoint(b) for a, b in combinations(sets, 2))


def _groups(space: Space, demands: Sequence[tuple[isl.Set, Element]]) -> list[_Group]:
    """Wide sets of points first: the others may read the same element written differently."""
    groups: list[_Group] = []
    # Fewer equalities, wider set.
    for n in sorted(range(len(demands)), key=lambda n: len(space.equalities(demands[n][0]))):
        points, element = demands[n]
        for group in groups:
            distance = _distance(space, points, group.element, element)
            if distance is not None:
                group.distances[n] = distance
                break
        else:
            groups.append(_Group(element, {n: (0,) * len(space.dims)}))
    return groups


def _distance(space: Space, points: isl.Set, base: Element, element: Element) -> Vector | None:
    """A short vector d such that element.index(P) = base.index(P - d) on `points`."""
    if base.name != element.name:
        return None
    offsets = [space.constant(points, b - e) for b, e in zip(base.index, element.index, strict=True)]
    rows = [_linear(space, index) for index in base.index]
    ranges = [range(-FAR, FAR + 1) if any(row[n] for row in rows) else range(1) for n in range(len(space.dims))]
    if None in offsets:
        return None
    if not any(offsets):
        return (0,) * len(space.dims)
    # By enumeration: the vectors that solve the equations form a lattice, and a shortest one within reach is wanted.
    fits = (d for d in product(*ranges) if all(_dot(row, d) == o for row, o in zip(rows, offsets, strict=True)))
    return min(fits, key=lambda d: (sum(map(abs, d)), d), default=None)


def _seen_from_corner(space: Space, group: _Group, order: Order) -> tuple[Element, dict[int, Vector]]:
    """The group seen from the point whence every distance is >= 0 (<= 0 in a dimension that runs downwards)."""
    sign = dict(order)
    # Seen from the corner all distances agree with the order: the variable is defined before each of its reads.
    corner = tuple(min(d[n] * sign[n] for d in group.distances.values()) * sign[n] for n in range(len(space.dims)))
    moved = {dim: here - c for dim, here, c in zip(space.dims, space.point_symbols, corner, strict=True)}
    element = Element(group.element.name, tuple(index.substitute(moved) for index in group.element.index))
    return element, {
        n: tuple(d - c for d, c in zip(distance, corner, strict=True)) for n, distance in group.distances.items()
    }


def directions(space: Space, kept: Iterable[Affine], order: Order) -> list[Vector]:
    """A basis of the vectors along which all of `kept` stay as they are, innermost dimensions first, positive in
    `order`."""
    rows = [_linear(space, affine) for affine in kept]
    basis = [u if positive(u, order) else tuple(-n for n in u) for u in kernel(rows, len(space.dims))]
    return sorted(basis, reverse=True, key=lambda u: [next((k for k, (n, _) in enumerate(order) if u[n]), 0), *u])


def spread(space: Space, name: str, points: isl.Set, source: Reference, ways: Iterable[Vector]) -> list[Transfer]:
    """Each point takes the value from the first direction whence it comes; where it comes from none, from `source`."""
    made: list[Transfer] = []
    rest = points
    for direction in ways:
        inner = rest.intersect(space.shift(points, direction)).coalesce()
        made.append(Transfer(name, inner, space.reference(name, direction)))
        rest = rest.subtract(inner).coalesce()
    made.append(Transfer(name, rest, source))
    return [t for t in made if not t.points.is_empty()]


def _linear(space: Space, affine: Affine) -> Vector:
    return tuple(affine.coefficient(dim) for dim in space.dims)


def _dot(row: Vector, vector: Vector) -> int:
    return sum(a * b for a, b in zip(row, vector, strict=True))

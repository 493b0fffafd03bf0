# SPDX-License-Identifier: Apache-2.0
"""Questions about affine expressions over the points of one named space, for all parameter values, answered by isl.

A `Space` names dimensions and parameters; its sets are isl sets over them, already within the parameters' domain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import gcd, lcm

import islpy as isl

from polyloom.ir.pla import Reference
from polyloom.ir.recurrence import Recurrence, System
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import affine_map, parameter_set, sample, sample_point, to_set, translate

Vector = tuple[int, ...]
TYPICAL = 12
Point = tuple[Affine, ...]
"""One affine coordinate for each dimension."""


@dataclass(frozen=True, slots=True)
class Space:
    dims: tuple[str, ...]
    params: tuple[str, ...]
    assumptions: Condition

    @property
    def point_symbols(self) -> Point:
        """The point itself: each dimension as a symbol."""
        return tuple(map(Affine.symbol, self.dims))

    def set(self, condition: Condition) -> isl.Set:
        return to_set(condition, self.dims, self.params).intersect_params(parameter_set(self.assumptions, self.params))

    def solutions(self, *constraints: Affine) -> isl.Set:
        """The points where every constraint is >= 0."""
        return self.set(Condition((Polyhedron(constraints),)))

    def constant(self, points: isl.Set, affine: Affine) -> int | None:
        """The value of `affine` if it is one integer on all points and for all parameters; None if not, or without
        points."""
        return self.constants(points, (affine,))[0]

    def constants(self, points: isl.Set, affines: Sequence[Affine]) -> list[int | None]:
        """`constant` of each of several expressions."""
        # Also without any point: a constant is one everywhere.
        point = None if all(a.is_constant for a in affines) else sample_point(points)
        return [a.constant if a.is_constant else self._constant(points, a, point) for a in affines]

    def _constant(self, points: isl.Set, affine: Affine, point: Mapping[str, int] | None) -> int | None:
        # One value is the only candidate; isl is then asked once whether any point has another one.
        if point is None:
            return None
        value = affine.evaluate(point)
        varies = Condition((Polyhedron((affine - value - 1,)), Polyhedron((-affine + value - 1,))))
        return value if points.intersect(self.set(varies)).is_empty() else None

    def sign(self, points: isl.Set, affine: Affine) -> int | None:
        """1 if `affine` >= 0 on all points, -1 if <= 0, None if it takes both signs."""
        if points.intersect(self.solutions(-affine - 1)).is_empty():
            return 1
        return -1 if points.intersect(self.solutions(affine - 1)).is_empty() else None

    def equalities(self, points: isl.Set) -> tuple[Affine, ...]:
        """Affine expressions that are 0 on all points and span all those that are."""
        found: list[Affine] = []
        for constraint in points.affine_hull().get_constraints():
            names = [(kind, n) for kind in (isl.dim_type.param, isl.dim_type.set) for n in range(constraint.dim(kind))]
            values = {
                constraint.get_dim_name(k, n) or "": int(str(constraint.get_coefficient_val(k, n))) for k, n in names
            }
            if constraint.is_equality() and not constraint.is_div_constraint():
                found.append(Affine.from_terms(values, int(str(constraint.get_constant_val()))))
        return tuple(found)

    def reference(self, name: str, distance: Iterable[int] | None = None) -> Reference:
        """The variable `name` at the point minus `distance`; at the point itself without one."""
        return Reference(
            name,
            self.point_symbols
            if distance is None
            else tuple(here - d for here, d in zip(self.point_symbols, distance, strict=True)),
        )

    def distance(self, reference: Reference) -> Vector:
        """How far before the point a variable is read."""
        return tuple((here - i).constant for here, i in zip(self.point_symbols, reference.index, strict=True))

    def shift(self, points: isl.Set, distance: Vector) -> isl.Set:
        """The points I such that I - distance is in `points`."""
        return translate(points, distance)

    def typical(self) -> isl.Set:
        """All points for one choice of parameters: about `TYPICAL` if the assumptions allow it, else some that they
        allow."""
        # Different for each parameter: with equal ones a non-square box would look square.
        values = {name: TYPICAL + n for n, name in enumerate(self.params)}
        if not self.assumptions.contains(values):
            # A counter stands within its loop, halfway; of sizes that are bounded one by one any will do.
            # Sizes that depend on each other must be chosen together, one after another.
            coupled = any(len(c.terms) > 1 for piece in self.assumptions.pieces for c in piece.constraints)
            found = {} if coupled else sample(self.set(Condition())) or {}
            values = self._allowed_values(values) if coupled else {name: found.get(name, 0) for name in self.params}
        return self.solutions(
            *(c for name, v in values.items() for c in (Affine.symbol(name) - v, -Affine.symbol(name) + v))
        )

    def _allowed_values(self, wished: dict[str, int]) -> dict[str, int]:
        """Values that the assumptions allow: one after another the one that is wished for, or where it is not allowed
        one halfway, as of a counter below the size of its loop."""
        known = Space((), self.params, self.assumptions).set(Condition())
        values = dict[str, int]()
        for n, name in enumerate(self.params):
            wish = known.fix_val(isl.dim_type.param, n, isl.Val(wished[name]))
            if wish.is_empty():
                alone = known.params().move_dims(isl.dim_type.set, 0, isl.dim_type.param, n, 1)
                alone = alone.project_out(isl.dim_type.param, 0, alone.dim(isl.dim_type.param))
                wish = known.fix_val(isl.dim_type.param, n, isl.Val(_halfway(alone)))
            if wish.is_empty():
                found = sample(self.set(Condition())) or {}
                return {name: found.get(name, 0) for name in self.params}
            known, values[name] = wish, _integer(wish.plain_get_val_if_fixed(isl.dim_type.param, n))
        return values

    def image(self, points: isl.Set, coordinates: Point, names: tuple[str, ...]) -> isl.Set:
        """The points (over `names`) that the affine `coordinates` of `points` are."""
        return _with_names(points.apply(self._map(coordinates)), names)

    def ray(self, points: isl.Set, axis: int, sign: int) -> isl.Set:
        """The points from which some point of `points` is reached by 0 or more steps of `sign` along dimension
        `axis`."""
        # Projecting a coordinate out and putting it back in leaves it free: all points on a line along the axis.
        line = (
            self._map(self.point_symbols).project_out(isl.dim_type.out, axis, 1).insert_dims(isl.dim_type.out, axis, 1)
        )
        return _with_names(points.apply(_inequality_pairs(line, axis, sign)), self.dims)

    def box(self, points: isl.Set) -> isl.Set | None:
        """The bounding box, for the parameters that leave any point, if each face is one affine expression."""
        bounds: list[Affine] = []
        for n, here in enumerate(self.point_symbols):
            low, high = self.lowest(points, n), self._extreme(points.dim_max(n))
            if low is None or high is None:
                return None
            bounds += [here - low, high - here]
        return self.solutions(*bounds).intersect_params(points.params())

    def bounding_box(self, points: isl.Set) -> isl.Set:
        """The bounding box, whatever its faces are for which parameters."""
        anywhere = isl.Map.universe(self._map(self.point_symbols).get_space())
        found = [
            _with_names(points.apply(_inequality_pairs(anywhere, n, sign)), self.dims)
            for n in range(len(self.dims))
            for sign in (-1, 1)
        ]
        return reduce(isl.Set.intersect, found).coalesce()

    def lowest(self, points: isl.Set, axis: int) -> Affine | None:
        """The least coordinate in this dimension, if it is one affine expression of the parameters."""
        return self._extreme(points.dim_min(axis))

    def upper(self, points: isl.Set, axis: int) -> Affine | None:
        """An affine expression of the parameters that no coordinate in this dimension exceeds, and some reaches."""
        found = (value for value in self._pieces(points.dim_max(axis)) if value is not None)
        return next((value for value in found if self.sign(points, value - self.point_symbols[axis]) == 1), None)

    def _extreme(self, bound: isl.PwAff) -> Affine | None:
        found = self._pieces(bound)
        return found[0] if len(found) == 1 else None

    def _pieces(self, bound: isl.PwAff) -> list[Affine | None]:
        found: list[isl.Aff] = []
        bound.coalesce().foreach_piece(lambda _, aff: found.append(aff))
        return [self._affine(aff) for aff in found]

    def _affine(self, found: isl.Aff) -> Affine | None:
        # A floor or a fraction is no affine form with integers.
        if found.dim(isl.dim_type.div) or not found.get_denominator_val().is_one():
            return None
        values = {
            name: int(str(found.get_coefficient_val(isl.dim_type.param, n))) for n, name in enumerate(self.params)
        }
        return Affine.from_terms(values, int(str(found.get_constant_val())))

    def injective(self, points: isl.Set, coordinates: Point) -> bool:
        """Whether no two of `points` have the same coordinates."""
        return self._map(coordinates).intersect_domain(points).is_injective()

    def _map(self, coordinates: Point) -> isl.Map:
        """From a point to its `coordinates`. isl is asked in data and never in text, in which some names are words of
        its own."""
        return isl.Map.from_multi_aff(affine_map(coordinates, self.dims, self.params))


def _inequality_pairs(relation: isl.Map, axis: int, sign: int) -> isl.Map:
    """The pairs of a relation with `sign` * (first - second) >= 0 in one dimension."""
    constraint = isl.Constraint.alloc_inequality(isl.LocalSpace.from_space(relation.get_space()))
    # sign * (first - second) >= 0 as one linear constraint.
    constraint = constraint.set_coefficient_val(isl.dim_type.in_, axis, isl.Val(sign))
    return relation.add_constraint(constraint.set_coefficient_val(isl.dim_type.out, axis, isl.Val(-sign)))


def iteration_space(system: System, equation: Recurrence) -> Space:
    """The space of a statement's own loops."""
    return Space(equation.loops, system.parameters, system.assumptions)


def union(sets: Sequence[isl.Set]) -> isl.Set:
    """The points of one or more sets, in few pieces."""
    return reduce(isl.Set.union, sets).coalesce()


def extremes(points: isl.Set) -> tuple[Vector, Vector]:
    """Corners of the bounding box of points without free parameters; 0 where there are none."""
    size = points.dim(isl.dim_type.set)
    return tuple(_integer(points.dim_min_val(n)) for n in range(size)), tuple(
        _integer(points.dim_max_val(n)) for n in range(size)
    )


def _halfway(values: isl.Set) -> int:
    """Between the least and the greatest of these numbers; the least, where there is no greatest."""
    least, greatest = values.dim_min_val(0), values.dim_max_val(0)
    return (_integer(least) + _integer(greatest)) // 2 if greatest.is_int() else _integer(least)


def _integer(value: isl.Val) -> int:
    return int(str(value)) if value.is_int() else 0


def _with_names(points: isl.Set, names: tuple[str, ...]) -> isl.Set:
    for position, name in enumerate(names):
        points = points.set_dim_name(isl.dim_type.set, position, name)
    return points


def eliminate(affine: Affine, dim: str, equalities: Sequence[Affine]) -> Affine:
    """`affine` without `dim`, by an equality in which it has the coefficient 1 or -1; as it is if there is none."""
    factor = affine.coefficient(dim)
    for equality in equalities if factor else ():
        own = equality.coefficient(dim)
        # Any other coefficient would need a division, whose result need not be an integer.
        if abs(own) == 1:
            return affine - equality * (factor * own)
    return affine


def kernel(rows: Sequence[Vector], size: int) -> list[Vector]:
    """Null space of an integer matrix (Gauss-Jordan elimination over the rationals; Schrijver 1986, section 3.3): a
    basis of the integer vectors u with row . u = 0 for every row, primitive.
    """
    reduced: list[tuple[int, list[int]]] = []
    for row in rows:
        current = list(row)
        for pivot, other in reduced:
            current = _eliminate_pivot(current, other, pivot)
        pivot = next((n for n, value in enumerate(current) if value), None)
        if pivot is not None:
            # Gauss and Jordan: rows that are reduced already lose the new pivot as well, so that each free column gives
            # a basis vector.
            reduced = [(p, _eliminate_pivot(other, current, pivot)) for p, other in reduced]
            reduced.append((pivot, current))
    pivots = {p for p, _ in reduced}
    return [_direction(free, reduced, size) for free in range(size) if free not in pivots]


def _eliminate_pivot(row: list[int], other: Sequence[int], pivot: int) -> list[int]:
    made = [value * other[pivot] - row[pivot] * o for value, o in zip(row, other, strict=True)] if row[pivot] else row
    return _primitive(made)


def _direction(free: int, reduced: list[tuple[int, list[int]]], size: int) -> Vector:
    # The least multiple for which all components are integers.
    scale = lcm(*(row[pivot] // gcd(row[pivot], row[free]) for pivot, row in reduced))
    vector = [0] * size
    vector[free] = scale
    for pivot, row in reduced:
        vector[pivot] = -row[free] * scale // row[pivot]
    return tuple(_primitive(vector))


def _primitive(row: list[int]) -> list[int]:
    divisor = gcd(*row)
    return [value // divisor for value in row] if divisor > 1 else row

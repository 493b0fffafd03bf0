# SPDX-License-Identifier: Apache-2.0
"""Brings produced values to the points that read them, by steps of constant distance.

A value produced at F(P) and read at P travels along one axis after another. Along an axis x on which F does not depend,
all points between share the value: V[P] = V[P - u] with u = +-e_x, and V begins where x is aligned with F_x; what is
needed there is the same problem with one axis less (Thiele, Roychowdhury, "Systematic design of local processor arrays
for numerical algorithms", 1991). Reads of equal values along the same axis share one variable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import islpy as isl

from polyloom.ir.pla import Reference
from polyloom.sets import Affine
from polyloom.transform.space import Point, Space, Vector, eliminate


@dataclass(frozen=True, slots=True)
class Value:
    """What `statement` produced at the point `at`, in coordinates of the reader."""

    statement: str
    at: Point


Use = tuple[isl.Set, Reference]
"""At these points the value is that of this reference."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """The added equation `variable = reference` on `points`."""

    variable: str
    points: isl.Set
    reference: Reference


class NotUniform(Exception):
    """`value` cannot be brought to `points` by steps of constant distance."""

    def __init__(self, points: isl.Set, value: Value) -> None:
        super().__init__(f"{value.statement}[{', '.join(map(str, value.at))}]")
        self.points, self.value = points, value


@dataclass(slots=True)
class _Moved:
    """A variable that passes `value` along an axis; `demands` are the points where it is read, `base` 0 if some read is
    at the start."""

    name: str
    value: Value
    axis: int
    sign: int
    demands: isl.Set
    base: int = 1
    done: bool = False


class Carrier:
    """Localization of data dependences: collects needs, then gives the equations that satisfy them by propagation
    (Thiele, Roychowdhury 1991). Variables of statements are called
    `names[statement]`; `fresh(statement, axis)` names an added one.
    """

    def __init__(self, space: Space, names: dict[str, str], fresh: Callable[[str, int], str]) -> None:
        self.space, self.names, self.fresh = space, names, fresh
        self.moved: list[_Moved] = []

    def need(self, points: isl.Set, value: Value) -> list[Use]:
        """Where `value` is found on `points`: at a constant distance, or passed along an axis; raises NotUniform."""
        if points.is_empty():
            return []
        gaps = [here - at for here, at in zip(self.space.point_symbols, value.at, strict=True)]
        constants = self.space.constants(points, gaps)
        if None not in constants:
            return [(points, self.space.reference(self.names[value.statement], [c or 0 for c in constants]))]
        axes = self._axes(points, value, tuple(n for n, c in enumerate(constants) if c is None))
        if axes is None:
            raise NotUniform(points, value)
        # The first axis is the last leg of the way, which ends at the reader.
        axis = axes[0]
        sign = self.space.sign(points, gaps[axis])
        # The value comes from both sides of the axis: two variables, which pass it in opposite directions.
        if sign is None:
            ahead = points.intersect(self.space.solutions(gaps[axis]))
            return [*self.need(ahead, value), *self.need(points.subtract(ahead), value)]
        return [(points, self.space.reference(self._propagation_variable(points, value, axis, sign).name))]

    def transfers(self) -> list[Transfer]:
        """The equations of all variables; those that pass a value along more axes come first, as they need others."""
        made: list[Transfer] = []
        # Making one transfer may need others: `moved` grows in the loop.
        while waiting := [m for m in self.moved if not m.done]:
            made += self._transfer(max(waiting, key=lambda m: self._open(m.value)))
        return made

    def _open(self, value: Value) -> int:
        return sum(not (here - at).is_constant for here, at in zip(self.space.point_symbols, value.at, strict=True))

    def _axes(self, points: isl.Set, value: Value, axes: tuple[int, ...]) -> tuple[int, ...] | None:
        """An order of the open `axes`, last leg first, in which every leg shares its value; None if there is none."""
        if not axes:
            return ()
        equalities = self.space.equalities(points)
        for axis in axes:
            free = self._free(value, axis, equalities)
            if free is not None:
                there = self.space.image(
                    points, self._replace_coordinate(self.space.point_symbols, axis, free.at[axis]), self.space.dims
                )
                # Backtracking over the order of the legs. Axes are at most as many as loops, so that the search is
                # short.
                rest = self._axes(there, self._aligned(free, axis), tuple(n for n in axes if n != axis))
                if rest is not None:
                    return (axis, *rest)
        return None

    def _free(self, value: Value, axis: int, equalities: tuple[Affine, ...]) -> Value | None:
        """`value` written without the dimension `axis`, if the points' equalities allow it."""
        dim = self.space.dims[axis]
        at = tuple(eliminate(a, dim, equalities) for a in value.at)
        return None if any(a.coefficient(dim) for a in at) else Value(value.statement, at)

    def _aligned(self, value: Value, axis: int) -> Value:
        return Value(value.statement, self._replace_coordinate(value.at, axis, self.space.point_symbols[axis]))

    def _replace_coordinate(self, point: Point, axis: int, coordinate: Affine) -> Point:
        return (*point[:axis], coordinate, *point[axis + 1 :])

    def _propagation_variable(self, points: isl.Set, value: Value, axis: int, sign: int) -> _Moved:
        """The variable that carries `value` along `axis`, now also to `points`."""
        free = self._free(value, axis, self.space.equalities(points))
        if free is None:
            raise NotUniform(points, value)
        found = next(
            (
                m
                for m in self.moved
                if not m.done and (m.axis, m.sign) == (axis, sign) and self._agree(points, m.value, free)
            ),
            None,
        )
        if found is None:
            found = _Moved(self.fresh(value.statement, axis), free, axis, sign, points)
            self.moved.append(found)
        found.demands = found.demands.union(points)
        gap = (self.space.point_symbols[axis] - found.value.at[axis]) * sign
        # Some read is where the value is made: the variable begins there, and not one step behind.
        if not points.intersect(self.space.solutions(-gap)).is_empty():
            found.base = 0
        return found

    def _agree(self, points: isl.Set, a: Value, b: Value) -> bool:
        return a.statement == b.statement and all(
            self.space.constant(points, m - n) == 0 for m, n in zip(a.at, b.at, strict=True)
        )

    def _transfer(self, moved: _Moved) -> list[Transfer]:
        """Equations of one propagation variable: V[P] = V[P - u] inside, and at the beginning of its path the value
        itself.
        """
        moved.done = True
        step = tuple(moved.sign * (n == moved.axis) for n in range(len(self.space.dims)))
        gap = (self.space.point_symbols[moved.axis] - moved.value.at[moved.axis]) * moved.sign
        path = (
            self.space.ray(moved.demands, moved.axis, moved.sign)
            .intersect(self.space.solutions(gap - moved.base))
            .coalesce()
        )
        # V[P] = V[P - u] wherever the predecessor is on the path too; at its beginning V is what was produced.
        inner = path.intersect(self.space.shift(path, step)).coalesce()
        made = [Transfer(moved.name, inner, self.space.reference(moved.name, step))]
        back = tuple(moved.base * s for s in step)
        before = self.space.shift(path.subtract(inner).coalesce(), tuple(-b for b in back))
        for points, reference in self.need(before, self._aligned(moved.value, moved.axis)):
            made.append(Transfer(moved.name, self.space.shift(points, back), shift_reference(reference, back)))
        return [t for t in made if not t.points.is_empty()]


def shift_reference(reference: Reference, distance: Vector) -> Reference:
    """The reference at the point minus `distance`."""
    return Reference(
        reference.name, tuple(index - d for index, d in zip(reference.index, distance, strict=True)), reference.span
    )

# SPDX-License-Identifier: Apache-2.0
"""Domains of a system's statements as sets of isl at sizes of at least 1, and conditions on forms: boxes of arrays, and
equalities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from polyloom.analysis.formulas_system import positive
from polyloom.ir.recurrence import Recurrence, System
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import from_set, to_set


@dataclass(frozen=True, slots=True)
class Domains:
    """Domains of a system."""

    system: System

    def points(self, condition: Condition, dims: Sequence[str]) -> isl.Set:
        """Points where sizes are at least 1."""
        params = self.system.parameters
        assumed = to_set(self.system.assumptions, dims, params).intersect(to_set(positive(params), dims, params))
        return to_set(condition, dims, params).intersect(assumed)

    def domain(self, equation: Recurrence, condition: Condition | None = None) -> isl.Set:
        return self.points(equation.domain if condition is None else condition, equation.loops)


def box_condition(extents: Mapping[str, Affine]) -> Condition:
    symbols = {Affine.symbol(name): extent for name, extent in extents.items()}
    return Condition((Polyhedron(tuple(f for s, extent in symbols.items() for f in (s, extent - s - 1))),))


def equalities(forms: Sequence[Affine]) -> Condition:
    """Condition that all forms are 0."""
    return Condition((Polyhedron(tuple(each for form in forms for each in (form, -form))),))


def any_equality(forms: Sequence[Affine]) -> Condition:
    """Condition that some form is 0."""
    return Condition(tuple(Polyhedron((form, -form)) for form in forms))


def inequalities(points: isl.Set) -> tuple[Affine, ...]:
    """Inequalities of a set that is one polyhedron; none of another one."""
    pieces = from_set(points.remove_redundancies()).pieces
    return pieces[0].constraints if len(pieces) == 1 else ()

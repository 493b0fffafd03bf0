# SPDX-License-Identifier: Apache-2.0
"""Affine expressions over named symbols, and the polyhedra that they bound.

`Affine` is a linear form plus a constant; `Polyhedron` is a conjunction of `affine >= 0`; `Condition` is a finite union
of polyhedra (disjunctive normal form). Symbols are names (loop dimensions and parameters alike), never positions. All
values are exact Python integers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Affine:
    """Affine expression `sum(coefficient * symbol) + constant`; terms are sorted by name and have no zero
    coefficient."""

    terms: tuple[tuple[str, int], ...] = ()
    constant: int = 0

    @staticmethod
    def from_terms(coefficients: Mapping[str, int], constant: int = 0) -> Affine:
        return Affine(tuple(sorted((n, c) for n, c in coefficients.items() if c)), constant)

    @staticmethod
    def symbol(name: str) -> Affine:
        return Affine(((name, 1),))

    def coefficient(self, name: str) -> int:
        return dict(self.terms).get(name, 0)

    @property
    def symbols(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.terms)

    @property
    def is_constant(self) -> bool:
        return not self.terms

    def __add__(self, other: Affine | int) -> Affine:
        if isinstance(other, int):
            return Affine(self.terms, self.constant + other)
        # Terms are sorted and without zeros, so that equal expressions are equal values.
        total = dict(self.terms)
        for name, value in other.terms:
            total[name] = total.get(name, 0) + value
        return Affine.from_terms(total, self.constant + other.constant)

    def __neg__(self) -> Affine:
        return self * -1

    def __sub__(self, other: Affine | int) -> Affine:
        return self + -other

    def __mul__(self, factor: int) -> Affine:
        # Without zeros and in order they stay, unless all become zero.
        return Affine(tuple((n, c * factor) for n, c in self.terms) if factor else (), self.constant * factor)

    def substitute(self, values: Mapping[str, Affine]) -> Affine:
        """Substitute affine expressions for symbols; symbols that `values` does not name stay."""
        total = Affine((), self.constant)
        for name, value in self.terms:
            total = total + values.get(name, Affine.symbol(name)) * value
        return total

    def evaluate(self, values: Mapping[str, int]) -> int:
        """Integer value; every symbol must be in `values`."""
        total = self.constant
        for name, coefficient in self.terms:
            total += coefficient * values[name]
        return total

    def __str__(self) -> str:
        text = ""
        for name, value in self.terms:
            sign = " - " if value < 0 else " + "
            magnitude = name if abs(value) == 1 else f"{abs(value)}*{name}"
            text += (("-" if value < 0 else "") if not text else sign) + magnitude
        if not text:
            return str(self.constant)
        if self.constant:
            text += f" {'-' if self.constant < 0 else '+'} {abs(self.constant)}"
        return text


def equality(one: Affine, other: Affine) -> tuple[Affine, Affine]:
    """Constraints that two expressions are equal."""
    return one - other, other - one


def extreme(form: Affine, ranges: Sequence[tuple[str, Affine | None, Affine | None]], sign: int) -> Affine | None:
    """Bound of a form from above (`sign` 1) or below (-1) over dimensions, outermost first. Each has its least and its
    greatest value, affine in those before it; None where the form needs one that is not known.
    """
    # Bounds of an inner dimension are affine in outer ones, which come later in turn.
    for name, least, greatest in reversed(ranges):
        coefficient = form.coefficient(name)
        value = greatest if coefficient * sign > 0 else least
        if not coefficient:
            continue
        if value is None:
            return None
        form = form.substitute({name: value})
    return form


@dataclass(frozen=True, slots=True)
class Polyhedron:
    """Integer polyhedron: the points where every constraint is >= 0; no constraint means every point."""

    constraints: tuple[Affine, ...] = ()

    def contains(self, point: Mapping[str, int]) -> bool:
        return all(c.evaluate(point) >= 0 for c in self.constraints)

    def substitute(self, values: Mapping[str, Affine]) -> Polyhedron:
        """Replace symbols by affine expressions; symbols that `values` does not name stay."""
        return Polyhedron(tuple(c.substitute(values) for c in self.constraints))

    def __str__(self) -> str:
        return " and ".join(f"{c} >= 0" for c in self.constraints) or "true"


@dataclass(frozen=True, slots=True)
class Condition:
    """Union of polyhedra; no piece means the empty set, one unconstrained piece means every point."""

    # The default holds everywhere: an equation without a condition.
    pieces: tuple[Polyhedron, ...] = (Polyhedron(),)

    def contains(self, point: Mapping[str, int]) -> bool:
        return any(p.contains(point) for p in self.pieces)

    def substitute(self, values: Mapping[str, Affine]) -> Condition:
        """Replace symbols by affine expressions; symbols that `values` does not name stay."""
        return Condition(tuple(p.substitute(values) for p in self.pieces))

    def map(self, change: Callable[[Affine], Affine]) -> Condition:
        """Another condition, of changed constraints."""
        return Condition(tuple(Polyhedron(tuple(map(change, p.constraints))) for p in self.pieces))

    @property
    def symbols(self) -> frozenset[str]:
        return frozenset(name for p in self.pieces for c in p.constraints for name in c.symbols)

    def __str__(self) -> str:
        return " or ".join(str(p) for p in self.pieces) or "false"

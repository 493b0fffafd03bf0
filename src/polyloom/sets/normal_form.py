# SPDX-License-Identifier: Apache-2.0
"""Normal form of conditions, syntactic: equal inputs give equal values, without isl.

Each constraint is divided by the gcd of its coefficients with its constant rounded down (integer tightening, as in the
Omega test: Pugh 1991), constraints that another one with the same terms implies are dropped, and what is left is
sorted.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd

from polyloom.sets.affine import Affine, Condition, Polyhedron


def conjunction(a: Condition, b: Condition) -> Condition:
    """Conjunction of two conditions, piece by piece."""
    # Distribution of a conjunction over unions: the form stays disjunctive.
    pieces = [Polyhedron(p.constraints + q.constraints) for p in a.pieces for q in b.pieces]
    return normalize(Condition(tuple(pieces)))


def fixed_symbols(condition: Condition) -> dict[str, int]:
    """Fixed symbols: those that a conjunction gives one value each, by a pair of opposite bounds of them alone."""
    forms = set(condition.pieces[0].constraints) if len(condition.pieces) == 1 else set[Affine]()
    single = [form for form in forms if len(form.terms) == 1 and form.terms[0][1] == 1 and -form in forms]
    return {form.terms[0][0]: -form.constant for form in sorted(single, key=str)}


def normalize(condition: Condition) -> Condition:
    """Normal form of a condition: the same points with normal constraints and without pieces that are plainly empty;
    pieces are sorted."""
    pieces = {_normalize_piece(piece) for piece in condition.pieces}
    return Condition(
        tuple(
            sorted((p for p in pieces if p is not None), key=lambda p: [(c.terms, c.constant) for c in p.constraints])
        )
    )


def is_plainly_empty(piece: Polyhedron) -> bool:
    """Whether one constraint, or two on the same terms, exclude every point. A sufficient test: emptiness in general is
    isl's business."""
    return _normalize_piece(piece) is None


def tighten(affine: Affine) -> Affine:
    """Integer tightening: an equivalent `affine >= 0` with coprime coefficients."""
    # a.x + b >= 0 with g = gcd(a): over the integers b may be rounded down to a multiple of g, which loses no point.
    divisor = gcd(*(c for _, c in affine.terms))
    return (
        affine
        if divisor <= 1
        else Affine(tuple((n, c // divisor) for n, c in affine.terms), affine.constant // divisor)
    )


def _normalize_piece(piece: Polyhedron) -> Polyhedron | None:
    """Normal form of a polyhedron; None where it is plainly empty."""
    least: dict[tuple[tuple[str, int], ...], int] = {}
    for affine in map(tighten, piece.constraints):
        # Of t + 3 >= 0 and t + 1 >= 0 the smaller constant implies the other one.
        least[affine.terms] = min(affine.constant, least.get(affine.terms, affine.constant))
    # A constraint without symbols: a negative constant makes the whole piece empty.
    if least.pop((), 0) < 0 or _contradicts(least):
        return None
    return Polyhedron(tuple(Affine(terms, constant) for terms, constant in sorted(least.items())))


def _contradicts(least: Mapping[tuple[tuple[str, int], ...], int]) -> bool:
    """Whether t + a >= 0 and b - t >= 0 with a + b < 0 are among the constraints, given as constants by terms."""
    opposites = ((constant, least.get(tuple((n, -c) for n, c in terms))) for terms, constant in least.items())
    return any(other is not None and constant + other < 0 for constant, other in opposites)

# SPDX-License-Identifier: Apache-2.0
"""Parametric bounds: the least and the greatest coordinate of a set, as rounded quotients of affine expressions of the
parameters (parametric integer programming, Feautrier 1988; by isl, Verdoolaege 2010).

Where the exact one is no such quotient, because of a stride, one that is not above, or not below it, is taken instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Final

import islpy as isl

from polyloom.diagnostics import PolyloomError
from polyloom.sets.affine import Affine, Condition
from polyloom.sets.isl import from_set, integer, linear_form, parameter_set, stride_error, to_set

Bound = tuple[tuple[Affine, ...], Affine, int]
"""Where every guard (over the parameters) is >= 0, the bound is floor(numerator / denominator)."""


def dimension_bounds(
    condition: Condition, dims: Sequence[str], params: Sequence[str], assumptions: Condition, dim: str
) -> tuple[tuple[Bound, ...], tuple[Bound, ...]]:
    """Least and greatest value of `dim` over `condition`, each in pieces; no piece applies where it is empty.

    `condition` must be bounded in `dim`. Raises PL0201 when a bound is not one rounded quotient of affine expressions.
    """
    domain = parameter_set(assumptions, params)
    points = to_set(condition, dims, params).intersect_params(domain)
    position = list(dims).index(dim)
    return tuple(_bound_pieces(points.dim_min(position), domain)), tuple(
        _bound_pieces(points.dim_max(position), domain)
    )


def enclosing_bounds(
    condition: Condition, dims: Sequence[str], params: Sequence[str], assumptions: Condition, dim: str
) -> tuple[tuple[Bound, ...], tuple[Bound, ...]]:
    """Enclosing bounds: `dimension_bounds`, or where these are no quotients, or apply where a remainder of a parameter
    says so, quotients that enclose the hull."""
    try:
        return dimension_bounds(condition, dims, params, assumptions, dim)
    except PolyloomError:
        domain = parameter_set(assumptions, params)
        # The simple hull has only constraints that the set has already: no new strides come in.
        hull = isl.Set.from_basic_set(to_set(condition, dims, params).intersect_params(domain).simple_hull())
        position = list(dims).index(dim)
        least, greatest = hull.dim_min(position), hull.dim_max(position)
        return tuple(_bound_pieces(least, domain, True)), tuple(_bound_pieces(greatest, domain, False))


def _bound_pieces(value: isl.PwAff, domain: isl.Set, least: bool | None = None) -> list[Bound]:
    """Pieces of a value; where `least` is given, not above or not below those of which none is one quotient."""
    pieces: list[tuple[isl.Set, isl.Aff]] = []
    value = value.coalesce()
    value.foreach_piece(lambda where, aff: pieces.append((where, aff)))
    if len(pieces) > 1:
        pieces = _single_piece(value, pieces) or pieces
    return [
        (guard.constraints, *_quotient(aff, least))
        for where, aff in pieces
        for guard in from_set(where.params(), domain).pieces
    ]


def _single_piece(value: isl.PwAff, pieces: list[tuple[isl.Set, isl.Aff]]) -> list[tuple[isl.Set, isl.Aff]]:
    """Piece whose expression is the value of all of them, alone; isl tells 0 for N = 1 from N - 1 elsewhere."""
    where = value.domain()
    same = (aff for _, aff in pieces if isl.PwAff.from_aff(aff).intersect_domain(where).is_equal(value))
    return [(where, aff) for aff in list(same)[:1]]


def _quotient(aff: isl.Aff, least: bool | None) -> tuple[Affine, int]:
    """Quotient of `aff`, with at most one rounded division of coefficient 1 or -1, as one floor. Of another one where
    `least` is given, one that is not above or not below it."""
    denominator = integer(aff.get_denominator_val())
    scaled = aff.scale_val(isl.Val(denominator))
    # Times the denominator all coefficients are integers, but those of divisions.
    whole = linear_form(scaled)
    divs = [
        n for n in range(aff.dim(isl.dim_type.div)) if not scaled.get_coefficient_val(isl.dim_type.div, n).is_zero()
    ]
    if not divs:
        return whole, denominator
    factor = integer(scaled.get_coefficient_val(isl.dim_type.div, divs[0]))
    inner = aff.get_div(divs[0])
    nested = any(
        not inner.get_coefficient_val(isl.dim_type.div, n).is_zero() for n in range(inner.dim(isl.dim_type.div))
    )
    # One rounded quotient is what the extents of a symbolic configuration can hold (`Bound` of
    # targets/tcpa/words/symbolic.py).
    if denominator != 1 or abs(factor) != 1 or len(divs) > 1 or nested:
        if least is None:
            raise stride_error(str(aff))
        return _common_denominator(_relax_floors(aff, least))
    divisor = integer(inner.get_denominator_val())
    numerator = linear_form(inner.scale_val(isl.Val(divisor)))
    # -floor(a / d) = floor((-a + d - 1) / d)
    rounded = numerator if factor == 1 else -numerator + (divisor - 1)
    return whole * divisor + rounded, divisor


_CONSTANT: Final = ""


def _relax_floors(aff: isl.Aff, least: bool) -> dict[str, Fraction]:
    """Rational relaxation: an affine form that is not above, or not below, one with rounded divisions: a / d - (d - 1)
    / d <= floor(a / d) <= a / d."""
    names = [aff.get_dim_name(isl.dim_type.param, n) or "" for n in range(aff.dim(isl.dim_type.param))]
    found = {name: _fraction(aff.get_coefficient_val(isl.dim_type.param, n)) for n, name in enumerate(names)}
    found[_CONSTANT] = _fraction(aff.get_constant_val())
    for n in range(aff.dim(isl.dim_type.div)):
        factor = _fraction(aff.get_coefficient_val(isl.dim_type.div, n))
        if not factor:
            continue
        # Below a form with a positive coefficient lies that of a lower division, with a negative one that of a higher.
        inner, is_below = aff.get_div(n), (factor > 0) == least
        for name, value in _relax_floors(inner, is_below).items():
            found[name] += factor * value
        if is_below:
            found[_CONSTANT] -= factor * (1 - Fraction(1, integer(inner.get_denominator_val())))
    return found


def _common_denominator(form: dict[str, Fraction]) -> tuple[Affine, int]:
    """Numerator and denominator of a rational form: integer coefficients over the least common denominator."""
    denominator = lcm(*(value.denominator for value in form.values()))
    whole = {name: int(value * denominator) for name, value in form.items()}
    return Affine.from_terms({name: c for name, c in whole.items() if name != _CONSTANT}, whole[_CONSTANT]), denominator


def _fraction(value: isl.Val) -> Fraction:
    # By text: isl's integers have any size.
    return Fraction(str(value))

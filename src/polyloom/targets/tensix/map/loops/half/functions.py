# SPDX-License-Identifier: Apache-2.0
"""Functions for results that are stored in BF16 or FP16: their errors are below half a unit of FP16, 2^-12.

    exp, exp2: 2^(n + f) with x / ln 2 or x = n + f: n becomes the exponent, 2^f is a polynomial, as its significand
    x / y: x w q(f w) with w = ~y: the inverted exponent is that of 2 / y, and f w is between -4.5 and -4 for the
    significand f of y; q is a polynomial for the reciprocal
    sqrt: x y p(x y^2), y about 1 / sqrt(x) by half the logarithm, and p a polynomial for 1 / sqrt

Coefficients are minimax ones, fitted here among numbers of few bits, which one SFPLOADI loads. Sources: Schraudolph, A
Fast, Compact Approximation of the Exponential Function (1999), for bits as a logarithm; Muller, Elementary Functions,
3rd ed. (2016), chapter 3; Blinn, Floating-point tricks (1997).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from polyloom.targets.tensix.map.loops.lanes import Unit

T = TypeVar("T")
HALF: Final = "_half"
_BIAS: Final = 127
_LOG2_E: Final = 1.4426950408889634
_RAISED: Final = 256.0
"""Added to a number from 0 to 256: its bits from 15 on are the integer, those below the fraction."""
_EXP: Final = (-0.078125, -0.0078125, -0.4765625, 0.453125)
"""Of -(1 + f): 1 exactly for f = 0, and below 2 for f below 1, so that the significand has exponent 0."""
_RECIPROCAL: Final = (-0.013153076171875, -0.1673583984375, -0.708984375)
"""From -4.5 to -4."""
_ROOT: Final = (0.4150390625, -1.3291015625, 1.9140625)
"""Of 1 / sqrt, from 0.898 to 1.023."""
_ROOT_GUESS: Final = 0x5F330000
"""Less half of a number's bits, about the bits of 1 / sqrt(x)."""


def _exp(u: Unit[T], x: T) -> T:
    return _power(u, u.mad(x, _LOG2_E, _RAISED + _BIAS))


def _exp2(u: Unit[T], x: T) -> T:
    return _power(u, u.add(x, _RAISED + _BIAS))


def _power(u: Unit[T], raised: T) -> T:
    """2^x of x + 383: below 2^-126 it is 0, from 2^128 on infinite; a NaN counts as an infinity of its sign."""
    raised = u.within(raised, _RAISED, _RAISED + 2 * _BIAS + 1)
    # The integer moves into the exponent's place, and of 256's own exponent a set bit into that of the sign.
    power = u.left(raised, 8)
    significand = u.polynomial(u.lanes.call("sfpsetexp_i", power, _BIAS, 0), _EXP)
    return u.lanes.call("sfpsetexp_v", significand, power, 2)


def _scaled_reciprocal(u: Unit[T], y: T) -> tuple[T, T]:
    """Two factors of 1 / y: 2^-e times a number in [2, 4) of the divisor's exponent e, and what is left of it. The
    first is 0 for an infinity."""
    f = u.lanes.call("sfpsetexp_i", y, _BIAS, 0)
    rest = u.polynomial(u.mul(f, u.lanes.call("sfpnot", f)), _RECIPROCAL)
    return u.lanes.call("sfpnot", y), rest


def _divide(u: Unit[T], x: T, y: T) -> T:
    power, rest = _scaled_reciprocal(u, y)
    return u.mul(u.mul(x, power), rest)


def _reciprocal(u: Unit[T], y: T) -> T:
    power, rest = _scaled_reciprocal(u, y)
    return u.mul(power, rest)


def _sqrt(u: Unit[T], x: T) -> T:
    y = u.lanes.call("sfpiadd_v", u.left(x, -1), u.lanes.constant(_ROOT_GUESS), 6)
    s = u.mul(x, y)
    return u.root_of_special(x, u.mul(s, u.polynomial(u.mul(s, y), _ROOT)))


DIVIDE, RECIPROCAL = "div_half", "reciprocal_half"
HALF_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "exp_half": _exp, "exp2_half": _exp2, "sqrt_half": _sqrt, DIVIDE: _divide, RECIPROCAL: _reciprocal,
}  # fmt: skip
"""By names of steps: those of `functions.py` with the suffix `HALF`, and the reciprocal."""

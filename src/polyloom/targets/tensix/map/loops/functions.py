# SPDX-License-Identifier: Apache-2.0
"""Elementary functions of C's library as programs of the vector unit, for whoever emits them or computes them
(lanes.py).

    exp: x = 2n ln 2 + r, e^r by a polynomial, times 2^n twice, as 2^2n may have no exponent; exp2: x = 2n + r
    tanh: x + x^3 p(x^2) for small ones, else 1 - 2e / (1 + e) with e = exp(-2|x|), the reciprocal by Newton's method
    log: x = 2^k m with m around 1, log m = f - f^2/2 + f^3 p(f) with f = m - 1
    x / y: 1 / f of the significand f of y by Newton's method, x (1 / f) and once what is missing of it, times 2^-e in
    two steps, as 2^-e may have no exponent
    sqrt: x y and once what is missing of it, y = 1 / sqrt(x) by Newton's method
    sin: x = n pi + r, and (-1)^n sin r; cos: x = (n - 1/2) pi + r. From `LARGEST_ANGLE` on, the result is a NaN

Source: Muller, Elementary Functions, 3rd ed. (2016), chapters 3 and 11. Coefficients are minimax ones, fitted here.
SFPMAD keeps three more bits of a product than of a result: what is subtracted to reduce an argument has so few bits
that products with n are exact (Cody and Waite 1980).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, TypeVar

from polyloom.ir.operations import ElementType
from polyloom.targets.tensix.map.loops.half.functions import HALF_FUNCTIONS
from polyloom.targets.tensix.map.loops.lanes import (
    GREATER,
    INFINITE,
    INTEGERS,
    LESS,
    NAN,
    NORMAL,
    NOT_LESS,
    ONE,
    Lanes,
    Unit,
    float_bits,
)
from polyloom.transform.stages.integers.ranges import CARRIED

T = TypeVar("T")
LARGEST_ANGLE: Final = 32768.0
_EXP: Final = (
    0.00019611230527516454, 0.001410477445460856, 0.008336111903190613, 0.041661255061626434, 0.16666613519191742,
    0.5000003576278687,
)  # fmt: skip
_EXP2: Final = (
    1.5030519534775522e-05, 0.00015653713489882648, 0.001333949388936162, 0.00961671955883503, 0.05550379306077957,
    0.24022673070430756, 0.6931472420692444,
)  # fmt: skip
_LOG: Final = (
    0.06747763603925705, -0.11676944047212601, 0.11888378113508224, -0.12405403703451157, 0.14219500124454498,
    -0.16668003797531128, 0.20002120733261108, -0.25000008940696716, 0.3333331346511841,
)  # fmt: skip
_TANH: Final = (
    -0.006275658495724201, 0.021073242649435997, -0.05385284125804901, 0.13332593441009521, -0.33333316445350647,
)  # fmt: skip
_SIN: Final = (2.6053992314700736e-06, -0.00019809439254458994, 0.008333064615726471, -0.16666659712791443)
_RECIPROCAL: Final = (-0.7418681979179382, 0.9896546006202698)
"""Of 1 + e."""
_PI: Final = (3.140625, 0.0009675025939941406, 1.5099580252808664e-07)
_LN2: Final = (0.693145751953125, 1.428606765330187e-06)
_ROOT: Final = 0x3F3504F3
"""sqrt(1/2)."""
_BIAS: Final = 127
_EVEN: Final = 256
"""Added to an exponent, it is positive."""
_ROOT_GUESS: Final = 0x5F3759DF
"""Less half of a number's bits, about the bits of 1 / sqrt(x)."""


def _power_of_e(u: Unit[T], x: T) -> T:
    """e^x by range reduction in two steps of ln 2 (Cody and Waite 1980), for x in the range of normal results."""
    turns = u.mad(x, 0.5 / sum(_LN2), INTEGERS)
    n = u.add(turns, -INTEGERS)
    r = u.mad(n, -2 * _LN2[1], u.mad(n, -2 * _LN2[0], x))
    return u.scale_by_power(u.add(u.mad(u.mul(r, r), u.polynomial(r, _EXP), r), 1.0), turns)


def _exp(u: Unit[T], x: T) -> T:
    # Beyond these limits results are 0 and infinity anyway, and n keeps within its bits.
    return u.pass_nan(x, _power_of_e(u, u.within(x, -104.0, 90.0)))


def _exp2(u: Unit[T], x: T) -> T:
    # Clamped so that n stays within the bits of the exponent; beyond, results are 0 and infinity.
    near = u.within(x, -151.0, 130.0)
    turns = u.mad(near, 0.5, INTEGERS)
    r = u.mad(u.add(turns, -INTEGERS), -2.0, near)
    return u.pass_nan(x, u.scale_by_power(u.mad(r, u.polynomial(r, _EXP2), 1.0), turns))


def _tanh(u: Unit[T], x: T) -> T:
    # From 10 on the result rounds to 1.
    """tanh by e^(-2|x|) and a reciprocal by Newton's method, or by an odd polynomial below 0.55, where the former
    cancels.
    """
    t = u.within(u.magnitude(x), 0.0, 10.0)
    e = _power_of_e(u, u.mul(t, -2.0))
    # Each step squares what is missing: y (1 + e) = 1 - d becomes 1 - d^2.
    y = u.polynomial(e, _RECIPROCAL)
    for _ in range(2):
        rest = u.mad(y, u.mad(e, -1.0, -1.0), 1.0)
        y = u.mad(y, rest, y)
    large = u.mad(u.mul(e, -2.0), y, 1.0)
    square = u.mul(t, t)
    small = u.mad(u.mul(square, t), u.polynomial(square, _TANH), t)
    value = u.chosen(LESS, t, float_bits(0.55), small, large)
    return u.pass_nan(x, u.lanes.call("sfpsetsgn_v", value, x, 0))


def _log(u: Unit[T], x: T) -> T:
    """Logarithm by the exponent and a polynomial around 1, with ln 2 in two parts (Muller 2016, chapter 11)."""
    # From sqrt(1/2) on, a number belongs to the next power of 2.
    k = u.left(u.plus(x, ONE - _ROOT), -23)
    m = u.plus(u.lanes.call("sfpiadd_v", u.left(k, 23), x, 6), ONE)
    n, f = u.add(u.lanes.call("sfpcast", k, 0), -127.0), u.add(m, -1.0)
    # The terms of highest order are summed first, so that the result is rounded by the last two additions only.
    square = u.mul(f, f)
    rest = u.mad(u.mul(square, f), u.polynomial(f, _LOG), u.mul(n, _LN2[1]))
    value = u.mad(n, _LN2[0], u.add(u.mad(square, -0.5, rest), f))
    size = u.magnitude(x)
    value = u.chosen(NOT_LESS, size, INFINITE, x, value)
    value = u.lanes.choose("cmp_f", LESS, x, None, u.lanes.constant(NAN), value)
    return u.chosen(LESS, size, NORMAL, u.number(float("-inf")), value)


def _sin(u: Unit[T], x: T) -> T:
    # Adding 1.5 * 2^23 rounds x / pi to an integer and leaves that in the lowest bits.
    turns = u.mad(x, 1 / sum(_PI), INTEGERS)
    return _sine(u, x, turns, u.add(turns, -INTEGERS))


def _cos(u: Unit[T], x: T) -> T:
    # One half is added before rounding: cos x is the sine of x + pi/2, whose turns are counted from there.
    turns = u.add(u.mad(x, 1 / sum(_PI), 0.5), INTEGERS)
    return _sine(u, x, turns, u.add(u.add(turns, -INTEGERS), -0.5))


def _sine(u: Unit[T], x: T, turns: T, k: T) -> T:
    """Sine of x - k pi by an odd polynomial, negated where the number of turns is odd; pi in three parts (Cody and
    Waite 1980).
    """
    r = x
    for part in _PI:
        r = u.mad(k, -part, r)
    square = u.mul(r, r)
    value = u.mad(u.mul(square, r), u.polynomial(square, _SIN), r)
    # The lowest bit of `turns` is that of n; shifted left by 31 it becomes the sign.
    value = u.lanes.call("sfpxor", value, u.left(turns, 31))
    return u.chosen(LESS, u.magnitude(x), float_bits(LARGEST_ANGLE), value, u.lanes.constant(NAN))


def _divide(u: Unit[T], x: T, y: T) -> T:
    """Quotient by Newton's method for 1 / f, f in [1, 2), and one step of what is missing (Markstein 2000, IA-64 and
    Elementary Functions, chapter 8).
    """
    # 2^-e in two factors: of the exponent e, half and the rest. The first one scales x, which may be next to nothing.
    e = u.plus(u.lanes.call("sfpexexp", y, 0), _EVEN)
    half = u.left(u.plus(e, 1), -1)  # not negative, so that the shift halves
    one, other = (
        u.left(u.lanes.call("sfpiadd_v", part, u.lanes.constant(_BIAS + _EVEN // 2), 6), 23)
        for part in (half, u.lanes.call("sfpiadd_v", half, e, 6))
    )
    near = u.mul(x, one)
    f = u.lanes.call("sfpsetexp_i", u.magnitude(y), _BIAS, 0)
    r = u.mad(f, -8 / 17, 24 / 17)  # 1 / f within 1/17
    for _ in range(3):
        r = u.mad(r, u.mad(f, u.mul(r, -1.0), 1.0), r)
    q = u.mul(near, r)
    q = u.mad(u.mad(f, u.mul(q, -1.0), near), r, q)
    return u.lanes.call("sfpxor", u.mul(q, other), u.lanes.call("sfpand", y, u.lanes.constant(1 << 31)))


def _sqrt(u: Unit[T], x: T) -> T:
    """Square root by Newton's method for 1 / sqrt(x) from a linear guess of the logarithm (Blinn 1997, "Floating-point
    tricks"), and one step of what is missing.
    """
    y = u.lanes.call("sfpiadd_v", u.left(x, -1), u.lanes.constant(_ROOT_GUESS), 6)
    for _ in range(3):
        y = u.mad(y, u.mad(u.mul(u.mul(x, y), -0.5), y, 0.5), y)
    s = u.mul(x, y)
    s = u.mad(u.mad(u.mul(s, -1.0), s, x), u.mul(y, 0.5), s)
    return u.root_of_special(x, s)


_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "exp": _exp, "exp2": _exp2, "log": _log, "sin": _sin, "cos": _cos, "tanh": _tanh, "sqrt": _sqrt,
}  # fmt: skip
FUNCTIONS: Final = tuple(_FUNCTIONS)
"""Of one number."""


_WHOLE: Final = 2.0**23


def _to_nearest(u: Unit[T], x: T) -> T:
    # Adding 1.5 * 2^23 leaves no bit behind the point; the sum is rounded to even.
    return u.add(u.add(x, INTEGERS), -INTEGERS)


def _rint(u: Unit[T], x: T) -> T:
    """Nearest integer, ties to even, with the sign of x; larger numbers, infinities and NaNs are what they are."""
    size = u.magnitude(x)
    # From 2^23 on, all numbers are integers; below, the sum with it has no bit behind the point.
    near = u.lanes.call("sfpsetsgn_v", u.add(u.add(size, _WHOLE), -_WHOLE), x, 0)
    return u.chosen(LESS, size, float_bits(_WHOLE), near, x)


def _to_integer(u: Unit[T], x: T, kind: ElementType, *, rounds: bool) -> T:
    """Integer of a narrow type, as a float: to nearest, or toward zero; saturated, and of a NaN 0 (`ir.operations`)."""
    near = u.within(x, *map(float, CARRIED[kind]))
    if rounds:
        found = _to_nearest(u, near)
    else:
        size = u.magnitude(near)
        up = _to_nearest(u, size)
        size = u.lanes.choose("cmp_f", GREATER, up, size, u.add(up, -1.0), up)
        # A zero has no sign: zeros of integers are one.
        found = u.add(u.lanes.call("sfpsetsgn_v", size, near, 0), 0.0)
    return u.chosen(GREATER, u.magnitude(x), INFINITE, u.number(0.0), found)


ROUNDINGS: Final[Mapping[str, Callable[..., Any]]] = {
    "rint": _rint,
    **{f"round_{kind}": partial(_to_integer, kind=kind, rounds=True) for kind in CARRIED},
    **{f"truncate_{kind}": partial(_to_integer, kind=kind, rounds=False) for kind in CARRIED},
}
"""Of one number, which are exact: `rint`, and conversions to integers, `round_i8` of the nearest one."""
QUOTIENT: Final = "div"
PROGRAMS: Final[Mapping[str, Callable[..., Any]]] = {
    **_FUNCTIONS,
    **ROUNDINGS,
    **HALF_FUNCTIONS,
    QUOTIENT: _divide,
}
"""By names of steps."""
REGISTERS: Final = 5
"""That a function needs beside its result's."""


def library_function(lanes: Lanes[T], name: str, *operands: T) -> T:
    """Library function of `PROGRAMS`, of f32 bits."""
    return PROGRAMS[name](Unit(lanes), *operands)

# SPDX-License-Identifier: Apache-2.0
"""Elementary functions of C's library as short programs over the operations of `ir.operations`, for machines without a
unit.

`program` gives a function as steps. A nest contains these (transform/library.py), the oracles compute them, and all of
them give the same bits: `evaluate` on NumPy's numbers, `print_kernel` as a function of C. `ULP` are bounds of the
errors, in units of the last place, which tests/library measures over all singles by a stride. Roundings and counts are
exact.

exp: x = k ln 2 + r, e^r = 1 + r + r^2 q(r), and 2^k is made of its bits; exp2: x = k + r / ln 2. log: x = 2^k m with m
around 1, log m = f - f^2/2 + f^3 p(f) with f = m - 1. tanh: t + t^3 p(t^2) for small ones, else 1 - 2 / (e^2t + 1). sin
and cos: x = n pi/2 + r and both polynomials, in double precision (Muller, Elementary Functions, 3rd ed., chapters 3 and
11). Coefficients are minimax ones, fitted here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, cast

import numpy as np

from polyloom.ir.nest_c import PREFIX, TYPES, print_helper, print_literal
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import BY_NAME, ElementType
from polyloom.ir.pla import Constant
from polyloom.ir.semantics import apply

ULP: Final = {"exp": 1.0, "exp2": 1.0, "log": 1.0, "sin": 0.51, "cos": 0.51, "tanh": 1.5}
"""Of f32. The result of sin and cos is a NaN where the operand is beyond `LARGEST_ANGLE`."""
# The number of the quadrant, 2/pi times the angle, must fit an i32.
LARGEST_ANGLE: Final = 2.0**30
SINGLE: Final = tuple(ULP)
"""Functions that have a kernel of single precision alone."""
LARGEST_POWER: Final = 64
_EXP: Final = (0.0013814596459269524, 0.0083687175065279, 0.04166838899254799, 0.1666652113199234, 0.4999999403953552)
_LOG: Final = (
    0.06747692078351974,
    -0.11677505075931549,
    0.11888708919286728,
    -0.12405342608690262,
    0.14219450950622559,
    -0.16668005287647247,
    0.20002123713493347,
    -0.25000008940696716,
    0.3333331346511841,
)
_TANH: Final = (
    0.002144207712262869,
    -0.008179165422916412,
    0.02170160412788391,
    -0.05394696816802025,
    0.13333207368850708,
    -0.3333333134651184,
)
_SIN: Final = (2.718237179730375e-06, -0.00019839327124557293, 0.00833332936223419, -0.16666666641425987)
_COS: Final = (-2.7209546579208187e-07, 2.4799511746961353e-05, -0.0013888883722545451, 0.041666666622475874)
_LN2: Final = (0.693145751953125, 1.428606765330187e-06)
"""ln 2 as a number of 16 bits and the rest."""
# pi/2 as the nearest double and the rest, for Cody and Waite's reduction (Muller 2016, chapter 11).
_HALF_PI: Final = (1.5707963267948966, 6.123233995736766e-17)


@dataclass(frozen=True, slots=True)
class Step:
    """An operation; operands are the numbers of earlier steps, -1 - n for the function's operand n, or constants."""

    operation: str
    dtype: ElementType
    operands: tuple[int | Constant, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """Steps, of which the last one is the result."""

    dtype: ElementType
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class _Value:
    """Value of a step while a program is written down: its steps grow."""

    steps: list[Step]
    number: int
    dtype: ElementType

    def apply(self, operation: str, *others: _Operand) -> _Value:
        """An operation with this value as its last operand's type, which constants take."""
        return _step(self.steps, operation, self.dtype, (self, *others))

    def __add__(self, other: _Operand) -> _Value:
        return self.apply("add", other)

    def __sub__(self, other: _Operand) -> _Value:
        return self.apply("sub", other)

    def __mul__(self, other: _Operand) -> _Value:
        return self.apply("mul", other)

    def __neg__(self) -> _Value:
        return self.apply("neg")

    def select_value(self, a: _Operand, b: _Operand) -> _Value:
        """`a` where this condition holds, else `b`; one of them is no constant."""
        dtype = a.dtype if isinstance(a, _Value) else cast("_Value", b).dtype
        return _step(self.steps, "select", dtype, (self, a, b))


_Operand = _Value | float


def _step(steps: list[Step], operation: str, dtype: ElementType, operands: Sequence[_Operand]) -> _Value:
    # Constants are those of the type, as the table of coefficients has rounded ones.
    kind = NUMPY[dtype].type
    given = [o.number if isinstance(o, _Value) else Constant(kind(o).item(), dtype) for o in operands]
    steps.append(Step(operation, dtype, tuple(given)))
    return _Value(steps, len(steps) - 1, BY_NAME[operation].result(dtype))


def _polynomial(x: _Value, coefficients: Sequence[float]) -> _Value:
    """Polynomial by Horner's rule, from the highest degree on (Knuth 1997, section 4.6.4)."""
    first, second, *others = coefficients
    found = x.apply("madd", first, second)
    for coefficient in others:
        found = found.apply("madd", x, coefficient)
    return found


def _exp_kernel(x: _Value) -> _Value:
    # Beyond these the result is 0 or infinity anyway, and k stays within what two factors hold.
    """Exponential: argument reduction by ln 2 in two parts (Cody and Waite 1980), polynomial, scaling by 2^k."""
    near = x.apply("max", -104.0).apply("min", 89.0)
    turns = (near * 1.4426950408889634).apply("round_i32")
    n = turns.apply("to_f32")
    # The high part of ln 2 has 16 bits, so that its product with k is exact.
    return _scale_exponential(x, turns, n.apply("madd", -_LN2[1], n.apply("madd", -_LN2[0], near)))


def _exp2_kernel(x: _Value) -> _Value:
    near = x.apply("max", -151.0).apply("min", 129.0)
    turns = near.apply("round_i32")
    return _scale_exponential(x, turns, (near - turns.apply("to_f32")) * (_LN2[0] + _LN2[1]))


def _scale_exponential(x: _Value, turns: _Value, r: _Value) -> _Value:
    """Reconstruction of an exponential: 2^turns e^r, or x where that is a NaN."""
    value = (r * r).apply("madd", _polynomial(r, _EXP), r) + 1.0
    # Two powers of 2, as the result may be smaller than the least normal number.
    half = turns.apply("shr", 1)
    first, second = ((part + 127).apply("shl", 23).apply("bits_f32") for part in (half, turns - half))
    return x.apply("ne", x).select_value(x, value * first * second)


def _log_kernel(x: _Value) -> _Value:
    """Logarithm: the exponent's bits and a polynomial around 1 (Muller 2016, chapter 3)."""
    # The least normal number is 2^-126; smaller ones are made normal first.
    small = x.apply("lt", 1.1754943508222875e-38)
    bits = small.select_value(x * 8388608.0, x).apply("bits_i32")
    # From sqrt(1/2) on, a number belongs to the next power of 2.
    turns = (bits - 0x3F3504F3).apply("shr", 23)
    # Without the exponent the bits are those of m, between sqrt(1/2) and sqrt(2).
    f = (bits - turns.apply("shl", 23)).apply("bits_f32") - 1.0
    k = small.select_value(turns - 23, turns).apply("to_f32")
    square = f * f
    rest = (square * f).apply("madd", _polynomial(f, _LOG), k * _LN2[1]) - square * 0.5
    value = k.apply("madd", _LN2[0], rest + f)
    # Infinities and NaNs have no such bits: they are put in again.
    value = x.apply("lt", float("inf")).select_value(value, x)
    value = x.apply("lt", 0.0).select_value(float("nan"), value)
    return x.apply("eq", 0.0).select_value(float("-inf"), value)


def _tanh_kernel(x: _Value) -> _Value:
    t = x.apply("abs")
    square = t * t
    small = (square * t).apply("madd", _polynomial(square, _TANH), t)
    whole = _exp_kernel(t + t) + 1.0
    large = _step(x.steps, "sub", "f32", (1.0, _step(x.steps, "div", "f32", (2.0, whole))))
    # 1 - 2 / (e^2t + 1) cancels for small t: there the odd polynomial is used.
    value = t.apply("lt", 0.625).select_value(small, large)
    return _copy_sign(value, x)


def _copy_sign(value: _Value, x: _Value) -> _Value:
    """A single that is not negative, with the sign of x."""
    sign = x.apply("bits_i32").apply("and", -(2**31))
    return value.apply("bits_i32").apply("or", sign).apply("bits_f32")


def _sine_kernel(x: _Value, turn: int) -> _Value:
    """Sine of x + turn pi/2: reduction by pi/2 in double precision (Cody and Waite 1980), then sine or cosine
    polynomial by the quadrant.
    """
    y = x.apply("to_f64")
    turns = (y * (1 / _HALF_PI[0])).apply("round_i32")
    n = turns.apply("to_f64")
    r = n.apply("madd", -_HALF_PI[1], n.apply("madd", -_HALF_PI[0], y))
    z = r * r
    sine = (z * r).apply("madd", _polynomial(z, _SIN), r)
    cosine = (z * z).apply("madd", _polynomial(z, _COS), z.apply("madd", -0.5, 1.0))
    quarter = turns + turn if turn else turns
    # Odd quadrants take the other polynomial, the lower half plane the other sign.
    value = quarter.apply("and", 1).select_value(cosine, sine)
    value = quarter.apply("and", 2).select_value(-value, value).apply("to_f32")
    if not turn:
        # The sine of -0 is -0.
        value = x.apply("eq", 0.0).select_value(x, value)
    return x.apply("abs").apply("le", LARGEST_ANGLE).select_value(value, float("nan"))


def _nearest_magnitude(x: _Value) -> _Value:
    """Without a sign: the integer nearest to |x|, ties to even. What is added leaves no place for a fraction."""
    a, large = x.apply("abs"), 2.0**52 if x.dtype == "f64" else 2.0**23
    return a.apply("lt", large).select_value((a + large) - large, a)


def _with_sign(a: _Value, x: _Value) -> _Value:
    """`a` with the sign of x, also where x is -0."""
    value = x.apply("lt", 0.0).select_value(-a, a)
    return value.apply("eq", x).select_value(x, value)


def _rint_kernel(x: _Value) -> _Value:
    return _with_sign(_nearest_magnitude(x), x)


def _truncate_magnitude(x: _Value) -> _Value:
    """Without a sign."""
    near = _nearest_magnitude(x)
    return near.apply("gt", x.apply("abs")).select_value(near - 1.0, near)


def _trunc_kernel(x: _Value) -> _Value:
    return _with_sign(_truncate_magnitude(x), x)


def _ties_away_kernel(x: _Value) -> _Value:
    low = _truncate_magnitude(x)
    return _with_sign((x.apply("abs") - low).apply("ge", 0.5).select_value(low + 1.0, low), x)


def _floor_kernel(x: _Value) -> _Value:
    near = _rint_kernel(x)
    return near.apply("gt", x).select_value(near - 1.0, near)


def _ceil_kernel(x: _Value) -> _Value:
    # ceil(x) = -floor(-x), the sign of zeros included.
    return -_floor_kernel(-x)


def _popcount_kernel(x: _Value) -> _Value:
    """Population count: sums of neighbouring fields of 2, 4 and 8 bits, then of all bytes by one product (Warren,
    Hacker's Delight, 2nd ed., section 5-1).
    """
    v = x if x.dtype == "u32" else x.apply("to_u32")
    # Of a pair of bits ab, 2a + b - a is its count: one `and` less than two masked terms (Hacker's Delight, section
    # 5-1).
    v = v - v.apply("shr", 1).apply("and", 0x55555555)
    v = v.apply("and", 0x33333333) + v.apply("shr", 2).apply("and", 0x33333333)
    v = (v + v.apply("shr", 4)).apply("and", 0x0F0F0F0F)
    if x.dtype == "u16":
        v = (v + v.apply("shr", 8)).apply("and", 31)
    elif x.dtype == "u32":
        v = (v * 0x01010101).apply("shr", 24)
    return v.apply("to_i32")


KERNELS: Final[dict[str, Callable[[_Value], _Value]]] = {
    "exp": _exp_kernel,
    "exp2": _exp2_kernel,
    "log": _log_kernel,
    "sin": lambda x: _sine_kernel(x, 0),
    "cos": lambda x: _sine_kernel(x, 1),
    "tanh": _tanh_kernel,
    "floor": _floor_kernel,
    "ceil": _ceil_kernel,
    "round": _ties_away_kernel,
    "trunc": _trunc_kernel,
    "rint": _rint_kernel,
    "popcount": _popcount_kernel,
}


@cache
def program(name: str, dtype: ElementType) -> Program:
    """The steps of a function of one operand."""
    steps = list[Step]()
    KERNELS[name](_Value(steps, -1, dtype))
    return Program(dtype, tuple(steps))


@cache
def power_program(exponent: int, dtype: ElementType) -> Program:
    """Integer power by repeated squaring, from the low bit of the exponent (Knuth 1997, section 4.6.3); a negative one
    is the reciprocal.
    """
    steps = list[Step]()
    x = _Value(steps, -1, dtype)
    found: _Value | None = None
    square, left = x, abs(exponent)
    while left:
        if left & 1:
            found = square if found is None else found * square
        left >>= 1
        # No square beyond the highest bit, which would be a step for nothing.
        square = square * square if left else square
    if found is None:
        # x^0 is 1 even of a NaN (C17, section F.10.4.4), but a program needs a step that has x's shape.
        _step(steps, "select", dtype, (x.apply("eq", x), 1.0, 1.0))
    elif exponent < 0:
        _step(steps, "div", dtype, (1.0, found))
    elif not steps:
        x.apply("move")
    return Program(dtype, tuple(steps))


def evaluate(found: Program, x: Any) -> Any:
    """The function on an array of the type, or on a number of NumPy's."""
    values = list[Any]()
    with np.errstate(all="ignore"):
        for step in found.steps:
            kind = NUMPY[step.dtype].type
            operands = [kind(o.value) if isinstance(o, Constant) else x if o < 0 else values[o] for o in step.operands]
            values.append(apply(step.operation, step.dtype, operands))
    return values[-1]


def print_kernel(name: str, found: Program, prefix: str) -> str:
    """The function `name` in C. `prefix` stands before the names of what it calls, which `print_helpers` defines."""
    kind, lines = TYPES[found.dtype], list[str]()
    for n, step in enumerate(found.steps):
        # Temporaries t0, t1, ... in the order of the steps: the compiler sees the same roundings.
        given = [
            f"t{o}" if isinstance(o, int) and o >= 0 else "x" if isinstance(o, int) else print_literal(o)
            for o in step.operands
        ]
        result = TYPES[BY_NAME[step.operation].result(step.dtype)]
        lines.append(f"  {result} t{n} = {prefix}{step.operation}_{step.dtype}({', '.join(given)});")
    body = "\n".join([*lines, f"  return t{len(lines) - 1};"])
    return f"{kind} {name}({kind} x) {{\n{body}\n}}"


def print_helpers(programs: Sequence[Program], prefix: str) -> str:
    """The functions that the operations of programs are."""
    used: set[tuple[str, ElementType]] = {(step.operation, step.dtype) for found in programs for step in found.steps}
    return "\n".join(print_helper(*operation).replace(PREFIX, prefix) for operation in sorted(used))

# SPDX-License-Identifier: Apache-2.0
"""Functions of the dialect math that no machine has, as formulas over those that machines have (MLIR source,
ExpandPatterns.cpp: tan and cosh; Higham 2002, section 1.14.1, after Kahan: expm1 and log1p).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Final, TypeAlias

from polyloom.frontend.error_function import ERF_ABOVE, ERF_BELOW, ERF_LIMIT


@dataclass(frozen=True, slots=True)
class Call:
    """An operation of `ir.operations` on formulas; `choose` has a comparison, `eq` or `lt`, as its first operand."""

    opcode: str
    operands: tuple[Formula, ...]


Formula: TypeAlias = "float | Call | None"
"""A constant, an operation, or the argument, which is None."""
X: Final = None


def _call(opcode: str, *operands: Formula) -> Call:
    return Call(opcode, operands)


def _polynomial(x: Formula, coefficients: tuple[float, ...]) -> Formula:
    """Horner's rule, the highest power first (Knuth 1997, section 4.6.4)."""
    first: Formula = coefficients[0]
    return reduce(lambda found, each: _call("add", _call("mul", found, x), each), coefficients[1:], first)


def _error_function() -> Call:
    near = _call("min", _call("max", X, -ERF_LIMIT), ERF_LIMIT)
    square = _call("mul", near, near)
    return _call("mul", near, _call("div", _polynomial(square, ERF_ABOVE), _polynomial(square, ERF_BELOW)))


_POWER: Final = _call("exp", X)
_INVERSE: Final = _call("exp", _call("neg", X))


def _exponential_difference() -> Call:
    """What e^x - 1 loses near 0 is lost in the logarithm of e^x, too, so that the quotient of both is exact again."""
    less = _call("sub", _POWER, 1.0)
    quotient = _call("div", _call("mul", less, X), _call("log", _POWER))
    far = _call("choose", _call("eq", less, -1.0), -1.0, quotient)
    return _call("choose", _call("eq", _POWER, 1.0), X, far)


def _shifted_logarithm() -> Call:
    more = _call("add", X, 1.0)
    quotient = _call("div", _call("mul", _call("log", more), X), _call("sub", more, 1.0))
    return _call("choose", _call("eq", more, 1.0), X, quotient)


def _hyperbolic_sine() -> Call:
    """Near 0, where e^x and e^-x cancel, (u + u / (u + 1)) / 2 with u = e^x - 1."""
    u = _exponential_difference()
    near = _call("mul", _call("add", u, _call("div", u, _call("add", u, 1.0))), 0.5)
    far = _call("mul", _call("sub", _POWER, _INVERSE), 0.5)
    return _call("choose", _call("lt", _call("abs", X), 1.0), near, far)


EXPANDED: Final[dict[str, Call]] = {
    "math.erf": _error_function(),
    "math.tan": _call("div", _call("sin", X), _call("cos", X)),
    "math.sinh": _hyperbolic_sine(),
    "math.cosh": _call("mul", _call("add", _POWER, _INVERSE), 0.5),
    # 1 / log(2) and 1 / log(10).
    "math.log2": _call("mul", _call("log", X), 1.4426950408889634),
    "math.log10": _call("mul", _call("log", X), 0.4342944819032518),
    "math.expm1": _exponential_difference(),
    "math.log1p": _shifted_logarithm(),
}
"""By operation, its formula."""

# SPDX-License-Identifier: Apache-2.0
"""Mathematical references of the operations of silicon.txt, in double precision over arrays of inputs, with the numbers
that the vendor's test gives to operations that take some."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
_erf: Final = np.vectorize(math.erf, otypes=[np.float64])
_tanh: Final = np.vectorize(math.tanh, otypes=[np.float64])
_erfc: Final = np.vectorize(math.erfc, otypes=[np.float64])
_SLOPE, _OFFSET = float(np.float32(1 / 6)), 0.5
_TENTH: Final = float(np.array(0x3DCCCCCD, np.uint32).view(np.float32))
_SCALE, _ALPHA = (float(np.array(bits, np.uint32).view(np.float32)) for bits in (0x3F867D5F, 0x3FD62D7D))
_SOFTPLUS_LIMIT: Final = 20.0


def _flag(holds: Any) -> Doubles:
    return np.asarray(holds, np.float64)


def _sigmoid(x: Doubles) -> Doubles:
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + e), e / (1 + e))


def _gelu(x: Doubles) -> Doubles:
    return 0.5 * x * _erfc(-x / math.sqrt(2))


def _gelu_derivative(x: Doubles) -> Doubles:
    return 0.5 * (1 + _erf(x / math.sqrt(2))) + x * np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


def _softplus(x: Doubles) -> Doubles:
    return np.where(x > _SOFTPLUS_LIMIT, x, np.log1p(np.exp(np.minimum(x, _SOFTPLUS_LIMIT))))


def _mish(x: Doubles) -> Doubles:
    # x tanh(log(1 + e^x)), with u = e^x below 0 and e^-x above, so that nothing overflows.
    u = np.exp(-np.abs(x))
    below = u * (u + 2) / (u * (u + 2) + 2)
    above = (1 + 2 * u) / (1 + 2 * u + 2 * u * u)
    return x * np.where(x < 0, below, above)


def _half_mantissa(x: Doubles) -> Doubles:
    """Ten bits of fraction, to nearest even."""
    fraction, exponent = np.frexp(x)
    return np.ldexp(np.rint(fraction * 2048), exponent - 11)


def _fill(x: Doubles) -> Doubles:
    return np.full_like(x, 5.0)


REFERENCES: Final[dict[str, Callable[[Doubles], Doubles]]] = {
    "Abs": np.abs, "Acos": np.arccos, "Acosh": np.arccosh, "Add1": lambda x: x + 1, "Asin": np.arcsin,
    "Asinh": np.arcsinh, "Atan": np.arctan, "Atanh": np.arctanh, "CastFp32ToFp16a": _half_mantissa, "Cbrt": np.cbrt,
    "Ceil": np.ceil, "Celu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "Clamp": lambda x: np.clip(x, -1, 1), "Cos": np.cos, "Cosh": np.cosh,
    "Elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), "EqualZero": lambda x: _flag(x == 0),
    "Erf": _erf, "Erfc": _erfc, "Exp": np.exp, "Exp2": np.exp2, "Expm1": np.expm1, "Fill": _fill, "Floor": np.floor,
    "Fmod": lambda x: np.fmod(x, 2.0), "Frac": lambda x: x - np.trunc(x), "Gelu": _gelu, "GeluAppx": _gelu,
    "GeluDerivative": _gelu_derivative,
    "GeluTanh": lambda x: x * _sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)),
    "GreaterThanEqualZero": lambda x: _flag(x >= 0), "GreaterThanZero": lambda x: _flag(x > 0),
    "Hardmish": lambda x: x * np.clip(0.5 * x + 1, 0, 1), "Hardshrink": lambda x: np.where(np.abs(x) > 0.5, x, 0.0),
    "Hardsigmoid": lambda x: np.clip(x * _SLOPE + _OFFSET, 0, 1), "Hardtanh": lambda x: np.clip(x, -1, 1),
    "Heaviside": lambda x: np.where(x == 0, 0.5, _flag(x > 0)), "Identity": lambda x: x,
    "LessThanEqualZero": lambda x: _flag(x <= 0), "LessThanZero": lambda x: _flag(x < 0), "Log": np.log,
    "Log1p": np.log1p, "LogWithBase": np.log2, "LogicalNot": lambda x: _flag(x == 0),
    "Lrelu": lambda x: np.where(x > 0, x, _TENTH * x), "Mish": _mish, "Neg": np.negative,
    "NotEqualZero": lambda x: _flag(x != 0), "Prelu": lambda x: np.where(x >= 0, x, 0.25 * x),
    "Rdiv": lambda x: 2 / x, "Reciprocal": lambda x: 1 / x, "ReluMax": lambda x: np.clip(x, 0, 5),
    "ReluMin": lambda x: np.maximum(x, 5), "Remainder": lambda x: np.mod(x, 2.0), "Round": np.rint,
    "Rpow": np.exp2, "Rsqrt": lambda x: 1 / np.sqrt(x),
    "Selu": lambda x: _SCALE * np.where(x > 0, x, _ALPHA * np.expm1(np.minimum(x, 0))), "Sigmoid": _sigmoid,
    "SigmoidAppx": _sigmoid, "Sign": np.sign, "Signbit": lambda x: _flag(np.signbit(x)),
    "Silu": lambda x: x * _sigmoid(x), "Sin": np.sin, "Sinh": np.sinh, "Softplus": _softplus,
    "Softshrink": lambda x: np.where(np.abs(x) > 0.5, x - np.copysign(0.5, x), 0.0),
    "Softsign": lambda x: x / (1 + np.abs(x)), "Sqrt": np.sqrt, "Square": np.square, "Tan": np.tan, "Tanh": np.tanh,
    "TanhDerivative": lambda x: 1 - _tanh(x) ** 2, "Tanhshrink": lambda x: x - _tanh(x),
    "Threshold": lambda x: np.where(x > 5, x, 10.0), "Trunc": np.trunc, "UnaryEq": lambda x: _flag(x == 0.5),
    "UnaryGe": lambda x: _flag(x >= 0.5), "UnaryGt": lambda x: _flag(x > 0.5), "UnaryLe": lambda x: _flag(x <= 0.5),
    "UnaryLt": lambda x: _flag(x < 0.5), "UnaryMax": lambda x: np.maximum(x, 0), "UnaryMin": lambda x: np.minimum(x, 0),
    "UnaryNe": lambda x: _flag(x != 0.5), "UnaryPower": np.square,
    "Xielu": lambda x: np.where(x > 0, x * x, np.expm1(np.minimum(x, 0)) - x) + 0.5 * x,
}  # fmt: skip
NARROW: Final[dict[str, Callable[[Doubles], Doubles]]] = {
    "Gelu": lambda x: 0.5 * x * (1 + _erf(x / math.sqrt(2)).astype(np.float32)).astype(np.float32)
}
"""References with a Dst of 16 bits, where the vendor promises what a framework in single precision gives."""
UNCLAIMED: Final[dict[str, Callable[[Doubles], Any]]] = {
    "Reciprocal": lambda x: x == 0, "Rdiv": lambda x: x == 0, "Rsqrt": lambda x: x <= 0, "Log": lambda x: x <= 0,
    "LogWithBase": lambda x: x <= 0, "Log1p": lambda x: x <= -1, "Atanh": lambda x: np.abs(x) >= 1,
    "Sin": lambda x: np.abs(x) > 65504, "Cos": lambda x: np.abs(x) > 65504, "Tan": lambda x: np.abs(x) > 65504,
}  # fmt: skip
"""Inputs for which an operation claims nothing: singularities, and arguments past their reduction."""

# SPDX-License-Identifier: Apache-2.0
"""Conversions and f64's multiply-add against exact numbers: Python's integers and fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyloom.ir.numbers import NUMPY, to_single_precision, type_limits
from polyloom.ir.operations import BY_NAME, ELEMENT_TYPES, INTEGERS, ElementType
from polyloom.ir.semantics import apply

FLOATS = [
    0.0,
    -0.5,
    0.5,
    1.5,
    -1.5,
    2.5,
    127.9,
    128.0,
    -129.0,
    255.9,
    300.0,
    65536.0,
    2147483520.0,
    2.0**31,
    -(2.0**31),
]
BEYOND = [3e9, 2.0**32, 1e12, -1e12, math.inf, -math.inf, math.nan]


def element(value: int | float, dtype: ElementType) -> Any:
    return np.array([value]).astype(NUMPY[dtype])


def applied(operation: str, dtype: ElementType, value: Any) -> Any:
    with np.errstate(all="ignore"):
        (found,) = apply(operation, dtype, [value])
    assert found.dtype == NUMPY[BY_NAME[operation].result(dtype)]
    return found


def wrapped(value: int, dtype: ElementType) -> int:
    least, most = type_limits(dtype) or (0, 0)
    return (value - least) % (most - least + 1) + least


def saturated(value: float, dtype: ElementType) -> int:
    """The integer part of a float, the nearest number of the type, 0 of a NaN."""
    least, most = type_limits(dtype) or (0, 0)
    if math.isnan(value):
        return 0
    if value == math.inf:
        return most
    return least if value == -math.inf else max(least, min(most, math.trunc(value)))


@pytest.mark.parametrize("to", INTEGERS)
@pytest.mark.parametrize("of", [*INTEGERS, "bool"])
def test_integers_wrap(of: ElementType, to: ElementType) -> None:
    if of == to:
        return
    least, most = type_limits(of) or (0, 0)
    for value in {least, most, 0, 1, most // 2, most // 2 + 1}:
        assert int(applied(f"to_{to}", of, element(value, of))) == wrapped(value, to)


@pytest.mark.parametrize("to", INTEGERS)
@pytest.mark.parametrize("of", ["f32", "f64"])
def test_floats_go_toward_zero(of: ElementType, to: ElementType) -> None:
    for value in (*FLOATS, *BEYOND):
        given = element(value, of)
        assert int(applied(f"to_{to}", of, given)) == saturated(float(given[0]), to), value


def test_limits_that_only_f64_has() -> None:
    for value, signed, unsigned in [
        (2147483647.9, 2**31 - 1, 2**31 - 1),
        (-2147483648.9, -(2**31), 0),
        (4294967295.9, 2**31 - 1, 2**32 - 1),
    ]:
        assert int(applied("to_i32", "f64", element(value, "f64"))) == signed
        assert int(applied("to_u32", "f64", element(value, "f64"))) == unsigned


@pytest.mark.parametrize("of", ELEMENT_TYPES)
def test_to_bool(of: ElementType) -> None:
    if of == "bool":
        return
    assert not applied("to_bool", of, element(0, of))
    assert applied("to_bool", of, element(1, of))
    if type_limits(of) is None:
        assert [bool(applied("to_bool", of, element(v, of))) for v in (-0.0, math.nan, 1e-40)] == [False, True, True]


@pytest.mark.parametrize("of", INTEGERS)
def test_to_floats(of: ElementType) -> None:
    for value in type_limits(of) or ():
        assert float(applied("to_f32", of, element(value, of))) == to_single_precision(value)
        assert float(applied("to_f64", of, element(value, of))) == value
    rounded = np.float32(float(2**24 + 1))
    if of in ("i32", "u32"):
        assert applied("to_f32", of, element(2**24 + 1, of)) == rounded == 2**24


def test_between_floats() -> None:
    assert applied("to_f32", "f64", element(0.1, "f64")) == np.float32(0.1)
    assert applied("to_f32", "f64", element(1e39, "f64")) == np.inf
    assert applied("to_f64", "f32", element(0.1, "f32")) == float(np.float32(0.1))


def test_bits() -> None:
    assert int(applied("bits_i32", "f32", element(-0.0, "f32"))) == -(2**31)
    assert float(applied("bits_f32", "i32", element(0x3F800000, "i32"))) == 1.0


DOUBLES = st.floats(allow_nan=False, allow_infinity=False)
NEAR = st.floats(-4, 4)


@given(st.one_of(DOUBLES, NEAR), st.one_of(DOUBLES, NEAR), st.one_of(DOUBLES, NEAR))
def test_multiply_add_of_doubles_rounds_once(a: float, b: float, c: float) -> None:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        wanted = float(exact)
    except OverflowError:
        wanted = math.inf if exact > 0 else -math.inf
    operands = [np.array([v], np.float64) for v in (a, b, c)]
    with np.errstate(all="ignore"):
        assert float(apply("madd", "f64", operands)[0]) == wanted
        assert float(apply("madd", "f64", [o[0] for o in operands])) == wanted


def test_multiply_add_of_doubles_at_the_edges() -> None:
    def found(a: float, b: float, c: float) -> float:
        with np.errstate(all="ignore"):
            return float(apply("madd", "f64", [np.float64(v) for v in (a, b, c)]))

    assert found(1 + 2.0**-30, 1 - 2.0**-30, -1.0) == -(2.0**-60)
    assert found(1e300, 1e300, -math.inf) == -math.inf
    assert found(1e300, 1e300, 0.0) == math.inf
    assert math.copysign(1, found(0.0, -1.0, -0.0)) == -1
    assert math.isnan(found(math.inf, 0.0, 1.0))


@pytest.mark.parametrize(("operation", "dtype"), [("add", "bool"), ("lt", "bool"), ("shl", "bool"), ("and", "f64")])
def test_what_types_lack(operation: str, dtype: ElementType) -> None:
    assert not BY_NAME[operation].accepts_type(dtype)

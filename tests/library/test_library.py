# SPDX-License-Identifier: Apache-2.0
"""The kernels of C's library functions: errors over all singles by a stride, special operands, exact roundings, and the
same bits as a function of C."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.frontend.python.helpers import assert_same, meaning

from polyloom.frontend import c
from polyloom.frontend.source import Options
from polyloom.ir.library import LARGEST_ANGLE, ULP, evaluate, power_program, program
from polyloom.ir.operations import ElementType

STRIDE = 30011
Array = npt.NDArray[Any]
ROUNDINGS = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint}


def singles(stride: int) -> Array:
    """Every stride-th single, of both signs, with infinities and NaNs, and the numbers around whole ones."""
    bits = np.arange(0, 1 << 32, stride, dtype=np.int64).astype(np.uint32)
    near = np.array([0.0, -0.0, 0.5, 1.5, 2.5, 2**22 + 0.5, 2**23 - 0.5, 2**23 + 1, np.inf, -np.inf], np.float32)
    return np.concatenate([bits.view(np.float32), near, -near, np.nextafter(near, np.float32(0))])


def errors(name: str, stride: int) -> Array:
    """In units of the last place of the exact result, for finite results."""
    x = singles(stride)
    if name in ("sin", "cos"):
        x = x[np.abs(x) <= LARGEST_ANGLE]
    got = evaluate(program(name, "f32"), x)
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(x.astype(np.float64))
        rounded = exact.astype(np.float32)
    assert np.array_equal(np.isnan(got), np.isnan(rounded))
    assert np.array_equal(np.isinf(got), np.isinf(rounded))
    assert np.array_equal(np.signbit(got[~np.isnan(got)]), np.signbit(rounded[~np.isnan(got)]))
    finite = np.isfinite(rounded)
    unit = np.exp2(np.maximum(np.frexp(exact[finite])[1], -125) - 24.0)
    return np.abs(got[finite].astype(np.float64) - exact[finite]) / unit


@pytest.mark.parametrize("name", ULP)
def test_the_error_is_below_its_bound(name: str) -> None:
    assert errors(name, STRIDE).max() <= ULP[name]


@pytest.mark.long
@pytest.mark.parametrize("name", ULP)
def test_the_error_is_below_its_bound_nearly_everywhere(name: str) -> None:
    assert errors(name, 2003).max() <= ULP[name]


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_large_angles_have_no_sine(name: str) -> None:
    x = np.array([2.0**31, -(2.0**40), 3e38, np.inf], np.float32)
    assert np.isnan(evaluate(program(name, "f32"), x)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ROUNDINGS)
def test_roundings_are_exact(name: str, dtype: type[np.floating[Any]]) -> None:
    with np.errstate(all="ignore"):
        x = singles(STRIDE).astype(dtype)
    got = evaluate(program(name, "f32" if dtype is np.float32 else "f64"), x)
    with np.errstate(all="ignore"):
        assert_same({"y": ROUNDINGS[name](x)}, {"y": got})


def test_halves_are_rounded_away_from_zero() -> None:
    x = np.array([0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, 8388607.5], np.float32)
    want = np.array([1, -1, 2, 3, -3, 0, 8388608], np.float32)
    assert_same({"y": want}, {"y": evaluate(program("round", "f32"), x)})


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 7, -2])
def test_powers_are_products(exponent: int) -> None:
    x = np.array([1.5, -2.0, 3.0, 0.5], np.float32)
    assert np.allclose(evaluate(power_program(exponent, "f32"), x), x.astype(np.float64) ** exponent, rtol=1e-6)


def test_a_function_of_c_and_its_nest_are_the_same(tmp_path: Path) -> None:
    pytest.importorskip("ziglang", reason="C needs the extra `c`")
    calls = [
        "expf",
        "logf",
        "sinf",
        "cosf",
        "tanhf",
        "exp2f",
        "floorf",
        "ceilf",
        "truncf",
        "rintf",
        "roundf",
        "nearbyintf",
    ]
    terms = [f"y[{k}][i] = {name}(x[i]);" for k, name in enumerate(calls)]
    terms += ["y[12][i] = powf(x[i], 5);", "y[13][i] = __builtin_expf(x[i] * 0.5f);", "y[14][i] = pow(x[i], -3);"]
    terms += ["y[15][i] = (float)floor(x[i] * 1.7);", "y[16][i] = powf(2.0f, x[i]);"]
    path = tmp_path / "f.c"
    body = f"void f(int n, const float x[n], float y[17][n]) {{ for (int i = 0; i < n; i++) {{ {' '.join(terms)} }} }}"
    path.write_text(f"#include <math.h>\n{body}\n", encoding="utf-8")
    nest, reference = c.load(str(path), Options())
    x = singles(1 << 25)
    inputs = {"x": x, "y": np.zeros((17, x.size), np.float32)}
    assert_same(meaning(nest, {"n": x.size}, inputs), reference({"n": x.size}, inputs))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_bits_are_counted(dtype: type[np.unsignedinteger[Any]]) -> None:
    most = np.iinfo(dtype).max
    x = np.concatenate([np.arange(0, most, max(1, most // 5003)), 2 ** np.arange(np.iinfo(dtype).bits), [most]])
    names: dict[type[np.unsignedinteger[Any]], ElementType] = {np.uint8: "u8", np.uint16: "u16", np.uint32: "u32"}
    found = evaluate(program("popcount", names[dtype]), x.astype(dtype))
    assert found.tolist() == [int(value).bit_count() for value in x]

# SPDX-License-Identifier: Apache-2.0
"""Functions for results of 16 bits: their errors over all numbers by a stride, where they are selected, and that a
wrong coefficient is noticed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.targets.tensix.loops.test_functions import SPECIAL, exp_of, quotient

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix.map.loops.functions import library_function
from polyloom.targets.tensix.map.loops.half import functions
from polyloom.targets.tensix.map.loops.half.selection import select_half_functions
from polyloom.targets.tensix.map.loops.half.tile_kernel import ROWS, select_kernel
from polyloom.targets.tensix.map.loops.lanes import ONE, Computed, float_bits
from polyloom.targets.tensix.map.loops.steps import Pointwise, Source, Spread, Step
from polyloom.targets.tensix.map.loops.vector import kernel_words
from polyloom.targets.tensix.map.oracle.function_errors import HALF_QUOTIENT_MISSED, LEAST, MISSED

HALF_OF_FP16 = 2.0**-12
EXACT: dict[str, Any] = {"exp_half": np.exp, "exp2_half": np.exp2, "sqrt_half": np.sqrt}
N = pl.sizes("N")
X: Source = ("array", 0)


def computed(name: str, *operands: NDArray[np.float32]) -> NDArray[np.float64]:
    bits = [np.resize(x.view(np.uint32), (-(-x.size // 32), 32)) for x in operands]
    with np.errstate(all="ignore"):
        found = library_function(Computed(bits[0].shape), name, *bits)
    return found.view(np.float32).ravel()[: operands[0].size].astype(np.float64)


@pytest.mark.parametrize("name", EXACT)
def test_errors_over_all_numbers_by_a_stride(name: str) -> None:
    patterns = np.arange(0, 2**32, 30011, dtype=np.uint64).astype(np.uint32).view(np.float32)
    near = np.linspace(-130, 130, 40001).astype(np.float32)
    x = np.concatenate([SPECIAL, patterns, near])
    # An exponential takes a NaN for an infinity; a denormal is 0, whose root is.
    x = x[~np.isnan(x)] if name != "sqrt_half" else x[(x == 0) | ~(np.abs(x) < LEAST)]
    with np.errstate(all="ignore"):
        want, got = EXACT[name](x.astype(np.float64)), computed(name, x)
        far = np.abs(got - want) > MISSED[name] * 2.0**-23 * np.abs(want) + LEAST
        finite = np.isfinite(want.astype(np.float32))
        same = (got == want.astype(np.float32)) | (np.isnan(got) & np.isnan(want))
    assert not x[np.where(finite, far | ~np.isfinite(got), ~same)].size
    assert MISSED[name] * 2.0**-23 < HALF_OF_FP16


def test_quotients_of_all_numbers_by_a_stride() -> None:
    rng = np.random.default_rng(9)
    x, y = (rng.integers(0, 2**32, 1 << 16, np.uint32).view(np.float32) for _ in range(2))
    with np.errstate(all="ignore"):
        for numerator, name, operands in ((x, "div_half", (x, y)), (np.float32(1), "reciprocal_half", (y,))):
            exact = numerator.astype(np.float64) / y.astype(np.float64)
            ok = np.isfinite(numerator) & np.isfinite(y) & (np.minimum(np.abs(numerator), np.abs(y)) >= LEAST)
            ok &= (np.abs(exact) < 2.0**125) & (np.abs(exact) >= LEAST)
            missed = np.abs(computed(name, *operands) / exact - 1)[ok]
            assert ok.sum() > 20000 and missed.max() <= HALF_QUOTIENT_MISSED * 2.0**-23 < HALF_OF_FP16


def test_exponentials_end_in_zero_and_infinity() -> None:
    x = np.array([-np.inf, -1e30, -104, 0, -0.0, 89, 1e30, np.inf], np.float32)
    np.testing.assert_array_equal(computed("exp_half", x), [0, 0, 0, 1, 1, np.inf, np.inf, np.inf])
    ones = np.array([1, -3, 0], np.float32)
    np.testing.assert_array_equal(computed("div_half", ones, np.array([np.inf, -np.inf, 5], np.float32)), [0, 0, 0])


def selected(*steps: Step) -> list[str]:
    formula = Pointwise("y", "f32", (Spread("x", (0,)), Spread("u", (0,))), (), steps, ("step", len(steps) - 1))
    return [step.name for step in select_half_functions(formula).steps]


def after(number: int) -> Source:
    return "step", number


def test_what_reaches_the_result_without_cancellation_is_shorter() -> None:
    """x / (1 + exp(x)) * u, and a reciprocal."""
    steps = (
        Step("exp", (X,)),
        Step("sfpadd", (after(0), ("bits", ONE)), (0,)),
        Step("div", (X, after(1))),
        Step("sfpmul", (after(2), ("array", 1)), (0,)),
    )
    assert selected(*steps) == ["exp_half", "sfpadd", "div_half", "sfpmul"]
    assert selected(Step("div", (("bits", ONE), X))) == ["reciprocal_half"]


@pytest.mark.parametrize(
    "last",
    [
        Step("sfpsub", (("bits", ONE), after(0))),
        Step("sfpadd", (after(0), X), (0,)),
        Step("sfpmad", (after(0), X, ("bits", ONE)), (0,)),
        Step("exp", (after(0),)),
        Step("select", (after(0), ("bits", ONE), X, X), (0,)),
    ],
)
def test_what_may_cancel_is_not(last: Step) -> None:
    assert selected(Step("exp", (X,)), last)[0] == "exp"


@pytest.mark.parametrize("format", ["bf16", "fp16"])
def test_they_run_within_their_bounds(format: Any) -> None:
    x, y = (np.random.default_rng(n).uniform(-8, 8, 300).astype(np.float32) for n in range(2))
    for run in (
        pl.compile(exp_of, on="tensix", format=format).run(N=300, x=x),
        pl.compile(quotient, on="tensix", format=format).run(N=300, x=x, y=y),
    ):
        assert run.verified and run.data["verdict"] == "within"


def test_a_wrong_coefficient_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tile and arithmetic agree, the program does not."""
    *others, last = functions._EXP  # pyright: ignore[reportPrivateUsage]: sabotage
    monkeypatch.setattr(functions, "_EXP", (*others, last * (1 + 2.0**-5)))
    with pytest.raises(PolyloomError) as error:
        pl.compile(exp_of, on="tensix", format="bf16").run(N=300)
    assert (error.value.code, error.value.exit_code) == ("PL1235", 4)


def gated_unit() -> Pointwise:
    """x / (1 + exp(-x)) * u."""
    steps = (
        Step("sfpmov", (X,), (1,)),
        Step("exp", (after(0),)),
        Step("sfpadd", (after(1), ("bits", ONE)), (0,)),
        Step("div", (X, after(2))),
        Step("sfpmul", (after(3), ("array", 1)), (0,)),
    )
    return Pointwise("y", "f32", (Spread("x", (0,)), Spread("u", (0,))), (), steps, after(4))


def test_a_gated_linear_unit_is_short() -> None:
    assert len(kernel_words(gated_unit(), 2)) > 100
    kernel = select_kernel(select_half_functions(gated_unit()), 2, None, has_pairs=True)
    # Two vectors at a time, with the bounds of the exponential in constant registers.
    assert len(kernel.walk.vectors) == 2 and len(kernel.words) * kernel.walk.runs <= 28 * 32
    assert {*map(float_bits, (256.0, 511.0))} <= {*kernel.constants}


def test_of_one_number_for_a_row_a_vector_is_computed_once() -> None:
    formula = Pointwise("y", "f32", (Spread("x", (0,)),), (), (Step("div", (("bits", ONE), X)),), after(0))
    kernel = select_kernel(select_half_functions(formula), 3, None, has_pairs=True, has_rows=True)
    assert kernel.walk is ROWS and len(kernel.words) * kernel.walk.runs <= 24 * 4

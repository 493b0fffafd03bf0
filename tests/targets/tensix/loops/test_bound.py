# SPDX-License-Identifier: Apache-2.0
"""The bound holds for random and for hostile numbers, is not idle, and an error above it ends with exit code 4."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.conftest import Golden
from tests.targets.tensix.loops.programs import product, source
from tests.targets.tensix.matrix import twin

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.targets.subject import Written
from polyloom.targets.tensix.map.loops import form
from polyloom.targets.tensix.map.oracle import arithmetic
from polyloom.targets.tensix.map.oracle.bound import Factor, product_bound, ulp_distance
from polyloom.targets.tensix.options import Dest, Name, Options
from polyloom.targets.tensix.words.arrays.formats import FORMATS, dst_result_format

Array = NDArray[Any]
FLOATS: tuple[twin.Style, ...] = ("tf32", "bf16", "fp16")


def spread(rng: np.random.Generator, shape: tuple[int, int], decades: float) -> Array:
    """Numbers of many magnitudes, some of them zero."""
    made = rng.uniform(-1, 1, shape) * 2.0 ** rng.uniform(-decades, decades, shape)
    return np.where(rng.random(shape) < 0.1, 0, made).astype(np.float32)


def errors(left: Array, right: Array, name: Name, dest: Dest, fidelity: int) -> tuple[Array, Array]:
    f, packed = FORMATS[name], dst_result_format(name, dest)
    got = packed.decode(arithmetic.multiply_tiles(f.encode(left), f.encode(right), f, dest, fidelity))
    exact = left.astype(np.float64) @ right.astype(np.float64)
    return np.abs(got - exact), product_bound(exactly(left), exactly(right), f, dest, fidelity)


def exactly(values: Array) -> Factor:
    return Factor(values, np.zeros(values.shape))


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(FLOATS),
    st.sampled_from([16, 32]),
    st.integers(1, 4),
    st.integers(1, 80),
    st.sampled_from([0.0, 1.0, 3.0]),
)
def test_no_error_exceeds_the_bound(
    seed: int, name: Name, dest: Dest, fidelity: int, depth: int, decades: float
) -> None:
    rng = np.random.default_rng(seed)
    left, right = spread(rng, (9, depth), decades), spread(rng, (depth, 11), decades)
    error, allowed = errors(left, right, name, dest, fidelity)
    assert (error <= allowed).all()


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(FLOATS),
    st.sampled_from([16, 32]),
    st.integers(1, 4),
    st.integers(1, 80),
    st.integers(4, 22),
)
def test_factors_that_are_missed(seed: int, name: Name, dest: Dest, fidelity: int, depth: int, bits: int) -> None:
    """The tile's and the program's factors lie anywhere within their error, and as far from each other."""
    rng = np.random.default_rng(seed)
    f, packed = FORMATS[name], dst_result_format(name, dest)

    def near(values: Array) -> tuple[Factor, Array, Array]:
        error = np.abs(values) * 2.0**-bits * rng.choice([0, 1], values.shape)
        factor = Factor(values.astype(np.float64), error + np.abs(values) * 2.0**-24)
        ours, theirs = ((values + error * rng.choice([0, 1], values.shape)).astype(np.float32) for _ in range(2))
        return factor, ours, theirs

    left, ours, theirs = near(spread(rng, (9, depth), 1.0))
    right, also_ours, also_theirs = near(spread(rng, (depth, 11), 1.0))
    got = packed.decode(arithmetic.multiply_tiles(f.encode(ours), f.encode(also_ours), f, dest, fidelity))
    exact = theirs.astype(np.float64) @ also_theirs.astype(np.float64)
    assert (np.abs(got - exact) <= product_bound(left, right, f, dest, fidelity)).all()


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("fidelity", [1, 2, 3, 4])
def test_the_bound_is_within_ten_of_real_errors(name: Name, fidelity: int) -> None:
    rng = np.random.default_rng(fidelity)
    left, right = (rng.uniform(0.5, 1, (32, 32)).astype(np.float32) for _ in range(2))
    error, allowed = errors(left, right, name, 32, fidelity)
    assert error.max() * 10 > allowed.max()


def test_higher_fidelity_has_a_smaller_bound() -> None:
    a = np.full((1, 32), 1.2345678, np.float32)
    for name in FLOATS:
        bounds = [
            product_bound(exactly(a), exactly(a.T), FORMATS[name], 32, fidelity).item() for fidelity in (1, 2, 3, 4)
        ]
        # Not each phase more has a smaller bound: what it adds may make up for the rounding of the factors.
        assert bounds[0] > 4 * bounds[3]


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("dest", [16, 32])
def test_arithmetic_is_that_of_the_matrix_units_twin(name: twin.Style, dest: Dest) -> None:
    """One MVMUL's depth, in one phase: the twin of tests/targets/tensix/matrix, which a million operands hold to the
    model."""
    rng = np.random.default_rng(1)
    f = FORMATS[name]
    left, right = f.encode(spread(rng, (32, 16), 4)), f.encode(spread(rng, (16, 32), 4))
    got = arithmetic.multiply_tiles(left, right, f, dest, 1)
    mode = twin.Mode(name, dest == 32)

    def src(datums: Array) -> twin.Source:
        x = datums.astype(np.uint32)
        usual = x >> 13 if name == "tf32" else x << 3 if name == "bf16" else (x & 0x8000) << 3 | x & 0x7FFF
        return twin.source((usual & 0x40000 | (usual & 0x3FF) << 8 | usual >> 10 & 0xFF).astype(np.uint32), name)

    def part(s: twin.Source, of: slice, left: bool) -> twin.Source:
        def cut(p: Array) -> Array:
            return p[:, None, of] if left else p.T[None, :, of]

        return twin.Source(cut(s.negative), cut(s.exponent), cut(s.mantissa))

    a, b = src(right), src(left)
    sums = [twin.group(part(a, of, False), part(b, of, True), mode) for of in (slice(0, 8), slice(8, 16))]
    pattern = twin.accumulate(sums, np.zeros((32, 32), np.uint32), mode)
    expected = pattern if dest == 32 else pattern >> 16
    if (name, dest) == ("fp16", 16):
        half = pattern >> 13 & 0x7FFF
        expected = np.where(half < 0x400, 0, pattern >> 16 & 0x8000 | half)
    assert np.array_equal(got, expected)


def test_large_programs_are_summed_as_the_interpreter_does() -> None:
    """The same bits, with `madd` and with a rounded product."""
    separate = (
        "  c[i, j, k] = A[i, k] * B[k, j] if k = 0\n"
        "  c[i, j, k] = c[i, j, k-1] + A[i, k] * B[k, j] if k >= 1\n  C[i, j] = c[i, j, k] if k = K - 1\n"
    )
    rng = np.random.default_rng(3)
    inputs = {"A": spread(rng, (7, 21), 3), "B": spread(rng, (21, 9), 3)}
    for body in ("", separate):
        subject = form.FORM.load(Written(source(product(body=body))), None, Options())
        values = {"N": 7, "M": 9, "K": 21}
        small = subject.oracles[1].outputs(values, inputs)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(form, "_SMALL", 0)
            large = subject.oracles[1].outputs(values, inputs)
        assert small is not None and large is not None
        assert np.array_equal(small["C"].view(np.uint32), large["C"].view(np.uint32))


def test_an_error_above_the_bound_is_exit_4(golden: Golden) -> None:
    a, b = np.full((2, 3), 3e5, np.float32), np.ones((3, 2), np.float32)
    with pytest.raises(PolyloomError) as error:
        pl.compile(source(product()), on="tensix", format="fp16").run(N=2, M=2, K=3, A=a, B=b)
    assert (error.value.code, error.value.exit_code) == ("PL1235", 4)
    golden("above-bound", str(error.value))
    assert pl.compile(source(product()), on="tensix", format="tf32").run(N=2, M=2, K=3, A=a, B=b).verified


def test_distances_count_values_of_the_format() -> None:
    def ulp(a: float, b: float, name: Name, dest: Dest) -> int:
        x, y = np.array([a], np.float32), np.array([b], np.float32)
        return int(ulp_distance(x, y, dst_result_format(name, dest))[0])

    assert ulp(1, 1 + 2**-23, "tf32", 32) == 1 and ulp(1, 1 + 2**-7, "bf16", 16) == 1
    assert ulp(1, 1 + 2**-10, "fp16", 16) == 1
    assert ulp(0.0, -0.0, "tf32", 32) == 0 and ulp(-(2.0**-126), 2.0**-126, "tf32", 32) == 2
    assert ulp(2.0**-130, 0, "tf32", 32) == 0

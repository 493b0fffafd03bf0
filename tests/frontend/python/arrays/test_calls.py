# SPDX-License-Identifier: Apache-2.0
"""Calls of array kernels: types from the first call, defaults, results, sizes, and what is said of wrong arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.conftest import Golden

import polyloom as pl
from polyloom.diagnostics import PolyloomError

N, M = pl.sizes("N M")


def inferred() -> pl.Kernel:
    @pl.kernel
    def scaled(x: Any, y: Any, by: Any = 2.0, *, twice: Any = False) -> Any:
        z = x * by + y
        return z * 2 if twice else z

    return scaled


@pl.kernel
def steps(x: pl.f32[N], n: int = 3) -> Any:
    for _ in range(n):
        x[1:] += x[:-1]
    return x[n], n


@pl.kernel
def sized(x: pl.f32[N]) -> Any:
    return x * N + M


def test_types_follow_from_the_first_call() -> None:
    kernel, x = inferred(), np.ones((4, 3), np.float32)
    assert np.array_equal(kernel(x, x[0]), np.full((4, 3), 3, np.float32))
    assert kernel.arrays.program.parameters == ("N", "M")
    assert [(s.name, s.dtype, len(s.shape)) for s in kernel.arrays.program.storage if s.role == "argument"] == [
        ("x", "f32", 2),
        ("y", "f32", 1),
        ("by", "f32", 0),
        ("result", "f32", 2),
    ]
    assert pl.compile(kernel, on="riscv:rv64gc").run(N=5, M=2).verified


def test_a_kernel_without_types_asks_for_a_call() -> None:
    with pytest.raises(PolyloomError, match="PL0135"):
        assert inferred().nest


def test_defaults_and_sizes_are_numbers_in_a_call() -> None:
    x = np.ones(5, np.float32)
    assert steps(x) == (x[3], 3) and x.tolist() == [1, 4, 7, 8, 8]
    assert np.array_equal(sized(np.ones(2, np.float32), M=5), np.full(2, 7, np.float32))


def test_numpy_and_the_ordered_meaning_agree() -> None:
    found = sized.compare_with_numpy({"N": 3, "M": 2}, {"x": np.ones(3, np.float32)})
    assert found["result"].difference == found["result"].bound == 0


@pytest.mark.parametrize(
    ("arguments", "named", "message"),
    [
        ((np.ones(2),), {"M": 1}, "was given elements of the type float64"),
        (([1.0],), {"M": 1}, "was given a value of the type list"),
        ((np.ones((2, 2), np.float32),), {"M": 1}, "has the shape"),
        ((np.ones(2, np.float32),), {}, "the size `M` has no value"),
        ((), {"M": 1}, "missing a required argument"),
        ((np.ones(2, np.float32),), {"K": 1}, "unexpected keyword"),
    ],
)
def test_wrong_arguments_are_refused(arguments: Any, named: Any, message: str) -> None:
    with pytest.raises(PolyloomError, match=message) as caught:
        sized(*arguments, **named)
    assert caught.value.code == "PL0145" and caught.value.diagnostics[0].help


@pytest.mark.parametrize(
    "values", [[1.0, None], ["a", "b"], [1j, 2j], [{}, {}]], ids=["object", "text", "complex", "maps"]
)
def test_elements_that_no_machine_has_are_refused(values: list[Any], golden: Golden) -> None:
    found = np.array(values)
    with pytest.raises(PolyloomError) as caught:
        inferred()(found, found)
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.span is not None
    golden(f"elements-{found.dtype.kind}", f"{diagnostic.code}: {diagnostic.message}\nhelp: {diagnostic.help}")

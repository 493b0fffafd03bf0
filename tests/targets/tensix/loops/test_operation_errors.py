# SPDX-License-Identifier: Apache-2.0
"""Errors of single sums and products: no result of the vector unit is beyond them, whatever its operands miss, and they
are not idle."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

from polyloom.ir.semantics import operation_function
from polyloom.targets.tensix.map.oracle.operation_errors import operation_error
from polyloom.targets.tensix.source.oracle.multiply import multiply_add

Array = NDArray[Any]
COUNT: Final = 20_000


def on_tile(name: str, operands: list[Array]) -> Array:
    a, b = operands[:2]
    one, zero = np.ones_like(a), np.zeros_like(a)
    factors = {"sfpadd": (a, one, b), "sfpsub": (b, -one, a), "sfpmul": (a, b, zero)}
    x, y, z = (each.view(np.uint32) for each in factors.get(name, operands))
    return multiply_add(x, y, z, False).view(np.float32)


def in_program(name: str, operands: list[Array], *, is_fused: bool) -> Array:
    if name == "sfpmad" and not is_fused:
        return operands[0] * operands[1] + operands[2]
    source = {"sfpadd": "add", "sfpsub": "sub", "sfpmul": "mul", "sfpmad": "madd"}[name]
    return operation_function(source, "f32")(*operands)


@pytest.mark.parametrize(("name", "is_fused"), [
    ("sfpadd", False), ("sfpsub", False), ("sfpmul", False), ("sfpmad", False), ("sfpmad", True),
])  # fmt: skip
@pytest.mark.parametrize("exponents", [0, 2, 20, 62])
@pytest.mark.parametrize("missed", [0, 1, 5])
def test_no_result_is_beyond(name: str, is_fused: bool, exponents: int, missed: int) -> None:
    """`missed` units in the last place of each operand."""
    rng = np.random.default_rng(exponents + missed)
    values = [
        np.ldexp(rng.uniform(-1, 1, COUNT), rng.integers(-exponents, exponents + 1, COUNT)).astype(np.float32)
        for _ in range(3)
    ]
    # Sums that nearly cancel show what alignment loses.
    values[2][: COUNT // 2] = -(values[0] * values[1])[: COUNT // 2] * rng.uniform(0.9, 1.1, COUNT // 2)
    errors = [np.abs(np.spacing(v)).astype(np.float64) * missed for v in values]
    ours = [(v + e * rng.integers(-1, 2, COUNT)).astype(np.float32) for v, e in zip(values, errors, strict=True)]
    count = 3 if name == "sfpmad" else 2
    with np.errstate(all="ignore"):
        program, error = operation_error(name, list(zip(values, errors, strict=True))[:count], is_fused=is_fused)
        expected = in_program(name, values[:count], is_fused=is_fused)
        seen = np.abs(on_tile(name, ours[:count]).astype(np.float64) - expected)
    assert np.array_equal(program, expected) and (seen <= error).all()
    assert seen.max() * 5 >= error.max() or not missed

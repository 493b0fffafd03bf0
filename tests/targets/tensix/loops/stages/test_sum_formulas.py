# SPDX-License-Identifier: Apache-2.0
"""Formulas of several products: the part of one product becomes a stage behind it, where it has a function."""

from __future__ import annotations

import numpy as np
import pytest

from polyloom.ir import stage_interpret, stage_verify
from polyloom.ir.stage import Program
from polyloom.ir.stage_text import print_stages, read_stages
from polyloom.targets.tensix.map.loops.fused.sum_formulas import split_sum_formulas

HEAD = """\
array X: f32[N, K]
array A: f32[K, M]
array B: f32[K, M]
array R: f32[N, M]
array S: f32[N, M]
array Y: f32[N, M]
product R[i, j] = sum k: X[i, k] * A[k, j]; label R
product S[i, j] = sum k: X[i, k] * B[k, j]; label S
"""
TAIL = "; label Y\noutput Y = Y[0, 1]\n"
GATED = "formula Y[i, j] = mul(div(R[i, j], add(1.0, exp(neg(R[i, j])))), S[i, j])"


def program(formula: str, more: str = "") -> Program:
    made = read_stages(HEAD + formula + TAIL + more)
    stage_verify.verify(made)
    return made


def test_the_part_of_the_first_product_is_a_stage_behind_it() -> None:
    given = program(GATED)
    made = split_sum_formulas(given)
    stage_verify.verify(made)
    assert [stage.result for stage in made.stages] == ["R", "R_2", "S", "Y"]
    assert "R_2[i, j] = div(R[i, j], add(1.0, exp(neg(R[i, j]))))" in print_stages(made)
    assert "Y[i, j] = mul(R_2[i, j], S[i, j])" in print_stages(made)
    rng = np.random.default_rng(0)
    arrays = {"X": (3, 2), "A": (2, 4), "B": (2, 4)}
    inputs = {name: rng.normal(0, 1, shape).astype(np.float32) for name, shape in arrays.items()}
    sizes = {"N": 3, "K": 2, "M": 4}
    whole, parts = (stage_interpret.interpret(each, sizes, inputs)["Y"] for each in (given, made))
    np.testing.assert_array_equal(whole, parts)


@pytest.mark.parametrize(
    "formula, more",
    [
        # Nothing but a product and a sum: a stage would cost more.
        ("formula Y[i, j] = mul(add(R[i, j], 1.0), S[i, j])", ""),
        # What is left still reads the first product.
        ("formula Y[i, j] = add(mul(exp(R[i, j]), S[i, j]), R[i, j])", ""),
        # Of the last product's sums the formula itself is computed.
        ("formula Y[i, j] = mul(exp(S[i, j]), R[i, j])", ""),
        # The first product is a result, so that its sums are needed in memory.
        (GATED, "output R = R[0, 1]\n"),
    ],
)
def test_other_formulas_stay_whole(formula: str, more: str) -> None:
    given = program(formula, more)
    assert split_sum_formulas(given) == given

# SPDX-License-Identifier: Apache-2.0
"""The examples' meaning: the interpreter against formulas written down independently in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.frontend.pla.helpers import EXAMPLES, ROOT
from tests.made_up import random_inputs

from polyloom.frontend.pla import load
from polyloom.ir.interpret import interpret

Arrays = dict[str, npt.NDArray[Any]]
Formula = Callable[[dict[str, int], Arrays], npt.NDArray[Any]]


def bits(p: dict[str, int], a: Arrays) -> npt.NDArray[Any]:
    return np.array([int(a["in"]) >> min(i, 31) & 1 for i in range(p["N"])], np.int32)


def fir(p: dict[str, int], a: Arrays) -> npt.NDArray[Any]:
    return np.convolve(a["u"].astype(float), a["a"].astype(float))[: p["N"]] if p["N"] and p["T"] else np.zeros(p["N"])


def matmul(p: dict[str, int], a: Arrays) -> npt.NDArray[Any]:
    return a["A"].astype(float) @ a["B"].astype(float)


def conv(p: dict[str, int], a: Arrays) -> npt.NDArray[Any]:
    windows = np.lib.stride_tricks.sliding_window_view(a["in"].astype(float), (p["R"], p["S"]), (1, 2))
    return np.einsum("chwrs,mcrs->mhw", windows, a["weight"].astype(float))


def lcs(p: dict[str, int], a: Arrays) -> npt.NDArray[Any]:
    table = np.zeros((p["N"] + 1, p["M"] + 1), np.int32)
    for i in range(p["N"]):
        for j in range(p["M"]):
            table[i + 1, j + 1] = table[i, j] + 1 if a["a"][i] == a["b"][j] else max(table[i, j + 1], table[i + 1, j])
    return table[-1, -1]


def jacobi1d(p: dict[str, int], a: Arrays) -> npt.NDArray[Any]:
    row = a["initial"].astype(float)
    for _ in range(p["T"]):
        row[1:-1] = (row[:-2] + row[1:-1] + row[2:]) / 3
    return row


def matvec(p: dict[str, int], a: Arrays) -> npt.NDArray[Any]:
    return a["A"].astype(float) @ a["x"].astype(float)


def axpy(p: dict[str, int], a: Arrays) -> npt.NDArray[Any]:
    return a["a"].astype(float) * a["x"] + a["y"]


def relu(p: dict[str, int], a: Arrays) -> npt.NDArray[Any]:
    return np.maximum(a["x"], 0)


def clamp(p: dict[str, int], a: Arrays) -> npt.NDArray[Any]:
    return np.minimum(np.maximum(a["x"], a["low"]), a["high"])


CASES: list[tuple[Formula, str, dict[str, int]]] = [
    (bits, "bits", {"N": 40}),
    (bits, "bits", {"N": 0}),
    (fir, "y", {"N": 23, "T": 5}),
    (fir, "y", {"N": 3, "T": 7}),
    (fir, "y", {"N": 3, "T": 0}),
    (matmul, "C", {"N": 5, "M": 7, "K": 11}),
    (matmul, "C", {"N": 2, "M": 2, "K": 0}),
    (matmul, "C", {"N": 0, "M": 0, "K": 0}),
    (conv, "out", {"M": 3, "C": 2, "H": 5, "W": 4, "R": 3, "S": 2}),
    (conv, "out", {"M": 1, "C": 1, "H": 1, "W": 1, "R": 1, "S": 1}),
    (lcs, "length", {"N": 17, "M": 13}),
    (lcs, "length", {"N": 0, "M": 4}),
    (jacobi1d, "final", {"T": 7, "N": 12}),
    (jacobi1d, "final", {"T": 3, "N": 1}),
    (jacobi1d, "final", {"T": 0, "N": 2}),
    (matvec, "y", {"N": 9, "M": 6}),
    (axpy, "z", {"N": 9}),
    (axpy, "z", {"N": 0}),
    (relu, "y", {"N": 5, "M": 3}),
    (clamp, "y", {"N": 9}),
    (clamp, "y", {"N": 1}),
]


@pytest.mark.parametrize(("formula", "output", "parameters"), CASES)
def test_example_means_its_formula(formula: Formula, output: str, parameters: dict[str, int]) -> None:
    program = load(ROOT / "examples" / f"{formula.__name__}.pla")
    inputs = random_inputs(program, parameters, 1)
    result = interpret(program, parameters, inputs)[output]
    expected = formula(parameters, inputs)
    assert result.shape == expected.shape
    if result.dtype == np.float32:
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)
    else:
        np.testing.assert_array_equal(result, expected)


def test_every_example_has_a_formula() -> None:
    assert {path.stem for path in EXAMPLES} == {case[0].__name__ for case in CASES}

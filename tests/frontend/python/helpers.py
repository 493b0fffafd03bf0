# SPDX-License-Identifier: Apache-2.0
"""What the tests of Python kernels share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from polyloom.ir.nest import Nest
from polyloom.ir.nest_interpret import interpret
from polyloom.ir.numbers import NUMPY

ROOT = Path(__file__).parents[3]
KERNELS = ROOT / "examples" / "kernels"
Arrays = dict[str, npt.NDArray[Any]]


def arguments(nest: Nest, parameters: Mapping[str, int], seed: int = 0) -> Arrays:
    """Values for every argument: real numbers in [1, 2), integers from 0 to 3; square matrices dominate on their
    diagonal, so that decompositions have results."""
    generator = np.random.default_rng(seed)
    return {
        s.name: _values(generator, s.dtype, tuple(e.evaluate(parameters) for e in s.shape))
        for s in nest.storage
        if s.role == "argument"
    }


def _values(generator: np.random.Generator, dtype: Any, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    if dtype != "f32":
        return np.asarray(generator.integers(0, 4, shape)).astype(NUMPY[dtype])
    values = np.asarray(generator.uniform(1, 2, shape))
    if len(shape) == 2 and shape[0] == shape[1]:
        values = values + values.T + 4 * shape[0] * np.eye(shape[0])
    return values.astype(np.float32)


def assert_same(expected: Mapping[str, npt.NDArray[Any]], got: Mapping[str, npt.NDArray[Any]]) -> None:
    """The same arrays, bit for bit (NaNs are alike)."""
    assert expected.keys() == got.keys()
    for name, want in expected.items():
        assert want.dtype == got[name].dtype
        assert np.array_equal(_bits(want), _bits(got[name])), name


def _bits(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if array.dtype.kind != "f":
        return array
    bits = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").astype(np.uint64)
    return np.where(np.isnan(array), np.uint64(2**64 - 1), bits.reshape(array.shape))


def meaning(nest: Nest, parameters: Mapping[str, int], inputs: Arrays) -> Mapping[str, npt.NDArray[Any]]:
    """What the nest computes, in its order."""
    return interpret(nest, parameters, inputs)

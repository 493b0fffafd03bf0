# SPDX-License-Identifier: Apache-2.0
"""Arrays of NumPy as the matrices of a product, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyloom.analysis.contraction import Matrix

Array = NDArray[Any]


def flat(matrix: Matrix, array: Array) -> Array:
    """The array as a matrix."""
    order = (*matrix.rows, *matrix.columns)
    rows = int(np.prod([array.shape[n] for n in matrix.rows], dtype=np.int64))
    return array.transpose(order).reshape(rows, -1)


def unflat(matrix: Matrix, values: Array, shape: tuple[int, ...]) -> Array:
    """The inverse of `flat`."""
    order = (*matrix.rows, *matrix.columns)
    back = values.reshape([shape[n] for n in order])
    return np.ascontiguousarray(back.transpose(np.argsort(order)))

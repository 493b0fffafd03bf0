# SPDX-License-Identifier: Apache-2.0
"""PolyBench's correlation on the matrix unit: its stages share what they compute twice."""

from __future__ import annotations

import numpy as np
from tests.targets.tensix.loops.stages import triangular
from tests.targets.tensix.loops.stages.test_triangles import check, whats

import polyloom as pl


def test_correlation() -> None:
    """What is computed twice, the squares of differences, is one stage; a mean is spread over its column by a product
    with ones, and quotients by what is not 0 in padding are factors."""
    result = pl.compile(triangular.correlation, on="tensix").run({"float_n": np.float32(45)}, M=33, N=45)
    check(result, 6)
    assert len(whats(result)) == 10

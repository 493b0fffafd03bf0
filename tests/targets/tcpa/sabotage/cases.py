# SPDX-License-Identifier: Apache-2.0
"""Configurations that the compiler itself makes, small enough for every word to be changed."""

from __future__ import annotations

from tests.targets.tcpa.end_to_end.test_examples import FOLDER, mapped

__all__ = ["CASES", "FOLDER", "Case", "mapped"]
Case = tuple[str, str, dict[str, int], tuple[int, int]]
CASES: tuple[Case, ...] = (
    ("bits", "paper", {"N": 7}, (1, 3)),
    ("fir", "unit", {"N": 4, "T": 3}, (1, 2)),
    ("fir", "wide", {"N": 3, "T": 2}, (1, 1)),
    ("matmul", "unit", {"N": 2, "M": 3, "K": 2}, (1, 2)),
    ("matmul", "wide", {"N": 2, "M": 2, "K": 2}, (2, 2)),
    ("conv", "unit", {"M": 1, "C": 1, "H": 2, "W": 2, "R": 1, "S": 2}, (1, 2)),
    ("lcs", "unit", {"N": 4, "M": 2}, (2, 1)),
    ("jacobi1d", "unit", {"T": 2, "N": 5}, (1, 2)),
    ("matvec", "wide", {"N": 4, "M": 3}, (2, 1)),
    ("matvec", "unit", {"N": 3, "M": 2}, (1, 2)),
    ("matvec", "unit", {"N": 0, "M": 3}, (2, 2)),
)
"""Program, machine, parameters, region: full, partial and empty tiles, one element, no iteration at all."""

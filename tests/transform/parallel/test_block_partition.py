# SPDX-License-Identifier: Apache-2.0
"""Blocks of a parallel loop begin where cache lines do."""

from __future__ import annotations

from itertools import product

import pytest

from polyloom.ir.pla import Reference
from polyloom.sets import Affine
from polyloom.transform.parallel.block_partition import Blocks, target_blocks


@pytest.mark.parametrize(("step", "elements"), list(product((1, 2, 4, -1, -2, 16, 32), (64, 32, 16, 8))))
def test_blocks_begin_where_lines_do(step: int, elements: int) -> None:
    for constant in range(-elements, elements, 5):
        target = Reference("x", (Affine.from_terms({"i": step}, constant),))
        found = target_blocks("i", target, elements, frozenset())
        if found is None:
            continue
        blocks = found[1]
        for i in range(-50, 50):
            is_new = (step * i + constant) // elements != (step * (i - 1) + constant) // elements
            if (i - blocks.offset) % blocks.unit == 0:
                assert is_new


def test_rows_may_be_cut_anywhere() -> None:
    target = Reference("x", (Affine.from_terms({"i": 1}, 3), Affine.symbol("j")))
    found = target_blocks("i", target, 16, frozenset())
    assert found is not None
    assert found[1] == Blocks()

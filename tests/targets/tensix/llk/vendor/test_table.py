# SPDX-License-Identifier: Apache-2.0
"""The table of the vendor's test sources, without these sources: list and cases agree, goldens are what they say."""

from __future__ import annotations

import numpy as np
from tests.targets.tensix.llk.vendor.cases import (
    CASES,
    faces_from_memory,
    from_row_major,
    memory_of,
    reduced,
    row_major,
)
from tests.targets.tensix.llk.vendor.parameters import build_header
from tests.targets.tensix.llk.vendor.table import EQUAL, operands, read_list


def test_every_source_that_is_equal_has_a_case_and_a_golden() -> None:
    expected = read_list()
    equal = {name for name, what in expected.items() if what == EQUAL}
    assert equal <= {case.source for case in CASES if case.golden is not None}
    assert {case.source for case in CASES} <= expected.keys()


def test_layouts_of_memory_are_inverses() -> None:
    tiles = np.arange(2048, dtype=np.float32).reshape(2, 32, 32)
    np.testing.assert_array_equal(faces_from_memory(memory_of(tiles)), tiles)
    np.testing.assert_array_equal(from_row_major(row_major(tiles)), tiles)
    assert memory_of(tiles)[0, 16] == 32 and row_major(tiles)[0, 0, 16] == 256


def test_reductions_stand_in_the_first_row_column_or_datum() -> None:
    tiles = np.ones((1, 32, 32), np.float32)
    assert reduced(tiles, np.sum, 2).sum() == 1024 and reduced(tiles, np.sum, 1)[0, 0, 5] == 32
    assert reduced(tiles, np.sum, 1, 2)[0, 0, 0] == 1024


def test_parameters_that_a_source_defines_itself_are_left_out() -> None:
    text = build_header({"TILE_CNT": 3}, "constexpr unsigned CT_DIM = 4;\n#define FAST KT_DIM\n")
    assert "\nconstexpr unsigned TILE_CNT = 3;" in text and "static constexpr unsigned CT_DIM = 1;" in text
    assert "\nconstexpr unsigned CT_DIM" not in text and "\nconstexpr unsigned KT_DIM = 1;" in text


def test_every_golden_is_finite_over_its_operands() -> None:
    for case in CASES:
        assert case.golden is None or np.isfinite(case.golden(*operands(case))).all(), case.source

# SPDX-License-Identifier: Apache-2.0
"""The table of the vendor's test sources, without these sources: list and cases agree, goldens are what they say."""

from __future__ import annotations

import numpy as np
import pytest
from tests.targets.tensix.llk.vendor.case import (
    Case,
    faces_from_memory,
    from_row_major,
    memory_of,
    reduced,
    relative_error,
    row_major,
)
from tests.targets.tensix.llk.vendor.cases import CASES, REASONS
from tests.targets.tensix.llk.vendor.parameters import build_header
from tests.targets.tensix.llk.vendor.table import EQUAL, describe_variant, operands, read_list, summary


def test_every_source_that_is_equal_has_a_case_and_a_golden() -> None:
    expected = read_list()
    equal = {name for name, what in expected.items() if what == EQUAL}
    assert equal <= {case.source for case in CASES if case.golden is not None}
    assert {case.source for case in CASES} <= expected.keys()


def test_enough_sources_are_equal_and_the_rest_have_reasons() -> None:
    expected = read_list()
    assert sum(what == EQUAL for what in expected.values()) >= 80
    assert not REASONS.keys() & {case.source for case in CASES} and REASONS.keys() <= expected.keys()
    assert all(what.strip() for what in expected.values()) and "no golden" not in expected.values()


def test_a_variant_is_described_by_what_differs_from_the_defaults() -> None:
    given: dict[str, object] = {
        "POOL_TYPE": "ckernel::PoolType::MAX",
        "is_fp32_dest_acc_en": 1,
        "constant": 1,
        "formats": {},
    }
    assert describe_variant(Case("x", None, given, result="fp32")) == "bf16 to fp32 POOL_TYPE=MAX is_fp32_dest_acc_en=1"


def test_the_summary_counts_those_of_the_member() -> None:
    outcomes = {"a": EQUAL, "b": "PL1227 other", "c": "Blackhole only: x", "d": "PL0151 no"}
    assert summary(outcomes, "wormhole") == "1 of 2 sources for wormhole equal their golden (4 in all)"


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
    case = Case("x", None, {"TILE_CNT": 3}, result="fp32")
    text = build_header(case, "constexpr unsigned CT_DIM = 4;\n#define FAST KT_DIM\n")
    assert "\nconstexpr unsigned TILE_CNT = 3;" in text and "static constexpr unsigned CT_DIM = 1;" in text
    assert "\nconstexpr unsigned CT_DIM" not in text and "\nconstexpr unsigned KT_DIM = 1;" in text
    assert "formats = {5, 5, 5, 5, 5, 5, 5, 5, 5, 0, 0, 0, 0}" in text and "buffer_Res{0xc0000, 4096}" in text


def test_what_only_one_source_asks_for_is_a_constant_of_its_own() -> None:
    case = Case("x", None, {"VICTIM": "8u", "iterations": 2, "formats": {"math": 4}})
    text = build_header(case, "")
    assert "\nconstexpr auto VICTIM = 8u;" in text and "iterations" not in text
    assert "formats[2] = {{5, 5, 5, 5, 5, 5, 4, 5, 5, 5, 5, 5, 5}, {5, 5" in text


@pytest.mark.parametrize(
    "got, expected, error",
    [
        ([1, 2], [1, 2], 0),
        ([1, 3], [1, 4], 0.25),
        ([np.nan, np.inf], [np.nan, np.inf], 0),
        ([np.inf, 1], [1, 1], np.inf),
        ([1, 1], [np.nan, 1], np.inf),
        ([0.0, 1], [0, 0], np.inf),
    ],
)
def test_the_error_is_in_units_of_the_largest_number(got: list[float], expected: list[float], error: float) -> None:
    assert relative_error(np.array(got, np.float32), np.array(expected, np.float32)) == error


def test_every_golden_is_a_number_and_none_is_the_same_everywhere() -> None:
    """A golden of one value would be met by a kernel that writes nothing, or fills."""
    for case in CASES:
        if case.golden is None:
            continue
        expected = case.golden(*operands(case))
        assert np.isfinite(expected).any(), case.source
        assert len(np.unique(expected)) > 1 or expected.flat[0] != 0, case.source

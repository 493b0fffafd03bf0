# SPDX-License-Identifier: Apache-2.0
"""Ranks against the sorted list of all values, rounding against exact fractions, and what the packers do against the
model's."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.targets.tensix.matrix.bench import FORMATS, Bench, word

from polyloom.targets.tensix.options import FORMATS as ALL
from polyloom.targets.tensix.options import Format
from polyloom.targets.tensix.run import ulp
from polyloom.targets.tensix.run.pack import pack_values, unpack_values
from polyloom.targets.tensix.run.ulp import Bits
from polyloom.targets.tensix.source import formats

NARROW: tuple[Format, ...] = ("bf16", "fp16")
SECTIONS = 56, 84, 96, 124
OUT = 0x8000


@pytest.mark.parametrize("form", NARROW)
def test_ranks_are_places_in_the_list_of_values(form: Format) -> None:
    bits = np.arange(1 << 16, dtype=np.uint32)
    numbers, ranks = ulp.to_doubles(bits, form), ulp.ranks(bits, form)
    assert np.array_equal(np.isnan(numbers), ranks == np.iinfo(np.int64).min)
    if form == "bf16":
        numbers = np.where(np.abs(numbers) < 2.0**-126, 0.0, numbers)
    listed = np.unique(numbers[~np.isnan(numbers)])
    places = np.searchsorted(listed, numbers) - np.searchsorted(listed, 0.0)
    assert np.array_equal(places[~np.isnan(numbers)], ranks[~np.isnan(numbers)])


@pytest.mark.parametrize("form", NARROW)
def test_finite_values_come_once_and_in_the_order_of_patterns(form: Format) -> None:
    bits = ulp.finite_values(form)
    assert (
        len(bits)
        == len(set(bits.tolist()))
        == np.count_nonzero(np.isfinite(ulp.to_doubles(np.arange(1 << 16, dtype=np.uint32), form)))
    )
    assert np.all(np.diff(bits.astype(np.int64)) > 0)
    assert np.array_equal(np.isfinite(ulp.to_doubles(bits, form)), np.ones(len(bits), bool))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_bf16_is_rounded_once(value: float) -> None:
    exact = formats.encode_number(formats.Number(np.signbit(value).item(), abs(Fraction(value))), "fp16b")
    assert exact is not None
    assert int(ulp.encode_nearest(np.array([value]), "bf16")[0]) == exact.bits


def test_a_double_between_two_halfway_points_is_rounded_once() -> None:
    """To FP32 first it would be a tie, and go down to the even neighbour."""
    assert int(ulp.encode_nearest(np.array([1 + 2.0**-8 + 2.0**-40]), "bf16")[0]) == 0x3F81


@pytest.mark.parametrize("form", [form for form in ALL if form != ulp.INTEGERS])
def test_what_is_not_finite_is_rounded_to_itself(form: Format) -> None:
    made = ulp.to_doubles(ulp.encode_nearest(np.array([np.inf, -np.inf, np.nan, 1e300]), form), form)
    assert made[0] == np.inf and made[1] == -np.inf and np.isnan(made[2]) and made[3] == np.inf


def test_integers_are_rounded_to_the_nearest_that_there_is() -> None:
    exact = np.array([0.5, 1.5, -3.0, 2.0**32 - 0.5, np.inf, -np.inf, np.nan])
    assert ulp.encode_nearest(exact, "uint32").tolist() == [0, 2, 0, 2**32 - 1, 2**32 - 1, 0, 0]
    assert distance([0, 2**32 - 1], [2**32 - 1, 2**32 - 2], "uint32") == ([2**32 - 1, 1], 0)


def distance(got: list[int], expected: list[int], form: Format = "bf16") -> tuple[list[int], int]:
    found = ulp.distances(np.array(got, np.uint32), np.array(expected, np.uint32), form)
    return found.ulp.tolist(), found.mismatches


def test_distances() -> None:
    assert distance(
        [0x3F80, 0x0000, 0x0001, 0x8000, 0x0080, 0xBF80], [0x3F82, 0x8000, 0x0000, 0x0080, 0x8080, 0x3F80]
    ) == (
        [2, 0, 0, 1, 2, 2 * (0x3F80 - 0x7F)],
        0,
    )
    assert distance([0x0001], [0x0000], "fp16") == ([1], 0)


def test_what_is_finite_on_one_side_only_is_counted_apart() -> None:
    infinite, minus, nan = 0x7F80, 0xFF80, 0x7FC0
    got = [infinite, infinite, nan, nan, nan, 0x7F7F, infinite]
    expected = [infinite, minus, nan, infinite, 0, infinite, 0x7F7F]
    assert distance(got, expected) == ([0, -1, 0, -1, -1, -1, -1], 5)


def test_the_histogram_counts_every_finite_pair() -> None:
    got = np.array([0x3F80 + k for k in (0, 0, 1, 2, 3, 4, 7, 9)], np.uint32)
    found = ulp.distances(got, np.full(8, 0x3F80, np.uint32), "bf16")
    assert ulp.histogram(found) == [(0, 0, 2), (1, 1, 1), (2, 3, 2), (4, 7, 2), (8, 15, 1)]


PATTERNS: Bits = np.concatenate(
    [
        np.array([0, 1, 0x80000000, 0x00400000, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000], np.uint32),
        np.array([0x7FC00001, 0xFFC00000, 0x477FE000, 0x477FF000, 0x47800000, 0x38800000, 0x387FF000], np.uint32),
        np.random.default_rng(1).integers(0, 1 << 32, 240, dtype=np.uint64).astype(np.uint32),
    ]
)


@pytest.mark.parametrize(("form", "middle"), [("bf16", "bf16"), ("fp16", "tf32"), ("fp32", "fp32")])
def test_packing_of_32_bits_is_the_model_s(form: Format, middle: str) -> None:
    expected = by_packers(PATTERNS, middle, form, 32)
    assert np.array_equal(pack_values(PATTERNS, form, 32), expected)


@pytest.mark.parametrize("form", NARROW)
def test_packing_of_16_bits_is_the_model_s(form: Format) -> None:
    patterns = PATTERNS >> np.uint32(16)
    assert np.array_equal(pack_values(patterns, form, 16), by_packers(patterns, form, form, 16))


def by_packers(patterns: Bits, middle: str, form: Format, dest: int) -> Bits:
    bench = Bench()
    bench.alu(dst=middle)
    bench.put(0, patterns, wide=dest == 32, fp16=dest == 16 and form == "fp16")
    bench.config[14] = dest == 32
    for k, at in enumerate(SECTIONS):
        values = 1 << 16, (OUT + 0x1000 * k) // 16, 1 | FORMATS[form] << 4 | FORMATS[middle] << 8 | 1 << 15
        bench.config[at : at + 3] = values
    bench.config[20:24], bench.config[24:28] = 0xFFFF, 16 << 8
    bench.run(word(0x5E, (1, 23), (len(patterns) - 1, 10)))
    bench.run(word(0x41, (1, 0)))
    size = 4 if form == "fp32" else 2
    return bench.l1[OUT : OUT + size * len(patterns)].view(f"<u{size}").astype(np.uint32)


@pytest.mark.parametrize("form", NARROW)
def test_unpacking_into_32_bits_keeps_normal_values(form: Format) -> None:
    bits = ulp.finite_values(form)
    numbers, wide = ulp.to_doubles(bits, form), ulp.to_doubles(unpack_values(bits, form, 32), "fp32")
    normal = np.abs(numbers) >= (2.0**-126 if form == "bf16" else 2.0**-14)
    assert np.array_equal(numbers[normal], wide[normal])

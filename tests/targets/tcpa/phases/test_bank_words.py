# SPDX-License-Identifier: Apache-2.0
"""Words that a bank holds: the box of its elements, or the range of its addresses, by enumeration of the steps."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa.run.bank_accesses import count_bank_words
from polyloom.targets.tcpa.words.concrete import ArrayLayout, ConvexSet, Generator, Place

ROWS, COLUMNS = 12, 15


def generator(base: int, coefficients: tuple[int, ...], *sets: ConvexSet) -> Generator:
    return Generator("west", 0, 0, 0, 0, 0, base, coefficients, 0, sets)


def layout(strides: tuple[int, int]) -> ArrayLayout:
    place = None if strides == (COLUMNS, 1) else Place(0, 0)
    return ArrayLayout("A", "i32", (ROWS, COLUMNS), strides, False, place)


@st.composite
def boxes(draw: st.DrawFn) -> ConvexSet:
    ends = [sorted((draw(st.integers(0, 2)), draw(st.integers(0, 2)))) for _ in range(2)]
    return ConvexSet((ends[0][0], ends[1][0]), (ends[0][1], ends[1][1]))


@given(
    st.tuples(st.integers(0, 2), st.integers(0, 2)),
    st.tuples(st.integers(0, 2), st.integers(0, 2)),
    st.lists(boxes(), min_size=1, max_size=2),
    st.sampled_from([(COLUMNS, 1), (1, ROWS), (17, 1)]),
)
@settings(max_examples=60)
def test_words_are_those_of_the_smaller_of_box_and_range(
    row: tuple[int, int], column: tuple[int, int], sets: list[ConvexSet], strides: tuple[int, int]
) -> None:
    steps = [p for s in sets for p in product(*(range(a, b + 1) for a, b in zip(s.lower, s.upper, strict=True)))]
    elements = {(row[0] * x + row[1] * y, column[0] * x + column[1] * y) for x, y in steps}
    words = {strides[0] * r + strides[1] * k for r, k in elements}
    box = prod(max(e[m] for e in elements) - min(e[m] for e in elements) + 1 for m in (0, 1))
    coefficients = tuple(strides[0] * r + strides[1] * k for r, k in zip(row, column, strict=True))
    found = count_bank_words(generator(0, coefficients, *sets), layout(strides))
    assert found == min(box, max(words) - min(words) + 1)


def test_a_column_takes_its_elements_alone() -> None:
    column = ConvexSet((0,), (ROWS - 1,))
    assert count_bank_words(generator(3, (COLUMNS,), column), layout((COLUMNS, 1))) == ROWS
    with pytest.raises(PolyloomError, match="PL0705"):
        count_bank_words(generator(COLUMNS, (COLUMNS,), column), layout((COLUMNS, 1)))

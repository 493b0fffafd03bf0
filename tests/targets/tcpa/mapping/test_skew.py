# SPDX-License-Identifier: Apache-2.0
"""The skew against exhaustive search."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from polyloom.targets.tcpa.map.wavefront_skew import minimize_skew

THETA = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)]
BOUNDS = st.lists(st.tuples(st.sampled_from(THETA), st.integers(-9, 9)).map(lambda b: (*b[0], b[1])), max_size=8)


def brute(bounds: list[tuple[int, int, int]], rows: int, columns: int) -> int | None:
    window = range(-40, 41)
    kept = [(a, b, c) for a, b, c in bounds if not (a and rows == 1) and not (b and columns == 1)]
    points = [(x, y) for x in (window if rows > 1 else [0]) for y in (window if columns > 1 else [0])]
    costs = [
        abs(x) * (rows - 1) + abs(y) * (columns - 1) for x, y in points if all(a * x + b * y >= c for a, b, c in kept)
    ]
    return min(costs, default=None)


@settings(max_examples=150, deadline=None)
@given(BOUNDS, st.integers(1, 5), st.integers(1, 5))
def test_skew_is_optimal(bounds: list[tuple[int, int, int]], rows: int, columns: int) -> None:
    found = minimize_skew(bounds, rows, columns)
    expected = brute(bounds, rows, columns)
    assert (found is None) == (expected is None)
    if found is None:
        return
    row, column = found
    assert abs(row) * (rows - 1) + abs(column) * (columns - 1) == expected
    assert all(a * row + b * column >= c for a, b, c in bounds if not (a and rows == 1) and not (b and columns == 1))


def test_product_skew() -> None:
    # 20 x 20 x 20 product on 4 x 4, tiles of 5 x 5 x 20, pi = 1, order i, j, k: (5, 21).
    assert minimize_skew([(1, 0, 5), (0, 1, 21)], 4, 4) == (5, 21)


def test_parity_gap_is_infeasible() -> None:
    assert minimize_skew([(1, 1, 1), (-1, -1, -1), (1, -1, 0), (-1, 1, 0)], 2, 2) is None

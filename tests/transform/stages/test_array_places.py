# SPDX-License-Identifier: Apache-2.0
"""Digits of axes: a mixed-radix index is solved for its digits, and only where no digit carries into another."""

from __future__ import annotations

from itertools import product

import pytest

from polyloom.sets import Affine
from polyloom.transform.stages.array_places import form_digits, merge_radices, solve_digits, strides

A, H, J, E = (Affine.symbol(name) for name in "ahie")
FIRST, SECOND, THIRD = (Affine.symbol(f"${n}") for n in range(3))


def extents(*numbers: int) -> tuple[Affine, ...]:
    return tuple(Affine((), n) for n in numbers)


def test_strides_are_those_of_digits() -> None:
    assert strides((2, 4, 2)) == (8, 2, 1)
    assert strides(()) == ()


def test_an_index_of_all_axes_has_digits() -> None:
    assert form_digits(FIRST * 8 + SECOND * 2 + THIRD, extents(2, 4, 2)) == (2, 4, 2)
    assert form_digits(THIRD * 8 + FIRST * 2 + SECOND, extents(4, 2, 2)) == (2, 4, 2)
    # Strides that leave elements out, or reach some twice, are no digits.
    assert form_digits(FIRST * 9 + SECOND, extents(2, 8)) == ()
    assert form_digits(FIRST * 4 + SECOND, extents(2, 8)) == ()
    assert form_digits(FIRST, extents(2)) == ()


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        ((2, 8), (2, 4, 2), (2, 4, 2)),
        ((), (2, 8), (2, 8)),
        ((2, 8), (8, 2), (2, 4, 2)),
        ((2, 3), (3, 2), ()),
        ((2, 8), (4, 8), ()),
    ],
)
def test_radices_that_refine_both(first: tuple[int, ...], second: tuple[int, ...], merged: tuple[int, ...]) -> None:
    assert merge_radices(first, second) == merge_radices(second, first) == merged


def test_digits_are_found_again() -> None:
    sizes = {"h": Affine((), 2), "i": Affine((), 4), "e": Affine((), 2), "a": Affine.symbol("N")}
    target, store = (FIRST, SECOND * 8 + THIRD), (Affine.symbol("N"), *extents(2, 8))
    found = solve_digits(target, store, (A - 1, H * 8 + J * 2 + E), sizes)
    assert found == (A - 1, H, J * 2 + E)
    for h, i, e in product(range(2), range(4), range(2)):
        at = {"h": h, "i": i, "e": e, "a": 3}
        index = [form.evaluate(at) for form in found or ()]
        assert 8 * index[1] + index[2] == 8 * h + 2 * i + e and index[2] < 8


@pytest.mark.parametrize("place", [A * 2, H * 8 + A, H * 8 + J * 4 + 1, H * 16, J - 1])
def test_other_places_have_no_digits(place: Affine) -> None:
    sizes = {"h": Affine((), 2), "i": Affine((), 4), "a": Affine.symbol("N")}
    assert solve_digits((FIRST * 8 + SECOND,), extents(2, 8), (place,), sizes) is None

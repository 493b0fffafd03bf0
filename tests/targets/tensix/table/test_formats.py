# SPDX-License-Identifier: Apache-2.0
"""Every format of Dst and of L1 in both directions: numbers come back as they went in, and bits as they were."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import polyloom as pl
from polyloom.targets.tensix.run.places import parse_place, read_place, write_place
from polyloom.targets.tensix.run.tile import Tile
from polyloom.targets.tensix.words import numbers
from polyloom.targets.tensix.words.numbers import DST_FORMATS, L1_FORMATS

PLACES: Final = [*(f"dst:{form}" for form in DST_FORMATS), *(f"0x20000:{form}" for form in L1_FORMATS)]
"""All that name a format."""
NUMBERS: Final = {
    "bf16": np.float32, "fp16": np.float16, "fp32": np.float32, "bfp8": np.float32,
    **{form: np.dtype(form) for form in ("int32", "uint32", "uint16", "int8", "uint8")},
}  # fmt: skip


def moved(place: str, array: NDArray[Any]) -> NDArray[Any]:
    """Into a tile and out of it."""
    tile, at = Tile("wormhole"), parse_place(place)
    write_place(tile, at, array)
    return read_place(tile, at, None, array)


def patterns(width: int) -> st.SearchStrategy[NDArray[np.uint32]]:
    """A row of 16 patterns, among them those at which something changes."""
    top = (1 << width) - 1
    edges = [0, 1, top, top >> 1, (top >> 1) + 1, (top >> 1) + 2, top - 1]
    each = st.one_of(st.sampled_from(edges), st.integers(0, top))
    return st.lists(each, min_size=16, max_size=16).map(lambda row: np.array([row], np.uint32))


@pytest.mark.parametrize("place", PLACES)
@settings(max_examples=20)
@given(st.data())
def test_numbers_come_back(place: str, data: st.DataObject) -> None:
    """In the type of the format, each with its value: of random patterns, those that are numbers."""
    form = place.partition(":")[2]
    bits = data.draw(patterns(32 if form == "bfp8" else L1_FORMATS[form]))
    array = numbers.to_numbers(form, bits)
    assert array.dtype == NUMBERS[form]
    if form == "bfp8":  # sign and seven bits under a common exponent, which here is that of 1
        array = np.ldexp(np.rint(np.ldexp((bits >> 24).astype(np.float32), -1)) - 64, -6).astype(np.float32)
        array[0, 0] = 1
    found = moved(place, array)
    assert found.dtype == array.dtype and np.array_equal(found, array, equal_nan=form in ("bf16", "fp16", "fp32"))


@pytest.mark.parametrize("place", [place for place in PLACES if "bfp8" not in place])
@settings(max_examples=20)
@given(st.data())
def test_bits_come_back(place: str, data: st.DataObject) -> None:
    """Patterns become numbers and the same patterns again, but for a signed zero of integers, and what NaN it is."""
    form = place.partition(":")[2]
    width = L1_FORMATS[form]
    bits = data.draw(patterns(width))
    array = numbers.to_numbers(form, bits)
    again = numbers.to_bits(form, moved(place, array), place)
    is_nan = np.isnan(array) if array.dtype.kind == "f" else np.zeros(bits.shape, np.bool_)
    is_zero = (array == 0) & (array.dtype.kind == "i")
    assert np.array_equal(np.where(is_nan | is_zero, 0, again), np.where(is_nan | is_zero, 0, bits))


@pytest.mark.parametrize("place", [place for place in PLACES if "bfp8" not in place])
@settings(max_examples=20)
@given(st.data())
def test_an_unsigned_array_is_the_bits_of_floats_and_no_signed_number(place: str, data: st.DataObject) -> None:
    form = place.partition(":")[2]
    width = L1_FORMATS[form]
    array = data.draw(patterns(width)).astype(f"u{width // 8}")
    if form.startswith("int"):
        with pytest.raises(pl.PolyloomError, match="is an array of uint") as error:
            moved(place, array)
        assert error.value.diagnostics[0].help == (
            f"unsigned numbers have a format of their own: write {place.replace(form, f'u{form}')}"
        )
        return
    found = moved(place, array)
    same = found.view(array.dtype) if form != "bf16" else (found.view(np.uint32) >> 16).astype(np.uint16)
    assert np.array_equal(same, array)


@pytest.mark.parametrize("form", ["int32", "int8"])
def test_the_least_integer_has_no_magnitude(form: str) -> None:
    array = np.full((1, 16), np.iinfo(form).min, form)
    with pytest.raises(pl.PolyloomError, match=f"has the number {array[0, 0]}"):
        moved(f"0x20000:{form}", array)

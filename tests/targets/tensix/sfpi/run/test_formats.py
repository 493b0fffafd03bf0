# SPDX-License-Identifier: Apache-2.0
"""Formats of numbers: both ways over every pattern, against NumPy's rounding, and against what the tile loads."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import Golden

from polyloom.cli.entry import main
from polyloom.targets.tensix.run.tile import Tile
from polyloom.targets.tensix.source import formats
from polyloom.targets.tensix.source.formats import BITS, FORMS, Form, Number
from polyloom.targets.tensix.words.assemble import assemble

PATTERNS = st.integers(0, (1 << 32) - 1)
FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize("form", [form for form in FORMS if BITS[form] < 32])
def test_every_pattern_comes_back(form: Form) -> None:
    for bits in range(1 << BITS[form]):
        number = formats.decode_bits(bits, form)
        found = formats.encode_number(number, form)
        assert found is not None and found.is_exact
        assert found.bits == bits or formats.decode_bits(found.bits, form) == number or number.value is None


def exact(value: float) -> Number:
    return Number(np.signbit(value).item(), abs(Fraction(value)))


@given(FLOATS)
def test_singles_are_those_of_numpy(value: float) -> None:
    found = formats.encode_number(exact(value), "fp32")
    assert found is not None and found.is_exact
    assert found.bits == int(np.float32(value).view(np.uint32))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_doubles_are_rounded_as_numpy_rounds(value: float) -> None:
    found = formats.encode_number(exact(value), "fp32")
    with np.errstate(over="ignore", under="ignore"):
        single = np.float32(value)
    assert found is not None and found.bits == int(single.view(np.uint32))
    assert found.is_exact == (float(single) == value)


@given(FLOATS)
def test_the_upper_half_is_nearest(value: float) -> None:
    found = formats.encode_number(exact(value), "fp16b")
    bits = int(np.float32(value).view(np.uint32))
    assert found is not None and found.bits == bits + 0x7FFF + (bits >> 16 & 1) >> 16


@given(st.floats(2**-14, 65000, width=32), st.booleans())
def test_halves_are_those_of_ieee_where_both_have_the_exponent(value: float, negative: bool) -> None:
    value = -value if negative else value
    found = formats.encode_number(exact(value), "fp16a")
    assert found is not None and found.bits == int(np.float32(value).astype(np.float16).view(np.uint16))


@given(FLOATS, st.sampled_from(FORMS))
def test_no_neighbour_is_nearer(value: float, form: Form) -> None:
    number = exact(value)
    found = formats.encode_number(number, form)
    assert found is not None
    near = formats.decode_bits(found.bits, form)
    if near.value is None:
        return
    for other in (found.bits - 1, found.bits + 1):
        if 0 <= other < 1 << BITS[form] and (beside := formats.decode_bits(other, form)).value is not None:
            assert abs(near.signed - number.signed) <= abs(beside.signed - number.signed)


def loaded(loads: list[formats.Load]) -> int:
    """What the tile has in a register after these."""
    text = "\n".join(f"SFPLOADI L0, {load.immediate}, {load.mode}" for load in loads)
    tile = Tile()
    tile.push("t1", assemble(text, "x", "wormhole").words)
    tile.run()
    return int(tile.lregs[0, 5])


@given(st.one_of(PATTERNS, st.integers(0, 0xFFFF).map(lambda k: k << 16), st.integers(-0x8000, 0xFFFF)))
def test_every_load_gives_the_bits_on_the_tile(bits: int) -> None:
    bits &= 0xFFFFFFFF
    for load in formats.single_loads(bits):
        assert loaded([load]) == bits
    assert loaded(list(formats.load_pair(bits))) == bits


@pytest.mark.parametrize("bits", [0x0000, 0x03FF, 0x3C00, 0x7BFF, 0x7C00, 0xFFFF, 0x8000])
def test_a_half_is_what_one_load_reads(bits: int) -> None:
    number = formats.decode_bits(bits, "fp16a")
    single = formats.encode_number(number, "fp32")
    assert single is not None and loaded([formats.Load(1, bits)]) == single.bits


@pytest.mark.parametrize(("table", "form"), [("SFPLUT L5, 0", "lut8"), ("SFPLUTFP32 L5, 10", "fp16a")])
def test_packed_words_are_what_the_tables_read(table: str, form: Form) -> None:
    """Slope 0.25 and offset 0, at 0.5."""
    word = formats.table_register(Number(False, Fraction(1, 4)), Number(False, Fraction(0)), form)
    assert word is not None
    low, high = formats.load_pair(word)
    text = f"SFPLOADI L0, {low.immediate}, 10\nSFPLOADI L0, {high.immediate}, 8\nSFPLOADI L3, 0x3f00, 0\n"
    text += f"SFPLOADI L7, 5, 2\n{table}\nSFPNOP\n"
    tile = Tile()
    tile.push("t1", assemble(text, "x", "wormhole").words)
    tile.run()
    assert int(tile.lregs[5, 0]) == int(np.float32(0.125).view(np.uint32))


def test_huge_numbers_are_no_numbers() -> None:
    assert formats.parse_number("1e99999") is None
    assert formats.parse_number("1e9999") is not None


CASES = [
    ["1.5"], ["0.1"], ["-0.0"], ["0x3fc0", "--as", "fp16b"], ["0x0000", "--as", "fp16a"], ["0xff", "--as", "lut8"],
    ["1/3", "0", "--as", "lut8"], ["0.25", "0", "--as", "fp16a"], ["inf"], ["1e400"], ["0x3fc0"], ["x"],
    ["0x1ff", "--as", "lut8"],
    ["1", "2", "3", "--as", "lut8"], ["1", "inf", "--as", "fp16a"], ["0xbf2cc4c7", "--json"],
]  # fmt: skip


def test_the_command(golden: Golden, capsys: pytest.CaptureFixture[str]) -> None:
    texts: list[str] = []
    for words in CASES:
        code = main(["float", *words])
        found = capsys.readouterr()
        texts.append(f"$ polyloom float {' '.join(words)}\n{found.out}{found.err}exit {code}")
    golden("float", "\n\n".join(texts))

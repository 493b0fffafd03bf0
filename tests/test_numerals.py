# SPDX-License-Identifier: Apache-2.0
"""Integers of texts: as Python reads them where they are small, saturated where they are not."""

from __future__ import annotations

import pytest

from polyloom.numerals import MOST, parse_integer, saturate


@pytest.mark.parametrize("text", ["0", "12", "-7", "+3", "0x1f", "0b11", str(2**64), str(-(2**64))])
def test_small_integers_are_read_as_python_reads_them(text: str) -> None:
    assert parse_integer(text, 0) == int(text, 0)


@pytest.mark.parametrize("text", ["9" * 5000, "0x" + "f" * 5000, "1" + "0" * 700])
def test_large_integers_saturate(text: str) -> None:
    assert parse_integer(text, 0) == MOST
    assert parse_integer(f"-{text}", 0) == -MOST
    assert str(saturate(1 << 100_000)) == str(MOST)


@pytest.mark.parametrize("text", ["", "x", "9" * 5000 + "x", "1.5", "0x", "--1"])
def test_what_is_no_integer_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="int"):
        parse_integer(text, 0)

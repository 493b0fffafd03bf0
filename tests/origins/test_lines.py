# SPDX-License-Identifier: Apache-2.0
"""Instructions of RISC-V say which line they come from, of a C function and of a Python kernel."""

from __future__ import annotations

import re

import pytest
from tests.python.helpers import KERNELS

import polyloom as pl
from polyloom.riscv import source_lines

_INSTRUCTION = re.compile(r" *[0-9a-f]+: [0-9a-f]+ +.*")


@pytest.mark.parametrize("name", ["fir.c", "fir.py"])
def test_every_instruction_has_a_line(name: str) -> None:
    path = KERNELS / name
    text = path.read_text(encoding="utf-8").split("\n")
    listing = pl.compile(str(path), on="riscv:rv64gc").listing
    lines = [line for line in listing.split("\n") if _INSTRUCTION.fullmatch(line)]
    places = [re.fullmatch(rf".*  # {re.escape(name)}:([0-9]+)", line) for line in lines]
    assert all(places[:-1])
    found = {int(place[1]) for place in places if place is not None}
    sums = next(n for n, line in enumerate(text, 1) if "+= " in line)
    multiply = next(n for n, line in enumerate(lines) if "fmul.s" in line or "fmadd.s" in line)
    assert sums in found
    assert lines[multiply].endswith(f":{sums}")


def test_lines_hold_until_the_next() -> None:
    lines = source_lines.Lines((16, 24), (("a.c", 3), ("", 0)))
    assert [lines.at(n) for n in (15, 16, 23, 24)] == [None, ("a.c", 3), ("a.c", 3), None]

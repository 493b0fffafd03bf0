# SPDX-License-Identifier: Apache-2.0
"""The table of packed instructions: text, word and text again for every row; rows apart from each other and from the
standard ones; words laid out by hand from the manual; the native table is this table."""

from __future__ import annotations

import random
import re
from itertools import combinations
from typing import Final

import pytest
from tests.targets.minion.packed.test_twin import values

from polyloom.riscv.encode import encode
from polyloom.riscv.isa import Instruction, Row, instruction_table
from polyloom.riscv.names import parse_isa
from polyloom.targets.minion.words import isa
from polyloom.targets.minion.words.assemble import assemble_lines
from polyloom.targets.minion.words.header import header

BY_HAND: Final = {
    # funct7 rs2 rs1 rm rd opcode, of table 2-2.
    "fadd.ps f1, f2, f3, rtz": 0b0000000_00011_00010_001_00001_1111011,
    "fmadd.ps f1, f2, f3, f4": 0b00100_00_00011_00010_111_00001_1011011,
    "fnmadd.ps f1, f2, f3, f4, rne": 0b00100_11_00011_00010_000_00001_1011011,
    "flw.ps f31, -1(x10)": 0b111111111111_01010_010_11111_0001011,
    "fsw.ps f31, -1(x10)": 0b1111111_11111_01010_110_11111_0001011,
    "flq2 f1, 32(x2)": 0b000000100000_00010_101_00001_0000111,
    "fbci.ps f1, 0xfedcb": 0b1111_1110_1101_1100_1011_00001_0011111,
    "fbci.pi f1, -1": 0b1111_1111_1111_1111_1111_00001_1011111,
    "faddi.pi f1, f2, -512": 0b10000_10_00000_00010_000_00001_0111111,
    "fandi.pi f1, f2, 33": 0b00001_10_00001_00010_001_00001_0111111,
    "fgw.ps f1, f2(x3)": 0b0110000_00011_00010_001_00001_0001011,
    "fscwg.ps f1, f2(x3)": 0b1101001_00011_00010_111_00001_0001011,
    "famoaddg.pi f1, f2(x3)": 0b1000011_00011_00010_100_00001_0001011,
    "famominl.ps f1, f2(x3)": 0b0011000_00011_00010_100_00001_0001011,
    "amoswapg.w x1, x2, (x3)": 0b0000101_00010_00011_010_00001_0111011,
    "amocmpswapl.d x1, x2, (x3)": 0b1111000_00010_00011_011_00001_0111011,
    "shl x2, (x3)": 0b0001100_00010_00011_011_00000_0111011,
    "fswizz.ps f1, f2, 0xe5": 0b1110011_11100_00010_101_00001_1111011,
    "mov.m.x m3, x0, 0xff": 0b0101011_11111_00000_111_00_011_1111011,
    "mova.x.m x1": 0b1101011_00000_00000_000_00001_1111011,
    "maskand m1, m2, m3": 0b0110011_00_011_00_010_111_00_001_1111011,
    "fltm.pi m1, f2, f3": 0b0011111_00011_00010_000_00_001_1111011,
    "fmvs.x.ps x1, f2, 7": 0b1110000_00_111_00010_010_00001_1111011,
    "fcvt.f16.ps f1, f2": 0b1101100_01001_00010_000_00001_1111011,
    "fcmovm.ps f1, f2, f3": 0b0000000_00011_00010_000_00001_1110111,
    "packb x1, x2, x3": 0b1000000_00011_00010_110_00001_0111011,
}


@pytest.mark.parametrize("text", BY_HAND)
def test_word_by_hand(text: str) -> None:
    assert assemble_lines(text).data == BY_HAND[text].to_bytes(4, "little")


@pytest.mark.parametrize("row", isa.extension_rows(), ids=lambda row: row.mnemonic)
def test_text_and_word(row: Row) -> None:
    r = random.Random(row.mnemonic)
    for _ in range(20):
        instruction = Instruction(row, tuple(values(row, r).values()))
        word = encode(instruction)
        assert isa.decode(word) == instruction
        assert assemble_lines(isa.instruction_text(instruction)).data == word.to_bytes(4, "little")


def test_rows_are_apart() -> None:
    standard = [row for row in instruction_table() if row.size == 4 and row.is_in_isa(parse_isa("rv64imfc"))]
    own = isa.extension_rows()
    pairs = [*combinations(own, 2), *((a, b) for a in own for b in standard)]
    assert [(a.mnemonic, b.mnemonic) for a, b in pairs if not (a.match ^ b.match) & a.mask & b.mask] == []


def test_standard_atomics_are_illegal() -> None:
    assert isa.decode(0x00A5A52F) is None  # amoadd.w a0, a0, (a1)


def test_native_table_has_every_instruction() -> None:
    """A row each, the one with more fixed bits first; the files of the registers of two are told by hand."""
    rows = re.findall(r"^    \{(0x\w+), (0x\w+), Packed::(\w+), (.*)\},  // (\S+)$", header(), re.MULTILINE)
    assert sorted(row[4] for row in rows) == sorted(row.mnemonic for row in isa.extension_rows())
    assert {row[2] for row in rows} == {row.mnemonic.upper().replace(".", "_") for row in isa.extension_rows()}
    counts = [int(row[1], 16).bit_count() for row in rows]
    assert counts == sorted(counts, reverse=True)
    files = {row[4]: row[3].replace("File::", "") for row in rows}
    assert files["fmadd.ps"] == "f, f, f, f"
    assert files["fgw.ps"] == "f, f, x, none"  # fgw.ps fd, fs1(rs2)

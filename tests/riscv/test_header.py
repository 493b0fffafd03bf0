# SPDX-License-Identifier: Apache-2.0
"""Generated header of the native interpreter: a row per instruction, of which a few are told by hand; what compiles it
is the build."""

from __future__ import annotations

import re

from polyloom.riscv.header import table_header
from polyloom.riscv.isa import base_mnemonics, instruction_table

TEXT = table_header()


def test_every_instruction_has_a_row_and_every_meaning_a_number() -> None:
    rows = re.findall(r"^    \{0x.*\},  // (\S+)$", TEXT, re.MULTILINE)
    assert sorted(rows) == sorted(row.mnemonic for row in instruction_table())
    numbers = TEXT.partition("enum class Op")[2].partition("}")[0]
    assert re.findall(r"[A-Z0-9_]+(?=,)", numbers) == [
        *(m.upper().replace(".", "_") for m in base_mnemonics()),
        "COUNT",
    ]


def test_a_row_has_match_mask_and_operands() -> None:
    """`addi rd, rs1, imm` of both widths; `c.li rd, imm` is an addi of x0, whose number is a constant (~0 is -1)."""
    (row,) = re.findall(r"^    (\{.*\}),  // addi$", TEXT, re.MULTILINE)
    assert row.startswith("{0x00000013, 0x0000707f, ")
    assert "Op::ADDI, true" in row
    (compressed,) = re.findall(r"^    (\{.*\}),  // c.li$", TEXT, re.MULTILINE)
    assert compressed.startswith("{0x00004001, 0x0000e003, ")
    assert "Op::ADDI, true" in compressed
    assert "-1" in compressed.partition("true")[2]


def test_the_first_match_counts() -> None:
    """Rows with the most fixed bits stand first."""
    masks = [int(mask, 16).bit_count() for mask in re.findall(r"^    \{0x\w+, (0x\w+), ", TEXT, re.MULTILINE)]
    assert masks == sorted(masks, reverse=True)

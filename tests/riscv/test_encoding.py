# SPDX-License-Identifier: Apache-2.0
"""Every instruction's encoding equals clang's; encode, decode, assemble and disassemble are inverse to each other."""

from __future__ import annotations

import random
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.riscv import clang

from polyloom.riscv import names
from polyloom.riscv.assemble import assemble
from polyloom.riscv.disassemble import instruction_text, listing
from polyloom.riscv.encode import decode, encode, expand_compressed
from polyloom.riscv.isa import Field, Instruction, Row, base_mnemonics, instruction_table

ISAS = [names.parse_isa("rv64gc_zicond_zbb"), names.parse_isa("rv32gc_zicond_zbb")]
SAMPLES = 8
needs_clang = pytest.mark.skipif(
    find_spec("ziglang") is None, reason="the extra [c] is not installed: clang's encodings are not compared"
)


def legal(row: Row, field: Field) -> list[int]:
    """The values of a field that make no hint of a compressed instruction: clang assembles hints under other names
    only."""
    values = [value for value in field.range if value not in field.forbidden]
    may_be_hint = row.size == 2 and (field.role, field.kind) in (("rd", "x"), ("imm", "number"))
    return [value for value in values if value or not may_be_hint]


def instructions(isa: names.Isa) -> list[Instruction]:
    """Every row with the least, the greatest and random values of its fields."""
    choose = random.Random(isa.xlen)
    made: list[Instruction] = []
    for row in (row for row in instruction_table() if row.is_in_isa(isa)):
        values = [legal(row, field) for field in row.fields]
        made += [Instruction(row, tuple(v[0] for v in values)), Instruction(row, tuple(v[-1] for v in values))]
        made += [Instruction(row, tuple(map(choose.choice, values))) for _ in range(SAMPLES)]
    return made


@needs_clang
@pytest.mark.parametrize("isa", ISAS, ids=str)
def test_words_are_those_of_clang(isa: names.Isa, tmp_path: Path) -> None:
    made = instructions(isa)
    assert {i.row.mnemonic for i in made} == {row.mnemonic for row in instruction_table() if row.xlen in (0, isa.xlen)}
    theirs, place = clang.assemble([instruction_text(i) for i in made], isa, tmp_path), 0
    for instruction in made:
        word = encode(instruction).to_bytes(instruction.row.size, "little")
        assert (instruction_text(instruction), word.hex()) == (
            instruction_text(instruction),
            theirs[place : place + len(word)].hex(),
        )
        place += len(word)


@needs_clang
@pytest.mark.parametrize("isa", ISAS, ids=str)
def test_pseudo_instructions_are_those_of_clang(isa: names.Isa, tmp_path: Path) -> None:
    lines = [
        *[
            "nop",
            "ret",
            "fence",
            "mv a0, a1",
            "not a0, a1",
            "neg a0, a1",
            "seqz a0, a1",
            "snez a0, a1",
            "sltz a0, a1",
            "sgtz a0, a1",
            "zext.b a0, a1",
        ],
        *[
            "sgt a0, a1, a2",
            "sgtu a0, a1, a2",
            "jr a0",
            "jalr a0",
            "j 16",
            "jal 16",
            "beqz a0, 8",
            "bnez a0, 8",
            "blez a0, 8",
            "bgez a0, 8",
            "bltz a0, 8",
        ],
        *[
            "bgtz a0, 8",
            "bgt a0, a1, 8",
            "ble a0, a1, 8",
            "bgtu a0, a1, 8",
            "bleu a0, a1, 8",
            "fmv.s fa0, fa1",
            "fabs.s fa0, fa1",
            "fneg.s fa0, fa1",
        ],
        *[
            "fmv.d fa0, fa1",
            "fabs.d fa0, fa1",
            "fneg.d fa0, fa1",
            "fgt.s a0, fa1, fa2",
            "fge.d a0, fa1, fa2",
            "csrr a0, fcsr",
            "csrw frm, a1",
        ],
        *[
            "csrs fflags, a1",
            "csrc 0x3, a1",
            "csrwi frm, 1",
            "csrsi frm, 1",
            "csrci frm, 1",
            "frcsr a0",
            "fscsr a0",
            "frrm a0",
            "fsrm a0",
            "frflags a0",
        ],
        *[
            "fsflags a0",
            "lw a0, (a1)",
            "lr.w.aqrl a0, (a1)",
            *(["negw a0, a1", "sext.w a0, a1"] if isa.xlen == 64 else []),
        ],
        *[f"li a0, {value}" for value in (0, -1, 2047, -2048, 0x7FFFF800, 0x7FFFFFFF, -0x80000000, 0x12345000)],
    ]
    assert assemble("\n".join(lines), isa).data == clang.assemble(lines, isa, tmp_path)


@pytest.mark.parametrize("isa", ISAS, ids=str)
def test_text_reads_back(isa: names.Isa) -> None:
    for instruction in instructions(isa):
        assert decode(encode(instruction), isa) == instruction
        assert assemble(instruction_text(instruction), isa).data == encode(instruction).to_bytes(
            instruction.row.size, "little"
        )


@pytest.mark.parametrize("isa", ISAS, ids=str)
@given(word=st.integers(0, 2**32 - 1))
def test_what_decodes_encodes(isa: names.Isa, word: int) -> None:
    found = decode(word, isa)
    if found is not None:
        assert encode(found) == word & (1 << 8 * found.row.size) - 1
        base = expand_compressed(found, isa)
        assert base.row.mnemonic in base_mnemonics()
        assert all(value in field.range for field, value in zip(base.row.fields, base.values, strict=True))


def test_rows_are_well_formed() -> None:
    for row in instruction_table():
        assert row.match & ~row.mask == 0, row.mnemonic
        assert sum(field.mask.bit_count() for field in row.fields) + row.mask.bit_count() == 8 * row.size, (
            f"fields of {row.mnemonic} overlap"
        )


def test_zero_and_ones_are_illegal() -> None:
    assert all(decode(word, isa) is None for isa in ISAS for word in (0, 2**32 - 1))


@given(value=st.integers(-(2**63), 2**64 - 1))
def test_li_makes_the_constant(value: int) -> None:
    made = assemble(f"li a0, {value}", ISAS[0]).data
    assert len(made) <= 32
    register = 0
    for place in range(0, len(made), 4):
        found = decode(int.from_bytes(made[place : place + 4], "little"), ISAS[0])
        assert found is not None
        name, number = found.row.mnemonic, found.roles["imm"]
        start = 0 if found.roles.get("rs1") == 0 else register
        register = number if name == "lui" else start << number if name == "slli" else start + number
        if name == "addiw":
            register = (register + 2**31) % 2**32 - 2**31
    assert (register - value) % 2**64 == 0


def test_labels_and_data() -> None:
    text = """
    start:  beqz a0, done      # forward
            la a1, table
            j start
    done:   ret
            .balign 8
    table:  .word 1, -1, table
            .byte 0x7f
    """
    made = assemble(text, ISAS[0], base=0x1000)
    assert made.labels == {"start": 0x1000, "done": 0x1010, "table": 0x1018}
    assert made.data[-13:] == b"\1\0\0\0\xff\xff\xff\xff\x18\x10\0\0\x7f"
    assert list(listing(made.data[:16], ISAS[0], 0x1000)) == [
        "    1000: 00050863  beq a0, zero, 16",
        "    1004: 00000597  auipc a1, 0",
        "    1008: 01458593  addi a1, a1, 20",
        "    100c: ff5ff06f  jal zero, -12",
    ]

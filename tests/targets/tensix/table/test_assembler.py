# SPDX-License-Identifier: Apache-2.0
"""Assembler and disassembler are inverse on every instruction and on random words, in both spellings, and give the
words of the vendor's assembler."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyloom.targets.tensix.words.assemble import assemble
from polyloom.targets.tensix.words.configuration import constants, settings
from polyloom.targets.tensix.words.decode import decode
from polyloom.targets.tensix.words.disassemble import disassemble, macro_spelling
from polyloom.targets.tensix.words.encode import PUSHED, encode, rotate_word, to_bytes, to_words, unrotate_word
from polyloom.targets.tensix.words.isa import MEMBERS, Instruction, Member, table

FETCHED = {
    "SFPMAD L1, L0, L13, L14, 0": 0x10037842,
    "SFPLOAD L2, 4, 0, 3": 0xC0830011,
    "SFPSTORE L2, 4, 0, 3": 0xC8830011,
    "SFPLOADI L3, 16389, 8": 0xC4E10015,
    "SFPENCC 3, 10": 0x2800C02A,
    "TTREPLAY 0, 21, 1, 1": 0x1000054C,
    "TTINCRWC 0, 2, 0, 0": 0xE0020000,
    "SFPNOP": 0x3C000002,
    "SFPSTOCHRND L7, L15, L15, 1, 1, 31": 0x38FFFDC6,
    "SFPSETCC L7, 0, 0": 0xEC001C01,
    "SFPIADD L0, L0, -2048, 1": 0xE6000005,
    "SFPCONFIG 15, 65535, 14": 0x47FFFFFA,
    "SFPLUT L7, 4": 0xCDD00001,
    "TTSTALLWAIT 511, 255": 0x8BFE03FE,
    "TTSETC16 255, 65535": 0xCBFFFFFE,
    "TTATCAS 1, 15, 15, 3, 63, 63": 0x92FFFFFD,
    "TTWRCFG 255, 1, 32767": 0xC3FFFFFE,
    "TTMOP 1, 127, 32767": 0x07FDFFFC,
}
"""Text, and the word as a core fetches it: output of the vendor's assembler."""

words = st.integers(0, 0xFFFFFFFF)
members = st.sampled_from(MEMBERS)


@st.composite
def instructions(draw: st.DrawFn) -> tuple[Member, Instruction, dict[str, int]]:
    member = draw(members)
    row = draw(st.sampled_from([*table(member).values()]))
    return member, row, {f.name: f.of(draw(st.integers(0, f.most)) << f.shift) for f in row.fields}


@pytest.mark.parametrize("text", FETCHED)
def test_words_of_the_vendors_assembler(text: str) -> None:
    (word,) = assemble(text).words
    assert rotate_word(word) == FETCHED[text]
    assert disassemble(word) == text


@given(words)
def test_rotation_is_inverse(word: int) -> None:
    assert unrotate_word(rotate_word(word)) == rotate_word(unrotate_word(word)) == word


@given(words, members)
def test_text_of_a_random_word_is_that_word(word: int, member: Member) -> None:
    assert assemble(disassemble(word, member), member=member).words == (word,)
    assert assemble(macro_spelling(word, member), member=member).words == (word,)


@given(instructions())
def test_every_instruction_returns(drawn: tuple[Member, Instruction, dict[str, int]]) -> None:
    member, row, values = drawn
    word = encode(row, values)
    found = decode(word, member)
    assert found is not None
    assert (found.row, found.values, found.stray) == (row, values, 0)
    text = disassemble(word, member)
    assert text.split(" ")[0] == row.mnemonic
    assert assemble(text, member=member).words == assemble(macro_spelling(word, member), member=member).words == (word,)


@pytest.mark.parametrize("member", MEMBERS)
def test_every_mnemonic_and_macro_is_read(member: Member) -> None:
    for row in table(member).values():
        texts = (row.mnemonic, row.mnemonic.lower(), row.name, f"TTI_{row.name}()", f"TT_OP_{row.name}()")
        for text in texts:
            assert assemble(text, member=member).words == (row.opcode << 24,), text


def test_fields_by_name() -> None:
    first = assemble("SFPMAD L1, L0, L13, L14, 0").words
    for text in (
        "SFPMAD L1, L0, lreg_src_b=L13, lreg_src_c=L14",
        "SFPMAD vc=L14, vb=L13, va=L0, vd=L1",
        "TTI_SFPMAD(p_sfpu::LREG0, p_sfpu::LREG13, p_sfpu::LREG14, p_sfpu::LREG1, 0);  // a comment",
        ".word 0x8400DE10",
        ".ttinsn 0x84 << 24 | 0xDE10 ; a comment",
    ):
        assert assemble(text).words == first, text


def test_names_of_the_configuration() -> None:
    setting = settings()["ALU_FORMAT_SPEC_REG0_SrcA"]
    assert assemble("TTSETC16 DEST_TARGET_REG_CFG_MATH_Offset, 5").words == assemble("TTSETC16 1, 5").words
    text = "TTRMWCIB2 ALU_FORMAT_SPEC_REG0_SrcA_MASK >> 16, 5 << (ALU_FORMAT_SPEC_REG0_SrcA_SHAMT - 16), {0}"
    assert (
        assemble(text.format("ALU_FORMAT_SPEC_REG0_SrcA_ADDR32")).words
        == assemble(f"TTRMWCIB2 {setting.mask >> 16}, {5 << setting.shift - 16}, {setting.word}").words
    )
    assert constants()["THCON_SEC1_REG1_L1_Dest_addr_ADDR32"] == 97


def test_lines_have_places() -> None:
    made = assemble("; nothing\n\n  SFPNOP ; one\nTTNOP\n", "k.tts")
    assert [span.line for span in made.spans] == [3, 4]
    assert [span.column for span in made.spans] == [3, 1]


@given(st.lists(st.integers(0, PUSHED - 1)), st.sampled_from(("tensix", "riscv")))
def test_bytes_return(given: list[int], form: Any) -> None:
    assert to_words(to_bytes(given, form), form, "k.bin") == given

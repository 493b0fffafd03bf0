# SPDX-License-Identifier: Apache-2.0
"""Words of tensor instructions and their text: every word reads back to its bits."""

from __future__ import annotations

import numpy as np
import pytest
from tests.targets.minion.tensor import samples

from polyloom.targets.minion.words import tensor_words as words
from polyloom.targets.minion.words.tensor_notation import parse, text
from polyloom.targets.minion.words.tensor_words import OPERATIONS, Word, decode, encode


@pytest.mark.parametrize("name", [row.name for row in OPERATIONS])
def test_random_words_read_back(name: str) -> None:
    random = np.random.default_rng(len(name))
    row = words.BY_NAME[name]
    for _ in range(200):
        value = int(random.integers(0, 1 << 64, dtype=np.uint64)) & ~row.fixed_mask | row.fixed
        x31 = None
        if row.takes_x31:
            x31 = encode(name, **{f.name: samples.fields(random, name)[f.name] for f in row.fields if f.x31}).x31
        word = Word(row.csr, value, x31)
        written = text(word)
        assert written is not None
        assert written.split()[0] == name
        assert parse(written) == word, written


@pytest.mark.parametrize("name", [row.name for row in OPERATIONS])
def test_fields_read_back(name: str) -> None:
    random = np.random.default_rng(len(name))
    for _ in range(50):
        fields = samples.fields(random, name)
        decoded = decode(encode(name, **fields))
        assert decoded is not None
        signed = {f.name: f.most + f.unit - f.base for f in words.BY_NAME[name].fields if f.signed}
        back = {key: value % signed[key] if key in signed else value for key, value in decoded[1].items()}
        assert (decoded[0], back) == (name, fields)


WRITTEN = {
    words.fma("fp32", first=True): "tensor_fma fp32 16x16x16 A=scp[0..15] B=TenB C=f0..f31 mul",
    words.fma("fp16", 3, 8, 2, a=46, b=16): "tensor_fma fp16 3x8x4 A=scp[46..0] B=scp[16..17] C=f0..f4",
    words.fma("int8", a=16, b=32, offset=2): "tensor_fma int8 16x16x64 A=scp[16..31]+2 B=scp[32..47] C=TenC",
    words.fma("int8", b=None, to_registers=True, a_unsigned=True): (
        "tensor_fma int8 16x16x64 A=scp[0..15] B=TenB C=f0..f31 a_unsigned"
    ),
}


@pytest.mark.parametrize(("value", "written"), WRITTEN.items())
def test_fma_is_written_with_what_it_multiplies(value: int, written: str) -> None:
    assert text(Word(0x801, value)) == written
    assert parse(written) == Word(0x801, value)


def test_others_are_written_short() -> None:
    load = Word(0x83F, words.load(0, address=0x8000001000, transform="interleave8"), words.load_second_word(256, 1))
    assert text(load) == "tensor_load scp[0..15] interleave8 from=0x8000001000 stride=256 id=1"
    assert text(Word(0x83F, words.load_b())) == "tensor_load_b TenB[0..15] from=0x0"
    quant = words.quant(("i32_to_f32", "mul_col", "f32_to_i32", "sat8", "pack"), start=40)
    assert text(Word(0x806, quant)) == "tensor_quant 16x16 f0..f31 scp[40] i32_to_f32 mul_col f32_to_i32 sat8 pack"
    assert text(Word(0x87F, words.store(), 64)) == "tensor_store 16x64B f0 to=0x0 stride=64"
    assert text(Word(0x800, words.reduce(3, 1))) == "tensor_reduce f0*1 height=3 fadd"
    assert text(Word(0x800, words.receive(7, 32))) == "tensor_recv f0*32 from=7 move"
    assert text(Word(0x830, 7)) == "tensor_wait fma"
    assert text(Word(0x805, 0xFFFF)) == "tensor_mask 0xffff"
    assert text(Word(0x820, 0)) is None


REFUSED = {
    "tensor_fma fp32 16x16x16 A=scp[0..14] B=TenB C=f0..f31": "lines of A are 15, but the shape needs 16",
    "tensor_fma fp16 16x16x15 A=scp[0..15] B=TenB C=f0..f31": "has a depth in steps of 2, not 15",
    "tensor_fma fp32 17x16x16 A=scp[0..16] B=TenB C=f0..f31": "registers of C are 32, but the shape needs 34",
    "tensor_fma fp32 16x15x16 A=scp[0..15] B=TenB C=f0..f31": "columns is from 4 to 16 in steps of 4, not 15",
    "tensor_fma fp32 16x16x16 B=TenB C=f0..f31": "tensor_fma needs A=scp[first..last]",
    "tensor_load scp[0..15] from=0x8000000000 stride=100": "stride is from 0 to .* in steps of 64, not 100",
    "tensor_wait what": "tensor_wait needs an event: load0, load1",
    "tensor_wait fma twice": "tensor_wait does not take 'twice'",
    "tensor_mul": "there is no tensor instruction 'tensor_mul'",
}


@pytest.mark.parametrize(("line", "message"), REFUSED.items())
def test_errors_say_what_is_wrong(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("[", r"\[")):
        parse(line)


def test_addresses_may_be_symbols() -> None:
    word = parse(
        "tensor_load scp[0..3] from=here stride=64", lambda name: 0x8000000040 if name == "here" else int(name, 0)
    )
    assert word == Word(0x83F, words.load(0, 4, 0x8000000040), 64)

# SPDX-License-Identifier: Apache-2.0
"""Programs from text: segments, symbols of code and data, source lines, local labels, and what is refused."""

from __future__ import annotations

import struct

import pytest
from tests.conftest import Golden

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Place
from polyloom.riscv import source_lines, symbols
from polyloom.riscv.image import elf_image
from polyloom.targets.minion.words import isa
from polyloom.targets.minion.words.assemble import assemble, assemble_lines
from polyloom.targets.minion.words.listing import listing
from polyloom.targets.minion.words.tensor_words import fma, load, load_b, load_second_word, store

TEXT = """\
# a comment with "quotes"
        .globl _start
        nop
_start: csrwi mcache_control, 1
        la a0, vector         # data behind code
        flw.ps f0, (a0)
1:      fadd.ps f0, f0, f0
        bnez t0, 1b
        beqz t0, 1f
1:      fsw.ps f0, 0(a0)
        csrw validation0, t0
        .data
vector: .float 1, -2.5
        .dword 7, vector
text:   .asciz "a # b\\n"
"""
WRONG = {
    "mnemonic": "fadd.pz f0, f1, f2",
    "mask-register": "maskand m0, m8, m1",
    "csr": "csrw tensor_fna, t0",
    "immediate": "fbci.ps f0, 0x100000",
    "lane": "fmvz.x.ps t0, f1, 8",
    "signed-immediate": "faddi.pi f0, f1, 512",
    "operands": "fgw.ps f0, (a0)",
    "rounding": "fadd.ps f0, f1, f2, up",
    "standard-atomic": "amoadd.w a0, a0, (a1)",
    "double": "fadd.d f0, f1, f2",
    "string": ".asciz hello",
    "float": "nop\n.float 1e99, x",
    "long-address": "here: nop\n.word here",
    "code-behind-data": "nop\n.data\n.word 1\nnop",
    "local-label": "j 1f",
    "tensor-shape": "tensor_fma fp32 17x16x16 A=scp[0..15] B=TenB C=f0..f31",
    "tensor-name": "tensor_fuse fp32",
    "tensor-clobber": "tensor_load scp[0..15] from=t5 stride=64",
    "no-instruction": ".data\n.word 1",
}


def test_program() -> None:
    data = assemble(TEXT, "k.s")
    image = elf_image(data, isa.ISA)
    code, words = (next(s for s in image.segments if s.is_code is kind) for kind in (True, False))
    assert image.entry == code.address + 4
    assert words.address % 4096 == 0
    assert words.data[:8] == struct.pack("<ff", 1, -2.5)
    assert words.data[8:24] == struct.pack("<QQ", 7, words.address)
    assert words.data[24:] == b"a # b\n\0"
    named = symbols.symbol_extents(data)
    assert named["vector"] == (words.address, 24)
    assert named["text"] == (words.address + 24, 7)
    assert named["_start"] == (code.address + 4, len(code.data) - 4)


def test_source_lines() -> None:
    data = assemble(TEXT, "k.s")
    found, start = source_lines.decode_lines(data), elf_image(data, isa.ISA).entry
    assert [found.at(start + offset) for offset in (0, 4, 8, 12)] == [Place("k.s", n) for n in (4, 5, 5, 6)]


@pytest.mark.parametrize("text", ["amoaddl.w a0, a1, {}(a2)", "shg t0, {}(a0)", "flwl.ps f0, {}(a0)"])
def test_an_address_may_have_no_offset(text: str) -> None:
    assert assemble_lines(text.format("")).data == assemble_lines(text.format("0")).data


def test_local_labels() -> None:
    made = assemble_lines("1: j 1f\n1: j 1b\nj 1b\n")
    assert made.data == assemble_lines("a: j b\nb: j b\nj b").data


def test_listing_reads_back() -> None:
    data = assemble(TEXT, "k.s")
    code = next(s for s in elf_image(data, isa.ISA).segments if s.is_code)
    text = "\n".join(line.split("  ", 1)[1] for line in isa.listing(code.data, code.address))
    assert assemble_lines(text, code.address).data == code.data


def test_listing(golden: Golden) -> None:
    golden("listing", listing(assemble(TEXT, "k.s")))


@pytest.mark.parametrize("name", WRONG)
def test_refused(name: str, golden: Golden) -> None:
    with pytest.raises(PolyloomError) as error:
        assemble(WRONG[name], "k.s")
    golden(f"asm-{name}", str(error.value))


TENSOR = {
    "tensor_wait fma": "csrrwi zero, tensor_wait, 7",
    "tensor_mask 0xffff": "li t5, 0xffff\ncsrw tensor_mask, t5",
    "tensor_fma fp32 16x16x16 A=scp[0..15] B=TenB C=f0..f31 mul": (
        f"li t5, {fma('fp32', first=True)}\ncsrw tensor_fma, t5"
    ),
    "tensor_load scp[2..17] interleave8 from=a0 stride=256 id=1": (
        f"li t5, {load(2, transform='interleave8')}\nadd t5, t5, a0\n"
        f"li t6, {load_second_word(256, 1)}\ncsrw tensor_load, t5"
    ),
    "tensor_store 16x64B f0 to=0x8000001000 stride=a1": (
        f"li t5, {store(address=0x8000001000)}\nli t6, 0\nadd t6, t6, a1\ncsrw tensor_store, t5"
    ),
    "here: tensor_load_b TenB[0..3] from=here stride=64": (
        f"here: li t5, {load_b(4)}\nla t6, here\nadd t5, t5, t6\nli t6, {load_second_word(64)}\ncsrw tensor_load, t5"
    ),
}


@pytest.mark.parametrize("text", TENSOR)
def test_tensor_operation(text: str) -> None:
    assert assemble_lines(text).data == assemble_lines(TENSOR[text]).data


LOOP = """\
_start: li s0, 0x0000000000000000
        ld a0, 0(s0)
        tensor_load scp[0..15] from=a0 stride=256
        li s6, 15
        add s6, s6, a0
        li s8, {first}
        li s9, {accumulate}
        xor s9, s8, s9
        li t6, 256
again:  csrw tensor_load, s6
        csrw tensor_fma, s8
        xor s8, s8, s9
        addi s6, s6, 64
        addi a1, a1, -1
        bnez a1, again
        ld s8, 0(a0)
        csrw tensor_fma, s8
        jal ra, other
        csrw tensor_load, s6
other:  csrwi tensor_wait, 7
        csrw tensor_mask, zero
"""


def test_listing_tells_tensor_words(golden: Golden) -> None:
    text = LOOP.format(first=fma("fp32", first=True), accumulate=fma("fp32", a=16))
    golden("listing-tensor", listing(assemble(text, "k.s")))

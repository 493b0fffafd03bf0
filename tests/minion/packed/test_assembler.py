# SPDX-License-Identifier: Apache-2.0
"""Programs from text: segments, symbols of code and data, source lines, local labels, and what is refused."""

from __future__ import annotations

import struct

import pytest
from tests.conftest import Golden

from polyloom.diagnostics import PolyloomError
from polyloom.riscv import symbols
from polyloom.riscv.image import elf
from polyloom.targets.minion import isa, lines
from polyloom.targets.minion.assemble import assemble, assemble_lines
from polyloom.targets.minion.listing import listing

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
    "data-twice": "nop\n.data\n.data",
    "local-label": "j 1f",
    "no-instruction": ".data\n.word 1",
}


def test_program() -> None:
    data = assemble(TEXT, "k.s")
    image = elf(data, isa.ISA)
    code, words = (next(s for s in image.segments if s.is_code is kind) for kind in (True, False))
    assert image.entry == code.address + 4
    assert words.address % 4096 == 0
    assert words.data[:8] == struct.pack("<ff", 1, -2.5)
    assert words.data[8:24] == struct.pack("<QQ", 7, words.address)
    assert words.data[24:] == b"a # b\n\0"
    named = symbols.objects(data)
    assert named["vector"] == (words.address, 24)
    assert named["text"] == (words.address + 24, 7)
    assert named["_start"] == (code.address + 4, len(code.data) - 4)


def test_source_lines() -> None:
    data = assemble(TEXT, "k.s")
    found, start = lines.decode(data), elf(data, isa.ISA).entry
    assert [found.at(start + offset) for offset in (0, 4, 8, 12)] == [("k.s", n) for n in (4, 5, 5, 6)]


def test_local_labels() -> None:
    made = assemble_lines("1: j 1f\n1: j 1b\nj 1b\n")
    assert made.data == assemble_lines("a: j b\nb: j b\nj b").data


def test_listing_reads_back() -> None:
    data = assemble(TEXT, "k.s")
    code = next(s for s in elf(data, isa.ISA).segments if s.is_code)
    text = "\n".join(line.split("  ", 1)[1] for line in isa.listing(code.data, code.address))
    assert assemble_lines(text, code.address).data == code.data


def test_listing(golden: Golden) -> None:
    golden("listing", listing(assemble(TEXT, "k.s")))


@pytest.mark.parametrize("name", WRONG)
def test_refused(name: str, golden: Golden) -> None:
    with pytest.raises(PolyloomError) as error:
        assemble(WRONG[name], "k.s")
    golden(f"asm-{name}", str(error.value))

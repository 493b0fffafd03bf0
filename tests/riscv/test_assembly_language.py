# SPDX-License-Identifier: Apache-2.0
"""Expressions, macros, sections, `.insn` and addresses of assembly: bytes equal clang's; errors have golden texts."""

from __future__ import annotations

import random
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.conftest import Golden
from tests.riscv import clang

from polyloom.diagnostics import PolyloomError
from polyloom.riscv import names
from polyloom.riscv.assemble import assemble
from polyloom.riscv.assembly.open_files import folder_files

RV64, RV32 = names.parse_isa("rv64gc"), names.parse_isa("rv32gc")
needs_clang = pytest.mark.skipif(find_spec("ziglang") is None, reason="the extra [c] is not installed: no oracle")
LANGUAGE = {
    "symbols": """
        .equ COUNT, 4
        .set N, COUNT * 3 - 1
        SIZE = 1 << N & 0xff0 | 3
        addi a0, a0, N + 2 * COUNT
        lw a1, 8*(COUNT+1)(sp)
        li a2, SIZE - 'a'
        slli a3, a3, (COUNT)
        .set N, N + 1
        .word N, -N, ~N, 0x10 + 010
        .half N % 5; .byte '\\n', 'z'   /* two
        lines */ ; nop // the end
    """,
    "macros": """
        .macro push register, more:vararg
        addi sp, sp, -8
        sd \\register, 0(sp)
        .ifnb \\more
        push \\more
        .endif
        .endm
        .macro wait count=3, by:req
        li t0, \\count
        .Lwait\\@: addi t0, t0, -\\by
        bnez t0, .Lwait\\@
        .endm
        push ra, s0, s1
        wait by=1
        wait 7, 2
        .macro field name, n
        li a0, \\name\\()_\\n
        .endm
        .set one_2, 12
        field one, 2
        .rept 3
        nop
        .rept 2
        ret
        .endr
        .endr
        .irp register, a0, a1, a5
        mv \\register, zero
        .endr
        .irpc n, 0123
        .byte \\n
        .endr
    """,
    "conditions": """
        .set A, 3
        .if A > 2 && A < 9
        nop
        .if A == 2
        ret
        .elseif A == 3
        ebreak
        .else
        ecall
        .endif
        .else
        ret
        .if 1
        ecall
        .endif
        .endif
        .ifdef A
        .word 1
        .endif
        .ifndef A
        .word 2
        .endif
        .ifeq A - 3
        .word 3
        .endif
    """,
    "labels": """
        start: j 1f
        1: beqz a0, 1b
        bne a0, a1, 2f
        2: bnez a0, 1b
        jal 2b
        .word end - start, . - start
        .fill 3, 2, 0x1234
        .balign 16
        .space 5, 7
        .p2align 2
        end: .zero 4
        .word (end - start) / 4
    """,
    "addresses": """
        lui a0, %hi(0x12345fff)
        addi a0, a0, %lo(0x12345fff)
        sw a1, %lo(0x12345fff)(a0)
        li a4, -2048
        li sp, (8ULL + 4UL)
        add sp, sp, 272
        and a0, a0, (7)
        sra a0, a0, 3
        jalr x0, a1
        jalr ra, a1, 4
        wfi
        mret
        sret
        sfence.vma
        sfence.vma a0, a1
    """,
    "insn": """
        .insn r 0x33, 7, 0x20, a0, a1, a2
        .insn r OP_FP, 0, 1, fa0, fa1, fa2
        .insn r4 MADD, 1, 2, fa0, fa1, fa2, fa3
        .insn i OP_IMM, 0, a0, a1, -13
        .insn s STORE, 3, a0, 24(sp)
        .insn u LUI, a0, 0x12345
        .insn 0x00c58533
        .insn 4, 0x00c58533
        .insn i CUSTOM_0, 2, s3, 8(s4)
    """,
    "data": """
        .2byte 1, 2
        .4byte 0xffffffff
        .8byte -1
        .double 1.5, -2
        .float 0.25
        .ascii "a;b", "#c"
        .asciz "d // e"
        .string "f"
        .fill 2, 4, -3
        .skip 3
    """,
}


@needs_clang
@pytest.mark.parametrize("name", LANGUAGE)
def test_bytes_are_those_of_clang(name: str, tmp_path: Path) -> None:
    option = ".option norelax\n.option norvc\n"
    assert (
        assemble(LANGUAGE[name], RV64).data.hex() == clang.assemble_text(option + LANGUAGE[name], RV64, tmp_path).hex()
    )


def expression(random: random.Random, depth: int) -> str:
    """An expression whose value has a few bits."""
    if depth == 0:
        return random.choice(["1", "7", "A", "B", "0x1f", "011", "'c'", "12", "0b101"])
    match random.randrange(6):
        case 0:
            return f"({expression(random, depth - 1)})"
        case 1:
            return random.choice("-~") + expression(random, 0)
        case 2:
            return f"{expression(random, depth - 1)} {random.choice(['<<', '>>'])} {random.randrange(4)}"
        case 3:
            return f"{expression(random, depth - 1)} {random.choice('/%')} {random.randrange(1, 9)}"
        case _:
            return f"{expression(random, depth - 1)} {random.choice('+-*&|^')} {expression(random, depth - 1)}"


@needs_clang
def test_random_expressions_are_those_of_clang(tmp_path: Path) -> None:
    """Without `>>` of negative values, which clang shifts as unsigned ones."""
    draw = random.Random(1)
    lines = [".set A, 5", ".set B, 9", *(f".dword {expression(draw, 3)}" for _ in range(400))]
    texts = [line for line in lines if ">>" not in line or ("-" not in line and "~" not in line)]
    ours = assemble("\n".join(texts), RV64).data
    theirs = clang.assemble_text("\n".join(texts), RV64, tmp_path)
    assert [ours[n : n + 8].hex() for n in range(0, len(ours), 8)] == [
        theirs[n : n + 8].hex() for n in range(0, len(theirs), 8)
    ]


def test_sections_stand_code_first_and_data_on_a_page_of_their_own() -> None:
    made = assemble(
        """
        .data
        first: .word 1
        .text
        main: lw a0, second
        .section .rodata
        .balign 32
        second: .word end - first
        .section .text.init, "ax"
        reset: la a1, main
        .pushsection .bss
        cells: .space 64
        .popsection
        tail main
        .data
        end: .dword second, cells
        """,
        RV64,
        0x8000_0000,
    )
    labels = made.labels
    assert labels["reset"] == 0x8000_0000 and labels["main"] == 0x8000_0010
    assert made.code_end == 0x8000_0018 and made.data_at == labels["first"] == 0x8000_1000
    assert labels["second"] % 32 == 0 and labels["second"] > labels["first"]
    assert labels["cells"] > labels["second"] and len(made.data) == labels["cells"] + 64 - 0x8000_0000
    place = labels["end"] - 0x8000_0000
    assert int.from_bytes(made.data[place : place + 8], "little") == labels["second"]
    assert int.from_bytes(made.data[place + 8 : place + 16], "little") == labels["cells"]


def test_a_load_of_a_symbol_reads_it(tmp_path: Path) -> None:
    """`lw rd, symbol` is `la` and a load; %pcrel_hi and %pcrel_lo are its halves."""
    by_name = assemble("lw a0, x\nsw a1, x, t0\nx: .word 7", RV64, 0x8000_0000)
    by_halves = assemble(
        "1: auipc a0, %pcrel_hi(x)\nlw a0, %pcrel_lo(1b)(a0)\n2: auipc t0, %pcrel_hi(x)\nsw a1, %pcrel_lo(2b)(t0)\n"
        "x: .word 7",
        RV64,
        0x8000_0000,
    )
    assert by_name.data == by_halves.data
    far = assemble(".zero 4000\nla a0, x\n.zero 3000\nx: ret", RV32, 0x8000_0000)
    assert far.labels["x"] == 0x8000_0000 + 4000 + 8 + 3000


def test_files_of_named_folders_are_included(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "defs.inc").write_text('.equ N, 3\n.include "more.inc"\n')
    (tmp_path / "more.inc").write_text("li a0, N\n")
    open_file = folder_files([str(tmp_path / "inner"), str(tmp_path)])
    assert assemble('.include "defs.inc"\nret', RV64, open_file=open_file).data == assemble("li a0, 3\nret", RV64).data


TEXTS = {
    "endless-macro": ".macro again\nagain\n.endm\nagain",
    "many": ".rept 2000000\nnop\n.endr",
    "macro-without-end": ".macro a\nnop",
    "rept-without-end": "nop\n.rept 3\nnop",
    "if-without-end": ".if 1\nnop",
    "else-alone": "nop\n.else",
    "end-alone": ".endm",
    "operands-of-macro": ".macro a b\n.endm\na 1, 2",
    "operand-needed": ".macro a b:req\n.endm\na",
    "error-in-macro": ".macro clear register\n  nop\n  mv \\register, zero\n.endm\nclear a0\nclear b0",
    "parameter": ".macro a 1b\n.endm",
    "section": "  .section",
    "code-in-data": ".data\nx: .word 1\nnop",
    "popsection": ".popsection",
    "set": ".set 4, 5",
    "set-label": "a: nop\n.set a, 5",
    "equiv": ".equiv a, 5\n.equiv a, 6",
    "unknown-constant": ".rept later\nnop\n.endr\n.set later, 3",
    "address-as-constant": "a: .rept a\nnop\n.endr",
    "sum-of-addresses": "a: nop\nb: .word a + b",
    "zero-division": ".word 1 / 0",
    "cycle": ".set a, b\n.set b, a\n.word a",
    "address-as-immediate": "a: addi a0, a0, a",
    "far-hi": "lui a0, %hi(0x80000000)",
    "pcrel": "nop\naddi a0, a0, %pcrel_lo(0)",
    "insn-format": ".insn q 1, 2, 3",
    "insn-operands": ".insn r 0x33, 7, 0x20, a0, a1",
    "insn-register": ".insn r 0x33, 7, 0x20, a0, a1, b2",
    "balign": ".balign 24",
    "include": '.include "a.inc"',
    "incbin": '.incbin "a.bin"',
    "irp-of-nothing": ".irp",
    "deep-expression": ".word " + "(" * 200 + "1" + ")" * 200,
    "large-section": ".rept 9\n.zero 0x3000000\n.endr",
    "growing-operand": ".macro grow a\ngrow \\a\\a\n.endm\ngrow xxxx",
    "many-digits": f".word {'9' * 5000}",
    "unfinished-expression": ".word 3 +",
}


@pytest.mark.parametrize("name", TEXTS)
def test_text(name: str, golden: Golden) -> None:
    with pytest.raises(PolyloomError) as error:
        assemble(TEXTS[name], RV64)
    golden(f"language-{name}", f"{error.value}\n")


@pytest.mark.parametrize("name", ["../secret.inc", "/etc/hostname", "none.inc", 4])
def test_no_other_file_is_opened(name: object, golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.inc").write_text("nop")
    (tmp_path / "named").mkdir()
    with pytest.raises(PolyloomError) as error:
        assemble(
            f'.include "{name}"' if isinstance(name, str) else ".include 4", RV64, open_file=folder_files(["named"])
        )
    golden(f"include-{str(name).strip('/.').replace('/', '-').replace('.', '-')}", f"{error.value}\n")

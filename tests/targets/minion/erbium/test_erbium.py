# SPDX-License-Identifier: Apache-2.0
"""Erbium: its memories and what each of them refuses, its registers, and how its harts start; as the public emulator
has them (sw-sysemu: memory/erbium/main_memory.h, pma_er.cpp, esrs_er.cpp, insns/zicsr.cpp)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest
from tests.conftest import Golden

from polyloom.cli import main
from polyloom.diagnostics import PolyloomError
from polyloom.targets.minion.machine import load as load_machine
from polyloom.targets.minion.machine import read, resolve
from polyloom.targets.minion.place import parse_place
from polyloom.targets.minion.run import model
from polyloom.targets.minion.run.model import Outcome, Setup
from polyloom.targets.minion.words.assemble import assemble_lines
from polyloom.targets.minion.words.program import load
from polyloom.targets.target import Loaded

MRAM: Final = 0x4000_0000
PASS: Final = "\nli t0, 0x1feed000\ncsrw validation0, t0\n"
FAIL: Final = "\nfail: li t0, 0x50bad000\ncsrw validation0, t0\n"
LOAD, STORE, ILLEGAL, FETCH = 5, 7, 2, 1


def run(text: str, minions: int = 1, base: int = MRAM, *, functional: bool = True) -> Outcome:
    """End of a program whose harts start at `base`."""
    place = parse_place(f"erbium:{minions}")
    data = assemble_lines(text + PASS + FAIL, base).data
    program = load([], [Loaded("code", data, base)], base, place.machine)
    return model.run(program, [], Setup(place, functional=functional, max_cycles=100_000)).outcome


@pytest.mark.parametrize(
    "text",
    [
        "li a0, 0x40fffff8\nsd a0, 0(a0)\nld a1, 0(a0)\nbne a0, a1, fail",
        "li a0, 0x200cff8\nsd a0, 0(a0)\nld a1, 0(a0)\nbne a0, a1, fail",
        "li a0, 0x2008000\nld a1, 0(a0)\nbnez a1, fail",
        "li a0, 0x40001000\nli a1, 3\namoaddl.d a2, a1, (a0)\namoaddg.d a2, a1, (a0)\nbne a1, a2, fail",
        # Credits and barriers are those of ET-SoC-1, elsewhere.
        "li a0, 0x803400c0\nli a1, 1\nsd a1, 0(a0)\ncsrwi fcc, 0",
        "li a0, 0x80340100\nli a1, 7\nsd a1, 0(a0)\nld a2, 0(a0)\nbne a1, a2, fail",
        # Interrupts that are pending read back, until they are cleared.
        "li a0, 0x80f40090\nli a1, 6\nsd a1, 0(a0)\nsd zero, 0(a0)\nld a2, 0(a0)\nbne a1, a2, fail\n"
        "li a3, 2\nsd a3, 8(a0)\nld a2, 0(a0)\nli a3, 4\nbne a2, a3, fail",
        # Without page tables: satp, matp and SUM are 0.
        "li a0, -1\ncsrw satp, a0\ncsrw matp, a0\ncsrr a1, satp\nbnez a1, fail\ncsrr a1, matp\nbnez a1, fail\n"
        "li a0, 0x40000\ncsrs mstatus, a0\ncsrr a1, mstatus\nand a1, a1, a0\nbnez a1, fail",
        "csrr a0, marchid\nli a1, 0x4554000000000001\nbne a0, a1, fail",
        "csrr a0, mimpid\nli a1, 0x10000\nbne a0, a1, fail",
    ],
)
def test_programs_that_pass(text: str) -> None:
    assert run(text).stop == "passed"


@pytest.mark.parametrize(
    ("text", "cause", "value"),
    [
        ("li a0, 0x41000000\nld a1, 0(a0)", LOAD, 0x41000000),
        ("li a0, 0x40fffffc\nld a1, 0(a0)", LOAD, 0x41000000),
        ("li a0, 0x2008000\nsd a1, 0(a0)", STORE, 0x2008000),
        ("li a0, 0x200c000\namoaddg.d a2, a1, (a0)", STORE, 0x200C000),
        ("li a0, 0x2004000\nlw a1, 0(a0)", LOAD, 0x2004000),
        ("li a0, 0x10000000\nsd a1, 0(a0)", STORE, 0x10000000),
        ("li a0, 0x80340100\nlw a1, 0(a0)", LOAD, 0x80340100),
        ("li a0, 0x80f40098\nsd a1, 4(a0)", STORE, 0x80F4009C),
        # Addresses have 32 bits: DRAM of ET-SoC-1 and its registers are nothing here.
        ("li a0, 0x8000001000\nld a1, 0(a0)", LOAD, 0x8000001000),
        ("li a0, 0x1003400c0\nsd a1, 0(a0)", STORE, 0x1003400C0),
        ("li a0, 0x41000000\njr a0", FETCH, 0x41000000),
        ("li a0, 0\ncsrw tensor_load_l2, a0", ILLEGAL, 0),
    ],
)
def test_accesses_that_fault(text: str, cause: int, value: int) -> None:
    trap = run(text).trap
    assert trap is not None
    assert (trap.hart, trap.cause, trap.value) == (0, cause, value)


@pytest.mark.parametrize(("mode", "faults"), [(1, (True, False, False)), (0, (True, True, False)), (3, (False,) * 3)])
def test_mprot_protects_mram(mode: int, faults: tuple[bool, ...]) -> None:
    # 64 KiB for machine mode, and to 128 KiB for supervisor mode; code of the lower modes is in ROM.
    for address, expected in zip((MRAM + 0xFFF8, MRAM + 0x10000, MRAM + 0x20000), faults, strict=True):
        outcome = run(
            f"li a0, 0x80d00020\nli a1, 0x145\nsd a1, 0(a0)\nla a0, inner\ncsrw mepc, a0\nli a0, 0x1800\n"
            f"csrc mstatus, a0\nli a0, {mode << 11:#x}\ncsrs mstatus, a0\nli a0, {address:#x}\nmret\n"
            "inner: ld a1, 0(a0)",
            base=0x0200_8000,
        )
        assert (outcome.stop == "trap") == expected, (mode, hex(address))


def test_hart_0_enables_the_others() -> None:
    text = """
        csrr a0, mhartid
        bnez a0, 1f
        li a1, 0x80f40000
        ld a2, 0x240(a1)
        li a3, 0xfe
        bne a2, a3, fail
        li a2, 0xf0
        sd a2, 0x240(a1)
        li a2, 0xff
        sd a2, 0x10(a1)
    1:  li a1, 0x40002000
        li a2, 1
        amoaddg.d zero, a2, (a1)
        bnez a0, 2f
    3:  ld a2, 0(a1)
        li a3, 4
        amoaddg.d a2, zero, (a1)
        bne a2, a3, 3b
    2:"""
    assert run(text, 8).stop == "passed"


def test_messages_within_eight_minions() -> None:
    for word in (3 << 3 | 3, 8 << 3):
        outcome = run(f"li a0, {word | 1 << 16:#x}\ncsrw tensor_reduce, a0")
        assert outcome.stop == "tensor-error"
        assert "Erbium has minions 0 to 7" in outcome.findings[0]["what"]


def test_time_is_extrapolated() -> None:
    outcome = run("li a0, 0x40001000\nld a1, 0(a0)\nadd a1, a1, a1", functional=False)
    assert outcome.cycles
    assert "mram" in outcome.extrapolated


def test_member() -> None:
    machine = load_machine("erbium")
    assert (machine.minions, machine.harts) == (8, 16)
    assert read(resolve(machine), "again") == machine


@pytest.mark.parametrize(
    "text",
    ['name = "x"\nfamily = "argon"\n', 'name = "x"\nbased_on = "erbium"\nl2_kib = 4\n', 'name="x"\nfamily = 3\n'],
)
def test_machine_files_that_are_refused(text: str) -> None:
    with pytest.raises(PolyloomError) as caught:
        read(text, "x.toml")
    assert caught.value.diagnostics[0].span is not None


def test_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "far.s").write_text("_start: li a0, 0x41000000\n        ld a1, 0(a0)\n")
    (tmp_path / "axpy.pla").write_text((Path(__file__).parents[4] / "examples" / "axpy.pla").read_text())
    commands = (
        ["asm", "far.s", "--on", "minion:erbium", "-o", "far.elf"],
        ["simulate", "far.elf", "--on", "minion:erbium", "--functional"],
        ["simulate", "far.elf", "--on", "minion"],
        ["simulate", "far.elf", "--on", "minion:erbium:9"],
        ["asm", "far.s", "--on", "minion", "-o", "far2.elf"],
        ["simulate", "far2.elf", "--on", "minion:erbium"],
        ["compile", "axpy.pla", "N=8", "--on", "minion:erbium:8", "-o", "axpy.elf"],
    )
    shown: list[str] = []
    for words in commands:
        status = main(words)
        captured = capsys.readouterr()
        shown.append(f"$ polyloom {' '.join(words)}\nexit {status}\n{captured.out}{captured.err}")
    golden("messages", "\n".join(shown))


def test_program_in_c(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ziglang", reason="C needs the extra `c`")
    program = """
        #include <minion.h>
        static uint64_t sum;
        int main(void) {
            et_f32x8 x = et_set_f32x8((float)get_minion_id());
            for (int h = 0; h < 3; h++) x = et_reduce_f32x8(x, TENSOR_REDUCE_OP_FADD, h, ET_REDUCE);
            et_amoaddg_d(get_hart_id(), &sum);
            shire_barrier(0, FCC_0, 16, 0xff, 0xff);
            return get_minion_id() == 0 && (et_fmvz_x_ps(x, 3) != 0x41e00000 || et_amoaddg_d(0, &sum) != 120);
        }
        int thread1(void) {
            et_amoaddg_d(get_hart_id(), &sum);
            shire_barrier(0, FCC_0, 16, 0xff, 0xff);
            return 0;
        }
    """
    (tmp_path / "e.c").write_text(program)
    where = ["--on", "minion:erbium:8"]
    assert main(["cc", f"{tmp_path}/e.c", "-o", f"{tmp_path}/e.elf", *where]) == 0
    capsys.readouterr()
    assert main(["simulate", f"{tmp_path}/e.elf", *where, "--json", "--hazards", "error"]) == 0
    assert "mram" in json.loads(capsys.readouterr().out)["extrapolated"]

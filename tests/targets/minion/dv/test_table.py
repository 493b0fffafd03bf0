# SPDX-License-Identifier: Apache-2.0
"""`make dv` on a small checkout that is written here: its list, its Makefiles, and tests in the vendor's manner."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from tests.targets.minion.dv.regression import DIAGNOSTICS, Case, read_build, read_cases
from tests.targets.minion.dv.run import run_case
from tests.targets.minion.dv.table import read_list

LIST: Final = """\
one = ['neigh', 'cpu_ss_vl']
always = ' +LEVEL=1 '
t('good', 'good', ['neigh'], tags=['a'], plusargs='+THREAD_MASK=0x3' + always)
t('good', 'good', ['neigh', 'shire'], test_name='again', plusargs='+THREAD_MASK=0x3 +MINION_MASK=0x1' + always)
t('many', 'deep/many', one, plusargs=f'+MINION_MASK=0xFF' + always)
t('good', 'good', one, diag_compile_opts="EXTRA_CFLAGS='-DEXPECTED=3 -DLEVEL'", plusargs=always)
t('soc', 'soc', ['fc'], plusargs=always)
"""
BOOT: Final = """\
    .section .bootrom, "ax"
    .global _boot
_boot:
    li a7, 0xDEAD0001
    csrw validation0, a7
    li t0, 0x6000
    csrs mstatus, t0
    csrr a1, mhartid
    slli a1, a1, 12
    li sp, STACK
    sub sp, sp, a1
    li x2, 0xff
    mova.m.x x2
    li sp, STACK
    sub sp, sp, a1
    la a1, _start
    jr a1
"""
START: Final = "    .text\n    .global _start\n_start:\n    call main\n    wfi\n"
SCRIPT: Final = """\
MEMORY { bootrom (rx) : ORIGIN = 0x40000000, LENGTH = 0x400
         mram (rwx) : ORIGIN = 0x40000400, LENGTH = 0x00FBFC00 }
ENTRY(_boot)
SECTIONS { .bootrom : { *(.bootrom) } > bootrom
           .text : { *(.text .text.*) *(.rodata .rodata.*) } > mram
           .data : { *(.data .data.* .sdata .sdata.*) } > mram
           .bss : { *(.bss .bss.* .sbss .sbss.*) } > mram }
"""
COMMON: Final = """\
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#define END(word) asm volatile("csrw validation0, %0" : : "r"(word))
#define PASS END(0x1FEED000ul)
#define FAIL END(0x50BAD000ul)
"""
GOOD: Final = """\
#include "common.h"
volatile float data[8] __attribute__((aligned(32))) = {1, 2, 3, 4, 5, 6, 7, 8};
constexpr std::array<std::uint32_t, 2> words = {{3, 4}};
static_assert(std::max(words[0], words[1]) == 4 && std::make_index_sequence<2>{}.size() == 2);
int main() {
    uint32_t lane;
    asm volatile("flw.ps f1, 0(%1)\\n fadd.ps f2, f1, f1 /* both */; fmvs.x.ps %0, f2, 3"
                 : "=r"(lane) : "r"(data) : "f1", "f2");
    uint64_t old;
    volatile uint64_t word = 40;
    asm volatile("amoaddg.d %0, %1, %2" : "=r"(old) : "r"(2ul), "r"(&word) : "memory");
    if (lane == 0x41000000 && old == 40 && EXPECTED == 3) PASS; else FAIL;
}
"""
# Its header has Erbium's address of a register, and it reads one of ET-SoC-1.
COOP: Final = """\
#include "common.h"
#include "tensors.h"
int main() {
    unsigned long pp = 1;
    *(volatile unsigned long*)COOP_MODE = 1;
    if (*(volatile unsigned long*)COOP_MODE == 1 && *(volatile unsigned long*)0x1003400c0 == 0) PASS; else FAIL;
}
"""
TENSORS: Final = "#define COOP_MODE (((0b00000001UL)) << 31 | ((pp & 0b01UL)) << 22 | 0x340290)\n"
# In the registers of ET-SoC-1.
OLD: Final = """\
#include "place.h"
    .globl _start
_start:
    li t0, PLACE
    ld t1, 0(t0)
    li a7, 0x1FEED000
    csrw validation0, a7
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / DIAGNOSTICS
    files = {
        "common/boot.S": BOOT.replace("STACK", "STACK_BASE"),
        "common/crt.S": START,
        "common/erbium.ld": SCRIPT,
        "include/common.h": COMMON,
        "good/good.cc": GOOD,
        "good/Makefile": "EXTRA_CFLAGS=-DEXPECTED=3 -Wall\ninclude include.mk\n",
        "bad/bad.cc": GOOD,
        "bad/Makefile": "EXTRA_CFLAGS=-DEXPECTED=4\n",
        "coop/coop.cc": COOP,
        "include/tensors.h": TENSORS,
        "old/old.S": OLD,
        "include/place.h": "#define PLACE 0x1003400c0\n",
        "wrong/wrong.S": ".globl _start\n_start: fadd.ps f0, f1, 7\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    boot = folder / "common" / "boot.S"
    boot.write_text("#ifndef STACK_BASE\n#define STACK_BASE 0x40FC0000\n#endif\n" + boot.read_text())
    regression = tmp_path / "dv" / "tests" / "minion_core" / "regress_lists"
    regression.mkdir(parents=True)
    (regression / "minion_diags.py").write_text(LIST)
    return tmp_path


def test_cases_are_those_of_one_neighbourhood(checkout: Path) -> None:
    found = [case.title for case in read_cases(checkout)]
    assert found == ["deep/many/many 0xff 0x1", "good/good 0x1 0x1 -DEXPECTED=3 -DLEVEL", "good/good 0x1 0x3"]


def test_makefiles(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(
        "EXTRA_SRC+=trap.S $(OTHER)/x.c\nEXTRA_CFLAGS += -DA=1 -Wall\nCOMPILE_OPT = -O0\n"
    )
    build = read_build(tmp_path)
    assert build.sources == (f"{tmp_path}/trap.S",)
    assert build.options == ("-DA=1", "-O0")


def test_outcomes(checkout: Path) -> None:
    pytest.importorskip("ziglang", reason="C needs the extra `c`")
    expected = {
        "good": "pass",
        "bad": "failed",
        "coop": "pass on et-soc-1",
        "old": "pass on et-soc-1",
        "wrong": "PL0903",
        "none": "no source: a program of the checkout makes it",
    }
    found = {name: run_case(checkout, Case(name, name, 1, 3)) for name in expected}
    assert {**found, "wrong": found["wrong"][:6]} == expected


def test_every_test_of_the_list_passes_or_has_a_reason() -> None:
    outcomes = read_list()
    assert len(outcomes) > 200
    assert all(outcomes.values())
    assert sum(outcome.startswith("pass") for outcome in outcomes.values()) > 150

# SPDX-License-Identifier: Apache-2.0
"""One verification test: compiled as its Makefile does, with the vendor's instructions encoded by our tables, and run
on `minion:erbium:8`, whose memory map the tests have."""

from __future__ import annotations

import random
import re
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.targets.minion.dv.regression import DIAGNOSTICS, Case, read_build

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.c.clang import ASSEMBLY, bare_executable, include_directive
from polyloom.frontend.source import Options
from polyloom.targets.minion.machine import DEFAULT, ERBIUM
from polyloom.targets.minion.place import parse_place
from polyloom.targets.minion.run import model, report
from polyloom.targets.minion.run.model import Setup
from polyloom.targets.minion.source.compile_c import TRIPLE
from polyloom.targets.minion.source.vector_assembly import encode_vendor_instructions
from polyloom.targets.minion.words.assemble import assemble_lines
from polyloom.targets.minion.words.program import load
from polyloom.targets.target import Loaded

PASS: Final = "pass"
_MOST: Final = 1_600_000
_FLAGS: Final = (
    "-march=rv64imfc_zifencei", "-mabi=lp64f", "-mcmodel=medany", "-fno-delete-null-pointer-checks", "-fhosted",
    "-fno-vectorize", "-fno-slp-vectorize", "-fno-builtin", "-Wno-c++11-narrowing", "-Wno-int-conversion",
    "-Wno-implicit-function-declaration",
)  # fmt: skip
_CPP: Final = ("-xc++", "-std=gnu++17", "-Wno-register", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics")
_C: Final = ("-xc", "-std=gnu17")
_LANGUAGES: Final = {".cc": _CPP, ".cpp": _CPP, ".c": _C, ".S": ASSEMBLY, ".s": ASSEMBLY}
_HEADERS: Final = ("include", "vpu/compare", "vpu/computational", "micro_kernels", "vpu/trans", "vm_boundary/common")
# C++ has no library here; these of its headers hold C's (C++17, 20.5.1.2).
_SHIMS: Final = {
    "cstdint": "stdint.h", "cinttypes": "inttypes.h", "cstddef": "stddef.h", "cstring": "string.h",
    "cassert": "assert.h", "cstdlib": "stdlib.h", "cstdio": "stdio.h",
}  # fmt: skip


def run_case(root: Path, case: Case) -> str:
    """`pass`, where it passes on ET-SoC-1 alone with that behind it, or why it passes on neither."""
    folder = root / DIAGNOSTICS / case.folder
    source = next((path for ending in _LANGUAGES if (path := folder / f"{case.name}{ending}").is_file()), None)
    if source is None:
        return "no source: a program of the checkout makes it"
    if case.folder.startswith("power_vpu"):
        return "no end: a power virus runs until it is stopped"
    first = _run_on(ERBIUM, root, source, case)
    if first == PASS or first.startswith("PL"):
        return first
    # Tests that are older than Erbium have the registers, page tables or memory of ET-SoC-1.
    return f"{PASS} on {DEFAULT}" if _run_on(DEFAULT, root, source, case) == PASS else first


def _run_on(member: str, root: Path, source: Path, case: Case) -> str:
    try:
        elf = _compile(root / DIAGNOSTICS, source, member)
        # Counters and starvation need time; loops over all values take too long in it.
        outcomes = (_run(elf, case, member, functional=functional) for functional in (True, False))
        return next((found for found in outcomes if found == PASS), None) or _run(elf, case, member, functional=True)
    except PolyloomError as error:
        message = re.sub(r"/\S*/", "", error.diagnostics[0].message).removeprefix("the C compiler says: ")
        return f"{error.diagnostics[0].code} {message[:100]}".replace("\n", " ").strip()


def _compile(diagnostics: Path, source: Path, member: str = ERBIUM) -> bytes:
    build = read_build(source.parent)
    boot = ("common/boot.S",) if _has_start(source) else ("common/boot.S", "common/crt.S")
    paths = [*(str(diagnostics / each) for each in boot), str(source), *build.sources]
    units = [(_LANGUAGES[Path(path).suffix], f"{include_directive(path)}\n") for path in paths]
    with TemporaryDirectory() as made:
        Path(made, "data.raw").write_bytes(_random_bytes())
        for name, header in _SHIMS.items():
            Path(made, name).write_text(f"#include <{header}>\n", encoding="utf-8")
        registers = diagnostics.parents[3] / "rtl" / "shire" / "esr" / "scripts"
        folders = (made, str(source.parent), *(str(diagnostics / each) for each in _HEADERS), str(registers))
        script = (diagnostics / "common" / "erbium.ld").read_text(encoding="utf-8")
        defines: tuple[str, ...] = ()
        if member == DEFAULT:
            # Addresses of MRAM become addresses of DRAM.
            script = re.sub(r"0x40(\w{6})\b", r"0x8040\1", script)
            defines = ("ESR_MEMORY_REGION=0x100000000UL", "STACK_BASE=0x8041000000")
        return bare_executable(
            units, script, TRIPLE, Options(includes=folders, defines=defines), *_FLAGS, *build.options,
            encoded=partial(encode_vendor_instructions, floats=True),
        )  # fmt: skip


def _has_start(source: Path) -> bool:
    """Whether a test in assembly is its own start, as include.mk builds it."""
    return source.suffix in (".S", ".s")


@cache
def _random_bytes() -> bytes:
    """Contents of data.raw, which the Makefiles fill at random."""
    return random.Random(1).randbytes(1 << 20)


def _run(elf: bytes, case: Case, member: str, *, functional: bool) -> str:
    place = parse_place(f"{member}:8")
    machine = place.machine
    entry = load([Loaded("test.elf", elf, None)], [], None, machine).entry
    at, text = _start_code(case, member)
    start = Loaded("start", assemble_lines(f"{text}1:  li t0, {entry:#x}\n    jr t0\n", at).data, at)
    program = load([Loaded("test.elf", elf, None)], [start], at, machine)
    setup = Setup(place, hazards="off", functional=functional, max_cycles=_MOST if functional else _MOST // 4)
    outcome = model.run(program, [], setup).outcome
    # A test that passes may leave the bits of tensor_error that it has provoked.
    if outcome.stop in ("passed", "tensor-error"):
        return PASS
    if outcome.trap is not None:
        said = report.trap_diagnostic(outcome.trap, program.locator, machine)
        return f"trap: {said.message.rpartition(': ')[2]} at {program.locator.at(outcome.trap.pc)}"
    return outcome.stop


def _start_code(case: Case, member: str) -> tuple[int, str]:
    """Code before a test, and its place: the plusargs of the testbench say which harts run. Hart 0 of Erbium enables
    the others; those of ET-SoC-1 that do not run sleep.
    """
    masks = [case.minions if case.threads >> thread & 1 else 0 for thread in (0, 1)]
    if member == ERBIUM:
        first, second = (~mask & 0xFF for mask in masks)
        return 0x0200_8000, (
            f"csrr t0, mhartid\nbnez t0, 1f\nli t0, 0x80F40000\n"
            f"li t1, {first & 0xFE:#x}\nsd t1, 0x240(t0)\nli t1, {second:#x}\nsd t1, 0x10(t0)\n"
        )
    return 0x80_0000_1000, (
        f"csrr t0, mhartid\nandi t1, t0, 1\nsrli t0, t0, 1\nli t2, {masks[0] | 1:#x}\nbeqz t1, 2f\n"
        f"li t2, {masks[1]:#x}\n"
        "2: srl t2, t2, t0\nandi t2, t2, 1\nbnez t2, 1f\n3: wfi\nj 3b\n"
    )

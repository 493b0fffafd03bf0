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
    "cinttypes": "inttypes.h", "cstring": "string.h", "cassert": "assert.h", "cstdlib": "stdlib.h",
    "cstdio": "stdio.h",
}  # fmt: skip
_STANDARD: Final = {
    "array": """\
#pragma once
#include <utility>
namespace std {
template <typename T, size_t N> struct array {
    T held[N];
    constexpr T& operator[](size_t n) { return held[n]; }
    constexpr const T& operator[](size_t n) const { return held[n]; }
    constexpr T* begin() { return held; }
    constexpr T* end() { return held + N; }
    constexpr const T* begin() const { return held; }
    constexpr const T* end() const { return held + N; }
    constexpr size_t size() const { return N; }
    constexpr T* data() { return held; }
};
}
""",
    "type_traits": """\
#pragma once
#include <stddef.h>
#include <stdint.h>
namespace std {
using ::size_t; using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
template <bool B, typename T, typename F> struct conditional { using type = T; };
template <typename T, typename F> struct conditional<false, T, F> { using type = F; };
template <typename T> struct remove_reference { using type = T; };
template <typename T> struct remove_reference<T&> { using type = T; };
}
""",
    "utility": """\
#pragma once
#include <type_traits>
namespace std {
template <typename T> constexpr T&& forward(typename remove_reference<T>::type& value) { return (T&&)value; }
template <typename T> constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <typename T> constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <typename T, T... N> struct integer_sequence {
    static constexpr size_t size() { return sizeof...(N); }
};
template <size_t... N> using index_sequence = integer_sequence<size_t, N...>;
template <size_t N> using make_index_sequence = __make_integer_seq<integer_sequence, size_t, N>;
}
""",
    "cstdint": "#pragma once\n#include <type_traits>\n",
    "cstddef": "#pragma once\n#include <type_traits>\n",
    "algorithm": "#pragma once\n#include <utility>\n",
}
"""What the tests use of C++'s own headers (C++17, 23.3.7, 23.15, 23.2, 28.7.8)."""
_COOP_MODE: Final = (("0b00000001UL)) << 31", "0b00000001UL)) << 32"), ("pp & 0b01UL)) << 22", "pp & 0b01UL)) << 30"))
"""Where the header itself has the address of shire_coop_mode on Erbium, whose region and privilege are bits 31 and 22:
those of ET-SoC-1 are bits 32 and 30 (programmer's reference manual, "Memory map").
"""
_LIBRARY: Final = """\
__attribute__((weak)) void* memcpy(void* to, const void* from, unsigned long size) {
    for (unsigned long n = 0; n < size; ++n) ((char*)to)[n] = ((const char*)from)[n];
    return to;
}
"""
"""What compilers call for copies of structures (C11, 7.24.2.1)."""


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
        elf = _compile(root / DIAGNOSTICS, source, member, case.options)
        # Counters and starvation need time; loops over all values take too long in it.
        outcomes = (_run(elf, case, member, functional=functional) for functional in (True, False))
        return next((found for found in outcomes if found == PASS), None) or _run(elf, case, member, functional=True)
    except PolyloomError as error:
        message = re.sub(r"/\S*/", "", error.diagnostics[0].message).removeprefix("the C compiler says: ")
        return f"{error.diagnostics[0].code} {message[:100]}".replace("\n", " ").strip()


def _compile(diagnostics: Path, source: Path, member: str, given: tuple[str, ...]) -> bytes:
    build = read_build(source.parent)
    boot = ("common/boot.S",) if _has_start(source) else ("common/boot.S", "common/crt.S")
    paths = [*(str(diagnostics / each) for each in boot), str(source), *build.sources]
    units = [(_LANGUAGES[Path(path).suffix], f"{include_directive(path)}\n") for path in paths]
    units.append((_C, _LIBRARY))
    with TemporaryDirectory() as made:
        Path(made, "data.raw").write_bytes(_random_bytes())
        for name, header in _SHIMS.items():
            Path(made, name).write_text(f"#include <{header}>\n", encoding="utf-8")
        for name, text in _STANDARD.items():
            Path(made, name).write_text(text, encoding="utf-8")
        registers = diagnostics.parents[3] / "rtl" / "shire" / "esr" / "scripts"
        folders = (made, str(source.parent), *(str(diagnostics / each) for each in _HEADERS), str(registers))
        script = (diagnostics / "common" / "erbium.ld").read_text(encoding="utf-8")
        defines: tuple[str, ...] = ()
        if member == DEFAULT:
            # Addresses of MRAM become addresses of DRAM, in the first GiB: tests map that page for their code.
            script = re.sub(r"0x40(\w{6})\b", r"0x8001\1", script)
            defines = ("ESR_MEMORY_REGION=0x100000000UL", "STACK_BASE=0x8002000000")
            tensors = (diagnostics / "include" / "tensors.h").read_text(encoding="utf-8")
            for erbium, soc in _COOP_MODE:
                tensors = tensors.replace(erbium, soc)
            Path(made, "tensors.h").write_text(tensors, encoding="utf-8")
        return bare_executable(
            units, script, TRIPLE, Options(includes=folders, defines=defines), *_FLAGS, *build.options, *given,
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

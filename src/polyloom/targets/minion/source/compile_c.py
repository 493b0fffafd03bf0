# SPDX-License-Identifier: Apache-2.0
"""Compilation of bare-metal C and assembly for minions: clang of the wheel, the vendor's instructions as words
(vector_assembly.py), our start-up and library, and a linker script for the member's memory.

Floats are computed by calls (`lp64`), so that the compiler leaves all f registers to vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from importlib.resources import files as resources
from pathlib import Path
from typing import Final

from polyloom import files, temporary
from polyloom.diagnostics import input_error
from polyloom.frontend.c.clang import ASSEMBLY, CPP, C, bare_executable, include_directive
from polyloom.frontend.source import Options
from polyloom.targets.minion.machine import Machine
from polyloom.targets.minion.memory_map import program_memory
from polyloom.targets.minion.source.explain import explain_compiler, explain_linker
from polyloom.targets.minion.source.intrinsics import simd_header
from polyloom.targets.minion.source.vector_assembly import encode_vendor_instructions

TRIPLE: Final = "riscv64-unknown-none-elf"
SUFFIXES: Final = {".c": C, ".s": ASSEMBLY, ".S": ASSEMBLY, ".cc": CPP, ".cpp": CPP}
_FLAGS: Final = (
    # Registers and their moves for vectors (vector_assembly.py).
    "-march=rv64imc_zve32x_zvl256b",
    "-mabi=lp64",
    "-mrvv-vector-bits=zvl",
    "-mno-implicit-float",
    "-fno-vectorize",
    "-fno-slp-vectorize",
    # DRAM lies beyond 2 GiB.
    "-mcmodel=medany",
    # `main` is C's, also in C++.
    "-fhosted",
    "-fno-builtin",
    "-gline-tables-only",
)
_LIBRARY: Final = ("start.S", "runtime.c")
STACK: Final = 4096
_LINE: Final = 64
_SCRIPT: Final = """\
OUTPUT_ARCH(riscv)
ENTRY(_start)
MEMORY {{ RAM (rwx) : ORIGIN = {start:#x}, LENGTH = {size:#x} }}
SECTIONS {{
    .text : {{ KEEP(*(.text.start)) *(.text .text.*) }} > RAM
    .rodata : ALIGN(64) {{ *(.rodata .rodata.* .srodata .srodata.*) }} > RAM
    .data : ALIGN(64) {{ *(.data .data.* .sdata .sdata.*) }} > RAM
    .bss : ALIGN(64) {{ *(.sbss .sbss.* .bss .bss.* COMMON) }} > RAM
    .stacks (NOLOAD) : ALIGN(64) {{ . = . + {stacks:#x}; __stack_end = .; }} > RAM
    __stack_pitch = {pitch:#x};
    /DISCARD/ : {{ *(.comment) *(.riscv.attributes) *(.eh_frame) *(.note.*) }}
}}
"""


@dataclass(frozen=True, slots=True)
class CProgram:
    """Sources of a program, and how they are read; `stack` bytes for each of the `harts` that the machine has."""

    sources: tuple[str, ...]
    includes: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    stack: int = STACK


def compile_c(program: CProgram, machine: Machine) -> bytes:
    """Executable of C, C++ and assembly files. Errors: PL0104, PL0150, PL0151 of clang, PL1372 for vectors that no
    register holds, PL1373 for what does not link, PL1374 for a file of another kind, PL1375 for operands of
    intrinsics, and those of the assembler.
    """
    units = tuple(_unit(path) for path in program.sources)
    # Under names of their own in listings and traps.
    own = tuple((SUFFIXES[Path(name).suffix], f'#line 1 "{name}"\n{_resource("library", name)}') for name in _LIBRARY)
    with temporary.temporary_folder() as folder:
        for name, text in headers().items():
            Path(folder, name).write_text(text, encoding="utf-8")
        options = Options(
            includes=(*program.includes, str(folder)),
            defines=(*(("ET_ERBIUM=1",) if machine.is_erbium else ()), *program.defines),
        )
        return bare_executable(
            (*own, *units), link_script(machine, program.stack), TRIPLE, options, *_FLAGS,
            explained=partial(explain_compiler, program.sources), unlinked=partial(explain_linker, program.sources),
            encoded=encode_vendor_instructions,
        )  # fmt: skip


def headers() -> dict[str, str]:
    """Headers of a program in C, by name."""
    return {"minion.h": _resource("include", "minion.h"), "minion_simd.h": simd_header()}


def link_script(machine: Machine, stack: int) -> str:
    """Linker script: code, data, and the stacks of all harts in the member's memory."""
    start, end = program_memory(machine)
    # One line more than whole lines, so that stacks of harts begin in different banks and sets.
    pitch = -(-stack // _LINE) * _LINE + _LINE
    return _SCRIPT.format(start=start, size=end - start, pitch=pitch, stacks=pitch * machine.harts)


def _resource(*names: str) -> str:
    return resources("polyloom.targets.minion.source").joinpath(*names).read_text(encoding="utf-8")


def _unit(path: str) -> tuple[tuple[str, ...], str]:
    language = SUFFIXES.get(Path(path).suffix)
    # By the name alone, as compilers do.
    if language is None:
        help = "name C files .c, C++ files .cc or .cpp, and assembly .s or .S"
        raise input_error("PL1374", f"{path} is neither C nor assembly, by its name", help=help)
    # Read before clang does: its message would name a folder of ours.
    files.read_source(path, "text")
    return language, f"{include_directive(path)}\n"

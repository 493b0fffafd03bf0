# SPDX-License-Identifier: Apache-2.0
"""Compilation of the threads of a low-level kernel: a unit around each file, and an executable per core.

The unit defines `.ttinsn` as a macro of the assembler (a word, rotated left by two), starts the core, and calls
`run_kernel`, `kernel_main` or `main`. The vendor's globals, and functions that compilers call, are weak definitions
beside it, so that a file's own win.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from polyloom import files
from polyloom.diagnostics import Source
from polyloom.frontend.c.clang import CPP, bare_executable, include_directive, llvm_module
from polyloom.frontend.source import Options
from polyloom.riscv.backend.core import Placement
from polyloom.riscv.image import MAGIC
from polyloom.targets.tensix.llk.explain import UsesVectors, explain_compiler, explain_linker
from polyloom.targets.tensix.llk.headers import include_path
from polyloom.targets.tensix.llk.partition import insert_words, partition_module
from polyloom.targets.tensix.llk.vectors import compile_vectors
from polyloom.targets.tensix.options import Core
from polyloom.targets.tensix.source.cpp.explain import Explainer
from polyloom.targets.tensix.source.cpp.source import HEADERS
from polyloom.targets.tensix.words.isa import Member

TARGET: Final = "riscv32-unknown-elf"
# Line tables change no instruction; messages about a run name lines by them.
_FLAGS: Final = ("-march=rv32im", "-mabi=ilp32", "-fno-builtin", "-gline-tables-only")
REGIONS: Final[Mapping[Core, tuple[int, int]]] = {
    "b": (0x0, 0x6000), "t0": (0x6000, 0x6000), "t2": (0xC000, 0x6000), "nc": (0x12000, 0x4000),
    "t1": (0x16000, 0xA000),
}  # fmt: skip
"""Of each core's program in L1: address and bytes. Operands follow (operands.py)."""
_LOCAL: Final[Mapping[Core, int]] = {"b": 0x1000, "t0": 0x800, "t1": 0x800, "t2": 0x800, "nc": 0x1000}
_STACK: Final = 0x300
"""Bytes of local memory that data leave to the stack, at least."""
ROLES: Final[Mapping[Core, tuple[int, str]]] = {"t0": (0, "UNPACK"), "t1": (1, "MATH"), "t2": (2, "PACK")}
_ARCHITECTURES: Final[Mapping[Member, str]] = {"wormhole": "ARCH_WORMHOLE", "blackhole": "ARCH_BLACKHOLE"}
_SCRIPT: Final = """\
OUTPUT_ARCH(riscv)
ENTRY(_start)
MEMORY {{ L1 (rwx) : ORIGIN = {start:#x}, LENGTH = {size:#x} LOCAL (rw) : ORIGIN = 0xFFB00000, LENGTH = {local:#x} }}
SECTIONS {{
    .text : {{ KEEP(*(.start)) *(.text .text.*) *(.rodata .rodata.*) *(.init_array .init_array.*) }} > L1
    .data : {{ *(.srodata .srodata.*) *(.data .data.*) *(.sdata .sdata.*) *(l1_data) }} > LOCAL
    .bss : {{ *(.sbss .sbss.*) *(.bss .bss.*) *(COMMON) }} > LOCAL
    ASSERT(SIZEOF(.data) + SIZEOF(.bss) <= {local:#x} - {stack:#x}, "data leave no room for the stack")
    __stack = 0xFFB00000 + {local:#x};
    __instrn_buffer = 0xFFE40000;
    /DISCARD/ : {{ *(.comment) *(.riscv.attributes) *(.eh_frame) *(.note.*) }}
}}
"""
_UNIT: Final = """\
__asm__(".macro .ttinsn word\\n.word (((\\\\word) & 0x3fffffff) << 2) | (((\\\\word) >> 30) & 3)\\n.endm");
__asm__(".section .start,\\"ax\\"\\n.globl _start\\n_start:\\n"
        "la sp, __stack\\ncall __polyloom_thread\\nebreak\\n1: j 1b\\n.text");
{words}{include}
template <class... P>
concept __polyloom_runs = requires(P const &...p) {{ run_kernel(p...); }};
template <class... P>
concept __polyloom_metal = requires(P const &...p) {{ kernel_main(p...); }};
template <class... P>
inline void __polyloom_call(P const &...p) {{
    if constexpr (__polyloom_runs<P...>) run_kernel(p...);
    else if constexpr (__polyloom_metal<P...>) kernel_main(p...);
    else {{ int main(); main(); }}
}}
extern "C" __attribute__((used)) void __polyloom_thread() {{
#ifdef RUNTIME_PARAMETERS
    __polyloom_call(RuntimeParams{{}});
#else
    __polyloom_call();
#endif
}}
"""
_IR: Final = ("-xir",)
_UNOPTIMIZED: Final = ("-Xclang", "-disable-llvm-passes")
_VECTOR_FLAGS: Final = ("-Xclang", "-no-enable-noundef-analysis")
_CALLED_WORDS: Final = """\
#define POLYLOOM_CALLED_WORDS
#include "sfpi_operations.h"
#if __has_include("ckernel_ops.h")
#include "ckernel_ops.h"
#endif
#undef TTI_INSN
#undef TT_INSN
#define TTI_INSN(word) __sfpi_word(int(word))
#define TT_INSN(word) __sfpi_word(int(word))
"""
"""Words as calls, which the passes of vector kernels keep in order with the operations."""
_GLOBALS: Final = """\
typedef unsigned int u;
#define WEAK __attribute__((weak))
#define P(at) (volatile u *)at
namespace ckernel {
WEAK volatile u *reg_base = P(0xFFB10000), *pc_buf_base = P(0xFFE80000), *regfile = P(0xFFE00000);
WEAK volatile u *mailbox_base[4] = {P(0xFFEC0000), P(0xFFEC1000), P(0xFFEC2000), P(0xFFEC3000)};
WEAK u cfg_state_id = 0, dest_offset_id = 0, dbg_event_index = 0, dbg_event_end = 0;
}
WEAK u unp_cfg_context = 0, pack_sync_tile_dst_ptr = 0, math_sync_tile_dst_index = 0, op_info_offset = 0;
extern "C" {
WEAK void *memcpy(void *to, const void *from, u size) {
    for (u k = 0; k < size; k++) ((volatile char *)to)[k] = ((const char *)from)[k];
    return to;
}
WEAK void *memmove(void *to, const void *from, u size) {
    if (to < from) return memcpy(to, from, size);
    while (size--) ((volatile char *)to)[size] = ((const char *)from)[size];
    return to;
}
WEAK void *memset(void *to, int value, u size) {
    for (u k = 0; k < size; k++) ((volatile char *)to)[k] = value;
    return to;
}
}
"""


@dataclass(frozen=True, slots=True)
class Threads:
    """Sources of a kernel: a file per core; how they are read, and for which member. `header` is operands.h."""

    sources: Mapping[Core, str]
    member: Member = "wormhole"
    includes: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    header: str = ""


def compile_threads(threads: Threads, folder: str) -> dict[Core, tuple[bytes, ...]]:
    """Executables by core, the first with the entry; `folder` is empty, and takes operands.h. Errors: PL0150, PL0151 of
    clang, PL1227 for a kernel of another architecture, PL1229 for what does not link, and those of vector kernels.
    """
    files.write({f"{folder}/operands.h": threads.header.encode()})
    return {core: _compile_core(core, path, threads, folder) for core, path in threads.sources.items()}


def _compile_core(core: Core, path: str, threads: Threads, folder: str) -> tuple[bytes, ...]:
    data = files.read(path)
    if data.startswith(MAGIC):
        return (data,)
    includes = (*include_path(threads.includes, threads.member), folder)
    defines = (*_role_defines(core, threads.member), *threads.defines)
    options = Options(includes=includes, defines=defines)
    unit = _UNIT.format(include=include_directive(path), words="")
    # Most threads have no vectors: clang alone keeps their words in the instruction stream, as the vendor's build does.
    try:
        return (_link(core, path, (CPP, unit), REGIONS[core], options, threads, {}),)
    except UsesVectors:
        return _compile_with_vectors(core, path, threads, options)


def _link(
    core: Core,
    path: str,
    unit: tuple[tuple[str, ...], str],
    room: tuple[int, int],
    options: Options,
    threads: Threads,
    entries: Mapping[str, int],
) -> bytes:
    """Executable of a unit in its room of L1; `entries` are addresses of functions that stand elsewhere."""
    script = _SCRIPT.format(start=room[0], size=room[1], local=_LOCAL[core], stack=_STACK)
    # Names of C++ may have characters that the script language has, so they are quoted.
    script += "".join(f'"{name}" = {address:#x};\n' for name, address in entries.items())
    return bare_executable(
        (unit, (CPP, _GLOBALS)), script, TARGET, options, *_FLAGS,
        explained=lambda messages: explain_compiler(messages, threads.includes, threads.member),
        unlinked=lambda messages: explain_linker(messages, core, path),
    )  # fmt: skip


def _compile_with_vectors(core: Core, path: str, threads: Threads, options: Options) -> tuple[bytes, ...]:
    """Executables of a thread with vector functions: clang's code in the first half of the core's room, theirs in the
    second."""
    source = Source(path, files.read(path).decode("utf-8", "replace"))
    unit = _UNIT.format(include=include_directive(path), words=_CALLED_WORDS)
    start, size = REGIONS[core]
    # Rooms are fixed before anything is compiled: the address of each function must be known when clang's part links.
    half = size // 2
    explainer = Explainer(source, HEADERS, options.defines)
    whole = llvm_module(unit, 1, TARGET, options, *_FLAGS, *_UNOPTIMIZED, language=CPP, explained=explainer)
    parts = partition_module(whole)
    inlined = llvm_module(parts.vectors, 1, TARGET, Options(), *_FLAGS, *_VECTOR_FLAGS, language=_IR)
    place = Placement(start + half, start + size, 0xFFB00000 + _LOCAL[core])
    code = compile_vectors(inlined, parts.names, source, threads.member, place)
    rest = insert_words(llvm_module(parts.rest, 2, TARGET, Options(), *_FLAGS, language=_IR))
    return _link(core, path, (_IR, rest), (start, half), Options(), threads, code.entries), code.elf


def _role_defines(core: Core, member: Member) -> Iterator[str]:
    """Macros by which one file tells its threads apart, as builds of the vendor define them."""
    yield from ("POLYLOOM_LLK=1", f"{_ARCHITECTURES[member]}=1", "TENSIX_FIRMWARE=1")
    if core in ROLES:
        number, role = ROLES[core]
        yield from (f"COMPILE_FOR_TRISC={number}", f"LLK_TRISC_{role}=1", f"TRISC_{role}=1", f"UCK_CHLKC_{role}=1")

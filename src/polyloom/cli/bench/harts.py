# SPDX-License-Identifier: Apache-2.0
"""The speed of the RISC-V interpreter beside QEMU's user mode and, for scale, the host's own code, on loops.

The interpreter and QEMU run the same ELF file; the host runs the same work in C. Speeds are those instructions per
second of CPU time, so that other work on the machine counts for nobody. The three take turns, and the ratio to QEMU is
the median of the rounds' ratios. From QEMU's time, that of a program that ends at once is subtracted. What is not
installed is left out.
"""

from __future__ import annotations

import ctypes
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from statistics import median
from tempfile import TemporaryDirectory
from time import thread_time
from typing import Final

from polyloom.riscv import names
from polyloom.riscv.assemble import assemble
from polyloom.riscv.image import elf_image
from polyloom.riscv.model import Machine

Row = dict[str, object]
ISAS: Final = ("rv64gc", "rv32gc")
ROUNDS: Final = 5
_BASE: Final = 0x10000
_EXIT: Final = "li a0, 0\nli a7, 93\necall"


@dataclass(frozen=True, slots=True)
class Loop:
    """`text` is a function that repeats its loop a1 times; `host` is the body of the same loop in C, over the variables
    that `keep` names."""

    times: int
    text: str
    host: str
    keep: str = "a0, a2, a3"


LOOPS: Final = {
    "integers": Loop(
        20_000_000,
        "loop: add a0, a0, a1\nxor a2, a2, a0\nslli a3, a2, 3\naddi a1, a1, -1\nbnez a1, loop\nret",
        "a0 += a1; a2 ^= a0; a3 = a2 << 3;",
    ),
    "compressed": Loop(
        20_000_000,
        "loop: c.add a0, a1\nc.xor a2, a0\nc.slli a3, 3\nc.addi a1, -1\nbnez a1, loop\nret",
        "a0 += a1; a2 ^= a0; a3 <<= 3;",
    ),
    "memory": Loop(
        15_000_000,
        """loop: andi a2, a1, 1020
        add a2, a2, sp
        lw a3, -2000(a2)
        add a3, a3, a1
        sw a3, -2000(a2)
        addi a1, a1, -1
        bnez a1, loop
        ret""",
        "memory[(a1 & 1020) / 4] += (int)a1;",
    ),
    "branches": Loop(
        5_000_000,
        "li a2, 12345\nli a3, 1103515245\nloop: mul a2, a2, a3\naddi a2, a2, 1235\nsrli a4, a2, 13\n"
        "andi a5, a4, 1\nbeqz a5, one\naddi a0, a0, 3\none: andi a5, a4, 6\nbnez a5, two\nxor a0, a0, a1\n"
        "two: blt a0, a4, three\nsub a0, a0, a4\nthree: addi a1, a1, -1\nbnez a1, loop\nret",
        """a2 = a2 * 1103515245u + 1235; a3 = a2 >> 13;
        if (a3 & 1) a0 += 3; if (!(a3 & 6)) a0 ^= a1; if ((long)a0 >= (long)a3) a0 -= a3;""",
    ),
    "calls": Loop(
        20_000_000,
        "mv s0, ra\nloop: jal leaf\naddi a1, a1, -1\nbnez a1, loop\nmv ra, s0\nret\nleaf: mul a0, a0, a1\nret",
        "a0 = leaf(a0, a1);",
    ),
    "doubles": Loop(
        10_000_000,
        "li t0, 3\nfcvt.d.w fa1, t0\nfcvt.d.w fa2, a1\nfdiv.d fa1, fa1, fa2\n"
        "loop: fmadd.d fa0, fa0, fa1, fa1\nfadd.d fa3, fa3, fa0\nfmul.d fa4, fa3, fa1\n"
        "addi a1, a1, -1\nbnez a1, loop\nret",
        "f0 = f0 * f1 + f1; f3 += f0; f4 = f3 * f1;",
        "f0, f3, f4",
    ),
}


def rows() -> Iterator[Row]:
    """A row per loop and width."""
    with TemporaryDirectory() as folder:
        yield from (_row(name, isa, Path(folder)) for name in LOOPS for isa in ISAS)


def program(name: str, isa: names.Isa) -> bytes:
    """A static executable that runs the loop and exits; the loop of no name is left out."""
    body = f"li a1, {LOOPS[name].times}\ncall work\n{_EXIT}\nwork:\n{LOOPS[name].text}" if name else _EXIT
    code = assemble(body, isa, _BASE).data
    wide = isa.xlen == 64
    start, header = (64, 56) if wide else (52, 32)
    offset = 4096
    identity = b"\x7fELF" + bytes([2 if wide else 1, 1, 1]) + bytes(9)
    # A header by hand: the same bytes for the interpreter and for QEMU, independent of the linker that is tested
    # elsewhere.
    words = (2, 243, 1, _BASE, start, 0, 5, start, header, 1, 0, 0, 0)  # flags: compressed, doubles in registers
    head = identity + struct.pack("<HHIQQQIHHHHHH" if wide else "<HHIIIIIHHHHHH", *words)
    if wide:
        head += struct.pack("<IIQQQQQQ", 1, 5, offset, _BASE, _BASE, len(code), len(code), 4096)
    else:
        head += struct.pack("<IIIIIIII", 1, offset, _BASE, _BASE, len(code), len(code), 5, 4096)
    return head.ljust(offset, b"\0") + code


def _row(name: str, isa: str, folder: Path) -> Row:
    parsed = names.parse_isa(isa)
    data = program(name, parsed)
    count = Machine(elf_image(data, parsed)).run().instructions
    peers = {"QEMU": _qemu(data, parsed, folder), "host": _host(name, folder)}
    measures = {"polyloom": partial(_ours, data, parsed), **peers}
    rounds = [{who: measure() for who, measure in measures.items() if measure is not None} for _ in range(ROUNDS)]
    seconds = {who: median(each[who] for each in rounds) for who in rounds[0]}
    speeds = {who: round(count / seconds[who] / 1e6) if who in seconds else None for who in measures}
    ratio = round(median(each["QEMU"] / each["polyloom"] for each in rounds), 3) if "QEMU" in rounds[0] else None
    return {
        "what": f"loop of {name}",
        "isa": isa,
        **speeds,
        "to QEMU": ratio,
        "unit": "million instructions per second",
    }


def _ours(data: bytes, isa: names.Isa) -> float:
    machine = Machine(elf_image(data, isa))
    start = thread_time()
    machine.run()
    return thread_time() - start


def _qemu(data: bytes, isa: names.Isa, folder: Path) -> Callable[[], float] | None:
    emulator = which(f"qemu-riscv{isa.xlen}")
    if emulator is None:
        return None
    files = [folder / f"{kind}{isa.xlen}.elf" for kind in ("loop", "empty")]
    for file, content in zip(files, (data, program("", isa)), strict=True):
        file.write_bytes(content)
        file.chmod(0o755)
    full, empty = (partial(_child_seconds, emulator, str(file)) for file in files)
    # QEMU's start and translation of the first blocks are not the loop's.
    return lambda: full() - empty()


def _child_seconds(*command: str) -> float:
    """CPU time of a process."""
    _, status, usage = os.wait4(os.posix_spawn(command[0], command, os.environ), 0)
    assert status == 0, f"{' '.join(command)} failed"
    return usage.ru_utime + usage.ru_stime


def _host(name: str, folder: Path) -> Callable[[], float] | None:
    """The barrier makes every iteration happen, as it does on a hart."""
    if find_spec("ziglang") is None:
        return None
    loop = LOOPS[name]
    # An empty asm statement that reads a variable keeps clang from removing or vectorizing the loop.
    kept = ", ".join(f'"+{_bank(each)}"({each})' for each in loop.keep.split(", "))
    text = f"""
        static __attribute__((noinline)) unsigned long leaf(unsigned long a, unsigned long b) {{ return a * b; }}
        unsigned long work(unsigned long a1) {{
            static volatile int memory[256];
            unsigned long a0 = 0, a2 = 12345, a3 = 0;
            double f0 = 0, f1 = 3.0 / (double)a1, f3 = 0, f4 = 0;
            for (; a1; --a1) {{ {loop.host} __asm__ volatile("" : {kept}); }}
            return a0 + a2 + a3 + (unsigned long)memory[0] + (unsigned long)(f0 + f3 + f4) + leaf(a0, a2);
        }}
    """
    source, made = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "ziglang", "cc", "-O2", "-w", "-shared", "-fPIC", str(source), "-o", str(made)]
    subprocess.run(command, check=True)
    work = ctypes.CDLL(str(made)).work
    work.argtypes, work.restype = [ctypes.c_ulong], ctypes.c_ulong
    return partial(_thread_seconds, partial(work, loop.times))


def _bank(variable: str) -> str:
    """The letter of its registers in C's inline assembly."""
    if not variable.startswith("f"):
        return "r"
    return "x" if os.uname().machine == "x86_64" else "w"


def _thread_seconds(action: Callable[[], object]) -> float:
    start = thread_time()
    action()
    return thread_time() - start

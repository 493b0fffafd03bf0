# SPDX-License-Identifier: Apache-2.0
"""The speed of the RISC-V interpreter on one core, and the lengths of selects beside those that two compilers emit.

The compilers' lengths are those of functions of `long` at -O2, without ret, with LLVM 19.1.7 and GCC 14.2.0: `b` marks a branch
in them, and moves count. Ours have no branch.
"""

from __future__ import annotations

from statistics import median
from time import thread_time
from typing import Final

from polyloom.targets.riscv import names
from polyloom.targets.riscv.assemble import assemble
from polyloom.targets.riscv.image import raw
from polyloom.targets.riscv.model import Machine
from polyloom.targets.riscv.notation import parse
from polyloom.targets.riscv.select import select

Row = dict[str, object]
_BASE: Final = 0x10000
LOOPS: Final = {
    "integers": "li a1, 5000000\nloop: add a0, a0, a1\nxor a2, a2, a0\nslli a3, a2, 3\naddi a1, a1, -1\nbnez a1, loop\nret",
    "compressed": "li a1, 5000000\nloop: c.add a0, a1\nc.xor a2, a0\nc.slli a3, 3\nc.addi a1, -1\nbnez a1, loop\nret",
    "memory": "li a1, 4000000\n"
    "loop: andi a2, a1, 1020\nadd a2, a2, sp\nlw a3, -2000(a2)\nadd a3, a3, a1\nsw a3, -2000(a2)\naddi a1, a1, -1\nbnez a1, loop\nret",
    "calls": "mv s0, ra\nli a1, 4000000\nloop: jal leaf\naddi a1, a1, -1\nbnez a1, loop\nmv ra, s0\nret\nleaf: mul a0, a0, a1\nret",
    "doubles": "li a1, 4000000\nli t0, 3\nfcvt.d.w fa1, t0\nfcvt.d.w fa2, a1\nfdiv.d fa1, fa1, fa2\n"
    "loop: fmadd.d fa0, fa0, fa1, fa1\nfadd.d fa3, fa3, fa0\nfmul.d fa4, fa3, fa1\naddi a1, a1, -1\nbnez a1, loop\nret",
}
PUBLISHED: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "c ? a : b": (("3b", "3b"), ("3", "3"), ("3", "3")),
    "x < y ? a : b": (("3b", "3b"), ("4", "3b"), ("4", "3b")),
    "x == y ? a : b": (("3b", "3b"), ("4", "3b"), ("4", "3b")),
    "x <u 10 ? a : b": (("4b", "4b"), ("4", "4b"), ("4", "4b")),
    "c ? a : b + 1": (("3b", "3b"), ("4", "3b"), ("4", "3b")),
    "c ? a : ~b": (("3b", "3b"), ("4", "3b"), ("4", "3b")),
    "c ? a : -b": (("3b", "3b"), ("4", "3b"), ("4", "3b")),
    "x < y ? a : b + 1": (("3b", "3b"), ("5", "3b"), ("5", "3b")),
    "x < y ? a : ~b": (("3b", "3b"), ("5", "3b"), ("5", "3b")),
    "x < y ? a : -b": (("3b", "3b"), ("5", "3b"), ("5", "3b")),
    "x < y ? b + 1 : b": (("2", "2"), ("2", "2"), ("2", "2")),
    "x < y ? ~b : b": (("3", "3"), ("3", "3"), ("3", "3")),
    "x < y ? -b : b": (("3b", "3b"), ("5", "3b"), ("5", "3b")),
    "x == y ? -1 : 0": (("3", "3"), ("3", "3"), ("3", "3")),
    "x < y ? a : 0": (("3", "3b"), ("2", "2"), ("2", "2")),
    "c ? a : 0": (("3", "2b"), ("1", "1"), ("1", "1")),
    "x < y ? 7 : 1000": (("4b", "3b"), ("4", "4"), ("4", "4")),
    "abs(x)": (("3", "3"), ("3", "3"), ("2", "2")),
    "min(x, y)": (("2b", "4b"), ("4", "4"), ("1", "1")),
    "min(max(x, a), b)": (("5b", "4b"), ("8", "8"), ("2", "2")),
    "sgn(x)": (("3", "3"), ("3", "3"), ("3", "3")),
    "x < 0 ? 0 : x": (("3", "3"), ("2", "2"), ("1", "1")),
    "c ? a + b : a": (("4", "3b"), ("2", "2"), ("2", "2")),
    "x < y ? a + b : a": (("4", "3b"), ("3", "3b"), ("3", "3b")),
    "c ? a & b : a": (("4", "3b"), ("3", "3"), ("3", "3")),
    "c ? a << b : a": (("4", "3b"), ("2", "3b"), ("2", "3b")),
    "absdiff(x, y)": (("4", "3b"), ("4", "3b"), ("3", "3b")),
    "satsubu(x, y)": (("4", "3b"), ("3", "3b"), ("2", "3b")),
}
"""By expression: what (LLVM, GCC) emit for the base, Zicond, and Zicond with Zbb. Their absdiff may assume that nothing overflows."""
_SETS: Final = ("rv64gc", "rv64gc_zicond", "rv64gc_zicond_zbb")


def rows() -> list[Row]:
    speeds = [_speed(name, isa) for name in LOOPS for isa in ("rv64gc", "rv32gc")]
    return speeds + [_length(text, isa, theirs) for text, published in PUBLISHED.items() for isa, theirs in zip(_SETS, published, strict=True)]


def _speed(name: str, isa: str) -> Row:
    parsed = names.parse(isa)
    machine = Machine(raw(assemble(LOOPS[name], parsed, _BASE).data, parsed, _BASE))
    _, count = machine.call(_BASE)
    seconds = median(_seconds(machine) for _ in range(5))
    return _row(f"loop of {name}", isa, round(count / seconds / 1e6), None, None, "million instructions a second")


def _seconds(machine: Machine) -> float:
    """CPU time, so that other work on the machine counts for nobody."""
    start = thread_time()
    machine.call(_BASE)
    return thread_time() - start


def _length(text: str, isa: str, theirs: tuple[str, str]) -> Row:
    return _row(text, isa, select(parse(text), names.parse(isa)).length, *theirs, "instructions")


def _row(what: str, isa: str, ours: int, llvm: str | None, gcc: str | None, unit: str) -> Row:
    return {"what": what, "isa": isa, "polyloom": ours, "LLVM": llvm, "GCC": gcc, "unit": unit}

# SPDX-License-Identifier: Apache-2.0
"""The speed of the RISC-V interpreter on one core, and the lengths of selects beside those that two compilers emit.

The compilers' lengths are those of functions of `long` at -O2, without ret, with LLVM 19.1.7 and GCC 14.2.0: `b` marks
a branch in them, and moves count. Ours have no branch.
"""

from __future__ import annotations

from typing import Final

from polyloom.cli.bench import harts
from polyloom.riscv import names
from polyloom.riscv.notation import parse
from polyloom.riscv.select import select

Row = dict[str, object]
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
"""By expression: what (LLVM, GCC) emit for the base, Zicond, and Zicond with Zbb. Their absdiff may assume that nothing
overflows."""
_COLUMNS: Final = ("what", "isa", "polyloom", "QEMU", "to QEMU", "host", "LLVM", "GCC", "unit")
_SETS: Final = ("rv64gc", "rv64gc_zicond", "rv64gc_zicond_zbb")


def rows() -> list[Row]:
    lengths = [
        _length(text, isa, theirs)
        for text, published in PUBLISHED.items()
        for isa, theirs in zip(_SETS, published, strict=True)
    ]
    return [_row(**each) for each in (*harts.rows(), *lengths)]


def _length(text: str, isa: str, theirs: tuple[str, str]) -> Row:
    length = select(parse(text), names.parse(isa)).length
    return {"what": text, "isa": isa, "polyloom": length, "LLVM": theirs[0], "GCC": theirs[1], "unit": "instructions"}


def _row(**cells: object) -> Row:
    """A row with all columns of the table."""
    return {column: cells.get(column) for column in _COLUMNS}

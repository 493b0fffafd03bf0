# SPDX-License-Identifier: Apache-2.0
"""Lengths of selects in functions of `long`, beside what two compilers emit for them at -O2, without ret.

LLVM is the clang that comes with the extra `c`, run here and now; GCC's lengths are those of 14.2.0 (2024). `b` marks a
branch, and moves count. Arithmetic wraps around here, and for LLVM (-fwrapv); GCC's may assume that nothing overflows.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from polyloom import temporary
from polyloom.diagnostics import Source
from polyloom.frontend.c.llvm import load_functions
from polyloom.frontend.source import Options
from polyloom.ir.ssa import Function
from polyloom.riscv import names
from polyloom.riscv.backend.compile import finish_code, lower_functions
from polyloom.riscv.backend.data import Layout
from polyloom.transform.ssa.construct import construct

Row = dict[str, object]
SETS: Final = ("rv64gc", "rv64gc_zicond", "rv64gc_zicond_zbb")
GCC: Final[dict[str, tuple[str, ...]]] = {
    "c ? a : b": ("3b", "3", "3"),
    "x < y ? a : b": ("3b", "3b", "3b"),
    "x == y ? a : b": ("3b", "3b", "3b"),
    "x <u 10 ? a : b": ("4b", "4b", "4b"),
    "c ? a : b + 1": ("3b", "3b", "3b"),
    "c ? a : ~b": ("3b", "3b", "3b"),
    "c ? a : -b": ("3b", "3b", "3b"),
    "x < y ? a : b + 1": ("3b", "3b", "3b"),
    "x < y ? a : ~b": ("3b", "3b", "3b"),
    "x < y ? a : -b": ("3b", "3b", "3b"),
    "x < y ? b + 1 : b": ("2", "2", "2"),
    "x < y ? ~b : b": ("3", "3", "3"),
    "x < y ? -b : b": ("3b", "3b", "3b"),
    "x == y ? -1 : 0": ("3", "3", "3"),
    "x < y ? a : 0": ("3b", "2", "2"),
    "c ? a : 0": ("2b", "1", "1"),
    "x < y ? 7 : 1000": ("3b", "4", "4"),
    "abs(x)": ("3", "3", "2"),
    "min(x, y)": ("4b", "4", "1"),
    "min(max(x, a), b)": ("4b", "8", "2"),
    "sgn(x)": ("3", "3", "3"),
    "x < 0 ? 0 : x": ("3", "2", "1"),
    "c ? a + b : a": ("3b", "2", "2"),
    "x < y ? a + b : a": ("3b", "3b", "3b"),
    "c ? a & b : a": ("3b", "3", "3"),
    "c ? a << b : a": ("3b", "3b", "3b"),
    "absdiff(x, y)": ("3b", "3b", "3b"),
    "satsubu(x, y)": ("3b", "3b", "3b"),
}
"""By expression, for the base, Zicond, and Zicond with Zbb."""
MORE: Final = (
    "c ? x*3 : x",
    "c ? x : x*7",
    "x < 0 ? a : b",
    "x >= 0 ? a : b",
    "x < 0 ? a : 0",
    "x < 0 ? 0 : a",
    "x < 0 ? x + a : x",
    "x < 0 ? -1 : 1",
    "x < 0 ? -1 : 0",
    "x < 0 ? 3 : 8",
    "x < 0 ? 7 : 1000",
    "x > 9 ? 9 : x",
    "x < 0 ? 0 : x > 255 ? 255 : x",
    "x > 255 ? 255 : x < 0 ? 0 : x",
    "x < -128 ? -128 : x > 127 ? 127 : x",
    "min(max(x, 0), 255)",
)
"""Signs, products and clamps, beside LLVM alone."""
_FUNCTIONS: Final = """\
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define abs(a) ((a) < 0 ? -(a) : (a))
#define sgn(a) (((a) > 0) - ((a) < 0))
#define absdiff(a, b) ((a) < (b) ? (b) - (a) : (a) - (b))
#define satsubu(a, b) ((unsigned long)(a) < (unsigned long)(b) ? 0 : (a) - (b))
"""
_NAMED: Final = ("min", "max", "abs", "sgn", "absdiff", "satsubu")


def rows() -> Iterator[Row]:
    ours, theirs = ({isa: lengths(isa) for isa in SETS} for lengths in (polyloom_lengths, llvm_lengths))
    for text in (*GCC, *MORE):
        yield from (_row(text, number, ours[isa], theirs[isa]) for number, isa in enumerate(SETS))


def _row(text: str, number: int, ours: Mapping[str, str], llvm: Mapping[str, str]) -> Row:
    gcc = GCC[text][number] if text in GCC else None
    cells: Row = {"what": text, "isa": SETS[number], "polyloom": ours[text], "LLVM": llvm.get(text), "GCC": gcc}
    return {**cells, "unit": "instructions"}


def polyloom_lengths(name: str) -> dict[str, str]:
    """By expression the length of the function that is compiled of it."""
    isa, texts = names.parse_isa(name), (*GCC, *MORE)
    with temporary.temporary_folder() as folder:
        path = Path(folder, "selects.c")
        path.write_text(unit := _unit(texts), encoding="utf-8")
        wanted = [f"f{k}" for k in range(len(texts))]
        # --ssa 2, the default of compilation: what clang's -O2 leaves in LLVM's form is what is selected here.
        loaded = load_functions(Source(str(path), unit), wanted, Options(), 2, f"riscv{isa.xlen}-unknown-elf")
    return {text: _code_length(construct(function), isa) for text, function in zip(texts, loaded, strict=True)}


def _code_length(function: Function, isa: names.Isa) -> str:
    code = finish_code(lower_functions(function, isa, Layout(function.data))[0])
    mnemonics = [op.mnemonic for block in code.blocks for op in block.ops if op.mnemonic != "jalr"]
    return _length_text(mnemonics)


def _unit(texts: Sequence[str]) -> str:
    return _FUNCTIONS + "".join(_function(f"f{k}", text) for k, text in enumerate(texts))


def llvm_lengths(isa: str) -> dict[str, str]:
    """By expression the length of clang's code, with a `b` where it branches; nothing where there is no clang."""
    # Without the extra its column is empty; the others are still measured.
    if find_spec("ziglang") is None:
        return {}
    texts = (*GCC, *MORE)
    unit = _unit(texts)
    command = [sys.executable, "-m", "ziglang", "clang", "-xc", "-O2", "-fwrapv", "-S", "-o", "-", "-"]
    machine = ["--target=riscv64-freestanding-none", f"-march={isa}", "-mabi=lp64d"]
    assembly = subprocess.run([*command, *machine], input=unit, capture_output=True, text=True, check=True).stdout
    return {text: _length(assembly, f"f{k}") for k, text in enumerate(texts)}


def _function(name: str, text: str) -> str:
    c = re.sub(r"(\w+) <u (\w+)", r"(unsigned long)\1 < (unsigned long)\2", text)
    variables = dict.fromkeys(word for word in re.findall(r"[a-z]\w*", text) if word not in (*_NAMED, "u"))
    return f"long {name}({', '.join(f'long {v}' for v in variables)}) {{ return {c}; }}\n"


def _length(assembly: str, name: str) -> str:
    """Of a function in assembly: its instructions but for returns."""
    body = assembly.partition(f"\n{name}:")[2].partition(".Lfunc_end")[0]
    return _length_text(list(_mnemonics(body)))


def _length_text(mnemonics: Sequence[str]) -> str:
    is_branching = any(word[0] in "bj" for word in mnemonics)
    return f"{len(mnemonics)}{'b' * is_branching}"


def _mnemonics(body: str) -> Iterator[str]:
    for line in body.split("\n")[1:]:
        words = line.partition("#")[0].split()
        if words and not words[0].endswith(":") and words[0][0] != "." and words[0] != "ret":
            yield words[0]

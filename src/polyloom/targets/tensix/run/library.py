# SPDX-License-Identifier: Apache-2.0
"""Library reference of the vector language: names with an example of each (library.txt), the examples as kernels, and
what they make.

An example is compiled with its operands in Dst and its result stored there; its instructions are what is left without
those loads and stores. Results are those of the interpreter for four lanes. The names are those of the vendor's SFPI
headers (docs/sfpi.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from polyloom import temporary
from polyloom.ir.ssa import Constant, Function
from polyloom.targets.tensix.run.places import parse_place, read_place, write_place
from polyloom.targets.tensix.run.tile import Tile
from polyloom.targets.tensix.source.cpp.source import load_functions
from polyloom.targets.tensix.source.lower.compile import Options, lower
from polyloom.targets.tensix.source.oracle.interpret import State, interpret
from polyloom.targets.tensix.words.decode import decode
from polyloom.targets.tensix.words.isa import Member

OPERANDS: Final = {
    "x": ("vFloat", 0),
    "y": ("vFloat", 2),
    "i": ("vInt", 4),
    "j": ("vInt", 6),
    "u": ("vUInt", 8),
    "s": ("vSMag", 10),
}
"""By name: the type, and where in Dst it lies."""
FLOATS, INTEGERS, UNSIGNED = 12, 14, 16
"""Where a result is stored, by its kind."""
_BLACKHOLE: Final = " (Blackhole)"
LANES: Final = 4
_IN_DST: Final = parse_place("dst:fp32")
_NUMBERS: Final = {"x": (-2.5, 0.25, 1.0, 7.0), "y": (0.5, -1.0, 2.0, 0.25)}
_BITS: Final = {
    "i": (-5, 0, 3, 70000),
    "j": (2, 1, -1, 4),
    "u": (3, 40000, 1 << 20, 0x80000001),
    "s": (0x80000005, 20, 100, 3000),
}
# The default layout of vInt on Wormhole is sign and magnitude, which would convert the operands.
_LAYOUT: Final = {"vInt": ".mode<DataLayout::I32>()"}
_HEAD: Final = f"""\
#include "sfpi.h"
using namespace sfpi;
template <class T>
void keep(T const &r) {{
    if constexpr (std::is_base_of_v<vFloat, T>) dst_reg[{FLOATS}] = vFloat(r);
    else if constexpr (std::is_base_of_v<vUInt, T>) dst_reg[{UNSIGNED}].mode<DataLayout::U32>() = as<vUInt>(r);
    else dst_reg[{INTEGERS}].mode<DataLayout::I32>() = as<vInt>(r);
}}
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """Names of the language, an example, and what they mean; `only_blackhole` where Wormhole has them not."""

    heading: str
    names: str
    example: str
    meaning: str
    only_blackhole: bool

    @property
    def member(self) -> Member:
        return "blackhole" if self.only_blackhole else "wormhole"

    @property
    def operands(self) -> list[str]:
        """Those that the example uses."""
        # A letter behind a dot is a member, one before a parenthesis a function.
        return [name for name in OPERANDS if re.search(rf"(?<![\w.]){name}\b(?!\()", self.example)]


@cache
def entries() -> tuple[Entry, ...]:
    """Entries of library.txt, in order."""
    text = resources.files("polyloom.targets.tensix.run").joinpath("library.txt").read_text(encoding="utf-8")
    return tuple(_entries(text))


def _entries(text: str) -> Iterator[Entry]:
    heading = ""
    for line in text.split("\n"):
        if line.startswith("= "):
            heading = line[2:]
        elif line and not line.startswith("#"):
            names, example, meaning = (part.replace("\\|", "|") for part in line.split(" | "))
            yield Entry(heading, names.removesuffix(_BLACKHOLE), example, meaning, names.endswith(_BLACKHOLE))


def example_source(entry: Entry, name: str) -> str:
    """C++ source of an example as a function."""
    lines = [f"void {name}() {{"]
    for operand in entry.operands:
        type, place = OPERANDS[operand]
        lines.append(f"    {type} {operand} = dst_reg[{place}]{_LAYOUT.get(type, '')};")
    # An example with a semicolon declares `r` itself.
    lines.append(f"    {entry.example}" if ";" in entry.example else f"    auto r = {entry.example};")
    return "\n".join([*lines, "    keep(r);", "}", ""])


@cache
def compile_examples(member: Member) -> dict[Entry, Function]:
    """SSA form of the examples of a member, compiled by one call of clang."""
    chosen = [entry for entry in entries() if entry.member == member]
    names = tuple(f"example_{k}" for k in range(len(chosen)))
    # One compilation of all examples takes about as long as one of a single example.
    with temporary.temporary_folder() as folder:
        path = Path(folder, "examples.h")
        path.write_text(_HEAD + "".join(map(example_source, chosen, names)), encoding="utf-8")
        found = load_functions(str(path), names, member=member)
    return dict(zip(chosen, found.functions, strict=True))


def example_mnemonics(entry: Entry) -> list[str]:
    """Mnemonics of what the example compiles to, without the loads of its operands and the store of its result."""
    lowered = lower(compile_examples(entry.member)[entry], Options(entry.member)).function
    words = [i.operands[0] for block in lowered.blocks for i in block.instructions if i.called == "tensix.word"]
    found = [_mnemonic(word.value & 0xFFFFFFFF, entry.member) for word in words if isinstance(word, Constant)]
    # Each operand is loaded once; an example's own loads of Dst come on top and stay in the list.
    for _ in entry.operands:
        found.remove("SFPLOAD")
    if "SFPSTORE" in found:
        # The example's own stores come first: the last one is the result's.
        found.reverse()
        found.remove("SFPSTORE")
        found.reverse()
    return found


def _mnemonic(word: int, member: Member) -> str:
    found = decode(word, member)
    assert found is not None, f"{word:08x} is no instruction"
    return found.row.mnemonic


def operand_rows() -> NDArray[np.uint32]:
    """Rows of Dst with the operands, as bits of 32; four lanes repeat."""
    rows = np.zeros((64, 16), np.uint32)
    for name, (_, place) in OPERANDS.items():
        bits = np.array(_NUMBERS[name], np.float32).view(np.uint32) if name in _NUMBERS else _as_bits(_BITS[name])
        # Lane k of a vector is column 2(k mod 8), so each number is written twice to fill odd columns, too.
        rows[2 * place : 2 * place + 4] = np.tile(np.repeat(bits, 2), 2)
    return rows


def _as_bits(numbers: Sequence[int]) -> NDArray[np.uint32]:
    return np.array([number & 0xFFFFFFFF for number in numbers], np.uint32)


def result_address(form: Function) -> int:
    """Index in Dst of the result: that of the last store."""
    stores = [i for block in form.blocks for i in block.instructions if i.called == "__sfpi_store"]
    address = stores[-1].operands[3]
    assert isinstance(address, Constant)
    return address.value // 2


def format_lanes(rows: NDArray[np.uint32], place: int) -> list[str]:
    """First four lanes of a result as text."""
    bits = rows[2 * place, : 2 * LANES : 2].astype(np.uint32)
    if place == FLOATS:
        return [f"{value:.7g}" for value in bits.view(np.float32)]
    return [str(int(value)) for value in (bits.view(np.int32) if place == INTEGERS else bits)]


def interpret_example(form: Function, rows: NDArray[np.uint32], member: Member) -> NDArray[np.uint32]:
    """Rows of Dst after the interpreter's run."""
    tile, state = Tile(member), State(member, 1, "fp32")
    write_place(tile, _IN_DST, rows)
    state.dst.bits[0] = tile.dst
    interpret(form, (), state)
    tile.dst[...] = state.dst.bits[0]
    return read_place(tile, _IN_DST, None, rows).view(np.uint32)

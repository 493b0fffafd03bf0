# SPDX-License-Identifier: Apache-2.0
"""Machine code of vector kernels out of SSA form: instructions over registers, physical ones from 0 to 15 and variables
from 16 on.

Blocks keep their scalar instructions, which stay in SSA form; vectors are no parameters of blocks any more. The same
form holds before allocation, with variables, and after it, with L0 to L15 alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from polyloom.ir.ssa import NOWHERE, Constant, Function, Instruction, Operand, Place
from polyloom.ir.ssa_text import print_instruction, print_operand
from polyloom.ir.ssa_types import I32
from polyloom.targets.tensix.source.lower.shapes import ALL_LANES, CLOBBERS, Shape, shape_table

Register = int
FIRST_VARIABLE: Final = 16
EXIT: Final = "exit"
"""Stands at the end of a kernel that leaves values in registers; no word."""


@dataclass(frozen=True, slots=True)
class Op:
    """A machine instruction. `kept` are registers whose disabled lanes it leaves, which it thus reads; `note` says what
    it computes or why it is there.
    """

    shape: Shape
    results: tuple[Register, ...] = ()
    operands: tuple[Register, ...] = ()
    immediates: tuple[Operand, ...] = ()
    kept: tuple[Register, ...] = ()
    place: Place = NOWHERE
    note: str = ""

    @property
    def reads(self) -> tuple[Register, ...]:
        return (*self.operands, *self.kept)

    @property
    def writes(self) -> tuple[Register, ...]:
        return (*self.results, *CLOBBERS.get(self.shape.name, ()))

    @property
    def is_copy(self) -> bool:
        """Whether it is a copy of all lanes, which goes where both registers become one."""
        mode = self.immediates[0] if self.shape.name == "SFPMOV" else None
        return isinstance(mode, Constant) and mode.value == ALL_LANES

    def immediate(self, name: str) -> int | None:
        """The constant of a field, None where the field is absent or known only at run time."""
        if name not in self.shape.immediates:
            return None
        found = self.immediates[self.shape.immediates.index(name)]
        return found.value if isinstance(found, Constant) else None


EXIT_SHAPE: Final = Shape(EXIT, (), (), ())
RAW: Final = Shape("word", (), (), ("bits",))
"""A word of the source, which is constant: with the registers that it reads and writes, and the word as immediate."""
Item = Op | Instruction


@dataclass(frozen=True, slots=True)
class Code:
    """A kernel. `function` has the blocks' names, scalar parameters and terminators, `items` by block what stands in
    them.
    """

    function: Function
    items: tuple[tuple[Item, ...], ...]
    variables: int = FIRST_VARIABLE


def copy(target: Register, source: Register, place: Place, note: str = "") -> Op:
    """Copy of all lanes, whatever is enabled (ISA documentation, page of `SFPMOV`, mode 2)."""
    return Op(shape_table()["SFPMOV"], (target,), (source,), (Constant(I32, ALL_LANES),), (), place, note)


def print_code(code: Code) -> str:
    """Text for `--print-after`: a line per instruction."""
    return "\n".join(_lines(code)) + "\n"


def _lines(code: Code) -> Iterator[str]:
    for block, items in zip(code.function.blocks, code.items, strict=True):
        yield f"{block.name}:"
        yield from (f"    {format_item(item)}" for item in items)


def format_item(item: Item) -> str:
    if isinstance(item, Instruction):
        return print_instruction(item)
    left = ", ".join(map(_name, item.results))
    immediates = [print_operand(i).removesuffix(":i32") for i in item.immediates]
    right = ", ".join((*map(_name, item.operands), *immediates))
    kept = f" keeping {', '.join(map(_name, item.kept))}" if item.kept else ""
    return f"{left}{' = ' if left else ''}{item.shape.name} {right}{kept}".rstrip()


def _name(register: Register) -> str:
    return f"L{register}" if register < FIRST_VARIABLE else f"v{register}"

# SPDX-License-Identifier: Apache-2.0
"""Instructions of a coprocessor in the core's own instruction stream: calls of `WORD`.

On a Tensix tile a core hands a word to its thread by storing it at `PORT`. A constant word needs no store: the word
rotated left by two bits, whose two low bits then are not 11, is an instruction that does the same (RISC-V keeps such
encodings for 16-bit instructions: RISC-V unprivileged manual, "Expanded Instruction-Length Encoding"). So only words
below `LEAST_STORED` can stand in the code; others, and those that are computed, are stored. Words, stores and loads
keep their order.

The second operand is the word's number, by which its address is found in the executable; -1 where nobody asks.
"""

from __future__ import annotations

from typing import Final

from polyloom.ir.ssa import Constant, Instruction
from polyloom.ir.ssa_externals import External
from polyloom.ir.ssa_types import I32
from polyloom.riscv.backend.context import Context

WORD: Final = External("tensix.word", (I32,), (), ("ordered",))
NUMBERED: Final = External("tensix.word", (I32, I32), (), ("ordered",))
"""The same with a number, which is a constant."""
PORT: Final = 0xFFE40000
LEAST_STORED: Final = 0xC0000000


def push(context: Context, instruction: Instruction) -> None:
    """Selection of a word for the coprocessor, constant or computed."""
    word, *rest = instruction.operands
    number = rest[0].value if rest and isinstance(rest[0], Constant) else -1
    if isinstance(word, Constant) and (bits := word.value & 0xFFFFFFFF) < LEAST_STORED:
        context.b.put("word", bits, number)
    else:
        context.b.put("push", context.reg(word), context.b.constant(PORT), number)


def rotate_word(word: int) -> int:
    """Coprocessor word as the core fetches it: rotated left by two bits."""
    assert 0 <= word < LEAST_STORED, f"{word:#x} cannot stand in the instruction stream"
    return (word << 2 | word >> 30) & 0xFFFFFFFF

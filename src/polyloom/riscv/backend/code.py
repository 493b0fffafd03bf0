# SPDX-License-Identifier: Apache-2.0
"""Machine code before encoding (machine IR): blocks of instructions over virtual registers, or after allocation over
the machine's.

An instruction has a mnemonic of the instruction table and an operand for each field of its row, in the row's order: a
register, a number or the name of a block. Besides those of the table there are a few pseudo-instructions, `PSEUDO`,
which `expand.py` replaces last, when the frame is known. Moves are among them, so that allocation sees what it may
coalesce (Chaitin et al. 1981).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Final, Literal

from polyloom.ir.ssa import NOWHERE, Place
from polyloom.riscv.isa import F_NAMES, X_NAMES, Row, find_row
from polyloom.riscv.names import Isa

Bank = Literal["x", "f"]
PHYSICAL: Final = 32
"""Registers from this number on are virtual."""


@dataclass(frozen=True, slots=True, order=True)
class Reg:
    """Register of the integer bank (x) or of the floating-point bank (f); virtual from number 32 on."""

    bank: Bank
    number: int

    @property
    def is_virtual(self) -> bool:
        return self.number >= PHYSICAL

    def __str__(self) -> str:
        return (
            f"%{self.bank}{self.number - PHYSICAL}"
            if self.is_virtual
            else (X_NAMES if self.bank == "x" else F_NAMES)[self.number]
        )


ZERO: Final = Reg("x", 0)
RA: Final = Reg("x", 1)
SP: Final = Reg("x", 2)
Operand = Reg | int | str

PSEUDO: Final[dict[str, str]] = {
    "mv": "du",
    "fmv": "du",
    "frame": "d.",
    "incoming": "d.",
    "ret": "uu",
    "j": ".",
    "unreachable": "",
    "call": "." + "u" * 16,
    "callr": "u" * 17,
    "function": "d.",
    "cas.w": "dduuu..",
    "cas.d": "dduuu..",
    "keep": "u",
    "spill": "u.",
    "reload": "d.",
    "word": "..",
    "push": "uu.",
}
"""By name: what an operand is, a definition, a use, or no register. `frame rd, n` is the address of byte n of the
function's own memory, `incoming rd, n` that of byte n of the arguments on the stack; `ret` uses the registers that it
returns, at most two; `call f, ...` names a function, uses the registers of its arguments, and defines `CLOBBERED`;
`callr rs, ...` calls the function whose address is in a register, `function rd, f` is such an address; `keep` is no
instruction, but orders accesses to memory and uses a value; `spill` and `reload` access a slot of the frame; `word w,
n` is word w of the machine beside the core, `push rs, rd, n` stores such a word at its port (push.py); n is its number.
`cas.w rd, rt, rs, rx, ry, a, b` and `cas.d` store ry at the address in rs where rx is there, and rd gets what was there
(atomics.py)."""
_TEMPORARY: Final = (*range(10, 18), *range(28, 32))
# psABI, "Register Convention": ra, t0 to t6, a0 to a7, ft0 to ft11 and fa0 to fa7 are not preserved across calls.
CLOBBERED: Final = (
    RA,
    *(Reg("x", n) for n in (*range(5, 8), *_TEMPORARY)),
    *(Reg("f", n) for n in (*range(8), *_TEMPORARY)),
)
"""What a call may change: ra, and the temporary registers of both banks."""
PUSHES: Final = ("word", "push")
CALLS: Final = ("call", "callr")
NAMING: Final = ("call", "function")
"""What names functions, where others name blocks."""
EXCHANGES: Final = ("cas.w", "cas.d")
BRANCHES: Final = ("beq", "bne", "blt", "bge", "bltu", "bgeu")
STORES: Final = ("sb", "sh", "sw", "sd", "fsw", "fsd")
LOADS: Final = ("lb", "lbu", "lh", "lhu", "lw", "lwu", "ld", "flw", "fld")
ENDS: Final = (*BRANCHES, "j", "ret", "unreachable")
# Kept together through scheduling and allocation, because the shadow of the branch is exactly one instruction long.
JOINT: Final = "+"
"""In the mnemonic of a pair (pairs.py): a branch, and the instruction in its shadow."""


@dataclass(frozen=True, slots=True)
class Op:
    """Machine instruction. `place` is its origin in the source; instructions that differ in nothing else are equal."""

    mnemonic: str
    operands: tuple[Operand, ...] = ()
    place: Place = field(default=NOWHERE, compare=False)

    def __str__(self) -> str:
        return f"{self.mnemonic} {', '.join(map(str, self.operands))}".rstrip()


@dataclass(frozen=True, slots=True)
class Block:
    """Basic block, whose branches and jumps come last. Two may: a branch, then the jump of the way on."""

    name: str
    ops: tuple[Op, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Machine function.

    `frame` is the number of bytes of its local memory, `slots` of spill slots, each 8 bytes, `outgoing` of the bytes of
    arguments on the stack, for the calls that it makes. `pool` has the addresses of constants that nothing writes.
    """

    name: str
    isa: Isa
    blocks: tuple[Block, ...]
    frame: int = 0
    slots: int = 0
    outgoing: int = 0
    pool: frozenset[int] = frozenset()

    @property
    def calls(self) -> bool:
        return any(op.mnemonic in CALLS for block in self.blocks for op in block.ops)

    def __str__(self) -> str:
        return "\n".join(
            line for block in self.blocks for line in (f"{block.name}:", *(f"    {op}" for op in block.ops))
        )


@cache
def instruction_row(mnemonic: str, isa: Isa) -> Row:
    """Row of the instruction table for a mnemonic that the instruction set has."""
    row = find_row(mnemonic, isa)
    assert row is not None, f"{isa} has no {mnemonic}"
    return row


@cache
def shape(mnemonic: str, isa: Isa) -> str:
    """Operand roles of an instruction, a letter each: d for a definition, u for a use, a dot for what is no
    register."""
    if mnemonic in PSEUDO:
        return PSEUDO[mnemonic]
    # Definition, kept value, two compared registers; then what the shadow reads (pairs.py).
    if JOINT in mnemonic:
        return "duuu" + shape(mnemonic.partition(JOINT)[2], isa)[1:]
    return "".join(
        ("d" if f.role == "rd" else "u") if f.kind in ("x", "f") else "." for f in instruction_row(mnemonic, isa).fields
    )


def defs_and_uses(op: Op, isa: Isa) -> tuple[list[Reg], list[Reg]]:
    """Definitions and uses of an instruction; the zero register is neither. A call defines all that the convention
    clobbers.
    """
    pairs = list(zip(shape(op.mnemonic, isa), op.operands, strict=False))
    defined = [o for letter, o in pairs if letter == "d" and isinstance(o, Reg) and o != ZERO]
    used = [o for letter, o in pairs if letter == "u" and isinstance(o, Reg) and o != ZERO]
    # The clobbered registers of a call are definitions: no value can then be live in one of them across it.
    return [*defined, *CLOBBERED] if op.mnemonic in CALLS else defined, used


def rename_registers(op: Op, name: Callable[[Reg], Reg]) -> Op:
    """Renaming of registers in an instruction."""
    return Op(op.mnemonic, tuple(name(o) if isinstance(o, Reg) else o for o in op.operands), op.place)


def branch_targets(op: Op) -> Iterator[str]:
    """Branch targets: the blocks that a branch or a jump names."""
    return (o for o in op.operands if isinstance(o, str) and op.mnemonic not in NAMING)


def successors(code: Code) -> list[list[int]]:
    """Control-flow graph: by block the positions of its successors."""
    position = {block.name: k for k, block in enumerate(code.blocks)}
    return [[position[name] for op in block.ops for name in branch_targets(op)] for block in code.blocks]


def is_atomic(op: Op) -> bool:
    """Whether it is an atomic read-modify-write."""
    return op.mnemonic in EXCHANGES or op.mnemonic.startswith("amo")


def is_move(op: Op) -> bool:
    return op.mnemonic in ("mv", "fmv")

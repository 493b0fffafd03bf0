# SPDX-License-Identifier: Apache-2.0
"""Selection of atomic read-modify-write, with the orders of the psABI specification's table of mappings (RISC-V
unprivileged manual, appendix A, "Mappings from C/C++ primitives to RISC-V primitives").

What has an instruction of the A extension becomes that. A compare-and-exchange is a loop of `lr` and `sc`, whose
forward progress is promised only where nothing but a few integer instructions stands in it (RISC-V unprivileged manual,
"Eventual Success of Store-Conditional Instructions"): it is one pseudo-instruction up to the words, so that no spill
comes between.
"""

from __future__ import annotations

from typing import Final

from polyloom.ir.ssa import Access, Instruction, Order
from polyloom.ir.ssa_types import I32, PTR, Type
from polyloom.riscv.backend.code import Op, Reg
from polyloom.riscv.backend.context import Context
from polyloom.riscv.names import Isa

MNEMONICS: Final = {
    "xchg": "amoswap",
    "add": "amoadd",
    "and": "amoand",
    "or": "amoor",
    "xor": "amoxor",
    "smin": "amomin",
    "smax": "amomax",
    "umin": "amominu",
    "umax": "amomaxu",
}
"""By what an `rmw` does: the instruction that does it at once."""
RELEASE, ACQUIRE = 1, 2
_ORDERS: Final[dict[Order, tuple[int, int, int]]] = {
    "monotonic": (0, 0, 0),
    "acquire": (ACQUIRE, ACQUIRE, 0),
    "release": (RELEASE, 0, RELEASE),
    "acq_rel": (ACQUIRE | RELEASE, ACQUIRE, RELEASE),
    # The table's row for memory_order_seq_cst: lr.aqrl and sc.rl.
    "seq_cst": (ACQUIRE | RELEASE, ACQUIRE | RELEASE, RELEASE),
}
"""The bits of an `amo`, of an `lr` and of the `sc` behind it."""


def select_rmw(context: Context, instruction: Instruction) -> Reg:
    """Selection of a read-modify-write as an AMO: the register of what was there."""
    pointer, value = instruction.operands
    mnemonic = f"{MNEMONICS[instruction.callee]}.{_width_letter(value.type, context.isa)}"
    return context.b.make(mnemonic, context.reg(value), context.reg(pointer), _order_bits(instruction)[0])


def select_cas(context: Context, instruction: Instruction) -> Reg:
    """Selection of a compare-and-exchange: the register of what was there. A second register takes what `sc` says."""
    pointer, expected, stored = map(context.reg, instruction.operands)
    found, failed = context.b.fresh(), context.b.fresh()
    _, first, second = _order_bits(instruction)
    mnemonic = f"cas.{_width_letter(instruction.operands[1].type, context.isa)}"
    context.b.put(mnemonic, found, failed, pointer, expected, stored, first, second)
    return found


def cas_loop(op: Op) -> tuple[Op, ...]:
    """LR/SC loop of a compare-and-exchange, four instructions of four bytes each: a branch that leaves them, and one
    that repeats them.
    """
    found, failed, pointer, expected, stored, first, second = op.operands
    letter = op.mnemonic[-1]
    return (
        Op(f"lr.{letter}", (found, pointer, first)),
        # The distances count from the branches themselves: 12 bytes on is behind the loop, 12 back is its `lr`.
        Op("bne", (found, expected, 12)),
        Op(f"sc.{letter}", (failed, stored, pointer, second)),
        Op("bne", (failed, Reg("x", 0), -12)),
    )


def _order_bits(instruction: Instruction) -> tuple[int, int, int]:
    """Order bits of the AMO, the LR and the SC for an atomic order. Without one, sequentially consistent."""
    return _ORDERS[(instruction.access or Access(order="seq_cst")).order]


def _width_letter(type: Type, isa: Isa) -> str:
    return "w" if type == I32 or (type == PTR and isa.xlen == 32) else "d"

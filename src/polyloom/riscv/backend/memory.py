# SPDX-License-Identifier: Apache-2.0
"""Selection of loads, stores, fences and addresses. Atomic orders are kept as the psABI specification's table of
mappings says (RISC-V unprivileged manual, appendix A, table "Mappings from C/C++ primitives to RISC-V primitives").

Accesses are aligned here: others have been made of smaller ones before (`legalize`).
"""

from __future__ import annotations

from typing import Final

from polyloom.ir.ssa import Access, Address, Constant, Instruction, Operand, Value
from polyloom.ir.ssa_types import F32, F64, FLOATS, I1, I8, I16, I32, I64, PTR, Type
from polyloom.riscv.backend.code import Reg
from polyloom.riscv.backend.context import Context
from polyloom.riscv.backend.folds import IMMEDIATE

_LOADS: Final[dict[Type, str]] = {I1: "lbu", I8: "lb", I16: "lh", I32: "lw", I64: "ld", F32: "flw", F64: "fld"}
_STORES: Final[dict[Type, str]] = {I1: "sb", I8: "sb", I16: "sh", I32: "sw", I64: "sd", F32: "fsw", F64: "fsd"}
R, W, RW = 2, 1, 3
"""Sets of accesses as fences encode them."""
_AROUND: Final[dict[tuple[str, str], tuple[tuple[int, int] | None, tuple[int, int] | None]]] = {
    ("load", "acquire"): (None, (R, RW)),
    # fence rw,rw before and fence r,rw behind the load; the store is fenced by fence rw,w in front, here also by one
    # behind, so that both mappings of the table may be mixed.
    ("load", "seq_cst"): ((RW, RW), (R, RW)),
    ("store", "release"): ((RW, W), None),
    ("store", "seq_cst"): ((RW, W), (RW, RW)),
}
"""By access: the fence before it and the one behind."""
_FENCES: Final = {"acquire": (R, RW), "release": (RW, W), "acq_rel": (RW, RW), "seq_cst": (RW, RW)}


def load(context: Context, instruction: Instruction) -> tuple[Reg, ...]:
    """Selection of a load, with the fences of its order: the registers of its result."""
    result, access = instruction.result, instruction.access or Access()
    assert result is not None
    type: Type = result.type if result.type != PTR else I64 if context.isa.xlen == 64 else I32
    before, after = _AROUND.get(("load", access.order), (None, None))
    _fence(context, before)
    base, offset = fold_address(context, instruction.operands[0], 4 if context.is_wide(type) else 0)
    if context.is_wide(type):
        made = context.b.make("lw", offset, base), context.b.make("lw", offset + 4, base)
    else:
        mnemonic = _LOADS[type] + "u" * (result.name in context.zero_extended)
        made = (context.b.make("lw" if mnemonic == "lwu" and context.isa.xlen == 32 else mnemonic, offset, base),)
    if access.volatile or access.order:
        # A volatile load stays even where nothing uses it, and is a barrier of the scheduler.
        context.b.put("keep", made[0])
    _fence(context, after)
    return made


def store(context: Context, instruction: Instruction) -> None:
    """Selection of a store, with the fences of its order."""
    value, access = instruction.operands[0], instruction.access or Access()
    type: Type = value.type if value.type != PTR else I64 if context.isa.xlen == 64 else I32
    before, after = _AROUND.get(("store", access.order), (None, None))
    _fence(context, before)
    parts = _zero_or_parts(context, value)
    base, offset = fold_address(context, instruction.operands[1], 4 * (len(parts) - 1))
    for k, part in enumerate(parts):
        mnemonic = (
            "sw"
            if len(parts) == 2
            else _STORES[type]
            if part.bank == "f" or type not in FLOATS
            else {F32: "sw", F64: "sd"}[type]
        )
        context.b.put(mnemonic, part, offset + 4 * k, base)
    if access.volatile or access.order:
        context.b.put("keep", base)
    _fence(context, after)


def _zero_or_parts(context: Context, value: Operand) -> tuple[Reg, ...]:
    """Registers to store. A constant float is stored as the integer of its bits, where that is one register or zero."""
    if (
        isinstance(value, Constant)
        and value.type in FLOATS
        and (value.type == F32 or context.isa.xlen == 64 or value.value == 0)
    ):
        return (
            (context.b.constant(value.value),)
            if value.type == F32 or context.isa.xlen == 64
            else (context.b.constant(0),) * 2
        )
    return context.parts(value)


def fence(context: Context, instruction: Instruction) -> None:
    _fence(context, _FENCES[(instruction.access or Access()).order])


def _fence(context: Context, sets: tuple[int, int] | None) -> None:
    if sets is not None:
        context.b.put("fence", *sets)


def fold_address(context: Context, operand: Operand, room: int = 0) -> tuple[Reg, int]:
    """Addressing mode: a register and a distance from it, to which `room` may be added within the immediate."""
    match operand:
        case Value(name) if name in context.deferred and name not in context.values:
            inner = context.deferred[name]
            distance = inner.operands[1]
            assert isinstance(distance, Constant)
            base, offset = fold_address(context, inner.operands[0])
            if offset + distance.value in IMMEDIATE and offset + distance.value + room in IMMEDIATE:
                return base, offset + distance.value
            return context.b.make("addi", context.reg(inner.operands[0]), distance.value), 0
        case Value(name) if name in context.near and context.near[name][2] in ("", context.block):
            # Others need the sum itself, but who reads it here need not wait for it.
            base, offset = fold_address(context, context.near[name][0])
            total = offset + context.near[name][1]
            return (base, total) if total in IMMEDIATE and total + room in IMMEDIATE else (context.reg(operand), 0)
        case Address(name, offset) if name in context.layout.places:
            place = context.layout.places[name] + offset
            # `lui` and a signed distance of 12 bits: the low part may be negative, and the upper part makes up for it.
            low = (place + 2048) % 4096 - 2048
            return (context.b.constant(place - low), low) if low + room in IMMEDIATE else (context.b.constant(place), 0)
        case _:
            return context.reg(operand), 0


def select_offset(context: Context, instruction: Instruction) -> Reg:
    """Pointer arithmetic: a pointer and a number of bytes."""
    pointer, distance = instruction.operands
    if (k := context.immediate(distance)) is not None:
        return context.b.make("addi", context.reg(pointer), k) if k else context.reg(pointer)
    return context.b.make("add", context.reg(pointer), context.parts(distance)[0])


def select_alloca(context: Context, instruction: Instruction) -> Reg:
    """Stack allocation: bytes of the frame; their number is a constant (`legalize` refuses others)."""
    size, access = instruction.operands[0], instruction.access or Access()
    assert isinstance(size, Constant)
    return context.b.make("frame", context.memory(size.value, max(access.align, 1)))

# SPDX-License-Identifier: Apache-2.0
"""Selection of calls: arguments and results between where values are held and where the calling convention has them
(abi.py; RISC-V ELF psABI, "Procedure Calling Convention").

All parts of arguments are computed before the first is moved into its register, so that nothing is computed between
these moves.
"""

from __future__ import annotations

from collections.abc import Sequence

from polyloom.ir.ssa import Instruction, Operand
from polyloom.ir.ssa_types import F32, F64, FLOATS, I32, Type
from polyloom.riscv.backend import abi
from polyloom.riscv.backend.code import SP, Reg
from polyloom.riscv.backend.context import Context
from polyloom.riscv.backend.folds import IMMEDIATE


def call(context: Context, instruction: Instruction) -> tuple[Reg, ...]:
    """Selection of a call: the registers of its result, none where there is none."""
    function = next((f for f in context.function.program if f.name == instruction.called), None)
    # Through a pointer only functions of the program are called, which extend narrow parameters themselves.
    unsigned = function.unsigned if function is not None else frozenset[int]()
    # The first operand of an indirect call is the address.
    operands = instruction.operands if function is not None else instruction.operands[1:]
    pointer = None if function is not None else context.reg(instruction.operands[0])
    # Integers and floats take registers of their own banks, each in the order of the arguments (psABI).
    places = abi.argument_places([operand.type for operand in operands], context.isa)
    passed = [
        _argument_parts(context, operand, group, k in unsigned)
        for k, (operand, group) in enumerate(zip(operands, places, strict=True))
    ]
    pairs = [
        (operand, *pair)
        for operand, group, parts in zip(operands, places, passed, strict=True)
        for pair in zip(group, parts, strict=True)
    ]
    for operand, place, part in pairs:
        # Stores before moves: what is stored may be in an argument register that a move will overwrite.
        if isinstance(place, abi.Stack):
            _store_argument(context, operand.type, part, place)
    registers = [context.move(place, part) for _, place, part in pairs if isinstance(place, Reg)]
    if pointer is None:
        context.b.put("call", instruction.called, *registers)
    else:
        context.b.put("callr", pointer, *registers)
    context.b.constants = {}  # it is shorter to make them anew than to save a register for each
    if instruction.result is None:
        return ()
    type = instruction.result.type
    # Out of a0 or fa0 at once: the next call would overwrite it.
    found = [context.move(context.b.fresh(place.bank), place) for place in abi.result_places(type, context.isa)]
    return incoming_parts(context, type, found)


def _argument_parts(
    context: Context, operand: Operand, places: Sequence[abi.Place], is_unsigned: bool
) -> tuple[Reg, ...]:
    """Parts of an argument, as many as places, each in the bank of its place."""
    parts = context.parts(operand)
    if operand.type not in FLOATS:
        return (context.unsigned(operand.type, parts[0]),) if is_unsigned else parts
    first = places[0]
    if len(places) == 1 and (isinstance(first, abi.Stack) or first.bank == "f"):
        return parts
    # Floats beyond fa0 to fa7 go through integer registers, with their bits unchanged.
    if len(places) == 1:
        return (context.b.make("fmv.x.w" if operand.type == F32 else "fmv.x.d", parts[0]),)
    place = context.scratch_address()
    context.b.put("fsd", parts[0], 0, place)
    return context.b.make("lw", 0, place), context.b.make("lw", 4, place)


def _store_argument(context: Context, type: Type, part: Reg, place: abi.Stack) -> None:
    """Stores a part of an argument to the outgoing area at sp."""
    word = "sd" if context.isa.xlen == 64 else "sw"
    mnemonic = word if part.bank == "x" else "fsw" if type == F32 else "fsd"
    if place.offset in IMMEDIATE:
        context.b.put(mnemonic, part, place.offset, SP)
    else:
        context.b.put(mnemonic, part, 0, context.b.make("add", SP, context.b.constant(place.offset)))
    context.outgoing = max(context.outgoing, place.offset + context.isa.xlen // 8)


def incoming_parts(context: Context, type: Type, places: Sequence[Reg | abi.Stack]) -> tuple[Reg, ...]:
    """Incoming parameter or result, from its places to how values of its type are held."""
    first = places[0]
    if type in FLOATS:
        if len(places) == 1 and isinstance(first, abi.Stack):
            return (context.b.make("flw" if type == F32 else "fld", 0, context.b.make("incoming", first.offset)),)
        if isinstance(first, Reg) and first.bank == "f":
            return (first,)
    words = [place if isinstance(place, Reg) else _word(context, place) for place in places]
    if type == F32:
        return (context.b.make("fmv.w.x", words[0]),)
    if type == F64 and len(words) == 1:
        return (context.b.make("fmv.d.x", words[0]),)
    if type == F64:
        place = context.scratch_address()
        for k, word in enumerate(words):
            context.b.put("sw", word, 4 * k, place)
        return (context.b.make("fld", 0, place),)
    # The caller has extended words of 32 bits (psABI); narrower ones may come from code that extends otherwise, and are
    # made canonical.
    return tuple(words) if len(words) == 2 or type == I32 else (context.canonical(type, words[0]),)


def _word(context: Context, place: abi.Stack) -> Reg:
    return context.b.make("ld" if context.isa.xlen == 64 else "lw", 0, context.b.make("incoming", place.offset))

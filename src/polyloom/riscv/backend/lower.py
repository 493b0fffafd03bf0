# SPDX-License-Identifier: Apache-2.0
"""Instruction selection: a legal function out of SSA form to machine code over virtual registers.

Operation by operation, with folding by use (folds.py): a comparison is folded into the branch or the select that it
decides, constants into instructions that take them, constant distances into loads and stores. Whatever selects or
compares goes through the select table.
"""

from __future__ import annotations

from typing import Final

from polyloom.diagnostics import input_error
from polyloom.ir.ssa import (
    ARITHMETIC,
    CASTS,
    COMPARISONS,
    FLOAT_COMPARISONS,
    FLOATING,
    INDIRECT,
    NOWHERE,
    RESULT,
    Branch,
    Constant,
    Function,
    Instruction,
    Jump,
    Operand,
    Return,
    Terminator,
    Value,
)
from polyloom.ir.ssa_types import FLOATS, I1
from polyloom.riscv.backend import abi, atomics, calls, floats, integers, memory, selects, wide
from polyloom.riscv.backend.code import ZERO, Block, Code, Reg
from polyloom.riscv.backend.context import FUNCTIONS, Context
from polyloom.riscv.backend.data import Layout
from polyloom.riscv.backend.push import WORD, push
from polyloom.riscv.names import Isa

_FLOATING_CALLS: Final = ("fabs", "sqrt", "copysign", "fma")
_BRANCHES: Final = {
    "eq": ("beq", False),
    "ne": ("bne", False),
    "slt": ("blt", False),
    "sge": ("bge", False),
    "sgt": ("blt", True),
    "sle": ("bge", True),
    "ult": ("bltu", False),
    "uge": ("bgeu", False),
    "ugt": ("bltu", True),
    "ule": ("bgeu", True),
}
"""By comparison: the branch, and whether its operands are exchanged."""


def lower(function: Function, isa: Isa, layout: Layout) -> Code:
    """Instruction selection for a function whose operations are legal and whose blocks, but for the first, have no
    parameters.
    """
    context = Context(function, isa, layout, _select_instruction)
    blocks: list[Block] = []
    for number, block in enumerate(function.blocks):
        context.block = block.name
        if number == 0:
            _receive_parameters(context, function)
        for instruction in block.instructions:
            # Deferred instructions are selected with their user, as a part of its expression.
            if instruction.result is None or instruction.result.name not in context.deferred:
                _select_instruction(context, instruction)
        _select_terminator(context, block.terminator)
        blocks.append(Block(block.name, context.b.take()))
    # sp is aligned to 16 bytes at every call (psABI).
    outgoing = -(-context.outgoing // 16) * 16
    return Code(function.name, isa, tuple(blocks), context.frame, outgoing=outgoing, pool=layout.pool)


def _receive_parameters(context: Context, function: Function) -> None:
    """Incoming parameters, from where the caller put them. All come out of their registers first: what loads the others
    needs some.
    """
    places = abi.argument_places([p.type for p in function.parameters], context.isa)
    moved = [
        [place if isinstance(place, abi.Stack) else context.move(context.b.fresh(place.bank), place) for place in group]
        for group in places
    ]
    for parameter, group in zip(function.parameters, moved, strict=True):
        context.define(parameter, *calls.incoming_parts(context, parameter.type, group))


def _select_instruction(context: Context, instruction: Instruction) -> None:
    """Selects an instruction and defines its result."""
    before = context.b.place
    context.b.place = instruction.place if instruction.place != NOWHERE else before
    if instruction.result is None:
        _select_effect(context, instruction)
    else:
        context.define(instruction.result, *_select_value(context, instruction))
    # What is deferred is selected amid its user, which goes on with its own place.
    context.b.place = before


def _select_effect(context: Context, instruction: Instruction) -> None:
    """Selection of an instruction without a result."""
    if instruction.operation == "store":
        memory.store(context, instruction)
    elif instruction.called == WORD.name:
        push(context, instruction)
    elif instruction.called or instruction.callee == INDIRECT:
        calls.call(context, instruction)
    else:
        assert instruction.operation == "fence", f"{instruction.operation} {instruction.callee} is not legal"
        memory.fence(context, instruction)


def _select_value(context: Context, instruction: Instruction) -> tuple[Reg, ...]:
    """Selection of an instruction with a result, by operation: its registers."""
    result = instruction.result
    assert result is not None
    is_wide = context.is_wide(result.type) or any(context.is_wide(operand.type) for operand in instruction.operands)
    match instruction.operation:
        case "rmw":
            return (atomics.select_rmw(context, instruction),)
        case "cas":
            return (atomics.select_cas(context, instruction),)
        case "load":
            return memory.load(context, instruction)
        case "offset":
            return (memory.select_offset(context, instruction),)
        case "alloca":
            return (memory.select_alloca(context, instruction),)
        case "copy":
            return context.parts(instruction.operands[0])
        case operation if operation in CASTS and (instruction.operands[0].type in FLOATS or result.type in FLOATS):
            return floats.cast(context, instruction)
        case operation if operation in CASTS:
            return wide.cast(context, instruction) if is_wide else (integers.cast(context, instruction),)
        case operation if operation in ARITHMETIC:
            return wide.arithmetic(context, instruction) if is_wide else (integers.arithmetic(context, instruction),)
        case operation if operation in COMPARISONS:
            return (
                wide.compare(context, instruction) if is_wide else selects.select_conditional(context, instruction),
            )
        case operation if operation in FLOAT_COMPARISONS:
            return (floats.compare(context, instruction),)
        case operation if operation in FLOATING or operation == "fneg" or instruction.callee in _FLOATING_CALLS:
            return (floats.arithmetic(context, instruction),)
        case "select":
            return wide.select(context, instruction) if is_wide else (selects.select_conditional(context, instruction),)
        case "call" if instruction.called or instruction.callee == INDIRECT:
            return calls.call(context, instruction)
        case "call" if instruction.callee in FUNCTIONS:
            return (selects.select_conditional(context, instruction),)
        case "call" if instruction.callee in ("ctpop", "ctlz", "cttz"):
            return (integers.count_bits(context, instruction.callee, result.type, instruction.operands[0]),)
        case "call" if instruction.callee == "bswap":
            return (integers.swap_bytes(context, result.type, instruction.operands[0]),)
        case "call" if instruction.callee in ("fshl", "fshr"):
            return (integers.rotate(context, instruction),)
        case operation:
            words = instruction.place.words(context.function.place.file)
            place = f", {words}" if words else ""
            message = f"@{context.function.name}{place}: `{instruction.callee or operation}` is not supported"
            raise input_error("PL0931", message, help="write it with operators, or with what docs/ssa.md lists")


def _select_terminator(context: Context, terminator: Terminator) -> None:
    match terminator:
        case Jump(target):
            context.b.put("j", target.block)
        case Branch(condition, then, orelse):
            _select_branch(context, condition, then.block)
            # Every block ends in a jump; `expand` drops those to the next block.
            context.b.put("j", orelse.block)
        case Return(value):
            _select_return(context, value)
        case _:
            context.b.put("unreachable")


def _select_branch(context: Context, condition: Operand, target: str) -> None:
    """Conditional branch, fused with the comparison that decides it, where that is deferred to it (RISC-V unprivileged
    manual, "Conditional Branches": bgt and ble exchange the operands of blt and bge).
    """
    if isinstance(condition, Constant):
        if condition.value:
            context.b.put("beq", ZERO, ZERO, target)
        return
    deferred = (
        context.deferred.get(condition.name)
        if isinstance(condition, Value) and condition.name not in context.values
        else None
    )
    # A comparison of single bits has no branch of its own: its result is tested against zero.
    if deferred is None or deferred.operands[0].type == I1:
        context.b.put("bne", context.reg(condition), ZERO, target)
        return
    mnemonic, is_exchanged = _BRANCHES[deferred.operation]
    a, b = (context.reg(operand) for operand in deferred.operands)
    before, context.b.place = context.b.place, deferred.place
    context.b.put(mnemonic, *((b, a) if is_exchanged else (a, b)), target)
    context.b.place = before


def _select_return(context: Context, value: Operand | None) -> None:
    """Return, with the result where the convention has it."""
    if value is None:
        context.b.put("ret")
        return
    parts = context.parts(value)
    places = abi.result_places(value.type, context.isa)
    # The convention extends narrow results by their own sign (psABI), which LLVM's attributes tell.
    if RESULT in context.function.unsigned:
        parts = (context.unsigned(value.type, parts[0]),)
    for place, part in zip(places, parts, strict=True):
        context.move(place, part)
    context.b.put("ret", *places)

# SPDX-License-Identifier: Apache-2.0
"""Folding analyses of instruction selection, over def-use chains: instructions that are selected with their user,
address offsets, complements, masks of shift amounts, and extensions that nobody demands.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from polyloom.ir.ssa import ARITHMETIC, COMPARISONS, Block, Branch, Constant, Function, Instruction, Operand, Value
from polyloom.ir.ssa_types import FLOATS, I1, I8, I16, I32, I64, PTR, WIDTH, Type
from polyloom.ir.ssa_verify import definitions, uses
from polyloom.riscv.names import Isa

IMMEDIATE: Final = range(-2048, 2048)
RING: Final = ("add", "sub", "and", "or", "xor", "mul", "shl")
"""Operations whose low bits depend on low bits alone."""


def is_wide(type: Type, isa: Isa) -> bool:
    """Whether a value takes two registers: an i64 on RV32. A pointer is as wide as a register."""
    return type == I64 and isa.xlen == 32


Users = dict[str, list[tuple[Block, Instruction | None]]]


def def_use_chains(function: Function) -> Users:
    """Def-use chains: by value the instructions that use it, with None for the end of a block (Muchnick 1997, section
    8.10).
    """
    found: Users = {value.name: [] for block in function.blocks for value in definitions(block)}
    for block in function.blocks:
        for k, operands in uses(block):
            for operand in operands:
                if isinstance(operand, Value):
                    found[operand.name].append((block, block.instructions[k] if k < len(block.instructions) else None))
    return found


def constant_offsets(function: Function, variables: frozenset[str]) -> Iterator[tuple[str, tuple[Operand, int, str]]]:
    """Values at a constant distance from a pointer, each with the block in which the pointer has the same value ("" for
    any).
    """
    for block in function.blocks:
        for instruction in block.instructions:
            base, distance = instruction.operands if instruction.operation == "offset" else (None, None)
            result = instruction.results[0] if instruction.results else None
            if base is None or result is None or not isinstance(distance, Constant) or result.name in variables:
                continue
            if distance.value in IMMEDIATE:
                # A variable out of SSA form may be redefined on the way to another block.
                changes = isinstance(base, Value) and base.name in variables
                yield result.name, (base, distance.value, block.name if changes else "")


def complements(function: Function, variables: frozenset[str]) -> Iterator[tuple[str, Operand]]:
    """Bitwise complements of a value that does not change: operands of andn, orn and xnor."""
    return ((name, a) for name, a, number in _constant_operations(function, "xor", variables) if number == -1)


def masked_values(function: Function, variables: frozenset[str]) -> Iterator[tuple[str, tuple[Operand, int]]]:
    """Values that are the `and` of a constant and another value, which does not change."""
    return ((name, (a, number)) for name, a, number in _constant_operations(function, "and", variables))


def _constant_operations(
    function: Function, operation: str, variables: frozenset[str]
) -> Iterator[tuple[str, Operand, int]]:
    """Instructions of an operation whose second operand is a constant: (result, first operand, constant)."""
    for instruction in (i for block in function.blocks for i in block.instructions if i.operation == operation):
        a, b = instruction.operands
        if (
            instruction.result is not None
            and isinstance(a, Value)
            and a.name not in variables
            and isinstance(b, Constant)
        ):
            yield instruction.result.name, a, b.value


def extended_results(function: Function, isa: Isa) -> Iterator[str]:
    """Results that are sign-extended by their own instruction: loads, masks and, on RV64, operations with a word
    form."""
    for instruction in (i for block in function.blocks for i in block.instructions):
        is_word = instruction.operation in ARITHMETIC and instruction.operation not in ("and", "or", "xor")
        is_exact = instruction.operation == "load" or _is_mask(instruction)
        if is_exact or (is_word and isa.xlen == 64):
            types = (I8, I16, I32) if is_exact else (I32,)
            yield from (result.name for result in instruction.results if result.type in types)


def unsigned_loads(function: Function, users: Users) -> Iterator[str]:
    """Loads whose value is used zero-extended only: lbu, lhu and lwu then save the extension."""
    for instruction in (i for block in function.blocks for i in block.instructions if i.operation == "load"):
        result = instruction.result
        found = users[result.name] if result is not None else []
        if (
            result is not None
            and result.type in (I8, I16, I32)
            and found
            and all(user is not None and user.operation == "zext" for _, user in found)
        ):
            yield result.name


def deferred_instructions(
    function: Function, users: Users, variables: frozenset[str], isa: Isa
) -> list[tuple[str, Instruction]]:
    """Instructions that are selected with their user, as a part of its expression or of its address (tree patterns over
    a DAG: Muchnick 1997, chapter 6).
    """
    made: list[tuple[str, Instruction]] = []
    for block in function.blocks:
        for instruction in block.instructions:
            result = instruction.result
            if result is None or result.name in variables or not users[result.name]:
                continue
            found = users[result.name]
            inside = all(where is block for where, _ in found)
            alone = inside and len(found) == 1
            if _is_address(instruction, found, inside, variables) or (
                alone and _is_part(instruction, block, found[0][1], isa)
            ):
                made.append((result.name, instruction))
    return made


def _is_address(
    instruction: Instruction, users: list[tuple[Block, Instruction | None]], inside: bool, variables: frozenset[str]
) -> bool:
    """Whether this is a constant distance from a pointer that only loads and stores use, as their address."""
    if (
        instruction.operation != "offset"
        or not isinstance(instruction.operands[1], Constant)
        # 2040 at most: the second word of an i64 on RV32, 4 bytes further, must be in reach as well.
        or instruction.operands[1].value not in range(-2048, 2041)
    ):
        return False
    base = instruction.operands[0]
    # Its base must still have the same value where the address is used.
    kept = inside or not isinstance(base, Value) or base.name not in variables
    return kept and all(user is not None and _uses_as_address(user, instruction.result) for _, user in users)


def _uses_as_address(user: Instruction, value: Value | None) -> bool:
    return (user.operation == "load") or (
        user.operation == "store" and user.operands[1] == value and user.operands[0] != value
    )


def _is_part(instruction: Instruction, block: Block, user: Instruction | None, isa: Isa) -> bool:
    """Whether it can be a part of the user's expression: a condition, or an arm of a select."""
    operation, result = instruction.operation, instruction.result
    compared = operation in COMPARISONS and not is_wide(instruction.operands[0].type, isa)
    if user is None:
        return compared and isinstance(block.terminator, Branch)
    if user.operation != "select" or user.operands[1].type in FLOATS or result is None:
        return False
    if user.operands[0] == result:
        return compared and user.operands[1].type != I1
    # Right shifts bring high bits down, so that these must be right: only whole registers qualify.
    wide = WIDTH[result.type] == isa.xlen or (result.type == PTR and operation == "select")
    return not is_wide(user.operands[1].type, isa) and (
        operation in RING or (wide and operation in ("lshr", "ashr")) or operation == "select"
    )


def loose_values(function: Function, users: Users, variables: frozenset[str], isa: Isa) -> frozenset[str]:
    """Demanded bits: the values whose upper bits are anything, since no user demands them and no definition extends
    them anyway.

    A single bit is held as 0 or 1. Variables are copies of values that are not loose, as a copy does not tolerate it. A
    least fixed point: an operation is loose only where all its users ignore upper bits.
    """
    # The convention of calls hands words over with their sign.
    passed = {p.name for p in function.parameters if p.type == I32 and isa.xlen == 64}
    exact = {*extended_results(function, isa)} - {*unsigned_loads(function, users)} | variables | passed
    values = [v.name for block in function.blocks for v in definitions(block) if v.type != I1 and v.name not in exact]
    found = frozenset[str]()
    # What is only part of a loose value is loose as well.
    while more := [name for name in values if name not in found and _is_loose(users[name], name, isa, found)]:
        found |= frozenset(more)
    return found


def _is_loose(users: list[tuple[Block, Instruction | None]], name: str, isa: Isa, found: frozenset[str]) -> bool:
    return all(_ignores_upper_bits(user, name, isa, found) for _, user in users)


def _ignores_upper_bits(user: Instruction | None, name: str, isa: Isa, found: frozenset[str]) -> bool:
    """Whether the user's result is right whatever the bits above the value's own are."""
    if user is None:
        return False
    operands = [isinstance(o, Value) and o.name == name for o in user.operands]
    match user.operation:
        case "store":
            return not operands[1]
        # A conversion extends or cuts off by itself.
        case "trunc" | "zext" | "sext":
            return True
        case "and" | "or" | "xor":
            return any(result.name in found for result in user.results) or _is_mask(user)
        case operation if operation in ARITHMETIC and user.operands[0].type == I32 and isa.xlen == 64:
            # On RV64 the word forms read 32 bits only.
            return True
        case "add" | "sub" | "mul":
            # Sums and products of narrow values: their low bits depend on low bits alone, and the result is extended
            # again.
            return WIDTH[user.operands[0].type] < 32
        case _:
            return False


def _is_mask(instruction: Instruction) -> bool:
    """Whether the result has zeros above its own bits whatever the operand has."""
    if instruction.operation != "and":
        return False
    number = instruction.operands[-1]
    return isinstance(number, Constant) and number.value >= 0

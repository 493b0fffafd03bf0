# SPDX-License-Identifier: Apache-2.0
"""Instruction combining: literals into SFPMULI and SFPADDI, tests into what computes the tested value, and operands
exchanged where the one that is overwritten is needed later.

SFPMULI is the product of a BF16 literal and a register, SFPADDI literal·1 + register, both of them into that register,
which must not be needed any more. Product and sum are the same either way round: a finite literal has no part in a NaN.
SFPIADD and SFPEXEXP narrow by the sign of their result, SFPLZ by whether its operand is zero. Source: ISA
documentation, page of `SFPMULI`, `SFPADDI`, `SFPIADD`, `SFPEXEXP` and `SFPLZ`; peephole optimization: Muchnick 1997,
chapter 18.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from polyloom.analysis.liveness import liveness
from polyloom.ir.ssa import Block, Constant, Function, Instruction, Operand, Value
from polyloom.ir.ssa_verify import uses
from polyloom.targets.tensix.source.lower.literals import BF16
from polyloom.targets.tensix.source.lower.shapes import (
    REGISTER,
    Machine,
    decompose,
    make_instruction,
    sets_flags,
    vector_constant,
)
from polyloom.targets.tensix.source.operations import called_operation

ZERO, ONE = vector_constant(0), vector_constant(0x3F800000)
_NO_FLAGS: Final = 4
_INVERTED: Final = 8
_BY_SIGN: Final = 2
_INFINITE: Final = 0x7F80
_FIRST_CONSTANT: Final = 8
"""The first constant register."""
SYMMETRIC: Final = ("SFPAND", "SFPOR", "SFPXOR", "SFPIADD")
"""Instructions of two operands that give the same either way round; SFPIADD where it does not subtract."""


def combine_literals(function: Function) -> Function:
    """Combination to SFPMULI and SFPADDI, where the register's value dies."""
    # SFPMULI and SFPADDI overwrite their register: a value that lives on would have to be copied first, and nothing is
    # won.
    alive = liveness(function).live_out
    # A literal with a second use has to be loaded in any case, and then nothing is won.
    counts = Counter(o.name for b in function.blocks for _, group in uses(b) for o in group if isinstance(o, Value))
    blocks = tuple(_combine_block_literals(b, after, counts) for b, after in zip(function.blocks, alive, strict=True))
    return replace(function, blocks=blocks)


def _combine_block_literals(block: Block, after: frozenset[str], counts: Mapping[str, int]) -> Block:
    code = list(block.instructions)
    loaded = {i.results[0].name: i for i in code if i.called == "SFPLOADI"}
    for at, instruction in enumerate(code):
        taken = decompose(instruction)
        for register, literal in () if taken is None else _registers_and_literals(taken, loaded):
            bits = _literal_bits(literal, loaded)
            if taken is None or bits is None or counts[literal.name] != 1 or not isinstance(register, Value):
                continue
            behind, result = code[at + 1 :], taken.results[0]
            if _is_last_use(register, result, behind, after) and not _replaces_lanes(register, result, behind):
                name = "SFPMULI" if taken.shape.name == "SFPMUL" else "SFPADDI"
                code[at] = make_instruction(name, (register,), (bits,), taken.results, place=instruction.place)
                break
    return replace(block, instructions=tuple(code))


def _registers_and_literals(taken: Machine, loaded: Mapping[str, Instruction]) -> Sequence[tuple[Operand, Value]]:
    """Register and literal of a product or a sum, in each order in which one is a literal."""
    if taken.old is not None or taken.immediate("instr_mod1") != 0:
        return ()
    a, b, c = taken.operands if len(taken.operands) == 3 else (ZERO, ZERO, ZERO)
    match taken.shape.name:
        case "SFPMUL" if c == ZERO:
            orders = ((a, b), (b, a))
        case "SFPADD" if a == ONE:
            orders = ((c, b), (b, c))
        case _:
            orders = ()
    return [(r, lit) for r, lit in orders if isinstance(lit, Value) and lit.name in loaded]


def _literal_bits(value: Value, loaded: Mapping[str, Instruction]) -> int | None:
    """Upper half of a literal that is a number in BF16."""
    mode, bits = loaded[value.name].operands[-2:]
    if not isinstance(mode, Constant) or mode.value != BF16 or not isinstance(bits, Constant):
        return None
    # A NaN result keeps bits of its operands, which stand in another order in SFPMULI and SFPADDI.
    return bits.value if bits.value & 0x7FFF < _INFINITE else None


def _is_last_use(value: Value, result: Value, behind: Sequence[Instruction], after: frozenset[str]) -> bool:
    """Whether nothing needs the value but an assignment that replaces it by the result."""
    if value.name in after:
        return False
    for instruction in behind:
        row = called_operation(instruction)
        replaces = row is not None and row.name == "assign" and instruction.operands == (value, result)
        if value in instruction.operands and not replaces:
            return False
    return True


def _replaces_lanes(register: Value, result: Value, behind: Sequence[Instruction]) -> bool:
    """Whether the result replaces lanes of another value, into which a plain sum or product is computed at once."""
    uses = (i for i in behind if result in i.operands)
    rows = ((i, called_operation(i)) for i in uses)
    return any(row is not None and row.name == "assign" and i.operands[0] != register for i, row in rows)


def combine_tests(function: Function) -> Function:
    """Combination of each SFPSETCC that tests the sign of a value, and which nothing between needs, with the
    instruction that computes the value.
    """
    counts = Counter(o.name for b in function.blocks for _, group in uses(b) for o in group if isinstance(o, Value))
    blocks = tuple(replace(b, instructions=tuple(_combine_block_tests(b, counts))) for b in function.blocks)
    return replace(function, blocks=blocks)


def _combine_block_tests(block: Block, counts: Mapping[str, int]) -> Iterator[Instruction]:
    code: list[Instruction | None] = list(block.instructions)
    for at, instruction in enumerate(block.instructions):
        if instruction.called != "SFPSETCC":
            continue
        where = _defining_position(block.instructions, at, counts)
        joined = None if where is None else _fuse_test(block.instructions[where], instruction)
        if joined is None:
            where = _counting_position(block.instructions, at)
            joined = None if where is None else _fuse_zero_test(block.instructions[where], instruction)
        if where is not None and joined is not None and code[where] is block.instructions[where]:
            code[where], code[at] = None, joined
    return (i for i in code if i is not None)


def _defining_position(code: Sequence[Instruction], at: int, counts: Mapping[str, int]) -> int | None:
    """Position where the tested value is computed, if nothing uses the value from there on, and neither do flags change
    where it is needed beyond the test.
    """
    value = code[at].operands[0]
    crosses = False
    for where in range(at - 1, -1, -1):
        instruction = code[where]
        found = decompose(instruction)
        if value in instruction.results:
            # Computed where it is tested, a value has just the lanes that are enabled there.
            is_merged = found is not None and found.old is not None
            return None if crosses and (is_merged or counts[value.name] > 1) else where
        crosses = crosses or (found is not None and sets_flags(found))
        if value in instruction.operands:
            return None
    return None


def _fuse_test(computing: Instruction, test: Instruction) -> Instruction | None:
    """Instruction that computes and tests: SFPIADD or SFPEXEXP in a mode that sets flags by the sign (page of
    `SFPIADD`).
    """
    found = decompose(computing)
    mode = decompose(test)
    wanted = None if mode is None else mode.immediate("instr_mod1")
    if found is None or wanted not in (0, 4):
        return None
    inverted = _INVERTED if wanted else 0
    own = found.immediate("instr_mod1")
    if own is None:
        return None
    if found.shape.row_name == "SFPIADD" and own & 12 == _NO_FLAGS:
        return _with_mode(computing, found, (own & 3) | inverted)
    if found.shape.row_name == "SFPEXEXP" and not own & 10:
        return _with_mode(computing, found, own | _BY_SIGN | inverted)
    return None


def _counting_position(code: Sequence[Instruction], at: int) -> int | None:
    """Position of the SFPLZ of the tested value, if neither flags change nor anything uses its result from there on."""
    for where in range(at - 1, -1, -1):
        found = decompose(code[where])
        if found is not None and found.shape.name == "SFPLZ" and found.operands == code[at].operands[:1]:
            is_used = any(found.results[0] in i.operands for i in code[where:at])
            return None if is_used or found.old is not None else where
        if found is not None and sets_flags(found):
            return None
    return None


def _fuse_zero_test(counting: Instruction, test: Instruction) -> Instruction | None:
    """SFPLZ in a mode that sets flags by whether its operand is zero (page of `SFPLZ`)."""
    found, mode = decompose(counting), decompose(test)
    wanted = None if mode is None else mode.immediate("instr_mod1")
    own = None if found is None else found.immediate("instr_mod1")
    if found is None or own is None or own & 10 or wanted not in (2, 6):
        return None
    return _with_mode(counting, found, own | _BY_SIGN | (_INVERTED if wanted == 6 else 0))


def _with_mode(instruction: Instruction, found: Machine, mode: int) -> Instruction:
    at = found.shape.immediates.index("instr_mod1") - len(found.shape.immediates)
    operands = list(instruction.operands)
    operands[at] = replace(operands[at], value=mode) if isinstance(operands[at], Constant) else operands[at]
    return replace(instruction, operands=tuple(operands))


def orient_operands(function: Function) -> Function:
    """Operand order of commutative instructions: they overwrite the operand that dies, if one does, which saves a
    copy."""
    alive = liveness(function).live_out
    # A constant register is never overwritten.
    fixed = frozenset(i.results[0].name for b in function.blocks for i in b.instructions if _names_constant(i))
    blocks = (
        replace(b, instructions=tuple(_orient_block(b, after | fixed)))
        for b, after in zip(function.blocks, alive, strict=True)
    )
    return replace(function, blocks=tuple(blocks))


def _names_constant(instruction: Instruction) -> bool:
    number = instruction.operands[0] if instruction.called == REGISTER else None
    return isinstance(number, Constant) and number.value >= _FIRST_CONSTANT


def _orient_block(block: Block, after: frozenset[str]) -> Iterator[Instruction]:
    for at, instruction in enumerate(block.instructions):
        found = decompose(instruction)
        if found is None or found.old is not None or not is_commutative(found):
            yield instruction
            continue
        (tied, _), *_ = found.shape.tied
        lives = [_remains_live(o, block.instructions[at + 1 :], after) for o in found.operands]
        # Exchanging the operands avoids the copy that leaving SSA form would need to keep the first.
        if lives[tied] and not lives[1 - tied]:
            operands = (*found.operands[::-1], *found.immediates)
            yield replace(instruction, operands=operands)
        else:
            yield instruction


def is_commutative(found: Machine) -> bool:
    return found.shape.name in SYMMETRIC and not (found.immediate("instr_mod1") or 0) & 2


def _remains_live(operand: Operand, behind: Sequence[Instruction], after: frozenset[str]) -> bool:
    """Whether an operand is live behind; a constant register always is, since overwriting it takes a copy."""
    if not isinstance(operand, Value):
        return True
    return operand.name in after or any(operand in i.operands for i in behind)

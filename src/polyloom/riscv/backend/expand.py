# SPDX-License-Identifier: Apache-2.0
"""Frame lowering: prologue, epilogue, and instructions of the table for pseudo-instructions.

From sp upwards: arguments of calls on the stack, spill slots, the function's own memory, callee-saved registers, of
which ra is one where the function calls; then, above where sp was, its own arguments on the stack (RISC-V ELF psABI,
"Procedure Calling Convention": the stack grows down, sp is aligned to 16 bytes). A function without any of these has no
frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from polyloom.ir.ssa import Place
from polyloom.names import hidden_name
from polyloom.riscv.backend.allocate import FAR
from polyloom.riscv.backend.build import Builder
from polyloom.riscv.backend.check import saved_registers
from polyloom.riscv.backend.code import BRANCHES, NAMING, RA, SP, ZERO, Block, Code, Op, Operand, Reg, branch_targets
from polyloom.riscv.backend.folds import IMMEDIATE

_SPILLS: Final = "keeps a value on the stack"
_SAVES: Final = "saves what belongs to the caller"
_RESTORES: Final = "restores what belongs to the caller"


@dataclass(frozen=True, slots=True)
class Frame:
    """Frame layout: offsets from sp of the function's memory, of saved registers, and of the incoming arguments, which
    is also the size of the frame.
    """

    memory: int
    saved: int
    end: int


def frame_layout(code: Code) -> Frame:
    """Frame layout of a function, in bytes."""
    # From sp upwards: arguments of calls, slots, the function's memory, saved registers; sp stays a multiple of 16
    # (psABI).
    memory = -(-(code.outgoing + 8 * code.slots) // 16) * 16
    above = -(-(memory + code.frame) // 8) * 8
    return Frame(memory, above, -(-(above + 8 * len(saved_registers(code))) // 16) * 16)


def expand(code: Code) -> Code:
    """Expansion of pseudo-instructions, but for `j`; moves from a register to itself are dropped."""
    frame = frame_layout(code)
    if frame.end:
        # Before expansion, where a return is still one instruction.
        code = _merge_returns(code)
    blocks = [Block(b.name, tuple(e for op in b.ops for e in _expand_op(op, code, frame))) for b in code.blocks]
    blocks[0] = Block(blocks[0].name, (*_with_reason(_SAVES, _prologue(code, frame)), *blocks[0].ops))
    return _eliminate_jumps(replace(code, blocks=tuple(blocks)))


def _merge_returns(code: Code) -> Code:
    """Tail merging of returns: one return at the end, to which the others jump, as each would repeat the epilogue."""
    returns = [op for block in code.blocks for op in block.ops if op.mnemonic == "ret"]
    if len(returns) < 2:
        return code
    # A name that no block of the program can have.
    name = hidden_name("return")
    jump = Op("j", (name,))
    last = max(k for k, block in enumerate(code.blocks) if block.ops and block.ops[-1].mnemonic == "ret") + 1
    blocks = [Block(b.name, tuple(jump if op.mnemonic == "ret" else op for op in b.ops)) for b in code.blocks]
    return replace(code, blocks=(*blocks[:last], Block(name, (returns[-1],)), *blocks[last:]))


def _expand_op(op: Op, code: Code, frame: Frame) -> Iterator[Op]:
    """Expansion of one instruction."""
    match op.mnemonic, op.operands:
        case "mv" | "fmv", (target, source):
            if target != source:
                yield _move_instruction(code, target, source)
        case "frame", (Reg() as target, int(place)):
            yield from _add_constant(code, target, SP, frame.memory + place)
        case "incoming", (Reg() as target, int(place)):
            yield from _add_constant(code, target, SP, frame.end + place)
        case "spill" | "reload" as kind, (Reg() as register, int(slot)):
            yield from _with_reason(_SPILLS, _frame_access(code, kind == "spill", register, code.outgoing + 8 * slot))
        case "callr", (Reg() as target, *_):
            yield Op("jalr", (RA, 0, target), op.place)
        case "ret", _:
            yield from _with_reason(_RESTORES, _epilogue(code, frame))
            yield Op("jalr", (ZERO, 0, RA), Place(reason="returns"))
        case "unreachable", _:
            yield Op("ebreak")
        case "keep", _:
            pass
        case _:
            yield op


def _with_reason(reason: str, ops: Iterator[Op]) -> Iterator[Op]:
    return (replace(op, place=Place(reason=reason)) for op in ops)


def _move_instruction(code: Code, target: Operand, source: Operand) -> Op:
    """Register move: `fsgnj` for floats (the assembler's fmv), else `add` or `addi`."""
    assert isinstance(target, Reg)
    if target.bank == "f":
        return Op("fsgnj.d" if "d" in code.isa.extensions else "fsgnj.s", (target, source, source))
    return (
        Op("add", (target, ZERO, source))
        # `c.mv` is an `add`; outside of C, `addi` is the canonical move.
        if "c" in code.isa.extensions and source != ZERO
        else Op("addi", (target, source, 0))
    )


def _add_constant(code: Code, target: Reg, base: Reg, distance: int) -> Iterator[Op]:
    """Instructions for target = base + distance, without another register."""
    if distance in IMMEDIATE:
        yield Op("addi", (target, base, distance))
    else:
        yield from _load_constant(code, target, distance)
        yield Op("add", (target, target, base))


def _load_constant(code: Code, target: Reg, value: int) -> Iterator[Op]:
    """Instructions that make a constant in `target`."""
    builder = Builder(code.isa)
    builder.constant(value)
    return (
        Op(op.mnemonic, tuple(target if isinstance(o, Reg) and o != ZERO else o for o in op.operands))
        for op in builder.ops
    )


def _frame_access(code: Code, is_store: bool, register: Reg, offset: int) -> Iterator[Op]:
    """Store of a register to the frame, or load from it."""
    if register.bank == "f":
        # With D, whole registers: the width of the value in it is not known here, and NaN boxing must survive.
        mnemonic = ("fsd" if is_store else "fld") if "d" in code.isa.extensions else "fsw" if is_store else "flw"
    else:
        mnemonic = ("s" if is_store else "l") + ("d" if code.isa.xlen == 64 else "w")
    base = SP
    if offset not in IMMEDIATE:
        # A load may compute the address in the register that it loads; others need t6, which was kept free.
        base = FAR if register.bank == "f" or is_store else register
        yield from _add_constant(code, base, SP, offset)
        offset = 0
    yield Op(mnemonic, (register, offset, base))


def _prologue(code: Code, frame: Frame) -> Iterator[Op]:
    """Prologue: allocates the frame and saves callee-saved registers."""
    if frame.end:
        yield from _adjust_stack(code, -frame.end)
    for k, register in enumerate(saved_registers(code)):
        yield from _frame_access(code, True, register, frame.saved + 8 * k)


def _epilogue(code: Code, frame: Frame) -> Iterator[Op]:
    """Epilogue: restores callee-saved registers and frees the frame."""
    for k, register in enumerate(saved_registers(code)):
        yield from _frame_access(code, False, register, frame.saved + 8 * k)
    if frame.end:
        yield from _adjust_stack(code, frame.end)


def _adjust_stack(code: Code, distance: int) -> Iterator[Op]:
    """Adds a distance to sp, through t6 if it is large: neither arguments nor results are in t6."""
    if distance in IMMEDIATE:
        yield Op("addi", (SP, SP, distance))
    else:
        yield from _load_constant(code, FAR, distance)
        yield Op("add", (SP, SP, FAR))


def _eliminate_jumps(code: Code) -> Code:
    """Branch optimization: blocks that only jump are bypassed, jumps to the next block dropped, branches over such
    jumps inverted (Muchnick 1997, section 18.7).
    """
    onward = {
        b.name: b.ops[0].operands[0]
        for b in code.blocks
        if len(b.ops) == 1 and b.ops[0].mnemonic == "j" and b is not code.blocks[0]
    }
    blocks = _merge_tails([Block(b.name, tuple(_thread_jumps(op, onward) for op in b.ops)) for b in code.blocks])
    # Blocks that were bypassed are unreachable now.
    reached = {blocks[0].name} | {name for b in blocks for op in b.ops for name in branch_targets(op)}
    kept = [b for b in blocks if b.name in reached]
    made: list[Block] = []
    for block, following in zip(kept, [*(b.name for b in kept[1:]), ""], strict=True):
        before = {b.name for b in made} | {block.name}
        made.append(Block(block.name, _block_end(block.ops, following, before)))
    return replace(code, blocks=tuple(made))


def _merge_tails(blocks: list[Block]) -> list[Block]:
    """Tail merging for branches: those to equal blocks that return go to one of them, if possible to one that is also
    reached by a jump, and so stays anyway (Muchnick 1997, section 18.8).
    """
    jumped = {op.operands[0] for block in blocks for op in block.ops if op.mnemonic == "j"}
    ends = [b for b in blocks[1:] if b.ops and b.ops[-1].mnemonic == "jalr"]
    first: dict[tuple[Op, ...], str] = {}
    for block in sorted(ends, key=lambda block: block.name not in jumped):
        first.setdefault(block.ops, block.name)
    names = {block.name: first[block.ops] for block in ends}

    def redirect(op: Op) -> Op:
        return (
            op
            if op.mnemonic not in BRANCHES
            else replace(op, operands=(*op.operands[:-1], merged_target(op.operands[-1])))
        )

    def merged_target(target: Operand) -> Operand:
        return names.get(target, target) if isinstance(target, str) else target

    return [replace(block, ops=tuple(map(redirect, block.ops))) for block in blocks]


def _thread_jumps(op: Op, onward: dict[str, Operand]) -> Op:
    """Jump threading: targets through blocks that only jump."""

    def final_target(operand: Operand) -> Operand:
        seen: set[str] = set()
        # An endless loop of jumps leads to itself, and stays.
        while isinstance(operand, str) and operand in onward and operand not in seen:
            seen.add(operand)
            operand = onward[operand]
        return operand

    return op if op.mnemonic in NAMING else Op(op.mnemonic, tuple(final_target(o) for o in op.operands), op.place)


_INVERSE = {"beq": "bne", "bne": "beq", "blt": "bge", "bge": "blt", "bltu": "bgeu", "bgeu": "bltu"}


def _block_end(ops: tuple[Op, ...], following: str, before: set[str]) -> tuple[Op, ...]:
    """End of a block in front of the block `following`, and behind those of `before`.

    A branch and a jump change places where then the jump is dropped, or where then the branch repeats a loop and the
    jump leaves it.
    """
    if len(ops) > 1 and ops[-1].mnemonic == "j" and ops[-2].mnemonic in _INVERSE:
        branch, jump = ops[-2], ops[-1]
        onward, away = jump.operands[0], branch.operands[-1]
        # Backward branches are predicted taken by simple cores: the loop is repeated by the branch, and left by falling
        # or jumping.
        if onward != following and (away == following or (onward in before and away not in before)):
            ops = (
                *ops[:-2],
                Op(_INVERSE[branch.mnemonic], (*branch.operands[:-1], onward), branch.place),
                Op("j", (away,)),
            )
    return ops[:-1] if ops and ops[-1] == Op("j", (following,)) else ops

# SPDX-License-Identifier: Apache-2.0
"""Loop-invariant code motion of constants: what is made of the zero register alone is made before the outermost loop
around it (Muchnick 1997, section 13.2).

That is the end of the one block that enters the loop from outside. Registers are few: a limited number of constants per
loop moves, and none where the loop calls, across which fewer registers are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Final

import numpy as np

from polyloom.analysis.loops import loop_forest
from polyloom.riscv.backend.code import CALLS, ENDS, Block, Code, Op, Reg, defs_and_uses, rename_registers, successors

# Of the 27 allocatable integer registers. FEW is the fallback of compile.py where MANY would spill.
MANY, FEW = 14, 6
_MAKERS: Final = ("addi", "addiw", "lui", "slli", "fmv.w.x", "fmv.d.x", "fcvt.d.w")


def hoist_constants(code: Code, most: int = MANY) -> Code:
    """The code with constants of loops in front of them, at most `most` per loop."""
    follow = successors(code)
    edges = np.array([(k, target) for k, targets in enumerate(follow) for target in targets], np.int32).reshape(-1, 2)
    forest = loop_forest(len(code.blocks), edges)
    blocks, several, names = list(code.blocks), _multiply_defined(code), dict[Reg, Reg]()
    before = [list[int]() for _ in blocks]
    for k, targets in enumerate(follow):
        for target in targets:
            before[target].append(k)
    for number, loop in enumerate(forest.loops):
        # Outermost loops only: moving a constant out of all loops at once costs one register, not one per level.
        # Members of inner loops are members of the outer one, too.
        if loop.parent != -1:
            continue
        members = forest.members(number)
        inside = {int(k) for k in members}
        entering = {k for m in inside for k in before[m] if k not in inside}  # an irreducible loop has several
        calls = any(op.mnemonic in CALLS for k in members for op in blocks[k].ops)
        if len(entering) == 1 and not calls:
            _hoist_loop(code, blocks, members, next(iter(entering)), several, names, most)
    return replace(code, blocks=tuple(_rename_block(block, names) for block in blocks))


def _hoist_loop(
    code: Code,
    blocks: list[Block],
    members: Sequence[int],
    entering: int,
    several: set[Reg],
    names: dict[Reg, Reg],
    most: int,
) -> None:
    """Moves the constants of one loop to the end of the block `entering`. `names` gets the registers that others stand
    for, everywhere.

    A register of `several` definitions is none of them: its value differs between them.
    """
    moved: dict[Op, Reg] = {}
    parts: set[Reg] = set()  # what only other constants are made of needs no register in the loop
    for k in members:
        kept: list[Op] = []
        for op in blocks[k].ops:
            named = rename_registers(op, lambda r: _representative(r, names))
            defined, used = defs_and_uses(named, code.isa)
            # Equal constants of several blocks share a register: value numbering by mnemonic and sources.
            key = Op(named.mnemonic, named.operands[1:])
            # The sources of a constant are constants themselves: `lui` and `addi` move together or not at all.
            is_constant = (
                (op.mnemonic in _MAKERS or _loads_constant(named, moved, code.pool))
                and len(defined) == 1
                and defined[0].is_virtual
                and defined[0] not in several
            )
            if (
                is_constant
                and all(r in moved.values() for r in used)
                and (key in moved or len(moved) - len(parts) < most)
            ):
                parts.update(used)
                names[defined[0]] = moved.setdefault(key, defined[0])
            else:
                kept.append(named)
        blocks[k] = Block(blocks[k].name, tuple(kept))
    made = tuple(Op(key.mnemonic, (register, *key.operands)) for key, register in moved.items())
    before = blocks[entering].ops
    end = next(i for i, op in enumerate(before) if op.mnemonic in ENDS)
    blocks[entering] = Block(blocks[entering].name, (*before[:end], *made, *before[end:]))


def _loads_constant(op: Op, moved: Mapping[Op, Reg], pool: Set[int]) -> bool:
    """Whether this loads a number of the constant pool, where nothing is written."""
    if op.mnemonic not in ("flw", "fld", "ld"):
        return False
    _, low, base = op.operands
    upper = next(
        (key.operands[0] for key, register in moved.items() if register == base and key.mnemonic == "lui"), None
    )
    return isinstance(upper, int) and isinstance(low, int) and upper + low in pool


def _representative(register: Reg, names: Mapping[Reg, Reg]) -> Reg:
    """Register that stands for another now; chains occur, as a constant may move out of one loop into another one, and
    out of that one.
    """
    while (other := names.get(register, register)) != register:
        register = other
    return register


def _rename_block(block: Block, names: Mapping[Reg, Reg]) -> Block:
    return Block(block.name, tuple(rename_registers(op, lambda r: _representative(r, names)) for op in block.ops))


def _multiply_defined(code: Code) -> set[Reg]:
    """Registers with several definitions: variables out of SSA form."""
    seen, found = set[Reg](), set[Reg]()
    for register in _definitions(code):
        (found if register in seen else seen).add(register)
    return found


def _definitions(code: Code) -> Iterator[Reg]:
    return (r for b in code.blocks for op in b.ops for r in defs_and_uses(op, code.isa)[0])

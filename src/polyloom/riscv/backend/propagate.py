# SPDX-License-Identifier: Apache-2.0
"""Copy propagation within a block: a reader of a copy reads the copy's source, as long as that does not change
(Muchnick 1997, section 12.5).

Selection copies whatever a variable holds; where all that reads the copy stands before the variable's next value, the
copy is dead afterwards (`live.eliminate_dead_code`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from polyloom.riscv.backend.code import Block, Code, Op, Reg, defs_and_uses, is_move, rename_registers
from polyloom.riscv.backend.pairs import is_pair


def propagate_copies(code: Code) -> Code:
    """The code with sources of copies in their place; the copies stay, for dead-code elimination."""
    reads, writes = Counter[Reg](), Counter[Reg]()
    for op in (op for block in code.blocks for op in block.ops):
        defined, used = defs_and_uses(op, code.isa)
        reads.update(used)
        writes.update(defined)
    blocks = tuple(Block(block.name, tuple(_propagate_block(code, block.ops, reads, writes))) for block in code.blocks)
    return replace(code, blocks=blocks)


def _propagate_block(code: Code, ops: Sequence[Op], reads: Counter[Reg], writes: Counter[Reg]) -> list[Op]:
    """Copy propagation in one block, whose counts of reads and writes are kept up to date."""
    made = list(ops)
    # In order: a copy of a copy reads the first source then.
    for k, op in enumerate(made):
        if not is_move(op):
            continue
        target, source = op.operands
        assert isinstance(target, Reg)
        assert isinstance(source, Reg)
        # Machine registers are bound by the convention; and a target that is written twice is a variable, not a copy.
        if not (target.is_virtual and source.is_virtual and writes[target] == 1):
            continue
        found = _readers(code, made, k, target, source)
        # Some elsewhere need the copy anyway, and then only lives would grow.
        if len(found) == reads[target]:
            for at in found:
                made[at] = rename_registers(
                    made[at], lambda r, target=target, source=source: source if r == target else r
                )
            reads[source] += len(found)
            reads[target] = 0
    return made


def _readers(code: Code, ops: Sequence[Op], k: int, target: Reg, source: Reg) -> list[int]:
    """Uses of a copy's target until its source changes, a position for each."""
    found: list[int] = []
    for at in range(k + 1, len(ops)):
        defined, used = defs_and_uses(ops[at], code.isa)
        # A pair names a register several times, which must stay the same one.
        if target in used and is_pair(ops[at]):
            return []
        found += [at] * used.count(target)
        if source in defined:
            break
    return found

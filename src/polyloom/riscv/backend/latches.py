# SPDX-License-Identifier: Apache-2.0
"""Loop latches: copies on a back edge move in front of the branch that ends the loop.

Out of SSA form, a loop that is left at its end is repeated through a block of copies of its own. Where what they
overwrite is needed neither by the branch nor behind the loop, they move in front of the branch, which then repeats the
loop itself: one jump fewer per iteration (straightening, Muchnick 1997, section 18.2). Registers are known here, and
most copies are gone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from polyloom.riscv.backend.code import BRANCHES, Block, Code, Op, Reg, branch_targets, defs_and_uses, is_move
from polyloom.riscv.backend.live import live_in_sets


def straighten_latches(code: Code) -> Code:
    """The code with such copies in front of their branches."""
    position = {block.name: k for k, block in enumerate(code.blocks)}
    arrivals = Counter(name for block in code.blocks for op in block.ops for name in branch_targets(op))
    blocks = {block.name: block for block in code.blocks}
    alive = dict(zip(blocks, live_in_sets(code), strict=True))
    for block in code.blocks:
        for way in _exits(block):
            back = blocks[way]
            goes_back = (
                position[str(back.ops[-1].operands[0])] <= position[block.name] if _is_copy_block(back) else False
            )
            if goes_back and arrivals[way] == 1 and _may_move(code, block, back, alive):
                blocks[block.name] = Block(block.name, (*block.ops[:-2], *back.ops[:-1], *block.ops[-2:]))
                blocks[way] = Block(way, back.ops[-1:])
                # One of both ways at most: behind it the block's branch is another one than what was examined.
                break
    return replace(code, blocks=tuple(blocks.values()))


def _exits(block: Block) -> tuple[str, ...]:
    """Successors of a block that ends in a branch and a jump, the jump's first."""
    *_, branch, jump = (Op(""), Op(""), *block.ops)
    if branch.mnemonic not in BRANCHES or jump.mnemonic != "j":
        return ()
    return str(jump.operands[0]), str(branch.operands[-1])


def _is_copy_block(block: Block) -> bool:
    """Whether there is nothing but moves and a jump."""
    return len(block.ops) > 1 and block.ops[-1].mnemonic == "j" and all(map(is_move, block.ops[:-1]))


def _may_move(code: Code, block: Block, back: Block, alive: dict[str, set[Reg]]) -> bool:
    """Whether the copies may run before the branch: it compares none of what they write, and the other way reads none
    of it.
    """
    written = {register for op in back.ops[:-1] for register in defs_and_uses(op, code.isa)[0]}
    compared = set(defs_and_uses(block.ops[-2], code.isa)[1])
    other = next(way for way in _exits(block) if way != back.name)
    return not written & compared and not written & alive[other]

# SPDX-License-Identifier: Apache-2.0
"""Tail duplication of returns: a jump to a block that only returns becomes that return, so that each way ends where it
stands, with its result in place (the inverse of tail merging, Muchnick 1997, section 18.8).

Where returning takes more than one instruction, because of a frame, `expand` makes one of all returns again.
"""

from __future__ import annotations

from dataclasses import replace

from polyloom.ir.ssa import Block, Function, Jump, Operand, Return, Value
from polyloom.transform.ssa.function_editing import on_each_function, remove_unreachable


@on_each_function
def duplicate_returns(function: Function) -> Function:
    """The function with a return in each block that jumped to one."""
    ends = {block.name: block for block in function.blocks if _is_return_block(block)}
    return remove_unreachable(replace(function, blocks=tuple(_inline_return(block, ends) for block in function.blocks)))


def _is_return_block(block: Block) -> bool:
    return not block.instructions and isinstance(block.terminator, Return)


def _inline_return(block: Block, ends: dict[str, Block]) -> Block:
    """The block with the return of the block that it jumps to, on the arguments of that jump."""
    jump = block.terminator
    last = ends.get(jump.target.block) if isinstance(jump, Jump) else None
    if last is None or not isinstance(jump, Jump) or not isinstance(last.terminator, Return):
        return block
    # The block's parameters are those of the return alone, as it has no instructions.
    given = dict(zip(last.parameters, jump.target.arguments, strict=True))
    value: Operand | None = last.terminator.value
    found = given.get(value, value) if isinstance(value, Value) else value
    return replace(block, terminator=replace(last.terminator, value=found))

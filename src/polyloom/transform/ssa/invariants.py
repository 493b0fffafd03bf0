# SPDX-License-Identifier: Apache-2.0
"""What stays the same in a loop, computed before it; a constant distance from a pointer stays where a load holds it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from polyloom.ir.ssa import Constant, Instruction, Value
from polyloom.transform.ssa.body import Body

NEAR: Final = 1024
"""Distances that loads and stores can hold, with room for what is added to them."""
_MOVABLE: Final = ("add", "sub", "mul", "and", "or", "xor", "sext", "zext", "trunc", "offset")
"""Operations that fault nowhere and are not part of a condition; shifts by a constant too."""


def move(body: Body, members: tuple[int, ...], entry: int) -> None:
    """Of the loop with these blocks, to the end of the block that enters it."""
    defined = set(body.scope(members).defined)
    changed = True
    while changed:
        changed = False
        for k in members:
            moved = [i for i in body.blocks[k].instructions if _is_movable(i, defined)]
            # Only what depends on nothing that moves with it, so that the order of definitions stays.
            if moved:
                changed = True
                gone = {i.results[0].name for i in moved}
                kept = tuple(i for i in body.blocks[k].instructions if not (i.results and i.results[0].name in gone))
                body.blocks[k] = replace(body.blocks[k], instructions=kept)
                # Flags exclude values where the instruction stood; here it is executed more often.
                body.append(entry, *(replace(i, flags=()) for i in moved))
                defined -= gone


def _is_movable(instruction: Instruction, defined: set[str]) -> bool:
    operation, operands = instruction.operation, instruction.operands
    if operation == "offset" and isinstance(operands[1], Constant) and abs(operands[1].value) < NEAR:
        return False  # a load or a store holds it
    constant_shift = operation in ("shl", "lshr", "ashr") and isinstance(operands[1], Constant)
    return (operation in _MOVABLE or constant_shift) and not any(
        isinstance(o, Value) and o.name in defined for o in operands
    )

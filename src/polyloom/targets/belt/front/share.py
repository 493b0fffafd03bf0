# SPDX-License-Identifier: Apache-2.0
"""Loads of one address in a block, between which nothing may store there, are one load.

If-conversion brings them together: what several arms load, each for itself, is loaded once.
"""

from __future__ import annotations

from dataclasses import replace

from polyloom.targets.belt.front.order import Arrays, Meeting
from polyloom.targets.belt.front.simplify import block_with, op_with
from polyloom.targets.belt.ir import Block, Function, Loop, Op, Operand, Type

_LOADS = ("load", "loads", "loadu")


def share_loads(function: Function, arrays: Arrays) -> Function:
    meeting = Meeting(function, arrays)
    known: dict[Operand, Operand] = {}

    def operand(of: Operand) -> Operand:
        return known.get(of, of)

    blocks = [_shared(block, meeting, known) for block in function.blocks]
    return replace(function, blocks=tuple(block_with(block, operand) for block in blocks))


def _shared(block: Block | Loop, meeting: Meeting, known: dict[Operand, Operand]) -> Block | Loop:
    """The block with fewer loads; `known` gets what their results are."""
    seen: list[Op] = []
    kept: list[Op] = []
    for op in block.ops:
        found = op_with(op, lambda o: known.get(o, o))
        if found.callee or found.name == "store" or found.volatile:
            seen = [load for load in seen if not found.volatile and not meeting.may(load, found)]
        elif found.name in _LOADS:
            same = next((load for load in seen if _same(load, found)), None)
            if same is not None:
                known[found.results[0]] = same.results[0]
                continue
            seen.append(found)
        kept.append(found)
    return replace(block, ops=tuple(kept))


def _same(one: Op, other: Op) -> bool:
    what = (one.name, one.operands, one.width, one.scale, one.offset, _type(one))
    return what == (other.name, other.operands, other.width, other.scale, other.offset, _type(other))


def _type(op: Op) -> Type:
    return op.results[0].type

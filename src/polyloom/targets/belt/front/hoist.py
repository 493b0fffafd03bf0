# SPDX-License-Identifier: Apache-2.0
"""What a loop computes of values from outside alone moves before it: loads too, where no store of the loop may meet
them, because a load that nobody asked for does no harm here."""

from __future__ import annotations

from dataclasses import replace

from polyloom.targets.belt.front.order import Arrays, Meeting
from polyloom.targets.belt.front.simplify import pure
from polyloom.targets.belt.ir import Block, Function, Loop, Op, Value
from polyloom.targets.belt.ir_verify import edges

_LOADS = ("load", "loads", "loadu")


def hoist(function: Function, arrays: Arrays) -> Function:
    meeting = Meeting(function, arrays)
    moved: dict[str, tuple[Op, ...]] = {}
    kept: dict[str, Loop] = {}
    for loop in (b for b in function.blocks if isinstance(b, Loop)):
        outside = _invariant(loop, meeting)
        if outside:
            moved[before(function, loop).name] = outside
            kept[loop.name] = replace(loop, ops=tuple(op for op in loop.ops if op not in outside))
    blocks: list[Block | Loop] = []
    for block in function.blocks:
        if isinstance(block, Loop):
            blocks.append(kept.get(block.name, block))
        else:
            blocks.append(replace(block, ops=(*block.ops, *moved.get(block.name, ()))))
    return replace(function, blocks=tuple(blocks))


def before(function: Function, loop: Loop) -> Block:
    """The block that alone jumps into the loop."""
    return next(b for b in function.blocks if isinstance(b, Block) and any(e.target == loop.name for e in edges(b)))


def _invariant(loop: Loop, meeting: Meeting) -> tuple[Op, ...]:
    own = {p.name for p in loop.parameters} | {r.name for op in loop.ops for r in op.results}
    effects = [op for op in loop.ops if op.name == "store" or op.callee]
    found: list[Op] = []
    for op in loop.ops:
        computes = pure(op) and not (op.name == "pick" and len(op.operands) == 2)
        loads = op.name in _LOADS and not op.volatile and not any(meeting.may(op, other) for other in effects)
        if (computes or loads) and not any(isinstance(o, Value) and o.name in own for o in op.operands):
            found.append(op)
            own -= {r.name for r in op.results}
    return tuple(found)

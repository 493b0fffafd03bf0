# SPDX-License-Identifier: Apache-2.0
"""Operation fusion: additions fused with the product or the shift that they alone use, on members that fuse integers.

Of two candidates the one that depends on a recurrence is fused: the circuit is then one operation shorter.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from polyloom.targets.belt.map.select.dead_code import eliminate_dead_code
from polyloom.targets.belt.source.ir import Block, Constant, Function, Loop, Op, Operand, Value
from polyloom.targets.belt.source.ir_verify import end_operands, flow_edges, used_operands

_FUSED: Final = {"mul": "muladd", "shl": "shladd", "shrs": "shrsadd"}


def fuse_additions(function: Function) -> Function:
    """Fuse multiply-add and shift-add in a function (as Hexagon's packets have them, docs/targets/belt.md, Members);
    dead code is removed before, so that each use is a real one, and after, which takes the fused products away."""
    function = eliminate_dead_code(function)
    return eliminate_dead_code(replace(function, blocks=tuple(_fuse_block(block) for block in function.blocks)))


def _fuse_block(block: Block | Loop) -> Block | Loop:
    """Block with additions fused into the products and shifts that they alone use."""
    counted: dict[Value, int] = {}
    arguments = () if isinstance(block, Loop) else (a for edge in flow_edges(block) for a in edge.arguments)
    for operand in (*(o for op in block.ops for o in used_operands(op)), *end_operands(block), *arguments):
        if isinstance(operand, Value):
            counted[operand] = counted.get(operand, 0) + 1
    made = {op.results[0]: op for op in block.ops if len(op.results) == 1}
    recurrent = _recurrent_values(block)
    ops: list[Op] = []
    for op in block.ops:
        found = op
        if op.name in ("add", "or", "xor") and op.results[0].type.lanes == 1:
            # False sorts first: the operand on a recurrence is tried before the other one.
            places = sorted((0, 1), key=lambda k: op.operands[k] not in recurrent)
            for k in places:
                source = made.get(operand) if isinstance(operand := op.operands[k], Value) else None
                if (
                    source is not None
                    and _is_fusible(op, source, op.operands[1 - k])
                    # A product that something else reads is computed anyway: fusing it would save nothing.
                    and counted.get(source.results[0], 0) == 1
                ):
                    found = _fuse_pair(op, source, op.operands[1 - k])
                    break
        ops.append(found)
    return replace(block, ops=tuple(ops))


def _is_fusible(op: Op, source: Op, other: Operand) -> bool:
    """Whether the two are one operation. Bits below those of a shift are added, so `or` and `xor` are additions
    there."""
    if op.name != "add":
        return source.name == "shl" and _fits_below_shift(other, source.operands[1])
    return source.name == "mul" or (source.name in ("shl", "shrs") and isinstance(source.operands[1], Constant))


def _fits_below_shift(operand: Operand, shift: Operand) -> bool:
    return isinstance(operand, Constant) and isinstance(shift, Constant) and operand.bits >> shift.bits == 0


def _fuse_pair(op: Op, source: Op, other: Operand) -> Op:
    first, second = source.operands
    operands = (first, second, other) if source.name == "mul" else (first, other, second)
    return replace(op, name=_FUSED[source.name], operands=operands)


def _recurrent_values(block: Block | Loop) -> set[object]:
    """Values that depend on a parameter of the loop that is no counter."""
    if isinstance(block, Block):
        return set()
    made = {r: op for op in block.ops for r in op.results}
    found: set[object] = set()
    for parameter, following in zip(block.parameters, block.next, strict=True):
        source = made.get(following) if isinstance(following, Value) else None
        # A counter's circuit is one addition, whatever is fused.
        counts = source is not None and source.name == "add" and isinstance(source.operands[1], Constant)
        if not counts:
            found.add(parameter)
    for op in block.ops:
        if any(o in found for o in op.operands):
            found |= set(op.results)
    return found

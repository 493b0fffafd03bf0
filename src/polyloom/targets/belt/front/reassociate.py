# SPDX-License-Identifier: Apache-2.0
"""Sums that a loop carries get what they carry last: s + a + b is s + (a + b), whose circuit is one addition long.

So do products and logical operations on integers, of which the order does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from polyloom.targets.belt.front.simplify import op_with
from polyloom.targets.belt.ir import Function, Loop, Op, Operand, Value
from polyloom.targets.belt.ir_verify import uses

_FREE: Final = ("add", "mul", "and", "or", "xor")
Fresh = Callable[[str], str]


def reassociate(function: Function, fresh: Fresh) -> Function:
    blocks = tuple(_loop(b, fresh) if isinstance(b, Loop) else b for b in function.blocks)
    return replace(function, blocks=blocks)


def _loop(loop: Loop, fresh: Fresh) -> Loop:
    for parameter, following in zip(loop.parameters, loop.next, strict=True):
        made = {r: op for op in loop.ops for r in op.results}
        last = made.get(following) if isinstance(following, Value) else None
        if last is None or last.name not in _FREE or parameter in last.operands:
            continue
        chain = _chain(loop, last, made)
        leaves = [o for op in chain for o in op.operands if not any(o in other.results for other in chain)]
        if leaves.count(parameter) == 1:
            loop = _rebuilt(loop, last, chain, [o for o in leaves if o != parameter], parameter, fresh)
    return loop


def _chain(loop: Loop, last: Op, made: dict[Value, Op]) -> list[Op]:
    """The operation, and those of its name that it alone uses, and that these do."""
    read: dict[Operand, int] = {}
    for operand in (*(o for op in loop.ops for o in uses(op)), *loop.next):
        read[operand] = read.get(operand, 0) + 1
    found, work = list[Op](), [last]
    while work:
        op = work.pop()
        found.append(op)
        for operand in op.operands:
            source = made.get(operand) if isinstance(operand, Value) else None
            if source is not None and source.name == last.name and read[operand] == 1:
                work.append(source)
    return found


def _rebuilt(loop: Loop, last: Op, chain: list[Op], leaves: list[Operand], parameter: Value, fresh: Fresh) -> Loop:
    ops: list[Op] = []
    for op in loop.ops:
        if op is not last:
            if not any(op is other for other in chain):
                ops.append(op)
            continue
        total = leaves[0]
        for leaf in leaves[1:]:
            result = Value(fresh(last.results[0].name), last.results[0].type)
            ops.append(Op(last.name, (total, leaf), (result,), place=last.place))
            total = result
        ops.append(op_with(replace(last, operands=(total, parameter)), lambda o: o))
    return replace(loop, ops=tuple(ops))

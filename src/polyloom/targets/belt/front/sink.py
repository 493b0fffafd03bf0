# SPDX-License-Identifier: Apache-2.0
"""What a loop computes only for behind it is computed there: of the operands that leave in its place.

An operation moves where nothing but arguments of leaves reads its result, and at most one of its operands varies, so
that no list of results grows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polyloom.targets.belt.front.simplify import pure
from polyloom.targets.belt.ir import Block, Edge, Function, Loop, Op, Operand, Value
from polyloom.targets.belt.ir_verify import edges

Fresh = Callable[[str], str]


def sink(function: Function, fresh: Fresh) -> Function:
    for loop in [b for b in function.blocks if isinstance(b, Loop)]:
        while True:
            current = next(b for b in function.blocks if b.name == loop.name)
            assert isinstance(current, Loop)
            moved = _one(function, current, fresh)
            if moved is None:
                break
            function = moved
    return function


def _one(function: Function, loop: Loop, fresh: Fresh) -> Function | None:
    arrivals: dict[str, int] = {}
    for block in function.blocks:
        for edge in edges(block):
            arrivals[edge.target] = arrivals.get(edge.target, 0) + 1
    inside = {o for op in loop.ops for o in op.operands} | set(loop.next)
    leaving = {a for op in loop.ops if op.edge is not None for a in op.edge.arguments}
    landings = [op.edge.target for op in loop.ops if op.edge is not None]
    own = {p.name for p in loop.parameters} | {r.name for op in loop.ops for r in op.results}
    for op in reversed(loop.ops):
        if not pure(op) or len(op.results) != 1 or op.results[0] in inside or op.results[0] not in leaving:
            continue
        varying = {o for o in op.operands if isinstance(o, Value) and o.name in own}
        if len(varying) <= 1 and all(arrivals[name] == 1 for name in landings):
            return _moved(function, loop, op, varying, fresh)
    return None


def _moved(function: Function, loop: Loop, op: Op, varying: set[Value], fresh: Fresh) -> Function:
    blocks = {block.name: block for block in function.blocks}
    ops: list[Op] = []
    for other in loop.ops:
        if other is op:
            continue
        if other.edge is None or op.results[0] not in other.edge.arguments:
            ops.append(other)
            continue
        landing = blocks[other.edge.target]
        assert isinstance(landing, Block)
        arguments, changed = _landed(landing, other.edge.arguments, op, varying, fresh)
        blocks[landing.name] = changed
        ops.append(replace(other, edge=Edge(landing.name, arguments)))
    blocks[loop.name] = replace(loop, ops=tuple(ops))
    return replace(function, blocks=tuple(blocks[block.name] for block in function.blocks))


def _landed(
    landing: Block, arguments: tuple[Operand, ...], op: Op, varying: set[Value], fresh: Fresh
) -> tuple[tuple[Operand, ...], Block]:
    """The landing that computes it; its parameters for it become results of the operation there."""
    kept: list[tuple[Value, Operand]] = []
    made: list[Op] = []
    given: dict[Operand, Operand] = {}
    for value in varying:
        known = next((p for p, a in zip(landing.parameters, arguments, strict=True) if a == value), None)
        given[value] = known if known is not None else Value(fresh(value.name), value.type)
    for parameter, argument in zip(landing.parameters, arguments, strict=True):
        if argument == op.results[0]:
            made.append(replace(op, operands=tuple(given.get(o, o) for o in op.operands), results=(parameter,)))
        else:
            kept.append((parameter, argument))
    for value, parameter in given.items():
        if isinstance(parameter, Value) and parameter not in [p for p, _ in kept]:
            kept.append((parameter, value))
    changed = replace(landing, parameters=tuple(p for p, _ in kept), ops=(*made, *landing.ops))
    return tuple(a for _, a in kept), changed

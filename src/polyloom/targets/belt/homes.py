# SPDX-License-Identifier: Apache-2.0
"""Bytes of scratch for values that are at home there: two that no block needs together share theirs.

A home is needed in the block that gives the value and in all in which it lives; that of a parameter that passes through
scratch, in the blocks that jump to its own, too.
"""

from __future__ import annotations

from collections.abc import Mapping

from polyloom.targets.belt.block_code import Plan, aliases, incoming
from polyloom.targets.belt.emit import loop_constants
from polyloom.targets.belt.ir import BYTES, Block, Type, Value
from polyloom.targets.belt.normal import edges, predecessors
from polyloom.targets.belt.pipeline import Pipelined


def homes(plan: Plan, loops: Mapping[str, Pipelined]) -> tuple[dict[str, int], int]:
    """The first byte of each home, by the value's name, and the bytes of all, rounded to 8."""
    needed = _needed(plan, loops)
    offsets: dict[str, int] = {}
    rooms: list[tuple[int, int, set[str]]] = []
    end = 0
    for value in sorted(needed, key=lambda v: (-BYTES[v.type.width], -v.type.lanes, v.name)):
        size, blocks = _bytes(value.type), needed[value]
        room = next((r for r in rooms if r[1] >= size and not r[2] & blocks), None)
        if room is None:
            room = (end, size, set[str]())
            rooms.append(room)
            end += size
        room[2].update(blocks)
        offsets[value.name] = room[0]
    return offsets, -(-end // 8) * 8


def _bytes(type: Type) -> int:
    return BYTES[type.width] * type.lanes


def _needed(plan: Plan, loops: Mapping[str, Pipelined]) -> dict[Value, set[str]]:
    """Values at home, and the blocks that need them there."""
    found: dict[Value, set[str]] = {}
    into = predecessors(plan.function)
    constants = aliases(plan.function)
    used = {o.name for o in plan.used if isinstance(o, Value)} | plan.homed
    used |= {n.home.name for f in loops.values() for n in f.belt.graph.nodes if n.home is not None}
    for block in plan.function.blocks:
        if isinstance(block, Block):
            for value in (*block.parameters, *(v for op in block.ops for v in op.results)):
                if plan.is_homed(value) and value.name not in constants and value.name in used:
                    found[value] = {block.name}
            for parameter in block.parameters:
                if parameter.name in plan.carried:
                    found[incoming(parameter)] = {block.name, *into[block.name]}
    for block in plan.function.blocks:
        for value in plan.live[block.name]:
            if value in found:
                found[value].add(block.name)
    for block in plan.function.blocks:
        for edge in edges(block):
            if edge.target in loops:
                for value, _ in loop_constants(loops[edge.target]):
                    found.setdefault(value, set()).update((block.name, edge.target))
    return found

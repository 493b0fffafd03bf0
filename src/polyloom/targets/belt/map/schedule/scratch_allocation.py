# SPDX-License-Identifier: Apache-2.0
"""Scratch allocation: bytes for values that are at home there; two that are never needed together share theirs
(interference, Chaitin 1982).

A home is needed in the block that gives the value and in all in which it lives; that of a parameter that passes through
scratch, in the blocks that jump to its own, too. In the schedule of a block it is needed from its spill to its last
fill; from the beginning, where the value lives as the block is entered, and to the end, where it lives behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from polyloom.targets.belt.map.schedule.block_code import Plan, constant_names, parameter_home
from polyloom.targets.belt.map.schedule.emit import home_constants
from polyloom.targets.belt.map.schedule.normalize_loops import edges, predecessors
from polyloom.targets.belt.map.schedule.open_code import Linear
from polyloom.targets.belt.map.schedule.pipeline import Pipelined
from polyloom.targets.belt.source.ir import Block, Value
from polyloom.targets.belt.value_types import BYTES, Type

_BEGIN: Final = -1
_END: Final = 1 << 60
Span = tuple[int, int]
"""Bundles of a block, from a spill to a last fill. A fill reads before the spills of its bundle."""
_WHOLE: Final[Span] = (_BEGIN, _END)


def allocate_scratch(
    plan: Plan, loops: Mapping[str, Pipelined], placed: Mapping[str, Linear]
) -> tuple[dict[str, int], int]:
    """Allocate scratch: the first byte of each home, by the value's name, and the bytes of all, rounded to 8; in blocks
    that are not placed yet, a home is needed throughout."""
    behind, moves = _live_behind(plan, loops), {name: _home_moves(linear) for name, linear in placed.items()}
    needed = {
        value: {
            b: _block_spans(moves[b], value, value in behind[b]) if b in placed else (_WHOLE,) for b in sorted(blocks)
        }
        for value, blocks in needed_blocks(plan, loops).items()
    }
    offsets: dict[Value, int] = {}
    # Widest and longest-lived first; names last, so that the result does not depend on a dictionary's order.
    for value in sorted(needed, key=lambda v: (-_bytes(v.type), -len(needed[v]), sorted(needed[v].items()), v.name)):
        size, at = _bytes(value.type), 0
        # First fit below and between the homes that this one meets.
        for offset, other in sorted(
            (offsets[o], _bytes(o.type)) for o in offsets if _interferes(needed[o], needed[value])
        ):
            if offset < at + size:
                at = max(at, -(-(offset + other) // size) * size)
        offsets[value] = at
    end = max((at + _bytes(v.type) for v, at in offsets.items()), default=0)
    return {v.name: at for v, at in offsets.items()}, -(-end // 8) * 8


def _bytes(type: Type) -> int:
    return BYTES[type.width] * type.lanes


def _interferes(one: Mapping[str, tuple[Span, ...]], other: Mapping[str, tuple[Span, ...]]) -> bool:
    """Interference: whether there is a bundle in which both are needed."""
    return any(a < d and c < b for block in one if block in other for a, b in one[block] for c, d in other[block])


def _live_behind(plan: Plan, loops: Mapping[str, Pipelined]) -> dict[str, set[Value]]:
    """Live values behind each block, by its name: what a block that it goes to needs as it begins."""
    entered = {block.name: set(plan.live[block.name]) for block in plan.function.blocks}
    for block in plan.function.blocks:
        entered[block.name].update(parameter_home(p) for p in block.parameters if p.name in plan.carried)
        if block.name in loops:
            entered[block.name].update(_filled_values(loops[block.name]))
    return {b.name: set[Value]().union(*(entered[e.target] for e in edges(b))) for b in plan.function.blocks}


def _filled_values(loop: Pipelined) -> frozenset[Value]:
    """Values that the loop fills from homes: those from outside, and constants."""
    return frozenset(node.home for node in loop.belt.graph.nodes if node.home is not None)


def _home_moves(linear: Linear) -> dict[Value, list[tuple[str, int]]]:
    """Spills and fills of each home in a block's schedule, with their bundles."""
    found = dict[Value, list[tuple[str, int]]]()
    for n, node in enumerate(linear.graph.nodes):
        if node.home is not None:
            found.setdefault(node.home, []).append((node.name, linear.placed.start[n]))
    return found


def _block_spans(moves: Mapping[Value, list[tuple[str, int]]], value: Value, behind: bool) -> tuple[Span, ...]:
    """Live spans in a block's schedule; `behind`: what comes after the block needs the value. A parameter that passes
    through scratch may be put there for the block's next entry."""
    at = moves.get(value, [])
    fills = [t for name, t in at if name == "fillx"]
    spill = min((t for name, t in at if name == "spillx"), default=_BEGIN)
    # Fills up to the spill read the old value, so the home is free between them and the spill.
    before = max((t for t in fills if t <= spill), default=_BEGIN)
    end = _END if behind else max([spill + 1, *fills])
    return ((_BEGIN, before), (spill, end)) if before > _BEGIN else ((spill, end),)


def needed_blocks(plan: Plan, loops: Mapping[str, Pipelined]) -> dict[Value, set[str]]:
    """Values at home, and the blocks that need them there."""
    found: dict[Value, set[str]] = {}
    into = predecessors(plan.function)
    constants = constant_names(plan.function)
    used = {o.name for o in plan.used if isinstance(o, Value)} | plan.homed
    used |= {n.home.name for f in loops.values() for n in f.belt.graph.nodes if n.home is not None}
    for block in plan.function.blocks:
        if isinstance(block, Block):
            for value in (*block.parameters, *(v for op in block.ops for v in op.results)):
                if plan.has_home(value) and value.name not in constants and value.name in used:
                    found[value] = {block.name}
            for parameter in block.parameters:
                if parameter.name in plan.carried:
                    found[parameter_home(parameter)] = {block.name, *into[block.name]}
    for name, values in plan.local.items():
        for value in values:
            found.setdefault(value, set()).add(name)
    for block in plan.function.blocks:
        inside = _filled_values(loops[block.name]) if block.name in loops else ()
        for value in (*plan.live[block.name], *inside):
            if value in found:
                found[value].add(block.name)
    for block in plan.function.blocks:
        # A loop's constants are spilled by the block before it: both need their homes.
        for edge in edges(block):
            if edge.target in loops:
                for value, _ in home_constants(loops[edge.target]):
                    found.setdefault(value, set()).update((block.name, edge.target))
    return found

# SPDX-License-Identifier: Apache-2.0
"""Memory dependences that a schedule keeps: those of the accesses in SSA form, from which operations come.

Volatile accesses stay in the order of the program, in loops that are not pipelined.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from polyloom.analysis.memory_dependences import memory_dependences
from polyloom.analysis.points_to import Effect, PointsTo, call_effects
from polyloom.analysis.superblocks import superblocks
from polyloom.ir import ssa
from polyloom.targets.belt.source.ir import Function, Loop, Module, Order


@dataclass(frozen=True, slots=True)
class Origin:
    """SSA function from which operations were made, and what its pointers point to."""

    function: ssa.Function
    points_to: PointsTo


def order_memory(module: Module, origins: Mapping[str, Origin]) -> Module:
    """Module with the memory order of all blocks and loops; `origins` by function where it comes from."""
    effects = call_effects(origins[module.functions[0].name].function)
    return replace(module, functions=tuple(_order_function(f, origins[f.name], effects) for f in module.functions))


def _order_function(function: Function, origin: Origin, effects: Mapping[str, Effect]) -> Function:
    """Function with the memory dependences of its blocks and loops (docs/targets/belt.md, Time)."""
    loops = {loop.name: loop for loop in superblocks(origin.function)}
    blocks = list(function.blocks)
    for k, block in enumerate(blocks):
        accesses = [(n, op.memory) for n, op in enumerate(block.ops) if op.memory is not None]
        line = [memory for _, memory in accesses]
        loop = loops[block.name] if isinstance(block, Loop) else None
        found = tuple(
            # Dependences count accesses; `order` counts all operations of the block.
            Order(accesses[d.source][0], accesses[d.sink][0], d.distance)
            for d in memory_dependences(origin.function, line, loop, origin.points_to, effects)
        )
        blocks[k] = replace(block, order=found)
        # Pipelining overlaps iterations: volatile accesses of two would interleave.
        if isinstance(block, Loop) and any(op.volatile for op in block.ops):
            blocks[k] = replace(block, order=found, reason=block.reason or "volatile access")
    return replace(function, blocks=tuple(blocks))

# SPDX-License-Identifier: Apache-2.0
"""Memory dependences that a schedule keeps: those of the accesses in SSA form, from which operations come.

Volatile accesses stay in the order of the program, in loops that are not pipelined.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from polyloom.analysis.aliases import Aliases
from polyloom.analysis.effects import MemoryEffect, call_effects
from polyloom.analysis.memory_dependences import memory_dependences
from polyloom.analysis.superblocks import superblocks
from polyloom.targets.belt.source.ir import Function, Loop, Module, Order


def order_memory(module: Module, origins: Mapping[str, Aliases]) -> Module:
    """Module with the memory order of all blocks and loops; `origins`: by function, the aliases of the SSA form from
    which it was made."""
    effects = call_effects(origins[module.functions[0].name].function)
    return replace(module, functions=tuple(_order_function(f, origins[f.name], effects) for f in module.functions))


def _order_function(function: Function, origin: Aliases, effects: Mapping[str, MemoryEffect]) -> Function:
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
            for d in memory_dependences(line, loop, origin, effects)
        )
        blocks[k] = replace(block, order=found)
        # Pipelining overlaps iterations: volatile accesses of two would interleave.
        if isinstance(block, Loop) and any(op.volatile for op in block.ops):
            blocks[k] = replace(block, order=found, reason=block.reason or "volatile access")
    return replace(function, blocks=tuple(blocks))

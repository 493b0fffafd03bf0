# SPDX-License-Identifier: Apache-2.0
"""Switches as chains of comparisons, for targets without jump tables; branches to what is never reached as jumps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polyloom.ir.ssa import (
    Block,
    Branch,
    Edge,
    Function,
    Instruction,
    Jump,
    Switch,
    Unreachable,
    Value,
    integer_constant,
    successor_edges,
)
from polyloom.ir.ssa_types import I1
from polyloom.transform.ssa.function_editing import names, on_each_function, remove_unreachable

Fresh = Callable[[str], str]


@on_each_function
def lower_switches(function: Function) -> Function:
    """Switch lowering to a chain of comparisons (Sayle, "A superoptimizer analysis of multiway branch code generation",
    2008, has the alternatives): one branch per case; branches to what is never reached as jumps.
    """
    fresh = names(function)
    done = [made for block in function.blocks for made in _chain(block, fresh)]
    return _remove_unreachable_edges(remove_unreachable(replace(function, blocks=tuple(done))))


def _chain(block: Block, fresh: Fresh) -> list[Block]:
    """The block, and one for each further case."""
    end = block.terminator
    if not isinstance(end, Switch):
        return [block]
    if not end.cases:
        return [replace(block, terminator=Jump(end.default, end.place))]
    others = [fresh("case") for _ in end.cases[1:]]
    made: list[Block] = []
    for k, (case, edge) in enumerate(end.cases):
        equal = Value(fresh("is"), I1)
        test = Instruction("eq", (end.value, integer_constant(end.value.type, case)), (equal,), place=end.place)
        orelse = Edge(others[k]) if k < len(others) else end.default
        base = replace(block) if k == 0 else Block(others[k - 1], (), (), end)
        branch = Branch(equal, edge, orelse, end.place)
        made.append(replace(base, instructions=(*base.instructions, test), terminator=branch))
    return made


def _remove_unreachable_edges(function: Function) -> Function:
    """Where a block that is never reached is one way, the other is taken."""
    never = {b.name for b in function.blocks if isinstance(b.terminator, Unreachable) and not b.instructions}

    def end(block: Block) -> Block:
        if not isinstance(branch := block.terminator, Branch):
            return block
        ways = [edge for edge in successor_edges(branch) if edge.block not in never]
        # Reaching it is undefined behaviour, so that the other way may be taken for granted.
        return replace(block, terminator=Jump(ways[0], branch.place)) if len(ways) == 1 else block

    return remove_unreachable(replace(function, blocks=tuple(map(end, function.blocks))))

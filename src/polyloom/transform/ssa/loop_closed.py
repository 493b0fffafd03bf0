# SPDX-License-Identifier: Apache-2.0
"""Loop-closed SSA form of superblock loops: values leave a loop as arguments of its side exits alone, each of which
has a block of its own behind it (Z. Dvořák; the loop-closed form of GCC and LLVM).

A value that is used behind the loop is stored at each exit into a variable of its own and loaded where it is used;
`transform.ssa.construct` then finds the parameters that blocks behind the loop need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polyloom.analysis.superblocks import SideExit, Superblock, superblock, superblocks, with_superblock
from polyloom.ir.ssa import (
    Access,
    Block,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Value,
    integer_constant,
)
from polyloom.ir.ssa_types import I32, PTR
from polyloom.ir.ssa_verify import definitions, uses
from polyloom.transform.ssa.construct import construct
from polyloom.transform.ssa.function_editing import names, on_each_function, with_operands
from polyloom.transform.ssa.preheaders import with_preheaders

Fresh = Callable[[str], str]


@on_each_function
def close_loops(function: Function) -> Function:
    """Loop-closed SSA form (GCC internals manual, section on loop-closed SSA): the function in that form, with one
    block before each loop that alone jumps into it.
    """
    function = with_preheaders(function)
    fresh = names(function)
    for name in [loop.name for loop in superblocks(function)]:
        function = _with_exit_blocks(function, superblock(function, name), fresh)
    return construct(function)


def _with_exit_blocks(function: Function, loop: Superblock, fresh: Fresh) -> Function:
    own = {v.name: v for b in function.blocks if b.name in loop.blocks for v in definitions(b)}
    used = [name for name in _outer(function, loop) if name in own]
    slots = {name: Value(fresh(f"{name}.out"), PTR) for name in dict.fromkeys(used)}
    position = {r.name: k for k, i in enumerate(loop.instructions) for r in i.results}
    landings: list[Block] = []
    exits: list[SideExit] = []
    for e in loop.exits:
        # Only what is defined before the exit has a value there.
        leaving = [name for name in slots if position.get(name, -1) < e.position]
        given = dict.fromkeys([*leaving, *(a.name for a in e.edge.arguments if isinstance(a, Value) and a.name in own)])
        copies = {name: Value(fresh(name), own[name].type) for name in given}
        stores = (Instruction("store", (copies[name], slots[name]), access=Access(1)) for name in leaving)
        onward = tuple(copies.get(a.name, a) if isinstance(a, Value) else a for a in e.edge.arguments)
        landing = Block(fresh("exit"), tuple(copies.values()), tuple(stores), Jump(Edge(e.edge.block, onward), e.place))
        landings.append(landing)
        exits.append(replace(e, edge=Edge(landing.name, tuple(own[name] for name in given))))
    function = with_superblock(function, replace(loop, exits=tuple(exits)), fresh)
    blocks = [b if b.name in loop.blocks else _with_loads(b, slots, own, fresh) for b in function.blocks]
    allocas = tuple(
        Instruction("alloca", (integer_constant(I32, 8),), (slot,), access=Access(8)) for slot in slots.values()
    )
    blocks[0] = replace(blocks[0], instructions=(*allocas, *blocks[0].instructions))
    return replace(function, blocks=(*blocks, *landings))


def _outer(function: Function, loop: Superblock) -> list[str]:
    """Names of values that are used outside of the loop."""
    outer = (block for block in function.blocks if block.name not in loop.blocks)
    return [o.name for block in outer for _, group in uses(block) for o in group if isinstance(o, Value)]


def _with_loads(block: Block, slots: dict[str, Value], own: dict[str, Value], fresh: Fresh) -> Block:
    """What is used of the loop is loaded at the block's head."""
    used = {o.name for _, group in uses(block) for o in group if isinstance(o, Value) and o.name in slots}
    copies = {name: Value(fresh(name), own[name].type) for name in sorted(used)}
    loads = tuple(Instruction("load", (slots[name],), (copy,), access=Access(1)) for name, copy in copies.items())

    def operand(of: Operand) -> Operand:
        return copies.get(of.name, of) if isinstance(of, Value) else of

    changed = with_operands(block, operand)
    return replace(changed, instructions=(*loads, *changed.instructions))

# SPDX-License-Identifier: Apache-2.0
"""Copies of blocks, and the repair of SSA form where a value then has several definitions.

Repair is by variables in memory (reg2mem): each definition stores to its variable, each block that reads the value
loads it, and `construct` makes values of them again, with parameters where definitions meet (Cytron et al., 1991).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from polyloom.ir.ssa import Access, Block, Edge, Function, Instruction, Operand, Value, integer_constant, replace_edges
from polyloom.ir.ssa_types import PTR, Type, memory_size
from polyloom.ir.ssa_verify import definitions
from polyloom.transform.ssa.construct import construct
from polyloom.transform.ssa.function_editing import names, with_operands


def copy_blocks(
    blocks: Sequence[Block], fresh: Callable[[str], str]
) -> tuple[list[Block], dict[str, str], dict[str, Value]]:
    """Copies whose blocks and values have new names, and those names by the old ones. Edges among the blocks lead to
    the copies; other edges and operands stay."""
    named = {block.name: fresh(block.name) for block in blocks}
    values = {v.name: Value(fresh(v.name), v.type) for block in blocks for v in definitions(block)}

    def operand(old: Operand) -> Operand:
        return values.get(old.name, old) if isinstance(old, Value) else old

    def edge(old: Edge) -> Edge:
        return Edge(named.get(old.block, old.block), tuple(map(operand, old.arguments)))

    made: list[Block] = []
    for block in blocks:
        instructions = tuple(
            replace(i, operands=tuple(map(operand, i.operands)), results=tuple(values[r.name] for r in i.results))
            for i in block.instructions
        )
        parameters = tuple(values[p.name] for p in block.parameters)
        made.append(Block(named[block.name], parameters, instructions, replace_edges(block.terminator, operand, edge)))
    return made, named, values


def read_elsewhere(blocks: Sequence[Block], inside: Callable[[str], bool]) -> frozenset[str]:
    """The names of the values that blocks which are not inside read."""
    found: set[str] = set()

    def operand(old: Operand) -> Operand:
        if isinstance(old, Value):
            found.add(old.name)
        return old

    for block in blocks:
        if not inside(block.name):
            with_operands(block, operand)
    return frozenset(found)


def repair(function: Function, copies: Mapping[str, Sequence[Value]]) -> Function:
    """SSA repair by variables in memory (reg2mem, then Cytron et al. 1991): the function in SSA form again, where by
    the name of a value others are definitions of it, too; what reads the value gets the one that was defined last.
    """
    if not copies:
        return function
    fresh = names(function)
    variables = {name: fresh("kept") for name in copies}
    stored = {**{c.name: variables[name] for name, group in copies.items() for c in group}, **variables}
    types = {v.name: v.type for block in function.blocks for v in definitions(block)}
    blocks = [_with_memory_accesses(block, stored, variables, fresh) for block in function.blocks]
    reserved = tuple(_stack_slot(function, variables[name], types[name]) for name in copies)
    # At the entry, where the allocas dominate all uses.
    blocks[0] = replace(blocks[0], instructions=(*reserved, *blocks[0].instructions))
    return construct(replace(function, blocks=tuple(blocks)))


def _stack_slot(function: Function, name: str, type: Type) -> Instruction:
    size = integer_constant(function.address, memory_size(type, function.pointers))
    return Instruction("alloca", (size,), (Value(name, PTR),), access=Access())


def _with_memory_accesses(
    block: Block, stored: Mapping[str, str], loaded: Mapping[str, str], fresh: Callable[[str], str]
) -> Block:
    own = {v.name for v in definitions(block)}
    loads: dict[str, Instruction] = {}

    def operand(old: Operand) -> Operand:
        # What the block defines itself is the latest definition there.
        if not isinstance(old, Value) or old.name not in loaded or old.name in own:
            return old
        if old.name not in loads:
            result = Value(fresh(old.name), old.type)
            loads[old.name] = Instruction("load", (Value(loaded[old.name], PTR),), (result,), access=Access())
        return loads[old.name].results[0]

    changed = with_operands(block, operand)
    return replace(changed, instructions=(*loads.values(), *_with_stores(changed, stored)))


def _with_stores(block: Block, stored: Mapping[str, str]) -> Iterator[Instruction]:
    def stores(values: Sequence[Value]) -> Iterator[Instruction]:
        for value in values:
            if value.name in stored:
                yield Instruction("store", (value, Value(stored[value.name], PTR)), access=Access())

    yield from stores(block.parameters)
    for instruction in block.instructions:
        yield instruction
        yield from stores(instruction.results)

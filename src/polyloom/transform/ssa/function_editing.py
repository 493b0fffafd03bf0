# SPDX-License-Identifier: Apache-2.0
"""What passes over `ir.ssa` share: new names, operands replaced everywhere, reached blocks, and a working copy of the
blocks.

The working copy is mutable: blocks by name, the number of edges to each, and parameters that turned out to be one
operand, which are replaced once at the end. A pass so takes time in proportion to the function, however many blocks it
changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import wraps
from itertools import count
from typing import Concatenate, ParamSpec

from polyloom.ir.ssa import Block, Edge, Function, Jump, Operand, Value, replace_edges, successor_edges
from polyloom.ir.ssa_verify import definitions

P = ParamSpec("P")


def on_each_function(
    change: Callable[Concatenate[Function, P], Function],
) -> Callable[Concatenate[Function, P], Function]:
    """The change of a function, made to those that it calls, too. Each sees the external functions. What changes
    nothing gives the function itself, which is not verified again."""

    @wraps(change)
    def apply(function: Function, *args: P.args, **options: P.kwargs) -> Function:
        seen = [replace(other, externals=function.externals) for other in function.others]
        others = tuple([replace(change(other, *args, **options), externals=()) for other in seen])
        made = replace(change(function, *args, **options), others=others)
        # Compared fast: equal parts are mostly the same ones.
        return function if made == function else made

    return apply


def names(function: Function) -> Callable[[str], str]:
    """New names of blocks and values, after a given one."""
    taken = {block.name for block in function.blocks} | {
        value.name for block in function.blocks for value in definitions(block)
    }
    numbers = count(1)

    def fresh(name: str) -> str:
        while (found := f"{name}.{next(numbers)}") in taken:
            pass
        return found

    return fresh


def with_operands(block: Block, operand: Callable[[Operand], Operand]) -> Block:
    """The block with other operands."""
    made = [
        replace(i, operands=new) if (new := tuple(map(operand, i.operands))) != i.operands else i
        for i in block.instructions
    ]
    end = replace_edges(block.terminator, operand, lambda edge: Edge(edge.block, tuple(map(operand, edge.arguments))))
    return replace(block, instructions=tuple(made), terminator=end)


def postorder(function: Function) -> list[str]:
    """Postorder of the control flow graph, by depth-first search (Muchnick 1997, section 7.2): the names of the blocks
    that the entry reaches, most after those that they jump to.
    """
    ends = {block.name: block.terminator for block in function.blocks}
    first = function.blocks[0].name
    # An explicit path of iterators, as in `analysis.components`: functions are deeper than Python's stack.
    seen, found = {first}, list[str]()
    path: list[tuple[str, Iterator[Edge]]] = [(first, iter(successor_edges(ends[first])))]
    while path:
        rest = path[-1][1]
        edge = next((edge for edge in rest if edge.block not in seen), None)
        if edge is None:
            found.append(path.pop()[0])
        else:
            seen.add(edge.block)
            path.append((edge.block, iter(successor_edges(ends[edge.block]))))
    return found


def remove_unreachable(function: Function) -> Function:
    """Unreachable code elimination: the function without the blocks to which no path leads."""
    kept = set(postorder(function))
    return replace(function, blocks=tuple(block for block in function.blocks if block.name in kept))


class Editing:
    """A working copy of a function all of whose blocks are reached."""

    def __init__(self, function: Function) -> None:
        self.source, self.fresh = function, names(function)
        self.blocks = {block.name: block for block in function.blocks}
        self.arrivals = Counter(edge.block for block in function.blocks for edge in successor_edges(block.terminator))
        self.known: dict[str, Operand] = {}

    def operand(self, operand: Operand) -> Operand:
        """What the operand turned out to be."""
        # A chain, because a parameter may have become another parameter that became an operand later.
        while isinstance(operand, Value) and operand.name in self.known:
            operand = self.known[operand.name]
        return operand

    def bind(self, edge: Edge) -> Block:
        """The target of the only edge to it, taken out; its parameters are the edge's arguments from now on."""
        block = self.blocks.pop(edge.block)
        # Noted, not replaced: one pass over the function at the end is linear, replacing each time is quadratic.
        self.known.update((p.name, argument) for p, argument in zip(block.parameters, edge.arguments, strict=True))
        return block

    def merge(self, name: str) -> bool:
        """Appends the block that the named one alone jumps to and that alone is jumped to; whether there is one."""
        block = self.blocks[name]
        # With other edges to it, the block after would have to be copied.
        if not isinstance(block.terminator, Jump) or self.arrivals[block.terminator.target.block] != 1:
            return False
        after = self.bind(block.terminator.target)
        self.blocks[name] = replace(
            block, instructions=(*block.instructions, *after.instructions), terminator=after.terminator
        )
        return True

    def function(self) -> Function:
        """The function with what was changed, in the order of its blocks."""
        left = [self.blocks[block.name] for block in self.source.blocks if block.name in self.blocks]
        return replace(self.source, blocks=tuple(with_operands(block, self.operand) for block in left))


@on_each_function
def merge_blocks(function: Function) -> Function:
    """Block merging (straightening; Muchnick 1997, section 18.2): the function without jumps from one block to another
    that have only each other; unreached blocks are left out.
    """
    editing = Editing(remove_unreachable(function))
    for name in postorder(editing.source):
        while name in editing.blocks and editing.merge(name):
            pass
    return editing.function()

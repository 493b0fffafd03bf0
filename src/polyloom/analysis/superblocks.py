# SPDX-License-Identifier: Apache-2.0
"""Superblock loops: innermost loops that are one chain of blocks, entered at the top alone, with side exits.

The term is that of Hwu et al., "The superblock: an effective technique for VLIW and superscalar compilation" (1993).
Seen so, a loop is a line of instructions between which it may be left; passes rewrite the line, and `with_superblock`
puts it back as blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from polyloom.analysis.loops import Loop, LoopForest, loop_forest
from polyloom.ir.ssa import (
    NOWHERE,
    Block,
    Branch,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Place,
    Value,
    flow_edges,
    successor_edges,
)


@dataclass(frozen=True, slots=True)
class SideExit:
    """The loop is left before the instruction at `position` where the condition is `sense`."""

    position: int
    condition: Operand
    sense: bool
    edge: Edge
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Superblock:
    """A loop as a line. `blocks` are those of the chain, the header first; `following` what the parameters are in the
    next iteration."""

    blocks: tuple[str, ...]
    parameters: tuple[Value, ...]
    instructions: tuple[Instruction, ...]
    exits: tuple[SideExit, ...]
    following: tuple[Operand, ...]
    place: Place = NOWHERE

    @property
    def name(self) -> str:
        """That of the header."""
        return self.blocks[0]

    @property
    def line(self) -> list[Instruction | SideExit]:
        """Instructions and exits in the order of the program."""
        found: list[Instruction | SideExit] = list(self.instructions)
        for e in reversed(self.exits):
            found.insert(e.position, e)
        return found

    @property
    def definitions(self) -> frozenset[str]:
        """Names of the values that the loop defines: those that may differ from one iteration to the next."""
        results = (r.name for i in self.instructions for r in i.results)
        return frozenset(chain((p.name for p in self.parameters), results))

    @property
    def operands(self) -> Iterator[Operand]:
        """One for each use in the loop, what leaves it included."""
        yield from (o for i in self.instructions for o in i.operands)
        yield from (o for e in self.exits for o in (e.condition, *e.edge.arguments))
        yield from self.following


def with_line(loop: Superblock, line: Iterable[Instruction | SideExit]) -> Superblock:
    """The loop with another line, which gives its exits their positions."""
    instructions, exits = list[Instruction](), list[SideExit]()
    for item in line:
        if isinstance(item, Instruction):
            instructions.append(item)
        else:
            exits.append(replace(item, position=len(instructions)))
    return replace(loop, instructions=tuple(instructions), exits=tuple(exits))


def innermost(forest: LoopForest) -> Iterator[tuple[int, Loop]]:
    """The loops without one in them, with their positions in the forest."""
    around = {loop.parent for loop in forest.loops}
    return ((k, loop) for k, loop in enumerate(forest.loops) if k not in around)


def superblocks(function: Function) -> tuple[Superblock, ...]:
    """The innermost loops of the function that are such chains, by the position of their headers."""
    forest = loop_forest(len(function.blocks), flow_edges(function))
    blocks = {block.name: block for block in function.blocks}
    found = [
        _chain(function.blocks[loop.header], {function.blocks[n].name for n in forest.members(k)}, blocks)
        for k, loop in innermost(forest)
        if not loop.irreducible
    ]
    # In the order of the program, so that names of new blocks do not depend on the forest's order.
    places = {block.name: k for k, block in enumerate(function.blocks)}
    return tuple(sorted((loop for loop in found if loop), key=lambda loop: places[loop.name]))


def superblock(function: Function, name: str) -> Superblock:
    """That of a header."""
    return next(loop for loop in superblocks(function) if loop.name == name)


def _chain(header: Block, members: set[str], blocks: Mapping[str, Block]) -> Superblock | None:
    names, instructions, exits = [header.name], list[Instruction](), list[SideExit]()
    block = header
    while True:
        instructions += block.instructions
        end = block.terminator
        inside = [edge for edge in successor_edges(end) if edge.block in members]
        # A block that stays in the loop on two ways has a join or a second way back.
        if len(inside) != 1 or not isinstance(end, Jump | Branch):
            return None
        if isinstance(end, Branch):
            sense = end.orelse is inside[0]
            leaving = end.then if sense else end.orelse
            exits.append(SideExit(len(instructions), end.condition, sense, leaving, end.place))
        on = inside[0]
        if on.block == header.name:
            place = header.terminator.place
            return Superblock(tuple(names), header.parameters, tuple(instructions), tuple(exits), on.arguments, place)
        block = blocks[on.block]
        # A parameter inside of the chain would need several ways to it.
        if block.parameters or block.name in names:
            return None
        names.append(block.name)


def with_superblock(function: Function, loop: Superblock, fresh: Callable[[str], str]) -> Function:
    """The function with the loop in the place of the blocks of its chain; it may be the function's first of the
    name."""
    cuts = [0, *(e.position for e in loop.exits)]
    names = [*loop.blocks, *(fresh(loop.name) for _ in range(len(loop.exits) + 1 - len(loop.blocks)))]
    made: list[Block] = []
    back = Edge(loop.name, loop.following)
    for k, ((begin, end), e) in enumerate(zip(pairwise(cuts), loop.exits, strict=True)):
        # An exit behind the last instruction is the branch that repeats the loop.
        ends = k == len(loop.exits) - 1 and end == len(loop.instructions)
        on = back if ends else Edge(names[k + 1])
        then, orelse = (e.edge, on) if e.sense else (on, e.edge)
        made.append(Block(names[k], (), loop.instructions[begin:end], Branch(e.condition, then, orelse, e.place)))
    if not made or cuts[-1] != len(loop.instructions):
        made.append(Block(names[len(made)], (), loop.instructions[cuts[-1] :], Jump(back, loop.place)))
    made[0] = replace(made[0], parameters=loop.parameters)
    blocks: list[Block] = []
    for block in function.blocks:
        if block.name == loop.name:
            blocks += made
        elif block.name not in loop.blocks:
            blocks.append(block)
    return replace(function, blocks=tuple(blocks))


def with_preheader(
    function: Function, loop: Superblock, head: Sequence[Instruction], arguments: Sequence[Operand]
) -> Function:
    """The function with instructions at the end of the block that enters the loop, and other first values of its
    parameters there. What only gives first values stays last: it is needed last."""
    before, edge = entry_edge(function, loop)
    assert isinstance(before.terminator, Jump)
    entered = Jump(Edge(edge.block, tuple(arguments)), before.terminator.place)
    read = {o for i in (*before.instructions, *head) for o in i.operands}
    # Values that only the loop's parameters read lie ready late, which keeps their live ranges short.
    last = [i for i in before.instructions if i.results and i.results[0] in arguments and i.results[0] not in read]
    kept = [i for i in before.instructions if i not in last]
    changed = replace(before, instructions=(*kept, *head, *last), terminator=entered)
    return replace(function, blocks=tuple(changed if block is before else block for block in function.blocks))


def entry_edge(function: Function, loop: Superblock) -> tuple[Block, Edge]:
    """Entry of a superblock loop: the block outside that alone jumps to it, and its edge; preheaders see to that."""
    return next(
        (block, edge)
        for block in function.blocks
        if block.name not in loop.blocks
        for edge in successor_edges(block.terminator)
        if edge.block == loop.name
    )

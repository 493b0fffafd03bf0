# SPDX-License-Identifier: Apache-2.0
"""Out of SSA form: parameters of blocks become variables that copies on the edges define, as virtual registers of a
machine.

The arguments of an edge are one parallel copy, made sequential with one more variable for each cycle (Boissinot et al.,
"Revisiting Out-of-SSA Translation for Correctness, Code Quality, and Efficiency", 2009). It stands at the end of a
block that has one successor, else on the edge: critical edges get a block of their own. The result has several
definitions of a name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from polyloom.ir.ssa import (
    Block,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Terminator,
    Value,
    replace_edges,
    successor_edges,
)
from polyloom.transform.ssa.function_editing import names, on_each_function

Copy = tuple[Value, Operand]


@on_each_function
def destruct(function: Function) -> Function:
    """SSA destruction by copies on edges (Boissinot et al. 2009): the function with copies; only its entry has
    parameters. `ir.ssa_interpret` runs, `ir.ssa_verify` refuses it.
    """
    parameters = {block.name: block.parameters for block in function.blocks[1:]}
    fresh = names(function)
    made = [part for block in function.blocks for part in _block(block, parameters, fresh)]
    return replace(function, blocks=(made[0], *(replace(block, parameters=()) for block in made[1:])))


def sequential(copies: Sequence[Copy], fresh: Callable[[str], str]) -> list[Copy]:
    """Parallel copy sequentialization (Boissinot et al. 2009, algorithm 1): copies one after the other that have the
    effect of all at once.
    """
    # A copy of a value to itself is none.
    source: dict[Value, Operand] = {target: operand for target, operand in copies if target != operand}
    # A target may be written once nobody still reads its old value.
    readers = {target: sum(operand == target for operand in source.values()) for target in source}
    ready = [target for target, number in readers.items() if number == 0]
    done: list[Copy] = []
    while source:
        if not ready:  # a cycle: what its first target held is kept elsewhere
            target = next(iter(source))
            kept = Value(fresh(target.name), target.type)
            done.append((kept, target))
            source = {t: kept if operand == target else operand for t, operand in source.items()}
            ready.append(target)
        target = ready.pop()
        operand = source.pop(target)
        done.append((target, operand))
        if isinstance(operand, Value) and operand in source:
            readers[operand] -= 1
            if readers[operand] == 0:
                ready.append(operand)
    return done


@on_each_function
def split_critical_edges(function: Function) -> Function:
    """The function with a block on every edge from a block with several edges to one that several reach."""
    arrivals = Counter(edge.block for block in function.blocks for edge in successor_edges(block.terminator))
    several = {name for name, number in arrivals.items() if number > 1}
    fresh = names(function)
    return replace(function, blocks=tuple(part for block in function.blocks for part in _split(block, several, fresh)))


def _split(block: Block, several: set[str], fresh: Callable[[str], str]) -> Iterator[Block]:
    added: list[Block] = []

    def split(edge: Edge) -> Edge:
        if edge.block not in several:
            return edge
        added.append(Block(fresh(edge.block), (), (), Jump(edge, block.terminator.place)))
        return Edge(added[-1].name)

    many = len(successor_edges(block.terminator)) > 1
    yield (
        replace(block, terminator=replace_edges(block.terminator, lambda operand: operand, split)) if many else block
    )
    yield from added


def _block(block: Block, parameters: dict[str, tuple[Value, ...]], fresh: Callable[[str], str]) -> Iterator[Block]:
    """The block with its copies, and the blocks on its edges. What decides has been decided before the copies."""
    # The copies of an edge must happen on no other edge: at the end of the block only where it has no other successor.
    edges = successor_edges(block.terminator)
    if len(edges) == 1:
        yield _with_copies(block, edges[0], parameters, fresh)
        return
    added: list[Block] = []

    def with_copies(edge: Edge) -> Edge:
        if not edge.arguments:
            return edge
        name = fresh(edge.block)
        added.append(_with_copies(Block(name, (), (), Jump(edge, block.terminator.place)), edge, parameters, fresh))
        return Edge(name)

    yield replace(block, terminator=replace_edges(block.terminator, lambda operand: operand, with_copies))
    yield from added


def _with_copies(
    block: Block, edge: Edge, parameters: dict[str, tuple[Value, ...]], fresh: Callable[[str], str]
) -> Block:
    """A block with one successor, which ends in the copies of the edge to it."""
    place = block.terminator.place
    copies = sequential(tuple(zip(parameters[edge.block], edge.arguments, strict=True)), fresh)
    terminator: Terminator = replace_edges(block.terminator, lambda operand: operand, lambda edge: Edge(edge.block))
    made = tuple(Instruction("copy", (operand,), (target,), place=place) for target, operand in copies)
    return replace(block, instructions=(*block.instructions, *made), terminator=terminator)

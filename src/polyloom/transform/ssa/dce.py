# SPDX-License-Identifier: Apache-2.0
"""Dead code: blocks that nothing reaches, instructions and block parameters that nothing needs.

Needed is what stores, fences, calls of functions, volatile and atomic accesses, conditions and results use, and what
that uses (Cytron et al., 1991, section 7.1, with every branch kept); calls of external functions as far as they have an
effect. An argument is used where the parameter is needed, so that loop-carried values that only feed themselves go. A
plain load or a division that nothing needs goes too, and with it the fault that it could be.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from polyloom.analysis.effects import Externals, externals_by_name, stays
from polyloom.ir.ssa import Block, Edge, Function, Operand, Value, replace_edges, successor_edges, terminator_operand
from polyloom.transform.ssa.function_editing import on_each_function, remove_unreachable


@on_each_function
def dce(function: Function) -> Function:
    """Aggressive dead code elimination without control dependences (Cytron et al. 1991, section 7.1): the function
    without dead code; the parameters of its entry stay.
    """
    live = remove_unreachable(function)
    externals = externals_by_name(function)
    needed = _live_values(live, externals)
    # The entry keeps its parameters: they are the function's signature.
    kept = {block.name: [k for k, p in enumerate(block.parameters) if p.name in needed] for block in live.blocks[1:]}
    first, *rest = live.blocks
    blocks = (first, *(replace(b, parameters=tuple(b.parameters[k] for k in kept[b.name])) for b in rest))
    used = tuple(_drop_dead(block, needed, kept, externals) for block in blocks)
    return replace(live, blocks=used)


def _live_values(function: Function, externals: Externals) -> set[str]:
    """The names of the values that something needs, found from what has an effect backwards."""
    sources = _sources(function)
    found: set[str] = set()
    # Optimistic marking: nothing is needed until something with an effect asks for it. So cycles of dead values go.
    work = [operand for block in function.blocks for operand in _roots(block, externals)]
    while work:
        operand = work.pop()
        if isinstance(operand, Value) and operand.name not in found:
            found.add(operand.name)
            work += sources[operand.name]
    return found


def _sources(function: Function) -> defaultdict[str, list[Operand]]:
    """By value what it is made of: operands of an instruction, arguments for a parameter."""
    parameters = {block.name: block.parameters for block in function.blocks}
    found: defaultdict[str, list[Operand]] = defaultdict(list)
    for block in function.blocks:
        for instruction in block.instructions:
            for result in instruction.results:
                found[result.name] += instruction.operands
        for edge in successor_edges(block.terminator):
            for parameter, argument in zip(parameters[edge.block], edge.arguments, strict=True):
                found[parameter.name].append(argument)
    return found


def _roots(block: Block, externals: Externals) -> Iterator[Operand]:
    for instruction in block.instructions:
        if stays(instruction, externals):
            yield from instruction.operands
    if (decided := terminator_operand(block.terminator)) is not None:
        yield decided


def _drop_dead(block: Block, needed: set[str], kept: dict[str, list[int]], externals: Externals) -> Block:
    left = tuple(
        i for i in block.instructions if stays(i, externals) or any(result.name in needed for result in i.results)
    )
    end = replace_edges(
        block.terminator,
        lambda operand: operand,
        lambda edge: Edge(edge.block, tuple(edge.arguments[k] for k in kept[edge.block])),
    )
    return replace(block, instructions=left, terminator=end)

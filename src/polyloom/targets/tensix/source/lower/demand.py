# SPDX-License-Identifier: Apache-2.0
"""Demanded lanes of each vector value, as a set of `masks`: a backward data-flow problem over all uses.

Stores and tests need the lanes enabled there. What computes lane by lane needs of its operands the lanes that are
needed of its results; what moves lanes needs all. An argument of a jump is needed at least where the jump stands, since
sets that are made behind it are others in each pass of a loop. Method: iterative data-flow analysis (Kildall 1973),
upwards in the tree of sets, whose height bounds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from polyloom.ir.ssa import Block, Function, Instruction, Operand, Value, successor_edges
from polyloom.targets.tensix.source.lower.masks import ALL, Masks, Set
from polyloom.targets.tensix.source.lower.shapes import PINNED, Machine, decompose, sets_flags
from polyloom.targets.tensix.source.operations import VECTOR, called_operation

Demand = Mapping[str, Set]
Need = tuple[Operand, Set]
_CROSSING = ("SFPTRANSP", "SFPSHFT2")
WHATEVER_IS_ENABLED = 10
"""The mode in which SFPLOAD and SFPSTORE ignore flags."""


def demanded_lanes(function: Function, masks: Masks) -> Demand:
    """Demanded lanes by name of a value; what nobody needs is absent."""
    found: dict[str, Set] = {}
    parameters = {block.name: block.parameters for block in function.blocks}
    changed = True
    while changed:
        changed = False
        # Uses come before definitions in a backward walk, so that few rounds suffice.
        for block in reversed(function.blocks):
            if block.name not in masks.before:
                continue
            for operand, lanes in _block_needs(block, parameters, masks, found):
                if not isinstance(operand, Value) or operand.type != VECTOR:
                    continue
                old = found.get(operand.name)
                # The union of two demands is approximated by their nearest common ancestor in the tree of sets.
                new = lanes if old is None else masks.common(old, lanes)
                if new != old:
                    found[operand.name], changed = new, True
    return found


def _block_needs(
    block: Block, parameters: Mapping[str, tuple[Value, ...]], masks: Masks, found: Mapping[str, Set]
) -> Iterator[Need]:
    before = masks.before[block.name]
    for edge in successor_edges(block.terminator):
        for parameter, argument in zip(parameters[edge.block], edge.arguments, strict=True):
            if parameter.name in found:
                yield argument, masks.common(found[parameter.name], before[-1])
    for at in reversed(range(len(block.instructions))):
        yield from operand_needs(block.instructions[at], before[at], masks, found)


def operand_needs(instruction: Instruction, enabled: Set, masks: Masks, found: Mapping[str, Set]) -> Iterator[Need]:
    """Lanes that an instruction needs of its operands."""
    taken = decompose(instruction)
    if taken is not None:
        yield from _machine_needs(taken, enabled, masks, found)
        return
    row = called_operation(instruction)
    if instruction.called == PINNED:
        yield instruction.operands[0], enabled
    elif row is not None and row.name == "assign" and instruction.results[0].name in found:
        wanted = found[instruction.results[0].name]
        old, new = instruction.operands
        # An assignment replaces all lanes that are wanted, so that the old value is not needed.
        if masks.covers(enabled, wanted):
            yield new, wanted
        else:
            yield from ((old, wanted), (new, enabled))


def _machine_needs(taken: Machine, enabled: Set, masks: Masks, found: Mapping[str, Set]) -> Iterator[Need]:
    wanted = computed_lanes(taken, enabled, masks, found)
    if wanted is None:
        return
    inside = wanted
    if taken.old is not None:
        yield taken.old, wanted
        inside = wanted if masks.covers(enabled, wanted) else enabled
    # These read lanes of other columns or rows, so that every lane may be needed.
    if taken.shape.row_name in _CROSSING and taken.shape.name != "SFPSHFT2.v":
        inside = ALL
    elif draws_random(taken):
        inside = enabled
    yield from ((operand, inside) for operand in taken.operands)


def computed_lanes(taken: Machine, enabled: Set, masks: Masks, found: Mapping[str, Set]) -> Set | None:
    """Lanes that an instruction must compute; None where nobody needs it."""
    wanted = [found[result.name] for result in taken.results if result.name in found]
    if sets_flags(taken) or not taken.results:
        # Mode 10 stores all lanes whatever the flags are (page of `SFPSTORE`).
        everywhere = taken.shape.name == "SFPSTORE" and taken.immediate("instr_mod0") == WHATEVER_IS_ENABLED
        wanted.append(ALL if everywhere else enabled)
    if not wanted:
        return None
    first, *others = wanted
    for other in others:
        first = masks.common(first, other)
    return first


def draws_random(taken: Machine) -> bool:
    """Whether an instruction takes random numbers, in the enabled lanes: it stays just where it stands."""
    match taken.shape.row_name:
        case "SFPMOV":
            return taken.shape.name == "SFPMOV.random"
        case "SFPCAST":
            return taken.immediate("instr_mod1") == 1
        case "SFP_STOCH_RND":
            return taken.immediate("rnd_mode") == 1
        case _:
            return False

# SPDX-License-Identifier: Apache-2.0
"""Which parameters a function of `ir.ssa` may store through: those from which an address of a store may have been made.

Pointers are followed backwards through copies, distances, selects and arguments of blocks; one that was loaded, made of
an integer, or returned may be any parameter. A call stores through its arguments as the called function does through
its parameters: the least solution. An external function that writes does so through every pointer that it is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polyloom.analysis.effects import Externals, effects, externals_by_name
from polyloom.ir.ssa import ATOMICS, EFFECTS, INDIRECT, Function, Instruction, Operand, Value, successor_edges
from polyloom.ir.ssa_layout import address_taken

_CARRIERS = ("copy", "offset", "select", "splat", "extract", "insert")
_Known = Mapping[str, frozenset[int] | None]
"""By function the positions of the parameters that it stores through; None where that may be any memory."""


def written_parameters(function: Function) -> frozenset[str]:
    """Mod analysis of parameters, interprocedural (Banning 1979; Cooper, Kennedy 1988): the names of the pointers among
    the parameters that may be written through.
    """
    # Kleene's iteration from below: sets of positions only grow, and None ("any memory") is the top.
    known: dict[str, frozenset[int] | None] = {member.name: frozenset() for member in function.program}
    pointed = address_taken(function)
    while True:
        found = {member.name: _written_positions(member, known, pointed) for member in function.members}
        if found == known:
            break
        known = found
    places = known[function.name]
    return frozenset(
        p.name for k, p in enumerate(function.parameters) if p.type.element == "ptr" and (places is None or k in places)
    )


def _written_positions(function: Function, known: _Known, pointed: Sequence[Function]) -> frozenset[int] | None:
    pointers = {p.name: k for k, p in enumerate(function.parameters) if p.type.element == "ptr"}
    sources, externals = _sources(function), externals_by_name(function)
    found: set[str] = set()
    work: list[Operand] = []
    for instruction in (i for block in function.blocks for i in block.instructions):
        places = _target_operands(instruction, known, externals, pointed)
        if places is None:
            return None
        work += [instruction.operands[k] for k in places]
    while work:
        operand = work.pop()
        if not isinstance(operand, Value) or operand.name in found:
            continue
        found.add(operand.name)
        origins = sources.get(operand.name)
        # A pointer that was loaded, cast from an integer or returned by a call: it may be any parameter.
        if origins is None and operand.name not in pointers:
            return None
        work += [o for o in origins or () if o.type.element == "ptr"]
    return frozenset(pointers[name] for name in pointers.keys() & found)


def _indirect_positions(instruction: Instruction, known: _Known, pointed: Sequence[Function]) -> frozenset[int] | None:
    """Of a call through a pointer: any function of these types whose address is taken."""
    found: set[int] = set()
    types = [operand.type for operand in instruction.operands[1:]]
    for function in pointed:
        places = known[function.name] if [p.type for p in function.parameters] == types else frozenset[int]()
        if places is None:
            return None
        found |= {k + 1 for k in places}
    return frozenset(found)


def _target_operands(
    instruction: Instruction, known: _Known, externals: Externals, pointed: Sequence[Function]
) -> frozenset[int] | None:
    """The positions of the operands that it stores through."""
    if instruction.called in known:
        return known[instruction.called]
    if instruction.called:
        pointers = frozenset(k for k, operand in enumerate(instruction.operands) if operand.type.element == "ptr")
        return pointers if "writes" in effects(instruction, externals) else frozenset()
    if instruction.callee == INDIRECT:
        return _indirect_positions(instruction, known, pointed)
    is_target = instruction.operation in ATOMICS or instruction.callee in EFFECTS
    return frozenset({1} if instruction.operation == "store" else {0} if is_target else ())


def _sources(function: Function) -> dict[str, list[Operand]]:
    """By value the pointers that it is made of; none for the function's own memory, no entry where not known."""
    parameters = {block.name: block.parameters for block in function.blocks}
    found: dict[str, list[Operand]] = {p.name: [] for block in function.blocks[1:] for p in block.parameters}
    for block in function.blocks:
        for instruction in block.instructions:
            if instruction.operation in _CARRIERS or instruction.operation == "alloca":
                found[instruction.results[0].name] = list(instruction.operands)
        for edge in successor_edges(block.terminator):
            for parameter, argument in zip(parameters[edge.block], edge.arguments, strict=True):
                found[parameter.name].append(argument)
    return found

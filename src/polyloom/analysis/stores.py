# SPDX-License-Identifier: Apache-2.0
"""Which parameters a function of `ir.ssa` may store through: those from which an address of a store may have been made.

Pointers are followed backwards through copies, distances, selects and arguments of blocks; one that was loaded, or made of an
integer, may be any parameter.
"""

from __future__ import annotations

from collections.abc import Iterator

from polyloom.ir.ssa import EFFECTS, Function, Operand, Value, edges_of

_CARRIERS = ("copy", "offset", "select")


def stored(function: Function) -> frozenset[str]:
    """The names of the pointers among the parameters that may be written through."""
    pointers = frozenset(p.name for p in function.parameters if p.type == "ptr")
    sources = _sources(function)
    found: set[str] = set()
    work = [a for block in function.blocks for i in block.instructions for a in _addresses(i.operation, i.callee, i.operands)]
    while work:
        operand = work.pop()
        if not isinstance(operand, Value) or operand.name in found:
            continue
        found.add(operand.name)
        origins = sources.get(operand.name)
        if origins is None and operand.name not in pointers:
            return pointers
        work += [o for o in origins or () if o.type == "ptr"]
    return pointers & found


def _addresses(operation: str, callee: str, operands: tuple[Operand, ...]) -> Iterator[Operand]:
    if operation == "store":
        yield operands[1]
    elif callee in EFFECTS:
        yield operands[0]


def _sources(function: Function) -> dict[str, list[Operand]]:
    """By value the pointers that it is made of; nothing for the function's own memory, no entry where that is not known."""
    parameters = {block.name: block.parameters for block in function.blocks}
    found: dict[str, list[Operand]] = {p.name: [] for block in function.blocks[1:] for p in block.parameters}
    for block in function.blocks:
        for instruction in block.instructions:
            if instruction.result is not None and (instruction.operation in _CARRIERS or instruction.operation == "alloca"):
                found[instruction.result.name] = list(instruction.operands)
        for edge in edges_of(block.terminator):
            for parameter, argument in zip(parameters[edge.block], edge.arguments, strict=True):
                found[parameter.name].append(argument)
    return found

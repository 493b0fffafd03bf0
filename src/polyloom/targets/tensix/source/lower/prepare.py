# SPDX-License-Identifier: Apache-2.0
"""Legalization of what scalar code does with vectors and masks, in terms of the other passes: copies go, a choice
between two vectors becomes a branch, and a mask that jumps pass on becomes an integer 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from polyloom.ir.ssa import (
    Block,
    Branch,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Undef,
    Value,
    replace_edges,
    successor_edges,
)
from polyloom.targets.tensix.source.operations import MASK, PREFIX, VECTOR
from polyloom.transform.ssa.function_editing import names, remove_unreachable, with_operands


def legalize(function: Function) -> Function:
    # In this order: a choice of masks becomes a parameter of a block, which the last step turns into an integer.
    return _pass_integers(_branch_on_choices(_propagate_copies(remove_unreachable(function))))


def _propagate_copies(function: Function) -> Function:
    """Copy propagation of vectors and masks (Muchnick 1997, section 12.5)."""
    known = {
        i.results[0].name: i.operands[0]
        for block in function.blocks
        for i in block.instructions
        if i.operation == "copy" and i.results[0].type in (VECTOR, MASK)
    }

    def operand(given: Operand) -> Operand:
        while isinstance(given, Value) and given.name in known:
            given = known[given.name]
        return given

    kept = (
        replace(b, instructions=tuple(i for i in b.instructions if not (i.results and i.results[0].name in known)))
        for b in function.blocks
    )
    return replace(function, blocks=tuple(with_operands(block, operand) for block in kept))


def _branch_on_choices(function: Function) -> Function:
    fresh = names(function)
    blocks = tuple(part for block in function.blocks for part in _split_at_choice(block, fresh))
    return replace(function, blocks=blocks)


def _split_at_choice(block: Block, fresh: Callable[[str], str]) -> Iterator[Block]:
    """Block up to its first choice, and what follows as blocks with the choice as a parameter."""
    for at, instruction in enumerate(block.instructions):
        if instruction.operation == "select" and instruction.results[0].type in (VECTOR, MASK):
            condition, then, orelse = instruction.operands
            after, through = fresh(block.name), fresh(block.name)
            # both ways to one block would be one edge twice: one of them goes through a block of its own
            end = Branch(condition, Edge(through), Edge(after, (orelse,)), instruction.place)
            yield replace(block, instructions=block.instructions[:at], terminator=end)
            yield Block(through, (), (), Jump(Edge(after, (then,)), instruction.place))
            rest = Block(after, instruction.results, block.instructions[at + 1 :], block.terminator)
            yield from _split_at_choice(rest, fresh)
            return
    yield block


def _pass_integers(function: Function) -> Function:
    """Mask arguments: each becomes an integer at the end of the block that jumps, and a mask again behind it."""
    # Flags are state of the machine: no mask can be kept over a jump but as a value.
    if not any(p.type == MASK for block in function.blocks for p in block.parameters):
        return function
    fresh = names(function)
    parameters = {block.name: block.parameters for block in function.blocks}
    return replace(function, blocks=tuple(_convert_masks(block, parameters, fresh) for block in function.blocks))


def _convert_masks(block: Block, parameters: dict[str, tuple[Value, ...]], fresh: Callable[[str], str]) -> Block:
    head: list[Instruction] = []
    tail: list[Instruction] = []
    own: list[Value] = []
    for parameter in block.parameters:
        if parameter.type == MASK:
            integer = Value(fresh("truth"), VECTOR)
            head.append(_call("mask_of", integer, parameter))
            own.append(integer)
        else:
            own.append(parameter)

    def edge(found: Edge) -> Edge:
        arguments: list[Operand] = []
        for parameter, argument in zip(parameters[found.block], found.arguments, strict=True):
            if parameter.type != MASK:
                arguments.append(argument)
            elif isinstance(argument, Value):
                integer = Value(fresh("truth"), VECTOR)
                tail.append(_call("int_of", argument, integer))
                arguments.append(integer)
            else:
                arguments.append(Undef(VECTOR))
        return Edge(found.block, tuple(arguments))

    end = (
        replace_edges(block.terminator, lambda operand: operand, edge)
        if successor_edges(block.terminator)
        else block.terminator
    )
    return replace(block, parameters=tuple(own), instructions=(*head, *block.instructions, *tail), terminator=end)


def _call(name: str, operand: Value, result: Value) -> Instruction:
    return Instruction("call", (operand,), (result,), callee=f"@{PREFIX}{name}")

# SPDX-License-Identifier: Apache-2.0
"""Calls become part of their callers where it pays: what is called has no loop and is short. Recursion is refused.

The specializer decides this, not clang: a call that stays costs a loop one slot, but hides what it computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from polyloom.analysis.loops import loop_forest
from polyloom.diagnostics import input_error
from polyloom.ir.ssa import Block, Edge, Function, Instruction, Jump, Operand, Return, Value, flow_edges, with_edges
from polyloom.transform.ssa.editing import names

STAYS: Final = "emulated."
"""Routines that begin so stay calls: they come in parts that fit into the scratch of the smallest member."""
SHORT: Final = 40
"""Instructions that are copied for a call."""


def inline(function: Function) -> Function:
    """The program with calls of short functions replaced, and without functions that nobody calls then. Errors: PL1085
    for recursion."""
    members = {member.name: member for member in function.program}
    done: dict[str, Function] = {}
    for name in _callees_first(members):
        done[name] = _inlined(members[name], {n: f for n, f in done.items() if n[:9] != STAYS and _pays(f)})
    first = done[function.name]
    called, work = set[str](), [first]
    while work:
        for instruction in (i for block in work.pop().blocks for i in block.instructions):
            if instruction.called in done and instruction.called not in called:
                called.add(instruction.called)
                work.append(done[instruction.called])
    return replace(first, others=tuple(done[other.name] for other in function.others if other.name in called))


def _callees_first(members: Mapping[str, Function]) -> list[str]:
    found: list[str] = []
    path: list[str] = []

    def visit(name: str) -> None:
        if name in found:
            return
        if name in path:
            circle = " calls ".join((*path[path.index(name) :], name))
            where = members[name].place.words()
            message = f"{circle}{f' ({where})' if where else ''}: recursion has no code here"
            raise input_error("PL1085", message, help="write it as a loop, with a stack of its own in an array")
        path.append(name)
        for instruction in (i for block in members[name].blocks for i in block.instructions):
            if instruction.called in members:
                visit(instruction.called)
        found.append(path.pop())

    for name in members:
        visit(name)
    return found


def _pays(function: Function) -> bool:
    size = sum(len(block.instructions) for block in function.blocks)
    return size <= SHORT and not loop_forest(len(function.blocks), flow_edges(function)).loops


def _inlined(function: Function, callees: Mapping[str, Function]) -> Function:
    fresh = names(function)
    done: list[Block] = []
    work = list(reversed(function.blocks))
    while work:
        block = work.pop()
        at = next((k for k, i in enumerate(block.instructions) if i.called in callees), None)
        if at is None:
            done.append(block)
            continue
        call = block.instructions[at]
        after = fresh("after")
        copies = _copy(callees[call.called], call, after, fresh)
        enter = Jump(Edge(copies[0].name, call.operands), call.place)
        rest = Block(after, call.results, block.instructions[at + 1 :], block.terminator)
        work += [rest, *reversed(copies), replace(block, instructions=block.instructions[:at], terminator=enter)]
    return replace(function, blocks=tuple(done))


def _copy(callee: Function, call: Instruction, after: str, fresh: object) -> list[Block]:
    assert callable(fresh)
    blocks = {block.name: str(fresh(block.name)) for block in callee.blocks}
    values: dict[str, Value] = {}

    def value(of: Value) -> Value:
        return values.setdefault(of.name, Value(str(fresh(of.name)), of.type))

    def operand(of: Operand) -> Operand:
        return value(of) if isinstance(of, Value) else of

    def edge(of: Edge) -> Edge:
        return Edge(blocks[of.block], tuple(map(operand, of.arguments)))

    made: list[Block] = []
    for block in callee.blocks:
        instructions = tuple(
            replace(i, operands=tuple(map(operand, i.operands)), results=tuple(map(value, i.results)))
            for i in block.instructions
        )
        end = with_edges(block.terminator, operand, edge)
        if isinstance(end, Return):
            end = Jump(Edge(after, (end.value,) if call.results and end.value is not None else ()), end.place)
        made.append(Block(blocks[block.name], tuple(map(value, block.parameters)), instructions, end))
    return made

# SPDX-License-Identifier: Apache-2.0
"""Innermost loops get one block before them, and one behind each exit through which all values leave that are used
later (loop-closed SSA form); a flow that enters a loop at several places is refused.

A value that is used behind the loop is stored at each exit into a variable of its own and loaded where it is used;
`transform.ssa.construct` then finds the parameters that blocks behind the loop need.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from polyloom.analysis.dominators import dominators
from polyloom.analysis.loops import loop_forest
from polyloom.diagnostics import input_error
from polyloom.ir.ssa import (
    Access,
    Block,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Value,
    edges_of,
    flow_edges,
    integer,
    operand_of,
    with_edges,
)
from polyloom.ir.ssa_types import I32, PTR
from polyloom.ir.ssa_verify import definitions
from polyloom.transform.ssa.construct import construct
from polyloom.transform.ssa.editing import names, with_operands


@dataclass(frozen=True, slots=True)
class Region:
    """An innermost loop: its blocks in an order in which control passes them, the header first, and the landings by
    their names."""

    header: str
    blocks: tuple[str, ...]


def landed(function: Function) -> tuple[Function, tuple[Region, ...]]:
    """The function, without those that it calls, in that form, and its innermost loops. Errors: PL1087."""
    forest = loop_forest(len(function.blocks), flow_edges(function))
    for loop in forest.loops:
        if loop.irreducible:
            raise _irreducible(function, function.blocks[loop.header])
    parents = {loop.parent for loop in forest.loops}
    headers = [function.blocks[loop.header].name for k, loop in enumerate(forest.loops) if k not in parents]
    members = [
        [function.blocks[node].name for node in forest.members(k)] for k in range(len(forest.loops)) if k not in parents
    ]
    fresh = names(function)
    for header, inside in zip(headers, members, strict=True):
        function = _entered(function, header, set(inside), fresh)
        function = _left(function, set(inside), fresh)
    function = construct(function)
    return function, tuple(
        Region(header, _topological(function, header, set(inside)))
        for header, inside in zip(headers, members, strict=True)
    )


def _irreducible(function: Function, block: Block) -> Exception:
    place = next((p for p in (i.place for i in block.instructions) if p.line), block.terminator.place)
    words = place.words(function.place.file)
    return input_error(
        "PL1087",
        f"{function.name}{f', {words}' if words else ''}: a loop is entered at several places",
        help="enter the loop at its head alone: replace the `goto` into it by a flag that is tested in it",
    )


def _entered(function: Function, header: str, inside: set[str], fresh: object) -> Function:
    """With one block before the loop, which alone jumps to it from outside."""
    assert callable(fresh)
    blocks = {block.name: block for block in function.blocks}
    parameters = blocks[header].parameters
    copies = tuple(Value(str(fresh(p.name)), p.type) for p in parameters)
    before = Block(str(fresh(f"{header}.head")), copies, (), Jump(Edge(header, copies)))

    def edge(of: Edge) -> Edge:
        return Edge(before.name, of.arguments) if of.block == header else of

    made: list[Block] = []
    for block in function.blocks:
        if block.name == header:
            made.append(before)
        made.append(
            block
            if block.name in inside
            else replace(block, terminator=with_edges(block.terminator, lambda o: o, edge))
        )
    return replace(function, blocks=tuple(made))


def _left(function: Function, inside: set[str], fresh: object) -> Function:
    """With a landing behind each exit, and a variable for each value of the loop that is used elsewhere."""
    assert callable(fresh)
    own = {v.name: v for b in function.blocks if b.name in inside for v in definitions(b)}
    outer = [block for block in function.blocks if block.name not in inside]
    used = {o.name: own[o.name] for block in outer for o in _operands(block) if isinstance(o, Value) and o.name in own}
    slots = {name: Value(str(fresh(f"{name}.out")), PTR) for name in used}
    allocas = tuple(Instruction("alloca", (integer(I32, 8),), (slot,), access=Access(8)) for slot in slots.values())
    landings: list[Block] = []
    home = {v.name: b.name for b in function.blocks if b.name in inside for v in definitions(b)}
    above = _dominating(function)

    def leave(source: str, of: Edge) -> Edge:
        if of.block in inside:
            return of
        instructions: list[Instruction] = []
        for name, value in used.items():
            if home[name] not in above[source]:
                continue
            copy = Value(str(fresh(name)), value.type)
            instructions += [
                Instruction("copy", (value,), (copy,)),
                Instruction("store", (copy, slots[name]), access=Access(1)),
            ]
        landing = Block(str(fresh("exit")), (), tuple(instructions), Jump(of))
        landings.append(landing)
        return Edge(landing.name)

    made: list[Block] = []
    for k, block in enumerate(function.blocks):
        if block.name in inside:
            end = with_edges(block.terminator, lambda o: o, partial(leave, block.name))
            made.append(replace(block, terminator=end))
            continue
        loaded = _loaded(block, slots, own, fresh) if used else block
        made.append(replace(loaded, instructions=(*allocas, *loaded.instructions)) if k == 0 else loaded)
    return replace(function, blocks=(*made, *landings))


def _dominating(function: Function) -> dict[str, set[str]]:
    """By block those that dominate it, itself too."""
    above: list[int] = dominators(len(function.blocks), flow_edges(function)).tolist()
    found: dict[str, set[str]] = {}
    for k, block in enumerate(function.blocks):
        chain, node = set[str](), k
        while node >= 0:
            chain.add(function.blocks[node].name)
            node = above[node]
        found[block.name] = chain
    return found


def _operands(block: Block) -> list[Operand]:
    decided = operand_of(block.terminator)
    found = [o for i in block.instructions for o in i.operands]
    found += [a for edge in edges_of(block.terminator) for a in edge.arguments]
    return [*found, *([decided] if decided is not None else [])]


def _loaded(block: Block, slots: dict[str, Value], own: dict[str, Value], fresh: object) -> Block:
    """What is used of the loop is loaded at the block's head."""
    assert callable(fresh)
    wanted = {o.name for o in _operands(block) if isinstance(o, Value) and o.name in slots}
    copies = {name: Value(str(fresh(name)), own[name].type) for name in sorted(wanted)}
    loads = tuple(Instruction("load", (slots[name],), (copy,), access=Access(1)) for name, copy in copies.items())
    changed = with_operands(block, lambda o: copies.get(o.name, o) if isinstance(o, Value) else o)
    return replace(changed, instructions=(*loads, *changed.instructions))


def _topological(function: Function, header: str, inside: set[str]) -> tuple[str, ...]:
    blocks = {block.name: block for block in function.blocks}
    found: list[str] = []
    seen: set[str] = set()

    def visit(name: str) -> None:
        seen.add(name)
        ways = [e.block for e in edges_of(blocks[name].terminator)]
        for other in reversed(ways):
            if other in inside and other not in seen and other != header:
                visit(other)
        found.append(name)

    visit(header)
    return tuple(reversed(found))

# SPDX-License-Identifier: Apache-2.0
"""Procedure integration: calls of short functions become what these compute, callees first (Muchnick, "Advanced
Compiler Design and Implementation", 1997, section 15.2). A function that calls itself, by whatever way, stays a call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from polyloom.analysis.components import components
from polyloom.analysis.loops import loop_forest
from polyloom.ir.ssa import Block, Edge, Function, Jump, Return, flow_edges, mentioned_addresses
from polyloom.transform.ssa.duplication import copy_blocks
from polyloom.transform.ssa.function_editing import names

SHORT: Final = 40
"""Instructions that are copied for a call."""


@dataclass(frozen=True, slots=True)
class InlineCosts:
    """A function becomes part of its callers up to `instructions`, with loops only where `loops` allows; one that is
    called once, and whose address nobody takes, does whatever its length where `once` says so. What `keeps` names stays
    a call."""

    instructions: int = SHORT
    loops: bool = False
    once: bool = False
    keeps: Callable[[str], bool] = lambda name: False


def inline(function: Function, costs: InlineCosts | None = None) -> Function:
    """Procedure integration in bottom-up order (Muchnick 1997, section 15.2): the program with such calls replaced, and
    without functions that nothing refers to any more.
    """
    costs = costs or InlineCosts()
    members = {member.name: member for member in function.program}
    calls = {
        name: [called for called in _called_names(member) if called in members] for name, member in members.items()
    }
    counts = [called for group in calls.values() for called in group]
    order = list(members)
    position = {name: k for k, name in enumerate(order)}
    groups = components({position[a]: [position[b] for b in calls[a]] for a in order})
    addressed = {address.name for member in members.values() for address in mentioned_addresses(member)}
    addressed |= {address.name for datum in function.data for _, address in datum.addresses}
    done: dict[str, Function] = {}
    ready: dict[str, Function] = {}
    # A component comes behind those that it calls, so that what is copied has its own calls replaced.
    for group in groups:
        for name in (order[k] for k in group):
            done[name] = _with_inlined_calls(members[name], ready)
        name = order[group[0]]
        is_recursive = len(group) > 1 or name in calls[name]
        is_single = costs.once and counts.count(name) == 1 and name not in addressed
        if not is_recursive and not costs.keeps(name) and (is_single or _pays(done[name], costs)):
            ready[name] = done[name]
    first = done[function.name]
    kept = _references(first, done, function)
    return replace(first, others=tuple(done[other.name] for other in function.others if other.name in kept))


def _called_names(function: Function) -> Iterator[str]:
    return (i.called for block in function.blocks for i in block.instructions if i.called)


def _references(first: Function, done: Mapping[str, Function], program: Function) -> set[str]:
    """What the first function calls or mentions, and what that does."""
    data = {datum.name: datum for datum in program.data}
    found, work = set[str](), [first]
    while work:
        function = work.pop()
        names = [*_called_names(function), *(address.name for address in mentioned_addresses(function))]
        while names:
            name = names.pop()
            if name in found:
                continue
            found.add(name)
            if name in data:
                names += [address.name for _, address in data[name].addresses]
            elif name in done:
                work.append(done[name])
    return found


def _pays(function: Function, costs: InlineCosts) -> bool:
    size = sum(len(block.instructions) for block in function.blocks)
    return size <= costs.instructions and (
        costs.loops or not loop_forest(len(function.blocks), flow_edges(function)).loops
    )


def _with_inlined_calls(function: Function, callees: Mapping[str, Function]) -> Function:
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
        copies = _body(callees[call.called], after, bool(call.results), fresh)
        enter = Jump(Edge(copies[0].name, call.operands), call.place)
        rest = Block(after, call.results, block.instructions[at + 1 :], block.terminator)
        work += [rest, *reversed(copies), replace(block, instructions=block.instructions[:at], terminator=enter)]
    return replace(function, blocks=tuple(done))


def _body(callee: Function, after: str, has_result: bool, fresh: Callable[[str], str]) -> list[Block]:
    """The callee's blocks, which go on at `after` in the place of returning."""
    made: list[Block] = []
    for block in copy_blocks(callee.blocks, fresh)[0]:
        end = block.terminator
        if isinstance(end, Return):
            # A call without a result drops what the callee returns.
            end = Jump(Edge(after, (end.value,) if has_result and end.value is not None else ()), end.place)
        made.append(replace(block, terminator=end))
    return made

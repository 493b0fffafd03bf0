# SPDX-License-Identifier: Apache-2.0
"""Order-preserving if-conversion: code whose selects keep the order that branches give, of what decides a branch before
all later stores.

A branch orders the loads that its condition depends on before every later store (rule 11 of preserved program order), a
select only before stores that use its result (rules 9 and 10: RISC-V unprivileged manual, chapter "RVWMO", section
"Preserved Program Order"). C promises neither, but code over `volatile` and relaxed atomic accesses may rely on it. A
select whose condition depends on such a load stands for a branch here. Where a later store, on some path, is not
ordered otherwise (by a branch, a fence, a data or an address dependency, acquire or release), the select becomes that
branch, or a fence before the store orders it: `fence r,w`. Dependencies through memory are not followed, as in the
memory model.

The analysis is a forward data flow: which loads are ordered before whatever is stored next, on all paths, and which
selects passed on some path are not. A load that is executed anew while a select still waits for its last value makes
that select wait for a fence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Final, Literal

from polyloom.ir.ssa import (
    ATOMICS,
    EFFECTS,
    INDIRECT,
    Block,
    Branch,
    Edge,
    Function,
    Instruction,
    Operand,
    Value,
    successor_edges,
    terminator_operand,
)
from polyloom.ir.ssa import Access as Memory

How = Literal["branch", "fence"]
# r,w alone: rule 11 orders loads before stores, and no more is to be restored.
_FENCE: Final = Instruction("fence", access=Memory(order="load_store"))
_RELEASES: Final = ("release", "acq_rel", "seq_cst")
_ACQUIRES: Final = ("acquire", "acq_rel", "seq_cst")
_READS: Final = ("load", *ATOMICS)
_WRITES: Final = ("store", *ATOMICS)


@dataclass(frozen=True, slots=True)
class _State:
    """Data-flow state, as bit masks: loads ordered before later stores, selects that wait, and those of them that only
    a fence helps.
    """

    ordered: int = -1
    waiting: int = 0
    stale: int = 0

    def __or__(self, other: _State) -> _State:
        # Where paths meet: ordered only if on both, waiting if on either.
        return _State(self.ordered & other.ordered, self.waiting | other.waiting, self.stale | other.stale)


class _Analysis:
    """Order analysis of a function: selects that depend on racy loads (`needs`: on which), values that surely do
    (`must`), and the state at the entry of each block.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        instructions = [i for block in function.blocks for i in block.instructions]
        self.loads = {i.result: 1 << n for n, i in enumerate(filter(_is_racy, instructions)) if i.result}
        self.must = _must_depend(function, self.loads)
        may = _may_depend(function, self.loads)
        needs = {
            i.result: mask
            for i in instructions
            if i.result and i.operation == "select" and (mask := _union(may, i.operands[:1]))
        }
        self.selects = {value: 1 << n for n, value in enumerate(needs)}
        self.needs = tuple(needs.values())
        self.entries = self._solve_entries()

    def unordered_stores(self) -> Iterator[tuple[Block, int, int]]:
        """Unordered stores: blocks and positions of stores, with the selects that wait there and on whose loads the
        store's operands do not depend.
        """
        for block in self.function.blocks:
            state = self.entries[block.name]
            for position, instruction in enumerate(block.instructions):
                if waiting := self.exposed_selects(state, instruction):
                    yield block, position, waiting
                state = self.after(state, instruction)

    def exposed_selects(self, state: _State, instruction: Instruction) -> int:
        """Selects that would have ordered this store as branches, as bits; 0 for what is no store."""
        if not _may_store(instruction) or _is_fence(instruction):
            return 0
        uses = _union(self.must, instruction.operands)
        return sum(
            bit
            for n, need in enumerate(self.needs)
            if (bit := state.waiting & 1 << n) and (need & ~uses or bit & state.stale)
        )

    def after(self, state: _State, instruction: Instruction) -> _State:
        """Transfer function of an instruction."""
        if _is_fence(instruction):
            state = _State()
        if load := self.loads.get(instruction.result, 0) if instruction.result else 0:
            # The load runs again, in a loop: a later branch on its new value orders the new read, not the one that the
            # select saw.
            stale = sum(1 << n for n, need in enumerate(self.needs) if need & load & ~state.ordered)
            return _State(state.ordered & ~load, state.waiting, state.stale | (state.waiting & stale))
        if select := self.selects.get(instruction.result, 0) if instruction.result else 0:
            return (
                replace(state, waiting=state.waiting | select)
                if self.needs[select.bit_length() - 1] & ~state.ordered
                else state
            )
        return state

    def _transfer_block(self, state: _State, block: Block) -> _State:
        """Transfer function of a block, with the branch at its end."""
        for instruction in block.instructions:
            state = self.after(state, instruction)
        ordered = state.ordered | _union(self.must, (terminator_operand(block.terminator),))
        # The branch at the end orders what its condition has read before all later stores (rule 11).
        helped = sum(1 << n for n, need in enumerate(self.needs) if not need & ~ordered) & ~state.stale
        return _State(ordered, state.waiting & ~helped, state.stale)  # a return decides nothing, and nothing follows it

    def _solve_entries(self) -> Mapping[str, _State]:
        """Solution of the data-flow equations: the state at the entry of each block, by a worklist."""
        blocks = {block.name: block for block in self.function.blocks}
        entries = {self.function.blocks[0].name: _State()}
        work = [self.function.blocks[0]]
        while work:
            block = work.pop()
            end = self._transfer_block(entries[block.name], block)
            for edge in successor_edges(block.terminator):
                met = end | entries[edge.block] if edge.block in entries else end
                if entries.get(edge.block) != met:
                    entries[edge.block] = met
                    work.append(blocks[edge.block])
        return {name: entries.get(name, _State()) for name in blocks}


def _may_depend(function: Function, loads: Mapping[Value, int]) -> Mapping[Value, int]:
    """May-dependence: by value, the loads that it depends on, on whatever path. A load passes on neither its address
    nor, unless it is racy, its value (RVWMO has dependencies through registers only).
    """
    parameters = {block.name: block.parameters for block in function.blocks}
    edges = [edge for block in function.blocks for edge in successor_edges(block.terminator)]
    flows = [
        (i.result, i.operands)
        for block in function.blocks
        for i in block.instructions
        if i.result and i.operation not in _READS
    ]
    flows += [(p, (a,)) for edge in edges for p, a in zip(parameters[edge.block], edge.arguments, strict=True)]
    found = dict(loads)
    changed = True
    # Least fixed point over sets of loads, as bits.
    while changed:
        changed = False
        for target, operands in flows:
            mask = found.get(target, 0) | _union(found, operands)
            changed |= mask != found.get(target, 0)
            found[target] = mask
    return found


def _must_depend(function: Function, loads: Mapping[Value, int]) -> Mapping[Value, int]:
    """Must-dependence: by value, the loads on whose last values it depends on all paths. What comes over an edge back
    in the text may be of an earlier iteration.
    """
    place = {block.name: n for n, block in enumerate(function.blocks)}
    arguments: dict[str, list[tuple[Operand, ...]]] = {}
    for n, block in enumerate(function.blocks):
        for edge in successor_edges(block.terminator):
            # Nothing is sure of what comes round a loop: its loads may have run again since.
            arguments.setdefault(edge.block, []).append(edge.arguments if place[edge.block] > n else ())
    found = dict(loads)
    for block in function.blocks:
        for n, parameter in enumerate(block.parameters):
            masks = [_union(found, given[n : n + 1]) for given in arguments.get(block.name, [])]
            found[parameter] = _intersection(masks)
        for instruction in block.instructions:
            if instruction.result and instruction.operation not in _READS:
                found[instruction.result] = _union(found, instruction.operands)
    return found


def _union(masks: Mapping[Value, int], operands: tuple[Operand | None, ...]) -> int:
    found = 0
    for operand in operands:
        found |= masks.get(operand, 0) if isinstance(operand, Value) else 0
    return found


def _intersection(masks: list[int]) -> int:
    found = masks[0] if masks else 0
    for mask in masks:
        found &= mask
    return found


def preserve_order(function: Function, how: How) -> Function:
    """The function in which every store after a select waits for what its condition has read, by branches or by
    fences."""
    return _insert_fences(function) if how == "fence" else _selects_to_branches(function)


def _insert_fences(function: Function) -> Function:
    """Fence insertion: before every store that needs one, unless an earlier one in its block serves it."""
    analysis = _Analysis(function)
    return replace(
        function,
        blocks=tuple(replace(block, instructions=tuple(_with_fences(analysis, block))) for block in function.blocks),
    )


def _with_fences(analysis: _Analysis, block: Block) -> Iterator[Instruction]:
    state = analysis.entries[block.name]
    for instruction in block.instructions:
        if analysis.exposed_selects(state, instruction):
            yield replace(_FENCE, place=instruction.place)
            state = analysis.after(state, _FENCE)
        yield instruction
        state = analysis.after(state, instruction)


def _selects_to_branches(function: Function) -> Function:
    """Branches for the selects that a store needs; one branch may serve several, so one by one, in order."""
    # Each branch may order the stores of other selects as well: the analysis is done anew after each.
    while True:
        analysis = _Analysis(function)
        waiting = 0
        for _, _, selects in analysis.unordered_stores():
            waiting |= selects
        if not waiting:
            return function
        function = _branch_at_select(function, next(value for value, bit in analysis.selects.items() if bit & waiting))


def _branch_at_select(function: Function, value: Value) -> Function:
    """The function with a branch for the select that defines `value`: both its ways lead to what follows."""
    names = {block.name for block in function.blocks}
    made: list[Block] = []
    for block in function.blocks:
        position = next((n for n, i in enumerate(block.instructions) if i.result == value), None)
        if position is None:
            made.append(block)
            continue
        condition, a, b = block.instructions[position].operands
        rest = next(name for n in count(1) if (name := f"{block.name}.{n}") not in names)
        # Both edges go to one block with different arguments: the order comes from the branch alone (rule 11 holds past
        # the join).
        branch = Branch(condition, Edge(rest, (a,)), Edge(rest, (b,)), block.instructions[position].place)
        made.append(replace(block, instructions=block.instructions[:position], terminator=branch))
        made.append(Block(rest, (value,), block.instructions[position + 1 :], block.terminator))
    return replace(function, blocks=tuple(made))


def _is_racy(instruction: Instruction) -> bool:
    """Racy load: one, or a read-modify-write, of what others may store to, that does not order what follows by
    itself."""
    access = instruction.access
    return (
        instruction.operation in _READS
        and access is not None
        and access.order not in _ACQUIRES
        and (access.volatile or access.order != "")
    )


def _is_fence(instruction: Instruction) -> bool:
    """Whether all that was read comes before the stores from here on, as with fences and stores with a release (rules 4
    and 6).
    """
    order = instruction.access.order if instruction.access else ""
    return instruction.operation == "fence" or (instruction.operation in _WRITES and order in _RELEASES)


def _may_store(instruction: Instruction) -> bool:
    # What a called function stores is not known here.
    calls = instruction.called != "" or instruction.callee == INDIRECT
    return instruction.operation in _WRITES or instruction.callee in EFFECTS or calls

# SPDX-License-Identifier: Apache-2.0
"""Which values are live at the beginning and the end of blocks: those that some path uses before it defines them anew.

Backward dataflow over sets as bits of integers, with a worklist: live_in = used | (live_out - defined). Arguments of a
jump are used at the end of the block that jumps, the parameters of its target are defined there: they are live in none
of the two for that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from polyloom.ir.ssa import Block, Function, Value, successor_edges
from polyloom.ir.ssa_verify import definitions, uses

Bits = int


@dataclass(frozen=True, slots=True)
class Liveness:
    """The names of live values by block, in the function's order of blocks."""

    live_in: tuple[frozenset[str], ...]
    live_out: tuple[frozenset[str], ...]


def liveness(function: Function) -> Liveness:
    """Live values at the beginning and the end of blocks: backward data flow over bit sets (Muchnick 1997, section
    14.1.3; Aho, Lam, Sethi, Ullman 2006, section 9.2.5).
    """
    names = [value.name for block in function.blocks for value in definitions(block)]
    number = {name: k for k, name in enumerate(names)}
    successors = block_successors(function)
    used, defined = zip(*(_upward_exposed(block, number) for block in function.blocks), strict=True)
    live_in = live(successors, used, defined)
    live_out = [_union(live_in, follow) for follow in successors]
    return Liveness(
        *(tuple(frozenset(names[k] for k in _members(bits)) for bits in sets) for sets in (live_in, live_out))
    )


def block_successors(function: Function) -> list[list[int]]:
    """By block the positions of those that it jumps to, in the order of its edges."""
    position = {block.name: k for k, block in enumerate(function.blocks)}
    return [[position[edge.block] for edge in successor_edges(block.terminator)] for block in function.blocks]


def live(successors: Sequence[Sequence[int]], used: Sequence[Bits], defined: Sequence[Bits]) -> list[Bits]:
    """Least fixed point of live_in = used | (live_out & ~defined), by node, with a worklist (Kildall 1973)."""
    found = list(used)
    predecessors: list[list[int]] = [[] for _ in successors]
    for k, follow in enumerate(successors):
        for successor in follow:
            predecessors[successor].append(k)
    # `pop` takes the last block first: backward problems converge fastest against the flow of control.
    work = list(range(len(successors)))
    waiting = [True] * len(successors)
    while work:
        k = work.pop()
        waiting[k] = False
        new = used[k] | (_union(found, successors[k]) & ~defined[k])
        if new != found[k]:
            found[k] = new
            for predecessor in predecessors[k]:
                if not waiting[predecessor]:
                    waiting[predecessor] = True
                    work.append(predecessor)
    # a block whose successors come later in the text is done after them, so that most are done once
    return found


def _union(sets: Sequence[Bits], members: Sequence[int]) -> Bits:
    union = 0
    for member in members:
        union |= sets[member]
    return union


def _upward_exposed(block: Block, number: dict[str, int]) -> tuple[Bits, Bits]:
    """Upward exposed uses of a block, and what it defines, as bit sets."""
    defined = sum(1 << number[value.name] for value in definitions(block))
    used = 0
    for _, operands in uses(block):
        for operand in operands:
            if isinstance(operand, Value):
                used |= 1 << number[operand.name]
    # In SSA form a definition stands before its uses in a block, so that the order inside it does not matter.
    return used & ~defined, defined


def _members(bits: Bits) -> Iterator[int]:
    """Positions of the bits that are set, ascending."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low

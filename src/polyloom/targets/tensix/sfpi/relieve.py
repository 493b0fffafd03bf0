# SPDX-License-Identifier: Apache-2.0
"""Fewer values alive at once, for kernels that do not fit as they are written: literals are loaded where they are used,
and instructions of a block stand as late as their results allow.

The order is found from the end of the block backwards: of what nothing left uses any more, the instruction comes next
that starts the fewest lives, and of equals the last one. What must keep its order does (`schedule`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final

from polyloom.ir.ssa import Block, Constant, Function, Instruction, Operand, Value
from polyloom.targets.tensix.isa import Member
from polyloom.targets.tensix.sfpi.code import Code, Item, Op
from polyloom.targets.tensix.sfpi.interference import Bits, live_out
from polyloom.targets.tensix.sfpi.operations import VECTOR
from polyloom.targets.tensix.sfpi.schedule import ordering
from polyloom.targets.tensix.sfpi.settle import excess, peak, settle
from polyloom.targets.tensix.sfpi.shapes import machine
from polyloom.transform.ssa.editing import names

_ATTEMPTS: Final = 3


def rematerialize(function: Function) -> Function:
    """Each use of a literal by a machine instruction has a load of its own; the first ones go where nothing uses them
    any more. What jumps pass on and what disabled lanes keep stays as it is."""
    fresh = names(function)
    loads: dict[str, tuple[Instruction, ...]] = {}
    for instruction in (i for block in function.blocks for i in block.instructions):
        chain = _literal(instruction, loads)
        if chain:
            loads[instruction.results[0].name] = chain
    return replace(
        function, blocks=tuple(replace(b, instructions=tuple(_own(b, loads, fresh))) for b in function.blocks)
    )


def _literal(instruction: Instruction, loads: Mapping[str, tuple[Instruction, ...]]) -> tuple[Instruction, ...]:
    """The instructions that load a literal; nothing for what is none."""
    if instruction.called not in ("SFPLOADI", "SFPLOADI.half"):
        return ()
    vectors = [o for o in instruction.operands if o.type == VECTOR]
    if not all(isinstance(o, Constant) for o in instruction.operands if o.type != VECTOR):
        return ()
    if not vectors:
        return (instruction,)
    first = loads.get(vectors[0].name) if isinstance(vectors[0], Value) else None
    return () if first is None else (*first, instruction)


def _own(
    block: Block, loads: Mapping[str, tuple[Instruction, ...]], fresh: Callable[[str], str]
) -> Iterator[Instruction]:
    for instruction in block.instructions:
        taken = machine(instruction)
        if taken is None or taken.old is not None or instruction.called == "SFPLOADI.half":
            yield instruction
            continue
        operands: list[Operand] = []
        for operand in instruction.operands:
            chain = loads.get(operand.name) if isinstance(operand, Value) else None
            if chain is None:
                operands.append(operand)
                continue
            made: Value | None = None
            for load in chain:
                result = Value(fresh("literal"), VECTOR)
                given = load.operands if made is None else (made, *load.operands[1:])
                yield replace(load, operands=given, results=(result,), place=instruction.place)
                made = result
            assert made is not None
            operands.append(made)
        yield replace(instruction, operands=tuple(operands))


def compact(code: Code, member: Member, most: int) -> Code:
    """The code with short lives, in blocks where more values are live at once than `most`."""
    blocks = zip(code.items, live_out(code), strict=True)
    return replace(code, items=tuple(_relieved(items, after, member, most) for items, after in blocks))


def _relieved(items: tuple[Item, ...], after: Bits, member: Member, most: int) -> tuple[Item, ...]:
    """The first order, of several that differ in what comes first of equals, in which few enough values are live; else
    the one with the fewest."""
    if peak(items, after) <= most:
        return items
    edges = ordering(items, member)
    best = items
    for attempt in range(_ATTEMPTS):
        found = tuple(_Backwards(items, after, edges, _ranks(len(items), attempt)).order())
        if peak(found, after) < peak(best, after):
            best = found
        if peak(best, after) <= most:
            return best
    return min(
        (tuple(settle(start, after, member, most)) for start in (items, best)),
        key=lambda found: excess(found, after, most),
    )


def _ranks(count: int, attempt: int) -> list[int]:
    """Of equals the one with the least rank is taken: from the last on, from the first on, then by lot, which is drawn
    alike in every run."""
    ranks = list(range(count)) if attempt else list(range(count, 0, -1))
    if attempt > 1:
        Random(attempt).shuffle(ranks)
    return ranks


@dataclass(slots=True)
class _Backwards:
    """Mutable: what is live before the instructions that have their place."""

    items: tuple[Item, ...]
    alive: Bits
    edges: Sequence[Mapping[int, int]]
    ranks: Sequence[int]
    waits: list[int] = field(default_factory=list[int])

    def order(self) -> list[Item]:
        self.waits = [0] * len(self.items)
        for found in self.edges:
            for other in found:
                self.waits[other] += 1
        ready = [at for at, count in enumerate(self.waits) if not count]
        placed: list[Item] = []
        while ready:
            chosen = min(ready, key=lambda at: (self._lives(self.items[at]), self.ranks[at]))
            ready.remove(chosen)
            placed.append(self.items[chosen])
            self._place(self.items[chosen])
            for other in self.edges[chosen]:
                self.waits[other] -= 1
                if not self.waits[other]:
                    ready.append(other)
        return placed[::-1]

    def _lives(self, item: Item) -> int:
        """How many more values are live before the instruction than behind it; scalar code comes first."""
        if not isinstance(item, Op):
            return -9
        started = {r for r in item.reads if not self.alive >> r & 1}
        ended = {r for r in item.writes if self.alive >> r & 1 and r not in item.reads}
        return len(started) - len(ended)

    def _place(self, item: Item) -> None:
        if isinstance(item, Op):
            for register in item.writes:
                self.alive &= ~(1 << register)
            for register in item.reads:
                self.alive |= 1 << register

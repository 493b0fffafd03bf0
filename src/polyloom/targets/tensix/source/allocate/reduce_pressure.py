# SPDX-License-Identifier: Apache-2.0
"""Reduction of register pressure, for kernels that do not fit as they are written: rematerialization of literals where
they are used, and instructions of a block as late as their results allow.

The order is found from the end of the block backwards: of what nothing left uses any more, the instruction comes next
that starts the fewest lives, and of equals the last one (list scheduling for registers, as in Goodman and Hsu 1988).
What must keep its order does (`schedule`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final

from polyloom.ir.ssa import Block, Constant, Function, Instruction, Operand, Value
from polyloom.targets.tensix.source.allocate.code import Code, Item, Op
from polyloom.targets.tensix.source.allocate.interference import Bits, live_in_set, live_out_sets, walk_backwards
from polyloom.targets.tensix.source.allocate.local_search import LONGEST, excess_pressure, peak_pressure, search_order
from polyloom.targets.tensix.source.allocate.schedule import dependence_edges
from polyloom.targets.tensix.source.lower.shapes import Machine, decompose
from polyloom.targets.tensix.source.operations import PREFIX, VECTOR
from polyloom.targets.tensix.words.decode import decode
from polyloom.targets.tensix.words.isa import Member
from polyloom.transform.ssa.function_editing import names

_ATTEMPTS: Final = 3
_NOT_OWN: Final = ("SFPLOADI.half", "SFPSHFT2", "SFPTRANSP")
"""A half belongs to its other half. What reads other lanes needs them loaded, whatever is enabled where it stands."""


def rematerialize(function: Function, with_loads: bool) -> Function:
    """Rematerialization (Briggs, Cooper and Torczon 1992): each use of a literal by a machine instruction has a load of
    its own; the first ones go where nothing uses them any more. `with_loads` does the same for values of Dst, where
    nothing between can have changed them. What jumps pass on and what disabled lanes keep stays as it is.
    """
    fresh = names(function)
    loads: dict[str, tuple[Instruction, ...]] = {}
    for instruction in (i for block in function.blocks for i in block.instructions):
        chain = _literal_loads(instruction, loads)
        if chain:
            loads[instruction.results[0].name] = chain
    blocks = (
        replace(b, instructions=tuple(_rematerialize_block(b, loads, fresh, with_loads))) for b in function.blocks
    )
    return replace(function, blocks=tuple(blocks))


def _literal_loads(instruction: Instruction, loads: Mapping[str, tuple[Instruction, ...]]) -> tuple[Instruction, ...]:
    """Instructions that load a literal; nothing for what is none."""
    if instruction.called not in ("SFPLOADI", "SFPLOADI.half"):
        return ()
    vectors = [o for o in instruction.operands if o.type == VECTOR]
    if not all(isinstance(o, Constant) for o in instruction.operands if o.type != VECTOR):
        return ()
    if not vectors:
        return (instruction,)
    first = loads.get(vectors[0].name) if isinstance(vectors[0], Value) else None
    return () if first is None else (*first, instruction)


def _rematerialize_block(
    block: Block, literals: Mapping[str, tuple[Instruction, ...]], fresh: Callable[[str], str], with_loads: bool
) -> Iterator[Instruction]:
    known = dict(literals)
    loaded: list[str] = []
    for instruction in block.instructions:
        taken = decompose(instruction)
        # Values that were loaded before can no longer be had by loading again.
        if _changes_dst(instruction):
            for name in loaded:
                del known[name]
            loaded = []
        if taken is None or taken.old is not None or instruction.called in _NOT_OWN:
            yield instruction
            continue
        yield from _reload_operands(instruction, known, fresh)
        if with_loads and _is_reloadable(taken):
            known[taken.results[0].name] = (instruction,)
            loaded.append(taken.results[0].name)


def _reload_operands(
    instruction: Instruction, known: Mapping[str, tuple[Instruction, ...]], fresh: Callable[[str], str]
) -> Iterator[Instruction]:
    operands: list[Operand] = []
    for operand in instruction.operands:
        chain = known.get(operand.name) if isinstance(operand, Value) else None
        made: Value | None = None
        for load in chain or ():
            result = Value(fresh("literal"), VECTOR)
            given = load.operands if made is None else (made, *load.operands[1:])
            yield replace(load, operands=given, results=(result,), place=instruction.place)
            made = result
        operands.append(operand if made is None else made)
    yield replace(instruction, operands=tuple(operands))


def _is_reloadable(taken: Machine) -> bool:
    is_known = taken.immediate("dest_reg_addr") is not None and taken.immediate("sfpu_addr_mode") in (3, 7)
    return taken.shape.name == "SFPLOAD" and is_known


def _changes_dst(instruction: Instruction) -> bool:
    """Whether the same load may give something else behind it; of words, those of other units are taken to do so."""
    if instruction.called == "SFPSTORE":
        return True
    if instruction.called == "SFPLOAD":
        taken = decompose(instruction)
        return taken is not None and taken.immediate("sfpu_addr_mode") not in (3, 7)
    if instruction.called != f"{PREFIX}word":
        return False
    word = instruction.operands[0]
    found = decode(word.value & 0xFFFFFFFF) if isinstance(word, Constant) else None
    return found is None or found.row.unit != "vector" or found.row.name in ("SFPSTORE", "SFPLOADMACRO", "SFPLOAD")


def shorten_live_ranges(code: Code, member: Member, most: int) -> Code:
    """Code with short live ranges, in blocks where more values are live at once than `most`."""
    blocks = zip(code.items, live_out_sets(code), strict=True)
    return replace(code, items=tuple(_reorder_block(items, after, member, most) for items, after in blocks))


def _reorder_block(items: tuple[Item, ...], after: Bits, member: Member, most: int) -> tuple[Item, ...]:
    """First order, of several that differ in what comes first of equals, in which few enough values are live; else the
    one with the fewest.
    """
    if peak_pressure(items, after) <= most:
        return items
    if len(items) > LONGEST:
        return _reorder_pieces(items, after, member, most)
    edges = dependence_edges(items, member)
    # The order of the program is the first candidate, so that the result is never worse than that.
    best = items
    for attempt in range(_ATTEMPTS):
        found = tuple(_Backwards(items, after, edges, _tie_ranks(len(items), attempt)).order())
        if peak_pressure(found, after) < peak_pressure(best, after):
            best = found
        if peak_pressure(best, after) <= most:
            return best
    return min(
        (tuple(search_order(start, after, member, most)) for start in (items, best)),
        key=lambda found: excess_pressure(found, after, most),
    )


def _reorder_pieces(items: tuple[Item, ...], after: Bits, member: Member, most: int) -> tuple[Item, ...]:
    """Reordering of a long block piece by piece, from the last on."""
    found: tuple[Item, ...] = ()
    cuts = [0, *_cut_points(items, after), len(items)]
    for first, last in zip(cuts[-2::-1], cuts[:0:-1], strict=True):
        piece = items[first:last]
        found = (*_reorder_block(piece, after, member, most), *found)
        after = live_in_set(piece, after)
    return found


def _cut_points(items: Sequence[Item], after: Bits) -> Iterator[int]:
    """Cut points where few values are live, and no flags are on the stack that were pushed in the block."""
    live = {at: alive.bit_count() for at, _, alive in walk_backwards(items, after)}
    depth, last = 0, 0
    best: tuple[int, int] | None = None
    for at, item in enumerate(items):
        if isinstance(item, Op):
            pops = item.shape.name == "SFPPOPC" and item.immediate("instr_mod1") == 0
            depth += (item.shape.name == "SFPPUSHC") - pops
        # A push and its pop stay in one piece, since the dependences of flags are only known within a piece.
        if depth <= 0 and at in live and at - last >= LONGEST // 4 and (best is None or live[at] <= best[0]):
            best = (live[at], at + 1)
        if best is not None and at - last >= LONGEST - 1:
            yield best[1]
            last, best = best[1], None


def _tie_ranks(count: int, attempt: int) -> list[int]:
    """Tie-breaking ranks, of equals the one with the least is taken: from the last on, from the first on, then by lot,
    which is drawn alike in every run.
    """
    ranks = list(range(count)) if attempt else list(range(count, 0, -1))
    if attempt > 1:
        Random(attempt).shuffle(ranks)
    return ranks


@dataclass(slots=True)
class _Backwards:
    """Backward list scheduler. Mutable: what is live before the instructions that have their place."""

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
            chosen = min(ready, key=lambda at: (self._pressure_change(self.items[at]), self.ranks[at]))
            ready.remove(chosen)
            placed.append(self.items[chosen])
            self._place(self.items[chosen])
            for other in self.edges[chosen]:
                self.waits[other] -= 1
                if not self.waits[other]:
                    ready.append(other)
        return placed[::-1]

    def _pressure_change(self, item: Item) -> int:
        """Change of pressure: how many more values are live before the instruction than behind it; scalar code comes
        first.
        """
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

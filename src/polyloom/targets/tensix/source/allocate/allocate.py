# SPDX-License-Identifier: Apache-2.0
"""Register allocation of variables to L0 to L7, by graph colouring with coalescing of copies.

Copies whose two sides do not interfere are merged, all of them first (Chaitin 1982); where no colouring is found then,
those with the variables that found no register are left, and in the end only merges that cannot cost a colour are made
(Briggs, Cooper and Torczon 1994). A colouring takes variables in the order of the program, which gives equal code for
repeated pieces, else by degree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from typing import Final

from polyloom.targets.tensix.source.allocate.code import FIRST_VARIABLE, Code, Item, Op, Register
from polyloom.targets.tensix.source.allocate.interference import (
    ALLOCATED,
    Bits,
    Interference,
    build_interference_graph,
    members,
)

_PHYSICAL: Final[Bits] = (1 << ALLOCATED) - 1
# Each round keeps one more group of copies; kernels that need more do not fit as a rule.
_ROUNDS: Final = 24


def allocate_registers(code: Code) -> Code | None:
    """Code over L0 to L15; None where no colouring is found."""
    found = build_interference_graph(code)
    order = _program_order(code)
    for merging in _colourings(found, order):
        if merging is not None:
            return _rename_registers(code, merging)
    return None


def _colourings(found: Interference, order: Sequence[Register]) -> Iterator[list[Register] | None]:
    """Colourings, registers by variable, of one way to merge copies after the other."""
    kept: frozenset[Register] = frozenset()
    for _ in range(_ROUNDS):
        merged = _Merged(found, kept, is_careful=False)
        colours, failed = merged.colour(order)
        yield colours
        if failed is None:
            return
        group = frozenset(merged.group(failed))
        # The variable that failed is in no copy: to keep copies apart cannot help it.
        if len(group) < 2 or group <= kept:
            break
        kept |= group
    yield _Merged(found, frozenset(), is_careful=True).colour(order)[0]
    yield _Merged(found, frozenset(range(len(found.neighbours))), is_careful=True).colour(order)[0]


class _Merged:
    """Interference graph with coalesced nodes. Mutable: registers by the one that stands for them, and that one's
    neighbours.
    """

    def __init__(self, found: Interference, kept: frozenset[Register], is_careful: bool) -> None:
        self.copies = found.copies
        self.neighbours = list(found.neighbours)
        self.leaders = list(range(len(found.neighbours)))
        for to, source in found.copies:
            if to not in kept and source not in kept:
                self._coalesce(to, source, is_careful)

    def leader(self, register: Register) -> Register:
        while self.leaders[register] != register:
            register = self.leaders[register]
        return register

    def group(self, register: Register) -> list[Register]:
        return [r for r in range(FIRST_VARIABLE, len(self.leaders)) if self.leader(r) == register]

    def _coalesce(self, to: Register, source: Register, is_careful: bool) -> None:
        a, b = sorted((self.leader(to), self.leader(source)))
        # Two physical registers, and constant registers, are never merged.
        if a == b or b < FIRST_VARIABLE or ALLOCATED <= a < FIRST_VARIABLE or self.neighbours[a] >> b & 1:
            return
        if is_careful and not self._is_harmless(a, b):
            return
        self.leaders[b] = a
        for other in members(self.neighbours[b]):
            self.neighbours[other] = self.neighbours[other] & ~(1 << b) | 1 << a
        self.neighbours[a] |= self.neighbours[b]
        self.neighbours[b] = 0

    def _is_harmless(self, a: Register, b: Register) -> bool:
        """Conservative coalescing test of Briggs (1994): fewer than K neighbours of the two together have K neighbours
        or more; a register counts as such.
        """
        both = self.neighbours[a] | self.neighbours[b]
        heavy = sum(1 for n in members(both) if n < ALLOCATED or self.neighbours[n].bit_count() >= ALLOCATED)
        return heavy < ALLOCATED

    def colour(self, order: Sequence[Register]) -> tuple[list[Register] | None, Register | None]:
        """Colouring: registers by variable; or none, and a variable that has no register."""
        leaders = list(dict.fromkeys(self.leader(r) for r in order))
        wanted = [r for r in leaders if r >= FIRST_VARIABLE]
        # Program order first: repeated pieces then tend to get the same registers, which replay needs.
        colours, failed = self._colour_in_order(wanted)
        if colours is None:
            colours, second = self._colour_in_order(self._simplification_order(wanted))
            failed = failed if second is None else second
        if colours is None:
            return None, failed
        found = [colours.get(self.leader(r), r) for r in range(len(self.leaders))]
        return found, None

    def _colour_in_order(self, order: Sequence[Register]) -> tuple[dict[Register, Register] | None, Register | None]:
        colours = {r: r for r in range(FIRST_VARIABLE)}
        hints = self._copy_hints()
        for register in order:
            taken = 0
            for n in members(self.neighbours[register]):
                if n in colours:
                    taken |= 1 << colours[n]
            free = _PHYSICAL & ~taken
            if not free:
                return None, register
            # A copy whose sides get one register disappears, even where they could not be merged.
            wished = [colours[h] for h in hints.get(register, ()) if h in colours and free >> colours[h] & 1]
            colours[register] = wished[0] if wished else next(members(free))
        return colours, None

    def _copy_hints(self) -> dict[Register, list[Register]]:
        """Copy hints: by register those that copies connect it with."""
        found: dict[Register, list[Register]] = {}
        for to, source in self.copies:
            a, b = self.leader(to), self.leader(source)
            if a != b and not ALLOCATED <= min(a, b) < FIRST_VARIABLE:
                found.setdefault(a, []).append(b)
                found.setdefault(b, []).append(a)
        return found

    def _simplification_order(self, wanted: Sequence[Register]) -> list[Register]:
        """Simplification order: the reverse of an order in which each has few neighbours left, as far as there is one
        (Chaitin 1982). A heap has the others by degree, with a stale entry for each degree that a node once had.
        """
        left = sum(1 << register for register in wanted)
        degree = {r: (self.neighbours[r] & (left | _PHYSICAL)).bit_count() for r in wanted}
        light = [register for register in wanted if degree[register] < ALLOCATED]
        heavy = [(degree[register], register) for register in wanted if degree[register] >= ALLOCATED]
        heapify(heavy)
        removed: list[Register] = []
        while left:
            # Optimistic colouring: a node of high degree is taken all the same, it may find a register (Briggs 1994).
            known, chosen = (0, light.pop()) if light else heappop(heavy)
            if not left >> chosen & 1 or known > degree[chosen]:
                continue
            removed.append(chosen)
            left &= ~(1 << chosen)
            for other in members(self.neighbours[chosen] & left):
                degree[other] -= 1
                if degree[other] == ALLOCATED - 1:
                    light.append(other)
                elif degree[other] >= ALLOCATED:
                    heappush(heavy, (degree[other], other))
        return removed[::-1]


def _program_order(code: Code) -> list[Register]:
    """Variables as they are first written."""
    written = (r for items in code.items for item in items if isinstance(item, Op) for r in (*item.writes, *item.reads))
    return [r for r in dict.fromkeys(written) if r >= FIRST_VARIABLE]


def _rename_registers(code: Code, colours: Sequence[Register]) -> Code:
    items = tuple(
        tuple(i for i in (_rename_item(item, colours) for item in found) if i is not None) for found in code.items
    )
    return replace(code, items=items, variables=FIRST_VARIABLE)


def _rename_item(item: Item, colours: Sequence[Register]) -> Item | None:
    """Item over physical registers; None for a copy of a register to itself, and for the end of the kernel."""
    if not isinstance(item, Op):
        return item
    named = replace(
        item,
        results=tuple(colours[r] for r in item.results),
        operands=tuple(colours[r] for r in item.operands),
        kept=tuple(colours[r] for r in item.kept),
    )
    if item.shape.name == "exit" or (named.is_copy and named.results == named.operands):
        return None
    return named

# SPDX-License-Identifier: Apache-2.0
"""Available values of memory: which locations hold which values on every path to a block (available expressions over
memory; Muchnick, "Advanced Compiler Design and Implementation", 1997, section 8.3).

A load and a store make a value available, an access that may change the location takes it away. A fact is about the
values of its address as they are now; where one of them is defined again, as in the next iteration of a loop, it ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from polyloom.analysis.aliases import Aliases, Location, is_plain_load
from polyloom.analysis.dominators import dominator_tree
from polyloom.ir.ssa import Function, Instruction, Operand, Value, flow_edges, successor_edges
from polyloom.ir.ssa_types import Type

Key = tuple[Operand, int, tuple[tuple[str, int], ...], Type]
"""A location: its root, the distance, and the type that was accessed."""
Facts = dict[Key, tuple[Location, Operand]]
_MOST: Final = 48
"""Facts per block: bounds the time in long functions."""
_BLOCKS: Final = 4000
"""In functions of more blocks, facts end with their block."""


def key_of(location: Location, type: Type, pointers: int) -> Key:
    """One key for each address and type."""
    terms = tuple(sorted((name, by % (1 << pointers)) for name, by in location.form.terms.items()))
    return location.root, location.form.constant % (1 << pointers), terms, type


class AvailableValues:
    """Of a function all of whose blocks are reached: facts at the ends of blocks."""

    def __init__(self, function: Function, aliases: Aliases | None = None) -> None:
        self.function = function
        self.aliases = aliases or Aliases(function)
        tree = dominator_tree(len(function.blocks), flow_edges(function))
        # A subtree is an interval of the preorder.
        self._position: list[int] = tree.position.tolist()
        self._size: list[int] = tree.size.tolist()
        self.home = {
            value.name: k
            for k, block in enumerate(function.blocks)
            for value in (*block.parameters, *(r for i in block.instructions for r in i.results))
        }
        self.sources: list[list[int]] = [[] for _ in function.blocks]
        position = {block.name: k for k, block in enumerate(function.blocks)}
        for k, block in enumerate(function.blocks):
            for edge in successor_edges(block.terminator):
                self.sources[position[edge.block]].append(k)
        self.leaving: dict[int, Facts] = {}
        if len(function.blocks) <= _BLOCKS:
            self._iterate()

    def _dominates(self, a: int, b: int) -> bool:
        """Whether all paths to b lead through a, another block."""
        return self._position[a] < self._position[b] < self._position[a] + self._size[a]

    def _iterate(self) -> None:
        # From all facts down: a block that was not looked at yet takes nothing away.
        changed = True
        while changed:
            changed = False
            for k in range(len(self.function.blocks)):
                facts = self.entering(k)
                for instruction in self.function.blocks[k].instructions:
                    self.step(facts, instruction)
                if self.leaving.get(k) != facts:
                    self.leaving[k], changed = facts, True

    def entering(self, k: int) -> Facts:
        """The facts at the beginning of a block."""
        known = [self.leaving[source] for source in self.sources[k] if source in self.leaving]
        if k == 0 or not known:
            return {}
        first, *others = known
        return {
            key: fact
            for key, fact in first.items()
            if all(other.get(key) == fact for other in others) and self._holds(key, fact[1], k)
        }

    def _holds(self, key: Key, value: Operand, k: int) -> bool:
        """Whether all values of a fact are as old as the block's dominators."""
        names = [name for name, _ in key[2]]
        names += [o.name for o in (key[0], value) if isinstance(o, Value)]
        return all(name == "?" or self._dominates(self.home[name], k) for name in names)

    def known(self, facts: Mapping[Key, tuple[Location, Operand]], instruction: Instruction) -> Operand | None:
        """The value that a load is known to give."""
        location = self.aliases.location(instruction) if is_plain_load(instruction) else None
        if location is None or "?" in location.form.terms:
            return None
        found = facts.get(key_of(location, instruction.results[0].type, self.function.pointers))
        return None if found is None else found[1]

    def step(self, facts: Facts, instruction: Instruction) -> None:
        """Changes the facts as the instruction does."""
        location = self.aliases.location(instruction)
        is_store = location is not None and not instruction.results
        if location is None:
            if self.aliases.may_write(instruction):
                for key in [k for k, (at, _) in facts.items() if self.aliases.may_change(instruction, at)]:
                    del facts[key]
            return
        if is_store:
            for key in [k for k, (at, _) in facts.items() if self.aliases.overlap(at, location)]:
                del facts[key]
        if "?" in location.form.terms:
            return
        value: Operand = instruction.operands[0] if is_store else instruction.results[0]
        key = key_of(location, value.type, self.function.pointers)
        if key not in facts:
            if len(facts) >= _MOST:
                del facts[next(iter(facts))]
            facts[key] = location, value

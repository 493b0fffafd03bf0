# SPDX-License-Identifier: Apache-2.0
"""Available values of memory: which locations hold which values on every path to a block (available expressions over
memory; Muchnick, "Advanced Compiler Design and Implementation", 1997, section 8.3).

A load and a store make a value available, an access that may change the location takes it away. A fact is about the
values of its address as they are now; where one of them is defined again, as in the next iteration of a loop, it ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from polyloom.analysis.aliases import Aliases, Location, is_plain_load, is_plain_store
from polyloom.analysis.dominators import dominator_tree
from polyloom.ir.ssa import Function, Instruction, Operand, Value, flow_edges, successor_edges
from polyloom.ir.ssa_types import Type

Key = tuple[Location, Type]
"""A location, and the type that was accessed."""
Facts = dict[Key, Operand]
_MOST: Final = 48
"""Facts per block: bounds the time in long functions."""
_BLOCKS: Final = 4000
"""In functions of more blocks, facts end with their block."""


class AvailableValues:
    """Of a function all of whose blocks are reached: facts at the ends of blocks."""

    def __init__(self, function: Function, aliases: Aliases) -> None:
        self.function, self.aliases = function, aliases
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
                facts = self.facts_at_entry(k)
                for instruction in self.function.blocks[k].instructions:
                    self.apply(facts, instruction)
                if self.leaving.get(k) != facts:
                    self.leaving[k], changed = facts, True

    def facts_at_entry(self, k: int) -> Facts:
        """Facts at the beginning of a block: the meet of those at the ends of its predecessors, as far as their values
        still are what they were (Muchnick 1997, section 8.3).
        """
        known = [self.leaving[source] for source in self.sources[k] if source in self.leaving]
        # At the entry nothing is known; of a loop's header at first only what comes from outside.
        if k == 0 or not known:
            return {}
        first, *others = known
        return {
            key: value
            for key, value in first.items()
            if all(other.get(key) == value for other in others) and self._has_current_values(key[0], value, k)
        }

    def _has_current_values(self, location: Location, value: Operand, k: int) -> bool:
        """Whether all values of a fact are as old as the block's dominators: a value that is defined in a loop is
        another one in the next iteration.
        """
        operands = (value, *(atom for atom, _ in location.address.terms))
        return all(self._dominates(self.home[o.name], k) for o in operands if isinstance(o, Value))

    def known_value(self, facts: Mapping[Key, Operand], instruction: Instruction) -> Operand | None:
        """Value that a load is known to give; None for others."""
        location = self.aliases.location(instruction) if is_plain_load(instruction) else None
        return facts.get((location, instruction.results[0].type)) if location is not None else None

    def apply(self, facts: Facts, instruction: Instruction) -> None:
        """Transfer function of one instruction: stores and calls kill facts, plain loads and stores generate one."""
        if self.aliases.may_write(instruction):
            for key in [key for key in facts if self.aliases.may_change(instruction, key[0])]:
                del facts[key]
        location = self.aliases.location(instruction)
        if location is None or not (is_plain_load(instruction) or is_plain_store(instruction)):
            return
        value = (*instruction.results, *instruction.operands)[0]
        key = location, value.type
        if key not in facts:
            # The oldest fact goes: what was accessed last is likely to be accessed again.
            if len(facts) >= _MOST:
                del facts[next(iter(facts))]
            facts[key] = value

# SPDX-License-Identifier: Apache-2.0
"""Mask analysis: which lanes are enabled at each instruction, as names of sets of lanes in a tree: a set is within its
parent.

The root is all lanes. An instruction that narrows makes a set below the one before it, SFPCOMPC one below the stack's
top. Where paths meet with different sets, the set there is below their nearest common one. A set is thus known by the
place that makes it; in a loop one place makes many, each of which is gone when the next is made. Method: forward
data-flow analysis to a fixed point (Kildall 1973).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from polyloom.ir.ssa import NOWHERE, Constant, Function, Instruction, Place, successor_edges
from polyloom.targets.tensix.source.lower.shapes import decompose, sets_flags
from polyloom.targets.tensix.source.operations import called_operation
from polyloom.targets.tensix.words.decode import decode
from polyloom.transform.ssa.function_editing import postorder

Set = int
ALL: Final[Set] = 0
Stack = tuple[Set, ...]
"""The sets on the stack of flags, and last the enabled one."""


@dataclass(frozen=True, slots=True)
class Masks:
    """Result of the analysis. `before` has by block the enabled set before each instruction, and last that at the end;
    `depth` is the greatest number of entries on the stack, which `deepest` first has.
    """

    parents: Mapping[Set, Set]
    before: Mapping[str, Sequence[Set]]
    depth: int
    deepest: Place = NOWHERE

    def covers(self, outer: Set, inner: Set) -> bool:
        """Whether the tree says that `outer` has all lanes of `inner`."""
        while inner not in (outer, ALL):
            inner = self.parents[inner]
        return inner == outer

    def common(self, one: Set, other: Set) -> Set:
        """Least common ancestor: the nearest set that has the lanes of both."""
        while not self.covers(one, other):
            one = self.parents[one]
        return one


def analyze_masks(function: Function) -> Masks:
    """Mask analysis of a function whose flags are set by machine instructions; blocks that nothing reaches are left
    out.
    """
    return _Walk(function).found()


class _Walk:
    """Analysis in work. Mutable: numbers of the places that make sets, their parents, and the stacks at the beginning
    of blocks.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.blocks = {block.name: block for block in function.blocks}
        self.order = postorder(function)[::-1]
        self.numbers: dict[tuple[str, str, int], Set] = {}
        self.parents: dict[Set, Set] = {ALL: ALL}
        self.entries: dict[str, Stack] = {self.order[0]: (ALL,)}
        self.before: dict[str, list[Set]] = {}
        self.changed = True
        self.depth, self.deepest = 0, NOWHERE

    def found(self) -> Masks:
        while self.changed:
            self.changed = False
            for name in self.order:
                self._block(name)
        return Masks(self.parents, self.before, self.depth, self.deepest)

    def _block(self, name: str) -> None:
        block, stack = self.blocks[name], self.entries[name]
        before: list[Set] = []
        for at, instruction in enumerate(block.instructions):
            before.append(stack[-1])
            stack = self._transfer(instruction, stack, (name, "at", at))
            # The hardware's stack has eight entries; the deepest place is where the message about it stands.
            if len(stack) - 1 > self.depth:
                self.depth, self.deepest = len(stack) - 1, instruction.place
        before.append(stack[-1])
        self.before[name] = before
        for edge in successor_edges(block.terminator):
            self._arrive(edge.block, stack)

    def _arrive(self, name: str, stack: Stack) -> None:
        known = self.entries.get(name)
        # The first way to a block is taken as it is; later ones can only move its sets towards the root.
        if known is None:
            self.entries[name], self.changed = stack, True
            return
        met = tuple(
            self._meet_sets(name, slot, old, new) for slot, (old, new) in enumerate(zip(known, stack, strict=True))
        )
        if met != known:
            self.entries[name], self.changed = met, True

    def _meet_sets(self, name: str, slot: int, old: Set, new: Set) -> Set:
        """Meet of two sets where paths join: a set of the place, below the nearest common one."""
        key = (name, "from", slot)
        merged = self.numbers.get(key)
        if old == new or (merged == old and self._covers(old, new)):
            return old
        # Parents only move up the tree, which is why the iteration ends.
        below = self._common(self.parents[old] if merged == old else old, new)
        return self._make_set(key, below)

    def _make_set(self, key: tuple[str, str, int], parent: Set) -> Set:
        number = self.numbers.setdefault(key, len(self.numbers) + 1)
        if self.parents.get(number) != parent:
            self.parents[number], self.changed = parent, True
        return number

    def _covers(self, outer: Set, inner: Set) -> bool:
        return Masks(self.parents, {}, 0).covers(outer, inner)

    def _common(self, one: Set, other: Set) -> Set:
        return Masks(self.parents, {}, 0).common(one, other)

    def _transfer(self, instruction: Instruction, stack: Stack, key: tuple[str, str, int]) -> Stack:
        """Transfer function of an instruction on the stack of sets."""
        change = _flag_change(instruction)
        if change is None:
            return stack
        name, mode = change
        below, last = stack[:-1], stack[-1]
        top = below[-1] if below else ALL
        match name, mode:
            case "SFPPUSHC", _:
                return (*stack, last)
            case "SFPENCC", 1:
                return (*below, ALL)
            case "SFPENCC", _:
                return (*below, self._make_set(key, ALL))
            case "SFPPOPC", 0:
                return below or (ALL,)
            case "SFPPOPC", 1:
                return (*below, top)
            # A union lies within what both lie within; nothing closer is known of it.
            case "SFPPOPC", 4:
                return (*below, self._make_set(key, self._common(last, top)))
            case "SFPPOPC", _:
                return (*below, self._make_set(key, ALL))
            case "SFPCOMPC", _:
                return (*below, self._make_set(key, top))
            case _:
                return (*below, self._make_set(key, last))


def _flag_change(instruction: Instruction) -> tuple[str, int] | None:
    """Effect of an instruction, or a word of the source, on flags: its name, and the mode of SFPPOPC, or 1 for a
    SFPENCC that enables all lanes. None for what leaves them alone.
    """
    taken, row = decompose(instruction), called_operation(instruction)
    if taken is not None:
        name = taken.shape.row_name
        if not sets_flags(taken) and name != "SFPPUSHC":
            return None
        return name, taken.immediate("instr_mod1") or 0 if name != "SFPENCC" else 1
    word = instruction.operands[0] if row is not None and row.name == "word" else None
    found = decode(word.value & 0xFFFFFFFF) if isinstance(word, Constant) else None
    if found is None or not any(role.what in ("flags", "stack") for role in found.row.writes):
        return None
    mode = found.values.get("instr_mod1", 0)
    match found.row.name:
        case "SFPENCC":
            # with all flags set all lanes are enabled, whether flags are in use or not
            return "SFPENCC", int(not mode & 8 or found.values["imm12_math"] & 2)
        case "SFPIADD":
            return ("SFPIADD", mode) if mode & 12 != 4 else None
        case "SFPEXEXP" | "SFPLZ":
            return (found.row.name, mode) if mode & 10 else None
        case name:
            return name, mode

# SPDX-License-Identifier: Apache-2.0
"""Frames of predication of a vector kernel: which push opened what is open at each place, and what each needs.

Frames follow control flow: where paths meet, the frames that are open on them are one (union-find). Depths agree there,
as the verifier has checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from polyloom.ir.ssa import Block, Function, Instruction, successor_edges
from polyloom.targets.tensix.source.operations import called_operation
from polyloom.transform.ssa.function_editing import postorder

Site = tuple[str, int]
"""A block and the position of an instruction in it."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame. `elses` are the sites of its else, in their order. A root frame begins with all lanes enabled, and an
    empty stack; `is_bare` says that its push takes no word, `is_flat` that its end takes none either, beyond entries
    that a condition left; `narrows` that `and_` stands in it.
    """

    is_root: bool
    is_bare: bool
    is_flat: bool
    narrows: bool
    elses: tuple[Site, ...]


@dataclass(frozen=True, slots=True)
class Frames:
    """Frames by site of a push; blocks by name in an order in which one stands behind one that jumps to it."""

    pushed: Mapping[Site, Frame]
    order: Sequence[str]
    blocks: Mapping[str, Block]
    targets: Mapping[str, Sequence[str]]


def find_frames(function: Function, optimize: bool) -> Frames:
    """Frames of a function. Without `optimize` every frame pushes and pops."""
    found = _Walk(function)
    pushed = {site: _frame(found, number, optimize) for site, number in found.numbers.items()}
    return Frames(pushed, found.order, found.blocks, found.targets)


def _frame(found: _Walk, number: int, optimize: bool) -> Frame:
    same = [n for n in found.depths if found.leader(n) == found.leader(number)]
    elses = tuple(site for site, n in found.elses if n in same)
    is_root = optimize and found.depths[number] == 0
    pops = [site for site, n in found.pops if n in same]
    ends = all(found.is_followed_by_pop(site) for site in pops) and found.depths[number] > 0
    # The outer frame's end restores the lanes anyway, so that this frame's own pop can be left out.
    is_flat = optimize and not elses and bool(pops) and ends
    narrows = any(n in same for n in found.narrowed)
    return Frame(is_root, is_root or is_flat, is_flat, narrows, elses)


class _Walk:
    """Walk over the blocks. Mutable: frames by number, joined where paths meet, with what stands in them."""

    def __init__(self, function: Function) -> None:
        self.blocks = {block.name: block for block in function.blocks}
        self.order = postorder(function)[::-1]
        self.targets = {name: [e.block for e in successor_edges(self.blocks[name].terminator)] for name in self.order}
        self.numbers: dict[Site, int] = {}
        self.depths: dict[int, int] = {}
        self.parents: dict[int, int] = {}
        self.elses: list[tuple[Site, int]] = []
        self.pops: list[tuple[Site, int]] = []
        self.narrowed: list[int] = []
        entries: dict[str, list[int]] = {self.order[0]: []}
        for name in self.order:
            left = self._block(name, list(entries[name]))
            for target in self.targets[name]:
                for one, other in zip(entries.setdefault(target, left), left, strict=True):
                    # Frames that are open on two ways to one block are the same frame, wherever it was pushed.
                    self.parents[self.leader(other)] = self.leader(one)

    def leader(self, number: int) -> int:
        while self.parents[number] != number:
            number = self.parents[number]
        return number

    def is_followed_by_pop(self, site: Site) -> bool:
        """Whether the frame around ends with nothing between that could see which lanes are enabled."""
        name, at = site
        for instruction in self.blocks[name].instructions[at + 1 :]:
            if instruction.operation == "call":
                return _name(instruction) == "pop"
        return False

    def _block(self, name: str, open: list[int]) -> list[int]:
        for at, instruction in enumerate(self.blocks[name].instructions):
            match _name(instruction):
                case "push":
                    number = len(self.depths)
                    self.numbers[name, at], self.depths[number], self.parents[number] = number, len(open), number
                    open.append(number)
                case "else_":
                    self.elses.append(((name, at), open[-1]))
                case "and_":
                    self.narrowed.append(open[-1])
                case "pop":
                    self.pops.append(((name, at), open.pop()))
                case _:
                    pass
        return open


def _name(instruction: Instruction) -> str:
    row = called_operation(instruction)
    return "" if row is None else row.name

# SPDX-License-Identifier: Apache-2.0
"""Strip-mining and interchange (Wolfe, "Iteration space tiling for memory hierarchies", 1987): loops that are cut into
blocks become loops of steps over blocks, around nests of one block each.

    for i: for j: { S; for k: T }   becomes   for i' by 32: for j' by 32:
                                                 phase: i, j of the block: { S; for k of the first block: T }
                                                 for k' by 64 from the second block on:
                                                    phase: i, j, k of the block: T

What stands before an inner loop runs in the phase of its first block; what stands behind it is a phase of its own. A
loop around blocked ones that is not cut itself lies whole within each block.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from polyloom.ir.nest import Loop, Nest, Node, loops, taken_names
from polyloom.ir.steps import Steps, Tree
from polyloom.names import fresh_name
from polyloom.sets import Affine, extreme
from polyloom.transform.blocks.refusals import bounds_error


@dataclass(frozen=True, slots=True)
class Strip:
    """One block of a loop: `size` iterations from `first` on, which is affine in parameters and in counters of blocks.
    A loop that is not cut lies whole in each block, and has no size.
    """

    loop: Loop
    first: Affine
    size: int | None


@dataclass(frozen=True, slots=True)
class Block:
    """The part of a nest that one phase executes: `nodes` within `strips`, outermost first. Of the last node, a loop,
    only the strip `peeled` belongs to it.
    """

    strips: tuple[Strip, ...]
    nodes: tuple[Node, ...]
    peeled: Strip | None = None

    @property
    def body(self) -> tuple[Node, ...]:
        """Its loops and statements in coordinates of the whole nest."""
        nodes = self.nodes
        if self.peeled is not None:
            nodes = (*nodes[:-1], strip_loop(self.peeled, self.peeled.loop.body))
        for strip in reversed(self.strips):
            nodes = (strip_loop(strip, nodes),)
        return nodes


def strip_loop(strip: Strip, body: tuple[Node, ...]) -> Loop:
    """Loop over the iterations of a strip."""
    loop = strip.loop
    if strip.size is None:
        return replace(loop, body=body)
    return replace(loop, lower=(*loop.lower, strip.first), upper=(*loop.upper, strip.first + strip.size), body=body)


def cut_blocks(nest: Nest, sizes: Mapping[str, int]) -> Tree[Block]:
    """Blocks of a nest whose loops of these names are cut, and the loops of steps around them. Raises PL0265."""
    made = _StripMining(sizes, taken_names(nest))
    return made.tree(nest.body, ())


@dataclass
class _StripMining:
    """Recursive cutting of a nest. Mutable: names that are taken."""

    sizes: Mapping[str, int]
    taken: set[str]

    def tree(self, nodes: tuple[Node, ...], around: tuple[Strip, ...]) -> Tree[Block]:
        """Blocks of nodes within strips: those before, of and behind each loop with blocks in it."""
        found: list[Block | Steps[Block]] = []
        before: list[Node] = []
        for node in nodes:
            if isinstance(node, Loop) and self.has_blocks(node):
                found += self.loop(node, around, tuple(before))
                before = []
            else:
                before.append(node)
        if before:
            found.append(Block(around, tuple(before)))
        return tuple(found)

    def has_blocks(self, node: Loop) -> bool:
        return node.name in self.sizes or any(name in self.sizes for name in loops(node.body))

    def loop(self, loop: Loop, around: tuple[Strip, ...], before: tuple[Node, ...]) -> Tree[Block]:
        """Blocks of a loop, and of what stands before it within the same strips."""
        size, is_outer = self.sizes.get(loop.name), any(name in self.sizes for name in loops(loop.body))
        if not is_outer:
            return self.innermost(loop, self.sizes[loop.name], around, before)
        alone = (Block(around, before),) if before else ()
        return *alone, *self.outer(loop, size, around)

    def outer(self, loop: Loop, size: int | None, around: tuple[Strip, ...]) -> Tree[Block]:
        if size is None:
            return self.tree(loop.body, (*around, Strip(loop, _start(loop, around), None)))
        counter = self.counter(loop)
        strip = Strip(loop, Affine.symbol(counter), size)
        return (self.steps(loop, counter, size, self.tree(loop.body, (*around, strip)), around),)

    def innermost(self, loop: Loop, size: int, around: tuple[Strip, ...], before: tuple[Node, ...]) -> Tree[Block]:
        counter = self.counter(loop)
        rest = Block((*around, Strip(loop, Affine.symbol(counter), size)), loop.body)
        if not before:
            return (self.steps(loop, counter, size, (rest,), around),)
        # Of a loop that counts downwards the first block is the last one, and may be partial.
        if loop.step < 0:
            return Block(around, before), self.steps(loop, counter, size, (rest,), around)
        start = _start(loop, around)
        first = Block(around, (*before, loop), Strip(loop, start, size))
        return first, self.steps(loop, counter, size, (rest,), around, skip=size)

    def counter(self, loop: Loop) -> str:
        return fresh_name(f"{loop.name}_block", self.taken)

    def steps(
        self, loop: Loop, counter: str, size: int, body: Tree[Block], around: tuple[Strip, ...], skip: int = 0
    ) -> Steps[Block]:
        start = _start(loop, around) + skip
        end = tuple(_extreme(bound, around, 1) for bound in loop.upper)
        return Steps(counter, (start,), end, body, loop.step, loop.span, stride=size)


def _start(loop: Loop, around: tuple[Strip, ...]) -> Affine:
    """The least value of a loop's counter in these strips."""
    if len(loop.lower) != 1:
        raise bounds_error(loop)
    return _extreme(loop.lower[0], around, -1)


def strip_extent(strip: Strip, around: tuple[Strip, ...]) -> Affine:
    """How many iterations a strip has at the most, affine in parameters and in counters of blocks."""
    if strip.size is not None:
        return Affine((), strip.size)
    return _extreme(strip.loop.upper[0], around, 1) - strip.first


def _extreme(form: Affine, around: tuple[Strip, ...], sign: int) -> Affine:
    """A bound of `form` from above (`sign` 1) or below over the points of strips, affine in counters of blocks."""
    found = extreme(form, [(s.loop.name, s.first, _greatest_iteration(s)) for s in around], sign)
    if found is None:
        raise bounds_error(next(s.loop for s in around if _greatest_iteration(s) is None))
    return found


def _greatest_iteration(strip: Strip) -> Affine | None:
    """The last iteration of a strip; None where a loop that is not cut has several bounds."""
    if strip.size is not None:
        return strip.first + (strip.size - 1)
    return strip.loop.upper[0] - 1 if len(strip.loop.upper) == 1 else None

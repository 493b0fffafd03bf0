# SPDX-License-Identifier: Apache-2.0
"""Which harts execute what: a nest as works, one after another, inside loops that all harts go through alike.

A work is a parallel loop whose iterations are shared out in blocks, or, on hart 0 alone, what has no loop that may be
shared out. A parallel loop is shared out as far outside as one is; where that lies inside a loop that is not parallel,
every iteration of this one ends with barriers, which must be worth it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from polyloom.analysis.loop_dependences import Dependences
from polyloom.analysis.privatizable import private
from polyloom.analysis.value_ranges import ranges, trips
from polyloom.ir.nest import Assign, If, Loop, Nest, Node, accesses, assignments
from polyloom.transform.parallel.block_partition import Blocks, blocks
from polyloom.transform.parallel.vectorization import Vectors

BARRIER: Final = 600
"""Cycles that a barrier and its flushes cost at least: what one hart does in less is not worth sharing out."""


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """`blocks` is None where hart 0 works alone: `nodes` then are any, else the one parallel loop. `vectors` are the
    loops that are vectorized, `registers` the locals that are not in memory."""

    nodes: tuple[Node, ...]
    blocks: Blocks | None
    outer: tuple[str, ...]
    vectors: frozenset[str]
    registers: frozenset[str]

    @property
    def loop(self) -> Loop | None:
        """The one that is shared out."""
        (first, *_) = self.nodes
        return first if self.blocks is not None and isinstance(first, Loop) else None

    def written(self) -> frozenset[str]:
        """The arrays in memory that it writes."""
        return frozenset(a.target.name for a in assignments(self.nodes)) - self.registers

    def touched(self) -> frozenset[str]:
        """Those that it reads or writes."""
        found = {r.name for a in assignments(self.nodes) for r in (a.target, *accesses(a.value))}
        return frozenset(found) - self.registers


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """A loop, or a condition, that all harts go through."""

    node: Loop | If
    body: tuple[Item, ...]
    orelse: tuple[Item, ...] = ()


Item = Work | Alike


@dataclass(slots=True)
class Phased:
    """`alone` says of loops, by their names, why their iterations are not shared out."""

    items: tuple[Item, ...]
    alone: dict[str, str] = field(default_factory=dict[str, str])


def phased(nest: Nest, harts: int) -> Phased:
    """The works of a nest without parameters."""
    return _Builder(nest, harts).all()


def works(items: Sequence[Item]) -> Iterator[Work]:
    """All of them, in the order of the text."""
    for item in items:
        if isinstance(item, Work):
            yield item
        else:
            yield from works((*item.body, *item.orelse))


class _Builder:
    def __init__(self, nest: Nest, harts: int) -> None:
        self.nest, self.harts = nest, harts
        self.dependences = Dependences(nest)
        self.known = ranges(nest.body)
        self.vectors = Vectors(nest, self.dependences, self.known)
        self.reasons: dict[str, str] = {}

    def all(self) -> Phased:
        return Phased(self.items(self.nest.body, ()), self.reasons)

    def items(self, nodes: Sequence[Node], path: tuple[Loop | If, ...]) -> tuple[Item, ...]:
        made: list[Item] = []
        alone: list[Node] = []
        for node in nodes:
            found = self.item(node, path)
            if found is None:
                alone.append(node)
                continue
            if alone:
                made.append(self.alone(tuple(alone), path))
                alone.clear()
            made.append(found)
        if alone:
            made.append(self.alone(tuple(alone), path))
        return tuple(made)

    def item(self, node: Node, path: tuple[Loop | If, ...]) -> Item | None:
        """None where nothing in the node is shared out."""
        match node:
            case Assign():
                return None
            case If():
                body, orelse = self.items(node.body, (*path, node)), self.items(node.orelse, (*path, node))
                return Alike(node, body, orelse) if self.shares((*body, *orelse)) else None
            case Loop():
                return self.shared(node, path) or self.around(node, path)

    def shares(self, items: Sequence[Item]) -> bool:
        return any(work.blocks is not None for work in works(items))

    def shared(self, loop: Loop, path: tuple[Loop | If, ...]) -> Work | None:
        inside = (*path, loop)
        own = private(self.nest, list(inside))
        dependence = self.dependences.carried(loop.name, own)
        if dependence is not None:
            self.reasons[loop.name] = str(dependence)
            return None
        outer = tuple(around.name for around in path if isinstance(around, Loop))
        found = blocks(self.nest, loop, outer, own)
        if isinstance(found, str):
            self.reasons[loop.name] = found
            return None
        if trips(loop, self.known) <= 1:
            return None
        chosen = self.vectors.choose((loop,), path)
        return Work((loop,), found, outer, chosen.loops, self.registers((loop,), path))

    def around(self, loop: Loop, path: tuple[Loop | If, ...]) -> Alike | None:
        """A loop that all harts go through, where sharing out what is inside is worth its barriers."""
        body = self.items(loop.body, (*path, loop))
        if not self.shares(body):
            return None
        alone = self.vectors.choose(loop.body, (*path, loop)).cost
        together = sum(self.cost(work) + BARRIER for work in works(body))
        if alone <= together:
            why = self.reasons.get(loop.name, f"iterations of `{loop.name}` are few")
            self.reasons[loop.name] = f"{why}, and are too short for barriers between them"
            return None
        return Alike(loop, body)

    def cost(self, work: Work) -> float:
        whole = self.vectors.choose(work.nodes, ()).cost if work.blocks is None else 0.0
        if work.loop is None:
            return whole
        each = self.vectors.choose(work.nodes, self.path_to(work)).cost
        return each / min(self.harts, max(1.0, trips(work.loop, self.known) / work_unit(work)))

    def path_to(self, work: Work) -> tuple[Loop | If, ...]:
        assert work.loop is not None
        return path_of(self.nest.body, work.loop) or ()

    def alone(self, nodes: tuple[Node, ...], path: tuple[Loop | If, ...]) -> Work:
        outer = tuple(around.name for around in path if isinstance(around, Loop))
        return Work(nodes, None, outer, self.vectors.choose(nodes, path).loops, self.registers(nodes, path))

    def registers(self, nodes: Sequence[Node], path: tuple[Loop | If, ...]) -> frozenset[str]:
        """Locals that some loop of the work has to itself in each iteration."""
        found = frozenset[str]()
        for node in nodes:
            if isinstance(node, Loop):
                inside = (*path, node)
                found |= private(self.nest, list(inside)) | self.registers(node.body, inside)
            elif isinstance(node, If):
                found |= self.registers((*node.body, *node.orelse), (*path, node))
        return found


def work_unit(work: Work) -> int:
    """Iterations that stay together."""
    return work.blocks.unit if work.blocks is not None else 1


def path_of(nodes: Sequence[Node], wanted: Node) -> tuple[Loop | If, ...] | None:
    """What is around a node, from outside; None where it is not among them."""
    for node in nodes:
        if node is wanted:
            return ()
        if isinstance(node, Assign):
            continue
        inner = path_of(node.body if isinstance(node, Loop) else (*node.body, *node.orelse), wanted)
        if inner is not None:
            return (node, *inner)
    return None

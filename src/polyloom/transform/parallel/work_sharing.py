# SPDX-License-Identifier: Apache-2.0
"""Work sharing: which workers execute what of a nest, as works, one after another, inside loops that all workers go
through alike (the fork-join model of OpenMP 5.2, section 11.5, `schedule(static)`).

A work is a parallel loop whose iterations are shared out in blocks, or, on worker 0 alone, what has no loop that may be
shared out. A parallel loop is shared out as far outside as one is; where that lies inside a loop that is not parallel,
every iteration of this one ends with barriers, which must be worth it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil

from polyloom.analysis.loop_dependences import LoopDependences
from polyloom.analysis.loop_ranges import loop_ranges, trip_count
from polyloom.analysis.privatizable import enclosing_path, privatizable
from polyloom.ir.nest import Assign, If, Loop, Nest, Node, accesses, assignments
from polyloom.transform.parallel.block_partition import Blocks, block_partition
from polyloom.transform.parallel.machine import Machine
from polyloom.transform.parallel.vectorization import VectorLoops


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """Work of workers. `blocks` is None where worker 0 works alone: `nodes` then are any, else the one parallel loop.
    `vectors` are the loops that are vectorized, `registers` the locals that are not in memory.
    """

    # Compared by identity: two works may have equal nodes and stand at different places.
    nodes: tuple[Node, ...]
    blocks: Blocks | None
    outer: tuple[str, ...]
    vectors: frozenset[str]
    registers: frozenset[str]

    @property
    def loop(self) -> Loop | None:
        """Parallel loop that is shared out, None for serial work."""
        (first, *_) = self.nodes
        return first if self.blocks is not None and isinstance(first, Loop) else None

    @property
    def unit(self) -> int:
        """Iterations that stay together."""
        return self.blocks.unit if self.blocks is not None else 1

    def written_arrays(self) -> frozenset[str]:
        """The arrays in memory that it writes."""
        return frozenset(a.target.name for a in assignments(self.nodes)) - self.registers

    def touched_arrays(self) -> frozenset[str]:
        """Arrays in memory that it reads or writes."""
        found = {r.name for a in assignments(self.nodes) for r in (a.target, *accesses(a.value))}
        return frozenset(found) - self.registers


@dataclass(frozen=True, slots=True, eq=False)
class Replicated:
    """Replicated control: a loop, or a condition, that all workers go through."""

    node: Loop | If
    body: tuple[Item, ...]
    orelse: tuple[Item, ...] = ()


Item = Work | Replicated


@dataclass(slots=True)
class SharedWork:
    """Works of a nest. `serial_reasons` says of loops, by their names, why their iterations are not shared out."""

    items: tuple[Item, ...]
    serial_reasons: dict[str, str] = field(default_factory=dict[str, str])


def share_work(nest: Nest, machine: Machine) -> SharedWork:
    """Works of a nest without parameters."""
    return _Sharing(nest, machine).share()


def walk_works(items: Sequence[Item]) -> Iterator[Work]:
    """Works of items, in the order of the text."""
    for item in items:
        if isinstance(item, Work):
            yield item
        else:
            yield from walk_works((*item.body, *item.orelse))


class _Sharing:
    """Sharing of a nest's loops, with the reasons against it (mutable)."""

    def __init__(self, nest: Nest, machine: Machine) -> None:
        self.nest, self.machine = nest, machine
        self.dependences, self.known = LoopDependences(nest), loop_ranges(nest.body)
        self.vectors = VectorLoops(self.dependences, self.known, machine)
        self.reasons: dict[str, str] = {}

    def share(self) -> SharedWork:
        return SharedWork(self.items(self.nest.body, ()), self.reasons)

    def items(self, nodes: Sequence[Node], path: tuple[Loop | If, ...]) -> tuple[Item, ...]:
        """Items of nodes in order; neighbouring nodes without parallel loops are one serial work."""
        made: list[Item] = []
        alone: list[Node] = []
        for node in nodes:
            found = self.item(node, path)
            if found is None:
                alone.append(node)
                continue
            if alone:
                made.append(self.serial_work(tuple(alone), path))
                alone.clear()
            made.append(found)
        if alone:
            made.append(self.serial_work(tuple(alone), path))
        return tuple(made)

    def item(self, node: Node, path: tuple[Loop | If, ...]) -> Item | None:
        """Item of a node; None where nothing in the node is shared out."""
        match node:
            case Assign():
                return None
            case If():
                body, orelse = self.items(node.body, (*path, node)), self.items(node.orelse, (*path, node))
                return Replicated(node, body, orelse) if self.shares((*body, *orelse)) else None
            case Loop():
                # The loop itself first: the farther outside, the fewer barriers.
                return self.parallel_work(node, path) or self.replicated_loop(node, path)

    def shares(self, items: Sequence[Item]) -> bool:
        return any(work.blocks is not None for work in walk_works(items))

    def parallel_work(self, loop: Loop, path: tuple[Loop | If, ...]) -> Work | None:
        """Work of a parallel loop; None, with a reason, where a dependence or a cache line keeps its iterations
        together.
        """
        inside = (*path, loop)
        # Dependences through locals vanish, as each worker gets its own (Wolfe 1996, privatization).
        own = privatizable(self.nest, inside)
        dependence = self.dependences.carried_dependence(loop.name, own)
        if dependence is not None:
            self.reasons[loop.name] = str(dependence)
            return None
        outer = tuple(around.name for around in path if isinstance(around, Loop))
        found = block_partition(self.nest, loop, outer, own, self.machine.line)
        if isinstance(found, str):
            self.reasons[loop.name] = found
            return None
        # One iteration leaves nothing to share; a loop inside may.
        if trip_count(loop, self.known) <= 1:
            return None
        # What counts is the busiest worker: lanes of its own iterations, or of loops inside.
        units = ceil(trip_count(loop, self.known) / found.unit)
        chosen = self.vectors.choose_shared(loop, path, -(-units // self.machine.workers) * found.unit)
        return Work((loop,), found, outer, chosen.loops, self.registers((loop,), path))

    def replicated_loop(self, loop: Loop, path: tuple[Loop | If, ...]) -> Replicated | None:
        """Loop that all workers go through, where sharing out what is inside is worth its barriers."""
        body = self.items(loop.body, (*path, loop))
        if not self.shares(body):
            return None
        alone = self.vectors.choose(loop.body, (*path, loop)).cost
        # Each work inside may end with a barrier, in each iteration.
        together = sum(self.cost(work) + self.machine.barrier for work in walk_works(body))
        if alone <= together:
            why = self.reasons.get(loop.name, f"iterations of `{loop.name}` are few")
            self.reasons[loop.name] = f"{why}, and are too short for barriers between them"
            return None
        return Replicated(loop, body)

    def cost(self, work: Work) -> float:
        """Cost of a work in issue slots of its busiest worker."""
        whole = self.vectors.choose(work.nodes, ()).cost if work.blocks is None else 0.0
        if work.loop is None:
            return whole
        each = self.vectors.choose(work.nodes, enclosing_path(self.nest.body, work.loop) or ()).cost
        # Blocks are whole units, so that no more workers than units share the loop.
        return each / min(self.machine.workers, max(1.0, trip_count(work.loop, self.known) / work.unit))

    def serial_work(self, nodes: tuple[Node, ...], path: tuple[Loop | If, ...]) -> Work:
        outer = tuple(around.name for around in path if isinstance(around, Loop))
        return Work(nodes, None, outer, self.vectors.choose(nodes, path).loops, self.registers(nodes, path))

    def registers(self, nodes: Sequence[Node], path: tuple[Loop | If, ...]) -> frozenset[str]:
        """Privatizable locals: those that some loop of the work has to itself in each iteration."""
        found = frozenset[str]()
        for node in nodes:
            if isinstance(node, Loop):
                inside = (*path, node)
                found |= privatizable(self.nest, inside) | self.registers(node.body, inside)
            elif isinstance(node, If):
                found |= self.registers((*node.body, *node.orelse), (*path, node))
        return found

# SPDX-License-Identifier: Apache-2.0
"""A machine whose caches are not coherent, in Python: executes shared work access by access, and tells what a worker
would read wrongly. It knows nothing of sets, and asks only what the code would do: blocks, barriers, evictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from polyloom.analysis.loop_ranges import constant_bounds
from polyloom.ir.nest import Assign, If, Loop, Nest, Node, accesses
from polyloom.ir.numbers import NUMPY
from polyloom.ir.pla import Reference
from polyloom.transform.parallel.machine import Machine
from polyloom.transform.parallel.software_coherence import Coherence, place_barriers
from polyloom.transform.parallel.work_sharing import Item, Replicated, SharedWork, Work

Cell = tuple[str, tuple[int, ...]]
Line = tuple[str, tuple[int, ...], int]
Values = dict[str, int]
Touch = tuple[Cell, bool]


class Caches:
    """`wrong` are sentences. Each element has a version, which grows with every write in the order of the program."""

    def __init__(self, nest: Nest, machine: Machine) -> None:
        self.machine = machine
        self.elements = {s.name: machine.line // NUMPY[s.dtype].itemsize for s in nest.storage}
        self.newest, self.visible = dict[Cell, int](), dict[Cell, int]()
        self.copies: list[dict[Line, dict[Cell, int]]] = [{} for _ in range(machine.workers)]
        self.dirty: list[set[Cell]] = [set() for _ in range(machine.workers)]
        self.epoch, self.writes, self.reads = 0, dict[Cell, tuple[int, int]](), dict[Cell, dict[int, int]]()
        self.wrong: list[str] = []

    def line(self, cell: Cell) -> Line:
        name, index = cell
        return (name, index[:-1], index[-1] // self.elements[name]) if index else (name, (), 0)

    def touch(self, worker: int, cell: Cell, is_write: bool) -> None:
        cache = worker // self.machine.sharers
        copy = self.copies[cache].setdefault(self.line(cell), {})
        copy.setdefault(cell, self.visible.get(cell, 0))
        self.check_order(worker, cell, is_write)
        if not is_write:
            self.reads.setdefault(cell, {})[worker] = self.epoch
            if copy[cell] != self.newest.get(cell, 0):
                self.wrong.append(f"worker {worker} reads an old {cell}")
            return
        self.writes[cell] = worker, self.epoch
        self.newest[cell] = copy[cell] = self.newest.get(cell, 0) + 1
        self.dirty[cache].add(cell)
        if any(self.line(other) == self.line(cell) for c, d in enumerate(self.dirty) if c != cache for other in d):
            self.wrong.append(f"two caches have the line of {cell} modified")

    def check_order(self, worker: int, cell: Cell, is_write: bool) -> None:
        """Without a barrier between, no worker touches what another one writes."""
        written = self.writes.get(cell)
        read = self.reads.get(cell, {}) if is_write else {}
        others = [written] if written is not None else []
        others += list(read.items())
        if any(other != worker and epoch == self.epoch for other, epoch in others):
            self.wrong.append(f"worker {worker} does not wait for {cell}")

    def evict(self, worker: int, lines: set[Line]) -> None:
        cache = worker // self.machine.sharers
        for line in lines:
            for cell, version in self.copies[cache].pop(line, {}).items():
                if cell in self.dirty[cache]:
                    self.dirty[cache].discard(cell)
                    self.visible[cell] = version


def execute(nest: Nest, shared: SharedWork, machine: Machine) -> Caches:
    """All items, with the barriers and evictions that `software_coherence` asks for."""
    run = _Run(nest, shared, machine)
    run.items(shared.items, {})
    return run.caches


class _Run:
    def __init__(self, nest: Nest, shared: SharedWork, machine: Machine) -> None:
        self.machine, self.caches = machine, Caches(nest, machine)
        self.coherence, self.barriers = Coherence(shared.items, nest, machine), place_barriers(shared.items)

    def items(self, items: Sequence[Item], values: Values) -> None:
        for item in items:
            self.caches.epoch += item in self.barriers
            if isinstance(item, Work):
                self.work(item, values)
            elif isinstance(item.node, If):
                self.items(item.body if item.node.condition.contains(values) else item.orelse, values)
            else:
                self.loop(item, item.node, values)

    def loop(self, item: Replicated, loop: Loop, values: Values) -> None:
        for value in turns(loop, values):
            self.items(item.body, {**values, loop.name: value})
            self.caches.epoch += (item, "end") in self.barriers

    def work(self, work: Work, values: Values) -> None:
        evicted = self.coherence.evictions(work)
        for worker in range(self.machine.workers):
            touched = set[Line]()
            for cell, is_write in self.of_worker(work, worker, values):
                if cell[0] in work.registers:
                    continue
                self.caches.touch(worker, cell, is_write)
                touched |= {self.caches.line(cell)} if cell[0] in evicted else set()
            self.caches.evict(worker, touched)

    def of_worker(self, work: Work, worker: int, values: Values) -> Iterator[Touch]:
        loop, blocks = work.loop, work.blocks
        if loop is None or blocks is None:
            if worker == 0:
                yield from touches(work.nodes, values)
            return
        every = sorted(turns(loop, values))
        if not every:
            return
        start = every[0] - (every[0] - blocks.offset) % blocks.unit
        units = -(-(every[-1] + 1 - start) // blocks.unit)
        each = -(-units // self.machine.workers) * blocks.unit
        for value in every:
            if start + worker * each <= value < start + (worker + 1) * each:
                yield from touches(loop.body, {**values, loop.name: value})


def turns(loop: Loop, values: Mapping[str, int]) -> Sequence[int]:
    bounds = constant_bounds(loop)
    low = max(end.evaluate(values) for end in loop.lower) if bounds is None else bounds[0]
    high = min(end.evaluate(values) for end in loop.upper) if bounds is None else bounds[1]
    return range(low, high)[:: loop.step]


def touches(nodes: Sequence[Node], values: Values) -> Iterator[Touch]:
    """Elements in the order of execution, and whether they are written."""
    for node in nodes:
        match node:
            case Assign():
                yield from ((_cell(read, values), False) for read in accesses(node.value))
                yield _cell(node.target, values), True
            case If():
                yield from touches(node.body if node.condition.contains(values) else node.orelse, values)
            case Loop():
                for value in turns(node, values):
                    yield from touches(node.body, {**values, node.name: value})


def _cell(reference: Reference, values: Values) -> Cell:
    return reference.name, tuple(index.evaluate(values) for index in reference.index)

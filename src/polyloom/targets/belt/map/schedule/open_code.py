# SPDX-License-Identifier: Apache-2.0
"""List scheduling of blocks outside of pipelined loops, by critical path, on a tableau that extends as far as it must
(I. Godard, "Pipelining"; Muchnick 1997, chapter 17).

Operations are placed bundle by bundle, of those that are ready the one with the longest way to the end first. What has
no operands (a constant, a fill) is placed with the first operation that reads it, as late as that allows. Values that
live from block to block are on the belt that a transfer lists, or at home in scratch.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.machine import Machine, Slot
from polyloom.targets.belt.map.schedule.graph import CALLS, LEAF, LOADS, Graph, Node, Read
from polyloom.targets.belt.map.schedule.positions import Belt, Placed
from polyloom.targets.belt.map.schedule.problem import Class, gap, latency, slot_classes
from polyloom.targets.belt.map.schedule.slots import order_acts

ENTRY: Final = "entry"
"""The name of a node for what is on the belt as the block begins."""
TRANSFERS: Final = ("br", "brtr", "brfl", "inner", "retn")
Mode = Literal["greedy", "integrated", "serial"]
"""How a block is scheduled: bundle by bundle; the same with positions counted, and spills and fills on the way; one
operation after the other, each filled where it is read."""
LONG: Final = 1 << 40
"""An interval that no block reaches."""


def is_leaf(node: Node) -> bool:
    """Whether the node is placed with what first reads it."""
    return node.name in LEAF and not node.role


@dataclass(frozen=True, slots=True)
class Code:
    """Operations of a block. `after[n]` are (node, bundles) that come at least so long before n besides what n
    reads."""

    graph: Graph
    entry: tuple[int, ...]
    after: Mapping[int, Sequence[tuple[int, int]]]
    mode: Mode = "greedy"


class Linear(Belt):
    """Positions in a block: entry values lie on the belt as it begins, the first at b0."""

    def linear(self, entry: Sequence[int], node: int, read: Read) -> int:
        """Position of an operand in a block: an entry value lies behind all drops that the reader sees."""
        if read.node in entry:
            return self.visible_drops(node) + entry.index(read.node)
        return self.visible_drops(node) - self.ranks[read.node, read.result] - 1


@dataclass(slots=True)
class ListScheduler:
    """State of a list schedule. Mutable."""

    machine: Machine
    code: Code
    groups: tuple[tuple[Class, frozenset[str]], ...] = ()
    start: dict[int, int] = field(default_factory=dict[int, int])
    slots: dict[int, Slot] = field(default_factory=dict[int, Slot])
    used: dict[tuple[Slot, int], bool] = field(default_factory=dict[tuple[Slot, int], bool])
    needs: list[list[tuple[int, int]]] = field(default_factory=list[list[tuple[int, int]]])
    idle: int = 0
    loads: list[int] = field(default_factory=list[int])

    def run(self) -> Placed:
        """Schedule the block: its entry values before bundle 0, then operations by their critical paths, or one by
        one."""
        graph = self.code.graph
        self.prepare()
        waiting = [n for n in range(len(graph.nodes)) if not self.is_leaf_node(n) and n not in self.start]
        if self.code.mode == "serial":
            self._schedule_serially(waiting)
        else:
            self._schedule_greedily(waiting, self.critical_paths())
        return self.placement(graph)

    def prepare(self) -> None:
        """Precedence of all nodes, and the entry values, which are there."""
        self.groups = slot_classes(self.machine.slots)
        for n in self.code.entry:
            # Entry values dropped before the block's first bundle.
            self.start[n] = -1
            self.slots[n] = Slot("E", 0)
        self.needs = [list(self._precedence(n)) for n in range(len(self.code.graph.nodes))]

    def is_leaf_node(self, n: int) -> bool:
        """Whether the node is placed with what reads it, and not by itself."""
        return is_leaf(self.code.graph.nodes[n])

    def placement(self, graph: Graph) -> Placed:
        """The schedule of a graph whose nodes have all been placed."""
        count = len(graph.nodes)
        order = [self.slots[n] for n in range(count)]
        start = tuple(self.start[n] for n in range(count))
        # A block is one pass of a loop that never comes round: rows are its bundles.
        order_acts(graph, LONG, start, order)
        return Placed(LONG, start, tuple(_latency(self.machine, graph, node) for node in graph.nodes), tuple(order))

    def _precedence(self, n: int) -> Iterator[tuple[int, int]]:
        """Precedence of a node: (node, bundles) that must lie between their starts."""
        graph, node = self.code.graph, self.code.graph.nodes[n]
        for read in node.reads:
            source = graph.nodes[read.node]
            if source.name == ENTRY:
                yield read.node, 1
            else:
                yield read.node, latency(self.machine, graph, source) + gap(self.machine, source, node)
        yield from self.code.after.get(n, ())

    def critical_paths(self) -> list[int]:
        """Critical path of each node: the longest way to the end, in bundles."""
        count = len(self.code.graph.nodes)
        heights = [0] * count
        for n in reversed(self._topological_order()):
            for source, weight in self.needs[n]:
                heights[source] = max(heights[source], heights[n] + weight)
        return heights

    def _topological_order(self) -> list[int]:
        """Nodes in topological order, each after what it needs; by a stack, since blocks can be longer than Python's
        recursion is deep."""
        state: dict[int, int] = {}
        found: list[int] = []
        for root in range(len(self.needs)):
            stack = [root]
            while stack:
                n = stack[-1]
                if state.get(n) == 2:
                    stack.pop()
                    continue
                fresh = [s for s, _ in self.needs[n] if s not in state]
                if state.get(n) == 1 or not fresh:
                    state[n] = 2
                    found.append(stack.pop())
                    continue
                state[n] = 1
                stack += fresh
        return found

    def _schedule_serially(self, waiting: Sequence[int]) -> None:
        """Schedule operations one by one in the order of the program: the last resort, in which nothing is far from the
        front."""
        at = 0
        nodes = self.code.graph.nodes
        for n in sorted(waiting, key=lambda n: (nodes[n].index, n)):
            # Fills of an operation may not move up among those of the one before it.
            self.idle = at
            at = max(at, self.earliest_bundle(n))
            while not self._place_node(n, at):
                at += 1
            if nodes[n].name in TRANSFERS:
                continue
            ends = [self._end_bundle(n)]
            if nodes[n].name == "spillx":
                # The next operation may fill what was spilled here.
                ends.append(at + 2)
            at = max(at, *ends)

    def _end_bundle(self, n: int) -> int:
        """First bundle in which all that the node gives can be read in any phase."""
        node = self.code.graph.nodes[n]
        return self.start[n] + max(1, latency(self.machine, self.code.graph, node))

    def _schedule_greedily(self, waiting: Sequence[int], heights: Sequence[int]) -> None:
        """Schedule bundle by bundle from a list of ready operations, the longest critical path first."""
        after: dict[int, list[int]] = {}
        left: dict[int, int] = {}
        for n in waiting:
            sources = {s for s, _ in self.needs[n] if s not in self.start and not is_leaf(self.code.graph.nodes[s])}
            left[n] = len(sources)
            for source in sources:
                after.setdefault(source, []).append(n)
        # By number among equal heights, so that a schedule is the same in every run.
        ready = sorted((-heights[n], n) for n in waiting if not left[n])
        at = 0
        while ready:
            placed = [n for _, n in ready if self.earliest_bundle(n) <= at and self._place_node(n, at)]
            ready = [item for item in ready if item[1] not in self.start]
            for n in placed:
                for sink in after.get(n, ()):
                    left[sink] -= 1
                    if not left[sink]:
                        insort(ready, (-heights[sink], sink))
            # What was placed in this bundle may make more ready in it.
            at += not placed

    def earliest_bundle(self, n: int) -> int:
        """Earliest bundle by what is placed; far away while something is not."""
        ready = 0
        for source, weight in self.needs[n]:
            if source in self.start:
                ready = max(ready, self.start[source] + weight)
            elif not self.is_leaf_node(source):
                return LONG
        return ready

    def _place_node(self, n: int, at: int) -> bool:
        """Put the node, and what only now must be there, into the bundle; False where a slot is missing."""
        node = self.code.graph.nodes[n]
        slot = self.free_slot(node, at)
        if slot is None or not self.has_station(node, at):
            return False
        self.used[slot, at] = True
        leaves: list[int] = []
        for read in node.reads:
            source = self.code.graph.nodes[read.node]
            if read.node in self.start or read.node in leaves:
                continue
            latest = at - latency(self.machine, self.code.graph, source) - gap(self.machine, source, node)
            if not self._leaf(read.node, latest):
                # All or nothing: the leaves of an operation that finds no room take no slots.
                for leaf in leaves:
                    del self.used[self.slots.pop(leaf), self.start.pop(leaf)]
                del self.used[slot, at]
                return False
            leaves.append(read.node)
        self.start[n], self.slots[n] = at, slot
        self.loads += [at] * (node.name in LOADS)
        for k in range(1, self.machine.busy(OPS[node.name], self.code.graph.operand_width(node))):
            self.used[slot, at + k] = True
        return True

    def _leaf(self, n: int, latest: int) -> bool:
        """Place a leaf in the latest bundle that has a slot."""
        least = max([0, self.idle, *(self.start[s] + w for s, w in self.needs[n] if s in self.start)])
        if any(s not in self.start for s, _ in self.needs[n]):
            return False
        # As late as a slot is free: until then the value takes no position of the belt.
        for at in range(latest, least - 1, -1):
            if (slot := self.free_slot(self.code.graph.nodes[n], at)) is not None:
                self.start[n], self.slots[n] = at, slot
                self.used[slot, at] = True
                return True
        return False

    def has_station(self, node: Node, at: int) -> bool:
        """Whether a load finds a retire station: loads closer together than their delay hold them at the same time."""
        return node.name not in LOADS or (
            sum(abs(at - t) < self.machine.load[0] for t in self.loads) < self.machine.stations
        )

    def free_slot(self, node: Node, at: int) -> Slot | None:
        """Free slot for a node in a bundle, of the least able class first; None where all are taken."""
        op = OPS[node.name]
        busy = self.machine.busy(op, self.code.graph.operand_width(node))
        for group, units in self.groups:
            if op.unit not in units:
                continue
            for slot in group.slots:
                if not any((slot, at + k) in self.used for k in range(busy)):
                    return slot
        return None


def _latency(machine: Machine, graph: Graph, node: Node) -> int:
    return 0 if node.name == ENTRY else latency(machine, graph, node)


def check_schedule(machine: Machine, code: Code, linear: Linear) -> list[str]:
    """Violations of a schedule, one sentence for each demand that it breaks, read off the definitions; independent of
    the scheduler."""
    found: list[str] = []
    placed = linear.placed
    held: set[tuple[Slot, int]] = set()
    for n, node in enumerate(code.graph.nodes):
        if node.name == ENTRY:
            continue
        for k in range(machine.busy(OPS[node.name], code.graph.operand_width(node))):
            if (placed.slots[n], placed.start[n] + k) in held:
                found.append(f"{placed.slots[n]} is held twice in bundle {placed.start[n] + k}")
            held.add((placed.slots[n], placed.start[n] + k))
        for read in node.reads:
            source = code.graph.nodes[read.node]
            if source.name == ENTRY:
                continue
            if placed.start[n] < placed.start[read.node] + placed.latency[read.node] + gap(machine, source, node):
                found.append(f"{node.name} reads {source.name} before its drop")
        found += [
            f"{node.name} comes too early" for s, w in code.after.get(n, ()) if placed.start[n] < placed.start[s] + w
        ]
    return found


def memory_precedence(machine: Machine, graph: Graph, nodes: Sequence[int]) -> dict[int, list[tuple[int, int]]]:
    """Memory precedence of open code: loads, stores and calls in the order of the program (docs/targets/belt.md,
    Time)."""
    found: dict[int, list[tuple[int, int]]] = {}
    accesses = [n for n in nodes if graph.nodes[n].name in (*LOADS, *CALLS, "store")]
    delay = machine.load[0]
    for k, n in enumerate(accesses):
        sink = graph.nodes[n].name
        for m in accesses[:k]:
            source = graph.nodes[m].name
            if source in LOADS and sink in LOADS:
                continue
            # A load samples where it drops: it may be issued before a store that it depends on.
            weight = delay - 1 if source in LOADS else 2 - delay if sink in LOADS else int(sink in CALLS)
            found.setdefault(n, []).append((m, weight))
    return found

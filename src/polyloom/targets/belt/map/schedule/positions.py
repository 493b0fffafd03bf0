# SPDX-License-Identifier: Apache-2.0
"""Belt positions: drops counted on an infinite belt, iterations told apart (I. Godard, "Pipelining";
docs/targets/belt.md, Time).

A value v that drops in stage sigma with rank idx among the D drops of a pass is number D * (i + sigma) + idx in
iteration i; a reader in row and phase that `seen` drops of its pass precede reads the position D * (t div II) + seen +
D * distance - D * sigma - idx - 1. A constant, or a value from outside, is the same in every iteration: its reader
takes the copy that dropped last.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.machine import Machine, Slot
from polyloom.targets.belt.map.schedule.graph import Graph, Read, is_invariant
from polyloom.targets.belt.map.schedule.problem import drop_rank, gap, phase_rank


@dataclass(frozen=True, slots=True)
class Placed:
    """Placed graph: when each node is issued, with which latency, in which slot."""

    interval: int
    start: tuple[int, ...]
    latency: tuple[int, ...]
    slots: tuple[Slot, ...]

    def stage(self, node: int) -> int:
        return self.start[node] // self.interval

    @property
    def stages(self) -> int:
        return 1 + max(self.start) // self.interval


@dataclass(frozen=True)  # not slotted: it caches what follows from its fields
class Belt:
    """Belt of a placed graph: its drops, and the positions that operands have by them."""

    machine: Machine
    graph: Graph
    placed: Placed

    def is_operation(self, node: int) -> bool:
        """Whether the node is an operation, and not what is there already."""
        return self.graph.nodes[node].name in OPS

    def drop(self, node: int) -> int:
        """Bundle of the drop, from iteration 0's start."""
        # Results of the other phases drop in the bundle of issue, whose latency is 0.
        late = OPS[self.graph.nodes[node].name].phase == "C" or not self.machine.phasing
        return self.placed.start[node] + (self.placed.latency[node] - 1 if late else 0)

    @cached_property
    def ranks(self) -> dict[tuple[int, int], int]:
        """Rank idx of each value among the drops of a pass, in the order of drops (docs/formats.md, Order of drops)."""
        keys = [
            # Row and phase, latency, slot, number of the result: the model sorts by the same key.
            (*self._drop_time(n), self.placed.latency[n], self.placed.slots[n].order, r, n)
            for n, node in enumerate(self.graph.nodes)
            if self.is_operation(n)
            for r in range(len(node.results))
        ]
        return {(key[-1], key[-2]): k for k, key in enumerate(sorted(keys))}

    @cached_property
    def _drop_times(self) -> list[tuple[int, int]]:
        """Times (row, phase) of the drops, in order."""
        return sorted(
            self._drop_time(n) for n, node in enumerate(self.graph.nodes) if self.is_operation(n) for _ in node.results
        )

    def _drop_time(self, node: int) -> tuple[int, int]:
        return self.drop(node) % self.placed.interval, drop_rank(self.machine, self.graph.nodes[node])

    @property
    def drops(self) -> int:
        """Drops of a pass, D."""
        return len(self._drop_times)

    def row_drops(self, row: int) -> int:
        return sum(at == row for at, _ in self._drop_times)

    def visible_drops(self, node: int) -> int:
        """Drops of its own pass that a reader sees."""
        row = self.placed.start[node] % self.placed.interval
        return bisect_left(self._drop_times, (row, phase_rank(OPS[self.graph.nodes[node].name].phase)))

    def drop_stage(self, node: int) -> int:
        """Stage sigma of the drop."""
        return self.drop(node) // self.placed.interval

    def distance(self, node: int, read: Read) -> int:
        """Iterations from the one that the node reads to its own; below 0 where a later copy of an invariant is there
        already."""
        source = self.graph.nodes[read.node]
        if read.distance or not is_invariant(source):
            return read.distance
        ready = self.placed.start[read.node] + self.placed.latency[read.node]
        # As many intervals as the value waits, so many later copies have dropped before the read.
        waits = self.placed.start[node] - ready - gap(self.machine, source, self.graph.nodes[node])
        return -(waits // self.placed.interval)

    def position(self, node: int, read: Read) -> int:
        """Position of an operand: D * (t div II) + seen + D * distance - D * sigma - idx - 1."""
        count = self.drops * (self.placed.stage(node) + self.distance(node, read) - self.drop_stage(read.node))
        return count + self.visible_drops(node) - self.ranks[read.node, read.result] - 1

    @cached_property
    def positions(self) -> dict[tuple[int, int], int]:
        """Positions of all operands, by node and number."""
        return {(n, k): self.position(n, read) for n, k, read in self.reads()}

    def reads(self) -> Iterator[tuple[int, int, Read]]:
        for n, node in enumerate(self.graph.nodes):
            for k, operand in enumerate(node.operands):
                if isinstance(operand, Read):
                    yield n, k, operand

    def entry_number(self, read: Read) -> int:
        """Drop number of the value that iteration -distance gives; below 0 on the entry belt."""
        return self.drops * (self.drop_stage(read.node) - read.distance) + self.ranks[read.node, read.result]

    def entry_length(self) -> int:
        """Length of the entry belt that anything reads."""
        return max((p + 1 - self.visible_drops(n) for (n, _), p in self.positions.items()), default=0)

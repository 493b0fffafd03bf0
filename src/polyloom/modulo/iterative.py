# SPDX-License-Identifier: Apache-2.0
"""Iterative modulo scheduling (B. R. Rau, "Iterative modulo scheduling", MICRO 27, 1994).

Operations are placed by height, the longest path to the end: each in the first free row from the cycle on in which its
operands are ready. If none is free it takes a row by force, later than the last time, and whoever held it, or comes too
early now, is placed again. A budget of placements ends an attempt at an interval. Then `circuits` tries the same
interval.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Final

from polyloom.modulo.placement import Case, Room, heights
from polyloom.modulo.problem import Schedule
from polyloom.modulo.table import Footprint

RATIO: Final = 3
"""Placements for each operation in one attempt. Rau recommends 2 for speed and more for quality."""
LONG: Final = 20
"""The same where a component is too large for `circuits`."""


def place(case: Case, interval: int) -> Schedule | None:
    """Iterative modulo schedule at this interval, or None where none was found within the budget (Rau 1994)."""
    for room in case.rooms(interval):
        if (found := _Attempt(room).run(RATIO)) is not None:
            return found
        room.clear()
        # It needs NumPy, and those who only name a solver do not wait for that.
        from polyloom.modulo import circuits

        found = circuits.place(room) if circuits.has_small_components(room) else _Attempt(room).run(LONG)
        if found is not None:
            return found
    return None


class _Attempt:
    """The state of one attempt: when and how each point is placed, and who waits."""

    def __init__(self, room: Room) -> None:
        self.room = room
        graph = room.graph
        self.operations = len(graph.problem.operations)
        # Rau's priority: the longest way to the end, back arcs counted at this interval. Whatever follows from a high
        # operation must be late.
        self.height = heights(graph, room.interval)
        self.into = [
            [(a.source, a.weight - room.interval * a.distance) for a in arcs if a.source != a.sink]
            for arcs in graph.incoming
        ]
        self.out = [
            [(a.sink, a.weight - room.interval * a.distance) for a in arcs if a.source != a.sink]
            for arcs in graph.outgoing
        ]
        self.time: list[int | None] = [None] * len(graph.owner)
        self.last = [-1] * len(graph.owner)
        self.way = [0] * self.operations
        self.is_free = [len(ways) == 1 and not ways[0][1] for ways in room.ways]
        self.holders: list[dict[int, None]] = [{} for _ in graph.problem.resources]

    def run(self, ratio: int) -> Schedule | None:
        if self.height is None:
            return None
        height = self.height
        waiting = [(-h, p) for p, h in enumerate(height)]
        heapify(waiting)
        # Evictions may go on for ever at an infeasible interval; the budget ends that.
        for _ in range(ratio * len(waiting)):
            point = heappop(waiting)[1]
            for other in self._place(point):
                heappush(waiting, (-height[other], other))
            if not waiting:
                return self.room.finish([t or 0 for t in self.time], self.way)
        return None

    def _place(self, point: int) -> list[int]:
        """Place it; the points that must be placed again."""
        ready = 0
        for source, weight in self.into[point]:
            begun = self.time[source]
            if begun is not None and begun + weight > ready:
                ready = begun + weight
        evicted: list[int] = []
        if point >= self.operations or self.is_free[point]:
            at = ready
        elif (found := self.room.earliest(point, ready)) is not None:
            at, self.way[point] = found
            self._hold(point, at)
        else:
            # One later than last time: the same two operations cannot evict each other in the same places again and
            # again.
            at = max(ready, self.last[point] + 1)
            evicted = self._force(point, at)
        self.time[point] = self.last[point] = at
        for sink, weight in self.out[point]:
            begun = self.time[sink]
            # A dependent that was placed too early goes back to the queue. Rows that are taken are settled in `_force`.
            if begun is not None and begun < at + weight:
                self._remove(sink)
                evicted.append(sink)
        return evicted

    def _footprint(self, point: int) -> Footprint:
        return self.room.ways[point][self.way[point]][1]

    def _hold(self, point: int, at: int) -> None:
        footprint = self._footprint(point)
        self.room.table.add(footprint, at)
        for resource, _ in footprint:
            self.holders[resource][point] = None

    def _remove(self, point: int) -> None:
        at = self.time[point]
        assert at is not None
        if point < self.operations and (footprint := self._footprint(point)):
            self.room.table.remove(footprint, at)
            for resource, _ in footprint:
                del self.holders[resource][point]
        self.time[point] = None

    def _force(self, point: int, at: int) -> list[int]:
        """Eviction (Rau 1994): make room for the point at this time, in the way that evicts the least height. Returns
        who was evicted.
        """
        best = min(range(len(self.room.ways[point])), key=lambda way: (self._cost(point, way, at), way))
        self.way[point] = best
        evicted: list[int] = []
        footprint, row = self._footprint(point), at % self.room.interval
        while not self.room.table.free(footprint) >> row & 1:
            other = self._rivals(footprint, at)[0]
            self._remove(other)
            evicted.append(other)
        self._hold(point, at)
        return evicted

    def _cost(self, point: int, way: int, at: int) -> int:
        assert self.height is not None
        rivals = self._rivals(self.room.ways[point][way][1], at)
        return self.height[rivals[0]] if rivals else -1

    def _rivals(self, footprint: Footprint, at: int) -> list[int]:
        """Who holds a row that the footprint needs and that is full, the lowest first."""
        table, height = self.room.table, self.height
        assert height is not None
        found: list[int] = []
        for part in footprint:
            resource = part[0]
            if table.free((part,)) >> at % self.room.interval & 1:
                continue
            needed = table.held((part,), at)[resource]
            for other in self.holders[resource]:
                begun = self.time[other]
                assert begun is not None
                if table.held(tuple(p for p in self._footprint(other) if p[0] == resource), begun)[resource] & needed:
                    found.append(other)
        return sorted(dict.fromkeys(found), key=lambda p: (height[p], -p))

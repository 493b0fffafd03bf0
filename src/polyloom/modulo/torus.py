# SPDX-License-Identifier: Apache-2.0
"""Greedy placement on a slice of the table that wraps round, without eviction.

From a public description of a belt machine's specializer (I. Godard, "Pipelining", Mill Computing forum): the slice
has as many rows as the operations need when packed; operations are placed like in open code, each in the first free
slot from the cycle on in which its operands are ready, with wraparound. If one finds none, the slice grows by a row
and all starts again. It ends when the slice is as long as open code, which always fits, unless dependences set
deadlines. Unlike there, the slice begins with the bound of recurrences too, which only saves attempts.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Final

from polyloom.modulo.placement import Case, Room, heights
from polyloom.modulo.problem import Schedule

OPEN: Final = 1 << 40
"""An interval so long that only dependences within an iteration count."""


def place(case: Case, interval: int) -> Schedule | None:
    """A schedule at this interval, or None where this order of placing finds none."""
    return next((s for room in case.rooms(interval) if (s := _place_greedily(room)) is not None), None)


def _place_greedily(room: Room) -> Schedule | None:
    graph, interval = room.graph, room.interval
    time: list[int | None] = [None] * len(graph.owner)
    way = [0] * len(graph.problem.operations)
    for point in _list_order(room):
        ready = 0
        for source, _, weight, distance in graph.incoming[point]:
            if (begun := time[source]) is not None:
                ready = max(ready, begun + weight - interval * distance)
        # Points beyond the operations are results, which hold nothing.
        found = room.earliest(point, ready) if point < len(way) else (ready, 0)
        if found is None or _misses_deadline(room, point, found[0], time):
            return None
        time[point] = found[0]
        if point < len(way):
            way[point] = found[1]
            room.table.add(room.ways[point][found[1]][1], found[0])
    return room.finish([t or 0 for t in time], way)


def _misses_deadline(room: Room, point: int, at: int, time: list[int | None]) -> bool:
    """Whether something that is placed already would have to come later: a back arc that does not reach."""
    for _, sink, weight, distance in room.graph.outgoing[point]:
        begun = at if sink == point else time[sink]
        if begun is not None and begun < at + weight - room.interval * distance:
            return True
    return False


def _list_order(room: Room) -> list[int]:
    """List-scheduling order: points by the data flow of an iteration; of those that are ready, the one with the longest
    path first.
    """
    graph = room.graph
    flat = [[arc for arc in arcs if arc.distance == 0] for arcs in graph.outgoing]
    waiting = [sum(arc.distance == 0 for arc in arcs) for arcs in graph.incoming]
    height = heights(graph, OPEN) or [0] * len(waiting)
    ready = [(-height[p], p) for p, count in enumerate(waiting) if count == 0]
    heapify(ready)
    order: list[int] = []
    left = set(range(len(waiting)))
    while left:
        # On a circuit of distance 0, which sets a deadline, the highest point begins.
        point = heappop(ready)[1] if ready else min(left, key=lambda p: (-height[p], p))
        if point not in left:
            continue
        left.remove(point)
        order.append(point)
        for arc in flat[point]:
            waiting[arc.sink] -= 1
            if waiting[arc.sink] == 0:
                heappush(ready, (-height[arc.sink], arc.sink))
    return order

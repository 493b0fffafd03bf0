# SPDX-License-Identifier: Apache-2.0
"""Common part of the placing solvers: the modulo reservation table (Lam 1988), the footprints of every operation's
choices, height priorities, and how a schedule is finished.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polyloom.modulo.graph import Demand, Graph, build_graph, possible_choices
from polyloom.modulo.problem import Problem, Schedule
from polyloom.modulo.start_times import Placement, compute_start_times, latency_limits
from polyloom.modulo.table import Footprint, Table


class Room:
    """One interval's table with the choices that fit into it. Mutable, like the table."""

    def __init__(self, graph: Graph, interval: int, most: tuple[int | None, ...]) -> None:
        self.graph, self.interval, self.most = graph, interval, most
        self.table = Table(interval, graph.problem.resources)
        self.ways: list[tuple[tuple[int, Footprint], ...]] = [
            tuple((k, f) for k in ks if (f := self.table.footprint(operation.choices[k].uses)) is not None)
            for operation, ks in zip(graph.problem.operations, graph.choices, strict=True)
        ]
        # A way without a footprint fits any row, and an operation that has one need not be placed in the table.
        self.is_bound = [all(f for _, f in ways) for ways in self.ways]
        """Whether the operation needs a row, whatever it chooses."""

    def clear(self) -> None:
        """Empty the table for another attempt."""
        self.table.levels = [[] for _ in self.table.limits]

    def finish(self, time: Sequence[int], way: Sequence[int]) -> Schedule | None:
        """The least schedule in the rows of these times, with the `way[v]`-th of each operation's ways."""
        chosen = [ways[w] for ways, w in zip(self.ways, way, strict=True)]
        rows = tuple(t % self.interval if footprint else None for t, (_, footprint) in zip(time, chosen, strict=False))
        return compute_start_times(
            self.graph.problem, self.interval, Placement(rows, tuple(k for k, _ in chosen), self.most)
        )

    def earliest(self, operation: int, time: int) -> tuple[int, int] | None:
        """Earliest free (time, way) from `time` on, all rows once; of several ways, the one with the earliest
        result."""
        best: tuple[int, int, int] | None = None
        for n, (k, footprint) in enumerate(self.ways[operation]):
            found = self.table.first(self.table.free(footprint), time) if footprint else time
            if found is None:
                continue
            result = found + self.graph.problem.operations[operation].choices[k].latency
            if best is None or result < best[0]:
                best = result, found, n
        return None if best is None else best[1:]


class Case:
    """A problem with what attempts at several intervals have in common."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.choices = possible_choices(problem)
        self._graphs: dict[tuple[bool, tuple[int | None, ...]], Graph] = {}

    def rooms(self, interval: int) -> Iterator[Room]:
        """Empty tables to try, one after the other; none where a capacity or an operation does not fit this interval.

        Arcs must hold whatever is chosen. Where latencies depend on the choice, operations on circuits take only their
        fastest choices at first, so that circuits are as short as can be; then all.
        """
        most = latency_limits(self.problem, self.choices, interval)
        if most is None:
            return
        # Quick choices first: a longer latency on a critical circuit makes an interval infeasible that the fastest
        # choice allows.
        graphs = [self._graph(True, most), self._graph(False, most)]
        for graph in graphs if graphs[0].choices != graphs[1].choices else graphs[1:]:
            room = Room(graph, interval, most)
            if all(room.ways):
                yield room

    def _graph(self, quick: bool, most: tuple[int | None, ...]) -> Graph:
        if (quick, most) not in self._graphs:
            self._graphs[quick, most] = self._build(quick, most)
        return self._graphs[quick, most]

    def _build(self, quick: bool, most: tuple[int | None, ...]) -> Graph:
        if not quick:
            return build_graph(self.problem, self.choices, Demand.MOST, most)
        general = self._graph(False, most)
        on_circuit = [bool(general.inner[general.component_of[v]]) for v in range(len(self.choices))]
        choices = [_fastest(self.problem, v, ks) if on_circuit[v] else ks for v, ks in enumerate(self.choices)]
        return general if tuple(choices) == self.choices else build_graph(self.problem, choices, Demand.MOST, most)


def _fastest(problem: Problem, operation: int, choices: tuple[int, ...]) -> tuple[int, ...]:
    latency = {k: problem.operations[operation].choices[k].latency for k in choices}
    return tuple(k for k in choices if latency[k] == min(latency.values()))


def heights(graph: Graph, interval: int) -> list[int] | None:
    """Height-based priority (Rau 1994): the longest path from each point on, an arc weighing weight - II * distance;
    None where a circuit is positive.
    """
    height = [0] * len(graph.owner)
    for number in range(len(graph.components) - 1, -1, -1):
        points = graph.points[number]
        for point in points:
            for _, sink, weight, distance in graph.outgoing[point]:
                height[point] = max(height[point], height[sink] + weight - interval * distance)
        if not graph.inner[number]:
            continue
        # Bellman and Ford: a longest path visits a point once, so that more relaxations than points times arcs mean a
        # positive circuit.
        steps = (len(points) + 2) * len(graph.inner[number])
        # An ordered set as a worklist: the order is fixed, which keeps schedules the same from run to run.
        waiting = dict.fromkeys(reversed(points))
        while waiting:
            point = next(iter(waiting))
            del waiting[point]
            for source, _, weight, distance in graph.incoming[point]:
                if graph.component_of[graph.owner[source]] != number:
                    continue
                steps -= 1
                if steps < 0:
                    return None
                if (reach := height[point] + weight - interval * distance) > height[source]:
                    height[source] = reach
                    waiting[source] = None
    return height

# SPDX-License-Identifier: Apache-2.0
"""Start times for given rows and choices: the least starts, by longest paths.

Whether an interval is feasible depends on rows, and on the order in which a circuit visits them, alone: operations on
no common circuit can be moved apart by whole intervals, which changes no row (Eichenberger and Davidson 1997 split a
start into row and stage in the same way). With rows and choices fixed, what is left is differences between starts, and
the least solution is a longest path whose steps are rounded up to the row of each operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polyloom.modulo.bounds import shortest_hold
from polyloom.modulo.graph import Demand, Graph, build_graph
from polyloom.modulo.problem import Problem, Schedule


@dataclass(frozen=True, slots=True)
class Placement:
    """Row and choice of each operation; no row where it may start at any time. `most` limits chosen latencies."""

    rows: tuple[int | None, ...]
    choice: tuple[int, ...]
    most: tuple[int | None, ...]


def compute_start_times(problem: Problem, interval: int, placement: Placement) -> Schedule | None:
    """Schedule of least starts in cycles; None where a circuit does not close in these rows."""
    graph = build_graph(problem, tuple((k,) for k in placement.choice), Demand.MOST, placement.most)
    rows = [*placement.rows, *(None for _ in range(len(graph.owner) - len(placement.rows)))]
    times = _longest_path_times(graph, interval, rows)
    if times is None:
        return None
    # Points beyond the operations are the results of those whose latency is chosen; the difference is the latency.
    starts = times[: len(problem.operations)]
    latency = [problem.operations[v].choices[k].latency for v, k in enumerate(placement.choice)]
    for point in range(len(problem.operations), len(graph.owner)):
        latency[graph.owner[point]] = times[point] - times[graph.owner[point]]
    least = min(starts)
    return Schedule(interval, tuple(t - least for t in starts), placement.choice, tuple(latency))


def _longest_path_times(graph: Graph, interval: int, rows: Sequence[int | None]) -> list[int] | None:
    times = [row or 0 for row in rows]
    for number, points in enumerate(graph.points):
        inner = graph.inner[number]
        # A longest path visits a point at most once, and rounding adds less than an interval at each.
        steps = (len(points) + 2) * max(1, len(inner))
        # Components come in topological order: each is settled within itself before its values go on to later ones.
        waiting = dict.fromkeys(points) if inner else {}
        while waiting:
            point = next(iter(waiting))
            del waiting[point]
            for _, sink, weight, distance in graph.outgoing[point]:
                if graph.component_of[graph.owner[sink]] != number:
                    continue
                steps -= 1
                if steps < 0:
                    return None
                if (time := _align_to_row(times[point] + weight - interval * distance, rows[sink], interval)) > times[
                    sink
                ]:
                    times[sink] = time
                    waiting[sink] = None
        for point in points:
            for _, sink, weight, distance in graph.outgoing[point]:
                time = _align_to_row(times[point] + weight - interval * distance, rows[sink], interval)
                times[sink] = max(times[sink], time)
    return times


def _align_to_row(time: int, row: int | None, interval: int) -> int:
    return time if row is None else time + (row - time) % interval


def latency_limits(
    problem: Problem, choices: Sequence[tuple[int, ...]], interval: int
) -> tuple[int | None, ...] | None:
    """Latency limits in cycles for operations with a range, under which every capacity suffices; None where it cannot.

    Each operation gets the places that it needs at least. Those that are left go round among the operations whose
    result waits for something, because only these gain from a longer latency.
    """
    ranged = {h.operation for c in problem.capacities for h in c.holds if h.busy is None}
    places = {
        v: -(-max(problem.operations[v].choices[k].latency for k in choices[v]) // interval) for v in sorted(ranged)
    }
    left = [c.limit for c in problem.capacities]
    for n, capacity in enumerate(problem.capacities):
        for h in capacity.holds:
            left[n] -= (
                places[h.operation]
                if h.busy is None
                else -(-shortest_hold(problem, choices, h.operation, h.busy) // interval)
            )
    if any(rest < 0 for rest in left):
        return None
    uses: dict[int, list[int]] = {
        v: [n for n, c in enumerate(problem.capacities) for h in c.holds if h.operation == v and h.busy is None]
        for v in places
    }
    wanted = {d.sink for d in problem.dependences if d.to_result}
    # Round robin, one place at a time: no operation takes all that is left before another one has had its turn.
    growing = [v for v in places if v in wanted]
    while growing:
        growing = [v for v in growing if _grow_latency(problem, interval, v, places, left, uses[v])]
    return tuple(places[v] * interval if v in places else None for v in range(len(problem.operations)))


def _grow_latency(
    problem: Problem, interval: int, v: int, places: dict[int, int], left: list[int], uses: list[int]
) -> bool:
    """Give v one more place in each of its capacities, if there is one and v can use it."""
    longest = max(c.longest for c in problem.operations[v].choices)
    if places[v] * interval >= longest or any(left[n] < uses.count(n) for n in uses):
        return False
    places[v] += 1
    for n in uses:
        left[n] -= 1
    return True

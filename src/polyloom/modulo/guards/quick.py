# SPDX-License-Identifier: Apache-2.0
"""Slack scheduling for large problems: the operation with least slack first, as early as its units allow (Huff 1993).

All constraints but the units' are differences between ready offsets, so longest paths (Floyd 1962, Warshall 1962) give
every operation a window that shrinks as others are placed (Huff, "Lifetime-sensitive modulo scheduling", 1993). There
is no backtracking: an operation that finds no place chooses first in the next try, and after some tries the exact
search decides. A schedule at the lower bound of pi is proof enough of its minimality.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from polyloom.modulo.guards.problem import Guarded

TRIES = 16
"""Orders of placing, each with one more operation before its turn."""
_NEVER = -(1 << 40)
Found = tuple[tuple[int, ...], tuple[int, ...]]
"""(start, unit)"""


def schedule_by_slack(problem: Guarded, pi: int) -> Found | None:
    """Slack schedule with initiation interval `pi`, as (starts, units); None where no try finds one (Huff 1993)."""
    groups = _aligned_groups(problem)
    latency = [min(problem.unit_latencies(v)) for v in range(len(problem.operations))]
    longest = _longest_paths(problem, pi, groups, latency)
    if longest is None:
        return None
    urgent = [0] * len(groups)
    for _ in range(TRIES):
        found = _place_groups(problem, pi, groups, latency, longest, urgent)
        if not isinstance(found, int):
            return found
        # Whoever found no place chooses earlier in the next try.
        urgent[found] -= 1
    return None


def _place_groups(
    problem: Guarded,
    pi: int,
    groups: list[tuple[int, ...]],
    latency: list[int],
    longest: npt.NDArray[np.int64],
    urgent: list[int],
) -> Found | int:
    """A schedule, or the group that found no place."""
    # Ready offsets are what is placed: nothing is ready before its own latency has passed.
    lower = np.max(longest + np.array([max(latency[i] for i in g) for g in groups])[:, None], axis=0)
    upper = np.full(len(groups), 1 << 40)
    table, waiting = _Table(problem, pi), set(range(len(groups)))
    start, unit = [0] * len(latency), [0] * len(latency)
    while waiting:
        # Least slack first (Huff, "Lifetime-sensitive modulo scheduling", 1993): who has the fewest times left chooses
        # first. No more than pi of them differ; where no bound above counts, values flow forward, for a sink that were
        # placed at its lower bound would leave the units no time for what it waits for.
        g = min(waiting, key=lambda n: (urgent[n], min(upper[n] - lower[n], pi), lower[n], n))
        waiting.remove(g)
        # After pi times every row has been tried: later times meet the same rows again.
        times = range(int(lower[g]), int(min(upper[g], lower[g] + pi - 1)) + 1)
        found = next(
            (
                p
                for p in ((t, table.place([(i, t - latency[i]) for i in groups[g]])) for t in times)
                if p[1] is not None
            ),
            None,
        )
        if found is None or found[1] is None:
            return g
        for i, u in zip(groups[g], found[1], strict=True):
            start[i], unit[i] = found[0] - latency[i], u
        # Because `longest` is transitively closed, one row and one column of it update all bounds.
        lower = np.maximum(lower, found[0] + longest[g])
        upper = np.minimum(upper, found[0] - longest[:, g])
    return tuple(start), tuple(unit)


def _aligned_groups(problem: Guarded) -> list[tuple[int, ...]]:
    """Operations that must be ready together; every operation is in one group."""
    # A group is placed as one: its members are ready together, so that one offset says all.
    aligned = {i for group in problem.aligned for i in group}
    return [*problem.aligned, *((i,) for i in range(len(problem.operations)) if i not in aligned)]


def _longest_paths(
    problem: Guarded, pi: int, groups: list[tuple[int, ...]], latency: list[int]
) -> npt.NDArray[np.int64] | None:
    """All-pairs longest paths: `[g, h]` is by how much h must be ready after g at least; None where some group would
    have to follow itself (Floyd 1962).
    """
    of = {i: g for g, group in enumerate(groups) for i in group}
    if len(of) < sum(map(len, groups)):
        return None
    path = np.full((len(groups), len(groups)), _NEVER, dtype=np.int64)
    np.fill_diagonal(path, 0)
    for d in problem.dependences:
        path[of[d.source], of[d.sink]] = max(path[of[d.source], of[d.sink]], latency[d.sink] - pi * d.distance)
    for s in problem.short:
        # start(sink) - ready(source) <= pi - 1, turned round into a path from sink to source.
        path[of[s.sink], of[s.source]] = max(path[of[s.sink], of[s.source]], 1 - pi - latency[s.sink])
    for via in range(len(groups)):
        path = np.maximum(path, path[:, via, None] + path[None, via, :])
    return None if np.any(np.diagonal(path) > 0) else path


class _Table:
    """Modulo reservation table: who holds each cell of each unit, modulo pi (Lam 1988)."""

    def __init__(self, problem: Guarded, pi: int) -> None:
        self.problem, self.pi = problem, pi
        self.cells: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def place(self, wanted: list[tuple[int, int]]) -> list[int] | None:
        """Units for all (operation, start), which are then taken; None, and nothing taken, if one has none."""
        taken: list[tuple[int, int, int]] = []
        for operation, start in wanted:
            unit = self._unit(operation, start)
            if unit is None:
                for i, s, u in taken:
                    for cell in self._held_cells(i, s, u):
                        self.cells[cell].remove((i, s))
                return None
            for cell in self._held_cells(operation, start, unit):
                self.cells.setdefault(cell, []).append((operation, start))
            taken.append((operation, start, unit))
        return [u for _, _, u in taken]

    def _unit(self, operation: int, start: int) -> int | None:
        """One that an exclusive operation holds already, if there is one; only the fastest units are taken."""
        units, latencies = self.problem.executing_units(operation), self.problem.unit_latencies(operation)
        quickest = [u for u, latency in zip(units, latencies, strict=True) if latency == min(latencies)]
        free = [u for u in quickest if self._is_free(operation, start, u)]
        # Sharing a slot that an exclusive operation holds costs nothing, and keeps another slot free.
        return next((u for u in free if self.cells.get((u, start % self.pi))), free[0] if free else None)

    def _is_free(self, operation: int, start: int, unit: int) -> bool:
        held = self._held_cells(operation, start, unit)
        others = (other for cell in held for other in self.cells.get(cell, ()))
        return len(held) <= self.pi and all(s == start and self.problem.are_exclusive(operation, i) for i, s in others)

    def _held_cells(self, operation: int, start: int, unit: int) -> list[tuple[int, int]]:
        return [(unit, (start + n) % self.pi) for n in range(self.problem.occupancy(operation, unit))]

# SPDX-License-Identifier: Apache-2.0
"""Placement of recurrences first: the operations that are tied by circuits choose their rows before all others.

Dependences between components never make an interval infeasible (Lam 1988 schedules strongly connected components first
for the same reason), see `settle`. So only components matter, and the operations that hold more than one row or
resource at once; the others fill what is left, which is a matching of operations and resources. A component is placed
as a whole: from the row of one body on, the body with the least freedom comes next, in its earliest free row. A
component that finds no row is placed before the others in the next round.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

import numpy as np

from polyloom.modulo.closure import LARGEST_COMPONENT, Body, Closure, Matrix, build_closure
from polyloom.modulo.graph import Graph
from polyloom.modulo.placement import Room
from polyloom.modulo.problem import Schedule
from polyloom.modulo.table import Footprint

ROUNDS: Final = 40
_EFFORT: Final = 6000
"""Bodies that are placed in all rounds of one attempt at most."""
Placed = tuple[int, int, int]
"""(operation, time, way)"""


def place(room: Room) -> Schedule | None:
    """Circuits-first schedule at the interval of `room`, whose table is empty; None where none was found."""
    closures = build_closures(room)
    if closures is None or not closures:
        return None if closures is None else complete_schedule(room, [])
    search = _Search(room, closures)
    placed = search.run()
    return None if placed is None else complete_schedule(room, placed)


def has_small_components(room: Room) -> bool:
    """Whether the closures of all components can be made."""
    return max(map(len, room.graph.points)) <= LARGEST_COMPONENT


def is_simple(room: Room, operation: int) -> bool:
    """Whether each of its ways holds one cell at most, which any free cell of the resource can be."""
    return all(
        not f or (len(f) == 1 and len(f[0][1]) == 1 and f[0][1][0][1:] == (1, 1)) for _, f in room.ways[operation]
    )


def needs_row(room: Room, operation: int) -> bool:
    """Whether it must be placed before the simple ones: it needs a row, and is on a circuit or not simple."""
    graph = room.graph
    if not room.is_bound[operation]:
        return False
    return len(graph.components[graph.component_of[operation]]) > 1 or not is_simple(room, operation)


def build_closures(room: Room) -> list[Closure] | None:
    """Transitive closures of all components with operations that choose their rows first; None where a circuit is
    positive at this interval.
    """
    graph = room.graph
    found: list[Closure] = []
    for number, members in enumerate(graph.components):
        kept = frozenset(v for v in members if needs_row(room, v))
        if not kept:
            continue
        # A component of one operation has no circuit with others: its closure is a single body.
        if len(members) == 1:
            found.append(Closure(number, (Body(((members[0], 0),)),), np.zeros((1, 1), np.int64)))
            continue
        closure = build_closure(graph, number, room.interval, kept)
        if closure is None:
            return None
        found.append(closure)
    return found


class _Search:
    """Search state of one attempt: components by urgency, bodies by failures (weighted degrees; Boussemart et al.
    2004).
    """

    def __init__(self, room: Room, closures: list[Closure]) -> None:
        self.room, self.closures = room, closures
        self.effort = _EFFORT
        self.urgency = [0] * len(closures)
        self.weights = [[0] * len(c.bodies) for c in closures]
        # Seeded by the interval alone: the same problem gives the same schedule.
        self.random = Random(room.interval)

    def run(self) -> list[Placed] | None:
        size = [sum(self._cells(v) for body in c.bodies for v, _ in body.members) for c in self.closures]
        for turn in range(ROUNDS):
            # Large components first, as in bin packing; one that failed goes to the front of the next round.
            order = sorted(range(len(self.closures)), key=lambda n: (-self.urgency[n], -size[n], n))
            placed: list[Placed] = []
            failed = next((n for n in order if not self._component(n, turn, placed)), None)
            if failed is None:
                return placed
            self._undo(placed)
            self.urgency[failed] = max(self.urgency) + 1
            # A single rigid body was tried in every row: another round would only repeat that.
            if self.effort < 0 or (len(order) == 1 and len(self.closures[failed].bodies) == 1):
                return None
        return None

    def _cells(self, operation: int) -> int:
        return max(sum(run.rows * run.times for _, runs in f for run in runs) for _, f in self.room.ways[operation])

    def _component(self, number: int, turn: int, placed: list[Placed]) -> bool:
        """Place a component in the first row that has room for it; rotated by chance after the first rounds."""
        closure, interval = self.closures[number], self.room.interval
        weights = self.weights[number]
        first = max(range(len(weights)), key=lambda b: (weights[b], len(closure.bodies[b].members), -b))
        free = self._free(closure.bodies[first])
        # Later rounds begin elsewhere: what blocked the last one is often where the components lie against each other.
        start = 0 if turn == 0 else self.random.randrange(interval)
        at = self.room.table.first(free, start)
        while at is not None and at < start + interval and self.effort >= 0:
            if (mine := self._place_from_body(number, first, at)) is not None:
                placed += mine
                return True
            if not placed:
                return False  # in an empty table all rows are alike
            at = self.room.table.first(free, at + 1)
        return False

    def _place_from_body(self, number: int, first: int, at: int) -> list[Placed] | None:
        """Placement of component `number` with body `first` at time `at`; None, and nothing placed, where a body finds
        no row.
        """
        closure = self.closures[number]
        after: Matrix = closure.after
        # The closure is transitive, so that one placed body bounds all others at once, on both sides.
        lower, upper = at + after[first], at - after[:, first]
        left = list(range(len(closure.bodies)))
        weights = self.weights[number]
        placed: list[Placed] = []
        body = first
        while True:
            self.effort -= 1
            low, high = int(lower[body]), min(int(upper[body]), int(lower[body]) + self.room.interval - 1)
            mine = self._body(closure.bodies[body], low, high)
            if mine is None:
                weights[body] += 1
                self._undo(placed)
                return None
            time, members = mine
            placed += members
            left.remove(body)
            if not left:
                return placed
            lower, upper = np.maximum(lower, time + after[body]), np.minimum(upper, time - after[:, body])
            # Least slack first; bodies that failed before count as tighter by their weight (as in weighted-degree
            # heuristics of constraint solvers).
            slack: Matrix = upper - lower - np.array(weights)
            body = min(left, key=lambda b: (int(slack[b]), int(lower[b]), b))

    def _body(self, body: Body, low: int, high: int) -> tuple[int, list[Placed]] | None:
        """Place a body at its earliest time between these."""
        free = self._free(body)
        at = self.room.table.first(free, low)
        while at is not None and at <= high:
            if (members := self._members(body, at)) is not None:
                return at, members
            at = self.room.table.first(free, at + 1)
        return None

    def _free(self, body: Body) -> int:
        """Rows for a body's leader in which each member alone finds room."""
        table, interval = self.room.table, self.room.interval
        free = table.all
        for v, offset in body.members:
            mine = 0
            for _, footprint in self.room.ways[v]:
                mine |= table.free(footprint)
            # The member stands `offset` rows after the leader: its free rows are turned back by as much.
            turn = offset % interval
            free &= (mine >> turn | mine << (interval - turn)) & table.all
        return free

    def _members(self, body: Body, at: int) -> list[Placed] | None:
        placed: list[Placed] = []
        # Who has fewer ways to choose from comes first.
        for v, offset in sorted(body.members, key=lambda m: (len(self.room.ways[m[0]]), m)):
            row = (at + offset) % self.room.interval
            ways = self.room.ways[v]
            way = next((n for n, (_, f) in enumerate(ways) if self.room.table.free(f) >> row & 1), None)
            if way is None:
                self._undo(placed)
                return None
            self.room.table.add(ways[way][1], row)
            placed.append((v, at + offset, way))
        return placed

    def _undo(self, placed: list[Placed]) -> None:
        for v, time, way in placed:
            self.room.table.remove(self.room.ways[v][way][1], time)
        placed.clear()


def complete_schedule(room: Room, placed: Sequence[Placed]) -> Schedule | None:
    """Complete schedule from the placed operations, whose rows the table holds: the simple ones fill what is left. None
    where they find no cell.
    """
    graph = room.graph
    fixed = {v: (time, way) for v, time, way in placed}
    way = _match_resources(room, fixed)
    if way is None:
        return None
    time: list[int] = [0] * len(graph.owner)
    for number, members in enumerate(graph.components):
        anchored = [v for v in members if v in fixed]
        if anchored:
            # The whole component moves by intervals: rows stay, and so do the times between its operations.
            ready = max(_operand_time(graph, room.interval, v, time, number) - fixed[v][0] for v in anchored)
            move = -(-ready // room.interval) * room.interval
            for v in anchored:
                time[v] = fixed[v][0] + move
        for v in members:
            if v in fixed:
                continue
            ready = _operand_time(graph, room.interval, v, time, number)
            footprint: Footprint = room.ways[v][way[v]][1]
            found = room.table.first(room.table.free(footprint), ready)
            if found is None:
                return None
            room.table.add(footprint, found)
            time[v] = found
        for point in graph.points[number][len(members) :]:
            time[point] = time[graph.owner[point]]
    return room.finish(time, way)


def _operand_time(graph: Graph, interval: int, operation: int, time: Sequence[int], number: int) -> int:
    """Cycle in which the operands from earlier components are ready; an estimate where a latency is still to be
    chosen."""
    ready = 0
    for source, _, weight, distance in graph.incoming[operation]:
        if graph.component_of[graph.owner[source]] != number:
            ready = max(ready, time[source] + weight - interval * distance)
    return ready


def _match_resources(room: Room, fixed: dict[int, tuple[int, int]]) -> list[int] | None:
    """Bipartite matching with capacities: a way for every operation, the simple ones on resources that have cells left.
    None if some operation is unmatched (Berge 1957).
    """
    way = [fixed[v][1] if v in fixed else 0 for v in range(len(room.ways))]
    # Simple operations hold one cell each, so only the number of free cells of a resource counts, not which rows.
    left = [0 if r.limit is None else r.limit * room.interval for r in room.graph.problem.resources]
    for v, (_, chosen) in fixed.items():
        for resource, runs in room.ways[v][chosen][1]:
            left[resource] -= sum(run.rows * run.times for run in runs)
    users: list[dict[int, None]] = [{} for _ in left]
    for v in range(len(room.ways)):
        if v in fixed:
            continue
        if not room.is_bound[v]:
            way[v] = next(n for n, (_, f) in enumerate(room.ways[v]) if not f)
        elif not _augment_matching(room, v, way, left, users):
            return None
    return way


def _augment_matching(
    room: Room, operation: int, way: list[int], left: list[int], users: list[dict[int, None]]
) -> bool:
    """Augmenting path by breadth-first search: give the operation a cell, moving others to resources of theirs (Berge
    1957).
    """
    # A bipartite matching of operations and resources with capacities: one augmenting path per operation (Berge).
    came: dict[int, tuple[int, int]] = {}  # resource -> (operation that would take it, by this way)
    queue: list[int] = []
    for n, (_, f) in enumerate(room.ways[operation]):
        if f[0][0] not in came:
            came[f[0][0]] = operation, n
            queue.append(f[0][0])
    for resource in queue:
        if left[resource] > 0:
            _shift(room, resource, came, operation, way, left, users)
            return True
        for user in users[resource]:
            for n, (_, f) in enumerate(room.ways[user]):
                if f[0][0] not in came:
                    came[f[0][0]] = user, n
                    queue.append(f[0][0])
    return False


def _shift(
    room: Room,
    resource: int,
    came: dict[int, tuple[int, int]],
    operation: int,
    way: list[int],
    left: list[int],
    users: list[dict[int, None]],
) -> None:
    # Only the last resource of the path loses a cell; those before it exchange one user for another.
    left[resource] -= 1
    while True:
        taker, n = came[resource]
        before = room.ways[taker][way[taker]][1][0][0]
        users[resource][taker] = None
        way[taker] = n
        if taker == operation:
            return
        del users[before][taker]
        resource = before

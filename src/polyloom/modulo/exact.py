# SPDX-License-Identifier: Apache-2.0
"""Whether an interval has a schedule, by CP-SAT (A. Eichenberger and E. Davidson's rows and stages, 1997).

An operation starts in row r of stage k: start = II * k + r, with a literal for every row. Only operations that must
choose a row before the others are in the model, see `circuits`: what ties them is the closure of each component, in
which rigid bodies share the literals of one operation. The simple ones count as cells of their resources, which is
exact: each fits any free cell. Where a latency depends on the choice, or on a capacity, the component's own
dependences are added.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from polyloom.modulo.circuits import Placed, complete_schedule, is_simple
from polyloom.modulo.closure import LARGEST_COMPONENT, Closure, Matrix, build_closure
from polyloom.modulo.cp_sat import cp_model, solver
from polyloom.modulo.graph import Demand, build_graph
from polyloom.modulo.placement import Case, Room
from polyloom.modulo.problem import Problem, Schedule
from polyloom.modulo.recurrence import critical_circuit
from polyloom.modulo.table import footprint

LARGEST_MODEL = 300_000
"""Cells that literals of a model hold at most."""
LEAST_EFFORT: Final = 0.02
_BUILDING: Final = 1.5e-5
"""Work that a decision takes even without a search, and that of making and simplifying a model, per cell."""


@dataclass(frozen=True, slots=True)
class Decision:
    """`schedule` if there is one; else `is_infeasible` if none exists. Neither: the effort was spent, or the model
    too large.
    """

    schedule: Schedule | None
    is_infeasible: bool
    effort: float = LEAST_EFFORT


def decide(case: Case, interval: int, effort: float) -> Decision:
    """Feasibility of one interval by CP-SAT, with this much deterministic work at most (Eichenberger and Davidson
    1997).
    """
    room = _room(case, interval)
    if room is None:
        return Decision(None, True)
    graph = room.graph
    # Giving up is not a proof: the interval counts as undecided, and the minimum stays where it was.
    if any(len(graph.points[n]) > LARGEST_COMPONENT for n in _components(room)):
        return Decision(None, False)
    model = _Model(room)
    closures = list(model.closures())
    if any(c is None for c in closures):
        return Decision(None, True)
    if not model.build([c for c in closures if c is not None]):
        return Decision(None, False)
    search = solver(effort)
    status = search.solve(model.model)
    spent = LEAST_EFFORT + search.response_proto.deterministic_time + _BUILDING * model.size
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Decision(None, status == cp_model.INFEASIBLE, spent)
    return Decision(model.read(search), False, spent)


def _room(case: Case, interval: int) -> Room | None:
    """The choices that fit the interval; None where an operation has none, or where these make a circuit too long."""
    limits = [r.limit for r in case.problem.resources]
    fitting = tuple(
        tuple(k for k in ks if footprint(case.problem.operations[v].choices[k].uses, interval, limits) is not None)
        for v, ks in enumerate(case.choices)
    )
    if not all(fitting):
        return None
    graph = build_graph(case.problem, fitting, Demand.LEAST)
    # With least latencies everywhere. If even these make a circuit too long, no choice helps, and no model is needed.
    circuit = critical_circuit(len(graph.owner), graph.arcs)
    if circuit is not None and circuit.weight > interval * circuit.distance:
        return None
    return Room(graph, interval, (None,) * len(fitting))


def _components(room: Room) -> Iterator[int]:
    """The components that are part of a model."""
    for number, members in enumerate(room.graph.components):
        if any(_is_elastic(room, v) for v in members) or any(_needs_row(room, v) for v in members):
            yield number


def _needs_row(room: Room, operation: int) -> bool:
    if not any(f for _, f in room.ways[operation]):
        return False
    return (
        len(room.graph.components[room.graph.component_of[operation]]) > 1
        or not is_simple(room, operation)
        or _is_elastic(room, operation)
    )


def _is_elastic(room: Room, operation: int) -> bool:
    """Whether its latency is part of the decision, beyond what the closure knows."""
    problem = room.graph.problem
    ways = [problem.operations[operation].choices[k] for k, _ in room.ways[operation]]
    is_capped = any(h.operation == operation and h.busy is None for c in problem.capacities for h in c.holds)
    is_tied = bool(room.graph.inner[room.graph.component_of[operation]])
    # The closure is computed from fixed weights; an operation whose latency varies brings its dependences into the
    # model itself.
    if len({(w.latency, w.longest) for w in ways}) > 1:
        return is_capped or is_tied
    return is_capped and is_tied and ways[0].longest > ways[0].latency


@dataclass(slots=True)
class _Model:
    """Mutable while it is built. `start` and `row` are those of every operation in it, `way` the literals of its
    ways.
    """

    room: Room
    model: cp_model.CpModel = field(default_factory=lambda: cp_model.CpModel())
    start: dict[int, cp_model.LinearExpr] = field(default_factory=dict)
    row: dict[int, list[cp_model.IntVar]] = field(default_factory=dict)
    way: dict[int, list[cp_model.LinearExpr]] = field(default_factory=dict)
    latency: dict[int, cp_model.LinearExpr] = field(default_factory=dict)
    cells: dict[tuple[int, int], list[cp_model.LinearExpr]] = field(default_factory=dict)
    size: int = 0

    @property
    def problem(self) -> Problem:
        return self.room.graph.problem

    def closures(self) -> Iterator[Closure | None]:
        for number in _components(self.room):
            members = self.room.graph.components[number]
            elastic = any(_is_elastic(self.room, v) for v in members)
            kept = frozenset(v for v in members if elastic or _needs_row(self.room, v))
            yield build_closure(self.room.graph, number, self.room.interval, kept)

    def build(self, closures: list[Closure]) -> bool:
        """All constraints; False where there would be too many."""
        interval = self.room.interval
        held = sum(
            max((sum(run.rows for _, runs in f for run in runs) for _, f in self.room.ways[v]), default=0)
            for c in closures
            for body in c.bodies
            for v, _ in body.members
        )
        self.size = held * interval
        # Building and presolving beyond this takes longer than the search may.
        if self.size > LARGEST_MODEL:
            return False
        for n, closure in enumerate(closures):
            self._component(closure, is_first=n == 0)
        for closure in closures:
            for body in closure.bodies:
                for v, _ in body.members:
                    self._hold(v)
        for (resource, _), terms in sorted(self.cells.items(), key=lambda item: item[0]):
            limit = self.problem.resources[resource].limit
            assert limit is not None
            self.model.add(_sum_terms(terms) <= limit)
        self._fill()
        elastic = {
            self.room.graph.component_of[v] for v in range(len(self.problem.operations)) if _is_elastic(self.room, v)
        }
        self._latencies(elastic)
        self._capacities()
        return True

    def _component(self, closure: Closure, is_first: bool) -> None:
        interval, after = self.room.interval, closure.after
        starts: list[cp_model.LinearExpr] = []
        for n, body in enumerate(closure.bodies):
            rows = [self.model.new_bool_var("") for _ in range(interval)]
            self.model.add_exactly_one(rows)
            start = _weighted_sum(rows, range(interval))
            # The stage of body n against that of the first body. The closure bounds the distance of the leaders on both
            # sides, and the first leader's row is between 0 and II - 1.
            low, high = int(after[0, n]) // interval, (interval - 1 - int(after[n, 0])) // interval
            if n and low < high:
                start = start + interval * self.model.new_int_var(low, high, "")
            elif n:
                start = start + interval * low
            elif is_first:
                self.model.add(rows[0] == 1)  # all rows are alike
            starts.append(start)
            for v, offset in body.members:
                self.start[v] = start + offset
                self.row[v] = [rows[(r - offset) % interval] for r in range(interval)]
        # Entries of the closure that others imply are left out: they would only slow the solver down.
        for a, b in _transitive_reduction(after):
            self.model.add(starts[b] - starts[a] >= int(after[a, b]))

    def _hold(self, operation: int) -> None:
        """Ways exclude each other; a way holds cells from the operation's row on."""
        ways, rows, interval = self.room.ways[operation], self.row[operation], self.room.interval
        if len(ways) == 1:
            self.way[operation] = [self.model.new_constant(1)]
            self._cells(0, operation, rows)
            return
        literals = [self.model.new_bool_var("") for _ in ways]
        self.model.add_exactly_one(literals)
        self.way[operation] = list(literals)
        places = [[self.model.new_bool_var("") for _ in range(interval)] for _ in ways]
        for row in range(interval):
            # Channelling: in its row the operation runs in exactly one of its ways.
            self.model.add(_sum_terms([mine[row] for mine in places]) == rows[row])
        for n, mine in enumerate(places):
            self.model.add(_sum_terms(mine) == literals[n])
            self._cells(n, operation, mine)

    def _cells(self, way: int, operation: int, rows: list[cp_model.IntVar]) -> None:
        for resource, runs in self.room.ways[operation][way][1]:
            for first, length, count in runs:
                for row, literal in enumerate(rows):
                    for k in range(first, first + length):
                        self.cells.setdefault((resource, (row + k) % self.room.interval), []).append(
                            literal if count == 1 else count * literal
                        )

    def _fill(self) -> None:
        """The simple operations find cells: on each resource, those that are left are enough."""
        interval = self.room.interval
        total: dict[int, list[cp_model.LinearExpr]] = {}
        for v, ways in self.way.items():
            for n, literal in enumerate(ways):
                for resource, runs in self.room.ways[v][n][1]:
                    total.setdefault(resource, []).append(sum(run.rows * run.times for run in runs) * literal)
        groups: dict[tuple[int, ...], int] = {}
        for v, ways in enumerate(self.room.ways):
            if v not in self.way and self.room.is_bound[v]:
                # Simple operations take one cell of one resource: those with the same choice of resources are
                # interchangeable, and are counted instead of modelled.
                key = tuple(sorted({f[0][0] for _, f in ways}))
                groups[key] = groups.get(key, 0) + 1
        for resources, number in groups.items():
            parts = [self.model.new_int_var(0, number, "") for _ in resources]
            self.model.add(_sum_terms(parts) == number)
            for resource, part in zip(resources, parts, strict=True):
                total.setdefault(resource, []).append(part)
        for resource, terms in total.items():
            limit = self.problem.resources[resource].limit
            assert limit is not None
            self.model.add(_sum_terms(terms) <= limit * interval)

    def _latencies(self, components: set[int]) -> None:
        """The latencies of elastic components, and the dependences inside of these."""
        graph = self.room.graph
        for number in sorted(components):
            for v in graph.components[number]:
                self._latency(v)
        for d in self.problem.dependences:
            if (
                graph.component_of[d.source] != graph.component_of[d.sink]
                or graph.component_of[d.source] not in components
            ):
                continue
            latency = self.latency[d.source] if d.latency is None else d.latency
            ready = self.start[d.source] + latency + d.delay
            reads = self.start[d.sink] + self.room.interval * d.distance
            self.model.add((reads + self.latency[d.sink] if d.to_result else reads) >= ready)

    def _latency(self, operation: int) -> None:
        choices = [self.problem.operations[operation].choices[k] for k, _ in self.room.ways[operation]]
        ways = self.way[operation]
        least = _weighted_sum(ways, [c.latency for c in choices])
        if all(c.longest == c.latency for c in choices):
            self.latency[operation] = least
            return
        latency = self.model.new_int_var(min(c.latency for c in choices), max(c.longest for c in choices), "")
        self.model.add(latency >= least)
        self.model.add(latency <= _weighted_sum(ways, [c.longest for c in choices]))
        self.latency[operation] = latency

    def _capacities(self) -> None:
        interval = self.room.interval
        for capacity in self.problem.capacities:
            places: list[cp_model.LinearExpr] = []
            fixed = 0
            for h in capacity.holds:
                if h.busy is not None:
                    fixed += -(-h.busy // interval)
                elif h.operation in self.latency:
                    place = self.model.new_int_var(0, capacity.limit, "")
                    self.model.add(place * interval >= self.latency[h.operation])
                    places.append(place)
                else:
                    fixed += -(-self._shortest(h.operation) // interval)
            self.model.add(_sum_terms(places) + fixed <= capacity.limit)

    def _shortest(self, operation: int) -> int:
        return min(self.problem.operations[operation].choices[k].latency for k, _ in self.room.ways[operation])

    def read(self, search: cp_model.CpSolver) -> Schedule | None:
        """The schedule that the search found."""
        interval = self.room.interval
        capped = {h.operation for c in self.problem.capacities for h in c.holds if h.busy is None}
        most: list[int | None] = [None] * len(self.room.ways)
        for v in sorted(capped):
            latency = search.value(self.latency[v]) if v in self.latency else self._shortest(v)
            # A capacity pays for whole intervals. Up to the next multiple the latency is free, which lets `settle`
            # close circuits.
            most[v] = max(latency, -(-latency // interval) * interval)
        placed: list[Placed] = []
        for v, ways in self.way.items():
            way = next(n for n, literal in enumerate(ways) if search.value(literal))
            placed.append((v, search.value(self.start[v]), way))
            self.room.table.add(self.room.ways[v][way][1], placed[-1][1])
        self.room.most = tuple(most)
        return complete_schedule(self.room, placed)


def decide_open_code(case: Case, effort: float) -> Decision:
    """Open-code schedule: whether any interval has a schedule, and one that has, in which iterations do not overlap.

    A schedule of some interval is one of an iteration alone; that is one of every interval that is long enough. Between
    two starts that follow each other no more time is needed than the greatest weight or busy time (left-shifted
    schedules; Baker 1974).
    """
    problem = case.problem
    model = cp_model.CpModel()
    weights = [
        abs(d.delay) + (_longest(problem, d.source) if d.latency is None else d.latency) + _longest(problem, d.sink)
        for d in problem.dependences
    ]
    busy = [u.busy for o in problem.operations for c in o.choices for u in c.uses]
    # Left-shifted schedules suffice: each start is 0, or follows another start by one of these amounts.
    horizon = (len(problem.operations) + 1) * max([1, *weights, *busy])
    start = [model.new_int_var(0, horizon, "") for _ in problem.operations]
    taken = [[model.new_bool_var("") for _ in ks] for ks in case.choices]
    latency = [model.new_int_var(0, _longest(problem, v), "") for v in range(len(start))]
    intervals: dict[int, list[cp_model.IntervalVar]] = {}
    for v, (ks, literals) in enumerate(zip(case.choices, taken, strict=True)):
        choices = [problem.operations[v].choices[k] for k in ks]
        model.add_exactly_one(literals)
        model.add(latency[v] >= _weighted_sum(literals, [c.latency for c in choices]))
        model.add(latency[v] <= _weighted_sum(literals, [c.longest for c in choices]))
        for choice, literal in zip(choices, literals, strict=True):
            for use in choice.uses:
                if use.busy and problem.resources[use.resource].limit is not None:
                    # Without an interval, resources are those of job-shop scheduling: cumulative constraints over time.
                    held = model.new_optional_fixed_size_interval_var(start[v], use.busy, literal, "")
                    intervals.setdefault(use.resource, []).append(held)
    for resource, held in intervals.items():
        model.add_cumulative(held, [1] * len(held), problem.resources[resource].limit or 0)
    for d in problem.dependences:
        # At an interval that is long enough every other dependence holds, whatever the starts.
        if d.distance == 0:
            ready = start[d.source] + (latency[d.source] if d.latency is None else d.latency) + d.delay
            model.add(start[d.sink] + (latency[d.sink] if d.to_result else 0) >= ready)
    for capacity in problem.capacities:
        # The interval will be longer than any of these, so that each holds one place, or none.
        held = [h.operation for h in capacity.holds if h.busy is None]
        some = {v: model.new_bool_var("") for v in held}
        for v, literal in some.items():
            model.add(latency[v] <= _longest(problem, v) * literal)
        fixed = sum(1 for h in capacity.holds if h.busy)
        model.add(_sum_terms([some[v] for v in held]) + fixed <= capacity.limit)
    search = solver(effort)
    status = search.solve(model)
    spent = search.response_proto.deterministic_time
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Decision(None, status == cp_model.INFEASIBLE, spent)
    choice = tuple(
        next(k for k, literal in zip(ks, mine, strict=True) if search.value(literal))
        for ks, mine in zip(case.choices, taken, strict=True)
    )
    starts = [search.value(s) for s in start]
    found = Schedule(1, tuple(s - min(starts) for s in starts), choice, tuple(search.value(x) for x in latency))
    return Decision(replace(found, interval=_interval_without_overlap(problem, found)), False, spent)


def _longest(problem: Problem, operation: int) -> int:
    return max(c.longest for c in problem.operations[operation].choices)


def _interval_without_overlap(problem: Problem, schedule: Schedule) -> int:
    """The least interval in which nothing of one iteration runs beside another's, and every dependence holds."""
    needed = [1, *schedule.latency]
    for v, start in enumerate(schedule.start):
        needed += [start + u.busy for u in problem.operations[v].choices[schedule.choice[v]].uses]
    for d in problem.dependences:
        if d.distance:
            ready = (
                schedule.start[d.source] + (schedule.latency[d.source] if d.latency is None else d.latency) + d.delay
            )
            reads = schedule.start[d.sink] + (schedule.latency[d.sink] if d.to_result else 0)
            # II * distance >= ready - reads, rounded up.
            needed.append(-(-(ready - reads) // d.distance))
    needed += [h.busy or 0 for c in problem.capacities for h in c.holds]
    return max(needed)


def _weighted_sum(terms: Sequence[cp_model.LinearExpr], weights: Sequence[int]) -> cp_model.LinearExpr:
    return cp_model.LinearExpr.weighted_sum(terms, list(weights))  # pyright: ignore[reportUnknownMemberType] (it takes any sequences)


def _sum_terms(terms: Sequence[cp_model.LinearExpr]) -> cp_model.LinearExpr:
    return _weighted_sum(terms, [1] * len(terms))


def _transitive_reduction(after: Matrix) -> list[tuple[int, int]]:
    """Transitive reduction of a closure: the pairs whose distance does not follow from those of others (Aho, Garey and
    Ullman 1972).
    """
    found: list[tuple[int, int]] = []
    count = len(after)
    for a in range(count):
        for b in range(count):
            if a == b:
                continue
            via = after[a] + after[:, b]
            via[[a, b]] = np.iinfo(np.int64).min
            if int(via.max()) < after[a, b]:
                found.append((a, b))
    return found

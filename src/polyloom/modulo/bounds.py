# SPDX-License-Identifier: Apache-2.0
"""Lower bounds on the initiation interval pi, with reasons for people.

ResMII is the least pi at which the operations fit the units when dependences are ignored: a clique of operations that pairwise
cannot share, against the units that it can use, gives a bound; an exact packing confirms or raises it.
RecMII is the least integer pi without a cycle of positive weight, an edge weighing latency - pi * distance. It is found by
jumping: a positive cycle of latency L and distance D forces pi >= ceil(L / D); when no positive cycle is left, the last
one was critical.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from ortools.sat.python import cp_model

from polyloom.diagnostics import infeasible
from polyloom.modulo.packing import place, solver
from polyloom.modulo.problem import Problem

PACKING_LIMIT = 5.0
"""Deterministic effort of one packing, in CP-SAT's unit (about a second)."""
PLACES = 20_000
"""Where more places are to choose from than this, the bound by cliques is not confirmed: the model alone would take long to build."""
UNIONS = 128
"""From this number of unit sets on, no more unions are formed."""


@dataclass(frozen=True, slots=True)
class Bound:
    """No initiation interval below `value` has a schedule; `reason` names the units and operations, or the cycle, that bind."""

    value: int
    reason: str


def resource_minimum(problem: Problem) -> Bound:
    """The least pi at which every operation finds a place, dependences ignored."""
    everything = tuple(range(len(problem.operations)))
    value, core = max(((_clique_bound(problem, c), c) for c in _cliques(problem)), default=(1, everything[:1]), key=lambda bound: bound[0])
    while not _fits(problem, value, everything):
        core = _shrink(problem, value, everything)
        value += 1
    return Bound(value, _demand(problem, core))


def _cliques(problem: Problem) -> list[tuple[int, ...]]:
    """For unions of the operations' unit sets, operations confined to that union of which no two may share a cell."""
    unions: set[frozenset[int]] = set()
    for units in sorted({frozenset(o.units) for o in problem.operations}, key=sorted):
        unions |= {units} if len(unions) > UNIONS else {units, *(units | u for u in unions)}
    cliques: list[tuple[int, ...]] = []
    for union in sorted(unions, key=lambda u: (len(u), sorted(u))):
        clique: list[int] = []
        confined = [i for i, o in enumerate(problem.operations) if union.issuperset(o.units)]
        for i in sorted(confined, key=lambda i: (-_least_occupancy(problem, i), sum(problem.are_exclusive(i, j) for j in confined))):
            if not any(problem.are_exclusive(i, j) for j in clique):
                clique.append(i)
        cliques.append(tuple(sorted(clique)))
    return cliques


def _least_occupancy(problem: Problem, operation: int) -> int:
    return min(problem.occupancy(operation, u) for u in problem.operations[operation].units)


def _units(problem: Problem, operations: tuple[int, ...]) -> list[int]:
    return sorted({u for i in operations for u in problem.operations[i].units})


def _clique_bound(problem: Problem, clique: tuple[int, ...]) -> int:
    cycles = [_least_occupancy(problem, i) for i in clique]
    return max(-(-sum(cycles) // len(_units(problem, clique))), *cycles)


def _fits(problem: Problem, pi: int, operations: tuple[int, ...]) -> bool:
    model = cp_model.CpModel()
    if any(_least_occupancy(problem, i) > pi for i in operations):
        return False
    if problem.places(pi) > PLACES:
        return True
    place(model, problem, pi, operations, {})
    search = solver(PACKING_LIMIT)
    search.parameters.cp_model_presolve = False
    # Running out of effort counts as a fit: the bound stays a bound.
    return search.solve(model) != cp_model.INFEASIBLE


def _shrink(problem: Problem, pi: int, operations: tuple[int, ...]) -> tuple[int, ...]:
    """A part of `operations` that does not fit either, but fits without any one of its operations."""
    core = operations
    for i in operations:
        rest = tuple(j for j in core if j != i)
        core = core if _fits(problem, pi, rest) else rest
    return core


def _demand(problem: Problem, operations: tuple[int, ...]) -> str:
    units = _units(problem, operations)
    names = ", ".join(_described(problem, i) for i in operations)
    unit_names = ", ".join(problem.units[u].name for u in units)
    return f"{_count(len(units), 'unit')} {{{unit_names}}} for {_count(len(operations), 'operation')} {names}"


def _described(problem: Problem, operation: int) -> str:
    cycles = _least_occupancy(problem, operation)
    return problem.operations[operation].name + (f" (blocks {cycles} cycles)" if cycles > 1 else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number != 1 else ''}"


@dataclass(frozen=True, slots=True)
class _Edge:
    """ready(sink) >= ready(source) + latency - pi * distance."""

    source: int
    sink: int
    latency: int
    distance: int
    arrow: str


def recurrence_minimum(problem: Problem) -> Bound:
    """The least pi (at least 1) at which no cycle of constraints has positive weight; PL0452 (exit 3) if there is none."""
    edges = _edges(problem)
    bound = Bound(0, "no recurrence")
    while cycle := _positive_cycle(len(problem.operations), edges, bound.value):
        latency, distance = sum(e.latency for e in cycle), sum(e.distance for e in cycle)
        if distance == 0:
            help = "let at least one of these values come from an earlier iteration"
            raise infeasible("PL0452", f"operations wait for each other within one iteration: {_path(problem, cycle)}", help=help)
        bound = Bound(-(-latency // distance), f"{_path(problem, cycle)} (latency {latency}, distance {distance}{_remark(cycle)})")
    return Bound(max(1, bound.value), bound.reason)


def _edges(problem: Problem) -> list[_Edge]:
    # Where the unit decides the latency, the value that constrains least keeps the bound valid.
    least = [min(o.latencies) for o in problem.operations]
    most = [max(o.latencies) for o in problem.operations]
    edges = [_Edge(d.source, d.sink, least[d.sink], d.distance, " -> ") for d in problem.dependences]
    edges += [_Edge(s.sink, s.source, 1 - most[s.sink], 1, " ~> ") for s in problem.short]
    for group in problem.aligned:
        for one, other in pairwise(group):
            edges += [_Edge(one, other, 0, 0, " = "), _Edge(other, one, 0, 0, " = ")]
    return edges


def _positive_cycle(nodes: int, edges: list[_Edge], pi: int) -> list[_Edge]:
    """A cycle of positive weight, starting at its least node, or nothing (Bellman and Ford, for longest paths)."""
    distance = [0] * nodes
    entered: list[_Edge | None] = [None] * nodes
    touched = 0
    for _ in range(nodes + 1):
        touched = -1
        for edge in edges:
            reach = distance[edge.source] + edge.latency - pi * edge.distance
            if reach > distance[edge.sink]:
                distance[edge.sink], entered[edge.sink], touched = reach, edge, edge.sink
        if touched < 0:
            return []
    return _walk_back(entered, touched)


def _walk_back(entered: list[_Edge | None], node: int) -> list[_Edge]:
    trail: list[_Edge] = []
    seen: dict[int, int] = {}
    while node not in seen:
        seen[node] = len(trail)
        edge = entered[node]
        assert edge is not None, "a node that improved in the last round was entered"
        trail.append(edge)
        node = edge.source
    cycle = trail[seen[node] :][::-1]
    first = min(range(len(cycle)), key=lambda k: cycle[k].source)
    return cycle[first:] + cycle[:first]


def _path(problem: Problem, cycle: list[_Edge]) -> str:
    return problem.operations[cycle[0].source].name + "".join(e.arrow + problem.operations[e.sink].name for e in cycle)


def _remark(cycle: list[_Edge]) -> str:
    return "; ~> a register keeps the value for less than one interval" if any(e.arrow == " ~> " for e in cycle) else ""

# SPDX-License-Identifier: Apache-2.0
"""Tiny modulo-scheduling problems: how to draw them, and their answers by enumeration.

A schedule is judged by unrolling it: iterations are laid side by side in time and every cycle of every unit is looked
at.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from hypothesis import strategies as st

from polyloom.modulo.guards.problem import Guarded, Short, operation
from polyloom.modulo.problem import Dependence, Problem, Resource


class Unit(NamedTuple):
    name: str
    pipelined: bool = True


class Operation(NamedTuple):
    name: str
    units: tuple[int, ...]
    latencies: tuple[int, ...]


def guarded(
    operations: tuple[Operation, ...],
    units: tuple[Unit, ...],
    dependences: tuple[Dependence, ...] = (),
    aligned: tuple[tuple[int, ...], ...] = (),
    exclusive: frozenset[tuple[int, int]] = frozenset(),
    short: tuple[Short, ...] = (),
    spans: tuple[tuple[tuple[int, int], ...], ...] = (),
) -> Guarded:
    pipelined = tuple(u.pipelined for u in units)
    made = tuple(operation(*o, pipelined) for o in operations)
    return Guarded(Problem(made, tuple(Resource(u.name) for u in units), dependences), aligned, exclusive, short, spans)


Schedule = tuple[tuple[int, ...], tuple[int, ...]]
"""(start, unit)"""


@st.composite
def problems(draw: st.DrawFn, most: int = 4) -> Guarded:
    units = tuple(Unit(f"u{n}", draw(st.booleans())) for n in range(draw(st.integers(1, 3))))
    operations: list[Operation] = []
    for n in range(draw(st.integers(1, most))):
        allowed = tuple(sorted(draw(st.sets(st.integers(0, len(units) - 1), min_size=1))))
        operations.append(Operation(f"S{n}", allowed, tuple(draw(st.integers(1, 3)) for _ in allowed)))
    node = st.integers(0, len(operations) - 1)
    dependences = draw(st.lists(st.builds(Dependence, node, node, st.integers(0, 2)), max_size=4))
    # Distance 0 only forwards: cycles of distance zero have their own test.
    causal = tuple(Dependence(d.source, d.sink, d.distance or int(d.source >= d.sink)) for d in dependences)
    pairs = list(combinations(range(len(operations)), 2))
    exclusive = frozenset(draw(st.sets(st.sampled_from(pairs)))) if pairs else frozenset[tuple[int, int]]()
    aligned = (draw(st.sampled_from(pairs)),) if pairs and draw(st.integers(0, 3)) == 0 else ()
    short = tuple(Short(d.source, d.sink) for d in causal if d.distance == 0 and draw(st.booleans()))
    spans = tuple(((d.source, d.sink),) for d in causal if d.distance)
    return guarded(tuple(operations), units, causal, aligned, exclusive, short, spans)


def ready(problem: Guarded, schedule: Schedule, operation: int) -> int:
    return schedule[0][operation] + problem.latency(operation, schedule[1][operation])


def is_valid(problem: Guarded, pi: int, schedule: Schedule) -> bool:
    start, unit = schedule
    if any(start[d.sink] + pi * d.distance < ready(problem, schedule, d.source) for d in problem.dependences):
        return False
    if any(start[s.sink] - ready(problem, schedule, s.source) > pi - 1 for s in problem.short):
        return False
    if any(len({ready(problem, schedule, v) for v in group}) > 1 for group in problem.aligned):
        return False
    return not _collides(problem, pi, start, unit)


def _collides(problem: Guarded, pi: int, start: tuple[int, ...], unit: tuple[int, ...]) -> bool:
    iterations = (max(start) + 3) // pi + 2
    held: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for iteration in range(iterations):
        for v in range(len(start)):
            cycles = problem.occupancy(v, unit[v])
            for cycle in range(start[v] + pi * iteration, start[v] + pi * iteration + cycles):
                for w, other in held.setdefault((unit[v], cycle), []):
                    exclusive = (v, w) in problem.exclusive or (w, v) in problem.exclusive
                    if iteration != other or not exclusive or start[v] != start[w]:
                        return True
                held[unit[v], cycle].append((v, iteration))
    return False


def schedules(problem: Guarded, pi: int, horizon: int) -> Iterator[Schedule]:
    """Every valid schedule with start offsets below `horizon`, by extending valid schedules of the first operations."""
    partial: list[Schedule] = [((), ())]
    for n in range(len(problem.operations)):
        part = _prefix(problem, n + 1)
        grown = [((*s, t), (*u, v)) for s, u in partial for t in range(horizon) for v in problem.executing_units(n)]
        partial = [candidate for candidate in grown if is_valid(part, pi, candidate)]
    yield from partial


def _prefix(problem: Guarded, count: int) -> Guarded:
    dependences = tuple(d for d in problem.dependences if max(d.source, d.sink) < count)
    return Guarded(
        Problem(problem.operations[:count], problem.units, dependences),
        tuple(tuple(v for v in group if v < count) for group in problem.aligned),
        problem.exclusive,
        tuple(s for s in problem.short if max(s.source, s.sink) < count),
    )


def cost(problem: Guarded, pi: int, schedule: Schedule) -> tuple[int, int, int]:
    """(sum of the spans, length, sum of the lifetimes), as the solver is to minimize them in this order."""
    start = schedule[0]
    spans = sum(max([0, *(ready(problem, schedule, v) - start[w] for v, w in group)]) for group in problem.spans)
    length = max(ready(problem, schedule, v) for v in range(len(start))) - min(start)
    lives: dict[int, int] = {}
    for d in problem.dependences:
        life = start[d.sink] + pi * d.distance - ready(problem, schedule, d.source)
        lives[d.source] = max(lives.get(d.source, 0), life)
    return spans, length, sum(lives.values())

# SPDX-License-Identifier: Apache-2.0
"""Constraint graph of a modulo-scheduling problem: its dependences as differences between points in time (Rau 1994).

A point is the start of an operation, numbered like it, or, after all of these, the result of an operation whose latency
the solver chooses and whose result must wait for something. An arc says `time(sink) + II * distance >= time(source) +
weight`.

Where an operation's latency depends on its choice, an arc takes the least that any choice demands (`Demand.LEAST`, for
bounds) or the most (`Demand.MOST`, for schedules that hold whatever is chosen).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from typing import NamedTuple

from polyloom.modulo.problem import Choice, Dependence, Problem, is_possible


class Demand(Enum):
    LEAST = auto()
    MOST = auto()


class Arc(NamedTuple):
    source: int
    sink: int
    weight: int
    distance: int


@dataclass(frozen=True)  # not slotted: it caches what follows from its fields
class Graph:
    """`choices[v]` are the choices that operation v may take; `owner[p]` is the operation of point p."""

    problem: Problem
    choices: tuple[tuple[int, ...], ...]
    owner: tuple[int, ...]
    arcs: tuple[Arc, ...]

    @cached_property
    def components(self) -> tuple[tuple[int, ...], ...]:
        """The strongly connected components of operations, each after those that it depends on."""
        successors: list[list[int]] = [[] for _ in self.problem.operations]
        for arc in self.arcs:
            successors[self.owner[arc.source]].append(self.owner[arc.sink])
        return strong_components(successors)

    @cached_property
    def component_of(self) -> tuple[int, ...]:
        """The component of each operation."""
        of = [0] * len(self.problem.operations)
        for number, members in enumerate(self.components):
            for v in members:
                of[v] = number
        return tuple(of)

    @cached_property
    def outgoing(self) -> tuple[tuple[Arc, ...], ...]:
        return _group_arcs(self.arcs, len(self.owner), lambda arc: arc.source)

    @cached_property
    def incoming(self) -> tuple[tuple[Arc, ...], ...]:
        return _group_arcs(self.arcs, len(self.owner), lambda arc: arc.sink)

    @cached_property
    def points(self) -> tuple[tuple[int, ...], ...]:
        """The points of each component."""
        found: list[list[int]] = [[] for _ in self.components]
        for point, operation in enumerate(self.owner):
            found[self.component_of[operation]].append(point)
        return tuple(map(tuple, found))

    @cached_property
    def inner(self) -> tuple[tuple[Arc, ...], ...]:
        """The arcs inside of each component."""
        found: list[list[Arc]] = [[] for _ in self.components]
        for arc in self.arcs:
            number = self.component_of[self.owner[arc.source]]
            if number == self.component_of[self.owner[arc.sink]]:
                found[number].append(arc)
        return tuple(map(tuple, found))


def _group_arcs(arcs: Iterable[Arc], count: int, key: Callable[[Arc], int]) -> tuple[tuple[Arc, ...], ...]:
    found: list[list[Arc]] = [[] for _ in range(count)]
    for arc in arcs:
        found[key(arc)].append(arc)
    return tuple(map(tuple, found))


def possible_choices(problem: Problem) -> tuple[tuple[int, ...], ...]:
    """Choices of each operation that some interval has room for."""
    return tuple(tuple(k for k, c in enumerate(o.choices) if is_possible(problem, c)) for o in problem.operations)


def build_graph(
    problem: Problem, choices: Sequence[tuple[int, ...]], demand: Demand, most: Sequence[int | None] | None = None
) -> Graph:
    """Constraint graph for these choices; `most[v]` limits the latency of v further, in cycles."""
    waiting = {d.sink for d in problem.dependences if d.to_result}
    kept = tuple(_consistent(problem, v, ks) if demand is Demand.MOST else ks for v, ks in enumerate(choices))
    owner = list(range(len(problem.operations)))
    result: dict[int, int] = {}
    arcs: list[Arc] = []
    # Only results that something waits for become points: other chosen latencies are as short as possible.
    for v in sorted(waiting):
        mine = [problem.operations[v].choices[k] for k in kept[v]]
        least, longest = _latency_range(mine, demand)
        if most is not None and (limit := most[v]) is not None:
            longest = max(least, min(longest, limit))
        if least == longest:
            continue
        result[v] = len(owner)
        owner.append(v)
        # A latency between `least` and `longest` as two differences, which longest paths understand.
        arcs += [Arc(v, result[v], least, 0), Arc(result[v], v, -longest, 0)]
    arcs += [_make_arc(problem, d, kept, result, demand) for d in problem.dependences]
    return Graph(problem, kept, tuple(owner), tuple(arcs))


def _consistent(problem: Problem, operation: int, choices: tuple[int, ...]) -> tuple[int, ...]:
    """Choices whose ranges of latency have a number in common; where all have not, those like the fastest."""
    mine = problem.operations[operation].choices
    ranged = [mine[k] for k in choices if mine[k].most is not None]
    # A latency that suits all choices exists, so that an arc can hold whichever is taken.
    if not ranged or max(mine[k].latency for k in choices) <= min(c.longest for c in ranged):
        return choices
    fastest = min((mine[k] for k in choices), key=lambda c: (c.latency, c.longest))
    return tuple(k for k in choices if (mine[k].latency, mine[k].most) == (fastest.latency, fastest.most))


def _latency_range(choices: Sequence[Choice], demand: Demand) -> tuple[int, int]:
    """Latency range in cycles, whatever is chosen (`MOST`) or with the best choice for it (`LEAST`)."""
    if demand is Demand.LEAST:
        return min(c.latency for c in choices), max(c.longest for c in choices)
    return max(c.latency for c in choices), max(max(c.latency for c in choices), min(c.longest for c in choices))


def _make_arc(
    problem: Problem, d: Dependence, choices: Sequence[tuple[int, ...]], result: dict[int, int], demand: Demand
) -> Arc:
    source, sink, weight = d.source, d.sink, d.delay
    if d.latency is not None:
        weight += d.latency
    elif source in result:
        source = result[source]
    else:
        mine = [problem.operations[source].choices[k].latency for k in choices[source]]
        # LEAST: the bound must hold whatever is chosen. MOST: the schedule must be valid whatever is chosen.
        weight += min(mine) if demand is Demand.LEAST else max(mine)
    if d.to_result and sink in result:
        sink = result[sink]
    elif d.to_result:
        mine = [problem.operations[sink].choices[k] for k in choices[sink]]
        weight -= max(c.longest for c in mine) if demand is Demand.LEAST else min(c.latency for c in mine)
    return Arc(source, sink, weight, d.distance)


def strong_components(successors: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Strongly connected components, each after those that lead to it (Tarjan 1972, without recursion)."""
    order, low = [-1] * len(successors), [0] * len(successors)
    stack: list[int] = []
    is_open = [False] * len(successors)
    found: list[tuple[int, ...]] = []
    counter = 0
    for root in range(len(successors)):
        if order[root] >= 0:
            continue
        trail = [(root, iter(successors[root]))]
        order[root] = low[root] = counter
        counter += 1
        stack.append(root)
        is_open[root] = True
        while trail:
            node, rest = trail[-1]
            # A visited point that is no longer on the stack belongs to a finished component: its arc says nothing here.
            child = next((s for s in rest if order[s] < 0 or is_open[s]), None)
            if child is None:
                trail.pop()
                if trail:
                    low[trail[-1][0]] = min(low[trail[-1][0]], low[node])
                if low[node] == order[node]:
                    found.append(_pop_component(stack, is_open, node))
            elif order[child] >= 0:
                low[node] = min(low[node], order[child])
            else:
                order[child] = low[child] = counter
                counter += 1
                stack.append(child)
                is_open[child] = True
                trail.append((child, iter(successors[child])))
    # Tarjan's algorithm finishes a component before those that lead to it; callers want producers first.
    return tuple(reversed(found))


def _pop_component(stack: list[int], is_open: list[bool], root: int) -> tuple[int, ...]:
    members: list[int] = []
    while not members or members[-1] != root:
        members.append(stack.pop())
        is_open[members[-1]] = False
    return tuple(sorted(members))

# SPDX-License-Identifier: Apache-2.0
"""Minimum initiation interval: lower bounds (ResMII, RecMII; Rau 1994) that need no search, with reasons
for people.

Resources: operations need at least a number of cells of a set of resources, whatever they choose; an interval offers
`limit` cells of each per row. For a single resource this is the sum of `busy` over its limit. Where choices overlap,
the worst set is a union of operations' own sets (Hall 1935). Capacities: the sum of ceil(busy / II) falls as II grows.
Recurrences: the maximum cycle ratio (Reiter 1968).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from polyloom.diagnostics import infeasible
from polyloom.modulo.graph import Demand, Graph, build_graph, possible_choices
from polyloom.modulo.problem import Capacity, Choice, LowerBound, Problem
from polyloom.modulo.recurrence import Circuit, critical_circuit
from polyloom.modulo.table import profile

UNIONS: Final = 512
"""From this number of resource sets on, no more unions are formed; the bound stays one."""
_NAMED: Final = 12
"""Operations that a reason names at most."""


def resource_bound(problem: Problem) -> LowerBound:
    """ResMII: the greatest bound by resources and capacities, at least 1 (Rau 1994). PL0987 for a capacity
    that no interval satisfies.
    """
    choices = possible_choices(problem)
    found = [_set_bound(problem, choices, union) for union in _unions(problem, choices)]
    found += [
        _cell_bound(problem, choices, r) for r, resource in enumerate(problem.resources) if resource.limit is not None
    ]
    found += [_capacity_bound(problem, choices, c) for c in problem.capacities]
    best = max(found, default=LowerBound(1, "no limited resource"), key=lambda bound: bound.value)
    return best if best.value > 0 else LowerBound(1, "no limited resource")


def _unions(problem: Problem, choices: Sequence[tuple[int, ...]]) -> list[frozenset[int]]:
    """Resource sets of Hall's condition (1935): limited resources alone, the sets that operations choose from, and
    unions of these that overlap. Of two disjoint sets, one alone binds as much as their union.
    """
    sets = {
        frozenset(r for k in ks for r in _limited_resources(problem, problem.operations[v].choices[k]))
        for v, ks in enumerate(choices)
    }
    unions: set[frozenset[int]] = set()
    # Hall's condition asks for every union of the sets that operations choose from. These are exponentially many; a
    # bound from fewer unions is lower, and still a bound.
    fresh = sets - {frozenset()}
    while fresh and len(unions) <= UNIONS:
        unions |= fresh
        fresh = {mine | other for mine in sorted(fresh, key=sorted) for other in unions if mine & other} - unions
    unions |= {frozenset((r,)) for mine in sets for r in mine}
    return sorted(unions, key=lambda union: (len(union), sorted(union)))


def _limited_resources(problem: Problem, choice: Choice) -> Iterator[int]:
    return (u.resource for u in choice.uses if u.busy and problem.resources[u.resource].limit is not None)


def _set_bound(problem: Problem, choices: Sequence[tuple[int, ...]], union: frozenset[int]) -> LowerBound:
    """Cells that operations need of a set of resources, over the cells that it has in a row."""
    needs = [min(_cells(problem.operations[v].choices[k], union) for k in ks) for v, ks in enumerate(choices)]
    offered = sum(problem.resources[r].limit or 0 for r in union)
    members = tuple(v for v, need in enumerate(needs) if need)
    if not members:
        return LowerBound(0, "")
    # Each interval offers `offered` cells per row, so II >= needs / offered, rounded up.
    value = -(-sum(needs) // offered) if offered else 0
    return LowerBound(value, _demand(problem, union, members, needs, offered), members)


def _cells(choice: Choice, union: frozenset[int]) -> int:
    return sum(u.busy for u in choice.uses if u.resource in union)


def _demand(problem: Problem, union: frozenset[int], members: Sequence[int], needs: Sequence[int], offered: int) -> str:
    names = ", ".join(problem.resources[r].name for r in sorted(union))
    named = [problem.operations[v].name + (f" (busy {needs[v]})" if needs[v] > 1 else "") for v in members[:_NAMED]]
    more = f" and {len(members) - _NAMED} more" if len(members) > _NAMED else ""
    cells = sum(needs)
    return (
        f"{names}: {pluralize(cells, 'row')} for {pluralize(len(members), 'operation')}, {offered} at a time "
        f"({', '.join(named)}{more})"
    )


def pluralize(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number != 1 else ''}"


def _cell_bound(problem: Problem, choices: Sequence[tuple[int, ...]], resource: int) -> LowerBound:
    """An operation that holds a resource so long, or so often, that one row alone exceeds the limit."""
    limit = problem.resources[resource].limit
    assert limit is not None
    found = LowerBound(0, "")
    for v, ks in enumerate(choices):
        busy = [
            [u.busy for u in problem.operations[v].choices[k].uses if u.resource == resource and u.busy] for k in ks
        ]
        # Some choice does without the resource, so the operation alone forces nothing.
        if not all(busy):
            continue
        value = min(_self_conflict_bound(held, limit) for held in busy)
        if value > found.value:
            name = problem.operations[v].name
            found = LowerBound(
                value,
                f"{problem.resources[resource].name}: {name} alone is busy for {min(map(max, busy))} cycles",
                (v,),
            )
    return found


def _self_conflict_bound(busy: Sequence[int], limit: int) -> int:
    """Least interval, in cycles, at which one operation does not meet itself in the reservation table: it is busy for
    these numbers of cycles, and holds no row more than `limit` times.
    """
    return _bisect_interval(lambda interval: max(run.times for run in profile(busy, interval)) <= limit, max(busy))


def _capacity_bound(problem: Problem, choices: Sequence[tuple[int, ...]], capacity: Capacity) -> LowerBound:
    """Least interval at which the holds of a capacity fit: the sum of ceil(busy / II) is at most the limit. PL0987 if
    none is long enough.
    """
    busy = [shortest_hold(problem, choices, h.operation, h.busy) for h in capacity.holds]
    members = tuple(dict.fromkeys(h.operation for h, b in zip(capacity.holds, busy, strict=True) if b))
    # ceil(busy / II) is at least 1 however long the interval: no interval helps.
    if sum(b > 0 for b in busy) > capacity.limit:
        what = f"{pluralize(len(members), 'operation')} hold {capacity.name}, of which there are {capacity.limit}"
        raise infeasible(
            "PL0987",
            f"no interval is long enough: {what}",
            help="raise the limit, or give the operations another way to run",
        )
    # The sum falls as the interval grows, so the least interval is found by bisection; at max(busy) every term is 1.
    value = _bisect_interval(
        lambda interval: sum(-(-b // interval) for b in busy) <= capacity.limit, max(busy, default=1)
    )
    held = (
        f"{capacity.name}: {pluralize(capacity.limit, 'place')} for "
        f"{pluralize(len(members), 'operation')} that hold one "
        f"for {sum(busy)} cycles in all"
    )
    return LowerBound(value, held, members)


def shortest_hold(problem: Problem, choices: Sequence[tuple[int, ...]], operation: int, busy: int | None) -> int:
    """Shortest time in cycles for which an operation holds a place of a capacity."""
    return (
        busy if busy is not None else min(problem.operations[operation].choices[k].latency for k in choices[operation])
    )


def _bisect_interval(holds: Callable[[int], bool], most: int) -> int:
    """Bisection: the least interval up to `most` at which a monotone condition holds. The condition is known to hold at
    `most`, and stays true from its first interval on.
    """
    low, high = 1, max(1, most)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def recurrence_bound(problem: Problem) -> LowerBound:
    """RecMII: the bound by the circuits of dependences, at least 1 (Rau 1994). PL0985 for a circuit that
    no interval satisfies.
    """
    graph = build_graph(problem, possible_choices(problem), Demand.LEAST)
    circuit = critical_circuit(len(graph.owner), graph.arcs)
    if circuit is None:
        return LowerBound(1, "no circuit of dependences that takes time")
    names = _names(graph, circuit)
    members = tuple(dict.fromkeys(graph.owner[arc.source] for arc in circuit.arcs))
    if circuit.distance == 0:
        help = "let at least one of these dependences have a distance of 1 or more"
        message = f"operations wait for each other within one iteration: {names} (latency {circuit.weight}, distance 0)"
        raise infeasible("PL0985", message, help=help)
    return LowerBound(circuit.bound, f"{names} (latency {circuit.weight}, distance {circuit.distance})", members)


def _names(graph: Graph, circuit: Circuit) -> str:
    points = [circuit.arcs[0].source, *(arc.sink for arc in circuit.arcs)]
    owners = [graph.owner[p] for p in points]
    # An operation and its chosen latency are two points: in a message it stands once. A circuit of one operation keeps
    # both ends.
    kept = [v for n, v in enumerate(owners) if n == 0 or v != owners[n - 1] or len(owners) == 2]
    names = [graph.problem.operations[v].name for v in kept]
    return " -> ".join([*names[:_NAMED], "...", *names[-1:]] if len(names) > 2 * _NAMED else names)


def circuit_members(problem: Problem) -> tuple[str, ...]:
    """The operations of the circuit of positive weight and distance 0 that PL0985 names."""
    graph = build_graph(problem, possible_choices(problem), Demand.LEAST)
    circuit = critical_circuit(len(graph.owner), graph.arcs)
    found: Iterable[int] = () if circuit is None else (graph.owner[arc.source] for arc in circuit.arcs)
    return tuple(problem.operations[v].name for v in dict.fromkeys(found))

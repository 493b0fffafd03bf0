# SPDX-License-Identifier: Apache-2.0
"""Register allocation as colouring of an interference graph (the array paper, section 5.3; Chaitin 1981).

In a modulo schedule a value lives on a circular arc: in the cycles ready..last modulo the initiation interval. Values
whose arcs meet need unlike registers, unless their owner knows better. The graph is coloured by saturation (DSATUR;
Brelaz 1979); a maximal clique bounds the number of colours from below; where the two differ, CP-SAT decides each number
in between.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from polyloom.diagnostics import INTERNAL, Diagnostic, PolyloomError
from polyloom.modulo.cp_sat import cp_model, solver

EXACT_NODES = 40
"""Larger graphs keep the greedy colouring."""
EFFORT = 2.0
"""Deterministic effort of one search, in CP-SAT's unit (about a second)."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A value lives in the cycles ready..last, both inclusive, at most `period` of them, in every period."""

    ready: int
    last: int


def colour_intervals(
    intervals: tuple[Interval, ...], period: int, compatible: frozenset[tuple[int, int]] = frozenset()
) -> tuple[tuple[int, ...], int]:
    """Circular-arc colouring: a register for every interval, and a proven lower bound on the number of registers
    (Hendren et al. 1992).

    Pairs in `compatible` (in any order) may share a register although they meet. Raises ValueError for an interval that
    is empty or longer than the period.
    """
    if any(not 1 <= i.last - i.ready + 1 <= period for i in intervals):
        raise ValueError("an interval is empty or longer than the period")
    clash = [
        pair
        for pair in combinations(range(len(intervals)), 2)
        if _arcs_overlap(intervals[pair[0]], intervals[pair[1]], period)
    ]
    colours, bound = _colour_nodes(len(intervals), [(i, j) for i, j in clash if not {(i, j), (j, i)} & compatible])
    check_colours(intervals, period, compatible, colours)
    return colours, bound


def colour_graph(n: int, edges: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """Graph colouring: a colour for each of the nodes 0..n-1, unlike colours at the ends of every edge; as few as
    possible up to `EXACT_NODES` nodes (Brelaz 1979).
    """
    return _colour_nodes(n, edges)[0]


def check_colours(
    intervals: tuple[Interval, ...], period: int, compatible: frozenset[tuple[int, int]], colours: tuple[int, ...]
) -> None:
    """Verifier of a colouring: PL0470 (internal) when two values share a register in a cycle; independent of the
    search.
    """
    if len(colours) != len(intervals):
        raise _allocator_error(f"{len(intervals)} values have {len(colours)} registers")
    tenants: dict[tuple[int, int], list[int]] = {}
    for value, interval in enumerate(intervals):
        # Cycle by cycle, and not by arcs: the check must not share the search's idea of when two values meet.
        for cycle in range(interval.ready, interval.last + 1):
            others = tenants.setdefault((colours[value], cycle % period), [])
            for other in others:
                if (other, value) not in compatible and (value, other) not in compatible:
                    raise _allocator_error(
                        f"values {other} and {value} are in register {colours[value]} in cycle {cycle % period} of "
                        "the interval"
                    )
            others.append(value)


def _allocator_error(message: str) -> PolyloomError:
    return PolyloomError(Diagnostic("PL0470", f"the register allocator made a mistake: {message}", INTERNAL))


def _arcs_overlap(one: Interval, other: Interval, period: int) -> bool:
    # Two arcs on a circle meet if and only if one begins within the other.
    return (other.ready - one.ready) % period <= one.last - one.ready or (
        one.ready - other.ready
    ) % period <= other.last - other.ready


def _colour_nodes(n: int, edges: Iterable[tuple[int, int]]) -> tuple[tuple[int, ...], int]:
    """Chromatic number search: colours, numbered by first appearance, and a lower bound on their number."""
    neighbours: list[set[int]] = [set() for _ in range(n)]
    for i, j in edges:
        neighbours[i].add(j)
        neighbours[j].add(i)
    colours = _dsatur(neighbours)
    clique = _greedy_clique(neighbours)
    bound = len(clique)
    # From the clique's size upwards: the first number of colours that suffices is the chromatic number.
    while n <= EXACT_NODES and bound < len(set(colours)):
        status, found = _search_colouring(neighbours, clique, bound)
        if found is not None:
            colours = found
        elif status == cp_model.INFEASIBLE:
            bound += 1
        else:
            break
    names = {c: k for k, c in enumerate(dict.fromkeys(colours))}
    return tuple(names[c] for c in colours), bound


def _dsatur(neighbours: list[set[int]]) -> tuple[int, ...]:
    colours: dict[int, int] = {}
    taken: dict[int, set[int]] = {v: set() for v in range(len(neighbours))}
    while taken:
        # Brelaz: the node that sees most colours has the least choice. Ties go to the lowest number, for determinism.
        node = max(taken, key=lambda v: (len(taken[v]), len(neighbours[v]), -v))
        own = taken.pop(node)
        colours[node] = next(c for c in range(len(neighbours)) if c not in own)
        for v in neighbours[node] & taken.keys():
            taken[v].add(colours[node])
    return tuple(colours[v] for v in range(len(neighbours)))


def _greedy_clique(neighbours: list[set[int]]) -> list[int]:
    """The greatest clique grown greedily from any node; of a large graph, one clique."""
    best: list[int] = []
    if len(neighbours) > EXACT_NODES:
        return _quick_clique(neighbours)
    for seed in range(len(neighbours)):
        clique, candidates = [seed], set(neighbours[seed])
        while candidates:
            node = max(candidates, key=lambda v: (len(neighbours[v] & candidates), -v))
            clique.append(node)
            candidates &= neighbours[node]
        # Grown from every node: n^2 steps for a bound that often equals the greedy colouring, which ends the search.
        best = max(best, clique, key=len)
    return best


def _quick_clique(neighbours: list[set[int]]) -> list[int]:
    candidates, clique = set(range(len(neighbours))), list[int]()
    while candidates:
        clique.append(max(candidates, key=lambda v: (len(neighbours[v]), -v)))
        candidates &= neighbours[clique[-1]]
    return clique


def _search_colouring(
    neighbours: list[set[int]], clique: list[int], count: int
) -> tuple[cp_model.CpSolverStatus, tuple[int, ...] | None]:
    """Decide whether `count` colours suffice; the clique's colours are fixed, which breaks their symmetry."""
    model = cp_model.CpModel()
    uses = [[model.new_bool_var(f"{v} in {c}") for c in range(count)] for v in range(len(neighbours))]
    for v, literals in enumerate(uses):
        model.add_exactly_one(literals)
        for w in neighbours[v]:
            for c in range(count if v < w else 0):
                model.add_at_most_one(uses[v][c], uses[w][c])
    for c, v in enumerate(clique):
        # Members of a clique have distinct colours in every solution, so that fixing them loses none.
        model.add(uses[v][c] == 1)
    search = solver(EFFORT)
    status = search.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return status, None
    return status, tuple(
        next(c for c, literal in enumerate(literals) if search.boolean_value(literal)) for literals in uses
    )

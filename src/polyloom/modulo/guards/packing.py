# SPDX-License-Identifier: Apache-2.0
"""Packing of the modulo reservation table (Lam 1988): placement of operations on (unit, slot) at a given initiation
interval, as CP-SAT constraints.

A cell (unit u, slot c) is one cycle of the table. An operation that starts on u in slot s holds the cells s, s + 1, ...
modulo pi, `occupancy` many. A cell serves one operation, or several that exclude each other pairwise and start
together. Units alike in everything are interchangeable: operation i uses the k-th of them only if an operation before i
uses the one before it (value precedence; Law and Lee 2004).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, product

from polyloom.modulo.cp_sat import cp_model
from polyloom.modulo.guards.problem import Guarded

Place = tuple[int, int, int]
"""(operation, unit, slot)"""


def pairs_sharing_a_unit(problem: Guarded, operations: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Exclusive pairs (i < j) that some unit can execute both of."""
    for i, j in combinations(sorted(operations), 2):
        if problem.are_exclusive(i, j) and set(problem.executing_units(i)) & set(problem.executing_units(j)):
            yield i, j


def add_placement(
    model: cp_model.CpModel,
    problem: Guarded,
    pi: int,
    operations: tuple[int, ...],
    together: Mapping[tuple[int, int], cp_model.IntVar],
) -> dict[Place, cp_model.IntVar]:
    """Add one literal for every place where an operation may start, of which exactly one per operation is true, and
    the cells' constraints.

    `operations` ascend. `together[i, j]` (i < j) must hold where exclusive i and j share a cell; pairs that it lacks
    may share freely.
    """
    choices = _candidate_units(problem, operations)
    places = {
        (i, u, s): model.new_bool_var(f"{problem.operations[i].name}@{problem.units[u].name}.{s}")
        for i in operations
        for u in choices[i]
        # An operation that blocks a unit for longer than pi would meet itself in the next iteration.
        if problem.occupancy(i, u) <= pi
        for s in range(pi)
    }
    own = group_by_operation(places)
    for i in operations:
        model.add_exactly_one(literal for _, _, literal in own.get(i, ()))
    for u in range(len(problem.units)):
        users = tuple(i for i in operations if (i, u, 0) in places)
        _share_cells(model, problem, pi, u, users, places, together)
    return places


def group_by_operation(places: Mapping[Place, cp_model.IntVar]) -> dict[int, list[tuple[int, int, cp_model.IntVar]]]:
    """The (unit, slot, literal) of each operation that has places."""
    found: dict[int, list[tuple[int, int, cp_model.IntVar]]] = {}
    for (i, u, s), literal in places.items():
        found.setdefault(i, []).append((u, s, literal))
    return found


def _share_cells(
    model: cp_model.CpModel,
    problem: Guarded,
    pi: int,
    unit: int,
    users: tuple[int, ...],
    places: Mapping[Place, cp_model.IntVar],
    together: Mapping[tuple[int, int], cp_model.IntVar],
) -> None:
    cycles = {i: problem.occupancy(i, unit) for i in users}
    for clique in _clique_cover(problem, users):
        for cell in range(pi):
            model.add_at_most_one(
                places[i, unit, s] for i in clique for s in sorted((cell - n) % pi for n in range(cycles[i]))
            )
    for i, j in combinations(users, 2):
        if not problem.are_exclusive(i, j):
            continue
        for s, t in product(range(pi), repeat=2):
            both = places[i, unit, s].negated(), places[j, unit, t].negated()
            # Sharing is legal, but the caller must know of it, because starts have to be equal and not only slots.
            if s == t and (i, j) in together:
                model.add_bool_or(*both, together[i, j])
            elif s != t and ((t - s) % pi < cycles[i] or (s - t) % pi < cycles[j]):
                model.add_bool_or(*both)


def _clique_cover(problem: Guarded, operations: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Clique cover: cliques that cover every pair of operations that may not share a cell."""
    open_pairs = {(i, j) for i, j in combinations(operations, 2) if not problem.are_exclusive(i, j)}
    while open_pairs:
        clique = list[int](min(open_pairs))
        for i in operations:
            if i not in clique and not any(problem.are_exclusive(i, j) for j in clique):
                clique.append(i)
        yield tuple(sorted(clique))
        # Cliques that cover all pairs give fewer and stronger at-most-one constraints than a clause per pair.
        open_pairs -= set(combinations(sorted(clique), 2))


def _candidate_units(problem: Guarded, operations: tuple[int, ...]) -> dict[int, list[int]]:
    """The units worth trying for each operation: of k interchangeable ones, the n-th user needs only the first n."""
    groups: dict[tuple[tuple[int, int] | None, ...], list[int]] = {}
    for u in range(len(problem.units)):
        alike = tuple(
            (problem.latency(i, u), problem.occupancy(i, u)) if u in problem.executing_units(i) else None
            for i in operations
        )
        groups.setdefault(alike, []).append(u)
    result: dict[int, list[int]] = {i: [] for i in operations}
    for alike, units in groups.items():
        users = [i for i, way in zip(operations, alike, strict=True) if way is not None]
        for n, i in enumerate(users):
            # Breaks the symmetry of interchangeable units without losing a solution: renumber units by their first
            # user.
            result[i] += units[: n + 1]
    return result

# SPDX-License-Identifier: Apache-2.0
"""Lower bounds on the initiation interval pi of guarded operations, with reasons for people (ResMII and RecMII; Rau
1994).

ResMII is the least pi at which the operations fit the units when dependences are ignored: a clique of operations that
pairwise cannot share, against the units that it can use, gives a bound; an exact packing confirms or raises it. RecMII
is the maximum ratio of latency and distance of a cycle of constraints, see `modulo.recurrence`.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Final

from polyloom.diagnostics import infeasible
from polyloom.modulo.bounds import pluralize
from polyloom.modulo.cp_sat import cp_model, solver
from polyloom.modulo.graph import Arc
from polyloom.modulo.guards.packing import add_placement
from polyloom.modulo.guards.problem import Guarded
from polyloom.modulo.problem import LowerBound, Problem
from polyloom.modulo.recurrence import critical_circuit

PACKING_LIMIT = 5.0
"""Deterministic effort of one packing, in CP-SAT's unit (about a second)."""
PLACES = 20_000
"""Where more places are to choose from than this, the bound by cliques is not confirmed: the model alone would take
long to build."""
UNIONS = 128
"""From this number of unit sets on, no more unions are formed."""
_NAMED: Final = 40
"""Operations that a reason names at most."""


def resource_minimum(problem: Guarded) -> LowerBound:
    """ResMII: the least pi at which every operation finds a place, dependences ignored (Rau 1994)."""
    return _packing_bound(Guarded(Problem(problem.operations, problem.units, ()), exclusive=problem.exclusive))


# One graph is asked for with the distances of every innermost dimension.
@lru_cache(maxsize=8)
def _packing_bound(problem: Guarded) -> LowerBound:
    """ResMII by cliques, raised by exact packing until everything fits; its reason names a minimal core that does not
    fit.
    """
    everything = tuple(range(len(problem.operations)))
    value, core = max(
        ((_clique_bound(problem, c), c) for c in _cliques(problem)),
        default=(1, everything[:1]),
        key=lambda bound: bound[0],
    )
    # A clique bound is not exact: exclusive operations may still be unable to share. CP-SAT packs all of them,
    # dependences left out, and each "infeasible" raises the bound by one.
    while not _fits(problem, value, everything):
        core = _shrink_core(problem, value, everything)
        value += 1
    return LowerBound(value, _describe_demand(problem, core))


def _cliques(problem: Guarded) -> list[tuple[int, ...]]:
    """For unions of the operations' unit sets, operations confined to that union of which no two may share a cell."""
    unions: set[frozenset[int]] = set()
    for units in sorted({frozenset(problem.executing_units(v)) for v in range(len(problem.operations))}, key=sorted):
        unions |= {units} if len(unions) > UNIONS else {units, *(units | u for u in unions)}
    # Sets of operations as bits: the questions below are asked for each pair, in each union.
    units_of = [frozenset(problem.executing_units(v)) for v in range(len(problem.operations))]
    least = [_shortest_occupancy(problem, v) for v in range(len(problem.operations))]
    excluded = [0] * len(problem.operations)
    for i, j in problem.exclusive:
        excluded[i] |= 1 << j
        excluded[j] |= 1 << i
    cliques: list[tuple[int, ...]] = []
    for union in sorted(unions, key=lambda u: (len(u), sorted(u))):
        clique: list[int] = []
        confined = [i for i, units in enumerate(units_of) if units <= union]
        members, taken = sum(1 << i for i in confined), 0
        counts = {i: (excluded[i] & members).bit_count() for i in confined}
        for i in sorted(confined, key=lambda i, counts=counts: (-least[i], counts[i])):
            # No two of a clique may share a cell, so their cycles add up.
            if not excluded[i] & taken:
                clique.append(i)
                taken |= 1 << i
        cliques.append(tuple(sorted(clique)))
    return cliques


def _shortest_occupancy(problem: Guarded, operation: int) -> int:
    return min(problem.occupancy(operation, u) for u in problem.executing_units(operation))


def _units(problem: Guarded, operations: tuple[int, ...]) -> list[int]:
    return sorted({u for i in operations for u in problem.executing_units(i)})


def _clique_bound(problem: Guarded, clique: tuple[int, ...]) -> int:
    cycles = [_shortest_occupancy(problem, i) for i in clique]
    return max(-(-sum(cycles) // len(_units(problem, clique))), *cycles)


def _fits(problem: Guarded, pi: int, operations: tuple[int, ...]) -> bool:
    model = cp_model.CpModel()
    if any(_shortest_occupancy(problem, i) > pi for i in operations):
        return False
    # Not confirmed, hence not raised: the bound by cliques holds in any case.
    if problem.places(pi) > PLACES:
        return True
    add_placement(model, problem, pi, operations, {})
    search = solver(PACKING_LIMIT)
    search.parameters.cp_model_presolve = False
    # Running out of effort counts as a fit: the bound stays a bound.
    return search.solve(model) != cp_model.INFEASIBLE


def _shrink_core(problem: Guarded, pi: int, operations: tuple[int, ...]) -> tuple[int, ...]:
    """Deletion filter: a part of `operations` that does not fit either, but fits without any one of its operations
    (Chinneck and Dravnieks 1991).
    """
    core = operations
    for i in operations:
        rest = tuple(j for j in core if j != i)
        # Deletion filter: what is left is infeasible, and minimal. It becomes the reason in the message.
        core = core if _fits(problem, pi, rest) else rest
    return core


def _describe_demand(problem: Guarded, operations: tuple[int, ...]) -> str:
    units = _units(problem, operations)
    names = ", ".join(_describe_operation(problem, i) for i in operations[:_NAMED])
    names += f" and {len(operations) - _NAMED} more" if len(operations) > _NAMED else ""
    unit_names = ", ".join(problem.units[u].name for u in units)
    return f"{pluralize(len(units), 'unit')} {{{unit_names}}} for {pluralize(len(operations), 'operation')} {names}"


def _describe_operation(problem: Guarded, operation: int) -> str:
    cycles = _shortest_occupancy(problem, operation)
    return problem.operations[operation].name + (f" (blocks {cycles} cycles)" if cycles > 1 else "")


def recurrence_minimum(problem: Guarded) -> LowerBound:
    """RecMII: the least pi, at least 1, at which no cycle of constraints has positive weight (Rau 1994). PL0452 (exit
    3) if there is none.
    """
    arrows, arcs = zip(*_constraint_arcs(problem), strict=True) if _constraint_arcs(problem) else ((), ())
    circuit = critical_circuit(len(problem.operations), arcs)
    if circuit is None:
        return LowerBound(1, "no recurrence")
    used = [arrows[n] for n in circuit.numbers]
    path = problem.operations[circuit.arcs[0].source].name
    path += "".join(arrow + problem.operations[arc.sink].name for arrow, arc in zip(used, circuit.arcs, strict=True))
    if circuit.distance == 0:
        help = "let at least one of these values come from an earlier iteration"
        raise infeasible("PL0452", f"operations wait for each other within one iteration: {path}", help=help)
    remark = "; ~> a register keeps the value for less than one interval" if " ~> " in used else ""
    return LowerBound(circuit.bound, f"{path} (latency {circuit.weight}, distance {circuit.distance}{remark})")


def _constraint_arcs(problem: Guarded) -> list[tuple[str, Arc]]:
    """Constraint arcs ready(sink) >= ready(source) + weight - pi * distance, each with the arrow that stands for it in
    a reason.
    """
    # Where the unit decides the latency, the value that constrains least keeps the bound valid.
    least = [min(problem.unit_latencies(v)) for v in range(len(problem.operations))]
    most = [max(problem.unit_latencies(v)) for v in range(len(problem.operations))]
    arcs = [(" -> ", Arc(d.source, d.sink, least[d.sink], d.distance)) for d in problem.dependences]
    # ready(sink) - latency - ready(source) <= pi - 1, read from sink to source at distance 1.
    arcs += [(" ~> ", Arc(s.sink, s.source, 1 - most[s.sink], 1)) for s in problem.short]
    for group in problem.aligned:
        for one, other in pairwise(group):
            arcs += [(" = ", Arc(one, other, 0, 0)), (" = ", Arc(other, one, 0, 0))]
    return arcs

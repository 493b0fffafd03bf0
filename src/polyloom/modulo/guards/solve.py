# SPDX-License-Identifier: Apache-2.0
"""Exact modulo scheduling of guarded operations with CP-SAT (the array paper, section 5.2; Rau and Glaeser 1981).

From max(ResMII, RecMII) upwards, each initiation interval pi is decided by search; the first feasible one is minimal.
At this pi the schedule is improved lexicographically: spans (they multiply the wavefront's skew), length, occupied
slots (exclusive operations that share one need one instruction between them), lifetimes.

The search is complete although start offsets are bounded. With places fixed, the remaining constraints are differences
between start offsets; their least solution is given by longest paths, which visit an operation at most once and gain at
most latency + pi - 1 at each. And if no pi up to the sum of all latencies has a schedule, none has: a schedule at any
pi, taken alone without overlap, loses its idle cycles and then fits into that sum, and a larger pi only relaxes the
other constraints. Large problems are first tried by `quick`, whose answer at the lower bound needs no search. Very
large ones are left to it: what it finds above the bound is not proved minimal. Where no search decides an interval, or
one is given up, the next interval is larger by a fraction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from polyloom.diagnostics import PolyloomError, infeasible
from polyloom.modulo.cp_sat import cp_model, solver
from polyloom.modulo.guards.bounds import PLACES, recurrence_minimum, resource_minimum
from polyloom.modulo.guards.check import check
from polyloom.modulo.guards.packing import Place, add_placement, group_by_operation, pairs_sharing_a_unit
from polyloom.modulo.guards.problem import Guarded, Solution, validate
from polyloom.modulo.guards.quick import schedule_by_slack
from polyloom.modulo.problem import LowerBound

LARGE = 1000
"""Places from which on a quick schedule, if there is one, is taken as it is: improving it would take long and gain
little.
"""
STRIDE = 16
"""Where a search has not refuted an interval, the next one is larger by this part of it."""
FEASIBILITY_LIMIT = 5.0
IMPROVEMENT_LIMIT = 0.3
"""Deterministic effort of one search, in CP-SAT's unit (about a second)."""
_KEPT = 512
"""Searches whose answers are kept. A source that is compiled again, for another region, in an editor or in a sweep,
asks for most of them again, and they are most of a compilation's time."""


def solve(problem: Guarded, *, at_least: int = 1, limit: int | None = None, quickly: bool = False) -> Solution:
    """A schedule with the least initiation interval in `at_least`..`limit`, checked. `quickly`: the first one that
    needs no search, or at the limit one that is not improved: right where the interval matters little.

    Raises the errors of `validate`, PL0452 (a cycle of distance zero), PL0453 (no schedule up to the limit), all exit
    3 but a malformed problem.
    """
    validate(problem)
    bounds = resource_minimum(problem), recurrence_minimum(problem)
    minimum = max(b.value for b in bounds)
    lowest = max(minimum, at_least)
    highest = (
        max(lowest, sum(max(problem.unit_latencies(v)) for v in range(len(problem.operations))))
        if limit is None
        else limit
    )
    proved, pi = True, lowest
    while pi <= highest:
        # Small problems go to the search even where `quick` would answer: it also improves spans, length and lifetimes.
        quick = schedule_by_slack(problem, pi) if quickly or problem.places(pi) > LARGE else None
        if quickly and quick is None and pi < highest:
            proved, pi = False, _increase_interval(pi, highest, False)
            continue
        status, found = _decide(problem, pi, not quickly) if quick is None else (cp_model.FEASIBLE, quick)
        if found is not None:
            start, unit = found
            first = min(start, default=0)
            solution = Solution(
                pi, tuple(s - first for s in start), unit, minimum, proved, _reason(bounds, pi, lowest, proved)
            )
            check(problem, solution)
            return solution
        proved = proved and status == cp_model.INFEASIBLE
        pi = _increase_interval(pi, highest, proved)
    raise _infeasibility_error(bounds, lowest, highest, proved=proved, limited=limit is not None)


def _increase_interval(pi: int, highest: int, proved: bool) -> int:
    """The initiation interval to try next: each one while a search refutes them, and `highest` as the last one."""
    return min(pi + (1 if proved else max(1, pi // STRIDE)), max(highest, pi + 1))


def _decide(problem: Guarded, pi: int, improve: bool) -> tuple[cp_model.CpSolverStatus, Found | None]:
    # A model of so many places takes longer to build than its search may last.
    if problem.places(pi) > PLACES:
        return cp_model.UNKNOWN, None
    # The limit is an argument: an answer that is kept belongs to the effort it was searched with.
    return search(problem, pi, IMPROVEMENT_LIMIT if improve else 0.0)


@dataclass(frozen=True, slots=True)
class _Model:
    """The constraints at one pi. `length` and `spans` are what improvement minimizes, besides the lifetimes."""

    model: cp_model.CpModel
    places: dict[Place, cp_model.IntVar]
    start: list[cp_model.IntVar]
    ready: list[cp_model.LinearExpr]
    horizon: int


Found = tuple[tuple[int, ...], tuple[int, ...]]
"""(start, unit)"""


@lru_cache(_KEPT)
def search(problem: Guarded, pi: int, effort: float) -> tuple[cp_model.CpSolverStatus, Found | None]:
    """Lexicographic optimization: decide pi, then improve the schedule objective by objective, each with this effort
    (CP-SAT's deterministic time); each result binds the objectives after it. A function of its arguments, so its
    answers are kept.
    """
    m = _build_model(problem, pi)
    # First any schedule: whether there is one decides the interval, and it starts the improvements.
    satisfied = solver(FEASIBILITY_LIMIT)
    status = satisfied.solve(m.model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return status, None
    found = _read_solution(problem, m, satisfied)
    for objective in _objectives(problem, m, pi) if effort else ():
        m.model.minimize(objective)
        # The last solution starts the next search: it satisfies all constraints, and improving from it is quick.
        m.model.clear_hints()
        for variable, value in zip(m.start, found[0], strict=True):
            m.model.add_hint(variable, value)
        for (i, u, s), literal in m.places.items():
            m.model.add_hint(literal, found[1][i] == u and found[0][i] % pi == s)
        # A limit per objective: what one leaves is not given to the next, so that answers do not depend on it.
        improved = solver(effort)
        if improved.solve(m.model) in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            found = _read_solution(problem, m, improved)
            m.model.add(objective <= round(improved.objective_value))
    return status, found


def _build_model(problem: Guarded, pi: int) -> _Model:
    model = cp_model.CpModel()
    operations = problem.operations
    everything = tuple(range(len(operations)))
    # See the module's docstring: on a longest path each operation adds its latency and at most pi - 1 of rounding.
    horizon = sum(max(problem.unit_latencies(i)) + pi - 1 for i in everything) + pi
    start = [model.new_int_var(0, horizon, f"start {o.name}") for o in operations]
    together = {pair: model.new_bool_var(f"together {pair}") for pair in pairs_sharing_a_unit(problem, everything)}
    places = add_placement(model, problem, pi, everything, together)
    for (i, j), literal in together.items():
        model.add(start[i] == start[j]).only_enforce_if(literal)  # pyright: ignore[reportUnknownMemberType] (its *args are untyped)
    ready: list[cp_model.LinearExpr] = []
    choices = group_by_operation(places)
    for i in everything:
        mine = choices.get(i, [])
        stage = model.new_int_var(0, horizon // pi, f"stage {operations[i].name}")
        model.add(start[i] == pi * stage + sum(s * literal for _, s, literal in mine))
        least = min(problem.unit_latencies(i))
        ready.append(
            start[i]
            + least
            + sum((problem.latency(i, u) - least) * literal for u, _, literal in mine if problem.latency(i, u) > least)
        )
    for d in problem.dependences:
        model.add(start[d.sink] + pi * d.distance >= ready[d.source])
    for s in problem.short:
        model.add(start[s.sink] - ready[s.source] <= pi - 1)
    for group in problem.aligned:
        for v in group[1:]:
            model.add(ready[v] == ready[group[0]])
    return _Model(model, places, start, ready, horizon)


def _read_solution(problem: Guarded, m: _Model, solved: cp_model.CpSolver) -> Found:
    unit = {i: u for (i, u, _), literal in m.places.items() if solved.boolean_value(literal)}
    return tuple(solved.value(s) for s in m.start), tuple(unit[i] for i in range(len(problem.operations)))


def _objectives(problem: Guarded, m: _Model, pi: int) -> Iterator[cp_model.LinearExprT]:
    def greatest(name: str, terms: list[cp_model.LinearExprT]) -> cp_model.IntVar:
        bound = 2 * m.horizon + pi * (1 + max((d.distance for d in problem.dependences), default=0))
        variable = m.model.new_int_var(-bound, bound, name)
        for term in terms:
            m.model.add(variable >= term)
        return variable

    if problem.spans:
        # A span below 0 would stretch the schedule without end; the values only wait longer in their FIFO.
        yield sum(
            greatest(f"span {n}", [0, *(m.ready[v] - m.start[w] for v, w in group)])
            for n, group in enumerate(problem.spans)
        )
    first = m.model.new_int_var(0, m.horizon, "first")
    for s in m.start:
        m.model.add(first <= s)
    yield greatest("last", list(m.ready)) - first
    slots = {(u, s): m.model.new_bool_var(f"slot {u}.{s}") for _, u, s in m.places}
    for (_, u, s), literal in m.places.items():
        m.model.add_implication(literal, slots[u, s])
    yield sum(slots.values())
    by_source: dict[int, list[cp_model.LinearExprT]] = {}
    for d in problem.dependences:
        by_source.setdefault(d.source, []).append(m.start[d.sink] + pi * d.distance - m.ready[d.source])
    yield sum(greatest(f"life {v}", terms) for v, terms in by_source.items())


def _reason(bounds: tuple[LowerBound, LowerBound], pi: int, lowest: int, proved: bool) -> str:
    if pi == 1:
        return "nothing: an iteration starts in every cycle"
    if binding := [b.reason for b in bounds if b.value == pi]:
        return " and ".join(binding)
    if pi == lowest:
        return f"an initiation interval of at least {lowest} was asked for"
    below = f"{lowest} to {pi - 1}" if lowest < pi - 1 else f"{lowest}"
    outcome = "no schedule exists" if proved else "none was found in the time allowed"
    return f"units and recurrences together: at {below} {outcome}; {bounds[0].reason}; {bounds[1].reason}"


def _infeasibility_error(
    bounds: tuple[LowerBound, LowerBound], lowest: int, highest: int, *, proved: bool, limited: bool
) -> PolyloomError:
    """None exists, or none up to the limit, or the search was given up."""
    notes = tuple(f"no initiation interval below {b.value}: {b.reason}" for b in bounds)
    # Without a limit all intervals up to the sum of latencies were refuted, and then none has a schedule (module
    # docstring).
    if proved and not limited:
        help = (
            "operations that write one variable must be ready in the same cycle: give them equal latencies or "
            "units of their own"
        )
        return infeasible(
            "PL0453", "the operations have no schedule at any initiation interval", notes=notes, help=help
        )
    larger = f"allow a larger one (at least {max(lowest, highest + 1)})"
    if proved:
        message = f"no schedule with an initiation interval of at most {highest}"
        return infeasible("PL0453", message, notes=notes, help=f"{larger}, or add units to the machine")
    message = f"the search was given up: no schedule with an initiation interval of at most {highest} was found"
    notes = ("whether there is one is not known: so many operations are not searched exhaustively", *notes)
    smaller = "split the function into smaller ones that pass values in arrays, or choose a machine with more units"
    return infeasible("PL0453", message, notes=notes, help=f"{larger}, or {smaller}" if limited else smaller)

# SPDX-License-Identifier: Apache-2.0
"""Software pipelining of one loop: schedule, first passes, positions, spills, and again from the top until nothing is
lost.

Each round begins at the lower bound (I. Godard, "Pipelining"; docs/targets/belt.md, Loops). Nothing is believed:
`modulo.check` has checked every schedule, and positions are taken from the schedule that is emitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.diagnostics import PolyloomError
from polyloom.modulo.bounds import recurrence_bound, resource_bound
from polyloom.modulo.check import check, violations
from polyloom.modulo.graph import Arc, Demand, build_graph
from polyloom.modulo.placement import Case
from polyloom.modulo.problem import Choice, Dependence, LowerBound, Problem, Schedule, Solution
from polyloom.modulo.solve import SOLVERS, solve
from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.map.schedule.graph import Graph, Read, prune, prune_with_map
from polyloom.targets.belt.map.schedule.positions import Belt
from polyloom.targets.belt.map.schedule.problem import Setting, linear_latency, operation_label, scheduling_problem
from polyloom.targets.belt.map.schedule.prologue_passes import (
    Failure,
    NoneAnalysis,
    add_recur,
    ambiguous_recur,
    insert_recur,
    repair,
)
from polyloom.targets.belt.map.schedule.slots import assign_slots
from polyloom.targets.belt.map.schedule.spill import Frames, allocate_frames, lost_operands, spill_lost_operands
from polyloom.targets.belt.map.schedule.stage_scheduling import insert_into_schedule, reduce_lifetimes
from polyloom.targets.belt.map.schedule.steady_recurrences import keep_initial_values
from polyloom.targets.belt.source.ir import Constant, Value

TRIES: Final = (1, 1, 1, 1)
"""Schedules that are thrown away for a lost operand in each try, before its last one is."""
BEST: Final = "best"
"""The better one of what `exact` and `torus` find: of shorter interval, then of fewer operations."""
_INSERTIONS: Final = 12
"""How often spills and fills are put into a schedule as it is."""
_REPAIRS: Final = 24
"""Schedules that are thrown away for what their first passes would do, at most; half of them by cheap means."""


@dataclass(frozen=True, slots=True)
class Pipelined:
    """Loop that fits: the solution of its last round, the bounds of the loop as it was given, and the interval
    (`at_least`) that the last try began with."""

    belt: Belt
    solution: Solution
    bounds: tuple[LowerBound, LowerBound]
    rounds: int
    frames: Frames
    at_least: int = 1

    @property
    def interval(self) -> int:
        return self.belt.placed.interval


@dataclass(frozen=True, slots=True)
class Failed:
    """Loop that was not pipelined; `reason` in the words of the facts."""

    reason: str
    rounds: int = 0


@dataclass(frozen=True, slots=True)
class Options:
    """Options of the scheduler. `solver`: of `modulo`, or `BEST`. `effort` is deterministic work per schedule;
    `scratch`: bytes that frames may take, where `stretch` by a longer interval, with fewer stages in progress."""

    solver: str = BEST
    effort: float = 2.0
    scratch: int = 1 << 20
    stretch: bool = False


def lower_bounds(machine: Machine, graph: Graph) -> tuple[LowerBound, LowerBound]:
    """Lower bounds of the interval, ResMII and RecMII (Rau 1994), before anything is added: fills of what comes from
    outside take no slot here."""
    problem = scheduling_problem(machine, graph).problem
    operations = list(problem.operations)
    for n, node in enumerate(graph.nodes):
        if node.name == "fillx":
            operations[n] = replace(operations[n], choices=(Choice((), 0),))
    problem = Problem(tuple(operations), problem.resources, problem.dependences)
    # An operation that is not pipelined holds its slot for `busy` bundles in every pass.
    alone = [
        LowerBound(busy, f"{operation_label(graph, n)} alone holds its slot for {busy} bundles", (n,))
        for n, node in enumerate(graph.nodes)
        if (busy := machine.busy(OPS[node.name], graph.operand_width(node))) > 1
    ]
    return max([resource_bound(problem), *alone], key=lambda b: b.value), recurrence_bound(problem)


def pipeline(machine: Machine, graph: Graph, addresses: Mapping[str, int], options: Options) -> Pipelined | Failed:
    """Pipeline a loop by the solver, or by each of the `BEST` until one reaches the bound."""
    if options.solver != BEST:
        return _pipeline_by_solver(machine, graph, addresses, options)
    least = max(1, *(b.value for b in lower_bounds(machine, graph)))
    found = [_pipeline_by_solver(machine, graph, addresses, replace(options, solver="exact"))]
    # At the bound no other solver can do better.
    if not (isinstance(found[0], Pipelined) and found[0].interval == least):
        found.append(_pipeline_by_solver(machine, graph, addresses, replace(options, solver="torus")))
    fitting = [f for f in found if isinstance(f, Pipelined)]
    return min(fitting, key=lambda f: (f.interval, len(f.belt.graph.nodes)), default=found[0])


def _pipeline_by_solver(
    machine: Machine, graph: Graph, addresses: Mapping[str, int], options: Options
) -> Pipelined | Failed:
    """Pipeline a loop by one solver, from the lower bound; where some rounds do not suffice, from a longer interval, at
    which the belt holds more."""
    known = dict(addresses)
    limits = lower_bounds(machine, graph)
    least = at_least = max(b.value for b in limits)
    rounds = 0
    found: Pipelined | _Failure = _Failure("belt", 0, 0)
    for most in TRIES:
        found = _Try(machine, known, options, limits, least, at_least).run(graph, most)
        rounds += found.rounds
        if isinstance(found, Pipelined):
            return replace(found, rounds=rounds, at_least=at_least)
        if found.reason == "scratch" and options.stretch:
            # A shorter one than what was found has no fewer stages.
            at_least = found.interval
        elif found.reason != "belt":
            break
        rounds += 1
        # A quarter more: one more row at a time would take many rounds on loops with many values.
        at_least = max(at_least + 1, at_least * 5 // 4)
    return Failed(found.reason, rounds)


@dataclass(frozen=True, slots=True)
class _Failure:
    """Failure of a try; `interval` is that of the last schedule."""

    reason: str
    rounds: int
    interval: int


@dataclass(frozen=True, slots=True)
class _Try:
    """Rounds with intervals from `at_least` on; `least` is the bound of the loop."""

    machine: Machine
    known: dict[str, int]
    options: Options
    limits: tuple[LowerBound, LowerBound]
    least: int
    at_least: int

    def run(self, graph: Graph, most: int) -> Pipelined | _Failure:
        """Schedule, repair the first passes, spill; again until the loop fits, or rounds or repairs are used up."""
        graph = fill_constants(self.machine, _anticipate_recurs(self.machine, graph, self.known, self.at_least))
        rounds = repairs = 0
        interval = self.at_least
        while True:
            made = scheduling_problem(self.machine, graph)
            solution = self._solve(made, max(2 * self.at_least, 2 * linear_latency(self.machine, graph)))
            # Fills must be near their readers; where that leaves no schedule, they may be anywhere.
            if solution is None:
                if not any(node.near for node in graph.nodes):
                    return _Failure("schedule", rounds, interval)
                graph = replace(graph, nodes=tuple(replace(node, near=None) for node in graph.nodes))
                continue
            interval = solution.schedule.interval
            belt, nones = _improve_schedule(self.machine, graph, made, solution.schedule)
            graph = belt.graph
            if wrongs := list(nones.failures()):
                repairs += 1
                if repairs > _REPAIRS:
                    return _Failure("none", rounds, interval)
                repaired = _repair_first_passes(self.machine, nones, wrongs, self.known, repairs > _REPAIRS // 2)
                graph = fill_constants(self.machine, repaired)
                continue
            found = lost_operands(belt)
            used = allocate_frames(graph, belt.placed)
            # A None of an iteration from 0 on would be replaced by the initial value: wrong, so no pipelining.
            if not found and ambiguous_recur(graph):
                return _Failure("none", rounds, interval)
            if not found and used.bytes <= self.options.scratch:
                return Pipelined(belt, solution, self.limits, rounds, used)
            if not found:
                return _Failure("scratch", rounds, interval)
            rounds += 1
            if rounds > most:
                return _Failure("belt", rounds - 1, interval)
            # The schedule is thrown away; the next one begins at the lower bound again (I. Godard, "Pipelining").
            graph = fill_constants(self.machine, prune(spill_lost_operands(belt, found)))

    def _solve(self, made: Setting, limit: int) -> Solution | None:
        """Solve with the solver that was asked for; a torus that closes nowhere is left to a solver that takes back
        (iterative modulo scheduling, Rau 1994)."""
        for name in dict.fromkeys((self.options.solver, "iterative")):
            problem = _tighten_starts(made, self.at_least) if name == "torus" else made.problem
            try:
                return solve(problem, SOLVERS[name], effort=self.options.effort, at_least=self.at_least, limit=limit)
            except PolyloomError as error:
                if error.code not in ("PL0985", "PL0987", "PL0988", "PL0989"):
                    raise
        return None


def fill_constants(machine: Machine, graph: Graph) -> Graph:
    """Fill constants from scratch instead of issuing them in a flow slot, where those slots are what bounds the
    interval."""
    constants = [n for n, node in enumerate(graph.nodes) if node.name == "con"]
    if not constants:
        return graph
    problem = scheduling_problem(machine, graph).problem
    free = list(problem.operations)
    for n in constants:
        # As if constants cost nothing: the bound that this gives is what filling them could win.
        free[n] = replace(free[n], choices=(Choice((), 0),))
    bound = resource_bound(Problem(problem.operations, problem.resources)).value
    target = resource_bound(Problem(tuple(free), problem.resources)).value
    fills = len(constants) + sum(node.name in ("fill", "fillx") for node in graph.nodes)
    # Fills take reader slots: they must all fit into the shorter interval.
    if target >= bound or fills > target * len(machine.unit_slots("fill")):
        return graph
    nodes = list(graph.nodes)
    for n in constants:
        node = nodes[n]
        type = node.results[0].type
        home = Value(f"#{node.literal}:{type}", type)
        nodes[n] = replace(node, name="fillx", home=home, constant=Constant(type, node.literal), literal=0)
    return replace(graph, nodes=tuple(nodes))


def _repair_first_passes(
    machine: Machine, nones: NoneAnalysis, wrongs: Sequence[Failure], known: dict[str, int], hard: bool
) -> Graph:
    """Repair the first passes: all operands without an initial value at once, else the first failure."""
    graph = nones.graph
    starts = {
        replace(operand)
        for w in wrongs
        if w.kind == "init" and isinstance(operand := graph.nodes[w.node].operands[w.operand], Read)
    }
    if not starts:
        return prune(repair(nones, wrongs[0], known, hard))
    for read in sorted(starts, key=lambda r: (r.node, r.result, r.distance)):
        graph = _supply_initial(machine, graph, read, known)
    return prune(graph)


def _improve_schedule(machine: Machine, graph: Graph, made: Setting, schedule: Schedule) -> tuple[Belt, NoneAnalysis]:
    """Schedule as it is if all is well with it; else with shorter lifetimes, and with spills and fills in slots that
    are free at this interval, as long as there are any. The graph is the belt's."""
    belt = Belt(machine, graph, assign_slots(graph, made, schedule))
    nones = NoneAnalysis(belt)
    if not lost_operands(belt):
        return belt, nones
    for _ in range(_INSERTIONS):
        schedule = reduce_lifetimes(machine, graph, made, schedule)
        check(made.problem, schedule)
        belt = Belt(machine, graph, assign_slots(graph, made, schedule))
        found = lost_operands(belt)
        if not found or list(NoneAnalysis(belt).failures()):
            break
        values = sorted({(r.node, r.result) for _, _, r in found})
        # All lost operands at once, else those of one value, whichever fits.
        attempts = [found, *([f for f in found if (f[2].node, f[2].result) == v] for v in values)]
        step = next((s for some in attempts if (s := _insert_spills(belt, schedule, some)) is not None), None)
        if step is None:
            break
        graph, made, schedule = step
    return belt, NoneAnalysis(belt)


def _insert_spills(
    belt: Belt, schedule: Schedule, found: Sequence[tuple[int, int, Read]]
) -> tuple[Graph, Setting, Schedule] | None:
    """Lost operands spilled and filled in the slots that are free, or None."""
    more = spill_lost_operands(belt, found)
    wider = scheduling_problem(belt.machine, more)
    placed = insert_into_schedule(belt.machine, more, wider, schedule)
    if placed is None or violations(wider.problem, placed):
        return None
    # Readers may have left an older fill without use: its slot is free for the next step.
    graph, kept = prune_with_map(more)
    return graph, scheduling_problem(belt.machine, graph), _restrict_schedule(placed, [*kept, wider.begin])


def _restrict_schedule(schedule: Schedule, kept: Sequence[int]) -> Schedule:
    """Schedule of some operations."""
    return Schedule(
        schedule.interval,
        tuple(schedule.start[n] for n in kept),
        tuple(schedule.choice[n] for n in kept),
        tuple(schedule.latency[n] for n in kept),
    )


def _anticipate_recurs(machine: Machine, graph: Graph, known: dict[str, int], interval: int) -> Graph:
    """Graph with a recur on what comes over the back arc from a stage that cannot be the first: its earliest drop
    tells. It saves the rounds in which the schedule would show that."""
    made = scheduling_problem(machine, graph)
    case = Case(made.problem)
    arcs = build_graph(made.problem, case.choices, Demand.LEAST)
    times = _earliest_starts(len(arcs.owner), arcs.arcs, interval)
    carried = sorted(
        {r for node in graph.nodes for r in node.reads if r.distance and graph.initial.get((r.node, r.result))},
        key=lambda r: (r.node, r.result, r.distance),
    )
    for read in carried:
        drop = times[read.node] + made.problem.operations[read.node].choices[0].latency - 1
        key = (read.node, read.result)
        if drop >= interval and key in graph.initial and key not in graph.steady:
            graph = _supply_initial(machine, graph, read, known)
    return prune(graph)


def _supply_initial(machine: Machine, graph: Graph, read: Read, known: dict[str, int]) -> Graph:
    """Graph with what iteration 0 reads from before the loop: by a recur, or by neutral operands in the first passes
    where the recur would be on a circuit that bounds the interval."""
    key = (read.node, read.result)
    with_one = insert_recur(replace(graph, steady=graph.steady - {key}), read, known)
    if key in graph.steady:
        return with_one
    least = _interval_bound(machine, with_one)
    # The recur lies on no circuit that counts: it costs a drop and nothing else.
    if least == _interval_bound(machine, graph):
        return with_one
    kept = keep_initial_values(graph, read, lambda graph, input, value: add_recur(graph, input, value, known))
    return (
        kept if kept is not None and _interval_bound(machine, kept) < least and not ambiguous_recur(kept) else with_one
    )


def _interval_bound(machine: Machine, graph: Graph) -> int:
    problem = scheduling_problem(machine, graph).problem
    return max(resource_bound(problem).value, recurrence_bound(problem).value)


def _tighten_starts(made: Setting, interval: int) -> Problem:
    """Problem with the earliest times that circuits allow at this interval: a greedy placement, which never takes back,
    would put what reads over the back arc first of all, and the rest of the circuit too late for it."""
    problem = made.problem
    arcs = build_graph(problem, Case(problem).choices, Demand.LEAST)
    times = _earliest_starts(len(arcs.owner), arcs.arcs, interval)
    begun = [Dependence(made.begin, n, 0, t, 0) for n, t in enumerate(times[: made.begin]) if t]
    return replace(problem, dependences=(*problem.dependences, *begun))


def _earliest_starts(points: int, arcs: Sequence[Arc], interval: int) -> list[int]:
    """Longest paths from the start (Bellman-Ford); arcs on circuits are relaxed a bounded number of times."""
    times = [0] * points
    # Below the recurrence bound a circuit has positive length, and the relaxation would not end.
    for _ in range(points + 1):
        changed = False
        for source, sink, weight, distance in arcs:
            if (t := times[source] + weight - interval * distance) > times[sink]:
                times[sink] = t
                changed = True
        if not changed:
            break
    return times

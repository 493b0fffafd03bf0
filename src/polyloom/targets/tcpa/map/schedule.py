# SPDX-License-Identifier: Apache-2.0
"""Modulo schedules of a loop body (the array paper, section 5.2; symbolic as in Witterauf et al. 2016), one for each
set of intra-tile distances.

An operand at distance d is read lambda_J . d cycles of steps after it was produced. With lambda_J of the innermost
dimension equal to pi and all others proportional to a tile size, only dependences along the innermost dimension bound
pi for large tiles; the others become the validity domain. So there is one problem per innermost dimension, not one per
scan order, and one *safe* problem, whose schedule is valid for tiles of any size: every dependence is at least one step
long. Operations that hold their unit, but meet nowhere along the innermost dimension, give one more problem (`apart`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from polyloom.diagnostics import PolyloomError, infeasible
from polyloom.ir.numbers import WIDTH
from polyloom.ir.operations import BY_NAME, STORED, ElementType
from polyloom.ir.pla import Equation, Program
from polyloom.ir.rdg import Graph
from polyloom.modulo.guards.bounds import PLACES, recurrence_minimum, resource_minimum
from polyloom.modulo.guards.check import check, violations
from polyloom.modulo.guards.problem import Guarded, Short, Solution, operation
from polyloom.modulo.guards.solve import solve
from polyloom.modulo.problem import Dependence, Operation, Problem, Resource
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.map import rare_operations
from polyloom.targets.tcpa.map.dependence_graph import condition_points, count_destinations
from polyloom.targets.tcpa.map.rare_operations import NONE, Meeting, Rare
from polyloom.targets.tcpa.words.symbolic import Bottleneck, Schedule

Distance = Callable[[tuple[int, ...]], int | None]
"""Steps from producer to consumer at distance d, or None where it depends on tile sizes and bounds them instead."""


@dataclass(frozen=True, slots=True)
class Scheduled:
    """`innermost`: the dimensions that it may be scanned by; a safe one by any, with tiles of any size."""

    innermost: frozenset[int]
    safe: bool
    schedule: Schedule
    bottleneck: Bottleneck


def make_axis_distance(dimension: int) -> Distance:
    """Distance function of a scan whose innermost dimension is `dimension`: steps, or None where tile sizes decide."""

    def steps(d: tuple[int, ...]) -> int | None:
        return None if any(c for m, c in enumerate(d) if m != dimension) else abs(d[dimension])

    return steps


def safe_distance(d: tuple[int, ...]) -> int | None:
    """Safe distance: the least distance in steps over all tile sizes and legal scan orders."""
    components = [abs(c) for c in d if c]
    # Along one axis the distance counts in every order. Across several, a tile of one iteration may bring it down to
    # one step.
    return components[0] if len(components) == 1 else min(1, len(components))


def check_operations(program: Program, machine: Machine) -> None:
    """PL0401 for an equation of a type that the machine has not, or that no unit of it executes."""
    for e in program.equations:
        _check_types(e, machine)
        if not machine.find_units(e.operation, e.dtype):
            message = f"no unit of machine {machine.name} executes {e.operation} on {e.dtype}, which {e.name} needs"
            raise infeasible("PL0401", message, span=e.span, help=_help_without_unit(e))


def _check_types(equation: Equation, machine: Machine) -> None:
    """PL0401 where no unit knows the type of an operand or of the result."""
    operand = equation.dtype
    used: tuple[ElementType, ...] = (operand, BY_NAME[equation.operation].result(operand))
    for t in used:
        if t not in STORED and not machine.has_type(t):
            message = f"machine {machine.name} has no {t}, which {equation.name} needs{_width_note(t, machine)}"
            raise infeasible("PL0401", message, span=equation.span, help=_help_without_type(t))


def _width_note(dtype: ElementType, machine: Machine) -> str:
    return f": its words have {machine.word_bits} bits" if WIDTH[dtype] > machine.word_bits else ""


def _help_without_type(dtype: ElementType) -> str:
    able = [m for m in machine_file.members() if machine_file.load(m).has_type(dtype)]
    return f"choose a machine that has it ({', '.join(able)}), or use another type"


def _help_without_unit(equation: Equation) -> str:
    """What to do where no unit executes the equation."""
    operation, dtype = equation.operation, equation.dtype
    if dtype in STORED or BY_NAME[operation].gives in STORED:
        return "keep such elements as f32, which the array has, and convert the arrays outside of the kernel"
    able = [m for m in machine_file.members() if machine_file.load(m).find_units(operation, dtype)]
    others = f"choose a machine that has it ({', '.join(able)}), or add it to a unit"
    return others if able else "add the operation to a unit of the machine"


def build_problem(graph: Graph, machine: Machine, distance: Distance, rare: Rare = NONE) -> Guarded:
    """Modulo-scheduling problem of the graph (the array paper, section 5.2; Rau and Glaeser 1981)."""
    operations: list[Operation] = []
    for v, e in enumerate(graph.equations):
        pipelined = tuple(u.pipelined or v in rare.operations for u in machine.units)
        units = machine.find_units(e.operation, e.dtype)
        latencies = tuple(machine.units[u].latencies[e.operation, e.dtype] for u in units)
        operations.append(operation(e.name, units, latencies, pipelined))
    edges = [(w.node, use) for use in graph.uses for w in use.writers]
    variables = tuple(dict.fromkeys(use.variable for use in graph.uses))
    # Too many readers for one destination each: these must share one general register, whose values live for less than
    # pi.
    general = {v for v in variables if count_destinations(graph, v, separate=True) > machine.destinations}
    constrained = [(v, use.consumer, distance(use.distance)) for v, use in edges]
    spans = (
        # Along each dimension: the slack of a crossing dependence is what the neighbouring tile has to wait for.
        tuple(dict.fromkeys((v, use.consumer) for v, use in edges if use.distance[m]))
        for m in range(len(graph.program.dimensions))
    )
    # A unit that is not pipelined is free again when its result is there.
    waiting = [(v, w, 0) for v, w in rare.serial]
    dependences = tuple(
        dict.fromkeys(Dependence(v, w, steps) for v, w, steps in (*constrained, *waiting) if steps is not None)
    )
    return Guarded(
        Problem(tuple(operations), tuple(Resource(u.name) for u in machine.units), dependences),
        aligned=_aligned_groups(graph, variables),
        exclusive=graph.exclusive,
        short=tuple(
            dict.fromkeys(Short(v, use.consumer) for v, use in edges if use.is_local and use.variable in general)
        ),
        spans=tuple(dict.fromkeys(s for s in spans if s)),
    )


def _aligned_groups(graph: Graph, variables: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    """Aligned operations: writers of one variable, and the parts of an equation of which one computes an output
    (`move_elimination`), which take their operands from the same registers if they read in the same cycle."""
    groups = list(dict.fromkeys(graph.variable_writers(v) for v in variables))
    for part, whole in _split_equations(graph).items():
        alone = all(whole not in g for g in groups)
        groups = [*((*g, part) if whole in g else g for g in groups), *([(whole, part)] if alone else [])]
    return tuple(g for g in groups if len(g) > 1)


def _split_equations(graph: Graph) -> dict[int, int]:
    """Equations of outputs, with the one that computes the same for a variable in other iterations."""
    outputs = {a.name for a in graph.program.outputs}
    found = dict[int, int]()
    for pair in sorted(graph.exclusive):
        whole, part = sorted(pair, key=lambda v: graph.equations[v].target.name in outputs)
        one, other = graph.equations[whole], graph.equations[part]
        same = (one.operation, one.operands) == (other.operation, other.operands)
        if same and one.operation != "move" and (one.target.name in outputs) < (other.target.name in outputs):
            found.setdefault(part, whole)
    return found


def list_schedules(graph: Graph, machine: Machine, innermost: frozenset[int]) -> tuple[Scheduled, ...]:
    """Schedules of a graph: the safe one first, then one for every innermost dimension that admits a smaller initiation
    interval, because distances are long enough or operations are rare there.
    """
    cautious = build_problem(graph, machine, safe_distance)
    alone = has_single_iteration(graph)
    solution = solve(cautious, quickly=alone)
    found = [_make_scheduled(graph, cautious, solution, innermost, True)]
    if alone:
        return tuple(found)
    met = rare_operations.find_meetings(graph, machine)
    members: dict[tuple[Guarded, Rare], set[int]] = {}
    for m in sorted(innermost):
        usual, rare = build_problem(graph, machine, make_axis_distance(m)), rare_operations.find_rare(graph, met, m)
        wanted = build_problem(graph, machine, make_axis_distance(m), rare) if rare.operations else usual
        # Reservations that cost nothing make a schedule valid for more tiles.
        if rare.operations and _interval_bound(usual) <= _interval_bound(wanted):
            wanted, rare = usual, NONE
        members.setdefault((wanted, rare), set()).add(m)
    packed, recurring = resource_minimum(cautious).value, recurrence_minimum(cautious).value
    for (relaxed, rare), dimensions in members.items():
        # Bounds are cheap, searches are not: an innermost dimension that cannot do better is not solved.
        resource = resource_minimum(relaxed).value if rare.operations else packed
        least = max(resource, recurrence_minimum(relaxed).value)
        # Nor one whose bound a search has not decided already: dependences are not what made that one hard.
        searched = relaxed.places(least) <= PLACES
        undecided = least == max(packed, recurring) and searched and not solution.proved
        if least < solution.initiation_interval and not undecided:
            better = solve(_relax_rows(graph, relaxed, rare, min(dimensions)))
            if better.initiation_interval < solution.initiation_interval:
                found.append(_make_scheduled(graph, relaxed, better, frozenset(dimensions), False, (met, rare)))
    return tuple(found)


def has_single_iteration(graph: Graph) -> bool:
    """Whether there is one iteration at most, which no other one follows at any interval."""
    program = graph.program
    points = condition_points(program, program.space)
    return bool(points.is_singleton())


def _relax_rows(graph: Graph, wanted: Guarded, rare: Rare, dimension: int) -> Guarded:
    """Problem with values in time for the next row of a tile, where rows are just so long that operations which are
    rare along `dimension` stay apart: one dimension after another, as far as no recurrence gets longer.
    """
    if not rare.operations:
        return wanted
    bound = recurrence_minimum(wanted).value
    row = -(-min(min(wanted.unit_latencies(v)) for v in rare.operations) // max(_interval_bound(wanted), 1))
    across = [(w.node, use.consumer, use.distance) for use in graph.uses for w in use.writers]
    for m in range(len(graph.program.dimensions)):
        # A row of `row` steps leads to the next row's same column: a dependence across rows then has that much time.
        added = tuple(
            Dependence(v, consumer, row - abs(d[dimension]))
            for v, consumer, d in across
            if m != dimension and d[m] and abs(d[dimension]) < row
        )
        before = wanted.problem
        known = replace(before, dependences=tuple(dict.fromkeys((*before.dependences, *added))))
        made = replace(wanted, problem=known)
        wanted = made if recurrence_minimum(made).value <= bound else wanted
    return wanted


def _interval_bound(wanted: Guarded) -> int:
    """A lower bound of the initiation interval."""
    return max(resource_minimum(wanted).value, recurrence_minimum(wanted).value)


def check_given_schedule(
    graph: Graph, machine: Machine, dimension: int, solution: Solution
) -> Scheduled | tuple[str, ...]:
    """Verifier of a user's schedule for scans with this innermost dimension: the schedule, or what it violates."""
    wanted = build_problem(graph, machine, make_axis_distance(dimension))
    if found := violations(wanted, solution):
        met = rare_operations.find_meetings(graph, machine)
        rare = rare_operations.find_rare(graph, met, dimension)
        if violations(build_problem(graph, machine, make_axis_distance(dimension), rare), solution):
            return found
        return _make_scheduled(graph, wanted, solution, frozenset((dimension,)), False, (met, rare))
    is_safe = not violations(build_problem(graph, machine, safe_distance), solution)
    return _make_scheduled(graph, wanted, solution, frozenset((dimension,)), is_safe)


def recheck_schedule(graph: Graph, machine: Machine, of: Scheduled, schedule: Schedule) -> Scheduled:
    """`of` with another schedule for a graph with more operations, checked. Raises the internal error of `check`."""
    # The bound and its reason are not checked: the interval stays as it was, and so does what binds it.
    made = Solution(schedule.initiation_interval, schedule.tau, schedule.unit, 1, False, "")
    for distance in (safe_distance,) if of.safe else map(make_axis_distance, sorted(of.innermost)):
        check(build_problem(graph, machine, distance), made)
    return replace(of, schedule=schedule)


def best_solution(graph: Graph, machine: Machine, dimension: int) -> Solution | None:
    """The best schedule for an innermost dimension, to judge a user's by; None where there is none."""
    try:
        return solve(build_problem(graph, machine, make_axis_distance(dimension)))
    except PolyloomError:
        return None


def _make_scheduled(
    graph: Graph,
    wanted: Guarded,
    solution: Solution,
    innermost: frozenset[int],
    is_safe: bool,
    of: tuple[Sequence[Meeting], Rare] = ((), NONE),
) -> Scheduled:
    latency = tuple(wanted.latency(v, u) for v, u in enumerate(solution.unit))
    kept = rare_operations.collect_differences(graph, *of, solution.unit)
    schedule = Schedule(solution.initiation_interval, solution.start, solution.unit, latency, kept)
    return Scheduled(innermost, is_safe, schedule, Bottleneck(solution.minimum, solution.proved, solution.bound_by))

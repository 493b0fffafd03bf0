# SPDX-License-Identifier: Apache-2.0
"""Unroll-and-jam where units stand idle: a body of one multiply-add leaves the second multiplier of an element without
work in every cycle, and two neighbouring iterations in one body fill it.

ResMII is a whole number of cycles, so a body that needs half a cycle of each unit pays a whole one (Carr, Ding and
Sweany 1996, "Improving software pipelining with unroll-and-jam": the dimension and the factor come from the loop's
balance). A body that takes elements from the banks, or writes some, in every iteration is left alone: each stream takes
a channel and a bank per element, and twice as many would fit on half as large a region alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import islpy as isl

from polyloom.diagnostics import PolyloomError
from polyloom.ir.pla import Program
from polyloom.ir.rdg import Graph
from polyloom.modulo.guards.bounds import recurrence_minimum, resource_minimum
from polyloom.sets import Condition
from polyloom.sets.bounds import enclosing_bounds
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.map.allocate import is_orderable, list_scan_orders
from polyloom.targets.tcpa.map.dependence_graph import build_graph, condition_points
from polyloom.targets.tcpa.map.register_demand import distant_reads, shortage
from polyloom.targets.tcpa.map.rewrites.busiest_iteration import busiest_iteration
from polyloom.targets.tcpa.map.rewrites.streams import count_streams
from polyloom.targets.tcpa.map.schedule import build_problem, make_axis_distance
from polyloom.transform.pla.loop_shifting import shift_epilogue
from polyloom.transform.pla.unroll_and_jam import unroll_and_jam

FACTORS: Final = (2, 4)
"""Iterations in one, each tried where the one before was better."""
GAIN: Final = 4 / 3
"""A shorter interval is worth the longer program from here on."""
EQUATIONS: Final = 40
"""Of a program that is unrolled, at most: registers are short in longer ones."""
SHORTEST: Final = 4
"""Iterations that a dimension of a constant extent keeps, at least: the elements of a small region's line want one
each, and where some have none, a longer body takes longer."""


def unroll_where_idle(
    program: Program, machine: Machine, tell: Callable[[float], None] = lambda longest: None
) -> Program:
    """Unroll-and-jam by the balance of units (Carr, Ding and Sweany 1996): the program with so many iterations in one
    that the bound of the interval per iteration is least; as it is where that gains little. `tell` hears the longest
    interval of a schedule for which this is so, as the bound may not be met."""
    arrays = {a.name for a in (*program.inputs, *program.outputs)}
    if len(program.dimensions) < 3 or not _has_many_units(program, machine) or count_streams(program, arrays):
        return program
    own = _interval(program, machine)
    best, least = program, float(own)
    for factor in FACTORS:
        enough = factor * least / GAIN
        found = _best_program(_unrolled_programs(program, factor, machine, enough))
        if found is None:
            # An epilogue that takes units of the accumulation in its last iteration leaves them idle in all others.
            shifted = (s for d in program.dimensions if (s := shift_epilogue(program, d)) is not None)
            found = _best_program(u for s in shifted for u in _unrolled_programs(s, factor, machine, enough))
        if found is None:
            break
        best, least = found.program, found.interval
        tell(factor * own / GAIN)
    return best


@dataclass(frozen=True, slots=True)
class _Unrolled:
    """A program with several iterations in one; `interval` is the bound for each of them."""

    program: Program
    interval: float
    rank: tuple[float, int, int]


def _unrolled_programs(program: Program, factor: int, machine: Machine, enough: float) -> Iterator[_Unrolled]:
    """The program unrolled along each dimension, where it is neither too long nor needs more registers than there
    are, and the bound of its interval is `enough` at most. What takes longest to find is asked for last."""
    for dimension in _dimensions(program, factor):
        made = unroll_and_jam(program, dimension, factor)
        fits = len(made.equations) <= EQUATIONS and not shortage(made, machine)
        if not fits or busiest_iteration(made, machine, enough) > enough or not _has_scan_order(made):
            continue
        interval = _interval(made, machine)
        if interval <= enough:
            # Conditions that an extent be divisible make more classes of iterations; reuse makes a body shorter.
            rank = interval / factor, not _divides(program, dimension, factor), len(made.equations)
            yield _Unrolled(made, interval / factor, rank)


def _best_program(made: Iterable[_Unrolled]) -> _Unrolled | None:
    """The program of least rank whose extents are known. These are asked for last: they take longest to find."""
    return next((u for u in sorted(made, key=lambda u: u.rank) if _has_bounds(u.program)), None)


def _has_scan_order(program: Program) -> bool:
    """Whether dependences, of which copies hand over some the other way round, leave a scan order."""
    return is_orderable({d for _, d in distant_reads(program)}, len(program.dimensions))


def _has_bounds(program: Program) -> bool:
    """Whether extents are still quotients of affine expressions: in a band, an odd extent of one dimension may cut off
    the other one's last iteration (PL0201), which is no mistake of the user."""
    space = Condition(tuple(dict.fromkeys(p for e in program.equations for p in e.condition.pieces)))
    try:
        for dimension in program.dimensions:
            enclosing_bounds(space, program.dimensions, program.parameters, program.assumptions, dimension)
    except PolyloomError:
        return False
    return True


def _interval(program: Program, machine: Machine) -> int:
    """Lower bound of the initiation interval, over all innermost dimensions (Rau 1994)."""
    graph = build_graph(program)
    axes = sorted({order.order[0] for order in list_scan_orders(graph)})
    return min(_bound(graph, machine, m) for m in axes)


def _bound(graph: Graph, machine: Machine, innermost: int) -> int:
    problem = build_problem(graph, machine, make_axis_distance(innermost))
    return max(resource_minimum(problem).value, recurrence_minimum(problem).value)


def _has_many_units(program: Program, machine: Machine) -> bool:
    """Whether each operation has several units to go to, so that a body of one may leave some idle."""
    return all(len(machine.find_units(e.operation, e.dtype)) > 1 for e in program.equations)


def _dimensions(program: Program, factor: int) -> Iterator[str]:
    """Dimensions along which there is more than one iteration, and where the extent is constant, enough of them."""
    points = condition_points(program, program.space)
    for n, name in enumerate(program.dimensions):
        fixed, extent = points.plain_get_val_if_fixed(isl.dim_type.set, n), constant_extent(program, n)
        if not fixed.is_int() and not 0 < extent < SHORTEST * factor:
            yield name


def _divides(program: Program, dimension: str, factor: int) -> bool:
    """Whether the extent is a constant multiple of the factor; of blocks, that of whole ones, which most are."""
    extent = constant_extent(program, program.dimensions.index(dimension))
    return bool(extent) and not extent % factor


def constant_extent(program: Program, dimension: int) -> int:
    """Greatest extent of a dimension that starts at 0, over all values of the parameters, such as that of whole blocks;
    0 where they do not bound it."""
    points = condition_points(program, program.space)
    most, least = points.dim_max_val(dimension), points.dim_min_val(dimension)
    return most.to_python() + 1 if most.is_int() and least.is_zero() else 0

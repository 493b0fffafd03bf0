# SPDX-License-Identifier: Apache-2.0
"""Rare operations: those that hold their unit for long, but are executed so seldom that no two of them meet.

A division on the diagonal alone would set pi for every iteration if its unit were reserved in each of them. Which
differences I' - I there are between an iteration of one operation and one of another is a polyhedron of its own (the
distance polyhedron, as of dependences in Feautrier 1991), over the difference and the parameters. Where it has no short
vector along the innermost dimension, the operations are scheduled as if the unit were pipelined: they take the cycle in
which they are issued. Two executions in one iteration follow each other. Whether rows of a tile bring two executions
together depends on the tile's sizes, and is decided for each of them: a schedule remembers its differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import combinations_with_replacement
from operator import mul
from typing import Final

import islpy as isl

from polyloom.ir.rdg import Graph
from polyloom.sets.isl import from_set, parameter_set
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.map.dependence_graph import condition_points
from polyloom.targets.tcpa.map.symbolic_tables import Pool
from polyloom.targets.tcpa.words.symbolic import Apart, Row, Schedule

NEAR: Final = 64
"""Differences along the innermost dimension up to this one count as near, for parameters of this size and more."""
PIECES: Final = 8
"""Unions of more pieces are replaced by one polyhedron around them."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """`where` are the differences from an iteration of equation `first` to one of `second`."""

    first: int
    second: int
    where: isl.Set


@dataclass(frozen=True, slots=True)
class Rare:
    """Operations that hold their units for the cycle of their issue alone; of each pair in `serial`, executed in one
    iteration, the second waits until the first has left the unit."""

    operations: frozenset[int] = frozenset()
    serial: tuple[tuple[int, int], ...] = ()


NONE: Final = Rare()


def find_meetings(graph: Graph, machine: Machine) -> tuple[Meeting, ...]:
    """Difference sets of all pairs of equations that may meet in a unit that is not pipelined."""
    units = {v: found for v in range(len(graph.equations)) if (found := _blocking(graph, machine, v))}
    return tuple(
        Meeting(v, w, _differences(graph, v, w))
        for v, w in combinations_with_replacement(units, 2)
        if units[v] & units[w]
    )


def find_rare(graph: Graph, found: Sequence[Meeting], dimension: int) -> Rare:
    """Rare operations along `dimension`: with all that they share units with, nearer ones left out."""
    near = {n for n, one in enumerate(found) if _has_short_difference(one, graph, dimension)}
    common: set[int] = set()
    while more := {
        v
        for n, one in enumerate(found)
        for v in (one.first, one.second)
        if v not in common and (n in near or one.first in common or one.second in common)
    }:
        # Whoever shares a unit with an operation that holds it in every iteration has to respect its reservation.
        common |= more
    kept = [one for one in found if one.first not in common]
    rank = ranks(graph)
    if rank is None:
        return NONE
    together = (one for one in kept if one.first != one.second and not _at_origin(one).is_empty())
    serial = tuple(
        (one.first, one.second) if rank[one.first] < rank[one.second] else (one.second, one.first) for one in together
    )
    return Rare(frozenset(one.first for one in kept), serial)


def collect_differences(graph: Graph, found: Sequence[Meeting], rare: Rare, unit: Sequence[int]) -> tuple[Apart, ...]:
    """Differences of the rare operations of one unit, which a schedule stores so that instantiation can check its tile
    sizes.
    """
    pool = Pool(graph.program.dimensions, graph.program.parameters)
    return tuple(
        Apart(one.first, one.second, tuple(pool.rows(p.constraints) for p in from_set(one.where).pieces))
        for one in found
        if one.first in rare.operations and unit[one.first] == unit[one.second]
    )


def has_collision(
    schedule: Schedule, order: Sequence[int], signs: Sequence[int], sizes: Sequence[int], values: Sequence[int] | None
) -> bool:
    """Collision test: whether two executions in one tile would meet in their unit; `sizes` and `signs` (-1: reflected)
    by dimension. Without `values`, the parameters are taken to be large.
    """
    return any(_collides(one, schedule, order, signs, sizes, values) for one in schedule.apart)


def _collides(
    one: Apart,
    schedule: Schedule,
    order: Sequence[int],
    signs: Sequence[int],
    sizes: Sequence[int],
    values: Sequence[int] | None,
) -> bool:
    interval, shift = schedule.initiation_interval, schedule.tau[one.second] - schedule.tau[one.first]
    where = [_substitute_parameters(piece, values) for piece in one.where]
    extents = [sizes[m] for m in order]
    signed = [(m, signs[m]) for m in order]
    moved = [0] * len(order)
    # In cycles, the second one starts pi * steps + shift after the first: too early for it, or before it has left.
    least, most = 1 - schedule.latency[one.second] - shift, schedule.latency[one.first] - 1 - shift
    for steps in range(-(-least // interval), most // interval + 1):
        for digits in _mixed_radix_differences(steps, extents):
            for (m, sign), d in zip(signed, digits, strict=True):
                moved[m] = sign * d
            if (one.first != one.second or any(digits)) and any(_holds(piece, moved) for piece in where):
                return True
    return False


def _mixed_radix_differences(steps: int, sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Mixed-radix digits (Knuth 1969, volume 2, section 4.1): the differences within a tile, innermost first, that are
    `steps` steps of the scan.
    """
    found: list[tuple[tuple[int, ...], int]] = [((), steps)]
    for size in sizes:
        # What the steps leave modulo the size, or less by the size; the rest is up to the digits further out.
        found = [
            ((*digits, digit), (rest - digit) // size)
            for digits, rest in found
            for digit in ((rest % size, rest % size - size) if rest % size else (0,))
        ]
    return [digits for digits, rest in found if not rest]


def _substitute_parameters(piece: Sequence[Row], values: Sequence[int] | None) -> list[tuple[tuple[int, ...], int]]:
    """Coefficients and constants; without `values`, of rows without parameters, as others hold for large ones."""
    if values is None:
        return [(row.dims, row.constant) for row in piece if not any(row.params)]
    return [(row.dims, row.constant + sum(map(mul, row.params, values))) for row in piece]


def _holds(piece: Sequence[tuple[tuple[int, ...], int]], moved: Sequence[int]) -> bool:
    return all(sum(map(mul, dims, moved)) + constant >= 0 for dims, constant in piece)


def _blocking(graph: Graph, machine: Machine, v: int) -> frozenset[int]:
    equation = graph.equations[v]
    units = machine.find_units(equation.operation, equation.dtype)
    return frozenset(
        u
        for u in units
        if not machine.units[u].pipelined and machine.units[u].latencies[equation.operation, equation.dtype] > 1
    )


def _differences(graph: Graph, first: int, second: int) -> isl.Set:
    program = graph.program
    domain = parameter_set(program.assumptions, program.parameters)
    one, other = (
        condition_points(program, graph.equations[v].condition).intersect_params(domain) for v in (first, second)
    )
    # Without quantified variables a difference is tested by its rows alone; leaving them out can only add differences.
    found = isl.Map.from_domain_and_range(one, other).deltas().remove_divs().coalesce()
    if len(found.get_basic_sets()) > PIECES:
        # A larger set of differences may refuse a schedule, but never accepts a collision.
        found = isl.Set.from_basic_set(found.simple_hull())
    for n, name in enumerate(program.dimensions):
        found = found.set_dim_name(isl.dim_type.set, n, name)
    return found.gist_params(domain).remove_redundancies()


def _has_short_difference(one: Meeting, graph: Graph, dimension: int) -> bool:
    """Whether some difference is along `dimension` alone and short, where parameters are large."""
    count = len(graph.program.dimensions)
    line = one.where
    for m in range(count):
        if m != dimension:
            line = line.fix_val(isl.dim_type.set, m, isl.Val(0))
    line = line.lower_bound_val(isl.dim_type.set, dimension, isl.Val(-NEAR))
    line = line.upper_bound_val(isl.dim_type.set, dimension, isl.Val(NEAR)).subtract(_at_origin(one))
    large = line
    for n in range(line.dim(isl.dim_type.param)):
        # For small parameters every difference is short; instantiation checks those by their actual sizes.
        large = large.lower_bound_val(isl.dim_type.param, n, isl.Val(2 * NEAR))
    return not large.is_empty()


def _at_origin(one: Meeting) -> isl.Set:
    found = one.where
    for m in range(found.dim(isl.dim_type.set)):
        found = found.fix_val(isl.dim_type.set, m, isl.Val(0))
    return found


def ranks(graph: Graph) -> dict[int, int] | None:
    """Topological ranks: places in an order in which values of an iteration flow; None where they wait for each
    other."""
    before: dict[int, set[int]] = {v: set() for v in range(len(graph.equations))}
    for use in graph.uses:
        if use.is_local:
            before[use.consumer] |= {w.node for w in use.writers}
    try:
        return {v: n for n, v in enumerate(TopologicalSorter(before).static_order())}
    except CycleError:
        return None

# SPDX-License-Identifier: Apache-2.0
"""Event resolution: which operation of the program an event of a run is, and of which iteration (docs/targets/tcpa.md,
Time; schedule t_v(I*) of the array paper, section 5.2).

Node v of iteration I starts in cycle `T(K) + pi * step(J) + tau(v)` of the element K that has I, where J are the
iteration's digits in its tile. So a cycle, with the slot of a node, gives the step, the step the digits, and these,
with the element's place, the iteration; of the nodes that share a slot, the one is meant whose condition holds there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.targets.tcpa.words import symbolic_file
from polyloom.targets.tcpa.words.concrete import Concrete
from polyloom.targets.tcpa.words.isa import OPCODE_NOP
from polyloom.targets.tcpa.words.symbolic import Bound, Candidate, Row, Schedule, Symbolic

Numbers = NDArray[np.int64]
Column = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class Known:
    """What a configuration was made of: the candidate that was taken, and the values of the parameters."""

    symbolic: Symbolic
    candidate: Candidate
    values: tuple[int, ...]

    @property
    def schedule(self) -> Schedule:
        return self.symbolic.schedules[self.candidate.schedule]


@dataclass(frozen=True, slots=True)
class Resolved:
    """By event: the node, -1 where none is meant, and the iteration, in the order of `dimensions`."""

    node: Numbers
    iteration: Numbers


def find_origin(concrete: Concrete) -> Known | None:
    """Origin of a configuration, as it says itself. Errors: PL07xx where it does not fit its words."""
    told = concrete.made_of
    if told is None:
        return None
    symbolic = symbolic_file.decode(told.symbolic)
    if told.candidate >= len(symbolic.candidates) or len(told.values) != len(symbolic.parameters):
        raise mismatch_error()
    found = Known(symbolic, symbolic.candidates[told.candidate], told.values)
    if len(concrete.extents) != len(symbolic.dimensions) or not matches_words(found.schedule, symbolic, concrete):
        raise mismatch_error()
    return found


def mismatch_error() -> PolyloomError:
    """Two files that do not belong together."""
    return input_error(
        "PL0705", "the concrete configuration was not made from this symbolic one", help="instantiate it again"
    )


def matches_words(schedule: Schedule, symbolic: Symbolic, concrete: Concrete) -> bool:
    """Match of a schedule and the words: whether every operation that is issued has a node at its unit and slot."""
    interval = concrete.initiation_interval
    if not interval:
        return False
    slots = {(u, t % interval, v.opcode) for u, t, v in zip(schedule.unit, schedule.tau, symbolic.nodes, strict=True)}
    issued = {
        (unit, at % interval, instruction.opcode)
        for element in concrete.classes
        for unit, program in enumerate(element.programs)
        for at, instruction in enumerate(program)
        if instruction.opcode != OPCODE_NOP
    }
    # Only schedules with rare operations are run at a multiple of their interval, as instantiation stretches them.
    slower, rest = divmod(interval, schedule.initiation_interval)
    return not concrete.classes or (not rest and (slower == 1 or bool(schedule.apart)) and issued <= slots)


def resolve_events(
    element: Column, unit: Column, cycle: Column, opcode: Column, concrete: Concrete, of: Known
) -> Resolved:
    """Event resolution, by columns: the element row by row, the unit, the cycle and the opcode."""
    symbolic, schedule, pi = of.symbolic, of.schedule, concrete.initiation_interval
    rows, columns = np.divmod(element.astype(np.int64), concrete.columns)
    since = cycle.astype(np.int64) - _starts(rows, columns, concrete)
    node = np.full(len(cycle), -1, np.int64)
    iteration = np.zeros((len(cycle), len(symbolic.dimensions)), np.int64)
    for v, operation in enumerate(symbolic.nodes):
        lag = since - schedule.tau[v]
        # Of nodes with disjoint conditions at one slot, the first whose condition holds takes the event.
        here = (unit == schedule.unit[v]) & (opcode == operation.opcode) & (lag >= 0) & (lag % pi == 0) & (node < 0)
        at = np.flatnonzero(here)
        if not len(at):
            continue
        points, inside = tile_iterations(lag[at] // pi, rows[at], columns[at], concrete, of)
        inside &= evaluate_condition(operation.condition, points, of)
        node[at[inside]] = v
        iteration[at[inside]] = points[inside]
    return Resolved(node, iteration)


def _starts(rows: Numbers, columns: Numbers, concrete: Concrete) -> Numbers:
    """Start times T(K) = lambda_K . K of elements, in cycles: when the start token reaches them (the array paper,
    section 5.2).
    """
    c = concrete.controller
    down = concrete.rows - 1 - rows if c.south else rows
    across = concrete.columns - 1 - columns if c.east else columns
    return c.start + c.row_delay * down + c.column_delay * across


def tile_iterations(
    step: Numbers, rows: Numbers, columns: Numbers, concrete: Concrete, of: Known
) -> tuple[Numbers, NDArray[np.bool_]]:
    """Inverse of the tiling (the array paper, section 5.1): the iterations of these steps, and whether they are in the
    tile; what follows drains the pipeline.
    """
    candidate, found = of.candidate, np.zeros((len(step), len(of.symbolic.dimensions)), np.int64)
    rest = step
    for m, extent in zip(candidate.order, concrete.extents, strict=True):
        rest, digit = np.divmod(rest, max(extent, 1))
        tile = rows if m == candidate.rows else columns if m == candidate.columns else 0
        counted = digit + extent * tile
        low, high = (evaluate_bound(b, of) for b in (of.symbolic.extents[m].lower, of.symbolic.extents[m].upper))
        found[:, m] = high - counted if candidate.reflected[m] else low + counted
    return found, rest == 0


def evaluate_bound(pieces: Sequence[Bound], of: Known) -> int:
    """The piece whose guards hold; 0 of an empty space."""
    for piece in pieces:
        if all(evaluate_constant(guard, of) >= 0 for guard in piece.guards):
            return evaluate_constant(piece.numerator, of) // piece.denominator
    return 0


def evaluate_constant(row: Row, of: Known) -> int:
    """Value of a row without its dimensions: its constant and the parameters."""
    return row.constant + sum(c * v for c, v in zip(row.params, of.values, strict=True))


def evaluate_row(row: Row, points: Numbers, of: Known) -> Numbers:
    """Its value at each of the points."""
    return points @ np.array(row.dims, np.int64) + evaluate_constant(row, of)


def evaluate_condition(condition: int, points: Numbers, of: Known) -> NDArray[np.bool_]:
    """At which of the points a condition holds."""
    found = np.zeros(len(points), np.bool_)
    for conjunction in of.symbolic.conditions[condition]:
        piece = np.ones(len(points), np.bool_)
        for number in conjunction:
            piece &= evaluate_row(of.symbolic.constraints[number], points, of) >= 0
        found |= piece
    return found

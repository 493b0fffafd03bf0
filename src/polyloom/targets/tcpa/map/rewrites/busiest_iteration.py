# SPDX-License-Identifier: Apache-2.0
"""Resource bound of single iterations, a lower bound of ResMII (Rau 1994) without a dependence graph.

Operations that execute in one iteration share no cell of the reservation table, so that they are a clique of the
conflicts by which ResMII is bounded (`modulo.guards.bounds`). Conditions are only evaluated at a few iterations of one
size, near the borders and inside, which takes a small part of the time that disjoint sets take.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import product
from typing import Final

import numpy as np
import numpy.typing as npt

from polyloom.ir.pla import Program
from polyloom.sets.affine import Affine, Condition
from polyloom.targets.tcpa.machine import Machine

Counts = npt.NDArray[np.int64]
"""By iteration, an axis for each dimension."""
SIZE: Final = 16
"""Value of each parameter. Multiples of the factors of unrolling have no border of their own."""
COORDINATES: Final = 3, 7, 1, 0, 15
"""Of the iterations that are looked at: inner and first ones, and the last ones of 4, 8 and 16."""


def busiest_iteration(program: Program, machine: Machine, enough: float) -> int:
    """Lower bound of the initiation interval in cycles, of the iterations that are looked at; of more than `enough`,
    the first one found. 1 where the assumptions exclude the size."""
    sizes = dict.fromkeys(program.parameters, SIZE)
    if not program.assumptions.contains(sizes):
        return 1
    held = {c: _active_iterations(c, program.dimensions, sizes) for c in {e.condition for e in program.equations}}
    active: dict[frozenset[int], Counts] = {}
    for e in program.equations:
        units = frozenset(machine.find_units(e.operation, e.dtype))
        active[units] = active.get(units, 0) + held[e.condition]
    most = np.ones((len(COORDINATES),) * len(program.dimensions), np.int64)
    for union, count in active.items():
        # Operations whose units are all of a union have no others to go to.
        confined = sum(n for units, n in active.items() if units <= union)
        most = np.maximum(most, np.where(count > 0, -(-confined // len(union)), 1))
    found = np.maximum.accumulate(most.ravel())
    return int(found[min(int(np.searchsorted(found, enough, side="right")), found.size - 1)])


def _active_iterations(condition: Condition, dimensions: Sequence[str], sizes: Mapping[str, int]) -> Counts:
    """Where a condition holds: 0 or 1 over the coordinates of each dimension, or over one of those on which it does not
    depend."""
    shape = (1,) * len(dimensions)
    pieces = (
        reduce(np.multiply, (_satisfied(c, dimensions, sizes) for c in piece.constraints), np.ones(shape, np.int64))
        for piece in condition.pieces
    )
    return reduce(np.maximum, pieces, np.zeros(shape, np.int64))


def _satisfied(constraint: Affine, dimensions: Sequence[str], sizes: Mapping[str, int]) -> Counts:
    """Where a constraint is at least 0. It names few dimensions, so that integers of any size stay exact at no cost."""
    named = [name for name in dimensions if name in constraint.symbols]
    values = [
        constraint.evaluate({**sizes, **dict(zip(named, point, strict=True))})
        for point in product(COORDINATES, repeat=len(named))
    ]
    shape = [len(COORDINATES) if name in named else 1 for name in dimensions]
    return np.array([value >= 0 for value in values], np.int64).reshape(shape)

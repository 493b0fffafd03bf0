# SPDX-License-Identifier: Apache-2.0
"""Resource bound of single iterations, a lower bound of ResMII (Rau 1994) without a dependence graph.

Operations that execute in one iteration share no cell of the reservation table, so that they are a clique of the
conflicts by which ResMII is bounded (`modulo.guards.bounds`). Conditions are only evaluated at a few iterations of one
size, near the borders and inside, which takes a small part of the time that disjoint sets take.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Final

from polyloom.ir.pla import Program
from polyloom.targets.tcpa.machine import Machine

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
    units = [frozenset(machine.find_units(e.operation, e.dtype)) for e in program.equations]
    most = 1
    for point in product(COORDINATES, repeat=len(program.dimensions)):
        at = {**sizes, **dict(zip(program.dimensions, point, strict=True))}
        active = Counter(u for e, u in zip(program.equations, units, strict=True) if e.condition.contains(at))
        # Operations whose units are all of a union have no others to go to.
        confined = ((union, sum(n for units, n in active.items() if units <= union)) for union in active)
        most = max((most, *(-(-count // len(union)) for union, count in confined)))
        if most > enough:
            break
    return most

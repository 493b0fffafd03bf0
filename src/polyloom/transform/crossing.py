# SPDX-License-Identifier: Apache-2.0
"""Values that cross from phase to phase: the arrays that hold them between.

A value that an output holds at the end anyway is read from there, unless a later phase reads what that element held at entry. Others
get an intermediate array, shaped like the one that their statement writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from polyloom.diagnostics import input_error
from polyloom.ir.nest import Nest
from polyloom.ir.pla import Array
from polyloom.ir.recurrence import Final, Piece, Produced, Recurrence, Stored, System, origins
from polyloom.sets import Affine
from polyloom.sets.isl import from_set
from polyloom.transform.space import own_space


@dataclass(frozen=True, slots=True)
class Crossing:
    """`where` a statement's values are found in later phases, what must be written for that, and the arrays made for it."""

    where: dict[str, tuple[str, tuple[Affine, ...]]]
    exports: tuple[Final, ...]
    intermediates: tuple[Array, ...]


def cross(nest: Nest, system: System, groups: Sequence[Sequence[str]]) -> Crossing:
    """What phases pass on, where `groups` are the statements of each. Raises PL0264 for several values of one element."""
    phase_of = {name: n for n, names in enumerate(groups) for name in names}
    needed: dict[str, isl.Set] = {}
    for e in system.equations:
        for piece in (p for r in e.reads for p in r):
            origin = piece.origin
            if isinstance(origin, Produced) and phase_of[origin.statement] != phase_of[e.name]:
                points = _read_instances(system, e, piece, origin)
                needed[origin.statement] = needed[origin.statement].union(points) if origin.statement in needed else points
    where: dict[str, tuple[str, tuple[Affine, ...]]] = {}
    exports: list[Final] = []
    made: dict[str, tuple[Array, isl.Set]] = {}
    for name in sorted(needed, key=lambda n: [e.name for e in system.equations].index(n)):
        points = needed[name].coalesce()
        final = _final(system, name, points, phase_of)
        if final is not None:
            where[name] = final.name, final.index
            continue
        array, index = _intermediate(nest, system, system[name], points, made)
        where[name] = array, index
        exports.append(Final(array, index, name, from_set(points)))
    return Crossing(where, tuple(exports), tuple(a for a, _ in made.values()))


def _read_instances(system: System, reader: Recurrence, piece: Piece, origin: Produced) -> isl.Set:
    own = own_space(system, reader)
    return own.image(own.set(piece.domain), origin.index, system[origin.statement].loops)


def _final(system: System, name: str, points: isl.Set, phase_of: Mapping[str, int]) -> Final | None:
    """The output that holds all those values at the end anyway, unless a later phase reads what it held at entry."""
    later = [e for e in system.equations if phase_of[e.name] > phase_of[name]]
    read = {o.name for o in origins(later) if isinstance(o, Stored)}
    own = own_space(system, system[name])
    return next((f for f in system.finals if f.statement == name and f.name not in read and points.is_subset(own.set(f.domain))), None)


def _intermediate(nest: Nest, system: System, equation: Recurrence, points: isl.Set, made: dict[str, tuple[Array, isl.Set]]) -> tuple[str, tuple[Affine, ...]]:
    """An array for the values of `equation` at `points`: shaped like the one it writes, where each element is written once."""
    target = equation.statement.assign.target
    own, storage = own_space(system, equation), nest[target.name]
    if not own.injective(points, target.index):
        help = f"split the loop by hand, or store each value of `{target.name}` in an element of its own"
        raise input_error("PL0264", f"`{target.name}` passes several values of one element to a later phase", span=equation.span, help=help)
    elements = own.image(points, target.index, tuple(f"e{n}" for n in range(len(target.index))))
    taken = {s.name for s in system.storage} | set(system.parameters)
    base = target.name if target.name not in taken else f"{target.name}_kept"
    name, number = base, 1
    while name in made and not made[name][1].is_disjoint(elements):
        number += 1
        name = f"{base}{number}"
    array, before = made.get(name, (Array(name, storage.dtype, storage.shape), elements))
    made[name] = array, before.union(elements)
    return name, target.index

# SPDX-License-Identifier: Apache-2.0
"""Values that cross from phase to phase: the arrays that hold them between.

A value that an output holds at the end anyway is read from there, unless a later phase reads what that element held at
entry. Others get an intermediate array, shaped like the one that their statement writes, or where an element of that
gets several values, like loops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import islpy as isl

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.ir.nest import Nest, names
from polyloom.ir.pla import Array
from polyloom.ir.recurrence import Final, Produced, Recurrence, Stored, System, origins
from polyloom.names import fresh_name, hidden_dims
from polyloom.sets import Affine
from polyloom.sets.isl import from_set
from polyloom.transform.embed import dimensions
from polyloom.transform.space import Point, Space, iteration_space, union

MARGIN = 16
"""Elements that an array may have beyond its last one, so that its extent is never negative."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """`where` later phases find a statement's values, what must be written for that, and the arrays made for it."""

    where: dict[str, tuple[str, Point]]
    exports: tuple[Final, ...]
    intermediates: tuple[Array, ...]


@dataclass(frozen=True, slots=True)
class _Made:
    """An array for values that are assigned to `storage`, and which `elements` of it are in use."""

    array: Array
    elements: isl.Set
    storage: str


def cross(nest: Nest, system: System, groups: Sequence[Sequence[str]]) -> Crossing:
    """Communication between phases: which arrays hold values, and what must be written for that; `groups` are the
    statements of each phase. Raises PL0264 for values that no array holds side by side.
    """
    phase_of = {name: n for n, names in enumerate(groups) for name in names}
    found = [
        crossing for names in groups for crossing in imported_instances(system, [system[n] for n in names]).items()
    ]
    where: dict[str, tuple[str, Point]] = {}
    exports: list[Final] = []
    made: dict[str, _Made] = {}
    taken = {*names(nest), *(d for group in groups for d in dimensions(system, [system[n] for n in group]))}
    for name in (e.name for e in system.equations if e.name in dict(found)):
        points = union([p for n, p in found if n == name])
        final = _final(system, name, points, phase_of)
        # The value is in an output already: a later phase reads it there, without a copy.
        if final is not None:
            where[name] = final.name, final.index
            continue
        where[name] = _intermediate(nest, system, system[name], points, made, taken)
        exports.append(Final(*where[name], name, from_set(points)))
    return Crossing(where, tuple(exports), tuple(m.array for m in made.values()))


def imported_instances(system: System, readers: Sequence[Recurrence]) -> dict[str, isl.Set]:
    """The instances of other statements whose values `readers` use."""
    names, found = {e.name for e in readers}, dict[str, isl.Set]()
    for reader in readers:
        for origin, domain in ((p.origin, p.domain) for read in reader.reads for p in read):
            if isinstance(origin, Produced) and origin.statement not in names:
                own = iteration_space(system, reader)
                points = own.image(own.set(domain), origin.index, system[origin.statement].loops)
                found[origin.statement] = found[origin.statement].union(points) if origin.statement in found else points
    return found


def cell(system: System, equation: Recurrence, points: isl.Set) -> tuple[Point, Point | None]:
    """Storage mapping of values (Lefebvre, Feautrier, "Automatic storage management for parallel programs", 1998): the
    index at which the values of `equation` at `points` are kept, and the shape of an array for that: the element they
    are assigned to (and its array's shape, None) unless it gets several of them; then the fewest loops that tell them
    apart.
    """
    own, target = iteration_space(system, equation), equation.statement.assign.target
    if own.injective(points, target.index):
        return target.index, None
    # Fewest loops first: the array is as small as its values can be told apart.
    for axes in (a for size in range(1, len(own.dims) + 1) for a in combinations(range(len(own.dims)), size)):
        index = tuple(own.point_symbols[n] for n in axes)
        shape = [_extent(own, points, n) for n in axes] if own.injective(points, index) else [None]
        if None not in shape:
            return index, tuple(filter(None, shape))
    raise unkept(equation)


def unkept(equation: Recurrence) -> PolyloomError:
    """PL0264 for a statement whose values have no place between phases."""
    name = equation.statement.assign.target.name
    help = f"let its loops begin at 0 or above, or store each value of `{name}` in an element of its own"
    return input_error(
        "PL0264", f"`{name}` passes several values of one element to a later phase", span=equation.span, help=help
    )


def _extent(space: Space, points: isl.Set, axis: int) -> Affine | None:
    """A number of elements that suffices for all coordinates in this dimension, and is negative for no parameters."""
    last = space.upper(points, axis) if space.sign(points, space.point_symbols[axis]) == 1 else None
    if last is None:
        return None
    values = Space((), space.params, space.assumptions)
    # last + 1 is -1 where a loop is empty by more than one iteration; extents must not be negative for any parameters.
    return next((last + more for more in range(1, MARGIN) if values.solutions(-last - more - 1).is_empty()), None)


def _final(system: System, name: str, points: isl.Set, phase_of: Mapping[str, int]) -> Final | None:
    """The output that holds all those values at the end anyway, unless a later phase reads what it held at entry."""
    later = [e for e in system.equations if phase_of[e.name] > phase_of[name]]
    read = {o.name for o in origins(later) if isinstance(o, Stored)}
    own = iteration_space(system, system[name])
    return next(
        (
            f
            for f in system.finals
            if f.statement == name and f.name not in read and points.is_subset(own.set(f.domain))
        ),
        None,
    )


def _intermediate(
    nest: Nest, system: System, equation: Recurrence, points: isl.Set, made: dict[str, _Made], taken: set[str]
) -> tuple[str, Point]:
    """An array for the values of `equation` at `points`, which those of the same storage share as long as no element
    gets two values. It is called like a local, or by a name that is not `taken`."""
    index, shape = cell(system, equation, points)
    storage = nest[equation.statement.assign.target.name]
    elements = iteration_space(system, equation).image(points, index, hidden_dims(len(index)))
    for name, known in made.items() if shape is None else ():
        if (
            known.storage == storage.name
            and known.array.shape == storage.shape
            # Two statements that fill different elements of one local share its array, as they do in the source.
            and known.elements.is_disjoint(elements)
        ):
            made[name] = replace(known, elements=known.elements.union(elements))
            return name, index
    is_first = storage.role == "local" and storage.name not in made
    base = storage.name if storage.role == "local" else f"{storage.name}_kept"
    name = base if is_first else fresh_name(base, taken, lambda base, number: f"{base}{number + 1}")
    made[name] = _Made(Array(name, storage.dtype, storage.shape if shape is None else shape), elements, storage.name)
    return name, index

# SPDX-License-Identifier: Apache-2.0
"""Removes what no output needs: equations, and instances of equations.

The needed instances are those that a final names and those that a needed instance reads. Starting with all instances,
each round keeps what the rest still needs; every round's set is closed under "reads", hence sound. Equations that do
not need themselves take one round, consumers first. A recurrence may shrink in every round for ever: unless it settles
at once, all of it stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import islpy as isl

from polyloom.analysis.components import components
from polyloom.diagnostics import PolyloomError
from polyloom.ir.recurrence import Piece, Produced, Recurrence, System
from polyloom.sets import Condition
from polyloom.sets.isl import affine_map
from polyloom.transform.pieces import Pieces, with_loop_names

ROUNDS = 3


def prune(system: System) -> System:
    """Dead instance elimination (dead code elimination on exact dataflow; Muchnick 1997, section 18.10): the same
    finals from fewer equations and smaller domains.
    """
    pieces = Pieces.from_statements([e.statement for e in system.equations], system.parameters, system.assumptions)
    kept: dict[str, Recurrence] = {}
    # Once a component's readers are cut, what it has to compute is known, but for its own recurrences.
    for component in _components_by_readers(system):
        demand = {e.name: _finals(system, e, pieces).union(_read(e, kept.values(), pieces)) for e in component}
        kept |= _needed_component({e.name: e for e in component}, demand, pieces)
    return replace(system, equations=tuple(kept[e.name] for e in system.equations if e.name in kept))


def _components_by_readers(system: System) -> list[list[Recurrence]]:
    """The equations that need each other, together."""
    number = {e.name: n for n, e in enumerate(system.equations)}
    readers: dict[int, list[int]] = {n: [] for n in number.values()}
    for reader, equation in enumerate(system.equations):
        for origin in sorted(
            {p.origin.statement for read in equation.reads for p in read if isinstance(p.origin, Produced)}
        ):
            readers[number[origin]].append(reader)
    return [[system.equations[n] for n in component] for component in components(readers)]


def _needed_component(
    component: dict[str, Recurrence], demand: dict[str, isl.Set], pieces: Pieces
) -> dict[str, Recurrence]:
    """What others demand of a component, and what that needs of the component itself."""
    if all(points.is_empty() for points in demand.values()):
        return {}
    found = component
    # A greatest fixed point from above: stopping early keeps instances that nobody needs, which is correct.
    for _ in range(ROUNDS):
        cut = {n: _cut(e, demand[n].union(_read(e, found.values(), pieces)), pieces) for n, e in found.items()}
        if cut == found:
            return found
        found = {n: e for n, e in cut.items() if e.domain.pieces}
    return component


def _finals(system: System, equation: Recurrence, pieces: Pieces) -> isl.Set:
    return _union(
        [pieces.set(f.domain, equation.name) for f in system.finals if f.statement == equation.name], equation, pieces
    )


def _read(equation: Recurrence, readers: Iterable[Recurrence], pieces: Pieces) -> isl.Set:
    """The instances of `equation` that instances of `readers` read."""
    found: list[isl.Set] = []
    for reader in readers:
        for piece in (
            p
            for read in reader.reads
            for p in read
            if isinstance(p.origin, Produced) and p.origin.statement == equation.name
        ):
            # The image of the readers' points: which instances they name.
            there = isl.Map.from_multi_aff(affine_map(piece.origin.index, reader.loops, pieces.params))
            found.append(with_loop_names(pieces.set(piece.domain, reader.name).apply(there), equation.loops))
    return _union(found, equation, pieces)


def _union(sets: Sequence[isl.Set], equation: Recurrence, pieces: Pieces) -> isl.Set:
    made = pieces.set(Condition(()), equation.name)
    for points in sets:
        made = made.union(points)
    return made.coalesce()


def _cut(equation: Recurrence, needed: isl.Set, pieces: Pieces) -> Recurrence:
    """`equation` on the needed instances; as it is where they have a stride or fall into more pieces."""
    domain = pieces.set(equation.domain, equation.name)
    if domain.is_subset(needed):
        return equation
    try:
        condition = pieces.condition(domain.intersect(needed))
        reads = tuple(_restricted_read(read, needed, equation, pieces) for read in equation.reads)
    # A stride cannot be written as a condition: the equation stays whole.
    except PolyloomError:
        return equation
    # More pieces are more equations, which cost more than instances that nobody reads.
    if len(condition.pieces) > len(pieces.condition(domain).pieces):
        return equation
    return replace(equation, statement=replace(equation.statement, domain=condition), reads=reads)


def _restricted_read(
    read: tuple[Piece, ...], needed: isl.Set, equation: Recurrence, pieces: Pieces
) -> tuple[Piece, ...]:
    return pieces.join_parts(
        [(pieces.set(p.domain, equation.name).intersect(needed), p.origin) for p in read], equation.name
    )

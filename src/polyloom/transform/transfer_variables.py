# SPDX-License-Identifier: Apache-2.0
"""Two simplifications of a phase whose reads are uniform: fewer places that a read comes from, fewer distances of one
variable.

`unite`: where a read takes its value here from an input, there from a statement (the first time step of a stencil, or
its edge), the variable of the input is translated so that both distances are equal; if the two are then defined at
different points, they become one variable, and the read has one place. `relay`: a variable that is read at many
distances is read at few, and handed on from there by unit steps, so that it takes few channels between processing
elements (Rau, "Iterative modulo scheduling", 1996, calls the register form of this value reuse load/store elimination).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import prod

import islpy as isl

from polyloom.ir.pla import Reference
from polyloom.transform.carry import Transfer, Use
from polyloom.transform.order import Order, Vector, find_order, positive
from polyloom.transform.space import Point, Space, extremes, union

CROSSINGS = 10
"""Channels between elements that a phase may use before variables are relayed, if all dimensions but the outermost were
allocated."""

GROWTH = 1.5
"""How much larger uniting two variables may make the box of a phase, for typical parameters, where a plane more counts
for much."""
MANY = 6
"""Channels of one variable from which on relaying it is worth a move."""

Reads = list[list[list[Use]]]
"""For each statement and each of its reads, where the value is found."""


@dataclass(frozen=True, slots=True)
class Wiring:
    """`defined` gives the points of every variable that a statement computes, those included that `transfers`
    define."""

    space: Space
    reads: Reads
    transfers: list[Transfer]
    defined: dict[str, isl.Set]

    def is_variable(self, reference: Reference) -> bool:
        return reference.name in self.defined or any(t.variable == reference.name for t in self.transfers)

    def vectors(self) -> set[Vector]:
        return {self.space.distance(r) for r in self.references() if self.is_variable(r)}

    def references(self) -> Iterable[Reference]:
        yield from (r for reads in self.reads for uses in reads for _, r in uses)
        yield from (t.reference for t in self.transfers)


def unite(wiring: Wiring, types: Mapping[str, str]) -> Wiring:
    """Variable coalescing: entering variables translated onto the statements' variables that their readers read
    elsewhere.
    """
    for name in dict.fromkeys(t.variable for t in wiring.transfers):
        for (other, shift), _ in _partners(wiring, name).most_common():
            united = _coalesce_variables(wiring, name, other, shift) if types[name] == types[other] else None
            if united is not None:
                wiring = united
                break
    return wiring


def _partners(wiring: Wiring, name: str) -> Counter[tuple[str, Vector]]:
    """How often a read comes from `name` here and from a statement's variable there, by the translation between."""
    found: Counter[tuple[str, Vector]] = Counter()
    for uses in (u for reads in wiring.reads for u in reads):
        for _, own in uses:
            for _, other in uses:
                if own.name == name and other.name in wiring.defined:
                    pairs = zip(wiring.space.distance(own), wiring.space.distance(other), strict=True)
                    # The translation that serves most reads is tried first.
                    found[other.name, tuple(a - b for a, b in pairs)] += 1
    return found


def _coalesce_variables(wiring: Wiring, name: str, other: str, shift: Vector) -> Wiring | None:
    """`name` at P becomes `other` at P + shift; None if a point would have both or the loops no order."""
    space = wiring.space
    own = [t for t in wiring.transfers if t.variable == name]
    points = union([space.shift(t.points, shift) for t in own])
    # Single assignment: a point of the united variable must have one definition.
    if any(t.reference.name == other for t in own) or not points.is_disjoint(wiring.defined[other]):
        return None
    back = {dim: here - s for dim, here, s in zip(space.dims, space.point_symbols, shift, strict=True)}

    def translate_reference(reference: Reference) -> Reference:
        if reference.name != name:
            return reference
        return wiring.space.reference(
            other, tuple(d - s for d, s in zip(wiring.space.distance(reference), shift, strict=True))
        )

    def translate_transfer(transfer: Transfer) -> Transfer:
        if transfer.variable != name:
            return replace(transfer, reference=translate_reference(transfer.reference))
        if wiring.is_variable(transfer.reference):  # a distance stays; only `name` itself changes its name
            reference = wiring.space.reference(
                other if transfer.reference.name == name else transfer.reference.name,
                wiring.space.distance(transfer.reference),
            )
            if reference.name != other:
                reference = wiring.space.reference(
                    reference.name,
                    tuple(d + s for d, s in zip(wiring.space.distance(transfer.reference), shift, strict=True)),
                )
        else:
            reference = replace(transfer.reference, index=tuple(i.substitute(back) for i in transfer.reference.index))
        return Transfer(other, space.shift(transfer.points, shift), reference)

    reads = [[merge_uses([(p, translate_reference(r)) for p, r in uses]) for uses in reads] for reads in wiring.reads]
    defined = {**wiring.defined, other: wiring.defined[other].union(points).coalesce()}
    made = Wiring(space, reads, [translate_transfer(t) for t in wiring.transfers], defined)
    # A larger box costs iterations on every element; a further input costs a channel at the border.
    if _volume(made) > GROWTH * _volume(wiring):
        return None
    return made if find_order(made.vectors(), len(space.dims)) is not None else None


def _volume(wiring: Wiring) -> int:
    """The bounding box of all definitions, for typical parameters."""
    everything = union([*wiring.defined.values(), *(t.points for t in wiring.transfers)]).intersect(
        wiring.space.typical()
    )
    return prod(high - low + 1 for low, high in zip(*extremes(everything), strict=True))


def fill(wiring: Wiring, shapes: Mapping[str, Point]) -> Wiring:
    """Where inputs were united with a statement's variable, define it in the whole bounding box: what nobody reads does
    no harm, and conditions become boxes. What is passed on is passed on there too, what enters must be inside its array
    (whose shape is not known while phases are looked for, if it is one between them)."""
    transfers = list(wiring.transfers)
    for name, points in wiring.defined.items():
        own = [t for t in transfers if t.variable == name]
        box = wiring.space.box(points) if own else None
        computed = points.subtract(union([t.points for t in own])) if own else points
        filled = _fill_box(wiring, own, box, box.subtract(computed), shapes) if box is not None else None
        if filled is not None:
            transfers = [t for t in transfers if t.variable != name] + filled
    return replace(wiring, transfers=transfers)


def _fill_box(
    wiring: Wiring, own: list[Transfer], box: isl.Set, rest: isl.Set, shapes: Mapping[str, Point]
) -> list[Transfer] | None:
    """Definitions of the `rest` of the box by the equations that there are; None if those do not do."""
    made: list[Transfer] = []
    # Passing on from a neighbour first: it needs no channel from outside, so that only what is left enters there.
    for transfer in sorted(own, key=lambda t: t.reference.name != t.variable):
        if transfer.reference.name == transfer.variable:
            where = rest.intersect(wiring.space.shift(box, wiring.space.distance(transfer.reference)))
        elif (shape := shapes.get(transfer.reference.name)) is not None and len(shape) == len(transfer.reference.index):
            pairs = zip(transfer.reference.index, shape, strict=True)
            where = rest.intersect(wiring.space.solutions(*(b for i, extent in pairs for b in (i, extent - i - 1))))
        else:
            where = transfer.points
        if not transfer.points.is_subset(where):
            return None
        made.append(replace(transfer, points=where.coalesce()))
        rest = rest.subtract(where)
    return made if rest.is_empty() else None


def unify_distances(wiring: Wiring) -> Wiring:
    """A read of a variable at several distances takes it at one, where the value passed on is the same there."""
    passed = {
        n: union([t.points for t in wiring.transfers if t.variable == n])
        for n in {t.variable for t in wiring.transfers}
    }
    steps = {t.variable: wiring.space.distance(t.reference) for t in wiring.transfers if t.variable == t.reference.name}
    return replace(
        wiring, reads=[[_unified_uses(wiring, uses, passed, steps) for uses in reads] for reads in wiring.reads]
    )


def _unified_uses(
    wiring: Wiring, uses: list[Use], passed: Mapping[str, isl.Set], steps: Mapping[str, Vector]
) -> list[Use]:
    def at_common_distance(use: Use) -> Use:
        points, reference = use
        for _, other in uses:
            if other != reference and other.name == reference.name and reference.name in steps:
                here, there = wiring.space.distance(reference), wiring.space.distance(other)
                gap = tuple(a - b for a, b in zip(here, there, strict=True))
                ends = [wiring.space.shift(points, tuple(-n for n in d)) for d in (here, there)]
                if gap in (steps[other.name], tuple(-n for n in steps[other.name])) and all(
                    e.is_subset(passed[other.name]) for e in ends
                ):
                    return points, other
        return use

    return merge_uses([at_common_distance(use) for use in uses])


def relay(wiring: Wiring, order: Order, fresh: Callable[[str], str]) -> Wiring:
    """Hand on, by unit steps, the values of variables that are read at many distances, while the phase has too many."""
    distances = _distances(wiring)
    crossings = {name: sum(_crossings(d, order) for d in found) for name, found in distances.items()}
    for name in sorted(crossings, key=lambda n: (-crossings[n], n)):
        # Each relay costs a move operation per iteration, so relaying stops as soon as channels suffice.
        if sum(crossings.values()) <= CROSSINGS or crossings[name] < MANY:
            break
        parents = _parents(distances[name], order)
        if parents:
            wiring = _with_relays(wiring, name, distances[name], parents, fresh)
            crossings[name] = len(distances[name])
    return wiring


def _distances(wiring: Wiring) -> dict[str, set[Vector]]:
    found: dict[str, set[Vector]] = {}
    for reference in wiring.references():
        if wiring.is_variable(reference):
            found.setdefault(reference.name, set()).add(wiring.space.distance(reference))
    return found


def _crossings(distance: Vector, order: Order) -> int:
    """Pairs of a tile and a neighbour that a distance may cross in, for all dimensions but the outermost."""
    # Every nonzero component may or may not cross; all but none of them cross.
    return 2 ** sum(bool(distance[n]) for n, _ in order[1:]) - 1


def _parents(distances: set[Vector], order: Order) -> dict[Vector, tuple[Vector, Vector]]:
    """For a distance that is no unit step itself, but another one and a unit step: that one and the step."""
    # Not along the outermost dimension: no scan order allocates it together with all others, and a step there takes a
    # whole tile.
    units = [tuple(sign * (n == m) for m in range(len(order))) for n, sign in order[1:]]
    parents: dict[Vector, tuple[Vector, Vector]] = {}
    for d in sorted(d for d in distances if _crossings(d, order) > 1 or any(abs(d[n]) > 1 for n, _ in order[1:])):
        for unit in units:
            parent = tuple(a - b for a, b in zip(d, unit, strict=True))
            if parent in distances and positive(parent, order):
                parents[d] = parent, unit
                break
    return parents


def _with_relays(
    wiring: Wiring,
    name: str,
    distances: set[Vector],
    parents: dict[Vector, tuple[Vector, Vector]],
    fresh: Callable[[str], str],
) -> Wiring:
    """Distances with children get variables of their own; their children read them one step away."""
    relays = {parent: "" for parent, _ in parents.values()}
    relays = {d: fresh(name) for d in sorted(relays)}
    demands: dict[Vector, isl.Set] = {}

    def demand(points: isl.Set, distance: Vector) -> Reference:
        """Where `name` at `distance` is found on `points`, which is noted."""
        if distance in relays:
            demands[distance] = demands[distance].union(points) if distance in demands else points
            return wiring.space.reference(relays[distance])
        if distance in parents:
            parent, unit = parents[distance]
            back = tuple(-u for u in unit)
            found = demand(wiring.space.shift(points, back), parent)
            return wiring.space.reference(
                found.name, tuple(a + b for a, b in zip(wiring.space.distance(found), unit, strict=True))
            )
        return wiring.space.reference(name, distance)

    def use(points: isl.Set, reference: Reference) -> Reference:
        return demand(points, wiring.space.distance(reference)) if reference.name == name else reference

    reads = [[[(p, use(p, r)) for p, r in uses] for uses in reads] for reads in wiring.reads]
    transfers = [replace(t, reference=use(t.points, t.reference)) for t in wiring.transfers if t.variable != name]
    transfers += [t for t in wiring.transfers if t.variable == name]
    sources: dict[Vector, tuple[Reference, Vector | None]] = {}
    # Children before their parents, because a child's demand adds to what the parent must be defined on.
    for distance in sorted(relays, reverse=True, key=lambda d: _depth(d, parents)):
        if distance in demands:
            parent, unit = parents.get(distance, (None, distance))
            if parent is not None:
                demand(wiring.space.shift(demands[distance], tuple(-u for u in unit)), parent)
            sources[distance] = wiring.space.reference(relays[parent] if parent else name, unit), parent
    known: dict[Vector | None, isl.Set] = {
        None: union(
            [t.points for t in wiring.transfers if t.variable == name]
            + [p for n, p in wiring.defined.items() if n == name]
        )
    }
    made: list[Transfer] = []
    for distance, (reference, parent) in reversed(sources.items()):
        points, box = demands[distance].coalesce(), wiring.space.box(demands[distance])
        back = tuple(-d for d in wiring.space.distance(reference))
        known[distance] = box if box is not None and wiring.space.shift(box, back).is_subset(known[parent]) else points
        made.append(Transfer(relays[distance], known[distance], reference))
    return replace(wiring, reads=reads, transfers=[*transfers, *made])


def _depth(distance: Vector, parents: dict[Vector, tuple[Vector, Vector]]) -> int:
    return 1 + _depth(parents[distance][0], parents) if distance in parents else 0


def merge_uses(uses: list[Use]) -> list[Use]:
    """One use for each reference."""
    found: dict[Reference, Use] = {}
    for points, reference in uses:
        found[reference] = (
            (found[reference][0].union(points).coalesce(), reference) if reference in found else (points, reference)
        )
    return list(found.values())

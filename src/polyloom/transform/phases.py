# SPDX-License-Identifier: Apache-2.0
"""From a system of recurrence equations to a plan: one space where that works, else phases one after another.

A system that cannot be embedded as a whole is cut into the strongly connected components of its statements (loop distribution:
Kennedy, McKinley, 1990), which are joined again, in topological order, as long as the joined statements find a common space.
Values that cross from phase to phase are kept in arrays: in the output whose last value they are, or in an intermediate one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import islpy as isl

from polyloom.analysis.components import components
from polyloom.diagnostics import PolyloomError, input_error
from polyloom.ir.nest import Apply, Expression, Nest, Storage
from polyloom.ir.pla import Array
from polyloom.ir.plan import Phase, Plan
from polyloom.ir.recurrence import Final, Origin, Piece, Produced, Recurrence, Stored, System
from polyloom.sets import Affine
from polyloom.sets.isl import from_set
from polyloom.transform.assemble import NoCorner, NoOrder, Ports, assemble
from polyloom.transform.carry import NotUniform
from polyloom.transform.delay import delayed
from polyloom.transform.embed import Placements, dependences, embed
from polyloom.transform.refusal import refusal
from polyloom.transform.space import Space

Group = list[Recurrence]
SLOW = frozenset({"div", "rem", "floordiv", "mod", "sqrt"})
"""Operations that take many cycles on most machines, often without pipelining."""


def make_plan(nest: Nest, system: System) -> Plan:
    """The plan of `system`, which is the dataflow of `nest`; raises PL0261 to PL0264 for what cannot be made uniform."""
    groups = _groups(system)
    system, copies = delayed(system, [g for g, _ in groups])
    groups += [([copy], _placed_alone(system, copy)) for copy in copies]
    crossing = _crossing(nest, system, [[e.name for e in g] for g, _ in groups])
    arrays = {s.name: _array(s) for s in system.storage} | {a.name: a for a in crossing.intermediates}
    phases: list[Phase] = []
    for number, (group, placements) in enumerate(groups, 1):
        names = {e.name for e in group}
        exports = tuple(f for f in (*system.finals, *crossing.exports) if f.statement in names)
        earlier = {n: where for n, where in crossing.where.items() if n not in names}
        name = system.name if len(groups) == 1 else f"{system.name}.{number}"
        phases.append(assemble(system, name, group, placements, Ports(earlier, exports, arrays)))
    written = {f.name for f in system.finals}
    given = {p.origin.name for e in system.equations for r in e.reads for p in r if isinstance(p.origin, Stored)}
    inputs = tuple(_array(s) for s in system.storage if s.name in given or (s.name in written and not _is_overwritten(system, s)))
    outputs = tuple(_array(s) for s in system.storage if s.name in written)
    return Plan(system.name, system.parameters, system.assumptions, inputs, outputs, crossing.intermediates, tuple(phases))


def _is_overwritten(system: System, storage: Storage) -> bool:
    """Whether every element gets a new value, whatever the parameters, so that what it held at entry never shows."""
    cells = tuple(f"e{n}" for n in range(len(storage.shape)))
    space = Space(cells, system.parameters, system.assumptions)
    rest = space.where(*(bound for here, extent in zip(space.here, storage.shape, strict=True) for bound in (here, extent - here - 1)))
    for final in (f for f in system.finals if f.name == storage.name):
        own = _own(system, system[final.statement])
        rest = rest.subtract(own.image(own.set(final.domain), final.index, cells))
    return rest.is_empty()


def _array(storage: Storage) -> Array:
    return Array(storage.name, storage.dtype, storage.shape, storage.span)


def _groups(system: System) -> list[tuple[Group, Placements]]:
    """Statements that share a space, in an order in which values only flow forward.

    Shallow components first look for a group to live in, the nearest one first: a separate phase for them costs most."""
    groups = _Groups(system)
    everything = tuple(range(len(system.equations)))
    whole = groups.placements(everything)
    if whole is not None:
        return [(list(system.equations), whole)]
    for unit in sorted(groups.units(), key=lambda u: max(len(e.loops) for e in u)):
        groups.join(unit)
    return groups.ordered()


class _Groups:
    """A partition of the statements, coarser and coarser; `found` remembers which groups have a space."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.position = {e.name: n for n, e in enumerate(system.equations)}
        self.flow = {(self.position[d.writer], self.position[d.reader]) for d in dependences(system.equations)}
        self.found: dict[tuple[int, ...], Placements | None] = {}
        self.strong = self._components({n: [w for w, r in self.flow if r == n] for n in range(len(system.equations))})
        self.groups = list(self.strong)

    def units(self) -> list[Group]:
        return [self._members(g) for g in self.groups]

    def join(self, unit: Group) -> None:
        """Merge the group of `unit` with the nearest related one with which it has a common space, if there is one."""
        own = next(g for g in self.groups if self.position[unit[0].name] in g)
        near = sorted((g for g in self.groups if g != own and _related(self._members(g), self._members(own))), key=lambda g: self._gap(own, g))
        for other in near:
            joined = tuple(sorted(own + other))
            rest = [g for g in self.groups if g not in (own, other)]
            if self._acyclic([*rest, joined]) and self.placements(joined) is not None:
                self.groups = sorted([*rest, joined])
                return

    def placements(self, group: tuple[int, ...]) -> Placements | None:
        if group not in self.found:
            with suppress(NoCorner):
                self.found[group] = None
                self.found[group] = None if self._slowed(group) else _placed(self.system, self._members(group))
        return self.found[group]

    def _slowed(self, group: tuple[int, ...]) -> bool:
        """Whether a slow operation of a shallow statement would bound the initiation interval of deeper ones, without need."""
        depth = max(len(self.system.equations[n].loops) for n in group)
        inside = [unit for unit in self.strong if set(unit) <= set(group)]
        return any(
            any(_is_slow(self.system.equations[n].value) for n in unit) and max(len(self.system.equations[n].loops) for n in unit) < depth for unit in inside
        )

    def ordered(self) -> list[tuple[Group, Placements]]:
        """The groups, producers first, in the order of the text where there is a choice."""
        waiting, done = list(self.groups), set[int]()
        made: list[tuple[Group, Placements]] = []
        while waiting:
            pick = next(g for g in waiting if all(w in done or w in g for w, r in self.flow if r in g))
            waiting.remove(pick)
            done.update(pick)
            placements = self.placements(pick)
            if placements is None:
                raise _refusal(self.system, self._members(pick))
            made.append((self._members(pick), placements))
        return made

    def _members(self, group: tuple[int, ...]) -> Group:
        return [self.system.equations[n] for n in group]

    def _gap(self, a: tuple[int, ...], b: tuple[int, ...]) -> int:
        return min(abs(m - n) for m in a for n in b)

    def _acyclic(self, groups: list[tuple[int, ...]]) -> bool:
        of = {n: g for g, members in enumerate(groups) for n in members}
        return len(self._components({g: [of[w] for w, r in self.flow if of[r] == g] for g in range(len(groups))})) == len(groups)

    def _components(self, feeds: dict[int, list[int]]) -> list[tuple[int, ...]]:
        return sorted(tuple(sorted(c)) for c in components(feeds))


def _is_slow(value: Expression) -> bool:
    return isinstance(value, Apply) and (value.operation in SLOW or any(map(_is_slow, value.operands)))


def _related(group: Group, unit: Group) -> bool:
    """Whether `unit` reads what `group` computes, or both read one array, or both write one."""
    names = {e.name for e in group}
    return any(isinstance(o, Produced) and o.statement in names for o in _origins(unit)) or any(f(group) & f(unit) for f in (_stored, _written))


def _stored(group: Group) -> set[str]:
    return {o.name for o in _origins(group) if isinstance(o, Stored) and o.index}


def _written(group: Group) -> set[str]:
    return {e.statement.assign.target.name for e in group}


def _origins(group: Group) -> list[Origin]:
    return [p.origin for e in group for r in e.reads for p in r]


def _refusal(system: System, group: Group) -> PolyloomError:
    try:
        _placed(system, group)
    except NoCorner as error:
        message = f"`{error.index.value}` is used as data, but in the first iteration that needs it, it is not affine in the parameters"
        help = "begin the loop at a sum of sizes times integers, or pass an array that holds the values"
        return input_error("PL0263", message, span=group[0].span, help=help)
    return refusal(system, group)


def _placed(system: System, group: Group) -> Placements | None:
    """The cheapest placements that give a whole phase; every other value is taken to be in an array. Raises NoCorner if only that fails."""
    uncounted: list[NoCorner] = []
    names = {e.name for e in group}
    outside = {e.name: (e.statement.assign.target.name, e.statement.assign.target.index) for e in system.equations if e.name not in names}
    arrays = {n: Array(n, e.dtype) for e in system.equations for n in [e.statement.assign.target.name]} | {s.name: _array(s) for s in system.storage}
    exports = tuple(Final(e.statement.assign.target.name, (), e.name, e.domain) for e in group)
    for _, placements in embed(system, group):
        try:
            phase = assemble(system, system.name, group, placements, Ports(outside, exports, arrays))
        except NoCorner as error:
            uncounted.append(error)
            continue
        except (NotUniform, NoOrder, PolyloomError):
            continue
        if _is_bounded(system, phase):
            return placements
    if uncounted:
        raise uncounted[0]
    return None


def _placed_alone(system: System, equation: Recurrence) -> Placements:
    placements = _placed(system, [equation])
    if placements is None:
        raise _refusal(system, [equation])
    return placements


def _is_bounded(system: System, phase: Phase) -> bool:
    space = Space(phase.program.dimensions, system.parameters, system.assumptions)
    points = space.set(phase.program.space)
    return len(phase.program.space.pieces) == 1 and all(points.dim_is_bounded(isl.dim_type.set, n) for n in range(len(space.dims)))


@dataclass(frozen=True, slots=True)
class _Crossing:
    """`where` a statement's values are found in later phases, what must be written for that, and the arrays made for it."""

    where: dict[str, tuple[str, tuple[Affine, ...]]]
    exports: tuple[Final, ...]
    intermediates: tuple[Array, ...]


def _crossing(nest: Nest, system: System, groups: Sequence[Sequence[str]]) -> _Crossing:
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
    return _Crossing(where, tuple(exports), tuple(a for a, _ in made.values()))


def _own(system: System, equation: Recurrence) -> Space:
    return Space(equation.loops, system.parameters, system.assumptions)


def _read_instances(system: System, reader: Recurrence, piece: Piece, origin: Produced) -> isl.Set:
    own = _own(system, reader)
    return own.image(own.set(piece.domain), origin.index, system[origin.statement].loops)


def _final(system: System, name: str, points: isl.Set, phase_of: Mapping[str, int]) -> Final | None:
    """The output that holds all those values at the end anyway, unless a later phase reads what it held at entry."""
    later = [e for e in system.equations if phase_of[e.name] > phase_of[name]]
    read = {o.name for o in _origins(later) if isinstance(o, Stored)}
    own = _own(system, system[name])
    return next((f for f in system.finals if f.statement == name and f.name not in read and points.is_subset(own.set(f.domain))), None)


def _intermediate(nest: Nest, system: System, equation: Recurrence, points: isl.Set, made: dict[str, tuple[Array, isl.Set]]) -> tuple[str, tuple[Affine, ...]]:
    """An array for the values of `equation` at `points`: shaped like the one it writes, where each element is written once."""
    target = equation.statement.assign.target
    own, storage = _own(system, equation), nest[target.name]
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

# SPDX-License-Identifier: Apache-2.0
"""From a system of recurrence equations to a plan: one space where that works, else phases one after another.

A system that cannot be embedded as a whole is cut into the strongly connected components of its statements (loop
distribution: Kennedy, McKinley, 1990), which are joined again, in topological order, as long as the joined statements
find a common space.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import permutations

import islpy as isl

from polyloom.analysis.components import components
from polyloom.diagnostics import PolyloomError, input_error
from polyloom.ir.nest import Apply, Expression, Nest, Storage
from polyloom.ir.operations import FLOATS
from polyloom.ir.pla import Array
from polyloom.ir.plan import Phase, Plan
from polyloom.ir.recurrence import Final, Produced, Recurrence, Stored, System, origins
from polyloom.names import hidden_dims
from polyloom.transform.assemble import NoCorner, NoOrder, Ports, assemble
from polyloom.transform.carry import NotUniform
from polyloom.transform.delay import delay_writes
from polyloom.transform.embed import Placements, dependences, dimensions, embed
from polyloom.transform.instant import has_zero_circuit
from polyloom.transform.phase_communication import cell, cross, imported_instances, unkept
from polyloom.transform.refusal import refusal
from polyloom.transform.space import Point, Space, iteration_space
from polyloom.transform.statement_union import unite_statements

Group = list[Recurrence]
SLOW = frozenset({"div", "rem", "floordiv", "mod", "sqrt"})
"""Operations that take many cycles on most machines, often without pipelining."""


def make_plan(nest: Nest, system: System) -> Plan:
    """Plan of `system`, the dataflow of `nest`: one space, or phases by loop distribution and fusion (Kennedy, McKinley
    1990). Raises PL0261 to PL0264 for what cannot be made uniform.
    """
    fewer = unite_statements(system)
    if fewer is not system:
        with suppress(PolyloomError):
            made = _distribute(nest, fewer)
            if len(made.phases) == 1:
                return made
    return _distribute(nest, system)


def _distribute(nest: Nest, system: System) -> Plan:
    groups = _groups(system)
    # Values of an earlier phase are read from arrays. An array that is overwritten in between needs a copy, which is a
    # phase.
    system, copies = delay_writes(system, [g for g, _ in groups])
    groups += [([copy], _single_placement(system, copy)) for copy in copies]
    crossing = cross(nest, system, [[e.name for e in g] for g, _ in groups])
    arrays = {s.name: _array(s) for s in system.storage} | {a.name: a for a in crossing.intermediates}
    phases: list[Phase] = []
    for number, (group, placements) in enumerate(groups, 1):
        names = {e.name for e in group}
        exports = tuple(f for f in (*system.finals, *crossing.exports) if f.statement in names)
        earlier = {n: where for n, where in crossing.where.items() if n not in names}
        name = system.name if len(groups) == 1 else f"{system.name}.{number}"
        try:
            phases.append(assemble(system, name, group, placements, Ports(earlier, exports, arrays)))
        # A group was found feasible with every outer value in an array of its own; where the crossing keeps it
        # elsewhere, that may not hold.
        except (NotUniform, NoOrder):  # other readers have changed where a value is kept
            raise unkept(system[next(iter(imported_instances(system, group)))]) from None
    written = {f.name for f in system.finals}
    at_entry = arguments_of_system(system)
    inputs = tuple(_array(s) for s in system.storage if s.name in at_entry)
    outputs = tuple(_array(s) for s in system.storage if s.name in written)
    return Plan(
        system.name, system.parameters, system.assumptions, inputs, outputs, crossing.intermediates, tuple(phases)
    )


def arguments_of_system(system: System) -> frozenset[str]:
    """Upward exposed arguments of a system: those whose elements at entry show, for some values of the parameters: they
    are read, or not all of them overwritten."""
    read = {o.name for o in origins(system.equations) if isinstance(o, Stored)}
    written = {f.name for f in system.finals}
    return frozenset(
        s.name for s in system.storage if s.name in read or (s.name in written and not _is_overwritten(system, s))
    )


def _is_overwritten(system: System, storage: Storage) -> bool:
    """Whether every element gets a new value, whatever the parameters, so that what it held at entry never shows."""
    cells = hidden_dims(len(storage.shape))
    space = Space(cells, system.parameters, system.assumptions)
    rest = space.solutions(
        *(
            bound
            for here, extent in zip(space.point_symbols, storage.shape, strict=True)
            for bound in (here, extent - here - 1)
        )
    )
    for final in (f for f in system.finals if f.name == storage.name):
        own = iteration_space(system, system[final.statement])
        rest = rest.subtract(own.image(own.set(final.domain), final.index, cells))
    return rest.is_empty()


def _array(storage: Storage) -> Array:
    return Array(storage.name, storage.dtype, storage.shape, storage.span)


def _groups(system: System) -> list[tuple[Group, Placements]]:
    """Statements that share a space, in an order in which values only flow forward.

    Shallow components first look for a group to live in, the nearest one first: a separate phase for them costs
    most."""
    if not system.equations:  # a part of a nest, whose results no other part reads
        return []
    groups = _Groups(system)
    everything = tuple(range(len(system.equations)))
    whole = groups.placements(everything)
    if whole is not None:
        return [(list(system.equations), whole)]
    # Shallow units first: alone they would be phases that keep the array busy for few iterations.
    for unit in sorted(groups.units(), key=lambda u: max(len(e.loops) for e in u)):
        groups.join(unit)
    return groups.topological_order()


class _Groups:
    """Fusion partition of the statements, coarser and coarser; `found` remembers which groups have a space."""

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
        # Nearest in the text first: values then live for the fewest phases.
        near = sorted(
            (g for g in self.groups if g != own and _share_data(self._members(g), self._members(own))),
            key=lambda g: self._gap(own, g),
        )
        for other in near:
            joined = tuple(sorted(own + other))
            rest = [g for g in self.groups if g not in (own, other)]
            # Kennedy and McKinley: fusion is legal as long as the condensed graph of groups stays acyclic.
            if self._acyclic([*rest, joined]) and self.placements(joined) is not None:
                self.groups = sorted([*rest, joined])
                return

    def placements(self, group: tuple[int, ...]) -> Placements | None:
        if group not in self.found:
            # None is stored first, so that a failure is remembered as well: embedding is the most expensive question of
            # the plan.
            with suppress(NoCorner, PolyloomError):
                self.found[group] = None
                found = (
                    None
                    if self._bounded_by_slow_operation(group)
                    else _cheapest_placements(self.system, self._members(group))
                )
                self.found[group] = None if found and self._contend(group, found) else found
        return self.found[group]

    def _contend(self, group: tuple[int, ...], placements: Placements) -> bool:
        """Whether independent components accumulate f32 along all dimensions, each along some. Whichever were the
        innermost one, every iteration would wait for the sum of the one before; in phases of their own none does."""
        every = {*range(len(dimensions(self.system, self._members(group))))}
        along = {
            unit: dims
            for unit in self.strong
            if set(unit) <= set(group) and (dims := _reduction_dimensions(self._members(unit), placements))
        }
        # Each alone leaves some dimension free of its sum, in which iterations can overlap; all of them leave none.
        contend = set[int]().union(*along.values()) == every and every not in along.values()
        # Where one feeds the other they wait for each other anyway.
        return contend and not any(set(b) & self._transitive_readers(a) for a, b in permutations(along, 2))

    def _transitive_readers(self, unit: tuple[int, ...]) -> set[int]:
        """The statements that need what `unit` computes, be it through others."""
        fed = set(unit)
        while more := {r for w, r in self.flow if w in fed} - fed:
            fed |= more
        return fed

    def _bounded_by_slow_operation(self, group: tuple[int, ...]) -> bool:
        """Whether a shallow statement's slow operation would bound deeper ones' initiation interval, without need; or
        the statement is of the loop body of a slow one that needs it, which stays whole."""
        depth = max(len(self.system.equations[n].loops) for n in group)
        inside = [unit for unit in self.strong if set(unit) <= set(group)]
        return any(
            any(self._is_slow(n) or self._feeds_slow(n) for n in unit)
            and max(len(self.system.equations[n].loops) for n in unit) < depth
            for unit in inside
        )

    def _is_slow(self, statement: int) -> bool:
        return _is_slow(self.system.equations[statement].value)

    def _feeds_slow(self, statement: int) -> bool:
        """Whether a slow statement of the same loop body needs what this one computes, such as a part of `exp`."""
        one = self.system.equations[statement]
        body = {n for n, e in enumerate(self.system.equations) if e.loops == one.loops}
        fed = {statement}
        while more := {r for w, r in self.flow if w in fed and r in body} - fed:
            fed |= more
        return isinstance(one.value, Apply) and any(map(self._is_slow, fed))

    def topological_order(self) -> list[tuple[Group, Placements]]:
        """The groups, producers first, in the order of the text where there is a choice."""
        waiting, done = list(self.groups), set[int]()
        made: list[tuple[Group, Placements]] = []
        while waiting:
            # Acyclic groups always leave one whose producers are done.
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
        # As many components as groups: no component has two.
        of = {n: g for g, members in enumerate(groups) for n in members}
        return len(
            self._components({g: [of[w] for w, r in self.flow if of[r] == g] for g in range(len(groups))})
        ) == len(groups)

    def _components(self, feeds: dict[int, list[int]]) -> list[tuple[int, ...]]:
        return sorted(tuple(sorted(c)) for c in components(feeds))


def _reduction_dimensions(unit: Group, placements: Placements) -> set[int]:
    """The dimensions along which floats of `unit` are computed from those of the iteration before."""
    found: set[int] = set()
    for d in dependences([e for e in unit if e.dtype in FLOATS]):
        reader, writer = placements[d.reader], placements[d.writer]
        index = dict(zip(writer.loops, d.index, strict=True))
        apart = [
            n
            for n, (here, there) in enumerate(zip(reader.at, writer.at, strict=True))
            if here != there.substitute(index)
        ]
        found |= set(apart) if len(apart) == 1 else set()
    return found


def _is_slow(value: Expression) -> bool:
    return isinstance(value, Apply) and (value.operation in SLOW or any(map(_is_slow, value.operands)))


def _share_data(group: Group, unit: Group) -> bool:
    """Whether `unit` reads what `group` computes, or both read one array, or both write one."""
    names = {e.name for e in group}
    return any(isinstance(o, Produced) and o.statement in names for o in origins(unit)) or any(
        f(group) & f(unit) for f in (_read_arrays, _written_arrays)
    )


def _read_arrays(group: Group) -> set[str]:
    return {o.name for o in origins(group) if isinstance(o, Stored) and o.index}


def _written_arrays(group: Group) -> set[str]:
    return {e.statement.assign.target.name for e in group}


def _refusal(system: System, group: Group) -> PolyloomError:
    try:
        _cheapest_placements(system, group)
    except NoCorner as error:
        message = (
            f"`{error.index.value}` is used as data, but in the first iteration that needs it, it is not affine "
            "in the parameters"
        )
        help = "begin the loop at a sum of sizes times integers, or pass an array that holds the values"
        return input_error("PL0263", message, span=group[0].span, help=help)
    return refusal(system, group)


def _cheapest_placements(system: System, group: Group) -> Placements | None:
    """The cheapest placements that give a whole phase; every other value is taken to be in an array. Raises NoCorner if
    only that fails, and PL0264."""
    uncounted: list[NoCorner] = []
    arrays = {n: Array(n, e.dtype) for e in system.equations for n in [e.statement.assign.target.name]} | {
        s.name: _array(s) for s in system.storage
    }
    outside: dict[str, tuple[str, Point]] = {}
    for name, points in imported_instances(system, group).items():
        array, index = _external_array(system[name], *cell(system, system[name], points))
        outside[name] = array.name, index
        arrays.setdefault(array.name, array)
    exports = tuple(Final(e.statement.assign.target.name, (), e.name, e.domain) for e in group)
    for _, placements in embed(system, group):
        try:
            phase = assemble(system, system.name, group, placements, Ports(outside, exports, arrays))
        except NoCorner as error:
            uncounted.append(error)
            continue
        except (NotUniform, NoOrder, PolyloomError):
            continue
        if _has_bounded_space(system, phase) and not has_zero_circuit(phase.program):
            return placements
    if uncounted:
        raise uncounted[0]
    return None


def _external_array(equation: Recurrence, index: Point, shape: Point | None) -> tuple[Array, Point]:
    """An array for another phase's values: the one they are assigned to, or one with an element for each of them."""
    name = equation.statement.assign.target.name
    return (
        Array(name, equation.dtype) if shape is None else Array(f"{name} of {equation.name}", equation.dtype, shape)
    ), index


def _single_placement(system: System, equation: Recurrence) -> Placements:
    placements = _cheapest_placements(system, [equation])
    if placements is None:
        raise _refusal(system, [equation])
    return placements


def _has_bounded_space(system: System, phase: Phase) -> bool:
    space = Space(phase.program.dimensions, system.parameters, system.assumptions)
    points = space.set(phase.program.space)
    return len(phase.program.space.pieces) == 1 and all(
        points.dim_is_bounded(isl.dim_type.set, n) for n in range(len(space.dims))
    )

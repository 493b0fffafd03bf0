# SPDX-License-Identifier: Apache-2.0
"""Dataflow graph of a phase: its variables in an order in which values flow forward, and the two phases that a cut
through it makes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import islpy as isl

from polyloom.analysis.components import components
from polyloom.diagnostics import PolyloomError
from polyloom.ir import pla_verify
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Array, Equation, Reference
from polyloom.ir.plan import Phase
from polyloom.names import fresh_name
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.bounds import dimension_bounds
from polyloom.sets.isl import parameter_set, to_set

CHEAP: Final = 4
"""Operations other than copies that are computed twice rather than kept in an array."""
LONGER: Final = 2
"""So many times the operations of all other iterations make one a phase of its own."""
MORE: Final = 8
"""By how much an array may be longer than what it holds."""
Halves = tuple[Phase, Phase, tuple[Array, ...]]
"""Two phases, and the arrays between them."""


class Flow:
    """Dataflow graph: the nodes of a phase, in an order in which values flow forward: variables, with all of their
    equations, and equations that write outputs.
    """

    def __init__(self, phase: Phase, cheap: int, is_late: bool) -> None:
        self.phase, self.program, self.cheap = phase, phase.program, cheap
        self.variables: dict[str, ElementType] = {v.name: v.dtype for v in self.program.variables}
        self.nodes: dict[str, list[Equation]] = {}
        for e in self.program.equations:
            # A blank, so that the equation of an output is no variable of that name.
            self.nodes.setdefault(e.target.name if e.target.name in self.variables else f" {e.name}", []).append(e)
        self.reads = {n: self._read(equations) for n, equations in self.nodes.items()}
        self.sinks = [n for n in self.nodes if n not in self.variables]
        inputs, outputs = dict(phase.inputs), dict(phase.outputs)
        inside = set(inputs.values())
        self.late = {n for n in self.sinks if outputs[self.nodes[n][0].target.name] in inside}
        self.group, self.cyclic = self._find_components()
        self.order = self._topological_order(is_late)

    def cuts(self, counters: frozenset[str]) -> list[frozenset[str]]:
        """Cut sets: the nodes of the first half, for each place to cut at: those where the least has to be kept come
        first.
        """
        found: list[tuple[int, int, int]] = []
        size, total = 0, len(self.program.equations)
        for place, members in enumerate(self.order[:-1], 1):
            size += sum(len(self.nodes[n]) for n in members)
            first = self._prefix_nodes(place)
            kept = self.kept(first)
            useful = bool(kept) or any(n in self.sinks for n in first)
            # A part of less than a sixth would hardly relieve the other one, and each part costs a run of the array.
            if 6 * size < total or 6 * size > 5 * total or self._overwrites(first) or not useful:
                continue
            if self._can_keep(kept, counters):
                found.append((len(kept), abs(2 * size - total), place))
        return [self._prefix_nodes(place) for _, _, place in sorted(found)]

    def once(self, counters: frozenset[str]) -> frozenset[str]:
        """Nodes of a single iteration that need no others, if they compute more than all others do; else none."""
        first: set[str] = set()
        for name in (n for members in self.order for n in members):
            # Producers come first in `order`, so one pass finds the closure.
            if name in self.variables and first.issuperset(self.reads[name]) and self._is_single(name):
                first.add(name)
        work = {n for n, equations in self.nodes.items() if any(e.operation != "move" for e in equations)}
        kept = self.kept(frozenset(first))
        useful = len(work & first) > max(CHEAP, len(work - first) * LONGER) and self._can_keep(kept, counters)
        return frozenset(first) if work - first and useful else frozenset()

    def split_phase(self, first: frozenset[str], taken: set[str]) -> Halves:
        """Two phases, of the nodes in `first` and of the others, and the arrays between them."""
        arrays: dict[str, Array] = {}
        taken |= {*self.variables, *(a.name for a in (*self.program.inputs, *self.program.outputs))}
        for name in self.kept(first):
            array = self._array(name, fresh_name(f"{name.replace('.', '_')}_kept", taken))
            assert array is not None
            taken.add(array.name)
            arrays[name] = array
        kept = tuple(arrays.values())
        sent = [self._export(name, array) for name, array in arrays.items()]
        received = [self._import(name, array) for name, array in arrays.items()]
        wanted = [n for n in self.sinks if n in first]
        # Closures, not `first` itself: what the kept arrays make unnecessary is dropped from both halves.
        before = self._closure([*wanted, *arrays], frozenset())
        after = self._closure([n for n in self.sinks if n not in first], frozenset(arrays))
        return (
            self._phase(1, [*self._equations(before), *sent], (), kept),
            self._phase(2, [*received, *self._equations(after)], kept, ()),
            kept,
        )

    def _overwrites(self, first: frozenset[str]) -> bool:
        """Anti-dependence through a bank: whether the first half writes an array that the other one reads from the
        banks.
        """
        inputs, outputs = dict(self.phase.inputs), dict(self.phase.outputs)
        written = {outputs[self.nodes[n][0].target.name] for n in first & self.late}
        after = self._closure([n for n in self.sinks if n not in first], frozenset(self.kept(first))) if written else ()
        operands = (o for n in after for e in self.nodes[n] for o in e.operands if isinstance(o, Reference))
        return any(inputs[o.name] in written for o in operands if o.name in inputs)

    def _can_keep(self, names: Sequence[str], counters: frozenset[str]) -> bool:
        return all((array := self._array(name, name)) and not _symbols(array) & counters for name in names)

    def _is_single(self, variable: str) -> bool:
        """Whether the variable has one value at most."""
        points = to_set(self._domain(variable), self.program.dimensions, self.program.parameters)
        return bool(
            points.intersect_params(parameter_set(self.program.assumptions, self.program.parameters)).is_singleton()
        )

    def kept(self, first: frozenset[str]) -> list[str]:
        """Live-out variables of the first half: those that the other half needs and does not compute again, in order
        (rematerialization of cheap ones as in Briggs, Cooper and Torczon 1992).
        """
        found: set[str] = set()
        waiting = [n for n in self.nodes if n not in first]
        seen = set(waiting)
        while waiting:
            for name in self.reads[waiting.pop()]:
                if name in first and not self._is_cheap(name):
                    found.add(name)
                elif name not in seen:
                    seen.add(name)
                    waiting.append(name)
        return [n for n in self.nodes if n in found]

    def _is_cheap(self, name: str) -> bool:
        closure = self._closure([name], frozenset())
        costly = [n for n in closure if any(e.operation != "move" for e in self.nodes[n])]
        # A recurrence cannot be computed again for single iterations: it would repeat all iterations before them.
        return len(costly) <= self.cheap and not any(n in self.cyclic for n in costly)

    def _closure(self, names: Sequence[str], given: frozenset[str]) -> set[str]:
        """Backward slice (Weiser 1981): the nodes that compute `names`, where `given` are known."""
        found = set(names) - given
        waiting = list(found)
        while waiting:
            for name in self.reads[waiting.pop()]:
                if name not in found and name not in given:
                    found.add(name)
                    waiting.append(name)
        return found

    def _prefix_nodes(self, place: int) -> frozenset[str]:
        return frozenset(n for members in self.order[:place] for n in members)

    def _read(self, equations: list[Equation]) -> list[str]:
        operands = (o for e in equations for o in e.operands if isinstance(o, Reference))
        return list(dict.fromkeys(o.name for o in operands if o.name in self.variables))

    def _find_components(self) -> tuple[dict[str, tuple[str, ...]], set[str]]:
        """Strongly connected component of every node, and the nodes that are recurrences (in a component of several, or
        reading themselves).
        """
        number = {n: k for k, n in enumerate(self.nodes)}
        names = list(self.nodes)
        group = {
            names[k]: tuple(names[m] for m in sorted(members))
            for members in components({number[n]: [number[r] for r in self.reads[n]] for n in self.nodes})
            for k in members
        }
        return group, {n for n in self.nodes if len(group[n]) > 1 or n in self.reads[n]}

    def _topological_order(self, is_late: bool) -> list[tuple[str, ...]]:
        """Topological order of components, producers first, what one output needs together; if `is_late`, outputs that
        are inputs, too, come last.
        """
        found: dict[tuple[str, ...], None] = {}
        waiting: list[tuple[tuple[str, ...], Iterator[str]]] = []
        entered: set[tuple[str, ...]] = set()
        for sink in sorted(self.sinks, key=lambda n: is_late and n in self.late):
            waiting.append((self.group[sink], iter(self.reads[sink])))
            while waiting:
                members, rest = waiting[-1]
                below = next((self.group[n] for n in rest if self.group[n] not in entered), None)
                if below is None:
                    found[members] = None
                    waiting.pop()
                else:
                    entered.add(below)
                    waiting.append((below, iter([r for n in below for r in self.reads[n]])))
        return list(found)

    def _array(self, variable: str, name: str) -> Array | None:
        """Buffer of a variable: an element for each iteration in which it has a value; None where these have no affine
        bounds.
        """
        bounds = [self._bounds(variable, d) for d in self.program.dimensions]
        # A dimension in which the variable has one point only would add an extent of 1: it is left out.
        spans = [upper - lower + 1 for b in bounds if b is not None for lower, upper in [b] if lower != upper]
        shape = tuple(extent for span in spans if (extent := self._extent(span)) is not None)
        return Array(name, self.variables[variable], shape) if None not in bounds and len(shape) == len(spans) else None

    def _bounds(self, variable: str, dimension: str) -> tuple[Affine, Affine] | None:
        p = self.program
        try:
            found = dimension_bounds(self._domain(variable), p.dimensions, p.parameters, p.assumptions, dimension)
        except PolyloomError:  # no quotient of affine expressions
            return None
        # A maximum of several bounds, or one with a divisor, is no affine extent of an array.
        if any(len(pieces) != 1 or pieces[0][2] != 1 for pieces in found):
            return None
        return found[0][0][1], found[1][0][1]

    def _extent(self, span: Affine) -> Affine | None:
        """`span`, or a little more where it is negative for small parameters, so that an array can have this extent."""
        return next((span + more for more in range(MORE + 1) if self._is_extent(span + more)), None)

    def _is_extent(self, value: Affine) -> bool:
        """Whether it is at least 0 for all parameters."""
        p = self.program
        negative = to_set(Condition((Polyhedron((-value - 1,)),)), (), p.parameters).params()
        return bool(isl.Set.is_empty(negative.intersect(parameter_set(p.assumptions, p.parameters))))

    def _domain(self, variable: str) -> Condition:
        return Condition(tuple(dict.fromkeys(x for e in self.nodes[variable] for x in e.condition.pieces)))

    def _index(self, variable: str) -> tuple[Affine, ...]:
        bounds = [(d, self._bounds(variable, d)) for d in self.program.dimensions]
        return tuple(Affine.symbol(d) - b[0] for d, b in bounds if b is not None and b[0] != b[1])

    def _current_element(self, variable: str) -> Reference:
        return Reference(variable, tuple(map(Affine.symbol, self.program.dimensions)))

    def _export(self, variable: str, array: Array) -> Equation:
        target, where = Reference(array.name, self._index(variable)), self._domain(variable)
        span = self.nodes[variable][0].span
        reason = f"keeps {variable} for the part that runs next"
        return Equation(
            array.name, target, "move", array.dtype, (self._current_element(variable),), where, span, reason
        )

    def _import(self, variable: str, array: Array) -> Equation:
        source, where = Reference(array.name, self._index(variable)), self._domain(variable)
        span = self.nodes[variable][0].span
        reason = f"takes {variable} from the part that ran before"
        return Equation(
            array.name, self._current_element(variable), "move", array.dtype, (source,), where, span, reason
        )

    def _equations(self, nodes: set[str]) -> list[Equation]:
        return [e for n in self.nodes if n in nodes for e in self.nodes[n]]

    def _phase(
        self, number: int, equations: list[Equation], given: tuple[Array, ...], made: tuple[Array, ...]
    ) -> Phase:
        p = self.program
        read = {o.name for e in equations for o in e.operands if isinstance(o, Reference)}
        written = {e.target.name for e in equations}
        program = replace(
            p,
            name=f"{p.name}.{number}",
            inputs=(*(a for a in p.inputs if a.name in read), *given),
            outputs=(*(a for a in p.outputs if a.name in written), *made),
            variables=tuple(v for v in p.variables if v.name in written),
            equations=tuple(equations),
        )
        # A half is a program like any other, and must stand alone.
        pla_verify.verify(program)
        outside = {**dict((*self.phase.inputs, *self.phase.outputs)), **{a.name: a.name for a in (*given, *made)}}
        return replace(
            self.phase,
            program=program,
            inputs=tuple((a.name, outside[a.name]) for a in program.inputs),
            outputs=tuple((a.name, outside[a.name]) for a in program.outputs),
            reasons=tuple((name, why) for name, why in self.phase.reasons if name in written),
        )


def _symbols(array: Array) -> set[str]:
    return set[str]().union(*(a.symbols for a in array.shape))

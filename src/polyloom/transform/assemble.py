# SPDX-License-Identifier: Apache-2.0
"""Makes one phase, a piecewise linear algorithm, of placed statements.

Every statement becomes equations for a variable of its own: its value is flattened to one operation an equation, and where an
operand comes from different places in different parts of the domain, so do the equations (they exclude each other, so they share
a unit's slot); where that would give too many, exclusive copies select the operand first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

import islpy as isl

from polyloom.diagnostics import Span
from polyloom.ir.nest import Apply, Expression, Index
from polyloom.ir.operations import BY_NAME, ElementType
from polyloom.ir.pla import Array, Constant, Equation, Operand, Program, Reference, Variable
from polyloom.ir.plan import Phase
from polyloom.ir.recurrence import Final, Immediate, Origin, Recurrence, Stored, System
from polyloom.sets import Affine, Condition
from polyloom.sets.isl import from_set
from polyloom.sets.normal import conjunction, normalize
from polyloom.transform.carry import Carrier, Value
from polyloom.transform.embed import Placements, dimensions
from polyloom.transform.order import Order, Vector, find_order
from polyloom.transform.share import Element, share
from polyloom.transform.space import Space, union
from polyloom.transform.wiring import Wiring, fill, merged, relay, settle, unite

VARIANTS = 4
"""Equations that one operation may become because its operands come from different places."""


class NoOrder(Exception):
    """No signed permutation makes every distance of the phase lexicographically positive."""


@dataclass(frozen=True, slots=True)
class Ports:
    """How a phase is connected. `crossing` gives, for a statement of an earlier phase, the array that holds its values and the
    index there, affine in the statement's loops; `exports` are the values that this phase leaves in arrays; `arrays` are all arrays."""

    crossing: dict[str, tuple[str, tuple[Affine, ...]]]
    exports: tuple[Final, ...]
    arrays: dict[str, Array]


@dataclass(frozen=True, slots=True)
class _Raw:
    """An equation whose condition is still an isl set."""

    name: str
    target: Reference
    operation: str
    dtype: ElementType
    operands: tuple[Operand, ...]
    points: isl.Set
    span: Span | None


Way = tuple[isl.Set, Operand]
"""At these points an operand is a value from somewhere, or a constant."""


def assemble(system: System, name: str, equations: Sequence[Recurrence], placements: Placements, ports: Ports) -> Phase:
    """The phase that computes `equations` at their `placements`; raises NotUniform and NoOrder."""
    return _Assembler(system, name, equations, placements, ports).run()


class _Assembler:
    def __init__(self, system: System, name: str, equations: Sequence[Recurrence], placements: Placements, ports: Ports) -> None:
        self.system, self.name, self.equations, self.placements, self.ports = system, name, equations, placements, ports
        self.space = Space(dimensions(equations), system.parameters, system.assumptions)
        self.taken = {*self.space.dims, *self.space.params, *ports.arrays, *(f"{a}_in" for a in ports.arrays)}
        self.labels: set[str] = set()
        self.types: dict[str, ElementType] = {}
        self.reasons: dict[str, str] = {}
        self.raw: list[_Raw] = []
        self.variable_of = {e.name: self._statement_variable(e) for e in equations}
        self.carrier = Carrier(self.space, self.variable_of, self._passed)
        self.reasons |= {self.variable_of[n]: why for n, why in system.reasons if n in self.variable_of}

    def run(self) -> Phase:
        reads = [[self._needs(e, n) for n in range(len(e.reads))] for e in self.equations]
        exports = [(f, self._needs_value(f)) for f in self.ports.exports]
        transfers = self.carrier.transfers()
        elements = [d for needs in reads for need in needs for d in need if isinstance(d[1], Element)]
        fixed = [r for needs in reads for need in needs for d in need if isinstance(r := d[1], Reference)]
        order = self._order({self.space.distance(r) for r in (*fixed, *(t.reference for t in transfers))})
        shared, entering = share(self.space, [(p, e) for p, e in elements if isinstance(e, Element)], order, self._entered)
        found = iter(shared)
        uses = [
            [merged([next(found) if isinstance(s, Element) else (p, s) for p, s in need if not isinstance(s, Constant)]) for need in needs] for needs in reads
        ]
        constants = [[[(p, s) for p, s in need if isinstance(s, Constant)] for need in needs] for needs in reads]
        defined = {self.variable_of[e.name]: self.placements[e.name].points(self.space, e.domain) for e in self.equations}
        wiring = unite(Wiring(self.space, uses, [*transfers, *entering], defined), self.types)
        wiring = fill(wiring, {n: a.shape for n, a in self.ports.arrays.items()})
        wiring = settle(wiring)
        wiring = relay(wiring, self._order(wiring.vectors()), self._handed)
        for equation, uses, known in zip(self.equations, wiring.reads, constants, strict=True):
            ways: list[list[Way]] = [[*u, *k] for u, k in zip(uses, known, strict=True)]
            self._statement(equation, ways, defined[self.variable_of[equation.name]])
        for transfer in wiring.transfers:
            self._add(transfer.variable, transfer.variable, "move", self.types[transfer.variable], (transfer.reference,), transfer.points, None)
        for final, points in exports:
            self._export(final, points)
        self._remove_unread()
        return self._phase()

    def _order(self, vectors: set[Vector]) -> Order:
        order = find_order(vectors, len(self.space.dims))
        if order is None:
            raise NoOrder
        return order

    # names

    def _fresh(self, base: str) -> str:
        number, name = 0, base
        while name in self.taken:
            number += 1
            name = f"{base}.{number}"
        self.taken.add(name)
        return name

    def _label(self, base: str) -> str:
        number, name = 0, base
        while name in self.labels:
            number += 1
            name = f"{base}.{number}"
        self.labels.add(name)
        return name

    def _statement_variable(self, equation: Recurrence) -> str:
        name = self._fresh(f"{equation.statement.assign.target.name}_{equation.name}")
        self.types[name] = equation.dtype
        return name

    def _passed(self, statement: str, axis: int) -> str:
        equation, dim = self.system[statement], self.space.dims[axis]
        array = equation.statement.assign.target.name
        name = self._fresh(f"{array}_{dim}")
        self.types[name] = equation.dtype
        self.reasons[name] = f"passes the value of {array} that {statement} computed along {dim}, where iterations far from it read it"
        return name

    def _entered(self, array: str) -> str:
        name = self._fresh(f"{array}_at")
        self.types[name] = self.ports.arrays[array].dtype
        self.reasons[name] = f"takes each element of {array} in once and passes it on to the other iterations that read it"
        return name

    def _handed(self, variable: str) -> str:
        name = self._fresh(variable)
        self.types[name] = self.types[variable]
        self.reasons[name] = f"hands the values of {variable} on by unit steps, because it is read at many distances"
        return name

    # reads

    def _needs(self, equation: Recurrence, read: int) -> list[tuple[isl.Set, Reference | Element | Constant]]:
        placement = self.placements[equation.name]
        values = placement.loop_values(self.space.dims)
        found: list[tuple[isl.Set, Reference | Element | Constant]] = []
        for piece in equation.reads[read]:
            points = placement.points(self.space, piece.domain)
            source = self._source(piece.origin, values)
            if points.is_empty():
                continue
            found += self.carrier.need(points, source) if isinstance(source, Value) else [(points, source)]
        return found

    def _source(self, origin: Origin, values: dict[str, Affine]) -> Value | Element | Constant:
        if isinstance(origin, Immediate):
            return origin.constant
        index = tuple(a.substitute(values) for a in origin.index)
        if isinstance(origin, Stored):
            return Element(origin.name, index)
        loops = dict(zip(self.system[origin.statement].loops, index, strict=True))
        if origin.statement in self.placements:
            return Value(origin.statement, tuple(a.substitute(loops) for a in self.placements[origin.statement].at))
        name, at = self.ports.crossing[origin.statement]
        return Element(name, tuple(a.substitute(loops) for a in at))

    def _needs_value(self, final: Final) -> isl.Set:
        return self.placements[final.statement].points(self.space, final.domain)

    # equations

    def _statement(self, equation: Recurrence, reads: list[list[Way]], points: isl.Set) -> None:
        name = self.variable_of[equation.name]
        self._define(name, equation.name, equation.value, equation.dtype, points, iter(reads), equation.span)

    def _define(self, name: str, label: str, value: Expression, dtype: ElementType, points: isl.Set, reads: Iterator[list[Way]], span: Span | None) -> None:
        """Equations for `name` = `value` on `points`, operands first."""
        operation, dtype, parts = (value.operation, value.dtype, value.operands) if isinstance(value, Apply) else ("move", dtype, (value,))
        operands = [self._operand(name, label, part, points, reads) for part in parts]
        operands = self._few(name, label, operands, points)
        for chosen in product(*operands):
            where = points
            for part, _ in chosen:
                where = where if part is points else where.intersect(part)
            self._add(name, label, operation, dtype, tuple(o for _, o in chosen), where, span)

    def _operand(self, name: str, label: str, value: Expression, points: isl.Set, reads: Iterator[list[Way]]) -> list[Way]:
        match value:
            case Reference():
                return next(reads)
            case Constant():
                return [(points, value)]
            case Index():
                raise AssertionError(value)  # refused by make_plan
            case Apply():
                inner = self._fresh(name.split(".")[0])
                self.types[inner] = BY_NAME[value.operation].result(value.dtype)
                self.reasons[inner] = f"an operand of {label}"
                self._define(inner, label, value, value.dtype, points, reads, value.span)
                return [(points, self.space.at(inner))]

    def _few(self, name: str, label: str, operands: list[list[Way]], points: isl.Set) -> list[list[Way]]:
        """The operands, those from most places selected by copies until `VARIANTS` equations suffice."""
        while prod(map(len, operands)) > VARIANTS:
            widest = max(range(len(operands)), key=lambda n: len(operands[n]))
            ways = operands[widest]
            chosen = self._fresh(name.split(".")[0])
            self.types[chosen] = self._dtype(ways[0][1])
            self.reasons[chosen] = f"selects an operand of {label}, which comes from {len(ways)} places"
            for part, operand in ways:
                self._add(chosen, label, "move", self.types[chosen], (operand,), part.intersect(points), None)
            operands = [*operands[:widest], [(points, self.space.at(chosen))], *operands[widest + 1 :]]
        return operands

    def _dtype(self, operand: Operand) -> ElementType:
        if isinstance(operand, Constant):
            return operand.dtype
        return self.types[operand.name] if operand.name in self.types else self.ports.arrays[operand.name].dtype

    def _add(self, name: str, label: str, operation: str, dtype: ElementType, operands: tuple[Operand, ...], points: isl.Set, span: Span | None) -> None:
        if not points.is_empty():
            target = self.space.at(name)
            self.raw.append(_Raw(self._label(label), target, operation, dtype, operands, points.coalesce(), span))

    def _export(self, final: Final, points: isl.Set) -> None:
        values = self.placements[final.statement].loop_values(self.space.dims)
        index = tuple(a.substitute(values) for a in final.index)
        variable, value = self.variable_of[final.statement], self.system[final.statement].value
        source = value if isinstance(value, Constant) else self.space.at(variable)
        if not points.is_empty():
            dtype = self.types[variable]
            self.raw.append(_Raw(self._label(final.name), Reference(final.name, index), "move", dtype, (source,), points.coalesce(), None))

    def _remove_unread(self) -> None:
        """Constants that are written to arrays only need no variable."""
        needed = {o.name for r in self.raw for o in r.operands if isinstance(o, Reference)} | self.ports.arrays.keys()
        self.raw = [r for r in self.raw if r.target.name in needed]

    # the program

    def _phase(self) -> Phase:
        read = {o.name for r in self.raw for o in r.operands if isinstance(o, Reference)}
        written = {r.target.name for r in self.raw}
        arrays = self.ports.arrays
        renamed = {n: f"{n}_in" if n in written else n for n in arrays if n in read}
        space_points = self._hull()
        space = normalize(from_set(space_points))
        program = Program(
            self.name,
            self.system.parameters,
            self.system.assumptions,
            self.space.dims,
            space,
            tuple(replace(arrays[n], name=r) for n, r in renamed.items()),
            tuple(a for n, a in arrays.items() if n in written),
            tuple(Variable(n, t) for n, t in self.types.items() if n in written),
            tuple(self._equation(r, renamed, space, space_points) for r in self.raw),
        )
        outputs = tuple((n, n) for n in arrays if n in written)
        return Phase(program, tuple((r, n) for n, r in renamed.items()), outputs, tuple((n, r) for n, r in self.reasons.items() if n in written))

    def _equation(self, raw: _Raw, renamed: dict[str, str], space: Condition, space_points: isl.Set) -> Equation:
        operands = tuple(replace(o, name=renamed.get(o.name, o.name)) if isinstance(o, Reference) else o for o in raw.operands)
        condition = conjunction(space, from_set(raw.points, space_points))
        return Equation(raw.name, raw.target, raw.operation, raw.dtype, operands, condition, raw.span)

    def _hull(self) -> isl.Set:
        """The convex hull, as far as the sets' own constraints express it, of all points."""
        return isl.Set.from_basic_set(union([raw.points for raw in self.raw]).simple_hull().remove_divs())

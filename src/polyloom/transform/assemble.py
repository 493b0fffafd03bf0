# SPDX-License-Identifier: Apache-2.0
"""Makes one phase, a piecewise linear algorithm, of placed statements.

Every statement becomes equations for a variable of its own: its value is flattened to one operation per equation, and
where an operand comes from different places in different parts of the domain, so do the equations (they exclude each
other, so they share a unit's slot); where that would give too many, exclusive copies select the operand first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import islpy as isl

from polyloom.diagnostics import Span
from polyloom.ir.nest import Apply, Expression, Index, leaves
from polyloom.ir.numbers import make_element
from polyloom.ir.operations import BY_NAME, ElementType
from polyloom.ir.pla import Array, Constant, Operand, Reference
from polyloom.ir.plan import Phase
from polyloom.ir.recurrence import Final, Immediate, Origin, Piece, Recurrence, Stored, System
from polyloom.sets import Affine
from polyloom.transform.carry import Carrier, Transfer, Value
from polyloom.transform.count import count
from polyloom.transform.embed import Placements, dimensions
from polyloom.transform.names import Names
from polyloom.transform.order import Order, Vector, find_order
from polyloom.transform.program import Raw, phase
from polyloom.transform.share import Element, share
from polyloom.transform.space import Space, union
from polyloom.transform.transfer_variables import Wiring, fill, merge_uses, relay, unify_distances, unite

VARIANTS = 4
"""Equations that one operation may become because its operands come from different places."""


class NoOrder(Exception):
    """No signed permutation makes every distance of the phase lexicographically positive."""


class NoCorner(Exception):
    """The affine expression `index` is data, and where it could begin to be counted it depends on more than the
    parameters."""

    def __init__(self, index: Index) -> None:
        super().__init__(str(index.value))
        self.index = index


@dataclass(frozen=True, slots=True)
class Why:
    """What an equation is written for, and the reason of one that the user did not write."""

    span: Span | None
    reason: str


@dataclass(frozen=True, slots=True)
class Ports:
    """How a phase is connected. `crossing` gives, for a statement of an earlier phase, the array that holds its values
    and the index there, affine in the statement's loops; `exports` are the values that this phase leaves in arrays;
    `arrays` are all arrays."""

    crossing: dict[str, tuple[str, tuple[Affine, ...]]]
    exports: tuple[Final, ...]
    arrays: dict[str, Array]


Need = tuple[isl.Set, Reference | Element | Constant | Index]
"""At these points a value is that of a variable or an element, or a constant or an affine expression itself."""
Way = tuple[isl.Set, Operand]
"""At these points an operand is a value from somewhere, or a constant."""


def assemble(system: System, name: str, equations: Sequence[Recurrence], placements: Placements, ports: Ports) -> Phase:
    """Code generation of one phase: the piecewise linear algorithm that computes `equations` at their `placements`
    (Thiele, Roychowdhury 1991). Raises NotUniform, NoOrder and NoCorner.
    """
    return _Assembler(system, name, equations, placements, ports).run()


class _Assembler:
    """State of one phase while it is made: names, equations in their raw form, what passes values along."""

    def __init__(
        self, system: System, name: str, equations: Sequence[Recurrence], placements: Placements, ports: Ports
    ) -> None:
        self.system, self.name, self.equations, self.placements, self.ports = system, name, equations, placements, ports
        self.space = Space(dimensions(system, equations), system.parameters, system.assumptions)
        self.names = Names(system, equations, self.space.dims, ports.arrays)
        self.raw: list[Raw] = []
        self.variable_of = self.names.variable_of
        self.carrier = Carrier(self.space, self.variable_of, self.names.propagation_name)
        self.counted: dict[Index, Span | None] = {}

    def run(self) -> Phase:
        reads = [self._reads(e) for e in self.equations]
        exports = [(f, self._needs_value(f)) for f in self.ports.exports]
        transfers = self.carrier.transfers()
        elements = [d for needs in reads for need in needs for d in need if isinstance(d[1], Element)]
        fixed = [r for needs in reads for need in needs for d in need if isinstance(r := d[1], Reference)]
        # Distances that are fixed already; those of shared elements follow from the order that they allow.
        vectors = {self.space.distance(r) for r in (*fixed, *(t.reference for t in transfers))}
        order = self._order(vectors)
        # After the values that are computed: their distances fix an order, and shared elements must be passed along it.
        shared, entering = share(
            self.space, [(p, e) for p, e in elements if isinstance(e, Element)], order, self.names.input_name, vectors
        )
        found = iter(shared)
        uses = [
            [
                merge_uses(
                    [
                        next(found) if isinstance(s, Element) else (p, s)
                        for p, s in need
                        if isinstance(s, Element | Reference)
                    ]
                )
                for need in needs
            ]
            for needs in reads
        ]
        others = [[[(p, s) for p, s in need if isinstance(s, Constant | Index)] for need in needs] for needs in reads]
        defined = {
            self.variable_of[e.name]: self.placements[e.name].points(self.space, e.domain) for e in self.equations
        }
        wiring = unite(Wiring(self.space, uses, [*transfers, *entering], defined), self.names.types)
        # Uniting before filling (what was united may fill a box), settling after both (distances are final), relaying
        # last (it counts them).
        wiring = fill(wiring, {n: a.shape for n, a in self.ports.arrays.items()})
        wiring = unify_distances(wiring)
        wiring = relay(wiring, self._order(wiring.vectors()), self.names.relay_name)
        counters = self._counters(
            [d for needs in others for need in needs for d in need], self._order(wiring.vectors())
        )
        for equation, uses, known in zip(self.equations, wiring.reads, others, strict=True):
            ways: list[list[Way]] = [
                [*u, *((p, counters[s] if isinstance(s, Index) else s) for p, s in k)]
                for u, k in zip(uses, known, strict=True)
            ]
            self._statement(equation, ways, defined[self.variable_of[equation.name]])
        for transfer in wiring.transfers:
            self._transfer(transfer)
        for final, points in exports:
            self._export(final, points)
        # Constants that only go to arrays have left variables behind that nobody reads.
        self._remove_unread()
        return phase(self.name, self.system, self.space, self.raw, self.names)

    def _order(self, vectors: set[Vector]) -> Order:
        order = find_order(vectors, len(self.space.dims))
        if order is None:
            raise NoOrder
        return order

    # reads

    def _reads(self, equation: Recurrence) -> list[list[Need]]:
        """Where each reference and each affine expression of an equation's value is found."""
        reads = iter(equation.reads)
        found = (leaf for leaf in leaves(equation.value) if not isinstance(leaf, Constant))
        return [
            self._index(equation, leaf)
            if isinstance(leaf, Index)
            else self._needs(equation, next(reads), leaf.span or equation.span)
            for leaf in found
        ]

    def _index(self, equation: Recurrence, index: Index) -> list[Need]:
        """An affine expression as data: an input where parameters determine it, else it is counted."""
        placement = self.placements[equation.name]
        points, value = (
            placement.points(self.space, equation.domain),
            index.value.substitute(placement.loop_values(self.space.dims)),
        )
        # It changes from iteration to iteration: no input could hold it.
        if value.symbols & {*self.space.dims}:
            counted = Index(value, index.dtype)
            self.counted.setdefault(counted, index.span or equation.span)
            return [(points, counted)]
        scalar = self.names.scalar(value, index.dtype)
        self.names.note_use(scalar, index.span or equation.span)
        return [(points, Element(scalar, ()))]

    def _needs(self, equation: Recurrence, read: tuple[Piece, ...], span: Span | None) -> list[Need]:
        placement = self.placements[equation.name]
        values = placement.loop_values(self.space.dims)
        found: list[Need] = []
        for piece in read:
            points = placement.points(self.space, piece.domain)
            source = self._source(piece.origin, values)
            if points.is_empty():
                continue
            if isinstance(source, Element):
                self.names.note_use(source.name, span)
            found += self.carrier.need(points, source) if isinstance(source, Value) else [(points, source)]
        return found

    def _source(self, origin: Origin, values: dict[str, Affine]) -> Value | Element | Constant:
        """Origin of a read in the phase: a value that is placed here, an element of an array (from the caller or an
        earlier phase), or a constant.
        """
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

    def _counters(self, demands: Iterable[tuple[isl.Set, Constant | Index]], order: Order) -> dict[Index, Reference]:
        """A variable for each affine expression that is data."""
        needed: dict[Index, list[isl.Set]] = {}
        for points, index in demands:
            if isinstance(index, Index):
                needed.setdefault(index, []).append(points)
        return {index: self.space.reference(self._counter(index, union(sets), order)) for index, sets in needed.items()}

    def _counter(self, index: Index, points: isl.Set, order: Order) -> str:
        name = self.names.counter_name(index.value, index.dtype, self.counted.get(index))
        steps = count(self.space, name, points, index.value, order)
        if steps is None:
            raise NoCorner(index)
        for step in steps:
            constant = Constant(make_element(step.value.constant, index.dtype).item(), index.dtype)
            if step.before is None:
                operation, operands = (
                    "move",
                    (constant if step.value.is_constant else Reference(self.names.scalar(step.value, index.dtype)),),
                )
            else:
                operation, operands = (
                    ("add", (step.before, constant)) if step.value != Affine() else ("move", (step.before,))
                )
            self._add_generated(name, name, operation, index.dtype, operands, step.points)
        return name

    # equations

    def _statement(self, equation: Recurrence, reads: list[list[Way]], points: isl.Set) -> None:
        name = self.variable_of[equation.name]
        why = Why(equation.span, self.names.reasons.get(name, ""))
        self._define(name, equation.name, equation.value, equation.dtype, points, iter(reads), why)

    def _define(
        self,
        name: str,
        label: str,
        value: Expression,
        dtype: ElementType,
        points: isl.Set,
        reads: Iterator[list[Way]],
        why: Why,
    ) -> None:
        """Three-address form of a statement's expression: equations for `name` = `value` on `points`, operands first,
        one operation each (Aho, Lam, Sethi, Ullman 2006, section 6.2).
        """
        operation, dtype, parts = (
            (value.operation, value.dtype, value.operands) if isinstance(value, Apply) else ("move", dtype, (value,))
        )
        # A part may have come from elsewhere, such as a library function: its own reason is the nearer one.
        if isinstance(value, Apply):
            why = Why(value.span or why.span, value.reason or why.reason)
        operands = [self._operand(name, label, part, points, reads, why) for part in parts]
        operands = self._limit_variants(name, label, operands, points)
        # An equation for each combination of places that operands come from, as far as some point has it.
        for chosen in product(*operands):
            where = points
            for part, _ in chosen:
                where = where if part is points else where.intersect(part)
            self._add(name, label, operation, dtype, tuple(o for _, o in chosen), where, why)

    def _operand(
        self, name: str, label: str, value: Expression, points: isl.Set, reads: Iterator[list[Way]], why: Why
    ) -> list[Way]:
        match value:
            case Reference() | Index():
                return next(reads)
            case Constant():
                return [(points, value)]
            case Apply():
                inner = self.names.operand(name, label, BY_NAME[value.operation].result(value.dtype))
                self._define(inner, label, value, value.dtype, points, reads, why)
                return [(points, self.space.reference(inner))]

    def _limit_variants(self, name: str, label: str, operands: list[list[Way]], points: isl.Set) -> list[list[Way]]:
        """The operands, those from most places selected by copies until `VARIANTS` equations suffice."""
        while prod(map(len, operands)) > VARIANTS:
            # The product of the ways falls most where the largest factor becomes 1.
            widest = max(range(len(operands)), key=lambda n: len(operands[n]))
            ways = operands[widest]
            chosen = self.names.selection_name(name, label, self.names.dtype(ways[0][1]), len(ways))
            for part, operand in ways:
                self._add_generated(chosen, label, "move", self.names.types[chosen], (operand,), part.intersect(points))
            operands = [*operands[:widest], [(points, self.space.reference(chosen))], *operands[widest + 1 :]]
        return operands

    def _add(
        self,
        name: str,
        label: str,
        operation: str,
        dtype: ElementType,
        operands: tuple[Operand, ...],
        points: isl.Set,
        why: Why,
    ) -> None:
        if not points.is_empty():
            target, label = self.space.reference(name), self.names.label(label)
            self.raw.append(Raw(label, target, operation, dtype, operands, points.coalesce(), why.span, why.reason))

    def _add_generated(
        self,
        name: str,
        label: str,
        operation: str,
        dtype: ElementType,
        operands: tuple[Operand, ...],
        points: isl.Set,
    ) -> None:
        """An equation that nobody wrote, for a variable whose name was made for a reason."""
        why = Why(self.names.spans.get(name), self.names.reasons[name])
        self._add(name, label, operation, dtype, operands, points, why)

    def _transfer(self, transfer: Transfer) -> None:
        """Of one that was united with a statement's variable, the reason is what it brings there."""
        name = transfer.variable
        reason = self.names.reasons.get(name) or f"brings {transfer.reference.name} in, where no iteration computes it"
        why = Why(self.names.spans.get(name), reason)
        operands = (transfer.reference,)
        self._add(name, name, "move", self.names.types[name], operands, transfer.points, why)

    def _export(self, final: Final, points: isl.Set) -> None:
        values = self.placements[final.statement].loop_values(self.space.dims)
        index = tuple(a.substitute(values) for a in final.index)
        variable, value = self.variable_of[final.statement], self.system[final.statement].value
        # A constant is written by itself: no variable has to carry it.
        source = value if isinstance(value, Constant) else self.space.reference(variable)
        if not points.is_empty():
            dtype = self.names.types[variable]
            self.raw.append(
                Raw(
                    self.names.label(final.name),
                    Reference(final.name, index),
                    "move",
                    dtype,
                    (source,),
                    points.coalesce(),
                    self.system[final.statement].span,
                    f"writes the last values of {final.name}",
                )
            )

    def _remove_unread(self) -> None:
        """Constants that are written to arrays only need no variable."""
        needed = {o.name for r in self.raw for o in r.operands if isinstance(o, Reference)} | self.ports.arrays.keys()
        self.raw = [r for r in self.raw if r.target.name in needed]

# SPDX-License-Identifier: Apache-2.0
"""Instantiation by enumeration: every iteration, every element, straight from the definitions.

Reads a symbolic configuration and the few numbers that an instantiation chose (candidate, tile sizes, element delays)
and gives every operation that must be issued, with the registers that the guards' definition demands: an operand is
read from the register of the link whose displacement separates reader and writer; a destination is written exactly
where a consumer takes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from polyloom.targets.tcpa.words.concrete import Concrete
from polyloom.targets.tcpa.words.isa import File, Immediate, Register, Source
from polyloom.targets.tcpa.words.symbolic import (
    Access,
    Bound,
    ImmediateOperand,
    InputOperand,
    Kind,
    Link,
    Row,
    Symbolic,
    UseOperand,
)

Point = tuple[int, ...]
Element = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Placement:
    """What an instantiation chose: the candidate, tile sizes by dimension, the region, lambda_K by (row, column),
    start."""

    candidate: int
    sizes: Point
    region: Element
    skew: Element
    start: int


@dataclass(frozen=True, slots=True)
class Operation:
    """An instance of a node: where and when it issues, what it must read and write."""

    node: int
    element: Element
    cycle: int
    destinations: tuple[Register, ...]
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Token:
    """A value in a FIFO of an element, from the cycle in which it can be read to the cycle of its pop, both
    inclusive."""

    element: Element
    register: Register
    ready: int
    pop: int


@dataclass(frozen=True, slots=True, order=True)
class Transfer:
    """An array element that passes between a bank and the id or od of an element; the token is at the register in
    `cycle`."""

    element: Element
    register: int
    cycle: int
    array: int
    index: Point


def placement_of(symbolic: Symbolic, candidate: int, concrete: Concrete) -> Placement:
    """Read the choices off a configuration that was made from `candidate`."""
    sizes = [0] * len(concrete.extents)
    for m, extent in zip(symbolic.candidates[candidate].order, concrete.extents, strict=True):
        sizes[m] = extent
    control = concrete.controller
    skew = (
        -control.row_delay if control.south else control.row_delay,
        -control.column_delay if control.east else control.column_delay,
    )
    return Placement(candidate, tuple(sizes), (concrete.rows, concrete.columns), skew, control.start)


class Brute:
    """The enumeration of one instantiation."""

    def __init__(self, symbolic: Symbolic, parameters: Mapping[str, int], placement: Placement) -> None:
        self.symbolic, self.placement = symbolic, placement
        self.params = tuple(parameters[p] for p in symbolic.parameters)
        self.candidate = symbolic.candidates[placement.candidate]
        self.schedule = symbolic.schedules[self.candidate.schedule]
        bounds = [(self.bound(e.lower), self.bound(e.upper)) for e in symbolic.extents]
        self.box = tuple((low, high) for low, high in bounds if low is not None and high is not None and low <= high)
        self.empty = len(self.box) < len(bounds)

    def value(self, row: Row, point: Point) -> int:
        return sum(a * b for a, b in zip((*row.dims, *row.params), (*point, *self.params), strict=True)) + row.constant

    def bound(self, pieces: tuple[Bound, ...]) -> int | None:
        zero = (0,) * len(self.symbolic.dimensions)
        for piece in pieces:
            if all(self.value(g, zero) >= 0 for g in piece.guards):
                return self.value(piece.numerator, zero) // piece.denominator
        return None

    def holds(self, condition: int, point: Point) -> bool:
        s = self.symbolic
        return any(all(self.value(s.constraints[c], point) >= 0 for c in piece) for piece in s.conditions[condition])

    def points(self) -> Iterator[Point]:
        return iter(()) if self.empty else product(*(range(low, high + 1) for low, high in self.box))

    def executes(self, node: int, point: Point) -> bool:
        inside = all(low <= x <= high for x, (low, high) in zip(point, self.box, strict=True))
        return inside and self.holds(self.symbolic.nodes[node].condition, point)

    def place(self, point: Point) -> tuple[Element, Point]:
        """The element and the intra-tile iteration J, in the candidate's coordinates."""
        c, sizes = self.candidate, self.placement.sizes
        x = [high - i if r else i - low for i, (low, high), r in zip(point, self.box, c.reflected, strict=True)]
        tile = [a // p for a, p in zip(x, sizes, strict=True)]
        element = (tile[c.rows] if c.rows is not None else 0, tile[c.columns] if c.columns is not None else 0)
        return element, tuple(a % p for a, p in zip(x, sizes, strict=True))

    def cycle(self, node: int, point: Point) -> int:
        """T(K) + pi * step(J) + tau."""
        element, inner = self.place(point)
        step, radix = 0, 1
        for m in self.candidate.order:
            step += inner[m] * radix
            radix *= self.placement.sizes[m]
        return self.begin(element) + self.schedule.initiation_interval * step + self.schedule.tau[node]

    def begin(self, element: Element) -> int:
        away = (
            k * x if k >= 0 else -k * (n - 1 - x)
            for k, x, n in zip(self.placement.skew, element, self.placement.region, strict=True)
        )
        return self.placement.start + sum(away)

    def instances(self) -> Iterator[tuple[int, Point]]:
        """(node, iteration) of every operation."""
        return (
            (v, point) for point in self.points() for v in range(len(self.symbolic.nodes)) if self.executes(v, point)
        )

    def operations(self) -> Iterator[Operation]:
        for v, point in self.instances():
            yield Operation(
                v, self.place(point)[0], self.cycle(v, point), self.destinations(v, point), self.sources(v, point)
            )

    def tokens(self) -> Iterator[Token]:
        """Every value that passes a FIFO. Input generators deliver in the very cycle of the pop."""
        for w, point in self.instances():
            for operand in self.symbolic.nodes[w].operands:
                pop, element = self.cycle(w, point), self.place(point)[0]
                match operand:
                    case UseOperand(number):
                        source = self.moved(point, self.symbolic.uses[number].distance, -1)
                        link = self.link(number, point, source)
                        if link.kind is not Kind.GENERAL:
                            yield Token(
                                element,
                                self.register(link, True),
                                self.arrival(self.writer(number, source), source, link),
                                pop,
                            )
                    case InputOperand(number):
                        yield Token(element, Register(File.IO, self.candidate.input_registers[number]), pop, pop)
                    case ImmediateOperand():
                        pass

    def reads(self) -> Iterator[Transfer]:
        """Every array element that an input bank delivers."""
        for w, point in self.instances():
            for operand in self.symbolic.nodes[w].operands:
                if isinstance(operand, InputOperand):
                    register = self.candidate.input_registers[operand.input]
                    yield self.transfer(
                        register, self.cycle(w, point), self.symbolic.inputs[operand.input].access, point
                    )

    def writes(self) -> Iterator[Transfer]:
        """Every array element that an output bank takes."""
        for v, point in self.instances():
            output = self.symbolic.nodes[v].output
            if output is not None:
                ready = self.cycle(v, point) + self.schedule.latency[v]
                yield self.transfer(
                    self.candidate.output_registers[output], ready, self.symbolic.outputs[output].access, point
                )

    def transfer(self, register: int, cycle: int, access: Access, point: Point) -> Transfer:
        return Transfer(
            self.place(point)[0], register, cycle, access.array, tuple(self.value(row, point) for row in access.index)
        )

    def writer(self, use: int, source: Point) -> int:
        """The node that defines the value that `use` reads from iteration `source`."""
        (node,) = {w.node for w in self.symbolic.uses[use].writers if self.executes(w.node, source)}
        return node

    def arrival(self, node: int, source: Point, link: Link) -> int:
        hops = len(self.candidate.routes[link.register].hops) if link.kind is Kind.CHANNEL else 0
        return self.cycle(node, source) + self.schedule.latency[node] + hops * self.symbolic.limits.hop_delay

    def link(self, use: int, reader: Point, writer: Point) -> Link:
        (row, column), (row_of, column_of) = self.place(reader)[0], self.place(writer)[0]
        (found,) = (k for k in self.candidate.links[use] if k.displacement == (row - row_of, column - column_of))
        return found

    def register(self, link: Link, reading: bool) -> Register:
        if link.kind is Kind.CHANNEL:
            route = self.candidate.routes[link.register]
            return Register(File.IO, route.input if reading else route.output)
        return Register(File.RD if link.kind is Kind.GENERAL else File.FD, link.register)

    def moved(self, point: Point, distance: Point, sign: int) -> Point:
        return tuple(i + sign * d for i, d in zip(point, distance, strict=True))

    def sources(self, v: int, point: Point) -> tuple[Source, ...]:
        return tuple(self.source(operand, point) for operand in self.symbolic.nodes[v].operands)

    def source(self, operand: ImmediateOperand | InputOperand | UseOperand, point: Point) -> Source:
        match operand:
            case ImmediateOperand(bits):
                return Immediate(bits)
            case InputOperand(number):
                return Register(File.IO, self.candidate.input_registers[number])
            case UseOperand(number):
                writer = self.moved(point, self.symbolic.uses[number].distance, -1)
                return self.register(self.link(number, point, writer), True)

    def destinations(self, v: int, point: Point) -> tuple[Register, ...]:
        found: set[Register] = set()
        for number, use in enumerate(self.symbolic.uses):
            reader = self.moved(point, use.distance, 1)
            if any(w.node == v for w in use.writers) and self.executes(use.consumer, reader):
                found.add(self.register(self.link(number, reader, point), False))
        output = self.symbolic.nodes[v].output
        if output is not None:
            found.add(Register(File.IO, self.candidate.output_registers[output]))
        return tuple(sorted(found))

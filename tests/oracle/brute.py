# SPDX-License-Identifier: Apache-2.0
"""Instantiation by enumeration: every iteration, every element, straight from the definitions.

Reads a symbolic configuration and the few numbers that an instantiation chose (candidate, tile sizes, element delays) and
gives every operation that must be issued, with the registers that the guards' definition demands: an operand is read from the
register of the link whose displacement separates reader and writer; a destination is written exactly where a consumer takes it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from polyloom.targets.tcpa.isa import File, Immediate, Register, Source
from polyloom.targets.tcpa.symbolic import Bound, Candidate, ImmediateOperand, InputOperand, Kind, Row, Symbolic, UseOperand


@dataclass(frozen=True, slots=True)
class Placement:
    """What an instantiation chose: the candidate, tiles a dimension, tile sizes, lambda_K by (row, column), start."""

    candidate: int
    counts: tuple[int, ...]
    sizes: tuple[int, ...]
    skew: tuple[int, int]
    start: int


def value(row: Row, point: tuple[int, ...], params: tuple[int, ...]) -> int:
    return sum(a * b for a, b in zip(row.dims, point, strict=True)) + sum(a * b for a, b in zip(row.params, params, strict=True)) + row.constant


def bound(pieces: tuple[Bound, ...], dims: int, params: tuple[int, ...]) -> int | None:
    zero = (0,) * dims
    for piece in pieces:
        if all(value(g, zero, params) >= 0 for g in piece.guards):
            return value(piece.numerator, zero, params) // piece.denominator
    return None


class Brute:
    """The enumeration of one instantiation; `points` lists (I, tile K, digits-free intra-tile J) of the bounding box."""

    def __init__(self, symbolic: Symbolic, parameters: Mapping[str, int], placement: Placement) -> None:
        self.symbolic, self.placement = symbolic, placement
        self.params = tuple(parameters[p] for p in symbolic.parameters)
        n = len(symbolic.dimensions)
        self.candidate: Candidate = symbolic.candidates[placement.candidate]
        self.schedule = symbolic.schedules[self.candidate.schedule]
        self.lower = tuple(bound(e.lower, n, self.params) for e in symbolic.extents)
        self.upper = tuple(bound(e.upper, n, self.params) for e in symbolic.extents)
        self.empty = None in self.lower or None in self.upper or any(u < l for l, u in zip(self.lower, self.upper, strict=True))

    def holds(self, condition: int, point: tuple[int, ...]) -> bool:
        s = self.symbolic
        return any(all(value(s.constraints[c], point, self.params) >= 0 for c in piece) for piece in s.conditions[condition])

    def points(self) -> Iterator[tuple[int, ...]]:
        if self.empty:
            return iter(())
        return itertools.product(*(range(l, u + 1) for l, u in zip(self.lower, self.upper, strict=True)))

    def place(self, point: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """(tile K, intra-tile J) of an iteration, in the candidate's coordinates."""
        x = tuple(u - i if r else i - l for i, l, u, r in zip(point, self.lower, self.upper, self.candidate.reflected, strict=True))
        return tuple(a // p for a, p in zip(x, self.placement.sizes, strict=True)), tuple(a % p for a, p in zip(x, self.placement.sizes, strict=True))

    def element(self, tile: tuple[int, ...]) -> tuple[int, int]:
        c = self.candidate
        return (tile[c.rows] if c.rows is not None else 0, tile[c.columns] if c.columns is not None else 0)

    def step(self, inner: tuple[int, ...]) -> int:
        total, radix = 0, 1
        for m in self.candidate.order:
            total += inner[m] * radix
            radix *= self.placement.sizes[m]
        return total

    def begin(self, element: tuple[int, int]) -> int:
        row, column = self.placement.skew
        rows = self.placement.counts[self.candidate.rows] if self.candidate.rows is not None else 1
        columns = self.placement.counts[self.candidate.columns] if self.candidate.columns is not None else 1
        return self.placement.start + _ahead(row, element[0], rows) + _ahead(column, element[1], columns)

    def displacement(self, reader: tuple[int, ...], writer: tuple[int, ...]) -> tuple[int, int]:
        a, b = self.element(self.place(reader)[0]), self.element(self.place(writer)[0])
        return a[0] - b[0], a[1] - b[1]

    def operations(self) -> Iterator[tuple[int, tuple[int, ...], tuple[int, int], int, tuple[Register, ...], tuple[Source, ...]]]:
        """(node, iteration, element, cycle, destinations, sources) of every operation."""
        s, pi = self.symbolic, self.schedule.initiation_interval
        for point in self.points():
            tile, inner = self.place(point)
            element = self.element(tile)
            for v, node in enumerate(s.nodes):
                if self.holds(node.condition, point):
                    cycle = self.begin(element) + pi * self.step(inner) + self.schedule.tau[v]
                    yield v, point, element, cycle, self._destinations(v, point), self._sources(v, point)

    def _register(self, use: int, displacement: tuple[int, int], reading: bool) -> Register:
        for link in self.candidate.links[use]:
            if link.displacement == displacement:
                if link.kind is Kind.CHANNEL:
                    route = self.candidate.routes[link.register]
                    return Register(File.IO, route.input if reading else route.output)
                return Register(File.RD if link.kind is Kind.GENERAL else File.FD, link.register)
        raise AssertionError(f"use {use} has no link for displacement {displacement}")

    def _sources(self, v: int, point: tuple[int, ...]) -> tuple[Source, ...]:
        found: list[Source] = []
        for operand in self.symbolic.nodes[v].operands:
            match operand:
                case ImmediateOperand(bits):
                    found.append(Immediate(bits))
                case InputOperand(number):
                    found.append(Register(File.IO, self.candidate.input_registers[number]))
                case UseOperand(number):
                    distance = self.symbolic.uses[number].distance
                    writer = tuple(i - d for i, d in zip(point, distance, strict=True))
                    found.append(self._register(number, self.displacement(point, writer), True))
        return tuple(found)

    def _destinations(self, v: int, point: tuple[int, ...]) -> tuple[Register, ...]:
        s = self.symbolic
        found: set[Register] = set()
        for number, use in enumerate(s.uses):
            if any(w.node == v for w in use.writers):
                reader = tuple(i + d for i, d in zip(point, use.distance, strict=True))
                inside = all(l <= i <= u for i, l, u in zip(reader, self.lower, self.upper, strict=True))
                if inside and self.holds(s.nodes[use.consumer].condition, reader):
                    found.add(self._register(number, self.displacement(reader, point), False))
        if s.nodes[v].output is not None:
            found.add(Register(File.IO, self.candidate.output_registers[s.nodes[v].output]))
        return tuple(sorted(found))


def _ahead(delay: int, position: int, count: int) -> int:
    """Cycles after the corner's start: a negative delay counts from the far end."""
    return delay * position if delay >= 0 else -delay * (count - 1 - position)

# SPDX-License-Identifier: Apache-2.0
"""Loops over extents: their bounds, what holds within them, and extents that no loop is in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from polyloom.diagnostics import Span
from polyloom.ir.arrays import program
from polyloom.ir.arrays.program import For, Statement
from polyloom.ir.arrays.quotients import bound, quotient
from polyloom.ir.nest import If, Loop, Node
from polyloom.sets import Affine, Condition, Polyhedron


@dataclass(frozen=True, slots=True)
class Range:
    """A loop over all places of an extent, the first of which it calls `start`."""

    name: str
    extent: Affine
    start: Affine = field(default_factory=Affine)

    @property
    def place(self) -> Affine:
        """The place that the loop is at."""
        return Affine.symbol(self.name) - self.start


def loop_names(statements: Sequence[Statement]) -> Sequence[str]:
    """The loops of a program, in the order of the text."""
    found = list[str]()
    for statement in statements:
        if isinstance(statement, For):
            found += [statement.loop, *loop_names(statement.body)]
        elif isinstance(statement, program.If):
            found += loop_names((*statement.body, *statement.orelse))
    return found


def extent_bounds(place: Affine, extent: Affine) -> tuple[Affine, ...]:
    """What is at least 0 at the places of an extent."""
    found = quotient(extent)
    last = extent - place - 1 if found is None else found.length - place * found.step - 1
    return place, last


def loop_nest(ranges: Sequence[Range], body: Sequence[Node], span: Span | None, step: int = 1) -> tuple[Node, ...]:
    """Loops around nodes, the first range outermost."""
    nodes = tuple(body)
    for each in reversed(ranges):
        found = quotient(each.extent)
        if found is not None:
            last = extent_bounds(each.place, each.extent)[1]
            nodes = (If(Condition((Polyhedron((last,)),)), nodes, (), span),)
        ends = (each.start,), (each.start + bound(each.extent),)
        nodes = (Loop(each.name, ends[0], ends[1], nodes, 1 if step == 1 else -1, span),)
    return nodes


def bound_by_sizes(extent: Affine, loops: Mapping[str, For]) -> Affine:
    """An affine form of sizes that is no less than an extent wherever the loops around it are."""
    extent, exact = bound(extent), bound(extent)
    while names := [name for name in reversed([*loops]) if name in extent.symbols]:
        loop, factor = loops[names[0]], extent.coefficient(names[0])
        end = loop.upper[0] - 1 if factor > 0 else loop.lower[0]
        extent = extent.substitute({names[0]: end})
    # A loop that never runs would leave a bound below 0.
    return extent if extent == exact else extent + max(0, -extent.constant)

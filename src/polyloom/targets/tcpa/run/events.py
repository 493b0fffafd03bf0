# SPDX-License-Identifier: Apache-2.0
"""Trace of a run, from the model's columns: a span per operation, and an arrow for every value that an operation reads
of another one.

What the words were made of tells the operation of each event, its iteration and its place in the source; without it,
spans have units and values alone. Both are made when somebody looks at them: a run has many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.ir.operations import BY_NAME, ElementType
from polyloom.targets.activity import Columns, Group
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.run import model
from polyloom.targets.tcpa.words.concrete import Concrete
from polyloom.targets.tcpa.words.event_resolution import Known, Numbers, Resolved, evaluate_condition, resolve_events
from polyloom.targets.tcpa.words.isa import decode_opcode
from polyloom.targets.trace import Arrow, Deferred, Span, Trace

_VIEWS: Final[dict[ElementType, str]] = {
    "i8": "int32",
    "i16": "int32",
    "i32": "int32",
    "u8": "uint32",
    "u16": "uint32",
    "u32": "uint32",
    "bool": "uint32",
    "f32": "float32",
    "f64": "float64",
}
"""How the bits of a word are read."""
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Events:
    """The columns of a run, the configuration and machine that made them, and what the words were made of."""

    columns: model.Trace
    concrete: Concrete
    machine: Machine
    known: Known | None

    @property
    def first(self) -> int:
        """The cycle of the first operation."""
        return int(self.columns.cycle.min()) if len(self.columns.cycle) else 0


def build_trace(of: Events, phase: int = 0, later: int = 0, around: str = "") -> Trace:
    """Trace of one phase, shifted by `later` cycles; `phase` is its number among those that run, `around` are the
    values of the counters around its iterations.
    """
    spans = Deferred(lambda: _spans(of, phase, later, around), len(of.columns.cycle))
    return Trace(spans, (), Deferred(lambda: _arrows(of, later)) if of.known else (), _columns(of, later))


def _columns(of: Events, later: int) -> Columns:
    """A group per element, a lane per unit of the machine."""
    units = tuple(unit.name for unit in of.machine.units)
    lane = of.columns.element.astype(np.int64) * len(units) + of.columns.unit
    return Columns(tuple(Group(name, units) for name in list_elements(of)), lane, of.columns.cycle + later)


def _list_names(column: NDArray[np.integer[Any]]) -> list[int]:
    return column.tolist()


def _resolved_events(of: Events, known: Known) -> Resolved:
    c = of.columns
    return resolve_events(c.element, c.unit, c.cycle, c.opcode, of.concrete, known)


def list_elements(of: Events) -> list[str]:
    """The names of the elements, row by row."""
    return [f"element ({r}, {c})" for r in range(of.concrete.rows) for c in range(of.concrete.columns)]


def _spans(of: Events, phase: int, later: int, around: str) -> Iterator[Span]:
    c, element, units = of.columns, list_elements(of), of.machine.units
    names, latencies, values = _names(of), _latencies(of), _values(of)
    known = [] if of.known is None else _arguments(of, of.known, around)
    rows = zip(_list_names(c.element), _list_names(c.unit), _list_names(c.cycle + later), strict=True)
    for n, (e, u, cycle) in enumerate(rows):
        operation, told = known[n] if known else (None, ())
        arguments = (*told, ("value", values[n]))
        yield Span(element[e], units[u].name, names[n], cycle, latencies[n], arguments, operation, phase)


def _names(of: Events) -> list[str]:
    """The operation and its result in hexadecimal digits."""
    found = [""] * len(of.columns.cycle)
    for (unit, code), at in _group_by_opcode(of):
        operation = decode_opcode(code)
        mnemonic = of.machine.units[unit].mnemonics[operation[0]]
        # Hexadecimal digits of the result's width: the bits are what two machines must agree on.
        digits = 16 if BY_NAME[operation[0]].result(operation[1]) == "f64" else 8
        mask = (1 << 4 * digits) - 1
        for n, value in zip(_list_names(at), _list_names(of.columns.value[at]), strict=True):
            found[n] = f"{mnemonic} = 0x{value & mask:0{digits}x}"
    return found


def _latencies(of: Events) -> list[int]:
    found = np.zeros(len(of.columns.cycle), np.int64)
    for (unit, code), at in _group_by_opcode(of):
        found[at] = of.machine.units[unit].latencies[decode_opcode(code)]
    return _list_names(found)


def _values(of: Events) -> list[str]:
    """The results as numbers of their types."""
    found = [""] * len(of.columns.cycle)
    for (_, code), at in _group_by_opcode(of):
        operation, dtype = decode_opcode(code)
        view = _VIEWS[BY_NAME[operation].result(dtype)]
        words = of.columns.value[at]
        numbers = words.view(view) if view == "float64" else words.astype(np.uint32).view(view)
        for n, number in zip(_list_names(at), numbers.astype(str), strict=True):
            found[n] = str(number)
    return found


def _group_by_opcode(of: Events) -> list[tuple[tuple[int, int], Numbers]]:
    """The events of each unit and opcode."""
    kinds, which = np.unique(of.columns.unit.astype(np.int64) << 16 | of.columns.opcode, return_inverse=True)
    return [((int(k) >> 16, int(k) & 0xFFFF), np.flatnonzero(which == n)) for n, k in enumerate(kinds)]


def _arguments(of: Events, known: Known, around: str) -> list[tuple[int | None, Pairs]]:
    """Of every event its operation's number, and what a span tells of it besides its value."""
    resolved, dimensions = _resolved_events(of, known), known.symbolic.dimensions
    fixed = [_node_arguments(known, v) for v in range(len(known.symbolic.nodes))]
    told: list[tuple[int | None, Pairs]] = []
    outer = [around] if around else []
    points: list[list[int]] = resolved.iteration.tolist()
    for v, point in zip(_list_names(resolved.node), points, strict=True):
        if v < 0:
            told.append((None, ()))
            continue
        iteration = " ".join([*outer, *(f"{d}={i}" for d, i in zip(dimensions, point, strict=True))])
        told.append((v, (*fixed[v], ("iteration", iteration))))
    return told


def _node_arguments(known: Known, node: int) -> Pairs:
    symbolic = known.symbolic
    name = (("operation", symbolic.node_names[node]),)
    if not symbolic.origins:
        return name
    return (*name, *symbolic.origins[node].told.items())


def _arrows(of: Events, later: int) -> Iterator[Arrow]:
    """Flow arrows, from each value's operation to every operation that reads it, use by use (the dependence edges of
    the array paper, section 4).
    """
    assert of.known is not None
    known, resolved, c = of.known, _resolved_events(of, of.known), of.columns
    keys = _Keys.of(resolved)
    lanes = _lanes(of)
    starts = _list_names(c.cycle + later)
    for use in known.symbolic.uses:
        readers = np.flatnonzero(resolved.node == use.consumer)
        points = resolved.iteration[readers] - np.array(use.distance, np.int64)
        for writer in use.writers:
            # Conditions of writers are disjoint, so that each reader has one arrow per use at most.
            wanted = np.flatnonzero(evaluate_condition(writer.condition, points, known))
            source = keys.find(writer.node, points[wanted])
            name = known.symbolic.node_names[writer.node]
            for s, t in zip(_list_names(source), _list_names(readers[wanted]), strict=True):
                if s >= 0:
                    yield Arrow(name, lanes[s], starts[s], lanes[t], starts[t])


def _lanes(of: Events) -> list[tuple[str, str]]:
    elements, units = list_elements(of), [unit.name for unit in of.machine.units]
    known = {(e, u): (elements[e], units[u]) for e in range(len(elements)) for u in range(len(units))}
    return [known[pair] for pair in zip(_list_names(of.columns.element), _list_names(of.columns.unit), strict=True)]


@dataclass(frozen=True, slots=True)
class _Keys:
    """Sorted index of events: node and iteration as one mixed-radix number each, found by binary search."""

    low: Numbers
    size: Numbers
    sorted: Numbers
    order: NDArray[np.intp]

    @staticmethod
    def of(resolved: Resolved) -> _Keys:
        points = resolved.iteration
        low = points.min(axis=0) if len(points) else np.zeros(points.shape[1], np.int64)
        size = points.max(axis=0) - low + 1 if len(points) else np.ones(points.shape[1], np.int64)
        keys = _linearize(resolved.node, points, low, size)
        order = np.argsort(keys, kind="stable")
        return _Keys(low, size, keys[order], order)

    def find(self, node: int, points: Numbers) -> Numbers:
        """The event of each point; -1 where there is none."""
        inside = ((points >= self.low) & (points < self.low + self.size)).all(axis=1)
        wanted = _linearize(np.full(len(points), node, np.int64), points, self.low, self.size)
        at = np.searchsorted(self.sorted, wanted)
        # A point outside the box of iterations would have the number of another point: mixed radix is unique only
        # inside.
        found = inside & (at < len(self.sorted))
        found[found] = self.sorted[at[found]] == wanted[found]
        return np.where(found, self.order[np.minimum(at, max(len(self.order) - 1, 0))] if len(self.order) else -1, -1)


def _linearize(node: Sequence[int] | Numbers, points: Numbers, low: Numbers, size: Numbers) -> Numbers:
    found = np.asarray(node, np.int64)
    for m in range(points.shape[1]):
        found = found * size[m] + (points[:, m] - low[m])
    return found

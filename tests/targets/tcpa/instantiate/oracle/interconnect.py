# SPDX-License-Identifier: Apache-2.0
"""Interconnect wrappers: propagation channels replicated where a token passes; and the routes of banks (section 6).

Input and output of an element takes the border directly where all elements of the access lie on one border (preference
west, north, east, south). Otherwise every element has a dedicated straight route: elements with even row + column along
their row to the nearer of west and east, odd ones along their column to the nearer of north and south, nearest elements
first on the lowest channels that no propagation channel uses in that direction and no other access at that border port.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import cast

import numpy as np
from numpy.typing import NDArray
from tests.targets.tcpa.instantiate.oracle.classes import Traffic
from tests.targets.tcpa.instantiate.oracle.concretize import Element, Tiling

from polyloom.diagnostics import INTERNAL, Diagnostic, PolyloomError, infeasible
from polyloom.targets.tcpa.words.concrete import Connection, Side
from polyloom.targets.tcpa.words.symbolic import Access, Limits, Port

LOCATIONS = ("pe", "north", "east", "south", "west")
_CODE = {location: i for i, location in enumerate(LOCATIONS)}
_STEP: dict[str, Element] = {"north": (-1, 0), "east": (0, 1), "south": (1, 0), "west": (0, -1)}
_OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}


@dataclass(frozen=True, slots=True)
class Mapped:
    """An access mapping of a candidate: `register` is an id for an input, an od for an output; `node` reads or writes
    it."""

    access: Access
    node: int
    register: int
    is_output: bool


@dataclass(frozen=True, slots=True)
class Terminal:
    """A bank's route: `links` wrapper crossings between the border port (side, position, channel) and `element`."""

    mapped: Mapped
    element: Element
    side: Side
    position: int
    channel: int
    links: int


def accesses(tiling: Tiling) -> tuple[Mapped, ...]:
    """All access mappings, inputs first."""
    candidate, symbolic = tiling.candidate, tiling.symbolic
    read = [
        Mapped(i.access, i.consumer, r, is_output=False)
        for i, r in zip(symbolic.inputs, candidate.input_registers, strict=True)
    ]
    written = [
        Mapped(o.access, o.producer, r, is_output=True)
        for o, r in zip(symbolic.outputs, candidate.output_registers, strict=True)
    ]
    return (*read, *written)


def terminals(traffic: Traffic) -> tuple[Terminal, ...]:
    """A border port and a route for every access of every element, whatever the number of channels."""
    tiling = traffic.tiles.tiling
    used: set[tuple[str, int, int]] = set()
    found: list[Terminal] = []
    for mapped in accesses(tiling):
        mask = traffic.accessing(tiling.symbolic.nodes[mapped.node].condition)
        places = [(int(r), int(c)) for r, c in np.argwhere(mask)]
        if places:
            side = _common_border(mask)
            chosen = (
                _interior(mapped, places, used, traffic)
                if side is None
                else _border(mapped, places, side, used, tiling)
            )
            found += chosen
            used |= {(t.side, t.position, t.channel) for t in chosen}
    return tuple(found)


def channels(found: tuple[Terminal, ...]) -> int:
    """Channels a side that the terminals need."""
    return max((t.channel + 1 for t in found), default=0)


def wire(
    traffic: Traffic, found: tuple[Terminal, ...]
) -> tuple[tuple[tuple[Connection, ...], ...], tuple[tuple[int, ...], ...]]:
    """(distinct wrappers, wrapper of every element), numbered by first element."""
    shape = traffic.tiles.group.shape
    sinks: dict[Element, dict[tuple[int, int], tuple[int, int]]] = {}
    wired: dict[Element, dict[tuple[int, int], tuple[int, int]]] = {}
    for element, source, sink, between in _links(traffic, found):
        if not (0 <= element[0] < shape[0] and 0 <= element[1] < shape[1]):
            raise PolyloomError(
                Diagnostic(
                    "PL0530",
                    "a propagation channel leaves the region",
                    INTERNAL,
                    help="this is a defect of the mapping; please report it",
                )
            )
        a, b = _code(source), _code(sink)
        if sinks.setdefault(element, {}).setdefault(b, a) != a:
            message = f"port {sink.location}{sink.index} of element {element} would be driven twice"
            raise PolyloomError(
                Diagnostic(
                    "PL0530",
                    message,
                    INTERNAL,
                    help="this is a defect of the mapping; please report it with the program",
                )
            )
        if between:
            wired.setdefault(element, {})[b] = a
    wrappers: dict[tuple[Connection, ...], int] = {}
    rows = tuple(
        tuple(
            wrappers.setdefault(
                tuple(Connection(b, a) for b, a in sorted(wired.get((r, c), {}).items())), len(wrappers)
            )
            for c in range(shape[1])
        )
        for r in range(shape[0])
    )
    return tuple(wrappers), rows


def _links(traffic: Traffic, found: tuple[Terminal, ...]) -> Iterator[tuple[Element, Port, Port, bool]]:
    """Connections (element, source, sink), perhaps repeated; and whether they are between elements."""
    for route, leaving in zip(traffic.tiles.tiling.candidate.routes, traffic.leaving, strict=True):
        for start in np.argwhere(leaving):
            at, source = (int(start[0]), int(start[1])), Port("pe", route.output)
            for hop in route.hops:
                yield at, source, hop, True
                at, source = _beside(at, hop.location), _sibling(hop)
            yield at, source, Port("pe", route.input), True
    for t in found:
        at, inner = t.element, Port("pe", t.mapped.register)
        for _ in range(t.links + 1):
            outer = Port(t.side, t.channel)
            yield (at, inner, outer, False) if t.mapped.is_output else (at, outer, inner, False)
            at, inner = _beside(at, t.side), Port(_opposite(t.side), t.channel)


def _code(port: Port) -> tuple[int, int]:
    return _CODE[port.location], port.index


def _opposite(side: str) -> Side:
    return cast(Side, _OPPOSITE[side])


def _sibling(sink: Port) -> Port:
    """The source port of the neighbouring wrapper that a sink port drives."""
    return Port(_opposite(sink.location), sink.index)


def _beside(element: Element, side: str) -> Element:
    return element[0] + _STEP[side][0], element[1] + _STEP[side][1]


def _common_border(mask: NDArray[np.bool_]) -> Side | None:
    borders: tuple[tuple[Side, NDArray[np.bool_]], ...] = (
        ("west", mask[:, 1:]),
        ("north", mask[1:]),
        ("east", mask[:, :-1]),
        ("south", mask[:-1]),
    )
    return next((side for side, others in borders if not others.any()), None)


def _position(side: str, element: Element) -> int:
    return element[0] if side in ("west", "east") else element[1]


def _border(
    mapped: Mapped, places: list[Element], side: Side, used: set[tuple[str, int, int]], tiling: Tiling
) -> list[Terminal]:
    """One channel for all elements, so that their wrappers are alike."""
    free = (
        c for c in _adjacent(mapped, side, 0, tiling) if not any((side, _position(side, e), c) in used for e in places)
    )
    channel = next(free)
    return [Terminal(mapped, e, side, _position(side, e), channel, 0) for e in places]


def _interior(
    mapped: Mapped, places: list[Element], used: set[tuple[str, int, int]], traffic: Traffic
) -> list[Terminal]:
    taken, tiling = set(used), traffic.tiles.tiling
    found: list[Terminal] = []
    for links, side, element in sorted(((*_nearest(e, tiling), e) for e in places), key=lambda x: (x[0], x[2])):
        busy = _propagating(traffic, side if mapped.is_output else _OPPOSITE[side]) if links else set[int]()
        position = _position(side, element)
        channel = next(
            c for c in _adjacent(mapped, side, links, tiling) if c not in busy and (side, position, c) not in taken
        )
        taken.add((side, position, channel))
        found.append(Terminal(mapped, element, side, position, channel, links))
    return sorted(found, key=lambda t: t.element)


def _nearest(element: Element, tiling: Tiling) -> tuple[int, Side]:
    row, column = element
    if (row + column) % 2 == 0:
        return min((column, "west"), (tiling.columns - 1 - column, "east"), key=lambda x: (x[0], x[1] != "west"))
    return min((row, "north"), (tiling.rows - 1 - row, "south"), key=lambda x: (x[0], x[1] != "north"))


def _propagating(traffic: Traffic, direction: str) -> set[int]:
    """Channels on which some element sends another one something towards `direction`."""
    routes = zip(traffic.tiles.tiling.candidate.routes, traffic.leaving, strict=True)
    return {h.index for route, leaving in routes if leaving.any() for h in route.hops if h.location == direction}


def _adjacent(mapped: Mapped, side: Side, links: int, tiling: Tiling) -> Iterator[int]:
    """The channels over which the wrappers can connect the register with the border; endless without an adjacency
    limit."""
    limits = tiling.symbolic.limits
    if limits.adjacency is None:
        yield from count()
        return
    last = max((p.index for pair in limits.adjacency for p in pair if p.location != "pe"), default=-1)
    yield from (c for c in range(last + 1) if _connectable(mapped, side, c, links, limits))
    name = f"{'od' if mapped.is_output else 'id'}{mapped.register}"
    raise infeasible(
        "PL0517",
        f"no free channel leads from {name} to a bank on the {side} side",
        help="use a machine with more channels or adjacent ports",
    )


def _connectable(mapped: Mapped, side: Side, channel: int, links: int, limits: Limits) -> bool:
    near, far, pe = Port(side, channel), Port(_opposite(side), channel), Port("pe", mapped.register)
    pairs = [(pe, near), (far, near)] if mapped.is_output else [(near, pe), (near, far)]
    return all(pair in (limits.adjacency or ()) for pair in pairs[: 2 if links else 1])

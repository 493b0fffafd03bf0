# SPDX-License-Identifier: Apache-2.0
"""Bank placement rule (docs/targets/tcpa.md, Banks): whether banks stand at the ports that the rules name, read from
the words of a concrete configuration.

A bank could often stand elsewhere, at a corner's other side or on another free channel, and the array would do the
same: that there is one right place makes a changed word visible.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from polyloom.targets.tcpa.words.concrete import Concrete, Generator, Side, route_end
from polyloom.targets.tcpa.words.sides import LOCATIONS, OPPOSITE

Port = tuple[int, int]
"""(location, index), as in a `Connection`."""


def generator_route(g: Generator, is_output: bool) -> list[tuple[Port, Port]]:
    """Route of a generator, as (source, sink) pairs in the wrapper of the register, then, if there is any, in those on
    the way.
    """
    return route(g.side, g.register, g.links > 0, is_output, g.channel)


def route(side: Side, register: int, far: bool, is_output: bool, channel: int) -> list[tuple[Port, Port]]:
    """`far`: there are wrappers on the way."""
    outer, through = (LOCATIONS.index(side), channel), (LOCATIONS.index(OPPOSITE[side]), channel)
    # All wrappers on the way connect the same two ports, so that one pair stands for them.
    inner = ((0, register), through)[: 1 + far]
    return [(i, outer) if is_output else (outer, i) for i in inner]


class Channels:
    """Which of the first `count` channels a route may take, as bits: their ports are adjacent, and on the way not
    driven."""

    def __init__(self, c: Concrete, count: int, adjacent: frozenset[tuple[Port, Port]] | None) -> None:
        self._count, self._adjacent = count, adjacent
        self._driven = frozenset(k.sink for wrapper in c.wrappers for k in wrapper)
        self._usable: dict[tuple[Side, int, bool, bool], int] = {}

    def usable(self, side: Side, register: int, is_output: bool, far: bool) -> int:
        """`far`: the route has links."""
        key = side, register, is_output, far
        if key not in self._usable:
            routes = (route(side, register, far, is_output, n) for n in range(self._count))
            self._usable[key] = sum(
                1 << n for n, r in enumerate(routes) if _is_free_route(r, self._adjacent, self._driven)
            )
        return self._usable[key]


def misplaced_banks(c: Concrete, adjacent: frozenset[tuple[Port, Port]] | None) -> Iterator[tuple[Generator, str]]:
    """Generators whose bank stands elsewhere, and what the rule names. `adjacent`: the allowed (source, sink) pairs;
    None: every pair."""
    channels = Channels(c, 1 + max((g.channel for g in c.generators), default=0), adjacent)
    taken: dict[tuple[str, int], int] = {}

    def usable_channels(g: Generator) -> int:
        return channels.usable(g.side, g.register, c.arrays[g.array].is_output, g.links > 0)

    def lowest(last: int, alike: Sequence[Generator]) -> int | None:
        """The lowest channel, up to `last`, that is free for all of them."""
        free = (1 << last + 1) - 1
        for g in alike:
            free &= usable_channels(g) & ~taken.get((g.side, g.position), 0)
        return (free & -free).bit_length() - 1 if free else None

    def take(g: Generator) -> None:
        taken[g.side, g.position] = taken.get((g.side, g.position), 0) | 1 << g.channel

    used: frozenset[Side] = frozenset(g.side for g in c.generators)
    for _, access in groupby(c.generators, key=lambda g: (g.array, g.register)):
        # Nearest first, as the instantiation gives channels out.
        found = sorted(access, key=lambda g: (g.links, route_end(c, g)))
        border = _common_border(c, found, used)
        shared = lowest(found[0].channel, found) if border else None
        for g in found:
            side, links = (border, 0) if border else _nearest(c, g, used)
            if (g.side, g.links) != (side, links):
                yield g, f"{links} links from the {side}"
            elif g.channel != (shared if border else lowest(g.channel, [g])):
                yield g, "on another channel"
            # Border accesses share one channel, which is taken once all of them have been looked at.
            if not border:
                take(g)
        for g in found:
            take(g)


def _is_free_route(
    pairs: Sequence[tuple[Port, Port]], adjacent: frozenset[tuple[Port, Port]] | None, driven: frozenset[Port]
) -> bool:
    return (adjacent is None or all(pair in adjacent for pair in pairs)) and not any(
        sink in driven for _, sink in pairs[1:]
    )


def _common_border(c: Concrete, found: Sequence[Generator], used: frozenset[Side]) -> Side | None:
    """The first border that has all; one without any bank may be inside a larger array, where none stand."""
    places = [route_end(c, g) for g in found]
    rows, columns = {r for r, _ in places}, {k for _, k in places}
    # The order is instantiation's: a corner element has two borders, and west comes before north.
    ends: tuple[tuple[Side, set[int], int], ...] = (
        ("west", columns, 0),
        ("north", rows, 0),
        ("east", columns, c.columns - 1),
        ("south", rows, c.rows - 1),
    )
    return next((side for side, lines, end in ends if lines == {end} and side in used), None)


def _nearest(c: Concrete, g: Generator, used: frozenset[Side]) -> tuple[Side, int]:
    row, column = route_end(c, g)
    # As a chess board: elements take turns between the two directions, which halves the channels that a side needs.
    near, far = (column, c.columns - 1 - column) if (row + column) % 2 == 0 else (row, c.rows - 1 - row)
    sides: tuple[Side, Side] = ("west", "east") if (row + column) % 2 == 0 else ("north", "south")
    closed = sides[1] not in used
    return (sides[0], near) if sides[0] in used and (near <= far or closed) else (sides[1], far)

# SPDX-License-Identifier: Apache-2.0
"""Whether banks stand at the ports that the rules name (docs/targets/tcpa.md, Banks), read from the words of a concrete
configuration.

A bank could often stand elsewhere, at a corner's other side or on another free channel, and the array would do the
same: that there is one right place makes a changed word visible.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from polyloom.targets.tcpa.concrete import Concrete, Generator, Side, end_of
from polyloom.targets.tcpa.route import OPPOSITE

LOCATIONS = ("pe", "north", "east", "south", "west")
Port = tuple[int, int]
"""(location, index), as in a `Connection`."""


def route(g: Generator, is_output: bool, channel: int | None = None) -> list[tuple[Port, Port]]:
    """(source, sink) in the wrapper of the register, then, if there is any, in those on the way; on another channel if
    one is given."""
    n = g.channel if channel is None else channel
    outer, through = (LOCATIONS.index(g.side), n), (LOCATIONS.index(OPPOSITE[g.side]), n)
    inner = ((0, g.register), through)[: 1 + (g.links > 0)]
    return [(i, outer) if is_output else (outer, i) for i in inner]


def misplaced(c: Concrete, adjacent: frozenset[tuple[Port, Port]] | None) -> Iterator[tuple[Generator, str]]:
    """Generators whose bank stands elsewhere, and what the rule names. `adjacent`: the allowed (source, sink) pairs;
    None: every pair."""
    channels = 1 + max((g.channel for g in c.generators), default=0)
    driven = frozenset(k.sink for wrapper in c.wrappers for k in wrapper)
    taken: dict[tuple[str, int], int] = {}
    usable: dict[tuple[str, int, bool, bool], int] = {}

    def allowed(g: Generator) -> int:
        """Channels, as bits, whose ports are adjacent, and on the way not driven."""
        is_output = c.arrays[g.array].is_output
        key = g.side, g.register, is_output, g.links > 0
        if key not in usable:
            usable[key] = sum(1 << n for n in range(channels) if _passes(route(g, is_output, n), adjacent, driven))
        return usable[key]

    def lowest(last: int, alike: Sequence[Generator]) -> int | None:
        """The lowest channel, up to `last`, that is free for all of them."""
        free = (1 << last + 1) - 1
        for g in alike:
            free &= allowed(g) & ~taken.get((g.side, g.position), 0)
        return (free & -free).bit_length() - 1 if free else None

    def take(g: Generator) -> None:
        taken[g.side, g.position] = taken.get((g.side, g.position), 0) | 1 << g.channel

    for _, access in groupby(c.generators, key=lambda g: (g.array, g.register)):
        # Nearest first, as the instantiation gives channels out.
        found = sorted(access, key=lambda g: (g.links, end_of(c, g)))
        border = _common_border(c, found)
        shared = lowest(found[0].channel, found) if border else None
        for g in found:
            side, links = (border, 0) if border else _nearest(c, g)
            if (g.side, g.links) != (side, links):
                yield g, f"{links} links from the {side}"
            elif g.channel != (shared if border else lowest(g.channel, [g])):
                yield g, "on another channel"
            # Border accesses share one channel, which is taken once all of them have been looked at.
            if not border:
                take(g)
        for g in found:
            take(g)


def _passes(
    pairs: Sequence[tuple[Port, Port]], adjacent: frozenset[tuple[Port, Port]] | None, driven: frozenset[Port]
) -> bool:
    return (adjacent is None or all(pair in adjacent for pair in pairs)) and not any(
        sink in driven for _, sink in pairs[1:]
    )


def _common_border(c: Concrete, found: Sequence[Generator]) -> Side | None:
    places = [end_of(c, g) for g in found]
    rows, columns = {r for r, _ in places}, {k for _, k in places}
    ends: tuple[tuple[Side, set[int], int], ...] = (
        ("west", columns, 0),
        ("north", rows, 0),
        ("east", columns, c.columns - 1),
        ("south", rows, c.rows - 1),
    )
    return next((side for side, lines, end in ends if lines == {end}), None)


def _nearest(c: Concrete, g: Generator) -> tuple[Side, int]:
    row, column = end_of(c, g)
    # As a chess board: elements take turns between the two directions, which halves the channels that a side needs.
    near, far = (column, c.columns - 1 - column) if (row + column) % 2 == 0 else (row, c.rows - 1 - row)
    sides: tuple[Side, Side] = ("west", "east") if (row + column) % 2 == 0 else ("north", "south")
    return (sides[0], near) if near <= far else (sides[1], far)

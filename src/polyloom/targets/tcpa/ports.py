# SPDX-License-Identifier: Apache-2.0
"""Whether banks stand at the ports that the rules name (docs/targets/tcpa.md, Banks), read from the words of a concrete configuration.

A bank could often stand elsewhere, at a corner's other side or on another free channel, and the array would do the same: that there is
one right place makes a changed word visible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from polyloom.targets.tcpa.concrete import Concrete, Generator, Side, way
from polyloom.targets.tcpa.route import OPPOSITE

LOCATIONS = ("pe", "north", "east", "south", "west")
Port = tuple[int, int]
"""(location, index), as in a `Connection`."""


def route(g: Generator, is_output: bool, channel: int | None = None) -> list[tuple[Port, Port]]:
    """(source, sink) in the wrapper of the register, then, if there is any, in those on the way; on another channel if one is given."""
    n = g.channel if channel is None else channel
    outer, through = (LOCATIONS.index(g.side), n), (LOCATIONS.index(OPPOSITE[g.side]), n)
    inner = ((0, g.register), through)[: 1 + (g.links > 0)]
    return [(i, outer) if is_output else (outer, i) for i in inner]


def misplaced(c: Concrete, adjacent: frozenset[tuple[Port, Port]] | None) -> Iterator[tuple[Generator, str]]:
    """Generators whose bank stands elsewhere, and what the rule names. `adjacent`: the allowed (source, sink) pairs; None: every pair."""
    taken: set[tuple[str, int, int]] = set()
    driven = frozenset(k.sink for wrapper in c.wrappers for k in wrapper)

    def free(g: Generator, channel: int) -> bool:
        pairs = route(g, c.arrays[g.array].is_output, channel)
        allowed = adjacent is None or all(pair in adjacent for pair in pairs)
        return allowed and (g.side, g.position, channel) not in taken and not any(sink in driven for _, sink in pairs[1:])

    for _, access in groupby(c.generators, key=lambda g: (g.array, g.register)):
        found = sorted(access, key=lambda g: (g.links, way(c, g)[-1]))
        border = _common_border(c, found)
        shared = _lowest(found[0].channel, found, free)
        for g in found:
            side, links = (border, 0) if border else _nearest(c, g)
            if (g.side, g.links) != (side, links):
                yield g, f"{links} links from the {side}"
            elif g.channel != (shared if border else _lowest(g.channel, [g], free)):
                yield g, "on another channel"
            if not border:
                taken.add((g.side, g.position, g.channel))
        taken |= {(g.side, g.position, g.channel) for g in found}


def _lowest(last: int, alike: Sequence[Generator], free: Callable[[Generator, int], bool]) -> int | None:
    """The lowest channel, up to `last`, that is free for all of them."""
    return next((n for n in range(last + 1) if all(free(g, n) for g in alike)), None)


def _common_border(c: Concrete, found: Sequence[Generator]) -> Side | None:
    places = [way(c, g)[-1] for g in found]
    rows, columns = {r for r, _ in places}, {k for _, k in places}
    ends: tuple[tuple[Side, set[int], int], ...] = (("west", columns, 0), ("north", rows, 0), ("east", columns, c.columns - 1), ("south", rows, c.rows - 1))
    return next((side for side, lines, end in ends if lines == {end}), None)


def _nearest(c: Concrete, g: Generator) -> tuple[Side, int]:
    row, column = way(c, g)[-1]
    near, far = (column, c.columns - 1 - column) if (row + column) % 2 == 0 else (row, c.rows - 1 - row)
    sides: tuple[Side, Side] = ("west", "east") if (row + column) % 2 == 0 else ("north", "south")
    return (sides[0], near) if near <= far else (sides[1], far)

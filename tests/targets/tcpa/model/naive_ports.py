# SPDX-License-Identifier: Apache-2.0
"""The rules of banks read channel by channel and element by element, as docs/targets/tcpa.md has them: the oracle of
`ports.misplaced_banks`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from polyloom.targets.tcpa.run.verify.bank_ports import Port, route
from polyloom.targets.tcpa.words.concrete import Concrete, Generator, Side, bank_route


def misplaced(c: Concrete, adjacent: frozenset[tuple[Port, Port]] | None) -> Iterator[tuple[Generator, str]]:
    """Generators whose bank stands elsewhere, and what the rule names. `adjacent`: the allowed (source, sink) pairs;
    None: every pair."""
    taken: set[tuple[str, int, int]] = set()
    driven = frozenset(k.sink for wrapper in c.wrappers for k in wrapper)

    def free(g: Generator, channel: int) -> bool:
        pairs = route(g.side, g.register, g.links > 0, c.arrays[g.array].is_output, channel)
        allowed = adjacent is None or all(pair in adjacent for pair in pairs)
        return (
            allowed and (g.side, g.position, channel) not in taken and not any(sink in driven for _, sink in pairs[1:])
        )

    for _, access in groupby(c.generators, key=lambda g: (g.array, g.register)):
        found = sorted(access, key=lambda g: (g.links, bank_route(c, g)[-1]))
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


def _has_banks(c: Concrete, side: Side) -> bool:
    """A border without any may be inside a larger array, where none stand."""
    return any(g.side == side for g in c.generators)


def _common_border(c: Concrete, found: Sequence[Generator]) -> Side | None:
    places = [bank_route(c, g)[-1] for g in found]
    rows, columns = {r for r, _ in places}, {k for _, k in places}
    ends: tuple[tuple[Side, set[int], int], ...] = (
        ("west", columns, 0),
        ("north", rows, 0),
        ("east", columns, c.columns - 1),
        ("south", rows, c.rows - 1),
    )
    return next((side for side, lines, end in ends if lines == {end} and _has_banks(c, side)), None)


def _nearest(c: Concrete, g: Generator) -> tuple[Side, int]:
    row, column = bank_route(c, g)[-1]
    near, far = (column, c.columns - 1 - column) if (row + column) % 2 == 0 else (row, c.rows - 1 - row)
    sides: tuple[Side, Side] = ("west", "east") if (row + column) % 2 == 0 else ("north", "south")
    both: tuple[tuple[Side, int], ...] = ((sides[0], near), (sides[1], far))
    ends = [end for end in both if _has_banks(c, end[0])]
    return min(ends, key=lambda end: end[1]) if ends else both[1]

# SPDX-License-Identifier: Apache-2.0
"""Which switches the words of a configuration set: the wrappers', and those of the banks' routes (docs/formats.md,
Routes).

A route goes straight from the border port of its generator to an element; every wrapper on the way connects its two
sides, the last one of a side and the register. No port may be driven twice.
"""

from __future__ import annotations

from functools import lru_cache

from polyloom.targets.tcpa.words.concrete import Concrete

Element = tuple[int, int]
Port = tuple[int, int]
_INWARDS = {"north": (1, 3, (1, 0)), "east": (2, 4, (0, -1)), "south": (3, 1, (-1, 0)), "west": (4, 2, (0, 1))}
"""Location of a side, of its opposite, and the step away from it."""


@lru_cache(maxsize=4)
def connections(concrete: Concrete) -> dict[Element, list[tuple[Port, Port]]]:
    """(sink, source) pairs by element."""
    places = [(r, c) for r in range(concrete.rows) for c in range(concrete.columns)]
    made = {(r, c): [(k.sink, k.source) for k in concrete.wrappers[concrete.wrapper[r][c]]] for r, c in places}
    for g in concrete.generators:
        near, far, (down, right) = _INWARDS[g.side]
        row = {1: 0, 3: concrete.rows - 1}.get(near, g.position)
        column = {4: 0, 2: concrete.columns - 1}.get(near, g.position)
        for left in range(g.links, -1, -1):
            outer, inner = (near, g.channel), (far, g.channel) if left else (0, g.register)
            made[row, column].append((outer, inner) if concrete.arrays[g.array].is_output else (inner, outer))
            row, column = row + down, column + right
    for element, pairs in made.items():
        assert len({sink for sink, _ in pairs}) == len(pairs), f"a port of {element} is driven twice"
    return made

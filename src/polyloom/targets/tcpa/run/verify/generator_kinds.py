# SPDX-License-Identifier: Apache-2.0
"""Equivalence classes of address generators: what the static check asks of generators, asked once per kind of them.

A rule that looks at one generator alone finds nothing in any of them if it finds nothing in one of each kind
(`representatives`). Where banks stand depends on all of them (`bank_ports.misplaced_banks`), but line by line of the
array and access by access, and most lines of an access look alike (`has_correct_banks`). Both are exact in one
direction: silence here is silence there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.targets.tcpa.run.verify import bank_ports
from polyloom.targets.tcpa.words.concrete import Concrete
from polyloom.targets.tcpa.words.generator_table import Outline, Table
from polyloom.targets.tcpa.words.sides import SIDES

_SMALL: Final = 16
"""Generators of an access, on average, below which a look at each takes no longer."""
Numbers = NDArray[np.int64]
Allowed = Callable[[int, bool], int]
"""Channels, as bits, by side and whether the route has links."""


def representatives(read: Outline) -> list[int]:
    """Rows with every combination of side, register, channel, array and whether there are links, with every one of
    array, domain and coefficients, and with the greatest delay."""
    table = read.table
    if not len(table):
        return []
    ports_alike = np.unique(_port(table), return_index=True)[1]
    # The rule on delays is a bound: the greatest one stands for all.
    return sorted({int(table["delay"].argmax()), *ports_alike.tolist(), *_access_representatives(table)})


def _port(table: Table) -> Numbers:
    word = table["links"] > 0
    number = word.astype(np.int64)
    # Fields of the file have these widths, so that their concatenation is injective and fits 64 bits.
    for name, bits in (("side", 2), ("register", 16), ("channel", 16), ("array", 16)):
        number = number << bits | table[name]
    return number


def _access_representatives(table: Table) -> list[int]:
    """Rows with one of each array, domain and coefficients; equal ones stand in runs, mostly."""
    changes = np.ones(len(table), np.bool_)
    changes[1:] = (np.diff(table["domain"]) != 0) | (np.diff(table["array"]) != 0)
    changes[1:] |= (table["coefficients"][1:] != table["coefficients"][:-1]).any(axis=1)
    starts = np.flatnonzero(changes)
    keys = zip(
        table["domain"][starts].tolist(),
        table["array"][starts].tolist(),
        map(bytes, table["coefficients"][starts]),
        strict=True,
    )
    return list(dict(zip(keys, starts.tolist(), strict=True)).values())


def has_correct_banks(read: Outline, adjacent: frozenset[tuple[bank_ports.Port, bank_ports.Port]] | None) -> bool:
    """Whether `ports.misplaced_banks` certainly finds nothing."""
    table, c = read.table, read.concrete
    groups = list(_accesses(table))
    # NumPy's fixed cost per access would be more than the loop over a few generators.
    if len(table) < _SMALL * len(groups):
        return next(bank_ports.misplaced_banks(read.with_generators(range(len(table))), adjacent), None) is None
    used = frozenset(np.unique(table["side"]).tolist())
    channels = bank_ports.Channels(c, 1 + int(table["channel"].max(initial=0)), adjacent)
    taken: dict[tuple[int, int], int] = {}
    verdicts: dict[object, int | None] = {}
    for rows in groups:
        is_output, register = c.arrays[int(rows["array"][0])].is_output, int(rows["register"][0])

        def usable_channels(side: int, far: bool, is_output: bool = is_output, register: int = register) -> int:
            return channels.usable(SIDES[side], register, is_output, far)

        if not _is_group_in_place(c, rows, usable_channels, taken, verdicts, used):
            return False
    return True


def _accesses(table: Table) -> Iterator[Table]:
    """Runs of one array and register."""
    ends = np.flatnonzero((np.diff(table["array"]) != 0) | (np.diff(table["register"]) != 0)) + 1
    return (rows for rows in np.split(table, ends) if len(rows))


def _is_group_in_place(
    c: Concrete,
    rows: Table,
    allowed: Allowed,
    taken: dict[tuple[int, int], int],
    verdicts: dict[Any, int | None],
    used_sides: frozenset[int],
) -> bool:
    side, links, position, channel = (rows[name].astype(np.int64) for name in ("side", "links", "position", "channel"))
    row, column = _ends(c, side, links, position)
    border = _common_border(c, row, column, used_sides)
    wanted = (
        (np.full_like(side, border), np.zeros_like(links))
        if border is not None
        else _nearest(c, row, column, used_sides)
    )
    if (side != wanted[0]).any() or (links != wanted[1]).any():
        return False
    if border is not None:
        return _claim_shared_channel(border, channel[np.lexsort((column, row))], position, allowed, taken)
    order = np.lexsort((column, row, links, position, side))
    lines = side[order] << 16 | position[order]
    starts = np.flatnonzero(np.diff(lines, prepend=-1))
    used, far = channel[order].astype(np.uint16), links[order] > 0
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(lines)], strict=True):
        line = int(lines[start]) >> 16, int(lines[start]) & 0xFFFF
        before = taken.get(line, 0)
        # The verdict on a line depends on nothing else; lines of one access mostly have one key.
        key = (before, line[0], allowed(line[0], False), allowed(line[0], True), used[start:end].tobytes())
        key = (*key, far[start:end].tobytes())
        if key not in verdicts:
            verdicts[key] = _claim_channels(before, used[start:end].tolist(), far[start:end].tolist(), line[0], allowed)
        after = verdicts[key]
        if after is None:
            return False
        taken[line] = after
    return True


def _claim_channels(before: int, used: list[int], far: list[bool], side: int, allowed: Allowed) -> int | None:
    """The channels taken on a line after an access; None where one of its generators is not on the lowest free one."""
    taken = before
    for channel, has_links in zip(used, far, strict=True):
        free = allowed(side, has_links) & ~taken
        if free & -free != 1 << channel:
            return None
        taken |= 1 << channel
    return taken


def _claim_shared_channel(
    side: int, channel: Numbers, position: Numbers, allowed: Allowed, taken: dict[tuple[int, int], int]
) -> bool:
    """Whether all are on the lowest channel that is free for all of them; it is then taken."""
    lines = [(side, p) for p in np.unique(position).tolist()]
    free = allowed(side, False)
    for line in lines:
        free &= ~taken.get(line, 0)
    if not free or (1 << int(channel[0])) != free & -free or (channel != channel[0]).any():
        return False
    for line in lines:
        taken[line] = taken.get(line, 0) | 1 << int(channel[0])
    return True


def _ends(c: Concrete, side: Numbers, links: Numbers, position: Numbers) -> tuple[Numbers, Numbers]:
    """`concrete.route_end`, of all."""
    across = (side == SIDES.index("north")) | (side == SIDES.index("south"))
    # Links are counted from the bank: from the last row or column for these two sides.
    far = (side == SIDES.index("south")) | (side == SIDES.index("east"))
    last = np.where(across, c.rows, c.columns) - 1
    line = np.where(far, last - links, links)
    return np.where(across, line, position), np.where(across, position, line)


def _common_border(c: Concrete, row: Numbers, column: Numbers, used: frozenset[int]) -> int | None:
    ends = (("west", column, 0), ("north", row, 0), ("east", column, c.columns - 1), ("south", row, c.rows - 1))
    borders = (SIDES.index(side) for side, lines, end in ends if (lines == end).all())
    return next((side for side in borders if side in used), None)


def _nearest(c: Concrete, row: Numbers, column: Numbers, used: frozenset[int]) -> tuple[Numbers, Numbers]:
    """Side and links of the nearest border: west or east, and north or south, like the colours of a chessboard."""
    even = (row + column) % 2 == 0
    near, far = np.where(even, column, row), np.where(even, c.columns - 1 - column, c.rows - 1 - row)
    first, second = (np.where(even, SIDES.index(a), SIDES.index(b)) for a, b in (("west", "north"), ("east", "south")))
    here = np.isin(first, [*used]) & ((near <= far) | ~np.isin(second, [*used]))
    return np.where(here, first, second), np.where(here, near, far)

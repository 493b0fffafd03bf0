# SPDX-License-Identifier: Apache-2.0
"""Packing moves: lines of memory moved by all minions, transformed by the loads, which convolutions need.

Tiles take lines 0 to 15 and 16 to 31 of L1Scp in turns. Accepting a store proves the one before it complete, so that a
load may overwrite that one's lines: one wait per tile.

Registers: s4 the tile, s6 and s7 the words of load and store, a3 and a4 the bits that turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from polyloom.targets.minion.map.frame import Team
from polyloom.targets.minion.map.product.loop import divide_index
from polyloom.targets.minion.map.product.tensor_assembly import LOADED, TURN_LOAD, TURN_STORE, add_scaled, li, wait
from polyloom.targets.minion.words.tensor_words import TRANSFORMS, encode, load_second_word


@dataclass(frozen=True, slots=True)
class Digit:
    """Dimension of a move: so many tiles, one every `source` bytes there and every `to` bytes here. A tile's number is
    written in the mixed radix of these counts.
    """

    count: int
    source: int
    to: int


@dataclass(frozen=True, slots=True)
class Move:
    """Tiles of `rows` lines: from lines `source_stride` apart, which `transform` makes into those of the tile, to lines
    `to_stride` apart.
    """

    source: int
    to: int
    digits: tuple[Digit, ...]
    rows: int
    source_stride: int
    to_stride: int
    transform: str = "plain"

    @property
    def tiles(self) -> int:
        return prod(digit.count for digit in self.digits)


def move_loops(moves: Sequence[Move], team: Team, prefix: str) -> list[str]:
    """Loops of several moves; minions take tiles in turns. The last store may still run behind the code."""
    lines = [li("a3", TURN_LOAD), li("a4", TURN_STORE), li("s6", 0), li("s7", 0)]
    return [*lines, *(line for n, move in enumerate(moves) for line in _move_loop(move, team, f"{prefix}.{n}"))]


def _move_loop(m: Move, team: Team, prefix: str) -> list[str]:
    """Loop of one move."""
    load = encode("tensor_load", transform=TRANSFORMS.index(m.transform), rows=m.rows, address=m.source).value
    store = encode("tensor_store_scp", rows=m.rows, address=m.to).value
    again, done = f"{prefix}.tile", f"{prefix}.moved"
    lines = ["mv s4, s0", f"{again}:", li("t0", m.tiles), f"bgeu s4, t0, {done}", "mv t3, s4"]
    lines += ["and s6, s6, a3", li("t0", load), "add s6, s6, t0", "and s7, s7, a4", li("t0", store), "add s7, s7, t0"]
    # Dimensions of extent 1 need no division.
    several = [digit for digit in m.digits if digit.count > 1]
    for number, digit in enumerate(reversed(several), 1):
        lines += ["mv t2, t3", *(divide_index("t3", "t2", digit.count) if number < len(several) else [])]
        lines += [*add_scaled("t1", "t2", digit.source, "s6"), *add_scaled("t1", "t2", digit.to, "s7")]
    # x31 is sampled when the CSR is written, so the store's stride is set only behind the load.
    lines += [
        li("t6", load_second_word(m.source_stride)),
        "csrw tensor_load, s6",
        li("t5", m.to_stride),
        wait(LOADED),
        "mv t6, t5",
    ]
    lines += ["csrw tensor_store, s7", "xor s6, s6, a3", "xor s7, s7, a4", li("t0", team.minions), "add s4, s4, t0"]
    return [*lines, f"j {again}", f"{done}:"]

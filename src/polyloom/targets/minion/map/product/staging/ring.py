# SPDX-License-Identifier: Apache-2.0
"""Ring buffer of a staged product: geometry of the chunks of its operands in a shire's scratchpad, and signals between
the harts of a shire (manual, chapters 10 and 11).

A slot holds a chunk's tiles of the left factor, a row of the patch behind another, those of the right one, and, where
the loop packs the right factor, its packed tiles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from polyloom.targets.minion.map.frame import CREDITS, Team
from polyloom.targets.minion.map.product.cooperative_loads import can_share
from polyloom.targets.minion.map.product.loop import Problem
from polyloom.targets.minion.map.product.operand import INT8
from polyloom.targets.minion.map.product.predict import loop_packing_cycles, packing_cycles
from polyloom.targets.minion.map.product.tensor_assembly import li
from polyloom.targets.minion.memory_map import SCRATCHPAD
from polyloom.targets.minion.words.tiles import ROWS, TILE, WORD, Grid

OWN: Final = SCRATCHPAD + (0x7F << 23)
"""The scratchpad of whichever shire asks."""
_CREDITS: Final = CREDITS + (0xFF << 22)
LOADED, FREED, PACKED = 0, 1, 2
"""What second harts have loaded, what first harts have used, and what they have packed: numbers of FLBs begin at so
many times as many as count chunks.
"""
# Numbers of FLBs: of two kinds of signals, or of three; 30 and 31 are those of barriers between phases.
_NUMBERS: Final = {False: 15, True: 10}
_LEAST: Final = 6
"""Slots, at least: a hart joins two chunks behind the one whose loads it issues, and first harts free a slot two chunks
later."""
PIECE: Final = 8
"""Lines of a load: lines of DRAM come the slower the more of them a load asks for, and a hart has two loads under
way.
"""
PARTS: Final = ROWS // PIECE
"""Loads of a tile."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Staged product: the grid, minions in a shire that take part, and bytes of its scratchpad."""

    p: Problem
    g: Grid
    minions: int
    room: int

    @property
    def packs(self) -> bool:
        """Whether the loop packs the right factor: each minion of a column its share of the lines of each tile. Vectors
        of TensorQuant take the lines of L1Scp that packing needs.
        """
        raw, g = self.p.raw, self.g
        if raw is None or not raw.transform.startswith("interleave") or self.p.quant is not None:
            return False
        # A multiplication of bytes is shorter than loads of a left tile and of what is packed, one behind the other, so
        # that the loop packs them only where it has fewer steps than packing in front of it takes.
        team = Team(self.minions * self.g.shire_rows * self.g.shire_columns, 2)
        if self.p.kind is INT8 and (
            self.rounds != (1, 1) or self.p.steps * loop_packing_cycles(self.p) > packing_cycles(self.p, team)
        ):
            return False
        # Shares of a tile are whole lines, and lines of several blocks belong to one patch.
        return self.is_whole and g.columns % self.ways == 0 and ROWS % g.rows == 0

    @property
    def is_whole(self) -> bool:
        """Whether all minions of whole shires have as many whole blocks and whole steps."""
        p = self.p
        whole = p.rows % p.height == 0 and p.columns % ROWS == 0 and p.words % ROWS == 0
        return whole and can_share(self.g, p.block_rows, p.block_columns)

    @property
    def is_direct(self) -> bool:
        """Whether first harts take the first chunk, less what is packed, from where it lies, and second harts prefetch
        it into L2: then nobody waits for signals.
        """
        return self.is_whole and self.length == 1 and self.chunks > 1

    @property
    def ways(self) -> int:
        """Elements in a word of the right factor: lines of a tile before it is packed hold so many blocks."""
        return WORD // self.p.kind.bytes

    @property
    def length(self) -> int:
        """Steps of a chunk: few, so that the first one is there early; an FLB serves all harts within their time."""
        return 2 if self.p.kind is INT8 and not self.packs else 1

    @property
    def numbers(self) -> int:
        """FLBs of each kind of signals."""
        return _NUMBERS[self.packs]

    @property
    def slots(self) -> int:
        """Slots of the ring."""
        return min(self.numbers - 1 + self.skew, self.room // self.slot)

    @property
    def lookahead(self) -> int:
        """Chunks that second harts load before first harts have used one."""
        return self.slots - self.skew - 1

    @property
    def left_shift(self) -> int:
        """Loads of a row of tiles of the left factor are ahead by their number, shifted by so much: lines of a column
        lie in few banks of one home, and loads of all rows at once would make the minions of that shire wait. Where all
        comes from DRAM, which is as fast as the tensor units, what is ahead delays what is needed.
        """
        return 1 if self.packs else 2 if self.rounds == (1, 1) else 0

    @property
    def skew(self) -> int:
        """By how many chunks loads are ahead at most."""
        return max((self.g.rows * PARTS - 1) >> self.left_shift, self.pack_distance)

    @property
    def pack_distance(self) -> int:
        """By how many chunks loads of the right factor are ahead: the loop packs it a chunk before it is needed."""
        return 1 if self.packs else 0

    @property
    def fits(self) -> bool:
        return self.lookahead >= _LEAST

    @property
    def left_tiles(self) -> int:
        """Tiles of the left factor in a chunk."""
        return self.g.rows * self.length

    @property
    def right_tiles(self) -> int:
        return self.g.columns * self.length

    @property
    def loads(self) -> int:
        """Loads of a chunk."""
        return (self.left_tiles + self.right_tiles) * PARTS

    @property
    def packed(self) -> int:
        """Where packed tiles begin in a slot, or else all of the right factor."""
        return (self.left_tiles + (self.right_tiles if self.packs else 0)) * TILE

    @property
    def slot(self) -> int:
        """Bytes."""
        return self.packed + self.right_tiles * TILE

    @property
    def chunks(self) -> int:
        return -(-self.p.steps // self.length)

    @property
    def is_uneven(self) -> bool:
        """Whether a minion that has had blocks may have none in a later round."""
        (rows, columns), g = self.rounds, self.g
        below = rows > 1 and self.p.block_rows % g.total_rows > 0
        return below or (columns > 1 and self.p.block_columns % g.total_columns > 0)

    @property
    def rounds(self) -> tuple[int, int]:
        """Blocks of the busiest minion, by rows and columns."""
        return -(-self.p.block_rows // self.g.total_rows), -(-self.p.block_columns // self.g.total_columns)


def signal_credits(stage: Stage, kind: int, counter: int, label: str, number: str = "a6") -> list[str]:
    """Signal to the shire: the last of its harts to arrive at the FLB of this number gives a credit to each of
    the others (manual, chapters 10 and 11).
    """
    mask = (1 << stage.minions) - 1
    lines = [li("t0", stage.minions - 1 << 5 | kind * stage.numbers), f"add t0, t0, {number}", "csrrw t1, flb, t0"]
    return [*lines, f"beqz t1, {label}", li("t0", _CREDITS + counter), li("t1", mask), "sd t1, 0(t0)", f"{label}:"]


def increment_modulo(register: str, count: int) -> list[str]:
    """Next number modulo `count`, without a branch."""
    return [f"addi {register}, {register}, 1", *reduce_modulo(register, count)]


def reduce_modulo(register: str, count: int, free: str = "t0") -> list[str]:
    """A number modulo `count` that is less than twice as much, without a branch."""
    lines = [f"addi {register}, {register}, {-count}", f"srai {free}, {register}, 63", f"andi {free}, {free}, {count}"]
    return [*lines, f"add {register}, {register}, {free}"]

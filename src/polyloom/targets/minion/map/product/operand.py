# SPDX-License-Identifier: Apache-2.0
"""Operand types of the tensor coprocessor, and where tiles of an operand are in memory.

Loads transpose and interleave into L1Scp; TenB takes lines as they are, so that a right factor that does not lie so is
packed first. Source: the programmer's reference manual, chapter 9.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from polyloom.analysis.matrices import View
from polyloom.targets.minion.memory_map import LINE
from polyloom.targets.minion.words.tensor_words import TYPES
from polyloom.targets.minion.words.tiles import ROWS, TILE, Tiles

Name = Literal["fp32", "fp16", "int8"]


@dataclass(frozen=True, slots=True)
class Kind:
    """Type of a product: its operands' bytes, and multiply-adds that a minion does per cycle (8, 16, 64; Linley
    2020).
    """

    name: Name
    bytes: int
    peak: int
    interleave: str

    @property
    def number(self) -> int:
        """Number of the type in an FMA's word (manual, chapter 9)."""
        return TYPES.index(self.name)


FP32: Final = Kind("fp32", 4, 8, "plain")
FP16: Final = Kind("fp16", 2, 16, "interleave16")
INT8: Final = Kind("int8", 1, 64, "interleave8")
KINDS: Final[Mapping[tuple[str, ...], Kind]] = {
    ("f32", "f32", ""): FP32,
    ("f16", "f16", "to_f32"): FP16,
    **{(a, b, "to_i32"): INT8 for a in ("i8", "u8") for b in ("i8", "u8")},
}
"""By the types of the factors, and their conversion."""


def lhs_tiles(left: View, kind: Kind) -> Tiles:
    """Tiles of the left factor, rows by depth; every layout loads into L1Scp (manual, chapter 9)."""
    if left.has_unit_column_step and left.row_step % LINE == 0:
        return Tiles(left.address, ROWS * left.row_step, LINE, left.row_step)
    # A transposing load reads as many rows as a line has elements.
    depth = LINE // kind.bytes
    transform = f"transpose{8 * kind.bytes}"
    return Tiles(left.address, ROWS * kind.bytes, depth * left.column_step, left.column_step, transform)


def rhs_tiles(right: View, kind: Kind) -> Tiles:
    """Tiles of the right factor, depth by columns: plain ones stream, others are packed by the load of `transform`
    (manual, chapter 9).
    """
    if right.has_unit_column_step and right.row_step % LINE == 0:
        depth = LINE // kind.bytes
        return Tiles(right.address, ROWS * kind.bytes, depth * right.row_step, right.row_step, kind.interleave)
    return Tiles(right.address, ROWS * right.column_step, LINE, right.column_step, "transpose32")


def packed_tiles(address: int, steps: int) -> Tiles:
    """Packed tiles: one behind the other, those of a block along depth."""
    return Tiles(address, steps * TILE, TILE, LINE)

# SPDX-License-Identifier: Apache-2.0
"""The words of a loop over tiles: constant bits, and where a minion computes what depends on its block.

A tile is up to 16 rows of 64 bytes. The left factor's tiles take lines 0 to 15 and 16 to 31 of L1Scp in turns, over
blocks as well, so that a load never overwrites lines of the youngest FMA: accepting that one proves the one before it
complete. The right factor's tiles stream through TenB. Source: the programmer's reference manual, chapter 9.
"""

from __future__ import annotations

from typing import Final

from polyloom.targets.minion.tensor_words import Word, encode

ROWS: Final = 16
LINE: Final = 64
TURN_LOAD: Final = encode("tensor_load", start=16).value
"""The bit of a load that tells which half it writes."""
TURN_FMA: Final = encode("tensor_fma", a=16).value
"""The bit of an FMA that tells which half it reads."""
FIRST: Final = encode("tensor_fma", first=1).value
ROW_FIELD: Final = 51
"""Where FMA and store have rows - 1; loads have it at bit 0."""
COLUMN_FIELD: Final = 55
"""Where an FMA has columns / 4 - 1."""
DEPTH_FIELD: Final = 47
"""Where an FMA has words of depth - 1."""


def written(word: Word, register: str) -> list[str]:
    """Writes a word that stands in a register; x31 is set already where it counts."""
    return [f"csrrw x0, {word.csr:#x}, {register}"]


def wait(event: int) -> list[str]:
    """tensor_wait; a constant below 32 needs no register."""
    return [f"csrrwi x0, {encode('tensor_wait').csr:#x}, {event}"]


def constant(word: Word) -> list[str]:
    """Writes a word that is known now."""
    lines = [] if word.x31 is None else [f"li t6, {signed(word.x31)}"]
    return [*lines, f"li t0, {signed(word.value)}", f"csrrw x0, {word.csr:#x}, t0"]


def signed(value: int) -> int:
    """As `li` takes a number of 64 bits."""
    return value - (1 << 64) if value >> 63 else value

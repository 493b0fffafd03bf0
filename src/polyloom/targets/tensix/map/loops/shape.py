# SPDX-License-Identifier: Apache-2.0
"""Shape of a product of tiles, as its three threads see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from polyloom.targets.tensix.map.loops.thread import encode_word
from polyloom.targets.tensix.options import Dest
from polyloom.targets.tensix.words.arrays import tiles
from polyloom.targets.tensix.words.arrays.formats import Format, Result

NOP: Final = encode_word("NOP")
PLACE: Final = 64
"""Rows of a tile in Dst."""
DONE, FREE = 1, 2
"""Semaphores: of tiles that wait for T2, of places in Dst that are free."""


@dataclass(frozen=True, slots=True)
class Product:
    """A product: tiles of rows, columns and of the dimension of the sum; addresses of the arrays; formats. `turned`: in
    L1 is the right factor's transpose. `packed` is what Dst holds, and what is packed but for `narrow`, which has half
    of its bits.
    """

    rows: int
    columns: int
    depth: int
    left: int
    right: int
    result: int
    format: Format
    packed: Result
    dest: Dest
    fidelity: int
    turned: bool = False
    narrow: Result | None = None

    @property
    def stored(self) -> Result:
        """Format of the result in L1."""
        return self.narrow or self.packed


def row_blocks(p: Product) -> list[tuple[int, int]]:
    """Row blocks: how many rows of tiles are computed together, and how often: whole blocks, then what remains."""
    whole, rest = divmod(p.rows, tiles.BLOCK)
    return [(count, times) for count, times in ((tiles.BLOCK, whole), (rest, 1)) if count and times]

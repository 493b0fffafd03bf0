# SPDX-License-Identifier: Apache-2.0
"""Packing of tiles that do not lie as TenB takes them (Goto and van de Geijn 2008): loads transform them into L1Scp,
stores take them from there.

Tiles take lines 0 to 15 and 16 to 31 in turns. Accepting a store proves the one before it complete, so that a load may
overwrite that one's lines: one wait per tile.

Registers: s2, s3, a7 where a patch begins, and its block; s4 the tile, s5 tiles along depth, s6 and s7 the words of
load and store, a3 and a4 the bits that turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from polyloom.targets.minion.machine import MINIONS_PER_SHIRE
from polyloom.targets.minion.map.product.loop import divide_index
from polyloom.targets.minion.map.product.patch_prefetch import block_number
from polyloom.targets.minion.map.product.staging.loads import patch_start
from polyloom.targets.minion.map.product.tensor_assembly import (
    LOADED,
    STORED,
    TURN_LOAD,
    TURN_STORE,
    add_scaled,
    li,
    wait,
)
from polyloom.targets.minion.memory_map import LINE
from polyloom.targets.minion.words.tensor_words import TRANSFORMS, encode, load_second_word
from polyloom.targets.minion.words.tiles import ROWS, TILE, Grid, Tiles

_INTERLEAVED: Final = {"interleave8": 4, "interleave16": 2}
"""Rows of the source in a line (manual, chapter 9)."""


@dataclass(frozen=True, slots=True)
class Packing:
    """Tiles to pack: `blocks` of `steps` tiles, from `source` to `to`, by so many minions. `patch`: by each shire those
    of its own patch, of whose blocks there are `total` in all.
    """

    source: Tiles
    to: int
    blocks: int
    steps: int
    minions: int
    patch: Grid | None = None
    total: int = 0


def packing_loop(packing: Packing, prefix: str) -> list[str]:
    """Loop in which minions take tiles in turns, or parts of them where there are fewer tiles than minions; who leaves
    it has stored its own. Parts of one block behind another read the same lines of memory.
    """
    source, to, blocks, steps = packing.source, packing.to, packing.blocks, packing.steps
    parts = _tile_parts(source, blocks * steps, packing.minions)
    rows = ROWS // parts
    load = encode("tensor_load", transform=TRANSFORMS.index(source.transform), rows=rows, address=source.address).value
    store = encode("tensor_store_scp", rows=rows, address=to).value
    patch = packing.patch
    number = ["mv s4, s0"] if patch is None else [*patch_start(patch), f"andi s4, s0, {MINIONS_PER_SHIRE - 1}"]
    lines = [f"{prefix}.pack:", *number, li("a3", TURN_LOAD), li("a4", TURN_STORE), li("s6", 0), li("s7", 0)]
    lines += [li("a5", blocks * steps * parts), f"{prefix}.tile:", f"bgeu s4, a5, {prefix}.packed", "mv t2, s4"]
    # In t4 the part, in t2 the step, in t5 the block.
    lines += [*divide_index("t4", "t2", blocks), "mv t5, t2", "mv t2, t4", *divide_index("t4", "t2", steps)]
    lines += ["and s6, s6, a3", li("t0", load), "add s6, s6, t0", *_global_block(packing, prefix)]
    block = "t5" if patch is None else "a7"
    lines += [*add_scaled("t3", block, source.block_step, "s6"), *add_scaled("t3", "t2", source.depth_step, "s6")]
    each = rows * _INTERLEAVED.get(source.transform, 0) * source.stride
    lines += add_scaled("t3", "t4", each, "s6") if parts > 1 else []
    lines += [li("t6", load_second_word(source.stride)), "csrw tensor_load, s6"]
    lines += ["and s7, s7, a4", li("t0", store), "add s7, s7, t0", *add_scaled("t3", "t5", steps * TILE, "s7")]
    lines += [*add_scaled("t3", "t2", TILE, "s7"), *add_scaled("t3", "t4", rows * LINE, "s7")]
    lines += [wait(LOADED), li("t6", LINE), "csrw tensor_store, s7", "xor s6, s6, a3", "xor s7, s7, a4"]
    lines += [f"{prefix}.absent:", li("t0", packing.minions), "add s4, s4, t0", f"j {prefix}.tile"]
    return [*lines, f"{prefix}.packed:", wait(STORED)]


def _global_block(packing: Packing, prefix: str) -> list[str]:
    """Number of a patch's block t5 among all, in a7; there may be none such."""
    g = packing.patch
    if g is None:
        return []
    lines = ["mv a7, t5", *block_number("a7", "s3", g.columns, g.total_columns, packing.total)]
    return [*lines, li("t0", packing.total), f"bgeu a7, t0, {prefix}.absent"]


def _tile_parts(source: Tiles, tiles: int, minions: int) -> int:
    """Parts of a tile, each of some of its lines, so that all minions have one: a load from DRAM takes the longer the
    more lines it asks for. A transposing load reads all of them for any.
    """
    if source.transform not in _INTERLEAVED:
        return 1
    return max(n for n in (1, 2, 4) if n == 1 or n * tiles <= minions)

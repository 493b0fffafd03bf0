# SPDX-License-Identifier: Apache-2.0
"""Packing of tiles that do not lie as TenB takes them (Goto and van de Geijn 2008): loads transform them into L1Scp,
stores take them from there.

Tiles take lines 0 to 15 and 16 to 31 in turns. Accepting a store proves the one before it complete, so that a load may
overwrite that one's lines: one wait per tile.

Registers: s4 the tile, s5 tiles along depth, s6 and s7 the words of load and store, a3 and a4 the bits that turn.
"""

from __future__ import annotations

from polyloom.targets.minion.map.frame import Team
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
from polyloom.targets.minion.words.tiles import TILE, Tiles


def packing_loop(source: Tiles, to: int, blocks: int, steps: int, team: Team, prefix: str) -> list[str]:
    """Loop in which all minions take tiles in turns; who leaves it has stored its own."""
    load = encode("tensor_load", transform=TRANSFORMS.index(source.transform), rows=16, address=source.address).value
    store = encode("tensor_store_scp", rows=16, address=to).value
    lines = [f"{prefix}.pack:", "mv s4, s0", li("s5", steps), li("a3", TURN_LOAD), li("a4", TURN_STORE)]
    lines += [li("a5", blocks * steps), li("s6", 0), li("s7", 0), f"{prefix}.tile:", f"bgeu s4, a5, {prefix}.packed"]
    lines += ["divu t1, s4, s5", "remu t2, s4, s5", "and s6, s6, a3", li("t0", load), "add s6, s6, t0"]
    lines += [*add_scaled("t3", "t1", source.block_step, "s6"), *add_scaled("t3", "t2", source.depth_step, "s6")]
    lines += [li("t6", load_second_word(source.stride)), "csrw tensor_load, s6"]
    lines += ["and s7, s7, a4", li("t0", store), "add s7, s7, t0", *add_scaled("t3", "s4", TILE, "s7")]
    lines += [wait(LOADED), li("t6", LINE), "csrw tensor_store, s7", "xor s6, s6, a3", "xor s7, s7, a4"]
    return [*lines, li("t0", team.minions), "add s4, s4, t0", f"j {prefix}.tile", f"{prefix}.packed:", wait(STORED)]

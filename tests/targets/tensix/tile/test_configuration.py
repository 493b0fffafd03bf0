# SPDX-License-Identifier: Apache-2.0
"""Where the members keep their configuration, and what a write to some of its words does at once."""

from __future__ import annotations

import numpy as np
import pytest
from tests.targets.tensix.tile.tools import place

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix import python as tensix
from polyloom.targets.tensix.words.isa import Member

SHAPES: dict[Member, tuple[int, int]] = {"wormhole": (188, 57), "blackhole": (224, 68)}


def run(member: Member, text: str) -> tensix.Tile:
    tile = tensix.Tile(member=member, hazards="report")
    tile.dst_valid[:] = 1
    tile.gpr[:, 4] = 0x12345678
    tile.push("t1", [int(word) for word in tensix.assemble(text, member=member).words])
    tile.run(1000)
    return tile


@pytest.mark.parametrize("member", SHAPES)
def test_words_that_there_are(member: Member) -> None:
    shared, own = SHAPES[member]
    tile = run(member, f"SETC16 {own - 1}, 9\nWRCFG 4, 0, {shared - 1}")
    assert tile.config.shape == (2, shared) and tile.thread_config.shape == (3, own)
    assert tile.thread_config[1, own - 1] == 9 and (tile.config[:, shared - 1] == 0x12345678).all()
    for text in (f"SETC16 {own}, 9", f"WRCFG 4, 0, {shared}"):
        with pytest.raises(PolyloomError, match=f"words 0 to {own - 1}, each bank words 0 to {shared - 1}"):
            run(member, text)


@pytest.mark.parametrize("member", SHAPES)
def test_address_modes_stand_where_their_names_say(member: Member) -> None:
    text = "SETC16 ADDR_MOD_DST_SEC3_DestIncr, 4\nSETC16 ADDR_MOD_AB_SEC3_SrcAIncr, 0x203\nSFPLOAD L0, 0, 2, 3"
    assert run(member, text).rwc[1].tolist() == [3, 0, 2, 0, 4, 0, 0, 0]


@pytest.mark.parametrize("member", SHAPES)
def test_the_seed_stands_where_its_name_says(member: Member) -> None:
    text = "WRCFG 4, 0, PRNG_SEED_Seed_Val\nNOP\nNOP\nSFPMOV L1, L9, 8"
    assert run(member, text).lregs[1, 0] == 0x12345678


@pytest.mark.parametrize("member", SHAPES)
def test_both_banks_by_address(member: Member) -> None:
    tile = tensix.Tile(member=member)
    second = 4 * SHAPES[member][0]
    place(tile, "b", f"lui s0, 0xffef0\nli a0, 7\nsw a0, 8(s0)\nsw a0, {second + 12}(s0)\nebreak")
    tile.run(1000)
    assert tile.config[0, 2] == tile.config[1, 3] == 7


@pytest.mark.parametrize("member", SHAPES)
def test_a_write_to_the_reset_word_clears_its_bank(member: Member) -> None:
    base = 152 if member == "wormhole" else 180
    tile = tensix.Tile(member=member)
    tile.config[:] = 5
    tile.push("t1", [int(word) for word in tensix.assemble("RMWCIB0 1, 1, 4", member=member).words])
    tile.run(100)
    assert (np.delete(tile.config[0], 4) == 5).all()
    tile.push("t1", [int(word) for word in tensix.assemble("WRCFG 4, 0, 4", member=member).words])
    tile.run(100)
    assert not tile.config[0, :base].any() and (tile.config[0, base:] == 5).all() and (tile.config[1] == 5).all()

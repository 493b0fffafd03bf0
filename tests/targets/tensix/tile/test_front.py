# SPDX-License-Identifier: Apache-2.0
"""The front end of a thread: how long a word is under way, the MOP expander against a twin written from its two
templates, recording and playing back."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.targets.tensix.tile import twin
from tests.targets.tensix.tile.tools import cycles, place, run, words

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix import python as tensix

NOP = 0x02000000


def test_a_word_reaches_the_gate_three_cycles_after_it_was_pushed() -> None:
    assert cycles("SFPNOP") == 3 + 1
    assert cycles("SFPNOP\n" * 40) == 3 + 40


def test_a_thread_issues_one_instruction_per_cycle_whatever_its_unit() -> None:
    assert cycles("NOP\nSFPNOP\nDMANOP\nINCRWC 0, 0, 0, 0\n" * 5) == 3 + 20


@pytest.mark.parametrize("seed", range(60))
def test_mop_expands_as_its_templates_say(seed: int) -> None:
    rng = random.Random(seed)
    # INCRWC by one of eight amounts: the counters after it tell how often each of the words came.
    words_of = [[NOP, NOP, *(0x38000000 | rng.randrange(16) << k for k in (6, 10, 14))] for _ in range(9)]
    loops, mask = seed % 2, rng.getrandbits(32)
    config = [rng.choice(each) for each in words_of]
    if loops:
        config[0], config[1] = rng.choice([0, 1, 1, 3, 127]), rng.choice([0, 1, 2, 5])
        expected = list(twin.loop_template(config))
        mop = 0x01800000
    else:
        config[1] = rng.randrange(4)
        count = rng.randrange(1, 33)
        expected = list(twin.unpack_template(config, mask, count))
        mop = 0x01000000 | count - 1 << 16 | mask & 0xFFFF
    tile = tensix.Tile()
    tile.mop_config[1] = config
    # A NOP before: MOP_CFG holds the upper mask bits.
    tile.push("t1", [0x03000000 | (0 if loops else mask >> 16), mop])
    tile.run(1_000_000)
    assert tile.threads()[1][1] == len(expected)
    moved = [w for w in expected if w >> 24 == 0x38]
    counters = [sum(w >> shift & 15 for w in moved) for shift in (6, 10, 14)]
    assert list(tile.rwc[1][[0, 2, 4]] % 64) == [n % 64 for n in counters]


def test_the_cycle_behind_a_mop_is_empty_unless_another_follows() -> None:
    def after(text: list[int]) -> int:
        tile = tensix.Tile()
        tile.mop_config[0] = [1, 4, NOP, NOP, NOP, NOP, NOP, NOP, NOP]
        tile.push("t0", text)
        return tile.run(1000).cycles

    mop = 0x01800000
    assert after([mop]) == 3 + 4
    assert after([mop, mop]) == 3 + 8
    assert after([mop, NOP]) == 3 + 4 + 1 + 1


def test_recorded_words_are_swallowed_or_pass() -> None:
    increments = "INCRWC 0, 1, 0, 0\n" * 3
    swallowed, _ = run(f"REPLAY 4, 3, 0, 1\n{increments}")
    assert swallowed.rwc[0][4] == 0 and swallowed.threads()[0] == (4, 4, 0)
    passed, _ = run(f"REPLAY 4, 3, 1, 1\n{increments}")
    assert passed.rwc[0][4] == 3
    assert list(passed.replay[0][4:7]) == words(increments)
    assert not passed.replay[0][7:].any()


def test_playback_goes_round_the_ring() -> None:
    tile, _ = run(
        "REPLAY 30, 4, 0, 1\n" + "".join(f"INCRWC 0, {n}, 0, 0\n" for n in (1, 2, 4, 8)) + "REPLAY 30, 4, 0, 0"
    )
    assert tile.rwc[0][4] == 15
    assert tile.replay[0][0] == words("INCRWC 0, 4, 0, 0")[0]


def test_playback_costs_what_its_words_cost() -> None:
    tile = tensix.Tile()
    tile.replay[0] = words("SFPNOP")[0]
    tile.push("t0", words("REPLAY 0, 32, 0, 0"))
    assert tile.run(1000).cycles == 3 + 32


def test_bs_words_enter_behind_the_expander_and_win() -> None:
    tile = tensix.Tile(hazards="report")
    tile.push("t1", words("INCRWC 0, 1, 0, 0") * 20)
    place(tile, "b", "lui t0, 0xffe50\nlui t1, 0x38004\n" + "sw t1, 0(t0)\n" * 4 + "ebreak")  # INCRWC Dst by 1
    outcome = tile.run(1000)
    lost = [f for f in outcome.hazards if f.kind == "lost-collision"]
    assert len(lost) == 4 and all(f.thread == 1 for f in lost)
    assert tile.rwc[1][4] == 20


def test_a_lost_collision_is_an_error() -> None:
    tile = tensix.Tile()
    tile.push("t1", words("NOP") * 20)
    place(tile, "b", "lui t0, 0xffe50\nlui t1, 0x2000\n" + "sw t1, 0(t0)\n" * 4 + "ebreak")
    with pytest.raises(PolyloomError, match="lost-collision: thread t1"):
        tile.run(1000)


def test_the_views_are_the_tile() -> None:
    tile, _ = run("SFPLOADI L3, 0x3F80, 0", thread=2)
    assert (tile.lregs[3].view(np.float32) == 1).all()
    tile.lregs[3] = 7
    tile.push("t2", words("SFPMOV L4, L3, 0"))
    tile.run(1000)
    assert (tile.lregs[4] == 7).all()

# SPDX-License-Identifier: Apache-2.0
"""Mutexes, semaphores, and the waits that they and STALLWAIT latch at the gate."""

from __future__ import annotations

import pytest
from tests.targets.tensix.tile.tools import cycles, run, words

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix import python as tensix

SFPU, FPU, SYNC = 0x100, 0x40, 0x2


def test_a_mutex_is_handed_to_the_next_thread() -> None:
    tile = tensix.Tile()
    held = words("ATGETM 2\n" + "SFPNOP\n" * 20 + "ATRELM 2")
    asks = words("SFPNOP\n" * 4 + "ATGETM 2\nINCRWC 0, 1, 0, 0")
    tile.push("t1", held)
    tile.push("t0", asks)
    tile.push("t2", asks)
    with pytest.raises(PolyloomError, match=r"mutex 2, which t2 has"):
        tile.run(1000)
    assert tile.mutexes[2] == 2 and tile.rwc[2][4] == 1 and tile.rwc[0][4] == 0


@pytest.mark.parametrize("index", [1, 8])
def test_a_mutex_that_does_not_exist_is_waited_for_for_ever(index: int) -> None:
    with pytest.raises(PolyloomError, match=f"mutex {index}, which does not exist"):
        run(f"ATGETM {index}")


def test_a_mutex_is_its_owners_again_at_once() -> None:
    tile, outcome = run("ATGETM 7\nATGETM 7")
    assert outcome.cycles == 5 and tile.mutexes[7] == 0


def test_semaphores_saturate() -> None:
    tile, _ = run("SEMINIT 3, 14, 5\n" + "SEMPOST 5\n" * 4 + "SEMINIT 0, 1, 2\n" + "SEMGET 2\n" * 4)
    assert tile.semaphores.tolist()[:4] == [[15, 3], [0, 0], [15, 3], [0, 0]]


@pytest.mark.parametrize(("condition", "value", "waits"), [(1, 0, True), (1, 1, False), (2, 2, True), (2, 1, False)])
def test_semwait_waits_while_any_semaphore_meets_the_condition(condition: int, value: int, waits: bool) -> None:
    text = f"SEMINIT 2, 1, 0x80\nSEMINIT 2, {value}, 0x40\nSEMWAIT {FPU}, 0xC0, {condition}\nINCRWC 0, 1, 0, 0"
    if not waits:
        assert run(text)[0].rwc[0][4] == 1
        return
    with pytest.raises(PolyloomError, match=rf"semaphore 6 \({value} of 2\)"):
        run(text)


def test_semwait_is_released_by_another_thread() -> None:
    tile = tensix.Tile()
    tile.push("t0", words(f"SEMWAIT {FPU}, 1, 1\nINCRWC 0, 1, 0, 0"))
    tile.push("t1", words("SFPNOP\n" * 50 + "SEMPOST 1"))
    assert tile.run(1000).stop == "idle"
    assert tile.rwc[0][4] == 1


def test_the_instruction_behind_a_stallwait_is_held_for_a_cycle_at_least() -> None:
    assert cycles(f"STALLWAIT {SFPU}, 0x1\nSFPNOP") == 3 + 1 + 1 + 1
    assert cycles(f"STALLWAIT {FPU}, 0x1\nSFPNOP") == 3 + 1 + 1


def test_stallwait_waits_for_the_vector_unit() -> None:
    # The MAD is in the unit for two cycles; the wait goes one cycle after it has left.
    assert cycles(f"SFPMAD L2, L0, L1, L1, 0\nSTALLWAIT {SFPU}, 0x4000\nSFPNOP") == 3 + 4


def test_blackhole_numbers_its_conditions_otherwise() -> None:
    tile = tensix.Tile(member="blackhole")
    tile.push("t0", words(f"STALLWAIT {FPU}, 0x80\nINCRWC 0, 1, 0, 0"))
    with pytest.raises(PolyloomError, match="SrcA to be the matrix unit's"):
        tile.run(1000)
    tile = tensix.Tile(member="blackhole")
    tile.push("t0", words(f"STALLWAIT {FPU}, 0x1000"))
    with pytest.raises(PolyloomError, match="not-modelled"):
        tile.run(1000)


def test_a_later_semwait_overwrites_a_latch_that_does_not_block_sync() -> None:
    wait = "STALLWAIT {}, 0x400\nSEMINIT 1, 1, 1\nSEMWAIT 0x40, 1, 1\nINCRWC 0, 1, 0, 0"
    assert run(wait.format(FPU))[0].rwc[0][4] == 1
    with pytest.raises(PolyloomError, match="SrcA to be the matrix unit's"):
        run(wait.format(FPU | SYNC))


def test_on_blackhole_no_wait_overwrites_another() -> None:
    tile = tensix.Tile(member="blackhole")
    tile.push("t0", words(f"STALLWAIT {FPU}, 0x80\nSEMINIT 1, 1, 1\nSEMWAIT 0x40, 1, 1\nINCRWC 0, 1, 0, 0"))
    with pytest.raises(PolyloomError, match="SrcA to be the matrix unit's"):
        tile.run(1000)


def test_a_stallwait_waits_for_the_latch_before_it() -> None:
    with pytest.raises(PolyloomError, match="SrcB to be the matrix unit's"):
        run(f"STALLWAIT {FPU}, 0x800\nSTALLWAIT {FPU}, 0x4000\nNOP")


def test_threads_share_the_vector_unit_in_turn() -> None:
    tile = tensix.Tile()
    for thread in range(3):
        tile.push(thread, words("SFPNOP\n" * 10))
    assert tile.run(1000).cycles == 3 + 30
    assert tile.utilization()["vector"] == pytest.approx(30 / 33, abs=0.05)


def test_a_run_that_nobody_bounds_stops_at_its_cycles() -> None:
    tile = tensix.Tile()
    tile.push("t0", words("SFPNOP\n" * 100))
    outcome = tile.run(10)
    assert (outcome.stop, outcome.cycles) == ("max-cycles", 10)
    assert tile.run().stop == "idle"

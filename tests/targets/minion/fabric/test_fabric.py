# SPDX-License-Identifier: Apache-2.0
"""The memory system's time: latencies where nothing is in the way, and bandwidths where everything is, are those of
the silicon.

Requests come faster than they can be served; what is served in a time is then the bandwidth.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from polyloom._native.minion import FabricBench, default_parameters, hops
from polyloom.targets.minion.run import timing

DRAM, SCRATCHPAD, SHIRE_PITCH, LINE = 0x8000800000, 0x80000000, 0x800000, 64
LOAD, STORE, CODE = 0, 3, 5
LOCAL_LOAD, LOCAL_ATOMIC, HOME_LOAD, HOME_STORE, HOME_ATOMIC = 7, 9, 10, 11, 12
HERTZ = 600e6
QUIET = 300
"""Memory shire 0 has refreshed by then, and does so again 2,325 cycles after the start."""


def times(bench: FabricBench, requests: list[tuple[int, int, int]], use: int = LOAD) -> list[int]:
    """When the lines of (cycle, minion, address) are there."""
    cycles, minions, addresses = (np.array(column, np.uint64) for column in zip(*requests, strict=True))
    there = np.zeros(len(requests), np.uint64)
    bench.run(cycles, minions, addresses, use, there)
    return [int(each) for each in there]


def latency(bench: FabricBench, minion: int, address: int, cycle: int = 0, use: int = LOAD) -> int:
    return times(bench, [(cycle, minion, address)], use)[0] - cycle


def scratchpad(shire: int, line: int) -> int:
    return SCRATCHPAD + shire * SHIRE_PITCH + line * LINE


def test_parameters_are_those_of_the_table() -> None:
    assert default_parameters() == timing.parameters()


def test_own_scratchpad_and_its_read_buffer() -> None:
    bench = FabricBench()
    assert latency(bench, 3, scratchpad(0, 5)) == 47
    assert latency(bench, 9, scratchpad(0, 5), 100) == 36
    for n in range(8):
        latency(bench, 3, scratchpad(0, 9 + 4 * n), 200 + 10 * n)
    assert latency(bench, 3, scratchpad(0, 5), 1000) == 47


def test_a_store_takes_a_line_out_of_the_read_buffer() -> None:
    bench = FabricBench()
    latency(bench, 0, scratchpad(0, 0))
    latency(bench, 0, scratchpad(0, 0), 100, STORE)
    assert latency(bench, 0, scratchpad(0, 0), 200) == 47


def test_the_mesh() -> None:
    assert hops(0, 24) == hops(0, 8) == 1
    assert hops(0, 31) == 10
    assert hops(11, 3) == 7
    assert all(hops(a, b) == hops(b, a) for a in range(32) for b in range(a))
    assert sorted(hops(0, shire) for shire in range(32))[:4] == [0, 1, 1, 2]


@pytest.mark.parametrize("home", [1, 24, 31])
def test_another_shires_scratchpad(home: int) -> None:
    assert latency(FabricBench(), 0, scratchpad(home, 0)) == 110 + 12 * hops(0, home)


def test_dram_then_l3_then_l2() -> None:
    bench = FabricBench()
    # Home shire 24, one hop east of shire 0; memory shire 0, one step north of it.
    address = DRAM + 24 * LINE
    assert latency(bench, 0, address, QUIET) == 110 + 12 * 1 + 91 + 12 * 1
    assert latency(bench, 0, address, 1000) == 36
    assert latency(bench, 32, address, 2000) == 110 + 12 * hops(1, 24)
    for n in range(8):
        latency(bench, 0, address + 128 * LINE * (n + 1), 3000 + 100 * n)
    assert latency(bench, 0, address, 9000) == 47


def test_a_line_on_its_way_is_waited_for() -> None:
    bench = FabricBench()
    address = DRAM + 24 * LINE
    first, second = times(bench, [(0, 0, address), (10, 1, address)])
    assert first == second


def test_four_ways_by_least_recent_use() -> None:
    bench = FabricBench(l2_kib=512)
    pitch = 512 * 1024 // 4
    for n in [0, 1, 2, 3, 0, 4]:
        latency(bench, 0, DRAM + n * pitch, 1000 * (n + 1))
    assert latency(bench, 0, DRAM, 10000) in (36, 47)
    assert latency(bench, 0, DRAM + pitch, 11000) > 47


def test_code_is_in_l2() -> None:
    assert latency(FabricBench(), 0, DRAM, use=CODE) == 47


def rate(bench: FabricBench, minions: int, lines: int, address: NDArray[np.uint64]) -> float:
    """Bytes a cycle where every minion asks for a line in every cycle, from the first line's arrival to the
    last's; address[minion, n]."""
    cycles = np.repeat(np.arange(lines, dtype=np.uint64), minions)
    numbers = np.tile(np.arange(minions, dtype=np.uint64), lines)
    there = np.zeros(minions * lines, np.uint64)
    bench.run(cycles, numbers, np.ascontiguousarray(address.T).ravel(), LOAD, there)
    return minions * lines * LINE / float(there.max() - there.min())


def test_a_shires_port() -> None:
    own = np.array([[scratchpad(0, 512 * m + n) for n in range(400)] for m in range(32)], np.uint64)
    assert rate(FabricBench(), 32, 400, own) == pytest.approx(128, rel=0.03)
    same = np.array([[scratchpad(0, n) for n in range(400)] for _ in range(32)], np.uint64)
    assert rate(FabricBench(), 32, 400, same) > 234


def test_a_pitch_of_256_bytes_hits_one_bank() -> None:
    one_bank = np.array([[scratchpad(0, 4 * (200 * m + n)) for n in range(200)] for m in range(32)], np.uint64)
    assert rate(FabricBench(), 32, 200, one_bank) == pytest.approx(32, rel=0.03)


def test_the_mesh_into_all_shires() -> None:
    far = np.array(
        [[scratchpad((m // 32 + 7) % 32, 400 * (m % 32) + n) for n in range(400)] for m in range(1024)], np.uint64
    )
    assert 0.95e12 < rate(FabricBench(), 1024, 400, far) * HERTZ < 0.99e12


def test_dram() -> None:
    distinct = np.array([[DRAM + LINE * (20 * m + n) for n in range(20)] for m in range(1024)], np.uint64)
    bench = FabricBench()
    assert rate(bench, 1024, 20, distinct) * HERTZ == pytest.approx(76e9, rel=0.03)
    assert bench.bytes[2] == 1024 * 20 * LINE


ROW, BANK = 1 << 18, 1 << 10
"""Bits of an address: another row of a bank of DRAM, and another bank."""


def behind(second: int, after: int, first: int = DRAM) -> int:
    """Cycles of a load so long after another, less those of it alone."""
    alone = latency(FabricBench(), 0, second, QUIET + after)
    return times(FabricBench(), [(QUIET, 0, first), (QUIET + after, 0, second)])[1] - QUIET - after - alone


def test_rows_and_banks_of_dram() -> None:
    other_row, other_bank = DRAM + ROW, DRAM + BANK
    assert [behind(each, 600) for each in (DRAM + (1 << 13), other_row, other_bank)] == [-11, 11, 0]
    # Two cycles for the banks of L3 and the memory shire, which serve one line after another.
    assert behind(other_row, 1) - behind(other_bank, 1) == pytest.approx(38, abs=2)
    # A refresh closes rows.
    assert behind(DRAM + (1 << 13), 2325) == 0


def test_refresh_of_a_memory_shire() -> None:
    alone = [latency(FabricBench(), 0, DRAM, cycle) for cycle in range(0, 2 * 2325, 31)]
    late = [each - min(alone) for each in alone]
    assert max(late) == pytest.approx(208, abs=31)
    assert np.mean([each > 0 for each in late]) == pytest.approx(208 / 2325, abs=0.02)


def test_one_memory_shire_gives_what_its_channels_do() -> None:
    lines = np.array([[DRAM + 8 * LINE * (20 * m + n) for n in range(20)] for m in range(256)], np.uint64)
    assert rate(FabricBench(), 256, 20, lines) == pytest.approx(24.9, rel=0.12)


def test_lines_that_leave_l3_dirty_go_to_dram() -> None:
    bench = FabricBench(l3_kib=4)
    pitch = 32 * 4 * LINE * 4
    times(bench, [(n, 0, DRAM + n * pitch) for n in range(4)], STORE)
    assert bench.bytes[2] == 0
    times(bench, [(10 + n, 0, DRAM + (10 + n) * pitch) for n in range(4)], STORE)
    assert bench.bytes[2] == 4 * LINE


@pytest.mark.parametrize("use", [HOME_LOAD, HOME_ATOMIC])
@pytest.mark.parametrize("home", [0, 1, 31])
def test_a_global_access_acts_at_its_home(home: int, use: int) -> None:
    bench = FabricBench()
    address = DRAM + home * LINE
    assert latency(bench, 0, address, use=use) > 200
    assert latency(bench, 0, address, 1000, use) == 110 + 12 * hops(0, home)
    assert latency(bench, 0, scratchpad(home, 0), 2000, use) == 110 + 12 * hops(0, home)
    # L2 has not got it; a miss waits for the two cycles of its own bank where that is the home's, too.
    assert 0 <= latency(bench, 0, address, 3000) - 110 - 12 * hops(0, home) <= 2


def test_a_global_store_takes_the_way_there() -> None:
    assert latency(FabricBench(), 0, DRAM + LINE, use=HOME_STORE) == (110 + 12 * hops(0, 1)) // 2


def test_a_local_access_acts_in_the_own_l2() -> None:
    bench = FabricBench()
    assert latency(bench, 0, DRAM, use=LOCAL_ATOMIC) > 200
    assert latency(bench, 0, DRAM, 1000, LOCAL_ATOMIC) == 47 + 10
    assert latency(bench, 0, DRAM, 2000, LOCAL_LOAD) == 36
    # Another shire's L2 has no copy.
    assert latency(bench, 32, DRAM, 3000, LOCAL_ATOMIC) == 110 + 12 * hops(1, 0) + 10


@pytest.mark.parametrize("use", [LOCAL_ATOMIC, HOME_ATOMIC])
def test_atomics_on_one_bank_wait_for_each_other(use: int) -> None:
    bench = FabricBench()
    latency(bench, 0, DRAM, use=use)
    there = times(bench, [(1000, 0, DRAM) for _ in range(32)], use)
    assert there[-1] - there[0] == 31 * (10 if use == HOME_ATOMIC else 12)
    # Those on other banks do not.
    assert latency(bench, 0, DRAM + LINE, 1000, HOME_LOAD) < 400

# SPDX-License-Identifier: Apache-2.0
"""The DRAM port of a tile: what requests of cores move between L1 and the memory, how fast, and which fault."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.targets.tensix.tile.tools import place

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix import python as tensix

NIU = (0xFFB20, 0xFFB30)
WRITE, MARKED = 2, 16
L1 = 0x40000


def request(noc: int, l1: int, memory: int, size: int, control: int = 0, initiator: int = 0, tag: int = 0) -> str:
    """Core code that starts a request: source and target are exchanged for a write."""
    target, answer = (l1, memory) if control & WRITE else (memory, l1)
    stores = ((0, target), (12, answer), (24, tag << 10), (28, control), (32, size), (40, 1))
    base = f"lui s0, {NIU[noc]:#x}\nli s1, {0x400 * initiator}\nadd s0, s0, s1\n"
    return base + "".join(f"li a0, {value}\nsw a0, {at}(s0)\n" for at, value in stores)


def wait(noc: int, counter: int, value: int) -> str:
    """Core code that waits until a counter of the NIU has a value."""
    name = f"wait{noc}_{counter}_{value}"
    at = 0x200 + 4 * counter
    return f"lui s0, {NIU[noc]:#x}\nli a1, {value}\n{name}: lw a0, {at}(s0)\nbne a0, a1, {name}\n"


def machine(text: str, core: str = "b", port: tensix.DramPort | None = None) -> tensix.Tile:
    """A tile whose memory has a byte pattern, and whose core is to execute the text."""
    tile = tensix.Tile(port=port or tensix.DramPort(1 << 18))
    tile.dram[:] = np.random.default_rng(33).integers(0, 256, len(tile.dram), np.uint8)
    place(tile, core, text + "\nebreak\n")
    return tile


@pytest.mark.parametrize("core", ["b", "nc", "t1"])
@pytest.mark.parametrize("noc", [0, 1])
def test_a_read_takes_its_latency_a_header_and_32_bytes_a_cycle(core: str, noc: int) -> None:
    tile = machine(request(noc, L1, 0x1000, 4096) + wait(noc, 2, 1), core)
    cycles = tile.run(10_000).cycles
    assert np.array_equal(tile.l1[L1 : L1 + 4096], tile.dram[0x1000:0x2000])
    assert tile.native.traffic()[noc] == (4096, 129, 0, 0)
    latency = tensix.DramPort(0).latency
    assert 129 <= cycles - latency <= 129 + 40  # the core's own instructions, and its last look at the counter


def test_long_requests_are_split_into_packets_of_8192_bytes() -> None:
    text = request(0, L1, 0, 20_000 // 32 * 32, tag=5) + "lui s0, 0xffb20\nlw a5, 0x254(s0)\n" + wait(0, 2, 3)
    tile = machine(text + "lw a2, 0x20c(s0)\nlw a3, 0x254(s0)\nlw a4, 0x28(s0)")
    tile.run(10_000)
    registers = tile.native.registers(0)
    assert np.array_equal(tile.l1[L1 : L1 + 20_000], tile.dram[:20_000])
    # Three packets of transaction 5 were outstanding; flits arrived; the initiator is free.
    assert (registers[15], registers[12], registers[13], registers[14]) == (3, 625, 0, 0)
    assert tile.native.traffic()[0][:2] == (20_000, 625 + 3)


def test_writes_and_their_acknowledgements() -> None:
    marked = request(0, L1, 0x2000, 256, WRITE | MARKED) + wait(0, 1, 1)
    tile = machine(marked + request(0, L1 + 256, 0x3000, 100, WRITE) + wait(0, 11, 1))
    expected = tile.dram.copy()
    tile.l1[L1 : L1 + 512] = np.arange(512) % 251
    expected[0x2000:0x2100], expected[0x3000:0x3064] = tile.l1[L1 : L1 + 256], tile.l1[L1 + 256 : L1 + 356]
    cycles = tile.run(10_000).cycles
    assert np.array_equal(tile.dram, expected)
    assert tensix.DramPort(0).latency < cycles < tensix.DramPort(0).latency + 150
    assert tile.native.traffic()[0][2:] == (356, 9 + 5)


def test_both_nocs_and_both_directions_move_together() -> None:
    """Four streams of 8 KiB take little longer than one."""
    start = [
        request(0, L1, 0, 8192), request(1, L1 + 0x4000, 0x4000, 8192),
        request(0, L1 + 0x8000, 0x8000, 8192, WRITE | MARKED, 1),
        request(1, L1 + 0xC000, 0xC000, 8192, WRITE | MARKED, 1),
    ]  # fmt: skip
    ends = [wait(noc, counter, 1) for counter in (2, 1) for noc in (0, 1)]
    four = machine("".join(start + ends)).run(10_000).cycles
    one = machine(start[0] + ends[0]).run(10_000).cycles
    assert one + 20 < four < one + 150


def test_the_port_may_be_slower() -> None:
    text = request(0, L1, 0, 8192) + wait(0, 2, 1)
    fast, slow = (machine(text, port=tensix.DramPort(1 << 16, speed, 100)).run(10_000).cycles for speed in (32, 24))
    assert abs(slow - fast - (8192 // 24 - 8192 // 32)) < 10


@given(
    st.lists(st.tuples(st.integers(0, 255), st.integers(0, 255), st.integers(0, 31), st.integers(1, 300)), max_size=6)
)
def test_any_reads_give_the_bytes_of_memory(reads: list[tuple[int, int, int, int]]) -> None:
    """Places of 512 bytes, congruent modulo 32; later reads of one NoC win, as they arrive in their order."""
    text, expected = "", np.zeros(0x20000, np.uint8)
    tile = machine("")
    for n, (to, where, low, size) in enumerate(reads):
        at, l1 = 512 * where + low, 512 * to + low
        text += request(0, L1 + l1, at, size, initiator=n % 4) + wait(0, 2, n + 1)
        expected[l1 : l1 + size] = tile.dram[at : at + size]
    tile = machine(text)
    tile.run(100_000)
    assert np.array_equal(tile.l1[L1 : L1 + len(expected)], expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (request(0, L1, 0x10, 64), "modulo 32 for reads"),
        (request(0, L1, 0x8, 64, WRITE), "16 for writes"),
        (request(0, L1, (1 << 18) - 32, 64), "not all in the memory behind the tile"),
        (request(0, 0x170000 - 32, 0, 64), "not all in L1"),
        (request(0, L1, 0, 64, 1), "atomic requests and writes by mask are not modelled"),
        (request(0, L1, 0, 64, WRITE | 32), "no other tile is there to hear a broadcast"),
        (request(0, L1 + 16, 16, 9000), "start at multiples of 32"),
        (request(0, L1, 0, 1 << 16) + "sw a0, 0(s0)", "a request initiator that is busy"),
        ("lui s0, 0xffb20\nsw a0, 0x100(s0)", "cannot reach: 0xffb20100"),
        ("lui s0, 0xffb20\nlw a0, 0x100(s0)", "cannot reach: 0xffb20100"),
    ],
)
def test_requests_that_fault(text: str, message: str) -> None:
    with pytest.raises(PolyloomError, match=message) as caught:
        machine(text).run(10_000)
    assert caught.value.code == "PL1220"


@pytest.mark.parametrize(
    ("member", "port"),
    [
        ("blackhole", tensix.DramPort(64)),
        ("wormhole", tensix.DramPort(1 << 31)),
        ("wormhole", tensix.DramPort(64, 64)),
        ("wormhole", tensix.DramPort(64, latency=0)),
    ],
)
def test_ports_that_are_none(member: str, port: tensix.DramPort) -> None:
    with pytest.raises(PolyloomError) as caught:
        tensix.Tile(member=member, port=port)  # pyright: ignore[reportArgumentType]: the cases are members
    assert caught.value.code == "PL1223"


def test_the_machine_file_states_the_port() -> None:
    from polyloom.targets.tensix.place import describe

    assert "noc_bytes_per_cycle = 32\nnoc_latency = 318\n" in describe("")
    assert "noc_" not in describe("blackhole")

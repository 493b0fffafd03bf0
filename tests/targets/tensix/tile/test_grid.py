# SPDX-License-Identifier: Apache-2.0
"""A grid of tiles: latency by hops, links that are shared, multicast, atomic requests, DRAM, faults, deadlocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.targets.tensix.tile.tools import place

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix import python as tensix
from polyloom.targets.tensix.words.chip import TILE_COLUMNS, TILE_ROWS, dram_places, node, tile_places

NIU = (0xFFB20, 0xFFB30)
ATOMIC, WRITE, MASKED, INLINE, MARKED, BROADCAST, STATIC = 1, 2, 4, 8, 16, 32, 128
Y_MAJOR, ITSELF = 1 << 16, 1 << 17
INCREMENT = 1 << 12 | 31 << 2
L1, FROM = 0x40000, 0x50000


def where(noc: int, at: int) -> int:
    """Word of an address with the coordinates of a place."""
    x, y = node(noc, at)
    return x << 4 | y << 10


def rectangle(noc: int, first: int, last: int) -> int:
    (x, y), (end_x, end_y) = node(noc, first), node(noc, last)
    return end_x << 4 | end_y << 10 | x << 16 | y << 22


def request(
    noc: int, target: int, at: int, answer: int, back: int, length: int,
    control: int = 0, value: int = 0, tag: int = 0, initiator: int = 0,
) -> str:  # fmt: skip
    stores = ((0, target), (4, at), (12, answer), (16, back), (24, tag << 10), (28, control), (32, length), (36, value))
    base = f"lui s0, {NIU[noc]:#x}\nli s1, {0x400 * initiator}\nadd s0, s0, s1\n"
    return base + "".join(f"li a0, {value}\nsw a0, {at}(s0)\n" for at, value in (*stores, (40, 1)))


def wait(noc: int, counter: int, value: int) -> str:
    name = f"wait{noc}_{counter}_{value}"
    return f"lui s0, {NIU[noc]:#x}\nli a1, {value}\n{name}: lw a0, {0x200 + 4 * counter}(s0)\nbne a0, a1, {name}\n"


def arrived(grid: tensix.Grid, column: int, row: int, text: str, core: str = "b") -> None:
    place(grid[row, column], core, text + "\nebreak\n")


def pattern(grid: tensix.Grid, row: int, column: int, size: int = 8192) -> np.ndarray:
    data = np.random.default_rng(row * 8 + column).integers(0, 256, size, np.uint8)
    grid[row, column].l1[FROM : FROM + size] = data
    return data


def hops(noc: int, start: int, end: int) -> int:
    (x, y), (to_x, to_y) = node(noc, start), node(noc, end)
    return (to_x - x) % 10 + (to_y - y) % 12


@settings(max_examples=25)
@given(st.integers(0, 1), st.integers(0, 63), st.integers(0, 63))
def test_a_write_takes_the_hops_of_its_route(noc: int, source: int, target: int) -> None:
    """Two links of 5 cycles, 9 a router; the tile itself is behind its own router."""
    grid, places = tensix.Grid(), tile_places(8, 8)
    here, there = places[source], places[target]
    text = request(noc, FROM, where(noc, here), L1, where(noc, there), 32, WRITE | MARKED) + wait(noc, 1, 1)
    data = pattern(grid, *divmod(source, 8))
    arrived(grid, source % 8, source // 8, text)
    cycles = grid.run(10_000).cycles
    assert np.array_equal(grid.tiles[target].l1[L1 : L1 + 32], data[:32])
    expected = 20 + 9 * (hops(noc, here, there) + hops(noc, there, here))
    assert expected < cycles <= expected + 90, (cycles, expected)  # the core's own instructions take the rest


def test_latency_grows_by_nine_cycles_a_hop() -> None:
    def latency(column: int) -> int:
        grid, places = tensix.Grid(), tile_places(8, 8)
        text = request(0, FROM, where(0, places[0]), L1, where(0, places[column]), 32, WRITE)
        arrived(grid, 0, 0, text)
        flag = f"li a2, {L1}\nagain: lw a0, 0(a2)\nbeqz a0, again\n"
        pattern(grid, 0, 0)
        arrived(grid, column, 0, flag)
        return grid.run(10_000).cycles

    base = latency(1)
    # Tile 4 is two nodes behind tile 3: a column of DRAM tiles lies between. A poll takes some cycles.
    assert [round((latency(n) - base) / 9) for n in (2, 3, 4, 7)] == [1, 2, 4, 7]


@pytest.mark.parametrize("senders", [1, 2, 4])
def test_a_link_carries_a_flit_a_cycle(senders: int) -> None:
    """All packets of a row pass the link into the last tile: 257 flits each."""
    grid, places = tensix.Grid(), tile_places(8, 8)
    for n in range(senders):
        text = request(0, FROM, where(0, places[n]), L1 + 8192 * n, where(0, places[7]), 8192, WRITE | MARKED)
        arrived(grid, n, 0, text + wait(0, 1, 1))
        pattern(grid, 0, n)
    cycles = grid.run(10_000).cycles
    for n in range(senders):
        assert np.array_equal(grid[0, 7].l1[L1 + 8192 * n :][:8192], grid[0, n].l1[FROM:][:8192])
    assert 257 * senders < cycles < 257 * senders + 400
    busiest = grid.links()[0]
    assert busiest.flits == 257 * senders


def test_packets_on_other_links_do_not_meet() -> None:
    """Columns of the grid are served along their own links of NoC 1, at once."""
    grid, places = tensix.Grid(), tile_places(8, 8)
    for column in range(8):
        here, there = places[56 + column], places[column]
        text = request(1, FROM, where(1, here), L1, where(1, there), 8192, WRITE | MARKED) + wait(1, 1, 1)
        arrived(grid, column, 7, text)
    assert grid.run(10_000).cycles < 257 + 350


@settings(max_examples=25)
@given(
    st.integers(0, 1), st.booleans(), st.booleans(), st.integers(0, 63),
    st.tuples(st.integers(0, 7), st.integers(0, 7)), st.tuples(st.integers(0, 7), st.integers(0, 7)),
)  # fmt: skip
def test_a_multicast_reaches_its_rectangle(
    noc: int, y_major: bool, itself: bool, source: int, first: tuple[int, int], last: tuple[int, int]
) -> None:
    """Spans that end before they start go around the torus; other nodes of the rectangle hear nothing."""
    grid, places = tensix.Grid(), tile_places(8, 8)
    corners = [10 * TILE_ROWS[row] + TILE_COLUMNS[column] for row, column in (first, last)]
    control = WRITE | MARKED | BROADCAST | (Y_MAJOR if y_major else 0) | (ITSELF if itself else 0)
    to = rectangle(noc, corners[0], corners[1])
    (x, y), (end_x, end_y) = node(noc, corners[0]), node(noc, corners[1])

    def within(at: int, start: int, end: int) -> bool:
        return start <= at <= end if start <= end else at <= end or start <= at

    heard = set[int]()
    for n, each in enumerate(places):
        at_x, at_y = node(noc, each)
        if within(at_x, x, end_x) and within(at_y, y, end_y) and (itself or n != source):
            heard.add(n)
    text = request(noc, FROM, where(noc, places[source]), L1, to, 96, control) + wait(noc, 1, len(heard))
    data = pattern(grid, *divmod(source, 8))
    arrived(grid, source % 8, source // 8, text)
    grid.run(10_000)
    found = {n for n, tile in enumerate(grid.tiles) if np.array_equal(tile.l1[L1 : L1 + 96], data[:96])}
    assert found == heard
    # Every link carries the packet once at most.
    assert all(link.flits <= 4 + len(heard) for link in grid.links())


def test_a_multicast_costs_one_packet_on_each_link() -> None:
    grid, places = tensix.Grid(), tile_places(8, 8)
    to = rectangle(0, places[0], places[7])
    text = request(0, FROM, where(0, places[3]), L1, to, 8192, WRITE | BROADCAST)
    pattern(grid, 0, 3)
    arrived(grid, 3, 0, text)
    cycles = grid.run(10_000).cycles
    along = [link for link in grid.links() if link.direction == "along x"]
    assert {link.flits for link in along} == {257} and len(along) == 9  # from x = 4 around the torus to x = 3
    assert cycles < 257 + 9 * 9 + 100


def test_atomic_increments_of_many_tiles_add_up() -> None:
    """Each of the tiles adds its number ten times, and gets what was there before."""
    grid, places = tensix.Grid(4, 4), tile_places(4, 4)
    for n, each in enumerate(places):
        once = request(n % 2, L1, where(n % 2, places[5]), FROM, where(n % 2, each), INCREMENT, ATOMIC | MARKED, n + 1)
        text = f"li a3, 10\nli a4, 0\nloop:\n{once}addi a4, a4, 1\nlui s0, {NIU[n % 2]:#x}\n"
        text += "seen: lw a0, 0x200(s0)\nbne a0, a4, seen\naddi a3, a3, -1\nbnez a3, loop\n"
        arrived(grid, n % 4, n // 4, text)
    grid.run(100_000)
    assert grid[1, 1].l1[L1 : L1 + 4].view(np.uint32)[0] == 10 * sum(range(1, 17))
    before = [int(tile.l1[FROM : FROM + 4].view(np.uint32)[0]) for tile in grid.tiles]
    assert len(set(before)) == 16 and max(before) < 1360


@pytest.mark.parametrize(
    ("code", "value", "old", "new"),
    [
        (INCREMENT | 1, 7, (1, 2, 3, 4), (1, 9, 3, 4)),
        (1 << 12 | 3 << 2 | 1, 15, (1, 0xFFFFFF02, 3, 4), (1, 0xFFFFFF01, 3, 4)),
        (4 << 12 | 2 << 2 | 9 << 6 | 1, 0, (1, 2, 3, 4), (1, 9, 3, 4)),
        (4 << 12 | 3 << 2 | 9 << 6 | 1, 0, (1, 2, 3, 4), (1, 2, 3, 4)),
        (6 << 12 | 4 | 3, 77, (1, 2, 3, 4), (1, 2, 3, 77)),
        (7 << 12 | 2 << 2, 77, (1, 2, 3, 4), (1, 2, 77, 4)),
        (3 << 12 | 0b01000010 << 2, 0x00AA00BB, (0, 0, 0, 0), (0xAA << 16, 0, 0, 0xBB)),
    ],
)
def test_atomic_operations(code: int, value: int, old: tuple[int, ...], new: tuple[int, ...]) -> None:
    """Increment, of some bits; compare and swap; swap by index, twice, and by mask."""
    grid, places = tensix.Grid(1, 2), tile_places(1, 2)
    grid[0, 1].l1[L1 : L1 + 16] = np.array(old, np.uint32).view(np.uint8)
    text = request(0, L1 + 4, where(0, places[1]), FROM, where(0, places[0]), code, ATOMIC | MARKED, value)
    arrived(grid, 0, 0, text + wait(0, 0, 1))
    grid.run(10_000)
    assert tuple(grid[0, 1].l1[L1 : L1 + 16].view(np.uint32)) == new
    assert grid[0, 0].l1[FROM : FROM + 4].view(np.uint32)[0] == old[1]


def test_immediate_writes_and_writes_by_mask() -> None:
    grid, places = tensix.Grid(1, 2), tile_places(1, 2)
    there, here = where(0, places[1]), where(0, places[0])
    text = request(0, L1 + 8, there, 0, 0, 0xF0F, WRITE | INLINE | MARKED, 0x44332211)
    text += request(0, FROM, here, L1 + 32, there, 0x80000005, WRITE | MASKED | MARKED, initiator=1) + wait(0, 1, 2)
    data = pattern(grid, 0, 0)
    arrived(grid, 0, 0, text)
    grid.run(10_000)
    expected = np.zeros(64, np.uint8)
    expected[:4] = expected[8:12] = (0x11, 0x22, 0x33, 0x44)
    for n in (0, 2, 31):
        expected[32 + n] = data[n]
    assert np.array_equal(grid[0, 1].l1[L1 : L1 + 64], expected)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 15), st.integers(1, 600)), max_size=5))
def test_any_reads_give_the_other_tiles_bytes(reads: list[tuple[int, int, int, int]]) -> None:
    """Of any tile, itself included, by either NoC; one after another."""
    grid, places = tensix.Grid(2, 2), tile_places(2, 2)
    for n in range(4):
        pattern(grid, *divmod(n, 2))
    text, expected, counts = "", np.zeros(8192, np.uint8), [0, 0]
    for n, (tile, to, low, size) in enumerate(reads):
        noc = n % 2
        counts[noc] += 1
        source, target = FROM + 16 * n + low, L1 + 1024 * to + low
        text += request(noc, source, where(noc, places[tile]), target, where(noc, places[1]), size)
        text += wait(noc, 2, counts[noc])
        expected[target - L1 :][:size] = grid.tiles[tile].l1[source:][:size]
    arrived(grid, 1, 0, text)
    grid.run(100_000)
    assert np.array_equal(grid[0, 1].l1[L1 : L1 + 8192], expected)


@pytest.mark.parametrize("channel", [0, 1, 4, 11])
def test_dram_moves_its_bytes_a_cycle(channel: int) -> None:
    """One tile reads 32 KiB and writes it back: 22 bytes a cycle of one channel, though a NoC has 32."""
    grid, places = tensix.Grid(1, 1, memory=tensix.Memory(1 << 17)), tile_places(1, 1)
    grid.dram(channel)[:] = np.random.default_rng(channel).integers(0, 256, 1 << 17, np.uint8)
    there, here, base = where(0, dram_places(channel)[0]), where(0, places[0]), (channel % 2) << 30
    text = request(0, base, there, L1, here, 1 << 15) + wait(0, 2, 4)
    text += request(0, L1, here, base + (1 << 16), there, 1 << 15, WRITE | MARKED) + wait(0, 1, 4)
    arrived(grid, 0, 0, text)
    cycles = grid.run(100_000).cycles
    memory = grid.dram(channel)
    assert np.array_equal(memory[1 << 16 :][: 1 << 15], memory[: 1 << 15])
    assert 2 * (1 << 15) / 22 < cycles < 2 * (1 << 15) / 22 + 1000
    assert grid.channels()[channel][:2] == (1 << 15, 1 << 15)


def test_a_channel_is_shared_by_its_readers() -> None:
    """Eight tiles read one channel: no faster than one."""
    grid, places = tensix.Grid(1, 8, memory=tensix.Memory(1 << 17)), tile_places(1, 8)
    for n, each in enumerate(places):
        text = request(1, 8192 * n, where(1, dram_places(4)[0]), L1, where(1, each), 8192) + wait(1, 2, 1)
        arrived(grid, n, 0, text)
    assert 8 * 8192 / 22 < grid.run(100_000).cycles < 8 * 8192 / 22 + 700
    assert grid.channels()[4] == (8 * 8192, 0, 8 * -(-8192 // 22))


def test_identities_and_status() -> None:
    grid, text = tensix.Grid(), ""
    for n, at in enumerate((0x2C, 0x30, 0x138, 0x54)):
        text += f"lui s0, {NIU[1]:#x}\nlw a{n}, {at}(s0)\n"
    arrived(grid, 3, 2, text)
    grid.run(1000)
    x, y = node(1, tile_places(8, 8)[19])
    found = grid[2, 3].native.registers(0)[10:14]
    assert found == [x | y << 6 | 10 << 12 | 12 << 19, 1 << 24 | 19, x | y << 6, 0]


def test_translated_coordinates() -> None:
    """25 and 18 are the rightmost column and the topmost row on both NoCs."""
    for noc in range(2):
        grid, places = tensix.Grid(), tile_places(8, 8)
        pattern(grid, 0, 0)
        text = request(noc, FROM, where(noc, places[0]), L1, 25 << 4 | 18 << 10, 32, WRITE | MARKED) + wait(noc, 1, 1)
        arrived(grid, 0, 0, text)
        grid.run(1000)
        assert np.array_equal(grid[0, 7].l1[L1 : L1 + 32], grid[0, 0].l1[FROM : FROM + 32])


OWN = where(0, tile_places(1, 1)[0])
OTHER = where(0, tile_places(1, 2)[1])
D0 = where(0, dram_places(0)[0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (request(0, FROM, OWN, L1 + 8, OTHER, 64, WRITE), "agree modulo 32 for reads from DRAM, else modulo 16"),
        (request(0, 16, D0, L1, OWN, 64), "agree modulo 32 for reads from DRAM"),
        (request(0, FROM, OWN, 0x170000 - 32, OTHER, 64, WRITE), "not all in the other tile's L1"),
        (request(0, 0x170000 - 32, OWN, L1, OTHER, 64, WRITE), "not all in L1"),
        (request(0, 1 << 22, D0, L1, OWN, 64), "not all in the memory of a channel"),
        (request(0, L1, D0, 0, 0, INCREMENT, ATOMIC), "atomic requests and writes by mask to DRAM"),
        (request(0, L1 + 2, OTHER, 0, 0, INCREMENT, ATOMIC), "multiples of 4"),
        (request(0, L1, OTHER, 0, 0, 5 << 12, ATOMIC), "no such atomic operation"),
        (request(0, FROM, OWN, L1, 3 << 4 | 3 << 10, 64, WRITE), "no tile of the grid and no DRAM tile"),
        (request(0, FROM, OWN, L1, 12 << 4, 64, WRITE), "coordinates are below"),
        (request(0, L1, OTHER, FROM, OTHER, 64), "answers for another tile"),
        (request(0, FROM, OWN, L1, OTHER, 64, BROADCAST), "a read is never broadcast"),
    ],
)
def test_requests_that_fault_name_the_tile(text: str, message: str) -> None:
    grid = tensix.Grid(1, 2)
    arrived(grid, 0, 0, text)
    with pytest.raises(PolyloomError, match="tile 0, 0: noc-request") as caught:
        grid.run(10_000)
    assert message in str(caught.value) and caught.value.code == "PL1220"


def test_a_deadlock_names_cores_and_what_they_wait_for() -> None:
    """Each tile waits for the other's increment before it sends its own; a core sleeps at a mailbox."""
    grid, places = tensix.Grid(1, 2), tile_places(1, 2)
    for n in range(2):
        poll = f"li a2, {L1}\nagain: lw a0, 0(a2)\nbeqz a0, again\n"
        text = poll + request(0, L1, where(0, places[1 - n]), 0, 0, INCREMENT, ATOMIC, 1)
        arrived(grid, n, 0, text)
    arrived(grid, 1, 0, "lui s0, 0xffec1\nlw a0, 0(s0)", "t1")
    arrived(grid, 0, 0, wait(1, 2, 3), "nc")
    with pytest.raises(PolyloomError) as caught:
        grid.run(1_000_000)
    assert caught.value.code == "PL1222"
    notes = caught.value.diagnostics[0].notes
    word = f"the word at {L1:#x} of its L1 (0), which no atomic request or immediate write has reached"
    assert any(note.startswith(f"tiles 0, 0; 0, 1: core b polls {word} at 0x") for note in notes)
    assert any("tile 0, 0: core nc polls the counter NIU_MST_RD_RESP_RECEIVED of NIU 1 (0)" in note for note in notes)
    assert any("tile 0, 1: core t1: the instruction at" in note for note in notes)


def test_long_loops_are_no_deadlock() -> None:
    """A core that counts for 20,000 cycles without an effect, while another waits for its increment."""
    grid, places = tensix.Grid(1, 2), tile_places(1, 2)
    count = "li a3, 20000\ncount: addi a3, a3, -1\nbnez a3, count\n"
    arrived(grid, 0, 0, count + request(0, L1, where(0, places[1]), 0, 0, INCREMENT, ATOMIC, 1))
    arrived(grid, 1, 0, f"li a2, {L1}\nagain: lw a0, 0(a2)\nbeqz a0, again\n")
    assert grid.run(1_000_000).stop == "idle"


def test_runs_are_the_same_however_often_they_stop() -> None:
    def run(step: int) -> tuple[int, bytes]:
        grid, places = tensix.Grid(2, 2), tile_places(2, 2)
        for n, each in enumerate(places):
            pattern(grid, *divmod(n, 2))
            to = rectangle(n % 2, *(places[::3] if n % 2 == 0 else places[::-3]))
            text = request(n % 2, FROM, where(n % 2, each), L1 + 8192 * n, to, 8192, WRITE | BROADCAST | MARKED)
            arrived(grid, n % 2, n // 2, text + wait(n % 2, 1, 3))
        cycles = 0
        while True:
            outcome = grid.run(step)
            cycles += outcome.cycles
            if outcome.stop == "idle":
                return cycles, b"".join(tile.l1[L1 : L1 + 4 * 8192].tobytes() for tile in grid.tiles)

    assert run(10**6) == run(97)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tensix.Grid(11, 8),
        lambda: tensix.Grid(8, 0),
        lambda: tensix.Grid(1, 1, memory=tensix.Memory(1 << 31)),
        lambda: tensix.Grid(1, 1)[1, 0],
        lambda: tensix.Grid(1, 1).dram(12),
        lambda: tensix.Grid(1, 1).run(-1),
    ],
)
def test_grids_that_are_none(make: object) -> None:
    with pytest.raises(PolyloomError) as caught:
        make()  # pyright: ignore[reportCallIssue]: functions without arguments
    assert caught.value.code == "PL1223"

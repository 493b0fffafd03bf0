# SPDX-License-Identifier: Apache-2.0
"""Data under way: who looks at L1, Src or Dst in the middle of an instruction sees what is there by then."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.targets.tensix.tile.test_cores import place
from tests.targets.tensix.tile.tools import words
from tests.targets.tensix.time.movement import prepared, spans
from tests.targets.tensix.time.row import fresh

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix import python as tensix

ONE = 0x3F80


def steps(tile: tensix.Tile, count: int) -> None:
    for _ in range(count):
        tile.step()


def test_an_unpacker_fills_its_bank_line_by_line() -> None:
    tile = prepared((16, 16), (1, 1))
    tile.l1[0x20000:0x20100] = np.frombuffer(np.full(128, ONE, np.uint16).tobytes(), np.uint8)
    tile.push("t0", words("UNPACR Unpack_block_selection=0, SetDatValid=1"))
    filled: list[int] = []
    for _ in range(26):
        tile.step()
        filled.append(int(np.count_nonzero(tile.srca[0])))
    changes = [after - before for before, after in itertools.pairwise(filled) if after != before]
    assert changes == [8] * 16 and filled[-1] == 128


def test_what_is_stored_ahead_of_an_unpacker_is_read_and_what_is_behind_it_is_not() -> None:
    tile = prepared((64, 1), (1, 4))
    tile.push("t0", words("UNPACR Unpack_block_selection=0"))
    steps(tile, 26)  # about a third of the lines
    tile.l1[0x20000:0x20400] = 0x40
    tile.run(1000)
    datums = tile.srca[0].ravel()[:512]
    first = int(np.flatnonzero(datums)[0])
    assert 0 < first < 512 and first % 8 == 0 and (datums[first:] == datums[-1]).all()


def test_a_packer_writes_line_by_line() -> None:
    tile = prepared()
    tile.dst[:16], tile.dst_valid[:16] = 0x1234, 1
    tile.push("t1", words("PACR PackSel=1, Last=1"))
    written: list[int] = []
    for _ in range(40):
        tile.step()
        written.append(int(np.count_nonzero(tile.l1[0x40000:0x40200])))
    assert sorted({after - before for before, after in itertools.pairwise(written)}) == [0, 16]
    assert written[-1] == 512


def test_dst_changes_when_the_matrix_unit_is_done_with_it() -> None:
    tile = fresh()
    tile.srca[:], tile.config[0, 1] = 0x7F, 5 << 17
    tile.push("t0", words("SETDVALID 3"))
    tile.push("t1", words("MOVA2D instr_mod=2\nMOVA2D instr_mod=2, dst=8"))
    old, new = 0x4100, 0x7F
    seen: list[tuple[int, int]] = []
    for _ in range(14):
        tile.step()
        seen.append((int(tile.dst[0, 0]), int(tile.dst[8, 0])))
    first, second = seen.index((new, old)), seen.index((new, new))
    start = next(event[0] for event in tile.native.events if event[3] == 4)
    assert (first, second) == (start + 3, start + 4)  # seen behind the cycle before the one in which loads see it


def test_a_run_that_is_cut_goes_on_as_one_that_is_not() -> None:
    def told(*cycles: int) -> tuple[object, ...]:
        tile = prepared((64, 64))
        tile.l1[0x20000:0x31000] = np.arange(0x11000) % 251
        tile.push(
            "t0",
            words("UNPACR Unpack_block_selection=0, SetDatValid=1\nUNPACR Unpack_block_selection=1, SetDatValid=1"),
        )
        tile.push(
            "t1",
            words("MVMUL\nMVMUL dst=8\nSFPLOAD L0, 8, 2, 3\nNOP\nNOP\nSFPLOAD L1, 8, 2, 3\nPACR PackSel=15, Last=1"),
        )
        for count in cycles:
            tile.run(count)
        tile.run()
        return tile.native.events, tile.native.findings, tile.l1.tobytes(), tile.dst.tobytes(), tile.lregs.tobytes()

    assert told() == told(*[1] * 90) == told(44, 1, 3, 17)


def test_stallwait_waits_for_each_packer_alone() -> None:
    """Packer 0 packs 1024 datums, packer 1 eight by another thread."""

    def waited(condition: int) -> int:
        tile = prepared()
        tile.push("t1", words("SETADCXX CntSetMask=4, x_end2=1023, x_start=0"))
        tile.run(100)
        start = tile.native.cycle
        tile.push("t1", words(f"PACR PackSel=1, Last=1\nSTALLWAIT 0x100, {condition}\nSFPNOP"))
        tile.run(1000)
        return next(event[0] for event in tile.native.events if event[3] == 6) - start

    assert waited(1 << 3) > 128
    assert waited(1 << 4) == waited(1 << 5) == waited(1 << 6) < 10


def test_stallwait_waits_for_stores_to_the_configuration_that_wrcfg_delays() -> None:
    """T0 stores to the configuration while T1 issues WRCFG in every cycle; T0's words wait until it is there."""
    tile = tensix.Tile()
    tile.native.tracing = True
    tile.push("t1", words("NOP\n" * 10 + "WRCFG 4, 0, 160\n" * 60))
    text = "lui s0, 0xffef0\nli a0, 7\n" + "nop\n" * 20 + "sw a0, 8(s0)\n"
    stall = ((words("STALLWAIT 0x40, 0x2000")[0] << 2) & 0xFFFFFFFF) | (words("STALLWAIT 0x40, 0x2000")[0] >> 30)
    rwc = ((words("INCRWC 0, 1, 0, 0")[0] << 2) & 0xFFFFFFFF) | (words("INCRWC 0, 1, 0, 0")[0] >> 30)
    place(tile, "t0", f"{text}.word {stall:#x}\n.word {rwc:#x}\nebreak")
    tile.run(1000)
    last = max(event[0] for event in tile.native.events if event[3] == 8)
    counted = next(event[0] for event in tile.native.events if event[3] == 4)
    assert tile.config[0, 2] == 7 and counted > last > 60


def test_cores_and_unpackers_take_turns_at_a_bank() -> None:
    def took(offset: int) -> int:
        tile = prepared((64, 1), (1, 4))
        tile.push("t0", words("UNPACR Unpack_block_selection=0\n" * 2))
        place(tile, "b", "lui s0, 0x20\n" + f"lw a0, {offset}(s0)\n" * 60 + "ebreak")
        tile.run(1000)
        return sum(end - start for start, end in spans(tile, 2))

    alone = prepared((64, 1), (1, 4))
    alone.push("t0", words("UNPACR Unpack_block_selection=0\n" * 2))
    alone.run(1000)
    assert took(0) > sum(end - start for start, end in spans(alone, 2))


def test_a_line_outside_l1_faults_when_it_is_read() -> None:
    tile = prepared((64, 1))
    tile.config[0, 64] = 0x170000 // 16 - 8
    tile.push("t0", words("UNPACR Unpack_block_selection=0"))
    with pytest.raises(PolyloomError, match=r"outside-l1: thread t0, cycle \d+: an address outside L1; .*\(word 4\)"):
        tile.run(1000)

# SPDX-License-Identifier: Apache-2.0
"""Three threads at work: T0 unpacks two tiles, T1 multiplies them by 16 MVMULs from the replay buffer, T2 packs the
product. What each waits for is a bank of Src or a semaphore."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.targets.tensix.tile.tools import words

from polyloom.targets.tensix import python as tensix

IN0, IN1, OUT = 0x20000, 0x30000, 0x40000
BF16 = 5
PLUS8, PLUS24, PLUS24_A16, PLUS40_A16 = range(4)  # address modes: what B's and A's rows step by

SETUP = f"""
SETADCXX CntSetMask=1, x_end2=1023, x_start=0
SETADCXX CntSetMask=2, x_end2=1023, x_start=0
SETADCXX CntSetMask=4, x_end2=1023, x_start=0
SETC16 3, 4
SETC16 7, {8 << 8}
SETC16 9, {24 << 8}
SETC16 11, {24 << 8 | 16}
SETC16 13, {40 << 8 | 16}
"""


def multiply(again: bool = False) -> str:
    """16 MVMULs: for each inner face and each face of SrcA, the four halves of SrcB's faces."""
    lines: list[str] = []
    for k in range(2):
        for c in range(2):
            last = PLUS24_A16 if c == 0 else PLUS40_A16
            for step, mode in enumerate((PLUS8, PLUS24, PLUS8, last)):
                row = 16 * c + 8 * (step & 1) + 32 * (step >> 1)
                clear = 3 if (k, c, step) == (1, 1, 3) and not again else 0
                lines.append(f"MVMUL clear_dvalid={clear}, addr_mode={mode}, dst={row}")
    return "\n".join(lines)


def bf16(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def faces(matrix: NDArray[np.uint16]) -> NDArray[np.uint8]:
    return matrix.reshape(2, 16, 2, 16).transpose(0, 2, 1, 3).copy().view(np.uint8).ravel()


def matrix(data: NDArray[np.uint8]) -> NDArray[np.float32]:
    bits = data.copy().view(np.uint16).reshape(2, 2, 16, 16).transpose(0, 2, 1, 3).reshape(32, 32)
    return (bits.astype(np.uint32) << 16).view(np.float32)


@pytest.fixture
def tile() -> tensix.Tile:
    """Formats and addresses for BF16 throughout, by the host."""
    made = tensix.Tile()
    config = made.config[0]
    config[1] = BF16 << 17 | BF16 << 25
    for at, base in ((52, IN1), (92, IN0)):
        config[at : at + 3] = BF16 | 1 << 4 | 1024 << 16, 1 | 1 << 16, 1
        config[at + 8], config[at + 12] = BF16 | 2 << 4, base // 16 - 1
    config[40] |= 128 << 16  # SrcA starts four rows in
    config[57], config[58] = OUT // 16, 1 | BF16 << 4 | BF16 << 8 | 1 << 15
    config[20] = 0xFFFF
    made.push("t0", words(SETUP))
    made.push("t1", words(SETUP))
    made.push("t2", words(SETUP))
    made.run(1000)
    return made


def small(seed: int) -> NDArray[np.float32]:
    """Integers whose products and sums BF16 holds."""
    rng = np.random.default_rng(seed)
    return rng.integers(-1, 2, (32, 32)).astype(np.float32)


UNPACK = (
    "UNPACR Unpack_block_selection=0, SetDatValid=1, Last=1\nUNPACR Unpack_block_selection=1, SetDatValid=1, Last=1\n"
)
RECORDED = f"REPLAY 0, 16, 0, 1\n{multiply()}\n"


def test_a_tile_product(tile: tensix.Tile) -> None:
    a, b = small(1), small(2)
    tile.l1[IN0 : IN0 + 2048], tile.l1[IN1 : IN1 + 2048] = faces(bf16(a)), faces(bf16(b))
    tile.push("t0", words(UNPACK))
    tile.push("t1", words(RECORDED + "REPLAY 0, 16, 0, 0\nSTALLWAIT 2, 0x80\nSEMPOST 1\n"))
    tile.push("t2", words("SEMWAIT 4, 1, 1\nPACR PackSel=1, Last=1\nSEMGET 1"))
    outcome = tile.run(10_000)
    assert outcome.stop == "idle" and not outcome.hazards
    assert np.array_equal(matrix(tile.l1[OUT : OUT + 2048]), a @ b)
    assert tile.threads()[1][1:] == (len(words(SETUP)) + 16 + 4, len(words(SETUP)) + 16 + 2)


def test_sixteen_mvmuls_take_sixteen_cycles(tile: tensix.Tile) -> None:
    before = tile.native.unit(4)
    tile.push("t0", words(UNPACK))
    tile.push("t1", words(RECORDED + "REPLAY 0, 16, 0, 0"))
    tile.native.tracing = True
    tile.run(10_000)
    issued = [event[0] for event in tile.native.events if event[3] == 4 and event[4] >> 24 == 0x26]
    assert len(issued) == 16 and issued[-1] - issued[0] == 15
    assert tile.native.unit(4)[1] - before[1] == 16


def test_the_matrix_unit_waits_for_both_banks(tile: tensix.Tile) -> None:
    tile.push("t1", words(RECORDED + "REPLAY 0, 16, 0, 0"))
    tile.push("t0", words("NOP\n" * 100 + UNPACK))
    tile.native.tracing = True
    tile.run(10_000)
    unpacked = max(event[1] for event in tile.native.events if event[3] in (2, 3))
    multiplied = min(event[0] for event in tile.native.events if event[3] == 4)
    assert multiplied >= unpacked


def test_rows_that_follow_too_closely_stall(tile: tensix.Tile) -> None:
    def took(rows: list[int]) -> int:
        tile.push("t0", words(UNPACK))
        tile.push("t1", words("".join(f"MVMUL addr_mode=0, dst={row}\n" for row in rows) + "SETRWC 3, 0, 0, 0, 0, 15"))
        tile.native.tracing = True
        start = len(tile.native.events)
        tile.run(10_000)
        issued = [event[0] for event in tile.native.events[start:] if event[4] >> 24 == 0x26]
        return issued[-1] - issued[0]

    assert took([0, 8, 16, 24, 32, 0]) == 5
    assert took([0, 0]) == 5
    assert took([0, 8, 0]) == 5


def test_a_load_that_follows_the_matrix_unit_too_closely_is_reported(tile: tensix.Tile) -> None:
    def kinds(between: str) -> list[str]:
        fresh = tensix.Tile(hazards="report")
        fresh.dst_valid[:] = 1
        fresh.srca[:] = 0
        fresh.push("t1", words(f"MOVB2D dst=0\n{between}SFPLOAD L0, 0, 2, 3"))
        fresh.push("t0", words("SETDVALID 3"))
        return [finding.kind for finding in fresh.run(1000).hazards]

    assert kinds("NOP\n" * 2) == ["dst-too-early"]
    assert kinds("NOP\n" * 3) == []
    assert kinds("STALLWAIT 0x100, 0x80\n") == []
    assert kinds("") == ["dst-too-early"]


def test_unpackers_keep_the_matrix_unit_busy(tile: tensix.Tile) -> None:
    rounds, phases = 64, 4
    tile.push("t0", words(UNPACK * rounds))
    recorded = RECORDED.replace("clear_dvalid=3", "clear_dvalid=0")
    product = "REPLAY 0, 16, 0, 0\n" * phases + "SETRWC 3, 0, 0, 0, 0, 15\n"
    tile.push("t1", words(recorded + product * rounds))
    tile.native.tracing = True
    assert tile.run(100_000).stop == "idle"
    issued = [event[0] for event in tile.native.events if event[4] >> 24 == 0x26]
    assert len(issued) == 16 * phases * rounds
    assert len(issued) / (issued[-1] - issued[0] + 1) >= 0.9

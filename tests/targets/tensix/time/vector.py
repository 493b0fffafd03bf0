# SPDX-License-Identifier: Apache-2.0
"""Times of the vector unit: from an instruction to the first that reads its result, and to the first that any unit
accepts. Source: the public pages of the vector unit and its instructions."""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.targets.tensix.tile.tools import words
from tests.targets.tensix.time.row import MATRIX, VECTOR, How, Measured, Row, distance, fresh, plain, rate, starts

from polyloom.targets.tensix import python as tensix

SOURCE: Final = "pages of the vector unit"
RESULTS: Final[dict[str, tuple[int, How]]] = {
    "SFPLOAD L2, 0, 2, 3": (1, ""),
    "SFPLOADI L2, 0x4100, 0": (1, ""),
    "SFPLUT L4, 0": (2, "reported"),
    "SFPLUTFP32 L4, 0": (2, "reported"),
    "SFPMULI L2, 0x4000, 0": (2, "reported"),
    "SFPADDI L2, 0x4000, 0": (2, "reported"),
    "SFPMAD L2, L1, L4, L5, 0": (2, "reported"),
    "SFPADD L2, L10, L4, L5, 0": (2, "reported"),
    "SFPMUL L2, L1, L4, L9, 0": (2, "reported"),
    "SFPDIVP2 L2, L1, 3, 1": (1, ""),
    "SFPEXEXP L2, L1, 0": (1, ""),
    "SFPEXMAN L2, L1, 0": (1, ""),
    "SFPIADD L2, L1, 5, 5": (1, ""),
    "SFPSHFT L2, L1, 1, 1": (1, ""),
    "SFPMOV L2, L1, 0": (1, ""),
    "SFPABS L2, L1, 0": (1, ""),
    "SFPAND L2, L6": (1, ""),
    "SFPOR L2, L6": (1, ""),
    "SFPXOR L2, L6": (1, ""),
    "SFPNOT L2, L1": (1, ""),
    "SFPLZ L2, L1, 0": (1, ""),
    "SFPSETEXP L2, L1, 5, 1": (1, ""),
    "SFPSETMAN L2, L1, 5, 1": (1, ""),
    "SFPSETSGN L2, L1, 1, 1": (1, ""),
    "SFPCAST L2, L6, 0": (1, ""),
    "SFP_STOCH_RND L2, L0, L1, 6, 0, 0": (1, ""),
    "SFPTRANSP": (1, ""),
    "SFPSWAP L2, L1, 0": (2, "waits"),
    "SFPSHFT2 instr_mod1=0": (1, ""),
    "SFPSHFT2 instr_mod1=1": (1, ""),
    "SFPSHFT2 lreg_src_c=L1, instr_mod1=2": (2, "reported"),
    "SFPSHFT2 lreg_dest=L2, lreg_src_c=L1, instr_mod1=3": (2, "reported"),
    "SFPSHFT2 lreg_dest=L2, lreg_src_c=L1, instr_mod1=4": (2, "reported"),
    "SFPSHFT2 lreg_dest=L2, lreg_src_c=L6, instr_mod1=5": (1, ""),
    "SFPSHFT2 lreg_dest=L2, lreg_src_c=L1, imm12_math=5, instr_mod1=6": (1, ""),
    "SFPCONFIG L12, 0, 0": (1, ""),
}
"""Latency of what an instruction writes, and what happens to who reads it earlier."""
BLACKHOLE: Final[dict[str, tuple[int, How]]] = {
    "SFPMAD L2, L1, L4, L5, 0": (2, "waits"),
    "SFPMULI L2, 0x4100, 0": (2, "waits"),
    "SFPLUTFP32 L2, 0": (2, "waits"),
    "SFPMUL24 L2, L1, L4, L9, 0": (2, "waits"),
    "SFPSHFT2 lreg_dest=L2, lreg_src_c=L1, instr_mod1=3": (2, "waits"),
    "SFPGT L2, L1, 0, 8": (1, ""),
    "SFPLE L2, L1, 0, 8": (1, ""),
    "SFPARECIP L2, L1, 0, 0": (1, ""),
}
FLAGS: Final = (
    "SFPSETCC L1, 0, 0",
    "SFPENCC 1, 10",
    "SFPCOMPC",
    "SFPIADD L6, L1, 5, 1",
    "SFPEXEXP L6, L1, 2",
    "SFPLZ L6, L9, 2",
    "SFPPOPC 13",
)
"""Each leaves all flags false."""


def register_of(text: str) -> int:
    """Which register is read to see the result: the destination, or one that a mode writes."""
    if "L12" in text:
        return 12
    if "L4, 0" in text and "LUT" in text:
        return 4
    return 1 if text == "SFPTRANSP" else 0 if "mod1=0" in text or "mod1=1" in text or "mod1=2" in text else 2


def blackhole(text: str) -> Measured:
    """Cycles from an instruction to a reader right behind it, which sees the result."""
    tile = fresh("blackhole")
    code = tensix.assemble(f"{text}\nSFPMOV L7, L2, 0", member="blackhole").words
    tile.push("t1", [int(word) for word in code])
    assert not tile.run(1000).hazards
    assert (tile.lregs[7] == tile.lregs[2]).all() and (tile.lregs[2] != 0x40000000).any()
    issued = starts(tile, VECTOR)
    return issued[-1] - issued[0], "waits" if issued[-1] - issued[0] > 1 else ""


def latency(text: str) -> Measured:
    """The least distance at which SFPMOV sees the result, and what happens to the one right behind."""
    register = register_of(text)
    how: How = ""
    for between in range(6):
        tile = fresh()
        for lane in range(32):
            tile.lregs[:8, lane] += lane // 8 + lane % 8  # rows and columns differ, for what moves lanes
        tile.push("t1", words(f"{text}\n{'SFPNOP' + chr(10)}" + "SFPNOP\n" * 8))
        old = tile.lregs[register].copy()
        tile.run(1000)
        new = tile.lregs[register].copy()
        assert (old != new).any(), text
        tile = fresh()
        for lane in range(32):
            tile.lregs[:8, lane] += lane // 8 + lane % 8
        tile.push("t1", words(f"{text}\n{'SFPNOP' + chr(10)}".replace("SFPNOP\n", "SFPNOP\n" * between)))
        tile.push("t1", words(f"SFPMOV L7, L{register}, 0"))
        hazards = tile.run(1000).hazards
        issued = starts(tile, VECTOR)
        steps = issued[-1] - issued[0]
        if between == 0 and hazards:
            how = "reported"
        if between == 0 and steps > 1:
            how = "waits"
        if (tile.lregs[7] == new).all():
            return steps, how
    raise AssertionError(text)


def flags(text: str) -> int:
    """The least distance at which SFPLOADI obeys the flags."""
    for between in range(4):
        tile = fresh()
        tile.push("t1", words(f"SFPPUSHC 0\n{text}\n" + "SFPNOP\n" * between + "SFPLOADI L7, 7, 2"))
        tile.run(1000)
        if not tile.lregs[7].any():
            return between + 1
    raise AssertionError(text)


def row_mask() -> int:
    """SFPCONFIG of LaneConfig's ROW_MASK, seen by SFPLOADI."""
    for between in range(4):
        tile = fresh()
        tile.push("t1", words("SFPCONFIG 15, 0xF000, 1\n" + "SFPNOP\n" * between + "SFPLOADI L7, 7, 2"))
        tile.run(1000)
        if not tile.lregs[7].any():
            return between + 1
    raise AssertionError


def macro() -> int:
    """SFPLOADMACRO schedules L0 = L0 + 5 with no delay; the distance at which SFPMOV sees it."""
    for between in range(6):
        tile = fresh()
        setup = "SFPIADD L12, L0, 5, 5\nSFPCONFIG 4, 4, 1\nSFPCONFIG 8, 0, 1\n" + "SFPNOP\n" * 4
        tile.push("t1", words(f"{setup}SFPLOADMACRO 0, 0, 6, 3\n" + "SFPNOP\n" * between + "SFPMOV L7, L0, 0"))
        tile.run(1000)
        if (tile.lregs[7] == 0x4105).all():
            return between + 1
    raise AssertionError


def from_matrix() -> Measured:
    """An SFPLOAD of rows that MOVA2D writes: the least distance at which it reads what is new."""
    how: How = ""
    for between in range(8):
        tile = fresh()
        tile.srca[:] = 0x7F
        tile.config[0, 1] = 5 << 17
        tile.push("t0", words("SETDVALID 3"))
        tile.push("t1", words("MOVA2D instr_mod=2\n" + "NOP\n" * between + "SFPLOAD L7, 0, 2, 3"))
        if tile.run(1000).hazards:
            how = "reported"
        if (tile.lregs[7] == 0x3F800000).all():
            return starts(tile, VECTOR)[0] - starts(tile, MATRIX)[0], how
    raise AssertionError


def to_matrix() -> Measured:
    """MOVD2A of rows that SFPSTORE writes."""
    tile = fresh()
    tile.push("t1", words("SFPSTORE L0, 0, 2, 3\nMOVD2A instr_mod=2"))
    tile.run(1000)
    return starts(tile, MATRIX)[0] - starts(tile, VECTOR)[0], "waits"


def rows() -> list[Row]:
    found = [
        Row("Vector unit", f"`{text}` to a reader", cycles, SOURCE, partial(latency, text), how)
        for text, (cycles, how) in RESULTS.items()
    ]
    found += [
        Row("Vector unit", f"`{text}` to what obeys the flags", 1, SOURCE, plain(partial(flags, text)))
        for text in FLAGS
    ]
    found += [
        Row("Vector unit", f"on Blackhole, `{text}` to a reader", cycles, SOURCE, partial(blackhole, text), how)
        for text, (cycles, how) in BLACKHOLE.items()
    ]
    found += [
        Row("Vector unit", "`SFPCONFIG` of LaneConfig to what obeys it", 1, SOURCE, plain(row_mask)),
        Row("Vector unit", "`SFPLOADMACRO` to a reader of what it schedules without delay", 2, SOURCE, plain(macro)),
        Row("Vector unit", "`SFPLOAD` of rows that the matrix unit writes", 4, "page of Dst", from_matrix, "reported"),
        Row("Vector unit", "`SFPSTORE` to the matrix unit's read of its rows", 4, "page of Dst", to_matrix, "waits"),
        Row("Vector unit", "one instruction behind `SFPSWAP`", 2, SOURCE, swapped, "waits"),
        Row(
            "Vector unit",
            "`SFPNOP` behind `SFPSWAP`",
            1,
            SOURCE,
            plain(lambda: distance("SFPSWAP L2, L1, 0\nSFPNOP", VECTOR)[0]),
        ),
        Row(
            "Vector unit", "any other instruction, each", 1, SOURCE, plain(lambda: max(map(rate, (*RATED, *FLAGS[:5]))))
        ),
        Row(
            "Vector unit",
            "an instruction of any of three threads",
            1,
            SOURCE,
            plain(lambda: rate("SFPNOP", ("t0", "t1", "t2")) // 3),
        ),
    ]
    return found


RATED: Final = (
    *tuple(text for text in RESULTS if "SFPSWAP" not in text),
    "SFPNOP",
    "SFPSTORE L0, 0, 2, 3",
    "SFPPUSHC 0",
)


def swapped() -> Measured:
    return distance("SFPSWAP L2, L1, 0\nSFPMOV L6, L4, 0", VECTOR)[0], "waits"

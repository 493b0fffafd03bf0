# SPDX-License-Identifier: Apache-2.0
"""Times of unpackers, packers and the banks of L1, on tiles of BF16. Sources: the public pages on UNPACR and L1."""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.targets.tensix.tile.tools import words
from tests.targets.tensix.time.row import PACK, UNPACK0, Row, held, plain

from polyloom.targets.tensix import python as tensix

UNPACR_PAGE, L1_PAGE = "page of `UNPACR`", "page of L1"
BF16: Final = 5
SPEEDS: Final = (1, 2, 4)
SHARED: Final = {
    (1, 1): (1, 1), (2, 1): (2, 1), (4, 1): (4, 1),
    (1, 2): (1, 2), (2, 2): (1, 1), (4, 2): (2, 1),
    (1, 4): (1, 4), (2, 4): (1, 2), (4, 4): (2, 2),
}  # fmt: skip
"""Lines of 16 bytes per cycle that unpackers 0 and 1 want, and that they get while both read."""


def prepared(lines: tuple[int, int] = (16, 16), speeds: tuple[int, int] = (4, 4), skew: int = 0) -> tensix.Tile:
    """Unpackers 0 and 1 read so many lines at so many a cycle; unpacker 1's data start `skew` lines on."""
    tile = tensix.Tile(hazards="report")
    tile.native.tracing = True
    config = tile.config[0]
    config[1] = BF16 << 17 | BF16 << 25
    for n, (at, base) in enumerate(((52, 0x20000), (92, 0x30000 + 16 * skew))):
        config[at : at + 3] = BF16 | 1 << 4 | 1024 << 16, 1 | 1 << 16, 1
        config[at + 8], config[at + 12] = BF16 | SPEEDS.index(speeds[n]) << 4, base // 16 - 1
    config[40] |= 128 << 16
    config[20] = 0xFFFF
    for packer, at in enumerate((56, 84, 96, 124)):
        config[at + 1], config[at + 2] = 0x4000 + 257 * packer, 1 | BF16 << 4 | BF16 << 8 | 1 << 15
    sizes = "".join(
        f"SETADCXX CntSetMask={1 << n}, x_end2={8 * count - 1}, x_start=0\n" for n, count in enumerate(lines)
    )
    tile.push("t0", words(f"{sizes}SETC16 3, 4"))
    tile.push("t1", words("SETADCXX CntSetMask=4, x_end2=255, x_start=0"))
    tile.run(1000)
    return tile


def spans(tile: tensix.Tile, track: int) -> list[tuple[int, int]]:
    return [(event[0], event[1]) for event in tile.native.events if event[3] == track]


def unpacked(lines: int, speed: int) -> int:
    """Cycles of one UNPACR."""
    tile = prepared((lines, 1), (speed, 4))
    tile.push("t0", words("UNPACR Unpack_block_selection=0"))
    tile.run(1000)
    ((start, end),) = spans(tile, UNPACK0)
    return end - start


def together(wants: tuple[int, int], unpacker: int) -> int:
    """Lines per cycle of one unpacker while the other one reads, too; with the best place of the data in the banks."""
    lines = (128, 4 * SHARED[wants][1]) if unpacker else (4 * SHARED[wants][0], 128)
    other, own = "01" if unpacker else "10"
    best = 0
    for skew in range(16):
        tile = prepared(lines, wants, skew)
        tile.push("t0", words(f"UNPACR Unpack_block_selection={other}\nUNPACR Unpack_block_selection={own}"))
        tile.run(1000)
        start, end = spans(tile, UNPACK0 + unpacker)[-1]
        best = max(best, lines[unpacker] // (end - start - 2))
    return best


def pipelined() -> int:
    """Cycles that a further UNPACR of 16 lines adds to those before it."""

    def took(times: int) -> int:
        tile = prepared()
        tile.push("t0", words("UNPACR Unpack_block_selection=0\n" * times))
        return tile.run(1000).cycles

    return took(6) - took(5)


def address() -> int:
    """The thread's next instruction behind an UNPACR."""
    tile = prepared()
    tile.push("t0", words("UNPACR Unpack_block_selection=0\nSFPNOP"))
    tile.run(1000)
    return spans(tile, 6)[0][0] - spans(tile, UNPACK0)[-1][0]


def packed(packers: int) -> int:
    """Cycles of packing 256 datums of 16 bits by each packer."""
    tile = prepared()
    tile.push("t1", words(f"PACR PackSel={packers}, Last=1"))
    tile.run(1000)
    return max(end - start for n in range(4) for start, end in spans(tile, PACK + n))


def conflicting(lines: int) -> int:
    """Cycles that unpacker 1 loses when it begins at the bank that unpacker 0 reads."""

    def took(skew: int) -> int:
        tile = prepared((lines, lines), (1, 1), skew)
        tile.push("t0", words("UNPACR Unpack_block_selection=0\nUNPACR Unpack_block_selection=1"))
        tile.run(1000)
        start, end = spans(tile, UNPACK0 + 1)[-1]
        return end - start

    return took(2) - took(8)


def narrow() -> int:
    """Cycles that a line waits for its bank behind STOREIND of four bytes, which comes first."""

    def took(at: int) -> int:
        tile = prepared((1, 1))
        tile.config[0, 64] = at // 16 - 1
        tile.push("t0", words("UNPACR Unpack_block_selection=0"))
        tile.push("t1", words("NOP\nSETDMAREG 1, 0, 0, 0\nSTOREIND 1, 0, 1, 2, 0, 4, 0"))
        tile.run(1000)
        start, end = spans(tile, UNPACK0)[0]
        return end - start

    return took(0x40000) - took(0x40010)


def rows() -> list[Row]:
    found = [
        Row("Unpackers", "`UNPACR` to the thread's next instruction", 2, UNPACR_PAGE, plain(address)),
        *(
            Row(
                "Unpackers",
                f"`UNPACR` of 64 lines of 16 bytes at x{speed}",
                2 + 64 // speed,
                UNPACR_PAGE,
                plain(partial(unpacked, 64, speed)),
            )
            for speed in SPEEDS
        ),
        Row("Unpackers", "a further `UNPACR` of 16 lines at x4", 4, UNPACR_PAGE, plain(pipelined)),
    ]
    found += [
        Row(
            "Unpackers",
            f"unpacker {n} wants x{wants[n]}, the other x{wants[1 - n]}: it gets",
            gets[n],
            UNPACR_PAGE,
            plain(partial(together, wants, n)),
            unit="lines per cycle",
        )
        for wants, gets in SHARED.items()
        for n in range(2)
    ]
    found += [
        Row("Packers", "256 datums of 16 bits, by one packer", 32, L1_PAGE, plain(partial(packed, 1))),
        Row("Packers", "256 datums of 16 bits, by each of four packers", 32, L1_PAGE, plain(partial(packed, 15))),
        Row(
            "L1",
            "two unpackers that begin in one bank: the second loses",
            1,
            L1_PAGE,
            held(partial(conflicting, 16)),
            "waits",
        ),
        Row(
            "L1", "a line that is wanted in the cycle of a narrow write to its bank", 5, L1_PAGE, held(narrow), "waits"
        ),
    ]
    return found

# SPDX-License-Identifier: Apache-2.0
"""Times of the front end, sync, scalar, configuration and matrix unit. Sources: the public pages of the units."""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.targets.tensix.tile.tools import cycles, place, words
from tests.targets.tensix.time.row import MATRIX, VECTOR, How, Measured, Row, fresh, held, plain, rate, starts

from polyloom.targets.tensix import python as tensix

MATRIX_PAGE, SCALAR_PAGE, CONFIG_PAGE = (
    "page of the matrix unit",
    "page of the scalar unit",
    "page of the configuration",
)
SYNC_PAGE, FRONT_PAGE, STALLWAIT_PAGE = "page of the sync unit", "pages of the expanders", "page of `STALLWAIT`"
BF16: Final = 5
NOP: Final = 0x02000000


def gate() -> int:
    return cycles("SFPNOP") - 1


def pushes(between: int = 0) -> int:
    """Words that a core pushes until it stands still, while nothing passes the gate."""
    tile = tensix.Tile()
    tile.push("t0", words("STALLWAIT 0x1FF, 0x400"))
    place(tile, "t0", "lui t0, 0xffe40\nlui t1, 0x2000\n" + "sw t1, 0(t0)\n" * 60 + "ebreak")
    tile.run(10_000, check=False)
    return (tile.native.pc(1) - 0x6000) // 4 - 2


def mop(times: int) -> int:
    """Cycles of one thread's MOPs that expand to 20 words each, then a NOP."""
    tile = tensix.Tile()
    tile.mop_config[0] = [1, 20, NOP, NOP, NOP, 0x8F000000, NOP, 0x8F000000, 0x8F000000]
    tile.push("t0", [0x01800000] * times)
    return tile.run(1000).cycles


def behind_mop() -> int:
    tile = tensix.Tile()
    tile.mop_config[0] = [1, 20, NOP, NOP, NOP, 0x8F000000, NOP, 0x8F000000, 0x8F000000]
    tile.push("t0", [0x01800000, 0x8F000000])
    return tile.run(1000).cycles - mop(1) - 1


def replayed() -> int:
    tile = tensix.Tile()
    tile.replay[0] = words("SFPNOP")[0]
    tile.push("t0", words("REPLAY 0, 32, 0, 0"))
    return tile.run(1000).cycles - gate()


def mutexes() -> int:
    tile = tensix.Tile()
    for thread, mutex in enumerate((0, 2, 3)):
        tile.push(thread, words(f"ATGETM {mutex}\nATRELM {mutex}\n" * 10))
    return tile.run(1000).cycles - gate()


def latched() -> int:
    """Cycles between a STALLWAIT whose condition holds and what it blocks."""
    return cycles("STALLWAIT 0x100, 0x1\nSFPNOP") - cycles("STALLWAIT 0x40, 0x1\nSFPNOP")


def handed_over() -> int:
    """From ATRELM to the ATGETM of another thread that waits."""
    tile = tensix.Tile()
    tile.native.tracing = True
    tile.push("t0", words("ATGETM 2\n" + "NOP\n" * 10 + "ATRELM 2"))
    tile.push("t1", words("NOP\n" * 3 + "ATGETM 2\nATRELM 2"))
    tile.run(1000)
    released, taken = (event[0] for event in tile.native.events if event[3] == 1 and event[4] == words("ATRELM 2")[0])
    return taken - released - 1


def collided() -> Measured:
    """Words of a thread that are lost where B pushes four into a stream of twenty."""
    tile = tensix.Tile(hazards="report")
    tile.push("t1", words("INCRWC 0, 1, 0, 0") * 20)
    place(tile, "b", "lui t0, 0xffe50\nlui t1, 0x2000\n" + "sw t1, 0(t0)\n" * 4 + "ebreak")  # four NOPs
    kinds = [found.kind for found in tile.run(1000).hazards]
    return 20 - int(tile.rwc[1, 4]), "reported" if kinds == ["lost-collision"] * 4 else ""


def rewritten() -> Measured:
    """Stores to the configuration of a MOP that expands."""
    tile = tensix.Tile(hazards="report")
    tile.mop_config[0] = [100, 1] + [NOP] * 5 + [0x8F000000] * 2
    tile.push("t0", [0x01800000])
    place(tile, "t0", "nop\n" * 8 + "lui s0, 0xffb80\nsw zero, 0(s0)\nebreak")
    kinds = [found.kind for found in tile.run(1000).hazards]
    return len(kinds), "reported" if set(kinds) == {"mop-rewritten"} else ""


def busy(text: str) -> int:
    """Until the same thread's next instruction."""
    setup = "SETDMAREG 1, 0x3800, 0, 8\nSETDMAREG 0, 4, 0, 9\n"  # of the reset register: all cores held
    return cycles(f"{setup}{text}\nSFPNOP") - cycles(f"{setup}SFPNOP")


def loaded(text: str) -> int:
    """DMANOPs behind a load until its GPR may be read."""
    for between in range(40):
        tile = fresh()
        tile.l1[0x10000:0x10020] = 5
        tile.gpr[1, 0], tile.gpr[1, 4] = 0x1000, 3
        tile.push("t1", words(f"{text}\n" + "DMANOP\n" * between + "ADDDMAREG 1, 8, 0, 4"))
        if not tile.run(1000).hazards:
            assert tile.gpr[1, 8] == 0x05050505, text
            return between
    raise AssertionError(text)


def loads_are_reported() -> Measured:
    tile = fresh()
    tile.push("t1", words("LOADIND 1, 4, 0, 4, 0\nADDDMAREG 1, 8, 0, 4"))
    how: How = "reported" if [h.kind for h in tile.run(1000).hazards] == ["gpr-before-load"] else ""
    return loaded("LOADIND 1, 4, 0, 4, 0"), how


def configured(text: str) -> Measured:
    """The least distance at which an SFPSTORE goes where the written DEST_REGW_BASE or thread offset says (row 64)."""
    how: How = ""
    for between in range(6):
        tile = fresh()
        tile.dst[:] = 0
        tile.gpr[1, 4] = 64
        tile.push("t1", words(f"{text}\n" + "NOP\n" * between + "SFPSTORE L0, 0, 2, 3"))
        if tile.run(1000).hazards:
            how = "reported"
        if tile.dst[64].any():
            return starts(tile, VECTOR)[0] - next(e[0] for e in tile.native.events if e[3] in (7, 8)), how
    raise AssertionError(text)


def read_back() -> int:
    """RDCFG, then WRCFG of its GPR, which the thread issues when it is no longer held."""
    tile = fresh()
    tile.config[:, 160] = 9
    tile.push("t1", words("RDCFG 5, 160\nWRCFG 5, 0, 161"))
    assert not tile.run(1000).hazards and tile.config[0, 161] == 9
    issued = starts(tile, 8)
    return issued[-1] - issued[0]


def behind_wrcfg(text: str) -> int:
    tile = fresh()
    tile.push("t1", words(f"WRCFG 4, 0, 160\n{text}"))
    tile.run(1000)
    issued = starts(tile, 8)
    return issued[-1] - issued[0]


def products(text: str) -> Measured:
    """The distance of two instructions, of which the second reads what the first writes; the unit stalls."""
    tile = fresh()
    tile.config[0, 1] = BF16 << 17
    tile.push("t0", words("SETDVALID 3"))
    tile.push("t1", words(text))
    tile.run(1000)
    issued = starts(tile, MATRIX)
    steps = issued[-1] - issued[0]
    return steps, "waits" if steps > 1 else ""


def packed() -> Measured:
    """PACR of rows that MVMUL writes."""
    tile = fresh()
    tile.config[0, 1] = BF16 << 17 | BF16 << 25
    tile.config[0, 57], tile.config[0, 58] = 0x4000, 1 | BF16 << 4 | BF16 << 8 | 1 << 15
    tile.push("t0", words("SETDVALID 3"))
    tile.push("t1", words("MVMUL dst=0\nPACR PackSel=1, Last=1"))
    tile.run(1000)
    return starts(tile, 11)[0] - starts(tile, MATRIX)[0], "waits"


SCALAR: Final = {
    "SETDMAREG 0, 1, 0, 0": 1, "DMANOP": 1, "ADDDMAREG 1, 8, 3, 4": 3, "ADDDMAREG 0, 8, 5, 4": 3,
    "ADDDMAREG 0, 8, 3, 4": 4, "SUBDMAREG 1, 8, 3, 4": 3, "MULDMAREG 1, 8, 3, 4": 3, "BITWOPDMAREG 1, 0, 8, 3, 4": 3,
    "SHIFTDMAREG 1, 0, 8, 3, 4": 3, "CMPDMAREG 1, 0, 8, 3, 4": 3, "REG2FLOP 1, 0, 0, 0, 0, 0": 2, "FLUSHDMA 0": 2,
    "STOREIND 1, 0, 1, 2, 0, 4, 0": 3, "ATSWAP 0, 255, 4, 0": 3, "LOADIND 1, 4, 0, 4, 0": 3,
    "ATINCGET 0, 31, 0, 4, 0": 3,
    "LOADREG 4, 0x486c": 3, "STOREREG 4, 0x486c": 3, "ATCAS 0, 0, 0, 0, 0": 15, "ATINCGETPTR 0, 1, 0, 4, 1, 5, 0": 15,
}  # fmt: skip
PAIRS: Final[dict[str, tuple[str, int, How]]] = {
    "MVMUL": ("MVMUL\nMVMUL", 5, "waits"),
    "ELWMUL": ("ELWMUL\nELWMUL", 5, "waits"),
    "ELWADD": ("ELWADD\nMOVD2A", 5, "waits"),
    "ELWSUB": ("ELWSUB\nMOVD2A", 5, "waits"),
    "GAPOOL": ("GAPOOL\nGAPOOL", 5, "waits"),
    "GMPOOL": ("GMPOOL\nGMPOOL", 5, "waits"),
    "MOVA2D": ("MOVA2D\nMOVD2A", 4, "waits"),
    "MOVB2D": ("MOVB2D\nMOVD2A", 4, "waits"),
    "MOVD2A": ("MOVD2A dst=64\nMVMUL", 2, "waits"),
    "ZEROACC": ("ZEROACC\nMOVD2A", 1, ""),
    "ZEROSRC": ("ZEROSRC src_mask=3\nMVMUL", 1, ""),
    "TRNSPSRCB": ("TRNSPSRCB\nMVMUL", 1, ""),
    "SETRWC": ("SETRWC 0, 0, 0, 0, 0, 15\nMVMUL", 1, ""),
    "INCRWC": ("INCRWC 0, 8, 0, 0\nMVMUL", 1, ""),
    "CLEARDVALID": ("CLEARDVALID 0, 0\nMVMUL", 1, ""),
}  # fmt: skip


def front() -> list[Row]:
    return [
        Row("Front end", "a word that is pushed, to the wait gate", 3, "the section above", plain(gate)),
        Row(
            "Front end", "words between a core and a gate that is blocked", 36, FRONT_PAGE, plain(pushes), unit="words"
        ),
        Row("Front end", "a word of a `MOP`", 1, FRONT_PAGE, plain(lambda: (mop(2) - mop(1)) // 20)),
        Row("Front end", "behind a `MOP`, unless another follows", 1, FRONT_PAGE, held(behind_mop), "waits"),
        Row("Front end", "32 words that `REPLAY` plays back", 32, FRONT_PAGE, plain(replayed)),
        Row(
            "Front end",
            "a word of a thread, whatever its unit",
            1,
            FRONT_PAGE,
            plain(lambda: rate("NOP\nSFPNOP\nINCRWC 0, 0, 0, 0\nSETC16 5, 0") // 4),
        ),
        Row(
            "Front end",
            "words lost of a thread for four that B pushes with them",
            4,
            FRONT_PAGE,
            collided,
            "reported",
            "words",
        ),
        Row(
            "Front end",
            "a store to the configuration of a `MOP` that expands",
            1,
            FRONT_PAGE,
            rewritten,
            "reported",
            "store",
        ),
        Row("Sync unit", "`ATRELM` to another thread's `ATGETM`", 1, SYNC_PAGE, held(handed_over), "waits"),
        Row("Sync unit", "10 `ATGETM` and 10 `ATRELM` of each of three threads", 20, SYNC_PAGE, plain(mutexes)),
        Row(
            "Sync unit",
            "a semaphore's instruction, of any thread",
            1,
            SYNC_PAGE,
            plain(lambda: rate("SEMPOST 1", ("t0", "t1", "t2")) // 3),
        ),
        Row(
            "Sync unit",
            "what a `STALLWAIT` blocks, longer than what it does not, at least",
            1,
            STALLWAIT_PAGE,
            held(latched),
            "waits",
        ),
    ]


def units() -> list[Row]:
    found = [
        Row("Scalar unit", f"`{text}`, to the thread's next", n, SCALAR_PAGE, plain(partial(busy, text)))
        for text, n in SCALAR.items()
    ]
    found += [
        Row(
            "Scalar unit",
            "`LOADIND` to a use of its GPR",
            7,
            "page of `LOADIND`",
            loads_are_reported,
            "reported",
            "`DMANOP`s",
        ),
        Row(
            "Scalar unit",
            "`ATINCGET` to a use of its GPR",
            24,
            "page of `ATINCGET`",
            plain(partial(loaded, "ATINCGET 0, 31, 0, 4, 0")),
            unit="`DMANOP`s",
        ),
        Row("Configuration", "`RDCFG` to a use of its GPR", 2, "page of `RDCFG`", held(read_back), "waits"),
        Row("Configuration", "`SETC16` to what uses it", 1, CONFIG_PAGE, partial(configured, "SETC16 1, 64")),
        Row("Configuration", "`RMWCIB0` to what uses it", 1, CONFIG_PAGE, partial(configured, "RMWCIB0 0xFF, 64, 6")),
        Row(
            "Configuration", "`WRCFG` to what uses it", 2, CONFIG_PAGE, partial(configured, "WRCFG 4, 0, 6"), "reported"
        ),
        Row("Configuration", "`WRCFG`, each", 1, CONFIG_PAGE, plain(partial(rate, "WRCFG 4, 0, 160"))),
        Row(
            "Configuration",
            "`RMWCIB0` behind `WRCFG`",
            2,
            CONFIG_PAGE,
            held(partial(behind_wrcfg, "RMWCIB0 0, 0, 6")),
            "waits",
        ),
        Row(
            "Configuration",
            "`RDCFG` behind `WRCFG`",
            2,
            CONFIG_PAGE,
            held(partial(behind_wrcfg, "RDCFG 5, 6")),
            "waits",
        ),
        Row(
            "Configuration",
            "`SETC16` of each of three threads",
            1,
            CONFIG_PAGE,
            plain(partial(rate, "SETC16 5, 0", ("t0", "t1", "t2"))),
        ),
    ]
    found += [
        Row("Matrix unit", f"`{name}` to a reader", n, MATRIX_PAGE, partial(products, text), how)
        for name, (text, n, how) in PAIRS.items()
    ]
    found += [
        Row(
            "Matrix unit",
            "five `MVMUL`s of rows of their own, and the first again",
            5,
            "page of Dst",
            plain(lambda: products("".join(f"MVMUL dst={8 * n}\n" for n in (0, 1, 2, 3, 4, 0)))[0]),
        ),
        Row(
            "Matrix unit",
            "an instruction of any of three threads",
            1,
            MATRIX_PAGE,
            plain(lambda: rate("INCRWC 0, 0, 0, 0", ("t0", "t1", "t2")) // 3),
        ),
        Row("Matrix unit", "`PACR` of rows that `MVMUL` writes", 5, "page of Dst", packed, "waits"),
    ]
    return found

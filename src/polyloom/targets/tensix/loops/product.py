# SPDX-License-Identifier: Apache-2.0
"""The three threads of a product of tiles: T0 unpacks, T1 multiplies and accumulates along k, T2 packs.

Up to eight tiles of a column of the result are computed together, each in its own place in Dst: a tile of the right
factor in SrcA serves eight of the left one in SrcB, so that nine tiles are read for eight products. T0's MOP unpacks
them; Y counters step from tile to tile, for a tile's header is part of its pitch. T1 records the 16 MVMULs of one pair
of tiles and one fidelity phase; its MOP replays them for each phase and gives SrcB back. Semaphore 0 counts tiles of
Dst that wait to be packed, semaphore 1 those that are free: T2 packs one while T1 goes on with the next. Everything but
T0's first counters of a column is a constant word.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from polyloom.targets.tensix.loops import tiles
from polyloom.targets.tensix.loops.formats import INT32, Dest, Format, Result
from polyloom.targets.tensix.loops.thread import (
    CONFIG,
    CONFIGURATION,
    IS_EMPTY,
    MATRIX,
    MATRIX_BUSY,
    MISC,
    PACK,
    PACKERS_BUSY,
    STORES,
    SYNC,
    UNPACK,
    Lines,
    configured,
    inline,
    loop,
    mop,
    own,
    push,
    start,
    stores,
    word,
)

NOP: Final = word("NOP")
PLACE: Final = 64
"""Rows of a tile in Dst."""
_MOST: Final = 127
"""Iterations of a loop of the MOP expander."""
_DONE, _FREE = 1, 2
_IDLE: Final = 0xFFE80008
"""Where a load waits until the MOP expander is idle."""


@dataclass(frozen=True, slots=True)
class Product:
    """Tiles of rows, columns and of the dimension of the sum; where arrays lie; formats."""

    rows: int
    columns: int
    depth: int
    left: int
    right: int
    result: int
    format: Format
    packed: Result
    dest: Dest
    fidelity: int


def threads(p: Product) -> tuple[Lines, Lines, Lines]:
    """The programs of T0, T1 and T2."""
    if not p.rows or not p.columns or not p.depth:
        return [], [], []
    return _unpack(p), _multiply(p), _pack(p)


def chunk(depth: int) -> int:
    """Of so many tiles, how many one MOP takes: a divisor."""
    return next(n for n in range(min(depth, _MOST), 0, -1) if depth % n == 0)


def blocks(p: Product) -> list[tuple[int, int]]:
    """How many rows of tiles are computed together, and how often: whole blocks, then what remains."""
    whole, rest = divmod(p.rows, tiles.BLOCK)
    return [(count, times) for count, times in ((tiles.BLOCK, whole), (rest, 1)) if count and times]


def _unpack(p: Product) -> Lines:
    f = p.format
    values = configured(UNP0_ADDR_BASE_REG_1_Base=4 * tiles.FACE * f.held)  # SrcA begins four rows in
    for unit, address in enumerate((p.right, p.left)):
        values |= one_tile(unit, f.in_l1, f.in_src, f.width, address)
    at = [word("SETADC", CntSetMask=1 << unit, DimensionIndex=1) for unit in range(2)]
    set_up = [
        word("STALLWAIT", stall_res=UNPACK | MISC, wait_res=STORES),
        *own(SRCA_SET_SetOvrdWithAddr=1),
        *(word("SETADCXX", CntSetMask=1 << unit, x_end2=tiles.DATUMS - 1) for unit in range(2)),
    ]
    each = [word("UNPACR", Unpack_block_selection=n, AddrMode=4, SetDatValid=1, Last=1) for n in range(2)]
    step = chunk(p.depth)
    lines = [*start(), *stores(CONFIGURATION, values), *inline(*set_up), f"li s1, {at[1]:#x}"]
    for number, (count, times) in enumerate(blocks(p)):
        run = loop(f"chunks{number}", "s4", p.depth // step, inline(word("MOP", mop_type=1)))
        column = [*push("s1"), *push("s2"), *run, f"addi s2, s2, {p.depth}"]
        every = loop(f"columns{number}", "s3", p.columns, column)
        row = [f"li s2, {at[0]:#x}", *every, f"li s6, {p.depth * count}", "add s1, s1, s6"]
        lines += [f"li s6, {_IDLE:#x}", "lw s6, 0(s6)", "add s6, s6, s6"]  # behind the use, the load is done
        lines += mop([step, count, each[0], NOP, NOP, each[1], NOP, each[1], each[1]])
        lines += loop(f"rows{number}", "s5", times, row)
    return lines


def one_tile(unit: int, in_l1: int, held: int, width: int, address: int) -> dict[int, int]:
    """A row of tiles of one format: from tile to tile it is a datum of Y, whose X is the pitch."""
    across = tiles.pitch(width) // width
    descriptor = in_l1 | 1 << 4 | across << 16 | 1 << 32 | 1 << 48 | 1 << 64
    sec = f"THCON_SEC{unit}"
    return configured(
        **{
            f"{sec}_REG0_TileDescriptor": descriptor,
            f"{sec}_REG2_Out_data_format": held,
            f"{sec}_REG2_Throttle_mode": 2,
            f"{sec}_REG3_Base_address": address // 16,
        }
    )


def steps() -> Iterator[tuple[int, int]]:
    """The 16 MVMULs: row of Dst, address mode. For each inner face, each face of SrcA, the halves of SrcB's faces."""
    for _ in range(2):  # inner faces
        for face in range(2):
            for n in range(4):
                across = (2 if face == 0 else 3) if n == 3 else n & 1
                yield 16 * face + 8 * (n & 1) + 32 * (n >> 1), across


def _modes() -> list[int]:
    """What B's and A's rows step by in each address mode; mode 3 of the first four goes on to the inner face and to the
    other four, whose mode 3 goes back and on to the next phase."""
    made: list[int] = []
    for base in (0, 4):
        for mode, (b, a) in enumerate(((8, 0), (24, 0), (24, 16), (8 if base else 40, 16))):
            n, last = base + mode, mode == 3
            made += own(
                **{
                    f"ADDR_MOD_AB_SEC{n}_SrcBIncr": b,
                    f"ADDR_MOD_AB_SEC{n}_SrcAIncr": a,
                    f"ADDR_MOD_DST_SEC{n}_FidelityIncr": int(last and base > 0),
                    f"ADDR_MOD_BIAS_SEC{n}_BiasIncr": int(last and base == 0),
                    f"ADDR_MOD_BIAS_SEC{n}_BiasClear": int(last and base > 0),
                }
            )
    return made


def _multiply(p: Product) -> Lines:
    f = p.format
    values = configured(
        ALU_FORMAT_SPEC_REG0_SrcA=f.in_src,
        ALU_FORMAT_SPEC_REG1_SrcB=f.in_src,
        ALU_FORMAT_SPEC_REG2_Dstacc=p.packed.code,
        ALU_ACC_CTRL_Fp32_enabled=int(p.dest == 32 and p.packed.code != INT32),
        ALU_ACC_CTRL_INT8_math_enabled=int(p.packed.code == INT32),
    )
    recorded = [word("MVMUL", addr_mode=mode, dst=row) for row, mode in steps()]
    replay = word("REPLAY", len=len(recorded))
    behind = word("SETRWC", clear_ab_vld=2, BitMask=15)
    set_up = [
        word("STALLWAIT", stall_res=MATRIX, wait_res=STORES),
        *_modes(),
        word("SEMINIT", max_value=15, init_value=blocks(p)[0][0], sem_sel=_FREE),
        word("ZEROACC", clear_mode=3),
        word("SETRWC", BitMask=15),
        word("REPLAY", len=len(recorded), load_mode=1),
        *recorded,
    ]
    lines = [
        *stores(CONFIGURATION, values),
        *mop([1, p.fidelity, NOP, behind, NOP, replay, NOP, replay, replay]),
        *inline(*set_up),
    ]
    for number, (count, times) in enumerate(blocks(p)):
        # Places beyond the smaller block are taken out of the count of free ones.
        lines += inline(*_taken() * (blocks(p)[0][0] - count))
        lines += loop(f"results{number}", "s1", times * p.columns, _column(p, count, number))
    return lines


def _taken() -> list[int]:
    return [
        word("SEMWAIT", stall_res=MATRIX | SYNC, sem_sel=_FREE, wait_sem_cond=IS_EMPTY),
        word("SEMGET", sem_sel=_FREE),
    ]


def _column(p: Product, count: int, number: int) -> Lines:
    """Tiles of a column of the result, along k: the first pairs wait for their place, the last ones give it to T2."""
    if p.depth == 1:
        return _pairs(count, is_first=True, is_last=True)
    middle = loop(f"depth{number}", "s2", p.depth - 2, _pairs(count))
    return [*_pairs(count, is_first=True), *middle, *_pairs(count, is_last=True)]


def _pairs(count: int, *, is_first: bool = False, is_last: bool = False) -> Lines:
    """A tile of the right factor with `count` of the left one."""
    made: list[int] = []
    for place in range(count):
        made += [*(_taken() if is_first else []), *own(DEST_TARGET_REG_CFG_MATH_Offset=PLACE * place)]
        made.append(word("MOP", mop_type=1))
        if is_last:
            made += [word("STALLWAIT", stall_res=SYNC, wait_res=MATRIX_BUSY), word("SEMPOST", sem_sel=_DONE)]
    return inline(*made, word("SETRWC", clear_ab_vld=1))


def _pack(p: Product) -> Lines:
    values = packers(p.packed.code, p.packed.width, PLACE * tile_rows(p.packed.width))
    address, pitch = 4, 5  # general registers
    first = p.result // 16 | 1 << 31  # the other packers' addresses are relative to this one
    set_up = [
        word("STALLWAIT", stall_res=PACK | CONFIG, wait_res=STORES),
        *register(address, first),
        *register(pitch, tiles.pitch(p.packed.width) // 16),
        word("SETADCXX", CntSetMask=4, x_end2=tiles.FACE * tiles.FACE - 1),
    ]
    lines = [*stores(CONFIGURATION, values), *inline(*set_up)]
    for number, (count, times) in enumerate(blocks(p)):
        column = [each for place in range(count) for each in _packed(p, place, address, pitch)]
        lines += loop(f"results{number}", "s1", times * p.columns, inline(*column))
    return lines


def _packed(p: Product, place: int, address: int, pitch: int) -> list[int]:
    """A tile of Dst, which is cleared behind the packers."""
    mode = 5 if p.dest == 32 else 1
    return [
        word("WRCFG", GprAddress=address, CfgReg=57),
        word("SETADCZW", CntSetMask=4, Ch0_Y=place, BitMask=2),
        word("SEMWAIT", stall_res=PACK, sem_sel=_DONE, wait_sem_cond=IS_EMPTY),
        word("PACR", PackSel=15, Last=1),
        word("ADDDMAREG", ResultRegIndex=address, OpBRegIndex=pitch, OpARegIndex=address),
        word("STALLWAIT", stall_res=MATRIX | SYNC | CONFIG, wait_res=PACKERS_BUSY),
        *(word("ZEROACC", clear_mode=mode, dst=4 * place + n) for n in range(4)),
        word("SEMGET", sem_sel=_DONE),
        word("SEMPOST", sem_sel=_FREE),
    ]


def tile_rows(width: int) -> int:
    """Bytes of a row of Dst."""
    return tiles.FACE * width


def packers(code: int, width: int, step: int) -> dict[int, int]:
    """Four packers for the four faces of a tile, one behind the other in Dst and in L1; what the first one's address is
    decides for all. Places in Dst are steps of W, of `step` bytes."""
    face = tiles.FACE * tile_rows(width) // 16
    values = configured(PCK_DEST_RD_CTRL_Read_32b_data=int(width == 4), PCK_EDGE_OFFSET_SEC0_mask=0xFFFF)
    values |= configured(PCK0_ADDR_CTRL_ZW_REG_0_Wstride=step)
    for packer, (section, register) in enumerate(((0, 1), (0, 8), (1, 1), (1, 8))):
        name = f"THCON_SEC{section}_REG{register}"
        values |= configured(
            **{
                f"{name}_Disable_zero_compress": 1,
                f"{name}_Out_data_format": code,
                f"{name}_In_data_format": code,
                f"{name}_Sub_l1_tile_header_size": int(packer > 0),
                f"{name}_L1_Dest_addr": packer * face,
                f"DEST_TARGET_REG_CFG_PACK_SEC{packer}_Offset": tiles.FACE * packer,
            }
        )
    return values


def register(number: int, value: int) -> Iterator[int]:
    for part in range(2):
        high, low = divmod(value >> 16 * part & 0xFFFF, 1 << 14)
        yield word("SETDMAREG", Payload_SigSelSize=high, Payload_SigSel=low, RegIndex16b=2 * number + part)

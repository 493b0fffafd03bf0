# SPDX-License-Identifier: Apache-2.0
"""T2 of a product: tiles of Dst into L1, one column of tiles after another (ISA documentation, page of `PACR`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from polyloom.targets.tensix.map.loops.shape import DONE, FREE, PLACE, Product, row_blocks
from polyloom.targets.tensix.map.loops.thread import (
    CONFIG,
    IS_EMPTY,
    MATRIX,
    PACK,
    PACKERS_BUSY,
    SCALAR_BUSY,
    SYNC,
    Part,
    counted_loop,
    encode_word,
    inline_words,
    shared_configuration,
)
from polyloom.targets.tensix.words.arrays import tiles
from polyloom.targets.tensix.words.arrays.formats import FP16, TF32

_ADDRESS, _PITCH, _COLUMN, _BLOCK = 4, 5, 6, 7
"""General registers: where the next tile goes; from tile to tile; to the block in the next column, and back to the next
block, both from behind the last tile."""
_WORD: Final = 1 << 32


def pack(p: Product) -> Part:
    pitch = tiles.tile_pitch(p.stored.width) // 16
    lines = inline_words(*begin_packing(p))
    several = p.rows > tiles.BLOCK
    for number, (count, times) in enumerate(row_blocks(p)):
        column = [each for place in range(count) for each in pack_tile(p, place)]
        if several:
            lines += inline_words(*set_register(_COLUMN, (p.rows - count) * pitch))
            # The step back may be negative; general registers wrap at 32 bits.
            lines += inline_words(*set_register(_BLOCK, (count - p.columns * p.rows) * pitch % _WORD))
            column += _advance_address(_COLUMN)
        row = counted_loop(f"columns{number}", "s1", p.columns, inline_words(*column))
        lines += counted_loop(
            f"rows{number}", "s2", times, [*row, *(inline_words(*_advance_address(_BLOCK)) if several else [])]
        )
    return Part(product_packers(p), {}, PACK | CONFIG, lines)


def product_packers(p: Product) -> dict[int, int]:
    """Configuration of the packers for the tiles of a product."""
    step = PLACE * row_bytes(p.stored.width if packer_format(p) == p.stored.code else p.packed.width)
    return packer_configuration(p.stored.code, p.stored.width, step, held=packer_format(p), bits=p.dest)


def begin_packing(p: Product, address: int | None = None) -> list[int]:
    """Words that let the next tile go to the address, else to that of the result."""
    return [
        # The other packers' addresses are relative to this one.
        *set_register(_ADDRESS, (p.result if address is None else address) // 16 | 1 << 31),
        *set_register(_PITCH, tiles.tile_pitch(p.stored.width) // 16),
        encode_word("SETADCXX", CntSetMask=4, x_end2=tiles.FACE * tiles.FACE - 1),
    ]


def _advance_address(by: int) -> list[int]:
    """Next address; WRCFG reads it when the scalar unit has it."""
    return [
        encode_word("ADDDMAREG", ResultRegIndex=_ADDRESS, OpBRegIndex=by, OpARegIndex=_ADDRESS),
        encode_word("STALLWAIT", stall_res=CONFIG, wait_res=SCALAR_BUSY),
    ]


def pack_tile(p: Product, place: int) -> list[int]:
    """Tile of Dst into L1, which T1 has told; its place is free behind."""
    told = encode_word("SEMWAIT", stall_res=PACK, sem_sel=DONE, wait_sem_cond=IS_EMPTY)
    frees = [encode_word("SEMGET", sem_sel=DONE), encode_word("SEMPOST", sem_sel=FREE)]
    return [*start_packers(place, told), *clear_tile(p, place), *frees]


def start_packers(place: int, wait: int) -> list[int]:
    """Start of the packers for a tile of Dst, behind a word that waits for it."""
    return [
        encode_word("WRCFG", GprAddress=_ADDRESS, CfgReg=57),
        encode_word("SETADCZW", CntSetMask=4, Ch0_Y=place, BitMask=2),
        wait,
        encode_word("PACR", PackSel=15, Last=1),
        encode_word("ADDDMAREG", ResultRegIndex=_ADDRESS, OpBRegIndex=_PITCH, OpARegIndex=_ADDRESS),
    ]


def clear_tile(p: Product, place: int) -> list[int]:
    """Clear of a tile behind the packers, since MVMUL only accumulates (ISA documentation, page of `ZEROACC`)."""
    # Mode 1 clears 16 rows of 16 bits, mode 5 of 32 bits.
    mode = 5 if p.dest == 32 else 1
    clears = (encode_word("ZEROACC", clear_mode=mode, dst=4 * place + n) for n in range(4))
    return [encode_word("STALLWAIT", stall_res=MATRIX | SYNC | CONFIG, wait_res=PACKERS_BUSY), *clears]


def row_bytes(width: int) -> int:
    """Bytes of a row of Dst."""
    return tiles.FACE * width


def packer_format(p: Product) -> int:
    """Intermediate format between Dst and L1: FP16 is made of TF32, which rounds."""
    return TF32 if p.narrow is not None and p.narrow.code == FP16 else p.stored.code


def packer_configuration(code: int, width: int, step: int, held: int | None = None, bits: int = 0) -> dict[int, int]:
    """Configuration of four packers for the four faces of a tile, one behind the other in Dst and in L1; what the first
    one's address is decides for all. Places in Dst are steps of W, of `step` bytes of the format in between. A Dst of
    other `bits` than datums in L1 comes in the format `held`. Source: ISA documentation, page of `PACR`.
    """
    face = tiles.FACE * row_bytes(width) // 16
    wide = (bits or 8 * width) == 32
    values = shared_configuration(PCK_DEST_RD_CTRL_Read_32b_data=int(wide), PCK_EDGE_OFFSET_SEC0_mask=0xFFFF)
    values |= shared_configuration(PCK0_ADDR_CTRL_ZW_REG_0_Wstride=step)
    for packer, (section, register) in enumerate(((0, 1), (0, 8), (1, 1), (1, 8))):
        name = f"THCON_SEC{section}_REG{register}"
        values |= shared_configuration(
            **{
                f"{name}_Disable_zero_compress": 1,
                f"{name}_Out_data_format": code,
                f"{name}_In_data_format": code if held is None else held,
                # Only the first packer writes behind the header; the other three are relative to it.
                f"{name}_Sub_l1_tile_header_size": int(packer > 0),
                f"{name}_L1_Dest_addr": packer * face,
                f"DEST_TARGET_REG_CFG_PACK_SEC{packer}_Offset": tiles.FACE * packer,
            }
        )
    return values


def set_register(number: int, value: int) -> Iterator[int]:
    """SETDMAREG words that load a general register, half by half; the 16 bits of a half are split over two fields."""
    for part in range(2):
        # The field of the payload has 14 bits, the two bits above are part of the size selector.
        high, low = divmod(value >> 16 * part & 0xFFFF, 1 << 14)
        yield encode_word("SETDMAREG", Payload_SigSelSize=high, Payload_SigSel=low, RegIndex16b=2 * number + part)

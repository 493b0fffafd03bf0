# SPDX-License-Identifier: Apache-2.0
"""Code generation for a matrix product of tiles: T0 unpacks, T1 multiplies and accumulates along k, T2 packs.

Register blocking in Dst: up to eight tiles of a column of the result are computed together, each in its own place; a
tile of the right factor in SrcA serves eight of the left one in SrcB, so that nine tiles are read for eight products.
T0's MOP unpacks them; Y counters step from tile to tile, for a tile's header is part of its pitch. T1 records the 16
MVMULs of one pair of tiles and one fidelity phase; its MOP replays them for each phase and gives SrcB back. Semaphore 0
counts tiles of Dst that wait to be packed, semaphore 1 those that are free: T2 packs one while T1 goes on with the
next. Source: ISA documentation, page of `MVMUL`; docs/targets/tensix-matrix.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from polyloom.targets.tensix.map.loops.product_pack import pack, packer_format
from polyloom.targets.tensix.map.loops.product_unpack import unpack
from polyloom.targets.tensix.map.loops.shape import DONE, FREE, NOP, PLACE, Product, row_blocks
from polyloom.targets.tensix.map.loops.thread import (
    IS_EMPTY,
    MATRIX,
    MATRIX_BUSY,
    SYNC,
    Lines,
    Part,
    Parts,
    configure_mop,
    counted_loop,
    encode_word,
    inline_words,
    setc16_fields,
    shared_configuration,
    thread_configuration,
)
from polyloom.targets.tensix.words.arrays.formats import INT32


def threads(p: Product) -> Parts | None:
    """Programs of T0, T1 and T2; None where there is nothing to do."""
    if not p.rows or not p.columns or not p.depth:
        return None
    return unpack(p), _multiply(p), pack(p)


def mvmul_steps() -> Iterator[tuple[int, int]]:
    """Schedule of the 16 MVMULs of a pair of tiles: row of Dst, address mode. For each inner face, each face of SrcA,
    the halves of SrcB's faces.
    """
    for _ in range(2):  # inner faces
        for face in range(2):
            for n in range(4):
                # Eight MVMULs write blocks of their own before one comes again; five hide the latency (page of
                # `MVMUL`).
                across = (2 if face == 0 else 3) if n == 3 else n & 1
                yield 16 * face + 8 * (n & 1) + 32 * (n >> 1), across


def _address_modes(*, turned: bool) -> dict[int, int]:
    """Address modes: what B's and A's rows step by in each; mode 3 of the first four goes on to the inner face and to
    the other four, whose mode 3 goes back and on to the next phase. Of a transposed tile (`turned`), the second and the
    third face are exchanged. Source: ISA documentation, address modifiers (`ADDR_MOD`), page of `SETRWC`.
    """
    made: dict[int, int] = {}
    across, inward = (32, 48) if turned else (16, 16)
    for base in (0, 4):
        for mode, (b, a) in enumerate(((8, 0), (24, 0), (24, across), (8 if base else 40, 16 if base else inward))):
            n, last = base + mode, mode == 3
            made |= thread_configuration(
                **{
                    f"ADDR_MOD_AB_SEC{n}_SrcBIncr": b,
                    f"ADDR_MOD_AB_SEC{n}_SrcAIncr": a,
                    f"ADDR_MOD_DST_SEC{n}_FidelityIncr": int(last and base > 0),
                    f"ADDR_MOD_BIAS_SEC{n}_BiasIncr": int(last and base == 0),
                    f"ADDR_MOD_BIAS_SEC{n}_BiasClear": int(last and base > 0),
                }
            )
    return made


def _multiply(p: Product) -> Part:
    """T1: the loops over blocks of the result."""
    lines: Lines = []
    for number, (count, times) in enumerate(row_blocks(p)):
        # Places beyond the smaller block are taken out of the count of free ones.
        lines += inline_words(*take_place() * (row_blocks(p)[0][0] - count))
        lines += counted_loop(f"results{number}", "s1", times * p.columns, _multiply_column(p, count, number))
    return multiplier(p, row_blocks(p)[0][0], lines)


def multiplier(p: Product, free: int, loops: Lines) -> Part:
    """T1: configuration, recording of the MVMULs, and loops; so many places in Dst are free."""
    f = p.format
    values = shared_configuration(
        ALU_FORMAT_SPEC_REG0_SrcA=f.in_src,
        ALU_FORMAT_SPEC_REG1_SrcB=f.in_src,
        ALU_FORMAT_SPEC_REG2_Dstacc=p.packed.code,
        ALU_ACC_CTRL_Fp32_enabled=int(p.dest == 32 and p.packed.code != INT32),
        ALU_ACC_CTRL_INT8_math_enabled=int(p.packed.code == INT32),
    )
    if p.narrow is not None:  # what T2 packs is in another format than what is summed
        values |= shared_configuration(
            ALU_FORMAT_SPEC_REG_Dstacc_val=packer_format(p), ALU_FORMAT_SPEC_REG_Dstacc_override=1
        )
    # 16 words are half of the buffer: one fidelity phase of one pair of tiles.
    recorded = [encode_word("MVMUL", addr_mode=mode, dst=row) for row, mode in mvmul_steps()]
    replay = encode_word("REPLAY", len=len(recorded))
    # After the last phase SrcB's bank goes back to the unpacker, and all counters to zero.
    behind = encode_word("SETRWC", clear_ab_vld=2, BitMask=15)
    set_up = [
        encode_word("SEMINIT", max_value=15, init_value=free, sem_sel=FREE),
        encode_word("ZEROACC", clear_mode=3),
        encode_word("SETRWC", BitMask=15),
        encode_word("REPLAY", len=len(recorded), load_mode=1),
        *recorded,
    ]
    lines = [*configure_mop([1, p.fidelity, NOP, behind, NOP, replay, NOP, replay, replay]), *inline_words(*set_up)]
    return Part(values, _address_modes(turned=p.turned), MATRIX, [*lines, *loops])


def take_place() -> list[int]:
    """Wait for a free place in Dst."""
    return [
        encode_word("SEMWAIT", stall_res=MATRIX | SYNC, sem_sel=FREE, wait_sem_cond=IS_EMPTY),
        encode_word("SEMGET", sem_sel=FREE),
    ]


def _multiply_column(p: Product, count: int, number: int) -> Lines:
    """Column of result tiles, along k: the first pairs wait for their place, the last ones give it to T2."""
    if p.depth == 1:
        return _multiply_pairs(count, is_first=True, is_last=True)
    # The first and the last step along k are peeled, because only they touch semaphores.
    middle = counted_loop(f"depth{number}", "s2", p.depth - 2, _multiply_pairs(count))
    return [*_multiply_pairs(count, is_first=True), *middle, *_multiply_pairs(count, is_last=True)]


def _multiply_pairs(count: int, *, is_first: bool = False, is_last: bool = False) -> Lines:
    """Products of a tile of the right factor with `count` tiles of the left one."""
    made: list[int] = []
    for place in range(count):
        made += [*(take_place() if is_first else []), *multiply_pair(place, is_last=is_last)]
    # SrcA goes back to the unpacker: the tile of the right factor has met all of the block.
    return inline_words(*made, encode_word("SETRWC", clear_ab_vld=1))


def multiply_pair(place: int, *, is_last: bool) -> list[int]:
    """Products of a pair of tiles, added to a place in Dst; T2 gets the last sum."""
    made = [*setc16_fields(DEST_TARGET_REG_CFG_MATH_Offset=PLACE * place), encode_word("MOP", mop_type=1)]
    # The semaphore may tell T2 only what the matrix unit has finished.
    tells = [encode_word("STALLWAIT", stall_res=SYNC, wait_res=MATRIX_BUSY), encode_word("SEMPOST", sem_sel=DONE)]
    return [*made, *(tells if is_last else [])]

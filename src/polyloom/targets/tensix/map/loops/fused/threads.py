# SPDX-License-Identifier: Apache-2.0
"""Code generation for a product with a formula of its sums: T0 unpacks factors, and tiles of the formula's arrays into
Dst, T1 multiplies, T2 runs the vector kernel over the sums and packs.

Double buffering of Dst: T1 adds up a block of one half of the places while T2 has that of the other half, so that
vector and matrix unit overlap. Blocks follow one another down a column of the result, the order of its tiles in L1.
Semaphores: 0 counts sums that wait for T2, 1 halves that are free for T1, 2 those that are free for T0, 3 those that T0
has filled. T0 unpacks one tile of an array per step along k, while the matrix unit is busy. Sources: ISA documentation,
pages of `UNPACR` (contexts), `SEMWAIT` and `STALLWAIT`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from polyloom.targets.tensix.map.loops.elementwise import (
    ENABLED,
    fits_replay,
    load_registers,
    record_kernel,
    vector_steps,
)
from polyloom.targets.tensix.map.loops.fused.choose import array_address, sum_places
from polyloom.targets.tensix.map.loops.half.tile_kernel import TileKernel
from polyloom.targets.tensix.map.loops.join import prefix_labels
from polyloom.targets.tensix.map.loops.product import multiplier, multiply_pair, take_place
from polyloom.targets.tensix.map.loops.product_pack import (
    begin_packing,
    clear_tile,
    product_packers,
    row_bytes,
    start_packers,
)
from polyloom.targets.tensix.map.loops.product_unpack import begin_unpacking, product_unpackers
from polyloom.targets.tensix.map.loops.shape import DONE, FREE, PLACE, Product
from polyloom.targets.tensix.map.loops.thread import (
    CONFIG,
    IS_EMPTY,
    MATRIX,
    MISC,
    PACK,
    SYNC,
    UNPACK,
    UNPACKER_BUSY,
    VECTOR,
    VECTOR_BUSY,
    Lines,
    Part,
    Parts,
    counted_loop,
    encode_word,
    inline_words,
    push_register,
    setc16_fields,
    shared_configuration,
    thread_configuration,
)
from polyloom.targets.tensix.words.arrays import tiles

_SLOTS, _FILLED = 4, 8
_Block = Callable[[int, int, str], Lines]
"""Lines of a block: its half, how many tiles it has, and what its labels begin with."""


@dataclass(frozen=True, slots=True)
class Epilogue:
    """The formula as threads see it: addresses of its arrays but the sum, the code and the width of their datums,
    address and number of scalars, and its kernel."""

    arrays: tuple[int, ...]
    format: int
    width: int
    scalars: int
    scalar_count: int
    kernel: TileKernel

    @property
    def places(self) -> int:
        return sum_places(len(self.arrays), self.width)


def threads(p: Product, e: Epilogue) -> Parts | None:
    """Programs of T0, T1 and T2; None where there is nothing to do."""
    if not p.rows or not p.columns or not p.depth:
        return None
    at = counter_word(0)
    places = [at + (address - min(e.arrays)) // tiles.tile_pitch(e.width) for address in e.arrays]
    begin = [f"li s1, {counter_word(1):#x}", f"li s2, {at:#x}"]
    begin += [f"li a{n}, {place:#x}" for n, place in enumerate(places)]
    behind = [f"addi s1, s1, {-p.rows}", f"addi s2, s2, {1 if p.turned else p.depth}"]
    unpacks, packs = Hooks(begin, ([], []), (behind, behind)), Hooks(inline_words(*begin_packing(p)))
    return unpack_part(p, e, unpacks), multiply_part(p, e), pack_part(p, e, packs)


def counter_word(unit: int) -> int:
    """Word that sets the counter of tiles of an unpacker to 0."""
    return encode_word("SETADC", CntSetMask=1 << unit, DimensionIndex=1)


@dataclass(frozen=True, slots=True)
class Hooks:
    """Lines of a thread before all columns, and before and behind each, of even and of odd number."""

    begin: Lines
    before: tuple[Lines, Lines] = ([], [])
    behind: tuple[Lines, Lines] = ([], [])


def _emit_blocks(p: Product, e: Epilogue, block: _Block, hooks: Hooks) -> Lines:
    """Loop over pairs of columns, whose blocks take the halves of Dst in turn."""
    height = e.places // 2
    whole, rest = divmod(p.rows, height)

    def column(number: int, name: str) -> Lines:
        half = number * (whole + bool(rest)) % 2
        pair = [*block(half, height, "one"), *block(1 - half, height, "two")]
        lines = counted_loop("pairs", "s4", whole // 2, pair)
        lines += block(half, height, "odd") if whole % 2 else []
        lines += block((half + whole) % 2, rest, "rest") if rest else []
        return prefix_labels([*hooks.before[number], *lines, *hooks.behind[number]], f"{name}.")

    # An odd number of blocks lets the next column begin with the other half of Dst, an even one with the same.
    pairs = counted_loop("columns", "s5", p.columns // 2, [*column(0, "even"), *column(1, "odd")])
    return [*hooks.begin, *pairs, *(column(0, "last") if p.columns % 2 else [])]


def multiply_part(p: Product, e: Epilogue) -> Part:
    """T1: each block takes a half of Dst."""

    def block(half: int, count: int, name: str) -> Lines:
        first = half * e.places // 2

        def step(*, is_last: bool = False) -> Lines:
            pairs = [word for n in range(count) for word in multiply_pair(first + n, is_last=is_last)]
            return inline_words(*pairs, encode_word("SETRWC", clear_ab_vld=1))

        return [
            # T2 gives a half back as a whole, so that a block waits once.
            *inline_words(*take_place()),
            *counted_loop(f"{name}.depth", "s2", p.depth - 1, step()),
            *step(is_last=True),
        ]

    # T0 may write to Dst from here on: what clears Dst is behind.
    free = encode_word("SEMINIT", max_value=15, init_value=2, sem_sel=_SLOTS)
    return multiplier(p, 2, _emit_blocks(p, e, block, Hooks(inline_words(free))))


def unpack_part(p: Product, e: Epilogue, hooks: Hooks) -> Part:
    """T0: s1 and s2 are the places of the next block of the left factor and of the column of the right one, s7 and s8
    those of the next step along k, a0 to a2 those of the next tiles of arrays.
    """
    each = [encode_word("UNPACR", Unpack_block_selection=n, AddrMode=4, SetDatValid=1, Last=1) for n in range(2)]
    arrays = range(len(e.arrays))

    def block(half: int, count: int, name: str) -> Lines:
        step = [*push_register("s8"), *push_register("s7"), *inline_words(each[0], *[each[1]] * count)]
        step += [f"addi s7, s7, {p.rows}", f"addi s8, s8, {p.columns if p.turned else 1}"]
        place = half * e.places // 2
        # The slot of an array is as far from the first one as its sum is, so that one kernel serves all places.
        loads = [_unpack_array(n, n * e.places + place + t) for t in range(count) for n in arrays]
        lines = ["mv s7, s1", "mv s8, s2", *step]
        # The first step along k waits for the half of Dst, as T1 does; what follows then is free, too.
        lines += inline_words(*_await(_SLOTS, UNPACK)) if loads else []
        # One tile of an array fits between two steps: SrcA and SrcB hold a tile more than the matrix unit works on.
        for load in loads[: p.depth - 1]:
            lines += [*load, *step]
        lines += counted_loop(f"{name}.depth", "s6", p.depth - 1 - len(loads), step) if p.depth - 1 > len(loads) else []
        lines += [line for load in loads[p.depth - 1 :] for line in load]
        lines += inline_words(*_post(_FILLED, UNPACKER_BUSY)) if loads else []
        return [*lines, f"addi s1, s1, {count}"]

    values = product_unpackers(p)
    # Both contexts share words of the configuration.
    if e.arrays:
        values = _merge_words(values, _array_unpacker(p, e))
    own = thread_configuration(SRCA_SET_SetOvrdWithAddr=1)
    # An element-wise stage before leaves the counter of slots where it was.
    begin = [*begin_unpacking(), *inline_words(_slot_word(0))]
    return Part(values, own, UNPACK | MISC, [*begin, *_emit_blocks(p, e, block, hooks)])


def _unpack_array(number: int, slot: int) -> Lines:
    """Tile of an array into a slot of Dst behind the sums, by the unpacker of SrcA in its second context, which writes
    to Dst only while rows of SrcA do not follow addresses (page of `UNPACR`).
    """
    into = [*setc16_fields(SRCA_SET_SetOvrdWithAddr=0), _slot_word(slot)]
    unpack = encode_word("UNPACR", CfgContextId=1, OvrdThreadId=1, Last=1)
    back = [_slot_word(0), *setc16_fields(SRCA_SET_SetOvrdWithAddr=1)]
    return [*push_register(f"a{number}"), *inline_words(*into, unpack, *back), f"addi a{number}, a{number}, 1"]


def _slot_word(slot: int) -> int:
    """Word that sets the counter of slots in Dst of the first unpacker."""
    return encode_word("SETADCZW", CntSetMask=1, Ch1_Y=slot, BitMask=8)


def _array_unpacker(p: Product, e: Epilogue) -> dict[int, int]:
    """Second context of the first unpacker: tiles of arrays, as they are, into Dst."""
    # The base of SrcA is four rows in, counted in datums of the factor's width (product_unpackers).
    base = 4 * tiles.FACE * p.format.held // e.width
    first = tiles.FACE * array_address(0, e.places, e.width)
    return shared_configuration(
        THCON_SEC0_REG2_Ovrd_data_format=1,
        THCON_SEC0_REG2_Disable_zero_compress_cntx1=1,
        THCON_SEC0_REG2_Unpack_if_sel_cntx1=1,
        THCON_SEC0_REG3_Base_cntx1_address=min(e.arrays) // 16,
        THCON_SEC0_REG5_Tile_x_dim_cntx1=tiles.tile_pitch(e.width) // e.width,
        THCON_SEC0_REG5_Dest_cntx1_address=4 * tiles.FACE - base + first,
        THCON_SEC0_REG7_Unpack_data_format_cntx1=e.format,
        THCON_SEC0_REG7_Unpack_out_data_format_cntx1=e.format,
        UNP0_ADDR_CTRL_ZW_REG_1_Wstride=PLACE * row_bytes(e.width),
    )


def _merge_words(first: Mapping[int, int], second: Mapping[int, int]) -> dict[int, int]:
    return {at: first.get(at, 0) | second.get(at, 0) for at in {**first, **second}}


def pack_part(p: Product, e: Epilogue, hooks: Hooks) -> Part:
    """T2: of each sum the vector kernel, then the packers, which work while the next kernel runs."""
    replays = fits_replay(e.kernel)
    expander, recorded = record_kernel(e.kernel) if replays else ([], [])

    def vectors(name: str) -> Lines:
        if replays:
            return inline_words(encode_word("MOP", mop_type=1))
        return counted_loop(f"{name}.vectors", "s2", e.kernel.walk.runs, inline_words(*e.kernel.bare_words))

    def block(half: int, count: int, name: str) -> Lines:
        places = range(half * e.places // 2, half * e.places // 2 + count)
        lines = inline_words(*_await(_FILLED, VECTOR)) if e.arrays else []
        for place in places:
            begin = [*setc16_fields(DEST_TARGET_REG_CFG_MATH_Offset=PLACE * place), encode_word("SETRWC", BitMask=15)]
            lines += [*inline_words(*_await(DONE, VECTOR), *begin), *vectors(f"{name}.{place}")]
            # The packers had the time of this kernel for the sum before.
            lines += inline_words(*(clear_tile(p, place - 1) if place > places[0] else []))
            ready = encode_word("STALLWAIT", stall_res=PACK, wait_res=VECTOR_BUSY)
            lines += inline_words(*start_packers(place, ready))
        # What the kernels have read is free before the packers are done.
        frees = [encode_word("SEMPOST", sem_sel=_SLOTS)] if e.arrays else []
        return [*lines, *inline_words(*frees, *clear_tile(p, places[-1]), encode_word("SEMPOST", sem_sel=FREE))]

    begin = [*expander, *load_registers(e.scalars, e.scalar_count, e.kernel), *inline_words(ENABLED), *recorded]
    lines = [*begin, *_emit_blocks(p, e, block, hooks)]
    return Part(product_packers(p), vector_steps(e.kernel), PACK | CONFIG | VECTOR | MATRIX, lines)


def _await(semaphore: int, held: int) -> list[int]:
    """Wait for a semaphore, which is taken."""
    # Sync is held back, too: SEMGET must not overtake the wait.
    wait = encode_word("SEMWAIT", stall_res=held | SYNC, sem_sel=semaphore, wait_sem_cond=IS_EMPTY)
    return [wait, encode_word("SEMGET", sem_sel=semaphore)]


def _post(semaphore: int, unit: int) -> list[int]:
    """Post of a semaphore when a unit has done its work."""
    return [encode_word("STALLWAIT", stall_res=SYNC, wait_res=unit), encode_word("SEMPOST", sem_sel=semaphore)]

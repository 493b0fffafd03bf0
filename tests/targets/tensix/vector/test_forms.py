# SPDX-License-Identifier: Apache-2.0
"""The forms that no peer executes, on 1,024 sets of operands or more each, against what the instruction pages say, lane
by lane in Python; what is captured, reported and refused."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.targets.tensix.vector.benches import ALL, L, bench, lane_values, run
from tests.targets.tensix.vector.words import (
    ADD,
    CONFIG,
    EXEXP,
    IADD,
    LOAD,
    LOADI,
    LUTFP32,
    LZ,
    MAD,
    MOV,
    MUL,
    MULI,
    NOP,
    POPC,
    PUSHC,
    SETCC,
    SHFT2,
    STORE,
    SWAP,
    immediate,
    load,
    mad,
    simple,
)  # fmt: skip

from polyloom._native import tensix
from polyloom.targets.tensix.source.oracle import multiply as twin


def over(count: int, word: int, wanted: Callable[[list[list[int]]], dict[int, list[int]]]) -> None:
    """`wanted` gives the registers that change, from all registers, for `count` random states."""
    for seed in range(count):
        made = bench(seed)
        flags = int(np.random.default_rng(seed).integers(0, 1 << 32))
        made.flags = flags, ALL
        before = [lane_values(row) for row in made.registers]
        after = [list(row) for row in before]
        for index, values in wanted(before).items():
            after[index] = [values[k] if flags >> k & 1 else before[index][k] for k in L]
        assert run(made, word) == []
        assert [lane_values(row) for row in made.registers] == after


@pytest.mark.parametrize("mode", range(16))
def test_leading_zeros(mode: int) -> None:
    mask = 0x7FFFFFFF if mode & 4 else ALL
    over(32, simple(LZ, 1, 2, mode), lambda r: {2: [32 - (v & mask).bit_length() for v in r[1]]})
    made = bench(5)
    made.flags = 0x0F0F0F0F, 0
    lanes = [bool(int(v) & mask) for v in made.registers[1]]
    run(made, simple(LZ, 1, 2, mode))
    holds = lanes if mode & 2 else [bool(0x0F0F0F0F >> k & 1) for k in L]
    assert [bool(made.flags[0] >> k & 1) for k in L] == [v != bool(mode & 8) for v in holds]


def products(r: list[list[int]], a: list[int], b: int, c: int) -> list[int]:
    operands = (np.array(v, np.uint32) for v in (a, r[b], r[c]))
    return lane_values(twin.multiply_add(*operands, blackhole=False))


@pytest.mark.parametrize("op", [MAD, ADD, MUL])
def test_the_three_multiply_adds_are_one(op: int) -> None:
    over(32, mad(op, 0, 12, 2, 3), lambda r: {3: products(r, r[0], 12, 2)})
    over(32, mad(op, 0, 1, 2, 3, 4), lambda r: {3: products(r, [r[r[7][k] & 15][k] for k in L], 1, 2)})

    def scattered(r: list[list[int]]) -> dict[int, list[int]]:
        made = products(r, r[0], 1, 2)
        return {t: [made[k] if r[7][k] & 15 == t else r[t][k] for k in L] for t in range(8)}

    over(32, mad(op, 0, 1, 2, 3, 8), scattered)


def test_an_immediate_product_can_go_where_l7_says() -> None:
    def scattered(r: list[list[int]]) -> dict[int, list[int]]:
        made = lane_values(
            twin.multiply_add(
                np.full(32, 0x40490000, np.uint32), np.array(r[2], np.uint32), np.array(r[9], np.uint32), False
            )
        )
        return {t: [made[k] if r[7][k] & 15 == t else r[t][k] for k in L] for t in range(8)}

    over(32, immediate(MULI, 0x4049, 2, 8), scattered)


@pytest.mark.parametrize("mode", [12, 13, 14])
def test_an_integer_sum_can_invert_flags_that_it_leaves(mode: int) -> None:
    for seed in range(32):
        made = bench(seed)
        flags = int(np.random.default_rng(seed).integers(0, 1 << 32))
        made.flags = flags, 0
        run(made, simple(IADD, 1, 2, mode, 5))
        assert made.flags[0] == flags ^ ALL


def from_sign(value: int, bits: int) -> int:
    """A sign above and a magnitude below, to two's complement."""
    magnitude = value & ((1 << bits) - 1)
    return -magnitude & ALL if value >> 31 & 1 else magnitude


def test_signed_loads_and_stores_convert() -> None:
    for seed in range(32):
        made = bench(seed)
        run(made, load(LOAD, 2, 13, 0))
        data = [int(v) for v in made.dst[0:4, ::2].reshape(-1)]
        assert lane_values(made.registers[2]) == [from_sign((v >> 15) << 31 | v >> 5 & 1023, 10) for v in data]
        run(made, load(LOAD, 3, 12, 0))
        pairs = zip(data, (int(v) for v in made.dst[8:12, ::2].reshape(-1)), strict=True)
        words = [(h & 0x8000 | (h & 255) << 7 | h >> 8 & 127) << 16 | low for h, low in pairs]
        assert lane_values(made.registers[3]) == [from_sign(v, 31) for v in words]
        source = lane_values(made.registers[4])
        run(made, load(STORE, 4, 13, 0))
        magnitudes = [(-v if v >> 31 else v) & 0x7FFFFFFF for v in source]
        wanted = [v >> 31 << 15 | (m & 1023) << 5 | 16 for v, m in zip(source, magnitudes, strict=True)]
        assert [int(v) for v in made.dst[0:4, ::2].reshape(-1)] == wanted


def rotated(row: list[int], wrapped: list[int]) -> list[int]:
    return [row[k - 1] if k % 8 else wrapped[k + 7] for k in L]


def test_shuffles_move_registers_and_lanes() -> None:
    over(32, mad(SHFT2, 0, 0, 0, 0, 0), lambda r: {0: r[1], 1: r[2], 2: r[3], 3: [0] * 32})
    over(32, mad(SHFT2, 0, 0, 0, 0, 1), lambda r: {0: r[1], 1: r[2], 2: r[3], 3: r[0][8:] + [0] * 8})
    over(32, mad(SHFT2, 0, 0, 5, 0, 2), lambda r: {0: r[1], 1: r[2], 2: r[3], 3: rotated(r[5], r[5])})
    over(32, mad(SHFT2, 0, 0, 2, 0, 2), lambda r: {0: r[1], 1: r[2], 2: r[3], 3: rotated(r[2], r[2])})


@pytest.mark.parametrize("amount", [1, 7, 0x1F, 0xFFE, 0xFE2, 0x805])
def test_shuffle_by_an_immediate_names_its_register_in_it(amount: int) -> None:
    signed = amount - (amount >> 11 << 12)
    source = amount & 15

    def wanted(r: list[list[int]]) -> dict[int, list[int]]:
        return {6: [(v << (signed & 31) if signed >= 0 else v >> (-signed & 31)) & ALL for v in r[source]]}

    over(32, SHFT2 << 24 | amount << 12 | 6 << 4 | 6, wanted)


def test_wormhole_shifts_in_what_the_last_shuffle_saw() -> None:
    for seed in range(32):
        made = bench(seed)
        seen, row = lane_values(made.registers[4]), lane_values(made.registers[1])
        run(made, mad(SHFT2, 0, 0, 4, 9, 3), mad(SHFT2, 0, 0, 1, 2, 4))
        assert lane_values(made.registers[2]) == rotated(row, seen)


def ordered(value: int) -> int:
    return -(value & 0x7FFFFFFF) - 1 if value >> 31 else value


@pytest.mark.parametrize("inverted", [0, 1 << 8])
@pytest.mark.parametrize("mode", range(10))
def test_swap_moves_indices_along(mode: int, inverted: int) -> None:
    minimum = [0, ALL, 0xFFFF, 0xFF00FF, 0xFF0000FF, 0xFF, 0xFF00, 0xFF0000, 0xFF000000, 0][mode]
    for seed in range(32):
        made = bench(seed)
        made.lane_config[:] = 1 << 2 | inverted
        rows = [lane_values(row) for row in made.registers]
        run(made, simple(SWAP, 1, 2, mode))
        for k in L:
            smaller = ordered(rows[1][k]) < ordered(rows[2][k])
            swaps = mode == 0 or (smaller == bool(minimum >> k & 1)) != bool(inverted)
            for a, b in ((1, 2), (5, 6)) if swaps else ():
                rows[a][k], rows[b][k] = rows[b][k], rows[a][k]
        assert [lane_values(row) for row in made.registers] == rows


SHORT_LOADS: dict[int, Callable[[int], int]] = {
    6: lambda v: v,
    7: lambda v: v << 16,
    8: lambda v: (v & 0x8000) << 16 | v & 0x7FFF,
    9: lambda v: v,
}


def test_loads_of_16_bits_that_a_peer_lacks() -> None:
    for seed, (mode, value) in enumerate(SHORT_LOADS.items()):
        for low in (0, 2, 8, 1022):
            made = bench(seed)
            run(made, load(LOAD, 2, mode, low))
            column = low >> 1 & 1
            data = made.dst[low & ~3 : (low & ~3) + 4, column::2].reshape(-1)
            assert lane_values(made.registers[2]) == [value(int(v)) for v in data]


def test_rows_can_be_masked_and_columns_told_to_exchange() -> None:
    made = bench(1)
    before = made.registers[2].copy()
    made.lane_config[:] = 1 << 12 | 1 << 15
    run(made, load(LOADI, 2, 2, 7))
    assert (made.registers[2][8:24] == 7).all()
    assert (made.registers[2][:8] == before[:8]).all()
    assert (made.registers[2][24:] == before[24:]).all()
    made.lane_config[:] = 0
    made.lane_config[3] = 1 << 6
    run(made, load(LOAD, 2, 6, 0))
    assert int(made.registers[2][3]) == int(made.dst[0, 7])
    assert int(made.registers[2][2]) == int(made.dst[0, 4])


def test_a_load_can_keep_where_it_loaded_from() -> None:
    made = bench(1)
    made.lane_config[:] = 1 << 2 | 1 << 3
    run(made, load(LOAD, 1, 2, 10))
    assert lane_values(made.registers[5]) == [(8 + k // 8) << 4 | k % 8 * 2 | 1 for k in L]


def test_addresses_add_offset_counter_and_immediate_and_counters_advance() -> None:
    made = bench(2)
    made.thread_config[0, 1], made.dst_counter, made.config[6] = 64, 8, 16
    made.thread_config[0, 23] = 4  # AddrMod 0: Dst += 4
    run(made, load(LOAD, 2, 6, 4))
    assert lane_values(made.registers[2]) == lane_values(made.dst[92:96, ::2].reshape(-1).astype(np.uint32))
    assert made.dst_counter == 12


@pytest.mark.parametrize(("mode", "wanted"), [(0, 0x0F0), (2, 0xFF0), (4, 0x0A0), (6, 0xF50)])
def test_config_sets_ors_ands_and_exclusive_ors(mode: int, wanted: int) -> None:
    made = tensix.VectorBench()
    run(made, immediate(CONFIG, 0xFA0, 8, 1), immediate(CONFIG, 0x0F0, 8, mode | 1))
    assert made.miscellaneous == wanted


def test_config_copies_the_first_row_of_l0_down_in_named_columns() -> None:
    made = bench(3)
    first = lane_values(made.registers[0])[:8]
    run(made, immediate(CONFIG, 0b0101, 12, 8))
    wanted = [first[k % 8] if k % 8 < 2 else 0x3B000000 for k in L]
    assert lane_values(made.registers[12]) == wanted


def test_special_registers_can_be_read() -> None:
    made = bench(4)
    made.templates[:], made.sequences[:], made.lane_config[:] = [1, 2, 3, 4], [5, 6, 7, 8], 1
    for source, value in [(0, 1), (3, 4), (4, 5), (7, 8), (8, 0), (12, 0), (15, 1)]:
        run(made, simple(MOV, source, 2, 8))
        assert (made.registers[2] == value).all()


def test_words_with_a_destination_from_12_on_become_templates() -> None:
    made = bench(6)
    before = made.registers.copy()
    word = simple(IADD, 1, 13, 5, 1)
    assert run(made, word) == ["captured-template"]
    assert int(made.templates[1]) == word
    assert (made.registers == before).all()
    dst = made.dst.copy()
    assert run(made, load(STORE, 12, 2, 0)) == ["store-from-constant"]
    assert (made.dst == dst).all()
    made.lane_config[:] = 1 << 1
    assert run(made, load(STORE, 12, 3, 0)) == []
    assert int(made.dst[0, 0]) == 0x0076


def test_rows_left_undefined_load_as_zero_and_are_reported() -> None:
    made = bench(7)
    made.invalidate()
    assert run(made, load(LOAD, 2, 2, 0)) == ["undefined-row"]
    assert not made.registers[2].any()
    assert run(made, load(STORE, 1, 2, 0), load(LOAD, 2, 2, 0)) == []


def test_the_stack_drops_its_lowest_and_gives_false_when_empty() -> None:
    made = tensix.VectorBench()
    assert run(made, simple(POPC)) == ["stack-underflow"]
    assert made.flags == (0, 0)
    assert run(made, *[simple(PUSHC)] * 9) == ["stack-overflow"]
    assert made.depth == 8
    assert run(made, simple(POPC, 0, 0, 13)) == ["stack-full"]


@pytest.mark.parametrize(
    "word",
    [load(LOADI, 0, 3, 0), mad(SHFT2, 0, 0, 1, 2, 7), simple(SWAP, 1, 2, 10), 0x96000000, load(0x93, 0, 0, 0)],
)
def test_reserved_modes_and_words_of_another_member_are_refused(word: int) -> None:
    with pytest.raises(ValueError, match=r"reserved-mode|unknown-word|not-modelled"):
        run(tensix.VectorBench(), word)


def test_columns_that_would_configure_macros_differently_are_refused() -> None:
    with pytest.raises(ValueError, match="lanes-differ"):
        run(bench(8), immediate(CONFIG, 0, 4))


def test_pop_can_set_all_flags_or_none() -> None:
    made = bench(11)
    run(made, simple(POPC, 0, 0, 14))
    assert made.flags == (ALL, ALL)
    run(made, simple(SETCC, 9, 0, 2))
    assert made.flags == (0, ALL)
    run(made, simple(POPC, 0, 0, 14), simple(POPC, 0, 0, 15))
    assert made.flags == (0, ALL)


def test_flags_follow_only_where_lanes_execute() -> None:
    made = bench(9)
    negative = [int(v) >> 31 for v in made.registers[1]]
    made.flags = 0x00FF00FF, ALL
    run(made, simple(SETCC, 1))
    assert made.flags[0] == sum(v << k for k, v in enumerate(negative)) & 0x00FF00FF
    made.flags = 0, 0
    run(made, simple(EXEXP, 10, 2, 10), simple(NOP))
    assert made.flags[0] == ALL


def test_tables_take_infinities_and_nan_by_their_last_entry() -> None:
    made = bench(10)
    made.registers[3] = np.uint32(0x7FC00000)
    slopes: NDArray[np.uint32] = made.registers[2].copy()
    run(made, simple(LUTFP32, 0, 1, 0))
    nan = bench(10)
    nan.registers[3] = np.uint32(0x7FC00000)
    nan.registers[2] = slopes
    run(nan, mad(MAD, 2, 3, 6, 1))
    assert (made.registers[1] == nan.registers[1]).all()

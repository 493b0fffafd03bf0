# SPDX-License-Identifier: Apache-2.0
"""Moves between Src and Dst, rows that ZEROACC marked, banks and their owners, counters and address modes."""

from __future__ import annotations

import numpy as np
import pytest
from tests.targets.tensix.matrix.bench import (
    ELWADD,
    GAPOOL,
    GMPOOL,
    MVMUL,
    Bench,
    bf16,
    pattern,
    src,
    upper,
    word,
)

from polyloom._native import tensix

MOVD2A, MOVD2B, ZEROACC, ZEROSRC, MOVA2D, MOVB2D, TRNSPSRCB = 0x08, 0x0A, 0x10, 0x11, 0x12, 0x13, 0x16
MOVB2A, GATESRCRST = 0x0B, 0x35
CLEARDVALID, SETRWC, INCRWC, SETDVALID = 0x36, 0x37, 0x38, 0x57


def numbers(rows: int, start: float = 1) -> np.ndarray:
    """Exact in BF16."""
    return (np.arange(rows * 16) % 120 + start).astype(np.float32).reshape(rows, 16)


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.alu("bf16")
    return made


def test_mova2d_copies_eight_rows_to_dst(bench: Bench) -> None:
    bench.srca[0, 8:16] = src(numbers(8))
    bench.run(word(MOVA2D, (1, 13), (8, 17), (16, 0)))
    assert np.array_equal(bench.take(16, 8), bf16(numbers(8)))
    assert list(np.flatnonzero(bench.valid)) == list(range(16, 24))


def test_mova2d_of_tf32_writes_rows_of_32_bits(bench: Bench) -> None:
    bench.alu("tf32")
    values = np.full((8, 16), 1 + 2**-10)
    bench.srca[0, :8] = src(values)
    bench.run(word(MOVA2D, (1, 13), (8, 0)))
    assert np.array_equal(bench.take(8, 8, wide=True), pattern(values))


def test_movb2d_broadcasts_a_row_a_column_or_both(bench: Bench) -> None:
    bench.srcb[0, 5] = src(numbers(1)[0])
    bench.run(word(MOVB2D, (1, 13), (5, 17)))
    assert np.array_equal(bench.take(0, 8), np.tile(bf16(numbers(1)), (8, 1)))
    bench.run(word(MOVB2D, (1, 13), (1, 12), (5, 17)))
    assert np.array_equal(bench.take(0, 8), np.full((8, 16), bf16(1)))


def test_movb2a_moves_one_row_or_an_aligned_four(bench: Bench) -> None:
    bench.srcb[0, :64] = src(numbers(64))
    bench.run(word(MOVB2A, (9, 17), (5, 0)))
    assert np.array_equal(bench.srca[0, 9], src(numbers(64)[5]))
    bench.run(word(MOVB2A, (1, 13), (18, 17), (35, 0)))
    assert np.array_equal(bench.srca[0, 16:20], src(numbers(64)[32:36]))
    assert not bench.srca[0, 20:].any()
    bench.run(word(GATESRCRST, (1, 1), (1, 0)))


def test_movb2a_cuts_to_the_format_and_flushes_zeros(bench: Bench) -> None:
    """Page of MOVB2A: of BF16 the lower three bits of TF32's mantissa go; a zero of any mantissa is 0."""
    bench.srcb[0, 0, :2] = 0x7FF85, 0x7FF00
    bench.run(word(MOVB2A))
    assert list(bench.srca[0, 0, :2]) == [0x7F885, 0]
    bench.alu("tf32")
    bench.run(word(MOVB2A))
    assert bench.srca[0, 0, 0] == 0x7FF85


def test_zeros_of_any_mantissa_are_flushed_unless_configured(bench: Bench) -> None:
    bench.srca[0, 0] = 0x7FF00
    bench.run(word(MOVA2D))
    assert not bench.dst[0].any()
    bench.config[2] = 1
    bench.run(word(MOVA2D))
    assert (bench.dst[0] == 0xFF00).all()


def test_blocked_columns_stay(bench: Bench) -> None:
    bench.srca[0, 0], bench.lane_config[2] = src(numbers(1)[0]), 1 << 9
    bench.put(0, np.full((1, 16), 7))
    bench.run(word(MOVA2D))
    assert bench.take(0, 1)[0, 4] == 7
    assert bench.take(0, 1)[0, 5] == bf16(6)


@pytest.mark.parametrize("opcode, source", [(MOVD2A, "srca"), (MOVD2B, "srcb")])
def test_dst_moves_to_either_source(bench: Bench, opcode: int, source: str) -> None:
    bench.put(4, bf16(numbers(4)))
    bench.run(word(opcode, (1, 13), (4, 0), (8, 17)))
    assert np.array_equal(getattr(bench, source)[0, 8:12], src(numbers(4)))


def test_dst_of_32_bits_keeps_tf32(bench: Bench) -> None:
    bench.alu("tf32", fp32=True)
    bench.put(0, pattern(np.full((1, 16), np.pi)), wide=True)
    bench.run(word(MOVD2A))
    assert np.array_equal(bench.srca[0, 0], src(np.full(16, np.pi)))


def test_dst_of_16_bits_has_no_tf32(bench: Bench) -> None:
    bench.alu("tf32")
    with pytest.raises(ValueError, match="not-modelled: Dst of 16 bits holds neither TF32"):
        bench.run(word(MOVD2A))


def test_trnspsrcb_transposes_rows_16_to_31(bench: Bench) -> None:
    bench.srcb[0] = np.arange(1024).reshape(64, 16)
    before = bench.srcb[0].copy()
    bench.run(word(TRNSPSRCB))
    assert np.array_equal(bench.srcb[0, 16:32], before[16:32].T)
    assert np.array_equal(bench.srcb[0, 32:], before[32:])


@pytest.mark.parametrize(
    "fields, rows",
    [
        ([(0, 19), (37, 0)], [37]),
        ([(1, 19), (3, 0)], list(range(48, 64))),
        ([(1, 19), (64, 0)], []),
        ([(2, 19), (1, 0)], list(range(512, 1024))),
        ([(3, 19)], list(range(1024))),
    ],
)
def test_zeroacc_marks_rows_as_undefined(bench: Bench, fields: list[tuple[int, int]], rows: list[int]) -> None:
    bench.valid[:] = 1
    bench.run(word(ZEROACC, *fields))
    assert list(np.flatnonzero(bench.valid == 0)) == rows


def test_zeroacc_of_32_bit_rows_marks_upper_halves(bench: Bench) -> None:
    """Which alone say whether a row of 32 bits is defined: the public page of Dst."""
    bench.valid[:] = 1
    bench.run(word(ZEROACC, (1, 21), (1, 19), (1, 0)))
    assert list(np.flatnonzero(bench.valid == 0)) == sorted(upper(k) for k in range(16, 32))


def test_undefined_rows_are_zero_to_sums_and_least_to_maxima(bench: Bench) -> None:
    bench.dst[:8], bench.srca[0, :16], bench.srcb[0, :8] = 0x1234, src(-numbers(16)), src(np.ones((8, 16)))
    bench.run(word(GMPOOL))
    assert np.array_equal(bench.take(0, 1)[0], bf16(-numbers(16)).view(np.uint32)[np.argmin(numbers(16), 0), range(16)])
    assert not bench.take(1, 3).any()
    bench.dst[8:16] = 0x1234
    bench.srcb[0, :8] = 0
    bench.run(word(ELWADD, (1, 21), (8, 0)))
    assert np.array_equal(bench.take(8, 8), bf16(-numbers(8)))


@pytest.mark.parametrize("fp32", [False, True])
@pytest.mark.parametrize("a, middle", [("bf16", 127), ("tf32", 127)])
def test_gmpool_is_the_maximum_of_columns_scaled_by_powers_of_two(a: str, middle: int, fp32: bool) -> None:
    bench, random = Bench(), np.random.default_rng(1)
    bench.alu(a, fp32=fp32)
    values = random.integers(-200, 200, (16, 16)).astype(np.float32)
    scales = 2.0 ** random.integers(-3, 4, 16)
    bench.srca[0, :16], bench.srcb[0, 0] = src(values), src(scales)
    held = np.full((1, 16), 3.0)
    bench.put(0, pattern(held) if fp32 else bf16(held), wide=fp32)
    bench.run(word(GMPOOL))
    wanted = np.maximum((values * scales[:, None]).max(0), 3.0)
    assert np.array_equal(bench.take(0, 1, wide=fp32)[0], pattern(wanted) if fp32 else bf16(wanted))


def test_gmpool_of_integers_keeps_13_bits() -> None:
    bench = Bench()
    bench.alu("int8", int8=True)
    values = np.arange(256).reshape(16, 16)
    bench.srca[0, :16], bench.srcb[0, 0] = values << 8 | 16, 16
    bench.put(0, np.zeros((1, 16)), wide=True)
    bench.run(word(GMPOOL))
    assert np.array_equal(bench.take(0, 1, wide=True)[0], values[15])


def test_mvmul_broadcasts_a_row_onto_every_other_of_seven(bench: Bench) -> None:
    bench.srca[0, :16], bench.srcb[0, 3] = src(np.eye(16)), src(numbers(1)[0])
    bench.rwc[0, 2] = 3
    bench.run(word(MVMUL, (1, 19)))
    wanted = np.where(np.arange(8)[:, None] % 2 == 0, bf16(numbers(1)), 0)
    assert np.array_equal(np.where(bench.valid[:8, None], bench.take(0, 8), 0), wanted)


def test_counters_choose_rows_and_address_modes_advance_them(bench: Bench) -> None:
    bench.own[7 + 2], bench.own[23 + 1] = 16 | 1 << 6 | 8 << 8, 4 | 1 << 13
    bench.srca[0, 32:48], bench.srcb[0, 8:16] = src(np.eye(16)), src(numbers(8))
    bench.rwc[0] = [32, 8, 8, 0, 20, 0, 0, 0]
    bench.run(word(GAPOOL, (1, 15), (4, 0)))
    assert np.array_equal(bench.take(24, 4), bf16(numbers(4)))
    assert list(bench.rwc[0]) == [24, 24, 16, 0, 24, 0, 1, 0]


def test_address_mode_4_and_on_come_with_a_base_or_the_bias(bench: Bench) -> None:
    bench.own[23 + 6], bench.own[48 + 2] = 3, 1
    bench.run(word(MOVA2D, (2, 15)), word(MOVA2D, (2, 15)))
    assert list(bench.rwc[0, [4, 7]]) == [3, 1]
    bench.own[2] = 1
    bench.run(word(MOVA2D, (2, 15)))
    assert bench.rwc[0, 4] == 6


@pytest.mark.parametrize(
    "words, counters",
    [
        ([word(SETRWC, (5, 6), (6, 10), (7, 14), (0xF, 0))], [5, 5, 6, 6, 7, 7, 0, 0]),
        ([word(SETRWC, (5, 6), (1, 18), (1, 0))], [15, 15, 2, 20, 3, 30, 2, 0]),
        ([word(SETRWC, (4, 14), (1, 20), (4, 0))], [1, 10, 2, 20, 34, 34, 2, 0]),
        ([word(SETRWC, (4, 14), (1, 21))], [1, 10, 2, 20, 7, 7, 2, 0]),
        ([word(INCRWC, (1, 6), (2, 10), (3, 14))], [2, 10, 4, 20, 6, 30, 2, 0]),
        ([word(INCRWC, (1, 6), (2, 10), (3, 14), (7, 18))], [11, 11, 22, 22, 33, 33, 2, 0]),
    ],
)
def test_setrwc_and_incrwc(bench: Bench, words: list[int], counters: list[int]) -> None:
    bench.rwc[0] = [1, 10, 2, 20, 3, 30, 2, 0]
    bench.run(*words)
    assert list(bench.rwc[0]) == counters


def test_banks_go_back_and_forth(bench: Bench) -> None:
    assert not bench.native.ready(0, word(MVMUL))
    bench.run(word(SETDVALID, (3, 0)))
    assert bench.native.banks() == (0, 0, 1, 1, True, False, True, False)
    assert bench.native.ready(0, word(MVMUL))
    bench.run(word(MVMUL, (3, 22)))
    assert bench.native.banks() == (1, 1, 1, 1, False, False, False, False)
    bench.own[5] = 1
    bench.run(word(SETDVALID, (3, 0)), word(SETRWC, (3, 22)))
    assert bench.native.banks() == (0, 0, 0, 0, False, True, False, False)
    bench.run(word(CLEARDVALID, (1, 0)))
    assert bench.native.banks() == (0, 0, 0, 0, False, False, False, False)


def test_cleardvalid_may_keep_the_bank(bench: Bench) -> None:
    bench.run(word(SETDVALID, (3, 0)), word(CLEARDVALID, (1, 22), (1, 1)))
    assert bench.native.banks() == (0, 0, 1, 1, False, False, True, False)


def test_zerosrc_fills_the_banks_it_names(bench: Bench) -> None:
    bench.srca[:], bench.srcb[:] = 1, 2
    bench.run(word(ZEROSRC, (1, 0), (1, 4)))
    assert (bench.srca[0] == 0x7FFFF).all()
    assert (bench.srca[1] == 1).all()
    bench.run(word(ZEROSRC, (2, 0), (1, 2)))
    assert not bench.srcb.any()


def test_what_is_not_modelled_faults_by_name(bench: Bench) -> None:
    with pytest.raises(ValueError, match="not-modelled: this instruction of the matrix unit"):
        bench.run(word(0x29))
    bench.config[1] = int(bench.config[1]) | 1
    with pytest.raises(ValueError, match="not-modelled: stochastic rounding of the matrix unit"):
        bench.run(word(MVMUL))


@pytest.mark.parametrize(
    "opcode, latency, reads, writes",
    [
        (MVMUL, 5, (16, 8), (16, 8)),
        (MOVA2D, 4, (0, 0), (16, 8)),
        (MOVD2A, 2, (16, 8), (0, 0)),
        (INCRWC, 1, (0, 0), (0, 0)),
    ],
)
def test_timing_names_blocks_of_dst(
    bench: Bench, opcode: int, latency: int, reads: tuple[int, int], writes: tuple[int, int]
) -> None:
    _, busy, got, *blocks = bench.native.timing(0, word(opcode, (18, 0)))
    assert (busy, got) == (1, latency)
    assert tuple(blocks) == (*reads, *writes)


def test_rows_of_32_bits_occupy_both_halves(bench: Bench) -> None:
    bench.alu("tf32", fp32=True)
    assert bench.native.timing(0, word(MVMUL, (8, 0)))[3:] == (16, 16, 16, 16)


def test_distances_between_moves() -> None:
    distance = tensix.matrix_distance
    assert distance(word(MOVD2A), word(MOVD2A)) == 1
    assert distance(word(MOVD2A), word(MVMUL)) == 2
    assert distance(word(MOVD2B), word(MVMUL)) == 4
    assert distance(word(MOVB2D), word(MVMUL)) == 4
    assert distance(word(MOVB2D), word(ELWADD)) == 1

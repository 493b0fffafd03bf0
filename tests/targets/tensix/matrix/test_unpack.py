# SPDX-License-Identifier: Apache-2.0
"""Tiles of every format arrive in SrcA, SrcB and Dst as what they are worth; strides, contexts, transposition,
hand-over and the address counters do what the instruction pages say."""

from __future__ import annotations

import numpy as np
import pytest
from tests.targets.tensix.matrix import tiles
from tests.targets.tensix.matrix.bench import FORMATS, Bench, bf16, pattern, src, to_dst, to_src, word
from tests.targets.tensix.matrix.tiles import describe, lay, unpacr

COUNTS = np.arange(256)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def halves(values: np.ndarray) -> np.ndarray:
    return values.astype("<u2").view(np.uint8)


@pytest.mark.parametrize("unit", [0, 1])
@pytest.mark.parametrize("name", tiles.BLOCKS)
def test_block_formats_get_exponents_of_their_own(bench: Bench, name: str, unit: int) -> None:
    random = np.random.default_rng(3)
    bits, middle = tiles.BLOCKS[name], tiles.bias(name)
    exponents = random.integers(middle - 5, middle + 10, 16).astype(np.uint32)
    magnitudes = random.integers(0, 1 << (bits - 1), 256).astype(np.uint32)
    signs = (random.integers(0, 2, 256) * (magnitudes > 0)).astype(np.uint32)
    lay(bench, tiles.blocks(name, exponents, signs, magnitudes))
    describe(bench, unit, name)
    bench.run(unpacr(unit))
    wanted = tiles.src_of(name, tiles.worth(name, exponents, signs, magnitudes))
    assert np.array_equal((bench.srcb if unit else bench.srca)[0, :16], wanted.reshape(16, 16))


@pytest.mark.parametrize("name, infinite", [("bfp8", 0x7F800), ("bfp4a", 0x47C00)])
def test_a_negative_zero_in_a_block_is_minus_infinity(bench: Bench, name: str, infinite: int) -> None:
    minus_zero = np.zeros(256, dtype=np.uint32)
    ones = np.ones(256, dtype=np.uint32)
    lay(bench, tiles.blocks(name, np.full(16, 20, dtype=np.uint32), ones, minus_zero))
    describe(bench, 0, name)
    bench.run(unpacr())
    assert (
        bench.srca[0, :16] == (to_src(np.array([0x7FC00])) if name == "bfp8" else to_src(np.array([infinite])))
    ).all()


def test_a_forced_exponent_replaces_those_of_the_tile(bench: Bench) -> None:
    magnitudes = (COUNTS % 127 + 1).astype(np.uint32)
    lay(bench, magnitudes.astype(np.uint8))
    describe(bench, 0, "bfp8")
    bench.config[61], bench.config[41] = 1 << 8, 130
    bench.run(unpacr())
    wanted = magnitudes / 64 * 8
    assert np.array_equal(bench.srca[0, :16], src(wanted).reshape(16, 16))


@pytest.mark.parametrize("out", ["tf32", "bf16", "fp16"])
def test_fp32_narrows_by_truncation(bench: Bench, out: str) -> None:
    values = np.linspace(-300, 300, 256) * np.pi
    lay(bench, pattern(values).view(np.uint8))
    describe(bench, 0, "fp32", out)
    bench.run(unpacr())
    kept = pattern(values) & {"tf32": 0xFFFFE000, "bf16": 0xFFFF0000, "fp16": 0xFFFFE000}[out]
    wanted = tiles.src_of(out, kept.view(np.float32).astype(np.float64))
    assert np.array_equal(bench.srca[0, :16], wanted.reshape(16, 16))


def test_fp32_beyond_fp16_saturates_and_vanishes(bench: Bench) -> None:
    lay(bench, pattern([1e6, -1e6, 1e-7, -1e-7] * 64).view(np.uint8))
    describe(bench, 0, "fp32", "fp16")
    bench.run(unpacr())
    wanted = to_src(np.array([0x7FFF, 0x47FFF, 0, 0x40000]))
    assert np.array_equal(bench.srca[0, 0, :4], wanted)


@pytest.mark.parametrize("unsigned", [False, True])
def test_int8_is_sign_and_magnitude_or_unsigned(bench: Bench, unsigned: bool) -> None:
    lay(bench, COUNTS.astype(np.uint8))
    describe(bench, 0, "int8")
    bench.config[1] = unsigned << 15
    bench.run(unpacr())
    magnitude = COUNTS if unsigned else COUNTS & 127
    wanted = (0 if unsigned else (COUNTS >> 7 << 18)) | magnitude << 8 | np.where(magnitude, 16, 0)
    assert np.array_equal(bench.srca[0, :16].ravel(), wanted)


@pytest.mark.parametrize("name", ["bf16", "fp16", "int16"])
def test_halves_to_dst_keep_their_bits(bench: Bench, name: str) -> None:
    values = (COUNTS * 257).astype(np.uint32)
    lay(bench, halves(values))
    describe(bench, 0, name)
    bench.config[60], bench.own[3] = int(bench.config[60]) | 1 << 11, 0
    bench.run(unpacr())
    wanted = values if name == "int16" else to_dst(values, name == "fp16")
    assert np.array_equal(bench.dst[:16].ravel(), wanted)
    assert bench.valid[:17].tolist() == [1] * 16 + [0]


@pytest.mark.parametrize("name", ["fp32", "tf32", "int32"])
def test_words_to_dst_keep_their_bits(bench: Bench, name: str) -> None:
    values = pattern(np.linspace(-1, 1, 256))
    lay(bench, values.view(np.uint8))
    describe(bench, 0, name)
    bench.config[60], bench.own[3] = int(bench.config[60]) | 1 << 11, 0
    bench.run(unpacr())
    assert np.array_equal(bench.take(0, 16, wide=True).ravel(), values)


def test_transposition_swaps_rows_and_columns_of_a_face(bench: Bench) -> None:
    values = (COUNTS % 100 + 1).astype(np.float32)
    lay(bench, halves(bf16(values)))
    describe(bench, 0, "bf16")
    bench.config[60] = int(bench.config[60]) | 1 << 8
    bench.run(unpacr())
    assert np.array_equal(bench.srca[0, :16], src(values).reshape(16, 16).T)


def test_tileize_reads_rows_at_a_stride(bench: Bench) -> None:
    values = (np.arange(1024) % 250 + 1).astype(np.float32)
    lay(bench, halves(bf16(values)))
    describe(bench, 0, "bf16")
    bench.config[60] = FORMATS["bf16"] | 1 << 9 | (128 >> 4) << 16
    bench.run(unpacr())
    assert np.array_equal(bench.srca[0, :16], src(values).reshape(16, 64)[:, :16])


def test_counters_move_input_and_output(bench: Bench) -> None:
    values = (np.arange(1024) % 250 + 1).astype(np.float32)
    lay(bench, halves(bf16(values)))
    describe(bench, 0, "bf16")
    bench.config[53] = 1 | 4 << 16
    bench.config[45] = 512
    bench.run(*[unpacr(0, (1, 15), (1, 19))] * 4)
    assert np.array_equal(bench.srca[0], src(values).reshape(64, 16))
    assert bench.adc[0, 0, 4].tolist() == [4, 4]


def test_a_context_has_its_own_address_and_the_counter_goes_round(bench: Bench) -> None:
    describe(bench, 0, "bf16")
    lay(bench, halves(bf16(np.full(256, 1.0))))
    lay(bench, halves(bf16(np.full(256, 2.0))), 0x4000)
    bench.config[60] = int(bench.config[60]) | 1 << 6
    bench.config[61], bench.config[65] = 3, 0x4000 // 16
    bench.config[72], bench.config[74] = 64 | (64 + 256) << 16, 256 | 256 << 16
    bench.run(*[unpacr(0, (1, 7), (1, 3))] * 2)
    assert np.array_equal(bench.srca[0, :16], src(np.full((16, 16), 1.0)))
    assert np.array_equal(bench.srca[0, 16:32], src(np.full((16, 16), 2.0)))
    bench.srca[:] = 0
    bench.run(word(0x42, (1, 13)), unpacr(0, (1, 7), (1, 3)))
    assert (bench.srca[0, 16:32] != 0).all()


def test_the_flag_hands_the_bank_over_and_the_next_waits(bench: Bench) -> None:
    describe(bench, 1, "bf16")
    flips = unpacr(1, (1, 6))
    bench.run(flips, flips)
    assert bench.native.banks() == (0, 0, 0, 0, False, False, True, True)
    assert not bench.native.ready(0, flips)
    bench.native.give(True, 0, False)
    assert bench.native.ready(0, flips)


@pytest.mark.parametrize("throttle, cycles", [(0, 34), (1, 18), (2, 10)])
def test_unpacking_takes_two_cycles_and_its_bytes(bench: Bench, throttle: int, cycles: int) -> None:
    describe(bench, 0, "bf16")
    bench.config[60] = FORMATS["bf16"] | throttle << 4
    assert bench.native.timing(0, unpacr())[1] == cycles


@pytest.mark.parametrize(
    "at, bits, message",
    [
        (52, 0xFFFFFFEF, "not-modelled: compressed tiles"),
        (60, ~(3 << 12), "not-modelled: up-sampling"),
        (60, ~15, "not-modelled: these data formats do not convert"),
        (64, 0, "outside-l1: an address outside L1"),
    ],
)
def test_what_an_unpacker_does_not_do_faults_by_name(bench: Bench, at: int, bits: int, message: str) -> None:
    describe(bench, 0, "bf16")
    if at == 64:
        bench.config[64] = 0x170000 // 16 - 4
    elif at == 60:
        bench.config[60] = int(bench.config[60]) & bits | (1 << 12 if bits != ~15 else 1)
    else:
        bench.config[at] = int(bench.config[at]) & bits
    with pytest.raises(ValueError, match=message):
        bench.run(unpacr())


def test_zeros_need_no_format_and_may_lie_behind_the_last_row(bench: Bench) -> None:
    """What kernels do after a tile of FP32 that they unpacked into Dst: a row of zeros into SrcA, behind row 63."""
    describe(bench, 0, "fp32", count=16)
    with pytest.raises(ValueError, match="do not convert"):
        bench.run(unpacr())
    bench.srca[:] = 5
    bench.run(unpacr(0, (1, 4)))
    assert (bench.srca[0, 0] == 0).all() and (bench.srca[0, 1:] == 5).all()
    describe(bench, 0, "bf16", count=16)
    bench.field(40, (64 + 1024) * 2, 16, 16)
    with pytest.raises(ValueError, match="a row of SrcA beyond 63"):
        bench.run(unpacr())
    bench.srca[:] = 5
    bench.run(unpacr(0, (1, 4)))
    assert (bench.srca[0, 1:] == 5).all()


@pytest.mark.parametrize("bits, value", [(1, 0), (5, 0x7FFFF)])
def test_unpacr_nop_clears_the_bank_that_it_fills_next(bench: Bench, bits: int, value: int) -> None:
    bench.srca[:] = 5
    bench.run(word(0x43, (bits, 0)))
    assert (bench.srca[0] == value).all()
    assert (bench.srca[1] == 5).all()


def test_unpacr_nop_talks_to_no_stream(bench: Bench) -> None:
    with pytest.raises(ValueError, match="not-modelled: this form of UNPACR_NOP"):
        bench.run(word(0x43, (4, 0)))


@pytest.mark.parametrize(
    "words, wanted",
    [
        ([word(0x50, (7, 21), (1, 20), (0, 18), (0x1FFFF & 0xFFFF, 0))], [0, 0xFFFF, 0, 0, 0, 0, 0, 0]),
        ([word(0x5E, (1, 21), (3, 0), (255, 10))], [3, 255, 0, 0, 0, 0, 0, 0]),
        ([word(0x51, (1, 21), (0b1010, 0), (2, 9), (5, 15))], [0, 0, 2, 5, 0, 0, 0, 0]),
        ([word(0x54, (1, 21), (0b0101, 0), (2, 6), (5, 12))], [0, 0, 0, 0, 2, 5, 0, 0]),
        ([word(0x52, (1, 21), (1, 6), (2, 9), (3, 12), (4, 15))] * 2, [2, 6, 4, 8, 0, 0, 0, 0]),
        ([word(0x51, (1, 21), (2, 0), (2, 9)), word(0x52, (1, 21), (7, 9)), word(0x53, (1, 21), (2, 0), (1, 9))], None),
    ],
)
def test_address_counters(bench: Bench, words: list[int], wanted: list[int] | None) -> None:
    bench.run(*words)
    x, y, z, w = (bench.adc[0, 0, k].tolist() for k in (0, 2, 4, 6))
    assert [*x, *y, *z, *w] == (wanted or [0, 0, 3, 0, 0, 0, 0, 0])


def test_counters_of_another_thread(bench: Bench) -> None:
    bench.run(word(0x51, (1, 22), (2, 18), (1, 0), (6, 6)))
    assert bench.adc[1, 1, 0].tolist() == [6, 0]
    assert not bench.adc[0].any()

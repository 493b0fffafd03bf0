# SPDX-License-Identifier: Apache-2.0
"""What packers write to L1: every conversion on offer against rounding over exact values, blocks with shared exponents,
ReLU, edge masks, addresses of four packers and streams that continue; and tiles that come back as they went in."""

from __future__ import annotations

import numpy as np
import pytest
from tests.targets.tensix.matrix import tiles
from tests.targets.tensix.matrix.bench import FORMATS, Bench, Bits, bf16, pattern, word
from tests.targets.tensix.matrix.tiles import describe, lay, rounded, unpacr

SECTIONS = 56, 84, 96, 124
OUT = 0x8000
FACE = np.arange(256)


def pacr(*fields: tuple[int, int]) -> int:
    return word(0x41, *fields)


def set_up(bench: Bench, middle: str, to: str, *, wide: bool = False, count: int = 256, raw: bool = False) -> None:
    """Every packer writes from OUT on, 0x1000 apart, without a header, and shows all columns."""
    bench.alu(dst=middle)
    bench.config[14] = wide | raw << 2
    for k, at in enumerate(SECTIONS):
        bench.config[at : at + 3] = (
            1 << 16,
            (OUT + 0x1000 * k) // 16,
            1 | FORMATS[to] << 4 | FORMATS[middle] << 8 | 1 << 15,
        )
    bench.config[20:24], bench.config[24:28] = 0xFFFF, 16 << 8
    bench.run(word(0x5E, (1, 23), (count - 1, 10)))


def written(bench: Bench, count: int, at: int = OUT) -> Bits:
    return bench.l1[at : at + count]


def values_of(bench: Bench, to: str, count: int = 256) -> np.ndarray:
    """What float formats of whole bytes are worth."""
    if to in ("fp32", "tf32"):
        return written(bench, 4 * count).view(np.float32).astype(np.float64)
    if to == "bf16":
        return (written(bench, 2 * count).view("<u2").astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    half = written(bench, 2 * count).view("<u2") if to == "fp16" else written(bench, count + 16)[16:].astype("<u2") << 8
    return half.astype("<u2").view(np.float16).astype(np.float64)


def spread(seed: int, low: int = -6, high: int = 7) -> np.ndarray:
    """FP32 values in FP16's range."""
    random = np.random.default_rng(seed)
    made = random.standard_normal(256) * 2.0 ** random.integers(low, high, 256)
    return made.astype(np.float32).astype(np.float64)


@pytest.mark.parametrize(
    "middle, to, mantissa",
    [
        ("fp32", "fp32", 23),
        ("tf32", "tf32", 10),
        ("tf32", "fp32", 10),
        ("bf16", "bf16", 7),
        ("bf16", "fp32", 7),
        ("bfp8", "bf16", 6),
    ],
)
def test_early_conversion_rounds_half_away(middle: str, to: str, mantissa: int) -> None:
    bench, values = Bench(), spread(1)
    values[:4] = 1 + 2.0**-8, -1 - 2.0**-8, 1 + 2.0**-11, 1 + 2.0**-7
    bench.put(0, pattern(values), wide=True)
    set_up(bench, middle, to, wide=True)
    bench.run(pacr((1, 0)))
    assert np.array_equal(values_of(bench, to), rounded(values, mantissa))


def test_rounding_flushes_denormals_and_makes_nan_infinite() -> None:
    bench = Bench()
    bench.put(0, np.array([0x00400000, 0x80000000, 0x7FC00001, 0xFF800001] * 4, dtype=np.uint32), wide=True)
    set_up(bench, "bf16", "bf16", wide=True, count=16)
    bench.run(pacr((1, 0)))
    assert written(bench, 8).view("<u2").tolist() == [0, 0, 0x7F80, 0xFF80]


@pytest.mark.parametrize("to, mantissa", [("fp16", 10), ("fp8", 2), ("bf16", 7)])
def test_late_conversion_truncates(to: str, mantissa: int) -> None:
    bench, values = Bench(), spread(2)
    bench.put(0, pattern(values), wide=True)
    set_up(bench, "fp32", to, wide=True)
    bench.run(pacr((1, 0)))
    significand, exponent = np.frexp(values)
    wanted = np.ldexp(np.trunc(np.ldexp(significand, mantissa + 1)), exponent - mantissa - 1)
    assert np.array_equal(values_of(bench, to), wanted)


def test_fp16_saturates_where_exponents_narrow() -> None:
    bench = Bench()
    bench.put(0, pattern([1e9, -1e9, 1e-9, -1e-9] * 4), wide=True)
    set_up(bench, "fp32", "fp16", wide=True, count=16)
    bench.run(pacr((1, 0)))
    assert written(bench, 8).view("<u2").tolist() == [0x7FFF, 0xFFFF, 0, 0x8000]


@pytest.mark.parametrize("to", ["fp16", "fp32", "bf16"])
def test_fp16_in_dst_goes_out_as_it_is_or_wider(to: str) -> None:
    bench, values = Bench(), rounded(spread(3), 7)
    bench.put(0, values.astype(np.float16).view(np.uint16), fp16=True)
    set_up(bench, "fp16", to)
    bench.run(pacr((1, 0)))
    assert np.array_equal(values_of(bench, to), values)


@pytest.mark.parametrize("to", tiles.BLOCKS)
def test_blocks_share_the_largest_exponent(to: str) -> None:
    bench, narrow = Bench(), to.endswith("a")
    values = rounded(spread(4), 6 if narrow else 7)
    middle = "bfp8a" if narrow else "bf16"
    if narrow:
        bench.put(0, values.astype(np.float16).view(np.uint16), fp16=True)
    else:
        bench.put(0, bf16(values))
    set_up(bench, middle, to)
    bench.run(pacr((1, 0)))
    data = tiles.blocks(to, *tiles.packed(to, values))
    assert np.array_equal(written(bench, len(data)), data)


@pytest.mark.parametrize("unsigned", [False, True])
@pytest.mark.parametrize("shift", [0, 3])
def test_integers_shift_round_and_saturate(shift: int, unsigned: bool) -> None:
    bench = Bench()
    few = [0, 1, -1, 3, 4, -4, 127, -127, 128, 255, 256, -300, 1000, 2035, 2036, -5]
    values = np.array(few, dtype=np.int64)
    bench.put(0, (np.where(values < 0, 1 << 31, 0) | np.abs(values)).astype(np.uint32), wide=True)
    set_up(bench, "int8", "int8", wide=True, count=16)
    bench.config[14] = int(bench.config[14]) | unsigned << 1
    bench.config[7], bench.config[165] = 1, shift
    bench.run(pacr((1, 0)))
    size = (np.abs(values) + (1 << shift >> 1)) >> shift
    signed = np.where(values < 0, 0x80, 0) | np.minimum(size, 127)
    wanted = np.where(values < 0, 0, np.minimum(size, 255)) if unsigned else signed
    assert np.array_equal(written(bench, 16, OUT + 16), wanted)


@pytest.mark.parametrize("name, wide", [("int32", True), ("int16", False)])
def test_integers_pass(name: str, wide: bool) -> None:
    bench = Bench()
    values = (FACE * 257 + (FACE << 24 if wide else 0)).astype(np.uint32)
    for row in range(0 if wide else 16):
        bench.dst[row], bench.valid[row] = values[16 * row :][:16], 1
    if wide:
        bench.put(0, values, wide=True)
    set_up(bench, name, name, wide=wide)
    bench.run(pacr((1, 0)))
    assert np.array_equal(written(bench, 1024 if wide else 512).view("<u4" if wide else "<u2"), values)


@pytest.mark.parametrize("mode", [1, 2, 3])
def test_relu(mode: int) -> None:
    bench, values = Bench(), rounded(spread(5), 7)
    bench.put(0, bf16(values))
    set_up(bench, "bf16", "bf16")
    bench.config[2] = mode << 2 | int(bf16(1.5)) << 6
    bench.run(pacr((1, 0)))
    positive = np.maximum(values, 0)
    wanted = {1: positive, 2: np.where(values <= 1.5, 0, values), 3: np.minimum(positive, 1.5)}[mode]
    assert np.array_equal(values_of(bench, "bf16"), wanted)


def test_edge_masks_hide_columns_by_row() -> None:
    bench, values = Bench(), (FACE % 200 + 1).astype(np.float64)
    bench.put(0, bf16(values))
    set_up(bench, "bf16", "bf16")
    bench.config[16], bench.config[21] = 1 << 2 * 5, 0x00FF
    bench.run(pacr((1, 0)))
    hidden = (np.arange(16)[:, None] == 5) & (np.arange(16) >= 8)
    assert np.array_equal(values_of(bench, "bf16").reshape(16, 16), np.where(hidden, 0, values.reshape(16, 16)))


def test_four_packers_take_four_faces() -> None:
    bench, values = Bench(), (np.arange(1024) % 200 + 1).astype(np.float64)
    bench.put(0, bf16(values))
    set_up(bench, "bf16", "bf16")
    bench.config[152:156] = 0, 16, 32, 48
    bench.run(pacr((15, 8), (1, 0)))
    for k in range(4):
        got = written(bench, 512, OUT + 0x1000 * k).view("<u2")
        assert np.array_equal(got, bf16(values)[256 * k :][:256])


def test_output_continues_until_last_and_counters_move_on() -> None:
    bench, values = Bench(), (FACE % 200 + 1).astype(np.float64)
    bench.put(0, bf16(values))
    set_up(bench, "bf16", "bf16", count=8)
    bench.config[8] = 32 << 12
    bench.own[31] = 1
    bench.run(pacr(), pacr(), pacr((1, 0)))
    wanted = np.concatenate([bf16(values)[16 * k :][:8] for k in range(3)])
    assert np.array_equal(written(bench, 48).view("<u2"), wanted)
    assert bench.adc[0, 2, 2].tolist() == [3, 0]


def test_undefined_rows_and_zero_writes_are_zero() -> None:
    bench = Bench()
    bench.dst[:], bench.l1[OUT : OUT + 64] = 0x3F80, 1
    set_up(bench, "bf16", "bf16", count=16)
    bench.run(pacr((1, 0)))
    assert not written(bench, 32).any()
    assert written(bench, 64)[32:].all()


def test_a_header_leaves_sixteen_bytes() -> None:
    bench = Bench()
    bench.put(0, np.full(16, 0x3F80))
    set_up(bench, "bf16", "bf16", count=16)
    bench.config[58] = int(bench.config[58]) & ~(1 << 15)
    bench.run(pacr((1, 0)))
    assert written(bench, 48).view("<u2").tolist() == [0] * 8 + [0x3F80] * 16


@pytest.mark.parametrize("name", ["fp32", "bf16", "fp16", "int16", "int32", *tiles.BLOCKS])
def test_tiles_come_back_as_they_went_in(name: str) -> None:
    """Into Dst by unpacker 0, out by packer 0; a block's largest magnitude has its top bit set."""
    bench, random = Bench(), np.random.default_rng(6)
    if name in tiles.BLOCKS:
        bits = tiles.BLOCKS[name]
        magnitudes = random.integers(0, 1 << (bits - 1), 256).astype(np.uint32)
        magnitudes[::16] |= 1 << (bits - 2)
        signs = (random.integers(0, 2, 256) * (magnitudes > 0)).astype(np.uint32)
        exponents = random.integers(tiles.bias(name) - 3, tiles.bias(name) + 9, 16).astype(np.uint32)
        data = tiles.blocks(name, exponents, signs, magnitudes)
    else:
        width = tiles.WIDTHS[name] // 8
        data = random.integers(0, 256, 256 * width).astype(np.uint8)
        data[width - 1 :: width] = data[width - 1 :: width] & 0x83 | 0x3C  # an exponent that every format has
    narrow = name in tiles.NARROW
    middle = name if name not in tiles.BLOCKS else "bfp8a" if narrow else "bf16"
    wide = tiles.WIDTHS.get(name, 16) == 32
    set_up(bench, middle, name, wide=wide, raw=True)
    lay(bench, data)
    describe(bench, 0, name)
    bench.config[60], bench.own[3] = int(bench.config[60]) | 1 << 11, 0
    bench.run(unpacr(), pacr((1, 0)))
    assert np.array_equal(written(bench, len(data)), data)


@pytest.mark.parametrize(
    "at, value, message",
    [
        (58, 0xFFFFFFFE, "not-modelled: compression by packers"),
        (59, 1 << 21, "not-modelled: accumulation in L1"),
        (59, 1 << 16, "not-modelled: downsampling"),
        (57, 0x170000 // 16, "outside-l1: an address outside L1"),
    ],
)
def test_what_a_packer_does_not_do_faults_by_name(at: int, value: int, message: str) -> None:
    bench = Bench()
    set_up(bench, "bf16", "bf16")
    bench.config[at] = int(bench.config[at]) & value if at == 58 else value
    with pytest.raises(ValueError, match=message):
        bench.run(pacr((1, 0)))


def test_conversions_that_the_machine_does_not_offer_fault() -> None:
    bench = Bench()
    set_up(bench, "fp16", "fp16", wide=True)
    with pytest.raises(ValueError, match="not-modelled: this early conversion is not offered"):
        bench.run(pacr((1, 0)))


def test_packing_a_face_takes_its_rows() -> None:
    bench = Bench()
    set_up(bench, "bf16", "bf16")
    _, busy, latency, *blocks = bench.native.timing(0, pacr((1, 0)))
    assert (busy, latency, blocks) == (32, 32, [0, 16, 0, 0])

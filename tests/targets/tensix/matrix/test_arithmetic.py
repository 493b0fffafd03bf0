# SPDX-License-Identifier: Apache-2.0
"""Products and sums are those of a twin over exact integers, bit by bit: all formats, Dst of both widths, all fidelity
phases, a million operands each."""

from __future__ import annotations

import numpy as np
import pytest
from tests.in_turns import in_turns
from tests.targets.tensix.matrix import twin
from tests.targets.tensix.matrix.bench import ELWADD, ELWMUL, ELWSUB, GAPOOL, MVMUL, Bench, Bits, pattern, src, word

STYLES: list[twin.Style] = ["bf16", "tf32", "fp16"]
OPERANDS = 1_000_000


def random_src(random: np.random.Generator, count: int, style: twin.Style | str) -> Bits:
    """Mostly of near exponents, some of any, some zero, some whose low bits the format does not have."""
    narrow = style == "fp16"
    middle = 15 if narrow else 127
    exponent = random.integers(middle - 7, middle + 8, count)
    exponent = np.where(random.random(count) < 0.15, random.integers(0, 32 if narrow else 256, count), exponent)
    exponent = np.where(random.random(count) < 0.05, 0, exponent)
    mantissa = random.integers(0, 1024, count)
    return (random.integers(0, 2, count) << 18 | mantissa << 8 | exponent).astype(np.uint32)


def random_dst(random: np.random.Generator, count: int, mode: twin.Mode) -> Bits:
    narrow = mode.style == "fp16" and not mode.wide
    middle = 15 if narrow else 127
    exponent = random.integers(middle - 6, middle + 16, count)
    any_exponent = random.integers(0, 32 if narrow else 256, count)
    exponent = np.clip(np.where(random.random(count) < 0.2, any_exponent, exponent), 0, 31 if narrow else 255)
    kept = 23 if mode.wide else 10 if narrow else 7
    mantissa = random.integers(0, 1 << kept, count) << (23 - kept)
    return (random.integers(0, 2, count) << 31 | exponent << 23 | mantissa).astype(np.uint32)


def put(bench: Bench, row: int, values: Bits, mode: twin.Mode) -> None:
    if mode.wide:
        return bench.put(row, values, wide=True)
    if mode.style == "fp16":
        return bench.put(row, values >> 16 & 0x8000 | values >> 13 & 0x7FFF, fp16=True)
    return bench.put(row, values >> 16)


def take(bench: Bench, row: int, count: int, mode: twin.Mode) -> Bits:
    if mode.wide:
        return bench.take(row, count, wide=True)
    if mode.style == "fp16":
        halves = bench.take(row, count, fp16=True)
        return ((halves & 0x8000) << 16 | (halves & 0x7FFF) << 13).astype(np.uint32)
    return (bench.take(row, count) << 16).astype(np.uint32)


def check(got: Bits, wanted: twin.Ints) -> None:
    wrong = np.argwhere(got != wanted)[:5]
    assert not wrong.size, [(tuple(k), f"{got[tuple(k)]:08x}", f"{wanted[tuple(k)]:08x}") for k in wrong]


def bench_of(mode: twin.Mode) -> Bench:
    bench = Bench()
    bench.alu(mode.style, fp32=mode.wide)
    bench.own[6] = mode.phase
    return bench


@pytest.mark.parametrize(("style", "wide"), in_turns(STYLES, [False, True], 2))
@pytest.mark.parametrize("opcode, rows", [(MVMUL, 8), (GAPOOL, 4)], ids=["MVMUL", "GAPOOL"])
def test_matrix_products_are_those_of_the_twin(opcode: int, rows: int, style: twin.Style, wide: bool) -> None:
    random = np.random.default_rng(7)
    for phase in range(4):
        mode = twin.Mode(style, wide, phase)
        bench = bench_of(mode)
        for _ in range(OPERANDS // 4 // (rows * 16 * 16 * 2) + 1):
            a = random_src(random, 256, style).reshape(16, 16)
            b = random_src(random, 16 * rows, style).reshape(rows, 16)
            dst = random_dst(random, 16 * rows, mode).reshape(rows, 16)
            bench.srca[0, :16], bench.srcb[0, :rows] = a, b
            put(bench, 8, dst, mode)
            bench.run(word(opcode, (8, 0)))
            columns, lines = twin.source(a.T[None], style), twin.source(b[:, None], style)
            halves = [(_part(columns, half), _part(lines, half)) for half in (slice(0, 8), slice(8, 16))]
            sums = [twin.group(x, y, mode) for x, y in halves]
            check(take(bench, 8, rows, mode), twin.accumulate(sums, dst, mode))


def _part(whole: twin.Source, of: slice) -> twin.Source:
    return twin.Source(whole.negative[..., of], whole.exponent[..., of], whole.mantissa[..., of])


@pytest.mark.parametrize(("style", "wide"), in_turns(STYLES, [True, False], 2))
@pytest.mark.parametrize("opcode", [ELWMUL, ELWADD, ELWSUB], ids=["ELWMUL", "ELWADD", "ELWSUB"])
def test_elements_are_those_of_the_twin(opcode: int, style: twin.Style, wide: bool) -> None:
    random = np.random.default_rng(8)
    for phase in range(4 if opcode == ELWMUL else 1):
        mode = twin.Mode(style, wide, phase)
        bench = bench_of(mode)
        bench.own[7] = 8 | 8 << 8  # each instruction goes on to the next eight rows of both sources
        for k in range(OPERANDS // 6 // (3 * 1024) // (4 if opcode == ELWMUL else 1) + 1):
            onto = opcode == ELWMUL or bool(k % 3)
            a, b = (random_src(random, 1024, style).reshape(64, 16) for _ in range(2))
            dst = random_dst(random, 1024, mode).reshape(64, 16)
            bench.srca[0], bench.srcb[0] = a, b
            put(bench, 0, dst, mode)
            bench.run(*(word(opcode, (int(onto), 21), (row, 0)) for row in range(0, 64, 8)))
            x, y = twin.source(a, style), twin.source(b, style)
            term = twin.product(x, y, mode) if opcode == ELWMUL else twin.total(x, y, mode, opcode == ELWSUB)
            check(take(bench, 0, 64, mode), twin.accumulate([term], dst if onto else np.zeros_like(dst), mode))


@pytest.mark.parametrize("phase", range(4))
def test_integers_multiply_by_parts_of_their_magnitudes(phase: int) -> None:
    random = np.random.default_rng(9)
    bench = Bench()
    bench.alu("int8", int8=True)
    bench.own[6] = phase
    mask_a, mask_b = 0x1F if phase & 1 else 0xE0, 0xF if phase & 2 else 0x3F0
    for _ in range(OPERANDS // 4 // 4096):
        magnitudes = random.integers(0, 1024, 384)
        bits = random.integers(0, 2, 384) << 18 | magnitudes << 8 | np.where(random.random(384) < 0.1, 0, 16)
        a, b = bits[:256].astype(np.uint32).reshape(16, 16), bits[256:].astype(np.uint32).reshape(8, 16)
        held = random.integers(-(2**31) + 1, 2**31, (8, 16))
        held[:, :8] >>= 12
        bench.srca[0, :16], bench.srcb[0, :8] = a, b
        bench.put(0, np.where(held < 0, 1 << 31 | -held, held).astype(np.uint32), wide=True)
        bench.run(word(MVMUL))
        got = bench.take(0, 8, wide=True).astype(np.int64)
        wanted = twin.saturated(held + twin.integers(b, mask_b) @ twin.integers(a, mask_a))
        assert np.array_equal(np.where(got >> 31, -(got & 0x7FFFFFFF), got), wanted)


def test_all_phases_of_integers_together_are_the_product() -> None:
    bench = Bench()
    bench.alu("int8", int8=True)
    a, b = np.arange(-128, 128), np.arange(-512, 512, 8)

    def bits(x: twin.Ints) -> Bits:
        return (np.where(x < 0, 1 << 18, 0) | np.abs(x) << 8 | 16).astype(np.uint32)

    bench.srca[0, :16], bench.srcb[0, :8] = bits(a).reshape(16, 16), bits(b).reshape(8, 16)
    for phase in range(4):
        bench.own[6] = phase
        bench.run(word(MVMUL))
    got = bench.take(0, 8, wide=True).astype(np.int64)
    assert np.array_equal(np.where(got >> 31, -(got & 0x7FFFFFFF), got), b.reshape(8, 16) @ a.reshape(16, 16))


def test_one_unit_below_zero_gets_an_exponent_too_large() -> None:
    bench = Bench()
    bench.alu("bf16", fp32=True)
    bench.srca[0, 0, :2] = src([1.0, -1.0])
    bench.put(0, np.array([0xBF800001, 0x3F800001] + [0] * 14), wide=True)
    bench.run(word(ELWADD, (1, 21)))
    first = bench.take(0, 1, wide=True)[0]
    assert first[0] == pattern(-16.0)
    assert first[1] == pattern(2.0**-23)


def test_four_phases_of_bf16_products_are_exact_where_nothing_rounds() -> None:
    bench = Bench()
    bench.alu("bf16", fp32=True)
    random = np.random.default_rng(10)
    a, b = (random.integers(128, 256, 128).reshape(8, 16).astype(np.float32) for _ in range(2))
    bench.srca[0, :8], bench.srcb[0, :8] = src(a), src(b)
    for phase in range(4):
        bench.own[6] = phase
        bench.run(word(ELWMUL, (1, 21)))
    assert np.array_equal(bench.take(0, 8, wide=True), pattern(a * b))

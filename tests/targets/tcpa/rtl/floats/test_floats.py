# SPDX-License-Identifier: Apache-2.0
"""Floating-point modules equal exact arithmetic: small formats in all operands, halves and singles in samples with all
corners.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.build_cache import kept_program
from tests.targets.tcpa.rtl.floats.floats_bench import all_words, bench_parts, build_bench, run_bench
from tests.targets.tcpa.rtl.floats.golden_floats import (
    BINARY,
    E4M3,
    E5M2,
    F16,
    F32,
    UNARY,
    Format,
    Words,
    expected_words,
    fused_word,
    fused_words,
    of_integers,
)

SMALL = (E4M3, E5M2)
QUICK = (E4M3, F32)
"""A build of all takes long."""


def _bench(*forms: Format) -> Path:
    if shutil.which("verilator") is None:
        pytest.skip("verilator is not installed")
    name = "-".join(("floats", *(form.name for form in forms)))
    return kept_program(name, bench_parts(), lambda folder: build_bench(folder, *forms))


@pytest.fixture(scope="module")
def bench() -> Path:
    return _bench(*QUICK)


@pytest.fixture(scope="module")
def long_bench() -> Path:
    return _bench(E4M3, E5M2, F16, F32)


def _check(bench: Path, form: Format, operation: str, a: Words, b: Words) -> None:
    got, want = run_bench(bench, form, operation, a, b), expected_words(form, operation, a, b)
    assert len(got) == len(want) == len(a)
    n = int(np.argmax(got != want))
    assert got[n] == want[n], (form.name, operation, *(f"{w:#x}" for w in (a[n], b[n], got[n], want[n])))


def corner_words(form: Format) -> Words:
    """Zeros, subnormals, powers of two and their neighbours, the greatest numbers, infinities, NaNs, of both signs."""
    powers = [n << form.fraction for n in range(0, 1 << form.exponent, max(1, 1 << (form.exponent - 3)))]
    one = ((1 << (form.exponent - 1)) - 1) << form.fraction
    near = {n + d for n in (*powers, one, 2 * one - 1, form.infinity) for d in (-1, 0, 1)}
    codes = sorted(n for n in near if 0 <= n < form.sign)
    return np.array([*codes, *(n + form.sign for n in codes)], np.uint32)


def sample_words(form: Format, count: int, operands: int, seed: int) -> list[Words]:
    """Random words, half of them with exponents near each other, and corners among them."""
    random = np.random.default_rng(seed)
    words = random.integers(0, form.size, (operands, count), np.uint64).astype(np.uint32)
    fields = form.sign - (1 << form.fraction)
    near = random.integers(-form.fraction - 3, form.fraction + 4, (operands, count)) << form.fraction
    bias = ((1 << (form.exponent - 1)) - 1) << form.fraction
    base = np.where(random.random(count) < 0.5, bias, words[0] & fields).astype(np.int64)
    close = (np.clip(base + near, 0, fields) | (words & ~np.uint32(fields))).astype(np.uint32)
    words = np.where(random.random(count) < 0.5, words, close)
    corners = random.choice(corner_words(form), (operands, count))
    return list(np.where(random.random((operands, count)) < 0.15, corners, words).astype(np.uint32))


def test_all_pairs_of_a_small_format(bench: Path) -> None:
    for operation in ("add", "mul", "div", "min", "le"):
        _check(bench, E4M3, operation, *all_words(E4M3, 2))
    (every,) = all_words(E4M3, 1)
    for operation in UNARY:
        _check(bench, E4M3, operation, every, every)


@pytest.mark.long
@pytest.mark.parametrize("form", SMALL, ids=lambda f: f.name)
@pytest.mark.parametrize("operation", BINARY)
def test_all_pairs(long_bench: Path, form: Format, operation: str) -> None:
    _check(long_bench, form, operation, *all_words(form, 2))


@pytest.mark.long
@pytest.mark.parametrize("form", SMALL, ids=lambda f: f.name)
@pytest.mark.parametrize("operation", UNARY)
def test_all_operands(long_bench: Path, form: Format, operation: str) -> None:
    (every,) = all_words(form, 1)
    _check(long_bench, form, operation, every, every)


def _check_samples(bench: Path, form: Format, count: int, seed: int) -> None:
    a, b = sample_words(form, count, 2, seed)
    for operation in UNARY:
        _check(bench, form, operation, a, b)
    corners = corner_words(form)
    left, right = (w.ravel() for w in np.meshgrid(corners, corners))
    for operation in BINARY:
        _check(bench, form, operation, np.concatenate([a, left]), np.concatenate([b, right]))


def test_samples(bench: Path) -> None:
    _check_samples(bench, F32, 1000, 1)


def _check_fused(bench: Path, form: Format, a: Words, b: Words, c: Words) -> None:
    got = run_bench(bench, form, "madd", a, b, c)
    for n, (x, y, z) in enumerate(zip(a.tolist(), b.tolist(), c.tolist(), strict=True)):
        want = fused_word(form, x, y, z)
        assert got[n] == want, (form.name, f"{x:#x} {y:#x} {z:#x}: {got[n]:#x} {want:#x}")


def cancelling(form: Format, count: int, seed: int) -> list[Words]:
    """Triples of which the addend is near the product, of the other sign: what is left are its last bits."""
    a, b = sample_words(form, count, 2, seed)
    kind = {"f16": np.float16, "f32": np.float32}[form.name]
    bits = np.dtype(f"u{kind().itemsize}")
    with np.errstate(all="ignore"):
        c = -(a.astype(bits).view(kind) * b.astype(bits).view(kind))
    moved = c.view(bits).astype(np.uint32) + np.random.default_rng(seed).integers(0, 3, count)
    return [a, b, (moved % form.size).astype(np.uint32)]


def test_fused_products(bench: Path) -> None:
    _check_fused(bench, F32, *sample_words(F32, 3000, 3, 2))
    _check_fused(bench, F32, *cancelling(F32, 1000, 3))


def test_fused_products_of_a_small_format(bench: Path) -> None:
    """A sample by both kinds of exact arithmetic, which the long test of all triples relies on."""
    a, b, c = sample_words(E4M3, 3000, 3, 4)
    _check_fused(bench, E4M3, a, b, c)
    assert np.array_equal(run_bench(bench, E4M3, "madd", a, b, c), fused_words(E4M3, a, b, c))


@pytest.mark.parametrize("form", QUICK, ids=lambda f: f.name)
@pytest.mark.parametrize("is_signed", [False, True])
def test_conversions_of_integers(bench: Path, form: Format, is_signed: bool) -> None:
    random = np.random.default_rng(5)
    wide = random.integers(0, 1 << 32, 500) >> random.integers(0, 32, 500)
    near = (1 << np.arange(32))[:, None] + np.arange(-2, 3)
    words = np.concatenate([wide, near.ravel() % (1 << 32), (-near.ravel()) % (1 << 32)]).astype(np.uint32)
    integers = words.view(np.int32).astype(np.int64) if is_signed else words.astype(np.int64)
    got = run_bench(bench, form, "to_f32", words, words, is_signed=is_signed)
    assert np.array_equal(got, of_integers(form, integers))


@pytest.mark.long
@pytest.mark.parametrize("form", SMALL, ids=lambda f: f.name)
@pytest.mark.parametrize("part", range(16))
def test_all_triples(long_bench: Path, form: Format, part: int) -> None:
    first = np.arange(16 * part, 16 * part + 16)
    every = np.arange(form.size)
    a, b, c = (w.ravel().astype(np.uint32) for w in np.meshgrid(first, every, every, indexing="ij"))
    assert np.array_equal(run_bench(long_bench, form, "madd", a, b, c), fused_words(form, a, b, c))


@pytest.mark.long
@pytest.mark.parametrize("form", [F16, F32], ids=lambda f: f.name)
@pytest.mark.parametrize("seed", range(100, 110))
def test_more_samples(long_bench: Path, form: Format, seed: int) -> None:
    _check_samples(long_bench, form, 100_000, seed)
    _check_fused(long_bench, form, *sample_words(form, 50_000, 3, seed))
    _check_fused(long_bench, form, *cancelling(form, 20_000, seed))

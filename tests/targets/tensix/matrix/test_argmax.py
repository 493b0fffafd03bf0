# SPDX-License-Identifier: Apache-2.0
"""GMPOOL with ArgMax: which of the first eight rows of SrcA is the largest of its column, against a twin over values.

What the hardware leaves is not the row's number but a permutation of it, in the low byte of a 32-bit Dst; bits 8 to 11
count the instructions, and 16 times their count is added to the index. Source: the public instruction page.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.targets.tensix.matrix.bench import GMPOOL, Bench, bf16, src, word

ARGMAX = (1, 14)
NUMBER = np.array([0, 3, 6, 1, 4, 7, 2, 5])
"""What stands for each row."""
ORDER = [4, 5, 6, 7, 0, 1, 2, 3]
"""The order in which rows are looked at: of equal ones the last counts."""


def last_largest(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Of each column, the row among the first eight."""
    ordered = values[ORDER]
    return np.array(ORDER)[7 - np.argmax(ordered[::-1], axis=0)]


def fp16(values: NDArray[np.float64]) -> NDArray[np.uint32]:
    """FP16 in Src's order: sign, mantissa, exponent in the low five of its eight bits."""
    bits = values.astype(np.float16).view(np.uint16).astype(np.uint32)
    return ((bits >> 15) << 18 | (bits & 0x3FF) << 8 | bits >> 10 & 31).astype(np.uint32)


def pool(form: str, seed: int, distinct: int) -> tuple[Bench, NDArray[np.float64]]:
    bench, random = Bench(), np.random.default_rng(seed)
    bench.alu("int8" if form == "int8" else form, fp32=form != "int8", int8=form == "int8")
    values = random.integers(-distinct, distinct + 1, (16, 16)).astype(np.float64)
    values[values == 0] = 1  # zero has no sign of its own in Src
    one = np.ones((1, 16))
    if form == "int8":
        sign = (values < 0).astype(np.uint32) << 18
        bench.srca[0, :16], bench.srcb[0, 0] = sign | np.abs(values).astype(np.uint32) << 8 | 16, 16
    elif form == "fp16":
        bench.srca[0, :16], bench.srcb[0, 0] = fp16(values), fp16(one)[0]
    else:
        bench.srca[0, :16], bench.srcb[0, 0] = src(values), src(one)[0]
    return bench, values


@pytest.mark.parametrize("distinct", [2, 120])
@pytest.mark.parametrize("form", ["bf16", "fp16", "tf32", "int8"])
@pytest.mark.parametrize("seed", range(16))
def test_the_row_of_the_largest(form: str, seed: int, distinct: int) -> None:
    bench, values = pool(form, seed, distinct)
    bench.run(word(GMPOOL, ARGMAX))
    found = bench.take(0, 1, wide=True, fp16=form == "fp16")[0]
    assert np.array_equal(found & 0xFFF, NUMBER[last_largest(values[:8])])
    if form in ("bf16", "fp16"):
        most = values.max(0)
        bits = bf16(most) if form == "bf16" else most.astype(np.float16).view(np.uint16)
        assert np.array_equal(found >> 16, bits)
    else:
        assert not (found >> 12).any()


@pytest.mark.parametrize("seed", range(8))
def test_a_second_block_counts_on(seed: int) -> None:
    bench, first = pool("bf16", seed, 120)
    bench.run(word(GMPOOL, ARGMAX))
    second = np.random.default_rng(100 + seed).integers(-120, 121, (16, 16)).astype(np.float64)
    second[second == 0] = 1
    bench.srca[0, :16] = src(second)
    bench.run(word(GMPOOL, ARGMAX))
    found = bench.take(0, 1, wide=True)[0]
    own, before = second[:8].max(0), first.max(0)
    index = np.where(own >= before, 16 + NUMBER[last_largest(second[:8])], NUMBER[last_largest(first[:8])])
    assert np.array_equal(found & 0xFFF, 0x100 | index)
    assert np.array_equal(found >> 16, bf16(np.maximum(before, second.max(0))))


def test_without_32_bits_there_is_no_index() -> None:
    bench, values = pool("bf16", 1, 120)
    bench.alu("bf16")
    bench.run(word(GMPOOL, ARGMAX))
    assert np.array_equal(bench.take(0, 1)[0], bf16(values.max(0)))

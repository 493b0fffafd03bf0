# SPDX-License-Identifier: Apache-2.0
"""One minion computes tiles; the same bytes with and without time, whatever hazards do."""

import numpy as np
import pytest

from polyloom.targets.minion.words import tensor_words as words

from .machine import ARRAYS, FIRST_HARTS, SCRATCHPAD, START, csr, load, load_b, run, wait

A, B, C = ARRAYS, ARRAYS + 0x10000, ARRAYS + 0x20000
TILE = (
    FIRST_HARTS
    + START
    + load(0, 16, A)
    + load_b(16, B)
    + wait(0)
    + csr(0x801, words.fma("fp32", first=True))
    + wait(7)
    + csr(0x87F, words.store(address=C), 64)
    + wait(8)
)


@pytest.mark.parametrize("functional", [False, True])
@pytest.mark.parametrize("hazards", ["off", "report", "error", "poison"])
def test_a_tile(functional: bool, hazards: str) -> None:
    random = np.random.default_rng(1)
    a, b = (random.integers(-8, 8, (16, 16)).astype(np.float32) for _ in range(2))
    done = run(TILE, {A: a, B: b}, functional=functional, hazards=hazards)
    assert done.result["stop"] == "passed"
    assert done.result["findings"] == []
    np.testing.assert_array_equal(done.read(C, (16, 16), np.float32), a @ b)


def test_a_tile_without_its_wait_is_a_hazard_and_its_value_that_of_a_completed_machine() -> None:
    a, b = (np.full((16, 16), n, np.float32) for n in (2, 3))
    done = run(TILE.replace(wait(0), "", 1), {A: a, B: b}, hazards="report")
    assert [finding["kind"] for finding in done.result["findings"]] == ["scp_read"]
    np.testing.assert_array_equal(done.read(C, (16, 16), np.float32), a @ b)


def loop(kind: words.Type, tenb: bool, times: int, own: bool) -> str:
    """A tile again and again, with A double-buffered and B streamed, or both in L1Scp."""
    base = f"""
        li s1, {SCRATCHPAD}
        slli t1, s0, {14 if own else 0}
        {"add s1, s1, t1" if own else ""}
        li s2, {words.load(0, 16, 0)}
        or s2, s2, s1
        li s3, {words.load_b(16, 0x1000)}
        or s3, s3, s1
        li s4, {words.fma(kind, b=None if tenb else 16)}
        li s5, {times}
        li s6, {words.load(16, 16, 0)}
        or s6, s6, s1
        li x31, 64
        csrw tensor_load, s2
        csrwi tensor_wait, 0
    """
    body = "csrw tensor_fma, s4\n"
    if tenb:
        body = "csrw tensor_load, s6\ncsrw tensor_load, s3\n" + body + "csrwi tensor_wait, 0\n"
    return FIRST_HARTS + START + base + "1:\n" + body + "addi s5, s5, -1\nbnez s5, 1b\n" + wait(7)


def cycles(kind: words.Type, tenb: bool, minions: int, own: bool) -> float:
    few, many = (run(loop(kind, tenb, n, own), minions=minions, hazards="off").result for n in (10, 60))
    assert few["stop"] == many["stop"] == "passed"
    return (many["cycles"] - few["cycles"]) / 50


@pytest.mark.parametrize(
    ("kind", "tenb", "expected"),
    [
        ("fp32", True, 529), ("fp16", True, 529), ("int8", True, 280),
        ("fp32", False, 546), ("fp16", False, 546), ("int8", False, 318),
    ],
)  # fmt: skip
def test_cycles_of_an_operation_of_one_minion(kind: words.Type, tenb: bool, expected: int) -> None:
    """Source: measurements of the silicon, facts 10.2; within 3 %."""
    assert abs(cycles(kind, tenb, 1, own=False) - expected) <= 0.03 * expected


@pytest.mark.parametrize(
    ("kind", "own", "expected"), [("fp32", True, 529), ("fp16", True, 529), ("int8", False, 280), ("int8", True, 512)]
)
def test_cycles_of_an_operation_of_a_whole_shire(kind: words.Type, own: bool, expected: int) -> None:
    assert abs(cycles(kind, True, 32, own) - expected) <= 0.03 * expected

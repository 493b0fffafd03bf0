# SPDX-License-Identifier: Apache-2.0
"""Words of tensor operations with bits flipped at random, on minions in any state: the run never passes as if nothing
had been lost. It ends in exactly the bits of tensor_error that the twin tells, in a trap, or in a deadlock; and bits
that do nothing are reported."""

from __future__ import annotations

import random
from typing import Final

import numpy as np
import pytest

from polyloom.targets.minion.words import tensor_words
from polyloom.targets.minion.words.tensor_words import Word, decode

from .damaged import Around, fate
from .machine import ARRAYS, FIRST_HARTS, START, csr, load_b, run, wait

OUT, BELOW = ARRAYS + 0x30000, ARRAYS + 0x40000
COOP: Final = "li a0, 0x17ff40290\nli a1, 1\nsd a1, 0(a0)\n"
ALONE: Final = csr(0x804, 0)
WAITS: Final = "".join(wait(event) for event in (0, 1, 2, 7, 8, 9, 10))
STEPS: Final = {
    "tensor_load": 64,
    "tensor_load_b": 64,
    "tensor_load_l2": 64,
    "tensor_store": 64,
    "tensor_store_scp": 64,
}
FIELDS: Final[dict[str, dict[str, int]]] = {
    "tensor_load": {"rows": 16, "address": ARRAYS, "start": 3},
    "tensor_load_b": {"rows": 8, "address": ARRAYS},
    "tensor_load_l2": {"rows": 16, "address": ARRAYS, "line": 40},
    "tensor_fma": {"rows": 16, "columns": 16, "words": 8, "b": 16, "tenb": 1, "first": 1},
    "tensor_quant": {"rows": 16, "columns": 16, "transform0": 1, "transform1": 6, "transform2": 2},
    "tensor_store": {"rows": 16, "bytes": 64, "address": BELOW, "coop": 1},
    "tensor_store_scp": {"rows": 16, "address": BELOW, "start": 5},
    "tensor_send": {"peer": 0, "count": 0},
    "tensor_recv": {"peer": 1, "count": 0, "funct": 8},
    "tensor_broadcast": {"height": 1, "count": 0, "funct": 8},
    "tensor_reduce": {"height": 1, "count": 0},
}


def flipped(value: int, r: random.Random, most: int) -> int:
    for _ in range(r.randint(0, most)):
        value ^= 1 << r.randrange(64)
    return value


def damaged(name: str, r: random.Random) -> Word:
    """Strides and addresses stay near their values half of the time, so that not every case is a fault."""
    whole = tensor_words.encode(name, **FIELDS[name])
    value = flipped(whole.value, r, 3)
    if whole.x31 is None:
        return Word(whole.csr, value)
    x31 = STEPS[name] | r.choice((0, 0, 0, 2, 32, 1 << 50, 48, -64 & (1 << 64) - 1, 4096))
    return Word(whole.csr, value, flipped(x31, r, 1) if r.random() < 0.4 else x31)


def prepared(around: Around) -> str:
    text = COOP + ALONE if around.coop_mode else ""
    if around.load_b is not None:
        text += load_b(around.load_b, ARRAYS)
    return text if around.scratchpad else text + "csrwi mcache_control, 1\n"


@pytest.mark.parametrize("name", FIELDS)
def test_damaged_words_do_not_pass_in_silence(name: str) -> None:
    r, seen = random.Random(name), set[str]()
    for _ in range(70):
        word = damaged(name, r)
        scratchpad = r.random() < 0.8
        around = Around(scratchpad, r.choice((None, 8, 8, 5)) if scratchpad else None, r.random() < 0.3)
        expected = fate(word, around)
        text = FIRST_HARTS + START + "li t0, 0xffff\ncsrw tensor_mask, t0\n" + prepared(around)
        text += csr(word.csr, word.value, word.x31) + WAITS
        done = run(text, functional=True, hazards="report", max_cycles=100_000)
        told = decode(word), hex(word.value), hex(word.x31 or 0), around, done.result["stop"], done.result["findings"]
        findings = {f["kind"] for f in done.result["findings"]}
        if expected.illegal:
            assert (done.result["stop"], done.result["cause"]) == ("trap", 2), told
        elif expected.alone:
            assert done.result["stop"] == "deadlock", told
        else:
            assert done.result["stop"] == ("tensor-error" if expected.bits else "passed"), told
            errors = {f["value"]: f["later_name"] for f in done.result["findings"] if f["standing"]}
            real = decode(word)
            assert real is not None
            assert errors == dict.fromkeys(expected.bits, real[0]), told
        if not expected.illegal:
            assert bool(findings & {"ignored_bits", "undefined"}) == expected.unused, told
        seen |= {done.result["stop"], *findings}
    assert "passed" in seen, "cases that are sound"
    assert len(seen) >= 3, seen


def test_a_stride_is_a_multiple_of_64() -> None:
    """96 is 64 to the machine, and told."""
    rows = np.arange(64, dtype=np.uint32)
    text = csr(0x83F, tensor_words.load(0, 2, ARRAYS), 96) + wait(0)
    text += csr(0x87F, tensor_words.store_scp(2, OUT), 64) + wait(8)
    done = run(FIRST_HARTS + START + text, {ARRAYS: rows}, hazards="error")
    assert done.result["stop"] == "passed"
    assert done.read(OUT, (32,), np.uint32).tolist() == list(range(32))
    assert [(f["kind"], f["what"]) for f in done.result["findings"]] == [("ignored_bits", "bit 5 of x31")]


@pytest.mark.parametrize("event", [11, 15, 16 | 7])
def test_a_wait_that_waits_for_nothing_is_told(event: int) -> None:
    kinds = {f["kind"] for f in run(FIRST_HARTS + START + csr(0x830, event)).result["findings"]}
    assert kinds == {"undefined" if event < 16 else "ignored_bits"}


@pytest.mark.parametrize(("joined", "expected", "left"), [(4, 3, True), (4, 4, False), (8, 4, False), (2, 4, True)])
def test_a_barrier_that_is_not_full_at_the_end_is_told(joined: int, expected: int, left: bool) -> None:
    text = f"li t0, {(expected - 1) << 5 | 9}\ncsrrw t1, flb, t0\n"
    for hazards, stop in (("report", "passed"), ("error", "hazard" if left else "passed")):
        result = run(FIRST_HARTS + text, minions=joined, hazards=hazards).result
        assert result["stop"] == stop
        assert [f["kind"] for f in result["findings"]] == ["barrier_left"] * left

# SPDX-License-Identifier: Apache-2.0
"""Threads of the host: whatever their number, memory, flags, cycles and findings are the same bytes. The host's vector
instructions are off for some, so that every kind of product goes to the workers."""

from collections.abc import Iterator

import numpy as np
import pytest

from polyloom._native import minion as native
from polyloom.targets.minion.words import tensor_words as words

from .machine import ARRAYS, FIRST_HARTS, START, csr, load, load_b, run, wait
from .test_random import IN, OUT, SIZE, program

THREADS = (1, 2, 3, 8)


@pytest.fixture(params=[False, True], ids=["plain", "vectors"])
def vectors(request: pytest.FixtureRequest) -> Iterator[None]:
    before = native.tensor_wide()
    native.set_tensor_wide(request.param)
    yield
    native.set_tensor_wide(before)


@pytest.mark.usefixtures("vectors")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("hazards", ["report", "poison"])
def test_random_programs(seed: int, hazards: str) -> None:
    data = np.random.default_rng(seed).integers(0, 256, 0x8000).astype(np.uint8)
    made = [run(program(seed), {IN: data}, 2, hazards=hazards, threads=threads) for threads in THREADS]
    seen = [(each.result, each.chip.read(OUT, 2 * SIZE)) for each in made]
    assert all(each == seen[0] for each in seen[1:])


def rounds(kind: words.Type) -> str:
    """Many products of different minions in flight, then the flags that they raised, and their sums."""
    own = f"li s7, {OUT}\nslli t1, s0, 12\nadd s7, s7, t1\n"
    text = FIRST_HARTS + START + own + load(0, 16, IN) + wait(0)
    for turn in range(6):
        text += load_b(16, IN + 1024 * (1 + turn)) + csr(
            0x801, words.fma(kind, a=0, first=turn == 0, to_registers=True)
        )
    return text + wait(7) + "csrr t1, fcsr\nsd t1, 0(s7)\nfsq2 f1, 64(s7)\nfsq2 f31, 96(s7)\n"


@pytest.mark.usefixtures("vectors")
@pytest.mark.parametrize("kind", ["fp32", "fp16", "int8"])
@pytest.mark.parametrize("functional", [False, True])
def test_flags_and_registers_are_joined(kind: words.Type, functional: bool) -> None:
    scale = np.random.default_rng(1).uniform(-1e-20, 1e20, 7 * 256).astype(np.float32)
    made = [
        run(rounds(kind), {IN: scale}, 32, hazards="report", functional=functional, threads=threads)
        for threads in THREADS
    ]
    seen = [(each.result["cycles"], each.chip.read(OUT, 32 << 12)) for each in made]
    assert all(each == seen[0] for each in seen[1:])
    assert any(seen[0][1])


def test_a_run_that_ends_while_products_are_under_way() -> None:
    text = rounds("fp32").split("csrr t1, fcsr", maxsplit=1)[0].removesuffix(wait(7))
    assert run(text + "li t0, 0x50BAD000\ncsrw validation0, t0\n", minions=8, threads=4).result["stop"] == "failed"
    assert ARRAYS == IN

# SPDX-License-Identifier: Apache-2.0
"""Random programs of tensor operations that have all their waits: no hazard is found, and memory is the same with and
without time, whatever the parameters of time are, and for any number of host threads."""

import numpy as np
import pytest

from polyloom.targets.minion.words import tensor_words as words

from .machine import ARRAYS, FIRST_HARTS, START, csr, load, load_b, run, wait

IN, OUT, SIZE = ARRAYS, ARRAYS + 0x100000, 0x10000
TRANSFORMS = ("plain", "interleave8", "interleave16", "transpose8", "transpose16", "transpose32")
TYPES: tuple[words.Type, ...] = ("fp32", "fp16", "int8")
QUANTS = ("i32_to_f32", "f32_to_i32", "relu", "add_row", "add_col", "mul_row", "mul_col", "sat8", "satu8", "pack")
FREE = wait(7) + wait(10) + wait(8)


def store(word: int) -> str:
    """To the minion's own part of OUT."""
    return csr(0x87F, word, 64).replace("csrw", "or t0, t0, s7\ncsrw") + wait(8)


def operation(random: np.random.Generator, number: int) -> str:
    """One operation of both minions."""
    kind = random.integers(7)
    rows, line = int(random.integers(1, 17)), int(random.integers(48))
    source = IN + 64 * int(random.integers(256))
    a_type = TYPES[random.integers(3)]
    sizes = int(random.integers(1, 17)), int(random.integers(1, 17))
    depth = int(random.integers(1, 17))
    first, flags = bool(random.integers(2)), bool(random.integers(2)) and a_type == "int8"
    if kind == 0:
        transform = TRANSFORMS[random.integers(6)]
        return FREE + load(line, rows, source, 64 * int(random.integers(1, 4)), transform=transform) + wait(0)
    if kind == 1:
        word = words.fma(a_type, *sizes, depth, a=line, first=first, to_registers=flags)
        return FREE + load_b(depth, source) + csr(0x801, word)
    if kind == 2:
        word = words.fma(a_type, *sizes, depth, a=line, b=int(random.integers(48)), first=first, to_registers=flags)
        return csr(0x801, word)
    if kind == 3:
        chain = tuple(QUANTS[int(random.integers(10))] for _ in range(int(random.integers(1, 4))))
        return csr(0x806, words.quant(chain, *sizes, freg=int(random.integers(32)), start=line))
    if kind == 4:
        return store(words.store(rows, 64, 1024 * number, freg=int(random.integers(32))))
    if kind == 5:
        return FREE + store(words.store_scp(rows, 1024 * number, start=line))
    count, register = int(random.integers(1, 32)), int(random.integers(32))
    step = (words.reduce, words.broadcast)[random.integers(2)]
    return csr(0x800, step(0, count, ("fadd", "fmax", "add", "min", "move")[random.integers(5)], register))


def program(seed: int) -> str:
    random = np.random.default_rng(seed)
    own = f"li s7, {OUT}\nslli t1, s0, 16\nor s7, s7, t1\n"
    text = load(0, 16, IN) + wait(0) + csr(0x801, words.fma("fp32", a=0, b=0, first=True))
    text += "".join(operation(random, number) for number in range(20))
    return FIRST_HARTS + START + own + text + wait(9) + FREE + store(words.store(16, 64, 63 * 1024))


@pytest.mark.parametrize("seed", range(12))
def test_memory_does_not_depend_on_time(seed: int) -> None:
    data = np.random.default_rng(seed).integers(0, 256, 0x8000).astype(np.uint8)
    slow = {"load_line": 23.0, "fma_tenb": 1.0, "message_edge": 90.0, "l2": 200.0}
    text, arrays = program(seed), {IN: data}
    done = [
        run(text, arrays, 2, hazards="report"),
        run(text, arrays, 2, functional=True),
        run(text, arrays, 2, timing=slow),
        run(text, arrays, 2, hazards="off"),
        run(text, arrays, 2, hazards="poison"),
    ]
    assert [each.result["stop"] for each in done] == ["passed"] * len(done)
    assert done[0].result["findings"] == []
    memories = [each.chip.read(OUT, 2 * SIZE) for each in done]
    assert memories == memories[:1] * len(done)
    assert any(memories[0])

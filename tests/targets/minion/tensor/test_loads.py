# SPDX-License-Identifier: Apache-2.0
"""Loads: which bytes of memory they read, and what becomes of them, against a twin that reads a memory element by
element."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.targets.minion.tensor import samples

from polyloom._native import minion
from polyloom.targets.minion.words.tensor_words import TRANSFORMS, Word, encode

MEMORY = 1 << 14


def twin(fields: dict[str, int], memory: NDArray[np.uint8], mask: int, scp: NDArray[np.uint8]) -> None:
    """Writes the lines; addresses are modulo the memory's size."""
    transform, stride = TRANSFORMS[fields["transform"]], fields["stride"]
    base, low = fields["address"] & ~63, fields["address"] & 63

    def byte(address: int) -> int:
        return int(memory[address % MEMORY])

    for i in range(fields["rows"]):
        if fields["masked"] and not mask >> i & 1:
            continue
        match transform:
            case "interleave8":
                start = base + (low & 0x30)
                line = [byte(start + (4 * i + r) * stride + c) for c in range(16) for r in range(4)]
            case "interleave16":
                start = base + (low & 0x20)
                pairs = [(c, r, n) for c in range(16) for r in range(2) for n in range(2)]
                line = [byte(start + (2 * i + r) * stride + 2 * c + n) for c, r, n in pairs]
            case "transpose8":
                line = [byte(base + j * stride + (low & 0x30) + i) for j in range(64)]
            case "transpose16":
                line = [byte(base + j * stride + (low & 0x20) + 2 * i + n) for j in range(32) for n in range(2)]
            case "transpose32":
                line = [byte(base + j * stride + 4 * i + n) for j in range(16) for n in range(4)]
            case _:
                line = [byte(base + i * stride + n) for n in range(64)]
        scp[0, (fields["start"] + i) % 48] = line


def loaded(word: Word, mask: int, memory: NDArray[np.uint8], scp: NDArray[np.uint8], there: int = 64) -> None:
    x31 = word.x31 or 0
    data = np.zeros((64, 64), np.uint8)
    for k, (address, size, skipped) in enumerate(minion.tensor_sources(word.value, x31, mask)):
        assert address % size == 0
        if not skipped:
            data[k, :size] = memory[(address + np.arange(size)) % MEMORY]
    minion.tensor_place(word.value, x31, mask, data, there, scp)


def sample(random: samples.Random, transform: str) -> tuple[dict[str, int], Word]:
    fields = samples.fields(random, "tensor_load", transform=TRANSFORMS.index(transform), coop=0)
    fields["address"] &= (1 << 40) - 1
    fields["stride"] %= 1 << 30
    return fields, encode("tensor_load", **fields)


@pytest.mark.parametrize("transform", [name for name in TRANSFORMS if name])
def test_transforms(transform: str) -> None:
    random = np.random.default_rng(TRANSFORMS.index(transform))
    for _ in range(60):
        memory = random.integers(0, 256, MEMORY).astype(np.uint8)
        fields, word = sample(random, transform)
        mask = int(random.integers(0, 1 << 16))
        made = random.integers(0, 256, (1, 48, 64)).astype(np.uint8)
        expected = made.copy()
        twin(fields, memory, mask, expected)
        loaded(word, mask, memory, made)
        np.testing.assert_array_equal(made, expected, err_msg=str(fields))


@pytest.mark.parametrize(("transform", "lines"), [("plain", 5), ("interleave8", 1), ("interleave16", 2)])
def test_lines_before_a_fault_are_written(transform: str, lines: int) -> None:
    random = np.random.default_rng(1)
    memory = random.integers(1, 256, MEMORY).astype(np.uint8)
    word = encode("tensor_load", transform=TRANSFORMS.index(transform), rows=16, stride=64, start=40)
    made = np.zeros((1, 48, 64), np.uint8)
    loaded(word, 0, memory, made, there=5)
    written = [(40 + i) % 48 for i in range(lines)]
    assert sorted(int(n) for n in np.flatnonzero(made[0].any(axis=1))) == sorted(written)


@pytest.mark.parametrize("transform", ["transpose8", "transpose16", "transpose32"])
def test_a_fault_leaves_nothing_of_a_transposing_load(transform: str) -> None:
    word = encode("tensor_load", transform=TRANSFORMS.index(transform), rows=16, stride=64)
    made = np.zeros((1, 48, 64), np.uint8)
    loaded(word, 0, np.ones(MEMORY, np.uint8), made, there=15)
    assert not made.any()


def test_transposing_loads_read_masked_rows_too() -> None:
    plain = encode("tensor_load", masked=1, rows=16, stride=64)
    turned = encode("tensor_load", masked=1, rows=16, stride=64, transform=TRANSFORMS.index("transpose32"))
    assert [skipped for *_, skipped in minion.tensor_sources(plain.value, 64, 0xFFF0)] == [True] * 4 + [False] * 12
    assert not any(skipped for *_, skipped in minion.tensor_sources(turned.value, 64, 0xFFF0))


def test_loads_to_tenb_have_no_transform_start_or_mask() -> None:
    word = encode("tensor_load_b", rows=3, address=0x8000001040, stride=128)
    bits = 1 << 63 | 7 << 59 | 63 << 53
    rows = minion.tensor_sources(word.value | bits, word.x31 or 0, 0)
    assert rows == [(0x8000001040 + 128 * i, 64, False) for i in range(3)]


def test_addresses_are_sign_extended() -> None:
    word = encode("tensor_load", rows=2, address=-64, stride=64)
    assert [address for address, *_ in minion.tensor_sources(word.value, 64, 0)] == [(1 << 64) - 64, 0]

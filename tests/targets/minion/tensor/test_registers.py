# SPDX-License-Identifier: Apache-2.0
"""tensor_quant, the functions of receivers, and the rows of stores, against their twins."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.targets.minion.tensor import samples, twin

from polyloom._native import minion
from polyloom.targets.minion.words.tensor_words import FUNCTIONS, encode

TILES = 64


def quantized(tiles: twin.Tiles, word: dict[str, int], mode: int) -> twin.Tiles:
    made = tiles.copy()
    lines = made.scp.view(np.uint8)
    minion.tensor_quantize(encode("tensor_quant", **word).value, mode, made.f, lines, made.flags)
    return made


@pytest.mark.parametrize("type", [0, 3])
def test_quant_chains(type: int) -> None:
    random = np.random.default_rng(type)
    for _ in range(40):
        word = samples.fields(random, "tensor_quant")
        word |= {f"transform{k}": int(random.integers(0 if k else 1, 11)) for k in range(10)}
        mode = int(random.integers(0, 5))
        tiles = samples.tiles(random, TILES, type)
        if type == 3:
            tiles.f = samples.integers(random, tiles.f.shape)
        expected = tiles.copy()
        with np.errstate(all="ignore"):
            twin.quant(expected, word, mode)
        made = quantized(tiles, word, mode)
        assert_array_equal(made.f, expected.f, err_msg=str(word))
        assert_array_equal(made.flags, expected.flags, err_msg=str(word))


def test_each_transform() -> None:
    random = np.random.default_rng(5)
    for step in range(1, 11):
        tiles = samples.tiles(random, TILES, 0)
        word = samples.fields(random, "tensor_quant", transform0=step, transform1=0, rows=16, columns=16)
        expected = tiles.copy()
        with np.errstate(all="ignore"):
            twin.quant(expected, word, 0)
        made = quantized(tiles, word, 0)
        assert_array_equal(made.f, expected.f)
        assert_array_equal(made.flags, expected.flags)
        assert (made.f != tiles.f).any()


@pytest.mark.parametrize("funct", FUNCTIONS.values())
@pytest.mark.parametrize("mode", range(5))
def test_functions_of_receivers(funct: int, mode: int) -> None:
    random = np.random.default_rng([funct, mode])
    incoming = samples.singles(random, (500, 8))
    local = samples.singles(random, (500, 8))
    local[250:] = np.where(random.random((250, 8)) < 0.5, incoming[250:] ^ np.uint32(1 << 31), local[250:])
    with np.errstate(all="ignore"):
        expected, flags = twin.combine(funct, incoming, local.copy(), mode)
    raised = minion.tensor_combine(funct, incoming, local, mode)
    assert_array_equal(local, expected)
    assert raised == int(np.bitwise_or.reduce(flags, axis=None))


def stored(word: int, x31: int, tiles: twin.Tiles) -> list[tuple[int, bytes]]:
    return minion.tensor_store_rows(word, x31, tiles.f, tiles.scp.view(np.uint8))


def test_stores_of_registers() -> None:
    random = np.random.default_rng(7)
    legal = {(1, 16), (1, 32), (1, 64), (2, 16), (2, 32), (4, 16)}
    for _ in range(300):
        tiles = samples.tiles(random, 1, 0)
        fields = samples.fields(random, "tensor_store")
        word = encode("tensor_store", **fields)
        rows = stored(word.value, word.x31 or 0, tiles)
        if (fields["coop"], fields["bytes"]) not in legal:
            assert rows == []
            continue
        assert len(rows) == fields["rows"]
        number, size = fields["freg"], fields["bytes"]
        for i, (address, data) in enumerate(rows):
            parts: list[bytes] = []
            for _ in range(2 if size == 64 else 1):
                parts.append(tiles.f[0, number % 32].tobytes())
                number += fields["step"]
            assert data == b"".join(parts)[:size]
            expected = sign_extended(fields["address"]) + i * sign_extended(fields["stride"])
            assert address == (expected & ~(size - 1)) % (1 << 64)


def test_stores_of_lines() -> None:
    random = np.random.default_rng(8)
    for _ in range(100):
        tiles = samples.tiles(random, 1, 0)
        fields = samples.fields(random, "tensor_store_scp")
        word = encode("tensor_store_scp", **fields)
        rows = stored(word.value, word.x31 or 0, tiles)
        lines = [(fields["start"] + i * fields["step"]) % 48 for i in range(fields["rows"])]
        assert [data for _, data in rows] == [tiles.scp[0, line].tobytes() for line in lines]


def sign_extended(address: int) -> int:
    return (address & ((1 << 47) - 1)) - (address & 1 << 47)


def test_convolution_masks() -> None:
    random = np.random.default_rng(9)
    for _ in range(300):
        size = samples.fields(random, "tensor_conv_size")
        control = samples.fields(random, "tensor_conv_ctrl")
        if random.random() < 0.7:
            size |= {"rows": size["rows"] % 30, "columns": size["columns"] % 30}
            control = {name: value % 40 - 10 for name, value in control.items()}
        words = encode("tensor_conv_size", **size).value, encode("tensor_conv_ctrl", **control).value
        steps = signed(size["row_step"], 8), signed(size["column_step"], 8)
        row, column = signed(control["row"], 16), signed(control["column"], 16)
        expected = 0
        for i in range(16):
            inside = 0 <= row + i * steps[0] < size["rows"] and 0 <= column + i * steps[1] < size["columns"]
            expected |= inside << i
        assert minion.tensor_conv_mask(*words) == expected


def signed(value: int, width: int) -> int:
    value %= 1 << width
    return value - (value >> (width - 1) << width)


def test_parts_of_a_tree() -> None:
    height = 2
    reduce = encode("tensor_reduce", height=height, count=1).value
    broadcast = encode("tensor_broadcast", height=height, count=1, funct=8).value
    skips, sends, receives = range(3)
    for number in range(64):
        pair = {0: (receives, number + 4), 4: (sends, number - 4)}
        role, peer = pair.get(number % 8, (skips, 0))
        assert minion.tensor_part(reduce, number) == (role, peer, False)
        turned = {skips: skips, sends: receives, receives: sends}[role]
        assert minion.tensor_part(broadcast, number) == (turned, peer, False)


def test_partners_and_functions_that_are_errors() -> None:
    sends, receives = 1, 2
    assert minion.tensor_part(encode("tensor_send", peer=5).value, 5) == (sends, 5, True)
    assert minion.tensor_part(encode("tensor_send", peer=5).value, 4) == (sends, 5, False)
    bad = [
        f
        for f in range(16)
        if minion.tensor_part(encode("tensor_recv", peer=5, funct=f).value, 4) == (receives, 5, True)
    ]
    assert bad == [1, 5, *range(9, 16)]

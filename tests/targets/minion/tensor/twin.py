# SPDX-License-Identifier: Apache-2.0
"""Tensor operations on many tiles at once, in NumPy, from the facts about the machine alone: what the native ones are
compared with, bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from tests.targets.minion.tensor import float_twin as single
from tests.targets.minion.tensor.float_twin import ID, INFINITE, LARGEST, NAN, NV, NX, OF, SIGN, UF, Bits, Bools, flag

Wide = NDArray[np.int64]


@dataclass(slots=True)
class Tiles:
    """T minions: f registers (T, 32, 8), lines of L1Scp as words (T, 48, 16), TenC (T, 16, 16), TenB (T, 16, 16), the
    flags (T)."""

    f: Bits
    scp: Bits
    tenc: Bits
    tenb: Bits
    flags: Bits = field(default_factory=lambda: np.zeros(0, np.uint32))

    def __post_init__(self) -> None:
        if not self.flags.size:
            self.flags = np.zeros(len(self.f), np.uint32)

    def copy(self) -> Tiles:
        return Tiles(self.f.copy(), self.scp.copy(), self.tenc.copy(), self.tenb.copy(), self.flags.copy())

    def raised(self, flags: Bits) -> None:
        """Flags of elements; the first axis is the tile's."""
        self.flags |= np.bitwise_or.reduce(flags.reshape(len(flags), -1), axis=1)


def rows(tiles: Tiles, first: int, count: int, columns: int) -> Bits:
    """A matrix in registers: (T, count, columns)."""
    numbers = [(first + 2 * i) % 32 for i in range(count)]
    both = np.concatenate([tiles.f[:, numbers], tiles.f[:, [(n + 1) % 32 for n in numbers]]], axis=2)
    return both[:, :, :columns]


def put_rows(tiles: Tiles, first: int, matrix: Bits) -> None:
    for i in range(matrix.shape[1]):
        for j in range(0, matrix.shape[2], 8):
            part = matrix[:, i, j : j + 8]
            tiles.f[:, (first + 2 * i + j // 8) % 32, : part.shape[1]] = part


def fma(tiles: Tiles, word: Mapping[str, int], masks: NDArray[np.uint16], mode: int) -> None:
    """tensor_fma by its fields."""
    m, n, k = word["rows"], word["columns"], word["words"]
    lines = [(word["a"] + i) % 48 for i in range(m)]
    a = tiles.scp[:, lines][:, :, [(word["offset"] + w) % 16 for w in range(k)]]
    b = tiles.tenb[:, :k, :n] if word["tenb"] else tiles.scp[:, [(word["b"] + w) % 48 for w in range(k)], :n]
    on = np.ones((len(masks), m), np.bool_)
    if word["masked"]:
        on = (masks[:, None] >> np.arange(m) & 1) == 1
    if word["type"] == 3:
        integer(tiles, word, a, b, on[:, :, None])
    else:
        floating(tiles, word, (a, b, on[:, :, None]), mode)


def floating(tiles: Tiles, word: Mapping[str, int], operands: tuple[Bits, Bits, Bools], mode: int) -> None:
    a, b, on = operands
    m, n = word["rows"], word["columns"]
    c = rows(tiles, 0, m, n)
    if word["first"]:
        c = np.where(on, c, np.uint32(0))
    for k in range(word["words"]):
        x = np.broadcast_to(a[:, :, k, None], c.shape)
        y = np.broadcast_to(b[:, k, None, :], c.shape)
        start = bool(word["first"]) and k == 0
        runs = on & (np.bool_(start) | ((x != 0) & (y != 0)))
        if word["type"] == 1:
            made, flags = half_step(x, y, None if start else c)
        else:
            made, flags = single.multiply(x, y, mode) if start else single.fused(x, y, c, mode)
        c = np.where(runs, made, c)
        tiles.raised(np.where(runs, flags, np.uint32(0)))
    put_rows(tiles, 0, c)


# --- fp16 ---


@dataclass(frozen=True, slots=True)
class Halves:
    sign: Bools
    exponent: Wide
    fraction: Wide

    @property
    def nan(self) -> Bools:
        return (self.exponent == 31) & (self.fraction != 0)

    @property
    def infinite(self) -> Bools:
        return (self.exponent == 31) & (self.fraction == 0)

    @property
    def signaling(self) -> Bools:
        return self.nan & (self.fraction & 0x200 == 0)

    @property
    def subnormal(self) -> Bools:
        return (self.exponent == 0) & (self.fraction != 0)


def halves(words: Bits, high: bool) -> Halves:
    half = (words >> np.uint32(16 if high else 0)).astype(np.int64) & 0xFFFF
    return Halves(half >> 15 == 1, half >> 10 & 31, half & 1023)


Term = tuple[Bools, Wide, Wide]
"""Sign, exponent, significand: value = significand * 2^(exponent - 127 - 23)."""


def product(a: Halves, b: Halves) -> Term:
    zero = (a.exponent == 0) | (b.exponent == 0)
    significand = (1024 + a.fraction) * (1024 + b.fraction) << 3
    exponent = a.exponent + b.exponent + 97
    return a.sign != b.sign, np.where(zero, 0, exponent), np.where(zero, 0, significand)


def half_step(x: Bits, y: Bits, c: Bits | None) -> tuple[Bits, Bits]:
    """a1*b1 + a2*b2 + c, or without c."""
    a, b = (halves(x, False), halves(x, True)), (halves(y, False), halves(y, True))
    flags = flag(a[0].subnormal | a[1].subnormal | b[0].subnormal | b[1].subnormal, ID)
    terms = [product(a[0], b[0]), product(a[1], b[1])]
    nan = a[0].nan | a[1].nan | b[0].nan | b[1].nan
    signaling = a[0].signaling | a[1].signaling | b[0].signaling | b[1].signaling
    invalid = np.zeros(x.shape, np.bool_)
    infinities = [np.zeros(x.shape, np.bool_), np.zeros(x.shape, np.bool_)]
    for p, q in zip(a, b, strict=True):
        infinite = p.infinite | q.infinite
        invalid |= infinite & ((p.exponent == 0) | (q.exponent == 0))
        infinities[0] |= infinite & (p.sign == q.sign)
        infinities[1] |= infinite & (p.sign != q.sign)
    if c is not None:
        c, raised = single.flushed(c)
        flags |= raised
        exponent = (c >> np.uint32(23)).astype(np.int64) & 255
        fraction = c.astype(np.int64) & 0x7FFFFF
        terms.insert(0, (c & SIGN != 0, exponent, np.where(exponent == 0, 0, fraction | 1 << 23)))
        nan, signaling = nan | single.is_nan(c), signaling | single.is_signaling(c)
        infinities[0] |= c == INFINITE
        infinities[1] |= c == INFINITE | SIGN
    cases: list[tuple[Bools, Bits | np.uint32, Bits | int]] = [
        (nan, NAN, flag(signaling, NV)),
        (invalid | (infinities[0] & infinities[1]), NAN, NV),
        (infinities[0], INFINITE, 0),
        (infinities[1], SIGN | INFINITE, 0),
    ]
    made, raised = single.choose(cases, limited_sum(terms))
    return made, flags | raised


def limited_sum(terms: list[Term]) -> tuple[Bits, Bits]:
    """The adder of three, which keeps two bits below the greatest operand's last."""
    greatest: Wide = reduce(np.maximum, [exponent for _, exponent, _ in terms])
    reference = terms[-1][0]
    for sign, exponent, _ in reversed(terms[:-1]):
        reference = np.where(exponent == greatest, sign, reference)
    total, lost = np.zeros(greatest.shape, np.int64), np.zeros(greatest.shape, np.bool_)
    for sign, exponent, significand in terms:
        distance = np.minimum(greatest - exponent, 40)
        kept = (significand << 2) >> distance
        sticky = kept << distance != significand << 2
        total += np.where(sign == reference, kept, -kept - sticky)
        lost |= sticky
    below = total < 0
    magnitude = np.where(below, -total - lost, total)
    sign = reference != below
    length = np.frexp(magnitude.astype(np.float64))[1].astype(np.int64)
    exponent = greatest + length - 26
    shift = length - 24
    fraction = np.where(shift > 0, magnitude >> np.maximum(shift, 0), magnitude << np.maximum(-shift, 0))
    cut = (shift > 0) & (fraction << np.maximum(shift, 0) != magnitude)
    zero = magnitude == 0
    under, over = ~zero & (exponent <= 0), ~zero & (exponent >= 255)
    made = (np.clip(exponent, 0, 254) << 23 | fraction & 0x7FFFFF).astype(np.uint32)
    made = np.where(over, LARGEST, np.where(under | zero, np.uint32(0), made))
    # Of zeros alone, as single-precision values add up: -0 where all are.
    negative: NDArray[np.bool_] = np.logical_and.reduce([term for term, _, _ in terms])
    made |= np.where(np.where(total == 0, negative, sign), SIGN, np.uint32(0))
    return made, flag(lost | (cut & ~under), NX) | flag(under, UF | NX) | flag(over, OF | NX)


# --- int8 ---


def bytes_of(words: Bits, unsigned: int) -> Wide:
    """(..., 4)"""
    each = np.ascontiguousarray(words)[..., None].view(np.uint8 if unsigned else np.int8)
    return each.reshape(*words.shape, 4).astype(np.int64)


def integer(tiles: Tiles, word: Mapping[str, int], a: Bits, b: Bits, on: Bools) -> None:
    m, n = word["rows"], word["columns"]
    x, y = bytes_of(a, word["a_unsigned"]), bytes_of(b, word["b_unsigned"])
    c = tiles.tenc[:, :m, :n].astype(np.int64)
    for k in range(word["words"]):
        start, last = bool(word["first"]) and k == 0, k == word["words"] - 1
        dot = np.einsum("tib,tjb->tij", x[:, :, k], y[:, k])
        with_dot = np.where(start, 0, c) + dot
        # A masked row: zero in the first pass, and else as it is.
        made = np.where(on, with_dot, np.where(start, 0, c)) & 0xFFFFFFFF
        if last and word["to_registers"]:
            put_rows(tiles, 0, made.astype(np.uint32))
        else:
            c = made
            tiles.tenc[:, :m, :n] = c.astype(np.uint32)


# --- quant, reduce ---


def quant(tiles: Tiles, word: Mapping[str, int], mode: int) -> None:
    """tensor_quant by its fields: transforms up to the first 0."""
    line = word["start"] % 48
    for step in [word[f"transform{k}"] for k in range(10)]:
        if step == 0:
            return
        matrix = rows(tiles, word["freg"], word["rows"], word["columns"])
        by_row = step in (4, 6)
        vector = tiles.scp[:, line, None, : word["columns"]] if by_row else tiles.scp[:, line, : word["rows"], None]
        if step == 10:
            pack(tiles, word["freg"], matrix)
            continue
        made, flags = transformed(step, matrix, np.broadcast_to(vector, matrix.shape), mode)
        put_rows(tiles, word["freg"], made)
        tiles.raised(flags)
        line = (line + (4 <= step <= 7)) % 48


def transformed(step: int, x: Bits, vector: Bits, mode: int) -> tuple[Bits, Bits]:
    number = x.view(np.int32)
    match step:
        case 1:
            return single.from_integer(x, mode)
        case 2:
            return single.to_integer(x, mode)
        case 3:
            return np.maximum(number, 0).view(np.uint32), np.zeros_like(x)
        case 4 | 5:
            return x + vector, np.zeros_like(x)
        case 6 | 7:
            return single.multiply(x, vector, mode)
        case 8:
            return np.clip(number, -128, 127).view(np.uint32) & np.uint32(255), np.zeros_like(x)
        case 9:
            return np.clip(number, 0, 255).view(np.uint32) & np.uint32(255), np.zeros_like(x)
        case _:
            return x, np.zeros_like(x)


def pack(tiles: Tiles, first: int, matrix: Bits) -> None:
    for i in range(matrix.shape[1]):
        register = tiles.f[:, (first + 2 * i) % 32].view(np.uint8).copy()
        register[:, : matrix.shape[2]] = matrix[:, i].astype(np.uint8)
        tiles.f[:, (first + 2 * i) % 32] = register.view(np.uint32)


def combine(funct: int, incoming: Bits, local: Bits, mode: int) -> tuple[Bits, Bits]:
    match funct:
        case 0:
            return single.add(incoming, local, mode)
        case 2 | 3:
            return single.extreme(incoming, local, funct == 2)
        case 4:
            return incoming + local, np.zeros_like(local)
        case 6:
            return np.maximum(incoming.view(np.int32), local.view(np.int32)).view(np.uint32), np.zeros_like(local)
        case 7:
            return np.minimum(incoming.view(np.int32), local.view(np.int32)).view(np.uint32), np.zeros_like(local)
        case _:
            return incoming, np.zeros_like(local)

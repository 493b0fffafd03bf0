# SPDX-License-Identifier: Apache-2.0
"""What becomes of a tensor operation, from its words and a few facts of its minion: which bits of tensor_error, an
illegal instruction, or a partner that never comes. The twin of the model's acceptance, written from the table of fields
(`tensor_words`) and the "Exceptions" of the ET Programmer's Reference Manual, chapter 9.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from polyloom.targets.minion.words.tensor_words import Word, decode, unknown_bits

DRAM = range(0x80_0000_0000, 0x88_0000_0000)
SCRATCHPAD, PITCH, BACKED, SHIRES, OWN = range(0x8000_0000, 0x1_0000_0000), 1 << 23, 2560 << 10, 32, 0x7F
COOPERATIVE = {(1, 16), (1, 32), (1, 64), (2, 16), (2, 32), (4, 16)}
FUNCTIONS = {0, 2, 3, 4, 6, 7, 8}
LEGAL_TRANSFORMS = {0, 1, 2, 5, 6, 7}


@dataclass(frozen=True)
class Around:
    """Of minion 0 of one, before the operation: whether L1Scp is on, the lines of a LoadB that waits for its FMA, and
    shire_coop_mode."""

    scratchpad: bool = True
    load_b: int | None = None
    coop_mode: bool = False


@dataclass(frozen=True)
class Fate:
    """`bits` of tensor_error; `unused` says that bits of a word do nothing, or nothing that is defined."""

    bits: frozenset[int] = frozenset()
    illegal: bool = False
    alone: bool = False
    unused: bool = False


def fate(word: Word, around: Around) -> Fate:
    found = decode(word)
    assert found is not None
    name, v = found
    how = {"load": _load, "fma": _fma, "quan": _quant, "stor": _store}.get(name[7:11], _pair)
    made = how(name, v, word, around)
    # Bits 47 to 40 of an address that is not translated are ignored, unless they are its sign.
    stray = "address" in v and word.value >> 40 & 255 not in (0, 255)
    unused = made.unused or stray or bool(unknown_bits(word)) or _stray(name, word)
    return Fate(made.bits, made.illegal, made.alone, unused)


def _stray(name: str, word: Word) -> bool:
    """Bits of x31 that are neither the stride, nor its sign, nor an id."""
    if word.x31 is None:
        return False
    low = 4 if name == "tensor_store" else 6
    keeps_id = name.startswith("tensor_load")
    high = word.x31 >> 47
    return bool(word.x31 & ((1 << low) - (2 if keeps_id else 1)) & -(2 if keeps_id else 1)) or (
        high & 1 == 0 and high != 0
    ) or (high & 1 == 1 and high not in (1, (1 << 17) - 1))  # fmt: skip


def there(address: int, size: int) -> bool:
    """Whether tensor operations of machine mode find memory: addresses have 40 bits, and not the uncached alias."""
    address &= (1 << 40) - 1
    if address in SCRATCHPAD:
        offset, shire = address % PITCH, (address - SCRATCHPAD.start) // PITCH
        if address & 1 << 30:
            offset, shire = (address >> 11 & 0x1FFFF) << 6 | address & 63, (address >> 28 & 3) << 5 | address >> 6 & 31
        return (shire < SHIRES or shire == OWN) and offset + size <= BACKED
    return address in DRAM and address + size - 1 in DRAM


def _wide(address: int) -> int:
    address &= (1 << 48) - 1
    return address - (1 << 48) if address >> 47 else address


def _lines(name: str, v: Mapping[str, int], word: Word) -> Iterator[tuple[int, int]]:
    """What a load reads; tensor_mask is all ones, or nothing where the operation is masked."""
    transform, rows, address = v.get("transform", 0), v["rows"], v["address"]
    masked = v.get("masked", 0)
    if transform in (1, 2):
        size = 16 if transform == 1 else 32
        count = 0 if masked else rows * (64 // size)
        base = address & -size
    else:
        transposes = {5: 64, 6: 32, 7: 16}
        count, size = transposes.get(transform, 0 if masked else rows), 64
        base = address & -64
    for n in range(count):
        yield _wide(base + n * v["stride"]), size


def _load(name: str, v: Mapping[str, int], word: Word, around: Around) -> Fate:
    if v.get("coop") and not around.coop_mode:
        return Fate(illegal=True)
    if name != "tensor_load_l2":
        if not around.scratchpad:
            return Fate(frozenset({4}), unused=_low(name, v))
        if v.get("transform", 0) not in LEGAL_TRANSFORMS:
            return Fate(frozenset({1}), unused=_low(name, v))
    fails = any(not there(*each) for each in _lines(name, v, word))
    if name == "tensor_load_l2" and not v["masked"]:
        fails |= not there(SCRATCHPAD.start + 64 * v["line"], 64 * v["rows"]) or v["line"] * 64 >= PITCH
    return Fate(frozenset({7}) if fails else frozenset(), unused=_low(name, v))


def _low(name: str, v: Mapping[str, int]) -> bool:
    """Bits 5 and 4 of an address that a transformation does not have."""
    if name != "tensor_load":
        return False
    lost = {1: 0, 5: 0, 2: 16, 6: 16}.get(v["transform"], 48)
    return bool(v["address"] & lost)


def _fma(name: str, v: Mapping[str, int], word: Word, around: Around) -> Fate:
    if v["type"] not in (0, 1, 3):
        return Fate(illegal=True)
    bits: set[int] = set()
    wanted = v["words"] if v["tenb"] else None
    if wanted != around.load_b:
        bits.add(6)
    if not around.scratchpad:
        bits.add(4)
    integer = v["type"] == 3
    unused = not integer and bool(v["to_registers"] or v["a_unsigned"] or v["b_unsigned"])
    return Fate(frozenset(bits), unused=unused or v["offset"] + v["words"] > 16)


def _quant(name: str, v: Mapping[str, int], word: Word, around: Around) -> Fate:
    numbers = [v[f"transform{k}"] for k in range(10)]
    last = numbers.index(0) if 0 in numbers else 10
    takes = any(4 <= n <= 7 for n in numbers[:last])
    unused = any(numbers[last:]) or any(n > 10 for n in numbers[:last])
    return Fate(frozenset({4}) if takes and not around.scratchpad else frozenset(), unused=unused)


def _store(name: str, v: Mapping[str, int], word: Word, around: Around) -> Fate:
    size, scp = v.get("bytes", 64), name == "tensor_store_scp"
    if not scp and v["coop"] > 1 and not around.coop_mode:
        return Fate(illegal=True)
    if scp and not around.scratchpad:
        return Fate(frozenset({4}))
    if not scp and (v["coop"], size) not in COOPERATIVE:
        return Fate(frozenset({8}))
    rows = [_wide(v["address"] + n * v["stride"]) for n in range(v["rows"])]
    unused = any(row % size for row in rows[:2])
    return Fate(frozenset({7}) if any(not there(row & -size, size) for row in rows) else frozenset(), unused=unused)


def _pair(name: str, v: Mapping[str, int], word: Word, around: Around) -> Fate:
    """Of minion 0, which is alone: the lower one of each step of a tree."""
    receives = name in ("tensor_recv", "tensor_reduce")
    bad = v.get("peer", 1) == 0 or (receives and v["funct"] not in FUNCTIONS)
    if bad:
        return Fate(frozenset({9}))
    return Fate(alone=v["count"] > 0)

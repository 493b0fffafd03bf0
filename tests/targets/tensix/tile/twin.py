# SPDX-License-Identifier: Apache-2.0
"""The expanders of a thread in Python, written from their two pages apart from the model: what a stream of words
becomes before the gate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

MOP, NOP, MOP_CFG, REPLAY = 1, 2, 3, 4
SLOTS = 32


def is_nop(word: int) -> bool:
    return word >> 24 == NOP


def unpack_template(config: Sequence[int], mask: int, count: int) -> Iterator[int]:
    """A0 [A1 A2 A3] [B] per clear bit of the mask, SkipA0 [SkipB] per set one."""
    for _ in range(count):
        if mask & 1:
            yield config[7]
            if config[1] & 1:
                yield config[8]
        else:
            yield config[3]
            if config[1] & 2:
                yield from config[4:7]
            if config[1] & 1:
                yield config[2]
        mask >>= 1


def loop_template(config: Sequence[int]) -> Iterator[int]:
    """Two nested loops, the machine's bug of an empty one included."""
    outer, inner = config[0] & 127, config[1] & 127
    start, end0, end1, loop0, loop1, last, last_inner = config[2:9]
    if outer == 1 and is_nop(start) and inner == 0 and not is_nop(end0):
        outer += 128
    loops = [loop0] if is_nop(loop1) else [loop0, loop1]
    for j in range(outer):
        if not is_nop(start):
            yield start
        steps = inner * len(loops)
        for i in range(steps):
            yield loops[i % len(loops)] if i + 1 < steps else last if j + 1 == outer else last_inner
        if not is_nop(end0):
            yield end0
            if not is_nop(end1):
                yield end1


class Front:
    """What stays from one word to the next: the upper mask bits, the slots, and a recording under way."""

    def __init__(self) -> None:
        self.config: Sequence[int] = [0] * 9
        self._high = 0
        self._ring = [0] * SLOTS
        self._at = self._left = 0
        self._passes = False

    def expand(self, words: Iterable[int]) -> list[int]:
        """What the gate gets of words."""
        return [out for word in words for made in self._mop(word) for out in self._replay(made)]

    def _mop(self, word: int) -> Iterator[int]:
        if word >> 24 == MOP_CFG:
            self._high = word & 0xFFFF
        elif word >> 24 != MOP:
            yield word
        elif word >> 23 & 1:
            yield from loop_template(self.config)
        else:
            yield from unpack_template(self.config, self._high << 16 | word & 0xFFFF, (word >> 16 & 127) + 1)

    def _replay(self, word: int) -> Iterator[int]:
        if self._left:
            self._ring[self._at % SLOTS] = word
            self._at, self._left = self._at + 1, self._left - 1
            if self._passes:
                yield word
        elif word >> 24 != REPLAY:
            yield word
        elif word & 1:
            self._at, self._left, self._passes = word >> 14 & 31, word >> 4 & 63 or 64, bool(word & 2)
        else:
            yield from (self._ring[((word >> 14) + k) % SLOTS] for k in range(word >> 4 & 63 or 64))

# SPDX-License-Identifier: Apache-2.0
"""Compiled programs with one instruction taken out: each tensor_wait and each cache operation by turns."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from polyloom.riscv.image import MAGIC
from polyloom.targets.minion.place import parse_place
from polyloom.targets.minion.run import model
from polyloom.targets.minion.run.model import Outcome, Setup
from polyloom.targets.minion.words.program import load
from polyloom.targets.target import Loaded

WAIT, FLUSH, EVICT = 0x830, 0x8BF, 0x89F
_SYSTEM, _NOP = 0x73, 0x13
_PACE = 0x83031073
"""`csrw tensor_wait, t1`, which paces prefetches: a wait for time, not for results."""


def guards(data: bytes) -> Iterator[tuple[int, int]]:
    """Where in a file the guards of its code are, and which CSR each writes."""
    assert data.startswith(MAGIC)
    (table,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for n in range(count):
        kind, flags, offset, _, _, length = struct.unpack_from("<IIQQQQ", data, table + n * size)
        if kind == 1 and flags & 1:
            yield from _in_code(data, offset, offset + length)


def _in_code(data: bytes, at: int, end: int) -> Iterator[tuple[int, int]]:
    while at + 2 <= end:
        (half,) = struct.unpack_from("<H", data, at)
        if half & 3 != 3 or at + 4 > end:
            at += 2
            continue
        (word,) = struct.unpack_from("<I", data, at)
        if word != _PACE and word & 0x7F == _SYSTEM and word >> 12 & 3 and word >> 20 in (WAIT, FLUSH, EVICT):
            yield at, word >> 20
        at += 4


def without(data: bytes, at: int) -> bytes:
    """The file with a `nop` at a place."""
    return data[:at] + struct.pack("<I", _NOP) + data[at + 4 :]


def outcome(data: bytes, minions: int, functional: bool = True) -> Outcome:
    """Of a run with zeros for its arrays: hazards do not depend on data."""
    where = parse_place(str(minions))
    program = load([Loaded("k.elf", data, None)], [], None, where.machine)
    return model.run(program, [], Setup(where, "report", functional)).outcome

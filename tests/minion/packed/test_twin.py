# SPDX-License-Identifier: Apache-2.0
"""The native packed instructions do what the twin does: every row of the table on random fields, masks, registers and
memory, with special values; and what traps, stops in the middle and goes on."""

from __future__ import annotations

import random
from typing import Final

import numpy as np
import pytest
from tests.minion.packed import floats
from tests.minion.packed.floats import Flags
from tests.minion.packed.twin import State, Trap, execute

from polyloom._native import minion
from polyloom.riscv.encode import encode
from polyloom.riscv.isa import Instruction, Row
from polyloom.targets.minion.isa import packed

BASE: Final = 0x80_0000_0000
SIZE: Final = 256
SPECIAL: Final = (
    *(0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345, 0x7F800001),
    *(0x00000001, 0x807FFFFF, 0x00800000, 0x80800000, 0x00800001, 0x7F7FFFFF, 0xFF7FFFFF, 0x3F7FFFFF, 0x3F800001),
    *(0x4F000000, 0xCF000000, 0x4EFFFFFF, 0x4F800000, 0x3F000000, 0xBF000000, 0x3FC00000, 0x40200000, 0x40490FDB),
    *(0x477FE000, 0x477FF000, 0x38800000, 0x387FFFFF, 0xC2FC0000, 0x43000000, 0x42FFFFFF, 0xC2FC0001, 0x7E800000),
    *(0x7FFFFFFF, 0x0000001F, 0x00000020, 0x0000007F, 0xFFFFFF80, 0x000000FF, 0x00007C00, 0x00008001, 0x0000FC01),
)
ADDRESS: Final = ("rs1", "rs2")


def lane(r: random.Random) -> int:
    how = r.randrange(4)
    if how == 0:
        return r.choice(SPECIAL)
    if how == 1:
        return r.getrandbits(32)
    if how == 2:
        return (127 + r.randint(-12, 12)) << 23 | r.getrandbits(23) | r.getrandbits(1) << 31
    return r.choice(SPECIAL) ^ 1 << r.randrange(3)


def values(row: Row, r: random.Random) -> dict[str, int]:
    made: dict[str, int] = {}
    for field in row.fields:
        legal = [n for n in field.range if n not in field.forbidden] if len(field.range) < 300 else None
        made[field.name] = r.choice(legal) if legal else field.range[r.randrange(len(field.range))]
    return made


def accesses(row: Row) -> bool:
    return "(" in row.operands


def prepared(row: Row, v: dict[str, int], r: random.Random) -> State:
    """Registers of random bits; those that make an address point near the memory."""
    s = State(
        [[lane(r) for _ in range(8)] for _ in range(32)],
        [r.choice((255, r.getrandbits(8), 0)) for _ in range(8)],
        [0, *(r.getrandbits(64) for _ in range(31))],
        frm=r.choice((0, 0, 1, 2, 3, 4, 5)),
        memory=bytearray(r.randbytes(SIZE)),
        base=BASE,
        graphics=r.random() < 0.9,
    )
    s.flags.bits = r.choice((0, floats.NX, 31))
    if r.random() < 0.5:
        s.m[0] = 255
    if accesses(row):
        _point(row, v, s, r)
    return s


def _point(row: Row, v: dict[str, int], s: State, r: random.Random) -> None:
    """Makes most addresses right."""
    register = v["rs2"] if "(rs2)" in row.operands else v["rs1"]
    offset = v.get("i12", v.get("s12", 0))
    step = r.choice((32, 32, 32, 4, 1))
    wanted = BASE + r.randrange(0, SIZE - 31, step) + (r.choice((-64, 300)) if r.random() < 0.05 else 0)
    if register:
        s.x[register] = wanted - offset
    if "fs1" in v:
        scale = r.choice((4, 4, 1))
        s.f[v["fs1"]] = [r.randrange(-8, 32, scale) & 0xFFFFFFFF for _ in range(8)]
        s.progress = r.choice((0, 0, 0, 3))


def run(words: bytes, s: State) -> tuple[int, int]:
    """Natively, in place: the cause, and how many were executed."""
    f, m = np.array(s.f, np.uint32), np.array(s.m, np.uint8)
    x, memory = np.array(s.x, np.uint64), np.frombuffer(bytes(s.memory), np.uint8).copy()
    fcsr = s.flags.bits | s.frm << 5
    cause, count, _, after, s.progress = minion.packed(words, f, m, x, fcsr, s.progress, memory, s.base, s.graphics)
    s.f, s.m, s.x = f.tolist(), m.tolist(), x.tolist()
    s.memory, s.flags = bytearray(memory.tobytes()), Flags(after & ~(7 << 5))
    return cause, count


def copy(s: State) -> State:
    made = State([list(f) for f in s.f], list(s.m), list(s.x), Flags(s.flags.bits), s.frm, s.progress)
    made.memory, made.base, made.graphics = bytearray(s.memory), s.base, s.graphics
    return made


def agree(row: Row, v: dict[str, int], s: State) -> int:
    """The cause of the trap, or -1."""
    twin, native = copy(s), copy(s)
    word = encode(Instruction(row, tuple(v.values())))
    expected = -1
    try:
        execute(twin, row.mnemonic, v, word)
    except Trap as trap:
        expected = trap.cause
    cause, _ = run(word.to_bytes(4, "little"), native)
    # A store to memory that is there and memory that is not may have done a part: only the cause is promised.
    partial = expected in (5, 7) and not native.progress
    assert cause == expected, (row.mnemonic, v)
    if not partial:
        assert native == twin, (row.mnemonic, v, s)
    return cause


@pytest.mark.parametrize("row", packed(), ids=lambda row: row.mnemonic)
def test_row(row: Row) -> None:
    r = random.Random(row.mnemonic)
    for _ in range(24):
        v = values(row, r)
        agree(row, v, prepared(row, v, r))

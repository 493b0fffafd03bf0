# SPDX-License-Identifier: Apache-2.0
"""The native packed instructions do what the twin does: every row of the table on random fields, masks, registers and
memory, with special values; and what traps, stops in the middle and goes on."""

from __future__ import annotations

import random
from typing import Final

import numpy as np
import pytest
from tests.targets.minion.packed import floats
from tests.targets.minion.packed.floats import Flags
from tests.targets.minion.packed.twin import State, Trap, execute

from polyloom._native import minion
from polyloom.riscv.encode import encode
from polyloom.riscv.isa import Instruction, Row
from polyloom.targets.minion.words.isa import extension_rows

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


@pytest.mark.parametrize("row", extension_rows(), ids=lambda row: row.mnemonic)
def test_row(row: Row) -> None:
    r = random.Random(row.mnemonic)
    for _ in range(24):
        v = values(row, r)
        agree(row, v, prepared(row, v, r))


HARD: Final = {
    "fexp.ps": (0x3CFE4448, 0xBFDA5A29, 0x3A07857C, 0xC2FC0000, 0x42FFFFFF, 0x33800000, 0xB3800000),
    "flog.ps": (0x7AEB8090, 0x31554996, 0x3FEDDFFD, 0x4B750F8C, 0x34F50F8C, 0x0F974467, 0x3F7FFFFF, 0x3F800001),
    "frcp.ps": (0x3F7FFFFF, 0x3F800001, 0x7E800000, 0x7E800001, 0x00800000, 0x40400000, 0xC0400000),
}
"""Inputs whose results are so close to the middle of two singles that a double does not tell, and ends of ranges."""


def only(row_name: str, **v: int) -> tuple[Row, dict[str, int]]:
    row = next(row for row in extension_rows() if row.mnemonic == row_name)
    return row, {field.name: v.get(field.name, 0) for field in row.fields}


def plain(**change: object) -> State:
    s = State([[0] * 8 for _ in range(32)], [255] + [0] * 7, [0] * 32, memory=bytearray(range(256)), base=BASE)
    for name, value in change.items():
        setattr(s, name, value)
    return s


@pytest.mark.parametrize("name", HARD)
def test_transcendentals_are_correctly_rounded(name: str) -> None:
    row, v = only(name, fd=1, fs1=2)
    r = random.Random(name)
    inputs = [*HARD[name], *(lane(r) for _ in range(200))]
    for n in range(0, len(inputs) - 7, 8):
        s = plain()
        s.f[2] = inputs[n : n + 8]
        agree(row, v, s)


def test_masked_lanes_raise_nothing() -> None:
    row, v = only("fadd.ps", fd=1, fs1=2, fs2=3, rm=0)
    s = plain(m=[0b1111_1110, *[0] * 7])
    s.f[2][0] = 0x7F800001
    twin = copy(s)
    assert run(encode(Instruction(row, tuple(v.values()))).to_bytes(4, "little"), twin) == (-1, 1)
    assert twin.flags.bits == 0


def test_a_gather_stops_at_a_lane_and_goes_on() -> None:
    row, v = only("fgw.ps", fd=1, fs1=2, rs2=3)
    s = plain()
    s.x[3], s.f[2] = BASE, [0, 4, 8, 4096, 12, 16, 20, 24]
    word = encode(Instruction(row, tuple(v.values()))).to_bytes(4, "little")
    assert run(word, s) == (5, 0)
    assert s.progress == 3
    assert s.f[1][:3] == [0x03020100, 0x07060504, 0x0B0A0908]
    assert s.f[1][3:] == [0] * 5
    s.f[2][3] = 28
    assert run(word, s) == (-1, 1)
    assert (s.progress, s.f[1][3], s.f[1][7]) == (0, 0x1F1E1D1C, 0x1B1A1918)


def test_a_lane_atomic_is_done_once() -> None:
    row, v = only("famoaddl.pi", fd=1, fs1=2, rs2=3)
    s = plain(memory=bytearray(64))
    s.x[3], s.f[1], s.f[2] = BASE, [1] * 8, [0, 0, 0, 2, 0, 0, 0, 0]
    word = encode(Instruction(row, tuple(v.values()))).to_bytes(4, "little")
    assert run(word, s) == (7, 0)
    assert (s.progress, s.memory[0], s.f[1][:4]) == (3, 3, [0, 1, 2, 1])
    s.f[2][3] = 0
    assert run(word, s) == (-1, 1)
    assert (s.progress, s.memory[0], s.f[1]) == (0, 8, [0, 1, 2, 3, 4, 5, 6, 7])


def test_rounding_mode_of_fcsr_that_is_none() -> None:
    row, v = only("fadd.ps", fd=1, fs1=2, fs2=3, rm=7)
    assert run(encode(Instruction(row, tuple(v.values()))).to_bytes(4, "little"), plain(frm=5))[0] == 2


def executed(name: str, s: State, **v: int) -> State:
    row, fields = only(name, **v)
    assert run(encode(Instruction(row, tuple(fields.values()))).to_bytes(4, "little"), s) == (-1, 1)
    return s


def test_bits_are_mixed_from_24_bits() -> None:
    """Of bytes 0 to 2 of rs2: more than eight bits of one kind go on in the byte behind."""
    s = plain()
    s.x[1], s.x[2] = 0xAA11, 0xBB22
    assert executed("bitmixb", s, rd=3, rs1=1, rs2=2).x[3] == 0xF895


@pytest.mark.parametrize("mode", range(5))
def test_signed_fractions_are_rounded_to_nearest_even(mode: int) -> None:
    """Their words have no rounding mode, as those without a sign have."""
    s = plain(frm=mode)
    s.f[2] = [0x09, 0x0B, 0x12, 0x01, 0x7F, 0x80, 0xFF, 0x00]
    expected = [0x3D912245, 0x3DB162C6, 0x3E112245, 0x3C010204, 0x3F800000, 0xBF800000, 0xBC010204, 0]
    assert executed("fcvt.ps.sn8", s, fd=1, fs1=2).f[1] == expected
    s.f[2] = [0x517D, 0xC545, 0xFDF9, 0x86A1, 0x0D52, 0xE904, 0x8000, 0x7FFF]
    expected = [0x3F22FB46, 0xBEEAEDD6, 0xBC81C104, 0xBF72BFE5, 0x3DD521AA, 0xBE37E170, 0xBF800000, 0x3F800000]
    assert executed("fcvt.ps.sn16", s, fd=1, fs1=2).f[1] == expected


@pytest.mark.parametrize("name", ["famomaxl.ps", "famominl.ps", "famomaxg.ps", "famoming.ps"])
def test_a_signalling_nan_makes_a_lane_atomic_a_nan(name: str) -> None:
    """IEEE 754-2008, without a flag; beside a quiet NaN the number stays."""
    s = plain(memory=bytearray(np.array([0x3F800000, 0x7F800001, 0x40000000, 0x7FC00001], np.uint32).tobytes() * 2))
    s.x[3], s.f[2] = BASE, [4 * e for e in range(8)]
    s.f[1] = [0x7F800001, 0x3F800000, 0x7FC00000, 0x3F800000] * 2
    executed(name, s, fd=1, fs1=2, rs2=3)
    made = np.frombuffer(bytes(s.memory[:16]), np.uint32).tolist()
    assert (made, s.flags.bits) == ([0x7FC00000, 0x7FC00000, 0x40000000, 0x3F800000], 0)


ARITHMETIC: Final = tuple(
    row for row in extension_rows() if row.mnemonic.endswith(".ps") and row.operands.endswith(";rm")
)


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("row", ARITHMETIC, ids=lambda row: row.mnemonic)
def test_all_lanes_at_once_or_one_by_one(row: Row, wide: bool) -> None:
    """Ordinary numbers to nearest, which the host does at once where it can, with a special one here and there."""
    r = random.Random(row.mnemonic)
    minion.set_tensor_wide(wide)
    try:
        for _ in range(60):
            v = values(row, r) | {"rm": 0}
            s = prepared(row, v, r)
            s.frm, exact = 0, r.random() < 0.3
            for f in s.f:
                f[:] = [_ordinary(r, exact) for _ in range(8)]
            if r.random() < 0.3:
                s.f[r.randrange(32)][r.randrange(8)] = lane(r)
            agree(row, v, s)
    finally:
        minion.set_tensor_wide(True)


def _ordinary(r: random.Random, exact: bool) -> int:
    if r.random() < 0.2:
        return r.getrandbits(1) << 31
    bits = r.getrandbits(4) << 19 if exact else r.getrandbits(23)
    return r.getrandbits(1) << 31 | (127 + r.randint(-3, 3) * (1 if exact else 20)) << 23 | bits

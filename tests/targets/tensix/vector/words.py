# SPDX-License-Identifier: Apache-2.0
"""Words of the vector unit, by the layouts of the instruction set, and operands to try them on: random patterns, among
them the special ones."""

import numpy as np
from numpy.typing import NDArray

Lanes = NDArray[np.uint32]

LOAD, LOADI, STORE, LUT, MULI, ADDI, DIVP2, EXEXP, EXMAN, IADD, SHFT, SETCC, MOV, ABS, AND, OR = range(0x70, 0x80)
NOT, LZ, SETEXP, SETMAN, MAD, ADD, MUL, PUSHC, POPC, SETSGN, ENCC, COMPC, TRANSP, XOR, STOCHRND, NOP = range(0x80, 0x90)
CAST, CONFIG, SWAP, LOADMACRO, SHFT2, LUTFP32, LE, GT, MUL24, ARECIP = range(0x90, 0x9A)

SPECIAL = np.array(
    [
        0, 0x80000000, 1, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000, 0x3F800000, 0xBF800000,
        0x3F7FFFFF, 0x3F000000, 0x40000000, 0x40400000, 0x40800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000,
        0x7F800001, 0xFF800001, 0x7FC00000, 0xFFFFFFFF, 0x7FFFFFFF, 0x4B000000, 0x4F000000, 0x80000002, 31, 0xFFFFFFE1,
    ],
    np.uint32,
)  # fmt: skip


def simple(op: int, vc: int = 0, vd: int = 0, mod: int = 0, imm: int = 0) -> int:
    return op << 24 | (imm & 0xFFF) << 12 | vc << 8 | vd << 4 | mod


def mad(op: int, va: int, vb: int, vc: int, vd: int, mod: int = 0) -> int:
    return op << 24 | va << 16 | vb << 12 | vc << 8 | vd << 4 | mod


def immediate(op: int, imm: int, vd: int, mod: int = 0) -> int:
    return op << 24 | imm << 8 | vd << 4 | mod


def load(op: int, vd: int, mod: int, low: int, address_mode: int = 0) -> int:
    return op << 24 | vd << 20 | mod << 16 | address_mode << 14 | low


def patterns(random: np.random.Generator, shape: tuple[int, ...]) -> Lanes:
    """A third any bits, a third floats of near exponents, the rest special ones, and small integers of either sign."""
    any_bits = random.integers(0, 1 << 32, shape, np.uint32)
    near = (any_bits & np.uint32(0x807FFFFF)) | random.integers(118, 140, shape, np.uint32) << np.uint32(23)
    small = random.integers(-200, 200, shape).astype(np.int32).view(np.uint32)
    special = random.choice(SPECIAL, shape)
    chosen = random.integers(0, 8, shape)
    return np.select([chosen < 3, chosen < 6, chosen < 7], [any_bits, near, special], small).astype(np.uint32)

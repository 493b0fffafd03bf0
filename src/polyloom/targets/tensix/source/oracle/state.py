# SPDX-License-Identifier: Apache-2.0
"""State of the vector unit that a kernel changes: registers, flags and their frames, Dst, the generators of random
numbers.

Values are vectors of bits with, where not all are, the lanes that have a value; lanes without one hold 0. Several tiles
run side by side: arrays are (tiles, 32), or (32,) where all tiles agree, and scalars are the same for all. Power-on
values: ISA documentation, page of `LReg` and page of `SFPCONFIG`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from polyloom.ir.ssa_lanes import Opaque
from polyloom.targets.tensix.source.oracle.dst import COLUMNS, INT32_ALL, ROWS, Dst
from polyloom.targets.tensix.source.oracle.meaning import splat, step_random
from polyloom.targets.tensix.source.oracle.rounding import Words
from polyloom.targets.tensix.words.isa import Member

Truths = NDArray[np.bool_]
CONSTANTS: Final = (0x3F56594B, 0, 0x3F800000, 0xBF800000, 0x3B000000, 0xBF2CC4C7, 0xBEB08FF9)
"""L8 to L14 at power-on."""
STAGING: Final = 16
"""L16, which only scheduled instructions reach."""
_OFFSET: Final = 1
"""DEST_TARGET_REG_CFG_MATH_Offset among a thread's configuration."""
_STEPS: Final = {"wormhole": 23, "blackhole": 28}
"""Where a thread's configuration has by how much modes of addressing move Dst."""
IMPLIED: Final = {"fp16": 1, "bf16": 2, "fp32": 3}
"""What mode 0 of loads and stores is, by the format of Dst."""


@dataclass(frozen=True, slots=True)
class Vector(Opaque):
    """A vector; `known` is None where all lanes have a value."""

    bits: Words
    known: Truths | None = None


@dataclass(frozen=True, slots=True)
class Mask(Opaque):
    """A mask: a truth per lane; `known` as of vectors."""

    truth: Truths
    known: Truths | None = None


ALL: Final = Mask(np.ones(32, np.bool_))
NONE: Final = Mask(np.zeros(32, np.bool_))
UNDEFINED: Final = Vector(splat(0), NONE.truth)


def common_known(*parts: Vector | Mask) -> Truths | None:
    """Lanes in which all parts have a value."""
    found: Truths | None = None
    for part in parts:
        if part.known is not None:
            found = part.known if found is None else found & part.known
    return found


def intersect_masks(a: Mask, b: Mask) -> Mask:
    return Mask(a.truth & b.truth, common_known(a, b))


def unite_masks(a: Mask, b: Mask) -> Mask:
    return Mask(a.truth | b.truth, common_known(a, b))


def complement_mask(a: Mask) -> Mask:
    return Mask(~a.truth, a.known)


def choose_lanes(where: Mask, then: Vector, orelse: Vector) -> Vector:
    """Choice by lane; known where it is known which, and that one is. Lanes without a value are 0."""
    bits = np.where(where.truth, then.bits, orelse.bits)
    if where.known is None and then.known is None and orelse.known is None:
        return Vector(bits)
    one, other = (ALL.truth if v.known is None else v.known for v in (then, orelse))
    known = np.where(where.truth, one, other) & (ALL.truth if where.known is None else where.known)
    return Vector(np.where(known, bits, np.uint32(0)), known)


@dataclass(frozen=True, slots=True)
class Scheduled:
    """An instruction that SFPLOADMACRO scheduled, for `left` cycles or instructions from now; `operands` are B, C, D.
    A store has a mode and an address.
    """

    unit: int
    left: int
    by_instructions: bool
    word: int
    operands: tuple[int, int, int]
    mode: int
    address: int


@dataclass(frozen=True, slots=True)
class LateWrite:
    """A result of a scheduled instruction that becomes visible after so many cycles."""

    cycles: int
    register: int
    lanes: Mask
    value: Vector


@dataclass(slots=True)
class Macros:
    """Macros as configured, and what they have scheduled. Mutable. `accepted`: an instruction, in the last cycle."""

    templates: list[int] = field(default_factory=lambda: [0] * 4)
    sequences: list[int] = field(default_factory=lambda: [0] * 4)
    miscellaneous: int = 0
    waiting: list[Scheduled] = field(default_factory=list[Scheduled])
    late: list[LateWrite] = field(default_factory=list[LateWrite])
    accepted: bool = False


@dataclass(slots=True)
class State:
    """State of the vector unit. Mutable. `dst` are the bits of (tiles, 1024, 16), in Dst's order; `format` is what mode
    0 of loads and stores stands for; `counter` is what is added to addresses, `carriage` what it returns to. `text`
    collects what the kernel prints.
    """

    member: Member = "wormhole"
    tiles: int = 1
    format: str = "bf16"
    dst: Dst = field(init=False)
    registers: list[Vector] = field(init=False)
    enabled: Mask = ALL
    frames: list[tuple[Mask, Mask]] = field(default_factory=list[tuple[Mask, Mask]])
    stack: list[tuple[Mask, Mask]] = field(default_factory=list[tuple[Mask, Mask]])
    used: Mask = ALL
    random: Words = field(init=False)
    exchanged: Vector = field(default_factory=lambda: Vector(splat(0)))
    counter: int = 0
    carriage: int = 0
    # As the driver leaves it: ADDR_MOD_SET_Base selects the upper four modes of addressing.
    thread_config: dict[int, int] = field(default_factory=lambda: {2: 1})
    replay: list[int] = field(default_factory=lambda: [0] * 32)
    recording: tuple[int, int, bool] = (0, 0, True)
    lane_config: int = 0
    macros: Macros = field(default_factory=Macros)
    text: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.dst = Dst(np.zeros((self.tiles, ROWS, COLUMNS), np.uint16))
        zeros = [Vector(splat(0)) for _ in range(8)]
        tile_id = Vector(np.arange(0, 64, 2, dtype=np.uint32))
        self.registers = [*zeros, *(Vector(splat(bits)) for bits in CONSTANTS), tile_id, zeros[0]]
        self.random = np.zeros((self.tiles, 32), np.uint32)

    @property
    def lanes(self) -> Mask:
        """Executing lanes: enabled, or all where flags are not in use (ISA documentation, `LaneEnabled`, page of
        `LReg`).
        """
        if self.used is ALL:
            return self.enabled
        return Mask(self.enabled.truth | ~self.used.truth, common_known(self.enabled, self.used))

    def drawn(self) -> Words:
        """Next number of each generator; those of lanes that execute go on."""
        found = self.random
        self.random = np.where(self.lanes.truth, step_random(found), found)
        return found

    def write(self, register: int, value: Vector) -> None:
        """Write to the executing lanes of a register."""
        self.registers[register] = choose_lanes(self.lanes, value, self.registers[register])

    def advance(self, addrmod: int) -> None:
        """Address modifier: adds to the counter of Dst what a mode of addressing says; nothing where it was not
        configured (ISA documentation, register window counters, page of `SETRWC`).
        """
        # ADDR_MOD_SET_Base selects the other four modes of a thread.
        upper = 4 if self.member == "wormhole" and self.thread_config.get(2, 0) & 1 else 0
        step = self.thread_config.get(_STEPS[self.member] + addrmod + upper, 0)
        by = step & 0x3FF
        if step & 0x800:
            self.counter = self.carriage = 0
        elif step & 0x1000:
            self.counter = self.carriage = (self.counter + by) & 0x3FF
        elif step & 0x400:
            self.counter = self.carriage = (self.carriage + by) & 0x3FF
        else:
            self.counter = (self.counter + by) & 0x3FF

    def dst_address(self, mode: int, address: int) -> int:
        """Address of an access to Dst, with the thread's offset; mode 10 ignores all but the two low bits of the
        counter (ISA documentation, page of `SFPLOAD`).
        """
        moving = self.counter & 3 if mode == INT32_ALL else self.counter
        return (address + self.thread_config.get(_OFFSET, 0) + moving) & 0x3FF

    def resolve_mode(self, mode: int) -> int:
        return mode or IMPLIED[self.format]

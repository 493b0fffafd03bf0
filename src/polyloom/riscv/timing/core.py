# SPDX-License-Identifier: Apache-2.0
"""Timing of an in-order core, one instruction a cycle (scoreboard; Hennessy and Patterson, appendix C): costs by class
of instruction, and what a hart that counts tells of each instruction (native/riscv/paced.hpp).

Costs are read from the words of an image alone. A core without latencies and without lost cycles counts executions: its
cycles are the instructions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from polyloom.riscv.disassemble import addresses
from polyloom.riscv.encode import decode, expand_compressed
from polyloom.riscv.image import Image
from polyloom.riscv.isa import Instruction
from polyloom.riscv.names import Isa
from polyloom.riscv.timing.instruction_class import instruction_class

FLOAT_DIVIDE: Final = "float_divide"
_DIVIDES: Final = ("divide", FLOAT_DIVIDE)
_ROOTS: Final = re.compile(r"f(div|sqrt)\..*")
_NONE: Final = 64
_F: Final = 32
"""Registers are numbered through: x from 0, f from 32, none."""
Cost = tuple[int, int, int, int, int, int, int, int]
"""rd, rs1, rs2, rs3, latency, cycles of a taken branch, cycles that the divider is held, whether memory gives rd."""
_PLAIN: Cost = (_NONE, _NONE, _NONE, _NONE, 1, 0, 0, 0)
COUNTS: Final = 5
"""Numbers of a snapshot: cycles in which the hart issued, and that it lost to results, data, its unit, branches."""
# An atomic operation gives what the memory had, as a load does (RISC-V unprivileged manual, extension A).
DATA_CLASSES: Final = ("load", "atomic")


@dataclass(frozen=True, slots=True)
class Core:
    """In-order core: `latency` by class of instruction, 1 where it has none, and cycles lost behind a `taken` branch or
    jump. The divider is not pipelined.
    """

    latency: Mapping[str, int] = field(default_factory=dict[str, int])
    taken: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def is_timed(self) -> bool:
        return bool(self.latency)


COUNTING: Final = Core()
"""Core that only counts."""


@dataclass(frozen=True, slots=True)
class Pace:
    """What an instruction took: its address, class and mnemonic, executions, cycles lost behind it when it was taken,
    for the unit, and by operand waited cycles with the instruction (class and mnemonic) that wrote it last.
    """

    address: int
    kind: str
    mnemonic: str
    executed: int
    jumped: int
    unit: int
    waited: tuple[tuple[int, str, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class CycleCounts:
    """What a hart that counts tells of a run: its cycles, or instructions where the core is not timed, each
    instruction, and what it had counted at multiples of `step`, shaped (multiples, `COUNTS`); nothing where not timed.
    """

    cycles: int
    paces: Sequence[Pace]
    is_timed: bool
    step: int = 1
    over_time: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, COUNTS), np.int64))


def cost_class(mnemonic: str) -> str:
    """Class of an instruction that costs are given for."""
    return FLOAT_DIVIDE if _ROOTS.fullmatch(mnemonic) else instruction_class(mnemonic)


def instruction_costs(image: Image, core: Core) -> list[Cost]:
    """Costs by halfword of an image's code, from its first address on."""
    code = [s for s in image.segments if s.is_code]
    start, stop = min(s.address for s in code), max(s.address + s.size for s in code)
    # A compressed instruction may begin at any halfword (RISC-V unprivileged manual, chapter of the extension C).
    found: list[Cost] = [_PLAIN] * ((stop - start) // 2)
    for address, instruction in _instructions(image):
        found[(address - start) // 2] = _cost(instruction, core, image.isa)
    return found


def describe_paces(
    image: Image,
    start: int,
    executed: Sequence[tuple[int, int]],
    waits: Mapping[int, tuple[int, int, Sequence[tuple[int, int, bool]]]],
) -> tuple[Pace, ...]:
    """What the native hart tells, with names, in the order of addresses."""
    # Only what was executed is decoded: a program of a C library has far more code than a run enters.
    known = {place: _class_and_mnemonic(image, start + 2 * place) for place, _ in executed}

    def pace(place: int, times: int) -> Pace:
        jumped, unit, waited = waits.get(place, (0, 0, ()))
        return Pace(start + 2 * place, *known[place], times, jumped, unit, tuple((n, *known[w]) for n, w, _ in waited))

    return tuple(pace(place, times) for place, times in executed)


def _class_and_mnemonic(image: Image, address: int) -> tuple[str, str]:
    segment = next(s for s in image.segments if s.is_code and s.address <= address < s.address + s.size)
    at = address - segment.address
    found = decode(int.from_bytes(segment.data[at : at + 4], "little"), image.isa)
    if found is None:
        return "integer", "code outside"
    mnemonic = expand_compressed(found, image.isa).row.mnemonic
    return cost_class(mnemonic), mnemonic


def _instructions(image: Image) -> Iterator[tuple[int, Instruction]]:
    """Instructions of all code with their addresses, one behind the other; data between them are left out."""
    for segment in image.segments:
        if not segment.is_code:
            continue
        for address in addresses(segment.data, segment.address):
            at = address - segment.address
            found = decode(int.from_bytes(segment.data[at : at + 4], "little"), image.isa)
            if found is not None and at + found.row.size <= len(segment.data):
                yield address, found


def _cost(instruction: Instruction, core: Core, isa: Isa) -> Cost:
    plain = expand_compressed(instruction, isa)
    kind = cost_class(plain.row.mnemonic)
    latency = core.latency.get(kind, 1)
    registers = {
        field.role: number + (_F if field.kind == "f" else 0)
        for field, number in zip(plain.row.fields, plain.values, strict=True)
        if field.kind in ("x", "f")
    }
    rd, rs1, rs2, rs3 = (registers.get(role, _NONE) for role in ("rd", "rs1", "rs2", "rs3"))
    # x0 is neither waited for nor written.
    rd, rs1, rs2 = (_NONE if register == 0 else register for register in (rd, rs1, rs2))
    # One quotient at a time: an iterative divider is busy for its whole latency.
    held = latency if kind in _DIVIDES and core.is_timed else 0
    return rd, rs1, rs2, rs3, latency, core.taken.get(kind, 0), held, int(kind in DATA_CLASSES)

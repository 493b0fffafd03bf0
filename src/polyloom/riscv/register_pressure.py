# SPDX-License-Identifier: Apache-2.0
"""Register pressure of a loop of machine code: live registers by the backward dataflow equations (live variables;
Muchnick 1997, section 14.1), over the words of an image alone.

Values that are only used behind the loop are not known from its words, and do not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from polyloom.riscv.encode import decode, expand_compressed
from polyloom.riscv.image import Image
from polyloom.riscv.isa import Instruction
from polyloom.riscv.timing.instruction_class import instruction_class

Register = tuple[str, int]
"""File, x or f, and number."""
AVAILABLE: Final[Mapping[str, int]] = {"x": 31, "f": 32}
"""Registers of each file that hold values: x0 is zero (RISC-V unprivileged manual, chapter RV32I)."""


@dataclass(frozen=True, slots=True)
class RegisterPressure:
    """Most registers of a file that are live at once in a loop, and the address in front of which they are."""

    file: str
    live: int
    address: int


@dataclass(frozen=True, slots=True)
class _Step:
    """Instruction of a loop: registers that it reads and writes, and the instructions that may follow, by number."""

    reads: frozenset[Register]
    writes: frozenset[Register]
    next: tuple[int, ...]


def register_pressure(image: Image, addresses: Sequence[int]) -> list[RegisterPressure]:
    """Pressure of the loop of these addresses, which rise, by file of registers; files that it does not use are left
    out.
    """
    steps = _steps(image, addresses)
    live = _live_registers(steps)
    found = list[RegisterPressure]()
    for file in AVAILABLE:
        counts = [sum(own == file for own, _ in registers) for registers in live]
        if most := max(counts, default=0):
            found.append(RegisterPressure(file, most, addresses[counts.index(most)]))
    return found


def _live_registers(steps: Sequence[_Step]) -> list[frozenset[Register]]:
    """Registers that are live in front of each instruction: the least solution, by iteration."""
    live = [frozenset[Register]()] * len(steps)
    changed = True
    while changed:
        changed = False
        for number in reversed(range(len(steps))):
            step = steps[number]
            behind = frozenset[Register]().union(*(live[n] for n in step.next))
            before = step.reads | (behind - step.writes)
            changed |= before != live[number]
            live[number] = before
    return live


def _steps(image: Image, addresses: Sequence[int]) -> list[_Step]:
    place = {address: number for number, address in enumerate(addresses)}
    made = list[_Step]()
    for number, address in enumerate(addresses):
        instruction = expand_compressed(_read_instruction(image, address), image.isa)
        operands = [
            (field.role, (field.kind, value))
            for field, value in zip(instruction.row.fields, instruction.values, strict=True)
            # x0 is neither waited for nor written, and holds nothing.
            if field.kind in AVAILABLE and (field.kind, value) != ("x", 0)
        ]
        kind = instruction_class(instruction.row.mnemonic)
        # What leaves the loop has no successor here; of a computed jump (jalr) the goal is unknown.
        goal = place.get(address + instruction.roles.get("imm", 0)) if kind in ("branch", "jump") else None
        falls = number + 1 < len(addresses) and kind != "jump"
        made.append(
            _Step(
                frozenset(register for role, register in operands if role != "rd"),
                frozenset(register for role, register in operands if role == "rd"),
                (*([number + 1] if falls else []), *([] if goal is None else [goal])),
            )
        )
    return made


def _read_instruction(image: Image, address: int) -> Instruction:
    segment = next(s for s in image.segments if s.is_code and s.address <= address < s.address + s.size)
    at = address - segment.address
    found = decode(int.from_bytes(segment.data[at : at + 4], "little"), image.isa)
    assert found is not None, "it is in a loop of the listing"
    return found

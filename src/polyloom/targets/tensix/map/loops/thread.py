# SPDX-License-Identifier: Apache-2.0
"""Assembler text of the T cores: Tensix words in the instruction stream, stores to the configuration and to the MOP
expander, counted loops, and words that the core computes and pushes.

Registers: s0 is where words are pushed, s1 to s11 belong to whoever writes the program, t0 and t1 to this module.
Addresses: ISA documentation, memory map of the RISC-V cores; block and condition bits: page of `STALLWAIT`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from polyloom.ir.ssa import Place
from polyloom.riscv.assemble import assemble
from polyloom.targets.tensix.words.configuration import settings
from polyloom.targets.tensix.words.encode import encode, rotate_word
from polyloom.targets.tensix.words.isa import instructions_by_name, spelling_key
from polyloom.targets.tensix.words.program import CORE

CONFIGURATION: Final = 0xFFEF0000
MOP: Final = 0xFFB80000
PUSH: Final = 0xFFE40000
_WORD: Final = 0xFFFFFFFF
MISC, SYNC, PACK, UNPACK, MATRIX, CONFIG, VECTOR = (1 << k for k in (0, 1, 2, 3, 6, 7, 8))
"""What STALLWAIT and SEMWAIT hold back."""
SCALAR_BUSY, UNPACKER_BUSY, PACKERS_BUSY, MATRIX_BUSY, STORES, VECTOR_BUSY = 0x1, 0x2, 0x78, 0x80, 1 << 13, 1 << 14
"""What STALLWAIT waits for: the scalar unit's memory, the first unpacker, the packers, the matrix unit, the core's
stores, the vector unit."""
IS_EMPTY: Final = 1
"""SEMWAIT waits while a semaphore is 0."""
THREAD_IDLE: Final = 0xFFE80004
EXPANDER_IDLE: Final = 0xFFE80008
"""Where a load waits until the core's thread, or its MOP expander, is idle (ISA documentation, TTSync)."""
Lines = list[str]


class StatementLine(str):
    """Line of assembly that is for one statement of several, at this place of the source."""

    place: Place

    @classmethod
    def locate(cls, line: str, place: Place) -> StatementLine:
        made = cls(line)
        made.place = place
        return made


@dataclass(frozen=True, slots=True)
class Part:
    """A thread's share of a stage: words of the shared configuration and of its own one, what must not begin before
    these are stored (the STALLWAIT's mask), and everything behind.
    """

    shared: Mapping[int, int]
    own: Mapping[int, int]
    holds: int
    lines: Lines


Parts = tuple[Part, Part, Part]
"""Of T0, T1 and T2."""


def encode_word(name: str, **fields: int) -> int:
    """Encoding of a Tensix instruction from its fields."""
    return encode(instructions_by_name()[spelling_key(name)], fields)


def shared_configuration(**values: int) -> dict[int, int]:
    """Words of the shared configuration, of fields by name."""
    made: dict[int, int] = {}
    for name, value in values.items():
        setting = settings()[name]
        assert not setting.thread and 0 <= value < 1 << setting.width, name
        bits = value << setting.shift
        # A tile descriptor is a field of 128 bits, that is of four words.
        for number in range(-(-(setting.shift + setting.width) // 32)):
            made[setting.word + number] = made.get(setting.word + number, 0) | bits >> 32 * number & _WORD
    return made


def thread_configuration(**values: int) -> dict[int, int]:
    """Words of a thread's own configuration, of fields by name."""
    made: dict[int, int] = {}
    for name, value in values.items():
        setting = settings()[name]
        assert setting.thread and 0 <= value < 1 << setting.width, name
        made[setting.word] = made.get(setting.word, 0) | value << setting.shift
    return made


def setc16_fields(**values: int) -> list[int]:
    """SETC16 words of a thread's own configuration, of fields by name."""
    return setc16_words(thread_configuration(**values))


def setc16_words(values: Mapping[int, int]) -> list[int]:
    """SETC16 words of a thread's own configuration, by number."""
    return [encode_word("SETC16", setc16_reg=at, setc16_value=value) for at, value in sorted(values.items())]


def inline_words(*words: int) -> Lines:
    """Words in the instruction stream of the core, which passes them on (`.ttinsn`)."""
    # The core passes a word on whose low two bits are not 3, which the rotation guarantees.
    return [f".word {rotate_word(each):#010x}" for each in words]


def store_words(base: int, values: Mapping[int, int]) -> Lines:
    """Stores of words at `base`, by their number."""
    lines = [f"li t0, {base:#x}"]
    for at, value in sorted(values.items()):
        lines += [f"li t1, {value:#x}", f"sw t1, {4 * at}(t0)"]
    return lines


def configure_mop(words: Sequence[int]) -> Lines:
    """Stores to the nine registers of the MOP expander, which must be idle (ISA documentation, page of `MOP`)."""
    return store_words(MOP, dict(enumerate(words)))


def push_register(register: str) -> Lines:
    """Push of a word that the core has computed; `start` has set s0."""
    return [f"sw {register}, 0(s0)"]


def await_idle(at: str = "t0", loaded: str = "t1", where: int = THREAD_IDLE) -> Lines:
    """Wait of a core until its thread is idle, by a load; the registers are for its address and its value."""
    return [f"li {at}, {where:#x}", f"lw {loaded}, 0({at})", f"add {loaded}, {loaded}, {loaded}"]  # the use waits


def exchange(first: str, second: str) -> Lines:
    """Exchange of two registers, such as the places of two buffers."""
    return [f"mv t1, {first}", f"mv {first}, {second}", f"mv {second}, t1"]


def start() -> Lines:
    return [f"li s0, {PUSH:#x}"]


_BRANCH: Final = 500
"""Lines, of two instructions at most, that a branch certainly reaches over; it has 4096 bytes."""


def counted_loop(label: str, register: str, count: int, body: Lines) -> Lines:
    """Counted loop of the body; nothing for 0."""
    if count < 2:
        return body * count
    back = [f"bnez {register}, {label}"]
    # Branches reach 4 KiB, `j` reaches 1 MiB (RISC-V unprivileged manual, section 2.5).
    if len(body) > _BRANCH:
        back = [f"beqz {register}, {label}.end", f"j {label}", f"{label}.end:"]
    return [f"li {register}, {count}", f"{label}:", *body, f"addi {register}, {register}, -1", *back]


def assemble_thread(stages: Sequence[Lines], base: int) -> tuple[bytes, list[dict[int, str]]]:
    """Core's program, which ends with `ebreak`, and by stage the line of each address."""
    # Assembled as one program: branches of a stage may reach over others, and `base` decides their offsets.
    whole = [*((stage, line) for stage, lines in enumerate(stages) for line in lines), (len(stages) - 1, "ebreak")]
    made = assemble("".join(f"{line}\n" for _, line in whole), CORE, base, "<thread>")
    found = [dict[int, str]() for _ in stages]
    for at, number in made.lines.items():
        stage, line = whole[number - 1]
        found[stage][at] = line
    return made.data, found

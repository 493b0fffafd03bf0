# SPDX-License-Identifier: Apache-2.0
"""Executable of a lowered kernel for core T1, with a note that tells what it takes and where its words come from
(docs/formats.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from polyloom.ir.ssa import Constant, Function, Instruction, Place
from polyloom.riscv.backend.core import Placement, Program, compile_program
from polyloom.riscv.backend.push import WORD
from polyloom.riscv.names import parse_isa
from polyloom.riscv.source_lines import Lines
from polyloom.targets.tensix.source import note as notes
from polyloom.targets.tensix.source.driver import Driver, Per, build_driver
from polyloom.targets.tensix.source.locate import source_text
from polyloom.targets.tensix.source.note import Note
from polyloom.targets.tensix.words.decode import decode
from polyloom.targets.tensix.words.isa import Member

CORE: Final = parse_isa("rv32im")
T1: Final = Placement(0xA000, 0x20000, 0xFFB00800)
"""From T1's reset address on; nothing else is in L1 while a kernel runs alone. The stack is in the core's own memory,
of which Blackhole has more."""
_REGISTERS: Final = 8


@dataclass(frozen=True, slots=True)
class Part:
    """A lowered function, and of each word, in the order of the text, the reason why it is there."""

    function: Function
    reasons: Sequence[str]
    spills: int = 0


def build_executable(name: str, kernel: Part, init: Part | None, member: Member, dest: int, per: Per) -> bytes:
    """ELF file of a kernel. Errors: PL0930 to PL0933 of the backend."""
    driver = build_driver(kernel.function, init.function if init else None, per, member)
    parts = {"kernel": kernel, **({"init": init} if init else {})}
    facts = {"spills": sum(part.spills for part in parts.values()), **_program_facts(list(parts.values()), member)}

    def note(program: Program) -> bytes:
        known = {**program.places, **dict(_word_places(driver, parts, program.marks))}
        lines = Lines(tuple(sorted(known)), tuple(known[at] for at in sorted(known)))
        arguments = {p: program.data[datum] for p, datum in driver.arguments.items()}
        own = {datum: place for datum, place in program.data.items() if datum not in driver.arguments.values()}
        # Data of the kernel itself, such as texts, are of no interest to who loads it.
        own = {datum: place for datum, place in own.items() if "." not in datum or datum.split(".")[0] in _OWN}
        return notes.encode(Note(name, member, dest, per, arguments, own, lines, _source_texts(known.values()), facts))

    return compile_program(driver.function, CORE, T1, note).elf


_OWN: Final = ("setup", "log")


def _word_places(driver: Driver, parts: Mapping[str, Part], marks: Mapping[int, int]) -> Iterator[tuple[int, Place]]:
    """Places of the words of kernels, with what they compute, or why they are there."""
    words = {name: list(_words(part.function)) for name, part in parts.items()}
    for number, address in sorted(marks.items(), key=lambda pair: pair[1]):
        name, at = driver.numbers[number]
        place = words[name][at].place
        yield address, replace(place, reason=parts[name].reasons[at])


def _words(function: Function) -> Iterator[Instruction]:
    return (i for block in function.blocks for i in block.instructions if i.called == WORD.name)


def _source_texts(places: Iterable[Place]) -> dict[str, dict[str, str]]:
    """Lines of the source that words come from."""
    found: dict[str, dict[str, str]] = {}
    for place in sorted(places, key=lambda p: (p.file, p.line)):
        # The listing shows the source even where its files are not at hand.
        if (line := _source_lines(place.file)[place.line : place.line + 1]) and place.line:
            found.setdefault(place.shown_file, {})[str(place.line)] = line[0]
    return found


@lru_cache(maxsize=16)
def _source_lines(file: str) -> tuple[str, ...]:
    """Lines of a file by number, from 1 on; nothing of a file that is not there."""
    return ("", *(source_text(file) or "").splitlines())


def _program_facts(parts: Sequence[Part], member: Member) -> dict[str, int]:
    """Facts of the program: words, NOPs among them, general registers that are named."""
    words = [i.operands[0] for part in parts for i in _words(part.function)]
    known = [decode(w.value & 0xFFFFFFFF, member) for w in words if isinstance(w, Constant)]
    nops = sum(found is not None and found.row.name == "SFPNOP" for found in known)
    registers = {
        register
        for found, word in zip(known, (w.value & 0xFFFFFFFF for w in words if isinstance(w, Constant)), strict=True)
        if found is not None
        for register in found.row.registers(word, (*found.row.reads, *found.row.writes))
        # Constant registers are always there and cost nothing.
        if register < _REGISTERS
    }
    return {"words": len(words), "nops": nops, "registers": len(registers)}

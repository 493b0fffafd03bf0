# SPDX-License-Identifier: Apache-2.0
"""Listing of a vector kernel beside its source: address, cycle, word, instruction, the registers that it reads and
writes, and why it is there.

Cycles count from where control enters a function or comes from elsewhere: a word takes one, SFPSWAP two, a replay as
many as it plays (ISA documentation, page of `SFPSWAP` and page of `REPLAY`). Instructions of the core have none: they
run beside.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from polyloom.diagnostics import input_error
from polyloom.ir.ssa import Place as Origin
from polyloom.riscv.encode import decode as decode_riscv
from polyloom.targets.target import Given
from polyloom.targets.tensix.options import Options
from polyloom.targets.tensix.place import Place
from polyloom.targets.tensix.source import note as notes
from polyloom.targets.tensix.source.executable import CORE
from polyloom.targets.tensix.source.note import Note
from polyloom.targets.tensix.words import program
from polyloom.targets.tensix.words.decode import decode
from polyloom.targets.tensix.words.disassemble import annotate_word
from polyloom.targets.tensix.words.isa import Member
from polyloom.targets.tensix.words.program import Item

_JUMPS: Final = ("jal", "jalr", "beq", "bne", "blt", "bge", "bltu", "bgeu")
_SLOTS: Final = 64
"""What a replay of length 0 plays."""


def listing(data: bytes) -> str:
    """Listing of a kernel's executable. Errors: PL0810."""
    note = notes.decode(data)
    if note is None:
        raise input_error("PL0810", "this is no vector kernel's executable", help="compile it with polyloom compile")
    given = program.read(Given("kernel.elf", data, Place(note.member), Options()))
    facts = ", ".join(f"{name} {value}" for name, value in note.facts.items())
    head = f"{note.kernel} on tensix:{note.member}, Dst of {note.dest} bits, one call per {note.per}: {facts}"
    return "\n".join([head, *_listing_lines(given, note)]) + "\n"


def _listing_lines(given: program.Program, note: Note) -> Iterator[str]:
    shown: tuple[str, int] = ("", 0)
    cycle = 0
    for item in given.items:
        if item.address in given.labels:
            yield f"{given.labels[item.address]}:"
            cycle = 0
        line = note.lines.at(item.address)
        if line is not None and line.line and (line.file, line.line) != shown:
            shown = (line.file, line.line)
            yield f"  {line.file}:{line.line}  {note.texts.get(line.file, {}).get(str(line.line), '').strip()}".rstrip()
        if item.is_tensix:
            yield _word_line(item, line, cycle, note.member)
            cycle += _issue_cycles(item.word, note.member)
        else:
            yield _core_line(item, line)
            # Behind a jump control comes from elsewhere, and the count has no meaning.
            cycle = 0 if _is_jump(item.word) else cycle


def _word_line(item: Item, line: Origin | None, cycle: int, member: Member) -> str:
    text = annotate_word(item.word, member)
    used = _register_text(item.word, member)
    return f"{item.address:8x} {cycle:5} {item.word:08x}  {text:<30} {used:<14} {line.reason if line else ''}".rstrip()


def _core_line(item: Item, line: Origin | None) -> str:
    """Line of an instruction of the core; a store of a word that is computed has a reason, too."""
    found = decode_riscv(item.word, CORE)
    text = program.instruction_text(found) if found is not None else f".word {item.word:#010x}"
    reason = line.reason if line else ""
    return f"{item.address:8x}       {item.word:08x}  {text:<30} {'':<14} {reason}".rstrip()


def _register_text(word: int, member: Member) -> str:
    found = decode(word, member)
    if found is None or found.row.unit != "vector":
        return ""
    read, written = (sorted(found.row.registers(word, roles)) for roles in (found.row.reads, found.row.writes))
    text = " ".join(f"L{r}" for r in read)
    made = " ".join(f"L{r}" for r in written)
    return f"{text} > {made}".strip() if made else text


def _issue_cycles(word: int, member: Member) -> int:
    found = decode(word, member)
    if found is None:
        return 1
    if found.row.name == "SFPSWAP":
        return 2
    if found.row.name == "REPLAY":
        # In the macro's order: start, length, and the two bits of the mode, of which the last is load.
        values = list(found.values.values())
        is_loading = values[-1]
        return 1 if is_loading else max(1, values[1] or _SLOTS)
    return 1


def _is_jump(word: int) -> bool:
    found = decode_riscv(word, CORE)
    return found is not None and found.row.mnemonic in _JUMPS

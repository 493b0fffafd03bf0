# SPDX-License-Identifier: Apache-2.0
"""Static verifier of words: opcodes, modes and addresses that are reserved, what is not modelled, and hazards along
straight runs (hazards.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from polyloom.diagnostics import Diagnostic
from polyloom.targets.tensix.words.decode import Decoded, decode
from polyloom.targets.tensix.words.hazards import hazards
from polyloom.targets.tensix.words.isa import Member
from polyloom.targets.tensix.words.mop import attach_mop_configuration
from polyloom.targets.tensix.words.program import Item, Program

_MODES: Final[Mapping[str, frozenset[int]]] = {
    "SFPLOADI": frozenset({0, 1, 2, 4, 8, 10}),
    "SFPSHFT2": frozenset(range(7)),
    "SFPSWAP": frozenset(range(10)),
}
"""The modes that have a meaning, of instructions where others do not."""
# Mutex 1 does not exist: ATGETM of it waits for ever (ISA documentation, page of `ATGETM`).
_MUTEXES: Final = frozenset({0, 2, 3, 4, 5, 6, 7})


def verify(program: Program, member: Member) -> Sequence[Diagnostic]:
    """Findings in the order of the words, hazards after them (PL1210 to PL1213)."""
    found = [d for item in program.items if item.is_tensix for d in _verify_word(item, member)]
    for run in sequential_runs(replace(program, items=tuple(attach_mop_configuration(program.items, program.labels)))):
        # An ELF file holds pieces of programs, between which the stack of flags is not known.
        found += hazards(run, member, is_whole=not program.is_elf)
    return found


def sequential_runs(program: Program) -> Iterator[list[Item]]:
    """Straight runs of Tensix words; a RISC-V instruction between two words takes a cycle at least, so no run crosses
    one.
    """
    run: list[Item] = []
    for item in program.items:
        if item.is_tensix:
            run.append(item)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _verify_word(item: Item, member: Member) -> Iterator[Diagnostic]:
    """Findings of one word: unknown opcode, stray bits, not modelled, reserved values."""
    found = decode(item.word, member)
    if found is None:
        yield _diagnostic("PL1210", item, f"{member.capitalize()} has no instruction {item.word:#010x}", "leave it out")
        return
    if found.stray:
        message = f"{found.row.mnemonic} has the bits {found.stray:#x} outside of its fields"
        yield _diagnostic("PL1210", item, message, f"write {item.word & ~found.stray:#010x}")
    if found.row.semantics is None:
        yield _diagnostic(
            "PL1211", item, f"{found.row.mnemonic} is not modelled", "the model faults where it is executed"
        )
    if (reserved := _reserved_value(found)) is not None:
        yield _diagnostic("PL1213", item, *reserved)


def _reserved_value(found: Decoded) -> tuple[str, str] | None:
    """Reserved value of a field, as message and help: odd addresses of Dst, modes without a meaning, mutexes that do
    not exist (ISA documentation, page of `SFPLOAD`, page of `ATGETM`).
    """
    row, values = found.row, found.values
    # Bit 0 of an address selects nothing on the machine; what an odd one does is not documented.
    if row.name in ("SFPLOAD", "SFPSTORE") and values["dest_reg_addr"] & 1:
        message = f"{row.mnemonic} has the odd address {values['dest_reg_addr']}"
        return message, "even addresses select columns and rows; write an even one"
    if row.name in _MODES and (mode := _mode(found)) not in _MODES[row.name]:
        known = ", ".join(map(str, sorted(_MODES[row.name])))
        return f"{row.mnemonic} has the reserved mode {mode}", f"its modes are {known}"
    if row.name in ("ATGETM", "ATRELM") and values["mutex_index"] not in _MUTEXES:
        message = f"{row.mnemonic} names mutex {values['mutex_index']}, for which it waits for ever"
        return message, "the mutexes are 0 and 2 to 7"
    return None


def _mode(found: Decoded) -> int:
    return found.values.get("instr_mod1", found.values.get("instr_mod0", 0))


def _diagnostic(code: str, item: Item, message: str, help: str) -> Diagnostic:
    at = "" if item.span is not None else f" at {item.address:#x}"
    return Diagnostic(code, f"{message}{at}", span=item.span, help=help)

# SPDX-License-Identifier: Apache-2.0
"""End of a run in words: which hart, at which instruction, why, and what helps.

Sources of the causes: the RISC-V privileged specification, "Machine Cause Register", and the programmer's reference
manual, which gives cause 30 to instructions that software emulates.
"""

from __future__ import annotations

from typing import Final

from polyloom.diagnostics import INPUT, Diagnostic
from polyloom.targets.minion.machine import Machine
from polyloom.targets.minion.memory_map import find_gap, region_name
from polyloom.targets.minion.run.model import Outcome, Setup, Trap
from polyloom.targets.minion.words.locate import Locator

CAUSES: Final = {
    0: "misaligned instruction",
    1: "instruction access fault",
    2: "illegal instruction",
    3: "breakpoint",
    4: "misaligned load",
    5: "load access fault",
    6: "misaligned store or atomic",
    7: "store or atomic access fault",
    8: "environment call from U-mode",
    9: "environment call from S-mode",
    11: "environment call from M-mode",
    12: "instruction page fault",
    13: "load page fault",
    15: "store page fault",
    30: "instruction that software has to emulate",
}
_INTERRUPT: Final = 1 << 63
_ACCESSES: Final = (1, 5, 7)
# For causes whose reason is the machine's, not the program's; all others get the general help.
_HELP: Final = {
    1: "harts fetch instructions from DRAM only",
    2: "the tensor CSRs are those of hart 0 of a minion; 0x2F (atomics) and d are no instructions of the Minion",
    30: "division, square root and conversions to 64 bits are no instructions of the machine: use integers",
}


def hart_name(hart: int) -> str:
    """`hart 5 (minion 2, thread 1)`: of a number as mhartid has it."""
    return f"hart {hart} (minion {hart >> 1}, thread {hart & 1})"


def cause_name(cause: int) -> str:
    """Name of a cause; the highest bit of mcause marks interrupts."""
    if cause & _INTERRUPT:
        return f"interrupt {cause & ~_INTERRUPT}"
    return CAUSES.get(cause, f"cause {cause}")


def trap_diagnostic(trap: Trap, locator: Locator, machine: Machine) -> Diagnostic:
    """Diagnostic PL1309 of a trap without a handler."""
    where = locator.at(trap.pc)
    message = f"{hart_name(trap.hart)} trapped at {where}: {cause_name(trap.cause)}"
    notes = [f"cause {trap.cause}, value {trap.value:#x}"]
    # mtval has the address only for faults of accesses (RISC-V privileged manual, mtval).
    if trap.cause in _ACCESSES:
        notes.append(f"{trap.value:#x} is {_place_name(machine, trap.value)}")
    # An address without memory has no word to show.
    if trap.cause == 2 and trap.word:
        notes.append(f"the word is {trap.word:#010x}")
    help = _HELP.get(trap.cause, "install a handler in mtvec, which is 0, or mend the instruction")
    # Other memories hold code there.
    if trap.cause == 1 and machine.is_erbium:
        help = "harts fetch instructions from MRAM, the boot ROM and the scratch SRAM"
    return Diagnostic("PL1309", message, INPUT, notes=tuple(notes), help=help)


def _place_name(machine: Machine, address: int) -> str:
    """Name of the place of an address that faulted: beyond which memory it is, or its region."""
    gap = find_gap(machine, address, 1)
    if gap is None:
        return region_name(machine, address)
    return f"beyond {gap.what.removeprefix('the end of ')}" if gap.what.startswith("the end of ") else gap.what


def end_diagnostic(outcome: Outcome, locator: Locator, setup: Setup) -> Diagnostic | None:
    """Diagnostic of how a run ended, hazards and deadlocks apart. Codes: PL1309 to PL1311."""
    if outcome.trap is not None:
        return trap_diagnostic(outcome.trap, locator, setup.place.machine)
    if outcome.stop == "failed":
        message = f"{hart_name(outcome.hart)} says that the program failed: it wrote 0x50bad000 to validation0"
        return Diagnostic("PL1311", message, INPUT, help="what the program printed stands in the report")
    if outcome.stop == "max-cycles":
        max_cycles = setup.max_cycles
        unit = "instructions of a hart" if setup.functional else "cycles"
        notes = (f"{hart_name(outcome.hart)} is at {locator.at(outcome.pc)}",)
        message = f"the program has not ended after {max_cycles} {unit}"
        help = f"is there a loop without an end? --max-cycles {10 * max_cycles} lets it run longer"
        return Diagnostic("PL1310", message, INPUT, notes=notes, help=help)
    return None

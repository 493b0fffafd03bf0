# SPDX-License-Identifier: Apache-2.0
"""Emulation substitution: division and floating point that a member lacks become calls of exact integer routines.

The routines are C (emulated.c), read as any source is; their names begin with `emulated.`, by which listings and
reports tell them. Short ones become part of their callers like other functions.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from polyloom.diagnostics import PolyloomError, Source, infeasible
from polyloom.frontend.c.llvm import load_all
from polyloom.frontend.source import Options
from polyloom.ir.ssa import NOWHERE, Function, Instruction
from polyloom.ir.ssa_types import Type
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.map.select.lower import SAME, type_of
from polyloom.transform.ssa.library_calls import Library, call_library

EMULATED: Final = "emulated."
"""With a dot, which no name of C has, where the file has an underscore."""
_WRITTEN: Final = "emulated_"
SOURCE: Final = Path(__file__).with_name("emulated.c")


def emulate(function: Function, machine: Machine) -> Function:
    """The program for a member. Errors: PL1090 for what has no routine (exit 3)."""

    def lacks(operation: str, type: Type) -> bool:
        return not machine.has(SAME[operation], type_of(type).width)

    def refusal(i: Instruction) -> PolyloomError:
        words = i.place.words()
        at = f", {words}" if words else ""
        return infeasible(
            "PL1090",
            f"{machine.name} has no `{i.callee}` of floats{at}, and no routine for it",
            help="multiply and add in two steps, or take a member with floating point, such as copper",
        )

    return call_library(function, Library(EMULATED, routines, lacks, refusal))


@cache
def routines() -> tuple[Function, ...]:
    """All of them, each with those that it calls."""
    text = SOURCE.read_text(encoding="utf-8")
    found = tuple(
        line.split("(")[0].split()[-1]
        for line in text.splitlines()
        if line[:4] in ("u32 ", "u64 ") and _WRITTEN in line.split("(")[0]
    )
    return tuple(map(_unplaced, load_all(Source(str(SOURCE), text), found, Options(), 1, "riscv32-unknown-elf")))


def _unplaced(function: Function) -> Function:
    """Without places, which would be in a file that is not the user's, and with names that no user can write."""
    blocks = tuple(
        replace(
            block,
            instructions=tuple(replace(i, place=NOWHERE, callee=_named(i.callee)) for i in block.instructions),
            terminator=replace(block.terminator, place=NOWHERE),
        )
        for block in function.blocks
    )
    others = tuple(map(_unplaced, function.others))
    return replace(function, name=_named(function.name), blocks=blocks, place=NOWHERE, others=others)


def _named(name: str) -> str:
    return name.replace(_WRITTEN, EMULATED)

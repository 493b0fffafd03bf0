# SPDX-License-Identifier: Apache-2.0
"""Emulation substitution: division and floating point that a member lacks become calls of exact integer routines (I.
Godard, "Pipelining"; docs/targets/belt.md, Members).

The routines are in SSA form (emulated.ssa), which clang made of C (emulated.c): a test compares them, and makes the
file again. Their names begin with `emulated.`, by which listings and reports tell them. Short ones become part of their
callers like other functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from polyloom.diagnostics import PolyloomError, infeasible
from polyloom.ir.ssa import Function, Instruction
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_types import Type
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.map.select.lower import SAME, belt_type
from polyloom.transform.ssa.library_calls import Library, call_library

EMULATED: Final = "emulated."
"""With a dot, which no name of C has, where the file of C has an underscore."""
ROUTINES: Final = Path(__file__).with_name("emulated.ssa")


def emulate(function: Function, machine: Machine) -> Function:
    """Program with the routines that a member needs. Errors: PL1090 for what has no routine (exit 3)."""

    def lacks(operation: str, type: Type) -> bool:
        return not machine.supports(SAME[operation], belt_type(type).width)

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
    """Library of all routines, each with those that it calls; read once."""
    known = {f.name: f for f in read(ROUTINES.read_text(encoding="utf-8"), ROUTINES.name).program}
    return tuple(replace(f, others=tuple(known[name] for name in _callees(f, known))) for f in known.values())


def _callees(function: Function, known: Mapping[str, Function]) -> list[str]:
    """Transitive callees: names of the routines that one calls, directly or not."""
    # In the order of discovery, so that a program's routines have the same numbers in every run.
    found: dict[str, None] = {}
    work = [function.name]
    while work:
        instructions = [i for block in known[work.pop()].blocks for i in block.instructions]
        new = [i.called for i in instructions if i.called and i.called not in found]
        found |= dict.fromkeys(new)
        work += new
    return [name for name in found if name != function.name]

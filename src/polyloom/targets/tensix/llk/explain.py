# SPDX-License-Identifier: Apache-2.0
"""Diagnostics of a low-level kernel: what clang, the linker and a run that stands still say, in the terms of the three
threads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from polyloom.diagnostics import Diagnostic, PolyloomError, input_error
from polyloom.frontend.c.clang import diagnostics
from polyloom.riscv.source_lines import Lines
from polyloom.targets.tensix.llk.headers import LIBRARIES, find_other_architecture
from polyloom.targets.tensix.options import Core
from polyloom.targets.tensix.words.isa import Member

ROLES: Final = {"t0": "unpack", "t1": "math", "t2": "pack"}
_MISSING: Final = re.compile(r"'(.*)' file not found")
_UNDEFINED: Final = re.compile(r"undefined symbol: (.*)")
_OVERFLOWED: Final = re.compile(r"will not fit in region '(\w+)': overflowed by (\d+) bytes")
_NO_STACK: Final = "data leave no room for the stack"
_ADDRESS: Final = re.compile(r"(?:pushed )?from (0x[0-9a-f]+)")
_VECTORS: Final = "__sfpi_"


class UsesVectors(Exception):
    """The program has vector operations, which clang does not compile."""


def explain_compiler(messages: str, includes: Sequence[str], member: Member) -> Iterator[Diagnostic]:
    """Diagnostics of clang's messages; of a header that is missing, who has it. PL0151, PL1227."""
    for found in diagnostics(messages):
        missing = _MISSING.search(found.message)
        library = missing and find_other_architecture(includes, missing[1], member)
        # Other errors of clang are the kernel's own, and stay as they are.
        if missing is None:
            yield found
        elif library:
            other = next((name for name, folder in LIBRARIES.items() if folder == library), None)
            run = f"run it with --on tensix:{other}" if other else "the tile has no model of it"
            what = f"the kernel is for another architecture: '{missing[1]}' is a header of {library}"
            yield replace(found, code="PL1227", message=what, help=f"{run}, or include a header of {LIBRARIES[member]}")
        else:
            # A mistyped folder looks like a missing header, and clang says nothing about it.
            absent = next((f"{folder} is no folder; " for folder in includes if not Path(folder).is_dir()), "")
            what = f"the folder of {missing[1]}, a checkout of tt-metal or tt-llk, or an unpacked ttnn wheel"
            yield replace(found, help=f"{absent}give {what}: -I DIR")


def explain_linker(messages: str, core: Core, path: str) -> Iterator[Diagnostic]:
    """Diagnostics of the linker's messages: names that nothing defines, memories that are too small. PL1229."""
    # A linker repeats a name for each place that mentions it.
    names = list(dict.fromkeys(_UNDEFINED.findall(messages)))
    overflowed = _OVERFLOWED.search(messages)
    if any(_VECTORS in name for name in names):
        raise UsesVectors
    if "main()" in names:
        what, help = "has no function that is called", "define `void run_kernel()`, `kernel_main()` or `main()`"
    elif names:
        what = f"calls {', '.join(f'`{name}`' for name in names[:3])}, which nothing defines"
        help = "define it in the file: libraries are not linked"
    elif overflowed is not None:
        where = "the room of the core's program" if overflowed[1] == "L1" else "the core's local memory"
        what, help = f"is {overflowed[2]} bytes too large for {where}", "leave out code, or constants"
    elif _NO_STACK in messages:
        what, help = "has more data than its local memory takes beside the stack", "leave out variables"
    else:
        what, help = f"does not link: {messages.strip()[:200]}", "see docs/targets/tensix-llk.md"
    yield input_error("PL1229", f"the program of core {core}, {path}, {what}", help=help).diagnostics[0]


def explain_deadlock(error: PolyloomError, semaphores: Sequence[Sequence[int]]) -> PolyloomError:
    """Deadlock of the three threads: who waits for whom, with the semaphores as they stand."""
    found = error.diagnostics[0]
    notes = tuple(_name_role(note) for note in found.notes)
    held = ", ".join(f"{n}: {value} of {most}" for n, (value, most) in enumerate(semaphores) if most)
    # A semaphore with a maximum of 0 takes no part.
    if held:
        notes = (*notes, f"semaphores stand at {held}")
    help = "compare how many tiles each thread handles: one waits for what another does not unpack, compute or pack"
    return PolyloomError(replace(found, notes=notes, help=help))


def locate_addresses(error: PolyloomError, lines: Sequence[Lines]) -> PolyloomError:
    """Diagnostic with lines of the sources in the place of addresses, where the programs tell them."""

    def place(found: re.Match[str]) -> str:
        # Programs have rooms of their own in L1, so an address is in one table at most.
        here = next((at for each in lines if (at := each.at(int(found[1], 16))) is not None), None)
        return found[0] if here is None else f"from {here}"

    first = error.diagnostics[0]
    notes = tuple(_ADDRESS.sub(place, note) for note in first.notes)
    return PolyloomError(replace(first, message=_ADDRESS.sub(place, first.message), notes=notes))


def _name_role(note: str) -> str:
    return re.sub(r"\b(t[012])\b", lambda match: f"{match[1]} ({ROLES[match[1]]})", note, count=1)

# SPDX-License-Identifier: Apache-2.0
"""Costs of a run of compiled loops on minions, for comparison with other targets: lanes of all minions that take part,
and lines that DRAM gave or took.

A minion's lanes multiply and add at once: each is a multiplier and an adder. Products for the tensor coprocessor have
as many as it multiplies per cycle for their types (8, 16 or 64), everything else the eight lanes of the vector unit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast

from polyloom.ir.operations import ElementType
from polyloom.ir.signature import Signature
from polyloom.machine import stated_figures
from polyloom.riscv import source_lines
from polyloom.riscv.image import elf_image
from polyloom.riscv.timing.listing_loops import hottest_loop
from polyloom.targets.costs import ADDING, LOGIC, Costs, Units, listing_lines, operation_rates
from polyloom.targets.minion.options import Options
from polyloom.targets.minion.run.account import CycleCounts, loop_weights
from polyloom.targets.minion.run.figures import DRAM_RATE
from polyloom.targets.minion.words import isa
from polyloom.targets.minion.words import note as notes
from polyloom.targets.minion.words.listing import listing
from polyloom.targets.minion.words.note import Note
from polyloom.targets.target import Execution, Program

_LANES: Final = 8
_TYPES: Final[tuple[ElementType, ...]] = ("f32", "i32", "u32", "i16", "u16", "i8", "u8")
_FUSED: Final = "a product and the sum that it goes to round once (--fp contract)"
_REORDERED: Final = "sums of floats take another order, and products fuse with them (--fp reassociate)"
_STRICT: Final = "numbers that are not normal count as zeros"


def costs(program: Program, execution: Execution) -> Costs:
    """Costs of a program of loops that ran; of other programs only the instructions are known."""
    note = notes.decode(program.data)
    if note is None:
        return Costs(issued=execution.operations, issues="instructions")
    moved = cast("dict[str, int]", execution.facts["bytes"])
    counted = cast("CycleCounts | None", execution.counted)
    cycles = {} if counted is None else loop_weights(counted)
    places = source_lines.decode_lines(program.data)
    return Costs(
        time=None if execution.cycles is None else "fitted",
        issued=execution.operations,
        issues="instructions of all harts, a tensor operation as one",
        units=tuple(_units(note)),
        # Lines are counted by the caches' timing, which functional mode does not have.
        moved=moved["dram"] if execution.cycles is not None else None,
        boundary="lines from and to DRAM",
        bandwidth=float(DRAM_RATE),
        code_bytes=sum(len(s.data) for s in elf_image(program.data, isa.ISA).segments if s.is_code),
        arithmetic=_arithmetic(note.signature, cast(Options, program.options)),
        loop=tuple(listing_lines(hottest_loop(listing(program.data), cycles, places, execution.hot_lines), places)),
        stated=stated_figures.read_stated(str(program.place or "")),
    )


def _units(note: Note) -> Iterator[Units]:
    lanes = note.minions * (note.peak or _LANES)
    yield Units("multipliers", lanes, operation_rates(("mul",), _TYPES))
    yield Units("adders", lanes, operation_rates((*ADDING, *LOGIC), _TYPES))


def _arithmetic(signature: Signature, options: Options) -> str | None:
    """Difference of the arithmetic from the source's, in words; None for integers, which have the bits of the
    source.
    """
    if not any(a.dtype.kind == "f" for a in signature.arguments):
        return None
    return {"strict": _STRICT, "contract": _FUSED, "reassociate": _REORDERED}[options.fp]

# SPDX-License-Identifier: Apache-2.0
"""Cost model of a run on a tile: for products the multipliers and adders of the matrix unit, for everything else those
of the vector unit; and the lines that unpackers and packers move from and to L1.

An MVMUL multiplies 8 x 16 by 16 x 16 datums in a cycle, at fidelity 1; each phase of a higher fidelity takes another
one. The vector unit has 32 lanes, each a multiplier and an adder. A vector kernel has its values in Dst from the start,
and moves none. Source: ISA documentation, page of `MVMUL` and page of the vector unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from math import prod
from typing import Final, cast

from polyloom.ir.operations import ElementType
from polyloom.riscv.image import elf_image
from polyloom.targets.costs import ADDING, LOGIC, Costs, Line, Units, operation_rates
from polyloom.targets.report import Table
from polyloom.targets.target import Execution, Given, Json, Program
from polyloom.targets.tensix.options import Options
from polyloom.targets.tensix.place import Place
from polyloom.targets.tensix.run.account import CycleCounts, loop_weights
from polyloom.targets.tensix.run.events import origin
from polyloom.targets.tensix.words import program
from polyloom.targets.tensix.words.arrays.note import FUSED
from polyloom.targets.tensix.words.decode import decode
from polyloom.targets.tensix.words.disassemble import annotate_word
from polyloom.targets.tensix.words.isa import Member
from polyloom.targets.tensix.words.program import Item

_MATRIX: Final = 8 * 16 * 16
_VECTOR: Final = 32
_L1: Final = 16 * 16
"""Bytes per cycle: 16 banks, each a line of 16 bytes (native/tensix/banks.hpp)."""
_TYPES: Final[tuple[ElementType, ...]] = ("f32", "i32")
_LONGEST: Final = 64
"""Lines that are shown."""


def costs(made: Program, execution: Execution, member: Member) -> Costs:
    """Costs of a program that ran on a member: units, traffic, and the loop that does the work."""
    facts, counted = execution.facts, cast("CycleCounts | None", execution.counted)
    weights = None if counted is None else loop_weights(counted)
    return Costs(
        # The model counts cycles of the documented pipeline; nothing was measured on silicon.
        time="fitted",
        issued=execution.operations,
        issues="instructions that units took",
        units=tuple(_units(facts)),
        moved=cast("int | None", execution.detail),
        boundary="lines between L1 and the unpackers and packers",
        bandwidth=float(_L1 * _tile_count(facts)),
        code_bytes=sum(len(s.data) for s in elf_image(made.data, program.CORE).segments if s.is_code),
        arithmetic=_arithmetic_text(facts),
        loop=tuple(
            _inner_loop(Given("program.elf", made.data, Place(member), Options()), "fidelity" in facts, weights)
        ),
        tables=tuple(_tables(facts, execution)),
    )


def _tables(facts: Mapping[str, Json], execution: Execution) -> Iterator[Table]:
    """Units and how busy they were, and the traffic with L1."""
    shares = cast("Mapping[str, float]", facts.get("utilization", {}))
    busy = tuple((name, f"{share:.1%}") for name, share in shares.items() if share)
    if busy:
        yield Table("Units", ("unit", "share of the cycles in which it is busy"), busy)
    if execution.cycles and (moved := cast("int | None", execution.detail)):
        rate = f"{moved / execution.cycles:.2f}"
        yield Table(
            "Bytes between L1 and unpackers and packers", ("bytes", "a cycle"), ((f"{moved:,}", rate),), "memory"
        )


def _units(facts: Mapping[str, Json]) -> Iterator[Units]:
    """Compute units and what each executes per cycle; a program of several stages may use both the matrix and the
    vector unit.
    """
    what = {str(stage["what"]) for stage in cast("list[Mapping[str, Json]]", facts.get("stages", []))}
    if what & {"element-wise", FUSED} and "fidelity" in facts:
        yield from _units({key: value for key, value in facts.items() if key not in ("stages", "fidelity")})
    is_product = "fidelity" in facts
    # Each fidelity phase is one pass of MVMUL over the same operands.
    cycles = cast(int, facts["fidelity"]) if is_product else 1
    lanes = (_MATRIX if is_product else _VECTOR) * _tile_count(facts)
    yield Units("multipliers", lanes, operation_rates(("mul",), _TYPES, cycles))
    yield Units("adders", lanes, operation_rates(("add", "sub") if is_product else (*ADDING, *LOGIC), _TYPES, cycles))


def _tile_count(facts: Mapping[str, Json]) -> int:
    """Tiles of a grid, or 1."""
    return prod(cast("list[int]", facts.get("grid", [])))


def _arithmetic_text(facts: Mapping[str, Json]) -> str | None:
    if "format" not in facts:
        return "the vector unit rounds and flushes as its instructions say"
    if "fidelity" in facts:
        return f"operands in {facts['format']}, fidelity {facts['fidelity']}, sums in {facts['dest']} bits"
    return f"elements in {facts['format']}"


def _inner_loop(found: Given, is_product: bool, weights: Mapping[int, int] | None) -> Iterator[Line]:
    """Inner loop: the run of words of one unit with the most cycles, or of a run that did not count the longest one of
    the unit that does the work; what repeats it may stand outside of the code, in an expander.
    """
    read = program.read(found)
    best, run = list[Item](), list[Item]()

    def weight(items: list[Item]) -> int:
        if weights is None:
            return len(items)
        # Of the source's lines: what the compiler added waits for units, or sets them up, and is nobody's loop.
        return sum(weights.get(i.address, 0) for i in items if not origin(read.lines, i.address).reason)

    for item in read.items:
        # An unrolled loop body and a recorded replay both appear as a run of words of one unit.
        taken = weights is not None or _is_compute_word(item.word, is_product, found.place.member)
        run = [*run, item] if item.is_tensix and taken else []
        best = run if weight(run) > weight(best) else best
    text = ((i.address, f"{i.address:8x}: {i.word:08x}  {annotate_word(i.word, found.place.member)}") for i in best)
    for address, line in islice(text, _LONGEST):
        place = origin(read.lines, address)
        yield Line(line, place.line, place.reason)


def _is_compute_word(word: int, is_product: bool, member: Member) -> bool:
    row = decode(word, member)
    return row is not None and (row.row.name == "MVMUL" if is_product else row.row.unit == "vector")

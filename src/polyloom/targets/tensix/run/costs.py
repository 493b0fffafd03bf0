# SPDX-License-Identifier: Apache-2.0
"""Cost model of a run on a tile: for products the multipliers and adders of the matrix unit, for everything else those
of the vector unit; and the lines that unpackers and packers move from and to L1.

An MVMUL multiplies 8 x 16 by 16 x 16 datums in a cycle, at fidelity 1; each phase of a higher fidelity takes another
one. The vector unit has 32 lanes, each a multiplier and an adder. A vector kernel has its values in Dst from the start,
and moves none. Source: ISA documentation, page of `MVMUL` and page of the vector unit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
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
    cycles = {} if counted is None else loop_weights(counted)
    given = Given("program.elf", made.data, Place(member), Options())
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
        loop=tuple(_inner_loop(given, cycles, execution.hot_lines)),
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


def _inner_loop(found: Given, cycles: Mapping[int, int], hot: Collection[int]) -> Iterator[Line]:
    """Machine's code of a source loop whose lines are `hot`: the run of words of one thread with the most cycles on
    these lines; what repeats it may stand outside of the code, in an expander. Where no word has any, all code of
    these lines that ran.
    """
    read = program.read(found)
    places = {item.address: origin(read.lines, item.address) for item in read.items}
    counted = {at: cycles[at] for at, place in places.items() if place.line in hot and cycles.get(at)}
    # An unrolled loop body and a recorded replay both appear as a run of words.
    runs = [list(run) for is_word, run in groupby(read.items, key=lambda item: item.is_tensix) if is_word]

    def weight(run: Sequence[Item]) -> tuple[int, int]:
        taken = [item.address for item in run if item.address in counted]
        # What the user wrote counts first: what the compiler added waits for units, or sets them up.
        own = sum(counted[at] for at in taken if not places[at].reason)
        return own, sum(counted[at] for at in taken)

    best = max(runs, key=weight, default=list[Item]())
    if not any(item.address in counted for item in best):
        best = [item for item in read.items if item.address in counted]
    first = next((n for n, item in enumerate(best) if item.address in counted), 0)
    # What stands in front of the first word of the loop sets up units.
    for item in best[first : first + _LONGEST]:
        place = places[item.address]
        yield Line(program.item_text(item, found.place.member), place.line, place.reason)

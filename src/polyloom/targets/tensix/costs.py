# SPDX-License-Identifier: Apache-2.0
"""What a run on a Tensix tile cost: for products the multipliers and adders of its matrix unit, for everything else
those of the vector unit.

An MVMUL multiplies 8 x 16 by 16 x 16 datums in a cycle, at fidelity 1; each phase of a higher fidelity takes another
one. The vector unit has 32 lanes, each a multiplier and an adder. What crosses L1's ports is not counted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, cast

from polyloom.ir.operations import ElementType
from polyloom.riscv.image import elf
from polyloom.targets.costs import ADDING, LOGIC, Costs, Line, Units, executing
from polyloom.targets.target import Execution, Json, Program
from polyloom.targets.tensix.loops.thread import core

_MATRIX: Final = 8 * 16 * 16
_VECTOR: Final = 32
_TYPES: Final[tuple[ElementType, ...]] = ("f32", "i32")
_LONGEST: Final = 64
"""Lines that are shown."""


def costs(program: Program, execution: Execution, listing: str) -> Costs:
    """Of a program that ran; `listing` is its own."""
    facts = execution.facts
    return Costs(
        time="fitted",
        issued=execution.operations,
        issues="instructions that units took",
        units=tuple(_units(facts)),
        code_bytes=sum(len(s.data) for s in elf(program.data, core()).segments if s.is_code),
        bound_by=_busiest(facts),
        arithmetic=_arithmetic(facts),
        loop=tuple(map(Line, _loop(listing, "TTMVMUL" if "fidelity" in facts else "TTSFP"))),
    )


def _units(facts: Mapping[str, Json]) -> Iterator[Units]:
    """Of a program of several stages, those of the matrix unit and those of the vector unit, as far as it uses them."""
    what = {str(stage["what"]) for stage in cast("list[Mapping[str, Json]]", facts.get("stages", []))}
    if "element-wise" in what and "fidelity" in facts:
        yield from _units({key: value for key, value in facts.items() if key not in ("stages", "fidelity")})
    is_product = "fidelity" in facts
    cycles = cast(int, facts["fidelity"]) if is_product else 1
    lanes = _MATRIX if is_product else _VECTOR
    yield Units("multipliers", lanes, executing(("mul",), _TYPES, cycles))
    yield Units("adders", lanes, executing(("add", "sub") if is_product else (*ADDING, *LOGIC), _TYPES, cycles))


def _busiest(facts: Mapping[str, Json]) -> str | None:
    used = cast("Mapping[str, float] | None", facts.get("utilization"))
    if not used:
        return None
    name = max(used, key=lambda unit: used[unit])
    return f"{name}, busy in {used[name]:.0%} of the cycles"


def _arithmetic(facts: Mapping[str, Json]) -> str | None:
    if "format" not in facts:
        return "the vector unit rounds and flushes as its instructions say"
    if "fidelity" in facts:
        return f"operands in {facts['format']}, fidelity {facts['fidelity']}, sums in {facts['dest']} bits"
    return f"elements in {facts['format']}"


def _loop(listing: str, mnemonic: str) -> Iterable[str]:
    """The longest run of lines with instructions of the unit that does the work; what repeats it may stand outside of
    the code, in an expander."""
    best, run = list[str](), deque[str]()
    for line in listing.splitlines():
        if mnemonic in line:
            run.append(line)
            continue
        if len(run) > len(best):
            best = list(run)
        run.clear()
    return (max(best, list(run), key=len))[:_LONGEST]

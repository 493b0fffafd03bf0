# SPDX-License-Identifier: Apache-2.0
"""Costs of a run on RISC-V: instructions, and cycles of a core that models time. A hart executes one instruction at a
time: it is one unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import cast

from polyloom.ir.operations import INTEGERS, OPERATIONS, ElementType
from polyloom.riscv.image import Image
from polyloom.riscv.names import Isa
from polyloom.riscv.register_pressure import AVAILABLE, register_pressure
from polyloom.riscv.source_lines import Lines
from polyloom.riscv.timing import listing_loops
from polyloom.riscv.timing.core import CycleCounts
from polyloom.targets.costs import Costs, Units, listing_lines, operation_rates
from polyloom.targets.report import Table
from polyloom.targets.riscv.account import loop_weights
from polyloom.targets.target import Execution


def costs(image: Image, listing: str, places: Lines, execution: Execution) -> Costs:
    """Costs of a program that ran, of which `image` has the words; `places` are those of these."""
    counted = cast("CycleCounts | None", execution.counted)
    cycles = {} if counted is None else loop_weights(counted)
    loop = listing_loops.hottest_loop(listing, cycles, places, execution.hot_lines)
    return Costs(
        time=None if execution.cycles is None else "cycle-exact",
        issued=execution.operations,
        issues="instructions",
        units=(Units("hart", 1, operation_rates((o.name for o in OPERATIONS), _computed_types(image.isa))),),
        moved=cast("int | None", execution.detail),
        boundary="loads and stores, as instructions execute them",
        code_bytes=cast("int | None", execution.facts.get("code_bytes")),
        loop=tuple(listing_lines(loop, places)),
        tables=tuple(_tables(image, places, [address for address, _ in loop], execution)),
    )


def _tables(image: Image, places: Lines, loop: Sequence[int], execution: Execution) -> Iterator[Table]:
    """Pressure of registers in the inner loop, what instructions do, and the traffic with the memory."""
    rows = [
        (f"{own.file} registers", str(own.live), str(AVAILABLE[own.file]), _line(places, own.address))
        for own in register_pressure(image, loop)
    ]
    if rows:
        yield Table("Registers in the inner loop", ("file", "most that are live", "of", "in front of"), tuple(rows))
    counted = cast("CycleCounts | None", execution.counted)
    if counted is not None:
        executed = Counter[str]()
        for pace in counted.paces:
            executed[pace.kind] += pace.executed
        whole = max(1, executed.total())
        classes = tuple((kind, f"{n:,}", f"{n / whole:.1%}") for kind, n in executed.most_common())
        yield Table("Instructions by class", ("class", "executed", "share"), classes)
    if (moved := cast("int | None", execution.detail)) is not None:
        each = f"{moved / max(1, execution.operations):.2f}"
        yield Table("Bytes of loads and stores", ("bytes", "per instruction"), ((f"{moved:,}", each),), "memory")


def _line(places: Lines, address: int) -> str:
    """Address, with the line of the source where it is known."""
    place = places.at(address)
    return f"{address:#x}" + (f", line {place.line}" if place is not None and place.line else "")


def _computed_types(isa: Isa) -> Iterator[ElementType]:
    """Element types that instructions of the set compute with."""
    yield from INTEGERS
    yield "bool"
    if "f" in isa.extensions:
        yield "f32"
    if "d" in isa.extensions:
        yield "f64"

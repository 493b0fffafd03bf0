# SPDX-License-Identifier: Apache-2.0
"""Costs of a run on RISC-V: instructions, and cycles of a core that models time. A hart executes one instruction at a
time: it is one unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, cast

from polyloom.ir.operations import INTEGERS, OPERATIONS, ElementType
from polyloom.riscv import innermost
from polyloom.riscv.names import Isa
from polyloom.riscv.source_lines import Lines
from polyloom.riscv.timing.core import CycleCounts
from polyloom.targets.costs import Costs, Units, listing_lines, operation_rates
from polyloom.targets.riscv.account import loop_weights
from polyloom.targets.target import Execution

_WORK: Final = re.compile(r"(?:c\.)?f?n?m?(?:add|sub|mul|div|rem|min|max|sqrt)[a-z]*(?:\.[sd])?")
"""Arithmetic on values; what advances counters and addresses by a constant is none."""
_STEPS: Final = re.compile(r"(?:c\.)?addi.*")


def costs(isa: Isa, listing: str, places: Lines, execution: Execution) -> Costs:
    """Costs of a program of `isa` that ran; `places` are those of its words."""
    counted = cast("CycleCounts | None", execution.counted)
    # Without counts, which loop has the most instructions that compute is all that is known.
    loop = (
        innermost.heaviest_loop(listing, _weight, (0, 0))
        if counted is None
        else innermost.hottest_loop(listing, loop_weights(counted))
    )
    return Costs(
        time=None if execution.cycles is None else "cycle-exact",
        issued=execution.operations,
        issues="instructions",
        units=(Units("hart", 1, operation_rates((o.name for o in OPERATIONS), _computed_types(isa))),),
        moved=cast("int | None", execution.detail),
        boundary="loads and stores, as instructions execute them",
        code_bytes=cast("int | None", execution.facts.get("code_bytes")),
        loop=tuple(listing_lines(loop, places)),
    )


def _computed_types(isa: Isa) -> Iterator[ElementType]:
    """Element types that instructions of the set compute with."""
    yield from INTEGERS
    yield "bool"
    if "f" in isa.extensions:
        yield "f32"
    if "d" in isa.extensions:
        yield "f64"


def _weight(lines: Sequence[str]) -> tuple[int, int]:
    """Weight of a loop: instructions that compute, on floats, and all."""
    # A line is `address: word mnemonic operands`.
    names = [line.split(": ", 1)[1].split()[1] for line in lines]
    work = [name for name in names if _WORK.fullmatch(name) and not _STEPS.fullmatch(name)]
    return sum(name.startswith("f") for name in work), len(work)

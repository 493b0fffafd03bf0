# SPDX-License-Identifier: Apache-2.0
"""The pipeline: a C function in SSA form, with those that it calls, to a RISC-V executable.

    SSA form -> legal operations -> common subexpressions, dead code -> critical edges split, blocks in order -> out of SSA form
    -> instruction selection -> constants out of loops -> list scheduling -> linear-scan allocation, checked -> frame -> words -> ELF

Scheduling and hoisting lengthen the lives of values; where that makes the allocation spill more, they are undone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from polyloom.ir.ssa import Function
from polyloom.targets.riscv.backend.allocate import allocate
from polyloom.targets.riscv.backend.check import check
from polyloom.targets.riscv.backend.code import Code
from polyloom.targets.riscv.backend.data import Layout
from polyloom.targets.riscv.backend.expand import expand
from polyloom.targets.riscv.backend.hoist import hoisted
from polyloom.targets.riscv.backend.legalize import legalize
from polyloom.targets.riscv.backend.link import executable, linked
from polyloom.targets.riscv.backend.live import without_dead
from polyloom.targets.riscv.backend.lower import lower
from polyloom.targets.riscv.backend.order import ordered
from polyloom.targets.riscv.backend.schedule import schedule
from polyloom.targets.riscv.names import Isa
from polyloom.transform.ssa.common import common
from polyloom.transform.ssa.dce import dce
from polyloom.transform.ssa.destruct import destruct, split_critical_edges


@dataclass(frozen=True, slots=True)
class Compiled:
    """An executable, and the number of bytes of its instructions, which begin at `entry`."""

    elf: bytes
    entry: int
    code_bytes: int


def compile_function(function: Function, isa: Isa, note: bytes = b"") -> Compiled:
    """`note` goes into the file as it is.

    Errors: PL0930 for what the instruction set cannot do, PL0931 for what is not supported, PL0932 for what is too long."""
    layout = Layout(function.data)
    codes = [expand(allocated(code)) for code in lowered(function, isa, layout)]
    words, starts = linked(codes)
    return Compiled(executable(bytes(layout.bytes), layout.end, words, isa, starts, note), layout.end, len(words))


def lowered(function: Function, isa: Isa, layout: Layout) -> list[Code]:
    """The code of the function and of the others over virtual registers, in the order of the program."""
    plain = destruct(ordered(split_critical_edges(dce(common(legalize(function, isa))))))
    return [without_dead(lower(member, isa, layout)) for member in plain.members]


def allocated(code: Code) -> Code:
    """The code with registers; scheduled and with constants out of loops, unless that costs slots."""
    best = None
    for change in _CHANGES:
        changed = change(code)
        found = check(changed, allocate(changed))
        if best is None or found.slots < best.slots:
            best = found
        if best.slots == 0:
            break
    assert best is not None
    return best


_CHANGES: Final[tuple[Callable[[Code], Code], ...]] = (lambda code: schedule(hoisted(code)), hoisted, lambda code: code)

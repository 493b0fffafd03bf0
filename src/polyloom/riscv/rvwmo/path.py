# SPDX-License-Identifier: Apache-2.0
"""Path of a hart (one control-flow unfolding): its memory operations with their syntactic dependencies, its fences, and
the conditions under which it is taken (RISC-V unprivileged manual, chapter "RVWMO", section "Syntactic Dependencies").

Sets of operations of a hart are bit masks over their positions in the path.
"""

from __future__ import annotations

from dataclasses import dataclass

from polyloom.diagnostics import Diagnostic, Span
from polyloom.riscv.rvwmo.values import Pointer, Value


@dataclass(frozen=True, slots=True)
class Operation:
    """A memory operation; an AMO both reads and writes. `place` is an offset in the location and a width, in bytes;
    `address`, `data` and `control` are the operations that it depends on.

    `strong` operations carry RCsc annotations, other acquires and releases are RCpc. `forwards_late`: its value is not
    forwarded to loads before it is in memory (AMO, SC). `paired` is the load-reserved of a store-conditional.
    """

    location: str
    place: tuple[int, int]
    reads: bool = False
    writes: bool = False
    value: Value = 0
    address: int = 0
    data: int = 0
    control: int = 0
    acquire: bool = False
    release: bool = False
    strong: bool = False
    forwards_late: bool = False
    paired: int | None = None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Fence:
    """Fence: orders operations before `place` that are in `before` (some of "rw") and later ones in `after` (rule
    4)."""

    place: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Condition:
    """Path condition: `value` is `expected` (0: it is 0, 1: it is not, an address: it is that one)."""

    value: Value
    expected: bool | Pointer


@dataclass(frozen=True, slots=True)
class Path:
    """One way through a hart's program. `cut`: a loop was not followed further; `fault`: why the path ends early."""

    operations: tuple[Operation, ...] = ()
    fences: tuple[Fence, ...] = ()
    conditions: tuple[Condition, ...] = ()
    registers: tuple[Value, ...] = (0,) * 32
    # Executions of longer paths exist and were not counted: the verdict says so.
    cut: bool = False
    fault: Diagnostic | None = None

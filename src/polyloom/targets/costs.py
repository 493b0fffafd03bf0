# SPDX-License-Identifier: Apache-2.0
"""Costs of a run, as `polyloom compare` puts them beside other machines: the data that only the target knows.

Everything that a target cannot tell is None, never 0. What is derived (work per cycle, shares, intensities) is computed
above, alike for all (docs/compare.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from polyloom.ir.operations import BY_NAME, ElementType
from polyloom.ir.ssa import NOWHERE
from polyloom.ir.work import Class
from polyloom.machine.stated_figures import Stated
from polyloom.riscv.source_lines import Lines
from polyloom.targets.report import Table

Time = Literal["cycle-exact", "fitted"]
"""Of cycles: those that the modelled machine takes by definition; or those of a model whose constants were fitted to
measurements, or taken from documents, of a machine that exists."""


@dataclass(frozen=True, slots=True)
class Units:
    """Functional units: `count` units that are alike, in all of the place that the program was compiled for. Each
    starts one operation of `executes` in so many cycles. A lane of a vector unit is a unit. One that multiplies and
    adds in one operation, also what the source has apart, is two: a multiplier and an adder.
    """

    name: str
    count: int
    executes: Mapping[Class, float]
    """By operation and element type: ("mul", "f32")."""


@dataclass(frozen=True, slots=True)
class Line:
    """Line of the inner loop as the machine has it, the file's line that it comes from, 0 where that is not known, and
    why it is there where the user did not write it.
    """

    text: str
    line: int = 0
    reason: str = ""


def listing_lines(loop: Iterable[tuple[int, str]], places: Lines) -> Iterator[Line]:
    """Lines of a listing with their addresses, their places taken out of the text."""
    for address, text in loop:
        place = places.at(address) or NOWHERE
        yield Line(places.without(address, text), place.line, place.reason)


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs of a run (docs/compare.md). `issued` operations of the machine itself, which `issues` calls by their name;
    bytes that were `moved` over the boundary that `boundary` names, of which `bandwidth` can pass per cycle;
    `arithmetic` says why results may have other bits than the source's. `loop` is where the most work is done, and
    `tables` are what it takes of the machine, where there is no report that tells.
    """

    time: Time | None = None
    issued: int | None = None
    issues: str = "operations"
    units: tuple[Units, ...] | None = None
    moved: int | None = None
    boundary: str = ""
    bandwidth: float | None = None
    code_bytes: int | None = None
    arithmetic: str | None = None
    loop: tuple[Line, ...] = ()
    tables: tuple[Table, ...] = ()
    stated: Stated = field(default_factory=Stated)
    whole_time: Mapping[str, int] | None = None
    """Cycles with loading and configuring, `total` and its parts; None where these cost nothing."""
    energy_shares: Mapping[str, float] | None = None
    """Shares of the energy by what takes it, by a table of the machine's file."""
    area: float | None = None
    """Of all of the place, by a table of the machine's file, in `area_unit`."""
    area_unit: str | None = None


# A comparison and an absolute value are a subtraction and a look at its sign.
ADDING: tuple[str, ...] = ("add", "sub", "neg", "abs", "min", "max", "eq", "ne", "lt", "le", "gt", "ge")
"""What adders do."""
LOGIC: tuple[str, ...] = ("and", "or", "xor", "shl", "shr")


def operation_rates(operations: Iterable[str], types: Iterable[ElementType], cycles: float = 1) -> dict[Class, float]:
    """Rates for `Units`: each of these operations on each of these types that it knows, at one pace."""
    known = tuple(types)
    return {(name, dtype): cycles for name in operations for dtype in known if BY_NAME[name].accepts_type(dtype)}

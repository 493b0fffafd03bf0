# SPDX-License-Identifier: Apache-2.0
"""Report of a run as data: every part is optional, and `polyloom.report` draws it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from polyloom.targets.provenance import Provenance


@dataclass(frozen=True, slots=True)
class Table:
    """A named table: a title, the columns' heads, and rows of as many cells. `about` says in which section of a page it
    stands.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    about: Literal["resources", "memory"] = "resources"


@dataclass(frozen=True, slots=True)
class Pressure:
    """Resource pressure: a unit issues in `used` of the `available` slots of one initiation interval (Rau 1994)."""

    unit: str
    used: int
    available: int


@dataclass(frozen=True, slots=True)
class Reservation:
    """Reservation table (Kogge 1981): `rows[slot][unit]` lists what may issue there."""

    # Text only: what an entry is called is the target's matter.
    units: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Route:
    """Route of an array's elements between a bank and an element: (row, column) of the bank, which is just outside the
    region, then of the elements, in the direction in which values go.
    """

    name: str
    path: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """Elements in rows and columns: `labels[r][c]` names the program of an element (empty: none); a wire leads from one
    (row, column) to a neighbour, or to a bank just outside the region; `banks` counts them at each such place; `routes`
    are the ways between banks and elements. `notes` says more of the programs: (label, text), such as FIFO depths.
    """

    labels: tuple[tuple[str, ...], ...]
    wires: tuple[tuple[tuple[int, int], tuple[int, int]], ...] = ()
    banks: tuple[tuple[int, int], ...] = ()
    routes: tuple[Route, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Circuit:
    """Recurrence circuit that bounds the initiation interval (Rau 1994): each operation feeds the next one, the last
    one the first. Once around takes `latency` cycles and leads `distance` iterations further.
    """

    operations: tuple[str, ...]
    latency: int
    distance: int


@dataclass(frozen=True, slots=True)
class LoopInterval:
    """Initiation interval of a loop (Rau 1994), and what bounds it. `lines` of the source, from 1, are in the loop, or
    are its head; the interval is None of a loop that is not pipelined, for which `bound_by` says why.
    """

    lines: tuple[int, ...]
    interval: int | None
    proved: bool
    bound_by: str


@dataclass(frozen=True, slots=True)
class Flow:
    """Control flow graph: `blocks[b]` is the text of block b, in program order; an edge is (from, to, condition)."""

    title: str
    blocks: tuple[str, ...]
    edges: tuple[tuple[int, int, str], ...]


@dataclass(frozen=True, slots=True)
class Lane:
    """Lifetimes of something, such as a place of a belt: `spans` are (first, after the last, what)."""

    name: str
    spans: tuple[tuple[int, int, str], ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """Operation of the schedule: its name, the unit and the slot of the interval in which it is issued, what it does as
    text, and where it comes from.
    """

    name: str
    unit: str
    slot: int
    text: str
    provenance: Provenance | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """Report of one phase of a program. `bound` says what keeps the interval of its loop from being shorter, `circuit`
    where that is a cycle of dependences; `operations` are those that spans of a trace refer to by number, `sources`
    pairs the files that they come from with their texts, where these are known. Of programs that ran together,
    `program` is how the groups of its trace begin, and `title` the heading.
    """

    tables: tuple[Table, ...] = ()
    pressure: tuple[Pressure, ...] = ()
    reservation: Reservation | None = None
    lanes: tuple[Lane, ...] = ()
    bound: str = ""
    grid: Grid | None = None
    flows: tuple[Flow, ...] = ()
    operations: tuple[Operation, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()
    circuit: Circuit | None = None
    program: str = ""
    title: str = ""

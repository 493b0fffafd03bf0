# SPDX-License-Identifier: Apache-2.0
"""A target is a record of functions over text and bytes; the core asks the record, never which target it is.

Everything that passes between a target and the floors above it is a value of this module or the bytes of a file that users
hold, so that a program which runs is always a program that has been written down and read back.
To add a target: a folder with a `target.py` that defines `TARGET`, and its name in `TARGETS`.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, input_error, nearest
from polyloom.ir.pla import Array, Program
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_interpret import Argument

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Arrays = Mapping[str, npt.NDArray[np.generic]]
Accesses = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""Banks and elements of an array, pair by pair."""
Progress = Callable[[str, float], None]
"""Called with a step's name and the fraction that is done; `silent` where nobody looks."""

TARGETS: Final = ("tcpa",)
FUNCTION_TARGETS: Final = ("riscv",)
"""Targets that run C functions as they are, with control flow of their own: `FunctionTarget`."""
REGION: Final = (4, 4)
"""Rows and columns where none are given."""
_REGION: Final = re.compile(r"([0-9]{1,9})x([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class Place:
    """A machine (a shipped member's name or a description's path) and a region of rows x columns elements."""

    member: str
    rows: int
    columns: int


@dataclass(frozen=True, slots=True)
class Event:
    """Something that `lane` (such as a unit) of `group` (such as an element) did from cycle `start` for `cycles` cycles."""

    group: str
    lane: str
    name: str
    start: int
    cycles: int


@dataclass(frozen=True, slots=True)
class Simulation:
    """What a model observed. `issues` are the operations by unit; `events` is empty unless a trace was asked for."""

    outputs: Arrays
    cycles: int
    operations: int
    issues: tuple[tuple[str, int], ...] = ()
    events: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Pressure:
    """A unit issues in `used` of the `available` slots of one initiation interval."""

    unit: str
    used: int
    available: int


@dataclass(frozen=True, slots=True)
class Grid:
    """The region: `labels[r][c]` names the program of an element (empty: none); a wire leads from one (row, column) to a
    neighbour, or to a bank just outside the region, and `banks` counts them at each such place."""

    labels: tuple[tuple[str, ...], ...]
    wires: tuple[tuple[tuple[int, int], tuple[int, int]], ...]
    banks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Flow:
    """A control flow graph: `blocks[b]` is the text of block b, in program order; an edge is (from, to, condition)."""

    title: str
    blocks: tuple[str, ...]
    edges: tuple[tuple[int, int, str], ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What people look at: `reservation[slot][unit]` lists what may issue there, `bottleneck` says what bounds the interval."""

    pressure: tuple[Pressure, ...]
    units: tuple[str, ...]
    reservation: tuple[tuple[str, ...], ...]
    bottleneck: str
    grid: Grid
    flows: tuple[Flow, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file that users hold, told by its ending and its first bytes; `symbolic` ones can be instantiated."""

    suffix: str
    magic: bytes
    title: str
    symbolic: bool


@dataclass(frozen=True, slots=True)
class Target:
    """Every function raises `PolyloomError` for whatever the user can get wrong."""

    name: str
    kinds: tuple[Kind, ...]
    members: Callable[[], tuple[str, ...]]
    describe: Callable[[str], str]
    """The resolved description of a member."""
    place: Callable[[str], Place]
    """Read what follows the target's name in `--on`."""
    compile: Callable[[Program, str, tuple[str, str] | None, Progress | None], bytes]
    """Program, member, the user's mapping as (text, name), progress: the symbolic file."""
    kernel: Callable[[bytes], str]
    """The name of the program in a file."""
    parameters: Callable[[bytes], tuple[str, ...]]
    """Their names, of a symbolic file."""
    arrays: Callable[[bytes], tuple[tuple[Array, bool], ...]]
    """The arrays of a file, and whether each is an output."""
    instantiate: Callable[[bytes, Mapping[str, int], tuple[int, int], int | None], bytes]
    """Symbolic file, parameter values, (rows, columns), candidate or None for the best: the concrete file."""
    candidates: Callable[[bytes], int]
    """How many a symbolic file stores."""
    cycles: Callable[[bytes], int]
    """What a concrete file will take, from its words alone."""
    simulate: Callable[[bytes, str | None, Arrays, bool, Progress | None], Simulation]
    """Concrete file, member (None: the one that the file names), every input, trace, progress."""
    accesses: Callable[[bytes], Mapping[str, Accesses]]
    """By array of a concrete file: every (bank, element) that it reads, or for an output writes."""
    facts: Callable[[bytes | None, bytes], dict[str, Json]]
    """The target's own keys of `run --json`, of a symbolic (if known) and a concrete file."""
    combine: Callable[[Sequence[Mapping[str, Json]], int], dict[str, Json]]
    """The facts of several phases, and the cycles of transfers between them: the facts of the whole."""
    alone: tuple[str, ...]
    """The facts that belong to one phase, and are None of several."""
    report: Callable[[bytes | None, bytes], Report]
    show: Callable[[bytes], str]
    as_json: Callable[[bytes], Json]
    verify: Callable[[bytes, str | None], tuple[Diagnostic, ...]]

    def __reduce__(self) -> tuple[Callable[[str], Target], tuple[str]]:
        """Pickled by name, so that configurations go to other processes."""
        return get, (self.name,)


@dataclass(frozen=True, slots=True)
class FunctionRun:
    """What a model observed of a call: the result (None for void), the instructions executed, and the target's own keys of `run --json`."""

    result: int | float | None
    instructions: int
    facts: dict[str, Json]


@dataclass(frozen=True, slots=True)
class FunctionTarget:
    """A target that compiles functions in SSA form. Every function raises `PolyloomError` for whatever the user can get wrong."""

    name: str
    member: Callable[[str], str]
    """The full name of the member that follows the target's name in `--on`."""
    model: Callable[[str], tuple[str, int]]
    """Of a member: the target for which clang reads C, and the number of bytes of its `long`."""
    compile: Callable[[Function, str], bytes]
    call: Callable[[bytes, Function, Sequence[Argument], str, int, Callable[[int], None]], FunctionRun]
    """The file, the function's parameters and result, arguments (arrays are changed in place), the member, the most instructions (PL0914 beyond them),
    and what is called now and then with the number of those that were executed."""
    show: Callable[[bytes, str], str]
    magic: bytes
    """How its files begin."""
    inspect: Callable[[bytes], tuple[dict[str, Json], str]]
    """What a file alone tells, and its listing; `illegal` are the addresses of words that are no instructions."""


def silent(step: str, fraction: float) -> None:
    """The `Progress` that shows nothing."""
    del step, fraction


def function_target(on: str) -> tuple[FunctionTarget, str] | None:
    """The target of functions, and its member, that `--on` names; None for other targets."""
    name, _, rest = on.partition(":")
    if name not in FUNCTION_TARGETS:
        return None
    target = _function_target(name)
    return target, target.member(rest)


def _function_target(name: str) -> FunctionTarget:
    return cast(FunctionTarget, importlib.import_module(f"polyloom.targets.{name}.target").TARGET)


def executable_of(data: bytes) -> FunctionTarget | None:
    """The target whose executable this is, if any."""
    return next((target for target in map(_function_target, FUNCTION_TARGETS) if data.startswith(target.magic)), None)


def get(name: str) -> Target:
    """The target called `name`."""
    if name in FUNCTION_TARGETS:
        message = f"the target '{name}' runs functions as they are, and has no configurations"
        raise PolyloomError(Diagnostic("PL0805", message, USAGE, help=f"write for instance `polyloom run dot.c --function dot n=1000 --on {name}`"))
    if name not in TARGETS:
        help = f"{nearest(name, (*TARGETS, *FUNCTION_TARGETS), 'target')}; write for instance --on tcpa:8x8"
        raise PolyloomError(Diagnostic("PL0805", f"there is no target '{name}'", USAGE, help=help))
    return cast(Target, importlib.import_module(f"polyloom.targets.{name}.target").TARGET)


def split_place(on: str) -> tuple[Target, Place]:
    """Read `--on TARGET[:REST]`."""
    name, _, rest = str(on).partition(":")
    target = get(name)
    return target, target.place(rest)


def kind_of(name: str, data: bytes) -> tuple[Target, Kind]:
    """The target and kind of a file by its first bytes; `name` is for the message."""
    for target in map(get, TARGETS):
        for kind in target.kinds:
            if data.startswith(kind.magic):
                return target, kind
    if (owner := executable_of(data)) is not None:
        help = f"give the source: `polyloom run FILE.c --on {owner.name}`; `polyloom show {name}` lists the executable"
        raise input_error("PL0810", f"'{name}' is an executable, which does not tell its function's arguments", help=help)
    endings = ", ".join(f"{k.suffix} ({k.title})" for t in map(get, TARGETS) for k in t.kinds)
    note = f"its first bytes are {data[:4]!r}" if data else "it is empty"
    raise input_error("PL0810", f"'{name}' is not a file that polyloom wrote", notes=(note,), help=f"give one of: {endings}")


def region(pes: Any) -> tuple[int, int]:
    """(rows, columns) as a caller in Python gives them. Errors: PL0805; what is in range, the target says."""
    try:
        rows, columns = map(index, pes)
    except (TypeError, ValueError):
        raise PolyloomError(Diagnostic("PL0805", f"pes = {pes!r} is not a region", USAGE, help="give (rows, columns), for instance pes=(4, 4)")) from None
    return rows, columns


def parse_region(text: str) -> tuple[int, int]:
    """`RxC`: rows and columns, at least 1 each."""
    match = _REGION.fullmatch(text)
    if match is None:
        raise PolyloomError(Diagnostic("PL0805", f"'{text}' is not a region", USAGE, help="write rows x columns, for instance 4x4 or 1x16"))
    rows, columns = int(match[1]), int(match[2])
    if rows == 0 or columns == 0:
        raise input_error("PL0806", f"the region {text} has no processing element", help="write at least 1x1")
    return rows, columns

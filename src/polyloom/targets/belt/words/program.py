# SPDX-License-Identifier: Apache-2.0
"""Machine code of a member: bundles of operations that name operands by their distance from the belt's front.

It is what *conasm* prints, one bundle per line, what `encode` turns into words and `decode` reads back. Nothing here
names a value: the names that a listing shows are notes beside the words, which the model does not read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from polyloom.ir.ssa import NOWHERE, Data, Place
from polyloom.targets.belt.machine import Slot
from polyloom.targets.belt.value_types import Type, Width

NONE: Final = -1
"""In a list of operands that makes a belt: a None."""


@dataclass(frozen=True, slots=True)
class Belt:
    """Belt position: b0 is the operand that dropped last. In lists, `NONE` stands for a None of `width`."""

    position: int
    width: Width | None = None


@dataclass(frozen=True, slots=True)
class Immediate:
    """Constant of -128 ... 127, as the last operand of an operation on integers; it takes the width of the others."""

    value: int


Operand = Belt | Immediate


@dataclass(frozen=True, slots=True)
class Issue:
    """Operation in a slot of a bundle (docs/formats.md, Belt words).

    `width`, `scale` and `offset` are those of `ir.Op`; shifts and multiplications also state the width of their first
    operand, spills and fills that of what they move (`isa.states_width`). `offset` is also the byte in scratch of a
    spill or a fill, and the bytes of a scratchf. `delay`: bundles until a load's value drops. `literal` has the bits of
    a con; `lanes` its lanes, and those of the other operations of `isa.LANED`. `target` is the bundle to which control
    goes (its index in the routine, of br, inner and leave), `callee` the routine of a call. The operands of br, inner,
    leave, call, conform and retn after their predicate are the list that becomes, or is put on, the belt: the first one
    is b0.

    scratchf allocates `offset` bytes, the last `frames` * `frame` of them as frames that rotate; they hold None until
    something is spilled there. A spill's or fill's byte counts from the newest frame: `frame` * k + b is byte b of the
    frame that was the newest one k rotations ago. Those of spillx and fillx count from the first byte of all.
    """

    name: str
    slot: Slot
    operands: tuple[Operand, ...] = ()
    width: Width | None = None
    lanes: int = 1
    scale: int = 0
    offset: int = 0
    delay: int = 0
    literal: int = 0
    target: int = 0
    callee: str = ""
    frame: int = 0
    frames: int = 0


@dataclass(frozen=True, slots=True)
class Note:
    """Debug information of an issue: the names of what it reads and gives, its stage in the loop (None in open code),
    and where it comes from, with the reason where the user did not write it. The model knows none of it."""

    operands: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    stage: int | None = None
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Bundle:
    """Instruction of one cycle. `drops` operands drop in it (retire): results that arrive, and Nones for those that
    nobody issued. `rotate`: the scratchpad's frames are renamed as it begins. `notes` are beside `issues`, or empty."""

    issues: tuple[Issue, ...]
    drops: int
    rotate: bool = False
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Routine:
    """Code of a function, entered at bundle 0 with its arguments on the belt, the first at b0.

    `loops` are pairs (first bundle, bundles) of the loops' passes, in order: after the last bundle of a pass, where no
    transfer happens, control goes back to its first one, which takes no slot and no time. `parameters` and `results`
    are the types of the belt at entry and of what retn gives.
    """

    name: str
    bundles: tuple[Bundle, ...]
    loops: tuple[tuple[int, int], ...] = ()
    parameters: tuple[Type, ...] = ()
    results: tuple[Type, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """Whole program. `routines[0]` is the one that is run. `member` is a name, `description` its resolved TOML."""

    member: str
    phasing: bool
    description: str
    routines: tuple[Routine, ...]
    data: tuple[Data, ...] = ()
    memory_arguments: tuple[Width, ...] = ()
    """Widths of the arguments that `routines[0]` takes from memory, behind those on its belt: each is the low bytes of
    a word of 8 bytes of the argument block, which is the last datum, and which the machine's user fills."""
    told: str = "{}"
    """What the specializer tells, in JSON with sorted keys and without spaces: `loops`, a list of objects, and
    `blocks`, by routine and block the first bundle."""


def sort_by_slot(bundle: Bundle) -> tuple[tuple[Issue, ...], tuple[Note, ...]]:
    """Issues in the order of their slots, as words have them, and their notes, none where all are empty."""
    # Listings and words agree in this order, whatever order a scheduler issues in.
    order = sorted(range(len(bundle.issues)), key=lambda n: bundle.issues[n].slot.order)
    issues = tuple(bundle.issues[n] for n in order)
    notes = tuple(_trim_note(bundle.notes[n], bundle.issues[n]) for n in order) if bundle.notes else ()
    return issues, notes if any(note != Note() for note in notes) else ()


def _trim_note(note: Note, issue: Issue) -> Note:
    """Note without names of operands that the issue does not have, and without empty names at the end."""
    return replace(note, operands=_trim_names(note.operands[: len(issue.operands)]), results=_trim_names(note.results))


def _trim_names(names: tuple[str, ...]) -> tuple[str, ...]:
    return names if not names or names[-1] else _trim_names(names[:-1])

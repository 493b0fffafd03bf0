# SPDX-License-Identifier: Apache-2.0
"""A member's program: bundles of operations that name operands by their distance from the belt's front.

It is what *conasm* prints, one bundle per line, what `encode` turns into words and `decode` reads back. Nothing here
names a value: the names that a listing shows are notes beside the words, which the model does not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from polyloom.ir.ssa import NOWHERE, Place
from polyloom.targets.belt.ir import Data, Width

NONE: Final = -1
"""In a list of operands that makes a belt: a None."""


@dataclass(frozen=True, slots=True)
class Belt:
    """b0 is the operand that dropped last. In lists, `NONE` stands for a None of `width`."""

    position: int
    width: Width | None = None


@dataclass(frozen=True, slots=True)
class Immediate:
    """-128 ... 127, as the last operand of an operation on integers; it takes the width of the others."""

    value: int


Operand = Belt | Immediate


@dataclass(frozen=True, slots=True)
class Slot:
    """One of the member's: `E` 0, `F` 2, `R` 0 (fills), `P` 1 (pick, recur), `W` 0 (spills)."""

    kind: str
    number: int

    def __str__(self) -> str:
        return f"{self.kind}{self.number}"


@dataclass(frozen=True, slots=True)
class Issue:
    """An operation in a slot of a bundle.

    `width`, `scale` and `offset` are those of `ir.Op`; `offset` is also the byte in scratch of a spill or a fill, and
    the bytes of a scratchf. `delay`: bundles until a load's value drops. `literal` has the bits of a con; `lanes` its
    lanes, those of a load and of a splat. `target` is the bundle to which control goes (its index in the routine, of
    br, inner and leave), `callee` the routine of a call. The operands of br, inner, leave, call, conform and retn
    after their predicate are the list that becomes, or is put on, the belt: the first one is b0.
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


@dataclass(frozen=True, slots=True)
class Note:
    """What a listing says of an issue: the names of what it reads and gives, its stage in the loop (None in open code),
    and where it comes from. The model knows none of it."""

    operands: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    stage: int | None = None
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Bundle:
    """`drops` operands drop in it (retire): results that arrive, and Nones for those that nobody issued. `rotate`: the
    scratchpad's frames are renamed as it begins. `notes` are beside `issues`, or empty."""

    issues: tuple[Issue, ...]
    drops: int
    rotate: bool = False
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Routine:
    """The function's code, entered at bundle 0 with its arguments on the belt, the first at b0.

    `loops` are pairs (first bundle, bundles) of the loops' passes, in order.
    """

    name: str
    bundles: tuple[Bundle, ...]
    loops: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """`routines[0]` is the one that is run. `member` is a name, `description` its resolved TOML."""

    member: str
    phasing: bool
    description: str
    routines: tuple[Routine, ...]
    data: tuple[Data, ...] = ()

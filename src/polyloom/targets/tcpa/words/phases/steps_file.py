# SPDX-License-Identifier: Apache-2.0
"""File format of concrete configurations of plans with loops of steps (docs/formats.md): the values of the parameters,
a region, and the symbolic file of phases as it is.

Whoever executes it walks the file's tree and instantiates each phase for its step, which takes microseconds; a file of
every step would grow with the loop bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from polyloom import binary
from polyloom.binary import FileKind, counted_list, integer, natural, optional, record, section, text
from polyloom.targets.tcpa.layouts import Place

STEPS: Final = FileKind(b"PLCL", "concrete configuration of steps", version=2, sections=3)
_SIDE = 1 << 16
_WORDS = 1 << 32


@dataclass(frozen=True, slots=True)
class Bound:
    """`closed` are borders of the region without banks, 1 north, 2 east, 4 south, 8 west. `places` are where the arrays
    lie, strides, base and memory of each, or nothing.

    `values` are those of the parameters, in order; `candidates[n]` is the only one that phase n takes, None the best
    one for each step. `symbolic` is a file of phases."""

    values: tuple[int, ...]
    rows: int
    columns: int
    candidates: tuple[int | None, ...]
    symbolic: bytes
    name: str
    closed: int = 0
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class _Place:
    strides: tuple[int, ...]
    base: int
    memory: int


@dataclass(frozen=True, slots=True)
class _Head:
    values: tuple[int, ...]
    rows: int
    columns: int
    closed: int
    candidates: tuple[int | None, ...]
    places: tuple[_Place, ...]


_place = record(
    _Place,
    strides=counted_list(natural("a stride", _WORDS), natural("a rank", 32)),
    base=natural("a word", _WORDS),
    memory=natural("a memory", _SIDE),
)
_head = record(
    _Head,
    values=counted_list(integer("the value of a parameter"), natural("the number of parameters")),
    rows=natural("the number of rows", _SIDE),
    columns=natural("the number of columns", _SIDE),
    closed=natural("the borders without banks", 16),
    candidates=counted_list(optional("a candidate"), natural("the number of phases")),
    places=counted_list(_place, natural("the number of arrays", _SIDE)),
)


def encode(bound: Bound) -> bytes:
    """File of steps, with the machine of its phases. Errors: PL0706."""
    places = tuple(_Place(*place) for place in bound.places)
    head = _Head(bound.values, bound.rows, bound.columns, bound.closed, bound.candidates, places)
    stamp = int.from_bytes(bound.symbolic[binary.CHECKED : binary.CHECKED + 8], "little")
    return binary.pack(STEPS, stamp, (section(_head, head), bound.symbolic, section(text, bound.name)))


def decode(data: bytes) -> Bound:
    """Steps in `data`, which is exactly what `encode` makes of them. Errors: PL0701 to PL0705."""
    _, (first, whole, last) = binary.unpack(STEPS, data)
    head = _head.read(first)
    symbolic = whole.take(whole.end - whole.position)
    places = tuple((p.strides, p.base, p.memory) for p in head.places)
    bound = Bound(head.values, head.rows, head.columns, head.candidates, symbolic, text.read(last), head.closed, places)
    binary.check_canonical(data, encode(bound))
    return bound

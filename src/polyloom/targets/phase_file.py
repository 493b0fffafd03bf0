# SPDX-License-Identifier: Apache-2.0
"""Files of several phases: the configurations of a plan's phases, and which array each of their inputs and outputs is.

A symbolic one and a concrete one differ in their first bytes, in the kind of files that they hold, and in that a concrete one
has no parameters: its extents are numbers. A phase's file stands in it whole (docs/formats.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from polyloom import binary
from polyloom.binary import Codec, FileKind, counted, fixed, integer, mapped, natural, record, section, sparse, text
from polyloom.ir.operations import ELEMENT_TYPES
from polyloom.ir.pla import Array
from polyloom.sets import Affine, Condition, Polyhedron

SYMBOLIC: Final = FileKind(b"PLSP", "symbolic configuration of phases", version=1, sections=3)
CONCRETE: Final = FileKind(b"PLCP", "concrete configuration of phases", version=1, sections=3)
INPUT, OUTPUT = 1, 2
"""Bits of an array's role: it must be given, it is a result. Without both it passes values from phase to phase."""
_PARAMETERS = 64
_ARRAYS = 1 << 16


@dataclass(frozen=True, slots=True)
class Stage:
    """The file of one phase; `arrays[n]` is the number of the array that the n-th array of this file is."""

    data: bytes
    arrays: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Phased:
    """A kernel in phases, with the signature of its plan."""

    name: str
    parameters: tuple[str, ...]
    assumptions: Condition
    arrays: tuple[Array, ...]
    roles: tuple[int, ...]
    stages: tuple[Stage, ...]

    @property
    def inputs(self) -> tuple[Array, ...]:
        return tuple(a for a, role in zip(self.arrays, self.roles, strict=True) if role & INPUT)

    @property
    def outputs(self) -> tuple[Array, ...]:
        return tuple(a for a, role in zip(self.arrays, self.roles, strict=True) if role & OUTPUT)

    @property
    def intermediates(self) -> tuple[Array, ...]:
        return tuple(a for a, role in zip(self.arrays, self.roles, strict=True) if not role)


@dataclass(frozen=True, slots=True)
class _Names:
    kernel: str
    parameters: tuple[str, ...]
    arrays: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Slot:
    dtype: int
    role: int
    shape: tuple[Affine, ...]


@dataclass(frozen=True, slots=True)
class _Phase:
    length: int
    arrays: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Head:
    assumptions: Condition
    slots: tuple[_Slot, ...]
    phases: tuple[_Phase, ...]


_names = record(
    _Names,
    kernel=text,
    parameters=counted(text, natural("the number of parameters", _PARAMETERS)),
    arrays=counted(text, natural("the number of arrays", _ARRAYS)),
)


def _affine(parameters: tuple[str, ...]) -> Codec[Affine]:
    coefficients, constant = sparse("a coefficient", len(parameters)), integer("a constant")

    def write(out: bytearray, value: Affine) -> None:
        coefficients.write(out, tuple(value.coefficient(p) for p in parameters))
        constant.write(out, value.constant)

    return Codec(write, lambda reader: Affine.of(dict(zip(parameters, coefficients.read(reader), strict=True)), constant.read(reader)))


def _head(names: _Names) -> Codec[_Head]:
    affine = _affine(names.parameters)
    piece = mapped(counted(affine, natural("the number of constraints")), lambda p: p.constraints, Polyhedron)
    slot = record(
        _Slot,
        dtype=natural("an element type", len(ELEMENT_TYPES)),
        role=natural("a role", 4),
        shape=counted(affine, natural("a rank", 32)),
    )
    number = natural("the number of an array", len(names.arrays))
    phase = record(_Phase, length=fixed(4, "the length of a phase"), arrays=counted(number, natural("the number of a phase's arrays", _ARRAYS)))
    return record(
        _Head,
        assumptions=mapped(counted(piece, natural("the number of pieces")), lambda c: c.pieces, Condition),
        slots=counted(slot, natural("the number of arrays", _ARRAYS)),
        phases=counted(phase, natural("the number of phases")),
    )


def encode(kind: FileKind, phased: Phased) -> bytes:
    """The file; its machine is that of the phases. Errors: PL0706 when a value does not fit its field."""
    names = _Names(phased.name, phased.parameters, tuple(a.name for a in phased.arrays))
    slots = tuple(_Slot(ELEMENT_TYPES.index(a.dtype), role, a.shape) for a, role in zip(phased.arrays, phased.roles, strict=True))
    head = _Head(phased.assumptions, slots, tuple(_Phase(len(s.data), s.arrays) for s in phased.stages))
    return binary.pack(kind, _stamp(phased.stages), (section(_head(names), head), b"".join(s.data for s in phased.stages), section(_names, names)))


def decode(kind: FileKind, data: bytes) -> Phased:
    """What `encode` wrote, and nothing else. Errors: PL0701 to PL0705."""
    _, (first, files, last) = binary.unpack(kind, data)
    names = _names.read(last)
    at, head = first.position, _head(names).read(first)
    if len(head.slots) != len(names.arrays) or not head.phases:
        raise binary.malformed(at, "there is no phase, or not every array has a name")
    arrays = tuple(Array(name, ELEMENT_TYPES[s.dtype], s.shape) for name, s in zip(names.arrays, head.slots, strict=True))
    stages = tuple(Stage(files.take(p.length), p.arrays) for p in head.phases)
    phased = Phased(names.kernel, names.parameters, head.assumptions, arrays, tuple(s.role for s in head.slots), stages)
    binary.check_canonical(data, encode(kind, phased))
    return phased


def _stamp(stages: Sequence[Stage]) -> int:
    """The machine's hash, which every configuration carries after its checksum."""
    return int.from_bytes(stages[0].data[binary.CHECKED : binary.CHECKED + 8], "little")

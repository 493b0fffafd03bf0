# SPDX-License-Identifier: Apache-2.0
"""File format of several phases (docs/formats.md): the configurations of a plan's phases, which array each of their
inputs and outputs is, and the loops of steps around them.

A symbolic one and a concrete one differ in their first bytes, in the kind of files that they hold, and in that a
concrete one has no parameters and no loops: its extents are numbers (`steps_file` has the concrete ones with loops). A
phase's file stands in it whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, cast

from polyloom import binary
from polyloom.binary import (
    Codec,
    FileKind,
    counted_list,
    fixed_integer,
    integer,
    map_codec,
    natural,
    record,
    section,
    sparse,
    text,
)
from polyloom.ir.operations import ELEMENT_TYPES
from polyloom.ir.pla import Array
from polyloom.ir.plan import Parametric
from polyloom.ir.steps import Tree, leaves
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.targets.tcpa.words.phases import step_tree as trees

SYMBOLIC: Final = FileKind(b"PLSP", "symbolic configuration of phases", version=3, sections=3)
CONCRETE: Final = FileKind(b"PLCP", "concrete configuration of phases", version=3, sections=3)
INPUT, OUTPUT, PARAMETRIC = 1, 2, 4
"""Bits of an array's role: it must be given, it is a result, or it is a scalar that parameters determine, whose value
stands in the place of its shape. Without any it passes values from phase to phase."""
_PARAMETERS = 64
"""Of parameters and counters."""
_ARRAYS = 1 << 16


@dataclass(frozen=True, slots=True)
class Window:
    """The array of this number in a phase's file sees a part of the array outside, from `origin` on."""

    array: int
    origin: tuple[Affine, ...]


@dataclass(frozen=True, slots=True)
class Stage:
    """The file of one phase; `arrays[n]` is the number of the array that the n-th array of this file is. Each of its
    parameters is the least of its `arguments`, which are affine in the kernel's parameters and in the counters around;
    a concrete one has none. The n-th array of this file is a window that begins at `windows[n]`, or all of it."""

    data: bytes
    arrays: tuple[int, ...]
    arguments: tuple[tuple[Affine, ...], ...] = ()
    windows: tuple[Window, ...] = ()


@dataclass(frozen=True, slots=True)
class Phased:
    """A kernel in phases, with its plan's signature; `values` are the scalars that parameters and counters determine,
    in order. `looped` is the tree of steps, empty where every stage runs once."""

    name: str
    parameters: tuple[str, ...]
    assumptions: Condition
    arrays: tuple[Array, ...]
    roles: tuple[int, ...]
    stages: tuple[Stage, ...]
    values: tuple[Affine, ...] = ()
    counters: tuple[str, ...] = ()
    looped: Tree[int] = ()

    @property
    def tree(self) -> Tree[int]:
        """Order in which the stages run: one after another where there are no loops of steps."""
        return self.looped or tuple(range(len(self.stages)))

    @property
    def inputs(self) -> tuple[Array, ...]:
        return tuple(a for a, role in zip(self.arrays, self.roles, strict=True) if role & INPUT)

    @property
    def outputs(self) -> tuple[Array, ...]:
        return tuple(a for a, role in zip(self.arrays, self.roles, strict=True) if role & OUTPUT)

    @property
    def intermediates(self) -> tuple[Array, ...]:
        return tuple(a for a, role in zip(self.arrays, self.roles, strict=True) if not role)

    @property
    def parametric(self) -> tuple[Parametric, ...]:
        scalars = (a for a, role in zip(self.arrays, self.roles, strict=True) if role == PARAMETRIC)
        return tuple(Parametric(a.name, value, a.dtype) for a, value in zip(scalars, self.values, strict=True))


@dataclass(frozen=True, slots=True)
class _Names:
    kernel: str
    parameters: tuple[str, ...]
    counters: tuple[str, ...]
    arrays: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Hole:
    """A number that the values of the parameters determine, at `least`; or the length of the file of a phase."""

    value: Affine | int
    least: int | None = None


@dataclass(frozen=True, slots=True)
class _Slot:
    dtype: int
    role: int
    shape: tuple[Affine, ...]


@dataclass(frozen=True, slots=True)
class _Phase:
    length: int
    arrays: tuple[int, ...]
    arguments: tuple[tuple[Affine, ...], ...]
    windows: tuple[Window, ...]


@dataclass(frozen=True, slots=True)
class _Head:
    assumptions: Condition
    slots: tuple[_Slot, ...]
    phases: tuple[_Phase, ...]
    tree: tuple[Any, ...]


_names = record(
    _Names,
    kernel=text,
    parameters=counted_list(text, natural("the number of parameters", _PARAMETERS)),
    counters=counted_list(text, natural("the number of counters", _PARAMETERS)),
    arrays=counted_list(text, natural("the number of arrays", _ARRAYS)),
)


def _affine_codec(parameters: tuple[str, ...]) -> Codec[Affine]:
    coefficients, constant = sparse("a coefficient", len(parameters)), integer("a constant")

    def write(out: bytearray, value: Affine) -> None:
        coefficients.write(out, tuple(value.coefficient(p) for p in parameters))
        constant.write(out, value.constant)

    return Codec(
        write,
        lambda reader: Affine.from_terms(
            dict(zip(parameters, coefficients.read(reader), strict=True)), constant.read(reader)
        ),
    )


_LENGTH: Final = fixed_integer(4, "the length of a phase")
_NUMBER: Final = _affine_codec(())


@lru_cache(1 << 12)
def _encode_number(value: int) -> bytes:
    """An extent, or the value of a scalar, in a concrete file."""
    return section(_NUMBER, Affine((), value))


@lru_cache(1 << 12)
def _encode_length(value: int) -> bytes:
    return section(_LENGTH, value)


def _head_codec(names: _Names, affine: Codec[Affine], length: Codec[int]) -> Codec[_Head]:
    piece = map_codec(counted_list(affine, natural("the number of constraints")), lambda p: p.constraints, Polyhedron)
    slot = record(
        _Slot,
        dtype=natural("an element type", len(ELEMENT_TYPES)),
        role=natural("a role", PARAMETRIC + 1),
        shape=counted_list(affine, natural("a rank", 32)),
    )
    number = natural("the number of an array", len(names.arrays))
    window = record(
        Window,
        array=natural("the number of a phase's array", _ARRAYS),
        origin=counted_list(affine, natural("a rank", 32)),
    )
    bounds = counted_list(affine, natural("the number of arguments"))
    phase = record(
        _Phase,
        length=length,
        arrays=counted_list(number, natural("the number of a phase's arrays", _ARRAYS)),
        arguments=counted_list(bounds, natural("the number of a phase's parameters", _PARAMETERS)),
        windows=counted_list(window, natural("the number of a phase's windows", _ARRAYS)),
    )
    return record(
        _Head,
        assumptions=map_codec(counted_list(piece, natural("the number of pieces")), lambda c: c.pieces, Condition),
        slots=counted_list(slot, natural("the number of arrays", _ARRAYS)),
        phases=counted_list(phase, natural("the number of phases")),
        tree=trees.tree_codec(affine),
    )


def encode(kind: FileKind, phased: Phased) -> bytes:
    """File of phases; its machine is that of the phases. Errors: PL0706 when a value does not fit its field."""
    names = _Names(phased.name, phased.parameters, phased.counters, tuple(a.name for a in phased.arrays))
    # A scalar has no shape, so that its value stands in the place of one: one record serves all arrays.
    values = iter(phased.values)
    shapes = [
        (next(values),) if role == PARAMETRIC else a.shape for a, role in zip(phased.arrays, phased.roles, strict=True)
    ]
    slots = tuple(
        _Slot(ELEMENT_TYPES.index(a.dtype), role, s)
        for a, role, s in zip(phased.arrays, phased.roles, shapes, strict=True)
    )
    phases = tuple(_Phase(len(s.data), s.arrays, s.arguments, s.windows) for s in phased.stages)
    head = _Head(phased.assumptions, slots, phases, trees.store_tree(phased.tree))
    first = section(_head_codec(names, _affine_codec((*names.parameters, *names.counters)), _LENGTH), head)
    return binary.pack(
        kind,
        _machine_hash([s.data for s in phased.stages]),
        (first, b"".join(s.data for s in phased.stages), section(_names, names)),
    )


@dataclass(frozen=True, slots=True)
class Form:
    """What all concrete files have in common that a symbolic one becomes: the first section but for its numbers, and
    the last one."""

    pieces: tuple[bytes, ...]
    holes: tuple[_Hole, ...]
    names: bytes


def make_template(phased: Phased) -> Form:
    """Template of the concrete files that a symbolic one becomes: what `encode` writes, by the same description, but
    with holes in the place of numbers (the array paper, section 6, step 1: concretization).
    """
    names, values = _Names(phased.name, (), (), tuple(a.name for a in phased.arrays)), iter(phased.values)
    shapes = [
        (_Hole(next(values)),) if role == PARAMETRIC else tuple(_Hole(e, 0) for e in a.shape)
        for a, role in zip(phased.arrays, phased.roles, strict=True)
    ]
    slots = tuple(
        _Slot(ELEMENT_TYPES.index(a.dtype), role, cast("tuple[Affine, ...]", s))
        for a, role, s in zip(phased.arrays, phased.roles, shapes, strict=True)
    )
    phases = tuple(_Phase(cast(int, _Hole(n)), s.arrays, (), ()) for n, s in enumerate(phased.stages))
    found: list[tuple[int, _Hole]] = []
    # Encoding once with codecs that note their position gives the constant parts; an instantiation then only fills in
    # numbers.
    hole: Codec[Any] = Codec(lambda out, value: found.append((len(out), value)), lambda _: None)
    first = section(_head_codec(names, hole, hole), _Head(Condition(), slots, phases, (None,) * len(phases)))
    ends = [at for at, _ in found]
    pieces = tuple(first[start:end] for start, end in zip((0, *ends), (*ends, len(first)), strict=True))
    return Form(pieces, tuple(h for _, h in found), section(_names, names))


def fill_template(made: Form, values: Mapping[str, int], files: Sequence[bytes]) -> bytes:
    """Concrete file of these values, with the concrete files of its phases. Errors: PL0706."""
    head = bytearray(made.pieces[0])
    for hole, piece in zip(made.holes, made.pieces[1:], strict=True):
        if isinstance(hole.value, int):
            head += _encode_length(len(files[hole.value]))
        else:
            number = hole.value.evaluate(values)
            # An extent below 0 is an empty array; a scalar may well be negative.
            head += _encode_number(number if hole.least is None else max(hole.least, number))
        head += piece
    together = files[0] if len(files) == 1 else b"".join(files)
    return binary.pack(CONCRETE, _machine_hash(files), (bytes(head), together, made.names))


def decode(kind: FileKind, data: bytes) -> Phased:
    """Phases in `data`, which is exactly what `encode` makes of them. Errors: PL0701 to PL0705."""
    _, (first, files, last) = binary.unpack(kind, data)
    names = _names.read(last)
    if len(names.parameters) + len(names.counters) > _PARAMETERS or (kind is CONCRETE and names.counters):
        raise binary.format_error(first.position, "there are too many counters")
    at, head = (
        first.position,
        _head_codec(names, _affine_codec((*names.parameters, *names.counters)), _LENGTH).read(first),
    )
    if len(head.slots) != len(names.arrays) or not head.phases:
        raise binary.format_error(at, "there is no phase, or not every array has a name")
    if any(s.role == PARAMETRIC and len(s.shape) != 1 for s in head.slots):
        raise binary.format_error(at, "a scalar that parameters determine has no single value")
    shapes = [() if s.role == PARAMETRIC else s.shape for s in head.slots]
    arrays = tuple(
        Array(name, ELEMENT_TYPES[s.dtype], shape)
        for name, s, shape in zip(names.arrays, head.slots, shapes, strict=True)
    )
    values = tuple(s.shape[0] for s in head.slots if s.role == PARAMETRIC)
    stages = tuple(Stage(files.take(p.length), p.arrays, p.arguments, p.windows) for p in head.phases)
    tree = trees.name_counters(at, head.tree, names.counters, len(stages))
    _check_scopes(at, names, head, tree)
    phased = Phased(
        names.kernel,
        names.parameters,
        head.assumptions,
        arrays,
        tuple(s.role for s in head.slots),
        stages,
        values,
        names.counters,
        tree if names.counters else (),
    )
    # One file per content: a changed byte shows even where it would mean the same.
    binary.check_canonical(data, encode(kind, phased))
    return phased


def _check_scopes(at: int, names: _Names, head: _Head, tree: Tree[int]) -> None:
    """Scope rule: a counter means something only in its loop. PL0705 where it is used elsewhere."""
    scalars = {n: s.shape[0].symbols for n, s in enumerate(head.slots) if s.role == PARAMETRIC}
    fixed = [c for p in head.assumptions.pieces for c in p.constraints]
    fixed += [e for s in head.slots if s.role != PARAMETRIC for e in s.shape]
    wrong = any(e.symbols & {*names.counters} for e in fixed)
    for number, around in leaves(tree):
        own, known = head.phases[number], {loop.counter for loop in around}
        forms = [e for group in (*own.arguments, *(w.origin for w in own.windows)) for e in group]
        used = frozenset[str]().union(*(e.symbols for e in forms), *(scalars.get(n, frozenset()) for n in own.arrays))
        # A phase lists its windows in ascending order, each once: one form for each file.
        listed = [w.array for w in own.windows]
        wrong |= bool(used & {*names.counters} - known) or listed != sorted({*listed}) or not all(own.arguments)
    if wrong:
        raise binary.format_error(at, "a counter is used outside of its loop")


def _machine_hash(files: Sequence[bytes]) -> int:
    """The machine's hash, which every configuration carries after its checksum."""
    # All phases are for one machine, so that the first one's hash is that of all.
    return int.from_bytes(files[0][binary.CHECKED : binary.CHECKED + 8], "little")

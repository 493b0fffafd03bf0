# SPDX-License-Identifier: Apache-2.0
"""File of one program, symbolic or concrete: what it says of its kernel, its parameters and its arrays."""

from __future__ import annotations

from typing import Final

from polyloom import binary
from polyloom.ir.pla import Array
from polyloom.sets import Affine
from polyloom.targets.target import Json
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.words import concrete_file, event_resolution, listing, notation, symbolic_file
from polyloom.targets.tcpa.words.concrete import Concrete
from polyloom.targets.tcpa.words.generator_table import decode_outline
from polyloom.targets.tcpa.words.request import Signature, signature
from polyloom.targets.tcpa.words.symbolic import Symbolic

MAGICS: Final = (symbolic_file.KIND.magic, concrete_file.KIND.magic)
"""How files of one program begin, the symbolic one first."""


@binary.cache_decoder
def open_symbolic(data: bytes) -> tuple[Symbolic, Signature]:
    """A symbolic file, and what an instantiation of it is asked for."""
    symbolic = symbolic_file.decode(data)
    return symbolic, signature(symbolic)


def decode_symbolic(data: bytes) -> Symbolic:
    """A symbolic file, decoded once."""
    return open_symbolic(data)[0]


def is_concrete(data: bytes) -> bool:
    """Whether a file of one program has no parameters."""
    return data.startswith(MAGICS[1])


def kernel(data: bytes) -> str:
    """The name of the function."""
    return decode_outline(data).concrete.kernel if is_concrete(data) else decode_symbolic(data).kernel


def digest(data: bytes) -> str:
    """Of the equations that a file was compiled from, as it says; empty where it does not."""
    return decode_outline(data).concrete.program if is_concrete(data) else decode_symbolic(data).program


def parameters(data: bytes) -> tuple[str, ...]:
    """Their names, of a symbolic file."""
    return decode_symbolic(data).parameters


def domain(data: bytes) -> Signature:
    """The parameters of a symbolic file, and their domain."""
    return open_symbolic(data)[1]


def candidates(data: bytes) -> int:
    """How many a symbolic file stores."""
    return len(decode_symbolic(data).candidates)


def arrays(data: bytes) -> tuple[tuple[Array, bool], ...]:
    """Inputs and outputs in the order of the file, and whether each is an output."""
    if is_concrete(data):
        # The outline suffices: generators, which are most of a large file, are not decoded for it.
        return tuple(
            (Array(a.name, a.dtype, tuple(Affine((), n) for n in a.shape)), a.is_output)
            for a in decode_outline(data).concrete.arrays
        )
    symbolic = decode_symbolic(data)
    shapes = (
        tuple(notation.affine(r, symbolic.dimensions, symbolic.parameters) for r in a.shape) for a in symbolic.arrays
    )
    return tuple((Array(a.name, a.dtype, shape), a.is_output) for a, shape in zip(symbolic.arrays, shapes, strict=True))


def unit_names(concrete: Concrete) -> tuple[str, ...]:
    """The names of functional units; numbers where the machine is not a shipped one."""
    if concrete.machine in machine_file.members():
        return tuple(u.name for u in machine_file.load(concrete.machine).units)
    return tuple(f"unit{n}" for n in range(max((len(e.programs) for e in concrete.classes), default=0)))


def show(data: bytes) -> str:
    """The listing."""
    if not is_concrete(data):
        return listing.show_symbolic(symbolic_file.decode(data))
    concrete = concrete_file.decode(data)
    return listing.show_concrete(concrete, unit_names(concrete), event_resolution.find_origin(concrete))


def as_json(data: bytes) -> Json:
    """The listing as plain values."""
    return listing.as_json(concrete_file.decode(data) if is_concrete(data) else symbolic_file.decode(data))

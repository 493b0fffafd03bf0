# SPDX-License-Identifier: Apache-2.0
"""A product for values of its parameters, to an executable: the programs of T0, T1 and T2 one behind the other under
these names, and a note."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from polyloom.analysis.contraction import Contraction
from polyloom.diagnostics import INFEASIBLE, Diagnostic, PolyloomError
from polyloom.ir.signature import Extent, Signature
from polyloom.ir.ssa import NOWHERE, Place
from polyloom.riscv.backend.link import executable
from polyloom.targets.tensix.loops import note as notes
from polyloom.targets.tensix.loops import tiles
from polyloom.targets.tensix.loops.formats import FORMATS, Dest, Name, result_of
from polyloom.targets.tensix.loops.join import THREADS, Programs, joined
from polyloom.targets.tensix.loops.layout import CODE, DATA, place
from polyloom.targets.tensix.loops.origins import origins
from polyloom.targets.tensix.loops.product import threads
from polyloom.targets.tensix.loops.shape import Product
from polyloom.targets.tensix.loops.thread import Parts, assembled, core


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """What was asked for: the format of operands, bits of Dst, fidelity phases; and where the sum is written."""

    format: Name
    dest: Dest
    fidelity: int
    place: Place = NOWHERE


def compile_product(c: Contraction, signature: Signature, values: Mapping[str, int], how: Arithmetic) -> bytes:
    """The executable. Errors: PL1233 (exit 3)."""
    fixed = fixed_signature(signature, values)
    shapes = tuple(_shape(fixed, matrix.array) for matrix in (c.left, c.right, c.result))
    f, packed = FORMATS[how.format], result_of(how.format, how.dest)
    placed = place((c.left, c.right, c.result), shapes, f, packed)
    left, right, result = placed
    rows, depth = map(tiles.count, left.extents)
    columns = tiles.count(right.extents[1])
    p = Product(rows, columns, depth, left.address, right.address, result.address, f, packed, how.dest, how.fidelity)
    code, starts, lines = alone(threads(p), how.place)
    note = notes.Note(fixed, how.format, how.dest, how.fidelity, tuple(placed))
    return executable(b"", CODE, code, core(), starts, notes.encode(note, lines))


def alone(
    parts: Parts | None, place: Place, known: Mapping[int, Place] | None = None
) -> tuple[bytes, dict[str, int], dict[int, Place]]:
    """The programs of one stage, where each begins, and the place of each word. Errors: PL1233 (exit 3)."""
    code, starts, (lines,) = assembled_threads(([[]], [[]], [[]]) if parts is None else joined([parts]))
    if CODE + len(code) > DATA:
        message = f"the programs of the threads need {len(code)} bytes, and L1 has {DATA - CODE} for them"
        help = "compute a part of the formula by a program of its own, and give that as an array"
        raise PolyloomError(Diagnostic("PL1233", message, INFEASIBLE, help=help))
    return code, starts, origins(lines, place, known)


def assembled_threads(programs: Programs) -> tuple[bytes, dict[str, int], list[dict[int, str]]]:
    """The programs one behind the other, where each begins, and by stage the line of each address."""
    code, starts, found = b"", dict[str, int](), [dict[int, str]() for _ in programs[0]]
    for name, stages in zip(THREADS, programs, strict=True):
        starts[name] = len(code)
        words, known = assembled(stages, CODE + len(code))
        code, found = code + words, [a | b for a, b in zip(found, known, strict=True)]
    return code, starts, found


def fixed_signature(signature: Signature, values: Mapping[str, int]) -> Signature:
    """With numbers for extents, and without parameters."""
    arguments = tuple(
        replace(a, shape=tuple(Extent((((), n),) if n else ()) for n in a.extents(values))) for a in signature.arguments
    )
    return Signature(signature.name, (), (), arguments)


def _shape(signature: Signature, name: str) -> tuple[int, ...]:
    found = signature.argument(name)
    assert found is not None, name
    return found.extents({})

# SPDX-License-Identifier: Apache-2.0
"""The note in the executable of a product: what it takes and gives, in which formats, and where arrays lie in L1
(docs/formats.md). The text is one JSON object with sorted keys, so that equal programs have equal files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from polyloom.analysis.contraction import Matrix
from polyloom.ir.signature import Signature
from polyloom.ir.signature_json import as_json, of_json
from polyloom.ir.ssa import Place
from polyloom.riscv import note as notes
from polyloom.riscv import source_lines, symbols
from polyloom.targets.tensix.loops.formats import FORMATS, Dest, Name
from polyloom.targets.tensix.loops.join import THREADS
from polyloom.targets.tensix.loops.layout import DATA, END, Placed

TARGET: Final = "tensix"
FORM: Final = "product"
VERSION: Final = 1
_PLACES: Final = ("left", "right", "result")


@dataclass(frozen=True, slots=True)
class Note:
    """`placed` are the left factor, the right one and the result."""

    signature: Signature
    format: Name
    dest: Dest
    fidelity: int
    placed: tuple[Placed, ...]


def encode(note: Note, lines: Mapping[int, Place]) -> bytes:
    """The text; `lines` are the places of words by address."""
    made: dict[str, object] = {
        "version": VERSION,
        "target": TARGET,
        "form": FORM,
        "format": note.format,
        "dest": note.dest,
        "fidelity": note.fidelity,
        source_lines.KEY: source_lines.encode(lines),
        **as_json(note.signature),
    }
    for name, placed in zip(_PLACES, note.placed, strict=True):
        matrix = placed.matrix
        made[name] = {
            "array": matrix.array,
            "rows": list(matrix.rows),
            "columns": list(matrix.columns),
            "shape": list(placed.shape),
            "address": placed.address,
            "width": placed.width,
        }
    return notes.text(made)


def decode(data: bytes) -> Note | None:
    """The note of an ELF file; None where it has none of this form."""
    return notes.read(data, lambda made: _note(made) if is_of(made, FORM) and has_threads(data) else None)


def is_of(made: dict[str, Any], form: str) -> bool:
    """Whether a note is this target's, of this version, and of the form."""
    return (made["target"], made["form"], made["version"]) == (TARGET, form, VERSION)


def has_threads(data: bytes) -> bool:
    """Whether the file says where the three programs begin. Errors: PL0910 for broken tables."""
    return set(THREADS) <= set(symbols.read(data).names.values())


def is_array(signature: Signature, name: str, shape: tuple[int, ...] | None, *, is_input: bool) -> bool:
    """Whether an argument is such an array, or a scalar, of f32 or i32; a signature with sizes has none."""
    found = signature.argument(name)
    if found is None or signature.sizes or found.dtype.str not in ("<f4", "<i4"):
        return False
    if is_input and not found.is_input:
        return False
    return shape is None or found.extents({}) == shape


def _note(made: dict[str, Any]) -> Note | None:
    placed = tuple(_placed(made[name]) for name in _PLACES)
    named = made["format"] in FORMATS and made["dest"] in (16, 32) and made["fidelity"] in (1, 2, 3, 4)
    if not named or any(not DATA <= p.address <= END - p.size for p in placed):
        return None
    signature = with_results(of_json(made), placed[2].matrix.array)
    if any(not is_array(signature, p.matrix.array, p.shape, is_input=p is not placed[2]) for p in placed):
        return None
    return Note(signature, made["format"], made["dest"], made["fidelity"], placed)


def with_results(signature: Signature, result: str) -> Signature:
    """With the array that is only written as such."""
    arguments = tuple(replace(a, is_input=a.name != result) for a in signature.arguments)
    return replace(signature, arguments=arguments)


def _placed(made: dict[str, Any]) -> Placed:
    rows, columns, shape = (tuple(int(n) for n in made[key]) for key in ("rows", "columns", "shape"))
    if sorted((*rows, *columns)) != list(range(len(shape))) or any(extent < 0 for extent in shape):
        raise ValueError
    if made["width"] not in (1, 2, 4):
        raise ValueError
    return Placed(Matrix(str(made["array"]), rows, columns), shape, int(made["address"]), int(made["width"]))

# SPDX-License-Identifier: Apache-2.0
"""An element-wise program for values of its parameters as an executable, its note, and a run of it on a tile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.ir.signature import Signature
from polyloom.ir.signature_json import as_json, of_json
from polyloom.ir.ssa import Place
from polyloom.passes import Watch
from polyloom.riscv import note as notes
from polyloom.riscv import source_lines
from polyloom.riscv.backend.link import executable
from polyloom.targets.target import Execution, Json
from polyloom.targets.tensix.loops import tiles
from polyloom.targets.tensix.loops.compile import alone, fixed_signature
from polyloom.targets.tensix.loops.elements import ELEMENTS, Elements
from polyloom.targets.tensix.loops.elementwise import Elementwise, threads
from polyloom.targets.tensix.loops.layout import CODE
from polyloom.targets.tensix.loops.note import TARGET, VERSION, has_threads, is_array, is_of, with_results
from polyloom.targets.tensix.loops.run import Limits, executed
from polyloom.targets.tensix.loops.spread import Area, spread_all
from polyloom.targets.tensix.loops.steps import Pointwise, Spread
from polyloom.targets.tensix.loops.thread import core
from polyloom.targets.tensix.loops.vector import words

Array = NDArray[Any]
FORM: Final = "elementwise"


@dataclass(frozen=True, slots=True)
class Note:
    """What a run needs beside the programs."""

    signature: Signature
    format: str
    result: str
    shape: tuple[int, ...]
    arrays: tuple[Spread, ...]
    scalars: tuple[str, ...]

    @property
    def elements(self) -> Elements:
        return ELEMENTS[self.format]

    @property
    def area(self) -> Area:
        return Area(self.shape, self.elements.width, len(self.arrays))


def compile_elements(
    p: Pointwise, signature: Signature, values: Mapping[str, int], format: str, watch: Watch | None = None
) -> bytes:
    """The executable. Errors: PL1233 (exit 3), PL1280 where values do not fit into the registers."""
    fixed = fixed_signature(signature, values)
    result = fixed.argument(p.result)
    assert result is not None
    note = Note(fixed, format, p.result, result.extents({}), p.arrays, p.scalars)
    area, elements = note.area, note.elements
    area.check()
    inputs = tuple(area.address(n) for n in range(len(p.arrays)))
    vector = words(p, elements.mode, watch)
    program = Elementwise(
        area.tiles,
        inputs,
        area.address(len(inputs)),
        area.scalars,
        len(p.scalars),
        tuple(word for word, _ in vector),
        elements.code,
        elements.width,
    )
    code, starts, lines = alone(threads(program), p.place, dict(vector))
    return executable(b"", CODE, code, core(), starts, encode(note, lines))


def encode(note: Note, lines: Mapping[int, Place]) -> bytes:
    """The text; `lines` are the places of words by address."""
    made: dict[str, object] = {
        "version": VERSION,
        "target": TARGET,
        "form": FORM,
        "format": note.format,
        "result": note.result,
        "shape": list(note.shape),
        "arrays": [[a.array, list(a.axes)] for a in note.arrays],
        "scalars": list(note.scalars),
        source_lines.KEY: source_lines.encode(lines),
        **as_json(note.signature),
    }
    return notes.text(made)


def decode(data: bytes) -> Note | None:
    """The note of an ELF file; None where it has none of this form."""
    return notes.read(data, lambda made: _note(made) if has_threads(data) else None)


def _note(made: dict[str, Any]) -> Note | None:
    if not is_of(made, FORM) or made["format"] not in ELEMENTS:
        return None
    arrays = tuple(Spread(str(name), tuple(int(axis) for axis in axes)) for name, axes in made["arrays"])
    shape, scalars = tuple(int(n) for n in made["shape"]), tuple(map(str, made["scalars"]))
    result = str(made["result"])
    read = {a.array for a in arrays}
    found = of_json(made)
    signature = found if result in read else with_results(found, result)
    note = Note(signature, made["format"], result, shape, arrays, scalars)
    note.area.check()
    return note if _fits(note) else None


def _fits(note: Note) -> bool:
    """Whether the signature has what the note names."""
    if min(note.shape, default=0) < 0 or not is_array(note.signature, note.result, note.shape, is_input=False):
        return False
    if not all(is_array(note.signature, name, (), is_input=True) for name in note.scalars):
        return False
    return all(_spreads(note, each) for each in note.arrays)


def _spreads(note: Note, each: Spread) -> bool:
    own = sorted((axis, extent) for axis, extent in zip(each.axes, note.shape, strict=True) if axis >= 0)
    if [axis for axis, _ in own] != list(range(len(own))) or min(each.axes, default=0) < -1:
        return False
    return is_array(note.signature, each.array, tuple(extent for _, extent in own), is_input=True)


def run(data: bytes, note: Note, inputs: Mapping[str, Array], limits: Limits) -> Execution:
    """Errors: PL1220 to PL1222 of the tile, PL1236."""
    area, elements = note.area, note.elements
    laid = [(area.scalars, np.frombuffer(scalar_bytes(note, inputs), np.uint8))]
    for number, array in enumerate(spread_all(note.arrays, inputs, note.shape)):
        laid.append((area.address(number), tiles.lay(area.matrix(elements.encode(array)))))
    ran = executed(data, note.signature.name, laid, limits)
    start = area.address(len(note.arrays))
    dtype = np.uint32 if elements.width == 4 else np.uint16
    found = tiles.take(ran.l1[start : start + area.size], area.extents, dtype) if area.tiles else np.zeros(0, dtype)
    outputs = {note.result: elements.decode(area.of_matrix(found))}
    facts: dict[str, Json] = {"format": note.format, "tiles": area.tiles, **ran.facts}
    return Execution(outputs, ran.cycles, ran.operations, facts, ran.trace, ran.moved)


def scalar_bytes(note: Note, inputs: Mapping[str, Array]) -> bytes:
    """The words of scalars: FP32, or two's complement."""
    return b"".join(
        np.asarray(inputs[name]).astype(inputs[name].dtype.newbyteorder("<")).tobytes() for name in note.scalars
    )

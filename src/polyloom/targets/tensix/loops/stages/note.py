# SPDX-License-Identifier: Apache-2.0
"""The note in the executable of stages: what it takes and gives, its stages, and where arrays lie in L1
(docs/formats.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from polyloom.analysis.contraction import Matrix
from polyloom.ir.signature import Signature
from polyloom.ir.signature_json import as_json, of_json
from polyloom.ir.ssa import Place
from polyloom.riscv import note as notes
from polyloom.riscv import source_lines
from polyloom.targets.tensix.loops.compile import Arithmetic
from polyloom.targets.tensix.loops.formats import FORMATS
from polyloom.targets.tensix.loops.layout import DATA, END, Placed
from polyloom.targets.tensix.loops.note import TARGET, VERSION, has_threads, is_array, is_of
from polyloom.targets.tensix.loops.stages.layout import MEETING, Area, Held, width

FORM: Final = "stages"
_HELD: Final[tuple[Held, ...]] = ("factor", "sum", "elements")


@dataclass(frozen=True, slots=True)
class Told:
    """What a report says of a stage: the array, the line of its statement or 0, its tiles."""

    label: str
    what: str
    line: int
    tiles: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """An output: what a stage made, and for each dimension of that the array's own one, or -1 - n where it is fixed at
    n."""

    array: str
    area: Area
    at: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """Cores meet at `meeting`, scalars lie behind."""

    signature: Signature
    how: Arithmetic
    meeting: int
    stages: tuple[Told, ...]
    inputs: tuple[Area, ...]
    scalars: tuple[str, ...]
    outputs: tuple[Written, ...]


def encode(note: Note, lines: Mapping[int, Place]) -> bytes:
    """The text; `lines` are the places of words by address."""
    return notes.text(
        {
            "version": VERSION,
            "target": TARGET,
            "form": FORM,
            "format": note.how.format,
            "dest": note.how.dest,
            "fidelity": note.how.fidelity,
            "meeting": note.meeting,
            "stages": [[t.label, t.what, t.line, list(t.tiles)] for t in note.stages],
            "areas": [_text(area) for area in note.inputs],
            "scalars": list(note.scalars),
            "results": [{"output": w.array, "at": list(w.at), **_text(w.area)} for w in note.outputs],
            source_lines.KEY: source_lines.encode(lines),
            **as_json(note.signature),
        }
    )


def _text(area: Area) -> dict[str, object]:
    p = area.placed
    return {
        "array": p.matrix.array,
        "rows": list(p.matrix.rows),
        "columns": list(p.matrix.columns),
        "shape": list(p.shape),
        "axes": list(area.axes),
        "held": area.held,
        "address": p.address,
    }


def decode(data: bytes) -> Note | None:
    """The note of an ELF file; None where it has none of this form."""
    return notes.read(data, lambda made: _note(made) if is_of(made, FORM) and has_threads(data) else None)


def _note(made: dict[str, Any]) -> Note | None:
    if made["format"] not in FORMATS or made["dest"] not in (16, 32) or made["fidelity"] not in (1, 2, 3, 4):
        return None
    how = Arithmetic(made["format"], made["dest"], made["fidelity"])
    inputs = tuple(_area(each, how) for each in made["areas"])
    outputs = tuple(Written(str(w["output"]), _area(w, how), _numbers(w["at"])) for w in made["results"])
    scalars = tuple(map(str, made["scalars"]))
    stages = tuple(_told(*each) for each in map(tuple, made["stages"]))
    written = {w.array for w in outputs}
    read = {area.placed.matrix.array for area in inputs} | {*scalars}
    found = of_json(made)
    arguments = tuple(replace(a, is_input=a.name in read or a.name not in written) for a in found.arguments)
    note = Note(Signature(found.name, (), (), arguments), how, int(made["meeting"]), stages, inputs, scalars, outputs)
    return note if stages and _fits(note) else None


def _told(label: str, what: str, line: int, tiles: Any) -> Told:
    return Told(str(label), str(what), int(line), _numbers(tiles))


def _fits(note: Note) -> bool:
    """Whether the signature has what the note names, and L1 has room for it."""
    begin = note.meeting + MEETING + 4 * len(note.scalars)
    whole = [*note.inputs, *(w.area for w in note.outputs)]
    if note.meeting % 16 or note.meeting < DATA or begin > END:
        return False
    if any(p.address % 16 or not begin <= p.address <= END - p.size for p in (area.placed for area in whole)):
        return False
    if not all(is_array(note.signature, name, (), is_input=True) for name in note.scalars):
        return False
    return all(_reads(note, area) for area in note.inputs) and all(_writes(note, each) for each in note.outputs)


def _reads(note: Note, area: Area) -> bool:
    own = sorted((axis, extent) for axis, extent in zip(area.axes, area.placed.shape, strict=True) if axis >= 0)
    if [axis for axis, _ in own] != list(range(len(own))) or min(area.axes, default=0) < -1:
        return False
    return is_array(note.signature, area.placed.matrix.array, tuple(extent for _, extent in own), is_input=True)


def _writes(note: Note, written: Written) -> bool:
    places = sorted((at, extent) for at, extent in zip(written.at, written.area.placed.shape, strict=True) if at >= 0)
    fixed = [(-1 - at, extent) for at, extent in zip(written.at, written.area.placed.shape, strict=True) if at < 0]
    if [at for at, _ in places] != list(range(len(places))) or any(n >= extent for n, extent in fixed):
        return False
    if written.area.held == "factor":
        return False
    shape = tuple(extent for _, extent in places)
    found = note.signature.argument(written.array)
    return found is not None and found.is_output and is_array(note.signature, written.array, shape, is_input=False)


def _area(made: dict[str, Any], how: Arithmetic) -> Area:
    rows, columns, shape, axes = (_numbers(made[key]) for key in ("rows", "columns", "shape", "axes"))
    if sorted((*rows, *columns)) != list(range(len(shape))) or len(axes) != len(shape) or min(shape, default=1) < 1:
        raise ValueError
    held: Held | None = next((known for known in _HELD if known == made["held"]), None)
    if held is None:
        raise ValueError
    placed = Placed(Matrix(str(made["array"]), rows, columns), shape, int(made["address"]), width(held, how))
    return Area(placed, axes, held)


def _numbers(values: Any) -> tuple[int, ...]:
    return tuple(int(n) for n in values)

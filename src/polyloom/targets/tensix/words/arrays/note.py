# SPDX-License-Identifier: Apache-2.0
"""Note in the executable of loops: arguments, stages, and places of arrays in L1 (docs/formats.md). The text is one
JSON object with sorted keys, so that equal programs have equal files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from polyloom.analysis.contraction import Matrix
from polyloom.diagnostics import input_error
from polyloom.ir.signature import Signature, type_name
from polyloom.ir.signature_json import as_json, from_json
from polyloom.ir.ssa import Place
from polyloom.riscv import note as notes
from polyloom.riscv import source_lines, symbols
from polyloom.targets.tensix.options import THREADS
from polyloom.targets.tensix.words.arrays import tiles
from polyloom.targets.tensix.words.arrays.area import DATA, END, MEETING, NARROW, Area, Held, Placed, datum_width
from polyloom.targets.tensix.words.arrays.formats import FORMATS, Arithmetic
from polyloom.targets.tensix.words.arrays.views import Views, decode_views, encode_views, viewed_arguments
from polyloom.targets.tensix.words.dram_port import FLIT, MEMORY

TARGET: Final = "tensix"
FORM: Final = "stages"
# Version 2 joined the forms of version 1: a product or an element-wise program is a program of one stage. Version 3 has
# arrays without tiles, version 4 arrays in DRAM.
VERSION: Final = 4
_OLD_FORMS: Final = ("product", "elementwise")
"""Others of version 1."""
FUSED: Final = "fused product"
"""What a product with a formula of its sums is in reports."""
PRODUCTS: Final = ("product", FUSED)
_HELD: Final[tuple[Held, ...]] = ("factor", "sum", "elements")


@dataclass(frozen=True, slots=True)
class StageFacts:
    """Report line of a stage: the array, what it computes, the line of its statement or 0, its numbers of tiles."""

    label: str
    what: str
    line: int
    tiles: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OutputArea:
    """An output: the area that a stage filled, and for each of its dimensions the output's own axis, or -1 - n where it
    is fixed at n.
    """

    array: str
    area: Area
    at: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """Content of the note. Cores meet at the address `meeting`; scalars lie behind it. `views` are arrays that the host
    makes of arguments. `reason` says why a program is no stages, where it may be.
    """

    signature: Signature
    how: Arithmetic
    meeting: int
    stages: tuple[StageFacts, ...]
    inputs: tuple[Area, ...]
    scalars: tuple[str, ...]
    outputs: tuple[OutputArea, ...]
    views: Views | None = None
    reason: str = ""

    @property
    def memory(self) -> int:
        """Bytes of the memory behind the tile that arrays take."""
        areas = (*self.inputs, *(w.area for w in self.outputs))
        return max((p.address + p.size for p in (area.placed for area in areas) if p.blocks is not None), default=0)

    def extents(self, name: str) -> tuple[int, ...] | None:
        """Extents of a view; None of another name."""
        made = () if self.views is None else self.views.storage
        found = next((s for s in made if s.name == name and self.signature.argument(name) is None), None)
        return None if found is None else tuple(extent.evaluate({}) for extent in found.shape)


def encode(note: Note, lines: Mapping[int, Place]) -> bytes:
    """Serialization of the note as JSON (docs/formats.md); `lines` are the places of words by address."""
    return notes.note_text(
        {
            "version": VERSION,
            "target": TARGET,
            "form": FORM,
            "format": note.how.format,
            "dest": note.how.dest,
            "fidelity": note.how.fidelity,
            "sums": note.how.stored,
            "meeting": note.meeting,
            "stages": [[t.label, t.what, t.line, list(t.tiles)] for t in note.stages],
            "areas": [area_json(area) for area in note.inputs],
            "scalars": list(note.scalars),
            **({} if note.views is None else {"views": encode_views(note.views)}),
            **({"reason": note.reason} if note.reason else {}),
            "results": [{"output": w.array, "at": list(w.at), **area_json(w.area)} for w in note.outputs],
            source_lines.KEY: source_lines.encode_lines(lines),
            **as_json(note.signature),
        }
    )


def area_json(area: Area) -> dict[str, object]:
    """JSON of an area."""
    p = area.placed
    return {
        "array": p.matrix.array,
        "rows": list(p.matrix.rows),
        "columns": list(p.matrix.columns),
        "shape": list(p.shape),
        "axes": list(area.axes),
        "held": area.held,
        "wrapped": p.wrapped,
        "linear": p.linear,
        "address": p.address,
        **({} if p.blocks is None else {"blocks": [p.blocks.rows, p.blocks.columns, p.blocks.pitch]}),
    }


def decode(data: bytes) -> Note | None:
    """Note of an ELF file; None where it has none of this form. Errors: PL0703 for another version
    (docs/formats.md)."""
    # The version is read first, on its own: the fields of another version may not be readable at all.
    _check_version(notes.read_note(data, _read_version))
    return notes.read_note(data, lambda made: _parse_note(made) if _has_form(made) and _has_threads(data) else None)


def _read_version(made: dict[str, Any]) -> int | None:
    """Version of a note of loops on a tile; None for notes of vector kernels, which have no form."""
    return int(made["version"]) if made["target"] == TARGET and made["form"] in (FORM, *_OLD_FORMS) else None


def _check_version(version: int | None) -> None:
    if version is None or version == VERSION:
        return
    message = f"this program of a tile's threads has format version {version}; this program reads version {VERSION}"
    help = "compile it again with this version" if version < VERSION else "update polyloom"
    raise input_error("PL0703", message, help=help)


def _has_form(made: dict[str, Any]) -> bool:
    return (made["target"], made["form"], made["version"]) == (TARGET, FORM, VERSION)


def _has_threads(data: bytes) -> bool:
    """Whether the symbol table names the entries of the three threads. Errors: PL0910 for broken tables."""
    return set(THREADS) <= set(symbols.read_tables(data).names.values())


def _parse_note(made: dict[str, Any]) -> Note | None:
    """Validated note of the parsed JSON; None where a value is outside of what a tile has."""
    if made["format"] not in FORMATS or made["dest"] not in (16, 32) or made["fidelity"] not in (1, 2, 3, 4):
        return None
    if made["sums"] not in (16, 32):
        return None
    how = Arithmetic(made["format"], made["dest"], made["fidelity"], made["sums"])
    inputs = tuple(parse_area(each, how) for each in made["areas"])
    outputs = tuple(OutputArea(str(w["output"]), parse_area(w, how), parse_integers(w["at"])) for w in made["results"])
    scalars = tuple(map(str, made["scalars"]))
    stages = tuple(_parse_stage(*each) for each in map(tuple, made["stages"]))
    written = {w.array for w in outputs}
    # A program may name an argument that no stage reads: it stays an input, since a caller has to give it.
    views = decode_views(str(made.get("views", "")))
    read = {area.placed.matrix.array for area in inputs} | {*scalars} | viewed_arguments(views)
    found = from_json(made)
    # The common reader cannot know which arguments are only written; the areas of the note say it.
    arguments = tuple(replace(a, is_input=a.name in read or a.name not in written) for a in found.arguments)
    note = Note(
        Signature(found.name, (), (), arguments),
        how,
        int(made["meeting"]),
        stages,
        inputs,
        scalars,
        outputs,
        views,
        str(made.get("reason", "")),
    )
    return note if stages and _has_consistent_areas(note) else None


def _parse_stage(label: str, what: str, line: int, tiles: Any) -> StageFacts:
    return StageFacts(str(label), str(what), int(line), parse_integers(tiles))


def _has_consistent_areas(note: Note) -> bool:
    """Validation of the note: aligned places that lie in L1 behind the scalars, and arguments of the shapes and types
    that the areas have.
    """
    begin = note.meeting + MEETING + 4 * len(note.scalars)
    whole = [*note.inputs, *(w.area for w in note.outputs)]
    # Unpackers and packers address L1 in units of 16 bytes.
    if note.meeting % 16 or note.meeting < DATA or begin > END:
        return False
    if not all(_is_placed(area.placed, begin) for area in whole):
        return False
    if not all(_is_array(note, name, (), is_input=True) for name in note.scalars):
        return False
    return all(_is_input_area(note, area) for area in note.inputs) and all(
        _is_output_area(note, each) for each in note.outputs
    )


def _is_placed(p: Placed, begin: int) -> bool:
    """Whether an array lies where its memory is: in L1 behind what `begin` is the end of, or in DRAM."""
    if p.blocks is None:
        return p.address % 16 == 0 and begin <= p.address <= END - p.size
    # Requests to the NoC keep addresses modulo 32 (ISA documentation, WormholeB0/NoC/Alignment.md).
    needed = p.blocks.rows * p.blocks.columns * tiles.tile_pitch(p.width)
    if p.linear or p.wrapped or (p.address | p.blocks.pitch) % FLIT or p.blocks.pitch < needed:
        return False
    # A stranger's file must not make the host allocate more than the arrays need.
    return p.blocks.pitch < needed + 2 * tiles.tile_pitch(p.width) and 0 <= p.address <= MEMORY - p.size


def _is_array(note: Note, name: str, shape: tuple[int, ...], *, is_input: bool) -> bool:
    """Whether the signature has an argument of this shape (a scalar: no dimensions) of f32 or integers, or an input is
    a view of it. A program of a tile is compiled for fixed sizes, so a signature with sizes has none.
    """
    if is_input and (extents := note.extents(name)) is not None:
        return extents == shape
    found, signature = note.signature.argument(name), note.signature
    # The two types of the tile's formulas, as NumPy writes them in little-endian order; narrow integers lie as INT32,
    # beside floats as floats.
    if found is None or signature.sizes or type_name(found.dtype) not in ("f32", "i32", *NARROW):
        return False
    # An extent of 1 is no dimension of a stage.
    own = found.extents({}) if is_input else _drop_ones(found.extents({}))
    return (found.is_input or not is_input) and own == (shape if is_input else _drop_ones(shape))


def _drop_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(extent for extent in shape if extent != 1)


def _is_input_area(note: Note, area: Area) -> bool:
    """Whether an input of the signature has the shape that an area reads: each own axis once, -1 where it is
    broadcast."""
    own = sorted((axis, extent) for axis, extent in zip(area.axes, area.placed.shape, strict=True) if axis >= 0)
    if [axis for axis, _ in own] != list(range(len(own))) or min(area.axes, default=0) < -1:
        return False
    return _is_array(note, area.placed.matrix.array, tuple(extent for _, extent in own), is_input=True)


def _is_output_area(note: Note, written: OutputArea) -> bool:
    """Whether an output of the signature has the shape that a stage writes: each own axis once, the others fixed within
    their extent.
    """
    # Dimensions that are fixed hold one index of the output's stage; the rest must be the output's own axes, each once.
    places = sorted((at, extent) for at, extent in zip(written.at, written.area.placed.shape, strict=True) if at >= 0)
    fixed = [(-1 - at, extent) for at, extent in zip(written.at, written.area.placed.shape, strict=True) if at < 0]
    if [at for at, _ in places] != list(range(len(places))) or any(n >= extent for n, extent in fixed):
        return False
    # Factors are operands in the unpacker's format; no packer writes them as a result.
    if written.area.held == "factor":
        return False
    shape = tuple(extent for _, extent in places)
    found = note.signature.argument(written.array)
    return found is not None and found.is_output and _is_array(note, written.array, shape, is_input=False)


def parse_area(made: dict[str, Any], how: Arithmetic) -> Area:
    """Area of its JSON. Raises ValueError for what is none."""
    rows, columns, shape, axes = (parse_integers(made[key]) for key in ("rows", "columns", "shape", "axes"))
    if sorted((*rows, *columns)) != list(range(len(shape))) or len(axes) != len(shape) or min(shape, default=0) < 0:
        # The common reader of notes takes ValueError for a note that is not one.
        raise ValueError
    held: Held | None = next((known for known in _HELD if known == made["held"]), None)
    if held is None:
        raise ValueError
    wrapped, linear, matrix = bool(made["wrapped"]), bool(made["linear"]), Matrix(str(made["array"]), rows, columns)
    blocks = _parse_blocks(*parse_integers(made["blocks"])) if "blocks" in made else None
    placed = Placed(matrix, shape, int(made["address"]), datum_width(held, how), wrapped, linear, blocks)
    return Area(placed, axes, held)


def _parse_blocks(rows: int, columns: int, pitch: int) -> tiles.Blocks:
    if min(rows, columns) < 1:
        raise ValueError
    return tiles.Blocks(rows, columns, pitch)


def parse_integers(values: Any) -> tuple[int, ...]:
    """Integers of a list of JSON."""
    return tuple(int(n) for n in values)

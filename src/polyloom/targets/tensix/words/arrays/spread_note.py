# SPDX-License-Identifier: Apache-2.0
"""Note in the executable of a product on a grid: arguments, what each tile computes, its table, and where pieces of the
factors and of the result lie in DRAM (docs/formats.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

from polyloom.ir.signature import Signature
from polyloom.ir.signature_json import as_json, from_json
from polyloom.ir.ssa import Place
from polyloom.riscv import note as notes
from polyloom.riscv import source_lines, symbols
from polyloom.targets.tensix.options import CORES
from polyloom.targets.tensix.words.arrays import tiles
from polyloom.targets.tensix.words.arrays.area import DATA, END, Area
from polyloom.targets.tensix.words.arrays.formats import FORMATS, Arithmetic
from polyloom.targets.tensix.words.arrays.note import (
    TARGET,
    OutputArea,
    StageFacts,
    area_json,
    parse_area,
    parse_integers,
)
from polyloom.targets.tensix.words.chip import CHANNEL_BYTES, CHANNELS, TILE_COLUMNS, TILE_ROWS

FORM: Final = "spread"
VERSION: Final = 1
Where = tuple[int, int]
"""A channel and an address in it."""


@dataclass(frozen=True, slots=True)
class SpreadNote:
    """Content of the note. A panel has `panel_rows` rows of tiles, `panels` of them are in every row of the grid; each
    column of the grid has `columns` columns of tiles. `slices` are the steps along the sum between slices. Pieces:
    chunks by panel and step, slices by column of tiles and row of the grid, blocks of the result by panel and column of
    tiles. `tables` lie at `table` in each tile.
    """

    signature: Signature
    how: Arithmetic
    stage: StageFacts
    grid: tuple[int, int]
    panels: int
    panel_rows: int
    columns: int
    slices: tuple[int, ...]
    left: Area
    right: Area
    output: OutputArea
    chunk_pieces: tuple[Where, ...]
    slice_pieces: tuple[Where, ...]
    result_pieces: tuple[Where, ...]
    table: int
    tables: tuple[tuple[int, ...], ...]

    @property
    def depth(self) -> int:
        """Steps along the sum, in tiles."""
        return self.slices[-1]

    @property
    def factor_pitch(self) -> int:
        return tiles.tile_pitch(self.how.factors.width)

    @property
    def block_bytes(self) -> int:
        """Bytes of a block of the result: a column of tiles of a panel."""
        return -(-self.panel_rows * tiles.tile_pitch(self.how.sums.width) // 32) * 32

    def pieces(self) -> Iterable[tuple[Where, int]]:
        """All pieces, with their sizes."""
        for where in self.chunk_pieces:
            yield where, self.panel_rows * self.factor_pitch
        for n, where in enumerate(self.slice_pieces):
            row = n % self.grid[0]
            yield where, (self.slices[row + 1] - self.slices[row]) * self.factor_pitch
        for where in self.result_pieces:
            yield where, self.block_bytes


def encode(note: SpreadNote, lines: Mapping[int, Place]) -> bytes:
    """Serialization of the note as JSON; `lines` are the places of words by address."""
    return notes.note_text(
        {
            "version": VERSION,
            "target": TARGET,
            "form": FORM,
            "format": note.how.format,
            "dest": note.how.dest,
            "fidelity": note.how.fidelity,
            "sums": note.how.stored,
            "stage": [note.stage.label, note.stage.what, note.stage.line, list(note.stage.tiles)],
            "grid": list(note.grid),
            "panels": note.panels,
            "panel_rows": note.panel_rows,
            "columns": note.columns,
            "slices": list(note.slices),
            "left": area_json(note.left),
            "right": area_json(note.right),
            "result": {"output": note.output.array, "at": list(note.output.at), **area_json(note.output.area)},
            "chunk_pieces": note.chunk_pieces,
            "slice_pieces": note.slice_pieces,
            "result_pieces": note.result_pieces,
            "table": note.table,
            "tables": note.tables,
            source_lines.KEY: source_lines.encode_lines(lines),
            **as_json(note.signature),
        }
    )


def decode(data: bytes) -> SpreadNote | None:
    """Note of an ELF file; None where it has none of this form."""
    made = notes.read_note(data, lambda made: _parse_note(made) if _has_form(made) else None)
    return made if made is not None and set(CORES) <= set(symbols.read_tables(data).names.values()) else None


def _has_form(made: dict[str, Any]) -> bool:
    return (made["target"], made["form"], made["version"]) == (TARGET, FORM, VERSION)


def _parse_note(made: dict[str, Any]) -> SpreadNote | None:
    if made["format"] not in FORMATS or made["dest"] not in (16, 32) or made["fidelity"] not in (1, 2, 3, 4):
        return None
    if made["sums"] not in (16, 32):
        return None
    how = Arithmetic(made["format"], made["dest"], made["fidelity"], made["sums"])
    label, what, line, counts = made["stage"]
    result, found = made["result"], from_json(made)
    rows, columns = parse_integers(made["grid"])
    inputs = {made[side]["array"] for side in ("left", "right")}
    arguments = tuple(replace(a, is_input=a.name in inputs) for a in found.arguments)
    note = SpreadNote(
        Signature(found.name, (), (), arguments),
        how,
        StageFacts(str(label), str(what), int(line), parse_integers(counts)),
        (rows, columns),
        int(made["panels"]),
        int(made["panel_rows"]),
        int(made["columns"]),
        parse_integers(made["slices"]),
        parse_area(made["left"], how),
        parse_area(made["right"], how),
        OutputArea(str(result["output"]), parse_area(result, how), parse_integers(result["at"])),
        _parse_pieces(made["chunk_pieces"]),
        _parse_pieces(made["slice_pieces"]),
        _parse_pieces(made["result_pieces"]),
        int(made["table"]),
        tuple(map(parse_integers, made["tables"])),
    )
    return note if _is_consistent(note) else None


def _parse_pieces(values: Any) -> tuple[Where, ...]:
    return tuple((int(channel), int(at)) for channel, at in values)


def _is_consistent(n: SpreadNote) -> bool:
    """Validation: a grid of the chip, pieces within their channels, tables within L1, areas of the sizes computed."""
    rows, columns = n.grid
    if not 1 <= rows <= len(TILE_ROWS) or not 1 <= columns <= len(TILE_COLUMNS):
        return False
    if min(n.panels, n.panel_rows, n.columns) < 1 or len(n.slices) != rows + 1 or n.slices[0] or n.depth < 1:
        return False
    # Slices may be empty, where the sum is shorter than the grid is high.
    if any(start > end for start, end in pairwise(n.slices)) or n.depth > END:
        return False
    panels, across = n.panels * rows, n.columns * columns
    # The lists are walked by these numbers when factors are written and results read.
    counts = (panels * n.depth, across * rows, panels * across)
    if (len(n.chunk_pieces), len(n.slice_pieces), len(n.result_pieces)) != counts:
        return False
    if any(not 0 <= c < CHANNELS or not 0 <= at <= CHANNEL_BYTES - size for (c, at), size in n.pieces()):
        return False
    # Programs read their tables unchecked: they must lie in L1, behind the code.
    if len(n.tables) != rows * columns or n.table < DATA or n.table % 4:
        return False
    if any(n.table + 4 * len(words) > END or not all(0 <= w < 1 << 32 for w in words) for words in n.tables):
        return False
    return _has_areas(n, panels * n.panel_rows, across)


def _has_areas(n: SpreadNote, rows: int, columns: int) -> bool:
    """Whether factors and result are matrices that fit into so many tiles, of arguments of their shapes."""
    left, right, result = n.left.placed.extents, n.right.placed.extents, n.output.area.placed.extents
    counted = tuple(map(tiles.tile_count, (*result, left[1])))
    if left[0] != result[0] or right != (left[1], result[1]) or counted[2] != n.depth:
        return False
    if counted[0] > rows or counted[1] > columns:
        return False
    named = ((n.left.placed.matrix.array, n.left.placed.shape), (n.right.placed.matrix.array, n.right.placed.shape))
    return all(_is_array(n, name, shape) for name, shape in (*named, (n.output.array, n.output.area.placed.shape)))


def _is_array(n: SpreadNote, name: str, shape: tuple[int, ...]) -> bool:
    found = n.signature.argument(name)
    if found is None or n.signature.sizes or found.dtype.str not in ("<f4", "<i4"):
        return False
    own = found.extents({})
    return own == shape if found.is_input else [n for n in own if n != 1] == [n for n in shape if n != 1]

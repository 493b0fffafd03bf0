# SPDX-License-Identifier: Apache-2.0
"""Compiler of a product for a grid of tiles, to one executable: the programs of the five cores, which are the same on
every tile, and a note with the tables of the tiles and the pieces of the arrays in DRAM.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from polyloom.diagnostics import PolyloomError, infeasible, input_error
from polyloom.ir.signature import Signature
from polyloom.riscv.backend.link import executable
from polyloom.targets.tensix.map.loops.compile import PAGE, Content, fixed_signature
from polyloom.targets.tensix.map.loops.layout import array_shapes, operand_areas, result_areas
from polyloom.targets.tensix.map.spread.channels import Piece, Pieces, place_pieces
from polyloom.targets.tensix.map.spread.shape import Shape, Spread, place_spread
from polyloom.targets.tensix.map.spread.tables import assemble_spread, tile_table
from polyloom.targets.tensix.words.arrays import spread_note, tiles
from polyloom.targets.tensix.words.arrays.area import CODE, DATA, END, Area
from polyloom.targets.tensix.words.arrays.formats import Arithmetic
from polyloom.targets.tensix.words.arrays.note import OutputArea, StageFacts
from polyloom.targets.tensix.words.arrays.spread_note import SpreadNote
from polyloom.targets.tensix.words.chip import CHANNEL_BYTES
from polyloom.targets.tensix.words.program import CORE
from polyloom.transform.stages.layout_assignment import Multiplied

_TAKES: Final = "a grid takes one product of two arguments, such as examples/matmul.pla; write --on tensix for one tile"


def no_product(message: str) -> PolyloomError:
    """Error of a program that is not spread over a grid (PL1238)."""
    return input_error("PL1238", message, help=_TAKES)


def compile_spread(content: Content, signature: Signature, values: Mapping[str, int], grid: tuple[int, int]) -> bytes:
    """Pipeline: areas, distribution over the grid, placement in L1 and DRAM, programs, executable. Errors: PL1238 for
    another program, PL1237 for an empty one, PL1233 (exit 3) where L1 or DRAM is too small.
    """
    each = content.arranged[0]
    if len(content.arranged) != 1 or not isinstance(each, Multiplied) or content.views is not None or each.turned:
        raise no_product(f"this program has other stages than one product: {each.stage.label}")
    shapes, how = array_shapes(content.program, {name: values[name] for name in signature.parameters}), content.how
    computed = result_areas(content.arranged, how, shapes)
    left, right = operand_areas(each, None, computed, how, shapes)
    result = computed[each.stage.result]
    counts = tuple(map(tiles.tile_count, (*result.placed.extents, left.placed.extents[1])))
    if min(counts) < 1:
        raise input_error("PL1237", "a product on a grid needs elements", help="give sizes of at least 1")
    s, code, starts = _place_program(counts, how, grid)
    pieces = place_pieces(s)
    # Addresses of the second channel begin where those of the first one end.
    if max(pieces.used) > CHANNEL_BYTES:
        message = f"the arrays need {max(pieces.used)} bytes of a channel, which has {CHANNEL_BYTES}"
        raise infeasible("PL1233", message, help="give smaller sizes, or take a grid of more rows")
    written = OutputArea(
        content.program.outputs[0].array,
        result,
        tuple(at if isinstance(at, int) else -1 - at.evaluate(values) for at in content.program.outputs[0].at),
    )
    span = each.stage.span
    facts = StageFacts(each.stage.label, "product", span.line if span is not None else 0, counts)
    note = _spread_note(s, pieces, fixed_signature(signature, values), how, facts, (left, right), written)
    return executable(b"", CODE, code, CORE, starts, spread_note.encode(note, {}))


def _place_program(
    counts: tuple[int, ...], how: Arithmetic, grid: tuple[int, int]
) -> tuple[Spread, bytes, dict[str, int]]:
    """Distribution whose buffers begin behind the code. Errors: PL1233 (exit 3)."""
    rows, columns, depth = counts
    narrow = how.sums if how.sums.width < how.accumulated.width else None
    shape = Shape(rows, columns, depth, how.factors, how.accumulated, how.dest, how.fidelity, narrow)
    # The code does not depend on where buffers are but for the length of constants, and `data` only grows.
    data = DATA
    while (s := place_spread(shape, *grid, data, END)) is not None:
        code, starts = assemble_spread(s)
        if CODE + len(code) <= data:
            return s, code, starts
        data = -(-(CODE + len(code)) // PAGE) * PAGE
    message = f"a panel of {min(-(-rows // grid[0]), tiles.BLOCK)} by {depth} tiles and two columns do not fit into L1"
    raise infeasible("PL1233", message, help="sum over fewer elements, or take --format bf16, whose tiles are smaller")


def _spread_note(
    s: Spread,
    pieces: Pieces,
    signature: Signature,
    how: Arithmetic,
    facts: StageFacts,
    factors: tuple[Area, Area],
    written: OutputArea,
) -> SpreadNote:
    p = s.product
    panels = [(n % s.rows, n // s.rows) for n in range(s.rows * s.panels)]
    across = [divmod(n, p.columns) for n in range(s.columns * p.columns)]
    chunks = [pieces.chunks[row, panel, k] for row, panel in panels for k in range(p.depth)]
    slices = [pieces.slices[row, column, n] for column, n in across for row in range(s.rows)]
    results = [pieces.results[row, column, panel, n] for row, panel in panels for column, n in across]
    return SpreadNote(
        signature,
        how,
        facts,
        (s.rows, s.columns),
        s.panels,
        s.stream.panel_rows,
        p.columns,
        (*(s.slice_bounds(row)[0] for row in range(s.rows)), p.depth),
        *factors,
        written,
        _places(chunks),
        _places(slices),
        _places(results),
        s.table,
        tuple(tuple(tile_table(s, pieces, *divmod(n, s.columns))) for n in range(s.rows * s.columns)),
    )


def _places(pieces: Sequence[Piece]) -> tuple[spread_note.Where, ...]:
    return tuple((each.channel, each.address) for each in pieces)

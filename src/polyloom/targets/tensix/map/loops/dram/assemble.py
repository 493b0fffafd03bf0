# SPDX-License-Identifier: Apache-2.0
"""Streamed product as programs of five cores, and the places of its arrays in DRAM: the left factor in panels, the
right one in columns of tiles, the result in columns of panels (docs/targets/tensix-loops.md, "Beyond L1").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polyloom.diagnostics import INFEASIBLE, Diagnostic, PolyloomError
from polyloom.targets.tensix.map.loops.fused import stream as fused
from polyloom.targets.tensix.map.loops.fused.threads import Epilogue
from polyloom.targets.tensix.map.loops.join import assemble_parts
from polyloom.targets.tensix.map.loops.shape import Product
from polyloom.targets.tensix.map.loops.stream import MEETING, Beside, Stream, place_stream, stream_threads
from polyloom.targets.tensix.map.loops.stream_movers import move_panels, read_columns
from polyloom.targets.tensix.map.loops.thread import assemble_thread
from polyloom.targets.tensix.words.arrays.area import CODE, END, Area
from polyloom.targets.tensix.words.arrays.tiles import SIDE, Blocks
from polyloom.targets.tensix.words.dram_port import FLIT, MEMORY


def assemble_stream(p: Product, e: Epilogue | None, first: int) -> tuple[Stream, bytes, dict[str, int], dict[int, str]]:
    """Assembly of a streamed product, with a formula of its sums or none, whose buffers lie in L1 from an address on:
    the stream, the programs, where each begins, and the line of each address. Errors: PL1233 (exit 3) where a panel is
    larger than L1, or the arrays are larger than the memory.
    """
    s = check_stream(p, e, first)
    if e is not None and s.beside is not None:
        buffers = tuple(s.beside.buffer + n * s.beside_pitch for n in range(len(e.arrays)))
        parts = fused.stream_threads(s, replace(e, arrays=buffers))
    else:
        parts = stream_threads(s)
    # B and NC have programs of their own, without a stage's configuration: they only move bytes and count.
    code, starts, (lines,) = assemble_parts([parts], 0)
    for core, program in (("b", move_panels(s)), ("nc", read_columns(s))):
        starts[core] = len(code)
        words, (known,) = assemble_thread([program], CODE + len(code))
        code, lines = code + words, lines | known
    return s, code, starts, lines


def check_stream(p: Product, e: Epilogue | None, first: int) -> Stream:
    """Placement of a streamed product. Errors: PL1233 (exit 3), as above."""
    s = place_stream(p, first, END, None if e is None else Beside(len(e.arrays), e.width, e.places // 2))
    if s is None:
        raise _depth_error(p, first)
    if s.memory > MEMORY:
        message = f"the arrays need {s.memory} bytes as tiles, and DRAM has {MEMORY}"
        raise PolyloomError(Diagnostic("PL1233", message, INFEASIBLE, help="compute the result in several parts"))
    return s


def stream_areas(s: Stream, areas: Sequence[Area]) -> list[Area]:
    """Places of the left factor, the right one, the arrays of a formula and the result in DRAM."""
    depth, pitch = s.product.depth, s.factor_pitch
    blocks = [
        (s.left, Blocks(s.panel_rows, depth, s.panel_tiles * pitch)),
        (s.right, Blocks(depth, 1, s.column_tiles * pitch)),
    ]
    for n in range(len(areas) - 3):
        assert s.beside is not None, "a product alone has three arrays"
        at = s.beside.at + n * s.columns * s.beside_pitch
        blocks.append((at, Blocks(s.panel_rows, 1, s.beside_pitch)))
    blocks.append((s.result, Blocks(s.panel_rows, 1, s.block_bytes)))
    return [
        replace(area, placed=replace(area.placed, address=at, blocks=each))
        for area, (at, each) in zip(areas, blocks, strict=True)
    ]


def _depth_error(p: Product, first: int) -> PolyloomError:
    """Error for a sum that is too long, with the longest that is not."""
    room = END - first - FLIT - MEETING
    thin = Stream(replace(p, rows=1, depth=0), 1, 0, 0, 0, 0, 1)
    # A panel of one row of tiles, and two columns, of an even number of tiles each.
    depth = (room - 2 * thin.block_bytes) // (3 * thin.factor_pitch) // 2 * 2
    needed = 3 * p.depth * thin.factor_pitch + 2 * thin.block_bytes
    message = f"the sum is {p.depth} tiles long: three rows of them need {needed} bytes, and L1 has {room}"
    help = f"add up products of at most {depth * SIDE} terms each, or take --format bf16, whose tiles are half as large"
    return PolyloomError(Diagnostic("PL1233", message, INFEASIBLE, help=help))

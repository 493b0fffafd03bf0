# SPDX-License-Identifier: Apache-2.0
"""Runner of the executable of loops on a tile: arguments as tiles into L1 or DRAM, its cores' programs, results out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.diagnostics import input_error
from polyloom.ir.signature import type_name
from polyloom.ir.stage_interpret import output_part
from polyloom.riscv import source_lines, symbols
from polyloom.riscv.image import elf_image
from polyloom.targets.target import Execution, Json
from polyloom.targets.tensix.options import CORES
from polyloom.targets.tensix.run import events
from polyloom.targets.tensix.run.account import CycleCounts, count_tiles
from polyloom.targets.tensix.run.stage_facts import Mark, stage_facts, stage_mark, tile_facts
from polyloom.targets.tensix.run.tile import MAX_CYCLES, UNITS, Hazards, Tile
from polyloom.targets.tensix.words.arrays import tiles
from polyloom.targets.tensix.words.arrays.area import (
    MEETING,
    NARROW,
    Area,
    broadcast_input,
    element_format,
    encode_factor,
)
from polyloom.targets.tensix.words.arrays.elements import element_format_name
from polyloom.targets.tensix.words.arrays.formats import Arithmetic
from polyloom.targets.tensix.words.arrays.note import PRODUCTS, Note, OutputArea, StageFacts
from polyloom.targets.tensix.words.arrays.views import view_arrays
from polyloom.targets.tensix.words.dram_port import DramPort
from polyloom.targets.tensix.words.program import CORE
from polyloom.targets.trace import Trace

Array = NDArray[Any]
_T2: Final = 8
"""Of the words by which cores meet, the one that is written last."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a run: `--hazards`, `--max-cycles`, and whether there is a trace and an account of cycles."""

    hazards: Hazards = "error"
    max_cycles: int = MAX_CYCLES
    trace: bool = False
    account: bool = False


@dataclass(frozen=True, slots=True)
class Executed:
    """A run that ended: L1 and DRAM afterwards, cycles, operations, facts; `moved` bytes went between L1 and the
    unpackers and packers.
    """

    l1: NDArray[np.uint8]
    dram: NDArray[np.uint8]
    cycles: int
    operations: int
    facts: dict[str, Json]
    trace: Trace
    marks: tuple[Mark, ...]
    moved: int
    counted: CycleCounts | None = None


@dataclass(frozen=True, slots=True)
class Laid:
    """Bytes that lie in L1, or in the memory behind the tile, before a run."""

    address: int
    content: NDArray[np.uint8]
    in_dram: bool = False


def open_tile(data: bytes, laid: Iterable[Laid], limits: Limits, memory: int) -> Tile:
    """Tile before its first cycle: an executable and bytes in its memories, and its cores released."""
    tile = Tile(hazards=limits.hazards, port=DramPort(memory) if memory else None)
    tile.native.tracing, tile.native.accounting = limits.trace, limits.account
    for each in laid:
        view = tile.dram if each.in_dram else tile.l1
        view[each.address : each.address + len(each.content)] = each.content
    starts = {symbol: address for address, symbol in symbols.read_tables(data).names.items()}
    for segment in elf_image(data, CORE).segments:
        tile.l1[segment.address : segment.address + len(segment.data)] = np.frombuffer(segment.data, np.uint8)
    for core in CORES:
        if core in starts:
            tile.release(core, starts[core])
    return tile


def execute_cores(
    data: bytes, name: str, laid: Iterable[Laid], limits: Limits, watched: int = 0, memory: int = 0
) -> Executed:
    """Execution of the cores' programs of an executable, over bytes in L1 and in a memory behind the tile; a change of
    the word at `watched` is the end of a stage. Errors: PL1220 to PL1222, PL1236.
    """
    tile = open_tile(data, laid, limits, memory)
    # The model stops where this word changes: that is how the end of a stage is seen from outside.
    tile.native.watched = watched
    marks, cycles = list[Mark](), 0
    # The model stops with "max-cycles" at each change of the watched word, too: only all cycles used up is a timeout.
    while True:
        outcome = tile.run(limits.max_cycles - cycles)
        # The tile goes on where it stopped; each call counts its own cycles.
        cycles += outcome.cycles
        marks.append(stage_mark(tile, cycles))
        if outcome.stop != "max-cycles" or cycles == limits.max_cycles:
            break
    if outcome.stop == "max-cycles":
        message = f"`{name}` has not ended after {limits.max_cycles} cycles"
        raise input_error("PL1236", message, help=f"`--max-cycles {10 * limits.max_cycles}` lets it run longer")
    operations = sum(tile.native.unit(n)[0] for n in range(1, len(UNITS)))
    spans = events.trace(tile, source_lines.decode_lines(data)) if limits.trace else Trace()
    facts = tile_facts(tile, data)
    counted = count_tiles([tile]) if limits.account else None
    return Executed(tile.l1, tile.dram, cycles, operations, facts, spans, tuple(marks), tile.native.moved, counted)


def laid_arguments(note: Note, inputs: Mapping[str, Array]) -> Iterator[Laid]:
    """Bytes of the arguments: scalars, then arrays as tiles, those in DRAM block by block. Errors: PL1234."""
    inputs = view_arrays(note.views, {}, inputs)
    words = [_extend_integers(inputs[name], note.how).reshape(1).view(np.uint32) for name in note.scalars]
    yield Laid(note.meeting + MEETING, np.concatenate([*words, np.zeros(0, np.uint32)]).astype("<u4").view(np.uint8))
    for area in note.inputs:
        address, in_dram = area.placed.address, area.placed.blocks is not None
        for offset, content in _argument_parts(area, inputs, note.how):
            yield Laid(address + offset, content, in_dram)


def read_outputs(note: Note, l1: NDArray[np.uint8], dram: NDArray[np.uint8]) -> dict[str, Array]:
    """Untilized results as they stand in memory."""
    return {
        written.array: _as_argument(note, written.array, _read_output(written, l1, dram, note.how))
        for written in note.outputs
    }


def run(data: bytes, note: Note, inputs: Mapping[str, Array], limits: Limits) -> Execution:
    """Run of loops: tilized arguments, execution, untilized results. Errors: PL1220 to PL1222 of the tile, PL1234,
    PL1236.
    """
    laid = laid_arguments(note, inputs)
    # T2 is the last to meet: its word changes when a stage's results are in L1.
    watched = note.meeting + _T2 if len(note.stages) > 1 else 0
    ran = execute_cores(data, note.signature.name, laid, limits, watched, note.memory)
    outputs = read_outputs(note, ran.l1, ran.dram)
    facts: dict[str, Json] = {
        **_format_facts(note),
        "tiles": _tile_counts(note.stages),
        "stages": stage_facts(note.stages, ran.marks),
        **({"reason": note.reason} if note.reason else {}),
        **ran.facts,
    }
    return Execution(outputs, ran.cycles, ran.operations, facts, ran.trace, ran.moved, ran.counted)


def _as_argument(note: Note, name: str, made: Array) -> Array:
    """Output in the shape and type of its argument: integers lie in L1 as INT32, extended, or as floats."""
    argument = note.signature.argument(name)
    assert argument is not None, "the note was checked"
    made = made.reshape(argument.extents({}))
    # A program of ours stores numbers of the type alone; that of a stranger may store any float.
    with np.errstate(invalid="ignore"):
        return made.astype(argument.dtype, copy=False)


def _format_facts(note: Note) -> dict[str, Json]:
    how = note.how
    if not any(told.what in PRODUCTS for told in note.stages):
        return {"format": element_format_name(how.format)}
    return {"format": how.format, "dest": how.dest, "fidelity": how.fidelity}


def _tile_counts(stages: Sequence[StageFacts]) -> Json:
    """Numbers of tiles, of each stage; of one alone these, or how many tiles its elements fill."""
    if len(stages) > 1:
        return [list(told.tiles) for told in stages]
    (told,) = stages
    return list(told.tiles) if told.what in PRODUCTS else prod(told.tiles)


def _extend_integers(array: Array, how: Arithmetic) -> Array:
    """An argument in the type in which a program computes: words of u32 are those of i32, and narrow integers beside
    floats are floats.
    """
    made = np.asarray(array)
    if type_name(made.dtype) not in NARROW:
        return made
    return made.astype(np.int32 if how.factors.element == "i32" else np.float32)


def _argument_parts(
    area: Area, inputs: Mapping[str, Array], how: Arithmetic
) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Bytes of an argument with their offsets: linear, or tiles in the order that the programs of T0 and T2 walk
    through. Blocks in DRAM are encoded one by one: a large array exists once more, as what lies in the memory."""
    name, p = area.placed.matrix.array, area.placed
    if p.linear:
        yield 0, tiles.linear_bytes(element_format(how).encode(_extend_integers(inputs[name], how)))
        return
    matrix = p.flat(broadcast_input(inputs[name], area.axes, p.shape))
    encode = partial(encode_factor, name, how.factors) if area.held == "factor" else element_format(how).encode
    if p.blocks is None:
        yield 0, tiles.tilize(encode(matrix), "columns")
    else:
        yield from tiles.tilize_blocks(matrix, p.blocks, encode)


def _read_output(written: OutputArea, l1: NDArray[np.uint8], dram: NDArray[np.uint8], how: Arithmetic) -> Array:
    p, e = written.area.placed, element_format(how)
    data = (l1 if p.blocks is None else dram)[p.address : p.address + p.size]
    packed = how.sums if written.area.held == "sum" else e.packed
    if p.linear:
        datums = tiles.linear_datums(data, p.shape)
        return output_part(packed.decode(datums).reshape(p.shape), written.at)
    bits = p.decode(data, np.uint32 if p.width == 4 else np.uint16)
    return output_part(p.unflat(packed.decode(bits)), written.at)

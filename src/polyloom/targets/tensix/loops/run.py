# SPDX-License-Identifier: Apache-2.0
"""Runs the executable of a product on a tile: operands as tiles into L1, the three threads, the result out of L1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.diagnostics import input_error
from polyloom.riscv import source_lines, symbols
from polyloom.riscv.image import elf
from polyloom.targets.target import Execution, Json
from polyloom.targets.tensix import events
from polyloom.targets.tensix.loops import tiles
from polyloom.targets.tensix.loops.formats import FORMATS, Format, result_of
from polyloom.targets.tensix.loops.join import THREADS
from polyloom.targets.tensix.loops.layout import Placed
from polyloom.targets.tensix.loops.note import Note
from polyloom.targets.tensix.loops.thread import core
from polyloom.targets.tensix.tile import MAX_CYCLES, UNITS, Hazards, Tile
from polyloom.targets.trace import Trace

Array = NDArray[Any]
_I8: Final = 127
_RISCV: Final = 3
"""The low two bits of an instruction that is none of Tensix."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What `--hazards` and `--max-cycles` say, and whether there is to be a trace."""

    hazards: Hazards = "error"
    max_cycles: int = MAX_CYCLES
    trace: bool = False


@dataclass(frozen=True, slots=True)
class Executed:
    """A run that ended: L1 afterwards, and what it came to; `moved` bytes went between L1 and unpackers and packers."""

    l1: NDArray[np.uint8]
    cycles: int
    operations: int
    facts: dict[str, Json]
    trace: Trace
    marks: tuple[Mark, ...]
    moved: int


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a stage ended: the cycle, and for how many cycles each unit was busy until then."""

    cycle: int
    busy: Mapping[str, int]


def executed(
    data: bytes, name: str, laid: Sequence[tuple[int, NDArray[np.uint8]]], limits: Limits, watched: int = 0
) -> Executed:
    """The three threads of an executable, over bytes in L1; a change of the word at `watched` is the end of a stage.
    Errors: PL1220 to PL1222, PL1236."""
    tile = Tile(hazards=limits.hazards)
    tile.native.tracing = limits.trace
    for address, content in laid:
        tile.l1[address : address + len(content)] = content
    starts = {symbol: address for address, symbol in symbols.read(data).names.items()}
    for segment in elf(data, core()).segments:
        tile.l1[segment.address : segment.address + len(segment.data)] = np.frombuffer(segment.data, np.uint8)
    for thread in THREADS:
        tile.release(thread, starts[thread])
    tile.native.watched = watched
    marks, cycles = list[Mark](), 0
    while True:
        outcome = tile.run(limits.max_cycles - cycles)
        cycles += outcome.cycles
        marks.append(_mark(tile, cycles))
        if outcome.stop != "max-cycles" or cycles == limits.max_cycles:
            break
    if outcome.stop == "max-cycles":
        message = f"`{name}` has not ended after {limits.max_cycles} cycles"
        raise input_error("PL1236", message, help=f"`--max-cycles {10 * limits.max_cycles}` lets it run longer")
    operations = sum(tile.native.unit(n)[0] for n in range(1, len(UNITS)))
    spans = events.trace(tile, source_lines.decode(data)) if limits.trace else Trace()
    return Executed(tile.l1, cycles, operations, _facts(tile, data), spans, tuple(marks), tile.native.moved)


def _mark(tile: Tile, cycle: int) -> Mark:
    return Mark(cycle, {name: tile.native.unit(n)[1] for n, name in enumerate(UNITS) if n})


def run(data: bytes, note: Note, inputs: Mapping[str, Array], limits: Limits) -> Execution:
    """A product. Errors: those of `executed`, PL1234 for integers beyond i8."""
    left, right, result = note.placed
    f, packed = FORMATS[note.format], result_of(note.format, note.dest)
    laid = [(p.address, tiles.lay(datums(p, inputs, f), "columns")) for p in (left, right)]
    ran = executed(data, note.signature.name, laid, limits)
    area = ran.l1[result.address : result.address + result.size]
    found = tiles.take(area, result.extents, np.uint32 if packed.width == 4 else np.uint16, "columns")
    outputs = {result.matrix.array: result.unflat(packed.decode(found))}
    return Execution(outputs, ran.cycles, ran.operations, {**_arithmetic(note), **ran.facts}, ran.trace, ran.moved)


def datums(placed: Placed, inputs: Mapping[str, Array], f: Format) -> Array:
    """An operand as a matrix of datums. Errors: PL1234."""
    matrix = placed.flat(inputs[placed.matrix.array])
    if f.name == "i8" and (beyond := np.argwhere(np.abs(matrix.astype(np.int64)) > _I8)).size:
        value = matrix[tuple(beyond[0])]
        message = f"`{placed.matrix.array}` has the value {value}, which i8 does not hold"
        raise input_error("PL1234", message, help=f"give integers from -{_I8} to {_I8}, as a tile's sign and magnitude")
    return f.encode(matrix)


def _arithmetic(note: Note) -> dict[str, Json]:
    rows, depth = map(tiles.count, note.placed[0].extents)
    return {
        "format": note.format,
        "dest": note.dest,
        "fidelity": note.fidelity,
        "tiles": [rows, tiles.count(note.placed[1].extents[1]), depth],
    }


def _facts(tile: Tile, data: bytes) -> dict[str, Json]:
    passed = tile.threads()
    return {
        "instructions": sum(each[2] for each in passed),
        "words": sum(_tensix_words(data)),
        "replayed": sum(each[2] - each[1] for each in passed if each[2] > each[1]),
        "utilization": {**tile.utilization()},
    }


def _tensix_words(data: bytes) -> Iterator[bool]:
    for _, code in symbols.read(data).code:
        yield from (code[at] & _RISCV != _RISCV for at in range(0, len(code), 4))

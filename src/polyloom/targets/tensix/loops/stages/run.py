# SPDX-License-Identifier: Apache-2.0
"""Runs the executable of stages on a tile: arguments as tiles into L1, the three threads, results out of L1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.targets.target import Execution, Json
from polyloom.targets.tensix.loops import tiles
from polyloom.targets.tensix.loops.compile import Arithmetic
from polyloom.targets.tensix.loops.formats import FORMATS
from polyloom.targets.tensix.loops.run import Limits, Mark, datums, executed
from polyloom.targets.tensix.loops.spread import spread
from polyloom.targets.tensix.loops.stages.layout import MEETING, Area, elements_of, sum_of
from polyloom.targets.tensix.loops.stages.note import Note, Told, Written

Array = NDArray[Any]
_T2: Final = 8
"""Of the words by which cores meet, the one that is written last."""
_UNITS: Final = {"product": "matrix", "element-wise": "vector"}


def run(data: bytes, note: Note, inputs: Mapping[str, Array], limits: Limits) -> Execution:
    """Errors: PL1220 to PL1222 of the tile, PL1234, PL1236."""
    words = [np.asarray(inputs[name]).reshape(1).view(np.uint32) for name in note.scalars]
    laid = [(note.meeting + MEETING, np.concatenate([*words, np.zeros(0, np.uint32)]).astype("<u4").view(np.uint8))]
    laid += [(area.placed.address, tiles.lay(_matrix(area, inputs, note.how), "columns")) for area in note.inputs]
    watched = note.meeting + _T2 if len(note.stages) > 1 else 0
    ran = executed(data, note.signature.name, laid, limits, watched)
    outputs = {written.array: _taken(written, ran.l1, note.how) for written in note.outputs}
    facts: dict[str, Json] = {
        "format": note.how.format,
        **(
            {"dest": note.how.dest, "fidelity": note.how.fidelity}
            if any(t.what == "product" for t in note.stages)
            else {}
        ),
        "tiles": [list(told.tiles) for told in note.stages],
        "stages": _stages(note.stages, ran.marks),
        **ran.facts,
    }
    return Execution(outputs, ran.cycles, ran.operations, facts, ran.trace, ran.moved)


def _matrix(area: Area, inputs: Mapping[str, Array], how: Arithmetic) -> Array:
    """An argument as a matrix of datums."""
    if area.held == "factor":
        return datums(area.placed, inputs, FORMATS[how.format])
    whole = spread(inputs[area.placed.matrix.array], area.axes, area.placed.shape)
    return area.placed.flat(elements_of(how).encode(whole))


def _taken(written: Written, l1: NDArray[np.uint8], how: Arithmetic) -> Array:
    p, e = written.area.placed, elements_of(how)
    packed = sum_of(how) if written.area.held == "sum" else e.packed
    bits = tiles.take(
        l1[p.address : p.address + p.size], p.extents, np.uint32 if p.width == 4 else np.uint16, "columns"
    )
    return part(p.unflat(packed.decode(bits)), written.at)


def part(whole: Array, at: tuple[int, ...]) -> Array:
    """What an output is of what a stage made."""
    fixed = tuple(slice(None) if place >= 0 else -1 - place for place in at)
    kept = [place for place in at if place >= 0]
    found = np.asarray(whole[fixed]).transpose(np.argsort(kept) if kept else ())
    return np.ascontiguousarray(found).reshape(found.shape)


def _stages(stages: tuple[Told, ...], marks: tuple[Mark, ...]) -> list[Json]:
    """Of each: its cycles, and for what share of them the unit that computes was busy."""
    found, before = list[Json](), Mark(0, {})
    for told, mark in zip(stages, marks, strict=True):
        unit, cycles = _UNITS.get(told.what, "vector"), mark.cycle - before.cycle
        busy = (mark.busy[unit] - before.busy.get(unit, 0)) / max(1, cycles)
        found.append(
            {
                "array": told.label,
                "what": told.what,
                "line": told.line,
                "tiles": list(told.tiles),
                "cycles": cycles,
                "unit": unit,
                "busy": round(busy, 4),
            }
        )
        before = mark
    return found

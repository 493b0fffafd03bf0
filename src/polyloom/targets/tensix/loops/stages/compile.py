# SPDX-License-Identifier: Apache-2.0
"""Stages for values of the parameters, to one executable: the programs of T0, T1 and T2, and a note."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from polyloom.ir.signature import Signature
from polyloom.ir.ssa import Place
from polyloom.passes import Watch
from polyloom.riscv.backend.link import executable
from polyloom.targets.tensix.loops import elementwise, product, tiles
from polyloom.targets.tensix.loops.compile import Arithmetic, assembled_threads, fixed_signature
from polyloom.targets.tensix.loops.elementwise import Elementwise
from polyloom.targets.tensix.loops.formats import FORMATS, result_of
from polyloom.targets.tensix.loops.join import joined
from polyloom.targets.tensix.loops.layout import CODE, DATA
from polyloom.targets.tensix.loops.origins import origins
from polyloom.targets.tensix.loops.shape import Product as Tiles
from polyloom.targets.tensix.loops.stages import note as notes
from polyloom.targets.tensix.loops.stages.arrange import Arranged, Product
from polyloom.targets.tensix.loops.stages.layout import (
    MEETING,
    Area,
    Key,
    elements_of,
    operands,
    placed,
    results,
    shapes_of,
    sum_of,
)
from polyloom.targets.tensix.loops.stages.note import Note, Told, Written
from polyloom.targets.tensix.loops.stages.stage import Stages
from polyloom.targets.tensix.loops.steps import place_of
from polyloom.targets.tensix.loops.thread import Parts, core
from polyloom.targets.tensix.loops.vector import words

_PAGE: Final = 0x1000


@dataclass(frozen=True, slots=True)
class Content:
    """What is compiled."""

    stages: Stages
    arranged: tuple[Arranged, ...]
    how: Arithmetic


@dataclass(frozen=True, slots=True)
class _Stage:
    """A stage with the areas that it reads and makes, and of an element-wise one the words of a vector with their
    places."""

    arranged: Arranged
    reads: tuple[Area, ...]
    makes: Area
    kernel: tuple[tuple[int, Place], ...]

    @property
    def place(self) -> Place:
        return place_of(self.arranged.stage.span)

    @property
    def scalars(self) -> tuple[str, ...]:
        return () if isinstance(self.arranged, Product) else self.arranged.stage.pointwise.scalars

    @property
    def areas(self) -> tuple[Area, ...]:
        return *self.reads, self.makes


def compile_stages(content: Content, signature: Signature, values: Mapping[str, int], watch: Watch | None) -> bytes:
    """The executable. Errors: PL1233 (exit 3), PL1237, PL1280 where values do not fit into the registers."""
    shapes = shapes_of(content.stages, {name: values[name] for name in signature.parameters})
    stages = _stages(content, shapes, watch)
    scalars = tuple(name for stage in stages for name in stage.scalars)
    data = DATA
    while True:
        first = data + MEETING
        where = placed((area for s in stages for area in s.areas), first + -(-4 * len(scalars) // 16) * 16)
        parts = _parts(stages, content.how, where, first)
        code, starts, lines = assembled_threads(joined(parts, data))
        if CODE + len(code) <= data:
            break
        data = -(-(CODE + len(code)) // _PAGE) * _PAGE
    made = {s.makes.placed.matrix.array: where[s.makes.key] for s in stages}
    inputs = tuple(area for area in where.values() if area.placed.matrix.array not in made)
    outputs = tuple(
        Written(
            o.array, made[o.definition], tuple(at if isinstance(at, int) else -1 - at.evaluate(values) for at in o.at)
        )
        for o in content.stages.outputs
    )
    told = tuple(_told(s) for s in stages)
    note = Note(fixed_signature(signature, values), content.how, data, told, inputs, scalars, outputs)
    by_stage = (origins(at, s.place, dict(s.kernel)) for s, at in zip(stages, lines, strict=True))
    places = {at: place for each in by_stage for at, place in each.items()}
    return executable(b"", CODE, code, core(), starts, notes.encode(note, places))


def _stages(content: Content, shapes: Mapping[str, tuple[int, ...]], watch: Watch | None) -> list[_Stage]:
    made, mode = results(content.arranged, content.how, shapes), elements_of(content.how).mode
    return [
        _Stage(
            each,
            tuple(operands(each, made, content.how, shapes)),
            made[each.stage.result],
            () if isinstance(each, Product) else tuple(words(each.stage.pointwise, mode, watch)),
        )
        for each in content.arranged
    ]


def _parts(stages: Sequence[_Stage], how: Arithmetic, where: Mapping[Key, Area], scalars: int) -> list[Parts]:
    found = list[Parts]()
    for stage in stages:
        at = [where[area.key].placed.address for area in stage.areas]
        parts = _product(stage, how, at) if isinstance(stage.arranged, Product) else _elements(stage, how, at, scalars)
        assert parts is not None, "all arrays have elements"
        found.append(parts)
        scalars += 4 * len(stage.scalars)
    return found


def _product(stage: _Stage, how: Arithmetic, at: Sequence[int]) -> Parts | None:
    assert isinstance(stage.arranged, Product)
    rows, columns, depth = _tiles(stage)
    f, packed = FORMATS[how.format], result_of(how.format, how.dest)
    stored = sum_of(how)
    narrow = stored if stored.width < packed.width else None
    left, right, result = at
    turned = stage.arranged.turned
    return product.threads(
        Tiles(rows, columns, depth, left, right, result, f, packed, how.dest, how.fidelity, turned, narrow)
    )


def _elements(stage: _Stage, how: Arithmetic, at: Sequence[int], scalars: int) -> Parts | None:
    e, (*inputs, result) = elements_of(how), at
    rows, columns = _tiles(stage)
    count, kernel = len(stage.scalars), tuple(word for word, _ in stage.kernel)
    return elementwise.threads(
        Elementwise(rows * columns, tuple(inputs), result, scalars, count, kernel, e.code, e.width)
    )


def _tiles(stage: _Stage) -> tuple[int, ...]:
    """Of rows and columns, and of a product along its sum."""
    extents = stage.makes.placed.extents
    if isinstance(stage.arranged, Product):
        left = stage.reads[0].placed
        extents = *extents, left.extents[1]
    return tuple(map(tiles.count, extents))


def _told(stage: _Stage) -> Told:
    span = stage.arranged.stage.span
    what = "product" if isinstance(stage.arranged, Product) else "element-wise"
    return Told(stage.arranged.stage.label, what, span.line if span is not None else 0, _tiles(stage))

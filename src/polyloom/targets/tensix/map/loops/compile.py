# SPDX-License-Identifier: Apache-2.0
"""Compiler of stages for values of the parameters, to one executable: the programs of T0, T1 and T2 one behind the
other under these names, and a note.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.ir.signature import Extent, Signature
from polyloom.ir.ssa import Place
from polyloom.ir.stage import Program
from polyloom.passes import Watch
from polyloom.riscv.backend.link import executable
from polyloom.targets.tensix.map.loops import elementwise, product
from polyloom.targets.tensix.map.loops.elementwise import Elementwise
from polyloom.targets.tensix.map.loops.join import Programs, join_stages
from polyloom.targets.tensix.map.loops.layout import array_shapes, operand_areas, place_areas, result_areas
from polyloom.targets.tensix.map.loops.origins import origins
from polyloom.targets.tensix.map.loops.shape import Product
from polyloom.targets.tensix.map.loops.steps import Pointwise, span_place
from polyloom.targets.tensix.map.loops.thread import Parts, assemble_thread
from polyloom.targets.tensix.map.loops.vector import kernel_words
from polyloom.targets.tensix.options import THREADS
from polyloom.targets.tensix.words.arrays import note as notes
from polyloom.targets.tensix.words.arrays import tiles
from polyloom.targets.tensix.words.arrays.area import CODE, DATA, MEETING, Area, Key, element_format
from polyloom.targets.tensix.words.arrays.formats import Arithmetic
from polyloom.targets.tensix.words.arrays.note import Note, OutputArea, StageFacts
from polyloom.targets.tensix.words.arrays.views import Views, specialize_views
from polyloom.targets.tensix.words.program import CORE
from polyloom.transform.stages.layout_assignment import Applied, Arranged, Multiplied

PAGE: Final = 0x1000


@dataclass(frozen=True, slots=True)
class Content:
    """Compiler input: stages, how their arrays are matrices, the selected operations of formulas by result, and the
    arithmetic; `views` are statements of arrays by which the host makes some of the arguments of others.
    """

    program: Program
    arranged: tuple[Arranged, ...]
    formulas: Mapping[str, Pointwise]
    how: Arithmetic
    views: Views | None = None


@dataclass(frozen=True, slots=True)
class _Stage:
    """A stage with the areas that it reads and computes, and of a formula the operations, and the words of a vector
    with their places.
    """

    arranged: Arranged
    formula: Pointwise | None
    reads: tuple[Area, ...]
    result: Area
    kernel: tuple[tuple[int, Place], ...]

    @property
    def place(self) -> Place:
        return span_place(self.arranged.stage.span)

    @property
    def scalars(self) -> tuple[str, ...]:
        return () if self.formula is None else self.formula.scalars

    @property
    def areas(self) -> tuple[Area, ...]:
        return *self.reads, self.result


def compile_stages(content: Content, signature: Signature, values: Mapping[str, int], watch: Watch | None) -> bytes:
    """Pipeline: areas, placement in L1, threads, executable. Errors: PL1233 (exit 3), PL1237, PL1280 where values do
    not fit into the registers.
    """
    shapes = array_shapes(content.program, {name: values[name] for name in signature.parameters})
    stages = _select_kernels(content, shapes, watch)
    scalars = tuple(name for stage in stages for name in stage.scalars)
    data, code = DATA, b""
    # Addresses of arrays stand in the code, whose length they change; the loop ends, since `data` only grows.
    while True:
        first = data + MEETING
        where = place_areas((area for s in stages for area in s.areas), first + -(-4 * len(scalars) // 16) * 16)
        code, starts, lines = assemble_parts(_stage_parts(stages, content.how, where, first), data)
        if CODE + len(code) <= data:
            break
        data = -(-(CODE + len(code)) // PAGE) * PAGE  # long programs take room from the arrays
    # Results of stages are no inputs: only areas of arguments are filled before the run.
    made = {s.result.placed.matrix.array: where[s.result.key] for s in stages}
    inputs = tuple(area for area in where.values() if area.placed.matrix.array not in made)
    outputs = tuple(
        OutputArea(
            o.array, made[o.definition], tuple(at if isinstance(at, int) else -1 - at.evaluate(values) for at in o.at)
        )
        for o in content.program.outputs
    )
    told = tuple(_stage_facts(s) for s in stages)
    views = None if content.views is None else specialize_views(content.views, values)
    note = Note(fixed_signature(signature, values), content.how, data, told, inputs, scalars, outputs, views)
    by_stage = (origins(at, s.place, dict(s.kernel)) for s, at in zip(stages, lines, strict=True))
    places = {at: place for each in by_stage for at, place in each.items()}
    return executable(b"", CODE, code, CORE, starts, notes.encode(note, places))


def assemble_parts(parts: Sequence[Parts | None], meeting: int) -> tuple[bytes, dict[str, int], list[dict[int, str]]]:
    """Assembly of the programs, one behind the other: their bytes, where each begins, and by stage the line of each
    address.
    """
    some = [each for each in parts if each is not None]
    # Only a program of one stage may have nothing to do (PL1237 for others); its three programs are empty then.
    programs: Programs = join_stages(some, meeting) if len(some) == len(parts) else ([[]], [[]], [[]])
    code, starts, found = b"", dict[str, int](), [dict[int, str]() for _ in programs[0]]
    for name, stages in zip(THREADS, programs, strict=True):
        starts[name] = len(code)
        words, known = assemble_thread(stages, CODE + len(code))
        code, found = code + words, [a | b for a, b in zip(found, known, strict=True)]
    return code, starts, found


def fixed_signature(signature: Signature, values: Mapping[str, int]) -> Signature:
    """Signature with numbers for extents, and without parameters."""
    arguments = tuple(
        replace(a, shape=tuple(Extent((((), n),) if n else ()) for n in a.extents(values))) for a in signature.arguments
    )
    return Signature(signature.name, (), (), arguments)


def _select_kernels(content: Content, shapes: Mapping[str, tuple[int, ...]], watch: Watch | None) -> list[_Stage]:
    how, found = content.how, list[_Stage]()
    computed, mode = result_areas(content.arranged, how, shapes), element_format(how).mode
    for each in content.arranged:
        formula = content.formulas.get(each.stage.result)
        reads = tuple(operand_areas(each, formula, computed, how, shapes))
        kernel = () if formula is None else tuple(kernel_words(formula, mode, watch))
        found.append(_Stage(each, formula, reads, computed[each.stage.result], kernel))
    return found


def _stage_parts(
    stages: Sequence[_Stage], how: Arithmetic, where: Mapping[Key, Area], scalars: int
) -> list[Parts | None]:
    """Thread programs of each stage; None for a stage that has nothing to do."""
    found = list[Parts | None]()
    for stage in stages:
        at = [where[area.key].placed.address for area in stage.areas]
        if isinstance(stage.arranged, Applied):
            found.append(_elementwise_parts(stage, how, at, scalars))
        else:
            found.append(_product_parts(stage, stage.arranged, how, at))
        scalars += 4 * len(stage.scalars)
    return found


def _product_parts(stage: _Stage, arranged: Multiplied, how: Arithmetic, at: Sequence[int]) -> Parts | None:
    rows, columns, depth = _tile_counts(stage)
    packed, sums, (left, right, result) = how.accumulated, how.sums, at
    narrow = sums if sums.width < packed.width else None
    turned, dest = arranged.turned, how.dest
    return product.threads(
        Product(rows, columns, depth, left, right, result, how.factors, packed, dest, how.fidelity, turned, narrow)
    )


def _elementwise_parts(stage: _Stage, how: Arithmetic, at: Sequence[int], scalars: int) -> Parts | None:
    e, (*inputs, result) = element_format(how), at
    rows, columns = _tile_counts(stage)
    # Places of the words matter to the listing only; the threads take the bare words.
    count, kernel = len(stage.scalars), tuple(word for word, _ in stage.kernel)
    return elementwise.threads(
        Elementwise(rows * columns, tuple(inputs), result, scalars, count, kernel, e.code, e.width)
    )


def _tile_counts(stage: _Stage) -> tuple[int, ...]:
    """Numbers of tiles of rows and columns, and of a product along its sum."""
    extents = stage.result.placed.extents
    if isinstance(stage.arranged, Multiplied):
        left = stage.reads[0].placed
        extents = *extents, left.extents[1]
    return tuple(map(tiles.tile_count, extents))


def _stage_facts(stage: _Stage) -> StageFacts:
    span = stage.arranged.stage.span
    what = "product" if isinstance(stage.arranged, Multiplied) else "element-wise"
    return StageFacts(stage.arranged.stage.label, what, span.line if span is not None else 0, _tile_counts(stage))

# SPDX-License-Identifier: Apache-2.0
"""Compiler of stages for values of the parameters, to one executable: the programs of T0, T1 and T2 one behind the
other under these names, and a note.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.ir.signature import Extent, Signature
from polyloom.ir.ssa import Place
from polyloom.ir.stage import Program
from polyloom.passes import Watch
from polyloom.riscv.backend.link import executable
from polyloom.targets.tensix.map.loops import elementwise, product
from polyloom.targets.tensix.map.loops.dram.assemble import assemble_stream, stream_areas
from polyloom.targets.tensix.map.loops.elementwise import Elementwise
from polyloom.targets.tensix.map.loops.fused import threads as fused
from polyloom.targets.tensix.map.loops.fused.choose import element_loads, is_gainful, sum_mode
from polyloom.targets.tensix.map.loops.join import assemble_parts
from polyloom.targets.tensix.map.loops.layout import array_shapes, fits_l1, operand_areas, place_areas, result_areas
from polyloom.targets.tensix.map.loops.origins import origins
from polyloom.targets.tensix.map.loops.shape import Product
from polyloom.targets.tensix.map.loops.steps import Pointwise, span_place
from polyloom.targets.tensix.map.loops.thread import Parts
from polyloom.targets.tensix.map.loops.vector import kernel_words
from polyloom.targets.tensix.words.arrays import note as notes
from polyloom.targets.tensix.words.arrays import tiles
from polyloom.targets.tensix.words.arrays.area import CODE, DATA, MEETING, Area, Key, element_format
from polyloom.targets.tensix.words.arrays.formats import Arithmetic
from polyloom.targets.tensix.words.arrays.note import FUSED, Note, OutputArea, StageFacts
from polyloom.targets.tensix.words.arrays.views import Views, specialize_views
from polyloom.targets.tensix.words.program import CORE
from polyloom.transform.stages.layout_assignment import Applied, Arranged, Multiplied

PAGE: Final = 0x1000


@dataclass(frozen=True, slots=True)
class Content:
    """Compiler input: stages, how their arrays are matrices, the selected operations of formulas by result, and the
    arithmetic; `views` are statements of arrays by which the host makes some of the arguments of others; `fused` has by
    formula the product whose sums it reads in Dst.
    """

    program: Program
    arranged: tuple[Arranged, ...]
    formulas: Mapping[str, Pointwise]
    how: Arithmetic
    views: Views | None = None
    fused: Mapping[str, str] = field(default_factory=dict[str, str])


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


@dataclass(frozen=True, slots=True)
class _Assembled:
    """Programs of cores, and where arguments and results of stages, by name, lie; places in the source by address."""

    inputs: tuple[Area, ...]
    made: Mapping[str, Area]
    code: bytes
    starts: Mapping[str, int]
    places: Mapping[int, Place]


def compile_stages(content: Content, signature: Signature, values: Mapping[str, int], watch: Watch | None) -> bytes:
    """Pipeline: areas, placement in L1 or DRAM, programs of cores, executable. Errors: PL1233 (exit 3), PL1237, PL1280
    where values do not fit into the registers.
    """
    shapes = array_shapes(content.program, {name: values[name] for name in signature.parameters})
    gainful = {f: p for f, p in content.fused.items() if is_gainful(content.formulas[f], content.how)}
    stages = _select_kernels(content, gainful, shapes, watch)
    if gainful != content.fused and not _fits(stages, DATA):
        # A single stage may be streamed.
        stages = _select_kernels(content, content.fused, shapes, watch)
    data = DATA
    # Addresses of arrays stand in the code, whose length they change; the loop ends, since `data` only grows.
    while CODE + len((found := _assemble(stages, content.how, data)).code) > data:
        data = -(-(CODE + len(found.code)) // PAGE) * PAGE  # long programs take room from the arrays
    outputs = tuple(
        OutputArea(
            o.array,
            found.made[o.definition],
            tuple(at if isinstance(at, int) else -1 - at.evaluate(values) for at in o.at),
        )
        for o in content.program.outputs
    )
    told = tuple(_stage_facts(s) for s in stages)
    views = None if content.views is None else specialize_views(content.views, values)
    scalars = tuple(name for stage in stages for name in stage.scalars)
    note = Note(fixed_signature(signature, values), content.how, data, told, found.inputs, scalars, outputs, views)
    return executable(b"", CODE, found.code, CORE, found.starts, notes.encode(note, found.places))


def _assemble(stages: Sequence[_Stage], how: Arithmetic, data: int) -> _Assembled:
    """Assembly with the arrays in L1, or those of a product that L1 does not hold in DRAM."""
    if len(stages) == 1 and isinstance(stages[0].arranged, Multiplied) and not _fits(stages, data):
        return _assemble_stream(stages[0], how, data)
    return _assemble_resident(stages, how, data)


def _fits(stages: Sequence[_Stage], data: int) -> bool:
    return fits_l1((area for s in stages for area in s.areas), _array_area(stages, data))


def _array_area(stages: Sequence[_Stage], data: int) -> int:
    """Address of the first array in L1, behind the words of scalars."""
    return data + MEETING + -(-4 * sum(len(stage.scalars) for stage in stages) // 16) * 16


def _assemble_resident(stages: Sequence[_Stage], how: Arithmetic, data: int) -> _Assembled:
    where = place_areas((area for s in stages for area in s.areas), _array_area(stages, data))
    code, starts, lines = assemble_parts(_stage_parts(stages, how, where, data + MEETING), data)
    # Results of stages are no inputs: only areas of arguments are filled before the run.
    made = {s.result.placed.matrix.array: where[s.result.key] for s in stages}
    inputs = tuple(area for area in where.values() if area.placed.matrix.array not in made)
    by_stage = (origins(at, s.place, dict(s.kernel)) for s, at in zip(stages, lines, strict=True))
    return _Assembled(inputs, made, code, starts, {at: place for each in by_stage for at, place in each.items()})


def _assemble_stream(stage: _Stage, how: Arithmetic, data: int) -> _Assembled:
    first, p = data + MEETING, _product(stage, how, (0, 0, 0))
    e = None if stage.formula is None else _epilogue(stage, how, (0,) * (len(stage.reads) - 2), first)
    stream, code, starts, lines = assemble_stream(p, e, first + 4 * len(stage.scalars))
    *inputs, result = stream_areas(stream, stage.areas)
    made = {stage.result.placed.matrix.array: result}
    return _Assembled(tuple(inputs), made, code, starts, origins(lines, stage.place, dict(stage.kernel)))


def fixed_signature(signature: Signature, values: Mapping[str, int]) -> Signature:
    """Signature with numbers for extents, and without parameters."""
    arguments = tuple(
        replace(a, shape=tuple(Extent((((), n),) if n else ()) for n in a.extents(values))) for a in signature.arguments
    )
    return Signature(signature.name, (), (), arguments)


def _select_kernels(
    content: Content, fusions: Mapping[str, str], shapes: Mapping[str, tuple[int, ...]], watch: Watch | None
) -> list[_Stage]:
    """Stages with the words of their kernels; `fusions` has by formula the product that it is one stage with."""
    how, found = content.how, list[_Stage]()
    computed, mode = result_areas(content.arranged, how, shapes), element_format(how).mode
    products = {each.stage.result: each for each in content.arranged if each.stage.result in fusions.values()}
    for each in content.arranged:
        result, formula = each.stage.result, content.formulas.get(each.stage.result)
        if result in products:
            continue
        reads = operand_areas(each, formula, computed, how, shapes)
        if formula is None or result not in fusions:
            kernel = () if formula is None else tuple(kernel_words(formula, mode, watch))
            found.append(_Stage(each, formula, tuple(reads), computed[result], kernel))
            continue
        sums = fusions[result]
        kernel = tuple(kernel_words(formula, sum_mode(how), watch, element_loads(formula, sums, how)))
        others = [area for area, a in zip(reads, formula.arrays, strict=True) if a.array != sums]
        factors = operand_areas(products[sums], None, computed, how, shapes)
        found.append(_Stage(products[sums], formula, (*factors, *others), computed[result], kernel))
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
        elif stage.formula is None:
            found.append(product.threads(_product(stage, how, at)))
        else:
            found.append(_fused_parts(stage, how, at, scalars))
        scalars += 4 * len(stage.scalars)
    return found


def _fused_parts(stage: _Stage, how: Arithmetic, at: Sequence[int], scalars: int) -> Parts | None:
    left, right, *arrays, result = at
    return fused.threads(_product(stage, how, (left, right, result)), _epilogue(stage, how, arrays, scalars))


def _epilogue(stage: _Stage, how: Arithmetic, arrays: Sequence[int], scalars: int) -> fused.Epilogue:
    e, kernel = element_format(how), tuple(word for word, _ in stage.kernel)
    return fused.Epilogue(tuple(arrays), e.code, e.width, scalars, len(stage.scalars), kernel)


def _product(stage: _Stage, how: Arithmetic, at: Sequence[int]) -> Product:
    rows, columns, depth = _tile_counts(stage)
    packed, sums, (left, right, result) = how.accumulated, how.sums, at
    narrow = sums if sums.width < packed.width else None
    turned = isinstance(stage.arranged, Multiplied) and stage.arranged.turned
    return Product(
        rows, columns, depth, left, right, result, how.factors, packed, how.dest, how.fidelity, turned, narrow
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
    if what == "product" and stage.formula is not None:
        what = FUSED
    return StageFacts(stage.arranged.stage.label, what, span.line if span is not None else 0, _tile_counts(stage))

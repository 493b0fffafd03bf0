# SPDX-License-Identifier: Apache-2.0
"""Compiler of stages for values of the parameters, to one executable: the programs of T0, T1 and T2 one behind the
other under these names, and a note.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.analysis.dataflow import refuse
from polyloom.ir.signature import Extent, Signature
from polyloom.ir.ssa import Place
from polyloom.ir.stage import Fold
from polyloom.passes import Watch
from polyloom.riscv.backend.link import executable
from polyloom.targets.tensix.map.loops import elementwise, product
from polyloom.targets.tensix.map.loops.dram.assemble import assemble_stream, check_stream, stream_areas
from polyloom.targets.tensix.map.loops.dram.column_blocks import page_stages
from polyloom.targets.tensix.map.loops.dram.lack_of_room import lack_of_room
from polyloom.targets.tensix.map.loops.dram.page_areas import Paged, await_arguments, read_arguments
from polyloom.targets.tensix.map.loops.dram.stage_schedule import schedule_stages
from polyloom.targets.tensix.map.loops.elementwise import Elementwise
from polyloom.targets.tensix.map.loops.fused import threads as fused
from polyloom.targets.tensix.map.loops.fused.plan import (
    Content,
    Stage,
    compile_kernels,
    first_array,
    is_resident,
    is_streamed,
    plan_stages,
)
from polyloom.targets.tensix.map.loops.half.tile_kernel import TileKernel
from polyloom.targets.tensix.map.loops.join import assemble_parts
from polyloom.targets.tensix.map.loops.layout import place_areas
from polyloom.targets.tensix.map.loops.origins import origins
from polyloom.targets.tensix.map.loops.rows.fold import COLUMNS, fold_words
from polyloom.targets.tensix.map.loops.shape import Product
from polyloom.targets.tensix.map.loops.thread import Part, Parts, assemble_thread
from polyloom.targets.tensix.map.loops.vector import SINGLE
from polyloom.targets.tensix.words.arrays import note as notes
from polyloom.targets.tensix.words.arrays import tiles
from polyloom.targets.tensix.words.arrays.area import CODE, DATA, MEETING, Area, Key, element_format
from polyloom.targets.tensix.words.arrays.formats import Arithmetic
from polyloom.targets.tensix.words.arrays.note import FUSED, Note, OutputArea, StageFacts
from polyloom.targets.tensix.words.arrays.views import specialize_views
from polyloom.targets.tensix.words.program import CORE
from polyloom.transform.stages.layout_assignment import Applied, Multiplied

__all__ = ["PAGE", "Content", "check_room", "compile_stages", "fixed_signature"]

PAGE: Final = 0x1000
_FEW, _STAGE_BYTES = 16, 1400
"""Stages up to which programs are short, and bytes of a stage's programs in longer ones, about."""
_CODE_ROOM: Final = 0x8000
"""Bytes of programs, beyond those for which L1 has a place of its own, that leave room for arrays: few are longer."""


@dataclass(frozen=True, slots=True)
class _Assembled:
    """Programs of cores, and where arguments and results of stages, by name, lie; places in the source by address."""

    stages: Sequence[Stage]
    inputs: tuple[Area, ...]
    made: Mapping[str, Area]
    code: bytes
    starts: Mapping[str, int]
    places: Mapping[int, Place]


def compile_stages(content: Content, signature: Signature, values: Mapping[str, int], watch: Watch | None) -> bytes:
    """Pipeline: areas, placement in L1 or DRAM, programs of cores, executable. Errors: PL1233 (exit 3), PL1237, PL1280
    where values do not fit into the registers.
    """
    stages = compile_kernels(plan_stages(content, {n: values[n] for n in signature.parameters}), content.how, watch)
    # Short programs have a place of their own; the length of long ones is estimated, which saves an assembly.
    data = DATA if len(stages) <= _FEW else -(-(CODE + _STAGE_BYTES * len(stages)) // PAGE) * PAGE
    # Addresses of arrays stand in the code, whose length they change; the loop ends, since `data` only grows.
    kept = _kept_results(content)
    while CODE + len((found := _assemble(stages, content.how, data, kept)).code) > data:
        data = -(-(CODE + len(found.code)) // PAGE) * PAGE  # long programs take room from the arrays
    outputs = tuple(
        OutputArea(
            o.array,
            found.made[o.definition],
            tuple(at if isinstance(at, int) else -1 - at.evaluate(values) for at in o.at),
        )
        for o in content.program.outputs
    )
    told = tuple(map(_stage_facts, found.stages))
    views = None if content.views is None else specialize_views(content.views, values)
    scalars = tuple(name for stage in found.stages for name in stage.scalars)
    note = Note(fixed_signature(signature, values), content.how, data, told, found.inputs, scalars, outputs, views)
    return executable(b"", CODE, found.code, CORE, found.starts, notes.encode(note, found.places))


def _assemble(stages: Sequence[Stage], how: Arithmetic, data: int, kept: Collection[str]) -> _Assembled:
    """Assembly with the arrays in L1; where it does not hold them, those of a product in DRAM, and of several stages
    the arguments. `kept` are results that outputs are made of.
    """
    if is_streamed(stages, data):
        return _assemble_stream(stages[0], how, data)
    if len(stages) == 1 or is_resident(stages, data):
        return _assemble_resident(stages, how, data)
    first = first_array(stages, data)
    paged = _page_scheduled(stages, kept, first)
    return _assemble_paged(paged[0], how, data, paged[1])


def _page_scheduled(stages: Sequence[Stage], kept: Collection[str], first: int) -> tuple[list[Stage], Paged]:
    """Stages with places of their areas, in the order of the source, or else in one in which fewer bytes live. Errors:
    PL1233.
    """
    if (found := page_stages(stages, kept, first)) is not None:
        return found
    scheduled = schedule_stages(stages, kept)
    if (found := page_stages(scheduled, kept, first)) is None:
        raise lack_of_room(scheduled, kept, first)
    return found


def _assemble_paged(stages: Sequence[Stage], how: Arithmetic, data: int, paged: Paged) -> _Assembled:
    parts = _stage_parts(stages, how, paged.where, data + MEETING)
    waiting = [
        part if part is None else (_await_arguments(part[0], paged, number, data), part[1], part[2])
        for number, part in enumerate(parts)
    ]
    code, starts, lines = assemble_parts(waiting, data)
    mover, known = assemble_thread([read_arguments(paged, len(stages), data)], CODE + len(code))
    starts["nc"] = len(code)
    made = {s.result.placed.matrix.array: paged.where[s.result.key] for s in stages}
    by_stage = [origins(at, s.place, dict(s.kernel.words)) for s, at in zip(stages, lines, strict=True)]
    by_stage.append(origins(known[0], stages[0].place))
    places = {at: place for each in by_stage for at, place in each.items()}
    return _Assembled(stages, paged.inputs, made, code + mover, starts, places)


def _await_arguments(part: Part, paged: Paged, number: int, data: int) -> Part:
    return replace(part, lines=[*await_arguments(paged, number, data), *part.lines])


def _assemble_resident(stages: Sequence[Stage], how: Arithmetic, data: int) -> _Assembled:
    where = place_areas((area for s in stages for area in s.areas), first_array(stages, data))
    code, starts, lines = assemble_parts(_stage_parts(stages, how, where, data + MEETING), data)
    # Results of stages are no inputs: only areas of arguments are filled before the run.
    made = {s.result.placed.matrix.array: where[s.result.key] for s in stages}
    inputs = tuple(area for area in where.values() if area.placed.matrix.array not in made)
    by_stage = (origins(at, s.place, dict(s.kernel.words)) for s, at in zip(stages, lines, strict=True))
    return _Assembled(
        stages, inputs, made, code, starts, {at: place for each in by_stage for at, place in each.items()}
    )


def _assemble_stream(stage: Stage, how: Arithmetic, data: int) -> _Assembled:
    stream, code, starts, lines = assemble_stream(*_stream_product(stage, how, data))
    *inputs, result = stream_areas(stream, stage.areas)
    made = {stage.result.placed.matrix.array: result}
    return _Assembled([stage], tuple(inputs), made, code, starts, origins(lines, stage.place, dict(stage.kernel.words)))


def _stream_product(stage: Stage, how: Arithmetic, data: int) -> tuple[Product, fused.Epilogue | None, int]:
    """Product of a stage, its formula or None, and where its buffers in L1 begin."""
    first = data + MEETING
    e = None if stage.formula is None else _epilogue(stage, how, (0,) * (len(stage.reads) - 2), first)
    return _product(stage, how, (0, 0, 0)), e, first + 4 * len(stage.scalars)


def check_room(content: Content, values: Mapping[str, int]) -> None:
    """Check that L1 holds the arrays of all stages and programs of usual length, or the blocks of a streamed product.
    Errors: PL1233 (exit 3), PL1237.
    """
    stages, data = plan_stages(content, values), DATA + _CODE_ROOM
    # A stream needs room for its blocks alone.
    if is_streamed(stages, data):
        check_stream(*_stream_product(stages[0], content.how, data))
        return
    first, kept = first_array(stages, data), _kept_results(content)
    if len(stages) > 1:
        _page_scheduled(stages, kept, first)
    else:
        place_areas(stages[0].areas, first)


def _kept_results(content: Content) -> frozenset[str]:
    """Results that outputs are made of."""
    return frozenset(output.definition for output in content.program.outputs)


def fixed_signature(signature: Signature, values: Mapping[str, int]) -> Signature:
    """Signature with numbers for extents, and without parameters."""
    arguments = tuple(
        replace(a, shape=tuple(Extent((((), n),) if n else ()) for n in a.extents(values))) for a in signature.arguments
    )
    return Signature(signature.name, (), (), arguments)


def _stage_parts(
    stages: Sequence[Stage], how: Arithmetic, where: Mapping[Key, Area], scalars: int
) -> list[Parts | None]:
    """Thread programs of each stage; None for a stage that has nothing to do."""
    found = list[Parts | None]()
    for stage in stages:
        at = [where[area.key].placed.address for area in stage.areas]
        if isinstance(stage.arranged, Applied) and stage.arranged.source is not None:
            found.append(_fold_parts(stage, how, at))
        elif isinstance(stage.arranged, Applied):
            found.append(_elementwise_parts(stage, how, at, scalars))
        elif stage.formula is None:
            found.append(product.threads(_product(stage, how, at)))
        else:
            found.append(_fused_parts(stage, how, at, scalars))
        scalars += 4 * len(stage.scalars)
    return found


def _fused_parts(stage: Stage, how: Arithmetic, at: Sequence[int], scalars: int) -> Parts | None:
    left, right, *arrays, result = at
    # The formula's arrays have the columns of the result.
    arrays = [place + _block_offset(stage, area) for place, area in zip(arrays, stage.reads[2:], strict=True)]
    return fused.threads(_product(stage, how, (left, right, result)), _epilogue(stage, how, arrays, scalars))


def _epilogue(stage: Stage, how: Arithmetic, arrays: Sequence[int], scalars: int) -> fused.Epilogue:
    e = element_format(how)
    return fused.Epilogue(tuple(arrays), e.code, e.width, scalars, len(stage.scalars), stage.kernel)


def _product(stage: Stage, how: Arithmetic, at: Sequence[int]) -> Product:
    rows, columns, depth = _tile_counts(stage)
    packed, sums, (left, right, result) = how.accumulated, how.sums, at
    result += _block_offset(stage, stage.result)
    narrow = sums if sums.width < packed.width else None
    turned = isinstance(stage.arranged, Multiplied) and stage.arranged.turned
    return Product(
        rows, columns, depth, left, right, result, how.factors, packed, how.dest, how.fidelity, turned, narrow
    )


def _block_offset(stage: Stage, area: Area) -> int:
    """Bytes in front of the columns of tiles that a block computes, in an area of all columns."""
    if stage.block is None:
        return 0
    return stage.block.first * tiles.tile_count(area.placed.extents[0]) * tiles.tile_pitch(area.placed.width)


def _elementwise_parts(stage: Stage, how: Arithmetic, at: Sequence[int], scalars: int) -> Parts | None:
    e, (*inputs, result) = element_format(how), at
    rows, columns = _tile_counts(stage)
    count = len(stage.scalars)
    # A column of tiles serves all columns of the result: a fold has the same number in all elements of a row.
    single = frozenset(n for n, area in enumerate(stage.reads) if tiles.tile_count(area.placed.extents[1]) < columns)
    return elementwise.threads(
        Elementwise(rows * columns, tuple(inputs), result, scalars, count, stage.kernel, e.code, e.width, rows, single)
    )


def _fold_parts(stage: Stage, how: Arithmetic, at: Sequence[int]) -> Parts | None:
    """Fold as an element-wise stage whose inputs are the columns of tiles of one matrix. Raises `Unlike`."""
    e, (source, result) = element_format(how), at
    assert isinstance(stage.arranged.stage, Fold), "the stage is a fold"
    rows, columns = stage.reads[0].placed.extents
    count, fold = tiles.tile_count(rows), stage.arranged.stage
    first, end, _ = fold.elements.indices(columns)
    columns = end - first
    assert first % tiles.SIDE == 0, "a part begins with a tile"
    if columns > COLUMNS * tiles.SIDE:
        message = f"the {fold.operation} of rows of {columns} elements, and Dst holds {COLUMNS * tiles.SIDE} of each"
        refuse(message, fold.span)
    pitch = tiles.tile_pitch(e.width)
    before = first // tiles.SIDE
    inputs = tuple(source + (before + n) * count * pitch for n in range(tiles.tile_count(columns)))
    words = tuple((word, stage.place) for word in fold_words(fold.operation, columns, e.mode))
    # One run is for all vectors of a tile.
    kernel = TileKernel(words, replace(SINGLE, runs=1))
    return elementwise.threads(Elementwise(count, inputs, result, 0, 0, kernel, e.code, e.width))


def _tile_counts(stage: Stage) -> tuple[int, ...]:
    """Numbers of tiles of rows and columns, and of a product along its sum."""
    extents = stage.result.placed.extents
    if isinstance(stage.arranged, Multiplied):
        left = stage.reads[0].placed
        extents = *extents, left.extents[1]
    counts = tuple(map(tiles.tile_count, extents))
    return counts if stage.block is None else (counts[0], stage.block.columns, *counts[2:])


def _stage_facts(stage: Stage) -> StageFacts:
    span = stage.arranged.stage.span
    what = "product" if isinstance(stage.arranged, Multiplied) else "element-wise"
    if isinstance(stage.arranged.stage, Fold):
        what = stage.arranged.stage.operation
    if what == "product" and stage.formula is not None:
        what = FUSED
    return StageFacts(stage.arranged.stage.label, what, span.line if span is not None else 0, _tile_counts(stage))

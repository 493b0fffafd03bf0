# SPDX-License-Identifier: Apache-2.0
"""Plan of the stages of a program at sizes: the areas that each reads and computes, which formulas are one stage with
a product (choose.py), and whether all areas lie in L1 together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from polyloom.ir.ssa import Place
from polyloom.ir.stage import Product, Program
from polyloom.passes import Watch
from polyloom.targets.tensix.map.loops.fused.choose import element_loads, is_gainful, sum_mode
from polyloom.targets.tensix.map.loops.half.selection import HALF_WIDTH
from polyloom.targets.tensix.map.loops.half.tile_kernel import UNCOMPILED, TileKernel, select_kernel
from polyloom.targets.tensix.map.loops.layout import array_shapes, fits_l1, operand_areas, result_areas
from polyloom.targets.tensix.map.loops.steps import Pointwise, span_place
from polyloom.targets.tensix.words.arrays.area import DATA, MEETING, Area, element_format
from polyloom.targets.tensix.words.arrays.formats import Arithmetic
from polyloom.targets.tensix.words.arrays.views import Views
from polyloom.transform.stages.layout_assignment import Arranged, Multiplied


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
class ColumnBlock:
    """Column block of a product, which alone a stage computes: `columns` of tiles from the `first` on, of a right
    factor whose `whole` lies in DRAM.
    """

    first: int
    columns: int
    whole: Area


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage with the areas that it reads and computes, of a formula the operations and the sums that it reads in Dst,
    and when it is compiled its vector kernel. Of a column block, `reads` has the block, and `result` is the whole one.
    """

    arranged: Arranged
    formula: Pointwise | None
    reads: tuple[Area, ...]
    result: Area
    sums: str = ""
    kernel: TileKernel = UNCOMPILED
    block: ColumnBlock | None = None

    @property
    def place(self) -> Place:
        return span_place(self.arranged.stage.span)

    @property
    def scalars(self) -> tuple[str, ...]:
        return () if self.formula is None else self.formula.scalars

    @property
    def areas(self) -> tuple[Area, ...]:
        return *self.reads, self.result


def plan_stages(content: Content, values: Mapping[str, int]) -> list[Stage]:
    """Stages at values of the parameters, formulas fused where it costs less, or where only so there is a single stage,
    which may be streamed. Errors: PL1237.
    """
    shapes = array_shapes(content.program, values)
    gainful = {f: p for f, p in content.fused.items() if is_gainful(content.formulas[f], content.how)}
    stages = _fuse_stages(content, gainful, shapes)
    if gainful != content.fused and not is_resident(stages, DATA):
        return _fuse_stages(content, content.fused, shapes)
    return stages


def is_streamed(stages: Sequence[Stage], data: int) -> bool:
    """Whether the arrays lie in DRAM: those of a single product that L1 does not hold."""
    return len(stages) == 1 and isinstance(stages[0].arranged, Multiplied) and not is_resident(stages, data)


def is_resident(stages: Sequence[Stage], data: int) -> bool:
    """Whether L1 holds all areas."""
    return fits_l1((area for s in stages for area in s.areas), first_array(stages, data))


def first_array(stages: Sequence[Stage], data: int) -> int:
    """Address of the first array in L1, behind the words of scalars."""
    return data + MEETING + -(-4 * sum(len(stage.scalars) for stage in stages) // 16) * 16


def _fuse_stages(content: Content, fusions: Mapping[str, str], shapes: Mapping[str, tuple[int, ...]]) -> list[Stage]:
    """Stages with their areas; `fusions` has by formula the product that it is one stage with."""
    how, found = content.how, list[Stage]()
    computed = result_areas(content.arranged, how, shapes)
    products = {each.stage.result: each for each in content.arranged if each.stage.result in fusions.values()}
    for each in content.arranged:
        result, formula = each.stage.result, content.formulas.get(each.stage.result)
        # It is computed by the stage of its formula.
        if result in products:
            continue
        reads = operand_areas(each, formula, computed, how, shapes)
        if formula is None or result not in fusions:
            found.append(Stage(each, formula, tuple(reads), computed[result]))
            continue
        sums = fusions[result]
        others = [area for area, a in zip(reads, formula.arrays, strict=True) if a.array != sums]
        factors = operand_areas(products[sums], None, computed, how, shapes)
        found.append(Stage(products[sums], formula, (*factors, *others), computed[result], sums))
    return found


def compile_kernels(stages: Iterable[Stage], how: Arithmetic, watch: Watch | None) -> list[Stage]:
    """Stages with the words of their vector kernels; equal formulas, as those of heads are, have one kernel."""
    known, made = dict[object, TileKernel](), list[Stage]()
    for stage in stages:
        if stage.formula is not None:
            key = _kernel_key(stage, how)
            if key not in known:
                known[key] = _vector_kernel(stage, how, watch)
            stage = replace(stage, kernel=known[key])
        made.append(stage)
    return made


def _kernel_key(stage: Stage, how: Arithmetic) -> object:
    """What the words of a kernel and their places depend on: not the names of arrays."""
    p = stage.formula
    assert p is not None, "products alone have no kernel"
    loads = element_loads(p, stage.sums, how) if stage.sums else None
    places = [p.place, *(span_place(step.span or p.span) for step in p.steps)]
    return p.dtype, p.steps, p.value, len(p.arrays), len(p.scalars), str(loads), _has_rows(stage), tuple(places)


def _has_rows(stage: Stage) -> bool:
    """Whether a formula is one of sums that are the same in all columns of a tile, and of nothing else."""
    product, formula = stage.arranged.stage, stage.formula
    return isinstance(product, Product) and product.is_spread and formula is not None and len(formula.arrays) == 1


def _vector_kernel(stage: Stage, how: Arithmetic, watch: Watch | None) -> TileKernel:
    assert stage.formula is not None, "products alone have no kernel"
    e = element_format(how)
    # At 32 bits, a kernel of two vectors has not been measured beside one of a single vector.
    has_pairs = e.width == HALF_WIDTH
    if not stage.sums:
        return select_kernel(stage.formula, e.mode, watch, has_pairs=has_pairs)
    # In Dst, sums lie at the address of the vector, and arrays behind all sums.
    loads = element_loads(stage.formula, stage.sums, how)
    return select_kernel(stage.formula, sum_mode(how), watch, loads, has_pairs=has_pairs, has_rows=_has_rows(stage))

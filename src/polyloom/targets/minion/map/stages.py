# SPDX-License-Identifier: Apache-2.0
"""Stages of a function as a plan, and what becomes of each: a product for the tensor coprocessor, or SIMD loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from polyloom.analysis.contraction import to_contraction
from polyloom.analysis.dataflow import refuse
from polyloom.analysis.formulas_system import system_formulas
from polyloom.diagnostics import Span
from polyloom.ir import pla
from polyloom.ir.nest import Nest
from polyloom.ir.pla import Array
from polyloom.ir.plan import Phase, Plan
from polyloom.ir.recurrence import System
from polyloom.ir.stage import Formula, Product, Program, Stage
from polyloom.passes import Pass, run_passes
from polyloom.sets import Affine, Condition
from polyloom.targets.minion.map import stage_errors
from polyloom.targets.minion.map.convolution import source as convolutions
from polyloom.targets.minion.map.frame import span_place
from polyloom.targets.minion.map.phase_work import Work
from polyloom.targets.minion.map.product import form as product
from polyloom.targets.minion.map.simd import form as simd
from polyloom.targets.minion.options import Fp
from polyloom.transform.stages.abilities import Abilities
from polyloom.transform.stages.nest import formula_nest
from polyloom.transform.stages.outputs import align_dimensions, store_outputs
from polyloom.transform.stages.stage_cutting import STAGES, cut_stages

TENSOR_UNIT: Final = Abilities("the tensor unit", frozenset(("f32", "f16", "i8", "u8")), accumulates=True)


def plan_stages(nest: Nest, system: System, fp: Fp, minions: int, *, exact: bool) -> tuple[Plan, tuple[Work, ...]]:
    """Plan with a phase for each stage, and their works. `exact`: only such as have the bits of the source. Raises
    `Unlike` where the function does not consist of products and formulas.
    """
    _check_sizes(nest)
    passes = (
        Pass("cut", partial(cut_stages, can=TENSOR_UNIT, exact=exact), STAGES),
        Pass("store-outputs", store_outputs, STAGES),
    )
    made: Program = run_passes(align_dimensions(system_formulas(system)), passes)
    works = tuple(_stage_work(nest, stage, made, fp, minions, exact=exact) for stage in made.stages)
    plan = _stage_plan(nest, made)
    if not any(isinstance(stage, Product) for stage in made.stages):
        refuse(f"`{nest.name}` has no product", nest.span)
    # One inexact stage suffices to make all later ones inexact.
    if not all(work.exact for work in works) and any(work.bounds is None for work in works):
        stage = next(s for s, work in zip(made.stages, works, strict=True) if work.bounds is None)
        refuse(f"errors of `{stage.result}` would have no bound", stage.span)
    return plan, works


def _check_sizes(nest: Nest) -> None:
    """Sizes at least 1, without which formulas do not hold; a size that is an array's extent is at least 1, as arrays
    without elements are refused. Raises `Unlike`.
    """
    extents = {extent for storage in nest.storage if storage.role == "argument" for extent in storage.shape}
    for name in nest.parameters:
        if Affine.symbol(name) not in extents:
            refuse(f"`{name}` is the extent of no array, and may be 0", nest.span)


def _stage_work(nest: Nest, stage: Stage, made: Program, fp: Fp, minions: int, *, exact: bool) -> Work:
    """Work of a stage. Raises `Unlike` where the tensor unit cannot compute a product."""
    if isinstance(stage, Formula):
        has = stage_errors.has_bounds(stage.term, made.types)
        bounds = partial(stage_errors.bounds, stage, made.types[stage.result]) if has else None
        return simd.stage_work(formula_nest(nest, stage, made), fp, minions, bounds)
    c, place = to_contraction(stage), span_place(stage.span)
    # A product of a matrix and a vector is no tile of 16 columns; convolutions take it.
    if c.result.rows and c.result.columns:
        found = product.contraction_work(c, made.types, fp, place, is_exact=stage.is_ordered)
    else:
        found = convolutions.matrix_vector_work(
            c, nest, stage.dims, made.shapes, made.types, fp, place, is_exact=stage.is_ordered
        )
    if found is None:
        refuse(_refusal_reason(stage, made, fp), stage.span)
    if exact and not found.exact:
        refuse(f"--exact: the tensor unit would round `{stage.result}` in another order", stage.span)
    return found


def _refusal_reason(stage: Product, made: Program, fp: Fp) -> str:
    """Reason why a product is not for the tensor unit, in words for the report."""
    names = [stage.left.array, stage.right.array]
    if not stage.dims:
        return f"`{stage.result}` is the product of two vectors"
    if fp == "strict" and made.types[stage.result] == "f32":
        return "--fp strict rounds each product, and the tensor unit does not"
    kinds = {made.types[name] for name in names}
    if kinds not in ({"f32"}, {"f16"}) and not kinds <= {"i8", "u8"}:
        return f"the tensor unit multiplies f16, f32, i8, u8, and factors of `{stage.result}` are {sorted(kinds)[0]}"
    return f"rows and columns of `{stage.result}` and its factors do not lie apart in memory"


def _stage_plan(nest: Nest, made: Program) -> Plan:
    """Plan with a phase for each stage; arrays between stages are its intermediates."""
    arguments = {s.name: s for s in nest.storage if s.role == "argument"}
    written = {stage.result for stage in made.stages}
    read = {name for stage in made.stages for name in stage.reads}
    arrays = {name: Array(name, made.types[name], made.shapes[name], _span(nest, name)) for name in read | written}
    inputs = [arrays[name] for name in arguments if name in _live_at_entry(made)]
    outputs = tuple(arrays[name] for name in arguments if name in written)
    within = tuple(arrays[stage.result] for stage in made.stages if stage.result not in arguments)
    phases = tuple(_stage_phase(nest, stage, arrays) for stage in made.stages)
    return Plan(nest.name, nest.parameters, nest.assumptions, tuple(inputs), outputs, within, phases)


def _stage_phase(nest: Nest, stage: Stage, arrays: Mapping[str, Array]) -> Phase:
    """Phase of a stage. Its program has no equations, because what becomes of it is known."""
    inputs, outputs = tuple(arrays[name] for name in stage.reads), (arrays[stage.result],)
    made = pla.Program(nest.name, nest.parameters, nest.assumptions, (), Condition(), inputs, outputs, (), ())
    return Phase(made, _identity_names(inputs), _identity_names(outputs))


def _identity_names(arrays: Sequence[Array]) -> tuple[tuple[str, str], ...]:
    return tuple((array.name, array.name) for array in arrays)


def _live_at_entry(made: Program) -> frozenset[str]:
    """Arrays live at entry: what stages read before one writes it."""
    written, found = set[str](), set[str]()
    for stage in made.stages:
        found |= {*stage.reads} - written
        written.add(stage.result)
    return frozenset(found)


def _span(nest: Nest, name: str) -> Span | None:
    return next((s.span for s in nest.storage if s.name == name), None)

# SPDX-License-Identifier: Apache-2.0
"""Recognition of convolutions where they come from: a function's nest, or the equations of a phase."""

from __future__ import annotations

from collections.abc import Mapping

from polyloom.analysis import convolution_equations as equations
from polyloom.analysis.contraction import Contraction
from polyloom.analysis.contraction_sums import contraction_sums
from polyloom.analysis.convolution_nest import sum_of_products
from polyloom.ir.nest import Apply, Expression, Nest, statements
from polyloom.ir.plan import Phase, Plan
from polyloom.ir.ssa import Place
from polyloom.sets import Affine
from polyloom.targets.minion.map.convolution.form import work
from polyloom.targets.minion.map.frame import span_place
from polyloom.targets.minion.map.phase_work import Work, overwrites_factor
from polyloom.targets.minion.map.simd import form as simd
from polyloom.targets.minion.options import Fp


def nest_convolution(nest: Nest, fp: Fp, minions: int) -> tuple[Plan, Work] | None:
    """Plan whose one phase is the nest, and its work; None where it is no convolution."""
    types = {storage.name: storage.dtype for storage in nest.storage}
    found = [statement.assign for statement in statements(nest)]
    spans = [assign.span for assign in found if assign.span is not None]
    fuses = any(_has_madd(assign.value) for assign in found)
    made = work(sum_of_products(nest), types, fp, span_place(spans[-1] if spans else None), fuses=fuses)
    # The plan is that of the nest in any form: inputs and outputs do not depend on who computes.
    return None if made is None else (simd.nest_plan(nest, fp, minions)[0], made)


def matrix_vector_work(
    found: Contraction,
    around: Nest,
    dims: tuple[str, ...],
    shapes: Mapping[str, tuple[Affine, ...]],
    types: Mapping[str, str],
    fp: Fp,
    place: Place,
    *,
    is_exact: bool,
) -> Work | None:
    """Work of the product of a matrix and a vector in a function, whose result has `dims`: a convolution without
    windows.
    """
    sums = contraction_sums(found, dims, shapes, around.parameters, around.assumptions)
    return work(sums, types, fp, place, fuses=False, begins=found.begins, is_exact=is_exact)


def _has_madd(value: Expression) -> bool:
    return isinstance(value, Apply) and (value.operation == "madd" or any(map(_has_madd, value.operands)))


def phase_convolution(phase: Phase, fp: Fp, *, is_only: bool = False) -> Work | None:
    """Work of a phase; None where it is no convolution. Rows of bytes are results of a phase that is the only one, as
    those of products.
    """
    program = phase.program
    # Rows of bytes do not fill lines, for which a later phase would have to wait (docs/targets/minion.md).
    if not is_only and any(array.dtype in ("i8", "u8") for array in program.outputs):
        return None
    types = {array.name: array.dtype for array in (*program.inputs, *program.outputs)}
    spans = [e.span for e in program.equations if e.span is not None and e.target.name in types]
    fuses = any(equation.operation == "madd" for equation in program.equations)
    found = equations.sum_of_products(program)
    if found is not None and overwrites_factor(phase, [factor.array for factor in found.factors]):
        return None
    return work(found, types, fp, span_place(spans[-1] if spans else None), fuses=fuses)

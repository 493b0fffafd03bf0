# SPDX-License-Identifier: Apache-2.0
"""Convolutions where they come from: a function's nest, or the equations of a phase."""

from __future__ import annotations

from polyloom.analysis import convolution_equations as equations
from polyloom.analysis.convolution_nest import summed
from polyloom.ir.nest import Apply, Expression, Nest, statements
from polyloom.ir.pla import Program
from polyloom.ir.plan import Plan
from polyloom.targets.minion.loops.convolution.form import work
from polyloom.targets.minion.loops.program import place_of
from polyloom.targets.minion.loops.simd import form as simd
from polyloom.targets.minion.loops.work import Work
from polyloom.targets.minion.options import Fp


def of_nest(nest: Nest, fp: Fp, minions: int) -> tuple[Plan, Work] | None:
    """A plan whose one phase is the nest, and what becomes of it; None where it is no convolution."""
    types = {storage.name: storage.dtype for storage in nest.storage}
    found = [statement.assign for statement in statements(nest)]
    spans = [assign.span for assign in found if assign.span is not None]
    fuses = any(_has_madd(assign.value) for assign in found)
    made = work(summed(nest), types, fp, place_of(spans[-1] if spans else None), fuses=fuses)
    return None if made is None else (simd.of_nest(nest, fp, minions)[0], made)


def _has_madd(value: Expression) -> bool:
    return isinstance(value, Apply) and (value.operation == "madd" or any(map(_has_madd, value.operands)))


def of_program(program: Program, fp: Fp, *, is_only: bool = False) -> Work | None:
    """What becomes of a phase; None where it is no convolution. Rows of bytes are results of a phase that is the only
    one, as those of products."""
    if not is_only and any(array.dtype in ("i8", "u8") for array in program.outputs):
        return None
    types = {array.name: array.dtype for array in (*program.inputs, *program.outputs)}
    spans = [e.span for e in program.equations if e.span is not None and e.target.name in types]
    fuses = any(equation.operation == "madd" for equation in program.equations)
    return work(equations.summed(program), types, fp, place_of(spans[-1] if spans else None), fuses=fuses)

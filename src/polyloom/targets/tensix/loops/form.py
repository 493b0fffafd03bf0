# SPDX-License-Identifier: Apache-2.0
"""Loops as a form of sources of the tile: equations (.pla), Python and C kernels that are products or element-wise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from polyloom.analysis.contraction import Contraction, Matrix, contraction
from polyloom.analysis.dataflow import Unlike, refuse
from polyloom.diagnostics import input_error
from polyloom.frontend.source import Source
from polyloom.ir.plan import Phase
from polyloom.targets.forms import loops
from polyloom.targets.subject import Form, Subject, Written
from polyloom.targets.tensix.loops import element_form, product_form
from polyloom.targets.tensix.loops.pointwise import pointwise
from polyloom.targets.tensix.loops.stages import form as stages_form
from polyloom.targets.tensix.loops.stages.compile import Content as StagesContent
from polyloom.targets.tensix.loops.steps import Pointwise

__all__ = ["FORM", "Content"]

_FORMS: Final = (
    "a tile takes sums of products such as examples/matmul.pla, element-wise programs such as axpy.pla, and both one "
    "after another such as kernels/gemm.c"
)
Content = product_form.Content | element_form.Content | StagesContent


def _load(written: Written, place: Any, options: Any) -> Subject:
    """Errors: PL1230 for a program of another form, PL1231 for an operation, PL1232 for a format that does not fit, and
    those of reading."""
    del place
    source = loops.source_of(written.value, written.options, written.watch)
    try:
        return _subject(source, written, options)
    except Unlike as lack:
        raise input_error("PL1230", lack.message, span=lack.span, help=_FORMS) from None


def _subject(source: Source, written: Written, options: Any) -> Subject:
    """A product or an element-wise program; else one of several stages."""
    try:
        made = _alone(source, options)
    except Unlike as lack:
        made = _of_stages(source, options, lack)
    return replace(made, watch=written.watch)


def _alone(source: Source, options: Any) -> Subject:
    if source.plan.loops or len(source.plan.phases) != 1:
        refuse(f"`{source.plan.name}` has several phases, one after the other")
    (phase,) = source.plan.phases
    if phase.parametric:
        refuse(f"`{phase.parametric[0].name}` is a number that parameters determine")
    product = contraction(phase.program)
    if product is not None:
        return product_form.subject(source, _bound(phase, product), options)
    return element_form.subject(source, _bound_elements(phase, pointwise(phase.program)), options)


def _of_stages(source: Source, options: Any, lack: Unlike) -> Subject:
    """Raises `Unlike` with what is lacking for stages, of equations what they lack alone."""
    if source.system is None and (len(source.plan.phases) != 1 or source.plan.phases[0].parametric):
        raise lack
    return stages_form.subject(source, options)


def _bound(phase: Phase, found: Contraction) -> Contraction:
    """With the names of the plan's arrays."""
    inputs, outputs = dict(phase.inputs), dict(phase.outputs)

    def named(matrix: Matrix, names: dict[str, str]) -> Matrix:
        return replace(matrix, array=names[matrix.array])

    return replace(
        found, left=named(found.left, inputs), right=named(found.right, inputs), result=named(found.result, outputs)
    )


def _bound_elements(phase: Phase, found: Pointwise) -> Pointwise:
    inputs, outputs = dict(phase.inputs), dict(phase.outputs)
    arrays = tuple(replace(a, array=inputs[a.array]) for a in found.arrays)
    scalars = tuple(inputs[name] for name in found.scalars)
    return replace(found, result=outputs[found.result], arrays=arrays, scalars=scalars)


FORM: Final = Form("loops", "a product or an element-wise program (.pla, .py, .c)", loops.PLAN.accepts, _load)

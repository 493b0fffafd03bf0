# SPDX-License-Identifier: Apache-2.0
"""Whether results are close enough to others that are computed in another way: to those of double precision, within the
bound of each element's error, and to those of the function itself, which is off by at most as much in its own order and
with a rounding more per term: within twice the bound.

Errors grow from phase to phase. Where nothing is rounded but on the way to bytes, the function's results are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.diagnostics import MISMATCH, Diagnostic
from polyloom.frontend.source import Arrays
from polyloom.ir.arguments import shape_of, sizes_of
from polyloom.ir.numbers import NUMPY
from polyloom.ir.plan import Phase, Plan
from polyloom.targets.minion.loops.simd import form as simd
from polyloom.targets.minion.loops.simd.concrete import concrete
from polyloom.targets.minion.loops.simd.count import operations
from polyloom.targets.minion.loops.work import Work
from polyloom.targets.subject import Oracle

Figures = Mapping[str, Any]
_MOST: Final = 100_000
"""Operations of a function that is executed for comparison: Python takes a second for some millions."""


def of_source(plan: Plan, works: tuple[Work, ...], read: simd.Read) -> Oracle | None:
    """The function as an oracle; it gives up where it has much to do. None where its errors cannot be told, or where
    the host's functions lack its types."""
    what = f"the source, {read.path}"
    if any(storage.dtype == "f16" for storage in read.nest.storage):
        return None
    if all(work.is_discrete for work in works):
        return Oracle("source", what, partial(_executed, read))
    if any(work.bounds is None or not is_judged(plan, p, work) for p, work in zip(plan.phases, works, strict=True)):
        return None
    return Oracle("source", what, partial(_executed, read), judge=partial(_near, plan, works))


def _executed(read: simd.Read, values: Mapping[str, int], inputs: Arrays) -> Arrays | None:
    count = operations(concrete(read.nest, values, "contract"))
    return None if count is None or count > _MOST else read.reference(values, inputs)


def is_judged(plan: Plan, phase: Phase, work: Work) -> bool:
    """Whether bounds of errors can be told of the phase, its inputs' errors known."""
    known = work.what != "convolution" or phase.outputs[0][1] in {array.name for array in plan.outputs}
    return work.bounds is not None and known


def judge(
    plan: Plan, works: tuple[Work, ...], inputs: Arrays, expected: Arrays, got: Arrays
) -> tuple[Diagnostic | None, Figures]:
    """Errors against the bounds, element by element, and the greatest of each for `run --json`, of the array whose
    error comes nearest to its bound. A difference: PL1337."""
    errors = _errors(plan, works, inputs, expected)
    judged = [_judged(name, expected[name], got[name], errors[name], "double precision gives") for name in expected]
    wrong = next((found for found, _ in judged if found is not None), None)
    return wrong, max((figures for _, figures in judged), key=lambda f: f["max_error"] / (f["bound"] or 1.0))


def _near(
    plan: Plan, works: tuple[Work, ...], inputs: Arrays, expected: Arrays, got: Arrays
) -> tuple[Diagnostic | None, Figures]:
    """As `judge`, without figures: both results are off."""
    errors = _errors(plan, works, inputs, expected)
    judged = (_judged(name, expected[name], got[name], 2 * errors[name], "the source gives") for name in expected)
    return next((found for found, _ in judged if found is not None), None), {}


def _errors(plan: Plan, works: tuple[Work, ...], inputs: Arrays, expected: Arrays) -> dict[str, Any]:
    """Of all arrays that phases write."""
    arrays, errors = dict[str, Any](inputs), dict[str, Any]()
    values = sizes_of(plan, {**inputs, **expected})
    types = {a.name: NUMPY[a.dtype] for a in plan.intermediates}
    shapes = {a.name: shape_of(a, values) for a in (*plan.outputs, *plan.intermediates)}
    for phase, work in zip(plan.phases, works, strict=True):
        assert work.bounds is not None
        ((inner, name),) = phase.outputs
        read = {own: arrays[outer] for own, outer in phase.inputs}
        known = {own: errors[outer] for own, outer in phase.inputs if outer in errors}
        errors[name] = work.bounds(values, read, known, shapes[name])
        if name in expected:
            arrays[name] = expected[name]
        else:
            held = np.zeros(shapes[name], types[name])
            arrays[name] = work.results(values, read, {inner: held})[inner]
    return errors


def _judged(name: str, want: Any, have: Any, allowed: Any, other: str) -> tuple[Diagnostic | None, Figures]:
    with np.errstate(all="ignore"):
        errors = np.abs(have.astype(np.float64) - want.astype(np.float64))
        is_number = np.isfinite(want) & np.isfinite(allowed)
        wrong = np.argwhere(is_number & ~(errors <= allowed))
    figures = {"max_error": _greatest(errors[is_number]), "bound": _greatest(allowed[is_number])}
    if not len(wrong):
        return None, figures
    at = tuple(int(n) for n in wrong[0])
    message = f"{name}[{', '.join(map(str, at))}] is {have[at]}, and {other} {want[at]}"
    notes = (f"the bound is {allowed[at]:.3g}", f"{len(wrong)} of {want.size} elements are beyond their bounds")
    return Diagnostic("PL1337", message, MISMATCH, notes=notes, help="this is a fault of the compiler"), figures


def _greatest(values: NDArray[Any]) -> float:
    return float(values.max(initial=0.0))

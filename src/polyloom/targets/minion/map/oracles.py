# SPDX-License-Identifier: Apache-2.0
"""Oracles of compiled programs: whether results are close enough to others that are computed in another way.

They are compared with those of double precision, within the bound of each element's error, and with those of the
function itself, which is off by at most as much in its own order and with a rounding more per term: within twice the
bound. Errors grow from phase to phase (Higham 2002, running error bounds). Where nothing is rounded but on the way to
bytes, the function's results are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.frontend.source import Arrays
from polyloom.ir.arguments import array_shape, sizes_from_shapes
from polyloom.ir.instance_counts import count_operations
from polyloom.ir.interpret import box_size
from polyloom.ir.nest import Nest, statements
from polyloom.ir.numbers import NUMPY
from polyloom.ir.plan import Phase, Plan
from polyloom.ir.plan_interpret import interpret
from polyloom.ir.work import expression_operators
from polyloom.targets.forms.loops import EQUATIONS
from polyloom.targets.minion.map.phase_work import Work
from polyloom.targets.minion.map.simd import form as simd
from polyloom.targets.minion.map.simd.compile import specialize_nest
from polyloom.targets.subject import ErrorBounds, Oracle

_Outputs = Callable[[Mapping[str, int], Arrays], Arrays | None]
_MOST: Final = 100_000
"""Operations of a function that is executed for comparison: Python takes a second for some millions."""


def source_oracle(plan: Plan, works: tuple[Work, ...], read: simd.Read) -> Oracle | None:
    """Oracle that executes the function itself; it gives up where that has much to do. None where the host's functions
    lack its types.
    """
    if _has_halves(read.nest):
        return None
    return _bounded_oracle("source", partial(_execute_source, read), plan, works)


def equations_oracle(plan: Plan, works: tuple[Work, ...]) -> Oracle:
    """Oracle that interprets the equations; it gives up where they have many iterations."""
    return _bounded_oracle(EQUATIONS, partial(_interpret_plan, plan), plan, works)


def _bounded_oracle(name: str, outputs: _Outputs, plan: Plan, works: tuple[Work, ...]) -> Oracle:
    """Oracle of the source with the comparison that fits its types: equality, a bound, or only a report of the
    distance.
    """
    programs = [phase.program for phase in plan.phases]
    types = {of.dtype for p in programs for of in (*p.inputs, *p.outputs, *p.variables)}
    # Integers have no rounding, and floats that become bytes at once are exact on both sides.
    if all(work.is_discrete for work in works) or not types & {"f32", "f16"}:
        return Oracle(name, "the source", outputs)
    if any(
        work.bounds is None or not has_known_bounds(plan, p, work) for p, work in zip(plan.phases, works, strict=True)
    ):
        return Oracle(name, "the source", outputs, judges=False)
    return _oracle_with_bounds(name, "the source", outputs, partial(bounds, plan, works, 2))


def unbounded_oracle(read: simd.Read) -> Oracle | None:
    """Oracle without a verdict, where no bound is known for how far results may be: it is only reported how far they
    are.
    """
    if _has_halves(read.nest):
        return None
    return Oracle("source", "the source", partial(_execute_source, read), judges=False)


def _has_halves(nest: Nest) -> bool:
    """Whether a nest uses half precision, which the host's functions do not convert."""
    used = {each for s in statements(nest) for each in expression_operators(s.assign.value)}
    types = {*(storage.dtype for storage in nest.storage), *(dtype for _, dtype in used)}
    return "f16" in types or any(operation == "to_f16" for operation, _ in used)


def arithmetic_oracle(plan: Plan, works: tuple[Work, ...], results: _Outputs) -> Oracle:
    """Oracle of the machine's arithmetic, or of double precision where works are not exact."""
    if all(work.exact for work in works):
        return Oracle("arithmetic", "the machine's arithmetic", results)
    return _oracle_with_bounds("arithmetic", "double precision", results, partial(bounds, plan, works, 1))


def _oracle_with_bounds(name: str, what: str, outputs: _Outputs, near: ErrorBounds) -> Oracle:
    return Oracle(name, what, outputs, near, code="PL1337", help="this is a fault of the compiler")


def _execute_source(read: simd.Read, values: Mapping[str, int], inputs: Arrays) -> Arrays | None:
    count = count_operations(specialize_nest(read.nest, values, "contract"))
    return None if count is None or count > _MOST else read.reference(values, inputs)


def _interpret_plan(plan: Plan, values: Mapping[str, int], inputs: Arrays) -> Arrays | None:
    if plan.loops or sum(box_size(phase.program, values) for phase in plan.phases) > _MOST:
        return None
    return interpret(plan, values, inputs)


def has_known_bounds(plan: Plan, phase: Phase, work: Work) -> bool:
    """Whether error bounds of the phase are known, given those of its inputs."""
    known = work.what != "convolution" or phase.outputs[0][1] in {array.name for array in plan.outputs}
    return work.bounds is not None and known


def bounds(
    plan: Plan, works: tuple[Work, ...], times: float, values: Mapping[str, int], inputs: Arrays, expected: Arrays
) -> Arrays:
    """Bounds of the errors times a factor, element by element; NaN, which admits anything, where values or bounds are
    not finite.
    """
    del values
    errors = _propagate_errors(plan, works, inputs, expected)
    return {
        name: np.where(_is_finite(errors[name], want), times * errors[name], np.nan) for name, want in expected.items()
    }


def _is_finite(error: NDArray[Any], want: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isfinite(error) & np.isfinite(want)


def _propagate_errors(plan: Plan, works: tuple[Work, ...], inputs: Arrays, expected: Arrays) -> dict[str, Any]:
    """Error bounds of all arrays that phases write, propagated from phase to phase."""
    arrays, errors = dict[str, Any](inputs), dict[str, Any]()
    values = sizes_from_shapes(plan, {**inputs, **expected})
    types = {a.name: NUMPY[a.dtype] for a in plan.intermediates}
    shapes = {a.name: array_shape(a, values) for a in (*plan.outputs, *plan.intermediates)}
    for phase, work in zip(plan.phases, works, strict=True):
        assert work.bounds is not None
        ((inner, name),) = phase.outputs
        read = {own: arrays[outer] for own, outer in phase.inputs}
        known = {own: errors[outer] for own, outer in phase.inputs if outer in errors}
        errors[name] = work.bounds(values, read, known, shapes[name])
        # An array of the host's is taken as the oracle has it; one between phases is computed here, as nobody else
        # gives it.
        if name in expected:
            arrays[name] = expected[name]
        else:
            held = np.zeros(shapes[name], types[name])
            arrays[name] = work.results(values, read, {inner: held})[inner]
    return errors

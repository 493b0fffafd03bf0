# SPDX-License-Identifier: Apache-2.0
"""Loops as sources of Minions: equations (.pla), Python and C kernels. Each phase is a product for the tensor
coprocessor where its dataflow is one, and packed SIMD otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import repeat
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from polyloom import frontend
from polyloom.diagnostics import MISMATCH, Diagnostic, PolyloomError, input_error
from polyloom.frontend.source import Arrays, Source
from polyloom.ir import plan_interpret, signature
from polyloom.ir.arguments import Arrays as Held
from polyloom.ir.plan import Phase, Plan
from polyloom.ir.steps import numbered
from polyloom.targets.forms import loops
from polyloom.targets.minion.loops.compile import Content
from polyloom.targets.minion.loops.convolution import source as convolutions
from polyloom.targets.minion.loops.product import form as product
from polyloom.targets.minion.loops.simd import form as simd
from polyloom.targets.minion.loops.work import Work
from polyloom.targets.minion.options import Fp, Options
from polyloom.targets.minion.place import Place
from polyloom.targets.subject import Form, Oracle, Subject, Written

__all__ = ["FORM", "Content"]
Figures = Mapping[str, Any]


def _load(written: Written, place: Any, options: Any) -> Subject:
    """Errors: those of reading, and of phases that are neither."""
    minions = cast(Place, place).minions if place is not None else 1
    fp: Fp = "reassociate" if written.options.reassociate else cast(Options, options).fp
    read = simd.read(written)
    convolved = None if read is None else convolutions.of_nest(read.nest, fp, minions)
    if read is not None and convolved is not None and convolved[1].what == "convolution":
        return _convolved(*convolved, read, written)
    source = _source(written, read)
    products = [] if source is None else [_on_tensors(source.plan, phase, fp) for phase in source.plan.phases]
    if read is not None and convolved is not None and [p.what for p in products if p is not None] != ["product"]:
        return _convolved(*convolved, read, written)
    if read is not None and (source is None or not any(products)):
        return _of_nest(read, fp, minions, written)
    assert source is not None, "equations have a plan"
    phases = zip(source.plan.phases, products, strict=True)
    several = len(products) > 1
    works = tuple([found or simd.work(phase, fp, minions, others=several) for phase, found in phases])
    exact = all(work.exact for work in works)
    if not exact and len(works) > 1 and not all(map(_is_judged, repeat(source.plan), source.plan.phases, works)):
        if read is not None:
            return _of_nest(read, fp, minions, written)
        message = f"`{source.plan.name}` has {len(works)} phases, and an error of the first would grow in the others"
        raise input_error("PL1336", message, help="leave --reassociate out, or run the phases as programs of their own")
    content = Content(source.plan, works)
    judge = None if exact else partial(_judge, source.plan, works)
    oracle = Oracle("arithmetic", "the machine's arithmetic", partial(_results, source.plan, works), judge=judge)
    return Subject(
        "loops",
        content,
        source.path,
        signature.of_plan(source.plan),
        (oracle,),
        source.seconds,
        source=source,
        watch=written.watch,
    )


def _on_tensors(plan: Plan, phase: Phase, fp: Fp) -> Work | None:
    """None where the phase is neither a product nor a convolution."""
    is_only = len(plan.phases) == 1
    made = product.work(phase, fp, is_only=is_only)
    return made if made is not None else convolutions.of_program(phase.program, fp, is_only=is_only)


def _convolved(plan: Plan, work: Work, read: simd.Read, written: Written) -> Subject:
    """A function that is one convolution. Of integers, its own results are the same."""
    judge = None if work.exact else partial(_judge, plan, (work,))
    oracle = Oracle("arithmetic", "the machine's arithmetic", partial(_results, plan, (work,)), judge=judge)
    source = Oracle("source", f"the source, {read.path}", read.reference)
    oracles = (oracle, source) if simd.is_of_integers(read.nest) else (oracle,)
    return Subject("loops", Content(plan, (work,)), read.path, signature.of_plan(plan), oracles, watch=written.watch)


def _of_nest(read: simd.Read, fp: Fp, minions: int, written: Written) -> Subject:
    """A function whose nest is compiled as it is. Of integers, its own results are the same; they are close where sums
    of floats change their order."""
    plan, work = simd.of_nest(read.nest, fp, minions)
    oracle = Oracle("arithmetic", "the machine's arithmetic", partial(_results, plan, (work,)))
    bound = loops.close if fp == "reassociate" else None
    source = Oracle("source", f"the source, {read.path}", read.reference, bound)
    oracles = (oracle, source) if bound or simd.is_of_integers(read.nest) else (oracle,)
    taken = signature.of_plan(plan)
    return Subject("loops", Content(plan, (work,)), read.path, taken, oracles, watch=written.watch)


def _source(written: Written, read: simd.Read | None) -> Source | None:
    """With the plan, where products are found; None for a nest that has none: its loops are compiled as they are."""
    if read is None:
        return loops.source_of(written.value, written.options, written.watch)
    reassociate = written.options.reassociate
    try:
        made = frontend.of_nest(read.nest, read.reference, read.path, reassociate=reassociate, watch=written.watch)
    except PolyloomError:
        return None
    # Loops of steps are for machines that cannot run the nest in its own order.
    return None if made.plan.loops else made


def _results(plan: Plan, works: tuple[Work, ...], values: Mapping[str, int], inputs: Arrays) -> Arrays:
    """Phase by phase, each as its code computes."""

    def execute(number: int, around: Mapping[str, int], read: Held, held: Held) -> Held:
        del around
        return works[number].results(values, read, held)

    return plan_interpret.chain(plan, plan.phases, numbered(plan.body), values, inputs, execute)


def _is_judged(plan: Plan, phase: Phase, work: Work) -> bool:
    """Whether bounds of errors can be told of the phase, its inputs' errors known."""
    known = work.what != "convolution" or phase.outputs[0][1] in {array.name for array in plan.outputs}
    return work.bounds is not None and known


def _judge(
    plan: Plan, works: tuple[Work, ...], inputs: Arrays, expected: Arrays, got: Arrays
) -> tuple[Diagnostic | None, Figures]:
    """Errors against the bounds, element by element, and the greatest of each for `run --json`, of the array whose
    error comes nearest to its bound. Errors grow from phase to phase. A difference: PL1337."""
    arrays, errors = dict[str, Any](inputs), dict[str, Any]()
    for phase, work in zip(plan.phases, works, strict=True):
        assert work.bounds is not None
        ((inner, name),) = phase.outputs
        read = {own: arrays[outer] for own, outer in phase.inputs}
        known = {own: errors[outer] for own, outer in phase.inputs if outer in errors}
        shape = expected[name].shape if name in expected else None
        errors[name] = work.bounds(read, known, shape)
        if shape is None:
            arrays[name] = work.results({}, read, {inner: np.zeros(errors[name].shape, np.float32)})[inner]
        else:
            arrays[name] = expected[name]
    judged = [_judged(name, expected[name], got[name], errors[name]) for name in expected]
    wrong = next((found for found, _ in judged if found is not None), None)
    return wrong, max((figures for _, figures in judged), key=lambda f: f["max_error"] / (f["bound"] or 1.0))


def _judged(name: str, want: Any, have: Any, allowed: Any) -> tuple[Diagnostic | None, Figures]:
    with np.errstate(all="ignore"):
        errors = np.abs(have.astype(np.float64) - want.astype(np.float64))
        is_number = np.isfinite(want) & np.isfinite(allowed)
        wrong = np.argwhere(is_number & ~(errors <= allowed))
    figures = {"max_error": _greatest(errors[is_number]), "bound": _greatest(allowed[is_number])}
    if not len(wrong):
        return None, figures
    at = tuple(int(n) for n in wrong[0])
    message = f"{name}[{', '.join(map(str, at))}] is {have[at]}, and double precision gives {want[at]}"
    notes = (f"the bound is {allowed[at]:.3g}", f"{len(wrong)} of {want.size} elements are beyond their bounds")
    return Diagnostic("PL1337", message, MISMATCH, notes=notes, help="this is a fault of the compiler"), figures


def _greatest(values: NDArray[Any]) -> float:
    return float(values.max(initial=0.0))


FORM: Final = Form("loops", "loops or equations (.py, .c, .pla)", loops.PLAN.accepts, _load)

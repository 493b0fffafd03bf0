# SPDX-License-Identifier: Apache-2.0
"""Loops as sources of Minions: equations (.pla), Python and C kernels. Each phase is a product for the tensor
coprocessor where its dataflow is one, and packed SIMD otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import repeat
from typing import Any, Final, cast

from polyloom import frontend
from polyloom.diagnostics import PolyloomError, input_error
from polyloom.frontend.source import Arrays, Source
from polyloom.ir import plan_interpret, signature
from polyloom.ir.arguments import Arrays as Held
from polyloom.ir.plan import Phase, Plan
from polyloom.ir.steps import numbered
from polyloom.targets.forms import loops
from polyloom.targets.minion.loops import judge as judges
from polyloom.targets.minion.loops.compile import Content
from polyloom.targets.minion.loops.convolution import source as convolutions
from polyloom.targets.minion.loops.product import form as product
from polyloom.targets.minion.loops.simd import form as simd
from polyloom.targets.minion.loops.work import Work
from polyloom.targets.minion.options import Fp, Options
from polyloom.targets.minion.place import Place
from polyloom.targets.provenance import texts
from polyloom.targets.subject import Form, Oracle, Subject, Written

__all__ = ["FORM", "Content"]


def _load(written: Written, place: Any, options: Any) -> Subject:
    """Errors: those of reading, and of phases that are neither."""
    minions = cast(Place, place).minions if place is not None else 1
    fp: Fp = "reassociate" if written.options.reassociate else cast(Options, options).fp
    read = simd.read(written)
    made = _subject(written, read, fp, minions)
    plan = cast(Content, made.content).plan
    spans = [read.nest.span] if read is not None else [e.span for p in plan.phases for e in p.program.equations]
    return replace(made, texts=texts(spans))


def _subject(written: Written, read: simd.Read | None, fp: Fp, minions: int) -> Subject:
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
    if not exact and len(works) > 1 and not all(map(judges.is_judged, repeat(source.plan), source.plan.phases, works)):
        if read is not None:
            return _of_nest(read, fp, minions, written)
        message = f"`{source.plan.name}` has {len(works)} phases, and an error of the first would grow in the others"
        raise input_error("PL1336", message, help="leave --reassociate out, or run the phases as programs of their own")
    content = Content(source.plan, works)
    return Subject(
        "loops",
        content,
        source.path,
        signature.of_plan(source.plan, source.nest),
        _oracles(source.plan, works, read),
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
    """A function that is one convolution."""
    oracles = _oracles(plan, (work,), read)
    return Subject(
        "loops", Content(plan, (work,)), read.path, signature.of_plan(plan, read.nest), oracles, watch=written.watch
    )


def _oracles(plan: Plan, works: tuple[Work, ...], read: simd.Read | None) -> tuple[Oracle, ...]:
    """The machine's arithmetic, and the source itself."""
    oracle = judges.of_arithmetic(plan, works, partial(_results, plan, works))
    own = judges.of_equations(plan, works) if read is None else judges.of_source(plan, works, read)
    return (oracle,) if own is None else (oracle, own)


def _of_nest(read: simd.Read, fp: Fp, minions: int, written: Written) -> Subject:
    """A function whose nest is compiled as it is. Of integers, its own results are the same; they are close where sums
    of floats change their order."""
    plan, work = simd.of_nest(read.nest, fp, minions)
    oracle = Oracle("arithmetic", "the machine's arithmetic", partial(_results, plan, (work,)))
    bounds = loops.close if fp == "reassociate" else None
    is_known = bounds is not None or simd.is_of_integers(read.nest)
    known = Oracle("source", f"the source, {read.path}", read.reference, bounds) if is_known else None
    source = known or judges.of_unknown_error(read)
    oracles = (oracle,) if source is None else (oracle, source)
    taken = signature.of_plan(plan, read.nest)
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


FORM: Final = Form("loops", "loops or equations (.py, .c, .pla)", loops.PLAN.accepts, _load)

# SPDX-License-Identifier: Apache-2.0
"""Source form of the Minion: equations (.pla), Python and C kernels. Each phase becomes a product or a convolution for
the tensor coprocessor where its dataflow is one, and packed SIMD otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from typing import Any, Final, cast

from polyloom import frontend
from polyloom.analysis.dataflow import Unlike, refuse
from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, input_error
from polyloom.frontend.source import Arrays, Source
from polyloom.ir import plan_interpret, signature
from polyloom.ir.arguments import Arrays as Held
from polyloom.ir.plan import Phase, Plan
from polyloom.ir.recurrence import System
from polyloom.ir.steps import number_leaves
from polyloom.targets.forms import loops
from polyloom.targets.forms.numpy_oracle import numpy_oracles
from polyloom.targets.minion.map import oracles as judges
from polyloom.targets.minion.map.convolution import source as convolutions
from polyloom.targets.minion.map.nest_phases import has_other_reductions, plan_nest_phases
from polyloom.targets.minion.map.phase_work import Content, Work
from polyloom.targets.minion.map.product import form as product
from polyloom.targets.minion.map.simd import form as simd
from polyloom.targets.minion.map.stages import plan_stages
from polyloom.targets.minion.options import Fp, Options
from polyloom.targets.minion.place import Place
from polyloom.targets.provenance import source_texts
from polyloom.targets.subject import Form, Oracle, Subject, Written
from polyloom.transform.dataflow import analyse
from polyloom.transform.stages.nest import sums_products


@dataclass(frozen=True, slots=True)
class _Request:
    """`exact`: with the bits of the source only."""

    fp: Fp
    minions: int
    exact: bool


def _load(written: Written, place: Any, options: Any) -> Subject:
    """Reader of a source as phases with their oracles. Errors: those of reading, and of phases that no form takes."""
    # Without a place the source is only checked, for which any number of minions will do.
    minions = cast(Place, place).minions if place is not None else 1
    fp: Fp = "reassociate" if written.options.reassociate else cast(Options, options).fp
    read = simd.read_function(written)
    if fp == "reassociate" and cast(Options, options).exact:
        message = "--exact keeps the bits of the source, and --reassociate changes the order of its sums"
        raise PolyloomError(Diagnostic("PL0801", message, USAGE, help="leave one of them out"))
    made = _choose_form(written, read, _Request(fp, minions, cast(Options, options).exact))
    plan = cast(Content, made.content).plan
    spans = [read.nest.span] if read is not None else [e.span for p in plan.phases for e in p.program.equations]
    return replace(made, texts=source_texts(spans), data={} if read is None else read.data)


def _choose_form(written: Written, read: simd.Read | None, asked: _Request) -> Subject:
    """Choice of a form, from the most special to the most general: one convolution, products and loops of a plan,
    stages of products and formulas, and last the nest as SIMD loops.
    """
    fp, minions = asked.fp, asked.minions
    convolved = None if read is None else convolutions.nest_convolution(read.nest, fp, minions)
    if asked.exact and convolved is not None and not convolved[1].exact:
        convolved = None
    if read is not None and convolved is not None and convolved[1].what == "convolution":
        return _convolution_subject(*convolved, read, written)
    # Reductions beside products are no stages, and the dataflow of a long function takes long to find.
    phased = plan_nest_phases(read.nest, fp, minions) if read is not None and has_other_reductions(read.nest) else None
    if read is not None and phased is not None:
        return _plan_subject(*phased, read, None, written)
    source = _planned_source(written, read)
    # A plan with loops around its phases runs a phase many times; such a nest is compiled as one instead.
    planned = None if source is None or source.plan.loops or not source.plan.phases else source
    products = [] if planned is None else [_tensor_work(planned.plan, phase, asked) for phase in planned.plan.phases]
    if read is not None and convolved is not None and [p.what for p in products if p is not None] != ["product"]:
        return _convolution_subject(*convolved, read, written)
    on_tensors = sum(work is not None for work in products)
    why = ""
    # Cutting into stages finds products inside larger formulas, at the price of a phase for each stage: taken only if
    # it brings more of them to the tensor unit.
    if read is not None and (planned is None or on_tensors < len(products)) and sums_products(read.nest):
        try:
            plan, works = plan_stages(read.nest, _dataflow(source, read), fp, minions, exact=asked.exact)
        except Unlike as unlike:
            why = _located_reason(unlike)
        else:
            # Without a further product, arrays between stages would be traffic for nothing.
            if sum(work.what != "simd" for work in works) > on_tensors:
                return _plan_subject(plan, works, read, source, written)
    if read is not None and (planned is None or not on_tensors):
        return _nest_subject(read, asked, written, why)
    assert planned is not None, "equations have a plan"
    several = len(products) > 1
    phases = zip(planned.plan.phases, products, strict=True)
    works = tuple([found or simd.phase_work(phase, fp, minions, others=several) for phase, found in phases])
    # An inexact product is judged by a bound; in a plan with several phases the bound must be carried through the later
    # ones, which not every phase can.
    exact = all(work.exact for work in works)
    if (
        not exact
        and len(works) > 1
        and not all(map(judges.has_known_bounds, repeat(planned.plan), planned.plan.phases, works))
    ):
        if read is not None:
            return _nest_subject(read, asked, written, "errors of a product would grow in loops that have no bound")
        message = f"`{planned.plan.name}` has {len(works)} phases, and an error of the first would grow in the others"
        raise input_error("PL1336", message, help="leave --reassociate out, or run the phases as programs of their own")
    return _plan_subject(planned.plan, works, read, planned, written, why)


def _plan_subject(
    plan: Plan, works: tuple[Work, ...], read: simd.Read | None, source: Source | None, written: Written, why: str = ""
) -> Subject:
    """Subject of a plan whose phases have their works."""
    content = Content(plan, works, (why,) if why else ())
    path = source.path if source is not None else written.path or ""
    return Subject(
        "loops",
        content,
        path,
        signature.plan_signature(plan, None if source is None else source.nest),
        _oracles(plan, works, read),
        0.0 if source is None else source.seconds,
        # A plan of arguments alone means nothing to those who ask for it.
        source=None if source is None or not source.plan.phases else source,
        watch=written.watch,
    )


def _dataflow(source: Source | None, read: simd.Read) -> System:
    """Equations of a nest, by array dataflow analysis (Feautrier 1991). Raises `Unlike` where the dataflow is not
    known.
    """
    if source is not None and source.system is not None:
        return source.system
    try:
        return analyse(read.nest)
    except PolyloomError as error:
        return refuse(error.diagnostics[0].message, error.diagnostics[0].span)


def _located_reason(unlike: Unlike) -> str:
    at = unlike.span
    return unlike.message if at is None else f"{unlike.message} ({at.source.name}:{at.line})"


def _tensor_work(plan: Plan, phase: Phase, asked: _Request) -> Work | None:
    """Work of a phase on the tensor unit; None where it is neither a product nor a convolution, or has other bits than
    the source although they are asked for.
    """
    is_only = len(plan.phases) == 1
    made = product.work(phase, asked.fp, is_only=is_only)
    made = made if made is not None else convolutions.phase_convolution(phase, asked.fp, is_only=is_only)
    return None if made is None or (asked.exact and not made.exact) else made


def _convolution_subject(plan: Plan, work: Work, read: simd.Read, written: Written) -> Subject:
    """Subject of a function that is one convolution."""
    oracles = _oracles(plan, (work,), read)
    return Subject(
        "loops",
        Content(plan, (work,)),
        read.path,
        signature.plan_signature(plan, read.nest),
        oracles,
        watch=written.watch,
    )


def _oracles(plan: Plan, works: tuple[Work, ...], read: simd.Read | None) -> tuple[Oracle, ...]:
    """Oracles: the machine's arithmetic, and the source itself where the host can execute it."""
    oracle = judges.arithmetic_oracle(plan, works, partial(_execute_phases, plan, works))
    if read is None:
        return oracle, judges.equations_oracle(plan, works)
    own = judges.source_oracle(plan, works, read)
    return (oracle, *(() if own is None else (own, *numpy_oracles(read.reference, own))))


def _nest_subject(read: simd.Read, asked: _Request, written: Written, why: str) -> Subject:
    """Subject of a function whose nest is compiled as it is. With integers, its own results are the same; they are
    close where sums of floats change their order. `why`: why products in it do not go to the tensor unit.
    """
    fp = asked.fp
    plan, work = simd.nest_plan(read.nest, fp, asked.minions)
    oracle = Oracle("arithmetic", "the machine's arithmetic", partial(_execute_phases, plan, (work,)))
    bounds = loops.reassociation_bounds if fp == "reassociate" else None
    # Under `contract` the host does not fuse products and sums, so that floats differ by an error that no bound is
    # known for.
    is_known = bounds is not None or simd.is_discrete(read.nest)
    known = Oracle("source", "the source", read.reference, bounds) if is_known else None
    source = known or judges.unbounded_oracle(read)
    oracles = (oracle, *(() if source is None else (source, *numpy_oracles(read.reference, source))))
    taken = signature.plan_signature(plan, read.nest)
    content = Content(plan, (work,), (why,) if why else ())
    return Subject("loops", content, read.path, taken, oracles, watch=written.watch)


def _planned_source(written: Written, read: simd.Read | None) -> Source | None:
    """Source with its plan, where products are found; None for a nest that has no plan. The nest runs in its own order:
    loops of steps are not asked for.
    """
    if read is None:
        return loops.load_source(written.value, written.options, written.watch)
    reassociate = written.options.reassociate
    try:
        return frontend.nest_source(
            read.nest, read.reference, read.path, reassociate=reassociate, watch=written.watch, has_steps=False
        )
    except PolyloomError:
        return None


def _execute_phases(plan: Plan, works: tuple[Work, ...], values: Mapping[str, int], inputs: Arrays) -> Arrays:
    """Results of the program, phase by phase, each as its code computes."""

    def execute(number: int, around: Mapping[str, int], read: Held, held: Held) -> Held:
        del around
        return works[number].results(values, read, held)

    return plan_interpret.chain_phases(plan, plan.phases, number_leaves(plan.body), values, inputs, execute)


FORM: Final = Form("loops", "loops or equations (.py, .c, .pla, .onnx)", loops.PLAN.accepts, _load)

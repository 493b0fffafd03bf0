# SPDX-License-Identifier: Apache-2.0
"""Loops as sources of Minions: equations (.pla), Python and C kernels. Each phase is a product for the tensor
coprocessor where its dataflow is one, and packed SIMD otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, cast

from polyloom.frontend.source import Arrays, Source
from polyloom.ir import plan_interpret, signature
from polyloom.ir.arguments import Arrays as Held
from polyloom.ir.plan import Phase, Plan
from polyloom.targets.forms import loops
from polyloom.targets.minion.loops.compile import Content
from polyloom.targets.minion.loops.product import form as product
from polyloom.targets.minion.loops.work import Work
from polyloom.targets.minion.options import Options
from polyloom.targets.subject import Form, Oracle, Subject, Written

__all__ = ["FORM", "Content"]


def _load(written: Written, place: Any, options: Any) -> Subject:
    """Errors: those of reading, and of phases that are neither."""
    del place
    source = loops.source_of(written.value, written.options, written.watch)
    fp = "reassociate" if written.options.reassociate else cast(Options, options).fp
    works = tuple(_work(phase, source, fp) for phase in source.plan.phases)
    content = Content(source.plan, works)
    oracle = Oracle("arithmetic", "the machine's arithmetic", partial(_results, source.plan, works))
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


def _work(phase: Phase, source: Source, fp: str) -> Work:
    found = product.work(phase, fp)
    if found is not None:
        return found
    from polyloom.targets.minion.loops.simd import form as simd

    return simd.work(phase, source)


def _results(plan: Plan, works: tuple[Work, ...], values: Mapping[str, int], inputs: Arrays) -> Arrays:
    """Phase by phase, each as its code computes."""

    def execute(number: int, read: Held, held: Held) -> Held:
        return works[number].results(values, read, held)

    return plan_interpret.chain(plan, plan.phases, values, inputs, execute)


FORM: Final = Form("loops", "loops or equations (.py, .c, .pla)", loops.PLAN.accepts, _load)

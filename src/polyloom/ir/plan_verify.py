# SPDX-License-Identifier: Apache-2.0
"""Verifier of plans, as a list of rules: names, bindings and scopes. Its programs have rules of their own
(`ir.pla_verify`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from polyloom.diagnostics import Diagnostic, enforce
from polyloom.ir import pla_verify
from polyloom.ir.pla import Array
from polyloom.ir.plan import Phase, Plan
from polyloom.ir.steps import Steps, Tree, as_loop, leaves
from polyloom.sets import Affine

Rule = Callable[[Plan], Iterator[Diagnostic]]


def verify(plan: Plan) -> None:
    """Raise every violation of the first rule that is violated; those of its programs come last."""
    enforce(RULES, plan)
    for phase in plan.phases:
        pla_verify.verify(phase.program)


def names_are_unique(plan: Plan) -> Iterator[Diagnostic]:
    # An array in both lists is one array, which keeps its elements where no phase writes them.
    both = {a.name for a in plan.inputs} & {a.name for a in plan.outputs}
    arrays = [a.name for a in (*plan.inputs, *plan.outputs, *plan.intermediates)]
    for name in both:
        arrays.remove(name)
    names = [*plan.parameters, *(loop.counter for loop in plan.loops), *arrays, *(p.name for p in plan.parametric)]
    for name in sorted({n for n in names if names.count(n) > 1}):
        yield Diagnostic("PL0202", f"`{name}` is defined twice", help="choose another name")


def something_runs(plan: Plan) -> Iterator[Diagnostic]:
    if not plan.body or any(not loop.body for loop in plan.loops):
        yield Diagnostic("PL0242", "there is no phase", help="give every loop of steps a phase")


def bounds_are_known(plan: Plan) -> Iterator[Diagnostic]:
    """Bounds of a loop of steps use parameters and the counters around it."""
    for loop, around in _enclosing_loops(plan.body, ()):
        if not (loop.lower and loop.upper):
            help = "give a lower and an upper bound"
            yield Diagnostic("PL0215", f"the loop `{loop.counter}` is unbounded", span=loop.span, help=help)
        # Neither its own counter nor those of loops in it.
        known = {*plan.parameters, *(other.counter for other in around)}
        used = frozenset[str]().union(*(bound.symbols for bound in (*loop.lower, *loop.upper)))
        for name in sorted(used - known):
            message = f"`{name}` is neither a parameter nor a counter around `{loop.counter}`"
            yield Diagnostic("PL0204", message, span=loop.span)


def parameters_of_phases_are_known(plan: Plan) -> Iterator[Diagnostic]:
    """Scoping of parameters: those of the plan, then counters around the phase, outermost first."""
    for phase, around in leaves(plan.body):
        counters = [loop.counter for loop in around]
        yield from _check_block(phase, {*plan.parameters, *counters})
        if phase.arguments:
            continue
        own = phase.program.parameters[len(plan.parameters) :]
        fixed = phase.program.parameters[: len(plan.parameters)]
        if fixed != plan.parameters or [c for c in counters if c in own] != list(own):
            message = f"the parameters of `{phase.program.name}` are not those of the plan and counters around it"
            yield Diagnostic("PL0204", message)
        for scalar in phase.parametric:
            for name in sorted(scalar.value.symbols - {*plan.parameters, *counters}):
                message = f"`{name}` is neither a parameter nor a counter around `{scalar.name}`"
                yield Diagnostic("PL0204", message)


def _check_block(phase: Phase, known: set[str]) -> Iterator[Diagnostic]:
    """Arguments and windows: one list of bounds for each parameter, an origin within scope for each window."""
    name, parameters = phase.program.name, phase.program.parameters
    if phase.arguments and (len(phase.arguments) != len(parameters) or not all(phase.arguments)):
        yield Diagnostic("PL0204", f"`{name}` has not one argument for each of its parameters")
    used = [e for group in (*phase.arguments, *(origin for _, origin in phase.windows)) for e in group]
    for symbol in sorted(frozenset[str]().union(*(e.symbols for e in used)) - known):
        yield Diagnostic("PL0204", f"`{symbol}` is neither a parameter nor a counter around `{name}`")


def bindings_agree(plan: Plan) -> Iterator[Diagnostic]:
    """Typing of bindings: each name of a phase, in its order, is bound to an array of the plan of the same type and
    shape.
    """
    arrays = {a.name: a for a in (*plan.inputs, *plan.outputs, *plan.intermediates)}
    arrays |= {p.name: Array(p.name, p.dtype) for p in plan.parametric}
    for phase in plan.phases:
        for declared, pairs in ((phase.program.inputs, phase.inputs), (phase.program.outputs, phase.outputs)):
            yield from _check_bindings(phase, declared, pairs, arrays)


def _check_bindings(
    phase: Phase, declared: tuple[Array, ...], pairs: tuple[tuple[str, str], ...], arrays: Mapping[str, Array]
) -> Iterator[Diagnostic]:
    name = phase.program.name
    if [a.name for a in declared] != [inner for inner, _ in pairs]:
        yield Diagnostic(
            "PL0204", f"the arrays of `{name}` are not those that are bound", help="bind each of them once"
        )
        return
    for inner, (_, outer) in zip(declared, pairs, strict=True):
        if outer not in arrays:
            yield Diagnostic("PL0204", f"`{inner.name}` of `{name}` is bound to `{outer}`, which the plan has not")
        elif not _shapes_agree(inner, arrays[outer], dict(phase.windows).get(inner.name)):
            message = f"`{inner.name}` of `{name}` and `{outer}` have different types or shapes"
            yield Diagnostic("PL0208", message)


def _shapes_agree(inner: Array, outer: Array, origin: tuple[Affine, ...] | None) -> bool:
    """Whether an array of a phase may be that array of the plan, or a window of it that begins at `origin`."""
    if origin is None:
        return replace(outer, name=inner.name, span=inner.span) == inner
    return inner.dtype == outer.dtype and len(inner.shape) == len(outer.shape) == len(origin)


def _enclosing_loops(
    tree: Tree[Phase], around: tuple[Steps[Phase], ...]
) -> Iterator[tuple[Steps[Phase], tuple[Steps[Phase], ...]]]:
    for loop in map(as_loop, tree):
        if loop is not None:
            yield loop, around
            yield from _enclosing_loops(loop.body, (*around, loop))


RULES: tuple[Rule, ...] = (
    names_are_unique,
    something_runs,
    bounds_are_known,
    parameters_of_phases_are_known,
    bindings_agree,
)

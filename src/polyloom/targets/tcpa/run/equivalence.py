# SPDX-License-Identifier: Apache-2.0
"""Translation validation: a configuration against its source, on terms; equality for all data, at these sizes (Pnueli,
Siegel and Singerman 1998).

The model runs the words of the configuration on terms (ir/terms.py) instead of numbers; the source is executed on terms
of the same store, a function in its own order, equations without one. Every element of every output has to be the same
term. What the arithmetic makes equal bit for bit is one term; where `--reassociate` was asked for, sums of floats have
no order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any, Final

import numpy as np

from polyloom._native import tcpa
from polyloom.diagnostics import MISMATCH, Diagnostic, input_error
from polyloom.frontend.source import Source
from polyloom.ir.arguments import array_shape, check_parameters
from polyloom.ir.interpret import evaluate
from polyloom.ir.numbers import make_element
from polyloom.ir.pla import Array
from polyloom.ir.pla_text import digest
from polyloom.ir.plan import Parametric
from polyloom.ir.plan_interpret import window_elements, write_window
from polyloom.ir.steps import walk_steps
from polyloom.ir.terms import Ids, Terms
from polyloom.ir.terms_nest import interpret
from polyloom.ir.terms_text import Names, find_difference, print_term
from polyloom.targets.target import Proof
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.run import model, program
from polyloom.targets.tcpa.run.phases.plan_execution import overwrite_elements
from polyloom.targets.tcpa.run.phases.step_sequence import Run, run
from polyloom.targets.tcpa.words import program_file
from polyloom.targets.tcpa.words.phases.phase_file import Phased
from polyloom.targets.tcpa.words.phases.stages import locate_error

Ready = tuple[tcpa.Config, Machine]
_AGAIN: Final = (
    "compile the source and instantiate it again; a file that the compiler made computes what its source does"
)


def prove(data: bytes, member: str | None, source: Source, given: Mapping[str, int]) -> Proof:
    """Equivalence proof: whether the concrete configuration computes what the source does. Errors: PL0230, PL0605,
    PL0653, those of a run but for divisions by zero, and those of `verify`, which must have found nothing.
    """
    try:
        return _proof(data, member, source, given)
    except MemoryError:
        message = "the terms of the configuration and of its source do not fit into memory"
        raise input_error("PL0605", message, help="give smaller values of the parameters") from None


def _proof(data: bytes, member: str | None, source: Source, given: Mapping[str, int]) -> Proof:
    found = run(data)
    phased = found.phased
    values = check_parameters(source.plan, {**_infer_parameters(phased, source), **given})
    _check_arrays(phased, source, values)
    terms = Terms(not source.exact)
    inputs = terms.inputs(source.plan.inputs, values)
    # First the model, which makes terms fastest where they are new.
    have = _configuration_terms(found, member, inputs, terms)
    try:
        wanted = _source_terms(source, values, inputs, terms)
    except ValueError:
        message = "the source computes with a type or an operation that configurations do not have"
        raise input_error("PL0653", message, help="give the source that the configuration was made from") from None
    names = [(a.name, array_shape(a, values)) for a in source.plan.inputs]
    differs = (_difference(name, wanted[name], have[name], terms, names) for name in wanted)
    diagnostics = tuple(d for d in differs if d is not None)
    elements = sum(ids.size for ids in wanted.values())
    return Proof(values, elements, len(terms), diagnostics, tuple(_notes(phased, source)))


def _notes(phased: Phased, source: Source) -> Iterator[str]:
    """What the proof leaves open, and where the file names other equations than the source becomes here. That decides
    nothing: another version of the compiler may have made other equations of the same source."""
    if not source.exact:
        yield "sums and products of floats are compared without their order (--reassociate)"
    named = [program_file.digest(stage.data) for stage in phased.stages]
    here = [digest(phase.program) for phase in source.plan.phases]
    if not all(named):
        yield "the file does not name the program that it was compiled from"
    elif named != here:
        yield f"the file was compiled from other equations ({' '.join(named)}) than the source's ({' '.join(here)})"


def _infer_parameters(phased: Phased, source: Source) -> dict[str, int]:
    """Parameter inference: the parameters that the extents of arrays determine."""
    known: dict[str, int] = {}
    extents = {a.name: [e.constant for e in a.shape] for a in (*phased.inputs, *phased.outputs)}
    for array in (*source.plan.inputs, *source.plan.outputs):
        for affine, extent in zip(array.shape, extents.get(array.name, ()), strict=False):
            match affine.terms:
                case ((name, factor),) if (extent - affine.constant) % factor == 0:
                    # The first extent decides; where another one contradicts it, the shapes below differ and PL0653
                    # says so.
                    known.setdefault(name, (extent - affine.constant) // factor)
                case _:
                    pass
    return known


def _check_arrays(phased: Phased, source: Source, values: Mapping[str, int]) -> None:
    """PL0653 where the configuration takes or gives other arrays than the source."""
    pairs = (("takes", phased.inputs, source.plan.inputs), ("gives", phased.outputs, source.plan.outputs))
    for verb, have, want in pairs:
        mine, theirs = _forms(have, {}), _forms(want, values)
        if mine != theirs:
            raise input_error(
                "PL0653",
                f"the configuration {verb} {_list_forms(mine)}, the source {_list_forms(theirs)}",
                help="give the source that it was made from, and the parameter values, NAME=VALUE",
            )


def _forms(arrays: Sequence[Array], values: Mapping[str, int]) -> dict[str, str]:
    return {a.name: f"{a.dtype}{list(array_shape(a, values))}" for a in sorted(arrays, key=lambda a: a.name)}


def _list_forms(forms: Mapping[str, str]) -> str:
    return ", ".join(f"{name}: {form}" for name, form in forms.items()) or "nothing"


def _source_terms(source: Source, values: dict[str, int], inputs: Mapping[str, Ids], terms: Terms) -> dict[str, Ids]:
    outputs = {a.name: terms.zeros(array_shape(a, values), a.dtype) for a in source.plan.outputs}
    if source.nest is not None:
        found = interpret(source.nest, values, inputs, terms)
        return {name: found[name] for name in outputs}
    (phase,) = source.plan.phases
    evaluate(phase.program, values, dict(inputs), outputs, terms.meaning())
    return outputs


def _configuration_terms(found: Run, member: str | None, inputs: Mapping[str, Ids], terms: Terms) -> dict[str, Ids]:
    """Symbolic execution of all steps on terms: the outputs afterwards; an element that no phase writes holds what it
    held, or 0.
    """
    phased, count = found.phased, len(found.phased.stages)
    made = (*phased.outputs, *phased.intermediates)
    arrays = {a.name: terms.zeros(array_shape(a, {}), a.dtype) for a in made} | dict(inputs)
    known = {p.name: p for p in phased.parametric}
    ready: dict[int, Ready] = {}
    steps = zip(found.steps, found.around, walk_steps(phased.tree, {}), strict=True)
    for own, values, (number, around) in steps:
        arrays |= {o: _scalar(known[o], around, terms) for _, o in own.stage.inputs if o in known}
        taken = {i: window_elements(arrays[o], own.stage.window(i, values)) for i, o in own.stage.inputs}
        where = ", ".join(f"{name} = {value}" for name, value in around.items())
        # A configuration that a loop runs again is decoded once.
        if id(own) not in ready:
            ready[id(own)] = locate_error(number + 1, count, partial(_load_configuration, own.data, member), where)
        written = locate_error(number + 1, count, partial(model.run_terms, *ready[id(own)], taken, terms), where)
        for inner, outer in own.stage.outputs:
            part = own.stage.window(inner, values)
            held = window_elements(arrays[outer], part)
            made = overwrite_elements(held, written[inner], own.accesses[inner][1])
            if part is not None:
                made, elements = arrays[outer].copy(), made
                write_window(made, part, elements)
            arrays[outer] = made
    return {a.name: arrays[a.name] for a in phased.outputs}


def _load_configuration(data: bytes, member: str | None) -> Ready:
    machine = program.load_machine(data, member)
    return model.load(data, machine), machine


def _scalar(scalar: Parametric, around: Mapping[str, int], terms: Terms) -> Ids:
    """What parameters and counters determine."""
    value = make_element(scalar.value.evaluate(around), scalar.dtype).item()
    return np.array(terms.constant(value, scalar.dtype), np.uint64)


def _difference(name: str, wanted: Any, found: Any, terms: Terms, names: Names) -> Diagnostic | None:
    """PL0652 for the first element that is another term."""
    wrong = np.argwhere(wanted != found)
    if not len(wrong):
        return None
    index = tuple(int(n) for n in wrong[0])
    have, want = int(found[index]), int(wanted[index])
    place = f"{name}[{', '.join(map(str, index))}]" if index else name
    # Terms of a sum may be thousands of characters; the smallest pair of differing subterms tells more.
    inner, outer = find_difference(have, want, terms)
    notes = [
        f"the configuration computes {print_term(have, terms, names)}",
        f"the source computes {print_term(want, terms, names)}",
    ]
    if (inner, outer) != (have, want):
        notes.append(
            f"they differ first where the configuration has {print_term(inner, terms, names)} and the source "
            f"{print_term(outer, terms, names)}"
        )
    notes.append(f"{len(wrong)} of {prod(wanted.shape)} elements of {name} differ")
    message = f"{place} is not what the source computes"
    return Diagnostic("PL0652", message, MISMATCH, notes=tuple(notes), help=_AGAIN)

# SPDX-License-Identifier: Apache-2.0
"""A program of several stages as a subject, with two oracles: the tile's own arithmetic, stage by stage, and the
program, from which outputs may be as far as the errors of all stages allow."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from polyloom.analysis.formulas import Formulas
from polyloom.analysis.formulas_program import of_program
from polyloom.analysis.formulas_system import of_system
from polyloom.diagnostics import input_error
from polyloom.frontend.source import Arrays, Source
from polyloom.ir import signature
from polyloom.ir.plan_interpret import interpret
from polyloom.targets.provenance import texts
from polyloom.targets.subject import Subject
from polyloom.targets.tensix.loops.compile import Arithmetic
from polyloom.targets.tensix.loops.formats import FORMATS, Dest, Name
from polyloom.targets.tensix.loops.judgement import HELP, help_with, oracles
from polyloom.targets.tensix.loops.stages.arithmetic import bits, errors
from polyloom.targets.tensix.loops.stages.arrange import arranged
from polyloom.targets.tensix.loops.stages.compile import Content
from polyloom.targets.tensix.loops.stages.cut import cut
from polyloom.targets.tensix.loops.stages.layout import elements_of, sum_of
from polyloom.targets.tensix.loops.stages.run import part
from polyloom.targets.tensix.loops.stages.stage import Apply, Multiply, Stages


def subject(source: Source, options: Any) -> Subject:
    """Raises `Unlike`. Errors: PL1231 for an operation, PL1232 for a format that does not fit."""
    stages = cut(_formulas(source))
    content = Content(stages, arranged(stages), _how(stages, options))
    judges = oracles(
        source,
        partial(_arithmetic, content),
        partial(_equations, source),
        partial(_bounds, content),
        elements_of(content.how).packed,
        help_with((step for s in stages.stages if isinstance(s, Apply) for step in s.pointwise.steps), HELP),
    )
    of = signature.of_plan(source.plan, source.nest)
    known = texts(e.span for phase in source.plan.phases for e in phase.program.equations)
    return Subject("loops", content, source.path, of, judges, source.seconds, source=source, texts=known)


def _formulas(source: Source) -> Formulas:
    if source.system is not None:
        return of_system(source.system)
    return of_program(source.plan.phases[0].program)


def _how(stages: Stages, options: Any) -> Arithmetic:
    kind = stages.dtype
    name: Name = options.format or ("tf32" if kind == "f32" else "i8")
    if FORMATS[name].element != kind:
        others = " or ".join(n for n, f in FORMATS.items() if f.element == kind)
        message = f"--format {name} is for {FORMATS[name].element}, and the arrays are {kind}"
        raise input_error("PL1232", message, help=f"write --format {others}")
    has_products = any(isinstance(stage, Multiply) for stage in stages.stages)
    if options.fidelity != 4 and (kind == "i32" or not has_products):
        what = "i8 in several stages" if has_products else "element-wise programs"
        raise input_error("PL1232", f"{what} have no fidelity but 4", help="leave --fidelity out")
    dest: Dest = options.dest or 32
    if dest == 16 and name in ("tf32", "i8"):
        message = f"a program of several stages in {name} has a Dst of 32 bits"
        raise input_error(
            "PL1232", message, help="leave --dest out" + (", or add --format bf16" if kind == "f32" else "")
        )
    if kind == "i32":
        _check_integers(stages)
    return Arithmetic(name, dest, options.fidelity)


def _check_integers(stages: Stages) -> None:
    """Errors: PL1232 for a factor that is computed."""
    for stage in stages.stages:
        made = [name for name in stage.reads if name in stages.made]
        if isinstance(stage, Multiply) and made:
            label = next(each.label for each in stages.stages if each.result == made[0])
            message = f"`{label}` is computed in 32 bits, and a product takes integers of 8"
            raise input_error(
                "PL1232", message, span=stage.span, help="declare the arrays as f32, or make two programs"
            )


def _arithmetic(content: Content, values: Mapping[str, int], inputs: Arrays) -> Arrays:
    found, e, how = bits(content, values, inputs), elements_of(content.how), content.how
    sums = {s.result for s in content.stages.stages if isinstance(s, Multiply)}
    decoded = {
        name: (sum_of(how) if name in sums else e.packed).decode(array).reshape(array.shape)
        for name, array in found.items()
    }
    return _outputs(content, values, decoded)


def _outputs(content: Content, values: Mapping[str, int], made: Mapping[str, Any]) -> dict[str, Any]:
    return {
        o.array: part(made[o.definition], tuple(at if isinstance(at, int) else -1 - at.evaluate(values) for at in o.at))
        for o in content.stages.outputs
    }


def _equations(source: Source, values: Mapping[str, int], inputs: Arrays) -> Arrays:
    return interpret(source.plan, values, inputs)


def _bounds(content: Content, values: Mapping[str, int], inputs: Arrays, expected: Arrays) -> Arrays:
    del expected
    with np.errstate(all="ignore"):
        made = errors(content, values, inputs)
    return _outputs(content, values, {name: error for name, (_, error) in made.items()})

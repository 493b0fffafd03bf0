# SPDX-License-Identifier: Apache-2.0
"""Recognition of one stage: the equations of one phase as a program of one stage, which holds for any sizes, a product
whose dataflow is one, or one element-wise formula.
"""

from __future__ import annotations

from dataclasses import replace

from polyloom.analysis.calls import match_calls
from polyloom.analysis.contraction import check_extents, index_dimensions, product, results
from polyloom.analysis.dataflow import refuse
from polyloom.ir import pla
from polyloom.ir.formula import Leaf, Output, Term, leaves, rewrite_term
from polyloom.ir.operations import ElementType
from polyloom.ir.plan import Phase, Plan
from polyloom.ir.stage import Formula, Program, Stage
from polyloom.names import fresh_name
from polyloom.transform.stages.abilities import Abilities, fits


def recognize_stage(plan: Plan, can: Abilities) -> Program:
    """Program of one stage. Raises `Unlike` for what is more, or something else."""
    if plan.loops or len(plan.phases) != 1:
        refuse(f"`{plan.name}` has several phases, one after the other")
    (phase,) = plan.phases
    if phase.parametric:
        refuse(f"`{phase.parametric[0].name}` is a number that parameters determine")
    return _bind_arrays(phase, product(phase.program) or _formula(phase.program, can))


def _formula(program: pla.Program, can: Abilities) -> Formula:
    """Element-wise formula of a phase. Raises `Unlike`."""
    found = results(program)
    if not found:
        refuse(f"`{program.name}` has no result")
    (equation, written), *others = found
    name = equation.target.name
    if others:
        names = {e.target.name for e, _ in found}
        what = f"are {len(names)} results" if len(names) > 1 else f"are {len(found)} equations of `{name}`"
        refuse(f"there {what}, and a stage computes one", others[0][0].span)
    dims = index_dimensions(program, Leaf(name, equation.target.index), equation)
    term = match_calls(written) if can.fuses else written
    check_extents(program, equation, list(dict.fromkeys(leaf for leaf in leaves(term) if leaf.index)), None)
    if not fits(term, can):
        refuse(f"the formula of `{name}` reads more than {can.arrays} arrays or {can.scalars} scalars", equation.span)
    return Formula(name, dims, term, name, (), equation.span)


def _bind_arrays(phase: Phase, stage: Stage) -> Program:
    """Stage with the names of the plan's arrays, and a result of its own."""
    names = dict(phase.inputs)
    output = dict(phase.outputs)[stage.result]
    arrays = {names[a.name]: a for a in phase.program.inputs}
    arrays[output] = next(a for a in phase.program.outputs if a.name == stage.result)
    # The result has a name of its own, so that a formula may read the output's old elements.
    result = fresh_name(output, {*arrays})

    def change(term: Term) -> Term | None:
        return replace(term, array=names[term.array]) if isinstance(term, Leaf) else None

    if isinstance(stage, Formula):
        stage = replace(stage, result=result, label=output, term=rewrite_term(stage.term, change))
    else:
        left, right = (replace(leaf, array=names[leaf.array]) for leaf in (stage.left, stage.right))
        stage = replace(stage, result=result, label=output, left=left, right=right)
    types: dict[str, ElementType] = {name: a.dtype for name, a in arrays.items()}
    shapes = {name: a.shape for name, a in arrays.items()}
    types[result], shapes[result] = types[output], shapes[output]
    # A running sum has every one of its turns in the output; a product has the last one.
    if len(shapes[output]) != len(stage.dims):
        refuse(f"`{output}` has more dimensions than the elements of its stage", stage.span)
    outputs = (Output(output, result, tuple(range(len(stage.dims)))),)
    return Program((stage,), types, shapes, outputs, needs_elements=False)

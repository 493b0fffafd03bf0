# SPDX-License-Identifier: Apache-2.0
"""Equations as arrays that are each one formula of inputs (`ir.formula`), by their dataflow."""

from __future__ import annotations

from collections.abc import Iterator

from polyloom.analysis.contraction import check_extents, index_dimensions, results
from polyloom.analysis.dataflow import refuse
from polyloom.ir.formula import Apply, Definition, Formulas, Leaf, Output, Sum, Term, leaves
from polyloom.ir.pla import Equation, Program
from polyloom.names import fresh_name


def program_formulas(program: Program) -> Formulas:
    """Formulas of a program's results, by dataflow (Feautrier 1991 in spirit: each read has one source). Raises
    `Unlike`.
    """
    found, taken = results(program), {a.name for a in (*program.inputs, *program.outputs)}
    names = [equation.target.name for equation, _ in found]
    if not found:
        refuse(f"`{program.name}` has no result")
    for equation, _ in found:
        if (count := names.count(equation.target.name)) > 1:
            refuse(f"there are {count} equations of `{equation.target.name}`, each for a part of it", equation.span)
    definitions = tuple(_definition(program, e, value, fresh_name(e.target.name, taken)) for e, value in found)
    outputs = tuple(Output(d.label, d.name, tuple(range(len(d.dims)))) for d in definitions)
    arrays = (*program.inputs, *program.outputs)
    return Formulas(definitions, outputs, {a.name: a.dtype for a in arrays}, {a.name: a.shape for a in arrays})


def _definition(program: Program, equation: Equation, value: Term, name: str) -> Definition:
    sums, target = list(_outer_sums(value)), Leaf(equation.target.name, equation.target.index)
    # Targets sum along one dimension at a time.
    if len({each.dimension for each in sums}) > 1:
        refuse(f"`{equation.target.name}` has sums along several dimensions", equation.span)
    elements = [leaf for leaf in leaves(value) if leaf.index]
    for over in sums or [None]:
        check_extents(program, equation, elements, over)
    arrays = {a.name: a for a in (*program.inputs, *program.outputs)}
    extents = {
        dimension: extent
        for leaf in (target, *elements)
        for dimension, extent in zip(index_dimensions(program, leaf, equation), arrays[leaf.array].shape, strict=True)
    }
    out, dtype = index_dimensions(program, target, equation), arrays[equation.target.name].dtype
    return Definition(name, equation.target.name, out, extents, value, dtype, equation.span)


def _outer_sums(term: Term) -> Iterator[Sum]:
    if isinstance(term, Sum):
        yield term
    elif isinstance(term, Apply):
        for operand in term.operands:
            yield from _outer_sums(operand)

# SPDX-License-Identifier: Apache-2.0
"""The one sum of products that equations compute, if it is one: sums along dimensions, each taken where the one inside
it ends, over an input that may be padded with zeros."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polyloom.analysis.contraction import narrow, peel_operation, results
from polyloom.analysis.convolution import Access, Summed
from polyloom.analysis.dataflow import Unlike, element_points
from polyloom.ir.formula import Apply, Leaf, Sum
from polyloom.ir.pla import Equation, Program
from polyloom.sets import Condition
from polyloom.sets.isl import to_set, translate


def sum_of_products(program: Program) -> Summed | None:
    """Sum of products that equations compute: nested sums along dimensions over two leaves, padded or not; None where
    the equations are anything else.
    """
    try:
        found = results(program)
    # A failed reading is no error here: the caller tries other forms.
    except Unlike:
        return None
    if len(found) != 1:
        return None
    equation, value = found[0]
    links = list[tuple[str, Leaf | None]]()
    try:
        while isinstance(value, Apply):
            value = peel_operation(value, links, equation)
    except Unlike:
        return None
    if not isinstance(value, Sum):
        return None
    sums = _nested_sums(value)
    term, widened = narrow(sums[-1].term)
    leaves = [o for o in term.operands if isinstance(o, Leaf)] if isinstance(term, Apply) else []
    if not isinstance(term, Apply) or term.operation != "mul" or len(leaves) != 2:
        return None
    along = [each.dimension for each in sums]
    # Each sum runs along a dimension of its own, which the result has not.
    is_apart = len(set(along)) == len(along) and not any(i.symbols & set(along) for i in equation.target.index)
    if not is_apart or not all(leaf.index for leaf in leaves) or not _sums_end_to_end(program, equation, sums):
        return None
    where = _points(program, sums[-1].where)
    for leaf in leaves:
        where = where.intersect(element_points(program, leaf)) if leaf.padded else where
    shapes = {a.name: a.shape for a in (*program.inputs, *program.outputs)}
    first, second = (Access(leaf.array, shapes[leaf.array], leaf.index) for leaf in leaves)
    return Summed(
        program.dimensions,
        program.parameters,
        program.assumptions,
        where,
        Access(equation.target.name, shapes[equation.target.name], equation.target.index),
        (first, second),
        widened,
        (along[0],) if len(along) == 1 else None,
        links=tuple((name, leaf and Access(leaf.array, shapes[leaf.array], leaf.index)) for name, leaf in links[::-1]),
    )


def _nested_sums(value: Sum) -> list[Sum]:
    """From the outermost sum inwards."""
    inner = value.term
    return [value, *_nested_sums(inner)] if isinstance(inner, Sum) else [value]


def _sums_end_to_end(program: Program, equation: Equation, sums: Sequence[Sum]) -> bool:
    """Whether each sum begins where its iterations do, and is taken exactly where they end."""
    taken = equation.condition
    for each in sums:
        distance = [int(d == each.dimension) for d in program.dimensions]
        where = _points(program, each.where)
        # Iterations with one before them: there the sum must go on, and not begin.
        behind = where.intersect(translate(where, distance))
        # Iterations with none behind them: there the sum is taken.
        last = where.subtract(translate(where, [-d for d in distance]))
        if not _points(program, each.first).intersect(behind).is_empty():
            return False
        if not _points(program, taken).is_equal(last):
            return False
        taken = each.where
    return True


def _points(program: Program, condition: Condition) -> isl.Set:
    """Where all extents are at least 1: of others there is nothing to compute."""
    names, params = program.dimensions, program.parameters
    return to_set(condition, names, params).intersect(to_set(program.assumptions, names, params))

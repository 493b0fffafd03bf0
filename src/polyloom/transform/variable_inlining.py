# SPDX-License-Identifier: Apache-2.0
"""Inlining of variables of equations: those that need no array, because they are an element of an input that travels
from iteration to iteration, or a value that one equation makes for one other in the same iteration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from polyloom.ir.nest import Apply, Expression
from polyloom.ir.nest_rewrite import Rewriter, Substitution
from polyloom.ir.pla import Equation, Operand, Program, Reference
from polyloom.sets import Affine


class Inlining(Rewriter):
    """With expressions in the place of references to variables, at the iteration that those are of."""

    def __init__(self, program: Program, inlined: Mapping[str, Expression]) -> None:
        self.program, self.inlined = program, inlined

    def value(self, value: Expression) -> Expression:
        inner = self.inlined.get(value.name) if isinstance(value, Reference) else None
        if inner is None or not isinstance(value, Reference):
            return super().value(value)
        return self.value(Substitution(_source_iteration(self.program, value)).value(inner))


def _source_iteration(program: Program, reference: Reference) -> dict[str, Affine]:
    """The iteration that a variable is read from."""
    distances = zip(program.dimensions, program.distance(reference), strict=True)
    return {name: Affine.symbol(name) - distance for name, distance in distances}


def inlinable_variables(
    program: Program, equations: Sequence[Equation], domains: Mapping[str, isl.Set]
) -> dict[str, Expression]:
    """By name; `domains` are those of equations, by theirs."""
    makers = {n: made for n, made in makers_by_name(equations).items() if any(v.name == n for v in program.variables)}
    # Inputs first: what travels is read often, but costs nothing.
    return _travelling_inputs(program, makers) | _single_uses(program, makers, equations, domains)


def makers_by_name(equations: Sequence[Equation]) -> dict[str, list[Equation]]:
    """The equations that define each variable or output."""
    made: dict[str, list[Equation]] = {}
    for equation in equations:
        made.setdefault(equation.target.name, []).append(equation)
    return made


def _travelling_inputs(program: Program, makers: Mapping[str, Sequence[Equation]]) -> dict[str, Expression]:
    """Variables that are one element of an input wherever they come from."""
    found: dict[str, Expression] = {}
    inputs = {array.name for array in program.inputs}
    for name, made in makers.items():
        copies = [e for e in made if _reads(e, name)]
        if not copies or any(e.operation != "move" for e in made):
            continue
        origins = [e.operands[0] for e in made if not _reads(e, name)]
        origin = origins[0]
        if not isinstance(origin, Reference) or origin.name not in inputs or len(set(map(_element_key, origins))) != 1:
            continue
        if all(_stays(program, origin, copy.operands[0]) for copy in copies):
            found[name] = origin
    return found


def _stays(program: Program, origin: Reference, operand: Operand) -> bool:
    assert isinstance(operand, Reference)
    moved = _source_iteration(program, operand)
    return all(index.substitute(moved) == index for index in origin.index)


def _single_uses(
    program: Program,
    makers: Mapping[str, Sequence[Equation]],
    equations: Sequence[Equation],
    domains: Mapping[str, isl.Set],
) -> dict[str, Expression]:
    """Values of one equation that one other reads, once, in the same iteration."""
    uses: dict[str, list[tuple[Equation, Reference]]] = {}
    for equation in equations:
        for operand in equation.operands:
            if isinstance(operand, Reference) and operand.name in makers:
                uses.setdefault(operand.name, []).append((equation, operand))
    found: dict[str, Expression] = {}
    for name, readers in uses.items():
        made, (reader, operand) = makers[name][0], readers[0]
        if len(makers[name]) != 1 or len(readers) != 1 or any(program.distance(operand)):
            continue
        # Elsewhere the reader would compute what the maker does not.
        if domains[reader.name].is_subset(domains[made.name]):
            found[name] = Apply(made.operation, made.dtype, made.operands, made.span)
    return found


def _reads(equation: Equation, name: str) -> bool:
    return any(isinstance(o, Reference) and o.name == name for o in equation.operands)


def _element_key(operand: Operand) -> object:
    return (operand.name, operand.index) if isinstance(operand, Reference) else operand

# SPDX-License-Identifier: Apache-2.0
"""Unroll-and-jam of a piecewise linear algorithm: `factor` neighbouring iterations along one dimension become one, so
that independent operations share an iteration (Allen and Kennedy 2001, section 8.4; Carr and Kennedy 1994, "Improving
the ratio of memory operations to floating-point operations in loops").

With j = u j' + r, each equation has a copy for every residue r, and x[j] a variable for each. An operand x[j - d] of
copy r is a value of copy (r - d) mod u, at the distance -floor((r - d) / u): dependences stay uniform. Equations have
no order, so that the copies compute what they did, bit for bit; a scan order that is legal for the result is found or
refused as for any other algorithm, from its dependences. No cycle of dependences within one iteration can appear: its
distances would sum to zero along j, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from polyloom.ir.pla import Equation, Operand, Program, Reference, Variable
from polyloom.names import dotted_name, fresh_name
from polyloom.sets import Affine, Condition
from polyloom.sets.normal_form import normalize


def unroll_and_jam(program: Program, dimension: str, factor: int) -> Program:
    """Unroll-and-jam (Allen and Kennedy 2001, section 8.4): the program with `factor` iterations along `dimension` in
    each of its own. Where `factor` does not divide an extent, the last iteration has copies without work."""
    copies = _Copies(program, dimension, factor)
    residues = range(factor)
    equations = [copies.equation(e, r) for e in program.equations for r in residues]
    made = replace(
        program,
        space=normalize(program.space.map(copies.weaken)),
        variables=tuple(
            Variable(copies.names[v.name, r], v.dtype, v.span) for v in program.variables for r in residues
        ),
        equations=tuple(e for e in equations if e.condition.pieces),
    )
    return _forward_moves(_drop_undefined(made), {e.name for e in program.equations})


class _Copies:
    """Names, conditions and references of copies, by residue."""

    def __init__(self, program: Program, dimension: str, factor: int) -> None:
        self.program, self.factor, self.dimension = program, factor, dimension
        self.at = program.dimensions.index(dimension)
        arrays = (*program.inputs, *program.outputs, *program.variables)
        taken = {*program.parameters, *program.dimensions, *(a.name for a in arrays)}
        self.names = _copy_names([v.name for v in program.variables], taken, factor)
        labels = [e.name for e in program.equations]
        self.labels = _copy_names(labels, set(labels), factor)

    def place(self, residue: int) -> dict[str, Affine]:
        return {self.dimension: Affine.symbol(self.dimension) * self.factor + residue}

    def condition(self, condition: Condition, residue: int) -> Condition:
        return normalize(condition.substitute(self.place(residue)))

    def weaken(self, bound: Affine) -> Affine:
        """A bound of the space that some copy has to keep: the weakest of those of the copies."""
        return bound.substitute(self.place(self.factor - 1 if bound.coefficient(self.dimension) > 0 else 0))

    def equation(self, equation: Equation, residue: int) -> Equation:
        operands = (self.reference(o, residue) if isinstance(o, Reference) else o for o in equation.operands)
        return replace(
            equation,
            name=self.labels[equation.name, residue],
            target=self.reference(equation.target, residue),
            operands=tuple(operands),
            condition=self.condition(equation.condition, residue),
        )

    def reference(self, reference: Reference, residue: int) -> Reference:
        if (reference.name, residue) not in self.names:
            return replace(reference, index=tuple(form.substitute(self.place(residue)) for form in reference.index))
        distance = list(self.program.distance(reference))
        steps, other = divmod(residue - distance[self.at], self.factor)
        distance[self.at] = -steps
        made = self.program.reference(self.names[reference.name, other], tuple(distance))
        return replace(made, span=reference.span)


def _copy_names(names: Sequence[str], taken: set[str], factor: int) -> dict[tuple[str, int], str]:
    """Names of copies: those of residue 0 stay."""
    return {(n, r): fresh_name(n, taken, dotted_name) if r else n for n in names for r in range(factor)}


def _drop_undefined(program: Program) -> Program:
    """Copies of what is computed on a constant face alone have no iterations: the program without variables that no
    equation defines. Who reads such a one has none either, since every instance that is read is defined."""
    while undefined := {v.name for v in program.variables} - {e.target.name for e in program.equations}:
        program = replace(
            program,
            variables=tuple(v for v in program.variables if v.name not in undefined),
            equations=tuple(e for e in program.equations if undefined.isdisjoint(_names_read(e))),
        )
    return program


def _names_read(equation: Equation) -> set[str]:
    return {o.name for o in equation.operands if isinstance(o, Reference)}


def _forward_moves(program: Program, kept: set[str]) -> Program:
    """Copy propagation (Muchnick 1997, section 12.5) of values that copies hand to each other within an iteration: who
    reads such a variable reads what it was moved from. Equations in `kept` are the user's."""
    written = Counter(e.target.name for e in program.equations)
    moves = [
        e for e in program.equations if e.name not in kept and written[e.target.name] == 1 and _is_local(program, e)
    ]
    for move in moves:
        source = next(e.operands[0] for e in program.equations if e.name == move.name)
        assert isinstance(source, Reference)
        program = _redirect_reads(program, move, source.name)
    return program


def _is_local(program: Program, equation: Equation) -> bool:
    """Whether an equation moves a variable's value of the same iteration to another variable."""
    variables, source = {v.name for v in program.variables}, equation.operands[0]
    if equation.operation != "move" or equation.target.name not in variables or not isinstance(source, Reference):
        return False
    return source.name in variables and not any(program.distance(source))


def _redirect_reads(program: Program, move: Equation, source: str) -> Program:
    """The program without a move: its readers read `source` at the distances at which they read its target."""

    def redirect(operand: Operand) -> Operand:
        is_read = isinstance(operand, Reference) and operand.name == move.target.name
        return replace(operand, name=source) if is_read else operand

    others = (e for e in program.equations if e.name != move.name)
    return replace(
        program,
        variables=tuple(v for v in program.variables if v.name != move.target.name),
        equations=tuple(replace(e, operands=tuple(map(redirect, e.operands))) for e in others),
    )

# SPDX-License-Identifier: Apache-2.0
"""Loop shifting of an epilogue (retiming of statements: Leiserson and Saxe 1991; Darte and Huard 2000, "Loop shifting
for loop compaction"): what is computed from the last value of an accumulation moves one iteration further along its
dimension, where the accumulation leaves the units free.

An adder that accumulates in every iteration, and another one that adds the sum to a residual in the last iteration,
need two adders in that one. Shifted by one, they exclude each other and share a unit. What is shifted reads the rest at
a distance that is longer by one; dependences among what is shifted stay as they are. The space grows by one iteration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from polyloom.analysis.components import components
from polyloom.ir.pla import Equation, Operand, Program, Reference
from polyloom.sets import Affine
from polyloom.sets.normal_form import normalize


def shift_epilogue(program: Program, dimension: str) -> Program | None:
    """Loop shifting (Darte and Huard 2000): the program with its epilogue along `dimension` one iteration later; None
    where no equation computes on a face of that dimension what no other one needs."""
    moved = _epilogue(program, dimension)
    if not any(e.operation != "move" for e in program.equations if e.name in moved):
        return None
    shifting = _Shifting(program, dimension, moved)
    equations = tuple(shifting.equation(e) if e.name in moved else e for e in program.equations)
    return replace(program, space=program.space.map(shifting.weaken), equations=equations)


def _epilogue(program: Program, dimension: str) -> frozenset[str]:
    """Names of the equations on faces of `dimension` that accumulate nothing, and whose values only such ones read;
    with them the outputs that take a shifted value."""
    faces = {e.name for e in program.equations if _is_on_face(e, dimension)}
    by_variable = {v.name: [e for e in program.equations if e.target.name == v.name] for v in program.variables}
    cyclic = _recurrent_variables(program)
    inside = {v for v, writers in by_variable.items() if v not in cyclic and all(e.name in faces for e in writers)}
    while dropped := {
        o.name
        for e in program.equations
        for o in e.operands
        if isinstance(o, Reference)
        and o.name in inside
        and e.target.name not in inside
        and not _is_sink(e, by_variable)
    }:
        inside -= dropped
    taken = {e.name for v in inside for e in by_variable[v]}
    sinks = {e.name for e in program.equations if _is_sink(e, by_variable) and _reads(e) & inside}
    return frozenset(taken | sinks)


def _is_sink(equation: Equation, variables: Mapping[str, object]) -> bool:
    return equation.target.name not in variables


def _reads(equation: Equation) -> set[str]:
    return {o.name for o in equation.operands if isinstance(o, Reference)}


def _is_on_face(equation: Equation, dimension: str) -> bool:
    """Whether each piece of the condition has two opposite bounds of the dimension."""
    return bool(equation.condition.pieces) and all(
        any(form.coefficient(dimension) and -form in piece.constraints for form in piece.constraints)
        for piece in equation.condition.pieces
    )


def _recurrent_variables(program: Program) -> set[str]:
    names = [v.name for v in program.variables]
    number = {name: n for n, name in enumerate(names)}
    reads = {n: set[int]() for n in range(len(names))}
    for e in program.equations:
        if e.target.name in number:
            reads[number[e.target.name]] |= {number[name] for name in _reads(e) if name in number}
    found = components({n: sorted(r) for n, r in reads.items()})
    return {names[n] for group in found for n in group if len(group) > 1 or n in reads[n]}


class _Shifting:
    """Equations one iteration later along a dimension."""

    def __init__(self, program: Program, dimension: str, moved: frozenset[str]) -> None:
        self.program, self.dimension, self.at = program, dimension, program.dimensions.index(dimension)
        self.values = {dimension: Affine.symbol(dimension) - 1}
        self.variables = {v.name for v in program.variables}
        self.together = {e.target.name for e in program.equations if e.name in moved} & self.variables

    def equation(self, equation: Equation) -> Equation:
        return replace(
            equation,
            target=self.array_element(equation.target),
            operands=tuple(map(self.operand, equation.operands)),
            condition=normalize(equation.condition.substitute(self.values)),
        )

    def operand(self, operand: Operand) -> Operand:
        if not isinstance(operand, Reference) or operand.name in self.together:
            return operand
        if operand.name not in self.variables:
            return self.array_element(operand)
        distance = list(self.program.distance(operand))
        distance[self.at] += 1
        return replace(self.program.reference(operand.name, tuple(distance)), span=operand.span)

    def weaken(self, bound: Affine) -> Affine:
        """A bound of the space before and after: of what it is and what it is shifted by one, the weaker."""
        return bound if bound.coefficient(self.dimension) >= 0 else bound.substitute(self.values)

    def array_element(self, reference: Reference) -> Reference:
        if reference.name in self.variables:
            return reference
        return replace(reference, index=tuple(form.substitute(self.values) for form in reference.index))

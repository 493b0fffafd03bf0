# SPDX-License-Identifier: Apache-2.0
"""What each value of a program is, as a term over input arrays, found by following its equations.

A variable that is copied along a direction in which its source's index does not change is that source everywhere, with
zeros where the input has no such element if the equations say so. One
that adds a term to its neighbour along one dimension is the sum of that term. All others must be one formula of values
of the same iteration. Induction over the program's well-founded dependences makes this exact: equations were checked to
define every instance once (analysis.check), so only the first instance and the step have to be looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

import islpy as isl

from polyloom.diagnostics import Span
from polyloom.ir.formula import Apply, Leaf, Number, Sum, Term
from polyloom.ir.pla import Constant, Equation, Operand, Program, Reference
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import to_set


class Unlike(Exception):
    """What a program lacks to be of the form that was looked for."""

    def __init__(self, message: str, span: Span | None = None) -> None:
        super().__init__(message, span)
        self.message = message
        self.span = span


def terms(program: Program) -> Mapping[str, Term]:
    """Terms of the variables that outputs need, by variable. Raises `Unlike`."""
    found: dict[str, Term] = {}
    results = {array.name for array in program.outputs}
    for equation in program.equations:
        if equation.target.name in results:
            for operand in equation.operands:
                if isinstance(operand, Reference) and _is_variable(program, operand.name):
                    _term(program, operand.name, found)
    return found


def operand_term(program: Program, equation: Equation, operand: Operand, found: dict[str, Term]) -> Term:
    """Of an operand at the same iteration. Raises `Unlike` for one of another iteration."""
    if isinstance(operand, Constant):
        return Number(operand.value)
    if not _is_variable(program, operand.name):
        return Leaf(operand.name, operand.index)
    if any(program.distance(operand)):
        at = ", ".join(str(index) for index in operand.index)
        refuse(f"`{equation.target.name}` needs `{operand.name}[{at}]`, a value of another iteration", equation.span)
    return _term(program, operand.name, found)


def refuse(message: str, span: Span | None = None) -> NoReturn:
    """Raises `Unlike`."""
    raise Unlike(message, span)


def _is_variable(program: Program, name: str) -> bool:
    return any(variable.name == name for variable in program.variables)


def _term(program: Program, name: str, found: dict[str, Term]) -> Term:
    if name not in found:
        equations = [e for e in program.equations if e.target.name == name]
        copies = [e for e in equations if _reads(e, name)]
        others = [e for e in equations if not _reads(e, name)]
        # A variable that does not read itself is a formula; one that does travels, or is a sum.
        if not copies:
            found[name] = _formula(program, others, found)
        elif all(e.operation == "move" for e in copies):
            found[name] = _propagated_input(program, copies, others)
        else:
            found[name] = _sum(program, copies, others, found)
    return found[name]


def _reads(equation: Equation, name: str) -> bool:
    return any(isinstance(o, Reference) and o.name == name for o in equation.operands)


def _formula(program: Program, equations: Sequence[Equation], found: dict[str, Term]) -> Term:
    """One equation wherever the variable is needed."""
    if (leaf := _zero_padded(program, equations)) is not None:
        return leaf
    first, *others = equations
    made = _operation_term(program, first, found)
    for other in others:
        if _operation_term(program, other, found) != made:
            refuse(f"`{first.target.name}` is not one formula in all iterations", other.span)
    return made


def _operation_term(program: Program, equation: Equation, found: dict[str, Term]) -> Term:
    operands = tuple(operand_term(program, equation, operand, found) for operand in equation.operands)
    return operands[0] if equation.operation == "move" else Apply(equation.operation, operands, equation.span)


def _propagated_input(program: Program, copies: Sequence[Equation], sources: Sequence[Equation]) -> Leaf:
    """An input that travels: the index of its source is the same where it comes from."""
    leaf = _zero_padded(program, sources)
    if leaf is None:
        leaves = {_source(program, equation) for equation in sources}
        if len(leaves) != 1:
            refuse(f"`{copies[0].target.name}` travels, and is not one element of an input", copies[0].span)
        (leaf,) = leaves
    for copy in copies:
        operand = copy.operands[0]
        assert isinstance(operand, Reference)
        moved = {
            name: Affine.symbol(name) - d for name, d in zip(program.dimensions, program.distance(operand), strict=True)
        }
        if any(index.substitute(moved) != index for index in leaf.index):
            refuse(f"`{copy.target.name}` is another element of `{leaf.array}` where it comes from", copy.span)
    return leaf


def _zero_padded(program: Program, equations: Sequence[Equation]) -> Leaf | None:
    """An element of an input where there is one, and 0 elsewhere; None where these equations do not say so."""
    zeros = [e for e in equations if e.operation == "move" and _is_zero(e.operands[0])]
    others = [e for e in equations if e not in zeros]
    # None stands for what is computed, which is no element of an input.
    origins = {e.operands[0] if e.operation == "move" else None for e in others}
    leaves = {Leaf(o.name, o.index, True) for o in origins if isinstance(o, Reference)}
    if not zeros or len(leaves) != 1 or None in origins or not all(isinstance(o, Reference) for o in origins):
        return None
    (leaf,) = leaves
    array = next((a for a in program.inputs if a.name == leaf.array), None)
    if array is None:
        return None
    inside = element_points(program, leaf)
    return leaf if all(_points(program, e.condition).intersect(inside).is_empty() for e in zeros) else None


def _is_zero(operand: Operand) -> bool:
    return isinstance(operand, Constant) and Number(operand.value) == Number(0)


def element_points(program: Program, leaf: Leaf) -> isl.Set:
    """Where an input has the element."""
    shape = next(a.shape for a in program.inputs if a.name == leaf.array)
    limits = [limit for at, n in zip(leaf.index, shape, strict=True) for limit in (at, n - 1 - at)]
    return _points(program, Condition((Polyhedron(tuple(limits)),)))


def _points(program: Program, condition: Condition) -> isl.Set:
    assumed = to_set(program.assumptions, program.dimensions, program.parameters)
    return to_set(condition, program.dimensions, program.parameters).intersect(assumed)


def _source(program: Program, equation: Equation) -> Leaf:
    operand = equation.operands[0]
    if equation.operation != "move" or not isinstance(operand, Reference) or _is_variable(program, operand.name):
        refuse(f"`{equation.target.name}` travels, but is computed: only inputs may travel", equation.span)
    return Leaf(operand.name, operand.index)


def _sum(program: Program, steps: Sequence[Equation], firsts: Sequence[Equation], found: dict[str, Term]) -> Sum:
    """Recurrence x[I] = x[I - e] + term as the sum of the term, begun by the term itself."""
    name = steps[0].target.name
    parts = {_step(program, step, found) for step in steps}
    if len(parts) != 1 or len(firsts) != 1:
        refuse(f"`{name}` depends on itself, and is not one sum", steps[0].span)
    ((dimension, term),) = parts
    first = firsts[0]
    # A first value other than the first term would be added to every sum.
    if _drop_zero(_operation_term(program, first, found)) != term:
        refuse(f"the sum `{name}` does not begin with its first term alone", first.span)
    pieces = [piece for equation in (first, *steps) for piece in equation.condition.pieces]
    return Sum(term, dimension, first.condition, Condition(tuple(pieces)))


def _step(program: Program, step: Equation, found: dict[str, Term]) -> tuple[str, Term]:
    name = step.target.name
    own = [n for n, o in enumerate(step.operands) if isinstance(o, Reference) and o.name == name]
    if step.operation not in ("add", "madd") or len(own) != 1 or (step.operation == "madd" and own != [2]):
        refuse(f"`{name}` depends on itself, and not by one addition", step.span)
    operand = step.operands[own[0]]
    assert isinstance(operand, Reference)
    distance = program.distance(operand)
    # A unit vector: the sum steps by one along one dimension.
    if sorted(distance) != [0] * (len(distance) - 1) + [1]:
        refuse(f"the sum `{name}` does not step along one dimension", step.span)
    rest = [operand_term(program, step, o, found) for n, o in enumerate(step.operands) if n != own[0]]
    term = rest[0] if step.operation == "add" else Apply("mul", tuple(rest), step.span)
    return program.dimensions[distance.index(1)], term


def _drop_zero(term: Term) -> Term:
    """First term of a sum: `0 + t` is t, `madd(a, b, 0)` is a b. Exact in floats up to the sign of zero."""
    if not isinstance(term, Apply):
        return term
    if term.operation == "add" and Number(0) in term.operands:
        return next((o for o in term.operands if o != Number(0)), Number(0))
    if term.operation == "madd" and term.operands[2] == Number(0):
        return Apply("mul", term.operands[:2], term.span)
    return term

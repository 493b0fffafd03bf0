# SPDX-License-Identifier: Apache-2.0
"""Printer of the equation language; `frontend.pla.parse` reads back an equal program, up to spans."""

from __future__ import annotations

import hashlib

import numpy as np

from polyloom.ir.operations import BY_NAME
from polyloom.ir.pla import Array, Constant, Equation, Operand, Program, Reference
from polyloom.ir.pla_names import spell_names
from polyloom.sets import Affine, Condition, Polyhedron


def print_program(program: Program) -> str:
    """The whole text of `program`, ending in a newline."""
    program = spell_names(program)
    lines = print_parameters(program)
    lines += [f"input {print_array(a)}" for a in program.inputs]
    lines += [f"output {print_array(a)}" for a in program.outputs]
    lines += [f"variable {v.name}: {v.dtype}" for v in program.variables]
    lines += ["", f"for {', '.join(program.dimensions)}: {print_condition(program.space, program.dimensions)} do"]
    width = max((len(_print_definition(e)) for e in program.equations), default=0)
    return "\n".join([*lines, *(_print_equation(program, e, width) for e in program.equations), ""])


def digest(program: Program) -> str:
    """Digest of a program, by which files name it: 16 hexadecimal digits of the SHA-256 of its text."""
    return hashlib.sha256(print_program(program).encode()).hexdigest()[:16]


def print_condition(condition: Condition, dimensions: tuple[str, ...]) -> str:
    """A condition such as `i = 0 or i >= 2 and j < N`, dimensions on the left."""
    return " or ".join(_print_polyhedron(piece, dimensions) for piece in condition.pieces) or "false"


def print_operand(operand: Operand) -> str:
    """`x[i - 1, j]`, or a constant as it is written."""
    match operand:
        case Reference(name=name, index=index):
            return f"{name}[{', '.join(map(str, index))}]"
        case Constant(value=value, dtype="f32"):
            # The shortest decimal that reads back as the same single.
            return str(float(str(np.float32(value))))
        case Constant(value=value, dtype="f64"):
            return str(float(value))
        case Constant(value=value):
            return str(value)


def _print_equation(program: Program, equation: Equation, width: int) -> str:
    if equation.condition == program.space:
        return f"  {_print_definition(equation)}"
    # The space is printed once, at the head: conditions show what they add to it.
    extra = tuple(_drop_implied(piece, program.space.pieces[0]) for piece in equation.condition.pieces)
    return f"  {_print_definition(equation):<{width}} if {print_condition(Condition(extra), program.dimensions)}"


def _print_definition(equation: Equation) -> str:
    operands = [print_operand(o) for o in equation.operands]
    symbol = BY_NAME[equation.operation].symbol
    if equation.operation == "move":
        value = operands[0]
    elif symbol is not None and len(operands) == 2:
        value = f"{operands[0]} {symbol} {operands[1]}"
    else:
        value = f"{equation.operation}({', '.join(operands)})"
    return f"{equation.name}: {print_operand(equation.target)} = {value}"


def print_array(array: Array) -> str:
    """`A[N, M]: f32`."""
    shape = f"[{', '.join(map(str, array.shape))}]" if array.shape else ""
    return f"{array.name}{shape}: {array.dtype}"


def print_parameters(program: Program) -> list[str]:
    """The line of the parameters, if there is any."""
    return [f"parameter {', '.join(_parameters(program))}"] if program.parameters else []


def _parameters(program: Program) -> list[str]:
    """Bare names, then what is known beyond `parameter >= 0`."""
    names = list(program.parameters)
    extra = [_drop_implied(piece, Polyhedron(tuple(map(Affine.symbol, names)))) for piece in program.assumptions.pieces]
    # One polyhedron is a list of relations; a union needs a whole condition.
    if len(extra) == 1:
        return names + [_print_relation(c, program.parameters) for c in extra[0].constraints]
    return [*names, print_condition(Condition(tuple(extra)), program.parameters)]


def _drop_implied(piece: Polyhedron, known: Polyhedron) -> Polyhedron:
    """The constraints of `piece` that `known` has not; both halves of an equation stay together."""
    present = set(piece.constraints)
    return Polyhedron(tuple(c for c in piece.constraints if c not in known.constraints or -c in present))


def _print_polyhedron(piece: Polyhedron, first: tuple[str, ...]) -> str:
    """Equations, then inequalities, by the first symbol of `first` in them; `lower <= i` and `i < upper` become one
    chain."""
    present = set(piece.constraints)
    equal = [
        c
        for c in piece.constraints
        if -c in present and (_constraint_order(c, first), c.terms) > (_constraint_order(-c, first), (-c).terms)
    ]
    rest = sorted(
        (c for c in piece.constraints if -c not in present), key=lambda c: _constraint_order(c, first), reverse=True
    )
    parts = [_print_equality(c, first) for c in sorted(equal, key=lambda c: _constraint_order(c, first), reverse=True)]
    while rest:
        low = rest.pop(0)
        name = next((n for n in first if low.coefficient(n)), "")
        high = rest[0] if rest else Affine()
        if (
            low.coefficient(name) == 1
            and low.symbols.intersection(first) == frozenset((name,))
            and _split_signs(high)[1] == Affine.symbol(name)
        ):
            parts.append(f"{Affine.symbol(name) - low} <= {_print_relation(rest.pop(0), first)}")
        else:
            parts.append(_print_relation(low, first))
    return " and ".join(parts) or "true"


def _constraint_order(affine: Affine, first: tuple[str, ...]) -> tuple[int, ...]:
    """Orders constraints: by dimension, lower bounds before upper ones."""
    return tuple(affine.coefficient(n) and (2 + (affine.coefficient(n) > 0)) for n in first)


def _print_relation(affine: Affine, first: tuple[str, ...]) -> str:
    """`affine >= 0` with positive terms on both sides and a symbol of `first` on the left, if there is one."""
    left, right = _split_signs(affine)
    constant = affine.constant
    leading = min(
        affine.terms, key=lambda t: (t[0] not in first, first.index(t[0]) if t[0] in first else 0), default=("", 1)
    )
    # a - b - 1 >= 0 is printed as a > b, as people write it.
    strict = constant == -1 and bool(left.terms) and bool(right.terms)
    if leading[1] > 0:
        return f"{left} > {right}" if strict else f"{left} >= {right - constant}"
    return f"{right} < {left}" if strict else f"{right} <= {left + constant}"


def _print_equality(affine: Affine, first: tuple[str, ...]) -> str:
    left, right = _split_signs(affine)
    if any(name in first for name in left.symbols) or not right.terms:
        return f"{left} = {right - affine.constant}"
    return f"{right} = {left + affine.constant}"


def _split_signs(affine: Affine) -> tuple[Affine, Affine]:
    return Affine(tuple(t for t in affine.terms if t[1] > 0)), Affine(tuple((n, -c) for n, c in affine.terms if c < 0))

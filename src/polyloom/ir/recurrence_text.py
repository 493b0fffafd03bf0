# SPDX-License-Identifier: Apache-2.0
"""Printer of a nest's dataflow: what every statement computes, and which instance each of its reads takes its value
from.

    S2[i, k, j]: C[i, j] = C[i, j] + (A[i, k] * B[k, j]) for 0 <= i < N and 0 <= k < K and 0 <= j < M
      reads C[i, j] from S1[i, j] if k = 0
      reads C[i, j] from S2[i, k - 1, j] if k >= 1
      reads A[i, k] as given
    C[i, j] becomes S2[i, k, j] if k = K - 1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polyloom.ir.nest import Expression, Index, accesses
from polyloom.ir.operations import BY_NAME
from polyloom.ir.pla import Constant, Reference
from polyloom.ir.pla_text import print_condition, print_operand
from polyloom.ir.recurrence import Final, Immediate, Origin, Produced, Recurrence, System
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import from_set, parameter_set, to_set


def print_system(system: System) -> str:
    """The whole text, ending in a newline; the condition of a piece leaves out what the statement's own domain says."""
    equations = [line for equation in system.equations for line in _equation(equation, system)]
    finals = [_final(final, system) for final in system.finals]
    return "\n".join(
        [f"{system.name} if {print_condition(system.assumptions, system.parameters)}", *equations, *finals, ""]
    )


def print_value(expression: Expression) -> str:
    """`C[i, j] + (A[i, k] * B[k, j])`."""
    match expression:
        case Reference(name=name, index=index):
            return _element(name, index)
        case Constant():
            return print_operand(expression)
        case Index(value=value):
            return f"({value})"
        case _:
            operands, symbol = expression.operands, BY_NAME[expression.operation].symbol
            if symbol is not None and len(operands) == 2:
                return f" {symbol} ".join(
                    print_value(o) if isinstance(o, Reference | Constant | Index) else f"({print_value(o)})"
                    for o in operands
                )
            return f"{expression.operation}({', '.join(map(print_value, operands))})"


def _equation(equation: Recurrence, system: System) -> Iterator[str]:
    assign = equation.statement.assign
    # Simplified by isl: a domain is the product of all bounds and conditions around.
    domain = from_set(to_set(equation.domain, equation.loops, system.parameters))
    where = f" for {print_condition(domain, equation.loops)}" if equation.loops else ""
    yield (
        f"{_element(equation.name, tuple(map(Affine.symbol, equation.loops)))}: {print_value(assign.target)} = "
        f"{print_value(assign.value)}{where}"
    )
    for access, read in zip(accesses(equation.value), equation.reads, strict=True):
        for piece in read:
            yield (
                f"  reads {print_value(access)} {_origin(piece.origin, access)}"
                f"{_domain(piece.domain, equation, system)}"
            )


def _origin(origin: Origin, access: Reference) -> str:
    if isinstance(origin, Produced):
        return f"from {_element(origin.statement, origin.index)}"
    if isinstance(origin, Immediate):
        return f"as the constant {print_operand(origin.constant)}"
    return (
        "as given"
        if (origin.name, origin.index) == (access.name, access.index)
        else f"as {_element(origin.name, origin.index)} was given"
    )


def _final(final: Final, system: System) -> str:
    equation = system[final.statement]
    source = _element(equation.name, tuple(map(Affine.symbol, equation.loops)))
    return f"{_element(final.name, final.index)} becomes {source}{_domain(final.domain, equation, system)}"


def _element(name: str, index: Sequence[Affine]) -> str:
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def _domain(condition: Condition, equation: Recurrence, system: System) -> str:
    """` if ...`, without what the equation's domain says; nothing where the two are equal."""
    domain = to_set(equation.domain, equation.loops, system.parameters).intersect_params(
        parameter_set(system.assumptions, system.parameters)
    )
    # isl's gist: the constraints that the domain does not imply already.
    left = from_set(to_set(condition, equation.loops, system.parameters), domain)
    return "" if Polyhedron() in left.pieces else f" if {print_condition(left, (*equation.loops, *system.parameters))}"

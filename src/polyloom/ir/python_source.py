# SPDX-License-Identifier: Apache-2.0
"""Python source of affine expressions, conditions and values, for interpreters that compile what they execute.

`Scope` gives every symbol an identifier and collects the functions and constants that the source mentions, under the
names that it uses: NumPy scalars, and the operations of `ir.semantics`. An integer division by zero raises
`ZeroDivisionError`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from polyloom.ir.nest import Apply, Expression, Index
from polyloom.ir.numbers import NUMPY, make_element
from polyloom.ir.operations import ElementType, may_divide_by_zero
from polyloom.ir.pla import Constant
from polyloom.ir.semantics import Function, operation_function
from polyloom.sets import Affine, Condition, Polyhedron


class Scope:
    """Namespace of compiled source: `values` is the dictionary to compile with; it grows while source is written."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._names: dict[str, str] = {}

    def function(self, operation: str, dtype: ElementType) -> Function:
        """Function of an operation; other arithmetic than that of `ir.semantics` overrides it."""
        return operation_function(operation, dtype)

    def name(self, symbol: str) -> str:
        """The identifier of a loop or parameter."""
        return self._names.setdefault(symbol, f"x{len(self._names)}")

    def bind(self, symbol: str, source: str) -> None:
        """Binding of a symbol that is neither a loop nor a parameter to an expression."""
        self._names[symbol] = source

    def affine(self, value: Affine) -> str:
        # On Python's integers, which never wrap: an index is exact.
        return " + ".join([*(f"{factor} * {self.name(symbol)}" for symbol, factor in value.terms), str(value.constant)])

    def tuple(self, index: Sequence[Affine]) -> str:
        return f"({''.join(f'{self.affine(a)}, ' for a in index)})"

    def condition(self, condition: Condition) -> str:
        return " or ".join(f"({self._conjunction(piece)})" for piece in condition.pieces) or "False"

    def _conjunction(self, piece: Polyhedron) -> str:
        return " and ".join(f"{self.affine(c)} >= 0" for c in piece.constraints) or "True"

    def value(self, expression: Expression, reads: Iterator[str]) -> str:
        """`reads` gives the source of each of `ir.nest.accesses(expression)`, in order."""
        match expression:
            case Constant(value=value, dtype=dtype):
                return self._constant(value, dtype)
            case Index(value=value, dtype=dtype):
                # An affine value is exact: it is wrapped or rounded once.
                self.values[f"to_{dtype}"] = partial(make_element, dtype=dtype)
                return f"to_{dtype}({self.affine(value)})"
            case Apply(operation=operation, dtype=dtype, operands=operands):
                meaning = self.function(operation, dtype)
                # NumPy divides integers by zero with a warning and the result 0: that would hide the fault.
                self.values[f"{operation}_{dtype}"] = (
                    _guard_division(meaning) if may_divide_by_zero(operation, dtype) else meaning
                )
                return f"{operation}_{dtype}({', '.join([self.value(o, reads) for o in operands])})"
            case _:
                return next(reads)

    def _constant(self, value: int | float, dtype: ElementType) -> str:
        name = f"c{len(self.values)}"
        # A NumPy scalar, so that what is computed with it rounds and wraps in its type.
        self.values[name] = NUMPY[dtype].type(value)
        return name


def _guard_division(division: Function) -> Function:
    def divide(a: Any, b: Any) -> Any:
        if b == 0:
            raise ZeroDivisionError
        return division(a, b)

    return divide

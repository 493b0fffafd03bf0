# SPDX-License-Identifier: Apache-2.0
"""Python source of an MLIR function: a line per operation, over NumPy's numbers and arrays, which alias as memrefs do.

It is what the operations say one after the other, and knows nothing of the nest that the lowering makes of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from xdsl.dialects import builtin
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineConstraintKind,
    AffineDimExpr,
    AffineSymExpr,
)

from polyloom.frontend.mlir.element_types import integer_width, is_kind, scalar_type
from polyloom.frontend.mlir.evaluate import scalars
from polyloom.frontend.mlir.reader import Module

_FLOATS: Final[dict[type, Any]] = {
    builtin.Float16Type: np.float16,
    builtin.Float32Type: np.float32,
    builtin.Float64Type: np.float64,
}
_WIDTHS: Final[dict[int, Any]] = {1: np.bool_, 8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}


def numpy_type(kind: Any) -> Any:
    """NumPy's type of a scalar, `int` of an index."""
    kind = scalar_type(kind)
    if is_kind(kind, builtin.IntegerType):
        found: Any = _WIDTHS.get(integer_width(kind), np.int64)
        if kind.signedness.data == builtin.Signedness.UNSIGNED:
            return scalars.UNSIGNED[f"int{integer_width(kind)}"]
        return found
    return next((found for of, found in _FLOATS.items() if is_kind(kind, of)), int)


def storage_type(kind: Any) -> Any:
    """NumPy's type of the elements of an array."""
    found = numpy_type(kind)
    return np.int32 if found is int else found


_OPERATOR: Final = {
    AffineBinaryOpKind.Add: "+",
    AffineBinaryOpKind.Mul: "*",
    AffineBinaryOpKind.FloorDiv: "//",
    AffineBinaryOpKind.Mod: "%",
}


def affine_text(expression: Any, operands: Sequence[str], dims: int) -> str:
    """An affine expression in Python, whose quotients and remainders round down, too."""
    match expression:
        case AffineConstantExpr(value=value):
            return str(value)
        case AffineDimExpr(position=n):
            return operands[n]
        case AffineSymExpr(position=n):
            return operands[dims + n]
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            a, b = (affine_text(e, operands, dims) for e in (lhs, rhs))
            return f"-(-({a}) // ({b}))" if kind == AffineBinaryOpKind.CeilDiv else f"(({a}) {_OPERATOR[kind]} ({b}))"
        case _:
            raise TypeError(f"no affine expression: {expression}")


def set_text(found: Any, operands: Sequence[str]) -> str:
    """An integer set in Python."""
    signs = {AffineConstraintKind.eq: "==", AffineConstraintKind.ge: ">=", AffineConstraintKind.le: "<="}
    parts = [
        f"{affine_text(c.lhs, operands, found.num_dims)} {signs[c.kind]} {affine_text(c.rhs, operands, found.num_dims)}"
        for c in found.constraints
    ]
    return " and ".join(f"({part})" for part in parts)


class SourceBuilder:
    """`lines` of the function, `names` of values in it, `objects` others by name (mutable)."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.lines = list[str]()
        self.names = dict[SSAValue, str]()
        self.objects: dict[str, Any] = {"np": np}
        self.margin = " "

    def emit(self, text: str) -> None:
        self.lines.append(self.margin + text)

    def bind(self, value: Any) -> str:
        """A name for an object."""
        name = f"o{len(self.objects)}"
        self.objects[name] = value
        return name

    def name(self, value: SSAValue) -> str:
        """The name of a value."""
        return self.names.setdefault(value, f"v{len(self.names)}")

    def operands(self, operation: Operation) -> list[str]:
        return [self.name(o) for o in operation.operands]

    def set(self, value: SSAValue, text: str) -> None:
        self.emit(f"{self.name(value)} = {text}")

    def call(self, function: Callable[..., Any], *arguments: str) -> str:
        return f"{self.bind(function)}({', '.join(arguments)})"

    def block(self, block: Block) -> None:
        """The lines of a block, one level further in."""
        before, self.margin = self.margin, self.margin + " "
        self.emit("pass")
        for operation in block.ops:
            self.operation(operation)
        self.margin = before

    def operation(self, operation: Operation) -> None:
        raise NotImplementedError

    def terminator(self, block: Block) -> list[str]:
        last = block.last_op
        return [] if last is None else self.operands(last)

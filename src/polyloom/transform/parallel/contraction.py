# SPDX-License-Identifier: Apache-2.0
"""Contraction of floats: `a * b + c` within one value is one `madd`, rounded once (C17 6.5, paragraph 8).

`a * b - c` and `c - a * b` are `madd`s with an operand negated, which is exact.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from polyloom.ir.nest import Apply, Expression, Nest
from polyloom.ir.nest_rewrite import Rewriter
from polyloom.ir.pla import Constant


def contract(nest: Nest) -> Nest:
    """Nest with one operation for each sum of which an operand is a product, in f32 (C17 6.5, paragraph 8; the C
    standard's FP_CONTRACT).
    """
    return replace(nest, body=_Contraction().nodes(nest.body))


class _Contraction(Rewriter):
    def value(self, value: Expression) -> Expression:
        made = super().value(value)
        return _contract_sum(made) if isinstance(made, Apply) else made


def _contract_sum(value: Apply) -> Apply:
    """Fused form of a sum or a difference; the product on the right is taken if both operands are one."""
    if value.dtype != "f32" or value.operation not in ("add", "sub"):
        return value
    left, right = value.operands
    if _is_product(right):
        a, b = right.operands
        return replace(value, operation="madd", operands=(_negate(a) if value.operation == "sub" else a, b, left))
    if _is_product(left):
        addend = _negate(right) if value.operation == "sub" else right
        return replace(value, operation="madd", operands=(*left.operands, addend))
    return value


def _is_product(value: Expression) -> TypeGuard[Apply]:
    return isinstance(value, Apply) and (value.operation, value.dtype) == ("mul", "f32")


def _negate(value: Expression) -> Expression:
    """Negation of a factor, which is exact; two signs cancel."""
    if isinstance(value, Apply) and value.operation == "neg":
        return value.operands[0]
    if isinstance(value, Constant):
        return replace(value, value=-value.value)
    return Apply("neg", "f32", (value,))

# SPDX-License-Identifier: Apache-2.0
"""Integer promotion (type legalization: Muchnick 1997, section 4.6): integers of types that a machine lacks are kept in
i32, sign- or zero-extended, and results are wrapped to the width of their type.

Operations of u32 become those of i32 by the identities of Warren, Hacker's Delight (2nd edition), sections 2-7 and
2-12: an order without a sign is the signed one of both operands with the top bit inverted, and a logical shift is an
arithmetic one whose upper bits are cleared. Divisions of u32 and its conversions from and to floats stay.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from polyloom.ir.nest import Apply, Assign, Expression, Index, Nest
from polyloom.ir.nest_rewrite import Rewriter
from polyloom.ir.numbers import WIDTH, make_element, type_limits
from polyloom.ir.operations import BY_NAME, DIVISIONS, FLOATS, STORED, UNSIGNED, ElementType
from polyloom.ir.pla import Constant, Reference

_TOP: Final = -(1 << 31)
_ORDERS: Final = ("lt", "le", "gt", "ge")
_EXACT: Final = ("move", "and", "or", "xor", "min", "max", "select", "shr")
"""Operations whose results are in range where their operands are."""


def promote_integers(nest: Nest, types: Collection[ElementType]) -> Nest:
    """Nest whose storage and operations of these integer types are i32, with the same values; what it cannot express
    keeps its type. Truth is stored in bytes of `u8`, where this is none of the types.
    """
    if not any(storage.dtype in types for storage in nest.storage) and not _Promotion.applies(nest, types):
        return nest
    wider = dict[ElementType, ElementType].fromkeys(types, "i32")
    if "bool" in types and "u8" not in types:
        wider["bool"] = "u8"
    storage = tuple(replace(s, dtype=wider.get(s.dtype, s.dtype)) for s in nest.storage)
    stored = {made.name for made, s in zip(storage, nest.storage, strict=True) if made.dtype == "u8" != s.dtype}
    return replace(nest, storage=storage, body=_Promotion(types, stored).nodes(nest.body))


class _Promotion(Rewriter):
    """`stored` are arrays of truth in bytes."""

    def __init__(self, types: Collection[ElementType], stored: Collection[str] = ()) -> None:
        self.types, self.stored, self.found = types, stored, False

    @staticmethod
    def applies(nest: Nest, types: Collection[ElementType]) -> bool:
        """Whether an operation has one of the types."""
        visit = _Promotion(types)
        visit.nodes(nest.body)
        return visit.found

    def assignment(self, node: Assign) -> Assign:
        made = super().assignment(node)
        return replace(made, value=Apply("to_u8", "i32", (made.value,))) if node.target.name in self.stored else made

    def value(self, value: Expression) -> Expression:
        match value:
            case Reference(name=name) if name in self.stored:
                return Apply("to_i32", "u8", (super().value(value),))
            case Constant(dtype=dtype) if dtype in self.types:
                return _word(int(value.value), value)
            case Index(dtype=dtype) if dtype in self.types:
                return _wrap(replace(super().value(value), dtype="i32"), dtype)
            case Apply():
                return self.operation(value)
            case _:
                return super().value(value)

    def operation(self, value: Apply) -> Expression:
        name, dtype = value.operation, value.dtype
        result = BY_NAME[name].result(dtype)
        if dtype not in self.types and result not in self.types:
            return super().value(value)
        self.found = True
        operands = tuple(map(self.value, value.operands))
        if name.startswith("to_"):
            return self.conversion(value, operands[0])
        if name in ("sat8", "satu8"):
            return _clamp(operands[0], result)
        if name == "popcount" or (dtype == "u32" and name in DIVISIONS):
            return replace(value, operands=operands)
        if dtype == "u32":
            return _unsigned_operation(value, operands)
        if name in ("shl", "shr"):
            # A shift counts modulo the width of its own type, not of the wider one.
            operands = operands[0], _apply("and", operands[1], WIDTH[dtype] - 1)
        made = replace(value, dtype="i32", operands=operands)
        return made if name in _EXACT or BY_NAME[name].compares else _wrap(made, dtype)

    def conversion(self, value: Apply, operand: Expression) -> Expression:
        """Conversion between integers as a wrap, if any; of floats to narrow integers as a clamp (they saturate)."""
        of, to = value.dtype, BY_NAME[value.operation].result(value.dtype)
        if of in FLOATS:
            return replace(value, operands=(operand,)) if to == "u32" else _clamp_float(value, operand, to)
        if to != "i32" and to not in self.types:
            # The extended integer is the same number, but of u32 for floats.
            is_kept = of == "u32" and to in (*FLOATS, *STORED)
            return replace(value, dtype=of if is_kept else "i32", operands=(operand,))
        if of not in self.types and of != "i32":
            operand = Apply("to_i32", of, (operand,), value.span)
        return operand if _contains(to, of) else _wrap(operand, to)


def _contains(to: ElementType, dtype: ElementType) -> bool:
    """Whether every value of a type, extended to a word, is one of another type already."""
    low, high = type_limits(dtype) or (0, 0)
    least, most = type_limits(to) or (0, 0)
    return WIDTH[to] == 32 or (least <= low and high <= most)


def _wrap(value: Expression, dtype: ElementType) -> Expression:
    """Wrap of a word to a type, extended again: x & m, for signed ones (x & m ^ s) - s (Hacker's Delight, section
    2-5).
    """
    if WIDTH[dtype] == 32:
        return value
    # Truth does not wrap: all numbers but 0 are true (C11, section 6.3.1.2).
    if dtype == "bool":
        return Apply("ne", "i32", (value, Constant(0, "i32")))
    low = _apply("and", value, (1 << WIDTH[dtype]) - 1)
    sign = 1 << (WIDTH[dtype] - 1)
    return low if dtype in UNSIGNED else _apply("sub", _apply("xor", low, sign), sign)


def _clamp(value: Expression, dtype: ElementType) -> Expression:
    low, high = type_limits(dtype) or (0, 0)
    return _apply("max", _apply("min", value, high), low)


def _clamp_float(value: Apply, operand: Expression, dtype: ElementType) -> Expression:
    # A NaN is unequal to 0, hence true, as in C.
    if dtype == "bool":
        return Apply("ne", value.dtype, (operand, Constant(0.0, value.dtype)))
    return _clamp(replace(value, operation="to_i32", operands=(operand,)), dtype)


def _unsigned_operation(value: Apply, operands: tuple[Expression, ...]) -> Expression:
    """Operation of u32 on words in two's complement, where most are the same."""
    name = value.operation
    if name in _ORDERS:
        return replace(value, dtype="i32", operands=tuple(_apply("xor", o, _TOP) for o in operands))
    if name in ("min", "max"):
        return _apply("xor", Apply(name, "i32", tuple(_apply("xor", o, _TOP) for o in operands), value.span), _TOP)
    if name == "shr":
        return _logical_shift(value, *operands)
    return operands[0] if name == "abs" else replace(value, dtype="i32", operands=operands)


def _logical_shift(value: Apply, operand: Expression, amount: Expression) -> Expression:
    """Logical shift to the right: the bits that an arithmetic one copies from the sign are cleared."""
    shifted = replace(value, dtype="i32", operands=(operand, amount))
    if isinstance(amount, Constant):
        by = int(amount.value) & 31
        return _apply("and", shifted, (1 << (32 - by)) - 1) if by else operand
    # ~((-1 << (31 - n)) << 1), for n from 0 to 31: two shifts, as one of 32 would count as none.
    upper = _apply("shl", _apply("shl", Constant(-1, "i32"), _apply("xor", _apply("and", amount, 31), 31)), 1)
    return _apply("and", shifted, _apply("xor", upper, -1))


def _apply(name: str, left: Expression, right: Expression | int) -> Expression:
    """Operation on words, with constants folded where both are."""
    other = Constant(right, "i32") if isinstance(right, int) else right
    if isinstance(left, Constant) and isinstance(other, Constant) and name in ("and", "xor"):
        a, b = int(left.value), int(other.value)
        return Constant(a & b if name == "and" else a ^ b, "i32", left.span)
    return Apply(name, "i32", (left, other))


def _word(value: int, at: Constant) -> Constant:
    """Constant of the same 32 bits."""
    return replace(at, value=int(make_element(value, "i32")), dtype="i32")

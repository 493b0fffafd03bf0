# SPDX-License-Identifier: Apache-2.0
"""Instruction selection for integers, where an operation becomes several of the unit's own: shifts and divisions by
constants, and operands of a signed order (Warren, Hacker's Delight, 2nd edition, sections 2-7, 2-12 and 10-1).

`step` appends an operation with its operands and numbers to a formula, and gives its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from polyloom.targets.tensix.map.loops.integers.operations import LEFT, RIGHT
from polyloom.targets.tensix.map.loops.steps import Source

_TOP: Final = 1 << 31


class AddStep(Protocol):
    """Append of an operation to a formula."""

    def __call__(self, name: str, operands: Sequence[Source], /, *numbers: int) -> Source: ...


def invert_order(step: AddStep, source: Source) -> Source:
    """Bias by 2^31: signed order becomes the one without a sign (Hacker's Delight, section 2-12)."""
    kind, bits = source
    return ("bits", bits ^ _TOP) if kind == "bits" else step("sfpxor", [source, ("bits", _TOP)])


def shift(step: AddStep, operation: str, operand: Source, amount: Source) -> Source:
    """Shift `shl` or `shr` by an amount modulo 32; by a constant one without the general program."""
    kind, by = amount
    if kind != "bits":
        return step(LEFT if operation == "shl" else RIGHT, [operand, amount])
    return _shift_constant(step, operation, operand, by & 31)


def _shift_constant(step: AddStep, operation: str, operand: Source, by: int) -> Source:
    if by == 0:
        return operand
    if operation == "shl":
        return step("sfpshft_i", [operand], by, 0)
    # SFPSHFT shifts zeros in: (x ^ s) - s copies the sign to them (Hacker's Delight, section 2-7).
    sign: Source = "bits", _TOP >> by
    return step("sfpiadd_v", [sign, step("sfpxor", [step("sfpshft_i", [operand], -by, 0), sign])], 6)


def power_of_two(source: Source) -> int | None:
    """Exponent of a constant that is a positive power of two; None of other operands."""
    kind, value = source
    return value.bit_length() - 1 if kind == "bits" and 0 < value < _TOP and value & (value - 1) == 0 else None


def divide_by_power(step: AddStep, operation: str, operand: Source, by: int) -> Source:
    """Quotient `div` or remainder `rem` by 2^n, toward zero: 2^n - 1 is added to negative dividends before the shift
    (Hacker's Delight, section 10-1).
    """
    if by == 0:
        return operand if operation == "div" else ("bits", 0)
    bias = step("sfpshft_i", [_shift_constant(step, "shr", operand, 31)], by - 32, 0)
    quotient = _shift_constant(step, "shr", step("sfpiadd_v", [operand, bias], 4), by)
    if operation == "div":
        return quotient
    return step("sfpiadd_v", [_shift_constant(step, "shl", quotient, by), operand], 6)

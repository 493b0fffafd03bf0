# SPDX-License-Identifier: Apache-2.0
"""Strength reduction of divisions (Warren 2013, "Hacker's Delight", chapter 10 has those of integers): a float divided
by a power of two is multiplied by its reciprocal.

The reciprocal is exact, so that quotient and product are one real number, which both operations round alike: the bits
are equal, of subnormal results and of infinities, too. A divider is blocked for the whole of a division, while a
multiplier takes a product in every cycle.
"""

from __future__ import annotations

from dataclasses import replace
from math import frexp
from typing import Final

from polyloom.ir.pla import Constant, Equation, Program
from polyloom.targets.tcpa.machine import Machine

LEAST: Final = {"f32": 126, "f64": 1022}
"""Exponents up to which a power of two and its reciprocal are both normal numbers."""


def reduce_divisions(program: Program, machine: Machine) -> Program:
    """Strength reduction: the program with products in the place of divisions by powers of two, where the machine has
    units for both; as it is, where there are none."""
    if not any(_is_reducible(e, machine) for e in program.equations):
        return program
    return replace(
        program, equations=tuple(_reduced_equation(e) if _is_reducible(e, machine) else e for e in program.equations)
    )


def _is_reducible(equation: Equation, machine: Machine) -> bool:
    dtype = equation.dtype
    if equation.operation != "div" or dtype not in LEAST or not machine.find_units("mul", dtype):
        return False
    divisor = equation.operands[1]
    if not isinstance(divisor, Constant):
        return False
    fraction, exponent = frexp(divisor.value)
    return abs(fraction) == 0.5 and abs(exponent - 1) <= LEAST[dtype]


def _reduced_equation(equation: Equation) -> Equation:
    value, divisor = equation.operands
    assert isinstance(divisor, Constant)
    return replace(equation, operation="mul", operands=(value, replace(divisor, value=1.0 / divisor.value)))

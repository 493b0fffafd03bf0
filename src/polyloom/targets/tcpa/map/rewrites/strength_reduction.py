# SPDX-License-Identifier: Apache-2.0
"""Strength reduction of divisions (Warren 2013, "Hacker's Delight", chapter 10 has those of integers): a float divided
by a power of two is multiplied by its reciprocal, which gives the same bits (`ir.numbers.exact_reciprocal`).

A divider is blocked for the whole of a division, while a multiplier takes a product in every cycle.
"""

from __future__ import annotations

from dataclasses import replace

from polyloom.ir.numbers import exact_reciprocal
from polyloom.ir.pla import Constant, Equation, Program
from polyloom.targets.tcpa.machine import Machine


def reduce_divisions(program: Program, machine: Machine) -> Program:
    """Strength reduction: the program with products in the place of divisions by powers of two, where the machine has
    units for both; as it is, where there are none."""
    equations = tuple(_reduced_equation(e, machine) for e in program.equations)
    return program if equations == program.equations else replace(program, equations=equations)


def _reduced_equation(equation: Equation, machine: Machine) -> Equation:
    if equation.operation != "div" or not machine.find_units("mul", equation.dtype):
        return equation
    value, divisor = equation.operands
    if not isinstance(divisor, Constant) or (factor := exact_reciprocal(divisor.value, equation.dtype)) is None:
        return equation
    return replace(equation, operation="mul", operands=(value, replace(divisor, value=factor)))

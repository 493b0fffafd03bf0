# SPDX-License-Identifier: Apache-2.0
"""Selection of functions for results of 16 bits: a formula's exp, exp2, sqrt and quotients become shorter ones where
their relative error reaches the result undiminished at most, by operations without cancellation.

Those are products, quotients, roots, choices, and sums of numbers that are not negative (Higham, Accuracy and Stability
of Numerical Algorithms, 2002, section 1.7): `x / (1 + exp(-x)) * u` is one, `1 - exp(x)` is none, nor is what an
exponential is taken of. The error bound of the formula counts the functions that were selected (function_errors.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from polyloom.targets.tensix.map.loops.half.functions import HALF, HALF_FUNCTIONS, RECIPROCAL
from polyloom.targets.tensix.map.loops.lanes import ONE
from polyloom.targets.tensix.map.loops.steps import Pointwise, Source, Step

HALF_WIDTH: Final = 2
"""Bytes of an element in 16 bits."""
_SCALED: Final = ("sfpmul", "div", "sqrt", "sfpmov", "sfpabs", "minimum", "maximum")
"""Their relative error is that of their operands, added up."""
_POSITIVE: Final = ("exp", "exp2", "sqrt", "sfpabs")
_INHERITED: Final = ("sfpmul", "div", "sfpadd", "sfpmad", "minimum", "maximum")
"""Not negative where no operand is."""


def select_half_functions(p: Pointwise) -> Pointwise:
    """Formula whose result is stored in 16 bits, with the shorter functions."""
    kept = _scaled_steps(p)
    return replace(p, steps=tuple(_shorten(step) if n in kept else step for n, step in enumerate(p.steps)))


def _shorten(step: Step) -> Step:
    if step.name == "div" and step.operands[0] == ("bits", ONE):
        return replace(step, name=RECIPROCAL, operands=step.operands[1:])
    name = step.name + HALF
    return replace(step, name=name) if name in HALF_FUNCTIONS else step


def _scaled_steps(p: Pointwise) -> set[int]:
    """Steps whose relative error is at most that of the result: all of their uses are without cancellation."""
    positive, found = _positive_steps(p.steps), set[int]()
    for number in reversed(range(len(p.steps))):
        users = [user for user, step in enumerate(p.steps) if ("step", number) in step.operands]
        own: Source = ("step", number)
        if all(user in found and _scales(p.steps[user], own, positive) for user in users):
            found.add(number)
    return found


def _scales(step: Step, operand: Source, positive: set[int]) -> bool:
    if step.name == "select":
        # A comparison turns on the last bit.
        return operand not in step.operands[:2]
    if step.name in ("sfpadd", "sfpmad"):
        return all(_is_positive(source, positive) for source in step.operands)
    return step.name in _SCALED


def _positive_steps(steps: Sequence[Step]) -> set[int]:
    """Steps whose values are not negative, as far as their operations say so."""
    found = set[int]()
    for number, step in enumerate(steps):
        is_square = step.name == "sfpmul" and step.operands[0] == step.operands[1]
        inherits = step.name in _INHERITED and all(_is_positive(source, found) for source in step.operands)
        if step.name in _POSITIVE or is_square or inherits:
            found.add(number)
    return found


def _is_positive(source: Source, positive: set[int]) -> bool:
    kind, number = source
    if kind == "bits":
        return bool(np.uint32(number).view(np.float32) >= 0)
    return kind == "step" and number in positive

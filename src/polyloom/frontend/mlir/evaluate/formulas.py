# SPDX-License-Identifier: Apache-2.0
"""Functions of the dialect math by their formulas (`expanded_functions.py`), in NumPy, in the type of the operand."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from polyloom.frontend.mlir.evaluate.scalars import Binary, Unary, kernel, prefer_number, select_values
from polyloom.frontend.mlir.expanded_functions import Call, Formula

_UNARY: Final[dict[str, Unary]] = {
    "neg": lambda a: -a,
    "abs": lambda a: np.abs(a),
    **{name: kernel(name) for name in ("exp", "log", "sin", "cos")},
}
_BINARY: Final[dict[str, Binary]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "min": prefer_number(lambda a, b: a < b),
    "max": prefer_number(lambda a, b: a > b),
    "lt": lambda a, b: a < b,
    "eq": lambda a, b: a == b,
}


def evaluate_formula(formula: Formula, x: Any) -> Any:
    """The value of a formula of x."""
    if not isinstance(formula, Call):
        return x if formula is None else x.dtype.type(formula)
    operands = [evaluate_formula(operand, x) for operand in formula.operands]
    if formula.opcode == "choose":
        return select_values(operands[0], operands[1], operands[2])
    if len(operands) == 1:
        return _UNARY[formula.opcode](operands[0])
    return _BINARY[formula.opcode](operands[0], operands[1])

# SPDX-License-Identifier: Apache-2.0
"""Operator tables: the operations of `ir.operations` that Python's operators and functions stand for (Python language
reference, sections 6.5 to 6.10).
"""

from __future__ import annotations

import ast
import builtins
import math

import numpy as np

from polyloom.frontend.python import types

BINARY: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("add", "+"),
    ast.Sub: ("sub", "-"),
    ast.Mult: ("mul", "*"),
    ast.Div: ("div", "/"),
    ast.FloorDiv: ("floordiv", "//"),
    ast.Mod: ("mod", "%"),
    ast.BitAnd: ("and", "&"),
    ast.BitOr: ("or", "|"),
    ast.BitXor: ("xor", "^"),
    ast.LShift: ("shl", "<<"),
    ast.RShift: ("shr", ">>"),
}
COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}


def _library_functions(name: str) -> tuple[object, ...]:
    """The functions of a name: ours, NumPy's and Python's. Python's roundings give integers, and are none of these."""
    return getattr(types, name), getattr(np, name), getattr(math, name, None)


CALLS: dict[object, str] = {
    builtins.min: "min",
    builtins.max: "max",
    builtins.abs: "abs",
    math.fabs: "abs",
    math.sqrt: "sqrt",
    np.sqrt: "sqrt",
    types.sqrt: "sqrt",
    types.to_i32: "to_i32",
    types.round_i32: "round_i32",
    types.to_f32: "to_f32",
    types.to_f16: "to_f16",
    types.sat8: "sat8",
    types.satu8: "satu8",
    **{
        function: name for name in ("exp", "exp2", "log", "sin", "cos", "tanh") for function in _library_functions(name)
    },
    **{function: name for name in ("floor", "ceil", "trunc", "rint") for function in _library_functions(name)[:2]},
}

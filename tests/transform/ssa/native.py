# SPDX-License-Identifier: Apache-2.0
"""Functions of a C file called natively, as the oracle; and arguments for them."""

from __future__ import annotations

import ctypes
import json
import math
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from polyloom.frontend.c.clang import shared_library
from polyloom.frontend.source import Options
from polyloom.ir.ssa import Function, wrap_to_type
from polyloom.ir.ssa_interpret import Argument
from polyloom.ir.ssa_semantics import Number
from polyloom.ir.ssa_types import F32, F64, FLOATS, I1, I8, I16, I32, I64, PTR, Type

_TYPES: dict[Type, Any] = {
    I1: ctypes.c_bool,
    I8: ctypes.c_int8,
    I16: ctypes.c_int16,
    I32: ctypes.c_int32,
    I64: ctypes.c_int64,
    F32: ctypes.c_float,
    F64: ctypes.c_double,
    PTR: ctypes.c_void_p,
}
_UNSIGNED: dict[Type, Any] = {I8: ctypes.c_uint8, I16: ctypes.c_uint16}
"""The callee believes in the extension."""


@cache
def _library(path: Path, model: str) -> ctypes.CDLL:
    unit = f"#pragma GCC visibility push(default)\n#include {json.dumps(str(path))}\n#pragma GCC visibility pop\n"
    library = (
        "float fminf(float a, float b) { return a != a || b < a ? b : a; }\nfloat fmaxf(float a, float b) { "
        "return a != a || b > a ? b : a; }\n"
    )
    return ctypes.CDLL(str(shared_library(unit + library, Options(), model)))


def call(path: Path, function: Function, arguments: Sequence[Argument], model: str = "") -> Number | None:
    """The function itself; arrays are changed in place. `model` is a target whose C the file is."""
    native = _library(path, model)[function.name]
    native.restype = _TYPES[function.result] if function.result else None
    native.argtypes = [
        (_UNSIGNED if k in function.unsigned else _TYPES)[p.type] for k, p in enumerate(function.parameters)
    ]
    found = native(*(a.ctypes.data if isinstance(a, np.ndarray) else a for a in arguments))
    return int(found) if function.result == I1 else found


def same(a: Number | None, b: Number | None) -> bool:
    """NaNs are equal, and zeros have signs."""
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    return a == b


def arguments(function: Function, random: np.random.Generator) -> list[Argument]:
    """For pointers 64 bytes of small integers, which are small numbers as floats too; edge and random values for
    scalars."""
    make: dict[bool, Callable[[Type], Argument]] = {
        True: lambda type: _float(type, random),
        False: lambda type: _integer(type, random),
    }
    return [
        random.integers(-9, 9, 16).astype(np.int32) if p.type == PTR else make[p.type in FLOATS](p.type)
        for p in function.parameters
    ]


def _integer(type: Type, random: np.random.Generator) -> int:
    chosen = int(random.choice([0, 1, -1, 3, 7, 2**31 - 1, -(2**31), 100]))
    return wrap_to_type(
        type,
        chosen if random.random() < 0.5 else int(random.integers(-(2**63), 2**63 - 1)) >> int(random.integers(0, 63)),
    )


def _float(type: Type, random: np.random.Generator) -> float:
    chosen = float(random.choice([0.0, -0.0, 1.0, -1.5, math.inf, math.nan, 1e-3]))
    return chosen if random.random() < 0.4 else float(np.float32(random.normal() * 10.0 ** int(random.integers(-2, 5))))

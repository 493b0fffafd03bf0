# SPDX-License-Identifier: Apache-2.0
"""Scalar operations by NumPy, on numbers and on arrays alike (MLIR language reference, dialects arith and math). It
shares nothing with the lowering but the numbers of predicates, the axes of named operations, and the kernels of C's
functions, whose last bits only they define.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from polyloom.ir.library import evaluate, power_program
from polyloom.ir.library import program as library_program
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import ElementType
from polyloom.ir.semantics import apply

Function = Callable[..., Any]
Unary = Callable[[Any], Any]
Binary = Callable[[Any, Any], Any]
Ternary = Callable[[Any, Any, Any], Any]
UNSIGNED: Final[dict[str, Any]] = {"int8": np.uint8, "int16": np.uint16, "int32": np.uint32, "int64": np.uint64}
_ELEMENT: Final[dict[str, ElementType]] = {"float32": "f32", "float64": "f64", "int32": "i32", "int16": "i16"}


def unsigned(x: Any) -> Any:
    """The same bits without a sign; an index of Python's stays as it is."""
    return x if isinstance(x, int) else x.astype(UNSIGNED.get(str(x.dtype), x.dtype))


def convert_like(x: Any, model: Any) -> Any:
    """A result in the type of an operand."""
    return int(x) if isinstance(model, int) else np.asarray(x).astype(model.dtype)[()]


def check_divisor(b: Any) -> None:
    if np.any(np.asarray(b) == 0):
        raise ZeroDivisionError


def _wide(x: Any) -> Any:
    return np.asarray(x).astype(np.int64)


def _divide(a: Any, b: Any) -> tuple[Any, Any]:
    """Quotient towards zero, and remainder, of integers."""
    check_divisor(b)
    x, y = _wide(a), _wide(b)
    # In 64 bits, where the least i32 divided by -1 is a number; NumPy's own // rounds down.
    quotient = np.sign(x) * np.sign(y) * (np.abs(x) // np.abs(y))
    return quotient, x - quotient * y


def _unsigned_divide(a: Any, b: Any) -> tuple[Any, Any]:
    check_divisor(b)
    x, y = _wide(unsigned(a)), _wide(unsigned(b))
    return x // y, x % y


def _floor_divide(a: Any, b: Any) -> Any:
    check_divisor(b)
    return _wide(a) // _wide(b)


def select_values(test: Any, a: Any, b: Any) -> Any:
    """Selection; indices are Python's own integers."""
    if isinstance(a, int):
        return a if test else b
    found: Any = np.select([np.asarray(test)], [a], b)
    return found[()]


def _extreme(better: Binary) -> Binary:
    """Minimum or maximum that gives a NaN where there is one; of equals the second."""

    def choose(a: Any, b: Any) -> Any:
        return select_values(better(a, b) | (a != a), a, b)

    return choose


def prefer_number(better: Binary) -> Binary:
    """Minimum or maximum that gives the operand that is a number; of equals the first."""

    def choose(a: Any, b: Any) -> Any:
        return select_values((a != a) | better(b, a), b, a)

    return choose


def _table_function(name: str) -> Function:
    """An operation that rounds once."""

    def compute(*operands: Any) -> Any:
        if str(operands[0].dtype) == "float16":
            return apply(name, "f32", [o.astype(np.float32) for o in operands]).astype(np.float16)
        return apply(name, _ELEMENT[str(operands[0].dtype)], operands)

    return compute


def _round_away(x: Any) -> Any:
    """The nearest whole number, of two the one that is further from 0."""
    whole = np.trunc(x)
    # floor(x + 0.5) is wrong for the largest number below 0.5, whose sum rounds to 1.
    return convert_like(select_values(np.abs(x - whole) >= 0.5, whole + np.copysign(1, x), whole), x)


def kernel(name: str) -> Function:
    """A function of C's library, in single precision."""

    def compute(x: Any) -> Any:
        found = evaluate(library_program(name, "f32"), x.astype(np.float32))
        return found.astype(x.dtype)

    return compute


def apply_typed(name: str, dtype: ElementType, kind: Any, *operands: Any) -> Any:
    """An operation of the table in the type that it names."""
    return np.asarray(apply(name, dtype, [np.asarray(o).astype(NUMPY[dtype])[()] for o in operands])).astype(kind)[()]


def power(x: Any, exponent: Any) -> Any:
    kind = _ELEMENT.get(str(x.dtype), "f32")
    narrow = str(x.dtype) == "float16"
    found = evaluate(power_program(int(exponent), kind), x.astype(np.float32) if narrow else x)
    return found.astype(x.dtype)


def shift(x: Any, by: Any, left: bool) -> Any:
    """A shift by an amount modulo the width."""
    if isinstance(x, int):
        return x << by if left else x >> by
    # MLIR leaves larger amounts undefined (poison); machines take them modulo the width.
    amount = by & x.dtype.type(8 * x.dtype.itemsize - 1)
    return x << amount if left else x >> amount


def _bits(x: Any, kind: Any) -> Any:
    return np.asarray(x).view(kind)[()]


def saturate(x: Any, kind: Any) -> Any:
    """A float as an integer, towards zero; beyond the range its end, of a NaN 0."""
    ends = np.iinfo(kind)
    whole = np.trunc(np.nan_to_num(np.asarray(x, np.float64), nan=0.0, posinf=2.0**62, neginf=-(2.0**62)))
    return np.clip(whole, ends.min, ends.max).astype(kind)[()]


def convert(x: Any, kind: Any) -> Any:
    """A conversion to a type of NumPy's, or to an index."""
    if kind is int:
        return int(x)
    return np.asarray(x).astype(kind)[()]


BINARY: Final[dict[str, Binary]] = {
    "arith.addf": lambda a, b: a + b,
    "arith.subf": lambda a, b: a - b,
    "arith.mulf": lambda a, b: a * b,
    "arith.divf": lambda a, b: a / b,
    "arith.addi": lambda a, b: a ^ b if _is_truth(a) else a + b,
    "arith.subi": lambda a, b: a ^ b if _is_truth(a) else a - b,
    "arith.muli": lambda a, b: a & b if _is_truth(a) else a * b,
    "arith.andi": lambda a, b: a & b,
    "arith.ori": lambda a, b: a | b,
    "arith.xori": lambda a, b: a ^ b,
    "arith.divsi": lambda a, b: convert_like(_divide(a, b)[0], a),
    "arith.remsi": lambda a, b: convert_like(_divide(a, b)[1], a),
    "arith.divui": lambda a, b: convert_like(_unsigned_divide(a, b)[0], a),
    "arith.remui": lambda a, b: convert_like(_unsigned_divide(a, b)[1], a),
    "arith.floordivsi": lambda a, b: convert_like(_floor_divide(a, b), a),
    "arith.ceildivsi": lambda a, b: convert_like(-_floor_divide(-_wide(a), b), a),
    "arith.ceildivui": lambda a, b: convert_like(-_floor_divide(-_wide(unsigned(a)), unsigned(b)), a),
    "arith.minsi": lambda a, b: a | b if _is_truth(a) else convert_like(np.minimum(a, b), a),
    "arith.maxsi": lambda a, b: a & b if _is_truth(a) else convert_like(np.maximum(a, b), a),
    "arith.minui": lambda a, b: convert_like(np.minimum(unsigned(a), unsigned(b)), a),
    "arith.maxui": lambda a, b: convert_like(np.maximum(unsigned(a), unsigned(b)), a),
    "arith.shli": lambda a, b: shift(a, b, True),
    "arith.shrsi": lambda a, b: shift(a, b, False),
    "arith.shrui": lambda a, b: convert_like(shift(unsigned(a), unsigned(b), False), a),
    "arith.maximumf": _extreme(lambda a, b: a >= b),
    "arith.minimumf": _extreme(lambda a, b: a <= b),
    "arith.maxnumf": prefer_number(lambda a, b: a > b),
    "arith.minnumf": prefer_number(lambda a, b: a < b),
    "math.copysign": lambda a, b: np.copysign(a, b),
    "math.powf": power,
    "math.fpowi": power,
    "math.ipowi": power,
}


def _is_truth(x: Any) -> bool:
    return not isinstance(x, int) and str(x.dtype) == "bool"


UNARY: Final[dict[str, Unary]] = {
    "arith.negf": lambda a: -a,
    "math.absf": lambda a: np.abs(a),
    "math.absi": lambda a: np.abs(a),
    "math.sqrt": lambda a: np.sqrt(a),
    "math.rsqrt": lambda a: a.dtype.type(1) / np.sqrt(a),
    "math.ctpop": lambda a: convert_like(apply("popcount", "u32", [_wide(unsigned(a)).astype(np.uint32)]), a),
    "math.floor": np.floor,
    "math.ceil": np.ceil,
    "math.trunc": np.trunc,
    "math.roundeven": np.rint,
    "math.round": lambda a: _round_away(a),
    **{f"math.{name}": kernel(name) for name in ("exp", "exp2", "log", "sin", "cos", "tanh")},
}
TERNARY: Final[dict[str, Ternary]] = {
    "math.fma": _table_function("madd"),
    "arith.select": select_values,
}
_RELATION: Final[dict[str, Binary]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def compare_integers(predicate: str, a: Any, b: Any) -> Any:
    """arith.cmpi; an index is never negative where it has no sign, but by a wrong program."""
    if predicate[0] == "u":
        a, b = (x % (1 << 64) if isinstance(x, int) else unsigned(x) for x in (a, b))
    elif predicate[0] == "s" and _is_truth(a):
        a, b = b, a  # the one bit is the sign: true is -1
    name = predicate if predicate in ("eq", "ne") else predicate[1:]
    return np.asarray(_RELATION[name](a, b))[()]


def compare_floats(predicate: str, a: Any, b: Any) -> Any:
    """arith.cmpf."""
    nan = np.asarray((a != a) | (b != b))
    if predicate in ("false", "true"):
        return np.full(nan.shape, predicate == "true")[()]
    if predicate in ("ord", "uno"):
        return (~nan if predicate == "ord" else nan)[()]
    found = _RELATION[predicate[1:]](a, b)
    return np.asarray(found & ~nan if predicate[0] == "o" else found | nan)[()]


def bitcast(x: Any, kind: Any) -> Any:
    return _bits(x, kind)

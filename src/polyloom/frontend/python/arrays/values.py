# SPDX-License-Identifier: Apache-2.0
"""What names and expressions stand for while a function is read: `Data`, or what Python itself has.

Integers that never wrap are affine forms; other numbers, tuples, slices, types and functions are Python's objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final, TypeGuard, cast

import numpy as np

from polyloom.ir.arrays.program import Apply, Form, Read, Shape, Value, View, dtype, element_view, shape
from polyloom.ir.numbers import NUMPY, element_constant
from polyloom.ir.operations import ALL_TYPES, FLOATS, INTEGERS, ElementType
from polyloom.ir.pla import Constant
from polyloom.sets import Affine


@dataclass(frozen=True, slots=True)
class Data:
    """An array, or a number of rank 0. A `weak` one is Python's number, which takes the type of what it meets (NEP 50).

    A `wide` one is of 64 bits in NumPy, and its low 32 bits are here; `exact` says that these are the whole number.
    `is_view`: what is stored to it shows in its base.
    """

    value: Value
    weak: bool = False
    wide: bool = False
    exact: bool = False
    is_view: bool = False

    @property
    def shape(self) -> Shape:
        return shape(self.value)

    @property
    def dtype(self) -> ElementType:
        return dtype(self.value)

    @property
    def type_name(self) -> str:
        return "i64" if self.wide else self.dtype


@dataclass(frozen=True, slots=True)
class Bound:
    """A method of a value: `x.sum`."""

    owner: Any
    name: str


@dataclass(frozen=True, slots=True)
class Generator:
    """`element for name in ...` that nobody has evaluated yet: its syntax."""

    node: Any


def as_sequence(value: Any) -> tuple[Any, ...] | None:
    """The items of a tuple or a list; None of anything else."""
    if isinstance(value, tuple | list):
        return tuple(cast(Sequence[Any], value))
    return None


def as_items(value: Any) -> tuple[Any, ...]:
    """The items of a tuple or a list; anything else is one item."""
    found = as_sequence(value)
    return (value,) if found is None else found


def slice_bounds(value: Any) -> tuple[Any, Any, Any]:
    """The start, the stop and the step of a slice."""
    return value.start, value.stop, value.step


_NAMES: Final[dict[Any, ElementType]] = {NUMPY[name]: name for name in ALL_TYPES}
_INT64: Final = np.dtype(np.int64)


def is_mask(index: Any) -> TypeGuard[Data]:
    """Whether an index chooses elements by bools."""
    return isinstance(index, Data) and index.dtype == "bool"


def numpy_type(data: Data) -> np.dtype[Any]:
    """The type that NumPy has."""
    return _INT64 if data.wide else NUMPY[data.dtype]


def common_type(operands: list[Any]) -> np.dtype[Any] | None:
    """NumPy's type of an operation on operands (NEP 50); None where all of them are Python's integers."""
    strong = [numpy_type(o) for o in operands if isinstance(o, Data) and not o.weak]
    floats = any(isinstance(o, float) or (isinstance(o, Data) and o.weak and o.dtype in FLOATS) for o in operands)
    integers = any(isinstance(o, Affine) or (isinstance(o, Data) and o.weak and not o.wide) for o in operands)
    if not strong:
        if floats:
            return np.dtype(np.float64)
        return np.dtype(np.int64) if any(isinstance(o, Data) for o in operands) else None
    found = np.result_type(*strong)
    if floats and found.kind != "f":
        return np.dtype(np.float64)
    # NumPy's default integer: bools have none of their own.
    if integers and found.kind == "b":
        return _INT64
    return found


def element_name(kind: np.dtype[Any]) -> ElementType | None:
    """Our name of a type of NumPy's; None for those of 64 bits and others that no machine has."""
    return _NAMES.get(kind.newbyteorder("<") if kind.itemsize > 1 else kind)


def is_wide(kind: np.dtype[Any]) -> bool:
    return kind == _INT64


def number(value: float | bool, kind: ElementType) -> Constant | None:
    """A constant of a type; None where it has none."""
    found = element_constant(int(value) if isinstance(value, bool) else value, kind)
    return None if found is None else Constant(found, kind)


def retype_weak(value: Value, kind: ElementType) -> Value:
    """A weak number in the type that it meets: its operations are in this type."""
    match value:
        case Constant(value=found):
            made = element_constant(float(found) if kind in FLOATS else found, kind)
            return value if made is None else Constant(made, kind, value.span)
        case Form(value=form, shape=(), span=span) if form.is_constant:
            made = element_constant(float(form.constant) if kind in FLOATS else form.constant, kind)
            return Form(form, kind, (), span) if made is None else Constant(made, kind, span)
        case Form(value=form, shape=extents, span=span):
            return Form(form, kind, extents, span)
        case Apply(operation="select", operands=(test, a, b), span=span):
            return Apply("select", kind, (test, retype_weak(a, kind), retype_weak(b, kind)), span)
        case Apply(operation=operation, dtype=of, operands=operands, span=span) if (
            of == "f64" and kind in FLOATS and dtype(value) == "f64"
        ):
            return Apply(operation, kind, tuple([retype_weak(o, kind) for o in operands]), span)
        case _:
            return convert_element(value, kind)


def convert_element(value: Value, kind: ElementType) -> Value:
    """A value in another type (C's conversion)."""
    of = dtype(value)
    if of == kind:
        return value
    if isinstance(value, Apply) and value.operation == "to_bool" and value.dtype == "i32":
        return convert_element(value.operands[0], kind)  # a test, which is 0 or 1
    if isinstance(value, Form) and of == "i32":
        return retype_weak(value, kind)
    if isinstance(value, Constant) and isinstance(value.value, int) and kind in FLOATS:
        return retype_weak(value, kind)
    if isinstance(value, Constant) and kind in INTEGERS and isfinite(value.value):
        # Cut towards zero (NumPy's `astype`); what the type does not have, machines saturate.
        whole = element_constant(int(value.value), kind)
        if whole is not None:
            return Constant(whole, kind, value.span)
    return Apply(f"to_{kind}", of, (value,), value.span)


def truth(value: Value) -> Value:
    """A value as the i32 that a select decides by."""
    if isinstance(value, Apply) and value.operation == "to_bool" and value.dtype == "i32":
        return value.operands[0]
    kind = dtype(value)
    # A mask that is broadcast is a view of the test.
    if kind == "bool" and isinstance(value, View):
        return element_view(truth(value.source), value.index, value.shape, value.span)
    if kind == "bool":
        return Apply("to_i32", "bool", (value,), value.span)
    zero = Constant(0.0 if kind in FLOATS else 0, kind)
    return Apply("ne", kind, (value, zero), value.span)


def as_bool(value: Value) -> Value:
    """An i32 that is 0 or 1 as a bool."""
    return Apply("to_bool", "i32", (value,), value.span)


def is_name(value: Value) -> bool:
    """Whether a value costs nothing to read again."""
    return isinstance(value, Read | Constant | Form)

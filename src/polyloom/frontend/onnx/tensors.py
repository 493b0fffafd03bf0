# SPDX-License-Identifier: Apache-2.0
"""Tensors of a graph while it is lowered: array values of elements, or values that are known when it is compiled.

Broadcasting is that of ONNX (Broadcasting in ONNX, which is NumPy's): axes are aligned at the last one, and an extent
of 1 is repeated. A known tensor of integers may hold affine forms of sizes: the result of `Shape`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from polyloom.frontend.python.arrays.values import as_bool, convert_element, truth
from polyloom.ir.arrays.program import Apply, Cases, Form, Read, Shape, Value, View, axes, dtype, element_view, shape
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import BY_NAME, ELEMENT_TYPES, FLOATS, ElementType
from polyloom.ir.pla import Constant
from polyloom.sets import Affine, Condition, Polyhedron

Known = npt.NDArray[Any]
"""Numbers, or objects that are affine forms among integers."""
Kind = ElementType | Literal["i64"]
"""The element type that ONNX says. Values of i64 are known when a graph is compiled, or places within an array, which
machines hold as i32."""
ONE: Final = Affine((), 1)
NUMPY_KINDS: Final[dict[Kind, np.dtype[Any]]] = {**NUMPY, "i64": np.dtype("<i8")}


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor: `value` are its elements, None where they are only `known`."""

    kind: Kind
    shape: Shape
    value: Value | None = None
    known: Known | None = None

    @property
    def rank(self) -> int:
        return len(self.shape)


def data(value: Value, kind: Kind | None = None) -> Tensor:
    """The tensor of an array value."""
    return Tensor(kind or dtype(value), shape(value), value)


def known_tensor(array: Any, kind: Kind | None = None) -> Tensor:
    """A tensor that is known when the graph is compiled. Raises ValueError for elements that no machine has."""
    held = np.asarray(array)
    # Objects are affine forms of sizes.
    found = kind or ("i64" if held.dtype == object else find_kind(held.dtype))
    if found is None:
        raise ValueError(f"no machine has elements of the type {held.dtype}")
    return Tensor(found, tuple(Affine((), n) for n in held.shape), None, held)


def find_kind(dtype: np.dtype[Any]) -> Kind | None:
    """The kind of a type of NumPy's; None of one that no machine has."""
    return next((kind for kind, held in NUMPY_KINDS.items() if held == dtype), None)


_WIDENED: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("int2", "int4"), "i8"),
    **dict.fromkeys(("uint2", "uint4"), "u8"),
    **dict.fromkeys(("bfloat16", "float4_e2m1fn", "float8_e4m3fn", "float8_e4m3fnuz"), "f32"),
    **dict.fromkeys(("float8_e5m2", "float8_e5m2fnuz"), "f32"),
}
"""By NumPy's name of a type that no machine has: the kind that has each of its numbers."""


def widen_elements(array: Known) -> Tensor | None:
    """A tensor of a type that no machine has, in a kind that has its numbers; None where there is none."""
    if array.dtype == np.uint64 and (not array.size or array.max() <= np.iinfo(np.int64).max):
        return known_tensor(array.astype(np.int64))
    kind = _WIDENED.get(array.dtype.name)
    return None if kind is None else known_tensor(array.astype(NUMPY_KINDS[kind]))


def held_type(kind: Kind) -> ElementType:
    """The element type that machines hold a kind in."""
    return "i32" if kind == "i64" else kind


def extent(number: int | Affine) -> Affine:
    return number if isinstance(number, Affine) else Affine((), int(number))


def as_number(number: Any) -> int | None:
    """The integer that an affine form or a number is; None where it depends on sizes."""
    if isinstance(number, Affine):
        return number.constant if number.is_constant else None
    return int(number)


def broadcast_shape(shapes: Sequence[Shape]) -> Shape | None:
    """The shape that several are broadcast to; None where they do not agree."""
    rank = max(map(len, shapes), default=0)
    found = [ONE] * rank
    for each in shapes:
        for n, own in enumerate(each, rank - len(each)):
            # A symbolic extent is taken to be no 1: it has to agree with another one by name.
            if own == ONE:
                continue
            if found[n] not in (ONE, own):
                return None
            found[n] = own
    return tuple(found)


def spread(value: Value, extents: Shape) -> Value:
    """A value broadcast to a shape; numbers stand beside arrays as they are."""
    own = shape(value)
    if own == extents:
        return value
    first = len(extents) - len(own)
    # An axis of extent 1 is read at 0 all along: broadcasting is a view with stride 0.
    index = [Affine() if size == ONE else place for size, place in zip(own, axes(len(extents))[first:], strict=True)]
    return element_view(value, index, extents)


class UntypedOperation(Exception):
    """An operation on elements of a type that it does not have."""

    def __init__(self, operation: str, kind: ElementType) -> None:
        super().__init__(f"{operation} of {kind}")


def apply(operation: str, *operands: Value, kind: ElementType | None = None) -> Value:
    """An operation on values of one shape, or numbers. Raises `UntypedOperation`."""
    found = kind or dtype(operands[-1])
    if not BY_NAME[operation].accepts_type(found):
        raise UntypedOperation(operation, found)
    return Apply(operation, found, operands)


def constant(number: float, kind: ElementType) -> Constant:
    """A number as an element, rounded or cut as NumPy does it."""
    return Constant(NUMPY[kind].type(number).item(), kind)


def convert(value: Value, kind: ElementType) -> Value:
    return convert_element(value, kind)


def select(test: Value, first: Value, second: Value) -> Value:
    """`first` where a test, a bool, holds, else `second`."""
    return Apply("select", dtype(first), (truth(test), first, second))


def compare(relation: str, first: Value, second: Value) -> Value:
    return as_bool(Apply(relation, dtype(first), (first, second)))


def larger(first: Value, second: Value, name: str = "max") -> Value:
    """The larger of two, or the smaller (`min`), a NaN where one is one (IEEE 754-2019, maximum)."""
    kind = dtype(first)
    if kind not in FLOATS:
        return Apply(name, kind, (first, second))
    if isinstance(first, Constant) and not isinstance(second, Constant):
        first, second = second, first
    # Tables' min and max prefer the operand that is a number (minNum); ONNX follows NumPy, where a NaN wins.
    relation = "lt" if name == "max" else "gt"
    if isinstance(second, Constant) and second.value == second.value:
        # One comparison does: a NaN is not less than the number, and stays.
        return select(compare(relation, first, second), second, first)
    # The second one also wins where it is a NaN; the first one then decides for itself, as the outer selection.
    loses = Apply("or", "i32", (Apply(relation, kind, (first, second)), Apply("ne", kind, (second, second))))
    stays = Apply("ne", kind, (first, first))
    return Apply("select", kind, (stays, first, Apply("select", kind, (loses, second, first))))


def piecewise_value(forms: Sequence[Affine], inside: Value, outside: Value, extents: Shape) -> Value:
    """`inside` where all forms of axes are at least 0, `outside` elsewhere."""
    if not forms:
        return inside
    return Cases(Condition((Polyhedron(tuple(forms)),)), inside, outside, extents)


def uniform_constant(value: Value) -> Constant | None:
    """The number that all elements of a value are."""
    # A view of a number repeats it, whatever its index is.
    while isinstance(value, View):
        value = value.source
    return value if isinstance(value, Constant) else None


def is_free(value: Value) -> bool:
    """Whether reading a value again costs nothing: views of arrays, numbers, forms."""
    return isinstance(value, Read | Constant | Form) or (isinstance(value, View) and is_free(value.source))


def has_machine_type(kind: Kind | None) -> bool:
    """Whether machines have elements of a type."""
    return kind in (*ELEMENT_TYPES, "f16")

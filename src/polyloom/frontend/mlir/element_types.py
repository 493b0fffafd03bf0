# SPDX-License-Identifier: Apache-2.0
"""Types of MLIR as element types and shapes. An integer has no sign of its own: it is read as signed, and operations
that are not convert (MLIR language reference, builtin types).
"""

from __future__ import annotations

from typing import Any, Final

from xdsl.dialects import builtin
from xdsl.utils.hints import isa

from polyloom.ir.operations import ElementType

_INTEGERS: Final[dict[int, ElementType]] = {1: "bool", 8: "i8", 16: "i16", 32: "i32"}
_FLOATS: Final[dict[Any, ElementType]] = {
    builtin.Float16Type: "f16",
    builtin.Float32Type: "f32",
    builtin.Float64Type: "f64",
}
UNSIGNED_OF: Final[dict[ElementType, ElementType]] = {"i8": "u8", "i16": "u16", "i32": "u32", "bool": "bool"}
SIGNED_OF: Final[dict[ElementType, ElementType]] = {"u8": "i8", "u16": "i16", "u32": "i32"}
DYNAMIC: Final = builtin.DYNAMIC_INDEX


def is_kind(kind: object, of: Any) -> bool:
    """Whether a type or an attribute is of a class: types of xDSL have parameters, of which nothing is asked here."""
    return isinstance(kind, of)


def integer_width(kind: Any) -> int:
    """Bits of an integer type; 0 of others."""
    return int(kind.width.data) if is_kind(kind, builtin.IntegerType) else 0


def element_type(kind: Any) -> ElementType | None:
    """The element type that data of an MLIR type have; None for what no operation has."""
    if is_kind(kind, builtin.IndexType):
        return "i32"
    if is_kind(kind, builtin.IntegerType):
        found = _INTEGERS.get(integer_width(kind))
        is_unsigned = kind.signedness.data == builtin.Signedness.UNSIGNED
        return UNSIGNED_OF[found] if is_unsigned and found is not None else found
    return next((name for of, name in _FLOATS.items() if is_kind(kind, of)), None)


def is_array_type(kind: Any) -> bool:
    return is_kind(kind, builtin.MemRefType | builtin.TensorType)


def scalar_type(kind: Any) -> Any:
    """The type of one element of what is computed element by element."""
    return kind.element_type if is_array_type(kind) else kind


def is_integer(kind: Any) -> bool:
    """Whether a value may count: an index, or an integer wider than a truth value."""
    return is_kind(kind, builtin.IndexType) or integer_width(kind) > 1


def is_truth(kind: Any) -> bool:
    return integer_width(kind) == 1


def layout_obstacle(kind: Any) -> str | None:
    """Why the layout of a memref is none that is read; None for rows, strides and permutations of axes, which only say
    where elements are in memory."""
    layout = getattr(kind, "layout", None)
    if layout is None or isa(layout, builtin.NoneAttr) or isa(layout, builtin.StridedLayoutAttr):
        return None
    found = layout.data if is_kind(layout, builtin.AffineMapAttr) else None
    if found is None:
        return f"the layout {layout}"
    return None if found.num_dims == len(kind.get_shape()) else f"the layout {found}"

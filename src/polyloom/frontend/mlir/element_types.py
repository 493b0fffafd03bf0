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
UNSIGNED_OF: Final[dict[ElementType, ElementType]] = {"i8": "u8", "i16": "u16", "i32": "u32", "bool": "bool"}
SIGNED_OF: Final[dict[ElementType, ElementType]] = {"u8": "i8", "u16": "i16", "u32": "i32"}
DYNAMIC: Final = builtin.DYNAMIC_INDEX


def element_type(kind: Any) -> ElementType | None:
    """The element type that data of an MLIR type have; None for what no operation has."""
    match kind:
        case builtin.Float16Type():
            return "f16"
        case builtin.Float32Type():
            return "f32"
        case builtin.Float64Type():
            return "f64"
        case builtin.IndexType():
            return "i32"
        case builtin.IntegerType():
            found = _INTEGERS.get(kind.width.data)
            if kind.signedness.data == builtin.Signedness.UNSIGNED and found is not None:
                return UNSIGNED_OF[found]
            return found
        case _:
            return None


def is_shaped(kind: Any) -> bool:
    return isinstance(kind, builtin.MemRefType | builtin.TensorType)


def scalar_type(kind: Any) -> Any:
    """The type of one element of what is computed element by element."""
    return kind.element_type if is_shaped(kind) else kind


def is_integer(kind: Any) -> bool:
    """Whether a value may count: an index, or an integer wider than a truth value."""
    return isinstance(kind, builtin.IndexType) or (isinstance(kind, builtin.IntegerType) and kind.width.data > 1)


def is_truth(kind: Any) -> bool:
    return isinstance(kind, builtin.IntegerType) and kind.width.data == 1


def layout_obstacle(kind: Any) -> str | None:
    """Why the layout of a memref is none that is read; None for rows, strides and permutations of axes, which only say
    where elements are in memory."""
    layout = getattr(kind, "layout", None)
    if layout is None or isa(layout, builtin.NoneAttr) or isa(layout, builtin.StridedLayoutAttr):
        return None
    found = layout.data if isinstance(layout, builtin.AffineMapAttr) else None
    if found is None:
        return f"the layout {layout}"
    return None if found.num_dims == len(kind.get_shape()) else f"the layout {found}"

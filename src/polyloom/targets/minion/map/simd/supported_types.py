# SPDX-License-Identifier: Apache-2.0
"""Types and operations of the vector unit: lanes of 32 bits, in which narrower integers are kept extended, and halves
only to load, store and convert. A nest that needs more is refused by name before code is made of it.
"""

from __future__ import annotations

from typing import Final

from polyloom.diagnostics import PolyloomError, Span, input_error
from polyloom.ir.nest import Apply, Nest, statements, subexpressions
from polyloom.ir.operations import ElementType

_INTEGERS: Final = ("i8", "i16", "i32", "u8", "u16")
_STORED: Final = ("f32", "f16", *_INTEGERS)
_OF_SINGLES: Final = ("round_i32", "to_f16", "bits_i32", *(f"to_{dtype}" for dtype in _INTEGERS))
_OF_HALVES: Final = ("to_f32", "move", "select")
_HELP: Final = "use i8, i16, i32, u8, u16, bool and f32, and f16 for what is stored; or run it on tcpa, which has this"


def check_types(nest: Nest) -> None:
    """Errors: PL1353 for the first element or operation that a minion's vectors lack."""
    for storage in nest.storage:
        if storage.dtype not in _STORED:
            raise _unsupported_error(f"elements of {storage.dtype}, which `{storage.name}` has", storage.span)
    for statement in statements(nest):
        for value in subexpressions(statement.assign.value):
            if isinstance(value, Apply) and not _supports(value.operation, value.dtype):
                raise _unsupported_error(f"{value.operation} on {value.dtype}", value.span)


def _supports(operation: str, dtype: ElementType) -> bool:
    """Whether the vector unit has an operation on a type."""
    if dtype == "f16":
        return operation in _OF_HALVES
    if dtype == "f32":
        return operation in _OF_SINGLES or not operation.startswith("to_")
    if dtype not in _INTEGERS:
        return False
    return not operation.startswith("to_") or operation in ("to_f32", *(f"to_{of}" for of in _INTEGERS))


def _unsupported_error(what: str, span: Span | None) -> PolyloomError:
    return input_error("PL1353", f"the vectors of a minion do not have {what}", span=span, help=_HELP)

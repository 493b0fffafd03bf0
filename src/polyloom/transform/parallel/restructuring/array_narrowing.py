# SPDX-License-Identifier: Apache-2.0
"""Bit-width narrowing of arrays (Stephenson, Babb and Amarasinghe, "Bitwidth analysis with application to silicon
compilation", 2000): a local array of words that holds widened bytes, and is a factor of products alone, holds bytes.

    t[i, k] = to_i32(to_i8(x[i, k]));  ... s += t[i, k] * to_i32(w[k, j])
    becomes  t[i, k] = to_i8(x[i, k]);  ... s += to_i32(t[i, k]) * to_i32(w[k, j])

Whole arrays are written so: a conversion of a factor, as in `np.matmul(a.astype(np.int32), ...)`, is fused with what
computes the factor. Matrix units multiply bytes, and widen the products themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from polyloom.ir.nest import Apply, Assign, Expression, Nest, Storage, assignments
from polyloom.ir.nest_rewrite import Rewriter
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Reference

_WIDEN: Final = "to_i32"
_BYTES: Final = ("i8", "u8")


def narrow_arrays(nest: Nest) -> Nest:
    """Nest whose local arrays of widened bytes, which only products read, have elements of bytes."""
    found = dict[str, ElementType]()
    for each in nest.storage:
        dtype = _stored_bytes(nest, each)
        if dtype is not None:
            found[each.name] = dtype
    if not found:
        return nest
    storage = tuple(replace(s, dtype=found.get(s.name, s.dtype)) for s in nest.storage)
    return replace(nest, storage=storage, body=_Narrowing(found).nodes(nest.body))


def _stored_bytes(nest: Nest, storage: Storage) -> ElementType | None:
    """Type of the bytes that an array of words holds; None where it holds others, or is read by more than products."""
    if storage.role != "local" or not storage.shape or storage.dtype != "i32":
        return None
    statements = tuple(assignments(nest.body))
    written: set[ElementType | None] = {
        _widened_type(each.value) for each in statements if each.target.name == storage.name
    }
    reads = (read for each in statements for read in _reads(each.value))
    # Loops gain nothing from bytes: their vectors load words only.
    is_factor = all(multiplied for read, multiplied in reads if read.name == storage.name)
    return written.pop() if len(written) == 1 and is_factor else None


def _widened_type(value: Expression) -> ElementType | None:
    """Type of the bytes that a value is the conversion of; None for another value."""
    if isinstance(value, Apply) and value.operation == _WIDEN and value.dtype in _BYTES:
        return value.dtype
    return None


def _reads(value: Expression, *, is_factor: bool = False) -> Iterator[tuple[Reference, bool]]:
    """Elements that an expression reads, each with whether it is a factor."""
    if isinstance(value, Reference):
        yield value, is_factor
    elif isinstance(value, Apply):
        for number, operand in enumerate(value.operands):
            # The third operand of a multiply-add is what is added to.
            multiplied = value.operation == "mul" or (value.operation == "madd" and number < 2)
            yield from _reads(operand, is_factor=multiplied)


class _Narrowing(Rewriter):
    """Rewriter that stores what was widened, and widens what is loaded."""

    def __init__(self, types: Mapping[str, ElementType]) -> None:
        self.types = types

    def assignment(self, node: Assign) -> Assign:
        made = super().assignment(node)
        if node.target.name not in self.types:
            return made
        assert isinstance(made.value, Apply), "what is stored was found to be a conversion"
        return replace(made, value=made.value.operands[0])

    def value(self, value: Expression) -> Expression:
        if isinstance(value, Reference) and value.name in self.types:
            return Apply(_WIDEN, self.types[value.name], (self.reference(value),), value.span)
        return super().value(value)

# SPDX-License-Identifier: Apache-2.0
"""Whether a nest has a sum of products, of which a reader may expect that the tensor unit computes it."""

from __future__ import annotations

from polyloom.ir.nest import Apply, Expression, Nest, accesses, statements
from polyloom.ir.pla import Reference


def multiplies(nest: Nest) -> bool:
    """Whether a statement adds a product of two elements to the one that it writes, along one of its loops."""
    return any(
        any(_is(s.assign.target, read) for read in accesses(s.assign.value))
        and len({name for index in s.assign.target.index for name in index.symbols} & {*s.loops}) < len(s.loops)
        and _has_product(s.assign.value)
        for s in statements(nest)
    )


def _is(target: Reference, read: Reference) -> bool:
    return (target.name, target.index) == (read.name, read.index)


def _has_product(value: Expression) -> bool:
    if not isinstance(value, Apply):
        return False
    arrays = [o for o in value.operands[:2] if any(each.index for each in accesses(o))]
    if value.operation in ("mul", "madd") and len(arrays) == 2:
        return True
    return any(map(_has_product, value.operands))

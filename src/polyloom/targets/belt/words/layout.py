# SPDX-License-Identifier: Apache-2.0
"""Static data layout: named data one after another from `BASE` on, each aligned, with a gap that no access may
reach."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from polyloom.diagnostics import infeasible
from polyloom.ir.ssa import Data

# Not 0, so that a null pointer, and small numbers taken for one, hit nothing.
BASE: Final = 1 << 16
GAP: Final = 64
"""Bytes between data at least, and the least alignment."""
ARGUMENT_BYTES: Final = 8
"""Bytes of an argument in the argument block: the widest scalar of C has as many."""
# The lower half of the 32-bit address space: the arrays of a caller lie behind the named data.
_END: Final = 1 << 31


def data_addresses(data: Iterable[Data]) -> dict[str, int]:
    """Address of the first byte of each datum; error PL1003."""
    found: dict[str, int] = {}
    free = BASE
    for datum in data:
        align = max(datum.align, GAP)
        found[datum.name] = -(-free // align) * align
        free = found[datum.name] + len(datum.initial) + GAP
    if free > _END:
        raise infeasible("PL1003", f"the named data have {free - BASE} bytes", help="make the arrays smaller")
    return found

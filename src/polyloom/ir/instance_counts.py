# SPDX-License-Identifier: Apache-2.0
"""How many operations a nest executes: instances of its statements, counted by their bounds without visiting them where
the innermost loop is concerned.

Loops are unfolded from outside, all iterations together as NumPy arrays; of the innermost only the length counts.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.ir.nest import Apply, Expression, Nest, Statement, statements
from polyloom.sets import Affine, Polyhedron

Array = NDArray[np.int64]
_MOST: Final = 1 << 21
"""Iterations of all loops but the innermost that are unfolded."""


def operations(nest: Nest) -> int | None:
    """Those of the source on floats and integers, a multiply-add counted once; None where counting takes long."""
    total = 0
    for statement in statements(nest):
        each = _of(statement.assign.value)
        count = _instances(statement) if each else 0
        if count is None:
            return None
        total += each * count
    return total


def _of(value: Expression) -> int:
    if not isinstance(value, Apply):
        return 0
    return (value.operation not in ("move", "select")) + sum(map(_of, value.operands))


def _instances(statement: Statement) -> int | None:
    """The pieces of a domain do not overlap."""
    counts = [_points(piece, statement.loops) for piece in statement.domain.pieces]
    return None if None in counts else sum(c for c in counts if c is not None)


def _points(piece: Polyhedron, loops: tuple[str, ...]) -> int | None:
    known: dict[str, Any] = {}
    count = 1
    for n, loop in enumerate(loops):
        inside = {*loops[: n + 1]}
        bounds = [c for c in piece.constraints if c.coefficient(loop) and c.symbols <= inside]
        low = _extreme([_bound(c, loop, known, count) for c in bounds if c.coefficient(loop) > 0], np.maximum)
        high = _extreme([_bound(c, loop, known, count) for c in bounds if c.coefficient(loop) < 0], np.minimum)
        lengths = np.maximum(high - low + 1, 0)
        total = int(lengths.sum())
        if n == len(loops) - 1:
            return total
        if total > _MOST:
            return None
        which = np.repeat(np.arange(count), lengths)
        first = np.repeat(np.cumsum(lengths) - lengths, lengths)
        known = {name: values[which] for name, values in known.items()}
        known[loop], count = low[which] + np.arange(total) - first, total
    return count


def _bound(constraint: Affine, loop: str, known: dict[str, Any], count: int) -> Array:
    """The least or the greatest value of the loop that a constraint allows."""
    factor = constraint.coefficient(loop)
    rest = np.full(count, constraint.constant, np.int64)
    for name, c in constraint.terms:
        if name != loop:
            rest = rest + c * known[name]
    return -(rest // factor) if factor > 0 else rest // -factor


def _extreme(bounds: list[Array], choose: Any) -> Array:
    made = bounds[0]
    for each in bounds[1:]:
        made = choose(made, each)
    return made

# SPDX-License-Identifier: Apache-2.0
"""Instance counts: how often statements of a nest without parameters execute, by the bounds of their loops.

Loops whose counter no bound or condition inside looks at are multiplied; others are unfolded from outside, all
iterations together as NumPy arrays, of which only the length counts for the innermost (a piecewise evaluation of what
Barvinok's counting gives in closed form: Verdoolaege et al., "Counting integer points in parametric polytopes", 2007).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.ir.nest import Apply, Expression, Nest, Statement, statements
from polyloom.sets import Affine, Polyhedron

Array = NDArray[np.int64]
_MOST: Final = 1 << 21
"""Iterations of loops that are unfolded."""


def count_operations(nest: Nest, most: int = _MOST) -> int | None:
    """Operation count of the source on floats and integers, a multiply-add counted once; None where counting takes
    long.
    """
    total = 0
    for statement in statements(nest):
        each = _count_value_operations(statement.assign.value)
        count = count_instances(statement, {}, most) if each else 0
        if count is None:
            return None
        total += each * count
    return total


def _count_value_operations(value: Expression) -> int:
    if not isinstance(value, Apply):
        return 0
    # Moves and selections compute nothing: their cost is the machine's affair.
    return (value.operation not in ("move", "select")) + sum(map(_count_value_operations, value.operands))


def count_instances(statement: Statement, values: Mapping[str, int], most: int | None = None) -> int | None:
    """Instance count of a statement for values of parameters; the pieces of a domain do not overlap. None where more
    than `most` iterations would be unfolded. Errors: KeyError for a bound or a condition that data decide.
    """
    sizes = {name: Affine((), value) for name, value in values.items()}
    counts = [_count_points(piece.substitute(sizes), statement.loops, most) for piece in statement.domain.pieces]
    return None if None in counts else sum(count or 0 for count in counts)


def _count_points(piece: Polyhedron, loops: tuple[str, ...], most: int | None) -> int | None:
    for constraint in piece.constraints:
        # Parameters are substituted: what remains besides loops is data.
        if unknown := constraint.symbols.difference(loops):
            raise KeyError(min(unknown))
    if any(c.is_constant and c.constant < 0 for c in piece.constraints):
        return 0
    known: dict[str, Any] = {}
    # So many iterations of loops outside have the values that `known` has at a place.
    # Python integers: products of loop lengths pass 64 bits.
    times: Any = np.ones(1, object)
    for n, loop in enumerate(loops):
        inside = {*loops[: n + 1]}
        bounds = [c for c in piece.constraints if c.coefficient(loop) and c.symbols <= inside]
        low = _fold_bounds(
            [_loop_bound(c, loop, known, len(times)) for c in bounds if c.coefficient(loop) > 0], np.maximum
        )
        high = _fold_bounds(
            [_loop_bound(c, loop, known, len(times)) for c in bounds if c.coefficient(loop) < 0], np.minimum
        )
        lengths = np.maximum(high - low + 1, 0)
        if not any(c.coefficient(loop) for c in piece.constraints if not c.symbols <= inside):
            # Nothing further in looks at this counter: its iterations need not be told apart.
            times = times * lengths
            continue
        total = int(lengths.sum())
        # A bound on memory as well as on time.
        if most is not None and total > most:
            return None
        # Unfolding: one row per iteration of this loop; `which` is the row outside that it belongs to.
        which = np.repeat(np.arange(len(times)), lengths)
        first = np.repeat(np.cumsum(lengths) - lengths, lengths)
        known = {name: values[which] for name, values in known.items()}
        known[loop], times = low[which] + np.arange(total) - first, times[which]
    return int(times.sum())


def _loop_bound(constraint: Affine, loop: str, known: dict[str, Any], count: int) -> Array:
    """The least or the greatest value of the loop that a constraint allows."""
    factor = constraint.coefficient(loop)
    rest = np.full(count, constraint.constant, np.int64)
    for name, c in constraint.terms:
        if name != loop:
            rest = rest + c * known[name]
    # c*x + rest >= 0: x >= ceil(-rest / c) for c > 0, x <= floor(rest / -c) for c < 0.
    return -(rest // factor) if factor > 0 else rest // -factor


def _fold_bounds(bounds: list[Array], choose: Any) -> Array:
    made = bounds[0]
    for each in bounds[1:]:
        made = choose(made, each)
    return made

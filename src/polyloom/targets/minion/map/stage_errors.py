# SPDX-License-Identifier: Apache-2.0
"""Running error analysis of formulas (Higham 2002, chapter 3): by how much elements may be off whose operands are off.

Each operation passes on the errors of its operands, and rounds once, or loses less than the least normal number.
Products and sums that are fused round less often. Operations that are not continuous have no bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.ir.formula import Apply, Leaf, Number, Term, leaves
from polyloom.ir.operations import ElementType
from polyloom.ir.stage import Formula

Array = NDArray[Any]
Known = tuple[Array, Array]
"""Values in double precision, and the bounds of their errors."""
# Twice the unit roundoff of 2^-24, so that the bound of a bound in double precision is on the safe side.
_ROUNDED: Final = 2.0**-23
# Results below the least normal number are flushed to zero (manual, chapters 3 to 6).
_LEAST: Final = 2.0**-126
_OPERATIONS: Final = frozenset(("add", "sub", "mul", "madd", "neg", "abs", "min", "max", "to_f32"))


def has_bounds(term: Term, types: Mapping[str, ElementType]) -> bool:
    """Whether a formula has an error bound. Integers have no errors; of floats, all operations have to be
    continuous.
    """
    if all(types[leaf.array] not in ("f32", "f16") for leaf in leaves(term)):
        return True
    if not isinstance(term, Apply):
        return True
    return term.operation in _OPERATIONS and all(has_bounds(o, types) for o in term.operands)


def bounds(
    stage: Formula,
    dtype: ElementType,
    values: Mapping[str, int],
    read: Mapping[str, Array],
    errors: Mapping[str, Array],
    shape: tuple[int, ...],
) -> Array:
    """Error bounds of all elements of the result, which has this shape; `values` are those of the parameters."""
    if dtype not in ("f32", "f16"):
        return np.zeros(shape)
    grid = {**values, **dict(zip(stage.dims, np.ogrid[tuple(slice(n) for n in shape)], strict=True))}
    with np.errstate(all="ignore"):
        found = _evaluate_error(stage.term, grid, read, errors)[1]
    return np.array(np.broadcast_to(found, shape))


def _evaluate_error(
    term: Term, grid: Mapping[str, Any], read: Mapping[str, Array], errors: Mapping[str, Array]
) -> Known:
    """Values of a term in double precision with their error bounds, on a grid of all points."""
    if isinstance(term, Leaf):
        at = tuple(sum((c * grid[n] for n, c in i.terms), np.asarray(i.constant)) for i in term.index)
        value = read[term.array].astype(np.float64)[at]
        error = errors.get(term.array)
        return value, np.zeros_like(value) if error is None else error[at]
    if isinstance(term, Number):
        return np.asarray(float(term.value)), np.zeros(())
    assert isinstance(term, Apply), "stages are without sums"
    value, error = _propagate_error(term.operation, [_evaluate_error(o, grid, read, errors) for o in term.operands])
    return value, error + _ROUNDED * (np.abs(value) + error) + _LEAST


def _propagate_error(operation: str, operands: Sequence[Known]) -> Known:
    """First-order and second-order error of an operation, without its own rounding."""
    (a, of_a), (b, of_b), *rest = (*operands, operands[0])
    match operation:
        case "add":
            return a + b, of_a + of_b
        case "sub":
            return a - b, of_a + of_b
        case "mul":
            return a * b, np.abs(a) * of_b + np.abs(b) * of_a + of_a * of_b
        case "madd":
            value, error = _propagate_error("mul", operands[:2])
            return value + rest[0][0], error + rest[0][1]
        case "min" | "max":
            return (np.minimum if operation == "min" else np.maximum)(a, b), np.maximum(of_a, of_b)
        case "neg":
            return -a, of_a
        case "abs":
            return np.abs(a), of_a
        case _:
            return a, of_a

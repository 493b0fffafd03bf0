# SPDX-License-Identifier: Apache-2.0
"""Batched matrix products in loop nests (batched gemm: Dongarra et al. 2017): which loops around
`C[..] += A[..] * B[..]` are rows, columns, depth, and instances of the batch, and where each instance lies in its
arrays.

    for h: for i: for j: { S[h, i, j] = 0; for k: S[h, i, j] += Q[i, 32 h + k] * K[j, 32 h + k] }

A factor is a part of an array, whose elements are at affine places. So are products of slices and of heads, which no
contraction of whole arrays is (`analysis.contraction`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.diagnostics import Span
from polyloom.ir.nest import Apply, Assign, Expression, Loop, Node, cell, subscript_symbols
from polyloom.ir.pla import Constant, Reference
from polyloom.sets import Affine

_WIDER: Final = ("to_i32", "to_f32")


@dataclass(frozen=True, slots=True)
class StridedProduct:
    """`result` = sum over `depth` of `left` * `right`, from 0 on, for all rows and columns, and for all iterations of
    the loops of the `batch`. No bound depends on another loop, and bounds of the batch are numbers. `widened`: the
    conversion of both factors.
    """

    batch: tuple[Loop, ...]
    row: Loop
    column: Loop
    depth: Loop
    left: Reference
    right: Reference
    result: Reference
    widened: str = ""
    span: Span | None = None

    @property
    def instances(self) -> int:
        """Number of products."""
        return prod(loop.upper[0].constant - loop.lower[0].constant for loop in self.batch)

    def batch_points(self) -> Iterator[dict[str, int]]:
        """Values of the loops of the batch, one instance after another."""
        ranges = [range(loop.lower[0].constant, loop.upper[0].constant) for loop in self.batch]
        return (dict(zip((loop.name for loop in self.batch), at, strict=True)) for at in product(*ranges))


@dataclass(frozen=True, slots=True)
class Axis:
    """Loop as the rows or columns of a matrix: its name and the values of the iteration."""

    name: str
    values: range


def loop_axis(loop: Loop, values: Mapping[str, int]) -> Axis:
    """Axis of a loop for values of the parameters."""
    return Axis(loop.name, range(loop.lower[0].evaluate(values), loop.upper[0].evaluate(values)))


def part_index(reference: Reference, rows: Axis, columns: Axis, values: Mapping[str, int]) -> tuple[NDArray[Any], ...]:
    """Index arrays [row, column] of the part of an array that a reference names, one per dimension."""
    grid = {**values, rows.name: np.array(rows.values)[:, None], columns.name: np.array(columns.values)[None, :]}
    shape = len(rows.values), len(columns.values)

    def place(form: Affine) -> NDArray[Any]:
        total: Any = form.constant
        for name, coefficient in form.terms:
            total = total + coefficient * grid[name]
        return np.broadcast_to(np.asarray(total), shape)

    return tuple(map(place, reference.index))


def match_product(node: Node) -> StridedProduct | None:
    """Product of perfectly nested loops whose body is an element's 0 and the sum of products in it; None for another
    nest.
    """
    loops, body = enclosing_loops(node)
    found = None if len(body) != 2 else match_sum(body[0], body[1])
    if found is None:
        return None
    assign, depth, left, right, widened = found
    return _classify(loops, assign.target, depth, left, right, widened, assign.span)


def enclosing_loops(node: Node) -> tuple[tuple[Loop, ...], tuple[Node, ...]]:
    """Loops around a body, as long as each has one statement, which is a loop; and that body."""
    loops, body = list[Loop](), (node,)
    while len(body) == 1 and isinstance(body[0], Loop):
        loops.append(body[0])
        body = body[0].body
    return tuple(loops), body


def match_sum(begin: Node, loop: Node) -> tuple[Assign, Loop, Reference, Reference, str] | None:
    """Sum of products of two elements: `x = 0` and the loop that adds to `x`. Gives its assignment, the loop, the
    factors and their conversion.
    """
    if not isinstance(begin, Assign) or not isinstance(loop, Loop) or len(loop.body) != 1:
        return None
    (assign,) = loop.body
    if not isinstance(assign, Assign) or cell(assign.target) != cell(begin.target) or not _is_zero(begin.value):
        return None
    if any(loop.name in form.symbols for form in assign.target.index):
        return None
    factors = _added_factors(assign)
    return None if factors is None else (assign, loop, *factors)


def _is_zero(value: Expression) -> bool:
    # -0 is another beginning: sums that begin with it may end as -0.
    return isinstance(value, Constant) and str(float(value.value)) == "0.0"


def _added_factors(assign: Assign) -> tuple[Reference, Reference, str] | None:
    """Factors of what an assignment adds to its target, and their conversion."""
    match assign.value:
        case Apply(operation="add", operands=(one, other)):
            both = (other, one) if isinstance(one, Apply) else (one, other)
            if not isinstance(both[1], Apply) or both[1].operation != "mul":
                return None
            total, (left, right) = both[0], both[1].operands
        case Apply(operation="madd", operands=(left, right, total)):
            pass
        case _:
            return None
    if not isinstance(total, Reference) or cell(total) != cell(assign.target):
        return None
    return _narrow_factors(left, right)


def _narrow_factors(left: Expression, right: Expression) -> tuple[Reference, Reference, str] | None:
    widened = ""
    if isinstance(left, Apply) and isinstance(right, Apply) and left.operation == right.operation in _WIDER:
        widened, left, right = left.operation, left.operands[0], right.operands[0]
    if isinstance(left, Reference) and isinstance(right, Reference) and left.index and right.index:
        return left, right, widened
    return None


def _classify(
    loops: tuple[Loop, ...], result: Reference, depth: Loop, one: Reference, other: Reference, widened: str,
    span: Span | None,
) -> StridedProduct | None:  # fmt: skip
    """Loops by the references that mention them: rows by one factor and the result, columns by the other and the
    result, instances by all three or by all but one.
    """
    if not _is_box((*loops, depth)) or not all(depth.name in subscript_symbols(factor) for factor in (one, other)):
        return None
    mentioned = [frozenset(name for name in subscript_symbols(each)) for each in (one, other, result)]
    if any(loop.name not in mentioned[2] for loop in loops) or result.name in (one.name, other.name):
        return None
    # The last loop that only one factor has is the columns: neighbouring elements of the result.
    free = [loop for loop in loops if (loop.name in mentioned[0]) != (loop.name in mentioned[1])]
    if not free:
        return None
    column = free[-1]
    left, right = (one, other) if column.name in mentioned[1] else (other, one)
    rows = [loop for loop in free if loop.name in subscript_symbols(left)]
    if not rows:
        return None
    batch = tuple(loop for loop in loops if loop not in (rows[-1], column))
    if any(not loop.lower[0].is_constant or not loop.upper[0].is_constant for loop in batch):
        return None
    return StridedProduct(batch, rows[-1], column, depth, left, right, result, widened, span)


def _is_box(loops: tuple[Loop, ...]) -> bool:
    """Whether loops count upwards between one lower and one upper bound each, which no other loop changes."""
    names = {loop.name for loop in loops}
    forms = [form for loop in loops for form in (*loop.lower, *loop.upper)]
    single = all(len(loop.lower) == len(loop.upper) == loop.step == 1 for loop in loops)
    return single and all(not form.symbols & names for form in forms)

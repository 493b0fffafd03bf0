# SPDX-License-Identifier: Apache-2.0
"""What stages compute, in NumPy: bit by bit, and in numbers with the error that each may have.

The error of an array is a bound for three distances: from what the tile has to what the program has, and from both to
the exact value. So a product of factors A and B with errors a and b misses the program's by what a product of |A| + a
and |B| + b may miss, and by (|A| + a) b + a (|B| + b) from its factors; a formula goes on with its arrays' errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyloom.analysis.contraction import Matrix
from polyloom.frontend.source import Arrays
from polyloom.targets.tensix.loops import arithmetic
from polyloom.targets.tensix.loops.bound import bound
from polyloom.targets.tensix.loops.compile import Arithmetic
from polyloom.targets.tensix.loops.element_form import computed, given, missed
from polyloom.targets.tensix.loops.elements import Elements
from polyloom.targets.tensix.loops.formats import FORMATS, narrow
from polyloom.targets.tensix.loops.layout import Placed
from polyloom.targets.tensix.loops.run import datums
from polyloom.targets.tensix.loops.spread import spread
from polyloom.targets.tensix.loops.stages.arrange import Arranged, Product
from polyloom.targets.tensix.loops.stages.arrange import Elements as Applied
from polyloom.targets.tensix.loops.stages.compile import Content
from polyloom.targets.tensix.loops.stages.layout import elements_of, shapes_of, sum_of
from polyloom.targets.tensix.loops.vector import ADDING, Error, unbounded

Array = NDArray[Any]
_SINGLE = 2.0**-24
"""A rounding of the program."""
Shapes = Mapping[str, tuple[int, ...]]


def bits(content: Content, values: Mapping[str, int], inputs: Arrays) -> dict[str, Array]:
    """The datums of what each stage makes, by name. Errors: PL1234, PL1237."""
    shapes, made = shapes_of(content.stages, values), dict[str, Array]()
    for each in content.arranged:
        if isinstance(each, Product):
            made[each.stage.result] = _multiplied(each, content.how, shapes, inputs, made)
        else:
            made[each.stage.result] = _applied(each, content.how, shapes, inputs, made)
    return made


def _multiplied(each: Product, how: Arithmetic, shapes: Shapes, inputs: Arrays, made: Mapping[str, Array]) -> Array:
    f = FORMATS[how.format]
    left, right = (
        p.flat(made[p.matrix.array]) if p.matrix.array in made else datums(p, inputs, f)
        for p in (Placed(m, shapes[m.array], 0, 1) for m in (each.contraction.left, each.contraction.right))
    )
    found = arithmetic.product(left, right, f, how.dest, how.fidelity)
    if how.dest == 32 and sum_of(how).width == 2:
        found = narrow(found, how.format)
    return Placed(each.result, shapes[each.stage.result], 0, 1).unflat(found)


def _applied(each: Applied, how: Arithmetic, shapes: Shapes, inputs: Arrays, made: Mapping[str, Array]) -> Array:
    p, e, shape = each.stage.pointwise, elements_of(how), shapes[each.stage.result]
    arrays = [
        spread(made[a.array] if a.array in made else e.encode(np.asarray(inputs[a.array])), a.axes, shape)
        for a in p.arrays
    ]
    return computed(p, e, arrays, inputs, shape)


def errors(content: Content, values: Mapping[str, int], inputs: Arrays) -> dict[str, Error]:
    """What each stage makes, in numbers, with its error; integers have none."""
    shapes, made, e = shapes_of(content.stages, values), dict[str, Error](), elements_of(content.how)
    for each in content.arranged:
        if content.how.format == "i8":
            exact = np.zeros(shapes[each.stage.result])
            made[each.stage.result] = exact, exact
            continue
        made[each.stage.result] = _error(each, content.how, shapes, inputs, made, e, values)
    return made


def _error(
    each: Arranged,
    how: Arithmetic,
    shapes: Shapes,
    inputs: Arrays,
    made: Mapping[str, Error],
    e: Elements,
    values: Mapping[str, int],
) -> Error:
    if isinstance(each, Product):
        left, right = (_factor(m, shapes, inputs, made) for m in (each.contraction.left, each.contraction.right))
        value, error = _product_error(left, right, how, each.stage.rounded)
        if how.dest == 32:
            error = unbounded(error + (np.abs(value) + error) * e.rounding + e.least, error)
        placed = Placed(each.result, shapes[each.stage.result], 0, 1)
        return placed.unflat(value), placed.unflat(error)
    p, shape = each.stage.pointwise, shapes[each.stage.result]
    arrays = [made[a.array] if a.array in made else given(np.asarray(inputs[a.array]), e) for a in p.arrays]
    over = [
        (spread(value, a.axes, shape), spread(error, a.axes, shape))
        for a, (value, error) in zip(p.arrays, arrays, strict=True)
    ]
    adding = ADDING + _SINGLE * sum(n.evaluate(values) for n in each.stage.begun)
    value, error = missed(p, e, over, inputs, adding)
    return np.broadcast_to(value, shape), np.broadcast_to(error, shape)


def _factor(matrix: Matrix, shapes: Shapes, inputs: Arrays, made: Mapping[str, Error]) -> Error:
    placed = Placed(matrix, shapes[matrix.array], 0, 1)
    if matrix.array in made:
        value, error = made[matrix.array]
        return placed.flat(value), placed.flat(error)
    value = placed.flat(np.asarray(inputs[matrix.array])).astype(np.float64)
    return value, np.zeros_like(value)


def _product_error(left: Error, right: Error, how: Arithmetic, rounded: int) -> Error:
    (a, of_a), (b, of_b) = left, right
    large_a, large_b = np.abs(a) + of_a, np.abs(b) + of_b
    own = bound(large_a, large_b, FORMATS[how.format], how.dest, how.fidelity)
    error = own + large_a @ of_b + of_a @ large_b + rounded * _SINGLE * (large_a @ large_b)
    return a @ b, unbounded(error, of_a.max(axis=1, keepdims=True), of_b.max(axis=0))

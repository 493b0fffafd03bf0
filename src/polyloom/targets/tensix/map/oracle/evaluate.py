# SPDX-License-Identifier: Apache-2.0
"""Evaluation of stages in NumPy: bit by bit, and in numbers with a running error bound.

The error of an array is a bound for three distances: from what the tile has to what the program has, and from both to
the exact value. A product goes on with its factors' errors (`bound`), a formula with its arrays' errors.
Method: running error analysis (Higham 2002, section 3.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.analysis.contraction import Matrix
from polyloom.frontend.source import Arrays
from polyloom.ir.stage import Fold
from polyloom.targets.tensix.map.loops.compile import Content
from polyloom.targets.tensix.map.loops.layout import array_shapes
from polyloom.targets.tensix.map.loops.rows.fold import fold_bits
from polyloom.targets.tensix.map.loops.steps import Pointwise
from polyloom.targets.tensix.map.loops.vector import ADDING, Error, evaluate, formula_error, propagate_infinite
from polyloom.targets.tensix.map.oracle import arithmetic
from polyloom.targets.tensix.map.oracle.bound import Factor, product_bound
from polyloom.targets.tensix.words.arrays import tiles
from polyloom.targets.tensix.words.arrays.area import Placed, broadcast_input, element_format, encode_factor
from polyloom.targets.tensix.words.arrays.elements import ELEMENTS, Elements, to_vectors
from polyloom.targets.tensix.words.arrays.formats import Arithmetic, pack_to_16_bits
from polyloom.targets.tensix.words.arrays.views import view_arrays
from polyloom.transform.stages.layout_assignment import Applied, Arranged, Multiplied

Array = NDArray[Any]
_PART: Final = 1 << 18
"""Elements of a factor that are converted at once."""
_SINGLE = 2.0**-24
"""A rounding of the program."""
Shapes = Mapping[str, tuple[int, ...]]


def computed_datums(content: Content, values: Mapping[str, int], inputs: Arrays) -> dict[str, Array]:
    """Datums of what each stage computes, by name. Errors: PL1234, PL1237."""
    shapes, made = array_shapes(content.program, values), dict[str, Array]()
    inputs = view_arrays(content.views, values, inputs)
    for each in content.arranged:
        made[each.stage.result] = stage_datums(each, content, shapes, inputs, made)
    return made


def stage_datums(each: Arranged, content: Content, shapes: Shapes, inputs: Arrays, made: Mapping[str, Array]) -> Array:
    """Datums of one array, of what stages before have `made`."""
    result, how = each.stage.result, content.how
    if isinstance(each, Multiplied):
        found = _multiply(each, how, shapes, inputs, made)
        # Sums in 32 bits are packed to 16 where later stages read elements of 16.
        packs = how.sums.width < how.accumulated.width and result not in content.fused.values()
        return pack_to_16_bits(found, how.format) if packs else found
    if isinstance(each.stage, Fold):
        return _fold(each, each.stage, how, inputs, made)
    return _apply(content.formulas[result], how, shapes[result], inputs, made, content.fused.get(result))


def _multiply(each: Multiplied, how: Arithmetic, shapes: Shapes, inputs: Arrays, made: Mapping[str, Array]) -> Array:
    matrices = [each.contraction.left, each.contraction.right]
    placed = [Placed(m, shapes[m.array], 0, 1) for m in matrices]
    left, right = (p.flat(np.asarray({**inputs, **made}[p.matrix.array])) for p in placed)

    def datums(number: int, part: Array) -> Array:
        name = matrices[number].array
        return part if name in made else encode_factor(name, how.factors, part)

    def multiply(rows: slice, columns: slice) -> Array:
        a, b = datums(0, left[rows]), datums(1, right[:, columns])
        return arithmetic.multiply_tiles(a, b, how.factors, how.dest, how.fidelity)

    cut = _cut_extent(*left.shape), _cut_extent(*right.T.shape)
    found = np.concatenate([np.concatenate([multiply(r, c) for c in cut[1]], 1) for r in cut[0]])
    return Placed(each.result, shapes[each.stage.result], 0, 1).unflat(found)


def _cut_extent(extent: int, depth: int) -> list[slice]:
    """Rows or columns of a factor that are multiplied at once: whole tiles, all of a small one. Other types take many
    times the bytes of a number, which a large array of weights must not take as a whole."""
    size = max(1, _PART // max(1, depth) // tiles.SIDE) * tiles.SIDE
    return [slice(first, first + size) for first in range(0, max(1, extent), size)]


def _fold(each: Applied, fold: Fold, how: Arithmetic, inputs: Arrays, made: Mapping[str, Array]) -> Array:
    """Datums of a fold: loads and the store change no bit of a datum that is loaded."""
    name, e = fold.reads[0], element_format(how)
    datums = made[name] if name in made else e.encode(np.asarray(inputs[name]))
    return e.store(fold_bits(fold.operation, e.load(_fold_axis(each, datums)[..., fold.elements])))


def _fold_axis(each: Applied, array: Array) -> Array:
    """Array with the axis that is folded as the last one."""
    assert each.source is not None, "a fold has a matrix"
    return array.transpose(*each.source.rows, *each.source.columns)


def _fold_error(each: Applied, fold: Fold, how: Arithmetic, inputs: Arrays, made: Mapping[str, Error]) -> Error:
    """Value and error of a fold: no element of a row may be further off than the worst one is."""
    name, e = fold.reads[0], element_format(how)
    value, error = made[name] if name in made else _format_error(np.asarray(inputs[name]), e)
    row, missed = (_fold_axis(each, array)[..., fold.elements] for array in (value, error))
    return row.max(axis=-1) if fold.operation == "maximum" else row.min(axis=-1), missed.max(axis=-1)


def _apply(
    p: Pointwise, how: Arithmetic, shape: tuple[int, ...], inputs: Arrays, made: Mapping[str, Array], sums: str | None
) -> Array:
    """Datums of a formula's result; the array `sums` is in Dst, where the result has 32 bits until it is packed."""
    e = element_format(how)
    arrays = [
        broadcast_input(made[a.array] if a.array in made else e.encode(np.asarray(inputs[a.array])), a.axes, shape)
        for a in p.arrays
    ]
    # Loads and stores of 32 bits change no bit; what is cut off is the packers' part.
    wide = ELEMENTS["i32" if how.format == "i8" else "fp32"]
    loaded = [(wide if a.array == sums else e).load(array) for a, array in zip(p.arrays, arrays, strict=True)]
    found = _formula_datums(p, wide if sums is not None else e, loaded, inputs, shape)
    return pack_to_16_bits(found, how.format) if sums is not None and e.width < wide.width else found


def _formula_datums(
    p: Pointwise, e: Elements, loaded: Sequence[Array], inputs: Arrays, shape: tuple[int, ...]
) -> Array:
    """Datums of a formula's result, of what vector loads give of the arrays in its shape; scalars are inputs."""
    scalars = [int(np.asarray(inputs[name]).reshape(1).view(np.uint32)[0]) for name in p.scalars]
    size = int(np.prod(shape))
    if not size:
        return e.store(np.zeros(shape, np.uint32))
    values = evaluate(p, [to_vectors(array) for array in loaded], scalars)
    # A formula without arrays gives one vector, which all elements share.
    found = np.broadcast_to(values, (-(-size // 32), 32)).ravel()[:size]
    return e.store(np.ascontiguousarray(found)).reshape(shape)


def error_bounds(content: Content, values: Mapping[str, int], inputs: Arrays) -> dict[str, Error]:
    """Value of each stage in numbers, with its error; formulas of integers have none."""
    shapes, made, how = array_shapes(content.program, values), dict[str, Error](), content.how
    inputs = view_arrays(content.views, values, inputs)
    for each in content.arranged:
        shape = shapes[each.stage.result]
        if isinstance(each, Multiplied):
            packs = each.stage.result not in content.fused.values()
            value, error = _product_error(each, how, shapes, inputs, made, packs=packs)
            placed = Placed(each.result, shape, 0, 1)
            made[each.stage.result] = placed.unflat(value), placed.unflat(error)
        elif isinstance(each.stage, Fold):
            made[each.stage.result] = _fold_error(each, each.stage, how, inputs, made)
        elif how.format == "i8":
            made[each.stage.result] = np.zeros(shape), np.zeros(shape)
        else:
            formula = content.formulas[each.stage.result]
            is_fused = each.stage.result in content.fused
            made[each.stage.result] = _formula_error(each, formula, how, shape, inputs, made, values, is_fused=is_fused)
    return made


def _product_error(
    each: Multiplied, how: Arithmetic, shapes: Shapes, inputs: Arrays, made: Mapping[str, Error], *, packs: bool
) -> Error:
    left, right = (_factor(m, shapes, inputs, made) for m in (each.contraction.left, each.contraction.right))

    def bound(rows: slice, columns: slice) -> Error:
        a, b = ((x[part], of_x[part]) for (x, of_x), part in ((left, (rows,)), (right, (slice(None), columns))))
        wide = tuple(x.astype(np.float64) for x in (*a, *b))
        return _wild_factors_error(each, how, wide[:2], wide[2:], packs=packs)

    cut = _cut_extent(*left[0].shape), _cut_extent(*right[0].T.shape)
    found = [[bound(r, c) for c in cut[1]] for r in cut[0]]
    value, error = (np.concatenate([np.concatenate([part[n] for part in row], 1) for row in found]) for n in (0, 1))
    return value, error


def _wild_factors_error(each: Multiplied, how: Arithmetic, left: Error, right: Error, *, packs: bool) -> Error:
    """Value and error of a product of two factors, whose numbers need not be finite."""
    value, error = _factors_error(each, how, left, right, packs=packs)
    wild_a, wild_b = (~np.isfinite(np.abs(x) + of_x) for x, of_x in (left, right))
    if not (wild_a.any() or wild_b.any()):
        return value, error
    # The matrix unit has no special values: zero times anything is 0, and masks of triangles leave terms out by zeros.
    used_a, used_b = ((np.abs(x) + of_x != 0).astype(np.float64) for x, of_x in (left, right))
    reached: Array = wild_a @ used_b + used_a @ wild_b > 0
    (a, of_a), (b, of_b) = left, right
    bare_a = np.where(wild_a, 0, a), np.where(wild_a, 0, of_a)
    bare_b = np.where(wild_b, 0, b), np.where(wild_b, 0, of_b)
    finite, finite_error = _factors_error(each, how, bare_a, bare_b, packs=packs)
    for array, other in ((value, finite), (error, finite_error)):
        np.copyto(array, other, where=~reached)
    return value, error


def _factors_error(each: Multiplied, how: Arithmetic, left: Error, right: Error, *, packs: bool) -> Error:
    """Value and error of a product of two factors with their errors, in double precision."""
    (a, of_a), (b, of_b) = left, right
    large_a, large_b = np.abs(a) + of_a, np.abs(b) + of_b
    error, value = product_bound(Factor(a, of_a), Factor(b, of_b), how.factors, how.dest, how.fidelity), a @ b
    if how.format == "i8":
        return value, error
    # What the program itself rounds beyond products and sums.
    error = error + each.stage.roundings * _SINGLE * (large_a @ large_b)
    error = propagate_infinite(error, of_a.max(axis=1, keepdims=True, initial=0), of_b.max(axis=0, initial=0))
    if how.sums.width == how.accumulated.width or not packs:
        return value, error
    e = element_format(how)
    return value, propagate_infinite(error + (np.abs(value) + error) * e.rounding + e.least, error)


def _factor(matrix: Matrix, shapes: Shapes, inputs: Arrays, made: Mapping[str, Error]) -> Error:
    placed = Placed(matrix, shapes[matrix.array], 0, 1)
    if matrix.array in made:
        value, error = made[matrix.array]
        return placed.flat(value), placed.flat(error)
    value = placed.flat(np.asarray(inputs[matrix.array]))
    return value, np.broadcast_to(np.float64(0), value.shape)


def _formula_error(
    each: Applied,
    p: Pointwise,
    how: Arithmetic,
    shape: tuple[int, ...],
    inputs: Arrays,
    made: Mapping[str, Error],
    values: Mapping[str, int],
    *,
    is_fused: bool,
) -> Error:
    """Value and error of a formula, with what the store cuts off, or of a fused one what the packers round."""
    e = element_format(how)
    arrays = [made[a.array] if a.array in made else _format_error(np.asarray(inputs[a.array]), e) for a in p.arrays]
    over = [
        (broadcast_input(value, a.axes, shape), broadcast_input(error, a.axes, shape))
        for a, (value, error) in zip(p.arrays, arrays, strict=True)
    ]
    scalars = [float(inputs[name]) for name in p.scalars]  # pyright: ignore[reportArgumentType]: scalars are of rank 0
    # In another order of sums the program rounds elsewhere.
    summed = sum(n.evaluate(values) for n in each.stage.summed)
    adding = ADDING + _SINGLE * summed if each.stage.summed else None
    value, error = formula_error(p, over, scalars, adding)
    storing = e.rounding if is_fused else e.storing
    # An infinity is stored as it is.
    stored = error + (np.abs(value) + error) * storing + e.least
    error = propagate_infinite(np.asarray(np.where(np.isinf(value), error, stored), np.float64), error)
    return np.broadcast_to(value, shape), np.broadcast_to(error, shape)


def _format_error(array: Array, e: Elements) -> Error:
    """Value and error of an input: the error is that of the format."""
    wide = array.astype(np.float64)
    return wide, np.abs(wide) * e.rounding + e.least

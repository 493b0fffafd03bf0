# SPDX-License-Identifier: Apache-2.0
"""Reference interpreter of stage programs: each product sums in the order of its dimension, each formula is one NumPy
expression over all of its elements, by `ir.semantics`.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.ir import library, semantics
from polyloom.ir.formula import Apply, Leaf, Number, Term, operand_type, term_type
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Constant
from polyloom.ir.stage import Fold, Formula, Product, Program

Array = NDArray[Any]
_OWN: Final = -1
"""A function's operand, in a library program."""
_ELEMENTS: Final = 1 << 15
"""Of a product that are computed at once, so that intermediate arrays stay in caches."""


def interpret(
    program: Program, values: Mapping[str, int], inputs: Mapping[str, Array], *, fused: bool = False
) -> dict[str, Array]:
    """The outputs, by values of the parameters and arrays of the declared shapes. `fused`: a product and the sum that
    takes it round once."""
    arrays = dict(inputs)
    shapes = {name: tuple(n.evaluate(values) for n in shape) for name, shape in program.shapes.items()}
    with np.errstate(all="ignore"):
        for stage in program.stages:
            if isinstance(stage, Product):
                arrays[stage.result] = _evaluate_product(stage, program, arrays, shapes, fused=fused)
            elif isinstance(stage, Fold):
                arrays[stage.result] = _evaluate_fold(stage, arrays)
            else:
                arrays[stage.result] = _evaluate_formula(stage, program, arrays, values, shapes[stage.result])
    return {
        o.array: output_part(
            arrays[o.definition], tuple(n if isinstance(n, int) else -1 - n.evaluate(values) for n in o.at)
        )
        for o in program.outputs
    }


def output_part(whole: Array, at: tuple[int, ...]) -> Array:
    """Part of a computed array. `at` has, for each of its dimensions, the position of the part's own, or where it is
    fixed, as
    -1 - n.
    """
    fixed = tuple(slice(None) if place >= 0 else -1 - place for place in at)
    kept = [place for place in at if place >= 0]
    # argsort inverts a permutation: axis k of the part is where k stands in `at`.
    found = np.asarray(whole[fixed]).transpose(np.argsort(kept) if kept else ())
    return np.ascontiguousarray(found).reshape(found.shape)


def _evaluate_product(
    p: Product, program: Program, arrays: Mapping[str, Array], shapes: Mapping[str, tuple[int, ...]], *, fused: bool
) -> Array:
    dims = (*p.dims, p.over)
    left, right = (_expand_axes(arrays[leaf.array], tuple(map(str, leaf.index)), dims) for leaf in (p.left, p.right))
    kind = program.types[p.left.array]
    if p.widened:
        left = semantics.apply(p.widened, kind, [left])
        right = semantics.apply(p.widened, program.types[p.right.array], [right])
        kind = program.types[p.result]
    made = np.zeros(shapes[p.result], NUMPY[kind])
    if p.begins:
        made[...] = arrays[p.begins]
    for part in _cut_rows(made.shape) if left.shape[-1] else []:
        # Factors have one row where all rows share it.
        a, b = (x if len(x) == 1 else x[part] for x in (left, right))
        made[part] = _sum_products(a, b, made[part] if p.begins else None, kind, fused=fused)
    return made


def _cut_rows(shape: tuple[int, ...]) -> list[Any]:
    """Rows of a result that are computed at once; all of one that has no dimension."""
    if not shape:
        return [...]
    rows = max(1, _ELEMENTS // max(1, prod(shape[1:])))
    return [slice(first, first + rows) for first in range(0, shape[0], rows)]


def _sum_products(left: Array, right: Array, total: Any, kind: ElementType, *, fused: bool) -> Array:
    """Sums along the last axis of the factors, which begin with `total`."""
    # Term by term, as the source sums: NumPy's own product adds pairwise, with other roundings.
    for k in range(left.shape[-1]):
        a, b = left[..., k], right[..., k]
        if total is not None and fused:
            total = semantics.apply("madd", kind, [a, b, total])
            continue
        # The first product begins the sum: adding it to 0 would lose the sign of a zero.
        product = semantics.apply("mul", kind, [a, b])
        total = product if total is None else semantics.apply("add", kind, [total, product])
    return total


def _expand_axes(array: Array, own: tuple[str, ...], dims: tuple[str, ...]) -> Array:
    """The array with an axis for each of `dims`, of length 1 where it has none."""
    ordered = array.transpose([own.index(d) for d in dims if d in own])
    return ordered[tuple(slice(None) if d in own else None for d in dims)]


def _evaluate_formula(
    f: Formula, program: Program, arrays: Mapping[str, Array], values: Mapping[str, int], shape: tuple[int, ...]
) -> Array:
    grid = {**values, **dict(zip(f.dims, np.ogrid[tuple(slice(n) for n in shape)], strict=True))}
    found = _evaluate_term(f.term, program.types[f.result], program.types, arrays, grid)
    return np.array(np.broadcast_to(found, shape))


def _evaluate_term(
    term: Term,
    dtype: ElementType,
    types: Mapping[str, ElementType],
    arrays: Mapping[str, Array],
    grid: Mapping[str, Any],
) -> Any:
    """`dtype` is the type that a number has here."""
    if isinstance(term, Leaf):
        return _gather_element(term, arrays[term.array], grid)
    if isinstance(term, Number):
        return NUMPY[dtype].type(term.value)
    assert isinstance(term, Apply), "stages are without sums"
    own = operand_type(term, types) or dtype
    kinds: list[ElementType] = [own] * len(term.operands)
    if term.operation == "select":
        # The condition of a select has a type of its own.
        kinds[0] = term_type(term.operands[0], types) or "i32"
    operands = [_evaluate_term(o, kind, types, arrays, grid) for o, kind in zip(term.operands, kinds, strict=True)]
    return _apply_function(term.operation, own, operands)


def _apply_function(name: str, dtype: ElementType, operands: list[Any]) -> Any:
    """An operation, or the steps of a library function."""
    if name not in library.SINGLE:
        return semantics.apply(name, dtype, operands)
    made = list[Any]()
    for step in library.program(name, dtype).steps:
        given = [
            NUMPY[step.dtype].type(o.value) if isinstance(o, Constant) else operands[0] if o == _OWN else made[o]
            for o in step.operands
        ]
        made.append(semantics.apply(step.operation, step.dtype, given))
    return made[-1]


def _evaluate_fold(f: Fold, arrays: Mapping[str, Array]) -> Array:
    """Reduction along one dimension of the array that the term is an element of."""
    assert isinstance(f.term, Leaf), "a fold is of a whole array"
    whole = _expand_axes(arrays[f.term.array], tuple(map(str, f.term.index)), (*f.dims, f.over))
    return np.asarray((np.max if f.operation == "maximum" else np.min)(whole[..., f.elements], axis=-1))


def _gather_element(leaf: Leaf, array: Array, grid: Mapping[str, Any]) -> Array:
    at = tuple(sum((c * grid[n] for n, c in index.terms), np.asarray(index.constant)) for index in leaf.index)
    if not leaf.padded:
        return np.asarray(array[at])
    inside = [(n >= 0) & (n < extent) for n, extent in zip(at, array.shape, strict=True)]
    # Clipped indices read something harmless where the element does not exist; `where` replaces it.
    held = array[tuple(np.clip(n, 0, extent - 1) for n, extent in zip(at, array.shape, strict=True))]
    return np.where(np.logical_and.reduce(np.broadcast_arrays(*inside)), held, array.dtype.type(0))

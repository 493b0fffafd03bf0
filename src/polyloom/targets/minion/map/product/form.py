# SPDX-License-Identifier: Apache-2.0
"""Product form: a phase that is a product, for the tensor coprocessor: whether its arithmetic computes it, its code,
and its oracle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyloom.analysis.contraction import Contraction, Matrix, contraction, source_span
from polyloom.analysis.dataflow import Unlike
from polyloom.analysis.matrices import array_to_matrix, has_matrix_views, matrix_to_array
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Program
from polyloom.ir.plan import Phase
from polyloom.ir.ssa import Place
from polyloom.targets.minion.map.frame import span_place
from polyloom.targets.minion.map.phase_work import Arrays, Multiplied, Work, overwrites_factor
from polyloom.targets.minion.map.product import arithmetic
from polyloom.targets.minion.map.product.compile import has_helpers, owner_arrays, predicted_cycles, product_code
from polyloom.targets.minion.map.product.operand import FP16, FP32, INT8, KINDS, Kind
from polyloom.targets.minion.map.product.quant import apply_quant, transform_chain

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Product:
    """A contraction with the type it is computed in. `reorders`: whether sums may take another order than the
    source's.
    """

    contraction: Contraction
    kind: Kind
    reorders: bool


def work(phase: Phase, fp: str, *, is_only: bool = False) -> Work | None:
    """Work of a phase; None where it is no product, or one that only other arithmetic computes.

    Rows of bytes do not fill lines, which whoever reads them would have to wait for: they are results of a phase that
    is the only one.
    """
    try:
        found = contraction(phase.program, with_steps=True)
    except Unlike:
        return None
    kind = None if found is None else _kind(phase.program, found, fp)
    if found is None or kind is None or not has_matrix_views(found):
        return None
    if overwrites_factor(phase, (found.left.array, found.right.array)):
        return None
    if found.steps and not is_only and _has_result_type(phase.program, found, ("i8", "u8")):
        return None
    is_discrete = kind is INT8 and not _has_result_type(phase.program, found, ("f32",))
    return _work(found, kind, fp, span_place(source_span(phase.program)), is_discrete=is_discrete)


def contraction_work(
    found: Contraction, types: Mapping[str, ElementType], fp: str, place: Place, *, is_exact: bool
) -> Work | None:
    """Work of a contraction; None where only other arithmetic computes it. `is_exact`: its terms and their order are
    the source's.
    """
    kind = KINDS.get((types[found.left.array], types[found.right.array], found.widened))
    if kind is None or not has_matrix_views(found) or (kind is not INT8 and fp == "strict"):
        return None
    return _work(found, kind, fp, place, is_exact=is_exact, is_discrete=kind is INT8)


def _work(found: Contraction, kind: Kind, fp: str, place: Place, *, is_exact: bool = True, is_discrete: bool) -> Work:
    """Work of a contraction in a type, with its oracle and bounds."""
    made = Product(found, kind, fp == "reassociate" or not is_exact)
    exact = kind is INT8 or (kind is FP32 and not made.reorders)
    # Bounds are those of sums.
    bounds = None if found.steps else partial(_result_bounds, made)
    product = Multiplied(found, kind, fp, place)
    compiled, helped = partial(product_code, product), partial(has_helpers, product)
    results, cycles = partial(_results, made), partial(predicted_cycles, product)
    own = partial(owner_arrays, product)
    return Work("product", 1, "scratchpad", compiled, results, bounds, helped, exact, product, is_discrete, cycles, own)


def _kind(program: Program, c: Contraction, fp: str) -> Kind | None:
    """Type in which a phase is computed, None for none. `strict` keeps products and sums of floats separate that are
    written separately, and every rounding.
    """
    types = {a.name: a.dtype for a in (*program.inputs, *program.outputs)}
    kind = KINDS.get((types[c.left.array], types[c.right.array], c.widened))
    chain = None if kind is None else transform_chain(c.steps, "i32" if kind is INT8 else "f32")
    # Steps behind a sum are exact only if the sum has the source's order and bits.
    if chain is None or chain[1] != types[c.result.array] or (c.steps and (kind is FP16 or fp == "reassociate")):
        return None
    fuses = kind is FP32 and any(e.operation == "madd" for e in program.equations)
    return kind if kind is INT8 or fp != "strict" or fuses else None


def _has_result_type(program: Program, c: Contraction, types: Sequence[str]) -> bool:
    return any(a.name == c.result.array and a.dtype in types for a in program.outputs)


def _results(product: Product, values: Mapping[str, int], read: Arrays, held: Arrays) -> Arrays:
    """Results of a product in the machine's arithmetic, or in double precision where sums are reordered."""
    del values
    c, kind = product.contraction, product.kind
    left, right = (array_to_matrix(m, read[m.array]) for m in (c.left, c.right))
    begins = array_to_matrix(replace(c.result, array=c.begins), read[c.begins]) if c.begins else None
    if kind is INT8:
        # Sums of products of bytes are exact in double precision below 2^53, and int32 wraps as IMA8 does.
        made = (left.astype(np.float64) @ right.astype(np.float64)).astype(np.int64).astype(np.int32)
    elif kind is FP32 and not product.reorders:
        made = arithmetic.product(left, right, begins)
    else:
        made = arithmetic.product_in_double(left, right, begins)
    if c.steps:
        made = apply_quant(c.steps, made, read)
    return {**held, c.result.array: matrix_to_array(c.result, made, held[c.result.array].shape)}


def _with_error(matrix: Matrix, read: Arrays, errors: Arrays) -> tuple[Array, Array]:
    array = read[matrix.array]
    return array_to_matrix(matrix, array), array_to_matrix(matrix, errors.get(matrix.array, np.zeros(array.shape)))


def _result_bounds(
    product: Product, values: Mapping[str, int], read: Arrays, errors: Arrays, shape: tuple[int, ...]
) -> Array:
    """Error bounds of the result, in the shape of its array."""
    del values, shape
    c = product.contraction
    left, right = (_with_error(m, read, errors) for m in (c.left, c.right))
    begins = _with_error(replace(c.result, array=c.begins), read, errors) if c.begins else None
    allowed = arithmetic.propagated_bound(left, right, product.kind is FP16, begins) * (product.kind is not INT8)
    rows = [read[c.left.array].shape[n] for n in c.left.rows]
    columns = [read[c.right.array].shape[n] for n in c.right.columns]
    order = (*c.result.rows, *c.result.columns)
    back = allowed.reshape([*rows, *columns])
    return np.ascontiguousarray(back.transpose(np.argsort(order)))

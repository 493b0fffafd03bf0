# SPDX-License-Identifier: Apache-2.0
"""Convolution form: whether a phase is a convolution that the tensor coprocessor's arithmetic computes, its code, and
its oracle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.analysis.convolution import Convolution, Summed, convolutions
from polyloom.analysis.im2col import convolution_matrices, matrix_to_result
from polyloom.ir.ssa import Place
from polyloom.targets.minion.map.convolution.compile import convolution_code
from polyloom.targets.minion.map.convolution.taps import TAPS
from polyloom.targets.minion.map.phase_work import Arrays, Work
from polyloom.targets.minion.map.product import arithmetic
from polyloom.targets.minion.map.product.operand import FP16, FP32, INT8, Kind
from polyloom.targets.minion.map.product.quant import apply_quant, transform_chain
from polyloom.targets.minion.words.tensor_words import SCP_LINES

Array = NDArray[Any]
_BYTES: Final = ("i8", "u8")
_SUMS: Final = {"fp32": "f32", "fp16": "f32", "int8": "i32"}


@dataclass(frozen=True, slots=True)
class Convolved:
    """A convolution with the type it is computed in. `reorders`: whether sums may take another order than the
    source's.
    """

    found: Convolution
    kind: Kind
    reorders: bool


def work(
    sums: Summed | None,
    types: Mapping[str, str],
    fp: str,
    place: Place,
    *,
    fuses: bool,
    begins: str = "",
    is_exact: bool = True,
) -> Work | None:
    """Work of sums; None where they are no convolution, or one that only other arithmetic computes, or whose order is
    not that of the machine: input channels innermost.

    `fuses`: whether the source adds products with one rounding. Sums of floats of a matrix and a vector may begin with
    a vector, `begins`. `is_exact`: its terms are the source's.
    """
    several = () if sums is None else convolutions(sums)
    kind = _kind(several[0], types) if several else None
    # A product of image and weights may be read with the roles exchanged; the reading that packs less is taken.
    found = min(several, key=lambda each: _packing_cost(each, kind), default=None)
    if found is None or kind is None or (kind is not INT8 and fp == "strict" and not (fuses and kind is FP32)):
        return None
    deep = next(p.weight for p in found.places if p.result is None)
    is_single = found.output is None and deep != len(found.weights) - 1
    if is_single or len(found.places) - 1 > TAPS or not (found.order or kind is INT8 or fp == "reassociate"):
        return None
    outermost = False
    if found.order is None or found.order[-1] != deep:
        outermost = kind is FP32 and fp != "reassociate"
        if outermost and not _fits_scratchpad(found, deep):
            return None
        if not outermost and kind is not INT8 and fp != "reassociate":
            return None
        found = found if outermost else replace(found, order=None)
    if found.steps and not _can_quantize(found, kind, types, fp, outermost=outermost):
        return None
    if begins and (kind is INT8 or found.windows or len(found.places) > 2):
        return None
    found = replace(found, begins=begins)
    made = Convolved(found, kind, fp == "reassociate" or not is_exact)
    exact = kind is INT8 or (kind is FP32 and not made.reorders)
    # Bounds know only the sizes of arrays, so that offsets may not depend on other parameters.
    if not exact and not all(p.offset.is_constant for p in found.places):
        return None
    bounds = None if found.steps else partial(_result_bounds, made)
    what = "convolution" if found.windows else "matrix-vector"
    return Work(
        what,
        1,
        "scratchpad",
        partial(convolution_code, found, kind, place, outermost),
        partial(_results, made),
        bounds,
        exact=exact,
        is_discrete=kind is INT8 and types[found.result] != "f32",
    )


def _can_quantize(c: Convolution, kind: Kind, types: Mapping[str, str], fp: str, *, outermost: bool) -> bool:
    """Whether TensorQuant fits behind the sum: results have no bounds of errors; lines of L1Scp are free, unless sums
    run over channels first; bytes are not turned over.
    """
    turns = c.output != len(c.places) - 1
    return kind is not FP16 and fp != "reassociate" and not outermost and not (turns and types[c.result] in _BYTES)


def _fits_scratchpad(c: Convolution, deep: int | None) -> bool:
    """Whether L1Scp has a line for each tap, and channels are the outermost loop of the sum."""
    extents = [c.extents[n] for n in c.windows]
    known = all(extent.is_constant for extent in extents)
    return bool(c.order) and c.order[0] == deep and known and prod(e.constant for e in extents) <= SCP_LINES


def _packing_cost(c: Convolution, kind: Kind | None) -> int:
    """Number of dimensions of the arrays that have to be packed, as a cost."""
    image = 0 if c.channel == len(c.places) - 1 else len(c.places)
    return image + (0 if kind is FP32 and c.weights[-1] is not None else len(c.weights))


def _kind(found: Convolution, types: Mapping[str, str]) -> Kind | None:
    """Type of a convolution by those of its factors and the steps behind its sums; None where TensorQuant has no such
    steps.
    """
    factors = {types[found.image], types[found.weight]}
    kinds = {"": (FP32, {"f32"}), "to_f32": (FP16, {"f16"}), "to_i32": (INT8, {"i8", "u8"})}
    kind, allowed = kinds[found.widened]
    chain = transform_chain(found.steps, _SUMS[kind.name])
    return kind if factors <= allowed and chain is not None and chain[1] == types[found.result] else None


def _results(made: Convolved, values: Mapping[str, int], read: Arrays, held: Arrays) -> Arrays:
    """Results in the machine's arithmetic, or in double precision where sums are reordered."""
    pixels, weights = convolution_matrices(made.found, values, read, held[made.found.result].shape)
    begins = _start_matrix(made.found, read, (len(pixels), weights.shape[1]))
    if made.kind is INT8:
        sums = (pixels.astype(np.float64) @ weights.astype(np.float64)).astype(np.int64).astype(np.int32)
    elif made.kind is FP32 and not made.reorders:
        # The code clears registers first, so that also the first term is added to +0.
        sums = (
            arithmetic.product_from_zero(pixels, weights)
            if begins is None
            else arithmetic.product(pixels, weights, begins)
        )
    else:
        sums = arithmetic.product_in_double(pixels, weights, begins)
    if made.found.steps:
        sums = apply_quant(made.found.steps, sums, read)
    return {**held, made.found.result: matrix_to_result(made.found, sums, held[made.found.result].shape)}


def _result_bounds(
    made: Convolved, values: Mapping[str, int], read: Arrays, errors: Arrays, shape: tuple[int, ...]
) -> Array:
    """Error bounds of the result, in its shape."""
    c = made.found
    zeros = {name: np.zeros(read[name].shape) for name in (c.image, c.weight)}
    pixels, weights = convolution_matrices(c, values, read, shape)
    of_pixels, of_weights = convolution_matrices(c, values, {**zeros, **errors}, shape)
    start = _start_matrix(c, read, (len(pixels), weights.shape[1]))
    of_start = _start_matrix(c, {c.begins: np.zeros(shape), **errors}, (len(pixels), weights.shape[1]))
    begins = None if start is None or of_start is None else (start, of_start)
    allowed = arithmetic.propagated_bound((pixels, of_pixels), (weights, of_weights), made.kind is FP16, begins)
    return matrix_to_result(c, allowed * (made.kind is not INT8), shape)


def _start_matrix(c: Convolution, read: Arrays, shape: tuple[int, int]) -> Array | None:
    """Matrix with which the sums of a vector begin."""
    return read[c.begins].reshape(shape) if c.begins else None

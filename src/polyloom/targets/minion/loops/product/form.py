# SPDX-License-Identifier: Apache-2.0
"""A phase that is a product, for the tensor coprocessor: whether it is one that its arithmetic computes, its code, and
its oracle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyloom.analysis.contraction import Contraction, Matrix, contraction
from polyloom.analysis.dataflow import Unlike
from polyloom.ir.pla import Program
from polyloom.ir.plan import Phase
from polyloom.targets.minion.loops.product import arithmetic
from polyloom.targets.minion.loops.product.compile import code
from polyloom.targets.minion.loops.work import Arrays, Work

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Product:
    """A phase that is a product, and the order of floats that was asked for."""

    program: Program
    contraction: Contraction
    fp: str


def work(phase: Phase, fp: str) -> Work | None:
    """None where the phase is no product, or one that only other arithmetic computes."""
    try:
        found = contraction(phase.program)
    except Unlike:
        return None
    if found is None or not _is_for_tensors(phase.program, found, fp):
        return None
    made = Product(phase.program, found, fp)
    return Work("product", 1, "scratchpad", partial(code, found, fp), partial(_results, made))


def _is_for_tensors(program: Program, found: Contraction, fp: str) -> bool:
    """Singles; `strict` keeps products and sums that are written apart apart."""
    types = {a.dtype for a in (*program.inputs, *program.outputs)}
    return types == {"f32"} and (fp != "strict" or any(e.operation == "madd" for e in program.equations))


def _results(product: Product, values: Mapping[str, int], read: Arrays, held: Arrays) -> Arrays:
    c = product.contraction
    left, right = (flat(m, read[m.array]) for m in (c.left, c.right))
    made = arithmetic.product(left, right)
    return {**held, c.result.array: unflat(c.result, made, held[c.result.array].shape)}


def flat(matrix: Matrix, array: Array) -> Array:
    """The array as a matrix."""
    order = (*matrix.rows, *matrix.columns)
    rows = int(np.prod([array.shape[n] for n in matrix.rows], dtype=np.int64))
    return array.transpose(order).reshape(rows, -1)


def unflat(matrix: Matrix, values: Array, shape: tuple[int, ...]) -> Array:
    """The inverse of `flat`."""
    order = (*matrix.rows, *matrix.columns)
    back = values.reshape([shape[n] for n in order])
    return np.ascontiguousarray(back.transpose(np.argsort(order) if order else ()))

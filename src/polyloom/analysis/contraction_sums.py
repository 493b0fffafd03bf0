# SPDX-License-Identifier: Apache-2.0
"""A contraction as the sums of a convolution without windows: products of a matrix and a vector are such."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polyloom.analysis.contraction import Contraction, Matrix
from polyloom.analysis.convolution import Access, Summed
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import to_set


def contraction_sums(
    c: Contraction,
    dims: tuple[str, ...],
    shapes: Mapping[str, tuple[Affine, ...]],
    parameters: tuple[str, ...],
    assumptions: Condition,
) -> Summed:
    """Of a contraction whose result has `dims`; `shapes` are those of its arrays."""
    symbols = {name: Affine.symbol(name) for name in (*dims, c.over)}
    out = tuple(symbols[name] for name in dims)
    of_rows, of_columns = ([out[n] for n in axes] for axes in (c.result.rows, c.result.columns))
    left = _access(c.left, shapes, [*of_rows, symbols[c.over]])
    right = _access(c.right, shapes, [symbols[c.over], *of_columns])
    result = Access(c.result.array, shapes[c.result.array], out)
    limits = [
        limit
        for access in (left, right)
        for index, extent in zip(access.index, access.shape, strict=True)
        for limit in (index, extent - 1 - index)
    ]
    names = (*dims, c.over)
    where = to_set(Condition((Polyhedron(tuple(limits)),)), names, parameters)
    where = where.intersect(to_set(assumptions, names, parameters))
    # One loop of the sum: a contraction has no windows.
    return Summed(names, parameters, assumptions, where, result, (left, right), c.widened, (c.over,))


def _access(matrix: Matrix, shapes: Mapping[str, tuple[Affine, ...]], along: Sequence[Affine]) -> Access:
    """Its rows and columns are indexed by these."""
    at = dict(zip((*matrix.rows, *matrix.columns), along, strict=True))
    return Access(matrix.array, shapes[matrix.array], tuple(at[n] for n in range(len(at))))

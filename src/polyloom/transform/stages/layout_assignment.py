# SPDX-License-Identifier: Apache-2.0
"""Layout assignment (Kennedy and Kremer 1998): how the array of each stage is a matrix in memory, which of its
dimensions are rows, and which columns.

An array that a stage computes lies in memory once. A product may compute its transpose from the transposes of its
factors, and takes the right factor either way; a formula has all of its arrays alike. The first choice that suits all
stages is taken (depth-first search). Arguments are laid out as each stage wants them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from polyloom.analysis.contraction import Contraction, Matrix, to_contraction
from polyloom.analysis.dataflow import refuse
from polyloom.ir.formula import Leaf, index_dimension, leaves
from polyloom.ir.stage import Fold, Formula, Product, Program, Stage
from polyloom.transform.stages.padding import padding_value

_Flat = tuple[tuple[int, ...], tuple[int, ...], bool]
"""Rows and columns, and whether the matrix is wrapped."""


@dataclass(frozen=True, slots=True)
class Multiplied:
    """Product as a machine computes it; `turned`: the right factor lies in memory as its transpose."""

    stage: Product
    contraction: Contraction
    turned: bool

    @property
    def result(self) -> Matrix:
        return self.contraction.result


@dataclass(frozen=True, slots=True)
class Applied:
    """Formula, and how its arrays are matrices; `wrapped`: vectors fill the rows of a tile, one after another, which no
    product reads. Of a fold, `source` is the matrix whose rows it folds; its result is a column, which machines keep
    as often as a row of theirs has elements.
    """

    stage: Formula
    result: Matrix
    wrapped: bool = False
    source: Matrix | None = None


Arranged = Multiplied | Applied


def assign_layouts(program: Program) -> tuple[Arranged, ...]:
    """Layouts of all stages. Raises `Unlike` where no choice suits them."""
    for each in program.stages:
        _check_broadcast(each, program)
    found = _search_layouts(program, 0, {})
    if found is None:
        refuse("no order of rows and columns suits all stages that read what others made")
    _check_padding(program)
    return found


def leaf_axes(leaf: Leaf, dims: Sequence[str]) -> tuple[int, ...]:
    """Positions of `dims` among the leaf's own ones, -1 where it has not got one."""
    own = [index_dimension(at) for at in leaf.index]
    return tuple(own.index(d) if d in own else -1 for d in dims)


def _check_broadcast(stage: Stage, program: Program) -> None:
    """Raises `Unlike` where a computed array would have to be broadcast: the host lays arguments out as often as they
    are needed, but not what a stage computes.
    """
    if isinstance(stage, Product | Fold):
        return
    rows = row_arrays(program)
    for leaf in leaves(stage.term):
        if leaf.array in program.computed - rows and {*map(index_dimension, leaf.index)} != {*stage.dims}:
            label = program.array_label(leaf.array)
            message = f"`{label}` is computed, and would have to be spread over the elements of `{stage.label}`"
            refuse(message, stage.span)


def row_arrays(program: Program) -> frozenset[str]:
    """Arrays of which machines keep each element as often as a row of theirs has elements: results of folds, spread
    products, and formulas of these alone.
    """
    found = set[str]()
    for stage in program.stages:
        if isinstance(stage, Product):
            is_row = stage.is_spread
        else:
            read = [leaf for leaf in leaves(stage.term) if leaf.index]
            alike = all(leaf.array in found and len(leaf.index) == len(stage.dims) for leaf in read)
            is_row = isinstance(stage, Fold) or (bool(read) and alike)
        found |= {stage.result} if is_row else set()
    return frozenset(found)


def _search_layouts(program: Program, number: int, known: Mapping[str, _Flat]) -> tuple[Arranged, ...] | None:
    """Depth-first search over the layouts of the stages from `number` on, with those of the arrays before."""
    if number == len(program.stages):
        return ()
    stage = program.stages[number]
    for made in (
        _product_layouts(stage, known) if isinstance(stage, Product) else _formula_layouts(stage, program, known)
    ):
        # Only the layout of the result matters to later stages.
        flat = made.result.rows, made.result.columns, isinstance(made, Applied) and made.wrapped
        rest = _search_layouts(program, number + 1, {**known, stage.result: flat})
        if rest is not None:
            return made, *rest
    return None


def _product_layouts(stage: Product, known: Mapping[str, _Flat]) -> Iterator[Multiplied]:
    """Layouts of a product: C = A B, and C' = B' A'."""
    c = to_contraction(stage)
    for each in (c, replace(c, left=_transpose(c.right), right=_transpose(c.left), result=_transpose(c.result))):
        left, right = each.left, each.right
        as_it_is, as_transpose = _matrix_layout(right), _matrix_layout(_transpose(right))
        found = known.get(right.array, as_it_is)
        # A spread product has one column, which is as wide as a row of the machine.
        if stage.is_spread and each.result.columns:
            continue
        # Only the right factor can be read as its transpose.
        if known.get(left.array, _matrix_layout(left)) == _matrix_layout(left) and found in (as_it_is, as_transpose):
            yield Multiplied(stage, each, found != as_it_is)


def _matrix_layout(matrix: Matrix) -> _Flat:
    return matrix.rows, matrix.columns, False


def _transpose(matrix: Matrix) -> Matrix:
    return replace(matrix, rows=matrix.columns, columns=matrix.rows)


def _formula_layouts(stage: Formula, program: Program, known: Mapping[str, _Flat]) -> Iterator[Applied]:
    """Layouts of a formula: that of the computed arrays it reads, or any that may suit others."""
    if isinstance(stage, Fold):
        yield from _fold_layouts(stage, known)
        return
    found = dict[_Flat, None]()
    for leaf in leaves(stage.term):
        if leaf.array in known:
            axes = leaf_axes(leaf, stage.dims)
            rows, columns, wrapped = known[leaf.array]
            if -1 in axes:
                # A fold has one column for all of a row's.
                lacking = tuple(n for n, axis in enumerate(axes) if axis < 0)
                found[tuple(map(axes.index, rows)), lacking, False] = None
                continue
            found[tuple(map(axes.index, rows)), tuple(map(axes.index, columns)), wrapped] = None
    # Elements with the same index must lie at the same place of each array.
    if len(found) > 1:
        return
    for rows, columns, wrapped in found or _candidate_layouts(program, len(stage.dims)):
        yield Applied(stage, Matrix(stage.result, rows, columns), wrapped)


def _fold_layouts(stage: Fold, known: Mapping[str, _Flat]) -> Iterator[Applied]:
    """Layout of a fold: the dimension that it folds is that of columns."""
    assert isinstance(stage.term, Leaf), "a fold is of a whole array"
    names = [*map(index_dimension, stage.term.index)]
    own = tuple(map(names.index, stage.dims)), (names.index(stage.over),), False
    if known.get(stage.term.array, own) == own:
        result = Matrix(stage.result, tuple(range(len(stage.dims))), ())
        yield Applied(stage, result, source=Matrix(stage.term.array, own[0], own[1]))


def _candidate_layouts(program: Program, rank: int) -> Sequence[_Flat]:
    """Candidate layouts: all but the last dimension as rows, vectors wrapped, and what products have of arrays of so
    many dimensions.
    """
    if rank > 1:
        found: dict[_Flat, None] = {((*range(rank - 1),), (rank - 1,), False): None}
    else:
        found = {((*range(rank),), (), True): None, ((*range(rank),), (), False): None}
    for stage in program.stages:
        c = to_contraction(stage) if isinstance(stage, Product) else None
        for m in (c.left, c.right) if c is not None else ():
            if len(m.rows) + len(m.columns) == rank:
                found |= {_matrix_layout(m): None, _matrix_layout(_transpose(m)): None}
    return [*found]


def _check_padding(program: Program) -> None:
    """Raises `Unlike` where padding would count: beyond the sum's last element, one of both factors has to be zero."""
    # Arrays from the host are padded with zeros, so that only computed ones can be unclean.
    is_clean = dict[str, bool]()
    for stage in program.stages:
        zeros = [is_clean.get(name, True) for name in stage.reads]
        if isinstance(stage, Fold):
            is_clean[stage.result] = False
            continue
        if isinstance(stage, Formula):
            is_clean[stage.result] = padding_value(stage.term, is_clean) == 0
            continue
        if not any(zeros):
            message = f"both factors of `{stage.label}` are computed, and neither is 0 where its inputs are"
            refuse(message, stage.span)
        is_clean[stage.result] = all(zeros)

# SPDX-License-Identifier: Apache-2.0
"""Results of stages as the arrays of the caller: a stage writes one itself where nobody behind it reads what the array
held before (an anti dependence); the others are copied at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from polyloom.ir.formula import (
    Definition,
    Formulas,
    Leaf,
    Output,
    Term,
    leaves,
    result_element,
    rewrite_term,
)
from polyloom.ir.stage import Formula, Product, Program, Stage
from polyloom.sets import Affine

T = TypeVar("T")


def align_dimensions(formulas: Formulas) -> Formulas:
    """Formulas with the dimensions of each definition that is all of an output in the output's order."""
    # Reversed, so that of several outputs of one definition the first decides; the others are copies.
    orders = {o.definition: at for o in reversed(formulas.outputs) if (at := _dimension_order(o)) is not None}

    def change(term: Term) -> Term | None:
        if not isinstance(term, Leaf) or term.array not in orders:
            return None
        return replace(term, index=_permute(term.index, orders[term.array]))

    def align(d: Definition) -> Definition:
        return replace(
            d, dims=_permute(d.dims, orders.get(d.name, range(len(d.dims)))), term=rewrite_term(d.term, change)
        )

    outputs = tuple(replace(o, at=_permute(o.at, orders.get(o.definition, range(len(o.at))))) for o in formulas.outputs)
    return replace(formulas, definitions=tuple(map(align, formulas.definitions)), outputs=outputs)


def _dimension_order(output: Output) -> tuple[int, ...] | None:
    """Order of an output's dimensions; None where some dimension is fixed."""
    at = tuple(n for n in output.at if isinstance(n, int))
    return at if len(at) == len(output.at) else None


def _permute(items: Sequence[T], order: Sequence[int]) -> tuple[T, ...]:
    """Permutation: each item at the place that `order` names."""
    return tuple(item for _, item in sorted(zip(order, items, strict=True), key=lambda pair: pair[0]))


def store_outputs(program: Program) -> Program:
    """Program whose stages compute the outputs under their own names: in place, or by a copy."""
    stages, names = list(program.stages), dict[str, str]()
    for output in program.outputs:
        at = next(n for n, stage in enumerate(stages) if stage.result == output.definition)
        is_whole = _dimension_order(output) is not None and output.definition not in names
        if is_whole and all(_may_overwrite(stages[n], output.array, own=n == at) for n in range(at, len(stages))):
            names[output.definition] = output.array
    renamed = tuple(_rename(stage, names) for stage in stages)
    copies = tuple(_copy_stage(renamed, o, names) for o in program.outputs if names.get(o.definition) != o.array)
    whole = tuple(Output(o.array, o.array, tuple(range(len(program.shapes[o.array])))) for o in program.outputs)
    kept = {name for s in (*renamed, *copies) for name in (s.result, *s.reads)}
    return replace(
        program,
        stages=(*renamed, *copies),
        outputs=whole,
        types={name: kind for name, kind in program.types.items() if name in kept},
        shapes={name: shape for name, shape in program.shapes.items() if name in kept},
    )


def _may_overwrite(stage: Stage, array: str, *, own: bool) -> bool:
    """Whether a stage does without what the array held; the one that writes it may read the element that it writes."""
    if array not in stage.reads:
        return True
    if isinstance(stage, Product):
        # A product reads its factors many times, but what its sums begin with only once, before it writes.
        return own and array not in (stage.left.array, stage.right.array)
    here = result_element(array, stage.dims)
    return own and all(leaf == here for leaf in leaves(stage.term) if leaf.array == array)


def _rename(stage: Stage, names: Mapping[str, str]) -> Stage:
    """Stage with other names of arrays."""

    def change(term: Term) -> Term | None:
        return replace(term, array=names.get(term.array, term.array)) if isinstance(term, Leaf) else None

    result = names.get(stage.result, stage.result)
    if isinstance(stage, Formula):
        return replace(stage, result=result, term=rewrite_term(stage.term, change))
    left, right = (replace(leaf, array=names.get(leaf.array, leaf.array)) for leaf in (stage.left, stage.right))
    return replace(stage, result=result, left=left, right=right, begins=names.get(stage.begins, stage.begins))


def _copy_stage(stages: Sequence[Stage], output: Output, names: Mapping[str, str]) -> Formula:
    """Formula that copies a result to its output."""
    source = names.get(output.definition, output.definition)
    made = next(stage for stage in stages if stage.result == source)
    dims = {at: name for name, at in zip(made.dims, output.at, strict=True) if isinstance(at, int)}
    own = tuple(dims[n] for n in range(len(dims)))
    index = tuple(Affine.symbol(dims[at]) if isinstance(at, int) else at for at in output.at)
    return Formula(output.array, own, Leaf(source, index), made.label, (), made.span)

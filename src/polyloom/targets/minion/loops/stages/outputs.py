# SPDX-License-Identifier: Apache-2.0
"""Results of stages as the arrays of the caller: a stage writes one itself where nobody behind it reads what the array
held before; the others are copied at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from polyloom.analysis.dataflow import Apply, Leaf, Sum, Term
from polyloom.analysis.formulas import Definition, Formulas, Output
from polyloom.sets import Affine
from polyloom.targets.minion.loops.stages.stage import Elementwise, Multiply, Stage, Stages, leaves

T = TypeVar("T")


def turned(formulas: Formulas) -> Formulas:
    """With the dimensions of each definition that is all of an output in the output's order."""
    orders = {o.definition: at for o in reversed(formulas.outputs) if (at := _order(o)) is not None}

    def change(term: Term) -> Term:
        match term:
            case Leaf() if term.array in orders:
                return replace(term, index=_sorted(term.index, orders[term.array]))
            case Apply():
                return replace(term, operands=tuple(map(change, term.operands)))
            case Sum():
                return replace(term, term=change(term.term))
            case _:
                return term

    def of(d: Definition) -> Definition:
        return replace(d, dims=_sorted(d.dims, orders.get(d.name, range(len(d.dims)))), term=change(d.term))

    outputs = tuple(replace(o, at=_sorted(o.at, orders.get(o.definition, range(len(o.at))))) for o in formulas.outputs)
    return replace(formulas, definitions=tuple(map(of, formulas.definitions)), outputs=outputs)


def _order(output: Output) -> tuple[int, ...] | None:
    """None where some dimension is fixed."""
    at = tuple(n for n in output.at if isinstance(n, int))
    return at if len(at) == len(output.at) else None


def _sorted(items: Sequence[T], order: Sequence[int]) -> tuple[T, ...]:
    """Each at the place that `order` names."""
    return tuple(item for _, item in sorted(zip(order, items, strict=True), key=lambda pair: pair[0]))


def named(formulas: Formulas, made: Stages) -> Stages:
    """With the outputs among the results."""
    stages = list(made.stages)
    names = dict[str, str]()
    for output in formulas.outputs:
        at = next(n for n, stage in enumerate(stages) if stage.result == output.definition)
        is_whole = _order(output) is not None and output.definition not in names
        if is_whole and all(_may_overwrite(stages[n], output.array, own=n == at) for n in range(at, len(stages))):
            names[output.definition] = output.array
    made = replace(made, stages=tuple(_renamed(stage, names) for stage in stages))
    copies = [_copy(formulas, made, o, names) for o in formulas.outputs if names.get(o.definition) != o.array]
    return replace(made, stages=(*made.stages, *copies))


def _may_overwrite(stage: Stage, array: str, *, own: bool) -> bool:
    """Whether a stage does without what the array held; the one that writes it may read the element that it writes."""
    if array not in stage.reads:
        return True
    if isinstance(stage, Multiply):
        return own and array not in (stage.contraction.left.array, stage.contraction.right.array)
    here = tuple(map(Affine.symbol, stage.dims))
    return own and all(leaf.index == here for leaf in leaves(stage.term) if leaf.array == array)


def _renamed(stage: Stage, names: Mapping[str, str]) -> Stage:
    if isinstance(stage, Elementwise):
        return replace(stage, result=names.get(stage.result, stage.result), term=_read(stage.term, names))
    c = stage.contraction
    left, right, result = (replace(m, array=names.get(m.array, m.array)) for m in (c.left, c.right, c.result))
    begins = names.get(c.begins, c.begins)
    return replace(stage, contraction=replace(c, left=left, right=right, result=result, begins=begins))


def _read(term: Term, names: Mapping[str, str]) -> Term:
    if isinstance(term, Apply):
        return replace(term, operands=tuple(_read(o, names) for o in term.operands))
    return replace(term, array=names.get(term.array, term.array)) if isinstance(term, Leaf) else term


def _copy(formulas: Formulas, made: Stages, output: Output, names: Mapping[str, str]) -> Elementwise:
    d = next(d for d in formulas.definitions if d.name == output.definition)
    dims = {at: name for name, at in zip(d.dims, output.at, strict=True) if isinstance(at, int)}
    own = tuple(dims[n] for n in range(len(dims)))
    index = tuple(Affine.symbol(dims[at]) if isinstance(at, int) else at for at in output.at)
    source = names.get(d.name, d.name)
    extents = tuple(d.extents[name] for name in own)
    return Elementwise(output.array, own, extents, Leaf(source, index), made.types[d.name], d.span)

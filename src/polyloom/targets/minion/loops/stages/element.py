# SPDX-License-Identifier: Apache-2.0
"""An element-wise stage as a loop nest: one assignment inside a loop for each dimension."""

from __future__ import annotations

from collections.abc import Mapping

from polyloom.analysis.dataflow import Apply, Leaf, Number, Term, refuse
from polyloom.ir import nest as ir
from polyloom.ir.nest import Assign, Expression, Loop, Nest, Node, Storage
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Constant, Reference
from polyloom.sets import Affine
from polyloom.targets.minion.loops.stages.stage import Elementwise, Stages
from polyloom.targets.minion.loops.stages.terms import operand_type


def nest_of(nest: Nest, stage: Elementwise, made: Stages) -> Nest:
    """`nest` is the whole function. Raises `Unlike` for numbers without a type."""
    names = dict.fromkeys((*stage.reads, stage.result))
    storage = tuple(Storage(name, made.types[name], made.shapes[name]) for name in names)
    target = Reference(stage.result, tuple(map(Affine.symbol, stage.dims)), stage.span)
    body: tuple[Node, ...] = (Assign("S", target, _expression(stage.term, stage.dtype, made.types), stage.span),)
    for name, extent in reversed(list(zip(stage.dims, stage.extents, strict=True))):
        body = (Loop(name, (Affine((), 0),), (extent,), body, span=stage.span),)
    return Nest(nest.name, nest.parameters, nest.assumptions, storage, body, stage.span)


def _expression(term: Term, dtype: ElementType, types: Mapping[str, ElementType]) -> Expression:
    """`dtype` is the type that a number has here."""
    match term:
        case Leaf():
            return Reference(term.array, term.index)
        case Number():
            return Constant(term.value, dtype)
        case Apply():
            own = operand_type(term, types)
            if own is None:
                refuse(f"an operand of {term.operation} is a number of any type", term.span)
            kinds: list[ElementType] = [own] * len(term.operands)
            kinds[0] = "i32" if term.operation == "select" else own
            operands = (_expression(o, kind, types) for o, kind in zip(term.operands, kinds, strict=True))
            return ir.Apply(term.operation, own, tuple(operands), term.span)
        case _:
            return refuse("a sum inside a formula")

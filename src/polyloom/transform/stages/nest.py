# SPDX-License-Identifier: Apache-2.0
"""Stages and loop nests: a formula as a nest, one assignment inside a loop per dimension; which nests have sums of
products at all, and which compute with the values of loops.
"""

from __future__ import annotations

from collections.abc import Mapping

from polyloom.analysis.dataflow import refuse
from polyloom.ir import nest as ir
from polyloom.ir.formula import Apply, Leaf, Number, Term, operand_type
from polyloom.ir.nest import Assign, Expression, Loop, Nest, Node, Storage, accesses, statements
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Constant, Reference
from polyloom.ir.stage import Formula, Program
from polyloom.sets import Affine


def formula_nest(nest: Nest, formula: Formula, program: Program) -> Nest:
    """Nest of a formula in the function `nest`. Raises `Unlike` for numbers without a type."""
    names = dict.fromkeys((*formula.reads, formula.result))
    storage = tuple(Storage(name, program.types[name], program.shapes[name]) for name in names)
    target = Reference(formula.result, tuple(map(Affine.symbol, formula.dims)), formula.span)
    value = _expression(formula.term, program.types[formula.result], program.types)
    body: tuple[Node, ...] = (Assign("S", target, value, formula.span),)
    for name, extent in reversed(list(zip(formula.dims, program.shapes[formula.result], strict=True))):
        body = (Loop(name, (Affine((), 0),), (extent,), body, span=formula.span),)
    return Nest(nest.name, nest.parameters, nest.assumptions, storage, body, formula.span)


def _expression(term: Term, dtype: ElementType, types: Mapping[str, ElementType]) -> Expression:
    """Expression of a term; `dtype` is the type that a number has here."""
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
            # The first operand of a selection is its condition.
            kinds[0] = "i32" if term.operation == "select" else own
            operands = (_expression(o, kind, types) for o, kind in zip(term.operands, kinds, strict=True))
            return ir.Apply(term.operation, own, tuple(operands), term.span)
        case _:
            return refuse("a sum inside a formula")


def sums_products(nest: Nest) -> bool:
    """Whether a statement is a sum of products: it adds a product of two elements to the one that it writes, along one
    of its loops.
    """
    return any(
        any(_is_same_element(s.assign.target, read) for read in accesses(s.assign.value))
        # Some loop does not choose the element: the statement adds to it in each of its iterations.
        and len({name for index in s.assign.target.index for name in index.symbols} & {*s.loops}) < len(s.loops)
        and _has_product(s.assign.value)
        for s in statements(nest)
    )


def computes_with_loops(nest: Nest) -> bool:
    """Whether statements compute with values of loops, all of them in the one type of the nest's arrays."""
    found = {
        part.dtype for s in statements(nest) for part in ir.subexpressions(s.assign.value) if isinstance(part, ir.Index)
    }
    return bool(found) and {storage.dtype for storage in nest.storage} == found


def _is_same_element(target: Reference, read: Reference) -> bool:
    return (target.name, target.index) == (read.name, read.index)


def _has_product(value: Expression) -> bool:
    """Whether an expression multiplies two elements of arrays somewhere."""
    if not isinstance(value, ir.Apply):
        return False
    arrays = [o for o in value.operands[:2] if any(each.index for each in accesses(o))]
    if value.operation in ("mul", "madd") and len(arrays) == 2:
        return True
    return any(map(_has_product, value.operands))

# SPDX-License-Identifier: Apache-2.0
"""Elements of array values at affine places as expressions of nests; piecewise values are decision trees over affine
conditions, which assignments turn into `If`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from polyloom.diagnostics import Span
from polyloom.ir import nest
from polyloom.ir.arrays.program import Apply, Form, Read, Value, View, shape
from polyloom.ir.nest import Assign, Expression, If, Node
from polyloom.ir.operations import FLOATS, ElementType
from polyloom.ir.pla import Constant, Reference
from polyloom.sets import Affine, Condition


@dataclass(frozen=True, slots=True)
class Branch:
    """`inside` where an affine condition on loops holds, `outside` elsewhere."""

    condition: Condition
    inside: Tree
    outside: Tree


Tree = Expression | Branch
Place = tuple[Affine, ...]


def distribute(make: Callable[[tuple[Expression, ...]], Expression], operands: Sequence[Tree]) -> Tree:
    """An operation on trees: the tree of the operation on their leaves."""
    for n, operand in enumerate(operands):
        if isinstance(operand, Branch):
            before, behind = operands[:n], operands[n + 1 :]
            inside = distribute(make, (*before, operand.inside, *behind))
            return Branch(operand.condition, inside, distribute(make, (*before, operand.outside, *behind)))
    return make(tuple(operand for operand in operands if not isinstance(operand, Branch)))


def places(index: Sequence[Affine], at: Place) -> Place:
    """The index of a view at a place of it."""
    return tuple(form.substitute({f"${n}": place for n, place in enumerate(at)}) for form in index)


def element(value: Value, at: Place, other: Callable[[Value, Place], Tree]) -> Tree:
    """The element of a value at a place; of reductions, gathers and piecewise values, what `other` says."""
    match value:
        case Constant():
            return value
        case Form(value=form, dtype=dtype, span=span):
            return nest.Index(places((form,), at)[0], dtype, span)
        case Read(name=name, index=index, span=span):
            return Reference(name, places(index, at), span)
        case View(source=source, index=index):
            return element(source, places(index, at), other)
        case Apply(operation=operation, dtype=dtype, operands=operands, span=span):
            trees = [element(operand, at if shape(operand) else (), other) for operand in operands]
            return distribute(lambda found: nest.Apply(operation, dtype, found, span), trees)
        case _:
            return other(value, at)


def assignment(target: Reference, tree: Tree, span: Span | None) -> tuple[Node, ...]:
    """The assignment of a tree; names of statements come later."""
    if isinstance(tree, Branch):
        sides = assignment(target, tree.inside, span), assignment(target, tree.outside, span)
        return (If(tree.condition, sides[0], sides[1], span),)
    return (Assign("", target, tree, span),)


def combine_reduction(
    operation: str, dtype: ElementType, total: Expression, new: Expression, span: Span | None
) -> Expression:
    """A total of a reduction with one more element, which is read several times."""
    if operation in ("maximum", "minimum"):
        return nest.Apply("select", dtype, (keeps_best(operation, dtype, total, new, span), total, new), span)
    return nest.Apply(operation, dtype, (total, new), span)


def keeps_best(operation: str, dtype: ElementType, best: Expression, new: Expression, span: Span | None) -> Expression:
    """Whether the best so far stays: it is no worse, or a NaN."""
    better = "ge" if operation in ("maximum", "argmax") else "le"
    stays = nest.Apply(better, dtype, (best, new), span)
    if dtype not in FLOATS:
        return stays
    return nest.Apply("or", "i32", (stays, nest.Apply("ne", dtype, (best, best), span)), span)

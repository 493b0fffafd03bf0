# SPDX-License-Identifier: Apache-2.0
"""Selections by indices as bounds of loops: `select(i >= j, a, b)` depends on no data, so that it is a branch, and a
loop that is one branch becomes two loops (index-set splitting; Griebl, Feautrier, Lengauer 2000).

    for j: s[i, j] = select(i >= j, f, g)      becomes      for j < i + 1: s[i, j] = f;  for j >= i + 1: s[i, j] = g

Vector units then need neither masks nor arrays of indices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final

from polyloom.ir.nest import Apply, Assign, Expression, If, Index, Loop, Nest, Node, taken_names
from polyloom.ir.nest_rewrite import Copy, Rewriter
from polyloom.ir.pla import Constant
from polyloom.sets import Affine, Condition, Polyhedron

_RELATIONS: Final[Mapping[str, Callable[[Affine], Affine]]] = {
    "lt": lambda less: Affine() - less - 1,
    "le": lambda less: Affine() - less,
    "gt": lambda less: less - 1,
    "ge": lambda less: less,
}
"""By relation the form that is not negative where the relation of both sides holds, from their difference."""


def split_index_selections(nest: Nest) -> Nest:
    """Nest whose selections by comparisons of indices are branches, and where a loop is one branch, two loops."""
    made = replace(nest, body=_Branching(taken_names(nest)).nodes(nest.body))
    return replace(made, body=_LoopSplitting(taken_names(made)).nodes(made.body))


class _Branching(Rewriter):
    """Rewriter that makes a branch of the outermost selection by indices in a statement, and again in its sides."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken

    def assign(self, node: Assign) -> Iterable[Node]:
        found = _index_selection(node.value)
        if found is None:
            return (node,)
        selection, form = found
        sides = [
            replace(node, value=_replace_part(node.value, selection, operand)) for operand in selection.operands[1:]
        ]
        # The second side is a statement of its own, which needs a name of its own.
        (second,) = Copy({}, {}, self.taken).nodes((sides[1],))
        condition = Condition((Polyhedron((form,)),))
        return (If(condition, self.nodes((sides[0],)), self.nodes((second,)), node.span),)


class _LoopSplitting(Rewriter):
    """Rewriter that makes two loops of one whose body is a branch on its counter."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken

    def loop(self, node: Loop) -> Iterable[Node]:
        (made,) = super().loop(node)
        assert isinstance(made, Loop)
        return self.split(made)

    def split(self, made: Loop) -> tuple[Node, ...]:
        """Loops without a branch on the counter around everything; sides may be such branches again."""
        match made.body:
            case (If(condition=Condition(pieces=(Polyhedron(constraints=(form,)),)), body=body, orelse=orelse),):
                factor = form.coefficient(made.name)
            case _:
                return (made,)
        # A step of one iteration per unit of the form: the bound is a form itself.
        if abs(factor) != 1 or made.step != 1:
            return (made,)
        rest = form - Affine.symbol(made.name) * factor
        low, high = (Affine() - rest, None) if factor > 0 else (None, rest + 1)
        first = replace(
            made, body=body, lower=_with_condition(made.lower, low), upper=_with_condition(made.upper, high)
        )
        others = replace(
            made, body=orelse, lower=_with_condition(made.lower, high), upper=_with_condition(made.upper, low)
        )
        second = Copy({}, {}, self.taken).nodes((others,)) if orelse else ()
        parts = (first, *second) if factor < 0 else (*second, first)
        return tuple(each for part in parts if isinstance(part, Loop) for each in self.split(part))


def _with_condition(ends: tuple[Affine, ...], end: Affine | None) -> tuple[Affine, ...]:
    return ends if end is None or end in ends else (*ends, end)


def _index_selection(value: Expression) -> tuple[Apply, Affine] | None:
    """Outermost selection by a comparison of indices, and the form that is not negative where it takes its first
    side.
    """
    if not isinstance(value, Apply):
        return None
    if value.operation == "select" and (form := _comparison_form(value.operands[0])) is not None:
        return value, form
    return next((found for o in value.operands if (found := _index_selection(o)) is not None), None)


def _comparison_form(test: Expression) -> Affine | None:
    if not isinstance(test, Apply) or test.operation not in _RELATIONS:
        return None
    first, second = map(_index_form, test.operands)
    return None if first is None or second is None else _RELATIONS[test.operation](first - second)


def _index_form(value: Expression) -> Affine | None:
    """Affine form of an integer of indices; None of data, and of types that wrap: indices are below 2^31, which i32
    has alone.
    """
    match value:
        case Index(value=form, dtype="i32"):
            return form
        case Constant(value=int(number)):
            return Affine((), number)
        case Apply(operation="add" | "sub" as operation, dtype=dtype, operands=(a, b)) if dtype == "i32":
            first, second = _index_form(a), _index_form(b)
            if first is None or second is None:
                return None
            return first + second if operation == "add" else first - second
        case _:
            return None


def _replace_part(value: Expression, part: Apply, by: Expression) -> Expression:
    if value is part:
        return by
    if isinstance(value, Apply):
        return replace(value, operands=tuple(_replace_part(o, part, by) for o in value.operands))
    return value

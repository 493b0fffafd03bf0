# SPDX-License-Identifier: Apache-2.0
"""Final value of a loop variable behind its `for`: the first value that fails the test (C17, section 6.8.5, paragraph
4).

Where the number of turns is affine, so is the value. Elsewhere it is data, computed from the bounds: the first value,
or where the loop runs, the one past its last turn. Loops within a statement leave their variables unknown behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.affine_proofs import is_nonnegative
from polyloom.frontend.loops.affine import Scope
from polyloom.frontend.loops.headers import Header, loop_header
from polyloom.frontend.loops.roles import loop_variable, variable_symbol
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.types import TYPES
from polyloom.ir.nest import Apply, Expression, Index
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Constant
from polyloom.sets import Affine

# Where one of these leaves the loop, the number of turns says nothing about the last value.
_LEAVES = ("break", "goto", "return")


def final_values(node: Node, before: Scope, behind: Scope) -> Scope:
    """Final values: `behind`, the scope behind a statement, with what is known of the variables of its loops; `before`
    is the scope in front of it.
    """
    loops = [part for part in node if part.kind == "for"] if before.loops else []
    variables = [found for loop in loops if (found := loop_variable(loop)) is not None]
    # A variable that the loop declares does not exist behind it.
    names = {variable_symbol(found) for found in variables if found.kind == "name"}
    if not names:
        return behind
    symbols = {name: form for name, form in behind.symbols.items() if name not in names}
    values = {name: value for name, value in behind.values.items() if name not in names}
    scope = replace(behind, symbols=symbols, values=values)
    own = loop_variable(node) if node.kind == "for" else None
    if own is None or variable_symbol(own) not in names or any(part.kind in _LEAVES for part in node):
        return scope
    try:
        found = loop_header(node, before.drop_gathers())
    except PolyloomError:
        return scope
    final = found.final(found.count(before))
    if final is not None:
        return replace(scope, symbols={**symbols, found.identity: final})
    value = _final_value(found, own, before)
    return scope if value is None else replace(scope, values={**values, found.identity: value})


def _final_value(found: Header, variable: Node, scope: Scope) -> tuple[Expression, ElementType] | None:
    """Final value as data: first + ceil(max(length, 0) / step) * step; None where a bound may not be of the variable's
    type.
    """
    dtype = TYPES.get(variable.ctype)
    if dtype is None or len(found.first) != 1:
        return None
    # An unsigned variable does not have a negative bound, which the test would compare as a large number.
    if dtype != "i32" and not all(is_nonnegative(form, scope.domain) for form in (*found.first, *found.past)):
        return None
    step, up = abs(found.step), found.step > 0
    ends = found.past if up else tuple(form - 1 for form in found.past)
    first = Index(found.first[0], dtype, variable.span)
    end = _fold_bounds(ends, "min" if up else "max", dtype, variable)
    if step == 1:
        return _apply_operation("max" if up else "min", dtype, (first, end), variable), dtype
    lengths = [form - found.first[0] if up else found.first[0] - form for form in ends]
    # The turns, rounded up; none where the length is negative.
    length = _fold_bounds([form + (step - 1) for form in lengths], "min", dtype, variable)
    positive = _apply_operation("max", dtype, (length, Constant(0, dtype)), variable)
    turns = _apply_operation("div", dtype, (positive, Constant(step, dtype)), variable)
    grown = _apply_operation("mul", dtype, (turns, Constant(step, dtype)), variable)
    return _apply_operation("add" if up else "sub", dtype, (first, grown), variable), dtype


def _fold_bounds(forms: Sequence[Affine], operation: str, dtype: ElementType, node: Node) -> Expression:
    values: list[Expression] = [Index(form, dtype, node.span) for form in forms]
    return reduce(lambda a, b: _apply_operation(operation, dtype, (a, b), node), values)


def _apply_operation(operation: str, dtype: ElementType, operands: tuple[Expression, ...], node: Node) -> Apply:
    return Apply(operation, dtype, operands, node.span)

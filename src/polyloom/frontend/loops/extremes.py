# SPDX-License-Identifier: Apache-2.0
"""Loop bounds that are minima and maxima, also written as conditional expressions or by functions of an expression."""

from __future__ import annotations

from dataclasses import replace

from polyloom.frontend.loops.affine import Scope, affine_form, callee_name, value_in_type
from polyloom.frontend.loops.tree import Node
from polyloom.sets import Affine


def extreme_forms(node: Node, scope: Scope, least: bool) -> tuple[Affine, ...] | None:
    """Extreme forms: the affine forms whose minimum (`least`) or maximum an expression is; `a < b ? a : b` is one."""
    value = affine_form(node, scope)
    if value is not None:
        return (value,)
    if node.kind == "choose":
        return _conditional_extreme(node, scope, least)
    if node.kind == "operation" and node.opcode == ("min" if least else "max"):
        found = [extreme_forms(child, scope, least) for child in node.inner]
        forms = [form for part in found if part is not None for form in part]
        # min(a, min(b, c)) = min(a, b, c); a maximum inside a minimum has no such form.
        return None if None in found else tuple(dict.fromkeys(forms))
    if node.kind == "binary" and node.opcode in ("+", "-"):
        return _shift_extreme(node, scope, least)
    if node.kind == "exact":
        found = extreme_forms(node.inner[0], scope, least)
        gathered = scope.gather(node, scope) if found is None and scope.gather is not None else None
        return found if gathered is None else (gathered,)
    if expanded := expand_call(node, scope):
        return extreme_forms(*expanded, least)
    return None


def _shift_extreme(node: Node, scope: Scope, least: bool) -> tuple[Affine, ...] | None:
    """An extreme plus or minus an affine form: the extreme of the sums."""
    base, offset = extreme_forms(node.inner[0], scope, least), affine_form(node.inner[1], scope)
    if base is None and node.opcode == "+":
        base, offset = extreme_forms(node.inner[1], scope, least), affine_form(node.inner[0], scope)
    if base is None or offset is None:
        return None
    shifted = [form + offset if node.opcode == "+" else form - offset for form in base]
    return tuple(shifted) if all(value_in_type(form, node, scope) is not None for form in shifted) else None


def _conditional_extreme(node: Node, scope: Scope, least: bool) -> tuple[Affine, ...] | None:
    test, first, second = node.inner
    if test.opcode not in ("<", "<=", ">", ">="):
        return None
    a, b = (extreme_forms(child, scope, least) for child in test.inner)
    arms = extreme_forms(first, scope, least), extreme_forms(second, scope, least)
    # `a < b ? a : b` is a minimum and `a < b ? b : a` a maximum; `>` exchanges them.
    ordered = (a, b) if (test.opcode[0] == "<") == least else (b, a)
    return None if a is None or b is None or arms != ordered else tuple(dict.fromkeys((*a, *b)))


def expand_call(call: Node, scope: Scope) -> tuple[Node, Scope] | None:
    """Inline expansion of an expression: the result of a call of a function that only returns one, with its parameters
    bound, where the arguments are affine.
    """
    body = function_result(call, scope)
    if body is None:
        return None
    parameters, result = body
    values = [affine_form(argument, scope) for argument in call.inner[1:]]
    bound = {p.symbol: value for p, value in zip(parameters, values, strict=True) if value is not None}
    inside = replace(scope, symbols={**scope.symbols, **bound}).exclude_function(callee_name(call))
    return (result, inside) if len(bound) == len(values) else None


def function_result(call: Node, scope: Scope) -> tuple[list[Node], Node] | None:
    """The parameters of the called function and the expression that it returns, if that is all it does."""
    if call.kind != "call":
        return None
    called = call.inner[0]
    function = scope.functions.get(called.symbol) if called.kind == "name" else None
    if function is None:
        return None
    parameters, body = [n for n in function.inner if n.kind == "parameter"], function.inner[-1]
    # Helpers such as `static int min(int a, int b) { return ...; }`; anything longer is not expanded in bounds.
    simple = len(body.inner) == 1 and body.inner[0].kind == "return" and len(body.inner[0].inner) == 1
    return (parameters, body.inner[0].inner[0]) if simple and len(parameters) == len(call.inner) - 1 else None

# SPDX-License-Identifier: Apache-2.0
"""C expressions as operations of element types.

A node has the element type that belongs to its type in C. clang's tree contains every conversion, so that C's
promotions and usual arithmetic conversions (C17 6.3.1) are read off it; `frontend.convert` then leaves out those that
change nothing. What has 64 bits, or is a `long double`, is refused by name where data become it: counters, sizes and
subscripts may have such types.
"""

from __future__ import annotations

from dataclasses import replace

from polyloom.frontend.c.library import library
from polyloom.frontend.c.signature import TYPES, element_type
from polyloom.frontend.convert import FLOATS, comparison, converted, folded, is_truth
from polyloom.frontend.loops import refusals
from polyloom.frontend.loops.affine import COMPARISONS, COUNTING, Scope, affine, callee, function_result
from polyloom.frontend.loops.elements import reference
from polyloom.frontend.loops.tree import Node, strip
from polyloom.frontend.predicate import choice, guarded, same
from polyloom.ir.nest import Apply, Expression, Index
from polyloom.ir.nest_c import PREFIX, helper
from polyloom.ir.numbers import WIDTH, constant_in
from polyloom.ir.operations import ALL_TYPES, BY_NAME, INTEGERS, ElementType
from polyloom.ir.pla import Constant

Typed = tuple[Expression, ElementType]
_ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "rem", "&": "and", "|": "or", "^": "xor"}
_SHIFTS = {"<<": "shl", ">>": "shr"}
_CONVERSIONS = (
    "IntegralCast",
    "IntegralToBoolean",
    "IntegralToFloating",
    "FloatingCast",
    "FloatingToBoolean",
    "FloatingToIntegral",
)


def value(node: Node, dtype: ElementType, scope: Scope) -> Expression:
    """What an assignment of `node` to an element of `dtype` stores. Raises PL0154, PL0157, PL0160 to PL0164."""
    found, of = typed(node, scope)
    return converted(found, of, dtype, node.span)


def typed(node: Node, scope: Scope) -> Typed:
    """The value of an expression, and its type."""
    node = strip(node)
    known = affine(node, scope)
    if known is not None:
        # What counts may have 64 bits; a value that data are computed with is converted first, or refused there.
        dtype = TYPES.get(node.ctype, "i32")
        index = Index(known, dtype, node.span)
        return (_integer(known.constant, dtype, node) if known.is_constant else index), dtype
    match node.kind:
        case "FloatingLiteral":
            return _literal(node), _type(node)
        case "ImplicitCastExpr" | "CStyleCastExpr":
            return _cast(node, scope)
        case "DeclRefExpr" | "ArraySubscriptExpr":
            return _load(node, scope)
        case "UnaryOperator" if node.opcode == "*":
            return _load(node, scope)
        case "UnaryOperator" if node.opcode in ("+", "-", "~"):
            return _unary(node, *typed(node.inner[0], scope))
        case "UnaryOperator" if node.opcode == "!":
            return truth(node, scope), "i32"
        case "BinaryOperator" if node.opcode in COMPARISONS:
            return truth(node, scope), "i32"
        case "BinaryOperator" if node.opcode in ("&&", "||"):
            return _boolean(node, scope), "i32"
        case "BinaryOperator" if node.opcode in _ARITHMETIC or node.opcode in _SHIFTS:
            return binary(node, typed(node.inner[0], scope), node.inner[1], scope)
        case "ConditionalOperator":
            return _conditional(node, scope)
        case "CallExpr":
            return _call(node, scope)
        case _:
            raise refusals.expression(node)


def _type(node: Node) -> ElementType:
    """The element type of an expression on data."""
    if node.ctype not in TYPES:
        raise refusals.width(node) if node.ctype in COUNTING else refusals.expression(node)
    return TYPES[node.ctype]


def _operand(node: Node, scope: Scope) -> Typed:
    """An operand of an operation on data, which has an element type, also where it is a counter."""
    node = strip(node)
    dtype = _type(node)
    return value(node, dtype, scope), dtype


def _integer(number: int, dtype: ElementType, node: Node) -> Constant:
    span, width = 1 << WIDTH[dtype], WIDTH[dtype]
    low = number % span
    return Constant(low - span if dtype[0] == "i" and low >> (width - 1) else low, dtype, node.span)


def _literal(node: Node) -> Constant:
    dtype, number = _type(node), float(node.data["value"])
    rounded = constant_in(number, dtype)
    return Constant(number if rounded is None else rounded, dtype, node.span)


def _cast(node: Node, scope: Scope) -> Typed:
    inner = node.inner[0]
    if node.data["castKind"] not in _CONVERSIONS:
        raise refusals.expression(node if inner.ctype in TYPES else strip(inner))
    dtype = _type(node)
    if affine(inner, scope) is None:
        _type(inner)
    found, of = typed(inner, scope)
    return converted(found, of, dtype, node.span), dtype


def _unary(node: Node, operand: Expression, dtype: ElementType) -> Typed:
    _type(node)
    match node.opcode:
        case "+":
            return operand, dtype
        case "~":
            return _apply("xor", dtype, (operand, _integer(-1, dtype, node)), node), dtype
        case _ if isinstance(operand, Constant) and dtype in FLOATS:
            return Constant(-operand.value, dtype, node.span), dtype
        case _:
            return _apply("neg", dtype, (operand,), node), dtype


def binary(node: Node, left: Typed, right: Node, scope: Scope) -> Typed:
    """An arithmetic operation on a value that has the type of the operation, and another operand."""
    dtype = _type(node)
    first = converted(*left, dtype, node.span)
    # The amount of a shift has a type of its own (C17 6.5.7); those that C defines are elements of either type.
    second, of = _operand(right, scope)
    operation = (_ARITHMETIC | _SHIFTS)[node.opcode]
    return _apply(operation, dtype, (first, converted(second, of, dtype, node.span)), node), dtype


def _apply(operation: str, dtype: ElementType, operands: tuple[Expression, ...], node: Node) -> Expression:
    if not BY_NAME[operation].works_on(dtype):
        raise refusals.operation(node, dtype)
    if dtype == "f32":
        return Apply(operation, dtype, operands, node.span)
    return folded(operation, dtype, operands, node.span)


def truth(node: Node, scope: Scope) -> Expression:
    """A condition on data: an i32 that is not 0 where it holds."""
    node = strip(node)
    match node.kind:
        case "BinaryOperator" if node.opcode in COMPARISONS:
            (a, dtype), (b, _) = (_operand(child, scope) for child in node.inner)
            return comparison(COMPARISONS[node.opcode], dtype, a, b, node.span)
        case "BinaryOperator" if node.opcode in ("&&", "||"):
            first = _boolean(node.inner[0], scope)
            second = guarded(_boolean(node.inner[1], scope), first, node.opcode == "&&")
            return Apply("and" if node.opcode == "&&" else "or", "i32", (first, second), node.span)
        case "UnaryOperator" if node.opcode == "!":
            return Apply("eq", "i32", (_boolean(node.inner[0], scope), Constant(0, "i32")), node.span)
        case "ImplicitCastExpr" if node.data["castKind"] in ("IntegralToBoolean", "FloatingToBoolean"):
            return truth(node.inner[0], scope)
        case _:
            found, dtype = _operand(node, scope)
            if dtype in ("i32", "bool"):
                return converted(found, dtype, "i32", node.span)
            return comparison("ne", dtype, found, Constant(0.0 if dtype in FLOATS else 0, dtype), node.span)


def _boolean(node: Node, scope: Scope) -> Expression:
    """`truth` as exactly 0 or 1."""
    found = truth(node, scope)
    return found if is_truth(found) else Apply("ne", "i32", (found, Constant(0, "i32")), node.span)


def _load(node: Node, scope: Scope) -> Typed:
    """An element or a scalar, or an argument of the function that is being expanded."""
    if node.kind == "DeclRefExpr" and node.declaration in scope.values:
        return scope.values[node.declaration]
    found = reference(node, scope)
    return found, next(s.dtype for s in scope.storage.values() if s.name == found.name)


def _conditional(node: Node, scope: Scope) -> Typed:
    """A selection; of integers also a minimum or a maximum, which it equals in every case."""
    chosen = scope.chosen(node)
    if chosen is not None:
        return typed(chosen, scope)
    dtype = _type(node)
    test = truth(node.inner[0], scope)
    arms = [value(arm, dtype, scope) for arm in node.inner[1:]]
    first, second = guarded(arms[0], test, True), guarded(arms[1], test, False)
    compared = strip(node.inner[0])
    if dtype in INTEGERS and compared.opcode in ("<", "<=", ">", ">=") and _type(strip(compared.inner[0])) == dtype:
        sides, less = tuple(_operand(side, scope)[0] for side in compared.inner), compared.opcode in ("<", "<=")
        if same(sides, (first, second)):
            return _apply("min" if less else "max", dtype, (first, second), node), dtype
        if same(sides, (second, first)):
            return _apply("max" if less else "min", dtype, (second, first), node), dtype
    return choice(test, first, second, dtype, node.span), dtype


def _call(node: Node, scope: Scope) -> Typed:
    """An operation by its name in C, or a function that only returns an expression, expanded."""
    written = callee(node)
    name = written.removeprefix("__builtin_")
    if (operation := _printed(node, name, scope)) is not None:
        return _named(node, *operation, scope)
    expanded = function_result(node, scope)
    if expanded is not None:
        parameters, result = expanded
        found, of = typed(result, _bound(parameters, node.inner[1:], scope).without(name))
        dtype = _type(node)
        return converted(found, of, dtype, node.span), dtype
    return library(node, name, written in scope.defined, lambda argument, dtype: value(argument, dtype, scope))


def _printed(node: Node, name: str, scope: Scope) -> tuple[str, ElementType] | None:
    """The operation and the type of a function that `ir.nest_c` prints. It is known by its whole text: a user may have
    the name, too."""
    if not name.startswith(PREFIX):
        return None
    every: dict[str, tuple[str, ElementType]] = {
        f"{PREFIX}{operation}_{dtype}": (operation, dtype) for operation in BY_NAME for dtype in ALL_TYPES
    }
    found = every.get(name)
    function = scope.functions.get(strip(node.inner[0]).declaration) if found is not None else None
    if found is None or function is None:
        return None
    return found if function.span.source.text[function.span.start : function.span.end] == helper(*found) else None


def _named(node: Node, operation: str, dtype: ElementType, scope: Scope) -> Typed:
    """An operation by its own name, as `ir.nest_c` prints what C has no exact expression for."""
    if len(node.inner) - 1 != BY_NAME[operation].arity:
        raise refusals.call(node)
    types: list[ElementType] = [
        "i32" if operation == "select" and n == 0 else dtype for n in range(BY_NAME[operation].arity)
    ]
    operands = tuple([value(a, t, scope) for a, t in zip(node.inner[1:], types, strict=True)])
    return Apply(operation, dtype, operands, node.span), BY_NAME[operation].result(dtype)


def _bound(parameters: list[Node], arguments: tuple[Node, ...], scope: Scope) -> Scope:
    """The scope in which the parameters of an expanded function stand for its arguments."""
    symbols, values = dict(scope.symbols), dict(scope.values)
    for parameter, argument in zip(parameters, arguments, strict=True):
        form = affine(argument, scope)
        if form is not None and parameter.ctype in COUNTING:
            symbols[parameter.id] = form
        else:
            values[parameter.id] = value(argument, element_type(parameter), scope), element_type(parameter)
    return replace(scope, symbols=symbols, values=values)

# SPDX-License-Identifier: Apache-2.0
"""C expressions as operations on one element type.

C computes with signed char and short in int (integer promotion, C17 6.3.1.1). There are no conversions here, so such a
computation is done in the narrow type where that gives the same bits: sums, differences, products and bitwise
operations do modulo any power of two ("wrapping"), while comparisons, shifts to the right and divisions need operands
that are exactly elements of the narrow type.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.c import refusals
from polyloom.frontend.c.affine import COMPARISONS, COUNTING, Scope, affine, callee, function_result
from polyloom.frontend.c.constants import folded, single_constant
from polyloom.frontend.c.elements import reference
from polyloom.frontend.c.promotion import common_type
from polyloom.frontend.c.signature import TYPES, element_type
from polyloom.frontend.c.tree import Node, refuse, strip
from polyloom.frontend.predicate import choice, guarded, same
from polyloom.ir.nest import Apply, Expression, Index
from polyloom.ir.nest_c import PREFIX, helper
from polyloom.ir.numbers import WIDTH, constant_in
from polyloom.ir.operations import BY_NAME, ELEMENT_TYPES, INTEGERS, ElementType
from polyloom.ir.pla import Constant

CALLS: dict[str, tuple[str, ElementType]] = {
    "sqrtf": ("sqrt", "f32"),
    "fabsf": ("abs", "f32"),
    "fminf": ("min", "f32"),
    "fmaxf": ("max", "f32"),
    "fmaf": ("madd", "f32"),
    "abs": ("abs", "i32"),
}
_SPECIAL = {"inff": math.inf, "huge_valf": math.inf, "nanf": math.nan}
_WRAPPING = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor"}
_BITWISE = ("&", "|", "^")
_EXACT = {"/": "div", "%": "rem"}
_SHIFTS = {"<<": "shl", ">>": "shr"}
_SINGLE = {"+": "add", "-": "sub", "*": "mul", "/": "div"}


def value(node: Node, dtype: ElementType, scope: Scope) -> Expression:
    """What an assignment of `node` to an element of `dtype` stores. Raises PL0154, PL0157 and PL0160 to PL0164."""
    return single(node, scope) if dtype == "f32" else _Integer(dtype, False, scope).of(node)


def single(node: Node, scope: Scope) -> Expression:
    """An f32 value."""
    node = strip(node)
    if node.ctype in ("double", "long double"):
        raise refusals.double_precision(node)
    match node.kind:
        case "FloatingLiteral":
            return single_constant(float(node.data["value"]), node)
        case "ImplicitCastExpr" | "CStyleCastExpr":
            return _to_single(node, scope)
        case "DeclRefExpr" | "ArraySubscriptExpr":
            return _load(node, "f32", scope)
        case "UnaryOperator" if node.opcode == "*":
            return _load(node, "f32", scope)
        case "UnaryOperator" if node.opcode in ("+", "-"):
            operand = single(node.inner[0], scope)
            return operand if node.opcode == "+" else _negated(operand, "f32", node)
        case "BinaryOperator" if node.opcode in _SINGLE:
            return Apply(_SINGLE[node.opcode], "f32", tuple([single(child, scope) for child in node.inner]), node.span)
        case "ConditionalOperator":
            return _conditional(node, "f32", scope, lambda child: single(child, scope))
        case "CallExpr":
            return _call(node, "f32", scope, single)
        case _:
            raise refusals.expression(node)


def truth(node: Node, scope: Scope) -> Expression:
    """A condition on data: an i32 that is not 0 where it holds."""
    node = strip(node)
    match node.kind:
        case "BinaryOperator" if node.opcode in COMPARISONS:
            return _comparison(node, scope)
        case "BinaryOperator" if node.opcode in ("&&", "||"):
            first = _boolean(node.inner[0], scope)
            second = guarded(_boolean(node.inner[1], scope), first, node.opcode == "&&")
            return Apply("and" if node.opcode == "&&" else "or", "i32", (first, second), node.span)
        case "UnaryOperator" if node.opcode == "!":
            return Apply("eq", "i32", (_boolean(node.inner[0], scope), Constant(0, "i32")), node.span)
        case _:
            dtype = common_type((node,), scope)
            operand = _of(node, dtype, scope)
            return operand if dtype == "i32" else Apply("ne", dtype, (operand, Constant(0, dtype)), node.span)


def _boolean(node: Node, scope: Scope) -> Expression:
    """`truth` as exactly 0 or 1."""
    found = truth(node, scope)
    return found if _is_boolean(found) else Apply("ne", "i32", (found, Constant(0, "i32")), node.span)


def _is_boolean(found: Expression) -> bool:
    if not isinstance(found, Apply):
        return False
    return BY_NAME[found.operation].compares or (
        found.operation in ("and", "or") and all(map(_is_boolean, found.operands))
    )


def _comparison(node: Node, scope: Scope) -> Expression:
    for child in node.inner:
        # Counters may have these types; what they are compared with then wraps, or has 64 bits.
        if child.ctype in COUNTING and child.ctype != "int":
            raise refusals.expression(strip(child))
    dtype = common_type(node.inner, scope)
    return Apply(COMPARISONS[node.opcode], dtype, tuple([_of(child, dtype, scope) for child in node.inner]), node.span)


def _of(node: Node, dtype: ElementType, scope: Scope) -> Expression:
    return single(node, scope) if dtype == "f32" else _Integer(dtype, True, scope).of(node)


@dataclass(frozen=True, slots=True)
class _Integer:
    """Values of integer type, computed in `dtype`: modulo its range, or `exact`, where the value must be in it."""

    dtype: ElementType
    exact: bool
    scope: Scope

    def of(self, node: Node) -> Expression:
        node = strip(node)
        known = affine(node, self.scope)
        if known is not None:
            return (
                self.constant(known.constant, node)
                if known.is_constant
                else self.index(Index(known, self.dtype, node.span), node)
            )
        match node.kind:
            case "ImplicitCastExpr" | "CStyleCastExpr":
                return self.cast(node)
            case "DeclRefExpr" | "ArraySubscriptExpr":
                return _load(node, self.dtype, self.scope)
            case "UnaryOperator":
                return self.unary(node)
            case "BinaryOperator":
                return self.binary(node)
            case "ConditionalOperator":
                return _conditional(node, self.dtype, self.scope, self.of)
            case "CallExpr":
                return _call(node, self.dtype, self.scope, lambda result, scope: replace(self, scope=scope).of(result))
            case _:
                raise refusals.expression(node)

    def constant(self, number: int, node: Node) -> Constant:
        half = 1 << (WIDTH[self.dtype] - 1)
        if self.exact and constant_in(number, self.dtype) is None:
            raise self.inexact(node, f"{number} is no element of {self.dtype}")
        return Constant((number + half) % (2 * half) - half, self.dtype, node.span)

    def index(self, index: Index, node: Node) -> Index:
        if self.exact and self.dtype != "i32":
            raise self.inexact(node, f"`{index.value}` need not be an element of {self.dtype}")
        return index

    def cast(self, node: Node) -> Expression:
        inner = node.inner[0]
        if node.data["castKind"] == "FloatingToIntegral":
            number = folded(inner, self.scope)
            if number is None:
                raise (
                    refusals.double_precision(inner)
                    if inner.ctype == "double"
                    else refusals.conversion(node, "a number of the type f32 becomes an integer here")
                )
            return self.constant(int(number), node)
        if node.data["castKind"] != "IntegralCast" or node.ctype not in TYPES or inner.ctype not in TYPES:
            raise refusals.expression(node if inner.ctype in TYPES else strip(inner))
        to, source = WIDTH[TYPES[node.ctype]], WIDTH[TYPES[inner.ctype]]
        if to >= source:
            return self.of(inner)
        if (to > WIDTH[self.dtype] and self.exact) or to < WIDTH[self.dtype]:
            raise refusals.conversion(
                node, f"a value of the type {TYPES[node.ctype]} becomes one of the type {self.dtype} here"
            )
        return replace(self, exact=False).of(inner)

    def unary(self, node: Node) -> Expression:
        match node.opcode:
            case "*":
                return _load(node, self.dtype, self.scope)
            case "+":
                return self.of(node.inner[0])
            case "-":
                self.wraps(node)
                return _negated(self.of(node.inner[0]), self.dtype, node)
            case "~":
                return Apply("xor", self.dtype, (self.of(node.inner[0]), Constant(-1, self.dtype)), node.span)
            case "!":
                return self.boolean(node)
            case _:
                raise refusals.expression(node)

    def binary(self, node: Node) -> Expression:
        opcode = node.opcode
        if opcode in COMPARISONS or opcode in ("&&", "||"):
            return self.boolean(node)
        if opcode in _WRAPPING:
            if opcode not in _BITWISE:
                self.wraps(node)
            return self.apply(_WRAPPING[opcode], node, self)
        if (opcode in _EXACT or opcode == ">>") and node.ctype in COUNTING and node.ctype != "int":
            raise refusals.expression(node)
        if opcode in _EXACT:
            if opcode == "/":
                self.wraps(node)
            return self.apply(_EXACT[opcode], node, replace(self, exact=True))
        if opcode in _SHIFTS:
            return self.shift(node)
        raise refusals.expression(node)

    def apply(self, operation: str, node: Node, operands: _Integer) -> Apply:
        return Apply(operation, self.dtype, tuple([operands.of(child) for child in node.inner]), node.span)

    def shift(self, node: Node) -> Expression:
        amount = affine(node.inner[1], self.scope)
        if self.dtype != "i32" and (
            amount is None or not amount.is_constant or not 0 <= amount.constant < WIDTH[self.dtype]
        ):
            raise self.inexact(node, f"the amount must be a constant below {WIDTH[self.dtype]}")
        if node.opcode == "<<":
            self.wraps(node)
        return self.apply(_SHIFTS[node.opcode], node, replace(self, exact=self.exact or node.opcode == ">>"))

    def boolean(self, node: Node) -> Expression:
        found = _boolean(node, self.scope) if node.opcode in ("&&", "||") else truth(node, self.scope)
        return (
            found
            if self.dtype == "i32"
            else choice(found, Constant(1, self.dtype), Constant(0, self.dtype), self.dtype, node.span)
        )

    def wraps(self, node: Node) -> None:
        """Refuses an operation whose result in C may leave the narrow type where that matters."""
        if self.exact and self.dtype != "i32":
            raise self.inexact(node, "its result need not be an element of that type")

    def inexact(self, node: Node, reason: str) -> PolyloomError:
        message = (
            f"C computes {f'`{node.opcode}`' if node.opcode else 'this'} in int, and in {self.dtype} it would "
            f"not be the same: {reason}"
        )
        return refuse(
            "PL0164",
            message,
            node,
            "declare the arrays and variables that it reads as int, or cast the result to the narrow type",
        )


def _load(node: Node, dtype: ElementType, scope: Scope) -> Expression:
    """An element or a scalar, which must be of `dtype`, or an argument of the function that is being expanded."""
    if node.kind == "DeclRefExpr" and node.declaration in scope.values:
        found, of = scope.values[node.declaration]
    else:
        found = reference(node, scope)
        of = next(s.dtype for s in scope.storage.values() if s.name == found.name)
    if of != dtype:
        raise refusals.conversion(node, f"an element of the type {of} stands where one of the type {dtype} is needed")
    return found


def _negated(operand: Expression, dtype: ElementType, node: Node) -> Expression:
    if isinstance(operand, Constant) and dtype == "f32":
        return Constant(-operand.value, dtype, node.span)
    return Apply("neg", dtype, (operand,), node.span)


def _conditional(node: Node, dtype: ElementType, scope: Scope, lower: Callable[[Node], Expression]) -> Expression:
    """A selection; of integers also a minimum or a maximum, which it equals in every case."""
    chosen = scope.chosen(node)
    if chosen is not None:
        return lower(chosen)
    test = truth(node.inner[0], scope)
    first, second = guarded(lower(node.inner[1]), test, True), guarded(lower(node.inner[2]), test, False)
    if (
        isinstance(test, Apply)
        and test.dtype == dtype
        and dtype in INTEGERS
        and test.operation in ("lt", "le", "gt", "ge")
    ):
        less = test.operation in ("lt", "le")
        if same(test.operands, (first, second)):
            return Apply("min" if less else "max", dtype, (first, second), node.span)
        if same(test.operands, (second, first)):
            return Apply("max" if less else "min", dtype, (second, first), node.span)
    return choice(test, first, second, dtype, node.span)


def _call(node: Node, dtype: ElementType, scope: Scope, lower: Callable[[Node, Scope], Expression]) -> Expression:
    """An operation by its name in C, or a function that only returns an expression, expanded."""
    written = callee(node)
    name = written.removeprefix("__builtin_")
    if (operation := _printed(node, name, scope)) is not None:
        return _named(node, *operation, dtype, scope)
    expanded = function_result(node, scope)
    if expanded is not None:
        parameters, result = expanded
        return lower(result, _bound(parameters, node.inner[1:], scope).without(name))
    if written in scope.defined and (name in CALLS or name in _SPECIAL):
        raise refusals.call(node, own=True)
    if name in _SPECIAL:
        return Constant(_SPECIAL[name], "f32", node.span)
    operation, of = CALLS.get(name, ("", dtype))
    if not operation:
        raise refusals.call(node)
    if of == "f32":
        return Apply(operation, of, tuple([single(argument, scope) for argument in node.inner[1:]]), node.span)
    return Apply(
        operation, dtype, tuple([_Integer(dtype, True, scope).of(argument) for argument in node.inner[1:]]), node.span
    )


def _printed(node: Node, name: str, scope: Scope) -> tuple[str, ElementType] | None:
    """The operation and the type of a function that `ir.nest_c` prints. It is known by its whole text: a user may have
    the name, too."""
    if not name.startswith(PREFIX):
        return None
    every: dict[str, tuple[str, ElementType]] = {
        f"{PREFIX}{operation}_{dtype}": (operation, dtype) for operation in BY_NAME for dtype in ELEMENT_TYPES
    }
    found = every.get(name)
    function = scope.functions.get(strip(node.inner[0]).declaration) if found is not None else None
    if found is None or function is None:
        return None
    return found if function.span.source.text[function.span.start : function.span.end] == helper(*found) else None


def _named(node: Node, operation: str, of: ElementType, dtype: ElementType, scope: Scope) -> Expression:
    """An operation by its own name, as `ir.nest_c` prints what C has no exact expression for."""
    if of != dtype or len(node.inner) - 1 != BY_NAME[operation].arity:
        raise refusals.call(node)
    types: list[ElementType] = [
        "i32" if operation == "select" and n == 0 else dtype for n in range(BY_NAME[operation].arity)
    ]
    return Apply(
        operation, dtype, tuple([value(a, t, scope) for a, t in zip(node.inner[1:], types, strict=True)]), node.span
    )


def _bound(parameters: list[Node], arguments: tuple[Node, ...], scope: Scope) -> Scope:
    """The scope in which the parameters of an expanded function stand for its arguments."""
    symbols, values = dict(scope.symbols), dict(scope.values)
    for parameter, argument in zip(parameters, arguments, strict=True):
        form = affine(argument, scope)
        if form is not None and element_type(parameter) == "i32":
            symbols[parameter.id] = form
        else:
            values[parameter.id] = value(argument, element_type(parameter), scope), element_type(parameter)
    return replace(scope, symbols=symbols, values=values)


def _to_single(node: Node, scope: Scope) -> Expression:
    """A conversion to float: of a constant, an affine expression, a comparison's result, or a choice of these."""
    return _converted(strip(node.inner[0]), node, scope)


def _converted(inner: Node, node: Node, scope: Scope) -> Expression:
    number = folded(inner, scope)
    if number is not None:
        return single_constant(number, node)
    if inner.ctype in ("double", "long double"):
        raise refusals.double_precision(inner)
    form = affine(inner, scope)
    if form is not None:
        return Index(form, "f32", node.span)
    if inner.opcode in (*COMPARISONS, "&&", "||", "!"):
        return choice(_boolean(inner, scope), Constant(1.0, "f32"), Constant(0.0, "f32"), "f32", node.span)
    if inner.kind == "ConditionalOperator":
        return _conditional(inner, "f32", scope, lambda child: _converted(strip(child), node, scope))
    raise refusals.conversion(node, "an integer becomes a number of the type f32 here")

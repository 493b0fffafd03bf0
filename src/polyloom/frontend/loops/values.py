# SPDX-License-Identifier: Apache-2.0
"""Lowering of expressions to operations of element types.

Every node has a type, and the tree contains every conversion; `frontend.convert` then leaves out those that change
nothing. What has 64 bits, or is a `long double`, is refused by name where data become it: counters, sizes and
subscripts may have such types.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import isfinite

from polyloom.frontend.convert import FLOATS, convert_value, fold_constants, is_truth, narrow_comparison
from polyloom.frontend.if_convert import guard_divisions, has_equal_structure, make_select
from polyloom.frontend.loops import refusals
from polyloom.frontend.loops.affine import COMPARISONS, Scope, affine_form, callee_name, decide_test
from polyloom.frontend.loops.elements import array_reference
from polyloom.frontend.loops.extremes import function_result
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.types import COUNTING, INTEGER, TYPES, element_type
from polyloom.ir.library import KERNELS, LARGEST_POWER, SINGLE
from polyloom.ir.nest import Apply, Expression, Index
from polyloom.ir.numbers import WIDTH, element_constant
from polyloom.ir.operations import BY_NAME, INTEGERS, ElementType, may_divide_by_zero
from polyloom.ir.pla import Constant
from polyloom.sets import Affine

Typed = tuple[Expression, ElementType]
_ARITHMETIC = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div",
    "%": "rem",
    "//": "floordiv",
    "mod": "mod",
    "&": "and",
    "|": "or",
    "^": "xor",
}
_SHIFTS = {"<<": "shl", ">>": "shr"}
_CONVERSIONS = (
    "IntegralCast",
    "IntegralToBoolean",
    "IntegralToFloating",
    "FloatingCast",
    "FloatingToBoolean",
    "FloatingToIntegral",
    "IntegerToElement",
)


def value(node: Node, dtype: ElementType, scope: Scope) -> Expression:
    """Value that an assignment of `node` to an element of `dtype` stores. Raises PL0154, PL0157, PL0160 to PL0164."""
    found, of = typed_value(node, scope)
    return convert_value(found, of, dtype, node.span)


def typed_value(node: Node, scope: Scope) -> Typed:
    """Value of an expression, and its type (C17, section 6.5; Python language reference, chapter 6)."""
    known = affine_form(node, scope)
    if known is not None:
        # What counts may have 64 bits; a value that data are computed with is converted first, or refused there.
        dtype = TYPES.get(node.ctype, "i32")
        index = Index(known, dtype, node.span)
        return (_wrapped_constant(known.constant, dtype, node) if known.is_constant else index), dtype
    match node.kind:
        case "real":
            return _literal(node), _data_type(node)
        case "convert" | "cast":
            return _lower_cast(node, scope)
        case "name" | "element":
            return _lower_load(node, scope)
        case "unary" if node.opcode == "*":
            return _lower_load(node, scope)
        case "unary" if node.opcode in ("+", "-", "~"):
            return _lower_unary(node, *typed_value(node.inner[0], scope))
        case "unary" if node.opcode == "!":
            return _truth_value(node, scope)
        case "binary" if node.opcode in (*COMPARISONS, "&&", "||"):
            return _truth_value(node, scope)
        case "binary" if node.opcode in _ARITHMETIC or node.opcode in _SHIFTS:
            return lower_binary(node, typed_value(node.inner[0], scope), node.inner[1], scope)
        case "choose":
            return _lower_conditional(node, scope)
        case "exact":
            return typed_value(node.inner[1], scope)
        case "operation":
            return _lower_operation(node, scope)
        case "call":
            return _expand_call(node, scope)
        case _:
            raise refusals.refuse_expression(node)


def _data_type(node: Node) -> ElementType:
    """The element type of an expression on data."""
    if node.ctype not in TYPES:
        raise refusals.refuse_width(node) if node.ctype in COUNTING else refusals.refuse_expression(node)
    return TYPES[node.ctype]


def _typed_operand(node: Node, scope: Scope) -> Typed:
    """An operand of an operation on data, which has an element type, also where it is a counter."""
    if node.ctype == INTEGER:
        return _integer_element(node, node, affine_form(node, scope), "i32", scope), "i32"
    dtype = _data_type(node)
    return value(node, dtype, scope), dtype


def _wrapped_constant(number: int, dtype: ElementType, node: Node) -> Constant:
    span, width = 1 << WIDTH[dtype], WIDTH[dtype]
    # Two's complement: the low bits, read with the type's sign (C17, section 6.3.1.3).
    low = number % span
    return Constant(low - span if dtype[0] == "i" and low >> (width - 1) else low, dtype, node.span)


def _literal(node: Node) -> Constant:
    dtype, number = _data_type(node), node.value
    assert isinstance(number, int | float | str)
    number = float(number) if isinstance(number, str) else number
    # A literal beyond the type's range stays as written: the verifier of nests reports it.
    rounded = element_constant(number, dtype)
    return Constant(number if rounded is None else rounded, dtype, node.span)


def _truth_value(node: Node, scope: Scope) -> Typed:
    """A condition as data, of the type that it has in the language."""
    dtype = _data_type(node)
    return convert_value(lower_truth(node, scope), "i32", dtype, node.span), dtype


def _lower_cast(node: Node, scope: Scope) -> Typed:
    inner = node.inner[0]
    if node.opcode not in _CONVERSIONS:
        raise refusals.refuse_expression(node if inner.ctype in TYPES else inner)
    dtype = _data_type(node)
    form = affine_form(inner, scope)
    if inner.ctype == INTEGER:
        return _integer_element(node, inner, form, dtype, scope), dtype
    if form is None:
        _data_type(inner)
    found, of = typed_value(inner, scope)
    return convert_value(found, of, dtype, node.span), dtype


def _integer_element(node: Node, inner: Node, form: Affine | None, dtype: ElementType, scope: Scope) -> Expression:
    """An integer that never wraps as an element: of a constant, one that is in its range."""
    if form is None:
        raise refusals.refuse_affine_value(inner, scope)
    if not form.is_constant:
        return Index(form, dtype, node.span)
    found = element_constant(form.constant, dtype)
    if found is None:
        raise refusals.refuse_constant(node, form.constant, dtype)
    return Constant(found, dtype, node.span)


def _lower_unary(node: Node, operand: Expression, dtype: ElementType) -> Typed:
    _data_type(node)
    match node.opcode:
        case "+":
            return operand, dtype
        case "~":
            ones = Constant(1, "bool", node.span) if dtype == "bool" else _wrapped_constant(-1, dtype, node)
            return _apply_operation("xor", dtype, (operand, ones), node), dtype
        # 0 - x would give +0 for x = 0: the sign is changed in place (IEEE 754, section 5.5.1).
        case _ if isinstance(operand, Constant) and dtype in FLOATS:
            return Constant(-operand.value, dtype, node.span), dtype
        case _:
            return _apply_operation("neg", dtype, (operand,), node), dtype


def lower_binary(node: Node, left: Typed, right: Node, scope: Scope) -> Typed:
    """An arithmetic operation on a value that has the type of the operation, and another operand."""
    dtype = _data_type(node)
    first = convert_value(*left, dtype, node.span)
    # The amount of a shift has a type of its own (C17 6.5.7); those that C defines are elements of either type.
    second, of = _typed_operand(right, scope)
    operation = (_ARITHMETIC | _SHIFTS)[node.opcode]
    return _apply_operation(operation, dtype, (first, convert_value(second, of, dtype, node.span)), node), dtype


def _apply_operation(operation: str, dtype: ElementType, operands: tuple[Expression, ...], node: Node) -> Expression:
    """Operation on values; one of constants is a constant, as the operation computes it, if that is finite. Raises
    PL0164, PL0233.
    """
    if not BY_NAME[operation].accepts_type(dtype):
        raise refusals.refuse_operation(node, dtype)
    if may_divide_by_zero(operation, dtype) and isinstance(operands[1], Constant) and operands[1].value == 0:
        raise refusals.refuse_division(node)
    # Kernels differ from C's library in the last bits: the host must not fold what the machine computes.
    if operation in KERNELS or operation == "pow":
        return Apply(operation, dtype, operands, node.span)
    found = fold_constants(operation, dtype, operands, node.span)
    is_finite = not isinstance(found, Constant) or isfinite(found.value)
    return found if is_finite else Apply(operation, dtype, operands, node.span)


def lower_truth(node: Node, scope: Scope) -> Expression:
    """Truth of a condition on data: an i32 that is not 0 where it holds (C17, sections 6.5.8, 6.5.9, 6.5.13 and
    6.5.14).
    """
    outcome = decide_test(node, scope)
    if outcome is not None:
        return Constant(int(outcome), "i32", node.span)
    match node.kind:
        case "binary" if node.opcode in COMPARISONS:
            (a, dtype), (b, _) = (_typed_operand(child, scope) for child in node.inner)
            if not BY_NAME[COMPARISONS[node.opcode]].accepts_type(dtype) or (
                isinstance(a, Constant) and isinstance(b, Constant)
            ):
                return _apply_operation(COMPARISONS[node.opcode], dtype, (a, b), node)
            return narrow_comparison(COMPARISONS[node.opcode], dtype, a, b, node.span)
        case "binary" if node.opcode in ("&&", "||"):
            decided = [decide_test(part, scope) is not None for part in node.inner]
            if any(decided):  # the other one decides
                return _boolean(node.inner[decided.index(True) ^ 1], scope)
            first = _boolean(node.inner[0], scope)
            if scope.gathers is not None and reads_index_of_data(node.inner[1], scope):
                later = partial(_boolean, node.inner[1], scope)
                return scope.gathers.short_circuit(first, later, node.opcode == "&&", node.inner[1].span)
            second = guard_divisions(_boolean(node.inner[1], scope), first, node.opcode == "&&")
            return _apply_operation("and" if node.opcode == "&&" else "or", "i32", (first, second), node)
        case "unary" if node.opcode == "!":
            return _apply_operation("eq", "i32", (_boolean(node.inner[0], scope), Constant(0, "i32")), node)
        case "convert" if node.opcode in ("IntegralToBoolean", "FloatingToBoolean"):
            return lower_truth(node.inner[0], scope)
        case _:
            found, dtype = _typed_operand(node, scope)
            if dtype in ("i32", "bool"):
                return convert_value(found, dtype, "i32", node.span)
            return narrow_comparison("ne", dtype, found, Constant(0.0 if dtype in FLOATS else 0, dtype), node.span)


def _boolean(node: Node, scope: Scope) -> Expression:
    """`lower_truth` as exactly 0 or 1."""
    found = lower_truth(node, scope)
    is_known = is_truth(found) or (isinstance(found, Constant) and found.value in (0, 1))
    return found if is_known else Apply("ne", "i32", (found, Constant(0, "i32")), node.span)


def _lower_load(node: Node, scope: Scope) -> Typed:
    """An element or a scalar, or an argument of the function that is being expanded."""
    if node.kind == "name" and node.symbol in scope.values:
        return scope.values[node.symbol]
    found = array_reference(node, scope)
    return found, next(s.dtype for s in scope.storage.values() if s.name == found.name)


def _expand_call(node: Node, scope: Scope) -> Typed:
    """A function that only returns an expression, expanded."""
    expanded = function_result(node, scope)
    if expanded is None:
        raise refusals.refuse_call(node)
    parameters, result = expanded
    found, of = typed_value(
        result, _bind_parameters(parameters, node.inner[1:], scope).exclude_function(callee_name(node))
    )
    dtype = _data_type(node)
    return convert_value(found, of, dtype, node.span), dtype


def _lower_operation(node: Node, scope: Scope) -> Typed:
    """Named operation on operands of its type. Raises PL0154, PL0157."""
    operation, dtype = node.opcode, TYPES[node.types[0]]
    if dtype == "f64" and operation in SINGLE:
        raise refusals.refuse_single(node)
    types: list[ElementType] = ["i32" if operation == "select" and n == 0 else dtype for n in range(len(node.inner))]
    operands = tuple([value(a, t, scope) for a, t in zip(node.inner, types, strict=True)])
    if operation == "pow" and not _is_integer_power(operands[1]):
        if dtype != "f32" or not isinstance(operands[0], Constant) or operands[0].value != 2:
            raise refusals.refuse_power(node)
        # 2 ** x has a kernel; other bases with a variable exponent would need log2, which loses bits.
        return Apply("exp2", dtype, operands[1:], node.span), dtype
    return _apply_operation(operation, dtype, operands, node), BY_NAME[operation].result(dtype)


def reads_index_of_data(node: Node, scope: Scope) -> bool:
    """Whether an element at an index that is data is in an expression."""
    indices = (n.inner[1] for n in node if n.kind == "element" and n.inner)
    return any(index.kind == "exact" and affine_form(index, scope) is None for index in indices)


def gather_index(index: Node, scope: Scope) -> Affine | None:
    """An index or a bound that is data, of an integer type."""
    if scope.gathers is None or index.kind != "exact":
        return None
    data = index.inner[1]
    if TYPES.get(data.ctype) not in INTEGERS:
        raise refusals.refuse_index_type(data)
    return scope.gathers.symbol(value(data, "i32", scope), data.span)


def _is_integer_power(exponent: Expression) -> bool:
    """Powers are products: the exponent is a constant integer."""
    if not isinstance(exponent, Constant):
        return False
    return float(exponent.value).is_integer() and abs(exponent.value) <= LARGEST_POWER


def _lower_conditional(node: Node, scope: Scope) -> Typed:
    """Conditional expression as a selection (C17, section 6.5.15); of integers also a minimum or a maximum, which it
    equals in every case.
    """
    outcome = decide_test(node.inner[0], scope)
    test = Constant(int(outcome), "i32") if outcome is not None else lower_truth(node.inner[0], scope)
    if isinstance(test, Constant):
        return typed_value(node.inner[1 if test.value else 2], scope)
    dtype = _data_type(node)
    if scope.gathers is not None and any(reads_index_of_data(arm, scope) for arm in node.inner[1:]):
        first, second = (partial(value, arm, dtype, scope) for arm in node.inner[1:])
        return scope.gathers.conditional(test, dtype, (first, second), node.span), dtype
    arms = [value(arm, dtype, scope) for arm in node.inner[1:]]
    first, second = guard_divisions(arms[0], test, True), guard_divisions(arms[1], test, False)
    compared = node.inner[0]
    # Of floats only where no NaN and no zero of two signs occur, which nothing here knows.
    if dtype in INTEGERS and compared.opcode in ("<", "<=", ">", ">=") and TYPES.get(compared.inner[0].ctype) == dtype:
        sides, less = tuple(_typed_operand(side, scope)[0] for side in compared.inner), compared.opcode in ("<", "<=")
        if has_equal_structure(sides, (first, second)):
            return _apply_operation("min" if less else "max", dtype, (first, second), node), dtype
        if has_equal_structure(sides, (second, first)):
            return _apply_operation("max" if less else "min", dtype, (second, first), node), dtype
    return make_select(test, first, second, dtype, node.span), dtype


def _bind_parameters(parameters: list[Node], arguments: tuple[Node, ...], scope: Scope) -> Scope:
    """The scope in which the parameters of an expanded function stand for its arguments."""
    symbols, values = dict(scope.symbols), dict(scope.values)
    for parameter, argument in zip(parameters, arguments, strict=True):
        form = affine_form(argument, scope)
        # Affine arguments stay affine inside, where they may be subscripts and bounds.
        if form is not None and parameter.ctype in COUNTING:
            symbols[parameter.symbol] = form
        else:
            values[parameter.symbol] = value(argument, element_type(parameter), scope), element_type(parameter)
    return replace(scope, symbols=symbols, values=values)

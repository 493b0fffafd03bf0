# SPDX-License-Identifier: Apache-2.0
"""Expressions of 64 bits as pairs, and of what is computed from them: conversions, comparisons and truth (C17, sections
6.3.1 and 6.5)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

from polyloom.frontend.c.wide import words
from polyloom.frontend.c.wide.division import divide_pair
from polyloom.frontend.c.wide.words import WIDE, WORD, Pair, cast, op, word
from polyloom.frontend.loops import make, refusals
from polyloom.frontend.loops.tree import CASTS, Node

_COMPARISONS: Final = ("<", "<=", ">", ">=", "==", "!=")
_HALF: Final = ("short", "signed char", "char", "unsigned char", "_Bool")
"""Types of which a product has at most 31 bits and a sign."""


@dataclass(frozen=True, slots=True)
class Words:
    """Context: the variables that are pairs, by identity; `data` are other variables that are no counters; `bind` gives
    an expression a name."""

    pairs: Mapping[str, Pair]
    data: Collection[str]
    bind: Callable[[Node], Node]

    def pure_context(self) -> Words:
        """Context in which nothing is computed before the statement: what C may not evaluate."""
        return replace(self, bind=_strip_parentheses)


def _strip_parentheses(node: Node) -> Node:
    return node


def is_data(node: Node, context: Words) -> bool:
    """Whether an expression depends on data, and not on counters and sizes alone."""
    kinds = ("element", "operation", "call", "real")
    return any(
        part.kind in kinds
        or (part.kind == "unary" and part.opcode == "*")
        or (part.kind == "name" and (part.symbol in context.pairs or part.symbol in context.data))
        for part in node
    )


def narrow_expression(node: Node, context: Words) -> Node:
    """Expression with pairs for what it computes in 64 bits; a node of that type is left where it is no data."""
    if node.kind == "element":
        # A subscript is no data.
        return replace(node, inner=(narrow_expression(node.inner[0], context), node.inner[1]))
    if node.ctype in WIDE or not any(part.ctype in WIDE for part in node) or not is_data(node, context):
        return node
    wide = [child for child in node.inner if child.ctype in WIDE and is_data(child, context)]
    if node.kind in CASTS and wide:
        return _convert_pair(node, pair(wide[0], context), context)
    if node.kind == "binary" and node.opcode in _COMPARISONS and wide:
        a, b = (_bound(pair(child, context), context) for child in node.inner)
        return words.order_pairs(node.opcode, a, b, not node.inner[0].ctype.startswith("unsigned"))
    if node.opcode in ("&&", "||"):
        first, second = truth(node.inner[0], context), truth(node.inner[1], context.pure_context())
        return replace(node, inner=(first, second))
    if node.kind == "unary" and node.opcode == "!":
        return replace(node, inner=(truth(node.inner[0], context),))
    if node.kind == "choose":
        test, *arms = node.inner
        return replace(
            node, inner=(truth(test, context), *(narrow_expression(arm, context.pure_context()) for arm in arms))
        )
    if wide and node.opcode in ("<<", ">>") and node.inner[0].ctype not in WIDE:
        # The amount of a shift has a type of its own.
        amount = cast(pair(node.inner[1], context).low, "int")
        return replace(node, inner=(narrow_expression(node.inner[0], context), amount))
    if wide:
        raise refusals.refuse_width(wide[0])
    return replace(node, inner=tuple([narrow_expression(child, context) for child in node.inner]))


def truth(node: Node, context: Words) -> Node:
    """A condition."""
    if node.ctype not in WIDE or not is_data(node, context):
        return narrow_expression(node, context)
    found = pair(node, context)
    return words.comparison("!=", op("|", found.low, found.high), word(0, node))


def _convert_pair(node: Node, found: Pair, context: Words) -> Node:
    if node.opcode == "IntegralCast":
        return cast(found.low, node.ctype)
    if node.opcode == "IntegralToBoolean":
        return replace(node, inner=(words.comparison("!=", op("|", found.low, found.high), word(0, node)),))
    if node.opcode == "IntegralToFloating" and node.ctype == "double":
        # Both words are doubles, and so is the product: the sum alone rounds.
        top = found.high if node.inner[0].ctype.startswith("unsigned") else cast(found.high, "int")
        high, low = (Node("convert", node.span, "double", (w,), "IntegralToFloating") for w in (top, found.low))
        scale = replace(make.zero_value("double", node), value=4294967296.0)
        return make.binary("+", make.binary("*", high, scale, "double", node), low, "double", node)
    raise refusals.refuse_width(node.inner[0])


def _bound(found: Pair, context: Words) -> Pair:
    return Pair(context.bind(found.low), context.bind(found.high))


def pair(node: Node, context: Words) -> Pair:
    """Pair of an expression of 64 bits. Raises PL0163 for what has none."""
    match node.kind:
        case "integer":
            assert isinstance(node.value, int | str)
            return words.literal(int(node.value), node)
        case "element" | "unary" if is_access(node):
            return Pair(access_word(node, 0), access_word(node, 1))
        case "name" if node.symbol in context.pairs:
            return context.pairs[node.symbol]
        case "convert" | "cast" if node.opcode == "IntegralCast":
            inner = node.inner[0]
            return pair(inner, context) if inner.ctype in WIDE else _extend_word(inner, context)
        case "convert" | "cast" if node.opcode == "FloatingToIntegral":
            return _truncated_number(node, context)
        case "name":
            # A counter, which is in the range of `int`.
            return _extend_word(cast(node, "int"), context)
        case "unary" if node.opcode == "+":
            return pair(node.inner[0], context)
        case "unary" if node.opcode == "-":
            return words.subtract_pairs(
                words.literal(0, node), _bound(pair(node.inner[0], context), context), context.bind
            )
        case "unary" if node.opcode == "~":
            found = pair(node.inner[0], context)
            return Pair(op("^", found.low, -1), op("^", found.high, -1))
        case "choose":
            test, *arms = node.inner
            test = context.bind(truth(test, context))
            a, b = (pair(arm, context.pure_context()) for arm in arms)
            return Pair(
                words.conditional_expression(test, a.low, b.low), words.conditional_expression(test, a.high, b.high)
            )
        case "binary":
            return binary_operation(node, _bound(pair(node.inner[0], context), context), node.inner[1], context)
        case _:
            raise refusals.refuse_width(node)


def _truncated_number(node: Node, context: Words) -> Pair:
    """Pair of a floating-point number, truncated (C17, section 6.3.1.4): both words of its magnitude are exact, and the
    sign is applied to them.
    """
    inner = node.inner[0]
    if inner.kind == "real" and isinstance(inner.value, int | float) and abs(inner.value) < 1 << 63:
        return words.literal(int(inner.value), node)
    number = narrow_expression(inner, context)
    number = number if number.ctype == "double" else Node("convert", node.span, "double", (number,), "FloatingCast")
    number = context.bind(number)
    least = context.bind(make.operation_node("abs", "f64", (number,), node))
    shift, scale = (replace(make.zero_value("double", node), value=value) for value in (2.0**-32, 2.0**32))
    high = context.bind(_full_word(make.binary("*", least, shift, "double", node)))
    top = make.binary("*", Node("convert", node.span, "double", (high,), "IntegralToFloating"), scale, "double", node)
    low = context.bind(_full_word(make.binary("-", least, top, "double", node)))
    minus = words.subtract_pairs(words.literal(0, node), Pair(low, high), context.bind)
    test = context.bind(words.comparison("<", number, make.zero_value("double", node), "double"))
    select = words.conditional_expression
    return Pair(select(test, minus.low, low), select(test, minus.high, high))


def _full_word(value: Node) -> Node:
    return Node("convert", value.span, WORD, (value,), "FloatingToIntegral", macro=value.macro)


def is_access(node: Node) -> bool:
    """Whether an expression is an element of 64 bits."""
    return node.ctype in WIDE and (node.kind == "element" or (node.kind == "unary" and node.opcode == "*"))


def access_word(node: Node, which: int) -> Node:
    """Word of an element of 64 bits: arrays of them have one more dimension, of the low and the high word."""
    access = node.inner[0] if node.kind == "unary" else replace(node, ctype=f"{WORD}[2]")
    return Node("element", node.span, WORD, (access, make.number(which, node)), macro=node.macro)


def _extend_word(inner: Node, context: Words) -> Pair:
    """Pair of a value of up to 32 bits."""
    value = narrow_expression(inner, context)
    if value.ctype.startswith("unsigned int"):
        return Pair(context.bind(value), word(0, inner))
    low = context.bind(cast(cast(value, "int"), WORD))
    return Pair(low, words.sign(low))


def binary_operation(node: Node, a: Pair, right: Node, context: Words) -> Pair:
    """Binary operation on a pair and an expression; the operator is that of `node`, also of an assignment."""
    opcode = node.opcode.removesuffix("=")
    if opcode in ("<<", ">>"):
        return _shift_expression(node, opcode, a, right, context)
    if opcode == "*" and node.kind == "binary" and (found := _product(node, context)) is not None:
        return found
    if opcode in ("/", "%") and (by := _narrow_operand(right)) is not None:
        value = narrow_expression(by, context)
        word_type = value.ctype == WORD
        divisor = context.bind(cast(value if word_type else cast(value, "int"), WORD))
        return divide_pair(opcode, a, divisor, (not node.ctype.startswith("unsigned"), not word_type), context.bind)
    b = _bound(pair(right, context) if right.ctype in WIDE else _extend_word(right, context), context)
    match opcode:
        case "+":
            return words.add_pairs(a, b, context.bind)
        case "-":
            return words.subtract_pairs(a, b, context.bind)
        case "*":
            return words.multiply_pairs(a, b, context.bind)
        case "&" | "|" | "^":
            return Pair(op(opcode, a.low, b.low), op(opcode, a.high, b.high))
        case _:
            raise refusals.refuse_width(node)


def _narrow_operand(node: Node) -> Node | None:
    """Operand of up to 32 bits that a conversion extends, or a constant of that size; None for others."""
    while node.kind in CASTS and node.opcode == "IntegralCast" and node.ctype in WIDE:
        node = node.inner[0]
    value = node.value
    if node.kind == "integer" and isinstance(value, int | str) and 0 < int(value) < 1 << 31:
        return replace(node, ctype="int")
    return None if node.ctype in WIDE else node


def _shift_expression(node: Node, opcode: str, a: Pair, right: Node, context: Words) -> Pair:
    is_signed = not node.ctype.startswith("unsigned")
    amount = right
    while amount.kind in CASTS and amount.opcode == "IntegralCast":
        amount = amount.inner[0]
    if amount.kind == "integer" and 0 <= int(str(amount.value)) < 64:
        return words.shift_by_constant(opcode, a, int(str(amount.value)), is_signed)
    by = pair(right, context).low if right.ctype in WIDE else narrow_expression(right, context)
    return words.shift_by_data(opcode, a, context.bind(cast(by, WORD)), is_signed, context.bind)


def _product(node: Node, context: Words) -> Pair | None:
    """Product of two extended values, which needs fewer operations."""
    sides = [child.inner[0] for child in node.inner if child.kind in CASTS and child.opcode == "IntegralCast"]
    if len(sides) < 2 or any(side.ctype in (*WIDE, WORD) for side in sides):
        return None
    a, b = (context.bind(cast(narrow_expression(side, context), "int")) for side in sides)
    if all(_unpromoted_type(side) in _HALF for side in sides):
        low = context.bind(cast(op("*", a, b, "int"), WORD))
        return Pair(low, words.sign(low))
    first, second = (context.bind(cast(each, WORD)) for each in (a, b))
    return words.multiplied_signed(first, second, context.bind)


def _unpromoted_type(node: Node) -> str:
    """The type of a value before its integer promotion."""
    while node.kind in CASTS and node.opcode == "IntegralCast" and node.ctype == "int":
        node = node.inner[0]
    return node.ctype

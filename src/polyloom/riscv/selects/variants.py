# SPDX-License-Identifier: Apache-2.0
"""Algebraic variants: other expressions of the same value, for which the select table may have a shorter sequence.

A condition is made 0 or 1; products by constants next to a power of two become shifts (Bernstein 1986); a clamp to
constants becomes a minimum of a maximum; and what depends on a sign alone is computed with the mask that an arithmetic
shift makes of it (Hacker's Delight, chapter 2).
"""

from __future__ import annotations

from collections.abc import Iterator

from polyloom.riscv.selects.expression import Expression, Node, binary, is_boolean


def expression_variants(expression: Expression, xlen: int) -> Iterator[Expression]:
    """The expression, and others that have its value for all inputs."""
    yield expression
    if isinstance(expression, Node):
        yield from _boolean_condition(expression)
        yield from _product_variants(expression)
        yield from _clamp_variants(expression)
        yield from _sign_mask(expression, xlen)


def _boolean_condition(expression: Node) -> Iterator[Expression]:
    """Variant with a condition that is 0 or 1 in the place of one that may be any number."""
    match expression:
        case Node("?", (condition, a, b)) if not is_boolean(condition) and not (
            is_boolean(a) and isinstance(a, int) and isinstance(b, int) and is_boolean(b)
        ):
            yield Node("?", (Node("?", (condition, 1, 0)), a, b))
            yield Node("?", (Node("?", (condition, 0, 1)), b, a))
        case _:
            pass


def _product_variants(expression: Node) -> Iterator[Expression]:
    """Strength reduction: x * (2**n + 1) as x + (x << n), and so on; an arm of a select too, where the other one is
    x."""
    match expression:
        case Node("*", (x, int() as k)):
            yield from _shifted_product(x, k)
        case Node("?", (condition, Node("*", (x, int() as k)), y)) if x == y:
            yield from (Node("?", (condition, made, x)) for made in _shifted_product(x, k))
        case Node("?", (condition, y, Node("*", (x, int() as k)))) if x == y:
            yield from (Node("?", (condition, x, made)) for made in _shifted_product(x, k))
        case _:
            pass


def _shifted_product(x: Expression, k: int) -> Iterator[Expression]:
    for sum, operator in ((k - 1, "+"), (k + 1, "-"), (k, "")):
        if sum > 1 and sum & (sum - 1) == 0:
            shifted = Node("<<", (x, sum.bit_length() - 1))
            yield binary("+", x, shifted) if operator == "+" else binary("-", shifted, x) if operator else shifted


def _clamp_variants(expression: Node) -> Iterator[Expression]:
    """Clamps: x > k ? k : x is `x < k + 1 ? x : k` in the canonical form; and two bounds in a row, which commute where
    the lower is not above the upper.
    """
    if (upper := _upper_bound(expression)) is not None:
        yield _minimum(*upper)
    match expression:
        case Node("?", (Node("<", (x, int() as k)), int() as arm, inner)) if k == arm:
            if (upper := _upper_bound(inner)) is not None and upper[0] == x and k <= upper[1]:
                yield _minimum(_maximum(x, k), upper[1])
        case Node("?", (Node("<", (x, int() as above)), inner, int() as k)) if above in (k, k + 1):
            if (lower := _lower_bound(inner)) is not None and lower[0] == x and lower[1] <= k:
                yield _minimum(inner, k)
        case _:
            pass


def _upper_bound(expression: Expression) -> tuple[Expression, int] | None:
    """x and k, where the expression is their minimum."""
    match expression:
        case Node("?", (Node("<", (x, int() as above)), y, int() as k)) if x == y and above in (k, k + 1):
            return x, k
        case Node("?", (Node("<", (int() as above, x)), int() as k, y)) if x == y and above == k:
            return x, k
        case _:
            return None


def _lower_bound(expression: Expression) -> tuple[Expression, int] | None:
    """x and k, where the expression is their maximum."""
    match expression:
        case Node("?", (Node("<", (x, int() as k)), int() as arm, y)) if x == y and k == arm:
            return x, k
        case Node("?", (Node("<", (int() as k, x)), y, int() as arm)) if x == y and k == arm:
            return x, k
        case _:
            return None


def _minimum(x: Expression, k: int) -> Node:
    return Node("?", (Node("<", (x, k)), x, k))


def _maximum(x: Expression, k: int) -> Node:
    return Node("?", (Node("<", (x, k)), k, x))


def _masked_operation(a: Expression, b: Expression, mask: Expression) -> Iterator[Expression]:
    """b with the second operand of a masked: right where the mask is -1, and b itself where it is 0."""
    match a:
        case Node("+" | "|" | "^" as operator, (left, right)) if b in (left, right):
            yield binary(operator, b, binary("&", right if b == left else left, mask))
        case Node("-", (left, right)) if b == left:
            yield binary("-", b, binary("&", right, mask))
        case _:
            pass


def _sign_mask(expression: Node, xlen: int) -> Iterator[Expression]:
    """x < 0 ? a : b by the mask x >> XLEN-1, which is -1 where x is negative (Hacker's Delight, chapter 2)."""
    match expression:
        case Node("?", (Node("<", (str() as x, 0)), a, b)):
            mask = Node(">>", (x, xlen - 1))
        case _:
            return
    yield from _masked_operation(a, b, mask)
    yield from _masked_operation(b, a, Node("~", (mask,)))
    if (a, b) == (-1, 0):
        yield mask
    elif a == -1:
        yield binary("|", mask, b)
    elif b == 0:
        yield binary("&", a, mask)
    elif a == 0:
        yield binary("&", b, Node("~", (mask,)))
    elif isinstance(a, int) and isinstance(b, int):
        yield binary("+", binary("&", mask, a - b), b)
    else:
        # The general form: b ^ ((a ^ b) & mask).
        yield binary("^", binary("&", binary("^", a, b), mask), b)

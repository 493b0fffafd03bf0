# SPDX-License-Identifier: Apache-2.0
"""Division of 64 bits by 32: by the high word, then of its remainder and the low word in two digits of 16 bits (Knuth,
The Art of Computer Programming, volume 2, algorithm D; Hacker's Delight, section 9-4, figure 9-3)."""

from __future__ import annotations

from typing import Final

from polyloom.frontend.c.wide.words import (
    Bind,
    Pair,
    cast,
    comparison,
    conditional_expression,
    op,
    sign,
    subtract_pairs,
    word,
)
from polyloom.frontend.loops.tree import Node

_DIGIT: Final = 1 << 16


def divide_pair(opcode: str, a: Pair, by: Node, is_signed: tuple[bool, bool], bind: Bind) -> Pair:
    """Quotient or remainder of a pair by a word, towards zero (C17, section 6.5.5): that of the magnitudes, with the
    signs; `is_signed` are whether the pair and the word have one.
    """
    zero = word(0, by)
    minus = bind(sign(a.high)) if is_signed[0] else zero
    other = bind(sign(by)) if is_signed[1] else zero
    magnitude = _conditional_negation(a, minus, bind)
    divisor = bind(op("-", op("^", by, other), other))
    # The remainder of the high word is less than the divisor: its quotient with the low word fits one.
    first = bind(op("/", magnitude.high, divisor))
    rest = bind(op("-", magnitude.high, op("*", first, divisor)))
    second, remainder = _divide_words(rest, magnitude.low, divisor, bind)
    if opcode == "%":
        return _conditional_negation(Pair(bind(remainder), zero), minus, bind)
    return _conditional_negation(Pair(bind(second), first), bind(op("^", minus, other)), bind)


def _conditional_negation(a: Pair, minus: Node, bind: Bind) -> Pair:
    """A pair, negated where all bits of a word are set (section 2-4)."""
    mask = Pair(minus, minus)
    flipped = Pair(bind(op("^", a.low, minus)), bind(op("^", a.high, minus)))
    found = subtract_pairs(flipped, mask, bind)
    return Pair(bind(found.low), bind(found.high))


def _divide_words(high: Node, low: Node, divisor: Node, bind: Bind) -> tuple[Node, Node]:
    """Quotient and remainder of two words by one that is greater than the high one (section 9-4)."""
    by = _leading_zeros(divisor, bind)
    normal = bind(op("<<", divisor, by))
    top, bottom = bind(op(">>", normal, 16)), bind(op("&", normal, _DIGIT - 1))
    # A shift by 32 is none: by one more in two steps.
    carried = op(">>", op(">>", low, op("-", word(31, by), by)), 1)
    upper, lower = bind(op("|", op("<<", high, by), carried)), bind(op("<<", low, by))
    first = _quotient_digit(upper, bind(op(">>", lower, 16)), top, bottom, bind)
    rest = bind(op("-", op("+", op("<<", upper, 16), op(">>", lower, 16)), op("*", first, normal)))
    digit = bind(op("&", lower, _DIGIT - 1))
    second = _quotient_digit(rest, digit, top, bottom, bind)
    remainder = op("-", op("+", op("<<", rest, 16), digit), op("*", second, normal))
    return op("+", op("<<", first, 16), second), op(">>", remainder, by)


def _quotient_digit(upper: Node, next_digit: Node, top: Node, bottom: Node, bind: Bind) -> Node:
    """Digit of a quotient: an estimate by the divisor's upper digit, which is too great by two at most."""
    found = bind(op("/", upper, top))
    rest = bind(op("-", upper, op("*", found, top)))
    goes_on = word(1, found)
    for _ in range(2):
        beyond = cast(comparison(">=", found, word(_DIGIT, found)), "int")
        product = comparison(">", op("*", found, bottom), op("+", op("<<", rest, 16), next_digit))
        too_great = bind(op("&", goes_on, cast(op("|", beyond, product, "int"), "unsigned int")))
        found = bind(op("-", found, too_great))
        rest = bind(op("+", rest, op("*", too_great, top)))
        # Once the rest is a whole word, the estimate is right.
        goes_on = bind(op("&", too_great, cast(comparison("<", rest, word(_DIGIT, rest)), "unsigned int")))
    return found


def _leading_zeros(value: Node, bind: Bind) -> Node:
    """Number of leading zeros of a word that is not 0, by halves (section 5-3)."""
    # Tests instead of a table: an element has no memory for one.
    count, rest = word(0, value), value
    for half in (16, 8, 4, 2, 1):
        is_small = bind(comparison("==", op(">>", rest, 32 - half), word(0, value)))
        by = bind(conditional_expression(is_small, word(half, value), word(0, value)))
        count, rest = bind(op("+", count, by)), bind(op("<<", rest, by))
    return count

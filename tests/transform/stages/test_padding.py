# SPDX-License-Identifier: Apache-2.0
"""Values in padding: what is said to be 0 there, or another number, is it when the formula is computed with zeros."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from polyloom.ir.formula import Apply, Leaf, Number, Term, leaves, subterms
from polyloom.sets import Affine
from polyloom.transform.stages.padding import padding_value

INDEX = (Affine.symbol("i"),)
A, UNCLEAN, U = Leaf("A", INDEX), Leaf("X", INDEX), Leaf("u", ())
CLEAN = {"X": False}


def quotient(a: float, b: float) -> float:
    return a / b if b else math.nan


def root(a: float) -> float:
    return math.sqrt(a) if a >= 0 else math.nan


def multiply_add(a: float, b: float, c: float) -> float:
    return a * b + c


def select(test: float, a: float, b: float) -> float:
    return a if test else b


MEANING: dict[str, Callable[..., float]] = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "neg", "lt", "le", "gt", "ge", "eq", "ne")},
    "div": quotient,
    "sqrt": root,
    "max": max,
    "madd": multiply_add,
    "select": select,
}
ARITY = {"neg": 1, "sqrt": 1, "madd": 3, "select": 3}


def apply(operation: str, *operands: Term) -> Apply:
    return Apply(operation, operands)


def value(term: Term, given: dict[str, float]) -> float:
    match term:
        case Leaf(array=array):
            return given[array]
        case Number(value=number):
            return float(number)
        case Apply(operation=operation, operands=operands):
            return float(MEANING[operation](*(value(o, given) for o in operands)))
        case _:
            raise AssertionError


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (apply("div", A, apply("mul", U, apply("select", apply("le", A, Number(0.1)), Number(1.0), A))), 0),
        (apply("div", A, apply("select", apply("gt", A, Number(0.1)), Number(1.0), A)), None),
        (apply("div", A, apply("add", UNCLEAN, Number(1.0))), None),
        (apply("div", A, apply("add", A, U)), None),
        (apply("mul", UNCLEAN, A), 0),
        (apply("select", UNCLEAN, A, apply("sqrt", A)), 0),
    ],
)  # fmt: skip
def test_quotients_in_padding(term: Term, expected: float | None) -> None:
    assert padding_value(term, CLEAN) == expected


def terms() -> st.SearchStrategy[Term]:
    base: st.SearchStrategy[Term] = st.sampled_from([A, A, UNCLEAN, U, Number(0.0), Number(0.5), Number(-2.0)])

    def extend(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
        return st.one_of([st.builds(apply, st.just(name), *[inner] * ARITY.get(name, 2)) for name in MEANING])

    return st.recursive(base, extend, max_leaves=8)


@given(terms(), st.sampled_from([-3.0, 0.25, 7.0]), st.sampled_from([-1.0, 0.0, 2.0]))
def test_what_is_told_holds(term: Term, scalar: float, other: float) -> None:
    arrays = {"A": 0.0, "X": other, "u": scalar}
    alike: list[Any] = [value(part, arrays) for part in subterms(term) if not any(leaf.index for leaf in leaves(part))]
    # Where such a part is 0 or no number, no element is a number either.
    assume(all(math.isfinite(each) and each for each in alike))
    told, found = padding_value(term, CLEAN), value(term, arrays)
    if told is not None and not math.isnan(told):
        assert found == told or (math.isnan(found) and told == 0)
    elif told is not None:
        assert found != 0

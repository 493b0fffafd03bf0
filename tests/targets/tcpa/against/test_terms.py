# SPDX-License-Identifier: Apache-2.0
"""Terms: what has one number has one value for all data, and what must have one number has."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from polyloom import memory
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import BY_NAME, OPERATIONS, ElementType, may_divide_by_zero
from polyloom.ir.pla import Array
from polyloom.ir.semantics import apply
from polyloom.ir.terms import Input, Operated, Terms, Value
from polyloom.ir.terms_text import find_difference, print_term
from polyloom.sets import Affine

POINTS = 64
TYPES: tuple[ElementType, ...] = ("i8", "u8", "i32", "u32", "f32", "bool")
# Operations that are brought into one form come often.
NAMES = [o.name for o in OPERATIONS if o.name not in ("move", "to_f16")] + ["add", "sub", "mul", "min", "select"] * 6


def _data(dtype: ElementType, generator: np.random.Generator) -> Any:
    if dtype == "f32":
        special = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 3.0, 1e30]
        return np.array([*special, *generator.normal(size=POINTS - len(special))], np.float32)
    return generator.integers(-(1 << 31), 1 << 31, POINTS).astype(NUMPY[dtype])


@pytest.mark.parametrize("seed", range(6))
def test_equal_numbers_are_equal_values(seed: int) -> None:
    """Thousands of random terms over few inputs: many are made in several ways."""
    rng, generator, terms = random.Random(seed), np.random.default_rng(seed), Terms()
    known: dict[ElementType, list[tuple[int, Any]]] = {t: [] for t in TYPES}
    arrays = [Array(f"{t}{n}", t) for t in TYPES for n in range(2)]
    for array, number in zip(arrays, terms.inputs(arrays, {}).values(), strict=True):
        known[array.dtype].append((int(number), _data(array.dtype, generator)))
    for t in TYPES:
        for value in (0, 1, 3) if t != "bool" else (0, 1):
            known[t].append((terms.constant(value, t), np.full(POINTS, value, NUMPY[t])))
    values = {number: value for pairs in known.values() for number, value in pairs}
    again = 0
    with np.errstate(all="ignore"):
        for _ in range(12000):
            operation, dtype = BY_NAME[rng.choice(NAMES)], rng.choice(TYPES)
            result = operation.result(dtype)
            if not operation.accepts_type(dtype) or result not in TYPES:
                continue
            kinds = ("i32", dtype, dtype) if operation.name == "select" else (dtype,) * operation.arity
            chosen = [rng.choice(known[k][-12:] + known[k][:5]) for k in kinds]
            # What a division by zero gives is not said.
            if may_divide_by_zero(operation.name, dtype) and (np.asarray(chosen[1][1]) == 0).any():
                continue
            number = int(terms.apply(operation.name, dtype, [c[0] for c in chosen]))
            value = np.asarray(apply(operation.name, dtype, [c[1] for c in chosen]))
            if number in values:
                again += 1
                assert value.tobytes() == values[number].tobytes() or np.array_equal(
                    value, values[number], equal_nan=result == "f32"
                ), print_term(number, terms, [(a.name, ()) for a in arrays])
            values[number] = value
            known[result].append((number, value))
    assert again > 1000


def _inputs(terms: Terms, dtype: ElementType) -> list[int]:
    return [int(n) for n in terms.inputs([Array(name, dtype) for name in "abc"], {}).values()]


@pytest.mark.parametrize("dtype", ["i8", "u16", "i32", "u32"])
@pytest.mark.parametrize("operation", ["add", "mul", "min", "max", "and", "or", "xor"])
def test_integers_in_any_order(operation: str, dtype: ElementType) -> None:
    terms = Terms()
    a, b, c = _inputs(terms, dtype)

    def both(x: int, y: int) -> int:
        return terms.apply(operation, dtype, (x, y))

    assert both(both(a, b), c) == both(a, both(c, b)) == both(both(c, a), b)
    assert both(a, b) != both(a, c)


def test_sums_and_multiples() -> None:
    terms = Terms()
    a, b, c = _inputs(terms, "i32")

    def of(operation: str, *operands: int) -> int:
        return terms.apply(operation, "i32", operands)

    four = terms.constant(4, "i32")
    assert of("sub", of("add", a, b), b) == a
    assert of("sub", of("sub", c, a), b) == of("sub", c, of("add", a, b))
    assert of("shl", a, terms.constant(2, "i32")) == of("mul", four, a) == of("add", of("add", a, a), of("add", a, a))
    assert of("madd", a, b, c) == of("add", c, of("mul", b, a))
    assert of("sub", a, a) == terms.constant(0, "i32")
    assert of("add", terms.constant(2**31 - 1, "i32"), terms.constant(1, "i32")) == terms.constant(-(2**31), "i32")
    # Nothing of this holds for the quotient.
    assert of("div", of("mul", a, four), four) != a


@pytest.mark.parametrize("reassociate", [False, True])
def test_the_order_of_floats_is_free_where_the_user_says_so(reassociate: bool) -> None:
    terms = Terms(reassociate)
    a, b, c = _inputs(terms, "f32")

    def of(operation: str, *operands: int) -> int:
        return terms.apply(operation, "f32", operands)

    zero = terms.constant(0.0, "f32")
    assert (of("add", of("add", a, b), c) == of("add", a, of("add", b, c))) is reassociate
    assert (of("add", of("add", zero, a), b) == of("add", b, a)) is reassociate
    assert (of("sub", of("sub", a, b), c) == of("sub", a, of("add", c, b))) is reassociate
    assert (of("mul", of("mul", a, b), c) == of("mul", a, of("mul", b, c))) is reassociate
    # An infinity minus itself is no zero.
    assert of("sub", a, a) != zero
    assert of("add", a, b) != of("sub", a, b)
    assert of("madd", a, b, c) != of("add", of("mul", a, b), c)


def test_a_choice_under_its_own_condition() -> None:
    terms = Terms()
    a, b, c = _inputs(terms, "i32")
    holds = terms.apply("lt", "i32", (a, b))

    def choose(condition: int, yes: int, no: int) -> int:
        return terms.apply("select", "i32", (condition, yes, no))

    inner = choose(holds, a, b)
    doubled = terms.apply("mul", "i32", (inner, inner))
    assert choose(holds, doubled, c) == choose(holds, terms.apply("mul", "i32", (a, a)), c)
    assert choose(holds, c, doubled) == choose(holds, c, terms.apply("mul", "i32", (b, b)))
    assert choose(holds, a, a) == a
    assert choose(terms.apply("gt", "i32", (b, a)), b, c) == choose(holds, b, c)
    assert choose(terms.apply("le", "i32", (a, b)), b, c) != choose(holds, b, c)


def test_parts_and_text() -> None:
    terms = Terms()
    arrays = [Array("x", "f32"), Array("y", "i8")]
    x, y = (int(n) for n in terms.inputs(arrays, {}).values())
    names = [(a.name, ()) for a in arrays]
    converted = terms.apply("to_f32", "i8", (y,))
    whole = terms.apply("sqrt", "f32", (terms.apply("add", "f32", (x, converted)),))
    assert terms[x] == Input(0, 0)
    assert terms[terms.constant(-1.5, "f32")] == Value(-1.5, "f32")
    assert terms[terms.constant(-3, "i8")] == Value(-3, "i8")
    assert terms[whole] == Operated("sqrt", "f32", (terms.apply("add", "f32", (x, converted)),))
    assert print_term(whole, terms, names) == "sqrt((x + to_f32.i8(y)))"
    assert print_term(whole, terms, names, 1) == "sqrt(...)"
    other = terms.apply("sqrt", "f32", (terms.apply("add", "f32", (x, x)),))
    assert find_difference(whole, other, terms) == (converted, x)


def test_differences_are_the_smallest_ones() -> None:
    """Sums and products in any order, comparisons in either direction: what both sides have is not in the way."""
    terms = Terms()
    a, b, c = (int(n) for n in terms.inputs([Array("a", "i32", (Affine((), 3),))], {})["a"])

    def apply(operation: str, *operands: int) -> int:
        return terms.apply(operation, "i32", operands)

    def clamped(amount: int, compare: str) -> int:
        shifted = apply("shr", apply("mul", a, b), terms.constant(amount, "i32"))
        limit = terms.constant(127, "i32")
        pair = (limit, shifted) if compare == "lt" else (shifted, limit)
        return apply("select", apply(compare, *pair), limit, shifted)

    one, other = clamped(7, "gt"), clamped(6, "lt")
    assert [print_term(n, terms, [("a", (3,))]) for n in find_difference(one, other, terms)] == [
        "(a[0] * a[1]) shr 7",
        "(a[0] * a[1]) shr 6",
    ]
    products = [apply("mul", a, b), apply("mul", b, c), apply("mul", c, c)]
    left = apply("add", apply("add", products[0], products[1]), c)
    right = apply("sub", c, apply("sub", apply("neg", products[2]), products[0]))
    assert find_difference(left, right, terms) == (b, c)
    assert find_difference(apply("add", a, b), apply("add", a, apply("add", b, c)), terms) == (
        apply("add", a, b),
        apply("add", a, apply("add", b, c)),
    )


def test_by_arrays() -> None:
    terms = Terms()
    numbers = terms.inputs([Array("a", "i32")], {})["a"].reshape(1)
    many = np.repeat(numbers, 3)
    one = terms.apply("add", "i32", (int(numbers[0]), terms.constant(5, "i32")))
    assert terms.apply("add", "i32", (many, terms.constant(5, "i32"))).tolist() == [one] * 3


def test_a_division_by_zero_is_a_term() -> None:
    terms = Terms()
    one, zero = terms.constant(1, "i32"), terms.constant(0, "i32")
    assert terms[terms.apply("div", "i32", (one, zero))] == Operated("div", "i32", (one, zero))


def test_more_terms_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 16)
    terms = Terms()
    assert len(terms.inputs([Array("a", "f32", (Affine.symbol("N"),))], {"N": 500})["a"]) == 500
    with pytest.raises(MemoryError):
        terms.inputs([Array("a", "f32", (Affine.symbol("N"),))], {"N": 600})


def test_no_such_operation() -> None:
    terms = Terms()
    one = terms.constant(1.0, "f32")
    for operation in ("and", "to_f16"):
        with pytest.raises(ValueError, match="no such operation"):
            terms.apply(operation, "f32", (one, one)[: BY_NAME[operation].arity])

# SPDX-License-Identifier: Apache-2.0
"""The interpreter: the operations at their edges, its refusals, and programs of the sizes that it must manage."""

from __future__ import annotations

from fractions import Fraction
from time import process_time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.frontend.pla.helpers import ROOT
from tests.made_up import random_inputs

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.pla import load, parse
from polyloom.ir import interpret as interpreter
from polyloom.ir.interpret import interpret
from polyloom.ir.numbers import NUMPY, WIDTH, type_limits
from polyloom.ir.operations import BY_NAME, DIVISIONS, INTEGERS, OPERATIONS, ElementType
from polyloom.ir.semantics import apply

EDGES = [0, 1, -1, 2, -2, 3, -3, 7, 31, 32, 33, 127, -127, -128]


def wrap(value: int, dtype: ElementType) -> int:
    least, most = type_limits(dtype) or (0, 0)
    return (value - least) % (most - least + 1) + least


def meaning(operation: str, a: int, b: int, width: int) -> int:
    """The exact result, before wrapping."""
    quotient = (abs(a) // abs(b) if (a < 0) == (b < 0) else -(abs(a) // abs(b))) if b else 0
    results = {
        "add": a + b,
        "sub": a - b,
        "mul": a * b,
        "div": quotient,
        "rem": a - quotient * b,
        "floordiv": a // b if b else 0,
        "mod": a % b if b else 0,
        "min": min(a, b),
        "max": max(a, b),
        "and": a & b,
        "or": a | b,
        "xor": a ^ b,
        "shl": a << b % width,
        "shr": a >> b % width,
        "eq": a == b,
        "ne": a != b,
        "lt": a < b,
        "le": a <= b,
        "gt": a > b,
        "ge": a >= b,
    }
    return int(results[operation])


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("operation", [o.name for o in OPERATIONS if o.arity == 2])
def test_integer_operations_on_arrays_and_on_scalars(operation: str, dtype: ElementType) -> None:
    least, most = type_limits(dtype) or (0, 0)
    values = sorted({most, least, most // 2, *(v for v in EDGES if least <= v <= most)})
    pairs = [(a, b) for a in values for b in values if operation not in DIVISIONS or b != 0]
    columns = [np.array(column, NUMPY[dtype]) for column in zip(*pairs, strict=True)]
    result_type = BY_NAME[operation].result(dtype)
    expected = [wrap(meaning(operation, a, b, WIDTH[dtype]), result_type) for a, b in pairs]
    with np.errstate(all="ignore"):
        found = apply(operation, dtype, columns)
        single = [apply(operation, dtype, [a, b]) for a, b in zip(*columns, strict=True)]
    assert found.dtype == NUMPY[result_type]
    assert found.tolist() == expected
    assert [int(s) for s in single] == expected


def nearest_single(value: Fraction) -> np.float32:
    """The f32 nearest to an exact value, ties to even, by trying the neighbours of a rough guess."""
    guess = np.float32(float(value))
    around = [np.nextafter(guess, np.float32(-np.inf)), guess, np.nextafter(guess, np.float32(np.inf))]
    return min(
        (a for a in around if np.isfinite(a)),
        key=lambda a: (abs(Fraction(float(a)) - value), int(a.view(np.int32)) & 1),
    )


SINGLES = st.floats(-(2.0**40), 2.0**40, width=32)


@given(SINGLES, SINGLES, SINGLES)
def test_multiply_add_rounds_once(a: float, b: float, c: float) -> None:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    x, y, z = (np.array(v, np.float32) for v in (a, b, c))
    with np.errstate(all="ignore"):
        assert float(apply("madd", "f32", [x[()], y[()], z[()]])) == float(nearest_single(exact))
        assert float(apply("madd", "f32", [x[None], y[None], z[None]])[0]) == float(nearest_single(exact))


def test_multiply_add_where_rounding_twice_goes_wrong() -> None:
    # 1 + 2**-24 + 2**-60: as a double the last term vanishes, and the tie then goes to the even 1.0
    a, b, c = np.float32(2.0**-30), np.float32(2.0**-30), np.float32(1.0)
    assert apply("madd", "f32", [a, b, c]) == np.float32(1.0)
    product, addend = np.float32(1 + 2.0**-12), np.float32(2.0**-60)
    exact = Fraction(float(product)) ** 2 + Fraction(float(addend))
    assert apply("madd", "f32", [product, product, addend]) == nearest_single(exact)
    assert np.float32(np.float64(product) ** 2 + np.float64(addend)) != nearest_single(exact)


def test_single_precision_edges() -> None:
    nan, inf = np.float32(np.nan), np.float32(np.inf)
    one, zero = np.float32(1), np.float32(0)
    with np.errstate(all="ignore"):
        assert apply("min", "f32", [nan, one]) == 1
        assert apply("max", "f32", [one, nan]) == 1
        assert np.isnan(apply("min", "f32", [nan, nan]))
        assert apply("div", "f32", [one, zero]) == inf
        assert np.isnan(apply("sqrt", "f32", [-one]))
        assert np.isnan(apply("madd", "f32", [inf, zero, one]))
        assert apply("madd", "f32", [inf, one, one]) == inf
        assert np.signbit(apply("min", "f32", [-zero, zero])) and not np.signbit(apply("min", "f32", [zero, -zero]))


DIVIDE = """parameter N
input u[N]: i32
output y[N]: i32
for 0 <= i < N do
  S1: y[i] = 12 / u[i]
"""


@pytest.mark.parametrize("size", [3, 100])
@pytest.mark.parametrize("operation", DIVISIONS)
def test_division_by_zero_names_the_iteration(operation: str, size: int) -> None:
    values = np.ones(size, np.int32)
    values[2] = 0
    with pytest.raises(PolyloomError, match="S1 divides by zero at i = 2"):
        interpret(parse(DIVIDE.replace("12 / u[i]", f"{operation}(12, u[i])")), {"N": size}, {"u": values})


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({}, "has no value"),
        ({"N": 1, "M": 2}, "no parameter `M`"),
        ({"N": 1.5}, "not an integer"),
        ({"N": True}, "not an integer"),
        ({"N": -1}, "out of range"),
        ({"N": 1 << 31}, "out of range"),
    ],
)
def test_wrong_parameters_are_refused(parameters: dict[str, Any], reason: str) -> None:
    with pytest.raises(PolyloomError, match=reason) as caught:
        interpret(parse(DIVIDE), parameters, {})
    assert caught.value.diagnostics[0].code == "PL0230"


def test_parameters_outside_their_domain_are_refused() -> None:
    with pytest.raises(PolyloomError, match="outside the domain") as caught:
        interpret(
            parse(DIVIDE.replace("parameter N", "parameter N >= 2, N <= 9")), {"N": 1}, {"u": np.ones(1, np.int32)}
        )
    assert caught.value.diagnostics[0].help == "the parameters must satisfy 2 <= N <= 9"


@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ({}, "PL0231"),
        ({"u": np.ones(3, np.int32), "v": 1}, "PL0231"),
        ({"u": np.ones(4, np.int32)}, "PL0232"),
        ({"u": np.ones((3, 1), np.int32)}, "PL0232"),
        ({"u": np.ones(3)}, "PL0232"),
        ({"u": "text"}, "PL0232"),
    ],
)
def test_wrong_inputs_are_refused(inputs: dict[str, Any], code: str) -> None:
    with pytest.raises(PolyloomError) as caught:
        interpret(parse(DIVIDE), {"N": 3}, inputs)
    assert caught.value.diagnostics[0].code == code


def test_made_up_inputs_depend_on_the_seed_alone() -> None:
    program = load(ROOT / "examples" / "lcs.pla")
    first, again, other = (random_inputs(program, {"N": 50, "M": 40}, seed) for seed in (1, 1, 2))
    assert all((first[n] == again[n]).all() for n in first)
    assert any((first[n] != other[n]).any() for n in first)


def test_unwritten_output_elements_are_zero() -> None:
    program = parse(DIVIDE.replace("u[i]\n", "u[i] if i >= 2\n"))
    assert interpret(program, {"N": 4}, {"u": np.full(4, 3, np.int32)})["y"].tolist() == [0, 0, 4, 4]


@pytest.mark.parametrize(("name", "parameters"), [("matmul", {"N": 64, "M": 64, "K": 64}), ("bits", {"N": 100_000})])
def test_wide_and_chained_programs_take_seconds(name: str, parameters: dict[str, int]) -> None:
    program = load(ROOT / "examples" / f"{name}.pla")
    start = process_time()
    interpret(program, parameters, random_inputs(program, parameters, 0))
    assert process_time() - start < 20


BACKWARDS = """
parameter N
input a[N, N]: i32
output y[N, N]: i32
variable u: i32
variable v: i32

for i, j: 0 <= i <= N - 1 and 0 <= j <= N - 1 do
  A: u[i, j] = a[i, j] if i = 0 or j = N - 1
  B: u[i, j] = u[i - 1, j + 1] - a[i, j] if i >= 1 and j <= N - 2
  C: v[i, j] = u[i, j] if i <= 1
  D: v[i, j] = v[i - 2, j] + u[i, j] if i >= 2
  E: y[i, j] = v[i, j]
"""


# Small blocks: what passes from one to another goes through a face, also along diagonals and against an axis.
@pytest.mark.parametrize("block", [1, 6, 40])
def test_iterations_in_blocks_give_what_they_give_at_once(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lcs, own = load(ROOT / "examples" / "lcs.pla"), parse(BACKWARDS)
    for program, sizes in ((lcs, {"N": 9, "M": 7}), (own, {"N": 9})):
        inputs = random_inputs(program, sizes, 1)
        monkeypatch.setattr(interpreter, "BLOCK", 1 << 17)
        whole = interpret(program, sizes, inputs)
        monkeypatch.setattr(interpreter, "BLOCK", block)
        parts = interpret(program, sizes, inputs)
        assert all((parts[name] == whole[name]).all() for name in whole)

# SPDX-License-Identifier: Apache-2.0
"""The checks for all parameter values against enumeration, and the bridge to isl."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyloom.analysis.check import check
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.pla import parse
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.bounds import dimension_bounds, enclosing_bounds
from polyloom.sets.isl import from_set, parameter_set, sample, to_set
from polyloom.sets.normal_form import conjunction, normalize


def constraint(coefficients: tuple[int, int, int], constant: int) -> Affine:
    return Affine.from_terms(dict(zip(("i", "j", "N"), coefficients, strict=True)), constant)


CONSTRAINT = st.builds(
    constraint, st.tuples(st.integers(-2, 2), st.integers(-2, 2), st.integers(-1, 1)), st.integers(-4, 4)
)
CONDITION = st.lists(st.lists(CONSTRAINT, max_size=3), max_size=3).map(
    lambda pieces: Condition(tuple(Polyhedron(tuple(p)) for p in pieces))
)
POINTS = [{"i": i, "j": j, "N": n} for i, j, n in product(range(-3, 4), range(-3, 4), range(4))]


@given(CONDITION)
def test_normal_form_and_bridge_keep_the_points(condition: Condition) -> None:
    for same in (normalize(condition), from_set(to_set(condition, ("i", "j"), ("N",)))):
        assert all(same.contains(p) == condition.contains(p) for p in POINTS)
    assert normalize(normalize(condition)) == normalize(condition)


@given(CONDITION, CONDITION)
def test_conjunction(a: Condition, b: Condition) -> None:
    both = conjunction(a, b)
    assert all(both.contains(p) == (a.contains(p) and b.contains(p)) for p in POINTS)
    point = sample(to_set(both, ("i", "j"), ("N",)))
    assert both.contains(point) if point else not any(both.contains(p) for p in POINTS)


@given(CONDITION, st.integers(0, 3))
def test_bounds_of_a_dimension_are_tight(condition: Condition, n: int) -> None:
    box = Condition(
        (
            Polyhedron(
                (
                    Affine.from_terms({"i": 1}, 3),
                    Affine.from_terms({"i": -1}, 3),
                    Affine.from_terms({"j": 1}, 3),
                    Affine.from_terms({"j": -1}, 3),
                )
            ),
        )
    )
    positive = Condition((Polyhedron((Affine.symbol("N"),)),))
    boxed = conjunction(condition, box)
    try:
        bounds = dimension_bounds(boxed, ("i", "j"), ("N",), positive, "i")
    except PolyloomError as error:
        assert error.diagnostics[0].code == "PL0201"
        return
    inside = [p["i"] for p in POINTS if p["N"] == n and boxed.contains(p)]
    for pieces, extreme in zip(bounds, (min, max), strict=True):
        found = {
            num.evaluate({"N": n}) // den
            for guards, num, den in pieces
            if all(g.evaluate({"N": n}) >= 0 for g in guards)
        }
        assert found == ({extreme(inside)} if inside else set())


def test_a_strided_bound_is_refused() -> None:
    strided = Condition((Polyhedron((Affine.from_terms({"i": 2, "N": -1}), Affine.from_terms({"i": -3, "N": 1}, 4))),))
    with pytest.raises(PolyloomError, match="PL0201"):
        dimension_bounds(strided, ("i",), ("N",), Condition(), "i")


@given(CONDITION, CONDITION, st.integers(0, 3), st.integers(2, 3))
def test_enclosing_bounds_contain_all_points(a: Condition, b: Condition, n: int, factor: int) -> None:
    """Of sets with strides: `i` is a multiple of a factor, below what a multiple of another one is."""
    box = Polyhedron(
        tuple(Affine.from_terms({"i": s}, 3) for s in (1, -1)) + tuple(Affine.from_terms({"j": s}, 3) for s in (1, -1))
    )
    even = {"i": Affine.from_terms({"i": factor}), "j": Affine.from_terms({"j": 2}, 1)}
    pieces = tuple(p.substitute(even) for p in (*a.pieces, *b.pieces))
    boxed = conjunction(Condition(pieces), Condition((box,)))
    positive = Condition((Polyhedron((Affine.symbol("N"),)),))
    try:
        bounds = enclosing_bounds(boxed, ("i", "j"), ("N",), positive, "i")
    except PolyloomError as error:
        assert error.diagnostics[0].code == "PL0201"
        return
    inside = [p["i"] for p in POINTS if p["N"] == n and boxed.contains(p)]
    lower, upper = (
        [num.evaluate({"N": n}) // den for guards, num, den in pieces if all(g.evaluate({"N": n}) >= 0 for g in guards)]
        for pieces in bounds
    )
    if inside:
        assert lower
        assert upper
        assert max(lower) <= min(inside)
        assert min(upper) >= max(inside)


def test_a_bound_between_strides_is_rounded_outwards() -> None:
    """`j` is at most the greatest even number below N."""
    evens = Condition(
        (
            Polyhedron(
                (Affine.symbol("j"), Affine.from_terms({"k": 2, "j": -1}), Affine.from_terms({"k": -2, "N": 1}, -1))
            ),
        )
    )
    with pytest.raises(PolyloomError, match="PL0201"):
        dimension_bounds(evens, ("j", "k"), ("N",), Condition(), "j")
    _, upper = enclosing_bounds(evens, ("j", "k"), ("N",), Condition(), "j")
    assert [(str(num), den) for _, num, den in upper] == [("N - 1", 1)]


def test_samples_are_small() -> None:
    above = Condition((Polyhedron((Affine.from_terms({"N": 1}, -3), Affine.from_terms({"i": 1, "N": -1}))),))
    assert sample(to_set(above, ("i",), ("N",))) == {"N": 3, "i": 3}
    assert sample(parameter_set(Condition(()), ("N",))) is None


RANGE = st.tuples(st.integers(-1, 4), st.sampled_from(["N", "N - 1", "3", "6"]))


@given(RANGE, RANGE, RANGE, st.integers(-2, 2))
def test_definitions_and_uses_agree_with_enumeration(
    first: tuple[int, str], second: tuple[int, str], use: tuple[int, str], distance: int
) -> None:
    spaces = [f"{low} <= i < {high}" for low, high in (first, second, use)]
    text = f"""parameter N
output y[N]: i32
for 0 <= i < N do
  x[i] = 1 if {spaces[0]}
  x[i] = 2 if {spaces[1]}
  y[i] = x[i - {distance}] if {spaces[2]}
""".replace("- -", "+ ")
    # every bound is at most 6 away from 0 or from N and uses reach 2 further, so sizes up to 15 show every failure
    failures: set[str] = set()
    for n in range(16):
        a, b, c = ({i for i in range(n) if low <= i < eval(high, {"N": n})} for low, high in (first, second, use))
        failures |= {"PL0218"} if any(i - distance not in a | b for i in c) else set[str]()
        failures |= {"PL0219"} if a & b else set[str]()
    try:
        parse(text)
    except PolyloomError as error:
        assert error.diagnostics[0].code in failures
    else:
        assert not failures


CHAIN = """parameter N
input u[N]: i32
output y[N]: i32
for 0 <= i < N do
  x[i] = u[i] if {stop}
  x[i] = x[i - {back}] if not ({stop}) and {go_back}
  x[i] = x[i + {forth}] if not ({stop}) and not ({go_back})
  y[i] = x[i]
"""


@given(st.integers(1, 2), st.integers(1, 2), st.integers(0, 5), st.integers(0, 5))
def test_cycles_agree_with_enumeration(back: int, forth: int, low: int, high: int) -> None:
    stop, go_back = f"i <= {back} or i >= N - {forth} or {low} <= i <= {high}", "i >= 4"
    cyclic = False
    for n in range(16):
        for start in range(n):
            i, steps = start, 0
            while not (i <= back or i >= n - forth or low <= i <= high) and steps <= n:
                i, steps = (i - back if i >= 4 else i + forth), steps + 1
            cyclic = cyclic or steps > n
    try:
        parse(CHAIN.format(stop=stop, back=back, forth=forth, go_back=go_back))
    except PolyloomError as error:
        assert cyclic and error.diagnostics[0].code == "PL0222"
    else:
        assert not cyclic


def test_a_program_made_by_hand_is_verified_first() -> None:
    """A variable that no equation defines, which the language cannot leave undeclared either."""
    program = parse(
        "parameter N >= 1\ninput u[N]: i32\noutput y[N]: i32\nfor 0 <= i < N do\nx[i] = u[i] + 1\ny[i] = x[i]\n"
    )
    check(program)
    missing = replace(program, equations=tuple(e for e in program.equations if e.target.name != "x"))
    with pytest.raises(PolyloomError, match="no equation defines the variable `x`") as raised:
        check(missing)
    assert [d.code for d in raised.value.diagnostics] == ["PL0225"]

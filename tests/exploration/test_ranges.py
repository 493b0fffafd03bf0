# SPDX-License-Identifier: Apache-2.0
"""Axes as they are written, conditions, and fronts."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyloom.diagnostics import PolyloomError
from polyloom.exploration.front import pareto_front
from polyloom.exploration.point_condition import parse_condition
from polyloom.exploration.ranges import Axis, parse_axes, parse_axis
from polyloom.exploration.row import Row
from polyloom.exploration.space import Space


@pytest.mark.parametrize(
    ("text", "values"),
    {
        "N=16": "16",
        "N=16,64,256": "16,64,256",
        "N=16..256": "16,32,64,128,256",
        "N=3..25": "3,6,12,24",
        "N=16..64+16": "16,32,48,64",
        "N=0..7+3": "0,3,6",
        "N=1,4..8,100": "1,4,8,100",
        "N=8,8,4..8": "8,4",
        "pes=1x1..2x4": "1x1,1x2,1x4,2x1,2x2,2x4",
        "pes=1x2..3x3+1": "1x2,1x3,2x2,2x3,3x2,3x3",
        "pes=4x4,1x16": "4x4,1x16",
        "NI,NJ=16,32": "16,32",
    }.items(),
)
def test_values(text: str, values: str) -> None:
    names, _, _ = text.partition("=")
    assert parse_axis(text) == Axis(tuple(names.split(",")), tuple(values.split(",")))


def test_python_gives_the_same_axes() -> None:
    given = {"N": [16, 64], "M": "16..64", "K": 3, "pes": [(1, 1), (2, 4)], "NI,NJ": range(1, 3), "mode": ["a"]}
    texts = ["N=16,64", "M=16..64", "K=3", "pes=1x1,2x4", "NI,NJ=1,2", "mode=a"]
    assert parse_axes(given) == parse_axes(texts)


def refused(text: str) -> str:
    with pytest.raises(PolyloomError) as error:
        parse_axis(text)
    return error.value.code


@pytest.mark.parametrize(
    "text",
    ["N", "=3", "N=", "N=1,,2", "N=9..3", "N=0..8", "N=1..8+0", "N=1..", "N=1x1..4", "N,N=1", "N=1..x", "N=-1..4"],
)
def test_malformed(text: str) -> None:
    assert refused(text) == "PL1401"


def test_too_many() -> None:
    assert refused("N=0..999999999+1") == "PL1402"
    assert refused("pes=1x1..999999999x999999999+1") == "PL1402"
    many = parse_axis("N=1..1001+1")
    with pytest.raises(PolyloomError, match="PL1402"):
        Space(("tcpa",), (many, Axis(("M",), many.values))).check()


def test_points_are_a_product_in_order() -> None:
    space = Space(("a", "b"), (parse_axis("N=1,2"), parse_axis("p,q=3,4")), (parse_axis("key=5,6"),), (("M", "9"),))
    points = list(space.points())
    expected = product("ab", "56", "12", "34")
    assert [(p.number, p.on, p.settings, p.values) for p in points] == [
        (number, on, (("key", key),), (("M", "9"), ("N", n), ("p", v), ("q", v)))
        for number, (on, key, n, v) in enumerate(expected)
    ]
    assert len(space) == len(points) == 16


@pytest.mark.parametrize(
    ("text", "holds"),
    {
        "N < 8": False,
        "N <= 8 and elements == 32": True,
        "not N == 8 or pes == '4x8'": True,
        "4 <= N < 9": True,
        "elements % N": False,
        "N * 4 == elements and N / 3 > 2 and N // 3 == 2 and -N < 0 and N - 1 + 1 == 8": True,
        "missing < 1": False,
        "not missing": False,
        "none == none": False,
        "pes < 3": False,
        "N // 0 == 1": False,
        "pes * 1000 == pes": False,
    }.items(),
)
def test_conditions(text: str, holds: bool) -> None:
    assert parse_condition(text)({"N": 8, "pes": "4x8", "elements": 32, "none": None}) is holds


@pytest.mark.parametrize(
    "text", ["", "N <", "f(N)", "N.x", "[N]", "N ** 9", "N in pes", "lambda: 1", "x" * 2000, "N := 1"]
)
def test_no_conditions(text: str) -> None:
    with pytest.raises(PolyloomError, match="PL1403"):
        parse_condition(text)


def row(n: int, cycles: int | None, elements: int, code: str | None = None) -> Row:
    return Row({"on": "tcpa", "N": n}, "predict", code, cycles=cycles, elements=elements)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_a_front_is_what_nothing_beats(costs: list[tuple[int, int, int]]) -> None:
    rows = [row(*cost) for cost in costs]

    def beats(a: Row, b: Row) -> bool:
        mine: list[Any] = [a.cycles, a.elements]
        other: list[Any] = [b.cycles, b.elements]
        return a.point == b.point and mine != other and all(x <= y for x, y in zip(mine, other, strict=True))

    expected = [r for r in rows if not any(beats(other, r) for other in rows)]
    assert pareto_front(rows, ("cycles", "elements"), ("N",)) == expected


def test_rows_without_a_number_are_not_on_a_front() -> None:
    rows = [row(1, None, 1), row(1, 5, 5, "PL0511"), row(1, 7, 7), row(2, 9, 9)]
    assert pareto_front(rows, ("cycles", "elements"), ("N",)) == rows[2:]
    assert pareto_front(rows, ("-cycles",), ()) == rows[3:]

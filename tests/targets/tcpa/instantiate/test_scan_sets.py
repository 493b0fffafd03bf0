# SPDX-License-Identifier: Apache-2.0
"""The fast sets against enumeration: normal form, feasibility, succ, partition and windows on small random sets."""

from __future__ import annotations

from itertools import product
from math import prod

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.targets.tcpa.instantiate.oracle import cells, stepping

from polyloom.targets.tcpa.run import scan_sets
from polyloom.targets.tcpa.words.concrete import ConvexSet, HalfSpace

Points = set[tuple[int, ...]]


def points(s: ConvexSet) -> Points:
    box = product(*(range(a, b + 1) for a, b in zip(s.lower, s.upper, strict=True)))
    return {x for x in box if scan_sets.contains((s,), x)}


@st.composite
def raw_sets(
    draw: st.DrawFn, extents: tuple[int, ...], spaces: int = 3
) -> tuple[list[int], list[int], list[HalfSpace]]:
    bounds = [sorted((draw(st.integers(0, e - 1)), draw(st.integers(0, e - 1)))) for e in extents]
    vectors = st.tuples(*(st.integers(-3, 3) for _ in extents))
    half = draw(st.lists(st.builds(HalfSpace, vectors, st.integers(-9, 9)), max_size=spaces))
    return [a for a, _ in bounds], [b for _, b in bounds], half


def enumerate_raw(lower: list[int], upper: list[int], half: list[HalfSpace]) -> Points:
    box = product(*(range(a, b + 1) for a, b in zip(lower, upper, strict=True)))
    return {
        x
        for x in box
        if all(sum(a * y for a, y in zip(h.coefficients, x, strict=True)) + h.constant >= 0 for h in half)
    }


extents_strategy = st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple)


@st.composite
def families(draw: st.DrawFn) -> tuple[tuple[int, ...], list[list[ConvexSet]]]:
    extents = draw(extents_strategy)
    raw = draw(st.lists(st.lists(raw_sets(extents, 2), max_size=2), min_size=1, max_size=4))
    return extents, [[s for r in family if (s := scan_sets.convex_set(*r)) is not None] for family in raw]


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_normal_form_has_the_points_of_the_constraints_and_a_tight_box(data: st.DataObject) -> None:
    extents = data.draw(extents_strategy)
    raw = data.draw(raw_sets(extents))
    expected = enumerate_raw(*raw)
    s = scan_sets.convex_set(*raw)
    if s is None:
        assert not expected
        return
    assert points(s) == expected
    assert s.lower == tuple(map(min, zip(*expected, strict=True)))
    assert s.upper == tuple(map(max, zip(*expected, strict=True)))
    for h in s.half_spaces:
        rest = tuple(x for x in s.half_spaces if x != h)
        assert points(ConvexSet(s.lower, s.upper, rest)) != expected, "an implied half-space was kept"
        assert sum(a != 0 for a in h.coefficients) >= 2


def test_thin_and_wide_sets_are_decided_without_search() -> None:
    wide = [0, 0], [2**31, 2**31]
    apart = [HalfSpace((1, -1), -1), HalfSpace((-1, 1), 0)]
    assert scan_sets.convex_set(*wide, apart) is None
    parity = [HalfSpace((2, -2), -1), HalfSpace((-2, 2), 1)]
    assert scan_sets.convex_set(*wide, parity) is None
    diagonal = scan_sets.convex_set(*wide, [HalfSpace((1, -1), 0), HalfSpace((-1, 1), 0)])
    assert diagonal is not None and diagonal.upper == (2**31, 2**31)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_shift_moves_every_iteration_along_the_scan(data: st.DataObject) -> None:
    extents = data.draw(extents_strategy)
    s = scan_sets.convex_set(*data.draw(raw_sets(extents, 2)))
    steps = data.draw(st.integers(-4, 40))
    if s is None:
        return
    shifted = list(stepping.shift((s,), steps, extents))
    moved = {
        scan_sets.mixed_radix_digits(scan_sets.linearize_digits(x, extents) + steps, extents)
        for x in points(s)
        if scan_sets.linearize_digits(x, extents) + steps >= 0
    }
    found = [x for t in shifted for x in points(t)]
    assert sorted(found) == sorted(moved)


@given(families())
@settings(max_examples=200, deadline=None)
def test_partition_is_disjoint_and_exact(case: tuple[tuple[int, ...], list[list[ConvexSet]]]) -> None:
    extents, sets = case
    expected: dict[tuple[int, ...], int] = {}
    for x in product(*(range(e) for e in extents)):
        key = sum(1 << f for f, family in enumerate(sets) if scan_sets.contains(family, x))
        if key:
            expected[x] = key
    found = [(x, key) for key, part in cells.partition(sets).items() for s in part.sets for x in points(s)]
    assert len(found) == len(expected)
    assert dict(found) == expected


def test_partition_distinguishes_more_families_than_a_machine_word() -> None:
    sets = [[ConvexSet((i,), (i + 70,))] for i in range(70)]
    found = cells.partition(sets)
    assert found[(1 << 70) - 1].sets == [ConvexSet((69,), (70,))]
    assert len(found) == 139


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_window_is_the_exact_maximum(data: st.DataObject) -> None:
    extents = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple))
    lower, upper, _ = data.draw(raw_sets(extents, 0))
    s = ConvexSet(tuple(lower), tuple(upper))
    total = prod(extents)
    marks = [int(scan_sets.contains((s,), scan_sets.mixed_radix_digits(i, extents))) for i in range(total)]
    steps = data.draw(st.integers(0, total + 2))
    assert stepping.window(s, steps, extents) == max(sum(marks[i : i + steps]) for i in range(total))


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_after_is_everything_later(data: st.DataObject) -> None:
    extents = data.draw(extents_strategy)
    last = scan_sets.mixed_radix_digits(data.draw(st.integers(0, prod(extents) - 1)), extents)
    later = [
        x
        for s in scan_sets.list_successors(last, (0,) * len(extents), tuple(e - 1 for e in extents))
        for x in points(s)
    ]
    assert sorted(scan_sets.linearize_digits(x, extents) for x in later) == list(
        range(scan_sets.linearize_digits(last, extents) + 1, prod(extents))
    )

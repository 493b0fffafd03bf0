# SPDX-License-Identifier: Apache-2.0
"""Colourings against enumeration, and the checker against sabotage."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa.map.graph_colouring import Interval, check_colours, colour_graph, colour_intervals


def fewest(n: int, edges: list[tuple[int, int]]) -> int:
    """The chromatic number, by trying all colourings."""
    return next(
        k for k in range(n + 1) if any(all(c[i] != c[j] for i, j in edges) for c in product(range(k), repeat=n))
    )


@st.composite
def arcs(draw: st.DrawFn) -> tuple[tuple[Interval, ...], int, frozenset[tuple[int, int]]]:
    period = draw(st.integers(1, 6))
    values = tuple(
        Interval(first, first + draw(st.integers(0, period - 1)))
        for first in draw(st.lists(st.integers(0, 12), min_size=1, max_size=6))
    )
    pairs = list(combinations(range(len(values)), 2))
    return values, period, frozenset(draw(st.sets(st.sampled_from(pairs), max_size=3))) if pairs else frozenset()


@settings(max_examples=150)
@given(arcs())
def test_arcs_take_the_fewest_registers(instance: tuple[tuple[Interval, ...], int, frozenset[tuple[int, int]]]) -> None:
    values, period, compatible = instance
    alive = [{c % period for c in range(v.ready, v.last + 1)} for v in values]
    edges = [
        pair
        for pair in combinations(range(len(values)), 2)
        if alive[pair[0]] & alive[pair[1]] and pair not in compatible
    ]
    colours, bound = colour_intervals(values, period, compatible)
    assert all(colours[i] != colours[j] for i, j in edges)
    assert len(set(colours)) == bound == fewest(len(values), edges)


@settings(max_examples=60)
@given(
    st.integers(0, 7).flatmap(
        lambda n: st.tuples(
            st.just(n), st.sets(st.tuples(st.integers(0, max(0, n - 1)), st.integers(0, max(0, n - 1))))
        )
    )
)
def test_graphs_take_the_fewest_colours(graph: tuple[int, set[tuple[int, int]]]) -> None:
    n, drawn = graph
    edges = [(i, j) for i, j in drawn if i != j and n]
    colours = colour_graph(n, edges)
    assert all(colours[i] != colours[j] for i, j in edges)
    assert len(set(colours)) == fewest(n, edges)


def test_a_graph_without_triangles_that_needs_four_colours() -> None:
    # Mycielski's construction from a ring of five: the clique bound is 2, the answer 4.
    ring = [(i, (i + 1) % 5) for i in range(5)]
    edges = [*ring, *((i + 5, j) for a, b in ring for i, j in ((a, b), (b, a))), *((i + 5, 10) for i in range(5))]
    assert len(set(colour_graph(11, edges))) == 4


def test_three_arcs_that_meet_pairwise_but_never_all() -> None:
    assert colour_intervals((Interval(0, 2), Interval(2, 4), Interval(4, 6)), 6) == ((0, 1, 2), 3)


def test_colours_are_numbered_by_first_appearance() -> None:
    assert colour_intervals((Interval(0, 0), Interval(1, 1), Interval(1, 2)), 3)[0] == (0, 0, 1)


def test_impossible_intervals_are_refused() -> None:
    for wrong in (Interval(0, 3), Interval(2, 1)):
        with pytest.raises(ValueError, match="empty or longer"):
            colour_intervals((wrong,), 3)


def test_the_checker_notices_a_shared_register() -> None:
    values = (Interval(0, 1), Interval(3, 4))
    check_colours(values, 3, frozenset({(1, 0)}), (0, 0))
    for wrong in ((0, 0), (0,)):
        with pytest.raises(PolyloomError) as caught:
            check_colours(values, 3, frozenset(), wrong)
        assert caught.value.exit_code == 70

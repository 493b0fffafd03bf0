# SPDX-License-Identifier: Apache-2.0
"""Scan orders against their definition: every iteration comes after those that it depends on."""

from __future__ import annotations

from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.targets.tcpa.mapping.programs import stencil

from polyloom.diagnostics import INFEASIBLE, PolyloomError
from polyloom.targets.tcpa.map import allocate
from polyloom.targets.tcpa.map.allocate import Order, is_legal, list_allocations, list_scan_orders
from polyloom.targets.tcpa.map.dependence_graph import build_graph

VECTORS = st.integers(1, 3).flatmap(
    lambda n: st.lists(st.tuples(*[st.integers(-2, 2)] * n).filter(any), min_size=1, max_size=4, unique=True)
)


def runs_forward(order: Order, distances: list[tuple[int, ...]]) -> bool:
    """Enumerated on a box that holds every dependence: the step of each consumer is later than its producer's."""
    size = 5
    weights = {m: size**k * (-1 if order.reflected[m] else 1) for k, m in enumerate(order.order)}
    for d in distances:
        for point in product(range(size), repeat=len(d)):
            source = [p - c for p, c in zip(point, d, strict=True)]
            if all(0 <= s < size for s in source) and sum(weights[m] * c for m, c in enumerate(d)) <= 0:
                return False
    return True


@settings(max_examples=30)
@given(VECTORS)
def test_orders_are_legal_and_one_is_found_when_one_exists(distances: list[tuple[int, ...]]) -> None:
    n = len(distances[0])
    every = [Order(o, r) for o in permutations(range(n)) for r in product((False, True), repeat=n)]
    legal = [o for o in every if runs_forward(o, distances)]
    assert all(is_legal(o, distances) == (o in legal) for o in every)
    try:
        found = list_scan_orders(build_graph(stencil(distances)))
    except PolyloomError as error:
        # Where some sum of the distances is zero, values depend on themselves, and the analysis says so first.
        assert error.diagnostics[0].code in ("PL0222", "PL0402")
        assert not legal
        return
    assert set(found) <= set(legal)
    assert {o.order for o in found} == {o.order for o in legal}


@settings(max_examples=20)
@given(VECTORS, st.integers(1, 3))
def test_of_many_dimensions_an_order_is_found_when_one_exists(distances: list[tuple[int, ...]], most: int) -> None:
    try:
        legal = set(list_scan_orders(build_graph(stencil(distances))))
    except PolyloomError:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(allocate, "_MOST", most)
        found = list_scan_orders(build_graph(stencil(distances)))
    assert found and set(found) <= legal
    if most == len(distances[0]):
        assert {o.order[0] for o in found} == {o.order[0] for o in legal}


def test_every_choice_of_the_innermost_of_seven_dimensions() -> None:
    found = list_scan_orders(build_graph(stencil([(1,) * 7])))
    assert sorted({o.order[:4] for o in found}) == sorted(permutations(range(7), 4))
    assert len(found) == 840 and all(list(o.order[4:]) == sorted(o.order[4:], reverse=True) for o in found)


def test_a_conflict_names_the_dependences_that_matter() -> None:
    with pytest.raises(PolyloomError) as caught:
        list_scan_orders(build_graph(stencil([(1, 1), (2, -1), (-1, 1), (0, 2)])))
    diagnostic = caught.value.diagnostics[0]
    assert (diagnostic.code, diagnostic.exit_code) == ("PL0402", INFEASIBLE)
    assert [note.partition("distance ")[2] for note in diagnostic.notes] == ["(2, -1)", "(-1, 1)"]


def test_allocations_are_pairs_then_single_dimensions() -> None:
    assert [(a.rows, a.columns) for a in list_allocations(2)] == [(0, 1), (None, 0), (0, None), (None, 1), (1, None)]
    assert len(list_allocations(6)) == 15 + 12

# SPDX-License-Identifier: Apache-2.0
"""All strategies, both frontier methods, post-dominators and iterated frontiers agree with their definitions."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.graphs import Graph, flow_graphs, graphs

import polyloom as pl
from polyloom.analysis.dominators import Method, Strategy
from polyloom.cli.bench.graphs import FAMILIES

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
METHODS: tuple[Method, ...] = get_args(Method)
ANY = st.one_of(graphs(), flow_graphs(24))


def lists(frontiers: pl.ssa.Frontiers) -> list[list[int]]:
    return [frontiers[v].tolist() for v in range(len(frontiers))]


@given(ANY)
def test_dominators_are_those_of_the_definition(graph: Graph) -> None:
    for strategy in STRATEGIES:
        assert pl.ssa.dominators(graph.n, graph.edges, graph.root, strategy).tolist() == graph.idom


@given(ANY)
def test_frontiers_are_those_of_the_definition(graph: Graph) -> None:
    for method in METHODS:
        assert lists(pl.ssa.dominance_frontiers(graph.n, graph.edges, graph.root, method=method)) == graph.frontiers
    sizes = pl.ssa.dominator_tree(graph.n, graph.edges, graph.root).frontier_sizes()
    assert sizes.tolist() == [len(frontier) for frontier in graph.frontiers]


@given(ANY, st.data())
def test_iterated_frontiers_are_the_least_fixpoint(graph: Graph, data: st.DataObject) -> None:
    tree = pl.ssa.dominator_tree(graph.n, graph.edges, graph.root)
    nodes = data.draw(st.lists(st.integers(0, graph.n - 1)))
    assert pl.ssa.iterated_frontier(tree, nodes).tolist() == graph.iterated(nodes)
    within = data.draw(st.frozensets(st.integers(0, graph.n - 1)))
    mask = np.isin(np.arange(graph.n), list(within))
    assert pl.ssa.iterated_frontier(tree, nodes, mask).tolist() == graph.iterated(nodes, within)


@given(ANY)
def test_post_dominators_are_dominators_of_the_reversed_graph(graph: Graph) -> None:
    exits = set(range(graph.n)) - {u for u, _ in graph.edges}
    backward = Graph(graph.n + 1, (*((v, u) for u, v in graph.edges), *((graph.n, v) for v in exits)), graph.n)
    for strategy in STRATEGIES:
        assert pl.ssa.post_dominators(graph.n, graph.edges, strategy).tolist() == backward.idom[: graph.n]


@given(ANY)
def test_a_subtree_is_a_range_of_the_preorder(graph: Graph) -> None:
    tree = pl.ssa.dominator_tree(graph.n, graph.edges, graph.root)
    assert sorted(tree.preorder) == sorted(graph.dominators)
    for v in range(graph.n):
        subtree = tree.preorder[tree.position[v] : tree.position[v] + tree.size[v]]
        assert sorted(subtree) == [w for w in range(graph.n) if v in graph.dominators.get(w, ())]


@pytest.mark.parametrize("family", FAMILIES)
def test_families(family: str) -> None:
    for n in (4, 9, 32):
        edges = FAMILIES[family](n)
        graph = Graph(n, tuple((int(u), int(v)) for u, v in edges), 0)
        assert edges.min() >= 0 and edges.max() < n
        for strategy in STRATEGIES:
            assert pl.ssa.dominators(n, edges, strategy=strategy).tolist() == graph.idom
        for method in METHODS:
            assert lists(pl.ssa.dominance_frontiers(n, edges, method=method)) == graph.frontiers


def chain(n: int) -> list[int]:
    return list(range(-1, n - 1))


def fan(n: int) -> list[int]:
    return chain(n // 2 + 1) + [0] * (n - n // 2 - 1)


def crossed(n: int) -> list[int]:
    return [-1] + [0] * (n // 2 - 1) + [n // 2 - 1] + [0] * (n - n // 2 - 1)


LARGE = {"nest": chain, "back": chain, "snca": fan, "irr": crossed}


@pytest.mark.parametrize("family", LARGE)
def test_large_graphs_have_known_dominators(family: str) -> None:
    for n, strategies in ((4_000, STRATEGIES), (300_000, STRATEGIES[1:])):
        for strategy in strategies:
            assert pl.ssa.dominators(n, FAMILIES[family](n), strategy=strategy).tolist() == LARGE[family](n)


def test_strategies_and_methods_agree_on_a_large_program() -> None:
    n, edges = 20_000, FAMILIES["cfg"](20_000)
    scratch, cached, balanced = (pl.ssa.dominators(n, edges, strategy=strategy) for strategy in STRATEGIES)
    assert np.array_equal(scratch, cached) and np.array_equal(cached, balanced)
    one, other = (pl.ssa.dominance_frontiers(n, edges, method=method) for method in METHODS)
    assert np.array_equal(one.start, other.start) and np.array_equal(one.members, other.members)


def test_an_empty_edge_list() -> None:
    assert pl.ssa.dominators(2, [], 1).tolist() == [-1, -1]
    assert pl.ssa.post_dominators(2, []).tolist() == [2, 2]


def test_the_root_with_a_single_predecessor_is_in_frontiers() -> None:
    """The shortcut for nodes with fewer than two predecessors holds for all nodes but the root."""
    for method in METHODS:
        assert lists(pl.ssa.dominance_frontiers(2, [(0, 1), (1, 0)], method=method)) == [[0], [0]]


def test_every_type_of_integers_is_taken() -> None:
    for dtype in (np.int8, np.uint8, np.int64, np.uint64):
        assert pl.ssa.dominators(np.int64(3), np.array([(0, 1), (1, 2)], dtype)[:, :], np.uint8(0)).dtype == np.int32
    strided = np.array([(0, 9, 1), (1, 9, 2)], np.int32)[:, ::2]
    assert pl.ssa.dominators(3, strided).tolist() == [-1, 0, 1]


def test_quadratic_frontiers_are_counted_and_refused() -> None:
    n = 100_000
    edges = FAMILIES["nest"](n)
    with pytest.raises(pl.PolyloomError, match="have 2500050000 members, more than 100000000") as caught:
        pl.ssa.dominance_frontiers(n, edges)
    assert caught.value.diagnostics[0].code == "PL0965"
    tree = pl.ssa.dominator_tree(n, edges)
    assert pl.ssa.iterated_frontier(tree, [n // 2]).tolist() == list(range(n // 2))


BAD: dict[str, tuple[tuple[object, ...], str]] = {
    "no nodes": ((0, []), "PL0963"),
    "negative nodes": ((-1, []), "PL0963"),
    "more nodes than memory": ((10**12, []), "PL0963"),
    "digits without end": ((10**5000, []), "PL0963"),
    "fractional nodes": ((2.5, []), "PL0962"),
    "root": ((3, [], 3), "PL0964"),
    "edge": ((3, [(0, 1), (1, 3)]), "PL0964"),
    "negative edge": ((3, [(0, 1), (-1, 1)]), "PL0964"),
    "edge beyond 32 bits": ((3, [(0, 2**32 + 1)]), "PL0964"),
    "fractions": ((3, [(0, 1.5)]), "PL0962"),
    "truth values": ((3, [(False, True)]), "PL0962"),
    "ragged": ((3, [(0, 1), (2,)]), "PL0962"),
    "no pairs": ((3, [0, 1]), "PL0962"),
    "strategy": ((3, [], 0, "ballanced"), "PL0966"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_graph_is_refused(name: str) -> None:
    arguments, code = BAD[name]
    for function in (pl.ssa.dominators, pl.ssa.dominator_tree, pl.ssa.dominance_frontiers):
        with pytest.raises(pl.PolyloomError) as caught:
            function(*arguments)  # pyright: ignore[reportArgumentType] # what a caller without a type checker writes
        assert caught.value.diagnostics[0].code == code


def test_bad_questions_are_refused() -> None:
    tree = pl.ssa.dominator_tree(3, [(0, 1)])
    for nodes in ([3], [-1], [0.5]):
        with pytest.raises(pl.PolyloomError):
            pl.ssa.iterated_frontier(tree, nodes)  # pyright: ignore[reportArgumentType] # as above
    with pytest.raises(pl.PolyloomError, match=r"within has the shape \(2,\)"):
        pl.ssa.iterated_frontier(tree, [0], np.ones(2, np.bool_))

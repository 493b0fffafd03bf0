# SPDX-License-Identifier: Apache-2.0
"""Loop forests, natural loops and reducibility agree with their definitions by reachability."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.analysis.graphs import Graph, flow_graphs, graphs

import polyloom as pl
from polyloom.cli.bench.graphs import FAMILIES

ANY = st.one_of(graphs(), flow_graphs(24))
CROSSED = Graph(3, ((0, 1), (0, 2), (1, 2), (2, 1)), 0)
DEEP = Graph(4, ((0, 1), (1, 2), (2, 3), (3, 2), (3, 1), (0, 3)), 0)


def descendants(graph: Graph) -> dict[int, set[int]]:
    """By node its descendants, in preorder of a depth-first search that follows edges in their order."""
    found: dict[int, set[int]] = {}

    def visit(node: int, path: list[int]) -> None:
        found[node] = set()
        for above in (*path, node):
            found[above].add(node)
        for u, v in graph.edges:
            if u == node and v not in found:
                visit(v, [*path, node])

    visit(graph.root, [])
    return found


def reaching(graph: Graph, ends: set[int], within: set[int]) -> set[int]:
    """What leads to one of the ends without leaving a set."""
    found = set(ends)
    while more := {u for u, v in graph.edges if v in found and u in within} - found:
        found |= more
    return found


def loops(graph: Graph) -> dict[int, set[int]]:
    """By header the members: the descendants that reach it through its descendants."""
    return {
        h: reaching(graph, {h}, below)
        for h, below in descendants(graph).items()
        if any(v == h and u in below for u, v in graph.edges)
    }


def natural(graph: Graph) -> dict[int, tuple[int, ...]]:
    """By header the members: it, and what reaches a source of an edge back to it without passing it."""
    back = [(u, h) for u, h in graph.edges if h in graph.dominators.get(u, ())]
    others = {h: graph.reached(graph.root) - {h} for _, h in back}
    return {
        h: tuple(sorted({h} | reaching(graph, {u for u, to in back if to == h and u != h}, {*others[h]})))
        for h in sorted(others)
    }


@given(ANY)
@example(CROSSED)
@example(DEEP)
def test_loops_are_those_of_the_definition(graph: Graph) -> None:
    forest, expected = pl.ssa.loop_forest(graph.n, graph.edges, graph.root), loops(graph)
    assert [loop.header for loop in forest.loops] == list(expected)  # both in preorder
    for k, loop in enumerate(forest.loops):
        members = expected[loop.header]
        assert set(forest.members(k)) == members
        assert set(loop.latches) == {u for u, v in graph.edges if v == loop.header and u in members}
        entered = {v for u, v in graph.edges if v in members and u not in members and u in descendants(graph)}
        assert loop.irreducible == bool(entered - {loop.header})
        around = [j for j, other in enumerate(forest.loops) if j != k and loop.header in expected[other.header]]
        assert loop.depth == len(around) + 1
        assert loop.parent == max(around, key=lambda j: forest.loops[j].depth, default=-1)


@given(ANY)
def test_natural_loops_are_those_of_the_definition(graph: Graph) -> None:
    found = pl.ssa.natural_loops(graph.n, graph.edges, graph.root)
    assert found == natural(graph)
    forest = pl.ssa.loop_forest(graph.n, graph.edges, graph.root)
    for k, loop in enumerate(forest.loops):
        assert loop.irreducible or found[loop.header] == forest.members(k)


@given(ANY)
@example(CROSSED)
def test_reducible_is_what_has_no_cycle_without_back_edges(graph: Graph) -> None:
    forward = tuple((u, v) for u, v in graph.edges if u in graph.dominators and v not in graph.dominators[u])
    rest = Graph(graph.n, forward, graph.root)
    cyclic = any(u in rest.reached(v) for u, v in forward)
    assert pl.ssa.loop_forest(graph.n, graph.edges, graph.root).reducible == (not cyclic)


@given(ANY)
def test_a_node_is_own_in_its_innermost_loop(graph: Graph) -> None:
    forest = pl.ssa.loop_forest(graph.n, graph.edges, graph.root)
    owner = {node: k for k, loop in enumerate(forest.loops) for node in loop.own}
    assert forest.innermost == tuple(owner.get(node, -1) for node in range(graph.n))


@pytest.mark.parametrize("family", FAMILIES)
def test_families(family: str) -> None:
    """Nests are as deep as their graph; opposing chains are irreducible; no family takes quadratic time or
    recursion."""
    n = 20000
    forest = pl.ssa.loop_forest(n, FAMILIES[family](n))
    assert forest.reducible == (family in ("nest", "back", "snca"))
    if family == "nest":
        assert max(loop.depth for loop in forest.loops) == n // 2
        assert all(b.parent == k for k, (_, b) in enumerate(pairwise(forest.loops)))

# SPDX-License-Identifier: Apache-2.0
"""The reduced dependence graph against enumeration, and the copies that spare destinations."""

from __future__ import annotations

from itertools import product

import pytest
from tests.targets.tcpa.mapping.programs import example

from polyloom.ir.rdg import Graph, print_graph
from polyloom.targets.tcpa.map.dependence_graph import build_graph, count_destinations, limit_destinations

SMALL = {
    "bits": ({"N": 0}, {"N": 1}, {"N": 4}),
    "matmul": ({"N": 2, "M": 3, "K": 1}, {"N": 2, "M": 2, "K": 3}),
    "fir": ({"N": 4, "T": 3}, {"N": 1, "T": 4}),
    "lcs": ({"N": 3, "M": 2},),
    "jacobi1d": ({"T": 2, "N": 5}, {"T": 1, "N": 1}, {"T": 0, "N": 3}),
    "matvec": ({"N": 2, "M": 3},),
}


def destination_sets(graph: Graph, values: dict[str, int]) -> dict[tuple[str, tuple[int, ...]], set[object]]:
    """By value (variable, iteration): what it is written to, one register for all uses in the iteration, a FIFO for any
    other."""
    found: dict[tuple[str, tuple[int, ...]], set[object]] = {}
    for n, use in enumerate(graph.uses):
        for point in points(graph, values):
            if any(w.condition.contains(named(graph, point, values)) for w in use.writers):
                found.setdefault((use.variable, point), set()).add("register" if use.is_local else n)
    return found


def points(graph: Graph, values: dict[str, int]) -> list[tuple[int, ...]]:
    side = range(-1, 2 + max(values.values()))
    return list(product(side, repeat=len(graph.program.dimensions)))


def named(graph: Graph, point: tuple[int, ...], values: dict[str, int]) -> dict[str, int]:
    return dict(zip(graph.program.dimensions, point, strict=True)) | values


@pytest.mark.parametrize("name", SMALL)
def test_writers_produce_exactly_what_is_read(name: str) -> None:
    graph = build_graph(example(name))
    for values in SMALL[name]:
        for use in graph.uses:
            for point in points(graph, values):
                consumer = named(graph, tuple(c + d for c, d in zip(point, use.distance, strict=True)), values)
                read = graph.equations[use.consumer].condition.contains(consumer)
                here = named(graph, point, values)
                for v, e in enumerate(graph.equations):
                    if e.target.name == use.variable:
                        produced = any(w.node == v and w.condition.contains(here) for w in use.writers)
                        assert produced == (read and e.condition.contains(here))


@pytest.mark.parametrize("name", SMALL)
def test_exclusive_equations_never_meet(name: str) -> None:
    graph = build_graph(example(name))
    for values in SMALL[name]:
        for point in points(graph, values):
            active = [v for v, e in enumerate(graph.equations) if e.condition.contains(named(graph, point, values))]
            assert not any(graph.is_exclusive_pair(v, w) for v in active for w in active if v != w)


@pytest.mark.parametrize("limit", [1, 2, 6])
@pytest.mark.parametrize("name", SMALL)
def test_no_value_has_more_destinations_than_allowed(name: str, limit: int) -> None:
    graph = limit_destinations(build_graph(example(name)), limit)
    assert all(count_destinations(graph, v.name) <= limit for v in graph.program.variables)
    for values in SMALL[name]:
        assert max((len(s) for s in destination_sets(graph, values).values()), default=0) <= limit


def test_the_running_example_needs_no_copies() -> None:
    program = example("bits")
    assert limit_destinations(build_graph(program), 1).program.variables == program.variables


def test_the_running_example_is_figure_3() -> None:
    lines = print_graph(build_graph(example("bits"))).splitlines()
    assert [line.split(" {")[0] for line in lines] == [
        "S1: x [move]",
        "S2: x [move]",
        "  A <- S3 d = (1)",
        "S3: y [shr]",
        "  A <- S1",
        "  A <- S2",
        "S4: bits [and]",
        "  A <- S1",
        "  A <- S2",
    ]

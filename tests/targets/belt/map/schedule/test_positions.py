# SPDX-License-Identifier: Apache-2.0
"""Positions by the formula are those on a belt kept drop by drop; exit windows are those of a simulation."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from tests.targets.belt.generate import draw

from polyloom.modulo.check import violations
from polyloom.modulo.problem import Schedule
from polyloom.modulo.solve import ITERATIVE, solve
from polyloom.targets.belt.isa import OPS, PHASES
from polyloom.targets.belt.machine import member, members
from polyloom.targets.belt.map.schedule.graph import Graph
from polyloom.targets.belt.map.schedule.loop_graph import Builder
from polyloom.targets.belt.map.schedule.normalize_loops import entry_arguments
from polyloom.targets.belt.map.schedule.positions import Belt
from polyloom.targets.belt.map.schedule.problem import realizing_nodes, scheduling_problem
from polyloom.targets.belt.map.schedule.slots import assign_slots

BEFORE = 12
"""Iterations below 0 that a brute-force belt begins with, so that it is full when iteration 0 begins."""


def placed(seed: int) -> Belt | None:
    random = Random(seed)
    machine = member(members()[seed % 7], random.random() < 0.5)
    case = draw(random, 25)
    graph = Builder(case.loop, entry_arguments(case.module.functions[0], case.loop), {}).build()
    if sum(node.name == "load" for node in graph.nodes) > machine.stations:
        return None
    made = scheduling_problem(machine, graph)
    solution = solve(made.problem, ITERATIVE, at_least=random.choice((1, 1, 5)))
    assert not violations(made.problem, solution.schedule)
    return Belt(machine, graph, assign_slots(graph, made, solution.schedule))


def drops(belt: Belt, iterations: range) -> Iterator[tuple[tuple[int, ...], int, int, int]]:
    """((bundle, phase, latency, slot, result), node, result, iteration) of every drop."""
    for n, node in enumerate(belt.graph.nodes):
        op = OPS[node.name]
        for i in iterations:
            issued = belt.placed.start[n] + i * belt.placed.interval
            late = op.phase == "C" or not belt.machine.phasing
            when = issued + (belt.placed.latency[n] - 1 if late else 0)
            phase = PHASES.index(op.phase) if belt.machine.phasing else len(PHASES)
            for r in range(len(node.results)):
                yield (when, phase, belt.placed.latency[n], *belt.placed.slots[n].order, r), n, r, i


@pytest.mark.parametrize("seed", range(60))
def test_positions_are_those_of_a_belt(seed: int) -> None:
    belt = placed(seed)
    if belt is None:
        return
    last = belt.placed.stages + 3
    order = sorted(drops(belt, range(-BEFORE - last, last + belt.placed.stages + 4)))
    number = {(n, r, i): k for k, (_, n, r, i) in enumerate(order)}
    for i in (0, last):
        for n, k, read in belt.reads():
            now = belt.placed.start[n] + i * belt.placed.interval
            phase = PHASES.index(OPS[belt.graph.nodes[n].name].phase)
            seen = sum(key[:2] < (now, phase) for key, _, _, _ in order)
            place = number[read.node, read.result, i - belt.distance(n, read)]
            assert place < seen, "read before it drops"
            assert belt.positions[n, k] == seen - 1 - place


def taken(graph: Graph, belt: Belt, last: int, exit: int) -> set[tuple[int, int]]:
    """What has acted, (node, iteration), when iteration `last` leaves at `exit`: bundle by bundle."""
    found: set[tuple[int, int]] = set()
    end = belt.placed.start[exit] + last * belt.placed.interval
    for bundle in range(end + 1):
        for n in realizing_nodes(graph):
            i, row = divmod(bundle - belt.placed.start[n], belt.placed.interval)
            if row == 0 and i >= 0 and graph.nodes[n].name == "store":
                found.add((n, i))
    return found


@pytest.mark.parametrize("seed", range(60))
def test_windows_let_pass_what_the_program_does(seed: int) -> None:
    belt = placed(seed)
    if belt is None:
        return
    graph = belt.graph
    stores = [n for n in realizing_nodes(graph) if graph.nodes[n].name == "store"]
    exits = [n for n in realizing_nodes(graph) if graph.nodes[n].name.startswith("leave")]
    for exit in exits:
        for last in (0, 1, 4):
            before = {n for n in stores if graph.nodes[n].index < graph.nodes[exit].index}
            expected = {(n, i) for n in stores for i in range(last)} | {(n, last) for n in before}
            assert taken(graph, belt, last, exit) == expected


def test_a_position_that_is_off_by_one_is_noticed() -> None:
    belt = next(b for b in map(placed, range(60)) if b is not None and len(b.positions) > 4)
    start = list(belt.placed.start)
    read = next(r for n, _, r in belt.reads() if r.distance == 0 and n != r.node)
    start[read.node] += 1
    moved = Belt(
        belt.machine,
        belt.graph,
        type(belt.placed)(belt.placed.interval, tuple(start), belt.placed.latency, belt.placed.slots),
    )
    assert moved.positions != belt.positions


def test_a_schedule_that_breaks_a_window_is_refused() -> None:
    belt = next(b for b in map(placed, range(60)) if b is not None and any(n.name == "store" for n in b.graph.nodes))
    made = scheduling_problem(belt.machine, belt.graph)
    store = next(n for n, node in enumerate(belt.graph.nodes) if node.name == "store")
    solution = solve(made.problem, ITERATIVE)
    starts = list(solution.schedule.start)
    starts[store] += 2 * solution.schedule.interval
    broken = Schedule(solution.schedule.interval, tuple(starts), solution.schedule.choice, solution.schedule.latency)
    assert violations(made.problem, broken)

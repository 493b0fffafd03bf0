# SPDX-License-Identifier: Apache-2.0
"""Loop statistics: whether a loop is pipelined, its bounds, and what it holds."""

from __future__ import annotations

from dataclasses import replace

from polyloom.modulo.problem import LowerBound
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.map.schedule.graph import LOADS, Graph
from polyloom.targets.belt.map.schedule.pipeline import Pipelined
from polyloom.targets.belt.map.schedule.problem import linear_latency
from polyloom.targets.belt.source.ir import Loop
from polyloom.targets.belt.words.loop_facts import LoopFacts


def loop_facts(
    machine: Machine, loop: Loop, graph: Graph, bounds: tuple[LowerBound, LowerBound], reason: str
) -> LoopFacts:
    """Facts of a loop that is not pipelined, or not yet; `bounds` are ResMII and RecMII (Rau 1994)."""
    resource, recurrence = (b.value for b in bounds)
    lanes = max((v.type.lanes for n in graph.nodes for v in n.results), default=1)
    least = max(1, resource, recurrence)
    line = loop.place.line
    packed = max(1, resource)
    return LoopFacts(
        loop.name, line, False, reason, linear_latency(machine, graph), packed, least, resource, recurrence, lanes=lanes
    )


def pipelined_facts(facts: LoopFacts, found: Pipelined) -> LoopFacts:
    """Facts of a pipelined loop, from what was emitted."""
    belt, graph = found.belt, found.belt.graph
    names = [node.name for node in graph.nodes]
    interval = found.interval
    loads = [belt.placed.latency[n] for n, node in enumerate(graph.nodes) if node.name in LOADS]
    # A proof holds for the graph that was solved: with spills and recurs in it, the loop itself may do better.
    is_larger = "spill" in names or "recur" in names
    proved = interval == facts.minimum_initiation_interval or (found.solution.proved and not is_larger)
    return replace(
        facts,
        pipelined=True,
        reason="",
        initiation_interval=interval,
        proved_minimal=proved,
        bound_by=_bound_reason(found),
        stages=belt.placed.stages,
        drops=belt.drops,
        belt_high_water=1 + max(belt.positions.values(), default=-1),
        spills=names.count("spill"),
        fills=names.count("fill"),
        recurs=names.count("recur"),
        rounds=found.rounds,
        scratch_bytes=found.frames.bytes,
        # A load holds its station for its delay: so many of its iterations are under way at once (docs/targets/belt.md,
        # In detail).
        stations=sum(-(-delay // interval) for delay in loads),
    )


def _bound_reason(found: Pipelined) -> str:
    """Bound of the interval, in the words of the bounds; where a shorter interval had a schedule but not the belt,
    that."""
    if found.interval == found.at_least > max(1, *(b.value for b in found.bounds)):
        return f"the belt: {found.belt.machine.belt} positions for {found.belt.drops} drops per pass"
    return found.solution.bound_by

# SPDX-License-Identifier: Apache-2.0
"""Modulo scheduling problem of a loop's graph: slots, latencies by phase, memory, stations, the windows around a leave
(Rau 1994; docs/targets/belt.md, Time and Loops).

Slots with the same units are one resource. A result drops at its operation's phase of bundle start + latency - 1, and
is read by what comes later in (bundle, phase); so a read costs latency - 1 bundles, and one more where the reader's
phase is not after the drop's. The last operation of a problem is the loop's beginning, from which stages count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from polyloom.modulo.problem import Capacity, Choice, Dependence, Hold, Operation, Problem, Resource, Use
from polyloom.targets.belt.isa import OPS, PHASES, Phase
from polyloom.targets.belt.machine import LOOP_SLOTS, Machine, Slot
from polyloom.targets.belt.map.schedule.graph import CALLS, LEAVES, LOADS, Graph, Node

ROLES: Final = ("counter", "test", "leave")
"""In the order of `LOOP_SLOTS`."""
END: Final = len(PHASES)
"""The rank of a bundle's end, where all results drop without phasing."""


@dataclass(frozen=True, slots=True)
class Class:
    """Resource class: slots that execute the same operations."""

    name: str
    slots: tuple[Slot, ...]


Groups = tuple[tuple[Class, frozenset[str]], ...]


@lru_cache(maxsize=64)
def slot_classes(machine_slots: tuple[tuple[Slot, frozenset[str]], ...], alone: bool = False) -> Groups:
    """Classes of a member's slots, the least able ones first. `alone`: each slot is a group, as an operation needs that
    holds its slot for several bundles."""
    groups: dict[tuple[str, frozenset[str], int], list[Slot]] = {}
    for slot, units in machine_slots:
        groups.setdefault((slot.kind, units, slot.number if alone and slot.kind == "E" else 0), []).append(slot)
    # What fits into a slot that can do little leaves the able ones free.
    order = sorted(groups.items(), key=lambda item: len(item[0][1]))
    return tuple((Class(_class_name(tuple(slots)), tuple(slots)), units) for (_, units, _), slots in order)


def _class_name(slots: tuple[Slot, ...]) -> str:
    return str(slots[0]) if len(slots) == 1 else f"{slots[0]}-{slots[-1].number}"


def latency(machine: Machine, graph: Graph, node: Node) -> int:
    """Latency in bundles until the drop, 0 in the phases R, K, P and X; of a load the least."""
    if node.name in LOADS:
        return machine.load[0]
    if not node.results:
        return 0
    return machine.latency(OPS[node.name], graph.operand_width(node))


def phase_rank(phase: Phase) -> int:
    return PHASES.index(phase)


def drop_rank(machine: Machine, node: Node) -> int:
    """Rank of the phase of the drop; without phasing that of the bundle's end."""
    return phase_rank(OPS[node.name].phase) if machine.phasing else END


def gap(machine: Machine, producer: Node, consumer: Node) -> int:
    """Bundles that a read demands beyond the producer's latency: the reader's start is at least start + latency + gap
    (docs/targets/belt.md, Time)."""
    # True, one bundle more, where the reader reads before the producer's phase drops.
    later = drop_rank(machine, producer) >= phase_rank(OPS[consumer.name].phase)
    return later - (1 if OPS[producer.name].phase == "C" or not machine.phasing else 0)


@dataclass(frozen=True, slots=True)
class Setting:
    """Problem with its resources: the classes of slots, then those of a free loop."""

    problem: Problem
    resources: tuple[tuple[Slot, ...], ...]
    begin: int


def scheduling_problem(machine: Machine, graph: Graph) -> Setting:
    """Scheduling problem of a graph on a member; node n is operation n, the loop's beginning the last one."""
    # A division holds one slot for many bundles: a class of several slots could serve it by turns, which no slot can.
    alone = any(machine.busy(OPS[node.name], graph.operand_width(node)) > 1 for node in graph.nodes)
    groups = slot_classes(machine.slots, alone)
    slots = [group.slots for group, _ in groups]
    resources = [Resource(group.name, len(group.slots)) for group, _ in groups]
    if machine.free_loop:
        slots += [(slot,) for slot in LOOP_SLOTS]
        resources += [Resource(f"{slot}", 1) for slot in LOOP_SLOTS]
    operations = [
        Operation(operation_label(graph, n), _choices(machine, graph, node, groups))
        for n, node in enumerate(graph.nodes)
    ]
    begin = len(operations)
    # It takes no slot: it marks the time 0 from which stages count.
    operations.append(Operation("loop", (Choice(latency=0),)))
    dependences = [
        *_flow_dependences(machine, graph),
        *_memory_dependences(graph),
        *_exit_windows(graph),
        *_stage_bounds(graph, begin),
    ]
    holds = tuple(Hold(n) for n, node in enumerate(graph.nodes) if node.name in LOADS)
    # Retire stations: a load holds one for its delay, which the solver may choose.
    capacities = (Capacity("stations", machine.stations, holds),) if holds else ()
    return Setting(Problem(tuple(operations), tuple(resources), tuple(dependences), capacities), tuple(slots), begin)


def operation_label(graph: Graph, n: int) -> str:
    """Label of an operation, as a user's message names it."""
    node = graph.nodes[n]
    name = f"{node.name} {node.results[0].name}" if node.results else node.name
    return f"{name} (line {node.place.line})" if node.place.line else name


def _choices(machine: Machine, graph: Graph, node: Node, groups: Groups) -> tuple[Choice, ...]:
    """Choices of an operation: a class of slots each, and its range of latencies."""
    op = OPS[node.name]
    least = latency(machine, graph, node)
    most = machine.load[1] if node.name in LOADS else None
    busy = machine.busy(op, graph.operand_width(node))
    # Roles have slots of their own, which nothing else competes for.
    if machine.free_loop and node.role:
        return (Choice((Use(len(groups) + ROLES.index(node.role), busy),), least, most),)
    return tuple(Choice((Use(k, busy),), least, most) for k, (_, units) in enumerate(groups) if op.unit in units)


def _flow_dependences(machine: Machine, graph: Graph) -> Iterator[Dependence]:
    """Flow dependences: a read after the drop; a fill after its spill, and near its reader."""
    for n, node in enumerate(graph.nodes):
        seen: dict[tuple[int, int], None] = {}
        for read in node.reads:
            # Two operands that read one value are one dependence.
            if (read.node, read.distance) in seen:
                continue
            seen[read.node, read.distance] = None
            source = graph.nodes[read.node]
            yield Dependence(read.node, n, read.distance, gap(machine, source, node))
        if node.spill >= 0:
            # A spill reads in X, and two bundles later the fill may drop.
            yield Dependence(node.spill, n, node.distance, 2, 0)
        # A negative delay: the node comes at most so many bundles before its reader.
        if node.near is not None:
            yield Dependence(node.near[0], n, 0, -node.near[1], 0)


def _memory_dependences(graph: Graph) -> Iterator[Dependence]:
    """Memory dependences (docs/targets/belt.md, Time): a load samples in phase C of its drop's bundle; a store is seen
    from the next bundle on, a call after phase K."""
    for o in graph.order:
        source, sink = graph.nodes[o.source].name, graph.nodes[o.sink].name
        # From a load the drop counts, whose bundle the delay decides; from a store or call the issue.
        early = None if source in LOADS else 0
        to_result = sink in LOADS
        # By (source loads, sink loads). A load that drops in the bundle of a store still sees the old value.
        delay = {
            (True, True): 0,
            (True, False): -1,
            (False, True): 2,
            (False, False): 1 if sink in CALLS else 0,
        }[source in LOADS, sink in LOADS]
        yield Dependence(o.source, o.sink, o.distance, delay, early, to_result)


def realizing_nodes(graph: Graph) -> list[int]:
    """Realizing operations: stores, calls and leaves, in the order of the program."""
    found = [n for n, node in enumerate(graph.nodes) if node.name in (*LEAVES, *CALLS, "store")]
    return sorted(found, key=lambda n: graph.nodes[n].index)


def _exit_windows(graph: Graph) -> Iterator[Dependence]:
    """Exit windows (docs/targets/belt.md, Loops): what acts before a leave in the program: t_leave - II < t <= t_leave;
    after it: t_leave < t <= t_leave + II.

    As dependences of distance 0 and 1, so that solvers and bounds need no rule for them.
    """
    acts = realizing_nodes(graph)
    for at, leave in enumerate(acts):
        if graph.nodes[leave].name not in LEAVES:
            continue
        for k, other in enumerate(acts):
            if k == at or (k < at and graph.nodes[other].name in LEAVES):
                continue
            if graph.nodes[other].name in LEAVES:
                # In one bundle the older iteration's leave acts first, then the earlier one of the program.
                yield Dependence(leave, other, 0, 0, 0)
                yield Dependence(other, leave, 1, 0, 0)
            elif k < at:
                yield Dependence(other, leave, 0, 0, 0)
                yield Dependence(leave, other, 1, 1, 0)
            else:
                yield Dependence(leave, other, 0, 1, 0)
                yield Dependence(other, leave, 1, 0, 0)


def _stage_bounds(graph: Graph, begin: int) -> Iterator[Dependence]:
    """Stage bounds: nothing is issued before the loop begins; what must be of stage 0 is issued in the first pass."""
    for n, node in enumerate(graph.nodes):
        yield Dependence(begin, n, 0, 0, 0)
        if node.first:
            yield Dependence(n, begin, 1, 1, 0)


def linear_latency(machine: Machine, graph: Graph) -> int:
    """Linear latency: bundles of one iteration by its data flow, which the SPL test compares with the slots' bundles
    (I. Godard, "Pipelining"; docs/targets/belt.md, Loops)."""
    times: dict[int, int] = {}

    def earliest_start(n: int) -> int:
        if n not in times:
            node = graph.nodes[n]
            times[n] = max(
                (
                    earliest_start(r.node)
                    + latency(machine, graph, graph.nodes[r.node])
                    + gap(machine, graph.nodes[r.node], node)
                    for r in node.reads
                    if r.distance == 0
                ),
                default=0,
            )
        return times[n]

    return max(
        (earliest_start(n) + max(1, latency(machine, graph, node)) for n, node in enumerate(graph.nodes)), default=1
    )

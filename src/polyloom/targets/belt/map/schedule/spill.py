# SPDX-License-Identifier: Apache-2.0
"""Spilling: what falls off the belt before it is read is repeated nearer its use, or spilled at its producer and filled
again.

(I. Godard, "Pipelining": the fixpoint of scheduling, belt positions, spills; docs/targets/belt.md, Loops.) A constant
and a value from outside are issued once more, a fill too (rematerialization, Briggs, Cooper and Torczon 1992); another
value gets a spill, and a fill for the readers that lost it. Where each reader has its own already, nothing helps at
this interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from polyloom.targets.belt.map.schedule.graph import LEAF, Graph, Node, Read, Source, replace_reads
from polyloom.targets.belt.map.schedule.positions import Belt, Placed
from polyloom.targets.belt.map.schedule.problem import gap
from polyloom.targets.belt.source.ir import Value
from polyloom.targets.belt.value_types import BYTES


def lost_operands(belt: Belt) -> list[tuple[int, int, Read]]:
    """Lost operands (node, number, read): those beyond the belt's end."""
    return [(n, k, r) for n, k, r in belt.reads() if belt.positions[n, k] >= belt.machine.belt]


def spill_lost_operands(belt: Belt, found: Sequence[tuple[int, int, Read]]) -> Graph:
    """Graph with the lost operands repeated or filled."""
    graph = belt.graph
    groups: dict[tuple[int, int], list[tuple[int, int, Read]]] = {}
    for n, k, read in found:
        groups.setdefault((read.node, read.result), []).append((n, k, read))
    # So many bundles a value stays on the belt, its positions over the drops per bundle with the new fills; halved,
    # since drops crowd in some rows.
    within = max(0, (belt.machine.belt - 1) * belt.placed.interval // max(1, belt.drops + len(groups)) - 1) // 2
    for (v, r), readers in sorted(groups.items()):
        readers.sort(key=lambda item: belt.placed.start[item[0]] + belt.placed.interval * item[2].distance)
        source = graph.nodes[v]
        is_repeated = (source.name in LEAF and not source.first) or source.name == "fill"
        # A leaf that is read over the back arc has an initial value of its own, which a copy would lack.
        if is_repeated and all(read.distance == 0 for _, _, read in readers):
            for cluster in _cluster_readers(belt, readers, within):
                graph = _repeat_node(belt, graph, replace(source, near=None), cluster, within)
            continue
        # A spill that comes too late for its value is moved to the value, not spilled again.
        spilling = [item for item in readers if graph.nodes[item[0]].name == "spill"]
        for n, _, _ in spilling:
            nodes = list(graph.nodes)
            nodes[v] = replace(nodes[v], near=(n, belt.placed.latency[v] + within))
            graph = replace(graph, nodes=tuple(nodes))
        if rest := [item for item in readers if item not in spilling]:
            graph = _spill_value(belt, graph, Read(v, r), rest, within)
    return graph


def _repeat_node(belt: Belt, graph: Graph, node: Node, readers: Sequence[tuple[int, int, Read]], within: int) -> Graph:
    """Issue the leaf or fill once more for these readers."""
    size = len(graph.nodes)
    new = replace(node, near=_distance_bound(belt, node, readers[0][0], within))
    return replace_reads(graph, {(n, k): Read(size) for n, k, _ in readers}, [new])


def _distance_bound(belt: Belt, node: Node, reader: int, within: int) -> tuple[int, int]:
    """Bound of a fill: the reader, and how many bundles before it at most."""
    return reader, max(gap(belt.machine, node, belt.graph.nodes[reader]) + (0 if belt.machine.phasing else 1), within)


def _spill_value(belt: Belt, graph: Graph, value: Read, readers: Sequence[tuple[int, int, Read]], within: int) -> Graph:
    """Spill a value once, and fill it for these readers, one fill per group of them."""
    type = graph.type(value)
    # A value that was spilled in an earlier round keeps its spill: frames hold it as long as they rotate.
    spill = next(
        (n for n, node in enumerate(graph.nodes) if node.name == "spill" and node.operands == (value,)),
        len(graph.nodes),
    )
    if spill == len(graph.nodes):
        graph = replace(graph, nodes=(*graph.nodes, Node("spill", (value,), (), type.width)))
    for distance in sorted({read.distance for _, _, read in readers}):
        for mine in _cluster_readers(belt, [item for item in readers if item[2].distance == distance], within):
            size = len(graph.nodes)
            name = graph.nodes[value.node].results[value.result].name
            fill = Node("fill", (), (Value(f"{name}.f{size}", type),), type.width, spill=spill, distance=distance)
            fill = replace(fill, near=_distance_bound(belt, fill, mine[0][0], within))
            changes: dict[tuple[int, int], Source] = {(n, k): Read(size) for n, k, _ in mine}
            graph = replace_reads(graph, changes, [fill])
    return graph


def _cluster_readers(
    belt: Belt, readers: Sequence[tuple[int, int, Read]], within: int
) -> list[list[tuple[int, int, Read]]]:
    """Clusters of readers, in order of time, that one fill may serve."""
    found: list[list[tuple[int, int, Read]]] = []
    for item in readers:
        if found and belt.placed.start[item[0]] - belt.placed.start[found[-1][0][0]] <= within:
            found[-1].append(item)
        else:
            found.append([item])
    return found


@dataclass(frozen=True, slots=True)
class Frames:
    """Rotating scratch of a placed loop: the bytes of a frame, how many rotate, and where in it each spill writes."""

    size: int
    count: int
    places: dict[int, int]

    @property
    def bytes(self) -> int:
        return self.size * self.count


def allocate_frames(graph: Graph, placed: Placed) -> Frames:
    """Frame layout of a placed loop: widest spills first, each aligned; as many frames as the oldest fill needs."""
    spills = [n for n, node in enumerate(graph.nodes) if node.name == "spill"]
    if not spills:
        return Frames(0, 0, {})
    types = {n: graph.type(next(iter(graph.nodes[n].reads))) for n in spills}
    places: dict[int, int] = {}
    end = 0
    # By falling width every offset is a multiple of the width: no bytes are lost between.
    for n in sorted(spills, key=lambda n: (-BYTES[types[n].width], n)):
        places[n] = end
        end += BYTES[types[n].width] * types[n].lanes
    align = max(BYTES[t.width] for t in types.values())
    # One more than the rotations between a spill and its last fill: until then the frame must not come round.
    count = max([1, *(1 + frame_age(graph, placed, n) for n, node in enumerate(graph.nodes) if node.spill >= 0)])
    return Frames(-(-end // align) * align, count, places)


def frame_age(graph: Graph, placed: Placed, fill: int) -> int:
    """Age of a frame: rotations between the spill of what a fill reads, and the fill."""
    node = graph.nodes[fill]
    return placed.stage(fill) + node.distance - placed.stage(node.spill)

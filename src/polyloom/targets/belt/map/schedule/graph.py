# SPDX-License-Identifier: Apache-2.0
"""Data dependence graph of a loop: operations of a member and what they read of each other, iterations apart.

A parameter of the loop is what its back arc gives, a number of iterations earlier; `initial` keeps what it is before
(I. Godard, "Pipelining": the recurrences; docs/targets/belt.md, Loops). Constants that no operand holds become con,
values from outside of the loop fillx, since nothing stays on a belt that moves every pass. A node reads others by
index; nodes are only appended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.ir.ssa import NOWHERE, Place
from polyloom.targets.belt.source.ir import Constant, Edge, Nothing, Operand, Order, Value
from polyloom.targets.belt.value_types import Type, Width
from polyloom.targets.belt.words.program import Immediate

LEAVES: Final = ("leave", "leavetr", "leavefl")
CALLS: Final = ("call", "calltr")
LOADS: Final = ("load", "loads", "loadu")
LEAVES_AND_CALLS: Final = (*LEAVES, *CALLS)
LEAF: Final = ("con", "fillx")
"""What has no operands and gives the same in every iteration: cheaper to repeat than to keep."""


@dataclass(frozen=True, slots=True)
class Read:
    """Dependence arc: a result of a node, `distance` iterations earlier."""

    node: int
    result: int = 0
    distance: int = 0


@dataclass(frozen=True, slots=True)
class Absent:
    """Absent operand: a None in a list that makes a belt."""

    width: Width | None = None


Source = Read | Immediate | Absent


@dataclass(frozen=True, slots=True)
class Node:
    """Operation of a bundle. `index` is its position in the program, the order of what acts; -1 if it was added.

    `home` is the value from outside that a fillx reads, or the name of the `constant` there; `spill` the node of the
    spill whose value a fill reads, `distance` iterations earlier. `first`: it must be issued in the stage 0. `near`: it
    is issued at most so many bundles before that node. `role` is that in a counted loop: counter, test, leave; or
    parameter, of a fillx that gives a block's parameter. A scratchf has the bytes of a frame as `literal`, and how many
    rotate as `scale`.
    """

    name: str
    operands: tuple[Source, ...] = ()
    results: tuple[Value, ...] = ()
    width: Width | None = None
    scale: int = 0
    offset: int = 0
    literal: int = 0
    callee: str = ""
    edge: Edge | None = None
    index: int = -1
    home: Value | None = None
    constant: Constant | None = None
    spill: int = -1
    distance: int = 0
    first: bool = False
    near: tuple[int, int] | None = None
    role: str = ""
    place: Place = NOWHERE

    @property
    def reads(self) -> Iterable[Read]:
        return (o for o in self.operands if isinstance(o, Read))


@dataclass(frozen=True, slots=True)
class Graph:
    """Dependence graph. `order` is between nodes. `initial[node, result]` are a value's predecessors in iterations -1,
    -2 and so on; those of a `steady` one are the last of these in all earlier iterations, too: the first passes keep
    it.
    """

    nodes: tuple[Node, ...]
    order: tuple[Order, ...] = ()
    initial: Mapping[tuple[int, int], tuple[Operand, ...]] = field(
        default_factory=dict[tuple[int, int], tuple[Operand, ...]]
    )
    steady: frozenset[tuple[int, int]] = frozenset()

    def start(self, node: int, result: int, before: int) -> Operand | None:
        """Initial value: what iteration -before is said to have given; None where nothing is known."""
        starts = self.initial.get((node, result), ())
        if before > len(starts) and (node, result) in self.steady:
            return starts[-1]
        found = starts[before - 1] if before <= len(starts) else None
        return None if isinstance(found, Nothing) else found

    def type(self, read: Read) -> Type:
        return self.nodes[read.node].results[read.result].type

    def operand_width(self, node: Node) -> Width:
        """Width of the operand that tells the latency."""
        # The first one that is read: immediates have no width of their own.
        for operand in node.operands:
            if isinstance(operand, Read):
                return self.type(operand).width
        return node.results[0].type.width if node.results else "w"

    def consumers(self) -> dict[tuple[int, int], list[tuple[int, int, int]]]:
        """Def-use chains: for each value, (node, number of the operand, distance) of those that read it."""
        found: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        for n, node in enumerate(self.nodes):
            for k, operand in enumerate(node.operands):
                if isinstance(operand, Read):
                    found.setdefault((operand.node, operand.result), []).append((n, k, operand.distance))
        return found


def is_invariant(node: Node) -> bool:
    """Whether the node gives the same in all passes. One of stage 0 does not: it is missing before iteration 0."""
    return node.name in LEAF and not node.first


def replace_reads(graph: Graph, changes: Mapping[tuple[int, int], Source], added: Sequence[Node] = ()) -> Graph:
    """Graph with nodes appended and operands (node, number) replaced."""
    nodes = list(graph.nodes) + list(added)
    for (n, k), source in changes.items():
        operands = list(nodes[n].operands)
        operands[k] = source
        nodes[n] = replace(nodes[n], operands=tuple(operands))
    return replace(graph, nodes=tuple(nodes))


def prune(graph: Graph) -> Graph:
    """Dead node elimination: graph without leaves, fills, spills and recurs that lost their readers."""
    return prune_with_map(graph)[0]


def prune_with_map(graph: Graph) -> tuple[Graph, Sequence[int]]:
    """Pruned graph, and which nodes are left."""
    needed: set[int] = set()
    # Operations of the program stay: dead ones went before the graph was built.
    waiting = [n for n, node in enumerate(graph.nodes) if node.index >= 0]
    while waiting:
        n = waiting.pop()
        if n in needed:
            continue
        needed.add(n)
        waiting += [r.node for r in graph.nodes[n].reads]
        if graph.nodes[n].spill >= 0:
            waiting.append(graph.nodes[n].spill)
    if len(needed) == len(graph.nodes):
        return graph, range(len(graph.nodes))
    kept = sorted(needed)
    to = {old: new for new, old in enumerate(kept)}
    nodes = tuple(_renumber_node(graph.nodes[old], to) for old in kept)
    order = tuple(replace(o, source=to[o.source], sink=to[o.sink]) for o in graph.order)
    initial = {(to[n], r): v for (n, r), v in graph.initial.items() if n in to}
    return Graph(nodes, order, initial, frozenset((to[n], r) for n, r in graph.steady if n in to)), kept


def _renumber_node(node: Node, to: Mapping[int, int]) -> Node:
    operands = tuple(replace(o, node=to[o.node]) if isinstance(o, Read) else o for o in node.operands)
    # A fill whose reader is gone is near to nothing.
    near = (to[node.near[0]], node.near[1]) if node.near is not None and node.near[0] in to else None
    return replace(node, operands=operands, spill=to.get(node.spill, -1), near=near)

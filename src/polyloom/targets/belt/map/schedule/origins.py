# SPDX-License-Identifier: Apache-2.0
"""Source places (debug information) of every operation of a schedule.

What the user wrote has its place. Everything else has the place of what it is for, the first operation with a place
that reads it or that it reads, and a reason.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from polyloom.ir.ssa import NOWHERE, Place
from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.map.schedule.graph import Graph, Node
from polyloom.targets.belt.source.ir import Block, Function, Jump, Loop

_REASONS: Final = {
    "scratchf": "makes room in scratch",
    "spill": "keeps a value in scratch",
    "spillx": "keeps a value in scratch",
    "fill": "brings a value back from scratch",
    "fillx": "brings a value back from scratch",
    "con": "a constant",
    "pick": "the value of a first pass",
    "recur": "carries a value on to the next pass",
    "rescue": "keeps values on the belt",
    "conform": "puts the belt in order",
    "br": "goes on with another block",
    "inner": "enters the loop",
    "leave": "leaves the loop",
    "leavetr": "leaves the loop",
    "leavefl": "leaves the loop",
    "retn": "returns",
    **dict.fromkeys(("add", "sub", "mul", "shl"), "computes an address or a count"),
    **dict.fromkeys((op.name for op in OPS.values() if op.latency == "compare"), "tests a bound"),
}
_OTHER: Final = "moved here by the compiler"
"""What clang moves has no place any more, such as a load that it takes out of a loop."""


def block_place(function: Function, block: Block | Loop) -> Place:
    """Source place of a block: its end, else what it only leads to, else the function."""
    blocks = {each.name: each for each in function.blocks}
    seen = set[str]()
    # Blocks that only jump can form a circle, which leads nowhere.
    while block.name not in seen:
        seen.add(block.name)
        place = block.place if isinstance(block, Loop) else block.terminator.place
        if place.line:
            return place
        if isinstance(block, Loop) or not isinstance(block.terminator, Jump):
            break
        block = blocks[block.terminator.edge.target]
    return function.place


def node_places(graph: Graph, home: Place) -> tuple[Place, ...]:
    """Source place of each node; those without any near them get the place of the block."""
    near = _nearest_places(graph)
    return tuple(_place(node, near[n] or home) for n, node in enumerate(graph.nodes))


def _place(node: Node, near: Place) -> Place:
    if node.place.line:
        return node.place
    # The column is that of another operation: only the line is surely right.
    return replace(near, column=0, reason=near.reason or _REASONS.get(node.name, _OTHER))


def _nearest_places(graph: Graph) -> list[Place | None]:
    """Closest place for each node: along those that read it, else along those that it reads."""
    readers: list[list[int]] = [[] for _ in graph.nodes]
    for n, node in enumerate(graph.nodes):
        for read in node.reads:
            readers[read.node].append(n)
        # A fill reads what was spilled by way of scratch, which is no operand.
        if node.spill >= 0:
            readers[node.spill].append(n)
    reads = [[read.node for read in node.reads] + [node.spill] * (node.spill >= 0) for node in graph.nodes]
    found = _spread_places(graph.nodes, readers)
    return [place or other for place, other in zip(found, _spread_places(graph.nodes, reads), strict=True)]


def _spread_places(nodes: Sequence[Node], along: Sequence[Iterable[int]]) -> list[Place | None]:
    """Places by breadth-first search: each node's own, else that of the first node with one that is reached."""
    back: list[list[int]] = [[] for _ in nodes]
    for n, others in enumerate(along):
        for other in others:
            back[other].append(n)
    found: list[Place | None] = [node.place if node.place != NOWHERE else None for node in nodes]
    waiting = deque(n for n, place in enumerate(found) if place is not None)
    while waiting:
        n = waiting.popleft()
        for other in back[n]:
            if found[other] is None:
                found[other] = found[n]
                waiting.append(other)
    return found
